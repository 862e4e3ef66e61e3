/*
 * How to unwind from procedure linkage tables (.plt and the like), which not every
 * linker describes in .eh_frame: on aarch64 none does, on x86-64 lld does not. Private to
 * src/symbols/.
 */
#ifndef LODE_SYMBOLS_LINKAGE_FRAMES_H
#define LODE_SYMBOLS_LINKAGE_FRAMES_H

#include "symbols/cfi.h"

/*
 * Calls `take` for each linkage table whose code is understood, as if it were one
 * function, until it returns non-zero, which is returned.
 */
int lode_linkage_frames_walk(const struct lode_elf *elf,
			     int (*take)(void *context, const struct lode_cfi_function *function), void *context);

#endif
