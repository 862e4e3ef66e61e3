/*
 * Control groups that ran into a limit while a stream was recorded, from its attributes: `throttled_ns PATH` of those that
 * had used up their quota, `memory_limited PATH` of those that wanted more memory than they may have.
 */
#ifndef LODE_TRACE_THROTTLED_H
#define LODE_TRACE_THROTTLED_H

#include "trace/stream.h"

/* How the keys of these attributes begin; the path of the group follows. */
#define LODE_THROTTLED      "throttled_ns "
#define LODE_MEMORY_LIMITED "memory_limited "

/*
 * `behind_ns THREAD <- PROGRAM`: how long a program had a processor before recorded threads of this name, which were ready,
 * got it: the last one before each. `behind_recorded_ns`: the same where that was a recorded thread.
 */
#define LODE_NEIGHBOUR          "behind_ns "
#define LODE_RECORDED_NEIGHBOUR "behind_recorded_ns "
#define LODE_NEIGHBOUR_BEHIND   " <- "

struct lode_throttled {
	const char *path; /* of the group; NULL: none was throttled */
	uint64_t time;    /* ns */
};

/* The group that was throttled longest; of equal ones the innermost. */
struct lode_throttled lode_stream_throttled(const struct lode_stream *stream);
/* The same of attributes alone. */
struct lode_throttled lode_throttled_of(const struct lode_attribute *attributes, size_t count,
					const struct lode_strings *strings);

struct lode_memory_limited {
	const char *path; /* of the group; NULL: none was */
	uint64_t times;   /* that it wanted more */
};

/* The group that was limited most often; of equal ones the innermost. */
struct lode_memory_limited lode_memory_limited_of(const struct lode_attribute *attributes, size_t count,
						  const struct lode_strings *strings);

#define LODE_MAX_NEIGHBOURS 3

/* Programs that had a processor while others were ready, those that had it longest first. A zeroed struct has none. */
struct lode_neighbours {
	const char *names[LODE_MAX_NEIGHBOURS];
	uint64_t times[LODE_MAX_NEIGHBOURS]; /* ns */
	size_t count;
	uint64_t total;    /* of all programs */
	uint64_t recorded; /* of it: of recorded threads */
};

/*
 * Adds those of threads like `thread` (numbered_names.h) in a stream, except for programs like it; one that several streams have
 * counts for the longest time of these. Recorded threads are in the sums, but among the programs only `with_recorded`.
 */
void lode_neighbours_add(struct lode_neighbours *neighbours, const char *thread, int with_recorded,
			 const struct lode_attribute *attributes, size_t count, const struct lode_strings *strings);

#endif
