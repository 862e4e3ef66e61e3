/*
 * Call frame information (.eh_frame, .debug_frame): what the tables for unwinding
 * say of each function. Private to src/symbols/.
 */
#ifndef LODE_SYMBOLS_CFI_H
#define LODE_SYMBOLS_CFI_H

#include "symbols/elf.h"

#include "base/cursor.h"
#include "base/error.h"

/* What functions have in common (a CIE). */
struct lode_cfi_shared {
	uint64_t offset;   /* in its section */
	uint8_t encoding;  /* of addresses: DW_EH_PE_… */
	uint8_t has_size;  /* each entry has the size of its additions */
	uint8_t is_signal; /* frames that the kernel makes for signal handlers */
	uint64_t code_alignment;
	int64_t data_alignment;
	uint64_t return_register;
	const uint8_t *program; /* runs before each function's own */
	const uint8_t *program_end;
};

struct lode_cfi_function {
	uint64_t start;
	uint64_t end;
	const struct lode_cfi_shared *shared;
	struct lode_cursor program; /* how its frame changes on the way through it */
};

/*
 * Calls `take` for each function of `section`, until it returns non-zero, which
 * is returned. A missing section has no functions; damaged entries are passed
 * over. LODE_SYSTEM when memory ran out.
 */
int lode_cfi_walk(const struct lode_elf *elf, const char *section,
		  int (*take)(void *context, const struct lode_cfi_function *function), void *context);

/* A signed LEB128 number. */
uint64_t lode_cfi_signed(struct lode_cursor *cursor);

#endif
