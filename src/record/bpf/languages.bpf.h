/*
 * What the walks of languages share, in the kernel: which language a process runs, and what was read lately of the
 * functions of its stacks. A part of unwind.bpf.h.
 */
#ifndef LODE_RECORD_BPF_LANGUAGES_BPF_H
#define LODE_RECORD_BPF_LANGUAGES_BPF_H

#include "process/languages/language_words.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LODE_LANGUAGE_PROCESSES);
	__type(key, uint32_t);
	__type(value, struct lode_language_process);
} language_processes SEC(".maps");

/* What is known of the process if it runs this language, or NULL. */
static __always_inline const struct lode_language_process *process_running(const struct scratch *scratch,
									   enum lode_language language)
{
	uint32_t place = scratch->space.language;
	const struct lode_language_process *process = place ? bpf_map_lookup_elem(&language_processes, &place) : 0;

	return process && process->language == language ? process : 0;
}

static __always_inline uint64_t read_word_at(uint64_t address)
{
	uint64_t word;

	return bpf_probe_read_user(&word, sizeof(word), (void *)address) ? 0 : word;
}

/* Stacks of different processes differ: what is at an address does. */
static __always_inline void mark_words(struct scratch *scratch)
{
	uint64_t pid = (uint32_t)bpf_get_current_task_btf()->tgid;

	if (scratch->stack.languages & LODE_STACK_HAS_WORDS)
		return;
	scratch->stack.languages |= LODE_STACK_HAS_WORDS;
	scratch->stack.pid = pid;
	scratch->hash += pid * MULTIPLIER;
	scratch->sum += pid;
}

/* Adds the caller that the walk came to before it added frames of a language. */
static __always_inline void add_caller(struct scratch *scratch)
{
	if (scratch->stack.count >= LODE_RECORD_FRAMES)
		return;
	add_address(scratch, scratch->state.pc + scratch->state.is_exact);
	if (KEEPS_WALKS)
		scratch->trail.return_at[(scratch->stack.count - 1) & LODE_RECORD_FRAMES] = scratch->python.slot;
}

/* ---- what was read lately ---- */

/*
 * By address: the check of what is there, and a number (of Java's code: the size of its frames), packed into a word. They count
 * for a while, scratch->epoch, since others may take the address. Both words of an entry are written separately and by any CPU; the
 * packed one has some bits of the key's hash, by which a mixture of two entries is recognized.
 */
#define REMEMBERED_BITS         12
#define REMEMBERED_EPOCH        0xfffffu
#define REMEMBERED_NUMBER_SHIFT 20
#define REMEMBERED_NUMBER       0xfffffu
#define REMEMBERED_CHECK_SHIFT  40
#define REMEMBERED_HASH_SHIFT   48

struct lode_unwind_cached remembered_addresses[1 << REMEMBERED_BITS];

/* Gets what is remembered of an address. */
static __always_inline bool recall_address(const struct scratch *scratch, uint64_t address, uint64_t *packed)
{
	uint64_t key = cache_key(&scratch->space, address), mixed = key * MULTIPLIER;
	const struct lode_unwind_cached *cached = &remembered_addresses[mixed >> (64 - REMEMBERED_BITS)];

	if (cached->key != key)
		return false;
	*packed = cached->word;
	return *packed >> REMEMBERED_HASH_SHIFT == (mixed >> 32 & 0xffff) &&
	       (*packed & REMEMBERED_EPOCH) == scratch->epoch;
}

/* `word`: of a language, with the check. */
static __always_inline void remember_address(const struct scratch *scratch, uint64_t address, uint64_t word,
					     uint64_t number)
{
	uint64_t key = cache_key(&scratch->space, address), mixed = key * MULTIPLIER;
	struct lode_unwind_cached *cached = &remembered_addresses[mixed >> (64 - REMEMBERED_BITS)];

	cached->key = key;
	cached->word = (mixed >> 32 & 0xffff) << REMEMBERED_HASH_SHIFT |
		       (word >> LODE_LANGUAGE_CHECK & 0xff) << REMEMBERED_CHECK_SHIFT |
		       number << REMEMBERED_NUMBER_SHIFT | scratch->epoch;
}

static __always_inline uint64_t remembered_number(uint64_t packed)
{
	return packed >> REMEMBERED_NUMBER_SHIFT & REMEMBERED_NUMBER;
}

/* The word of an address with what is remembered of it. */
static __always_inline uint64_t remembered_word(enum lode_language language, uint64_t address, uint64_t packed)
{
	return lode_language_word(language, packed >> REMEMBERED_CHECK_SHIFT, address);
}

#endif
