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
	const struct lode_language_process *process;

	if (scratch->rule.cfa != LODE_CFA_NONE || scratch->rule.return_at == LODE_PLACE_NONE)
		return false;
	process = process_running(scratch, LODE_LANGUAGE_JAVASCRIPT);
	return process && process->language == LODE_LANGUAGE_JAVASCRIPT;
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
	process = language_process(scratch);
	rule = bpf_map_lookup_elem(&unwind_rules, &number);
	if (!process || process->language != LODE_LANGUAGE_JAVASCRIPT || !rule ||
	    !v8_word(scratch, &process->v8, scratch->state.fp))
		return 0;
	scratch->rule = *rule;
	return 1;
}

/* The walk left a frame by its record, which is just below the stack pointer: adds what it ran, and then its caller. */
__noinline int lode_v8_add(struct scratch *scratch)
{
	const struct lode_language_process *process;
	uint64_t word;

	if (!scratch)
		return 0;
	process = process_running(scratch, LODE_LANGUAGE_JAVASCRIPT);
	if (!process || process->language != LODE_LANGUAGE_JAVASCRIPT)
		return 0;
	word = v8_word(scratch, &process->v8, scratch->state.sp - 16);
	if (word && scratch->stack.count < LODE_RECORD_FRAMES - 1) {
		mark_words(scratch);
		note_name(scratch, word);
		add_address(scratch, word);
		/* Functions move: that the stack has the same words does not prove that they are the same. */
		lose_trail(scratch);
	}
	add_caller(scratch);
	return 0;
}

#endif
