/* CPU samples and system calls. */
#ifndef LODE_RECORD_BPF_SAMPLES_BPF_H
#define LODE_RECORD_BPF_SAMPLES_BPF_H

#include "record/bpf/contexts.bpf.h"
#include "record/bpf/kernel_stack.bpf.h"
#include "record/bpf/filters.bpf.h"
#include "record/bpf/output.bpf.h"
#include "record/bpf/thinning.bpf.h"
#include "record/bpf/threads.bpf.h"
#include "record/bpf/user_stacks.bpf.h"

static __always_inline void write_event(struct task_struct *task, uint8_t type, uint32_t value, uint32_t weight,
					uint64_t user, uint64_t kernel)
{
	uint32_t context = with_contexts ? lode_own_context() : 0;
	uint64_t position;
	struct lode_record *record = begin_record(&position);

	if (!record)
		return;
	record->t = bpf_ktime_get_ns();
	record->cost = 0;
	record->delay = 0;
	record->user = user;
	record->kernel = kernel;
	set_thread(record, task);
	record->value = value;
	record->type = type;
	record->flags = 0;
	record->weight = weight;
	if (with_contexts)
		record->context = context;
	finish_record(record, position);
}

SEC("perf_event")
int lode_sample(void *context)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct scratch *scratch = own_scratch(SCRATCH_SAMPLE);
	uint64_t user, kernel = 0, begun = thin ? bpf_ktime_get_ns() : 0;
	uint16_t span = 512;

	if (!scratch || !is_wanted(task))
		return 0;
	if (!only_own) {
		begin_stack(scratch, false, true);
		lode_take_asked(scratch, ask_kernel_stack(context, scratch));
		kernel = identify(scratch);
	}
	user = user_stack(scratch, task, with_calls ? find_thread(task->pid) : 0, &span, task->pid,
			  LODE_COPY_SAMPLE);
	write_event(task, LODE_RECORD_RUN, sample_ns, 1, user, kernel);
	if (thin)
		account_sample(begun);
	return 0;
}

/* Of a CPU: a thread that takes the stack of its launch may be preempted by another that does. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, uint32_t);
} launches SEC(".maps");

/* In liblode-gpu.so, where the stack of a launch is wanted (record/gpu/inject/lode_gpu.c). */
SEC("uprobe")
int lode_launch(struct pt_regs *context)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct scratch *scratch = own_scratch(SCRATCH_LAUNCH);
	uint32_t zero = 0, *busy = bpf_map_lookup_elem(&launches, &zero);
	uint16_t span = 1024;
	uint64_t user;

	if (!scratch || !busy || !is_wanted(task) || __sync_val_compare_and_swap(busy, 0, 1))
		return 0;
	user = user_stack(scratch, task, 0, &span, task->pid, LODE_COPY_CALL);
	write_event(task, LODE_RECORD_CALL, LODE_RECORD_LAUNCH_CALL, 1, user, 0);
	*busy = 0;
	return 0;
}

SEC("tp_btf/sys_enter")
int lode_call(uint64_t *context)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct scratch *scratch = own_scratch(SCRATCH_CALL);
	struct lode_record_thread *thread;
	struct pt_regs *regs;
	uint32_t weight = thin ? call_weight : 1;
	struct run run;
	uint64_t begun;

	if (is_off()) {
		COUNT(rests);
		return 0;
	}
	begin_run(&run);
	if (!scratch || !is_wanted(task) ||
	    (thin && weight > 1 && !lode_thin_choose(weight, bpf_get_prandom_u32()))) {
		end_run(&run, 0, false);
		return 0;
	}
	begun = thin ? bpf_ktime_get_ns() : 0;
	if (thin && begun < slot.from) {
		end_run(&run, 0, false);
		return 0;
	}
	thread = own_thread(task);
	if (!thread) {
		COUNT(lost_threads);
		return 0;
	}
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	thread->entry.pc = 0; /* while it is changed */
	scratch->span = thread->span;
	thread->entry.user = lode_capture_user_stack(scratch, task->pid, LODE_COPY_CALL);
	thread->span = scratch->span;
	thread->entry.sp = REGS_SP(regs);
	thread->entry.frame = mixed_frame(regs);
	thread->entry.pc = REGS_PC(regs);
	write_event(task, LODE_RECORD_CALL,
		    (uint32_t)context[1] | (REGS_COMPAT(regs) ? LODE_RECORD_COMPAT_CALL : 0),
		    thin ? slot_weight(weight) : 1, thread->entry.user, 0);
	if (run.own)
		run.own->calls++;
	end_run(&run, begun, true);
	return 0;
}

#endif
