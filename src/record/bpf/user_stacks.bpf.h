/*
 * The user's stack of a thread, in the kernel, in the way that was requested: by unwind
 * tables, by frame pointers, or copied.
 */
#ifndef LODE_RECORD_BPF_USER_STACKS_BPF_H
#define LODE_RECORD_BPF_USER_STACKS_BPF_H

#include "record/bpf/threads.bpf.h"
#include "record/bpf/unwind.bpf.h"

static __always_inline bool has_user_stack(struct task_struct *task)
{
	return !(task->flags & PF_KTHREAD) && task->mm;
}

/* A thread that executes another program has lost the stack of the one before. */
static __always_inline bool is_executing(struct pt_regs *regs)
{
	return REGS_CALL(regs) == CALL_EXECVE || REGS_CALL(regs) == CALL_EXECVEAT;
}

/*
 * Of 32-bit code only where it is: no table is made of its binaries, and frame records
 * read as 64-bit ones would give frames that never were.
 */
static __always_inline uint64_t capture_compat_leaf(struct scratch *scratch, struct pt_regs *regs)
{
	begin_stack(scratch, true, false);
	scratch->stack.addresses[0] = REGS_PC(regs);
	scratch->hash = scratch->stack.addresses[0];
	scratch->stack.count = 1;
	scratch->stack.end = LODE_STACK_COMPAT;
	return identify(scratch);
}

/*
 * The stack of the current thread, which has one. `tid` and `kind`: for whom it is taken. The scratch's `span` says how many
 * bytes it took last time, and then how many it took. Returns the id of the stack, or of its copy.
 */
__noinline uint64_t lode_capture_user_stack(struct scratch *scratch, uint32_t tid, uint32_t kind)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	bool may_help;
	uint64_t id = 0;

	if (!scratch)
		return 0;
	if (REGS_COMPAT(regs))
		return capture_compat_leaf(scratch, regs);
	if (!use_tables)
		return copy_bytes ? copy_user_stack(task, regs, tid, kind, false) : walk_user_stack(scratch, regs);
	may_help = walk_by_tables(scratch, task, regs, kind, &id);
	if (id)
		return id;
	if (scratch->stack.end != LODE_STACK_WHOLE && is_executing(regs))
		return 0;
	if (!may_help || !copy_bytes)
		return identify(scratch);
	id = copy_user_stack(task, regs, tid, kind, scratch->space.id && scratch->stack.end == LODE_STACK_UNMAPPED);
	/* No room for a copy: as far as the walk came. */
	if (!id)
		return identify(scratch);
	if (scratch->space.id && has_python(scratch))
		lode_python_send_chain(scratch, id);
	return id;
}

/*
 * The stack of another thread of the current process, which is off its processor: they share their memory.
 * scratch->state has its registers. Returns 0 for a stack that is not whole, or may have functions of languages, which
 * are found by the current thread.
 */
__noinline uint64_t lode_capture_peer_stack(struct scratch *scratch)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct lode_unwind_space *space = find_space(task->tgid);

	if (!scratch || !space || !space->id || space->language || is_stale(space) || has_changed(space, task))
		return 0;
	begin_stack(scratch, true, false);
	scratch->stack.addresses[0] = scratch->state.pc;
	scratch->hash = scratch->state.pc;
	scratch->stack.count = 1;
	scratch->stack.end = LODE_STACK_DEEP;
	scratch->python.search = 0;
	scratch->space = *space;
	if (KEEPS_WALKS)
		begin_trail(scratch);
	scratch->span_end = scratch->state.sp + scratch->span;
	lode_walk_all(scratch);
	return scratch->stack.end == LODE_STACK_WHOLE ? identify(scratch) : 0;
}

/* The same of `task`, in case it is of the current process. */
static __always_inline uint64_t peer_stack(struct scratch *scratch, struct task_struct *task, uint32_t span)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	if (!use_tables || !has_user_stack(task) || REGS_COMPAT(regs) ||
	    bpf_get_current_task_btf()->tgid != task->tgid)
		return 0;
	begin_state(scratch, regs);
	scratch->span = span;
	return lode_capture_peer_stack(scratch);
}

/* Frame pointer and link register in one number: two pairs of them rarely have the same. */
static __always_inline uint64_t mixed_frame(struct pt_regs *regs)
{
	return HAS_LINK ? REGS_FP(regs) + REGS_LINK(regs) * 0x9e3779b97f4a7c15ull : REGS_FP(regs);
}

/* Whether the current thread has not left the kernel since it entered its last system call. */
static __always_inline bool is_in_call(const struct lode_record_thread *thread, struct pt_regs *regs)
{
	const struct lode_record_entry *entry = &thread->entry;

	return entry->pc == REGS_PC(regs) && entry->sp == REGS_SP(regs) && entry->frame == mixed_frame(regs);
}

/*
 * The same of any thread that is the current one, and not taken again in a system call that was recorded. `thread`: the
 * current one's, or NULL.
 */
static __always_inline uint64_t user_stack(struct scratch *scratch, struct task_struct *task,
					   const struct lode_record_thread *thread, uint16_t *span, uint32_t tid,
					   uint32_t kind)
{
	uint64_t id;

	if (!has_user_stack(task))
		return 0;
	if (with_calls && thread && is_in_call(thread, (struct pt_regs *)bpf_task_pt_regs(task)))
		return thread->entry.user;
	scratch->span = *span;
	id = lode_capture_user_stack(scratch, tid, kind);
	*span = scratch->span;
	return id;
}

#endif
