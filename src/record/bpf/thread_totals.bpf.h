/*
 * What threads did in total, for recordings of which not all is kept: the kernel counts it anyway, for each thread, regardless of what is
 * recorded. It is read when the recording begins and ends, from all threads by an iterator, and when a thread dies.
 */
#ifndef LODE_RECORD_BPF_TOTALS_BPF_H
#define LODE_RECORD_BPF_TOTALS_BPF_H

#include "record/bpf/filters.bpf.h"
#include "record/bpf/output.bpf.h"
#include "record/bpf/thinning.bpf.h"
#include "record/bpf/threads.bpf.h"

volatile uint32_t totals_type = 0; /* what the iterator writes */

static __noinline int write_totals(struct task_struct *task, uint8_t type)
{
	uint64_t position, now = bpf_ktime_get_ns();
	struct lode_record *record;

	if (!bpf_core_field_exists(task->sched_info.run_delay))
		return 0;
	record = begin_record(&position);
	if (!record)
		return 0;
	record->t = type == LODE_RECORD_TOTALS_LAST ? BPF_CORE_READ(task, start_time) : now;
	record->cost = now - record->t;
	record->delay = 0;
	record->user = BPF_CORE_READ(task, se.sum_exec_runtime);
	record->kernel = BPF_CORE_READ(task, sched_info.run_delay);
	/* Fields of a wait with another meaning: see records.h. */
	record->waker_user = BPF_CORE_READ(task, nvcsw);
	record->waker_kernel = BPF_CORE_READ(task, nivcsw);
	record->pid = BPF_CORE_READ(task, tgid);
	record->tid = BPF_CORE_READ(task, pid);
	record->waker_pid = 0;
	record->waker_tid = 0;
	record->value = 0;
	record->type = type;
	record->flags = 0;
	record->weight = 1;
	finish_record(record, position);
	return 0;
}

/* Of the current thread; by itself, so that the verifier looks at it once. */
__noinline int lode_write_own_totals(uint32_t type)
{
	return write_totals(bpf_get_current_task_btf(), type);
}

/* For each thread of the machine. */
SEC("iter/task")
int lode_totals(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct lode_record_thread *thread;

	if (!task || !is_wanted(task))
		return 0;
	write_totals(task, totals_type);
	thread = thin && totals_type == LODE_RECORD_TOTALS_LAST ? find_thread(task->pid) : 0;
	/* What is not over when the recording ends is added by the program, which cannot see this. */
	if (thread && !still_waits(thread, task))
		thread->state = LODE_THREAD_RUNNING;
	return 0;
}

#endif
