/*
 * Turns of hosts and the offset between their clocks: see host_turns.h.
 *
 * At first nothing is known of the offset, and any turn of a connection may be the one that a wait for it is for. Each
 * such pair permits a range of offsets. Only the true one is permitted by a pair of nearly every wait, so a vote over the
 * pairs of a sample of waits finds it; where another has nearly as many votes, as with requests that are as regular as a clock,
 * it is not known. With it each wait has its turn, and a second vote over all of these has the last word.
 */
#include "scope/host_turns.h"

#include "base/bisect.h"
#include "base/sort_numbers.h"
#include "scope/clock_offset.h"

#include <string.h>

/* Pairs that are looked at in the first vote, and the least waits of a connection that they are made of. */
#define MAX_PAIRS  400000
#define MIN_SAMPLE 16
/* Of the waits of clients, those that a turn must be found for, in percent. */
#define MIN_AGREEING 60
/* ns that a thread may go on running after it has sent something and before it waits. */
#define SLACK 100000
/* Votes that are enough where it is looked at how long waits and turns are. */
#define MIN_VOTES 3
/* The runner-up among offsets, farther away than this multiple of what an exchange leaves open, may have less than this percentage of the votes. */
#define MARGIN_WIDTHS 2
#define MAX_RIVAL     90
/* An answer may take this many times as long as requests usually do. */
#define MAX_LATENCIES 8

void lode_host_turns_release(struct lode_host_turns *turns)
{
	lode_free(turns->items);
	lode_free(turns->starts);
	memset(turns, 0, sizeof(*turns));
}

/* ---- turns of a stream ---- */

/* Times are subtracted as signed numbers; later ones are no times of a recorder. */
#define MAX_TIME ((uint64_t)1 << 61)

static uint32_t connection_of(const struct lode_events *waits, const uint32_t *numbers, size_t i)
{
	int is_time = lode_add_saturating(waits->t[i], waits->cost[i]) < MAX_TIME;

	return is_time && waits->name[i] ? numbers[waits->name[i]] : 0;
}

static int count_turns(struct lode_host_turns *turns, const struct lode_events *waits, const uint32_t *numbers)
{
	turns->starts = lode_calloc(turns->connections + 3, sizeof(*turns->starts));
	if (!turns->starts)
		return LODE_SYSTEM;
	for (size_t i = 0; i < waits->count; i++)
		turns->starts[connection_of(waits, numbers, i) + 2]++;
	turns->starts[2] = 0; /* those of no connection */
	for (size_t i = 3; i < turns->connections + 3; i++)
		turns->starts[i] += turns->starts[i] != 0; /* one more before the first wait */
	for (size_t i = 2; i < turns->connections + 3; i++)
		turns->starts[i] += turns->starts[i - 1];
	turns->count = turns->starts[turns->connections + 2];
	turns->items = lode_calloc(turns->count + 1, sizeof(*turns->items));
	return turns->items ? 0 : LODE_SYSTEM;
}

/*
 * `over`: by thread, when its last wait was over; `is_begun`: by connection. The starts move to their places meanwhile. Before
 * the first wait for a connection there is a turn, too, of which the beginning is not known.
 */
static void fill_turns(struct lode_host_turns *turns, const struct lode_events *waits, const uint32_t *numbers,
		       uint64_t *over, uint8_t *is_begun)
{
	for (size_t i = 0; i < waits->count; i++) {
		uint32_t connection = connection_of(waits, numbers, i), thread = waits->thread[i];
		uint64_t end = lode_add_saturating(waits->t[i], waits->cost[i]);

		if (connection && !is_begun[connection]) {
			is_begun[connection] = 1;
			turns->items[turns->starts[connection + 1]++] =
				(struct lode_host_turn){ .next = UINT64_MAX, .wait = LODE_NONE, .thread = thread };
		}
		if (connection)
			turns->items[turns->starts[connection + 1]++] = (struct lode_host_turn){
				.since = over[thread],
				.start = waits->t[i],
				.end = end,
				.last = end,
				.next = UINT64_MAX,
				.wait = (uint32_t)i,
				.thread = thread,
			};
		end = lode_add_saturating(end, waits->delay[i]);
		if (end < MAX_TIME && end > over[thread])
			over[thread] = end;
	}
}

static void end_turns(struct lode_host_turns *turns)
{
	for (size_t c = 1; c <= turns->connections; c++)
		for (size_t i = turns->starts[c]; i + 1 < turns->starts[c + 1]; i++) {
			struct lode_host_turn *turn = &turns->items[i];

			if (turn->thread != turn[1].thread || turn[1].start < turn->end)
				continue;
			turn->next = turn[1].start;
			turn->last = turn[1].since > turn->end ? turn[1].since : turn->end;
		}
}

int lode_host_turns_make(struct lode_host_turns *turns, const struct lode_stream *stream, const uint32_t *numbers,
			 size_t connections)
{
	const struct lode_events *waits = &stream->events[LODE_WAIT];
	uint64_t *over = lode_calloc(stream->thread_count + 1, sizeof(*over));
	uint8_t *is_begun = lode_calloc(connections + 1, 1);
	int code = over && is_begun ? 0 : LODE_SYSTEM;

	memset(turns, 0, sizeof(*turns));
	turns->connections = connections;
	if (!code)
		code = count_turns(turns, waits, numbers);
	if (!code) {
		fill_turns(turns, waits, numbers, over, is_begun);
		end_turns(turns);
	}
	lode_free(over);
	lode_free(is_begun);
	return code;
}

/* ---- what an exchange permits ---- */

/* By how much the server's clock may be ahead. */
static struct lode_offset_range permitted(const struct lode_host_turn *client, const struct lode_host_turn *server)
{
	return (struct lode_offset_range){ (int64_t)(server->last - client->end),
					   (int64_t)(server->end - client->since) };
}

/* The same, where a thread sends hardly more than SLACK before it waits: none, where the end of the turn is not known. */
static struct lode_offset_range expected(const struct lode_host_turn *client, const struct lode_host_turn *server)
{
	if (server->next == UINT64_MAX || server->wait == LODE_NONE)
		return (struct lode_offset_range){ 0, -1 };
	return (struct lode_offset_range){ (int64_t)(server->next - client->end) - SLACK,
					   (int64_t)(server->end - client->start) + SLACK };
}

typedef struct lode_offset_range range_of(const struct lode_host_turn *client, const struct lode_host_turn *server);

/* The most likely offset. */
static int64_t likely(const struct lode_host_turn *client, const struct lode_host_turn *server)
{
	int64_t low = (int64_t)(server->next - client->end), high = (int64_t)(server->end - client->start);

	return low / 2 + high / 2;
}

static int64_t middle_of(struct lode_offset_range range)
{
	return range.low + (range.high - range.low) / 2;
}

static struct lode_offset_range reversed(struct lode_offset_range range)
{
	return (struct lode_offset_range){ -range.high, -range.low };
}

struct ranges {
	struct lode_offset_range *items;
	size_t count;
	size_t capacity;
	uint64_t *windows; /* of waits whose ranges these are: from `since` to `end`, the widest range of a single turn */
	size_t window_count;
	size_t window_capacity;
};

/* ---- the first vote ---- */

static int64_t ahead_of(uint64_t t, uint64_t other, int64_t offset)
{
	return (int64_t)(t - other) - offset;
}

static int add_range(struct ranges *ranges, struct lode_offset_range range, int is_reversed)
{
	return LODE_APPEND(ranges->items, ranges->count, ranges->capacity, is_reversed ? reversed(range) : range);
}

/* What any turn of the server permits for one wait of the client: turns are in order of time, and a wait has one vote. */
static int add_pairs_of(struct ranges *ranges, range_of *range_of_pair, const struct lode_host_turn *client,
			const struct lode_host_turn *servers, size_t count, int is_reversed)
{
	struct lode_offset_range joined = { 0, -1 };

	for (size_t i = 0; i < count; i++) {
		struct lode_offset_range range = range_of_pair(client, &servers[i]);

		if (range.low > range.high)
			continue;
		if (joined.low <= joined.high && range.low <= joined.high) {
			joined.high = range.high > joined.high ? range.high : joined.high;
			continue;
		}
		if (joined.low <= joined.high && add_range(ranges, joined, is_reversed) < 0)
			return LODE_SYSTEM;
		joined = range;
	}
	return joined.low <= joined.high ? add_range(ranges, joined, is_reversed) : 0;
}

/* All turns of the server for some waits of the client, of those before which the client's own time is known. */
static int add_pairs(struct ranges *ranges, range_of *range_of_pair, const struct lode_host_turns *clients,
		     const struct lode_host_turns *servers, size_t connection, int is_reversed, size_t pairs)
{
	size_t first = clients->starts[connection], count = clients->starts[connection + 1] - first;
	size_t start = servers->starts[connection], others = servers->starts[connection + 1] - start;
	size_t sample, step;
	int code = 0;

	if (!count || !others)
		return 0;
	sample = pairs / others > MIN_SAMPLE ? pairs / others : MIN_SAMPLE;
	step = count > sample ? count / sample : 1;
	for (size_t i = first; !code && i < first + count; i += step) {
		const struct lode_host_turn *client = &clients->items[i];

		if (!client->since)
			continue; /* the first of a thread, or what is before the first wait */
		code = add_pairs_of(ranges, range_of_pair, client, &servers->items[start], others, is_reversed);
		if (!code)
			code = LODE_APPEND(ranges->windows, ranges->window_count, ranges->window_capacity,
					   client->end - client->since);
	}
	return code;
}

int lode_host_turns_vote(const struct lode_host_turn *clients, size_t count, const struct lode_host_turn *servers,
			 size_t server_count, struct lode_offset_range *common, size_t *votes)
{
	struct ranges ranges = { 0 };
	int code = 0;

	for (size_t i = 0; !code && i < count; i++)
		if (clients[i].since)
			code = add_pairs_of(&ranges, permitted, &clients[i], servers, server_count, 0);
	if (!code)
		code = lode_offset_vote(ranges.items, ranges.count, common, votes);
	lode_free(ranges.items);
	return code;
}

/* How wide the range of a turn usually is, at most. */
static uint64_t usual_width(struct ranges *ranges)
{
	lode_sort_u64(ranges->windows, ranges->window_count);
	return ranges->window_count ? ranges->windows[ranges->window_count / 2] : 0;
}

/* The votes on an offset; 0 where another one, which is not merely a little different, has nearly as many. */
static int vote_clearly(struct ranges *ranges, struct lode_offset_range *common, size_t *votes)
{
	uint64_t margin = MARGIN_WIDTHS * usual_width(ranges);
	size_t rival;

	if (lode_offset_vote(ranges->items, ranges->count, common, votes) < 0 ||
	    lode_offset_rival(ranges->items, ranges->count, *common, margin, &rival) < 0)
		return LODE_SYSTEM;
	if (rival * 100 >= *votes * MAX_RIVAL)
		*votes = 0;
	return 0;
}

static int vote_on_pairs(const struct lode_host_turns *own, const struct lode_host_turns *other,
			 const uint8_t *is_client, range_of *range_of_pair, struct lode_offset_range *common,
			 size_t *votes)
{
	size_t pairs = MAX_PAIRS / (own->connections ? own->connections : 1);
	struct ranges ranges = { 0 };
	int code = 0;

	for (size_t c = 1; !code && c <= own->connections && ranges.count < MAX_PAIRS; c++)
		code = is_client[c] ? add_pairs(&ranges, range_of_pair, own, other, c, 0, pairs)
				    : add_pairs(&ranges, range_of_pair, other, own, c, 1, pairs);
	if (!code)
		code = vote_clearly(&ranges, common, votes);
	lode_free(ranges.items);
	lode_free(ranges.windows);
	return code;
}

/* The turn that is expected for a wait; NULL: none is. */
static const struct lode_host_turn *expected_turn(const struct lode_host_turn *client,
						  const struct lode_host_turns *servers, size_t connection,
						  int64_t offset)
{
	size_t low = servers->starts[connection], high = servers->starts[connection + 1];
	size_t at = LODE_BISECT(i, low, high, ahead_of(servers->items[i].end, client->end, offset) <= SLACK);

	/* The next request may have come within the slack already. */
	for (size_t back = 0; back < 2 && at > low; back++, at--) {
		struct lode_offset_range range = expected(client, &servers->items[at - 1]);

		if (range.low <= offset && offset <= range.high)
			return &servers->items[at - 1];
	}
	return NULL;
}

static int add_expected(struct ranges *ranges, const struct lode_host_turns *clients,
			const struct lode_host_turns *servers, size_t connection, int is_reversed, int64_t offset)
{
	int code = 0;

	for (size_t i = clients->starts[connection]; !code && i < clients->starts[connection + 1]; i++) {
		const struct lode_host_turn *client = &clients->items[i];
		const struct lode_host_turn *server =
			client->since ? expected_turn(client, servers, connection, is_reversed ? -offset : offset)
				      : NULL;

		if (server)
			code = add_range(ranges, permitted(client, server), is_reversed);
	}
	return code;
}

/* From where turns fit into waits to what their messages permit. */
static int refine(const struct lode_host_turns *own, const struct lode_host_turns *other, const uint8_t *is_client,
		  struct lode_offset_range *common, size_t *votes)
{
	int64_t offset = middle_of(*common);
	struct ranges ranges = { 0 };
	int code = 0;

	for (size_t c = 1; !code && c <= own->connections; c++)
		code = is_client[c] ? add_expected(&ranges, own, other, c, 0, offset)
				    : add_expected(&ranges, other, own, c, 1, offset);
	if (!code)
		code = lode_offset_vote(ranges.items, ranges.count, common, votes);
	lode_free(ranges.items);
	return code;
}

/*
 * Whether a turn fits into a wait, by how long both are, tells more than the order of messages; but that holds for any program.
 */
static int vote_first(const struct lode_host_turns *own, const struct lode_host_turns *other,
		      const uint8_t *is_client, struct lode_offset_range *common, size_t *votes)
{
	int code = vote_on_pairs(own, other, is_client, expected, common, votes);

	if (!code && *votes >= MIN_VOTES)
		code = refine(own, other, is_client, common, votes);
	if (code < 0 || *votes >= MIN_VOTES)
		return code;
	return vote_on_pairs(own, other, is_client, permitted, common, votes);
}

/* ---- the second one ---- */

/* The turn of the server that permits, with the wait of the client, that its clock is ahead by `offset`; NULL: none does. */
static const struct lode_host_turn *turn_for(const struct lode_host_turn *client,
					     const struct lode_host_turns *servers, size_t connection,
					     int64_t offset)
{
	size_t low = servers->starts[connection], high = servers->starts[connection + 1];
	size_t at = LODE_BISECT(i, low, high, ahead_of(servers->items[i].last, client->end, offset) <= 0);
	const struct lode_host_turn *server = at > low ? &servers->items[at - 1] : NULL;

	return server && ahead_of(server->end, client->since, offset) >= 0 ? server : NULL;
}

struct matched {
	struct ranges ranges;
	uint64_t *likely; /* ordered as unsigned numbers */
	size_t likely_count;
	size_t likely_capacity;
	uint64_t *delays; /* from the start of the client's wait until the server was woken */
	size_t delay_count;
	size_t delay_capacity;
	size_t waits; /* of clients, while the turns of servers were recorded */
};

/* Whether the server's turns were recorded when the client waited. */
static int is_covered(const struct lode_host_turn *client, const struct lode_host_turns *servers,
		      size_t connection, int64_t offset)
{
	size_t first = servers->starts[connection] + 1, end = servers->starts[connection + 1];

	return first < end && ahead_of(servers->items[first].end, client->start, offset) <= 0 &&
	       ahead_of(servers->items[end - 1].end, client->start, offset) >= 0;
}

#define SIGN ((uint64_t)1 << 63)

static int add_delay(struct matched *matched, const struct lode_host_turn *client,
		     const struct lode_host_turn *server, int64_t offset)
{
	int64_t delay = ahead_of(server->end, client->start, offset);

	return LODE_APPEND(matched->delays, matched->delay_count, matched->delay_capacity,
			   delay > 0 ? (uint64_t)delay : 0);
}

static int add_matched(struct matched *matched, const struct lode_host_turns *clients,
		       const struct lode_host_turns *servers, size_t connection, int is_reversed, int64_t offset)
{
	if (is_reversed)
		offset = -offset;
	for (size_t i = clients->starts[connection]; i < clients->starts[connection + 1]; i++) {
		const struct lode_host_turn *client = &clients->items[i];
		const struct lode_host_turn *server = turn_for(client, servers, connection, offset);
		struct lode_offset_range permits;
		int64_t middle;

		if (client->wait == LODE_NONE)
			continue;
		matched->waits += (size_t)is_covered(client, servers, connection, offset);
		if (!server)
			continue;
		permits = permitted(client, server);
		if (add_range(&matched->ranges, permits, is_reversed) < 0 ||
		    add_delay(matched, client, server, offset) < 0)
			return LODE_SYSTEM;
		if (server->next == UINT64_MAX)
			continue;
		middle = is_reversed ? -likely(client, server) : likely(client, server);
		if (LODE_APPEND(matched->likely, matched->likely_count, matched->likely_capacity,
				(uint64_t)middle ^ SIGN) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

/* The likely offset of most exchanges, as far as it is permitted, and how wrong it may be. */
static void settle(struct lode_host_clock *clock, struct matched *matched, struct lode_offset_range common)
{
	int64_t offset = middle_of(common);

	if (matched->likely_count) {
		lode_sort_u64(matched->likely, matched->likely_count);
		offset = (int64_t)(matched->likely[matched->likely_count / 2] ^ SIGN);
		offset = offset < common.low ? common.low : offset > common.high ? common.high : offset;
	}
	lode_sort_u64(matched->delays, matched->delay_count);
	clock->latency = matched->delay_count ? matched->delays[matched->delay_count / 2] : 0;
	clock->offset = offset;
	clock->error = (uint64_t)(common.high - offset > offset - common.low ? common.high - offset
									     : offset - common.low);
}

int lode_host_clock_find(const struct lode_host_turns *own, const struct lode_host_turns *other,
			 const uint8_t *is_client, struct lode_host_clock *clock)
{
	struct matched matched = { 0 };
	struct lode_offset_range common;
	size_t votes;
	int64_t offset;
	int code = vote_first(own, other, is_client, &common, &votes);

	memset(clock, 0, sizeof(*clock));
	if (code < 0 || !votes)
		return code;
	offset = middle_of(common);
	for (size_t c = 1; !code && c <= own->connections; c++)
		code = is_client[c] ? add_matched(&matched, own, other, c, 0, offset)
				    : add_matched(&matched, other, own, c, 1, offset);
	if (!code)
		code = lode_offset_vote(matched.ranges.items, matched.ranges.count, &common, &votes);
	if (!code) {
		clock->exchanges = votes;
		clock->waits = matched.waits;
		settle(clock, &matched, common);
	}
	lode_free(matched.ranges.items);
	lode_free(matched.likely);
	lode_free(matched.delays);
	return code < 0 ? code : votes && votes * 100 >= matched.waits * MIN_AGREEING;
}

/* ---- who ended a wait ---- */

/*
 * The turn that the server had when the wait of the client ended; NULL: none. It may have begun with an earlier request, where
 * the next one was there before the thread could wait for it.
 */
static const struct lode_host_turn *turn_at_end(const struct lode_host_turn *client,
						const struct lode_host_turns *servers, size_t connection,
						int64_t offset)
{
	size_t low = servers->starts[connection], high = servers->starts[connection + 1];
	size_t at = LODE_BISECT(i, low, high, ahead_of(servers->items[i].end, client->end, offset) <= 0);

	return at > low ? &servers->items[at - 1] : NULL;
}

/*
 * Whether the thread of the turn answered: where it waits for the next message long before this wait ends, it has left the
 * answer to another thread.
 */
static int has_answered(const struct lode_host_turn *client, const struct lode_host_turn *server,
			const struct lode_host_clock *ahead)
{
	int64_t early;

	if (server->next == UINT64_MAX)
		return ahead_of(server->end, client->since, ahead->offset) >= 0;
	early = -ahead_of(server->next, client->end, ahead->offset);
	return early <= (int64_t)(MAX_LATENCIES * ahead->latency + 2 * ahead->error) ||
	       (uint64_t)early <= (client->end - client->start) / 2;
}

uint32_t *lode_host_turns_match(const struct lode_host_turns *own, const struct lode_host_turns *other,
				const struct lode_host_clock *ahead)
{
	uint32_t *turns = lode_calloc(own->count + 1, sizeof(*turns));

	for (size_t c = 1; turns && c <= own->connections; c++)
		for (size_t i = own->starts[c]; i < own->starts[c + 1]; i++) {
			const struct lode_host_turn *turn = turn_at_end(&own->items[i], other, c, ahead->offset);

			turns[i] = turn && own->items[i].wait != LODE_NONE &&
						   has_answered(&own->items[i], turn, ahead)
					   ? (uint32_t)(turn - other->items)
					   : LODE_NONE;
		}
	return turns;
}
