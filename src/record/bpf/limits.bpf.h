/* Limits on waits and on the run queue: what exceeds them is reported. */
#ifndef LODE_RECORD_BPF_LIMITS_BPF_H
#define LODE_RECORD_BPF_LIMITS_BPF_H

#include "record/bpf/output.bpf.h"

/*
 * Whether a thread waits for something to do: it is the kernel's own, or in a system
 * call that is for this. `call` is from call_of.
 */
static __always_inline bool waits_for_work(struct task_struct *task, uint32_t call)
{
	uint32_t number = (call & ~LODE_RECORD_IOWAIT) - 1;

	if (task->flags & PF_KTHREAD)
		return true;
	return number < LODE_RECORD_IDLE_CALLS && idle_calls[number / 64 & 7] >> (number & 63) & 1;
}

/* Which limits a thread passed that was blocked for `cost` and then in the run queue for `delay`. */
static __noinline uint32_t passed_limits(struct task_struct *task, uint64_t cost, uint64_t delay, uint32_t call)
{
	uint64_t name[2];
	uint32_t passed = 0;
	bool idle = waits_for_work(task, call);

	__builtin_memcpy(name, task->comm, sizeof(name));
	for (uint32_t i = 0; i < LODE_RECORD_LIMITS; i++) {
		const volatile struct lode_record_limit *limit = &limits[i];
		uint64_t took = limit->type == LODE_LIMIT_WAIT ? cost : delay;

		if (limit->type != LODE_LIMIT_WAIT && limit->type != LODE_LIMIT_QUEUE)
			continue;
		if (limit->type == LODE_LIMIT_WAIT && limit->any && idle)
			continue;
		if (took > limit->limit && (limit->any || (limit->name[0] == name[0] && limit->name[1] == name[1])))
			passed |= 1u << i;
	}
	return passed;
}

/* Reports exceeded limits, and has the report read soon. */
static __noinline int write_fired(struct task_struct *task, uint32_t passed, uint64_t t, uint64_t cost,
				  uint64_t delay)
{
	uint64_t position;
	struct lode_record *record = begin_record(&position);

	if (!record)
		return 0;
	record->t = t;
	record->cost = cost;
	record->delay = delay;
	record->user = 0;
	record->kernel = 0;
	set_thread(record, task);
	record->value = passed;
	record->type = LODE_RECORD_FIRED;
	record->flags = 0;
	record->weight = 1;
	finish_record(record, position);
	lode_wake_reader();
	return 0;
}

#endif
