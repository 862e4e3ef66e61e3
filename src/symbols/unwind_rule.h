/*
 * Unwind rules: how to get from a function to its caller, for each address of its
 * code. Compilers describe it in .eh_frame; unwind_table.c reduces that to a
 * few distinct rules of fixed size, and process/unwind_step.h applies them. Shared with the
 * BPF programs, so it includes nothing but <stdint.h>.
 *
 * The canonical frame address (CFA) is the caller's stack pointer behind the call.
 */
#ifndef LODE_SYMBOLS_UNWIND_RULE_H
#define LODE_SYMBOLS_UNWIND_RULE_H

#include <stdint.h>

/* How the CFA is found. */
enum lode_unwind_cfa {
	LODE_CFA_NONE,     /* nothing is known: follow the frame pointer */
	LODE_CFA_SP,       /* stack pointer + cfa_offset */
	LODE_CFA_FP,       /* frame pointer + cfa_offset */
	LODE_CFA_SP_DEREF, /* the word at stack pointer + cfa_offset, + cfa_add */
	LODE_CFA_FP_DEREF, /* the word at frame pointer + cfa_offset, + cfa_add (realigned stacks) */
	LODE_CFA_SCRATCH, /* scratch register + cfa_offset; only in the innermost function (prologue of realigned stacks) */
	LODE_CFA_PLT, /* stack pointer + cfa_offset, + 8 when the low four bits of the address are at least cfa_add */
	LODE_CFA_SIGNAL, /* a signal frame: words at the stack pointer + cfa_offset, return_offset, frame_offset */
	LODE_CFA_SIGNAL_LINK, /* the same, with the link register behind the frame pointer */
};

/* Where the caller's value of a register is. */
enum lode_unwind_place {
	LODE_PLACE_KEPT, /* the register still holds it; of the return address: the link register, on x86-64 rdi */
	LODE_PLACE_CFA,  /* in memory at the CFA + offset */
	LODE_PLACE_FP,   /* in memory at the frame pointer + offset */
	LODE_PLACE_NONE, /* of the return address: there is no caller, this is the root */
};

struct lode_unwind_rule {
	int32_t cfa_offset;
	int32_t return_offset;
	int32_t frame_offset;
	uint8_t cfa;       /* enum lode_unwind_cfa */
	uint8_t return_at; /* enum lode_unwind_place */
	uint8_t frame_at;
	int8_t cfa_add;
};

/* Rules are numbered with 16 bits; rule 0 is the one that knows nothing. */
#define LODE_UNWIND_RULES 65536

#endif
