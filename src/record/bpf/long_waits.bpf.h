/*
 * Long waits and limits on waits with a budget, while the programs of the scheduler are attached only in some
 * slots of time (time_slots.h): a rule must see every wait, and long ones are recorded for certain where the
 * budget has room for that, so a separate program stays attached, at wakings only. Nearly all of its runs end
 * after one comparison: a thread that got its processor less than the limit ago cannot have waited longer. The
 * others need no state either, since the kernel has it all: when the thread got its processor last, for how
 * long it ran then, and, as it does not run yet, its kernel stack.
 *
 * Waits of kernel threads are left to the slots, because they mostly wait for work.
 *
 * Such a wait is recorded here, with the weight 1, whether the programs of the scheduler are attached or not, and by neither them
 * nor the sweeps (sweep.bpf.h). Its time in the run queue is not known: it has not begun.
 */
#ifndef LODE_RECORD_BPF_LONG_WAITS_BPF_H
#define LODE_RECORD_BPF_LONG_WAITS_BPF_H

#include "record/bpf/contexts.bpf.h"
#include "record/bpf/filters.bpf.h"
#include "record/bpf/limits.bpf.h"
#include "record/bpf/sweep.bpf.h"
#include "record/bpf/thinning.bpf.h"
#include "record/bpf/threads.bpf.h"
#include "record/bpf/wakers.bpf.h"

const volatile bool limits_at_waking = false;
volatile uint64_t limits_at_waking_since = 0; /* it was attached then; 0: it is not */
const volatile uint64_t certain_limit = 0;    /* longer waits are certain, */
volatile uint64_t certain_since = 0;          /* those that end from then */
volatile uint64_t certain_until = 0;          /* to then */
volatile uint64_t waking_limit =
	INT64_MAX; /* the shortest of all these limits at present; it is compared as a signed number */

/* Whether a wait of `task` is recorded here that lasted so long and was over at `woken`. */
static __always_inline bool is_certain(struct task_struct *task, uint64_t cost, uint64_t woken)
{
	return certain_limit && cost > certain_limit && woken >= certain_since && woken < certain_until &&
	       !(task->flags & PF_KTHREAD);
}

/*
 * Whether a wait was recorded when it was over, not when the thread runs again, at which the caller is. Whose waking was not seen was
 * woken while the programs of the scheduler were detached.
 */
static __always_inline bool was_taken_at_waking(const struct lode_record_thread *thread, struct task_struct *task,
						uint64_t cost, bool passed)
{
	if (passed && limits_at_waking && limits_at_waking_since && thread->woken >= limits_at_waking_since)
		return true;
	return thread->state != LODE_THREAD_PREEMPTED && thread->out >= sweep_from &&
	       is_certain(task, cost, thread->woken ? thread->woken : thread->out);
}

/* Sweeps leave the wait alone that a thread is in. */
static __always_inline void leave_to_waking(uint32_t tid)
{
	struct lode_record_swept *swept = sweep_ended ? bpf_map_lookup_elem(&sweeps, &tid) : 0;

	if (swept)
		swept->state = LODE_SWEPT_LEFT;
}

/*
 * The stacks that were taken when the wait began. Without them: its kernel stack, and its user stack if the waker can
 * read it, or else the last one of its place. Returns whether they are its own.
 */
static __always_inline bool take_waiting(struct task_struct *waker, struct task_struct *task,
					 struct lode_record_thread *thread, struct pt_regs *regs, bool seen)
{
	if (seen && thread->weight)
		return true;
	if (!seen)
		thread->key = lode_thin_key(task->pid, regs ? thread->call : ~0u, regs ? REGS_PC(regs) : 0,
					    regs ? REGS_SP(regs) : 0);
	return capture_late_at_waking(waker, task, thread);
}

static __always_inline void write_long_wait(struct task_struct *task, struct lode_record_thread *thread,
					    uint64_t out, uint64_t now, uint8_t flags)
{
	uint64_t position;
	struct lode_record *record = begin_record(&position);

	if (!record)
		return;
	record->t = out;
	record->cost = now - out;
	record->delay = 0;
	record->user = thread->user;
	record->kernel = thread->kernel;
	record->waker_user = thread->waker_user;
	record->waker_kernel = thread->waker_kernel;
	record->pid = task->tgid;
	record->tid = task->pid;
	record->waker_pid = thread->waker_pid;
	record->waker_tid = thread->waker_tid;
	record->value = thread->call;
	record->type = LODE_RECORD_WAIT;
	record->flags = LODE_RECORD_WOKEN | flags;
	record->weight = 1;
	record->object = thread->object;
	if (with_contexts)
		record->context = thread->context;
	finish_record(record, position);
}

/* `task` is woken, and last got its processor longer ago than the shortest limit. Returns whether that was a wait to record. */
static __always_inline int end_long_wait(uint64_t *context, struct task_struct *task, uint64_t now)
{
	struct pt_regs *regs = task->flags & PF_KTHREAD ? 0 : (struct pt_regs *)bpf_task_pt_regs(task);
	uint64_t out = stopped_at(task);
	uint32_t call = regs ? call_of(task, regs) : 0, passed = 0;
	struct task_struct *waker = bpf_get_current_task_btf();
	struct lode_record_thread *thread = find_thread(task->pid);
	bool seen = thread && thread->state == LODE_THREAD_BLOCKED && still_waits(thread, task), own;

	if (seen)
		out = thread->out;
	if (out >= now || now - out <= waking_limit)
		return 0;
	if (limits_at_waking && limits_at_waking_since && now - out > least_limit)
		passed = passed_limits(task, now - out, 0, call);
	if (!passed && (out < sweep_from || !is_certain(task, now - out, now)))
		return 0;
	thread = own_thread(task);
	if (!thread) {
		COUNT(lost_threads);
		return 0;
	}
	thread->call = call;
	set_waker(thread, waker, true);
	if (with_contexts && !seen)
		thread->context = probed_context(task);
	own = take_waiting(waker, task, thread, regs, seen);
	capture_waker(context, waker, task, thread, &walkings[2]);
	write_long_wait(task, thread, out, now, own ? 0 : LODE_RECORD_LATE);
	if (seen) { /* as its waking may be seen here alone: it is not recorded again when the thread runs */
		thread->woken = now;
		thread->state = LODE_THREAD_WOKEN;
	}
	if (passed)
		write_fired(task, passed, out, now - out, 0);
	leave_to_waking(task->pid);
	return 1;
}

/* What a run took that began at `now`, except looking at the clock for this. */
static __always_inline void measure_waking(struct lode_record_counts *own, uint64_t now)
{
	uint64_t end = bpf_ktime_get_ns(), clock = bpf_ktime_get_ns() - end;

	own->waking_ns += own_time(end - now > clock ? end - now - clock : 0, MAX_PLAIN_RUN_NS) * MEASURE_EVERY;
}

SEC("tp_btf/sched_waking")
int lode_long_wait(uint64_t *context)
{
	struct task_struct *task = (void *)context[0];
	struct lode_record_counts *own = own_counts();
	uint64_t now = bpf_ktime_get_ns();
	bool took = false;

	if (!own || !bpf_core_field_exists(task->sched_info.last_arrival) || !clock_ahead)
		return 0;
	if ((int64_t)(now - clock_ahead - task->sched_info.last_arrival) > (int64_t)waking_limit &&
	    !is_on_cpu(task) && is_wanted(task))
		took = end_long_wait(context, task, now);
	own->waking_runs++;
	if (took)
		own->long_ns += bpf_ktime_get_ns() - now;
	else if (!(own->waking_runs & (MEASURE_EVERY - 1)))
		measure_waking(own, now);
	return 0;
}

#endif
