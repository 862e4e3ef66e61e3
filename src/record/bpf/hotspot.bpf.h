/*
 * Frames of HotSpot, in the kernel. A part of unwind.bpf.h.
 *
 * Where the walk comes to code that HotSpot generated, a step of process/languages/hotspot_step.h leads to its
 * caller. The word of the frame takes the place of its address, which says nothing.
 *
 * Walks are kept (recent_walks.bpf.h) by what they read of the stack: return addresses, and of interpreted frames the Method and the
 * caller's stack pointer.
 */
#ifndef LODE_RECORD_BPF_HOTSPOT_BPF_H
#define LODE_RECORD_BPF_HOTSPOT_BPF_H

#define LODE_HOTSPOT_READ(context, address, bytes, size) (!bpf_probe_read_user(bytes, size, (void *)(address)))
#define LODE_HOTSPOT_HAS_LINK(state)                     HAS_LINK
#include "process/languages/hotspot_step.h"

static __always_inline const struct lode_hotspot_process *hotspot_process(const struct scratch *scratch)
{
	const struct lode_language_process *process = process_running(scratch, LODE_LANGUAGE_JAVA);

	return process ? &process->hotspot : 0;
}

/* Reads what the code at an address is. Returns 1, or 0 when it is none of HotSpot's. */
__noinline int lode_hotspot_find_blob(struct scratch *scratch, uint64_t address)
{
	const struct lode_hotspot_process *process;

	if (!scratch)
		return 0;
	process = hotspot_process(scratch);
	return process && lode_hotspot_read_blob(process, &scratch->hotspot, address, scratch);
}

/* What the innermost frame has in registers. */
static __always_inline void take_registers(struct lode_hotspot_walk *walk, bool is_first)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());

	walk->method = is_first ? REGS_HOTSPOT_METHOD(regs) : 0;
	walk->returns = is_first ? REGS_HOTSPOT_RETURN(regs) : 0;
	walk->sender[0] = is_first ? REGS_HOTSPOT_SENDER(regs) : 0;
	walk->sender[1] = is_first ? REGS_HOTSPOT_SENDER2(regs) : 0;
}

/* ---- kept walks ---- */

/*
 * How long a walk is kept: compiled code may be replaced by other code that is called from the same places. HotSpot drops code only when
 * no thread is in it, and not at once.
 */
#define HOTSPOT_KEPT_NS 100000000

/* Whether a kept walk of a Java stack, whose words are those of the current thread, is still good. */
static __always_inline bool hotspot_is_same(const struct scratch *scratch, const struct recent_walk *walk)
{
	return hotspot_process(scratch) && bpf_ktime_get_ns() - walk->kept < HOTSPOT_KEPT_NS;
}

/* Where a word of the stack is, for the trail; NOT_IN_MEMORY: too far up. */
static __always_inline uint32_t trail_slot(struct scratch *scratch, uint64_t address)
{
	uint64_t slot = (address - scratch->trail.start) >> 3;

	if (slot < NOT_IN_MEMORY)
		return slot;
	lose_trail(scratch);
	return NOT_IN_MEMORY;
}

/* The return address to an interpreted frame gives way to the Method: it is kept among the other words. */
static __always_inline void note_return(struct scratch *scratch, uint64_t pc)
{
	uint64_t at = (scratch->stack.count - 1) & LODE_RECORD_FRAMES, slot = scratch->trail.return_at[at];

	if (slot == NOT_IN_MEMORY)
		return;
	lode_note_word(scratch, scratch->trail.start + slot * 8, pc);
	scratch->trail.return_at[at] = NOT_IN_MEMORY;
}

/* Notes what the step read: `fp` and `pc` are those before it. */
static __always_inline void note_step(struct scratch *scratch, uint64_t fp, uint64_t pc, bool is_first)
{
	const struct lode_hotspot_walk *walk = &scratch->hotspot;

	if (is_first || !walk->record) {
		lose_trail(scratch);
		return;
	}
	if (walk->record == fp)
		lode_note_frame_pointer(scratch, fp);
	if (walk->caller) {
		note_return(scratch, pc);
		lode_note_word(scratch, fp - 24, walk->method);
		lode_note_word(scratch, fp - 8, walk->caller);
	}
	scratch->trail.frame_at = trail_slot(scratch, walk->record);
}

/* ---- steps ---- */

/* The word takes the place of the address that was added last. */
static __always_inline void replace_address(struct scratch *scratch, uint64_t word)
{
	uint64_t *address = &scratch->stack.addresses[(scratch->stack.count - 1) & LODE_RECORD_FRAMES];

	note_name(scratch, word);
	scratch->hash += word - *address;
	scratch->sum += word - *address;
	*address = word;
}

/* The step itself. Returns an enum lode_unwind_result. */
__noinline int lode_hotspot_leave(struct scratch *scratch, uint64_t pc)
{
	const struct lode_hotspot_process *process;
	struct lode_hotspot_walk *walk;

	if (!scratch)
		return LODE_UNWIND_LOST;
	process = hotspot_process(scratch);
	if (!process)
		return LODE_UNWIND_LOST;
	walk = &scratch->hotspot;
	if (pc - process->interpreter_start < process->interpreter_end - process->interpreter_start)
		return lode_hotspot_from_interpreter(process, &scratch->state, walk, scratch);
	if (!lode_hotspot_find_blob(scratch, pc))
		return LODE_UNWIND_LOST;
	walk->word = lode_hotspot_code_word(process, scratch->state.pc, walk);
	return lode_hotspot_from_blob(process, &scratch->state, walk, scratch);
}

/* A step out of code that HotSpot generated; WALKED_TO_STEP where there is none. Else returns as lode_walk_step does. */
__noinline int lode_hotspot_walk_step(struct scratch *scratch)
{
	const struct lode_hotspot_process *process;
	uint64_t address, fp, pc;
	bool is_first;
	int result;

	if (!scratch || !scratch->space.language)
		return WALKED_TO_STEP;
	process = hotspot_process(scratch);
	address = lode_unwind_address(&scratch->state);
	if (!process || !lode_hotspot_is_code(process, address) || scratch->stack.count >= LODE_RECORD_FRAMES - 1)
		return WALKED_TO_STEP;
	fp = scratch->state.fp;
	pc = scratch->state.pc;
	is_first = scratch->state.is_exact;
	mark_words(scratch);
	take_registers(&scratch->hotspot, scratch->state.is_first);
	scratch->hotspot.record = scratch->hotspot.caller = 0;
	scratch->hotspot.word = lode_language_word(LODE_LANGUAGE_JAVA, 0, scratch->state.pc);
	result = lode_hotspot_leave(scratch, address);
	if (KEEPS_WALKS)
		note_step(scratch, fp, pc, is_first);
	if (scratch->hotspot.word)
		replace_address(scratch, scratch->hotspot.word);
	if (result != LODE_UNWIND_CALLER) {
		scratch->stack.end = result == LODE_UNWIND_ROOT ? LODE_STACK_WHOLE : LODE_STACK_BROKEN;
		return WALKED_TO_ROOT;
	}
	add_address(scratch, scratch->state.pc);
	if (KEEPS_WALKS)
		scratch->trail.return_at[(scratch->stack.count - 1) & LODE_RECORD_FRAMES] =
			trail_slot(scratch, scratch->hotspot.record + 8);
	return WALKED_SOME;
}

#endif
