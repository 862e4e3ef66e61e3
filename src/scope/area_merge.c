/* An area in the making: see area_merge.h. */
#include "scope/area_merge.h"

#include <string.h>

int lode_area_merge_init(struct lode_area_merge *merge)
{
	if (lode_dictionary_init(&merge->area.dictionary) < 0)
		return LODE_SYSTEM;
	merge->area.occurrences = lode_calloc(1, sizeof(*merge->area.occurrences));
	if (!merge->area.occurrences)
		return LODE_SYSTEM;
	merge->node_capacity = merge->node_count = 1;
	return 0;
}

void lode_area_release(struct lode_area *area)
{
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++) {
		lode_area_rows_release(&area->rows[kind]);
		lode_area_rows_release(&area->idle[kind]);
	}
	lode_area_rows_release(&area->work);
	lode_chains_release(&area->chains);
	lode_free(area->streams);
	lode_free(area->occurrences);
	lode_unread_streams_release(&area->unread);
	lode_arena_release(&area->arena);
	lode_dictionary_release(&area->dictionary);
	memset(area, 0, sizeof(*area));
}

void lode_area_merge_release(struct lode_area_merge *merge)
{
	lode_area_release(&merge->area);
}

/* ---- sums ---- */

static int merge_rows(struct lode_area_rows *to, const struct lode_area_rows *from, const uint32_t *nodes,
		      uint32_t stream)
{
	uint32_t spread = (uint32_t)to->spread_count;

	if (LODE_GROW(to->items, to->capacity, to->count + from->count) < 0 ||
	    LODE_GROW(to->spreads, to->spread_capacity, to->spread_count + from->spread_count) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < from->count; i++) {
		struct lode_area_row *row = &to->items[to->count++];

		*row = from->items[i];
		row->stack = nodes[row->stack];
		row->stream += stream;
		row->spread += row->spread ? spread : 0;
	}
	if (from->spread_count)
		memcpy(to->spreads + to->spread_count, from->spreads, from->spread_count * sizeof(*to->spreads));
	to->spread_count += from->spread_count;
	to->cost = lode_add_saturating(to->cost, from->cost);
	to->events += from->events;
	return 0;
}

/* What a stream, or an area, has to add. */
struct sums {
	const struct lode_area_rows *rows; /* by kind, as those below but `work` */
	const struct lode_area_rows *idle;
	const struct lode_area_rows *work;
	const struct lode_chains *chains;
	const uint64_t *input_events;
	const uint64_t *recorded_events;
	const uint64_t *input_cost;
};

static int merge_sums(struct lode_area *area, const struct sums *from, const struct lode_dictionary_map *map)
{
	const uint32_t *nodes = map->nodes;
	uint32_t stream = (uint32_t)area->stream_count;

	for (int kind = 0; kind < LODE_AREA_KINDS; kind++) {
		area->input_events[kind] += from->input_events[kind];
		area->recorded_events[kind] += from->recorded_events[kind];
		area->input_cost[kind] = lode_add_saturating(area->input_cost[kind], from->input_cost[kind]);
		if (merge_rows(&area->rows[kind], &from->rows[kind], nodes, stream) < 0 ||
		    merge_rows(&area->idle[kind], &from->idle[kind], nodes, stream) < 0)
			return LODE_SYSTEM;
	}
	if (lode_chains_merge(&area->chains, from->chains, map, stream) < 0)
		return LODE_SYSTEM;
	return merge_rows(&area->work, from->work, nodes, stream);
}

static int merge_occurrences(struct lode_area_merge *merge, const uint64_t *occurrences, size_t count,
			     const uint32_t *nodes)
{
	struct lode_area *area = &merge->area;
	size_t total = area->dictionary.tree.count;

	if (LODE_GROW(area->occurrences, merge->node_capacity, total) < 0)
		return LODE_SYSTEM;
	for (; merge->node_count < total; merge->node_count++)
		area->occurrences[merge->node_count] = 0;
	for (size_t i = 0; i < count; i++)
		area->occurrences[nodes[i]] += occurrences[i];
	return 0;
}

/* ---- heads ---- */

/* Attributes by the area's strings, in its arena; NULL when memory has run out. */
static struct lode_attribute *merge_attributes(struct lode_area *area, const struct lode_attribute *from,
					       size_t count, const uint32_t *strings)
{
	struct lode_attribute *attributes = lode_arena_alloc(&area->arena, (count + 1) * sizeof(*attributes));

	for (size_t i = 0; attributes && i < count; i++) {
		attributes[i] = from[i];
		attributes[i].key = strings[attributes[i].key];
		attributes[i].value = strings[attributes[i].value];
	}
	return attributes;
}

static void set_account(struct lode_area_stream *head, const struct lode_area_account *account)
{
	head->unknown = account->unknown;
	head->running = account->running;
	head->waiting = account->waiting;
	head->idling = account->idling;
	head->ready = account->ready;
}

static int add_head(struct lode_area_merge *merge, const struct lode_area_stream *head)
{
	struct lode_area *area = &merge->area;

	return LODE_APPEND(area->streams, area->stream_count, merge->stream_capacity, *head);
}

/* One head for each symptom, which differ in what is the symptom's alone. */
static int add_heads(struct lode_area_merge *merge, const struct lode_area_partial *partial,
		     const struct lode_area_stream *head, const uint32_t *strings)
{
	for (uint64_t i = 0; i < partial->symptoms; i++) {
		struct lode_area_stream one = *head;

		one.symptom = partial->each[i];
		one.symptom.name = strings[one.symptom.name];
		one.symptoms = 1;
		one.delay = one.longest_delay = one.symptom.t1 - one.symptom.t0;
		set_account(&one, &partial->each_account[i]);
		if (add_head(merge, &one) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

/* The name of all symptoms that came with the stream, a string; 0: they have several, or none. */
static uint32_t common_name(const struct lode_stream *stream)
{
	for (size_t i = 1; i < stream->symptom_count; i++)
		if (stream->symptoms[i].name != stream->symptoms[0].name)
			return 0;
	return stream->symptom_count ? stream->symptoms[0].name : 0;
}

static int merge_head(struct lode_area_merge *merge, const struct lode_area_partial *partial,
		      const struct lode_corpus_entry *entry, int by_symptom, const uint32_t *strings)
{
	const struct lode_stream *stream = &partial->stream;
	struct lode_area_stream head = {
		.name = strings[stream->name],
		.host = strings[stream->host],
		.attributes = merge_attributes(&merge->area, stream->attributes, stream->attribute_count, strings),
		.attribute_count = stream->attribute_count,
		.first_t = entry->first_t,
		.symptoms = partial->symptoms,
		.delay = partial->delay,
		.longest_delay = partial->longest_delay,
		.own_symptoms = stream->symptom_count,
	};

	if (!head.attributes)
		return LODE_SYSTEM;
	set_account(&head, &partial->account);
	for (size_t i = 0; i < stream->symptom_count; i++)
		head.own_delay =
			lode_add_saturating(head.own_delay, stream->symptoms[i].t1 - stream->symptoms[i].t0);
	head.symptom.name = strings[common_name(stream)];
	memcpy(head.id, entry->id, sizeof(head.id));
	merge->wanted++;
	merge->without += !partial->symptoms && !partial->repeated;
	merge->repeated += partial->repeated;
	return by_symptom ? add_heads(merge, partial, &head, strings) : add_head(merge, &head);
}

/* ---- streams ---- */

static int merge_wanted(struct lode_area_merge *merge, const struct lode_area_partial *partial,
			const struct lode_corpus_entry *entry, int by_symptom,
			const struct lode_dictionary_map *map)
{
	struct sums sums = {
		partial->rows,       partial->idle,         &partial->work,
		&partial->chains,    partial->input_events, partial->recorded_events,
		partial->input_cost,
	};

	if (merge_sums(&merge->area, &sums, map) < 0)
		return LODE_SYSTEM;
	return merge_head(merge, partial, entry, by_symptom, map->strings);
}

int lode_area_merge_stream(struct lode_area_merge *merge, const struct lode_area_partial *partial,
			   const struct lode_corpus_entry *entry, int by_symptom)
{
	struct lode_dictionary_map map = { 0 };
	int code;

	if (partial->unread)
		return lode_unread_streams_add(&merge->area.unread,
					       &(struct lode_unread_stream){ entry->id, entry->name,
									     partial->reason, partial->unread });
	code = lode_dictionary_merge(&merge->area.dictionary, &partial->dictionary, &map);
	if (!code)
		code = merge_occurrences(merge, partial->occurrences, partial->dictionary.tree.count, map.nodes);
	if (!code && partial->wanted)
		code = merge_wanted(merge, partial, entry, by_symptom, &map);
	lode_dictionary_map_release(&map);
	return code;
}

static int join_heads(struct lode_area_merge *merge, const struct lode_area *from, const uint32_t *strings)
{
	for (size_t i = 0; i < from->stream_count; i++) {
		struct lode_area_stream head = from->streams[i];

		head.name = strings[head.name];
		head.host = strings[head.host];
		head.symptom.name = strings[head.symptom.name];
		head.attributes = merge_attributes(&merge->area, head.attributes, head.attribute_count, strings);
		if (!head.attributes || add_head(merge, &head) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

int lode_area_merge_join(struct lode_area_merge *merge, const struct lode_area_merge *other)
{
	const struct lode_area *from = &other->area;
	struct sums sums = { from->rows,      from->idle,         &from->work,
			     &from->chains,   from->input_events, from->recorded_events,
			     from->input_cost };
	struct lode_dictionary_map map = { 0 };
	int code = lode_dictionary_merge(&merge->area.dictionary, &from->dictionary, &map);

	if (!code)
		code = merge_occurrences(merge, from->occurrences, other->node_count, map.nodes);
	if (!code)
		code = merge_sums(&merge->area, &sums, &map);
	if (!code)
		code = join_heads(merge, from, map.strings);
	if (!code)
		code = lode_unread_streams_join(&merge->area.unread, &from->unread);
	merge->wanted += other->wanted;
	merge->without += other->without;
	merge->repeated += other->repeated;
	lode_dictionary_map_release(&map);
	return code;
}
