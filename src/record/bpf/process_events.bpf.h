/*
 * Follows processes: those that fork, run another program, map code or end. What is known of
 * their address spaces and threads is kept true.
 */
#ifndef LODE_RECORD_BPF_PROCESS_EVENTS_BPF_H
#define LODE_RECORD_BPF_PROCESS_EVENTS_BPF_H

#include "record/bpf/contexts.bpf.h"
#include "record/bpf/filters.bpf.h"
#include "record/bpf/sweep.bpf.h"
#include "record/bpf/thread_totals.bpf.h"
#include "record/bpf/threads.bpf.h"
#include "record/bpf/unwind.bpf.h"

/* A child has the same in the same place. */
static __always_inline void copy_context_process(uint32_t pid, uint32_t child)
{
	const struct lode_context_process *process = bpf_map_lookup_elem(&context_processes, &pid);

	if (process)
		bpf_map_update_elem(&context_processes, &child, process, BPF_ANY);
}

SEC("tp_btf/sched_process_fork")
int lode_fork(uint64_t *context)
{
	struct task_struct *parent = (void *)context[0], *child = (void *)context[1];
	uint32_t pid = parent->tgid, new = child->tgid;
	struct lode_unwind_space *space, *copy;
	uint8_t one = 1;

	if (pid == new)
		return 0;
	if (only_pids && bpf_map_lookup_elem(&pids, &pid)) {
		pid_hints[new % LODE_RECORD_PID_HINTS] = 1;
		bpf_map_update_elem(&pids, &new, &one, BPF_ANY);
	}
	if (with_traces)
		copy_context_process(pid, new);
	space = use_tables ? space_place(pid) : 0;
	copy = use_tables ? space_place(new) : 0;
	if (!space || !copy)
		return 0;
	clear_space(copy, new);
	if (space->pid != pid)
		return 0;
	copy->first = space->first;
	copy->count = space->count;
	copy->stale = space->stale;
	copy->stale_id = space->stale_id;
	copy->code_pages = space->code_pages;
	copy->quiet = space->quiet;
	copy->language = space->language;
	copy->id = space->id;
	return 0;
}

/* What the old program had mapped is gone; a command that waited for this is recorded from here on. */
SEC("tp_btf/sched_process_exec")
int lode_exec(uint64_t *context)
{
	struct task_struct *task = (void *)context[0];
	uint32_t pid = task->tgid;
	struct lode_unwind_space *space = use_tables ? space_place(pid) : 0;

	if (has_command && pid == command_pid) {
		command_pid = 0;
		if (with_totals)
			write_totals(task, LODE_RECORD_TOTALS_FIRST);
	}
	if (with_traces)
		bpf_map_delete_elem(&context_processes, &pid);
	if (with_contexts) /* what the old program had begun will not end */
		bpf_map_delete_elem(&thread_contexts, &pid);
	if (!space)
		return 0;
	clear_space(space, pid);
	/* The program may still send the old one. */
	space->stale = bpf_ktime_get_ns();
	space->stale_id = 0;
	return 0;
}

/* Of this size or less no library is: it has several parts, of a page at least. */
#define SMALL_BYTES 4096

/*
 * Whether what the current process is about to map can be code, now or later. Memory to write to is left alone, which some programs
 * take all the time, and so are small files, which servers map to send them; for a library all is taken at first that it needs.
 */
static __always_inline bool may_be_code(const struct vm_unmapped_area_info *info)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());

	if (REGS_CALL(regs) != CALL_MMAP)
		return true;
	return !(REGS_THIRD(regs) & PROT_WRITE) && (info->length > SMALL_BYTES || REGS_THIRD(regs) & PROT_EXEC);
}

/* The current process is about to map something there. */
SEC("tp_btf/vm_unmapped_area")
int lode_map(uint64_t *context)
{
	struct vm_unmapped_area_info *info = (void *)context[1];
	struct lode_record_counts *own = thin ? own_counts() : 0;
	uint64_t begun = own && !(++own->map_runs & (MEASURE_EVERY - 1)) ? bpf_ktime_get_ns() : 0;

	if (may_be_code(info))
		forget_replaced_code(bpf_get_current_task_btf()->tgid, context[0], info->length);
	if (own && begun)
		own->map_ns += own_time(bpf_ktime_get_ns() - begun, MAX_PLAIN_RUN_NS) * MEASURE_EVERY;
	return 0;
}

/* The number of a process that is gone may come again for another. */
SEC("tp_btf/sched_process_exit")
int lode_exit(uint64_t *context)
{
	struct task_struct *task = (void *)context[0];
	struct lode_unwind_space *space;
	uint32_t pid = task->tgid;

	if (with_totals && is_wanted(task))
		write_totals(task, LODE_RECORD_TOTALS_LAST);
	if (thin) {
		forget_swept(task);
		forget_thread(task->pid); /* the programs of the scheduler may not see its end */
	}
	if (task->signal->live.counter)
		return 0;
	if (only_pids)
		bpf_map_delete_elem(&pids, &pid);
	if (with_traces)
		bpf_map_delete_elem(&context_processes, &pid);
	space = use_tables ? space_place(pid) : 0;
	if (space && space->pid == pid)
		clear_space(space, 0);
	return 0;
}

#endif
