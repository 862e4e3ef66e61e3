/*
 * A slot of time begins (time_slots.h): what the scheduler knows of the threads that are off their processors.
 *
 * A wait is recorded where it ends, in a chosen slot, however long before that it began. So when the programs of the scheduler were
 * attached, all threads are visited once, and each that is off its processor gets the state that it would have if it had been
 * seen to stop: since when, where, and whether it was woken since. Nothing that ends before all were visited is recorded.
 *
 * The stacks are not taken here, since most of these waits end later than in this slot: they are taken when the wait ends, like
 * those of every wait that proves long (capture_late).
 */
#ifndef LODE_RECORD_BPF_SLOT_BEGIN_BPF_H
#define LODE_RECORD_BPF_SLOT_BEGIN_BPF_H

#include "record/bpf/contexts.bpf.h"
#include "record/bpf/filters.bpf.h"
#include "record/bpf/sweep.bpf.h"
#include "record/bpf/thinning.bpf.h"
#include "record/bpf/threads.bpf.h"

/* Threads that were visited; no local variable, as `sweep_count`. */
volatile uint32_t slot_count = 0;

/* Of a thread that stops and is queued at once the scheduler's two times of that differ by less. */
#define SAME_MOMENT_NS 10000

/*
 * A thread that could run is in the run queue since it was preempted, or was woken. Another processor may have taken it into its
 * queue since then, which looks like a waking: but threads are mostly preempted outside of system calls.
 */
static __always_inline void note_queued(struct lode_record_thread *thread, struct task_struct *task)
{
	uint64_t queued = task->sched_info.last_queued + clock_ahead;

	if (queued < thread->out + SAME_MOMENT_NS || !(thread->call & ~LODE_RECORD_IOWAIT)) {
		thread->woken = 0;
		thread->state = LODE_THREAD_PREEMPTED;
	} else {
		thread->woken = queued;
		thread->state = LODE_THREAD_QUEUED;
	}
}

/* It stopped before the slot: whether it is recorded is decided by the length of its wait alone. */
static __always_inline void note_stopped(struct lode_record_thread *thread, struct task_struct *task,
					 struct pt_regs *regs)
{
	bool has_site;

	thread->out = stopped_at(task);
	thread->switches = switches_of(task);
	thread->factor = 0;
	thread->call = regs ? call_of(task, regs) : 0;
	if (with_contexts)
		thread->context = probed_context(task);
	thread->random = bpf_get_prandom_u32();
	thread->weight = thread->limit = 0;
	thread->user = thread->kernel = 0;
	thread->has_waker_stacks = thread->has_own_stack = 0;
	thread->woken = 0;
	if (task->__state)
		thread->state = LODE_THREAD_BLOCKED;
	else
		note_queued(thread, task);
	has_site = regs && thread->state != LODE_THREAD_PREEMPTED;
	thread->key = lode_thin_key(task->pid, has_site ? thread->call : ~0u, has_site ? REGS_PC(regs) : 0,
				    has_site ? REGS_SP(regs) : 0);
}

static __noinline int begin_thread(struct task_struct *task)
{
	struct pt_regs *regs = task->flags & PF_KTHREAD ? 0 : (struct pt_regs *)bpf_task_pt_regs(task);
	struct lode_record_thread *thread;

	if (!clock_ahead || !bpf_core_field_exists(task->sched_info.last_arrival) || is_on_cpu(task) ||
	    task->__state & TASK_DEAD || (!task->__state && !task->sched_info.last_queued))
		return 0;
	/* Of control groups only the current thread's is known; what was seen before is in the right one. */
	if (!only_cgroup && !is_wanted(task))
		return 0;
	thread = only_cgroup ? find_thread(task->pid) : own_thread(task);
	if (!thread || (thread->state != LODE_THREAD_RUNNING && still_waits(thread, task)) ||
	    stopped_at(task) < sweep_from)
		return 0;
	note_stopped(thread, task, regs);
	return 0;
}

SEC("iter/task")
int lode_begin_slot(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;

	return task ? begin_thread(task) : 0;
}

/* The same in a single run of a program. Visits no more than LODE_SWEEP_THREADS. */
SEC("raw_tp")
int lode_begin_slot_at_once(void *context)
{
#ifndef LODE_PLAIN_READS
	struct bpf_iter_task iterator;
	struct task_struct *task;

	slot_count = 0;
	bpf_iter_task_new(&iterator, 0, ALL_THREADS);
	while (slot_count < LODE_SWEEP_THREADS && (task = bpf_iter_task_next(&iterator))) {
		begin_thread(task);
		slot_count++;
	}
	bpf_iter_task_destroy(&iterator);
#endif
	return 0;
}

#endif
