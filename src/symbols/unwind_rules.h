/*
 * Unwind rules: how to get from a function to its caller, for each address of a
 * binary, from its call frame information (.eh_frame, .debug_frame).
 *
 * Only what compilers write for code is understood: the frame's address (CFA) is
 * the stack or the frame pointer plus a number; the return address and the
 * caller's frame pointer are saved near it, or still in their registers.
 */
#ifndef LODE_SYMBOLS_UNWIND_RULES_H
#define LODE_SYMBOLS_UNWIND_RULES_H

#include <stdint.h>

enum lode_unwind_return {
	LODE_RETURN_SAVED,   /* at the CFA plus `return_offset` */
	LODE_RETURN_IN_LINK, /* in the link register */
	LODE_RETURN_NONE,    /* there is no caller: the root */
};

struct lode_unwind_rule {
	int64_t cfa_offset;
	int64_t return_offset;
	int64_t frame_offset;
	uint8_t from_frame_pointer; /* the CFA; else from the stack pointer */
	uint8_t return_kind;        /* enum lode_unwind_return */
	uint8_t frame_saved;        /* the caller's frame pointer, at the CFA plus `frame_offset`; else unchanged */
	uint8_t is_signal;          /* the frame that the kernel makes for a signal's handler */
};

struct lode_unwind_rules;

/* Never waits for a pipe or a device. NULL when the file is none of this machine's, or memory has run out. */
struct lode_unwind_rules *lode_unwind_rules_open(const char *path);
void lode_unwind_rules_close(struct lode_unwind_rules *rules);
/* The rule at an offset in the file: 1, 0 when none is known, or LODE_SYSTEM. For one thread at a time. */
int lode_unwind_rules_find(struct lode_unwind_rules *rules, uint64_t offset, struct lode_unwind_rule *rule);

#endif
