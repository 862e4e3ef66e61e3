/*
 * Tables of what analyses found: see analysis_tables.h.
 *
 * The analysis runs when a statement first asks for one of its tables, as `lode mine --json` and the like would,
 * and its JSON becomes rows in memory. So a table has what the command shows, whatever that comes to
 * be. Stacks become numbers of the query's dictionary, so that they can be joined with others.
 */
#include "query/analysis_tables.h"

#include "base/json_read.h"
#include "query/list_table.h"

#include <string.h>

struct cell {
	int64_t number;
	double real;
	const char *text; /* NULL: it is a number */
	uint8_t type;     /* enum lode_query_type */
};

enum { PATTERNS, CLUSTERS, SIGNATURES, CRITICAL_PATH, RESULTS };

struct result {
	LODE_ARRAY(struct cell) cells; /* row by row */
	size_t columns;
	int is_made;
};

struct lode_query_results {
	struct result results[RESULTS];
	struct lode_arena arena;
};

void lode_query_results_free(struct lode_query_results *results)
{
	if (!results)
		return;
	for (size_t i = 0; i < RESULTS; i++)
		lode_free(results->results[i].cells.items);
	lode_arena_release(&results->arena);
	lode_free(results);
}

/* ---- cells ---- */

struct reading {
	struct lode_query_data *data;
	struct lode_query_results *results;
	struct lode_buffer text; /* scratch */
};

static void put_null(struct result *result)
{
	LODE_PUSH(&result->cells, (struct cell){ .type = LODE_QUERY_NULL });
}

static void put_number(struct result *result, uint64_t number)
{
	LODE_PUSH(&result->cells, (struct cell){ .type = LODE_QUERY_INTEGER, .number = lode_query_number(number) });
}

static void put_scratch(struct reading *reading, struct result *result)
{
	const char *text = lode_arena_text(&reading->results->arena, reading->text.size ? reading->text.bytes : "",
					   reading->text.size);

	result->cells.failed |= !text || reading->text.failed;
	LODE_PUSH(&result->cells, (struct cell){ .type = LODE_QUERY_TEXT, .text = text });
	lode_buffer_clear(&reading->text);
}

/* Any plain value. */
static void put_value(struct reading *reading, struct result *result, struct lode_json_value value)
{
	switch (lode_json_kind(value)) {
	case LODE_JSON_TRUE:
	case LODE_JSON_FALSE:
		put_number(result, lode_json_kind(value) == LODE_JSON_TRUE);
		break;
	case LODE_JSON_TEXT:
		lode_json_text_to(value, &reading->text);
		put_scratch(reading, result);
		break;
	case LODE_JSON_NUMBER:
		if (lode_json_u64_or(value, UINT64_MAX) != UINT64_MAX)
			put_number(result, lode_json_u64_or(value, 0));
		else
			LODE_PUSH(&result->cells,
				  (struct cell){ .type = LODE_QUERY_REAL, .real = lode_json_double_or(value, 0) });
		break;
	default:
		put_null(result);
	}
}

static void put_members(struct reading *reading, struct result *result, struct lode_json_value object,
			const char *const *keys)
{
	for (; *keys; keys++)
		put_value(reading, result, lode_json_get(object, *keys));
}

/* Texts of an array, joined by `;`. */
static void put_joined(struct reading *reading, struct result *result, struct lode_json_value array)
{
	struct lode_json_walk walk = lode_json_walk(array);
	struct lode_json_value item;
	int more = 0;

	while (lode_json_item(&walk, &item)) {
		if (more++)
			lode_buffer_byte(&reading->text, ';');
		lode_json_text_to(item, &reading->text);
	}
	put_scratch(reading, result);
}

/* The number of a stack that is written as its frames. */
static void put_stack(struct reading *reading, struct result *result, struct lode_json_value array)
{
	struct lode_dictionary *dictionary = &reading->data->dictionary;
	struct lode_json_walk walk = lode_json_walk(array);
	struct lode_json_value item;
	uint32_t stack = 0;

	while (stack != LODE_NONE && lode_json_item(&walk, &item)) {
		lode_json_text_to(item, &reading->text);
		stack = lode_stack_tree_child(&dictionary->tree, stack,
					      lode_frames_parse(&dictionary->frames,
								reading->text.size ? reading->text.bytes : "",
								reading->text.size));
		lode_buffer_clear(&reading->text);
	}
	result->cells.failed |= stack == LODE_NONE;
	put_number(result, stack);
}

/* ---- the results ---- */

static void put_stream(struct reading *reading, struct result *result, struct lode_json_value id)
{
	const struct lode_query_data *data = reading->data;

	for (size_t i = 0; i < data->stream_count; i++) {
		if (!lode_json_is_text(id, data->streams[i].entry->id))
			continue;
		put_number(result, i);
		return;
	}
	put_null(result);
}

/* The cluster that has a pattern. */
static void put_cluster(struct reading *reading, struct result *result, struct lode_json_value clusters,
			struct lode_json_value pattern)
{
	struct lode_json_walk walk = lode_json_walk(clusters);
	struct lode_json_value cluster, id;

	lode_json_text_to(pattern, &reading->text);
	lode_buffer_byte(&reading->text, '\0');
	while (!reading->text.failed && lode_json_item(&walk, &cluster)) {
		struct lode_json_walk inner = lode_json_walk(lode_json_get(cluster, "patterns"));

		while (lode_json_item(&inner, &id)) {
			if (!lode_json_is_text(id, reading->text.bytes))
				continue;
			lode_buffer_clear(&reading->text);
			put_value(reading, result, lode_json_get(cluster, "id"));
			return;
		}
	}
	lode_buffer_clear(&reading->text);
	put_null(result);
}

static void read_mined(struct reading *reading, struct lode_json_value root)
{
	static const char *const sums[] = { "cost_ns", "events", "streams", "average_ns", NULL };
	struct result *patterns = &reading->results->results[PATTERNS];
	struct result *clusters = &reading->results->results[CLUSTERS];
	struct lode_json_value all = lode_json_get(root, "clusters"), item;
	struct lode_json_walk walk = lode_json_walk(lode_json_get(root, "patterns"));

	while (lode_json_item(&walk, &item)) {
		put_value(reading, patterns, lode_json_get(item, "id"));
		put_cluster(reading, patterns, all, lode_json_get(item, "id"));
		put_members(reading, patterns, item, sums);
		put_joined(reading, patterns, lode_json_get(item, "frames"));
	}
	walk = lode_json_walk(all);
	while (lode_json_item(&walk, &item)) {
		put_value(reading, clusters, lode_json_get(item, "id"));
		put_members(reading, clusters, item, sums);
		put_value(reading, clusters, lode_json_get(item, "share"));
		put_joined(reading, clusters, lode_json_get(item, "common"));
	}
}

static void read_signatures(struct reading *reading, struct lode_json_value root)
{
	static const char *const keys[] = { "name",    "state",  "bug",     "kind",       "since", "made",
					    "streams", "events", "cost_ns", "regression", NULL };
	struct lode_json_walk walk = lode_json_walk(lode_json_get(root, "signatures"));
	struct result *signatures = &reading->results->results[SIGNATURES];
	struct lode_json_value item;

	while (lode_json_item(&walk, &item)) {
		put_members(reading, signatures, item, keys);
		put_joined(reading, signatures, lode_json_get(item, "notes"));
	}
}

/* One symptom and its path. */
static void read_path(struct reading *reading, struct lode_json_value symptom)
{
	static const char *const symptom_keys[] = { "name", "t0", "t1", NULL };
	static const char *const step_keys[] = { "type", "tid", "t", "cost_ns", NULL };
	static const char *const more_keys[] = { "waker", "object", "context", NULL };
	struct result *result = &reading->results->results[CRITICAL_PATH];
	struct lode_json_walk walk = lode_json_walk(lode_json_get(symptom, "path"));
	struct lode_json_value item;
	uint64_t step = 0;

	while (lode_json_item(&walk, &item)) {
		put_stream(reading, result, lode_json_get(symptom, "id"));
		put_members(reading, result, symptom, symptom_keys);
		put_number(result, step++);
		put_members(reading, result, item, step_keys);
		put_stack(reading, result, lode_json_get(item, "stack"));
		put_members(reading, result, item, more_keys);
	}
}

/* Documents, one a line; `lode scope` writes one for each symptom. */
static int read_lines(struct reading *reading, const char *name, const struct lode_buffer *json,
		      void (*read)(struct reading *reading, struct lode_json_value root), struct lode_error *error)
{
	const char *at = json->bytes, *end = at ? at + json->size : NULL;
	int code = 0;

	while (!code && at < end) {
		const char *line = memchr(at, '\n', (size_t)(end - at));
		size_t length = line ? (size_t)(line - at) : (size_t)(end - at);
		struct lode_json_value root;

		if (length)
			code = lode_json_check(name, at, length, &root, error);
		if (length && !code)
			read(reading, root);
		at += length + 1;
	}
	return code;
}

/* ---- asking for them ---- */

static const struct {
	const char *analysis;
	void (*read)(struct reading *reading, struct lode_json_value root);
} makers[RESULTS] = {
	[PATTERNS] = { "mine", read_mined },
	[CLUSTERS] = { "mine", read_mined },
	[SIGNATURES] = { "signatures", read_signatures },
	[CRITICAL_PATH] = { "scope", read_path },
};

/* An analysis ends when the statement must: it asks whenever it tells how far it is. */
static int report_progress(void *context, const char *phase, const char *unit, uint64_t done, uint64_t total)
{
	return lode_query_report(context, phase, unit, done, total);
}

static int make_result(struct lode_query_data *data, int which)
{
	struct reading reading = { .data = data, .results = data->results };
	const struct lode_query_analyses *analyses = &data->options.analyses;
	const struct lode_progress progress = { report_progress, data };
	struct lode_buffer json = { 0 };
	int code = 0;

	if (analyses->make)
		code = analyses->make(analyses->context, makers[which].analysis, &progress, &json, &data->error);
	if (!code && json.failed)
		code = lode_fail_memory(&data->error);
	if (!code)
		code = read_lines(&reading, makers[which].analysis, &json, makers[which].read, &data->error);
	for (size_t i = 0; !code && i < RESULTS; i++) {
		if (data->results->results[i].cells.failed)
			code = lode_fail_memory(&data->error);
		if (!strcmp(makers[i].analysis, makers[which].analysis))
			data->results->results[i].is_made = 1;
	}
	lode_buffer_release(&json);
	lode_buffer_release(&reading.text);
	return data->code = code;
}

static int count_result(struct lode_query_data *data, int which, const char *table, int64_t *count)
{
	struct result *result;

	if (!data->results && !(data->results = lode_calloc(1, sizeof(*data->results))))
		return lode_query_no_memory(data);
	result = &data->results->results[which];
	if (!result->is_made && make_result(data, which))
		return data->code;
	if (lode_query_must_stop(data))
		return LODE_USAGE;
	for (result->columns = 0; lode_query_columns(table)[result->columns].name;)
		result->columns++;
	*count = (int64_t)(result->cells.count / result->columns);
	return 0;
}

static void give_cell(struct lode_query_data *data, int which, sqlite3_context *context, int64_t row, int column)
{
	const struct result *result = &data->results->results[which];
	const struct cell *cell = &result->cells.items[(size_t)row * result->columns + (size_t)column];

	if (cell->type == LODE_QUERY_TEXT)
		sqlite3_result_text(context, cell->text, -1, SQLITE_STATIC);
	else if (cell->type == LODE_QUERY_INTEGER)
		sqlite3_result_int64(context, cell->number);
	else if (cell->type == LODE_QUERY_REAL)
		sqlite3_result_double(context, cell->real);
}

#define RESULT_TABLE(table, which)                                                                                \
	static int count_##table(struct lode_query_data *data, int64_t *count)                                    \
	{                                                                                                         \
		return count_result(data, which, #table, count);                                                  \
	}                                                                                                         \
	static void give_##table(struct lode_query_data *data, sqlite3_context *context, int64_t row, int column) \
	{                                                                                                         \
		give_cell(data, which, context, row, column);                                                     \
	}                                                                                                         \
	const struct lode_query_list lode_query_##table##_list = { .name = #table,                                \
								   .key = -1,                                     \
								   .count = count_##table,                        \
								   .give = give_##table,                          \
								   .rows = 1000 };

RESULT_TABLE(patterns, PATTERNS)
RESULT_TABLE(clusters, CLUSTERS)
RESULT_TABLE(signatures, SIGNATURES)
RESULT_TABLE(critical_path, CRITICAL_PATH)
