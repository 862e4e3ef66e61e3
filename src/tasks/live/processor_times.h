/*
 * What the machine's processors did while it was recorded, as /proc/stat counts it: of that, how much the hypervisor gave to other
 * machines (trace/stolen_time.h).
 */
#ifndef LODE_TASKS_LIVE_PROCESSOR_TIMES_H
#define LODE_TASKS_LIVE_PROCESSOR_TIMES_H

#include "trace/stream.h"

/* In ticks of the kernel, of all processors, since it started. */
struct lode_processor_times {
	uint64_t all;
	uint64_t stolen;
};

/* Zeroes where the kernel does not tell. */
struct lode_processor_times lode_processor_times_now(void);
/* From the first line of /proc/stat. */
struct lode_processor_times lode_processor_times_parse(const char *text);
/* Sets the attribute of the stream, if something was stolen from `before` until `after`. Returns 0 or LODE_SYSTEM. */
int lode_processor_times_store(const struct lode_processor_times *before, const struct lode_processor_times *after,
			       struct lode_stream *stream);

#endif
