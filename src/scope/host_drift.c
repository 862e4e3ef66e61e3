/* Clocks of hosts that run at different rates: see host_drift.h. */
#include "scope/host_drift.h"

#include "scope/clock_offset.h"

#include <string.h>

/* Waits of a window, how many windows there are, and the share of their waits, in percent, that must agree on an offset. */
#define WINDOW       32
#define WINDOWS      9
#define MIN_AGREEING 70
/* Clocks that differ by more than a thousandth are no clocks. */
#define MAX_RATE 1e-3

struct window {
	uint64_t t;     /* of the other host */
	int64_t offset; /* by which that is ahead */
};

/* The connection with the most turns of both. 0: there are too few. */
static size_t busiest(const struct lode_host_turns *own, const struct lode_host_turns *other)
{
	size_t best = 0, most = 4 * (size_t)WINDOW;

	for (size_t c = 1; c <= own->connections; c++) {
		size_t here = own->starts[c + 1] - own->starts[c], there = other->starts[c + 1] - other->starts[c];
		size_t both = here < there ? here : there;

		if (both > most) {
			best = c;
			most = both;
		}
	}
	return best;
}

/* The offset in the window of waits from `first` on. Returns 1, 0 where they do not agree, or LODE_SYSTEM. */
static int look(const struct lode_host_turns *clients, const struct lode_host_turns *servers, size_t connection,
		size_t first, int is_client, struct window *window)
{
	const struct lode_host_turn *waits = &clients->items[first];
	struct lode_offset_range common;
	size_t votes;
	int64_t offset;

	if (lode_host_turns_vote(waits, WINDOW, &servers->items[servers->starts[connection]],
				 servers->starts[connection + 1] - servers->starts[connection], &common, &votes) < 0)
		return LODE_SYSTEM;
	if (votes * 100 < (size_t)WINDOW * MIN_AGREEING)
		return 0;
	offset = common.low + (common.high - common.low) / 2;
	window->t = waits[WINDOW / 2].end + (is_client ? (uint64_t)offset : 0);
	window->offset = is_client ? offset : -offset;
	return 1;
}

/* Of windows in order of time: the rate between those two that are farthest apart and fit to clocks. */
static int rate_of(const struct window *windows, size_t count, struct lode_host_drift *drift)
{
	for (size_t apart = count; apart-- > 1;)
		for (size_t i = 0; i + apart < count; i++) {
			const struct window *a = &windows[i], *b = &windows[i + apart];
			double rate = b->t > a->t ? (double)(b->offset - a->offset) / (double)(b->t - a->t) : 1;

			if (rate < -MAX_RATE || rate > MAX_RATE)
				continue;
			*drift = (struct lode_host_drift){ .rate = rate, .origin = a->t };
			return 1;
		}
	return 0;
}

int lode_host_drift_find(const struct lode_host_turns *own, const struct lode_host_turns *other,
			 const uint8_t *is_client, struct lode_host_drift *drift)
{
	size_t connection = busiest(own, other), found = 0, first, room;
	const struct lode_host_turns *clients = is_client[connection] ? own : other;
	const struct lode_host_turns *servers = is_client[connection] ? other : own;
	struct window windows[WINDOWS];

	if (!connection)
		return 0;
	first = clients->starts[connection] + 1;
	room = clients->starts[connection + 1] - first - WINDOW;
	for (size_t i = 0; i < WINDOWS; i++) {
		int code = look(clients, servers, connection, first + room * i / (WINDOWS - 1),
				is_client[connection], &windows[found]);

		if (code < 0)
			return code;
		found += (size_t)code;
	}
	return rate_of(windows, found, drift);
}

uint64_t lode_without_drift(const struct lode_host_drift *drift, uint64_t t)
{
	int64_t since = (int64_t)(t - drift->origin);

	return t - (uint64_t)(int64_t)(drift->rate * (double)since);
}

void lode_host_turns_without_drift(struct lode_host_turns *turns, const struct lode_host_drift *drift)
{
	for (size_t i = 0; i < turns->count; i++) {
		struct lode_host_turn *turn = &turns->items[i];
		uint64_t *times[] = { &turn->since, &turn->start, &turn->end, &turn->last, &turn->next };

		/* 0 and UINT64_MAX stand for times that are not known. */
		for (size_t k = 0; k < sizeof(times) / sizeof(times[0]); k++)
			if (*times[k] && *times[k] != UINT64_MAX)
				*times[k] = lode_without_drift(drift, *times[k]);
	}
}

int lode_host_clock_find_drifting(const struct lode_host_turns *own, struct lode_host_turns *other,
				  const uint8_t *is_client, struct lode_host_clock *clock)
{
	struct lode_host_clock drifting;
	struct lode_host_drift drift;
	int found = lode_host_clock_find(own, other, is_client, clock), better;

	if (found < 0 || (found && clock->exchanges >= clock->waits))
		return found;
	better = lode_host_drift_find(own, other, is_client, &drift);
	if (better <= 0)
		return better < 0 ? better : found;
	lode_host_turns_without_drift(other, &drift);
	better = lode_host_clock_find(own, other, is_client, &drifting);
	if (better > 0 && (!found || drifting.exchanges > clock->exchanges)) {
		*clock = drifting;
		clock->drift = drift;
		return better;
	}
	drift.rate = -drift.rate / (1 - drift.rate);
	lode_host_turns_without_drift(other, &drift);
	return better < 0 ? better : found;
}
