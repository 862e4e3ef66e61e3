/*
 * The wait graph: StackMine, Figure 2.
 *
 * As printed, every wait looks at every event of the stream. Here the events of a
 * thread are in order of their ends; those that belong to a wait are then one
 * interval of its waker's list, two binary searches away. Its length is the
 * number of edges that begin at the wait, so edges are counted without being
 * touched. To put the interval into the graph only events that are not in it yet
 * are touched: each entry knows a place further on from where to look (disjoint
 * sets with path halving), so that one that is already in is skipped in nearly
 * constant time. In total this is nearly linear in the events that end up in the
 * graph.
 *
 * Events have one number for both types here: the run events, then the waits. A
 * bit for each says what is in the graph, and reading the bits in order gives the
 * parts in theirs. What a symptom has marked is unmarked before the next, so many
 * symptoms of a stream cost no more than what they touch.
 */
#include "scope/scope_index.h"

#include "base/bisect.h"

#include <string.h>

struct entry {
	uint64_t end;
	uint32_t number; /* of the event */
	uint32_t next;   /* 0: not in the graph; else a later entry, to go on from */
};

struct lode_wait_graph {
	struct entry *entries; /* by group, in each by end */
	uint8_t *sorted;       /* by group: its entries are made and in order */
	uint64_t *marks;       /* bit by event number: it is in the graph */
	size_t mark_words;
	uint32_t *queue; /* entries in the graph, in the order of finding */
	size_t queue_count;
	size_t queue_capacity;
};

void lode_wait_graph_free(struct lode_wait_graph *graph)
{
	if (!graph)
		return;
	lode_free(graph->entries);
	lode_free(graph->sorted);
	lode_free(graph->marks);
	lode_free(graph->queue);
	lode_free(graph);
}

static int make(struct lode_scope_index *index, struct lode_error *error)
{
	const struct lode_events *events = index->stream->events;
	size_t count = events[LODE_RUN].count + events[LODE_WAIT].count;
	struct lode_wait_graph *graph;

	if (index->graph)
		return 0;
	if (count >= LODE_NONE)
		return lode_fail(error, LODE_BAD_INPUT, "the stream has more events than fit; split it");
	graph = lode_calloc(1, sizeof(*graph));
	if (!graph)
		return lode_fail_memory(error);
	graph->mark_words = count / 64 + 1;
	graph->entries = lode_calloc(count + 1, sizeof(*graph->entries));
	graph->sorted = lode_calloc(index->group_count + 1, sizeof(*graph->sorted));
	graph->marks = lode_calloc(graph->mark_words, sizeof(*graph->marks));
	if (!graph->entries || !graph->sorted || !graph->marks) {
		lode_wait_graph_free(graph);
		return lode_fail_memory(error);
	}
	index->graph = graph;
	return 0;
}

/* ---- entries by end ---- */

static size_t group_start(const struct lode_scope_index *index, size_t group)
{
	return index->lists[LODE_RUN].starts[group] + index->lists[LODE_WAIT].starts[group];
}

/* End of the ascending row that begins at `start`. */
static size_t row_end(const struct entry *entries, size_t count, size_t start)
{
	size_t end = start + 1;

	while (end < count && entries[end - 1].end <= entries[end].end)
		end++;
	return end;
}

/* Merges neighbouring rows from `from` into `to`; returns how many are left. */
static size_t merge_rows(const struct entry *from, struct entry *to, size_t count)
{
	size_t rows = 0;

	for (size_t start = 0; start < count; rows++) {
		size_t middle = row_end(from, count, start);
		size_t end = middle < count ? row_end(from, count, middle) : middle;
		size_t left = start, right = middle;

		for (size_t i = start; i < end; i++) {
			if (right >= end || (left < middle && from[left].end <= from[right].end))
				to[i] = from[left++];
			else
				to[i] = from[right++];
		}
		start = end;
	}
	return rows;
}

/*
 * Runs, then waits, each nearly in order of their ends already: merging the rows
 * that are there needs few passes, and no more than log n.
 */
static int sort_entries(struct entry *entries, size_t count)
{
	struct entry *other, *from = entries, *to;
	size_t rows;

	if (row_end(entries, count, 0) >= count)
		return 0;
	other = lode_realloc(NULL, count, sizeof(*other));
	if (!other)
		return LODE_SYSTEM;
	to = other;
	do {
		struct entry *swap = from;

		rows = merge_rows(from, to, count);
		from = to;
		to = swap;
	} while (rows > 1);
	if (from != entries)
		memcpy(entries, from, count * sizeof(*entries));
	lode_free(other);
	return 0;
}

static int sort_group(struct lode_scope_index *index, size_t group)
{
	struct lode_wait_graph *graph = index->graph;
	struct entry *at = graph->entries + group_start(index, group);
	size_t offset = 0, count = 0;

	if (graph->sorted[group])
		return 0;
	for (int type = 0; type < LODE_SCOPE_TYPES; type++) {
		const struct lode_scope_list *list = &index->lists[type];
		const struct lode_events *events = &index->stream->events[type];

		for (size_t i = list->starts[group]; i < list->starts[group + 1]; i++) {
			lode_scope_fetch(index, type, i, list->starts[group + 1]);
			at[count++] = (struct entry){ .end = lode_event_end(events, list->events[i]),
						      .number = (uint32_t)(offset + list->events[i]) };
		}
		offset += events->count;
	}
	if (count && sort_entries(at, count) < 0)
		return LODE_SYSTEM;
	graph->sorted[group] = 1;
	return 0;
}

/* The first entry from `low` to `high` that ends at `t` or later. */
static size_t first_ending_from(const struct entry *entries, size_t low, size_t high, uint64_t t)
{
	return LODE_BISECT(i, low, high, entries[i].end < t);
}

/* ---- growing the graph ---- */

static int add_entry(struct lode_wait_graph *graph, size_t place)
{
	uint32_t number = graph->entries[place].number;

	if (LODE_APPEND(graph->queue, graph->queue_count, graph->queue_capacity, (uint32_t)place) < 0)
		return LODE_SYSTEM;
	graph->entries[place].next = (uint32_t)place + 1;
	graph->marks[number / 64] |= (uint64_t)1 << number % 64;
	return 0;
}

/* The first entry from `place` on that is not in the graph; `end` or beyond if there is none before it. */
static size_t next_outside(struct entry *entries, size_t place, size_t end)
{
	while (place < end && entries[place].next) {
		size_t next = entries[place].next;

		if (next < end && entries[next].next)
			entries[place].next = entries[next].next;
		place = next;
	}
	return place;
}

/* Lines 2 to 4: events of the symptom's thread that are completely in the symptom. */
static int add_own(struct lode_scope_index *index, const struct lode_symptom *symptom)
{
	struct lode_wait_graph *graph = index->graph;
	size_t group = index->groups[symptom->thread];
	const struct lode_events *events = index->stream->events;
	size_t runs = events[LODE_RUN].count;
	size_t place, end = group_start(index, group + 1);

	if (sort_group(index, group) < 0)
		return LODE_SYSTEM;
	place = first_ending_from(graph->entries, group_start(index, group), end, symptom->t0);
	for (; place < end && graph->entries[place].end <= symptom->t1; place++) {
		uint32_t number = graph->entries[place].number;
		uint64_t t = number < runs ? events[LODE_RUN].t[number] : events[LODE_WAIT].t[number - runs];

		if (t >= symptom->t0 && add_entry(graph, place) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

/* Lines 9 to 13: events of the waker, if a thread is behind the waking, that end while `wait` waited. */
static int add_wakers(struct lode_scope_index *index, uint32_t wait, uint64_t *edges)
{
	const struct lode_events *waits = &index->stream->events[LODE_WAIT];
	struct lode_wait_graph *graph = index->graph;
	uint64_t wait_end = lode_event_end(waits, wait);
	size_t group, low, high, end;

	if (waits->waker[wait] == LODE_NONE || lode_wake_ends_chain(index, wait))
		return 0;
	group = index->groups[waits->waker[wait]];
	if (sort_group(index, group) < 0)
		return LODE_SYSTEM;
	end = group_start(index, group + 1);
	low = first_ending_from(graph->entries, group_start(index, group), end, waits->t[wait]);
	high = wait_end == UINT64_MAX ? end : first_ending_from(graph->entries, low, end, wait_end + 1);
	*edges += high - low;
	for (size_t place = next_outside(graph->entries, low, high); place < high;
	     place = next_outside(graph->entries, place + 1, high))
		if (add_entry(graph, place) < 0)
			return LODE_SYSTEM;
	return 0;
}

/* The queue is both what is in the graph and, behind `i`, what is still to be looked at. */
static int grow_graph(struct lode_scope_index *index, uint64_t *edges)
{
	struct lode_wait_graph *graph = index->graph;
	size_t runs = index->stream->events[LODE_RUN].count;

	for (size_t i = 0; i < graph->queue_count; i++) {
		uint32_t number = graph->entries[graph->queue[i]].number;

		if (number >= runs && add_wakers(index, (uint32_t)(number - runs), edges) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

/* ---- the result ---- */

static int add_part(const struct lode_scope_index *index, size_t number, struct lode_parts *parts)
{
	size_t runs = index->stream->events[LODE_RUN].count;
	enum lode_event_type type = number < runs ? LODE_RUN : LODE_WAIT;
	uint32_t event = (uint32_t)(number < runs ? number : number - runs);
	const struct lode_events *events = &index->stream->events[type];

	return lode_parts_add(parts, type, event, events->t[event], events->cost[event]);
}

static int add_parts(const struct lode_scope_index *index, struct lode_parts *parts)
{
	const struct lode_wait_graph *graph = index->graph;

	if (LODE_GROW(parts->items, parts->capacity, parts->count + graph->queue_count) < 0)
		return LODE_SYSTEM;
	for (size_t word = 0; word < graph->mark_words; word++)
		for (uint64_t bits = graph->marks[word]; bits; bits &= bits - 1)
			if (add_part(index, word * 64 + (size_t)__builtin_ctzll(bits), parts) < 0)
				return LODE_SYSTEM;
	return 0;
}

static void unmark(struct lode_wait_graph *graph)
{
	for (size_t i = 0; i < graph->queue_count; i++) {
		struct entry *entry = &graph->entries[graph->queue[i]];

		entry->next = 0;
		graph->marks[entry->number / 64] = 0;
	}
	graph->queue_count = 0;
}

int lode_wait_graph_add(struct lode_scope_index *index, const struct lode_symptom *symptom,
			struct lode_parts *parts, uint64_t *edges, struct lode_error *error)
{
	int code = make(index, error);

	*edges = 0;
	if (code < 0)
		return code;
	if (add_own(index, symptom) < 0 || grow_graph(index, edges) < 0 || add_parts(index, parts) < 0)
		code = lode_fail_memory(error);
	unmark(index->graph);
	return code;
}
