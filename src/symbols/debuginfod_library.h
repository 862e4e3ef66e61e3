/* The functions of libdebuginfod, which is loaded when debug files may be fetched (base/shared_library.h). */
#ifndef LODE_SYMBOLS_DEBUGINFOD_LIBRARY_H
#define LODE_SYMBOLS_DEBUGINFOD_LIBRARY_H

#include "base/error.h"

#include <elfutils/debuginfod.h>

struct lode_debuginfod_library {
	__typeof__(debuginfod_begin) *begin;
	__typeof__(debuginfod_end) *end;
	__typeof__(debuginfod_find_executable) *find_executable;
	__typeof__(debuginfod_find_debuginfo) *find_debuginfo;
};

/* Whether there are servers to ask, by the environment. */
int lode_debuginfod_has_servers(void);
/* Whether debug files can be fetched: 0 also where there are no servers; else as lode_debuginfod_load. */
int lode_debuginfod_check(struct lode_error *error);
/* Loads it; LODE_SYSTEM and a sentence where that fails. Any thread may call it. */
int lode_debuginfod_load(struct lode_debuginfod_library *library, struct lode_error *error);

#endif
