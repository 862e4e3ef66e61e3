/*
 * Traces of Chrome's format that `lode export --format chrome` wrote: each slice is one event of
 * the recording, with what the format has no place for in `args`.
 */
#ifndef LODE_IMPORT_CHROME_LODE_H
#define LODE_IMPORT_CHROME_LODE_H

#include "import/json/chrome_stacks.h"

/* The number under which the exporter puts threads of no known process. */
#define LODE_CHROME_NO_PROCESS INT32_MAX

struct lode_chrome_lode {
	struct lode_json_import *import;
	struct lode_chrome_stacks *stacks;
};

struct lode_chrome_own_event {
	struct lode_json_value category, name, duration, sf, args;
	uint32_t thread;
	uint64_t t;
	int is_instant;
};

/* Returns 1 when the event was one of ours, 0 for others (inferred calls), or a negative code with a sentence. */
int lode_chrome_lode_read(struct lode_chrome_lode *own, const struct lode_chrome_own_event *event);

#endif
