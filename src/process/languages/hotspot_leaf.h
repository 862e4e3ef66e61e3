/*
 * Where the innermost function's frame is, in code that HotSpot generated: a part of hotspot_step.h, and all of it that
 * differs between architectures.
 *
 * A thread is in the middle of compiled code nearly always, where the whole frame is there. At its beginning and its end
 * the instructions around the address say how much of it is. aarch64:
 *
 *	sub sp, sp, #size               or  stp x29, x30, [sp, #-16]!
 *	stp x29, x30, [sp, #size - 16]      sub sp, sp, #size - 16
 *	...                                 ...
 *	ldp x29, x30, [sp, #size - 16]      add sp, sp, #size - 16
 *	add sp, sp, #size                   ldp x29, x30, [sp], #16
 *	(a check for safepoints), ret
 *
 * x86-64:
 *
 *	push %rbp                       or  sub $size, %rsp
 *	sub $size - 8, %rsp                 mov %rbp, size - 8(%rsp)
 *	(a barrier: since JDK 21 it is always there)
 *	...
 *	add $size - 8, %rsp
 *	pop %rbp
 *	(a check for safepoints), ret
 */
#ifndef LODE_PROCESS_LANGUAGES_HOTSPOT_LEAF_H
#define LODE_PROCESS_LANGUAGES_HOTSPOT_LEAF_H

enum lode_hotspot_leaf_kind {
	LODE_HOTSPOT_SIZED,  /* a frame of `size` bytes */
	LODE_HOTSPOT_RECORD, /* one that the frame pointer leads to */
	LODE_HOTSPOT_CALLED, /* none: it is `size` bytes below where it was called */
};

struct lode_hotspot_leaf {
	int64_t size;
	uint64_t start; /* of the code */
	uint64_t end;
	uint64_t complete; /* where the frame is there */
	enum lode_hotspot_leaf_kind kind;
};

/* ---- aarch64 ---- */

#define LODE_A64_RET        0xd65f03c0u
#define LODE_A64_PUSH       0xa9bf7bfdu /* stp x29, x30, [sp, #-16]! */
#define LODE_A64_POP        0xa8c17bfdu /* ldp x29, x30, [sp], #16 */
#define LODE_A64_SET_FP     0x910003fdu /* mov x29, sp */
#define LODE_A64_SAVE       0xa9007bfdu /* stp x29, x30, [sp, #offset] */
#define LODE_A64_LOAD       0xa9407bfdu /* ldp x29, x30, [sp, #offset] */
#define LODE_A64_PAIR_BITS  0xffc07fffu /* all but the offset */
#define LODE_A64_SUB_SP     0xd10003ffu /* sub sp, sp, #number */
#define LODE_A64_ADD_SP     0x910003ffu
#define LODE_A64_SP_BITS    0xff8003ffu /* all but the number */
#define LODE_A64_JUMP       0x14000000u
#define LODE_A64_JUMP_BITS  0xfc000000u
#define LODE_A64_LOOK_AHEAD 7

/* The number that is added to or subtracted from the stack pointer. */
LODE_HOTSPOT_INLINE int64_t lode_a64_number(uint32_t instruction)
{
	return (int64_t)(instruction >> 10 & 0xfff) << (instruction >> 22 & 1 ? 12 : 0);
}

/* Whether the frame is still to be made: its registers are saved between here and `complete`. */
LODE_HOTSPOT_INLINE int lode_a64_saves_ahead(const struct lode_hotspot_walk *walk, uint64_t pc, uint64_t complete)
{
	for (uint32_t i = 0; i < LODE_A64_LOOK_AHEAD; i++) {
		uint32_t instruction = walk->instructions[i + 1];

		if (pc + i * 4 >= complete)
			return 0;
		if (instruction == LODE_A64_PUSH || (instruction & LODE_A64_PAIR_BITS) == LODE_A64_SAVE)
			return 1;
	}
	return 0;
}

/* Whether the function returns soon, and its registers are restored already; `size` is what is left of its frame. */
LODE_HOTSPOT_INLINE int lode_a64_returns(const struct lode_hotspot_walk *walk, int64_t *size)
{
	*size = 0;
	for (uint32_t i = 0; i < LODE_A64_LOOK_AHEAD; i++) {
		uint32_t instruction = walk->instructions[i + 1];

		if (instruction == LODE_A64_RET)
			return 1;
		if ((instruction & LODE_A64_SP_BITS) == LODE_A64_ADD_SP)
			*size += lode_a64_number(instruction);
		if (instruction == LODE_A64_POP || (instruction & LODE_A64_PAIR_BITS) == LODE_A64_LOAD ||
		    (instruction & LODE_A64_JUMP_BITS) == LODE_A64_JUMP)
			return 0;
	}
	return 0;
}

LODE_HOTSPOT_INLINE void lode_a64_compiled_leaf(const struct lode_unwind_state *state,
						const struct lode_hotspot_walk *walk,
						struct lode_hotspot_leaf *leaf)
{
	uint32_t before = walk->instructions[0];
	int64_t size;

	if (state->pc < leaf->complete) {
		if (before == LODE_A64_PUSH || before == LODE_A64_SET_FP) {
			leaf->size = 16;
		} else if (lode_a64_saves_ahead(walk, state->pc, leaf->complete)) {
			leaf->kind = LODE_HOTSPOT_CALLED;
			leaf->size = (before & LODE_A64_SP_BITS) == LODE_A64_SUB_SP ? lode_a64_number(before) : 0;
		}
	} else if (walk->instructions[1] == LODE_A64_POP) {
		leaf->size = 16;
	} else if (lode_a64_returns(walk, &size)) {
		leaf->kind = LODE_HOTSPOT_CALLED;
		leaf->size = size;
	}
}

/*
 * A stub has a frame if the return address is where its frame ends; if it called something, the link register leads to the stub
 * itself.
 */
LODE_HOTSPOT_INLINE void lode_a64_stub_leaf(const struct lode_unwind_state *state, struct lode_hotspot_leaf *leaf,
					    void *context)
{
	uint64_t link = lode_unwind_plain(state, state->link), word = 0;

	if (leaf->size > 0 &&
	    LODE_HOTSPOT_READ(context, state->sp + (uint64_t)leaf->size - 8, &word, sizeof(word)) &&
	    lode_unwind_plain(state, word) == link)
		return;
	if (state->fp >= state->sp && LODE_HOTSPOT_READ(context, state->fp + 8, &word, sizeof(word)) &&
	    lode_unwind_plain(state, word) == link) {
		leaf->kind = LODE_HOTSPOT_RECORD;
	} else if (link - leaf->start >= leaf->end - leaf->start) {
		leaf->kind = LODE_HOTSPOT_CALLED;
		leaf->size = 0;
	}
}

/* ---- x86-64 ---- */

/* The bytes of an instruction at the address, and of those before it. */
#define LODE_X86_AT (LODE_HOTSPOT_CODE_BYTES / 2)

/* Whether the check for safepoints is at `i`: cmp offset(%r15), %rsp. */
LODE_HOTSPOT_INLINE int lode_x86_is_poll(const uint8_t *code, uint32_t i)
{
	return code[i] == 0x49 && code[i + 1] == 0x3b && (code[i + 2] == 0x67 || code[i + 2] == 0xa7);
}

LODE_HOTSPOT_INLINE int lode_x86_is_popped(const uint8_t *code)
{
	const uint32_t at = LODE_X86_AT;

	if (code[at] == 0xc3 || lode_x86_is_poll(code, at))
		return 1;
	/* The jump behind that check. */
	return code[at] == 0x0f && code[at + 1] == 0x87 &&
	       (lode_x86_is_poll(code, at - 4) || lode_x86_is_poll(code, at - 7));
}

/*
 * Whether the barrier at the entry begins at `i`: cmpl $number, offset(%r15). Behind it is a jump to code that deals with it, or over
 * a call that does.
 */
LODE_HOTSPOT_INLINE int lode_x86_is_barrier(const uint8_t *code, uint32_t i)
{
	return code[i] == 0x41 && code[i + 1] == 0x81 && (code[i + 2] == 0x7f || code[i + 2] == 0xbf);
}

LODE_HOTSPOT_INLINE int lode_x86_is_behind_barrier(const uint8_t *code, uint32_t i)
{
	return (lode_x86_is_barrier(code, i - 8) && code[i - 6] == 0x7f) ||
	       (lode_x86_is_barrier(code, i - 11) && code[i - 9] == 0xbf);
}

/* Whether the stack pointer was just moved: sub $number, %rsp. */
LODE_HOTSPOT_INLINE int lode_x86_is_behind_sub(const uint8_t *code, uint32_t i)
{
	return (code[i - 4] == 0x48 && code[i - 3] == 0x83 && code[i - 2] == 0xec) ||
	       (code[i - 7] == 0x48 && code[i - 6] == 0x81 && code[i - 5] == 0xec);
}

/* Whether the frame is there, in code that makes it and is not through yet. */
LODE_HOTSPOT_INLINE int lode_x86_has_frame(const uint8_t *code)
{
	const uint32_t at = LODE_X86_AT;

	return lode_x86_is_behind_sub(code, at) || lode_x86_is_barrier(code, at) ||
	       lode_x86_is_behind_barrier(code, at) ||
	       /* The jump of code that was changed since it was compiled. */
	       code[at] == 0x75 ||
	       /* The frame pointer is about to be saved. */
	       (code[at] == 0x48 && code[at + 1] == 0x89 && (code[at + 2] == 0x6c || code[at + 2] == 0xac)) ||
	       /* The call that the jump leads over. */
	       (code[at] == 0xe8 && code[at - 2] == 0x74 && lode_x86_is_behind_barrier(code, at - 2));
}

LODE_HOTSPOT_INLINE void lode_x86_compiled_leaf(const struct lode_unwind_state *state,
						const struct lode_hotspot_walk *walk,
						struct lode_hotspot_leaf *leaf)
{
	const uint8_t *code = walk->code, *here = code + LODE_X86_AT;

	if (state->pc < leaf->complete) {
		if (lode_x86_has_frame(code))
			return;
		leaf->kind = LODE_HOTSPOT_CALLED;
		leaf->size = code[LODE_X86_AT - 1] == 0x55 ? 8 : 0;
	} else if (here[0] == 0x5d || lode_x86_is_popped(code)) {
		leaf->kind = LODE_HOTSPOT_CALLED;
		leaf->size = here[0] == 0x5d ? 8 : 0;
	}
}

/*
 * A stub whose code has just begun, or that never has a frame, has the return address on top of the stack: an address in generated
 * code, which calls stubs.
 */
LODE_HOTSPOT_INLINE void lode_x86_stub_leaf(const struct lode_hotspot_process *process,
					    const struct lode_unwind_state *state, struct lode_hotspot_leaf *leaf,
					    void *context)
{
	uint64_t top;

	if ((leaf->size > 0 && state->pc < leaf->complete) ||
	    (leaf->size <= 0 && LODE_HOTSPOT_READ_STACK(context, state->sp, &top) &&
	     lode_hotspot_is_code(process, top))) {
		leaf->kind = LODE_HOTSPOT_CALLED;
		leaf->size = 0;
	}
}

/* ---- either ---- */

/* Reads the code around the innermost address. Returns 1, or 0 when that is not there. */
LODE_HOTSPOT_INLINE int lode_hotspot_read_code(const struct lode_unwind_state *state,
					       struct lode_hotspot_walk *walk, void *context)
{
	uint64_t from = LODE_HOTSPOT_HAS_LINK(state) ? state->pc - 4 : state->pc - LODE_X86_AT;

	return LODE_HOTSPOT_READ(context, from, walk->code, sizeof(walk->code));
}

/* Where the frame of compiled code is; `leaf` is filled in as for code in the middle of a function. */
LODE_HOTSPOT_INLINE void lode_hotspot_compiled_leaf(const struct lode_unwind_state *state,
						    struct lode_hotspot_walk *walk, struct lode_hotspot_leaf *leaf,
						    void *context)
{
	if (!lode_hotspot_read_code(state, walk, context))
		return;
	if (LODE_HOTSPOT_HAS_LINK(state))
		lode_a64_compiled_leaf(state, walk, leaf);
	else
		lode_x86_compiled_leaf(state, walk, leaf);
}

LODE_HOTSPOT_INLINE void lode_hotspot_stub_leaf(const struct lode_hotspot_process *process,
						const struct lode_unwind_state *state,
						struct lode_hotspot_leaf *leaf, void *context)
{
	if (LODE_HOTSPOT_HAS_LINK(state))
		lode_a64_stub_leaf(state, leaf, context);
	else
		lode_x86_stub_leaf(process, state, leaf, context);
}

/* Whether the interpreter has just dropped a frame, and returns. */
LODE_HOTSPOT_INLINE int lode_hotspot_returns(const struct lode_unwind_state *state, struct lode_hotspot_walk *walk,
					     void *context)
{
	if (!lode_hotspot_read_code(state, walk, context))
		return 0;
	if (LODE_HOTSPOT_HAS_LINK(state))
		return walk->instructions[1] == LODE_A64_RET || walk->instructions[2] == LODE_A64_RET;
	return walk->code[LODE_X86_AT] == 0xc3;
}

#endif
