/* What the walks of languages share, in the kernel. A part of unwind.bpf.h. */
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

/*
 * What is known of the process if it runs one of these languages, as bits, or NULL. All functions of a language begin with it, so that
 * the verifier looks no further where none of them was chosen.
 */
static __always_inline const struct lode_language_process *process_running_any(const struct scratch *scratch,
									       uint32_t wanted)
{
	const struct lode_language_process *process;
	uint32_t place;

	if (!(languages & wanted))
		return 0;
	place = scratch->space.language;
	process = place ? bpf_map_lookup_elem(&language_processes, &place) : 0;
	return process && wanted >> (process->language & 31) & 1 ? process : 0;
}

/* The same for one language. */
static __always_inline const struct lode_language_process *process_running(const struct scratch *scratch,
									   enum lode_language language)
{
	return process_running_any(scratch, 1u << language);
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

#endif
