/*
 * One step of unwinding through code that HotSpot generated: from a function to its caller, and the word of the frame
 * that it leaves (language_words.h). This is compiled twice, as process/unwind_step.h is: into the BPF programs, and into
 * the program.
 *
 * - The interpreter's frames are found by the frame pointer: below it are the Method that runs and the caller's stack
 *   pointer, at it the caller's frame pointer and the return address.
 * - Compiled code uses the frame pointer as any other register. But its frames have a fixed size, which the CodeBlob says,
 *   and on both architectures they end with the caller's frame pointer and the return address. The innermost frame may
 *   not be there yet, or no more, which hotspot_leaf.h decides.
 * - Stubs have frames of either kind, or none.
 *
 * The word of an interpreted method has the address of the Method; everything else has the address in the code.
 *
 * Before including it, define LODE_HOTSPOT_READ(context, address, bytes, size), which copies memory of the process, 1 when
 * it is there, else 0; LODE_HOTSPOT_READ_STACK(context, address, word), the same for a word of the stack; LODE_HOTSPOT_METHOD_WORD
 * (process, method, context), which is lode_hotspot_method_word or remembers what that says; LODE_HOTSPOT_HAS_LINK(state), whether return addresses come in a register (aarch64); and what
 * process/unwind_step.h needs, and include that.
 */
#ifndef LODE_PROCESS_LANGUAGES_HOTSPOT_STEP_H
#define LODE_PROCESS_LANGUAGES_HOTSPOT_STEP_H

#include "process/languages/hotspot_walk.h"
#include "process/languages/language_words.h"
#include "process/unwind_state.h"

#ifndef LODE_HOTSPOT_READ
#error "define LODE_HOTSPOT_READ before including hotspot_step.h"
#endif

#define LODE_HOTSPOT_INLINE static inline __attribute__((always_inline))

/* Segments that are gone back: a byte of the map leads over 254 of them, and the largest block has some thousands. */
#define LODE_HOTSPOT_HOPS 24
/* No frame of generated code is larger. */
#define LODE_HOTSPOT_FRAME_LIMIT (1 << 20)
/* Between a compiled caller's stack pointer and that of the interpreted method it calls are the arguments. */
#define LODE_HOTSPOT_ARGUMENTS 4096

/* The first bytes of names, as words. */
#define LODE_HOTSPOT_NMETHOD 0x00646f6874656d6eull /* "nmethod" */
#define LODE_HOTSPOT_NATIVE  0x6e2065766974616eull /* "native nmethod" */
#define LODE_HOTSPOT_ADAPTER 0x204932432f433249ull /* "I2C/C2I adapters" */
#define LODE_HOTSPOT_VTABLE  0x6320656c62617476ull /* "vtable chunks" */

/* ---- blobs ---- */

/* A word of the CodeBlob that was read; the verifier must see the bound. */
LODE_HOTSPOT_INLINE uint64_t lode_hotspot_field(const struct lode_hotspot_walk *walk, uint32_t offset)
{
	uint64_t at = offset;

	__asm__ volatile("" : "+r"(at));
	at &= LODE_HOTSPOT_BLOB_BYTES - 8;
	return *(const uint64_t *)(const void *)(walk->blob + at);
}

LODE_HOTSPOT_INLINE uint32_t lode_hotspot_number(const struct lode_hotspot_walk *walk, uint32_t offset)
{
	uint64_t at = offset;

	__asm__ volatile("" : "+r"(at));
	at &= LODE_HOTSPOT_BLOB_BYTES - 4;
	return *(const uint32_t *)(const void *)(walk->blob + at);
}

LODE_HOTSPOT_INLINE int lode_hotspot_is_code(const struct lode_hotspot_process *process, uint64_t address)
{
	return address - process->start < process->end - process->start;
}

LODE_HOTSPOT_INLINE int lode_hotspot_is_compiled(const struct lode_hotspot_walk *walk)
{
	return walk->name == LODE_HOTSPOT_NMETHOD || walk->name == LODE_HOTSPOT_NATIVE;
}

/* The first segment of the block that segment `at` is in, by the map at `segments`; -1: there is none. */
LODE_HOTSPOT_INLINE int64_t lode_hotspot_first_segment(uint64_t segments, uint64_t at, void *context)
{
	for (uint32_t i = 0; i < LODE_HOTSPOT_HOPS; i++) {
		uint8_t back;

		if (!LODE_HOTSPOT_READ(context, segments + at, &back, sizeof(back)) || back == 0xff || back > at)
			return -1;
		if (!back)
			return (int64_t)at;
		at -= back;
	}
	return -1;
}

/* Reads the CodeBlob of the code at an address. Returns 1, or 0 when there is none. */
LODE_HOTSPOT_INLINE int lode_hotspot_read_blob(const struct lode_hotspot_process *process,
					       struct lode_hotspot_walk *walk, uint64_t address, void *context)
{
	uint64_t start = 0, segments = 0, code;
	int64_t first;

	for (uint32_t i = 0; i < LODE_HOTSPOT_HEAPS; i++) {
		if (address - process->heaps[i].start >= process->heaps[i].end - process->heaps[i].start)
			continue;
		start = process->heaps[i].start;
		segments = process->heaps[i].segments;
	}
	if (!start)
		return 0;
	first = lode_hotspot_first_segment(segments, (address - start) >> (process->segment_shift & 31), context);
	if (first < 0)
		return 0;
	walk->at = start + ((uint64_t)first << (process->segment_shift & 31)) + process->block_header;
	if (!LODE_HOTSPOT_READ(context, walk->at, walk->blob, sizeof(walk->blob)))
		return 0;
	code = lode_hotspot_field(walk, process->blob_code_start);
	if (address - code >= lode_hotspot_field(walk, process->blob_code_end) - code)
		return 0;
	if (!LODE_HOTSPOT_READ(context, lode_hotspot_field(walk, process->blob_name), &walk->name,
			       sizeof(walk->name)))
		walk->name = 0;
	return 1;
}

/* ---- words ---- */

LODE_HOTSPOT_INLINE uint64_t lode_hotspot_method_word(const struct lode_hotspot_process *process, uint64_t method,
						      void *context)
{
	uint64_t const_method, name;

	if (!method || method & 7 ||
	    !LODE_HOTSPOT_READ(context, method + process->method_const, &const_method, sizeof(const_method)) ||
	    !LODE_HOTSPOT_READ(context, const_method + process->const_name, &name, sizeof(name)))
		return 0;
	return lode_language_word(LODE_LANGUAGE_JAVA, lode_hotspot_method_check(const_method, name), method);
}

/* Where the code of a frame is: a frame that was deoptimized has kept that, and returns to a handler. */
LODE_HOTSPOT_INLINE uint64_t lode_hotspot_place(const struct lode_hotspot_process *process,
						const struct lode_unwind_state *state,
						const struct lode_hotspot_walk *walk, void *context)
{
	uint64_t original;
	int32_t offset;

	if (state->is_exact || !lode_hotspot_is_compiled(walk) ||
	    (state->pc != lode_hotspot_field(walk, process->blob_deopt) &&
	     state->pc != lode_hotspot_field(walk, process->blob_deopt_mh)))
		return state->pc;
	if (!LODE_HOTSPOT_READ(context, walk->at + process->blob_original, &offset, sizeof(offset)) ||
	    offset < 0 || !LODE_HOTSPOT_READ(context, state->sp + (uint32_t)offset, &original, sizeof(original)) ||
	    !lode_hotspot_is_code(process, original))
		return state->pc;
	return original;
}

/* The word of code; of compiled code with a check. */
LODE_HOTSPOT_INLINE uint64_t lode_hotspot_code_word(const struct lode_hotspot_process *process, uint64_t pc,
						    const struct lode_hotspot_walk *walk)
{
	uint64_t check = 0;

	if (lode_hotspot_is_compiled(walk))
		check = lode_hotspot_code_check(walk->at, lode_hotspot_field(walk, process->blob_method),
						lode_hotspot_number(walk, process->blob_size));
	return lode_language_word(LODE_LANGUAGE_JAVA, check, pc);
}

/* ---- steps ---- */

/* To a caller with this stack pointer, whose frame pointer and return address are in slots 0 and 1, and in memory at `record`. */
LODE_HOTSPOT_INLINE enum lode_unwind_result
lode_hotspot_enter(struct lode_unwind_state *state, struct lode_hotspot_walk *walk, uint64_t sp, uint64_t record)
{
	walk->record = record;
	if (sp & 7 || sp <= state->sp)
		return LODE_UNWIND_LOST;
	state->sp = sp;
	state->fp = walk->slots[0];
	state->pc = lode_unwind_plain(state, walk->slots[1]);
	state->has_link = state->is_first = state->is_exact = state->sp_is_guess = 0;
	return state->pc ? LODE_UNWIND_CALLER : LODE_UNWIND_ROOT;
}

/* From a frame of `size` bytes, with the caller's frame pointer and the return address at its end. */
LODE_HOTSPOT_INLINE enum lode_unwind_result
lode_hotspot_by_size(struct lode_unwind_state *state, struct lode_hotspot_walk *walk, int64_t size, void *context)
{
	uint64_t sp = state->sp + (uint64_t)size;

	if (size < 16 || size > LODE_HOTSPOT_FRAME_LIMIT)
		return LODE_UNWIND_LOST;
	if (!LODE_HOTSPOT_READ_STACK(context, sp - 16, &walk->slots[0]) ||
	    !LODE_HOTSPOT_READ_STACK(context, sp - 8, &walk->slots[1]))
		return LODE_UNWIND_UNREAD;
	return lode_hotspot_enter(state, walk, sp, sp - 16);
}

/* From a frame that ends with the record at the frame pointer. */
LODE_HOTSPOT_INLINE enum lode_unwind_result lode_hotspot_by_record(struct lode_unwind_state *state,
								   struct lode_hotspot_walk *walk, void *context)
{
	if (state->fp & 7 || state->fp < state->sp)
		return LODE_UNWIND_LOST;
	if (!LODE_HOTSPOT_READ_STACK(context, state->fp, &walk->slots[0]) ||
	    !LODE_HOTSPOT_READ_STACK(context, state->fp + 8, &walk->slots[1]))
		return LODE_UNWIND_UNREAD;
	return lode_hotspot_enter(state, walk, state->fp + 16, state->fp);
}

/* From code without a frame, `size` bytes below where it was called. The frame pointer is the caller's. */
LODE_HOTSPOT_INLINE enum lode_unwind_result
lode_hotspot_by_call(struct lode_unwind_state *state, struct lode_hotspot_walk *walk, uint64_t size, void *context)
{
	uint64_t sp = state->sp + size;

	if (LODE_HOTSPOT_HAS_LINK(state)) {
		walk->slots[1] = state->link;
	} else {
		if (!LODE_HOTSPOT_READ(context, sp, &walk->slots[1], sizeof(walk->slots[1])))
			return LODE_UNWIND_UNREAD;
		sp += 8;
	}
	state->sp = sp;
	state->pc = lode_unwind_plain(state, walk->slots[1]);
	state->has_link = state->is_first = state->is_exact = state->sp_is_guess = 0;
	return state->pc ? LODE_UNWIND_CALLER : LODE_UNWIND_ROOT;
}

#include "process/languages/hotspot_leaf.h"

/* ---- the interpreter ---- */

/* The stack pointer of a compiled caller, from the registers of code that begins a call. */
LODE_HOTSPOT_INLINE uint64_t lode_hotspot_sender(const struct lode_unwind_state *state,
						 const struct lode_hotspot_walk *walk)
{
	for (uint32_t i = 0; i < 2; i++)
		if (!(walk->sender[i] & 7) && walk->sender[i] - state->sp < LODE_HOTSPOT_ARGUMENTS)
			return walk->sender[i];
	return state->sp;
}

/*
 * From the beginning of a call, before the interpreter has made the frame. What calls it is generated code, too: on x86-64 the return
 * address may be in a register meanwhile.
 */
LODE_HOTSPOT_INLINE enum lode_unwind_result lode_hotspot_begun_call(const struct lode_hotspot_process *process,
								    struct lode_unwind_state *state,
								    struct lode_hotspot_walk *walk, void *context)
{
	uint64_t sender = lode_hotspot_sender(state, walk);
	enum lode_unwind_result result = lode_hotspot_by_call(state, walk, 0, context);

	if (!LODE_HOTSPOT_HAS_LINK(state) && !lode_hotspot_is_code(process, walk->slots[1]) &&
	    lode_hotspot_is_code(process, walk->returns)) {
		state->pc = walk->returns;
		result = LODE_UNWIND_CALLER;
	}
	if (sender > state->sp)
		state->sp = sender;
	return result;
}

LODE_HOTSPOT_INLINE int lode_hotspot_is_entry(const struct lode_hotspot_process *process, uint64_t pc)
{
	for (uint32_t i = 0; i < LODE_HOTSPOT_ENTRIES; i++)
		if (pc - process->entries[i].start < process->entries[i].framed - process->entries[i].start)
			return 1;
	return 0;
}

/* From a frame of the interpreter: below the frame pointer are the caller's stack pointer, one more, and the Method. */
LODE_HOTSPOT_INLINE enum lode_unwind_result
lode_hotspot_from_interpreter(const struct lode_hotspot_process *process, struct lode_unwind_state *state,
			      struct lode_hotspot_walk *walk, void *context)
{
	uint64_t sp = state->fp + 16;

	if (state->is_exact && lode_hotspot_is_entry(process, state->pc)) {
		walk->word = lode_hotspot_method_word(process, walk->method, context);
		return lode_hotspot_begun_call(process, state, walk, context);
	}
	if (state->is_exact && lode_hotspot_returns(state, walk, context))
		return lode_hotspot_by_call(state, walk, 0, context);
	if (state->fp & 7 || state->fp < state->sp)
		return LODE_UNWIND_LOST;
	if (!LODE_HOTSPOT_READ_STACK(context, state->fp - 24, &walk->method) ||
	    !LODE_HOTSPOT_READ_STACK(context, state->fp - 8, &walk->caller) ||
	    !LODE_HOTSPOT_READ_STACK(context, state->fp, &walk->slots[0]) ||
	    !LODE_HOTSPOT_READ_STACK(context, state->fp + 8, &walk->slots[1]))
		return LODE_UNWIND_UNREAD;
	walk->word = LODE_HOTSPOT_METHOD_WORD(process, walk->method, context);
	return lode_hotspot_enter(state, walk, walk->caller - sp < LODE_HOTSPOT_ARGUMENTS ? walk->caller : sp,
				  state->fp);
}

/* ---- all of it ---- */

/* Finds where the frame of compiled code, or of a stub, is: walk->kind and walk->size. */
LODE_HOTSPOT_INLINE void lode_hotspot_find_frame(const struct lode_hotspot_process *process,
						 const struct lode_unwind_state *state,
						 struct lode_hotspot_walk *walk, void *context)
{
	struct lode_hotspot_leaf leaf = {
		.size = (int64_t)(int32_t)lode_hotspot_number(walk, process->blob_frame_size) * 8,
		.start = lode_hotspot_field(walk, process->blob_code_start),
		.end = lode_hotspot_field(walk, process->blob_code_end),
	};

	leaf.complete = leaf.start + lode_hotspot_number(walk, process->blob_frame_complete);
	leaf.kind = leaf.size > 0 ? LODE_HOTSPOT_SIZED : LODE_HOTSPOT_RECORD;
	if (walk->name == LODE_HOTSPOT_ADAPTER || walk->name == LODE_HOTSPOT_VTABLE) {
		leaf.kind = LODE_HOTSPOT_CALLED;
		leaf.size = (int64_t)(lode_hotspot_sender(state, walk) - state->sp);
		if (!LODE_HOTSPOT_HAS_LINK(state) || walk->name == LODE_HOTSPOT_VTABLE)
			leaf.size = 0;
	} else if (state->is_exact && state->is_first) {
		if (lode_hotspot_is_compiled(walk))
			lode_hotspot_compiled_leaf(state, walk, &leaf, context);
		else
			lode_hotspot_stub_leaf(process, state, &leaf, context);
	}
	walk->kind = leaf.kind;
	walk->size = leaf.size;
}

/* The step from there. */
LODE_HOTSPOT_INLINE enum lode_unwind_result lode_hotspot_leave_frame(struct lode_unwind_state *state,
								     struct lode_hotspot_walk *walk, void *context)
{
	if (walk->kind == LODE_HOTSPOT_CALLED)
		return lode_hotspot_by_call(state, walk, (uint64_t)walk->size, context);
	if (walk->kind == LODE_HOTSPOT_RECORD)
		return lode_hotspot_by_record(state, walk, context);
	return lode_hotspot_by_size(state, walk, walk->size, context);
}

#endif
