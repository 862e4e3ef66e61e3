/*
 * The state of a walk up a user stack, and what a step of it comes to. Shared with the
 * BPF programs.
 */
#ifndef LODE_PROCESS_UNWIND_STATE_H
#define LODE_PROCESS_UNWIND_STATE_H

#include <stdint.h>

/* The bits of a user address; above them aarch64 may have a signature. */
#define LODE_UNWIND_ADDRESS        0x00ffffffffffffffull
#define LODE_UNWIND_SIGNED_ADDRESS 0x0000ffffffffffffull

/* The registers of one frame. */
struct lode_unwind_state {
	uint64_t pc;
	uint64_t sp;
	uint64_t fp;
	uint64_t link;    /* where a return address may be that is not in memory; valid while has_link */
	uint64_t scratch; /* x86-64: r10, valid while is_first */
	uint32_t has_link;
	uint32_t is_first;       /* the innermost frame */
	uint32_t is_exact;       /* `pc` is an instruction about to run, not a return address */
	uint32_t sp_is_guess;    /* aarch64: `sp` was found by a frame record, and may be too low */
	uint32_t signed_returns; /* aarch64: return addresses may be signed in their upper bits */
};

enum lode_unwind_result {
	LODE_UNWIND_CALLER, /* the state is the caller's */
	LODE_UNWIND_ROOT,   /* there is no caller */
	LODE_UNWIND_UNREAD, /* memory that is needed could not be read */
	LODE_UNWIND_LOST,   /* the rule makes no sense here */
};

#endif
