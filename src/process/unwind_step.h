/*
 * One step of unwinding: from a function to its caller, by a rule. This is the only
 * code that walks user stacks. It is compiled twice: into the recorder's BPF
 * programs, where memory is the running thread's, and into the program, where it is
 * a copy of a stack, the bytes in a perf.data sample, or a process stopped by
 * ptrace.
 *
 * Before including it, define LODE_UNWIND_READ(context, address, word): reads the
 * 8-byte word at a user address, 1 when it is there, else 0.
 *
 * Each step must move the stack pointer up, except the first one (a leaf without a
 * frame) and out of a signal handler, which may have its own stack; so a walk
 * ends no matter what the memory holds.
 */
#ifndef LODE_PROCESS_UNWIND_STEP_H
#define LODE_PROCESS_UNWIND_STEP_H

#include "process/unwind_state.h"
#include "symbols/unwind_rule.h"

#ifndef LODE_UNWIND_READ
#error "define LODE_UNWIND_READ before including unwind_step.h"
#endif

/* The address to look rules and functions up by: a return address may be the first byte of the next function. */
static inline __attribute__((always_inline)) uint64_t lode_unwind_address(const struct lode_unwind_state *state)
{
	return state->is_exact ? state->pc : state->pc - 1;
}

static inline __attribute__((always_inline)) uint64_t lode_unwind_plain(const struct lode_unwind_state *state,
									uint64_t address)
{
	return address & (state->signed_returns ? LODE_UNWIND_SIGNED_ADDRESS : LODE_UNWIND_ADDRESS);
}

/* Without a rule: the frame record that the frame pointer points to. */
static inline __attribute__((always_inline)) enum lode_unwind_result
lode_unwind_frame_record(struct lode_unwind_state *state, void *context)
{
	uint64_t fp = state->fp, next, address;

	if (fp & 7 || fp < state->sp)
		return fp ? LODE_UNWIND_LOST : LODE_UNWIND_ROOT;
	if (!LODE_UNWIND_READ(context, fp, next) || !LODE_UNWIND_READ(context, fp + 8, address))
		return LODE_UNWIND_UNREAD;
	state->pc = lode_unwind_plain(state, address);
	state->fp = next;
	/* On x86-64 a frame ends there; on aarch64 a record may be anywhere in it. */
	state->sp = fp + 16;
	state->sp_is_guess = state->signed_returns;
	state->has_link = state->is_first = state->is_exact = 0;
	return state->pc ? LODE_UNWIND_CALLER : LODE_UNWIND_ROOT;
}

/*
 * aarch64: whether a function without a rule, the innermost one or one that a signal
 * interrupted, has no frame record of its own, as short functions and the ends of others
 * have none. Then the frame pointer is its caller's, and the link register says where it
 * returns to. In a record of its own is what the link register holds; if it has called
 * something since, the link register leads to the function itself, and that has a record.
 */
static inline __attribute__((always_inline)) int lode_unwind_lacks_record(const struct lode_unwind_state *state,
									  void *context)
{
	uint64_t address;

	if (!state->signed_returns || !state->has_link || !state->link)
		return 0;
	return !LODE_UNWIND_READ(context, state->fp + 8, address) ||
	       lode_unwind_plain(state, address) != lode_unwind_plain(state, state->link);
}

/* To the caller of such a function. */
static inline __attribute__((always_inline)) void lode_unwind_by_link(struct lode_unwind_state *state)
{
	state->pc = lode_unwind_plain(state, state->link);
	state->has_link = state->is_first = state->is_exact = 0;
}

/* What the kernel saved when it called a signal handler: all registers. */
static inline __attribute__((always_inline)) enum lode_unwind_result
lode_unwind_signal(struct lode_unwind_state *state, const struct lode_unwind_rule *rule, void *context)
{
	uint64_t frame = state->sp + (uint64_t)(int64_t)rule->frame_offset, sp, pc, fp, link = 0;
	int has_link = rule->cfa == LODE_CFA_SIGNAL_LINK;

	if (!LODE_UNWIND_READ(context, frame, fp) || (has_link && !LODE_UNWIND_READ(context, frame + 8, link)) ||
	    !LODE_UNWIND_READ(context, state->sp + (uint64_t)(int64_t)rule->cfa_offset, sp) ||
	    !LODE_UNWIND_READ(context, state->sp + (uint64_t)(int64_t)rule->return_offset, pc))
		return LODE_UNWIND_UNREAD;
	state->pc = pc;
	state->sp = sp;
	state->fp = fp;
	state->link = link;
	state->has_link = has_link;
	state->is_first = state->sp_is_guess = 0;
	state->is_exact = 1;
	return pc ? LODE_UNWIND_CALLER : LODE_UNWIND_ROOT;
}

/* To the caller. When the result is not LODE_UNWIND_CALLER, the state is of no more use. */
static inline __attribute__((always_inline)) enum lode_unwind_result
lode_unwind_step(struct lode_unwind_state *state, const struct lode_unwind_rule *rule, void *context)
{
	uint64_t cfa, fp = state->fp, address, place;

	if (rule->return_at == LODE_PLACE_NONE)
		return LODE_UNWIND_ROOT;
	if (rule->cfa == LODE_CFA_NONE)
		return lode_unwind_frame_record(state, context);
	if (rule->cfa >= LODE_CFA_SIGNAL)
		return lode_unwind_signal(state, rule, context);
	cfa = rule->cfa == LODE_CFA_FP || rule->cfa == LODE_CFA_FP_DEREF ? fp : state->sp;
	if (rule->cfa == LODE_CFA_SCRATCH) {
		if (!state->is_first)
			return LODE_UNWIND_LOST;
		cfa = state->scratch;
	}
	cfa += (uint64_t)(int64_t)rule->cfa_offset;
	/* The frame pointer is at the record that the rule gives, if the function has one. */
	if (state->sp_is_guess && rule->cfa == LODE_CFA_SP && rule->return_at == LODE_PLACE_CFA &&
	    rule->frame_at == LODE_PLACE_CFA && rule->return_offset == rule->frame_offset + 8 && fp >= state->sp)
		cfa = fp - (uint64_t)(int64_t)rule->frame_offset;
	if (rule->cfa == LODE_CFA_SP_DEREF || rule->cfa == LODE_CFA_FP_DEREF) {
		if (!LODE_UNWIND_READ(context, cfa, address))
			return LODE_UNWIND_UNREAD;
		cfa = address + (uint64_t)(int64_t)rule->cfa_add;
	} else if (rule->cfa == LODE_CFA_PLT && (state->pc & 15) >= (uint64_t)rule->cfa_add) {
		cfa += 8;
	}
	/* A leaf may have no frame at all; every other function has one. */
	if (cfa < state->sp || (cfa == state->sp && !state->is_first && !state->has_link))
		return LODE_UNWIND_LOST;
	if (rule->frame_at != LODE_PLACE_KEPT) {
		place = (rule->frame_at == LODE_PLACE_FP ? state->fp : cfa) + (uint64_t)(int64_t)rule->frame_offset;
		/* Below the stack pointer it has been restored already; a copy has nothing of it. */
		if (!LODE_UNWIND_READ(context, place, fp)) {
			if (place >= state->sp)
				return LODE_UNWIND_UNREAD;
			fp = state->fp;
		}
	}
	if (rule->return_at == LODE_PLACE_KEPT) {
		if (!state->has_link)
			return LODE_UNWIND_LOST;
		address = state->link;
	} else if (!LODE_UNWIND_READ(context, cfa + (uint64_t)(int64_t)rule->return_offset, address)) {
		return LODE_UNWIND_UNREAD;
	}
	state->pc = lode_unwind_plain(state, address);
	state->sp = cfa;
	state->fp = fp;
	state->has_link = state->is_first = state->is_exact = state->sp_is_guess = 0;
	return state->pc ? LODE_UNWIND_CALLER : LODE_UNWIND_ROOT;
}

#endif
