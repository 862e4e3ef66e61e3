/*
 * What lode scope shows people: the parts of lode scope beyond its options.
 */
#ifndef LODE_CMD_SCOPE_H
#define LODE_CMD_SCOPE_H

#include "cmd/terminal.h"
#include "result/scope_report.h"

/* ---- the time line of a critical path ---- */

enum lode_scope_line_type {
	LODE_LINE_RUN,     /* samples of one thread in a row */
	LODE_LINE_WAIT,    /* a wait that counts itself */
	LODE_LINE_QUEUED,  /* a thread on the run queue */
	LODE_LINE_STEP,    /* a wait that was stepped into; what stands below it explains it */
	LODE_LINE_UNSEEN,  /* part of a wait that was stepped into, of whose waker nothing is known */
	LODE_LINE_UNKNOWN, /* nothing is known of the symptom's thread */
};

struct lode_scope_line {
	enum lode_scope_line_type type;
	uint32_t depth;  /* how many waits were stepped into to come here */
	uint32_t thread; /* of the stream; of the symptom where it is unknown */
	uint32_t event;  /* the wait; nothing for runs */
	uint64_t t;
	uint64_t length;
	uint64_t unseen; /* of runs: what lies between samples, too short to have a line of its own */
	size_t first;    /* of runs: parts of the path, */
	size_t last;     /* and the last of them */
	int shown;
};

struct lode_scope_lines {
	struct lode_scope_line *items; /* by time; a step before what it holds */
	size_t count;
	size_t capacity;
};

/*
 * The lines of a critical path; `most` of them, the longest, are marked as shown
 * (0: all). A line is never shown without the steps it stands in. The caller
 * frees `items`. Returns 0 or LODE_SYSTEM.
 */
int lode_scope_lines_make(struct lode_scope_lines *lines, const struct lode_scope_report *report,
			  const struct lode_scope_found *found, size_t most);

/* ---- what a path is like ---- */

/* How long a path was in each place: who did what in which functions, whenever that was. */
struct lode_scope_profile {
	struct lode_scope_share {
		uint64_t place; /* hash of its text */
		uint64_t cost;
	} *items; /* by place */
	size_t count;
	uint64_t length; /* of the symptom */
};

/* The profile of a critical path; release it on success. Returns 0 or LODE_SYSTEM. */
int lode_scope_profile_make(struct lode_scope_profile *profile, const struct lode_scope_report *report,
			    const struct lode_scope_found *found);
void lode_scope_profile_release(struct lode_scope_profile *profile);

/* ---- text ---- */

/* Appends a symptom and its scope for people, `most` lines (0: all). Memory that runs out marks the buffer. */
void lode_scope_text(const struct lode_scope_report *report, const struct lode_scope_found *found,
		     const struct lode_terminal *terminal, size_t most, struct lode_buffer *buffer);

#endif
