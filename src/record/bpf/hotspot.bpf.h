/*
 * Frames of HotSpot, in the kernel. A part of unwind.bpf.h.
 *
 * Where the walk comes to code that HotSpot generated, a step of process/languages/hotspot_step.h leads to its
 * caller. The word of the frame takes the place of its address, which says nothing.
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

/* The word takes the place of the address that was added last. */
static __always_inline void replace_address(struct scratch *scratch, uint64_t word)
{
	note_name(scratch, word);
	correct_address(scratch, word - scratch->stack.addresses[(scratch->stack.count - 1) & LODE_RECORD_FRAMES]);
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
	uint64_t address;
	int result;

	if (!scratch || !scratch->space.language)
		return WALKED_TO_STEP;
	process = hotspot_process(scratch);
	address = lode_unwind_address(&scratch->state);
	if (!process || !lode_hotspot_is_code(process, address) || scratch->stack.count >= LODE_RECORD_FRAMES - 1)
		return WALKED_TO_STEP;
	lose_trail(scratch);
	mark_words(scratch);
	take_registers(&scratch->hotspot, scratch->state.is_first);
	scratch->hotspot.word = lode_language_word(LODE_LANGUAGE_JAVA, 0, scratch->state.pc);
	result = lode_hotspot_leave(scratch, address);
	if (scratch->hotspot.word)
		replace_address(scratch, scratch->hotspot.word);
	if (result != LODE_UNWIND_CALLER) {
		scratch->stack.end = result == LODE_UNWIND_ROOT ? LODE_STACK_WHOLE : LODE_STACK_BROKEN;
		return WALKED_TO_ROOT;
	}
	add_address(scratch, scratch->state.pc);
	return WALKED_SOME;
}

#endif
