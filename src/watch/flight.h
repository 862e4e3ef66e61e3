/*
 * Flight memory: the last seconds of what a recorder hands over, in bounded
 * memory. It is the sink of a recorder that stores nothing until something
 * happens, and then saves what was before.
 *
 * It holds records, the stacks that they name, and what is needed to understand
 * them: processes and their mappings as they were at the time of the oldest
 * record, and what changed since. Contexts that they name are kept beside them (context_texts.h). Replaying it hands over to another sink (a
 * builder) what that sink would have received in those seconds.
 */
#ifndef LODE_WATCH_FLIGHT_H
#define LODE_WATCH_FLIGHT_H

#include "process/processes.h"
#include "record/recorder.h"

struct lode_flight_options {
	uint64_t last; /* nanoseconds to keep */
	size_t memory; /* bytes to use; what a read brings may be too much until after the next one */
};

/* What it did so far. */
struct lode_flight_counts {
	uint64_t records; /* taken */
	uint64_t kept;    /* there now */
	uint64_t early;   /* dropped though they were not old enough: there was no room */
	uint64_t missing; /* stacks that records named and that never arrived */
	uint64_t oldest;  /* when the oldest that is there was written; 0: there is none */
	uint64_t newest;
	size_t bytes;  /* in use */
	size_t stacks; /* kept, some more than once */
};

struct lode_flight;

/* Knows nothing of processes yet (lode_flight_processes). Returns 0 or LODE_SYSTEM. */
int lode_flight_create(struct lode_flight **flight, const struct lode_flight_options *options);
void lode_flight_destroy(struct lode_flight *flight);
/* The processes as they were when the oldest record was written, to take a snapshot with, or to adopt. */
struct lode_processes *lode_flight_processes(struct lode_flight *flight);
struct lode_recorder_sink lode_flight_sink(struct lode_flight *flight);
/* Bytes that it takes, those for later use among them. */
size_t lode_flight_bytes(const struct lode_flight *flight);
/* Changes its limit in bytes, as in its options: the next lode_flight_trim drops what exceeds it. */
void lode_flight_set_memory(struct lode_flight *flight, size_t memory);

/*
 * Around each read of the recorder. Before it: whether lode_flight_trim will want
 * to know what is held (lode_recorder_held). After it: drops what is too old, or
 * too much. Nothing is dropped in between, nor when `held` is NULL. Returns 1 when
 * the recorder is to begin a new epoch, 0, or LODE_SYSTEM.
 */
int lode_flight_wants_held(const struct lode_flight *flight, uint64_t now);
int lode_flight_trim(struct lode_flight *flight, uint64_t now, const struct lode_recorder_held *held);

/*
 * Keeps what was written since `t` however old it gets, for as long as there is room;
 * UINT64_MAX: no longer.
 */
void lode_flight_hold(struct lode_flight *flight, uint64_t t);

/*
 * Hands over what was written between two times, and all that it needs. The
 * processes that lode_flight_processes lists must be the sink's at the start.
 */
int lode_flight_replay(const struct lode_flight *flight, uint64_t from, uint64_t to,
		       const struct lode_recorder_sink *sink);
void lode_flight_counts(const struct lode_flight *flight, struct lode_flight_counts *counts);

#endif
