/*
 * Whether a thread whose C stack is that of a kept walk (recent_walks.bpf.h) has the walk's Python frames, too: calls from
 * Python to Python leave the words of the C stack as they are. A part of unwind.bpf.h.
 *
 * The frames are followed one after the other, from the innermost on, and the addresses of their code objects are compared: all of
 * them, since functions return and others are called that have their frames at the same addresses. Another code object may have
 * taken an address, so what the objects say is compared, too, once in each tick of the kernel's clock.
 */
#ifndef LODE_RECORD_BPF_PYTHON_RECENT_BPF_H
#define LODE_RECORD_BPF_PYTHON_RECENT_BPF_H

/* Functions that are compared at a time: the verifier follows each of them. */
#define PYTHON_COMPARED 16
/* How often that, or going on to frames that are elsewhere, is done. */
#define PYTHON_COMPARES (RECENT_CODES / PYTHON_COMPARED + 32)

/* Goes on to the frames of the next C frame. scratch->python.at: its entry, where there is a chain of them. */
static __always_inline void next_c_frame(struct scratch *scratch, const struct lode_python_layout *layout)
{
	scratch->python.is_over = 0;
	if (!layout->has_chain)
		return;
	scratch->python.at = c_stack_word(scratch, scratch->python.at + layout->chain_previous);
	scratch->python.frame =
		scratch->python.at ? c_stack_word(scratch, scratch->python.at + layout->chain_frame) : 0;
}

/*
 * Compares some functions of the walk from number `i` on with the frames in the block. Nothing is called here. Returns the number that
 * it came to, or -1 when one differs; scratch->python.is_outside: the next frame is elsewhere.
 */
__noinline int lode_python_compare(struct scratch *scratch, const struct recent_walk *walk, uint32_t i)
{
	const struct lode_language_process *process;
	struct python_view view;
	uint64_t frame, at;
	uint32_t over;

	if (!scratch || !walk)
		return -1;
	process = python_process(scratch);
	if (!process)
		return -1;
	view_block(&view, scratch, &process->layout);
	frame = scratch->python.frame;
	over = scratch->python.is_over;
	scratch->python.is_outside = 0;
	for (uint32_t n = 0; n < PYTHON_COMPARED && i < walk->code_count; n++, i++) {
		uint64_t word = walk->codes[i & (RECENT_CODES - 1)];

		scratch->python.is_outside = over || !find_frame(&view, frame, &at);
		if (scratch->python.is_outside)
			break;
		if (((frame_word(scratch, at, view.code) & ~7ull) ^ word) & LODE_LANGUAGE_ADDRESS)
			return -1;
		over = is_outermost(scratch, &view, at);
		frame = frame_word(scratch, at, view.previous);
		scratch->python.block_count++;
	}
	scratch->python.frame = frame;
	scratch->python.is_over = over;
	return (int)i;
}

/* Goes on to a frame that is outside the block. Returns 0 where there is none. */
__noinline int lode_python_pass(struct scratch *scratch)
{
	const struct lode_language_process *process;
	struct python_walk *walk;

	if (!scratch)
		return 0;
	process = python_process(scratch);
	if (!process)
		return 0;
	walk = &scratch->python;
	walk->end = 0;
	if (!walk->is_over && lode_python_fetch(scratch))
		return 1;
	if (!walk->is_over && !walk->end)
		return 0;
	next_c_frame(scratch, &process->layout);
	return 1;
}

/* Compares what some code objects of the walk say, from number `i` on. Returns the number that it came to, or -1. */
__noinline int lode_python_check_names(struct scratch *scratch, const struct recent_walk *walk, uint32_t i)
{
	const struct lode_language_process *process;

	if (!scratch || !walk)
		return -1;
	process = python_process(scratch);
	if (!process)
		return -1;
	for (uint32_t n = 0; n < PYTHON_READ && i < walk->code_count; n++, i++) {
		uint64_t word = walk->codes[i & (RECENT_CODES - 1)];

		if (function_word(scratch, &process->layout, word & LODE_LANGUAGE_ADDRESS) != word)
			return -1;
	}
	return (int)i;
}

/* Whether the code objects of the walk are still what they were. */
static __always_inline bool has_same_names(struct scratch *scratch, struct recent_walk *walk)
{
	int i = 0;

	if (walk->tick == scratch->epoch)
		return true;
	for (uint32_t n = 0; n < RECENT_CODES / PYTHON_READ && i >= 0 && (uint32_t)i < walk->code_count; n++)
		i = lode_python_check_names(scratch, walk, (uint32_t)i);
	if (i < 0)
		return false;
	walk->tick = scratch->epoch;
	return true;
}

/* Whether the current thread has the Python frames of the walk. */
__noinline int lode_python_is_same(struct scratch *scratch, struct recent_walk *walk)
{
	const struct lode_language_process *process;
	int i = 0;

	if (!scratch || !walk)
		return 0;
	process = python_process(scratch);
	if (!process || scratch->python.search != PYTHON_FOUND)
		return 0;
	if (process->layout.has_chain) {
		scratch->python.at = scratch->python.frame;
		scratch->python.frame = c_stack_word(scratch, scratch->python.at + process->layout.chain_frame);
	}
	scratch->python.is_over = 0;
	scratch->python.block_count = walk->code_count;
	for (uint32_t n = 0; n < PYTHON_COMPARES; n++) {
		i = lode_python_compare(scratch, walk, (uint32_t)i);
		if (i < 0 || (uint32_t)i >= walk->code_count)
			break;
		if (scratch->python.is_outside && !lode_python_pass(scratch))
			return 0;
	}
	if (i < 0 || (uint32_t)i < walk->code_count)
		return 0;
	/* The last frame must be the outermost that its C frame runs, or be followed by the end. */
	if (process->layout.is_shim) {
		scratch->python.end = 0;
		lode_python_fetch(scratch);
		scratch->python.is_over = scratch->python.end != 0;
	}
	return scratch->python.is_over && has_same_names(scratch, walk);
}

#endif
