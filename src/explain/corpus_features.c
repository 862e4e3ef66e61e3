/*
 * What the streams of a corpus did, as columns of its table (see corpus_table.h).
 *
 * Calls, latencies and patterns all come as amounts of stacks or clusters in
 * streams. Of a stack, each function counts once, however often it recurs.
 *
 * Often many columns separate streams equally well, and the tree takes the first:
 * everything on the stacks of slow code is more frequent in slow streams. So first
 * come those that almost only slow streams have, then those that fast ones have
 * instead, then those that all have: "has it or not" says more than "more or less of
 * it". Of the first it counts how much rarer they are in fast streams and how much
 * they cost: so a caller comes before its callees, unless it is also called where
 * nothing is slow, and the holder of a lock before its waiters. The kernel's functions
 * come last of each: every wait of a program ends in the scheduler, which is not what
 * anyone can change.
 */
#include "base/id_array.h"
#include "explain/corpus_columns.h"

#include "latency/latency.h"
#include "mine/mine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More cells (2 GiB) are refused. */
#define MAX_CELLS ((size_t)1 << 28)

const char *lode_corpus_features_name(enum lode_corpus_features features)
{
	static const char *const names[] = { "calls", "latency", "patterns", "states" };

	return names[features];
}

/* `frame` is of the dictionary that has `frames`: the feature is about its function. */
static int add_feature(struct lode_corpus_making *making, const struct lode_frames *frames, uint32_t frame,
		       const struct lode_buffer *name, uint32_t *number)
{
	struct lode_data_table *table = making->table;
	struct lode_data_column *column;

	if (name->failed)
		return lode_fail_memory(making->error);
	if (table->count >= MAX_CELLS / table->rows)
		return lode_fail(making->error, LODE_BAD_INPUT,
				 "%s: %zu streams times more than %zu functions take too much memory; narrow "
				 "it down with '--where' or '--match'",
				 lode_corpus_path(making->corpus), table->rows, table->count);
	if (LODE_GROW(making->features, making->feature_capacity, table->count + 1) < 0)
		return lode_fail_memory(making->error);
	making->features[table->count] = (struct lode_corpus_feature){
		.in_kernel = frames->modules[frames->items[frame].module].kind == LODE_KIND_KERNEL,
	};
	*number = (uint32_t)table->count;
	column = lode_corpus_column(making, name->bytes, name->size);
	for (size_t row = 0; column && row < table->rows; row++)
		column->numbers[row] = 0;
	return column ? 0 : LODE_SYSTEM;
}

/* The distinct frames of one stack after the other, as columns. */
struct functions {
	const struct lode_dictionary *dictionary;
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

static int count_frame(struct lode_corpus_making *making, struct functions *functions, uint32_t frame)
{
	uint32_t *column = &functions->column_of[frame];
	int code = 0;

	if (functions->last_seen[frame] == functions->turn)
		return 0;
	functions->last_seen[frame] = functions->turn;
	if (!*column) {
		lode_buffer_clear(&functions->name);
		lode_frames_text(&functions->dictionary->frames, frame, &functions->name);
		code = add_feature(making, &functions->dictionary->frames, frame, &functions->name, column);
	}
	functions->columns[functions->count++] = *column;
	return code;
}

static int count_stack(struct lode_corpus_making *making, struct functions *functions, uint32_t stack)
{
	const struct lode_stack_tree *tree = &functions->dictionary->tree;
	uint32_t depth = lode_stack_tree_depth(tree, stack);
	int code = 0;

	if (LODE_GROW(functions->path, functions->path_capacity, depth) < 0 ||
	    LODE_GROW(functions->columns, functions->column_capacity, depth) < 0)
		return lode_fail_memory(making->error);
	lode_stack_tree_frames(tree, stack, functions->path, depth);
	functions->turn++;
	functions->count = 0;
	for (uint32_t i = 0; code == 0 && i < depth; i++)
		code = count_frame(making, functions, functions->path[i]);
	return code;
}

static int begin_functions(struct functions *functions, const struct lode_dictionary *dictionary,
			   struct lode_error *error)
{
	size_t frames = dictionary->frames.count;

	*functions = (struct functions){
		.dictionary = dictionary,
		.column_of = lode_calloc(frames + 1, sizeof(uint32_t)),
		.last_seen = lode_calloc(frames + 1, sizeof(uint32_t)),
	};
	return functions->column_of && functions->last_seen ? 0 : lode_fail_memory(error);
}

/* Adds to every function of the stack that was taken last. */
static void add_amount(struct lode_corpus_making *making, const struct functions *functions, uint32_t row,
		       double amount, double cost)
{
	for (size_t k = 0; k < functions->count; k++) {
		making->table->columns[functions->columns[k]].numbers[row] += amount;
		making->features[functions->columns[k]].cost += cost;
	}
}

/* Rows with the same stack are adjacent. */
static int count_calls(struct lode_corpus_making *making, struct functions *functions,
		       const struct lode_area_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct lode_area_row *row = &rows->items[i];

		if (!i || row[-1].stack != row->stack) {
			int code = count_stack(making, functions, row->stack);

			if (code < 0)
				return code;
		}
		add_amount(making, functions, row->stream, (double)row->events, (double)row->cost);
	}
	return 0;
}

static int add_calls(struct lode_corpus_making *making)
{
	struct functions functions;
	int code = begin_functions(&functions, &making->area->dictionary, making->error);

	for (int kind = 0; code == 0 && kind < LODE_AREA_KINDS; kind++)
		code = count_calls(making, &functions, &making->area->rows[kind]);
	release_functions(&functions);
	return code;
}

/* Which row of the table each stream of the latencies is; LODE_NONE: none. NULL when memory has run out. */
static uint32_t *match_streams(const struct lode_corpus_making *making, const struct lode_latency *latency)
{
	const struct lode_area *area = making->area;
	uint32_t *row_of = lode_alloc((latency->stream_count + 1) * sizeof(*row_of));
	size_t row = 0;

	/* Both are in the catalogue's order. */
	for (size_t i = 0; row_of && i < latency->stream_count; i++) {
		row_of[i] = LODE_NONE;
		if (row < area->stream_count && !strcmp(latency->streams[i].id, area->streams[row].id))
			row_of[i] = (uint32_t)row++;
	}
	return row_of;
}

/*
 * What a function took with all that it called: the sum of what all contexts that
 * it is in took by themselves.
 */
static int add_latency_of(struct lode_corpus_making *making, const struct lode_latency *latency,
			  struct functions *functions, const uint32_t *row_of)
{
	for (size_t i = 0; i < latency->row_count; i++) {
		const struct lode_latency_row *row = &latency->rows[i];

		if (!i || row[-1].node != row->node) {
			int code = count_stack(making, functions, row->node);

			if (code < 0)
				return code;
		}
		if (row_of[row->stream] != LODE_NONE)
			add_amount(making, functions, row_of[row->stream], (double)row->own, (double)row->own);
	}
	return 0;
}

static int add_latencies(struct lode_corpus_making *making)
{
	const struct lode_latency_options how = {
		.where = making->options->where,
		.idle = making->options->idle,
		.include_work_waits = making->options->include_work_waits,
		.jobs = making->options->jobs,
		.notes = making->options->notes,
		.progress = making->options->progress,
	};
	struct functions functions;
	struct lode_latency latency;
	uint32_t *row_of;
	int code = lode_latency_collect(making->corpus, &how, NULL, &latency, making->error);

	if (code < 0)
		return code;
	code = begin_functions(&functions, &latency.dictionary, making->error);
	row_of = match_streams(making, &latency);
	if (code == 0 && !row_of)
		code = lode_fail_memory(making->error);
	if (code == 0)
		code = add_latency_of(making, &latency, &functions, row_of);
	lode_free(row_of);
	release_functions(&functions);
	lode_latency_release(&latency);
	return code;
}

/* A cluster is called after the last frame that its patterns share. */
static uint32_t name_frame(const struct lode_mined *mined, size_t i)
{
	uint32_t pattern = mined->clusters.members[mined->clusters.items[i].first];

	if (mined->common_length[i])
		return mined->common[i][mined->common_length[i] - 1];
	return lode_pattern_frames(&mined->patterns, pattern)[mined->patterns.items[pattern].length - 1];
}

static int add_cluster(struct lode_corpus_making *making, const struct lode_mined *mined, size_t i,
		       enum lode_event_type kind)
{
	const struct lode_frames *frames = &making->area->dictionary.frames;
	const struct lode_shares *shares = &mined->cluster_groups[i].shares;
	uint32_t frame = name_frame(mined, i), column;
	struct lode_buffer name = { 0 };
	int code;

	lode_frames_text(frames, frame, &name);
	lode_buffer_print(&name, " (%s %s)", lode_event_type_name(kind), mined->cluster_groups[i].id);
	code = add_feature(making, frames, frame, &name, &column);
	for (size_t k = 0; code == 0 && k < shares->count; k++) {
		making->table->columns[column].numbers[shares->items[k].stream] = (double)shares->items[k].cost;
		making->features[column].cost += (double)shares->items[k].cost;
	}
	lode_buffer_release(&name);
	return code;
}

static int add_patterns_of(struct lode_corpus_making *making, enum lode_event_type kind)
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

static int add_patterns(struct lode_corpus_making *making)
{
	int code = add_patterns_of(making, LODE_WAIT);

	return code < 0 ? code : add_patterns_of(making, LODE_RUN);
}

/* Streams have it when theirs is this much more than that of the others, in parts of both. */
#define MOSTLY 0.8
/* What all streams have by chance, in parts of both: rarer than this is as good as never. */
#define CHANCE 0.01

enum owners { SLOW_ONES, FAST_ONES, ALL };

struct ranked_column {
	struct lode_data_column column;
	enum owners owners;
	int in_kernel;
	double more;  /* of it in slow streams than in fast ones, in parts of both: -1 to 1 */
	double worth; /* of what slow streams have, or fast ones: how rare it is in the others, and its cost
		       */
	size_t place;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked_column *left = a, *right = b;

	if (left->owners != right->owners)
		return left->owners < right->owners ? -1 : 1;
	if (left->in_kernel != right->in_kernel)
		return left->in_kernel ? 1 : -1;
	if (left->owners == ALL && left->more != right->more)
		return left->more > right->more ? -1 : 1;
	if (left->owners != ALL && left->worth != right->worth)
		return left->worth > right->worth ? -1 : 1;
	return left->place < right->place ? -1 : 1;
}

/* x and y of the rows that have both, one after the other; the others are marked with 2. Returns how many. */
static uint32_t gather(const struct lode_corpus_making *making, double *x, double *y, unsigned char *slow)
{
	const struct lode_data_table *table = making->table;
	unsigned inputs = making->input->inputs;
	uint32_t count = 0;

	for (size_t row = 0; row < table->rows; row++) {
		int whole = !isnan(table->columns[making->input->y].numbers[row]);

		for (unsigned i = 0; i < inputs; i++) {
			x[count * inputs + i] = table->columns[i].numbers[row];
			whole &= !isnan(x[count * inputs + i]);
		}
		y[count] = table->columns[making->input->y].numbers[row];
		slow[row] = whole ? 0 : 2;
		count += (uint32_t)whole;
	}
	return count;
}

/* Marks rows above the line through all of them with 1. */
static int mark_above(const double *x, const double *y, uint32_t count, unsigned inputs, size_t rows,
		      unsigned char *slow)
{
	uint32_t *all = lode_ids_below(count);
	struct lode_function line;
	struct lode_points points;

	if (!all ||
	    lode_points_make(&points, x, y, count, inputs, LODE_FAMILY_LINEAR, LODE_NOISE_ADDITIVE, NULL) < 0) {
		lode_free(all);
		return LODE_SYSTEM;
	}
	lode_function_fit(&points, LODE_SHAPE_LINEAR, all, count, &line);
	for (size_t row = 0, i = 0; row < rows; row++)
		if (slow[row] == 0)
			slow[row] = lode_residual(&points, &line, i++) > 0;
	lode_points_release(&points);
	lode_free(all);
	return 0;
}

/* Marks streams that are slow for their x with 1, others with 0, those left out with 2. */
static int mark_slow(const struct lode_corpus_making *making, unsigned char *slow)
{
	size_t rows = making->table->rows;
	unsigned inputs = making->input->inputs;
	double *x = lode_calloc(rows, inputs * sizeof(*x)), *y = lode_calloc(rows, sizeof(*y));
	int code = LODE_SYSTEM;

	if (x && y)
		code = mark_above(x, y, gather(making, x, y, slow), inputs, rows, slow);
	lode_free(x);
	lode_free(y);
	return code;
}

static void find_owners(struct ranked_column *ranked, const unsigned char *slow, size_t rows,
			const struct lode_corpus_feature *feature)
{
	double sums[3] = { 0 }, counts[3] = { 0 }, means[2], rare;

	for (size_t row = 0; row < rows; row++) {
		sums[slow[row]] += ranked->column.numbers[row];
		counts[slow[row]]++;
	}
	for (int side = 0; side < 2; side++)
		means[side] = counts[side] > 0 ? sums[side] / counts[side] : 0;
	if (means[0] + means[1] > 0)
		ranked->more = (means[1] - means[0]) / (means[1] + means[0]);
	rare = (1 + fabs(ranked->more) + 2 * CHANCE) / (1 - fabs(ranked->more) + 2 * CHANCE);
	ranked->worth = log(rare) + log(feature->cost + 1);
	ranked->in_kernel = feature->in_kernel;
	ranked->owners = ranked->more >= MOSTLY ? SLOW_ONES : ranked->more <= -MOSTLY ? FAST_ONES : ALL;
}

/* Puts what says more about slow streams first. */
static int order_features(struct lode_corpus_making *making)
{
	struct lode_data_table *table = making->table;
	size_t first = making->input->y + 1, count = table->count - first;
	struct ranked_column *ranked = lode_calloc(count + 1, sizeof(*ranked));
	unsigned char *slow = lode_calloc(table->rows, 1);
	int code = ranked && slow ? mark_slow(making, slow) : LODE_SYSTEM;

	for (size_t i = 0; code == 0 && i < count; i++) {
		ranked[i].column = table->columns[first + i];
		ranked[i].place = i;
		find_owners(&ranked[i], slow, table->rows, &making->features[first + i]);
	}
	if (code == 0) {
		qsort(ranked, count, sizeof(*ranked), compare_ranked);
		for (size_t i = 0; i < count; i++)
			table->columns[first + i] = ranked[i].column;
	}
	lode_free(ranked);
	lode_free(slow);
	return code < 0 ? lode_fail_memory(making->error) : 0;
}

int lode_corpus_features(struct lode_corpus_making *making)
{
	int code;

	switch (making->options->features) {
	case LODE_FEATURES_LATENCY:
		code = add_latencies(making);
		break;
	case LODE_FEATURES_PATTERNS:
		code = add_patterns(making);
		break;
	case LODE_FEATURES_STATES:
		code = lode_corpus_states(making);
		break;
	default:
		code = add_calls(making);
	}
	return code < 0 ? code : order_features(making);
}
