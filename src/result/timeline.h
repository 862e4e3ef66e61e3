/*
 * Timeline: how much time a stream, or one of its threads, ran and waited in
 * each of a few equal slices of time.
 */
#ifndef LODE_RESULT_TIMELINE_H
#define LODE_RESULT_TIMELINE_H

#include "result/fields.h"

struct lode_timeline {
	uint64_t first;  /* start of slice 0 */
	uint64_t slice;  /* nanoseconds of one */
	size_t count;    /* slices */
	uint64_t *run;   /* nanoseconds in each, complete after lode_timeline_finish */
	uint64_t *wait;  /* the same */
	uint64_t *whole; /* of runs, then of waits: change of how many fill a slice, modulo 2^64 */
};

/* `count` empty slices over [first, last]. Returns 0 or LODE_SYSTEM. */
int lode_timeline_init(struct lode_timeline *line, uint64_t first, uint64_t last, size_t count);
void lode_timeline_release(struct lode_timeline *line);
/* Adds a run or a wait from `t` for `cost`, spread over the slices it touches. */
void lode_timeline_add(struct lode_timeline *line, int is_wait, uint64_t t, uint64_t cost);
/* To be called once, when all is added. */
void lode_timeline_finish(struct lode_timeline *line);

/* A timeline as a field of a result. */
struct lode_timeline_fields {
	uint64_t first_t;
	uint64_t slice_ns;
	struct lode_list run_ns;
	struct lode_list wait_ns;
};

extern const struct lode_fields lode_timeline_fields;

/* The timeline must outlive it. */
struct lode_timeline_fields lode_timeline_fields_of(const struct lode_timeline *line);

#endif
