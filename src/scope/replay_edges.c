/*
 * Edges of a replay: see replay_edges.h.
 *
 * Whether the waker needs the thread that it wakes is not recorded, only guessed. Of a bounded queue whose consumer is slow the
 * recording has only the waits of the producer for room: the consumer never waits, since there always is something to
 * consume. Made faster, it would. What gives it away is that the producer has woken the consumer as well, at some time, and
 * that the consumer did not wait for the producer since it woke that the last time: it took what had been put there meanwhile.
 */
#include "scope/replay_edges.h"

#include "base/hash_index.h"
#include "base/sort_order.h"
#include "scope/retried_waits.h"
#include "trace/gpu_threads.h"

#include <string.h>
#include <strings.h>

void lode_replay_edges_release(struct lode_replay_edges *edges)
{
	lode_free(edges->wakers);
	lode_free(edges->flags);
	lode_free(edges->woken);
	lode_free(edges->starts);
	lode_free(edges->is_gpu);
	lode_free(edges->from);
	lode_free(edges->to);
	memset(edges, 0, sizeof(*edges));
}

/* ---- who ended a wait ---- */

/* Whether anything that the threads of a group did is recorded. */
static int has_events(const struct lode_scope_index *index, uint32_t group)
{
	for (int type = 0; type < LODE_SCOPE_TYPES; type++)
		if (index->lists[type].starts[group + 1] > index->lists[type].starts[group])
			return 1;
	return 0;
}

static uint32_t waker_group(const struct lode_scope_index *index, uint32_t waker, uint32_t wait)
{
	uint32_t group = waker == LODE_NONE ? LODE_NONE : index->groups[waker];

	if (group == LODE_NONE || group == index->groups[index->stream->events[LODE_WAIT].thread[wait]])
		return LODE_NONE;
	return has_events(index, group) ? group : LODE_NONE;
}

int lode_replay_edges_find(struct lode_replay_edges *edges, const struct lode_scope_index *index)
{
	const struct lode_events *waits = &index->stream->events[LODE_WAIT];
	uint32_t *tried = NULL;
	int code;

	memset(edges, 0, sizeof(*edges));
	edges->wakers = lode_calloc(waits->count + 1, sizeof(*edges->wakers));
	edges->flags = lode_calloc(waits->count + 1, 1);
	edges->is_gpu = lode_calloc(index->group_count + 1, 1);
	edges->from = lode_calloc(index->group_count + 1, sizeof(*edges->from));
	edges->to = lode_calloc(index->group_count + 1, sizeof(*edges->to));
	code = edges->wakers && edges->flags && edges->is_gpu && edges->from && edges->to
		       ? lode_retried_waits(index, &tried)
		       : LODE_SYSTEM;
	if (code)
		return code;
	for (size_t i = 0; i < index->group_count; i++)
		edges->from[i] = UINT64_MAX;
	for (size_t i = 0; i < index->stream->thread_count; i++)
		edges->is_gpu[index->groups[i]] |= (uint8_t)lode_thread_is_gpu(&index->stream->threads[i]);
	for (uint32_t i = 0; i < waits->count; i++) {
		uint32_t waker = tried ? tried[i] : lode_wake_ends_chain(index, i) ? LODE_NONE : waits->waker[i];
		uint32_t group = edges->wakers[i] = waker_group(index, waker, i);
		uint64_t end = lode_event_end(waits, i);

		if (group == LODE_NONE || !end)
			continue;
		edges->from[group] = end - 1 < edges->from[group] ? end - 1 : edges->from[group];
		end = lode_add_saturating(end, 1);
		edges->to[group] = end > edges->to[group] ? end : edges->to[group];
	}
	lode_free(tried);
	return 0;
}

/* A thread that was blocked, or on the run queue, did not wake another: something else did in its place. */
static int ran_at(const struct lode_pieces *pieces, uint64_t t)
{
	size_t at = lode_piece_at(pieces, t);
	const struct lode_piece *piece = at < pieces->count ? &pieces->items[at] : NULL;

	if (!piece || piece->start >= t)
		return 0;
	/* At the end of a piece something else begins. */
	return piece->kind == LODE_PIECE_RUN || piece->kind == LODE_PIECE_PLAIN || piece->end == t;
}

/* ---- waits by waker ---- */

static int list_woken(struct lode_replay_edges *edges, const struct lode_scope_index *index, const uint32_t *by_end)
{
	size_t count = index->stream->events[LODE_WAIT].count;

	edges->woken = lode_calloc(count + 1, sizeof(*edges->woken));
	edges->starts = lode_calloc(index->group_count + 2, sizeof(*edges->starts));
	if (!edges->woken || !edges->starts)
		return LODE_SYSTEM;
	/* Counted two places further on, summed, then used as the place of the next: ends as the starts. */
	for (size_t i = 0; i < count; i++)
		if (edges->wakers[i] != LODE_NONE)
			edges->starts[edges->wakers[i] + 2]++;
	for (size_t i = 2; i < index->group_count + 2; i++)
		edges->starts[i] += edges->starts[i - 1];
	for (size_t i = 0; i < count; i++)
		if (edges->wakers[by_end[i]] != LODE_NONE)
			edges->woken[edges->starts[edges->wakers[by_end[i]] + 1]++] = by_end[i];
	return 0;
}

/* ---- who needs whom ---- */

/* Two groups of which one woke the other. */
struct pair {
	uint32_t waker;
	uint32_t waiter;
	uint64_t last; /* end of the last such wait so far, plus one; 0: none yet */
};

struct pairs {
	struct pair *items;
	size_t count;
	size_t capacity;
	struct lode_index index;
};

static struct pair *find_pair(const struct pairs *pairs, uint32_t waker, uint32_t waiter)
{
	uint32_t found = LODE_INDEX_FIND(i, &pairs->index, lode_hash_pair(waker, waiter),
					 pairs->items[i].waker == waker && pairs->items[i].waiter == waiter);

	return found == LODE_NONE ? NULL : &pairs->items[found];
}

static uint32_t waiter_of(const struct lode_scope_index *index, uint32_t wait)
{
	return index->groups[index->stream->events[LODE_WAIT].thread[wait]];
}

static int find_pairs(struct pairs *pairs, const struct lode_replay_edges *edges,
		      const struct lode_scope_index *index)
{
	for (uint32_t i = 0; i < index->stream->events[LODE_WAIT].count; i++) {
		uint32_t waker = edges->wakers[i], waiter = waiter_of(index, i);

		if (waker == LODE_NONE || edges->flags[i] & LODE_EDGE_FREE || find_pair(pairs, waker, waiter))
			continue;
		if (LODE_INDEX_APPEND(&pairs->index, lode_hash_pair(waker, waiter), pairs->items, pairs->count,
				      pairs->capacity, (struct pair){ waker, waiter, 0 }) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

/* In the order of their ends. */
static void mark_meeting(struct lode_replay_edges *edges, const struct pairs *pairs,
			 const struct lode_scope_index *index, uint32_t wait)
{
	uint32_t waker = edges->wakers[wait], waiter = waiter_of(index, wait);
	struct pair *own, *back;

	if (waker == LODE_NONE || edges->flags[wait] & LODE_EDGE_FREE)
		return;
	own = find_pair(pairs, waker, waiter);
	back = find_pair(pairs, waiter, waker);
	if (back && own->last && back->last <= own->last)
		edges->flags[wait] |= LODE_EDGE_MEETS;
	own->last = lode_add_saturating(lode_event_end(&index->stream->events[LODE_WAIT], wait), 1);
}

static int mark_meetings(struct lode_replay_edges *edges, const struct lode_scope_index *index,
			 const uint32_t *by_end)
{
	struct pairs pairs = { 0 };
	int code = find_pairs(&pairs, edges, index);

	for (size_t i = 0; !code && i < index->stream->events[LODE_WAIT].count; i++)
		mark_meeting(edges, &pairs, index, by_end[i]);
	lode_free(pairs.items);
	lode_index_release(&pairs.index);
	return code;
}

/* By node: a function of the stack is a barrier's, as its name says. NULL when memory has run out. */
static uint8_t *barrier_stacks(const struct lode_dictionary *dictionary)
{
	const struct lode_stack_tree *tree = &dictionary->tree;
	size_t frames = dictionary->frames.count;
	uint8_t *barriers = lode_calloc(tree->count + 1, 1), *functions = lode_calloc(frames + 1, 1);

	for (uint32_t i = 0; barriers && functions && i < frames; i++)
		functions[i] = strcasestr(lode_frames_function(&dictionary->frames, i), "barrier") != NULL;
	for (size_t node = 1; barriers && functions && node < tree->count; node++)
		barriers[node] = barriers[tree->nodes[node].parent] | functions[tree->nodes[node].frame];
	if (!functions) {
		lode_free(barriers);
		barriers = NULL;
	}
	lode_free(functions);
	return barriers;
}

/* ---- each wait ---- */

struct judge {
	const struct lode_scope_index *index;
	const struct lode_replay_edges *edges;
	const struct lode_events *waits;
	const struct lode_idle_stacks *idle;
	const struct lode_wait_kinds *kinds;
	const uint8_t *barriers;
};

static uint8_t judge_ended(const struct judge *judge, uint32_t wait)
{
	enum lode_state state = lode_wait_kind(judge->kinds, judge->waits, wait);

	/* A page that another thread brings, or whose mapping it changes, is a lock of the kernel. */
	if (state == LODE_STATE_LOCK || state == LODE_STATE_GIL || state == LODE_STATE_PAGE)
		return LODE_EDGE_FREE | LODE_EDGE_LOCK;
	/* Launches queue, and a kernel ends whether anyone waits for it or not. */
	if (judge->edges->is_gpu[waiter_of(judge->index, wait)] || judge->edges->is_gpu[judge->edges->wakers[wait]])
		return LODE_EDGE_FREE;
	return judge->barriers[judge->waits->stack[wait]] && judge->barriers[judge->waits->waker_stack[wait]]
		       ? LODE_EDGE_BARRIER
		       : 0;
}

/* No thread ended it. */
static uint8_t judge_alone(const struct judge *judge, uint32_t wait)
{
	const struct lode_events *waits = judge->waits;
	enum lode_state state = lode_wait_kind(judge->kinds, waits, wait);
	int idle = judge->idle && lode_idle_event(judge->idle, waits->stack[wait], waits->waker_stack[wait]);

	if (state == LODE_STATE_DISK || state == LODE_STATE_PAGE || lode_wait_is_sleep(judge->kinds, waits, wait))
		return 0;
	return (uint8_t)(LODE_EDGE_UNSURE | (idle ? LODE_EDGE_IDLE : 0));
}

/* The waits in the order of their ends. NULL when memory has run out. */
static uint32_t *order_by_end(const struct lode_events *waits)
{
	uint64_t *ends = lode_calloc(waits->count + 1, sizeof(*ends));
	uint32_t *order = lode_calloc(waits->count + 1, sizeof(*order));

	for (uint32_t i = 0; ends && i < waits->count; i++)
		ends[i] = lode_event_end(waits, i);
	if (!ends || !order || lode_sort_order(ends, waits->count, order) < 0) {
		lode_free(order);
		order = NULL;
	}
	lode_free(ends);
	return order;
}

int lode_replay_edges_settle(struct lode_replay_edges *edges, const struct lode_scope_index *index,
			     const struct lode_pieces *pieces, const struct lode_idle_stacks *idle,
			     const struct lode_wait_kinds *kinds)
{
	const struct lode_events *waits = &index->stream->events[LODE_WAIT];
	uint32_t *by_end = order_by_end(waits);
	uint8_t *barriers = barrier_stacks(index->stream->dictionary);
	struct judge judge = { index, edges, waits, idle, kinds, barriers };
	int code = by_end && barriers ? 0 : LODE_SYSTEM;

	for (uint32_t i = 0; !code && i < waits->count; i++) {
		uint32_t waker = edges->wakers[i];

		if (waker != LODE_NONE && !ran_at(&pieces[waker], lode_event_end(waits, i)))
			edges->wakers[i] = LODE_NONE;
		edges->flags[i] = edges->wakers[i] == LODE_NONE ? judge_alone(&judge, i) : judge_ended(&judge, i);
	}
	if (!code)
		code = list_woken(edges, index, by_end);
	if (!code)
		code = mark_meetings(edges, index, by_end);
	lode_free(by_end);
	lode_free(barriers);
	return code;
}
