/*
 * A burst of triggers: those that fire until the stream of the first is written, and
 * which all become that one stream. What it needs is held in the flight memory.
 */
#ifndef LODE_TASKS_LIVE_WATCH_BURST_H
#define LODE_TASKS_LIVE_WATCH_BURST_H

#include "tasks/live/watch_save.h"
#include "tasks/live/watch_socket.h"
#include "watch/flight.h"
#include "watch/retention.h"

#define LODE_BURST_HANDS 16

struct lode_watch_burst {
	/* Set by the caller, once. */
	struct lode_flight *flight;
	uint64_t last;    /* what a stream has of the time before its first trigger */
	uint64_t after;   /* a trigger: until the stream is written */
	uint64_t by_hand; /* the same for a manual one */
	struct lode_rate rate;

	/* Of all bursts. */
	uint64_t fired;
	uint64_t refused; /* by the rate */

	/* The one that waits to be written, where there is one. */
	int active;
	int is_baseline; /* no trigger fired: it is a stream of the baseline */
	uint64_t due;
	uint64_t t;      /* when the first trigger fired */
	uint64_t oldest; /* what there was from then, or was requested */
	char trigger[LODE_WATCH_NAME];
	struct lode_watch_hand hands[LODE_BURST_HANDS];
	size_t hand_count;
};

/* A trigger fired at `t`: it begins a burst or joins the one that waits. */
void lode_watch_burst_fire(struct lode_watch_burst *burst, uint64_t t, const char *trigger, int by_hand);
/* Begins one without a trigger, regardless of the rate; none may be active. */
void lode_watch_burst_begin_baseline(struct lode_watch_burst *burst, uint64_t t, const char *name);
/* Takes manual requests. One that does not fit waits in its socket. */
void lode_watch_burst_take_requests(struct lode_watch_burst *burst, struct lode_watch_socket *socket);

/* Whether its stream is to be written now. */
int lode_watch_burst_is_due(const struct lode_watch_burst *burst, uint64_t now);
/* Whether the writer of another stream took so long that not even the trigger is in memory any more. */
int lode_watch_burst_is_too_late(const struct lode_watch_burst *burst);
/* The time from which on the stream has records. */
uint64_t lode_watch_burst_from(const struct lode_watch_burst *burst);
/* It was written, or given up: nothing is held, and the next trigger begins another. */
void lode_watch_burst_end(struct lode_watch_burst *burst);

#endif
