/*
 * The scheduler's events of a `perf script` text: kept until all are read, since the text may be out of order and
 * may have a thread's pid only later, then joined into waits (sched.h).
 */
#ifndef LODE_IMPORT_PERF_SCRIPT_SCHED_H
#define LODE_IMPORT_PERF_SCRIPT_SCHED_H

#include "base/notes.h"
#include "import/sched.h"

struct lode_script_sched_event {
	uint64_t t;
	uint64_t ordinal; /* in the file */
	int is_waking;    /* else a switch */
	enum lode_switch_state state;
	uint16_t cpu;
	uint32_t thread;   /* of the header: the waker */
	uint32_t previous; /* tids */
	uint32_t next;     /* or the thread that is woken */
	uint32_t comm;     /* name of `next` */
	uint32_t stack;
};

struct lode_script_sched {
	struct lode_script_sched_event *events;
	size_t count;
	size_t capacity;
};

/* A zeroed struct is empty. */
void lode_script_sched_release(struct lode_script_sched *sched);
/* Returns 0 or LODE_SYSTEM. */
int lode_script_sched_add(struct lode_script_sched *sched, const struct lode_script_sched_event *event);
/* Adds the waits to the stream, whose recording ended at `end`. Returns 0 or LODE_SYSTEM. */
int lode_script_sched_join(struct lode_script_sched *sched, struct lode_stream *stream, struct lode_notes *notes,
			   uint64_t end);

#endif
