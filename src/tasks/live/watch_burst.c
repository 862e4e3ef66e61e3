/* Bursts of triggers: see watch_burst.h. */
#include "tasks/live/watch_burst.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

uint64_t lode_watch_burst_from(const struct lode_watch_burst *burst)
{
	return burst->t > burst->last ? burst->t - burst->last : 0;
}

/* Has the flight memory keep what the stream needs until it is written. */
static void hold(struct lode_watch_burst *burst)
{
	struct lode_flight_counts counts;
	uint64_t from = lode_watch_burst_from(burst);

	lode_flight_counts(burst->flight, &counts);
	burst->oldest = counts.oldest > from ? counts.oldest : from;
	lode_flight_hold(burst->flight, from);
}

static void begin(struct lode_watch_burst *burst, uint64_t t, uint64_t due, const char *trigger)
{
	burst->active = 1;
	burst->t = t;
	burst->due = due;
	snprintf(burst->trigger, sizeof(burst->trigger), "%s", trigger);
	hold(burst);
}

void lode_watch_burst_fire(struct lode_watch_burst *burst, uint64_t t, const char *trigger, int by_hand)
{
	uint64_t due = t + (by_hand ? burst->by_hand : burst->after);

	burst->fired++;
	if (burst->active) {
		if (due < burst->due)
			burst->due = due;
		return;
	}
	/* Manual triggers bypass the rate limit. */
	if (!by_hand && !lode_rate_take(&burst->rate, lode_now())) {
		burst->refused++;
		return;
	}
	begin(burst, t, due, trigger);
}

void lode_watch_burst_begin_baseline(struct lode_watch_burst *burst, uint64_t t, const char *name)
{
	begin(burst, t, t, name);
	burst->is_baseline = 1;
}

void lode_watch_burst_take_requests(struct lode_watch_burst *burst, struct lode_watch_socket *socket)
{
	while (burst->hand_count < LODE_BURST_HANDS) {
		struct lode_watch_hand *hand = &burst->hands[burst->hand_count];

		if (!lode_watch_socket_take(socket, hand->name, &hand->tid))
			return;
		hand->t = lode_now();
		burst->hand_count++;
		lode_watch_burst_fire(burst, hand->t, *hand->name ? hand->name : "by hand", 1);
	}
}

/* More than half of the time before the trigger is gone, for lack of memory. */
static int is_urgent(const struct lode_watch_burst *burst)
{
	struct lode_flight_counts counts;

	lode_flight_counts(burst->flight, &counts);
	return burst->oldest < burst->t && counts.oldest > burst->oldest + (burst->t - burst->oldest) / 2;
}

int lode_watch_burst_is_due(const struct lode_watch_burst *burst, uint64_t now)
{
	return burst->active && (now >= burst->due || is_urgent(burst));
}

int lode_watch_burst_is_too_late(const struct lode_watch_burst *burst)
{
	struct lode_flight_counts counts;

	lode_flight_counts(burst->flight, &counts);
	return counts.early && counts.oldest > burst->t && !burst->hand_count;
}

void lode_watch_burst_end(struct lode_watch_burst *burst)
{
	lode_flight_hold(burst->flight, UINT64_MAX);
	burst->active = 0;
	burst->is_baseline = 0;
	burst->hand_count = 0;
	memset(burst->hands, 0, sizeof(burst->hands));
}
