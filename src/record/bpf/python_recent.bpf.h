/*
 * Whether a thread whose C stack is that of a kept walk (recent_walks.bpf.h) has the walk's Python frames, too: calls from
 * Python to Python leave the words of the C stack as they are. A part of unwind.bpf.h.
 *
 * The chain of all code objects is compared, by a hash and a sum as those by which stacks are told apart: functions return, and
 * others are called that have their frames at the same addresses. Another code object may have taken an address, so what
 * the objects say is compared, too, once in each tick of the kernel's clock.
 */
#ifndef LODE_RECORD_BPF_PYTHON_RECENT_BPF_H
#define LODE_RECORD_BPF_PYTHON_RECENT_BPF_H

/* Adds some words of the chain, from number `i` on, to the hash of names. Returns the number that it came to. */
__noinline int lode_python_hash_some(struct scratch *scratch, uint32_t i)
{
	const struct lode_language_process *process;

	if (!scratch)
		return LODE_RECORD_FRAMES;
	process = python_process(scratch);
	if (!process)
		return LODE_RECORD_FRAMES;
	for (uint32_t n = 0; n < PYTHON_NAMED && i < scratch->python.so_far.count; n++, i++) {
		uint64_t word = scratch->python.chain[i & LODE_RECORD_FRAMES];

		if (word >> LODE_LANGUAGE_SHIFT == LODE_LANGUAGE_PYTHON)
			word = function_word(scratch, &process->layout, word & LODE_LANGUAGE_ADDRESS);
		add_name(scratch, word);
	}
	return (int)i;
}

/* Makes the hash of names anew. */
__noinline int lode_python_hash_names(struct scratch *scratch)
{
	uint32_t at = 0;

	if (!scratch)
		return 0;
	scratch->python.names = 0;
	for (uint32_t i = 0; i < PYTHON_NAMED_ROUNDS && at < scratch->python.so_far.count; i++)
		at = (uint32_t)lode_python_hash_some(scratch, at);
	return 0;
}

/* Whether the current thread, whose chain was collected, has the Python frames of the walk. */
static __always_inline bool python_is_same(struct scratch *scratch, struct recent_walk *walk)
{
	const struct python_chain *chain = &scratch->python.so_far;

	if (scratch->python.search != PYTHON_FOUND || chain->hash != walk->chain_hash ||
	    chain->sum != walk->chain_sum)
		return false;
	if (walk->tick == scratch->python.tick)
		return true;
	lode_python_hash_names(scratch);
	if (scratch->python.names != walk->names) {
		scratch->python.names = 0;
		return false;
	}
	walk->tick = scratch->python.tick;
	return true;
}

#endif
