/*
 * Frames of JavaScript functions of V8, in the kernel. A part of unwind.bpf.h.
 *
 * V8's code has no unwind tables, but a frame record in each frame: code that it generates, and the built-in functions
 * that interpret bytecode and make calls. Below the frame pointer is the context of the JavaScript function that the frame
 * runs, or, in a frame of another kind, a small number; below that the function (JSFunction). So whatever runs without a
 * table in such a process may be a JavaScript function, and it is one if this leads to a SharedFunctionInfo, which has the
 * function's name and script: its type is checked.
 *
 * The garbage collector moves functions often, but what describes them is allocated where it moves little. That address is
 * the frame's word.
 */
#ifndef LODE_RECORD_BPF_V8_BPF_H
#define LODE_RECORD_BPF_V8_BPF_H

/* Whether the rule in the scratch is that of code in which V8's functions are. */
static __always_inline bool is_at_v8(const struct scratch *scratch)
{
	if (scratch->rule.cfa != LODE_CFA_NONE || scratch->rule.return_at == LODE_PLACE_NONE)
		return false;
	return process_running(scratch, LODE_LANGUAGE_JAVASCRIPT) != 0;
}

static __always_inline bool is_v8_object(uint64_t pointer)
{
	return (pointer & LODE_V8_TAG_MASK) == LODE_V8_TAG;
}

/* A word of the SharedFunctionInfo that was read; the verifier must see the bound. */
static __always_inline uint64_t shared_word(const struct scratch *scratch, uint32_t offset)
{
	uint64_t at = offset;

	asm volatile("" : "+r"(at));
	at &= LODE_V8_SHARED_BYTES - 8;
	return *(const uint64_t *)(scratch->v8.shared + at);
}

/* Whether the object in the scratch is a SharedFunctionInfo. All have one map. */
static __always_inline bool is_v8_shared(struct scratch *scratch, const struct lode_v8_layout *layout)
{
	uint64_t map = shared_word(scratch, 0);
	uint16_t type;

	if (map == scratch->v8.map)
		return true;
	if (!is_v8_object(map) ||
	    bpf_probe_read_user(&type, sizeof(type), (void *)(map - LODE_V8_TAG + layout->map_type)) ||
	    type != layout->shared_type)
		return false;
	scratch->v8.map = map;
	return true;
}

/* The word of the function that the frame with this frame pointer runs; 0: it runs none. */
static __always_inline uint64_t v8_word(struct scratch *scratch, const struct lode_v8_layout *layout, uint64_t fp)
{
	uint64_t shared;

	if (bpf_probe_read_user(scratch->v8.slots, sizeof(scratch->v8.slots),
				(void *)(fp + (int64_t)layout->frame_slots)) ||
	    !is_v8_object(scratch->v8.slots[0]) || !is_v8_object(scratch->v8.slots[1]))
		return 0;
	shared = read_word_at(scratch->v8.slots[0] - LODE_V8_TAG + layout->function_shared);
	if (!is_v8_object(shared) ||
	    bpf_probe_read_user(scratch->v8.shared, sizeof(scratch->v8.shared), (void *)(shared - LODE_V8_TAG)))
		return 0;
	if (!is_v8_shared(scratch, layout))
		return 0;
	return lode_language_word(LODE_LANGUAGE_JAVASCRIPT,
				  lode_v8_check(shared_word(scratch, layout->shared_scope),
						shared_word(scratch, layout->shared_script)),
				  shared - LODE_V8_TAG);
}

/*
 * V8 maps memory for code all the time, and the program hears of it late. If the frame is that of a function nevertheless, it
 * has a record, as all code that is not known: the rule is copied to the scratch.
 */
__noinline int lode_v8_guess_rule(struct scratch *scratch)
{
	const struct lode_language_process *process;
	struct lode_unwind_rule *rule;
	uint32_t number = 0;

	if (!scratch)
		return 0;
	process = process_running(scratch, LODE_LANGUAGE_JAVASCRIPT);
	rule = bpf_map_lookup_elem(&unwind_rules, &number);
	if (!process || !rule || !v8_word(scratch, &process->v8, scratch->state.fp))
		return 0;
	scratch->rule = *rule;
	return 1;
}

/*
 * A walk with this function can be kept: it is the same as long as the slot has the same function, which describes the same. Where a
 * frame has something else that looks like a function, it cannot.
 */
static __always_inline void note_v8_slot(struct scratch *scratch, const struct lode_v8_layout *layout, uint64_t fp,
					 uint64_t word)
{
	if (!KEEPS_WALKS)
		return;
	if (word)
		lode_note_word(scratch, fp + (int64_t)layout->frame_slots, scratch->v8.slots[0]);
	else if (is_v8_object(scratch->v8.slots[1]))
		lose_trail(scratch);
}

/* The walk left a frame by its record, which is just below the stack pointer: adds what it ran, and then its caller. */
__noinline int lode_v8_add(struct scratch *scratch)
{
	const struct lode_language_process *process;
	uint64_t word;

	if (!scratch)
		return 0;
	process = process_running(scratch, LODE_LANGUAGE_JAVASCRIPT);
	if (!process)
		return 0;
	word = v8_word(scratch, &process->v8, scratch->state.sp - 16);
	note_v8_slot(scratch, &process->v8, scratch->state.sp - 16, word);
	if (word && scratch->stack.count < LODE_RECORD_FRAMES - 1) {
		mark_words(scratch);
		note_name(scratch, word);
		add_address(scratch, word);
	}
	add_caller(scratch);
	return 0;
}

/* ---- kept walks ---- */

/* Rounds of lode_v8_compare, and how often it is called: each goes on by a frame, or by a noted word. */
#define V8_COMPARED 16
#define V8_COMPARES ((RECENT_FRAMES + RECENT_WORDS) / V8_COMPARED)

/* Whether the function describes itself by what the word says. */
static __always_inline bool has_v8_word(const struct lode_v8_layout *layout, uint64_t function, uint64_t word)
{
	uint64_t shared = read_word_at(function - LODE_V8_TAG + layout->function_shared);

	return ((shared - LODE_V8_TAG) & LODE_LANGUAGE_ADDRESS) == (word & LODE_LANGUAGE_ADDRESS);
}

/*
 * Compares some words of the walk with the functions whose slots it noted, from scratch->v8.frame and v8.noted on: these functions
 * are where they were, but others may have taken their places. Of all that is noted only functions have a tag. Returns whether to go on.
 */
__noinline int lode_v8_compare(struct scratch *scratch, const struct recent_walk *walk)
{
	const struct lode_language_process *process;

	if (!scratch || !walk)
		return 0;
	process = process_running(scratch, LODE_LANGUAGE_JAVASCRIPT);
	if (!process)
		return 0;
	for (uint32_t n = 0; n < V8_COMPARED; n++) {
		uint32_t i = *(volatile uint32_t *)&scratch->v8.frame, j = *(volatile uint32_t *)&scratch->v8.noted;
		uint64_t word = walk->returns[i & (RECENT_FRAMES - 1)],
			 function = walk->words[j & (RECENT_WORDS - 1)];

		if (i >= walk->count)
			return 0;
		if (word >> LODE_LANGUAGE_SHIFT != LODE_LANGUAGE_JAVASCRIPT) {
			scratch->v8.frame = i + 1;
			continue;
		}
		if (j >= walk->word_count)
			return 0;
		scratch->v8.noted = j + 1;
		if (!is_v8_object(function))
			continue;
		if (!has_v8_word(&process->v8, function, word))
			return 0;
		scratch->v8.frame = i + 1;
	}
	return 1;
}

/* Whether the current thread, whose stack has the words of the walk, has its JavaScript functions. */
__noinline int lode_v8_is_same(struct scratch *scratch, const struct recent_walk *walk)
{
	if (!scratch || !walk)
		return 0;
	scratch->v8.frame = 1;
	scratch->v8.noted = 0;
	for (uint32_t n = 0; n < V8_COMPARES; n++)
		if (!lode_v8_compare(scratch, walk))
			break;
	return scratch->v8.frame >= walk->count;
}

#endif
