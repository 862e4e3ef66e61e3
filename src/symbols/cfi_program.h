/*
 * Runs a function's call frame program and yields one unwind rule for each stretch
 * of its code. Private to src/symbols/.
 */
#ifndef LODE_SYMBOLS_CFI_PROGRAM_H
#define LODE_SYMBOLS_CFI_PROGRAM_H

#include "symbols/cfi.h"
#include "symbols/unwind_rule.h"

/*
 * Calls `take` for each stretch, in order of address: from `start` to the next call's
 * `start`, or to the function's end. `machine` is EM_X86_64 or EM_AARCH64. What is not
 * understood yields the empty rule. Returns 0 or what `take` returned.
 */
int lode_cfi_run(const struct lode_cfi_function *function, int machine, int is_64,
		 int (*take)(void *context, uint64_t start, const struct lode_unwind_rule *rule), void *context);

#endif
