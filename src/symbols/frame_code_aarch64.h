/*
 * Unwind rules from the code of aarch64 functions that have no call frame information.
 * Private to src/symbols/.
 */
#ifndef LODE_SYMBOLS_FRAME_CODE_AARCH64_H
#define LODE_SYMBOLS_FRAME_CODE_AARCH64_H

#include "symbols/unwind_rule.h"

#include <stddef.h>

/*
 * Calls `take` with each rule of a function and where it begins to hold, in order,
 * until it returns non-zero, which is returned. `code`: all of the function, whose first
 * byte is at `start`. A function that is too long has no rules.
 */
int lode_frame_code_aarch64(const void *code, size_t size, uint64_t start,
			    int (*take)(void *context, uint64_t start, const struct lode_unwind_rule *rule),
			    void *context);

#endif
