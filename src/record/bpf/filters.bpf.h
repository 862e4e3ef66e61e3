/*
 * Which threads are recorded. Filters look at the current thread when it is switched out,
 * sampled, or enters a system call.
 */
#ifndef LODE_RECORD_BPF_FILTERS_BPF_H
#define LODE_RECORD_BPF_FILTERS_BPF_H

#include "record/bpf/settings.bpf.h"

/* Processes requested, and their children. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, uint32_t);
	__type(value, uint8_t);
} pids SEC(".maps");

/* Not 0 where `pids` may have such a process; most switches of a machine need no further look. */
uint8_t pid_hints[LODE_RECORD_PID_HINTS];

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, uint32_t);
} cgroups SEC(".maps");

static __always_inline bool comm_is_wanted(struct task_struct *task)
{
	uint64_t comm[2];

	__builtin_memcpy(comm, task->comm, sizeof(comm));
	return comm[0] == wanted_comm[0] && comm[1] == wanted_comm[1];
}

/* `task` is the current one. */
static __always_inline bool is_wanted(struct task_struct *task)
{
	uint32_t pid = task->tgid;

	if (!task->pid || pid == own_pid || (has_writer && pid == writer_pid))
		return false;
	if (has_command && pid == command_pid)
		return false;
	if (only_pids && (!pid_hints[pid % LODE_RECORD_PID_HINTS] || !bpf_map_lookup_elem(&pids, &pid)))
		return false;
	if (only_comm && !comm_is_wanted(task))
		return false;
	return !only_cgroup || bpf_current_task_under_cgroup(&cgroups, 0) == 1;
}

#endif
