/*
 * Whether a thread whose C stack is that of a kept walk (recent_walks.bpf.h) has the walk's Python frames, too: calls from
 * Python to Python leave the words of the C stack as they are. A part of unwind.bpf.h.
 *
 * The chain of all code objects is compared: functions return, and others are called that have their frames at the same
 * addresses. Another code object may have taken an address, so what the objects say is compared, too, once in each tick of the
 * kernel's clock.
 */
#ifndef LODE_RECORD_BPF_PYTHON_RECENT_BPF_H
#define LODE_RECORD_BPF_PYTHON_RECENT_BPF_H

/* Words that are compared at a time: the verifier follows each of them. */
#define PYTHON_COMPARED 32
/* All of a word but the check, which a chain that was just collected has not. */
#define PYTHON_UNCHECKED (~(0xffull << LODE_LANGUAGE_CHECK))

/* Compares some words of the chain with the walk's, from number `i` on. Returns the number that it came to, or -1 when one differs. */
__noinline int lode_python_compare(const struct scratch *scratch, const struct recent_walk *walk, uint32_t i)
{
	if (!scratch || !walk)
		return -1;
	for (uint32_t n = 0; n < PYTHON_COMPARED && i < walk->code_count; n++, i++)
		if ((scratch->python.chain[i & LODE_RECORD_FRAMES] ^ walk->codes[i & (RECENT_CODES - 1)]) &
		    PYTHON_UNCHECKED)
			return -1;
	return (int)i;
}

/* Compares what some code objects of the walk say, in the same way. */
__noinline int lode_python_compare_names(struct scratch *scratch, const struct recent_walk *walk, uint32_t i)
{
	const struct lode_language_process *process;

	if (!scratch || !walk)
		return -1;
	process = python_process(scratch);
	if (!process)
		return -1;
	for (uint32_t n = 0; n < PYTHON_NAMED && i < walk->code_count; n++, i++) {
		uint64_t word = walk->codes[i & (RECENT_CODES - 1)];

		if (word >> LODE_LANGUAGE_SHIFT == LODE_LANGUAGE_PYTHON &&
		    function_word(scratch, &process->layout, word & LODE_LANGUAGE_ADDRESS) != word)
			return -1;
	}
	return (int)i;
}

/* Whether the current thread has the Python frames of the walk. */
__noinline int lode_python_is_same(struct scratch *scratch, struct recent_walk *walk)
{
	int i = 0;

	if (!scratch || !walk || scratch->python.search != PYTHON_FOUND ||
	    scratch->python.count != walk->code_count)
		return 0;
	for (uint32_t n = 0; n < RECENT_CODES / PYTHON_COMPARED && i >= 0 && (uint32_t)i < walk->code_count; n++)
		i = lode_python_compare(scratch, walk, (uint32_t)i);
	if (i < 0 || walk->tick == scratch->python.tick)
		return i >= 0;
	i = 0;
	for (uint32_t n = 0; n < RECENT_CODES / PYTHON_NAMED && i >= 0 && (uint32_t)i < walk->code_count; n++)
		i = lode_python_compare_names(scratch, walk, (uint32_t)i);
	if (i >= 0)
		walk->tick = scratch->python.tick;
	return i >= 0;
}

#endif
