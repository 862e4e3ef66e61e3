/* A wait or preemption that is over: whether it is recorded, and its record. */
#ifndef LODE_RECORD_BPF_WAITS_BPF_H
#define LODE_RECORD_BPF_WAITS_BPF_H

#include "record/bpf/limits.bpf.h"
#include "record/bpf/long_waits.bpf.h"
#include "record/bpf/neighbours.bpf.h"
#include "record/bpf/sweep.bpf.h"
#include "record/bpf/thinning.bpf.h"
#include "record/bpf/threads.bpf.h"

/* Whether a waking was seen in the thread's current wait. */
static __always_inline bool was_woken(const struct lode_record_thread *thread)
{
	return thread->state == LODE_THREAD_WOKEN ||
	       (thread->woken && thread->woken + LODE_RECORD_EARLY > thread->out);
}

/* Whether what ended the wait of a thread that runs again is known. */
static __always_inline bool has_known_end(const struct lode_record_thread *thread)
{
	return thread->state != LODE_THREAD_PREEMPTED && thread->state != LODE_THREAD_QUEUED && was_woken(thread);
}

/* How long a thread was blocked that runs again, at `now`; the rest of its wait it was in the run queue. */
__noinline uint64_t lode_blocked_for(const struct lode_record_thread *thread, uint64_t now)
{
	if (!thread || thread->state == LODE_THREAD_PREEMPTED)
		return 0;
	if (!was_woken(thread))
		return now - thread->out;
	return thread->woken > thread->out ? thread->woken - thread->out : 0;
}

/* Writes the wait or preemption of a thread that runs again. */
__noinline int lode_write_wait(const struct lode_record_thread *thread, uint64_t cost, uint64_t delay,
			       uint32_t weight, uint32_t flags)
{
	struct lode_record *record;
	uint64_t position;
	bool is_wait, has_stacks;

	record = thread ? begin_record(&position) : 0;
	if (!record)
		return 0;
	is_wait = thread->state != LODE_THREAD_PREEMPTED;
	has_stacks = !thin || thread->has_waker_stacks;
	record->t = thread->out;
	record->cost = cost;
	record->delay = delay;
	record->user = thread->user;
	record->kernel = thread->kernel;
	record->waker_user = has_stacks ? thread->waker_user : 0;
	record->waker_kernel = has_stacks ? thread->waker_kernel : 0;
	record->pid = thread->pid;
	record->tid = thread->tid;
	record->waker_pid = thread->waker_pid;
	record->waker_tid = thread->waker_tid;
	record->value = thread->call;
	record->type = is_wait ? LODE_RECORD_WAIT : LODE_RECORD_PREEMPT;
	record->flags = flags | (has_known_end(thread) ? LODE_RECORD_WOKEN : 0);
	record->weight = weight;
	if (is_wait)
		record->object = thread->object;
	if (with_contexts)
		record->context = thread->context;
	finish_record(record, position);
	return 0;
}

/* Whether a wait is recorded regardless of chance. Without a branch: the verifier of Linux 6.1 would check all that follows once more. */
static __always_inline uint32_t is_long_wait(struct task_struct *task, uint64_t cost)
{
	uint32_t is_kernels = task->flags / PF_KTHREAD & 1;

	return (long_wait_ns - cost) >> 63 & ~is_kernels;
}

/* The wait or preemption of a thread is over, at `now`. Returns whether it was to be recorded. */
static __always_inline bool end_wait(struct lode_record_thread *thread, struct task_struct *task, uint64_t now)
{
	uint64_t cost = lode_blocked_for(thread, now), delay = now - thread->out - cost;
	uint32_t passed = 0, weight = 1, flags = 0;

	if (delay > LODE_RECORD_NEIGHBOUR_NS)
		note_neighbour(task, delay);
	if (cost > least_limit || delay > least_limit)
		passed = passed_limits(task, cost, delay, thread->call);
	if (min_wait && cost + delay < min_wait && !passed) {
		COUNT(short_waits);
		return false;
	}
	if (thin) {
		bool taken = was_taken_at_waking(thread, task, cost, passed), swept = !taken && was_swept(thread);

		weight = lode_settle(thread, cost + delay, (passed || swept || taken) | is_long_wait(task, cost));
		if (!weight || taken || (!swept && now < slot.from))
			return false;
		if (!thread->weight && !thread->has_waker_stacks)
			capture_late(thread, task);
		if (!thread->weight && !(thread->has_waker_stacks && thread->has_own_stack))
			flags = LODE_RECORD_LATE;
		weight = swept ? 1 : slot_weight(weight);
	}
	lode_write_wait(thread, cost, delay, weight, flags);
	if (passed)
		write_fired(task, passed, thread->out, cost, delay);
	return true;
}

#endif
