/*
 * Whether a thread whose C stack is that of a kept walk (recent_walks.bpf.h) has the walk's Python frames, too: calls from
 * Python to Python leave the words of the C stack as they are. A part of unwind.bpf.h.
 *
 * The frames are read one after the other, from the innermost on, and the addresses of their code objects are compared.
 * That takes half of what a walk does, which reads the code objects, too.
 */
#ifndef LODE_RECORD_BPF_PYTHON_RECENT_BPF_H
#define LODE_RECORD_BPF_PYTHON_RECENT_BPF_H

/* Addresses that are compared at a time: the verifier follows each of them. */
#define PYTHON_COMPARED 4

/* Goes on to the frames of the next C frame. scratch->python.at: its entry, where there is a chain of them. */
static __always_inline void next_c_frame(struct scratch *scratch, const struct lode_python_layout *layout)
{
	if (!layout->has_chain)
		return;
	scratch->python.at = read_word_at(scratch->python.at + layout->chain_previous);
	scratch->python.frame = scratch->python.at ? read_word_at(scratch->python.at + layout->chain_frame) : 0;
}

/* Reads the next frame into the scratch and goes on to the one behind it. Returns its mark, or -1. */
static __always_inline int read_frame(struct scratch *scratch, const struct lode_python_layout *layout)
{
	if (bpf_probe_read_user(scratch->python.bytes, LODE_PYTHON_FRAME_BYTES, (void *)scratch->python.frame))
		return -1;
	scratch->python.frame = word_of(scratch->python.bytes, layout->frame_previous);
	return (int)frame_byte(scratch, layout->frame_mark);
}

/* Whether the next frame runs the function of a word. */
static __always_inline bool is_next(struct scratch *scratch, const struct lode_python_layout *layout, uint64_t word)
{
	int mark = read_frame(scratch, layout);

	if (layout->is_shim && mark >= (int)layout->outermost) {
		next_c_frame(scratch, layout);
		mark = read_frame(scratch, layout);
	}
	scratch->python.is_outermost = mark >= (int)layout->outermost;
	if (mark < 0 || (word_of(scratch->python.bytes, layout->frame_code) & ~7ull & LODE_LANGUAGE_ADDRESS) !=
				(word & LODE_LANGUAGE_ADDRESS))
		return false;
	if (!layout->is_shim && scratch->python.is_outermost)
		next_c_frame(scratch, layout);
	return true;
}

/* Compares some words of the walk from address `i` on. Returns the address that it came to, or -1 when one differs. */
__noinline int lode_python_compare(struct scratch *scratch, const struct recent_walk *walk, uint32_t i)
{
	const struct lode_language_process *process;

	if (!scratch || !walk)
		return -1;
	process = language_process(scratch);
	if (!process)
		return -1;
	for (uint32_t n = 0; n < PYTHON_COMPARED && i < walk->count; n++, i++) {
		uint64_t word = walk->returns[i & (RECENT_FRAMES - 1)];

		if (word >> LODE_LANGUAGE_SHIFT == LODE_LANGUAGE_PYTHON && !is_next(scratch, &process->layout, word))
			return -1;
	}
	return (int)i;
}

/* Whether the last frame that was compared is the outermost that its C frame runs. */
static __always_inline bool is_at_end(struct scratch *scratch, const struct lode_python_layout *layout)
{
	if (!layout->is_shim)
		return scratch->python.is_outermost;
	return read_frame(scratch, layout) >= (int)layout->outermost;
}

/* Whether the current thread has the Python frames of the walk. */
__noinline int lode_python_is_same(struct scratch *scratch, const struct recent_walk *walk)
{
	const struct lode_language_process *process;
	int i = 1;

	if (!scratch || !walk)
		return 0;
	process = language_process(scratch);
	if (!process || scratch->python.search != PYTHON_FOUND)
		return 0;
	if (process->layout.has_chain) {
		scratch->python.at = scratch->python.frame;
		scratch->python.frame = read_word_at(scratch->python.at + process->layout.chain_frame);
	}
	for (uint32_t n = 0; n < RECENT_FRAMES / PYTHON_COMPARED; n++) {
		i = lode_python_compare(scratch, walk, (uint32_t)i);
		if (i < 0 || (uint32_t)i >= walk->count)
			break;
	}
	return i > 0 && (uint32_t)i >= walk->count && is_at_end(scratch, &process->layout);
}

#endif
