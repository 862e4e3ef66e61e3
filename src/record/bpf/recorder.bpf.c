/*
 * The recorder's half in the kernel.
 *
 * Waits are joined here: each thread has a state; a switch-out begins a wait (or
 * a preemption) and takes the thread's stack, a waking adds the waker and its
 * stack, and the switch-in writes one record. So what leaves the kernel is one
 * record a wait instead of three events.
 *
 * Filters look at the current thread when it is switched out, sampled, or enters
 * a system call. A waking and a switch-in only finish what a switch-out began.
 *
 * Stacks are most of the cost, and are made cheap in three ways:
 *
 * - The user's stack is walked by unwind tables (unwind.bpf.h), or by frame
 *   pointers if that was requested, over a copy of its innermost bytes, which one
 *   call fetches; most stacks need no second one. How many bytes the thread's stack
 *   took last time is the guess for the next. A stack that was walked before is
 *   recognized by its words (recent_walks.bpf.h).
 * - The kernel's stack, where frame records are always there (aarch64), is walked
 *   by plain loads, ten times as fast as the kernel's own way. Where the first
 *   record is relative to a program's context is found by comparing with that
 *   way, and one walk in `check_every` is compared again: what differs is
 *   counted, and when it happens too often the kernel's own way is used for good.
 *   On x86-64 there are no frame records; how far it is from one return address to
 *   the next is learnt from that way instead (kernel_stack_x86.bpf.h).
 * - A stack is sent once and then named by its id, a hash of its addresses. A
 *   second, independent sum of the addresses is kept with each id; a stack that
 *   has the id of another takes a new one. Those that a CPU met lately it keeps in
 *   a small table of its own, so that the table of all ids is rarely asked.
 *
 * And where system calls are recorded, a thread's stack is taken as it enters one,
 * and stays what it is for all that happens until the thread leaves the kernel.
 * Programs without frame pointers can have their stacks copied instead, for the
 * recorder to unwind. All this is in stacks.bpf.h.
 *
 * A flight recorder, which keeps only the last seconds, forgets stacks too. So time
 * is divided into epochs, and in each of them a stack is sent again when it is seen
 * (lode_recorder_renew).
 */
#include "record/bpf/contexts.bpf.h"
#include "record/bpf/filters.bpf.h"
#include "record/bpf/long_waits.bpf.h"
#include "record/bpf/objects.bpf.h"
#include "record/bpf/process_events.bpf.h"
#include "record/bpf/requests.bpf.h"
#include "record/bpf/samples.bpf.h"
#include "record/bpf/slot_begin.bpf.h"
#include "record/bpf/spans.bpf.h"
#include "record/bpf/sweep.bpf.h"
#include "record/bpf/thinning.bpf.h"
#include "record/bpf/thread_totals.bpf.h"
#include "record/bpf/threads.bpf.h"
#include "record/bpf/user_stacks.bpf.h"
#include "record/bpf/waits.bpf.h"
#include "record/bpf/wakers.bpf.h"

char programs_license[] SEC("license") = "GPL";

/* Takes the stacks of the current thread, which stops running. */
static __always_inline bool capture_stacks(void *context, struct task_struct *task,
					   struct lode_record_thread *thread)
{
	struct scratch *scratch = own_scratch(SCRATCH_SCHEDULER);

	if (!scratch)
		return false;
	thread->kernel = kernel_stack(context, scratch, &walkings[0]);
	thread->user = user_stack(scratch, task, thread, &thread->span, task->pid, LODE_COPY_OWN);
	/* One that is not whole because its table is not loaded yet is no good for others. */
	if (thin && (!use_tables || scratch->stack.end == LODE_STACK_WHOLE))
		lode_keep_stacks(thread);
	return true;
}

/* `task` is wanted. Returns whether its stacks were taken. */
static __always_inline bool switch_out(void *context, struct task_struct *task, bool preempted, uint64_t now)
{
	struct lode_record_thread *thread = own_thread(task);
	struct pt_regs *regs = task->flags & PF_KTHREAD ? 0 : (struct pt_regs *)bpf_task_pt_regs(task);
	bool chosen = true;

	if (!thread) {
		COUNT(lost_threads);
		return false;
	}
	if (with_totals && !thread->seen) {
		thread->seen = 1;
		lode_write_own_totals(LODE_RECORD_TOTALS_SEEN);
	}
	thread->out = now;
	thread->call = regs ? call_of(task, regs) : 0;
	if (with_contexts)
		thread->context = lode_own_context();
	if (with_requests && !preempted)
		end_request(thread, task, regs, now);
	if (thin)
		chosen = lode_choose(thread, preempted);
	if (thin)
		note_slot(thread, task);
	if (chosen && !preempted)
		lode_describe_own_object(thread); /* first: a lock may change hands meanwhile */
	if (chosen)
		chosen = capture_stacks(context, task, thread);
	/* Last: a waker on another CPU that comes while the stack is taken counts as early. */
	*(volatile uint16_t *)&thread->state = preempted ? LODE_THREAD_PREEMPTED : LODE_THREAD_BLOCKED;
	return chosen;
}

static __always_inline bool switch_in(struct lode_record_thread *thread, struct task_struct *task, uint64_t now)
{
	bool written = false;

	if (thread->state != LODE_THREAD_RUNNING && still_waits(thread, task))
		written = end_wait(thread, task, now);
	if (with_requests)
		begin_request(thread, now);
	thread->state = LODE_THREAD_RUNNING;
	thread->woken = 0;
	return written;
}

/*
 * Who leaves a CPU is who got it last. Otherwise the kernel did not show the switch between, as some kernels
 * of virtual machines do, and a wait that began or ended with it is missing. Between slots nothing is seen anyway.
 */
static __always_inline void watch_order(const struct task_struct *previous, const struct task_struct *next,
					bool wanted)
{
	struct lode_record_counts *own = own_counts();

	if (!own)
		return;
	if (own->runs_now && own->runs_now != (uint64_t)previous->pid + 1 && own->seen_in_slot == slot.began &&
	    (wanted || find_thread((uint32_t)own->runs_now - 1)))
		own->unseen++;
	own->runs_now = (uint64_t)next->pid + 1;
	own->seen_in_slot = slot.began;
}

SEC("tp_btf/sched_switch")
int lode_switch(uint64_t *context)
{
	struct task_struct *previous = (void *)context[1], *next = (void *)context[2];
	uint32_t state = switch_has_state ? (uint32_t)context[3] : previous->__state;
	bool preempted = context[0] || !state, dies = !preempted && state & TASK_DEAD, took = false, wanted;
	struct lode_record_thread *thread;
	struct run run;
	uint64_t now = 0;

	if (is_off()) {
		COUNT(rests);
		return 0;
	}
	thread = next->pid ? find_thread(next->pid) : 0;
	wanted = !dies && is_wanted(previous);
	begin_run(&run);
	if (thin)
		watch_clocks(&run, previous, next);
	watch_order(previous, next, wanted);
	if (dies)
		forget_thread(previous->pid);
	/* Most switches of a machine have nothing to do with the few processes that may be requested. */
	if (wanted || thread)
		now = bpf_ktime_get_ns();
	if (wanted)
		took = switch_out(context, previous, preempted, now);
	if (thread)
		took |= switch_in(thread, next, now);
	end_run(&run, now, took);
	return 0;
}

/*
 * With a budget: whether the stacks of who wakes a thread now are taken: the wait was chosen, or is long. Before a
 * thread stops running nothing is known of the wait that this ends; it takes no time to speak of.
 */
static __always_inline bool wants_waker(const struct lode_record_thread *thread, uint32_t state, uint64_t now)
{
	return state == LODE_THREAD_BLOCKED && would_record(thread, now - thread->out);
}

/* Notes who wakes `task`, and when. Returns whether stacks were taken. */
static __always_inline bool note_waking(void *context, struct task_struct *task, struct lode_record_thread *thread,
					uint32_t state, uint64_t now)
{
	struct task_struct *waker = bpf_get_current_task_btf();
	bool chosen = !thin || wants_waker(thread, state, now);

	thread->woken = now;
	set_waker(thread, waker, chosen);
	if (thin && chosen && !thread->weight)
		thread->has_own_stack = capture_late_at_waking(waker, task, thread);
	if (chosen)
		capture_waker(context, waker, task, thread, &walkings[1]);
	if (thin && chosen)
		thread->has_waker_stacks = 1;
	if (state == LODE_THREAD_BLOCKED)
		thread->state = LODE_THREAD_WOKEN;
	return chosen;
}

SEC("tp_btf/sched_waking")
int lode_waking(uint64_t *context)
{
	struct task_struct *task = (void *)context[0];
	struct lode_record_thread *thread;
	uint64_t now = 0;
	uint32_t state;
	bool took = false;
	struct run run;

	if (is_off()) {
		COUNT(rests);
		return 0;
	}
	begin_run(&run);
	thread = find_thread(task->pid);
	if (thread && !still_waits(thread, task))
		thread->state = LODE_THREAD_RUNNING;
	state = thread ? *(volatile uint16_t *)&thread->state : LODE_THREAD_WOKEN;
	if (state == LODE_THREAD_RUNNING || state == LODE_THREAD_BLOCKED) {
		now = bpf_ktime_get_ns();
		took = note_waking(context, task, thread, state, now);
	}
	end_run(&run, now, took);
	return 0;
}
