/*
 * The area of interest of a corpus: see area.h.
 *
 * Streams are mapped in parallel (area_stream.c), each over a dictionary of its
 * own, and merged in the catalogue's order, those that are ready first waiting for
 * its turn; so the numbers of frames and stacks, and with them everything that
 * follows, do not depend on threads. Memory: the merged dictionary and rows, and
 * for each thread one stream.
 */
#include "scope/area.h"

#include "base/parallel.h"
#include "base/sort_rows.h"
#include "scope/area_stream.h"
#include "store/corpus_deal.h"

#include <pthread.h>
#include <string.h>

struct collection {
	const struct lode_area_plan *plan;
	const struct lode_corpus_list *list;
	struct lode_area *area;
	size_t stream_capacity;
	size_t node_capacity; /* of area->occurrences */
	size_t node_count;
	uint64_t wanted;   /* streams that --where leaves */
	uint64_t without;  /* of them those without a symptom */
	uint64_t repeated; /* symptoms that were there before */
	struct lode_error *error;
	int code; /* of the first stream that failed */
	uint64_t events_done;
	uint64_t events_total;
	pthread_mutex_t lock;
	pthread_cond_t turn;
	size_t next; /* the stream whose turn to be merged it is */
};

/* ---- merging ---- */

static int merge_rows(struct lode_area_rows *to, const struct lode_area_rows *from, const uint32_t *nodes,
		      uint32_t stream)
{
	if (lode_grow(&to->items, &to->capacity, to->count + from->count, sizeof(*to->items)) < 0 ||
	    lode_grow(&to->spreads, &to->spread_capacity, to->spread_count + from->spread_count,
		      sizeof(*to->spreads)) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < from->count; i++) {
		struct lode_area_row *row = &to->items[to->count++];

		*row = from->items[i];
		row->stack = nodes[row->stack];
		row->stream += stream;
		row->spread += row->spread ? (uint32_t)to->spread_count : 0;
	}
	if (from->spread_count)
		memcpy(to->spreads + to->spread_count, from->spreads, from->spread_count * sizeof(*to->spreads));
	to->spread_count += from->spread_count;
	to->cost = lode_add_saturating(to->cost, from->cost);
	to->events += from->events;
	to->variance += from->variance;
	return 0;
}

static int merge_occurrences(struct collection *collection, const struct lode_area_partial *partial,
			     const uint32_t *nodes)
{
	struct lode_area *area = collection->area;
	size_t count = area->dictionary.tree.count;

	if (lode_grow(&area->occurrences, &collection->node_capacity, count, sizeof(*area->occurrences)) < 0)
		return LODE_SYSTEM;
	for (; collection->node_count < count; collection->node_count++)
		area->occurrences[collection->node_count] = 0;
	for (size_t i = 0; i < partial->dictionary.tree.count; i++)
		area->occurrences[nodes[i]] += partial->occurrences[i];
	return 0;
}

/* The stream's attributes, by the area's strings; NULL when memory has run out. */
static struct lode_attribute *merge_attributes(struct lode_area *area, const struct lode_stream *stream,
					       const uint32_t *strings)
{
	struct lode_attribute *attributes =
		lode_arena_alloc(&area->arena, (stream->attribute_count + 1) * sizeof(*attributes));

	for (size_t i = 0; attributes && i < stream->attribute_count; i++) {
		attributes[i] = stream->attributes[i];
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
}

static int add_head(struct collection *collection, const struct lode_area_stream *head)
{
	struct lode_area *area = collection->area;

	if (lode_grow(&area->streams, &collection->stream_capacity, area->stream_count + 1,
		      sizeof(*area->streams)) < 0)
		return LODE_SYSTEM;
	area->streams[area->stream_count++] = *head;
	return 0;
}

/* One head for each symptom, which differ in what is the symptom's alone. */
static int add_heads(struct collection *collection, const struct lode_area_partial *partial,
		     const struct lode_area_stream *head, const uint32_t *strings)
{
	for (uint64_t i = 0; i < partial->symptoms; i++) {
		struct lode_area_stream one = *head;

		one.symptom = partial->each[i];
		one.symptom.name = strings[one.symptom.name];
		one.symptoms = 1;
		one.delay = one.longest_delay = one.symptom.t1 - one.symptom.t0;
		set_account(&one, &partial->each_account[i]);
		if (add_head(collection, &one) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

static int merge_head(struct collection *collection, const struct lode_area_partial *partial,
		      const struct lode_corpus_entry *entry, const uint32_t *strings)
{
	const struct lode_stream *stream = &partial->stream;
	struct lode_area_stream head = {
		.name = strings[stream->name],
		.host = strings[stream->host],
		.attributes = merge_attributes(collection->area, stream, strings),
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
	memcpy(head.id, entry->id, sizeof(head.id));
	collection->wanted++;
	collection->without += !partial->symptoms && !partial->repeated;
	collection->repeated += partial->repeated;
	return collection->plan->options->by_symptom ? add_heads(collection, partial, &head, strings)
						     : add_head(collection, &head);
}

static int merge_wanted(struct collection *collection, const struct lode_area_partial *partial,
			const struct lode_corpus_entry *entry, const struct lode_dictionary_map *map)
{
	struct lode_area *area = collection->area;
	uint32_t stream = (uint32_t)area->stream_count;

	for (int kind = 0; kind < LODE_AREA_KINDS; kind++) {
		area->input_events[kind] += partial->input_events[kind];
		area->recorded_events[kind] += partial->recorded_events[kind];
		area->input_cost[kind] = lode_add_saturating(area->input_cost[kind], partial->input_cost[kind]);
		if (merge_rows(&area->rows[kind], &partial->rows[kind], map->nodes, stream) < 0 ||
		    merge_rows(&area->idle[kind], &partial->idle[kind], map->nodes, stream) < 0)
			return LODE_SYSTEM;
	}
	if (merge_rows(&area->work, &partial->work, map->nodes, stream) < 0)
		return LODE_SYSTEM;
	return merge_head(collection, partial, entry, map->strings);
}

static int merge(struct collection *collection, const struct lode_area_partial *partial,
		 const struct lode_corpus_entry *entry)
{
	struct lode_dictionary_map map = { 0 };
	int code = lode_dictionary_merge(&collection->area->dictionary, &partial->dictionary, &map);

	if (!code)
		code = merge_occurrences(collection, partial, map.nodes);
	if (!code && partial->wanted)
		code = merge_wanted(collection, partial, entry, &map);
	lode_dictionary_map_release(&map);
	return code;
}

static int report_progress(struct collection *collection, const struct lode_corpus_entry *entry)
{
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		collection->events_done += entry->events[type];
	return lode_progress_report(collection->plan->options->progress, "reading the corpus", "events",
				    collection->events_done, collection->events_total);
}

/* Under the lock, in turn. */
static void take_turn(struct collection *collection, const struct lode_area_partial *partial,
		      const struct lode_corpus_entry *entry, int code, const struct lode_error *error)
{
	if (collection->code)
		return;
	if (code) {
		collection->code = code;
		if (collection->error)
			*collection->error = *error;
	} else if (merge(collection, partial, entry) < 0) {
		collection->code = lode_fail_memory(collection->error);
	} else if (report_progress(collection, entry)) {
		collection->code =
			lode_fail(collection->error, LODE_SYSTEM, "stopped before all streams were read");
	}
}

static int has_failed(struct collection *collection)
{
	int failed;

	pthread_mutex_lock(&collection->lock);
	failed = collection->code != 0;
	pthread_mutex_unlock(&collection->lock);
	return failed;
}

static void collect_stream(void *context, size_t i)
{
	struct collection *collection = context;
	const struct lode_corpus_entry *entry = &collection->list->items[i];
	struct lode_area_partial partial = { 0 };
	struct lode_error error = { "" };
	int code = 0;

	if (!has_failed(collection))
		code = lode_area_stream(collection->plan, entry, &partial, &error);
	pthread_mutex_lock(&collection->lock);
	while (collection->next != i)
		pthread_cond_wait(&collection->turn, &collection->lock);
	take_turn(collection, &partial, entry, code, &error);
	collection->next++;
	pthread_cond_broadcast(&collection->turn);
	pthread_mutex_unlock(&collection->lock);
	lode_area_partial_release(&partial);
}

/* ---- the whole ---- */

/* Rows are sorted by stream; those of one stack keep that order. */
static int sort_rows(struct lode_area_rows *rows, size_t nodes)
{
	_Static_assert(offsetof(struct lode_area_row, stack) == 0, "rows begin with what they are sorted by");
	size_t run = lode_sort_rows_run(sizeof(*rows->items));

	if (lode_sort_rows(&rows->items, rows->count, sizeof(*rows->items), nodes, run) < 0)
		return LODE_SYSTEM;
	rows->capacity = rows->count;
	return 0;
}

static int sort_all(struct lode_area *area)
{
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++)
		if (sort_rows(&area->rows[kind], area->dictionary.tree.count) < 0 ||
		    sort_rows(&area->idle[kind], area->dictionary.tree.count) < 0)
			return LODE_SYSTEM;
	return sort_rows(&area->work, area->dictionary.tree.count);
}

/* What was asked for and is not there. */
static int check_found(const struct collection *collection, const char *corpus, struct lode_error *error)
{
	const struct lode_area_plan *plan = collection->plan;
	const struct lode_area_options *options = plan->options;

	if (!collection->list->count)
		return 0;
	if (!collection->wanted)
		return lode_fail(error, LODE_USAGE,
				 "%s: no stream has '%s'; 'lode info %s' shows the attributes there are", corpus,
				 options->where[0], corpus);
	if (plan->scope == LODE_SCOPE_ALL)
		return 0;
	if (collection->without == collection->wanted && plan->rules.count)
		return lode_fail(error, LODE_USAGE,
				 "%s: no stream has the symptom '%s'; 'lode info %s' shows the threads there are",
				 corpus, plan->rules.items[0].text, corpus);
	if (collection->without == collection->wanted)
		return lode_fail(error, LODE_USAGE,
				 "%s: no stream has a symptom, and scope '%s' starts from one; give "
				 "'--symptom \"thread NAME\"', or use '--scope all'",
				 corpus, lode_scope_name(plan->scope));
	lode_notes_add(options->notes, collection->repeated,
		       "symptoms of the same thread and time as others, counted once", NULL);
	lode_notes_add(options->notes, collection->without, "streams without a symptom add nothing to this scope",
		       NULL);
	return 0;
}

static int collect(struct lode_corpus *corpus, const struct lode_area_plan *plan,
		   const struct lode_corpus_list *list, struct lode_area *area, struct lode_error *error)
{
	struct collection collection = {
		.plan = plan,
		.list = list,
		.area = area,
		.error = error,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.turn = PTHREAD_COND_INITIALIZER,
	};

	for (size_t i = 0; i < list->count; i++)
		for (int type = 0; type < LODE_EVENT_TYPES; type++)
			collection.events_total += list->items[i].events[type];
	area->scope = plan->scope;
	area->by_symptom = plan->options->by_symptom;
	area->occurrences = lode_calloc(1, sizeof(*area->occurrences));
	if (!area->occurrences)
		return lode_fail_memory(error);
	collection.node_capacity = collection.node_count = 1;
	lode_parallel(plan->options->jobs, list->count, collect_stream, &collection);
	if (collection.code)
		return collection.code;
	if (sort_all(area) < 0)
		return lode_fail_memory(error);
	return check_found(&collection, lode_corpus_title(corpus), error);
}

int lode_area_collect(struct lode_corpus *corpus, const struct lode_area_options *options, struct lode_area *area,
		      struct lode_error *error)
{
	struct lode_area_plan plan = { 0 };
	struct lode_corpus_list list = { 0 };
	int code;

	memset(area, 0, sizeof(*area));
	if (lode_dictionary_init(&area->dictionary) < 0)
		return lode_fail_memory(error);
	code = lode_corpus_streams(corpus, &list, error);
	if (!code)
		code = lode_area_plan_make(&plan, options, &list, error);
	if (!code)
		code = collect(corpus, &plan, &list, area, error);
	lode_area_plan_release(&plan);
	lode_corpus_list_release(&list);
	if (code)
		lode_area_release(area);
	return code;
}

/* ---- one process of several ---- */

struct keeping {
	const struct lode_area_plan *plan;
	const struct lode_corpus_list *list;
};

static void keep_stream(void *context, size_t i)
{
	const struct keeping *keeping = context;
	struct lode_area_partial partial = { 0 };
	struct lode_error error = { "" };

	lode_area_stream(keeping->plan, &keeping->list->items[i], &partial, &error);
	lode_area_partial_release(&partial);
}

int lode_area_keep(struct lode_corpus *corpus, const struct lode_area_options *options,
		   const struct lode_job_rank *rank, struct lode_error *error)
{
	struct lode_area_plan plan = { 0 };
	struct lode_corpus_list list = { 0 };
	int code = lode_corpus_streams(corpus, &list, error);

	if (!code)
		code = lode_area_plan_make(&plan, options, &list, error);
	if (!code &&
	    lode_corpus_deal(&list, rank, options->jobs, keep_stream, &(struct keeping){ &plan, &list }) < 0)
		code = lode_fail_memory(error);
	lode_area_plan_release(&plan);
	lode_corpus_list_release(&list);
	return code;
}

uint64_t lode_area_remove(struct lode_area *area, enum lode_event_type kind, const uint8_t *marked)
{
	struct lode_area_rows *rows = &area->rows[kind];
	uint64_t cost = 0;
	size_t left = 0;

	for (size_t i = 0; i < rows->count; i++) {
		const struct lode_area_row *row = &rows->items[i];

		if (!marked[row->stack]) {
			rows->items[left++] = *row;
			continue;
		}
		cost = lode_add_saturating(cost, row->cost);
		rows->events -= row->events;
	}
	rows->count = left;
	rows->cost = 0;
	for (size_t i = 0; i < left; i++)
		rows->cost = lode_add_saturating(rows->cost, rows->items[i].cost);
	return cost;
}

void lode_area_release(struct lode_area *area)
{
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++) {
		lode_area_rows_release(&area->rows[kind]);
		lode_area_rows_release(&area->idle[kind]);
	}
	lode_area_rows_release(&area->work);
	lode_free(area->streams);
	lode_free(area->occurrences);
	lode_arena_release(&area->arena);
	lode_dictionary_release(&area->dictionary);
	memset(area, 0, sizeof(*area));
}
