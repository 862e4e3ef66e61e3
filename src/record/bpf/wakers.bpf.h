/* Who wakes a thread: the current thread, with its stacks, or an interrupt. */
#ifndef LODE_RECORD_BPF_WAKERS_BPF_H
#define LODE_RECORD_BPF_WAKERS_BPF_H

#include "record/bpf/kernel_stack.bpf.h"
#include "record/bpf/interrupts.bpf.h"
#include "record/bpf/thinning.bpf.h"
#include "record/bpf/user_stacks.bpf.h"

/* Notes that `waker`, the current thread, wakes `thread`, unless an interrupt does; then there is no waker. */
static __always_inline void set_waker(struct lode_record_thread *thread, struct task_struct *waker, bool has_stack)
{
	uint32_t mask = waker_mask(waker, has_stack & !only_own);

	thread->waker_pid = waker->tgid & mask;
	thread->waker_tid = waker->pid & mask;
}

static __always_inline uint32_t futex_operation(struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	return REGS_SECOND(regs) & FUTEX_COMMAND;
}

/*
 * If the waker, the current thread, releases the very futex of the wait, it held it at the end of the wait; unless it is
 * nothing that is held, which user space knows by the functions that wait.
 */
static __always_inline void note_release(struct task_struct *waker, struct task_struct *task,
					 struct lode_record_thread *thread)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(waker);
	struct lode_record_object *object = &thread->object;
	uint32_t operation;

	if (object->kind != LODE_WAITED_FUTEX || thread->waker_tid != (uint32_t)waker->pid ||
	    waker->flags & PF_KTHREAD || REGS_COMPAT(regs) || REGS_CALL(regs) != CALL_FUTEX ||
	    REGS_ARGUMENT(regs) != object->argument)
		return;
	operation = futex_operation(task);
	object->kind = operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2 ? LODE_WAITED_FUTEX_PI
										 : LODE_WAITED_FUTEX_OWNER;
	object->detail = waker->pid;
	object->family = 0; /* as the recorder numbers threads, not as the process does */
}

/*
 * Takes what is still there of a wait that was not chosen when it began, and proves long, when it ends. A waker of the
 * same process can also read its user stack, and may release the lock. After set_waker. Returns whether the user stack
 * is its own.
 */
static __always_inline bool capture_late_at_waking(struct task_struct *waker, struct task_struct *task,
						   struct lode_record_thread *thread)
{
	struct scratch *scratch = own_scratch(SCRATCH_SCHEDULER);
	uint64_t own;

	capture_late(thread, task);
	if (!scratch || waker->tgid != task->tgid)
		return false;
	note_release(waker, task, thread);
	if (thread->object.kind == LODE_WAITED_POLL) {
		struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

		describe_polled(task, regs, &thread->object, true);
	}
	own = peer_stack(scratch, task, thread->span);
	if (own)
		thread->user = own;
	return own;
}

/* Takes the stacks of `waker`, the current thread, for `task`, whose `thread` it wakes. Behind set_waker. */
static __always_inline void capture_waker(void *context, struct task_struct *waker, struct task_struct *task,
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
