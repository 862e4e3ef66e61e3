/*
 * The area of interest of a corpus: see area.h.
 *
 * Streams are mapped in parallel (area_stream.c), each over a dictionary of its
 * own, and merged in the catalogue's order, whoever is ready first waiting for
 * its turn; so the numbers of frames and stacks, and with them everything that
 * follows, do not depend on threads. Memory: the merged dictionary and rows, and
 * for each thread one stream.
 */
#include "scope/area.h"

#include "base/parallel.h"
#include "base/units.h"
#include "scope/area_stream.h"

#include <pthread.h>
#include <string.h>

struct collection {
	const struct lode_area_plan *plan;
	const struct lode_corpus_list *list;
	struct lode_area *area;
	size_t stream_capacity;
	size_t node_capacity; /* of area->occurrences */
	size_t node_count;
	struct lode_error *error;
	int code;             /* of the first stream that failed */
	uint64_t events_done;
	uint64_t events_total;
	pthread_mutex_t lock;
	pthread_cond_t turn;
	size_t next;          /* the stream whose turn to be merged it is */
};

/* ---- the plan ---- */

static int parse_end(const char *text, uint64_t missing, uint64_t *t, struct lode_error *error)
{
	if (*text == '+')
		text++;
	if (!*text) {
		*t = missing;
		return 0;
	}
	return lode_duration_parse(text, t, error);
}

/* `A..B`, either may be missing; `+A..+B` counts from each stream's start. */
static int parse_time(struct lode_area_plan *plan, const char *text, struct lode_error *error)
{
	const char *dots = text ? strstr(text, "..") : NULL;
	char *from;
	int code;

	plan->to = UINT64_MAX;
	if (!text)
		return 0;
	if (!dots || (dots > text && dots[2] && (*text == '+') != (dots[2] == '+')))
		return lode_fail(error, LODE_USAGE,
				 "'%s' is no span of time; write '2s..5s' for times as they stand in the events, "
				 "'+2s..+5s' from the start of a stream",
				 text);
	from = lode_strndup(text, (size_t)(dots - text));
	if (!from)
		return lode_fail_memory(error);
	plan->relative = *text == '+' || dots[2] == '+';
	code = parse_end(from, 0, &plan->from, error);
	if (!code)
		code = parse_end(dots + 2, UINT64_MAX, &plan->to, error);
	lode_free(from);
	if (!code && plan->from > plan->to)
		return lode_fail(error, LODE_USAGE, "'%s' ends before it begins; put the earlier time first", text);
	return code;
}

static int parse_symptoms(struct lode_area_plan *plan, const char *const *texts, struct lode_error *error)
{
	size_t count = 0;

	while (texts && texts[count])
		count++;
	plan->rules = lode_calloc(count + 1, sizeof(*plan->rules));
	if (!plan->rules)
		return lode_fail_memory(error);
	for (; plan->rule_count < count; plan->rule_count++) {
		int code = lode_symptom_rule_parse(&plan->rules[plan->rule_count], texts[plan->rule_count], error);

		if (code)
			return code;
	}
	return 0;
}

static int check_where(const char *const *where, struct lode_error *error)
{
	for (; where && *where; where++)
		if (!strchr(*where, '=') || **where == '=')
			return lode_fail(error, LODE_USAGE,
					 "'%s' says nothing about an attribute; write 'version=4.2', "
					 "'host=web-*' or 'name=…'",
					 *where);
	return 0;
}

static enum lode_scope choose_scope(const struct lode_area_plan *plan, const struct lode_corpus_list *list)
{
	if (plan->options->scope != LODE_SCOPE_AUTO)
		return plan->options->scope;
	if (plan->rule_count)
		return LODE_SCOPE_CRITICAL_PATH;
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].symptoms)
			return LODE_SCOPE_CRITICAL_PATH;
	return LODE_SCOPE_ALL;
}

static int make_plan(struct lode_area_plan *plan, const struct lode_area_options *options,
		     const struct lode_corpus_list *list, struct lode_error *error)
{
	int code = check_where(options->where, error);

	plan->options = options;
	plan->kinds = options->kinds ? options->kinds : 1u << LODE_RUN | 1u << LODE_WAIT;
	if (!code)
		code = parse_time(plan, options->time, error);
	if (!code)
		code = parse_symptoms(plan, options->symptoms, error);
	if (code)
		return code;
	plan->scope = choose_scope(plan, list);
	if (plan->rule_count && plan->scope == LODE_SCOPE_ALL)
		return lode_fail(error, LODE_USAGE,
				 "a symptom says where to look, scope 'all' looks everywhere; leave out one of them");
	return 0;
}

static void release_plan(struct lode_area_plan *plan)
{
	for (size_t i = 0; i < plan->rule_count; i++)
		lode_symptom_rule_release(&plan->rules[i]);
	lode_free(plan->rules);
}

/* ---- merging ---- */

static int merge_rows(struct lode_area_rows *to, const struct lode_area_rows *from, const uint32_t *nodes,
		      uint32_t stream)
{
	if (lode_grow(&to->items, &to->capacity, to->count + from->count, sizeof(*to->items)) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < from->count; i++) {
		struct lode_area_row *row = &to->items[to->count++];

		*row = from->items[i];
		row->stack = nodes[row->stack];
		row->stream = stream;
	}
	to->cost = lode_add_saturating(to->cost, from->cost);
	to->events += from->events;
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

static int merge_head(struct collection *collection, const struct lode_area_partial *partial,
		      const struct lode_corpus_entry *entry, const uint32_t *strings)
{
	const struct lode_stream *stream = &partial->stream;
	struct lode_area *area = collection->area;
	struct lode_attribute *attributes =
		lode_arena_alloc(&area->arena, (stream->attribute_count + 1) * sizeof(*attributes));
	struct lode_area_stream *to;

	if (!attributes || lode_grow(&area->streams, &collection->stream_capacity, area->stream_count + 1,
				     sizeof(*area->streams)) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < stream->attribute_count; i++) {
		attributes[i] = stream->attributes[i];
		attributes[i].key = strings[attributes[i].key];
		attributes[i].value = strings[attributes[i].value];
	}
	to = &area->streams[area->stream_count++];
	*to = (struct lode_area_stream){
		.name = strings[stream->name],
		.host = strings[stream->host],
		.attributes = attributes,
		.attribute_count = stream->attribute_count,
		.first_t = entry->first_t,
		.symptoms = partial->symptoms,
		.delay = partial->delay,
		.longest_delay = partial->longest_delay,
		.unknown = partial->unknown,
	};
	memcpy(to->id, entry->id, sizeof(to->id));
	return 0;
}

static int merge_wanted(struct collection *collection, const struct lode_area_partial *partial,
			const struct lode_corpus_entry *entry, const struct lode_dictionary_map *map)
{
	struct lode_area *area = collection->area;
	uint32_t stream = (uint32_t)area->stream_count;

	for (int kind = 0; kind < LODE_AREA_KINDS; kind++) {
		area->input_events[kind] += partial->input_events[kind];
		area->input_cost[kind] = lode_add_saturating(area->input_cost[kind], partial->input_cost[kind]);
		if (merge_rows(&area->rows[kind], &partial->rows[kind], map->nodes, stream) < 0 ||
		    merge_rows(&area->idle[kind], &partial->idle[kind], map->nodes, stream) < 0)
			return LODE_SYSTEM;
	}
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

static int tell(struct collection *collection, const struct lode_corpus_entry *entry)
{
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		collection->events_done += entry->events[type];
	return lode_progress_tell(collection->plan->options->progress, "reading the corpus", "events",
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
	} else if (tell(collection, entry)) {
		collection->code = lode_fail(collection->error, LODE_SYSTEM, "stopped before all streams were read");
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

/* Rows stand by stream; a counting sort by stack keeps that order within each stack. */
static int sort_rows(struct lode_area_rows *rows, size_t nodes)
{
	size_t *starts = lode_calloc(nodes + 1, sizeof(*starts));
	struct lode_area_row *sorted = lode_calloc(rows->count + 1, sizeof(*sorted));

	if (!starts || !sorted) {
		lode_free(starts);
		lode_free(sorted);
		return LODE_SYSTEM;
	}
	for (size_t i = 0; i < rows->count; i++)
		starts[rows->items[i].stack + 1]++;
	for (size_t i = 0; i < nodes; i++)
		starts[i + 1] += starts[i];
	for (size_t i = 0; i < rows->count; i++)
		sorted[starts[rows->items[i].stack]++] = rows->items[i];
	lode_free(starts);
	lode_free(rows->items);
	rows->items = sorted;
	rows->capacity = rows->count + 1;
	return 0;
}

static int sort_all(struct lode_area *area)
{
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++)
		if (sort_rows(&area->rows[kind], area->dictionary.tree.count) < 0 ||
		    sort_rows(&area->idle[kind], area->dictionary.tree.count) < 0)
			return LODE_SYSTEM;
	return 0;
}

/* What was asked for and is not there. */
static int check_found(const struct lode_area *area, const struct lode_area_plan *plan, const char *corpus,
		       size_t streams, struct lode_error *error)
{
	const struct lode_area_options *options = plan->options;
	uint64_t symptoms = 0, without = 0;

	for (size_t i = 0; i < area->stream_count; i++) {
		symptoms += area->streams[i].symptoms;
		without += !area->streams[i].symptoms;
	}
	if (!streams)
		return 0;
	if (!area->stream_count)
		return lode_fail(error, LODE_USAGE,
				 "%s: no stream has '%s'; 'lode info %s' shows the attributes there are", corpus,
				 options->where[0], corpus);
	if (plan->scope == LODE_SCOPE_ALL)
		return 0;
	if (!symptoms && plan->rule_count)
		return lode_fail(error, LODE_USAGE,
				 "%s: no stream has the symptom '%s'; 'lode info %s' shows the threads there are",
				 corpus, plan->rules[0].text, corpus);
	if (!symptoms)
		return lode_fail(error, LODE_USAGE,
				 "%s: no stream has a symptom, and scope '%s' starts from one; give "
				 "'--symptom \"thread NAME\"', or use '--scope all'",
				 corpus, lode_scope_name(plan->scope));
	lode_notes_add(options->notes, without, "streams without a symptom add nothing to this scope", NULL);
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
	area->occurrences = lode_calloc(1, sizeof(*area->occurrences));
	if (!area->occurrences)
		return lode_fail_memory(error);
	collection.node_capacity = collection.node_count = 1;
	lode_parallel(plan->options->jobs, list->count, collect_stream, &collection);
	if (collection.code)
		return collection.code;
	if (sort_all(area) < 0)
		return lode_fail_memory(error);
	return check_found(area, plan, lode_corpus_path(corpus), list->count, error);
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
		code = make_plan(&plan, options, &list, error);
	if (!code)
		code = collect(corpus, &plan, &list, area, error);
	release_plan(&plan);
	lode_corpus_list_release(&list);
	if (code)
		lode_area_release(area);
	return code;
}

void lode_area_release(struct lode_area *area)
{
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++) {
		lode_free(area->rows[kind].items);
		lode_free(area->idle[kind].items);
	}
	lode_free(area->streams);
	lode_free(area->occurrences);
	lode_arena_release(&area->arena);
	lode_dictionary_release(&area->dictionary);
	memset(area, 0, sizeof(*area));
}
