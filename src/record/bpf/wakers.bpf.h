/* Who wakes a thread: the current thread, with its stacks, or an interrupt. */
#ifndef LODE_RECORD_BPF_WAKERS_BPF_H
#define LODE_RECORD_BPF_WAKERS_BPF_H

#include "record/bpf/kernel_stack.bpf.h"
#include "record/bpf/interrupts.bpf.h"
#include "record/bpf/user_stacks.bpf.h"

/* Notes that `waker`, the current thread, wakes `thread`, unless an interrupt does; then there is no waker. */
static __always_inline void set_waker(struct lode_record_thread *thread, struct task_struct *waker, bool has_stack)
{
	uint32_t mask = waker_mask(waker, has_stack & !only_own);

	thread->waker_pid = waker->tgid & mask;
	thread->waker_tid = waker->pid & mask;
}

/* Takes the stacks of `waker`, the current thread, for `task`, whose `thread` it wakes. Behind set_waker. */
static __always_inline void take_waker(void *context, struct task_struct *waker, struct task_struct *task,
				       struct lode_record_thread *thread, struct lode_record_walking *walking)
{
	struct scratch *scratch = own_scratch(SCRATCH_SCHEDULER);

	thread->waker_kernel = thread->waker_user = 0;
	if (!scratch || only_own)
		return;
	thread->waker_kernel = kernel_stack(context, scratch, walking);
	if (thread->waker_tid && thread->waker_pid != own_pid)
		thread->waker_user = user_stack(scratch, waker, with_calls ? find_thread(waker->pid) : 0,
						&thread->waker_span, task->pid, LODE_COPY_WAKER);
}

#endif
