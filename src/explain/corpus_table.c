/*
 * A corpus as a table: see corpus_table.h.
 *
 * The first columns are x, then comes y, then what the streams did
 * (corpus_features.c). They are identified by number, not by name, because a function
 * can have the same name as an attribute.
 */
#include "explain/corpus_columns.h"

#include "explain/table/table_value.h"

#include <math.h>
#include <string.h>

/* Fewer streams, or symptoms, explain nothing. */
#define MIN_STREAMS 4

static const char *corpus_name(const struct lode_corpus_making *making)
{
	return lode_corpus_path(making->corpus);
}

/* ---- attributes ---- */

static const char *text_of(const struct lode_corpus_making *making, uint32_t string)
{
	return lode_strings_get(&making->area->dictionary.frames.strings, string);
}

static const struct lode_attribute *attribute_of(const struct lode_area_stream *stream, uint32_t key)
{
	for (size_t i = 0; i < stream->attribute_count; i++)
		if (stream->attributes[i].key == key)
			return &stream->attributes[i];
	return NULL;
}

static int anybody_has(const struct lode_area *area, uint32_t key)
{
	for (size_t i = 0; key != LODE_NONE && i < area->stream_count; i++)
		if (attribute_of(&area->streams[i], key))
			return 1;
	return 0;
}

/* The names of all attributes, in order of first appearance. */
static void list_attributes(const struct lode_corpus_making *making, struct lode_buffer *names)
{
	const struct lode_area *area = making->area;
	uint8_t *seen = lode_calloc(area->dictionary.frames.strings.count, 1);

	names->failed |= !seen;
	for (size_t i = 0; seen && i < area->stream_count; i++)
		for (size_t k = 0; k < area->streams[i].attribute_count; k++) {
			uint32_t key = area->streams[i].attributes[k].key;

			if (!seen[key])
				lode_buffer_print(names, "%s%s", names->size ? ", " : "", text_of(making, key));
			seen[key] = 1;
		}
	lode_buffer_byte(names, '\0');
	lode_free(seen);
}

static int fail_no_attribute(const struct lode_corpus_making *making, const char *name, size_t length)
{
	struct lode_buffer names = { 0 };
	int code;

	list_attributes(making, &names);
	if (names.failed)
		code = lode_fail_memory(making->error);
	else if (names.size == 1)
		code = lode_fail(
			making->error, LODE_BAD_INPUT,
			"%s: no stream has an attribute; give them some with 'lode import --attr KEY=VALUE'",
			corpus_name(making));
	else
		code = lode_fail(making->error, LODE_BAD_INPUT,
				 "%s: no stream has an attribute '%.*s'; there are %.500s", corpus_name(making),
				 (int)(length < 200 ? length : 200), name, names.bytes);
	lode_buffer_release(&names);
	return code;
}

static int fail_no_number(const struct lode_corpus_making *making, const struct lode_area_stream *stream,
			  const struct lode_attribute *attribute)
{
	return lode_fail(
		making->error, LODE_BAD_INPUT,
		"%s: attribute '%.200s' of stream '%.200s' is '%.200s', which is not a number; name another one",
		corpus_name(making), text_of(making, attribute->key), text_of(making, stream->name),
		text_of(making, attribute->value));
}

static int fill_attribute(struct lode_corpus_making *making, struct lode_data_column *column, uint32_t key)
{
	for (size_t i = 0; i < making->area->stream_count; i++) {
		const struct lode_area_stream *stream = &making->area->streams[i];
		const struct lode_attribute *attribute = attribute_of(stream, key);
		const char *value = attribute ? text_of(making, attribute->value) : "";
		enum lode_table_value cell = lode_table_value_read(value, strlen(value), &column->numbers[i]);

		if (cell == LODE_VALUE_MISSING) {
			column->numbers[i] = NAN;
			column->missing++;
		} else if (cell != LODE_VALUE_BINARY && cell != LODE_VALUE_NUMBER) {
			return fail_no_number(making, stream, attribute);
		}
	}
	return 0;
}

/* Adds a column of an attribute's numbers; only x and y are in the table then. */
static int add_attribute(struct lode_corpus_making *making, const char *name, size_t length)
{
	const struct lode_strings *strings = &making->area->dictionary.frames.strings;
	uint32_t key = lode_strings_find(strings, name, length);
	struct lode_data_column *column;

	if (!anybody_has(making->area, key))
		return fail_no_attribute(making, name, length);
	if (lode_data_table_find(making->table, lode_strings_get(strings, key)) != LODE_NONE)
		return lode_fail(making->error, LODE_USAGE, "attribute '%.200s' is named twice among x and y",
				 lode_strings_get(strings, key));
	column = lode_corpus_column(making, name, length);
	return column ? fill_attribute(making, column, key) : LODE_SYSTEM;
}

/* When symptoms began, since the start of their streams: an x for rows that have no size. */
static int add_start(struct lode_corpus_making *making)
{
	const struct lode_area *area = making->area;
	struct lode_data_column *column = lode_corpus_column(making, "start_ns", 8);

	for (size_t i = 0; column && i < area->stream_count; i++) {
		const struct lode_area_stream *stream = &area->streams[i];

		column->numbers[i] =
			stream->symptom.t0 > stream->first_t ? (double)(stream->symptom.t0 - stream->first_t) : 0;
	}
	making->input->x[0] = 0;
	making->input->inputs = 1;
	return column ? 0 : LODE_SYSTEM;
}

static int add_inputs(struct lode_corpus_making *making)
{
	struct lode_explain_input *input = making->input;
	const char *x = making->options->x;

	if (!x)
		return add_start(making);
	while (*x) {
		size_t length = strcspn(x, ",");
		int code;

		if (input->inputs == LODE_MAX_INPUTS)
			return lode_fail(making->error, LODE_USAGE, "more than %d attributes for x; name fewer",
					 LODE_MAX_INPUTS);
		code = add_attribute(making, x, length);
		if (code < 0)
			return code;
		input->x[input->inputs] = input->inputs;
		input->inputs++;
		x += length + (x[length] == ',');
	}
	return input->inputs ? 0 : lode_fail(making->error, LODE_USAGE, "no attribute for x; name one");
}

/* ---- y ---- */

/* Scope `all` does not look at symptoms; then those that came with the streams count. */
static int has_symptoms(const struct lode_area *area)
{
	for (size_t i = 0; i < area->stream_count; i++)
		if (area->scope == LODE_SCOPE_ALL ? area->streams[i].own_symptoms : area->streams[i].symptoms)
			return 1;
	return 0;
}

static int add_delay(struct lode_corpus_making *making)
{
	const struct lode_area *area = making->area;
	struct lode_data_column *column;

	if (!has_symptoms(area))
		return lode_fail(making->error, LODE_BAD_INPUT,
				 "%s: no stream has a symptom, so there is no delay; look for one with "
				 "'--symptom', or name another y",
				 corpus_name(making));
	column = lode_corpus_column(making, "delay_ns", 8);
	for (size_t i = 0; column && i < area->stream_count; i++)
		column->numbers[i] = (double)(area->scope == LODE_SCOPE_ALL ? area->streams[i].own_delay
									    : area->streams[i].delay);
	return column ? 0 : LODE_SYSTEM;
}

/* What the catalogue knows of each stream; those of the area are in the same order there. */
static int add_from_catalogue(struct lode_corpus_making *making, const char *name,
			      uint64_t (*time)(const struct lode_corpus_entry *entry))
{
	const struct lode_area *area = making->area;
	struct lode_corpus_list list = { 0 };
	struct lode_data_column *column;
	size_t i = 0;
	int code = lode_corpus_streams(making->corpus, &list, making->error);

	if (code == 0) {
		column = lode_corpus_column(making, name, strlen(name));
		for (size_t k = 0; column && k < list.count && i < area->stream_count; k++)
			if (!strcmp(list.items[k].id, area->streams[i].id))
				column->numbers[i++] = (double)time(&list.items[k]);
		code = column ? 0 : LODE_SYSTEM;
	}
	lode_corpus_list_release(&list);
	return code;
}

static uint64_t run_of(const struct lode_corpus_entry *entry)
{
	return entry->cost[LODE_RUN];
}

static uint64_t wait_of(const struct lode_corpus_entry *entry)
{
	return entry->cost[LODE_WAIT];
}

static uint64_t span_of(const struct lode_corpus_entry *entry)
{
	return entry->last_t > entry->first_t ? entry->last_t - entry->first_t : 0;
}

static int add_y(struct lode_corpus_making *making)
{
	const char *y = making->options->y;

	making->input->y = (uint32_t)making->table->count;
	if (!y)
		y = has_symptoms(making->area) ? "delay" : "span";
	if (!strcmp(y, "delay"))
		return add_delay(making);
	if (making->options->by_symptom && (!strcmp(y, "run") || !strcmp(y, "wait") || !strcmp(y, "span")))
		return lode_fail(making->error, LODE_USAGE,
				 "'--y %s' is of whole streams, and each row is a symptom; use 'delay' or an "
				 "attribute",
				 y);
	if (!strcmp(y, "run"))
		return add_from_catalogue(making, "run_ns", run_of);
	if (!strcmp(y, "wait"))
		return add_from_catalogue(making, "wait_ns", wait_of);
	if (!strcmp(y, "span"))
		return add_from_catalogue(making, "span_ns", span_of);
	return add_attribute(making, y, strlen(y));
}

static int check_streams(const struct lode_corpus_making *making)
{
	size_t whole = 0;

	for (size_t row = 0; row < making->table->rows; row++) {
		size_t missing = 0;

		for (size_t i = 0; i < making->table->count; i++)
			missing += isnan(making->table->columns[i].numbers[row]) != 0;
		whole += !missing;
	}
	if (whole >= MIN_STREAMS)
		return 0;
	return lode_fail(making->error, LODE_BAD_INPUT,
			 "%s: %zu %s%s with both x and y; at least %d are needed to compare slow with fast",
			 corpus_name(making), whole, making->options->by_symptom ? "symptom" : "stream",
			 whole == 1 ? "" : "s", MIN_STREAMS);
}

/* ---- the whole ---- */

static int mark_auxiliary(struct lode_corpus_making *making)
{
	struct lode_explain_input *input = making->input;

	input->auxiliary = lode_calloc(making->table->count, 1);
	if (!input->auxiliary)
		return lode_fail_memory(making->error);
	for (size_t i = input->y + 1; i < making->table->count; i++)
		input->auxiliary[i] = 1;
	return 0;
}

static int make_table(struct lode_corpus_making *making)
{
	int code;

	if (!making->area->stream_count)
		return lode_fail(making->error, LODE_BAD_INPUT,
				 "%s: there is no stream in this corpus; import some, see 'lode help import'",
				 corpus_name(making));
	if (making->options->by_symptom && (making->options->features == LODE_FEATURES_LATENCY ||
					    making->options->features == LODE_FEATURES_STATES))
		return lode_fail(making->error, LODE_USAGE,
				 "latencies and states are those of whole streams, and each row is a symptom; use "
				 "other features");
	code = add_inputs(making);
	if (code == 0)
		code = add_y(making);
	if (code == 0)
		code = check_streams(making);
	if (code == 0)
		code = lode_corpus_features(making);
	return code < 0 ? code : mark_auxiliary(making);
}

/* What calls are counted in. */
static const char *counted(const struct lode_area *area)
{
	if (!area->rows[LODE_WAIT].events)
		return "samples";
	return area->rows[LODE_RUN].events ? "samples and waits" : "waits";
}

int lode_corpus_table_make(struct lode_corpus *corpus, const struct lode_area *area,
			   const struct lode_corpus_table_options *options, struct lode_data_table *table,
			   struct lode_explain_input *input, struct lode_error *error)
{
	struct lode_corpus_making making = { corpus, area, options, table, input, error, NULL, 0 };
	int code;

	memset(input, 0, sizeof(*input));
	input->table = table;
	input->name = lode_corpus_path(corpus);
	input->counts = options->features == LODE_FEATURES_CALLS;
	input->unit = input->counts ? counted(area) : "ns";
	lode_data_table_init(table, area->stream_count);
	code = make_table(&making);
	lode_free(making.features);
	if (code < 0)
		lode_data_table_release(table);
	return code;
}
