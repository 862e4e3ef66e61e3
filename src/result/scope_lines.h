/*
 * The timeline of a critical path, for people: samples of one thread in a row are one
 * line, and a wait that was stepped into comes before what explains it.
 */
#ifndef LODE_RESULT_SCOPE_LINES_H
#define LODE_RESULT_SCOPE_LINES_H

#include "result/scope_report.h"

enum lode_scope_line_type {
	LODE_LINE_RUN,     /* samples of one thread in a row */
	LODE_LINE_WAIT,    /* a wait that counts itself */
	LODE_LINE_QUEUED,  /* a thread on the run queue, after a wait or preempted */
	LODE_LINE_STEP,    /* a wait that was stepped into; the lines below it explain it */
	LODE_LINE_UNSEEN,  /* part of a wait that was stepped into, of whose waker nothing is known */
	LODE_LINE_UNKNOWN, /* nothing is known of the symptom's thread */
};

struct lode_scope_line {
	enum lode_scope_line_type type;
	uint32_t depth;  /* how many waits were stepped into to come here */
	uint32_t thread; /* of the stream; of the symptom where it is unknown */
	uint32_t event;  /* the wait; nothing for runs and on the run queue */
	uint64_t t;
	uint64_t length;
	uint64_t unseen; /* of runs: the time between samples, too short to have its own line */
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
 * (0: all). A line is never shown without the steps around it. The caller
 * frees `items`. Returns 0 or LODE_SYSTEM.
 */
int lode_scope_lines_make(struct lode_scope_lines *lines, const struct lode_scope_report *report,
			  const struct lode_scope_found *found, size_t most);

#endif
