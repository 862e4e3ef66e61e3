/* Latencies in the making: see latency_merge.h. */
#include "latency/latency_merge.h"

#include "base/sort_rows.h"

#include <string.h>

int lode_latency_merge_init(struct lode_latency_merge *merge)
{
	return lode_dictionary_init(&merge->latency.dictionary);
}

void lode_latency_release(struct lode_latency *latency)
{
	lode_free(latency->streams);
	lode_free(latency->nodes);
	lode_free(latency->own);
	lode_free(latency->rows);
	lode_unread_streams_release(&latency->unread);
	lode_sketch_release(&latency->sketch);
	lode_dictionary_release(&latency->dictionary);
	memset(latency, 0, sizeof(*latency));
}

void lode_latency_merge_release(struct lode_latency_merge *merge)
{
	lode_merged_sums_release(&merge->sums);
	lode_latency_release(&merge->latency);
}

/* By node of the tree as it is now. */
static int grow_own(struct lode_latency_merge *merge)
{
	struct lode_latency *latency = &merge->latency;
	size_t count = latency->dictionary.tree.count;

	if (LODE_GROW(latency->own, merge->own_capacity, count) < 0)
		return LODE_SYSTEM;
	memset(latency->own + latency->node_count, 0, (count - latency->node_count) * sizeof(*latency->own));
	latency->node_count = count;
	return 0;
}

static void add_counts(struct lode_latency *to, const struct lode_instances_input *input, uint64_t placed,
		       uint64_t unplaced)
{
	to->input.events += input->events;
	to->input.no_stack += input->no_stack;
	to->input.idle += input->idle;
	to->input.threads += input->threads;
	to->placed += placed;
	to->unplaced += unplaced;
}

static int add_stream(struct lode_latency_merge *merge, const char *id, uint32_t name)
{
	struct lode_latency *latency = &merge->latency;
	struct lode_latency_stream stream = { .name = name };

	memcpy(stream.id, id, sizeof(stream.id));
	return LODE_APPEND(latency->streams, latency->stream_count, merge->stream_capacity, stream);
}

/* ---- one stream ---- */

/* What a chain takes itself is its last node's. */
static int merge_own(struct lode_latency_merge *merge, const struct lode_latency_partial *partial,
		     const uint32_t *nodes)
{
	struct lode_latency *latency = &merge->latency;
	size_t count = partial->chains.count;

	if (grow_own(merge) < 0 ||
	    (!merge->sums_only && LODE_GROW(latency->rows, merge->row_capacity, latency->row_count + count) < 0))
		return LODE_SYSTEM;
	for (size_t i = 1; i < count; i++) {
		uint32_t node = nodes[partial->chains.ends[i]];

		if (!partial->nodes[i].count || (!partial->own[i] && !partial->slept[i] && !partial->queued[i]))
			continue; /* many are only on the way to others */
		latency->own[node] = lode_add_saturating(latency->own[node], partial->own[i]);
		if (merge->sums_only)
			continue;
		latency->rows[latency->row_count++] =
			(struct lode_latency_row){ node, (uint32_t)latency->stream_count, partial->own[i],
						   partial->slept[i], partial->queued[i] };
	}
	for (size_t i = 1; i < partial->dictionary.tree.count; i++)
		latency->instances += partial->nodes[partial->chains.of[i]].count;
	return lode_merged_sums_add(&merge->sums, partial, nodes, latency->node_count);
}

int lode_latency_merge_stream(struct lode_latency_merge *merge, const struct lode_latency_partial *partial,
			      const struct lode_corpus_entry *entry)
{
	struct lode_dictionary_map map = { 0 };
	int code;

	if (partial->unread)
		return lode_unread_streams_add(&merge->latency.unread,
					       &(struct lode_unread_stream){ entry->id, entry->name,
									     partial->reason, partial->unread });
	if (!partial->wanted)
		return 0;
	code = lode_dictionary_merge(&merge->latency.dictionary, &partial->dictionary, &map);
	if (!code)
		code = merge_own(merge, partial, map.nodes);
	if (!code)
		code = add_stream(merge, entry->id, map.strings[partial->stream.name]);
	if (!code)
		add_counts(&merge->latency, &partial->input, partial->lost.placed, partial->lost.unplaced);
	lode_dictionary_map_release(&map);
	return code;
}

/* ---- several ---- */

static int join_rows(struct lode_latency_merge *merge, const struct lode_latency *from, const uint32_t *nodes)
{
	struct lode_latency *latency = &merge->latency;

	if (grow_own(merge) < 0 ||
	    LODE_GROW(latency->rows, merge->row_capacity, latency->row_count + from->row_count) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < from->node_count; i++)
		latency->own[nodes[i]] = lode_add_saturating(latency->own[nodes[i]], from->own[i]);
	for (size_t i = 0; i < from->row_count; i++) {
		struct lode_latency_row *row = &latency->rows[latency->row_count++];

		*row = from->rows[i];
		row->node = nodes[row->node];
		row->stream += (uint32_t)latency->stream_count;
	}
	latency->instances += from->instances;
	return 0;
}

int lode_latency_merge_join(struct lode_latency_merge *merge, const struct lode_latency_merge *other)
{
	const struct lode_latency *from = &other->latency;
	struct lode_dictionary_map map = { 0 };
	int code = lode_dictionary_merge(&merge->latency.dictionary, &from->dictionary, &map);

	if (!code)
		code = join_rows(merge, from, map.nodes);
	if (!code)
		code = lode_merged_sums_join(&merge->sums, &other->sums, map.nodes, merge->latency.node_count);
	for (size_t i = 0; i < from->stream_count && !code; i++)
		code = add_stream(merge, from->streams[i].id, map.strings[from->streams[i].name]);
	if (!code)
		code = lode_unread_streams_join(&merge->latency.unread, &from->unread);
	if (!code)
		add_counts(&merge->latency, &from->input, from->placed, from->unplaced);
	lode_dictionary_map_release(&map);
	return code;
}

/* ---- the whole ---- */

/* Rows are sorted by stream; those of one node keep that order. */
static int sort_rows(struct lode_latency *latency)
{
	_Static_assert(offsetof(struct lode_latency_row, node) == 0, "rows begin with what they are sorted by");
	size_t run = lode_sort_rows_run(sizeof(*latency->rows));

	return lode_sort_rows(&latency->rows, latency->row_count, sizeof(*latency->rows), latency->node_count, run);
}

int lode_latency_merge_finish(struct lode_latency_merge *merge, struct lode_latency *latency)
{
	if (grow_own(merge) < 0 || sort_rows(&merge->latency) < 0 ||
	    lode_merged_sums_finish(&merge->sums, merge->latency.node_count, &merge->latency.nodes,
				    &merge->latency.sketch) < 0)
		return LODE_SYSTEM;
	*latency = merge->latency;
	memset(&merge->latency, 0, sizeof(merge->latency));
	return 0;
}
