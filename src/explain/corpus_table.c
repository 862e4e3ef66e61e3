/*
 * A corpus as a table: see corpus_table.h.
 *
 * The first columns are x, then comes y, then what the streams did. They are known
 * by number, not by name: nobody keeps a function from being called like an
 * attribute.
 *
 * Often many columns tell streams apart equally well, and the tree takes the first:
 * all that stands in the stacks of slow code is more frequent in slow streams. So
 * first come those that slow streams have, then those that fast ones have instead,
 * then those that all have: "has it or not" says more than "more or less of it".
 * Those that fewer have stand before others, and callers before those they call, as
 * stacks are read from the root.
 */
#include "explain/corpus_table.h"

#include "explain/cell.h"
#include "mine/mine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fewer streams explain nothing. */
#define LEAST_STREAMS 4
/* More cells (2 GiB) are refused. */
#define MOST_CELLS ((size_t)1 << 28)

struct making {
	struct lode_corpus *corpus;
	const struct lode_area *area;
	const struct lode_corpus_table_options *options;
	struct lode_data_table *table;
	struct lode_explain_input *input;
	struct lode_error *error;
};

const char *lode_corpus_features_name(enum lode_corpus_features features)
{
	static const char *const names[] = { "calls", "patterns" };

	return names[features];
}

static const char *corpus_name(const struct making *making)
{
	return lode_corpus_path(making->corpus);
}

static struct lode_data_column *add_column(struct making *making, const char *name, size_t length)
{
	struct lode_data_column *column = lode_data_table_add(making->table, name, length, LODE_DATA_NUMBER);

	if (!column)
		lode_fail_memory(making->error);
	return column;
}

/* ---- attributes ---- */

static const char *text_of(const struct making *making, uint32_t string)
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
static void list_attributes(const struct making *making, struct lode_buffer *names)
{
	const struct lode_area *area = making->area;
	uint8_t *seen = lode_calloc(area->dictionary.frames.strings.count, 1);

	names->failed |= !seen;
	for (size_t i = 0; seen && i < area->stream_count; i++)
		for (size_t k = 0; k < area->streams[i].attribute_count; k++) {
			uint32_t key = area->streams[i].attributes[k].key;

			if (!seen[key])
				lode_buffer_print(names, "%s%s", names->size ? ", " : "",
						  text_of(making, key));
			seen[key] = 1;
		}
	lode_buffer_byte(names, '\0');
	lode_free(seen);
}

static int fail_no_attribute(const struct making *making, const char *name, size_t length)
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
				 "%s: no stream has an attribute '%.*s'; there are %.500s",
				 corpus_name(making), (int)(length < 200 ? length : 200), name, names.bytes);
	lode_buffer_release(&names);
	return code;
}

static int fail_no_number(const struct making *making, const struct lode_area_stream *stream,
			  const struct lode_attribute *attribute)
{
	return lode_fail(
		making->error, LODE_BAD_INPUT,
		"%s: attribute '%.200s' of stream '%.200s' is '%.200s', which is no number; name another one",
		corpus_name(making), text_of(making, attribute->key), text_of(making, stream->name),
		text_of(making, attribute->value));
}

static int fill_attribute(struct making *making, struct lode_data_column *column, uint32_t key)
{
	for (size_t i = 0; i < making->area->stream_count; i++) {
		const struct lode_area_stream *stream = &making->area->streams[i];
		const struct lode_attribute *attribute = attribute_of(stream, key);
		const char *value = attribute ? text_of(making, attribute->value) : "";
		enum lode_cell cell = lode_cell_read(value, strlen(value), &column->numbers[i]);

		if (cell == LODE_CELL_MISSING) {
			column->numbers[i] = NAN;
			column->missing++;
		} else if (cell != LODE_CELL_BINARY && cell != LODE_CELL_NUMBER) {
			return fail_no_number(making, stream, attribute);
		}
	}
	return 0;
}

/* Adds a column of an attribute's numbers; only x and y are in the table then. */
static int add_attribute(struct making *making, const char *name, size_t length)
{
	const struct lode_strings *strings = &making->area->dictionary.frames.strings;
	uint32_t key = lode_strings_find(strings, name, length);
	struct lode_data_column *column;

	if (!anybody_has(making->area, key))
		return fail_no_attribute(making, name, length);
	if (lode_data_table_find(making->table, lode_strings_get(strings, key)) != LODE_NONE)
		return lode_fail(making->error, LODE_USAGE, "attribute '%.200s' is named twice among x and y",
				 lode_strings_get(strings, key));
	column = add_column(making, name, length);
	return column ? fill_attribute(making, column, key) : LODE_SYSTEM;
}

static int add_inputs(struct making *making)
{
	struct lode_explain_input *input = making->input;
	const char *x = making->options->x;

	while (*x) {
		size_t length = strcspn(x, ",");
		int code;

		if (input->inputs == LODE_MOST_INPUTS)
			return lode_fail(making->error, LODE_USAGE,
					 "more than %d attributes for x; name fewer", LODE_MOST_INPUTS);
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

static int add_delay(struct making *making)
{
	const struct lode_area *area = making->area;
	struct lode_data_column *column;

	if (!has_symptoms(area))
		return lode_fail(making->error, LODE_BAD_INPUT,
				 "%s: no stream has a symptom, so there is no delay; look for one with "
				 "'--symptom', or name another y",
				 corpus_name(making));
	column = add_column(making, "delay_ns", 8);
	for (size_t i = 0; column && i < area->stream_count; i++)
		column->numbers[i] = (double)(area->scope == LODE_SCOPE_ALL ? area->streams[i].own_delay
									    : area->streams[i].delay);
	return column ? 0 : LODE_SYSTEM;
}

/* What the catalogue knows of each stream; those of the area stand there in the same order. */
static int add_from_catalogue(struct making *making, const char *name,
			      uint64_t (*time)(const struct lode_corpus_entry *entry))
{
	const struct lode_area *area = making->area;
	struct lode_corpus_list list = { 0 };
	struct lode_data_column *column;
	size_t i = 0;
	int code = lode_corpus_streams(making->corpus, &list, making->error);

	if (code == 0) {
		column = add_column(making, name, strlen(name));
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

static int add_y(struct making *making)
{
	const char *y = making->options->y;

	making->input->y = (uint32_t)making->table->count;
	if (!y)
		y = has_symptoms(making->area) ? "delay" : "span";
	if (!strcmp(y, "delay"))
		return add_delay(making);
	if (!strcmp(y, "run"))
		return add_from_catalogue(making, "run_ns", run_of);
	if (!strcmp(y, "wait"))
		return add_from_catalogue(making, "wait_ns", wait_of);
	if (!strcmp(y, "span"))
		return add_from_catalogue(making, "span_ns", span_of);
	return add_attribute(making, y, strlen(y));
}

static int check_streams(const struct making *making)
{
	size_t whole = 0;

	for (size_t row = 0; row < making->table->rows; row++) {
		size_t missing = 0;

		for (size_t i = 0; i < making->table->count; i++)
			missing += isnan(making->table->columns[i].numbers[row]) != 0;
		whole += !missing;
	}
	if (whole >= LEAST_STREAMS)
		return 0;
	return lode_fail(
		making->error, LODE_BAD_INPUT,
		"%s: %zu stream%s with both x and y; there must be %d at least to tell slow from fast",
		corpus_name(making), whole, whole == 1 ? "" : "s", LEAST_STREAMS);
}

/* ---- what the streams did ---- */

/* Adds a column of zeros. */
static int add_feature(struct making *making, const struct lode_buffer *name, uint32_t *number)
{
	struct lode_data_table *table = making->table;
	struct lode_data_column *column;

	if (name->failed)
		return lode_fail_memory(making->error);
	if (table->count >= MOST_CELLS / table->rows)
		return lode_fail(making->error, LODE_BAD_INPUT,
				 "%s: %zu streams times more than %zu functions take too much memory; narrow "
				 "it down with '--where' or '--match'",
				 corpus_name(making), table->rows, table->count);
	*number = (uint32_t)table->count;
	column = add_column(making, name->bytes, name->size);
	for (size_t row = 0; column && row < table->rows; row++)
		column->numbers[row] = 0;
	return column ? 0 : LODE_SYSTEM;
}

/* The distinct frames of one stack after the other, as columns. */
struct functions {
	uint32_t *column_of; /* by frame; 0: none yet */
	uint32_t *last_seen; /* by frame: the stack, by its turn, that had it last */
	uint32_t turn;
	uint32_t *path; /* frames of a stack */
	size_t path_capacity;
	uint32_t *columns; /* of its distinct frames */
	size_t column_capacity;
	size_t count;
	struct lode_buffer name;
};

static void release_functions(struct functions *functions)
{
	lode_free(functions->column_of);
	lode_free(functions->last_seen);
	lode_free(functions->path);
	lode_free(functions->columns);
	lode_buffer_release(&functions->name);
}

static int take_frame(struct making *making, struct functions *functions, uint32_t frame)
{
	uint32_t *column = &functions->column_of[frame];
	int code = 0;

	if (functions->last_seen[frame] == functions->turn)
		return 0;
	functions->last_seen[frame] = functions->turn;
	if (!*column) {
		lode_buffer_clear(&functions->name);
		lode_frames_text(&making->area->dictionary.frames, frame, &functions->name);
		code = add_feature(making, &functions->name, column);
	}
	functions->columns[functions->count++] = *column;
	return code;
}

static int take_stack(struct making *making, struct functions *functions, uint32_t stack)
{
	const struct lode_stack_tree *tree = &making->area->dictionary.tree;
	uint32_t depth = lode_stack_tree_depth(tree, stack);
	int code = 0;

	if (lode_grow(&functions->path, &functions->path_capacity, depth, sizeof(uint32_t)) < 0 ||
	    lode_grow(&functions->columns, &functions->column_capacity, depth, sizeof(uint32_t)) < 0)
		return lode_fail_memory(making->error);
	lode_stack_tree_frames(tree, stack, functions->path, depth);
	functions->turn++;
	functions->count = 0;
	for (uint32_t i = 0; code == 0 && i < depth; i++)
		code = take_frame(making, functions, functions->path[i]);
	return code;
}

/* Rows with the same stack stand together. */
static int count_calls(struct making *making, struct functions *functions, const struct lode_area_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct lode_area_row *row = &rows->items[i];

		if (!i || row[-1].stack != row->stack) {
			int code = take_stack(making, functions, row->stack);

			if (code < 0)
				return code;
		}
		for (size_t k = 0; k < functions->count; k++)
			making->table->columns[functions->columns[k]].numbers[row->stream] +=
				(double)row->events;
	}
	return 0;
}

static int add_calls(struct making *making)
{
	size_t frames = making->area->dictionary.frames.count;
	struct functions functions = {
		.column_of = lode_calloc(frames + 1, sizeof(uint32_t)),
		.last_seen = lode_calloc(frames + 1, sizeof(uint32_t)),
	};
	int code = 0;

	if (!functions.column_of || !functions.last_seen)
		code = lode_fail_memory(making->error);
	for (int kind = 0; code == 0 && kind < LODE_AREA_KINDS; kind++)
		code = count_calls(making, &functions, &making->area->rows[kind]);
	release_functions(&functions);
	return code;
}

/* A cluster is called after the last frame that its patterns share. */
static void name_cluster(const struct making *making, const struct lode_mined *mined, size_t i,
			 enum lode_event_type kind, struct lode_buffer *name)
{
	uint32_t pattern = mined->clusters.members[mined->clusters.items[i].first];
	uint32_t frame =
		lode_pattern_frames(&mined->patterns, pattern)[mined->patterns.items[pattern].length - 1];

	if (mined->common_length[i])
		frame = mined->common[i][mined->common_length[i] - 1];
	lode_frames_text(&making->area->dictionary.frames, frame, name);
	lode_buffer_print(name, " (%s %s)", lode_event_type_name(kind), mined->cluster_groups[i].id);
}

static int add_cluster(struct making *making, const struct lode_mined *mined, size_t i,
		       enum lode_event_type kind)
{
	const struct lode_shares *shares = &mined->cluster_groups[i].shares;
	struct lode_buffer name = { 0 };
	uint32_t column;
	int code;

	name_cluster(making, mined, i, kind, &name);
	code = add_feature(making, &name, &column);
	for (size_t k = 0; code == 0 && k < shares->count; k++)
		making->table->columns[column].numbers[shares->items[k].stream] =
			(double)shares->items[k].cost;
	lode_buffer_release(&name);
	return code;
}

static int add_patterns_of(struct making *making, enum lode_event_type kind)
{
	struct lode_mine_options how = {
		.kind = kind,
		.similarity = LODE_SIMILARITY,
		.jobs = making->options->jobs,
		.progress = making->options->progress,
	};
	struct lode_mined mined = { .timing = { 0 } };
	int code;

	if (!making->area->rows[kind].cost)
		return 0;
	code = lode_mine_threshold("1%", making->area->rows[kind].cost, &how.threshold, making->error);
	if (code == 0)
		code = lode_mine(making->area, &how, &mined, making->error);
	for (size_t i = 0; code == 0 && i < mined.clusters.count; i++)
		code = add_cluster(making, &mined, i, kind);
	lode_mined_release(&mined);
	return code;
}

static int add_patterns(struct making *making)
{
	int code = add_patterns_of(making, LODE_WAIT);

	return code < 0 ? code : add_patterns_of(making, LODE_RUN);
}

enum owners { SLOW_ONES, FAST_ONES, ALL };

struct ranked_column {
	struct lode_data_column column;
	enum owners owners;
	size_t streams; /* that have it */
	size_t place;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked_column *left = a, *right = b;

	if (left->owners != right->owners)
		return left->owners < right->owners ? -1 : 1;
	if (left->streams != right->streams)
		return left->streams < right->streams ? -1 : 1;
	return left->place < right->place ? -1 : 1;
}

/* Which streams have it: those whose y is above that of the others on average, or below. */
static void find_owners(struct ranked_column *ranked, const double *y, size_t rows)
{
	double sums[2] = { 0, 0 };
	size_t counts[2] = { 0, 0 };

	for (size_t row = 0; row < rows; row++) {
		int has = ranked->column.numbers[row] > 0;

		ranked->streams += (size_t)has;
		if (isnan(y[row]))
			continue;
		sums[has] += y[row];
		counts[has]++;
	}
	if (!counts[0])
		ranked->owners = ALL;
	else if (counts[1] && sums[1] / (double)counts[1] > sums[0] / (double)counts[0])
		ranked->owners = SLOW_ONES;
	else
		ranked->owners = FAST_ONES;
}

/* Puts what says more about slow streams first. */
static int order_features(struct making *making)
{
	struct lode_data_table *table = making->table;
	size_t first = making->input->y + 1, count = table->count - first;
	struct ranked_column *ranked = lode_calloc(count + 1, sizeof(*ranked));

	if (!ranked)
		return lode_fail_memory(making->error);
	for (size_t i = 0; i < count; i++) {
		ranked[i].column = table->columns[first + i];
		ranked[i].place = i;
		find_owners(&ranked[i], table->columns[making->input->y].numbers, table->rows);
	}
	qsort(ranked, count, sizeof(*ranked), compare_ranked);
	for (size_t i = 0; i < count; i++)
		table->columns[first + i] = ranked[i].column;
	lode_free(ranked);
	return 0;
}

/* ---- the whole ---- */

static int mark_auxiliary(struct making *making)
{
	struct lode_explain_input *input = making->input;

	input->auxiliary = lode_calloc(making->table->count, 1);
	if (!input->auxiliary)
		return lode_fail_memory(making->error);
	for (size_t i = input->y + 1; i < making->table->count; i++)
		input->auxiliary[i] = 1;
	return 0;
}

static int make_table(struct making *making)
{
	int code;

	if (!making->area->stream_count)
		return lode_fail(making->error, LODE_BAD_INPUT,
				 "%s: there is no stream in this corpus; import some, see 'lode help import'",
				 corpus_name(making));
	code = add_inputs(making);
	if (code == 0)
		code = add_y(making);
	if (code == 0)
		code = check_streams(making);
	if (code == 0)
		code = making->options->features == LODE_FEATURES_CALLS ? add_calls(making)
									: add_patterns(making);
	if (code == 0)
		code = order_features(making);
	return code < 0 ? code : mark_auxiliary(making);
}

int lode_corpus_table_make(struct lode_corpus *corpus, const struct lode_area *area,
			   const struct lode_corpus_table_options *options, struct lode_data_table *table,
			   struct lode_explain_input *input, struct lode_error *error)
{
	struct making making = { corpus, area, options, table, input, error };
	int code;

	memset(input, 0, sizeof(*input));
	input->table = table;
	input->name = lode_corpus_path(corpus);
	lode_data_table_init(table, area->stream_count);
	code = make_table(&making);
	if (code < 0)
		lode_data_table_release(table);
	return code;
}
