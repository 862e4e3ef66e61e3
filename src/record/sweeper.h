/*
 * Sweeps: visits of all threads while a recording goes on, by which long waits are found between slots (sweep.bpf.h).
 *
 * A separate thread makes them, as often as is allowed: it has little to do each time, and must not wait for the
 * reader, which may be busy for a tenth of a second.
 */
#ifndef LODE_RECORD_SWEEPER_H
#define LODE_RECORD_SWEEPER_H

#include <stdint.h>

struct lode_sweeper;
struct recorder;

/* Makes no sweeps yet. NULL when memory has run out. */
struct lode_sweeper *lode_sweeper_create(struct recorder *programs);
/* `at_end`: after a last one, if there were any, which records the waits that are not over. */
void lode_sweeper_destroy(struct lode_sweeper *sweeper, int at_end);
/*
 * From now on a sweep comes `after` nanoseconds after the last one, or so much later that they take no more than
 * `share` of a processor.
 */
struct lode_sweeper_pace {
	uint64_t after;
	double share;
	double beside; /* nanoseconds that each takes beside the time that the thread runs */
	int is_needed; /* for how long none came then counts as a gap */
};

void lode_sweeper_set(struct lode_sweeper *sweeper, const struct lode_sweeper_pace *pace);

struct lode_sweeper_counts {
	uint64_t sweeps;      /* so far */
	uint64_t longest_gap; /* nanoseconds; 0: there was none, or the kernel lets nobody visit threads */
};

struct lode_sweeper_counts lode_sweeper_counts(struct lode_sweeper *sweeper);

#endif
