/*
 * To which stacks the time of a thread belongs: see shares.h.
 *
 * A thread has an *anchor*: the last sample. What it ran since then is pending until the
 * next one comes, and is then divided between the two. The moments in between are kept
 * meanwhile: if the thread runs on for longer than `limit`, they divide the time among
 * themselves, and the last of them becomes the anchor. So no more moments are kept than
 * fit into a few periods.
 *
 * Before a thread's first sample, and after its last, there is only one sample to take
 * the time, and it is unknown how long before or after it the thread ran; a gap
 * represents that.
 */
#include "latency/shares.h"

#include <string.h>

/* Periods without a sample that a late or lost tick explains. */
#define PERIODS 4

/* The thread ran for so long from one moment to the next. */
struct piece {
	uint32_t from;
	uint32_t to;
	uint64_t ran;
};

struct lode_shares_thread {
	uint32_t stack;  /* of the last moment; 0: none yet */
	uint32_t first;  /* of the first one */
	uint32_t anchor; /* 0: none yet */
	uint64_t t;
	uint64_t waited;
	uint64_t pending;     /* ns that it ran since the anchor */
	struct piece *pieces; /* of them, where other moments are in between */
	size_t piece_count;
	size_t piece_capacity;
};

/* ---- giving ---- */

static void give(struct lode_time_shares *shares, uint32_t stack, uint64_t ns)
{
	shares->nodes[stack].time = lode_add_saturating(shares->nodes[stack].time, ns);
}

/* `common`: where the stacks part, if that is known; LODE_NONE: look. */
static void divide(struct lode_time_shares *shares, const struct piece *piece, uint32_t common)
{
	double square = (double)piece->ran * (double)piece->ran;

	give(shares, piece->from, piece->ran / 2);
	give(shares, piece->to, piece->ran - piece->ran / 2);
	shares->gap_sum += (double)piece->ran;
	shares->gap_squares += square;
	if (piece->from == piece->to) {
		shares->nodes[piece->from].doubt += (double)piece->ran * (double)shares->shortest_span;
		return;
	}
	if (common == LODE_NONE)
		common = lode_places_common(shares->places, piece->from, piece->to);
	shares->nodes[piece->from].doubt += square / 2;
	shares->nodes[piece->to].doubt += square / 2;
	shares->nodes[common].doubt -= square;
}

static void set_anchor(struct lode_shares_thread *thread, uint32_t stack)
{
	thread->anchor = stack;
	thread->pending = 0;
	thread->piece_count = 0;
}

/* No sample came: all moments count. */
static void divide_pieces(struct lode_time_shares *shares, struct lode_shares_thread *thread)
{
	for (size_t i = 0; i < thread->piece_count; i++)
		divide(shares, &thread->pieces[i], LODE_NONE);
}

static int keep(struct lode_shares_thread *thread, const struct piece *piece)
{
	struct piece *last = thread->piece_count ? &thread->pieces[thread->piece_count - 1] : NULL;

	if (last && last->from == piece->to && last->from == last->to && piece->from == piece->to) {
		last->ran += piece->ran;
		return 0;
	}
	return LODE_APPEND(thread->pieces, thread->piece_count, thread->piece_capacity, *piece);
}

/* ---- moments ---- */

/* The thread ran from its last moment to this one. */
static int run_on(struct lode_time_shares *shares, struct lode_shares_thread *thread, const struct piece *piece,
		  const struct lode_moment *moment)
{
	thread->pending = lode_add_saturating(thread->pending, piece->ran);
	if (thread->pending > shares->limit || !shares->limit) {
		divide_pieces(shares, thread);
		divide(shares, piece, moment->common);
		set_anchor(thread, moment->stack);
	} else if (!moment->is_sample) {
		return piece->ran ? keep(thread, piece) : 0;
	} else if (!thread->anchor) {
		give(shares, moment->stack, thread->pending);
		set_anchor(thread, moment->stack);
	} else {
		struct piece whole = { thread->anchor, moment->stack, thread->pending };

		divide(shares, &whole, thread->anchor == thread->stack ? moment->common : LODE_NONE);
		set_anchor(thread, moment->stack);
	}
	return 0;
}

int lode_time_shares_see(struct lode_time_shares *shares, const struct lode_moment *moment)
{
	struct lode_shares_thread *thread = &shares->threads[moment->thread];
	uint64_t waited = moment->waited - thread->waited;
	struct piece piece = { thread->stack, moment->stack, moment->t - thread->t - waited };
	int code = 0;

	if (!thread->stack) {
		thread->first = moment->stack;
		if (moment->is_sample || !shares->limit)
			set_anchor(thread, moment->stack);
	} else {
		if (waited) {
			give(shares, piece.from, waited / 2);
			give(shares, piece.to, waited - waited / 2);
		}
		code = run_on(shares, thread, &piece, moment);
	}
	thread->stack = moment->stack;
	thread->t = moment->t;
	thread->waited = moment->waited;
	return code;
}

void lode_time_shares_finish(struct lode_time_shares *shares)
{
	double square;

	for (size_t i = 0; i < shares->thread_count; i++) {
		struct lode_shares_thread *thread = &shares->threads[i];

		if (thread->anchor)
			give(shares, thread->anchor, thread->pending);
		else
			divide_pieces(shares, thread);
	}
	if (!shares->limit)
		shares->gap = shares->gap_sum > 0 ? shares->gap_squares / shares->gap_sum : 0;
	square = shares->gap * shares->gap;
	for (size_t i = 0; i < shares->thread_count; i++) {
		const struct lode_shares_thread *thread = &shares->threads[i];

		shares->nodes[thread->first].doubt += square / 2;
		shares->nodes[thread->stack].doubt += square / 2;
	}
}

/* ---- thinned streams ---- */

static void weigh_event(struct lode_time_shares *shares, struct lode_slot_sampling *sampling,
			const struct lode_events *events, enum lode_event_type type, size_t i)
{
	uint64_t weight = lode_events_weight(events, i);
	uint64_t length = type == LODE_CALL ? 0 : events->cost[i];
	uint32_t stack = shares->chains ? shares->chains->of[events->stack[i]] : events->stack[i];
	struct lode_time_share *share = &shares->nodes[stack];

	if (type != LODE_RUN)
		length = lode_add_saturating(length, events->delay[i]);
	give(shares, stack, lode_weighted(length, weight));
	share->doubt += lode_slot_sampling_add(sampling, lode_add_saturating(events->t[i], length), length, weight,
					       shares->spreads ? shares->spreads[stack] : NULL);
	if (type == LODE_RUN) /* how many samples hit a stack is chance, too */
		share->doubt += (double)length * (double)length * (double)weight;
}

/* The slots of time in which the stream was recorded, if it was. */
static int find_slots(struct lode_time_shares *shares, const struct lode_stream *stream,
		      struct lode_slot_sampling *sampling)
{
	const struct lode_events *calls = &stream->events[LODE_CALL];
	const struct lode_strings *strings = &stream->dictionary->frames.strings;

	if (!calls->count || !calls->name || !lode_slot_sampling_is_possible(strings))
		return 0;
	if (lode_slot_sampling_see(sampling, calls, strings) < 0)
		return LODE_SYSTEM;
	lode_slot_sampling_settle(sampling, calls->t[0]);
	if (sampling->count)
		shares->spreads = lode_calloc(shares->node_count, sizeof(*shares->spreads));
	return !sampling->count || shares->spreads ? 0 : LODE_SYSTEM;
}

int lode_time_shares_weigh(struct lode_time_shares *shares, const struct lode_stream *stream,
			   const uint8_t *left_out)
{
	struct lode_slot_sampling sampling = { 0 };
	int code = find_slots(shares, stream, &sampling);

	memset(shares->nodes, 0, shares->node_count * sizeof(*shares->nodes));
	for (int type = 0; !code && type < LODE_EVENT_TYPES; type++) {
		const struct lode_events *events = &stream->events[type];

		for (size_t i = 0; i < events->count; i++)
			if (events->stack[i] && !left_out[events->thread[i]])
				weigh_event(shares, &sampling, events, (enum lode_event_type)type, i);
	}
	lode_slot_sampling_release(&sampling);
	return code;
}

/* ---- the whole ---- */

static double mean_cost(const struct lode_events *runs)
{
	double sum = 0;

	for (size_t i = 0; i < runs->count; i++)
		sum += (double)runs->cost[i];
	return runs->count ? sum / (double)runs->count : 0;
}

int lode_time_shares_init(struct lode_time_shares *shares, const struct lode_stream *stream,
			  const struct lode_call_chains *chains, const struct lode_tree_position *places,
			  uint64_t shortest_span)
{
	double period = mean_cost(&stream->events[LODE_RUN]);

	memset(shares, 0, sizeof(*shares));
	shares->places = places;
	shares->chains = chains;
	shares->node_count = chains ? chains->count : stream->dictionary->tree.count;
	shares->shortest_span = shortest_span;
	shares->gap = shortest_span ? (double)shortest_span : period;
	shares->limit = period * PERIODS < 1e18 ? (uint64_t)(period * PERIODS) : (uint64_t)1e18;
	shares->thread_count = stream->thread_count;
	shares->nodes = lode_calloc(shares->node_count, sizeof(*shares->nodes));
	shares->threads = lode_calloc(stream->thread_count + 1, sizeof(*shares->threads));
	return shares->nodes && shares->threads ? 0 : LODE_SYSTEM;
}

void lode_time_shares_release(struct lode_time_shares *shares)
{
	for (size_t i = 0; shares->threads && i < shares->thread_count; i++)
		lode_free(shares->threads[i].pieces);
	lode_free(shares->threads);
	lode_free(shares->spreads);
	lode_free(shares->nodes);
	memset(shares, 0, sizeof(*shares));
}
