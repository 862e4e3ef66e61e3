/*
 * Tracepoint formats: which tracepoint has which number, and where its fields
 * are in the raw bytes of a sample, as the recording kernel said.
 */
#ifndef LODE_IMPORT_PERF_DATA_TRACEPOINT_FORMATS_H
#define LODE_IMPORT_PERF_DATA_TRACEPOINT_FORMATS_H

#include "base/arena.h"
#include "base/array.h"
#include "base/error.h"
#include "base/hash_index.h"
#include "base/notes.h"

/* A field of the raw bytes; size 0: there is no such field. */
struct lode_perf_field {
	uint32_t offset;
	uint32_t size;
};

/* The fields that are of use; each is looked for by name in every format. */
enum lode_perf_field_name {
	FIELD_PREV_COMM,
	FIELD_PREV_PID,
	FIELD_PREV_STATE,
	FIELD_NEXT_COMM,
	FIELD_NEXT_PID,
	FIELD_COMM,
	FIELD_PID,
	FIELD_ID,
	FIELD_CALLER, /* of a kernel stack: its addresses */
	FIELD_NAMES,
};

struct lode_perf_tracepoint {
	uint64_t id;
	const char *system;
	const char *name;
	unsigned dead; /* sched_switch: the bits of a state that is the last one */
	struct lode_perf_field fields[FIELD_NAMES];
};

struct lode_perf_tracepoints {
	LODE_ARRAY(struct lode_perf_tracepoint);
	struct lode_index index; /* by id */
};

void lode_perf_tracepoints_release(struct lode_perf_tracepoints *tracepoints);
/*
 * Reads the section that begins with "\x17\x08Dtracing". Texts go to `arena`.
 * What is damaged ends the reading with a note; only memory that runs out is a
 * failure: LODE_SYSTEM.
 */
int lode_perf_tracepoints_read(struct lode_perf_tracepoints *tracepoints, const unsigned char *bytes, size_t size,
			       struct lode_arena *arena, struct lode_notes *notes);
/* Takes one format, the text of `format` in a folder of `system`. Returns 0 or LODE_SYSTEM. */
int lode_perf_tracepoints_add(struct lode_perf_tracepoints *tracepoints, const char *system, const char *text,
			      size_t length, struct lode_arena *arena);
/* The tracepoint with this number, or NULL. */
const struct lode_perf_tracepoint *lode_perf_tracepoints_find(const struct lode_perf_tracepoints *tracepoints,
							      uint64_t id);

static inline int lode_perf_has_field(const struct lode_perf_tracepoint *tracepoint,
				      enum lode_perf_field_name field)
{
	return tracepoint->fields[field].size != 0;
}

/* Whether it is one of the scheduler's, by its name, with the fields that joining waits needs. */
int lode_perf_is_switch(const struct lode_perf_tracepoint *tracepoint);
int lode_perf_is_waking(const struct lode_perf_tracepoint *tracepoint);

#endif
