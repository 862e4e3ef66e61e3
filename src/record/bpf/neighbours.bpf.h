/*
 * Neighbours: which programs had a processor while a recorded thread was ready for it. They need not be recorded themselves: of
 * a noisy neighbour nothing else is known where only its victims are. Of each time that a thread was ready only the end is
 * looked at: who had the processor last, and for how long. Several that take turns have their share on average.
 */
#ifndef LODE_RECORD_BPF_NEIGHBOURS_BPF_H
#define LODE_RECORD_BPF_NEIGHBOURS_BPF_H

#include "record/bpf/kernel_types.h"
#include "record/bpf/records.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* Nanoseconds. Further pairs are left out when it is full. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LODE_RECORD_NEIGHBOURS);
	__type(key, struct lode_record_neighbours);
	__type(value, uint64_t);
} neighbours SEC(".maps");

/* The current thread, which stops running, kept `task` waiting that was ready for `delay`. */
static __noinline int note_neighbour(struct task_struct *task, uint64_t delay)
{
	struct task_struct *current = bpf_get_current_task_btf();
	uint64_t *sum, time = current->se.sum_exec_runtime - current->se.prev_sum_exec_runtime;
	/* Programs are known by name, threads of the same one by their own. */
	struct task_struct *named = current->tgid == task->tgid ? current : current->group_leader;
	struct lode_record_neighbours names = { 0 };

	/* It may have waited for an idle processor to wake up: nobody had it. */
	if (!current->pid || BPF_CORE_READ_STR_INTO(&names.behind, named, comm) < 0 ||
	    BPF_CORE_READ_STR_INTO(&names.waits, task, comm) < 0)
		return 0;
	time = time < delay ? time : delay;
	sum = bpf_map_lookup_elem(&neighbours, &names);
	if (sum)
		__sync_fetch_and_add(sum, time);
	else
		bpf_map_update_elem(&neighbours, &names, &time, BPF_NOEXIST);
	return 0;
}

#endif
