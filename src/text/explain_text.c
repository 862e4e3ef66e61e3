/*
 * An explanation for people: functions, tree, how good it is, one sentence a
 * cluster, and a picture of x against y in characters; see explain_text.h.
 */
#include "base/safe_text.h"
#include "base/units.h"
#include "text/explain_text.h"
#include "text/tree_lines.h"

#include <math.h>
#include <string.h>

/* Ways to a cluster that its sentence mentions. */
#define MAX_WAYS 4
/* Lines of the picture. */
#define LINES 18

static const char symbols[] = "0123456789abcdefghijklmnopqrstuvwxyz";

static void put_share(double share, struct lode_buffer *buffer)
{
	lode_buffer_print(buffer, share < 0.0995 ? "%.1f%%" : "%.0f%%", 100 * share);
}

/* ---- functions ---- */

/* One function that predicts nothing is what is left where nothing holds, and no finding. */
static int is_unrelated(const struct lode_explanation *explanation)
{
	return explanation->clusters == 1 && explanation->validated_r2 <= 0;
}

static void put_functions(const struct lode_explain_report *report, struct lode_buffer *buffer)
{
	const struct lode_explanation *explanation = report->explanation;
	char count[LODE_UNITS_TEXT];

	lode_text_safe(buffer, report->input->table->columns[report->input->y].name);
	if (is_unrelated(explanation))
		lode_buffer_text(buffer, " does not follow ");
	else
		lode_buffer_print(buffer, " follows %u function%s of ", explanation->clusters,
				  explanation->clusters == 1 ? "" : "s");
	for (unsigned i = 0; i < report->input->inputs; i++) {
		lode_buffer_text(buffer, i ? ", " : "");
		lode_text_safe(buffer, report->input->table->columns[report->input->x[i]].name);
	}
	lode_buffer_print(buffer, " (%s rows", lode_count_text(explanation->rows, count));
	if (explanation->left_out)
		lode_buffer_print(buffer, ", %s left out", lode_count_text(explanation->left_out, count));
	if (explanation->copies)
		lode_buffer_print(buffer, ", %s copies not counted", lode_count_text(explanation->copies, count));
	lode_buffer_text(buffer,
			 is_unrelated(explanation)
				 ? "): for rows it has not seen, the best function is no better than the mean\n"
				 : ")\n");
	for (unsigned k = 0; k < explanation->clusters; k++) {
		lode_buffer_print(buffer, "  %u  ", k);
		lode_explain_function(report, &explanation->cluster[k].function, buffer);
		lode_buffer_text(buffer, "   ");
		put_share(explanation->cluster[k].share, buffer);
		lode_buffer_print(buffer, " of rows, R2 %.4f\n", explanation->cluster[k].r2);
	}
}

/* Why there is no more than one function. */
static void put_withdrawn(const struct lode_explain_report *report, struct lode_buffer *buffer)
{
	const struct lode_explanation *explanation = report->explanation;

	switch (explanation->withdrawn) {
	case LODE_WITHDRAWN_CHANCE:
		lode_buffer_print(
			buffer,
			"More functions describe these rows shorter, but no better than chance does: so it "
			"was in %u of %u tables without a reason.\n",
			explanation->chance.as_good, explanation->chance.tables);
		break;
	case LODE_WITHDRAWN_CURVE:
		lode_buffer_text(buffer,
				 "One curve describes these rows shorter than any number of such functions; try "
				 "'--functions auto' or '--functions poly'.\n");
		break;
	case LODE_WITHDRAWN_CUT:
		lode_text_safe(buffer, lode_explain_feature(report, explanation->withdrawn_feature));
		lode_buffer_text(buffer, " goes along with ");
		lode_text_safe(buffer, report->input->table->columns[report->input->y].name);
		lode_buffer_text(buffer, ", but there is no gap between faster and slower rows: any cut would be "
					 "arbitrary.\n");
		break;
	default:
		break;
	}
}

/* ---- tree ---- */

static void put_leaf(const struct lode_tree *tree, uint32_t id, struct lode_buffer *buffer)
{
	size_t rows = lode_tree_rows(tree, id), own = tree->sizes[id * tree->clusters + tree->nodes[id].cluster];
	char count[LODE_UNITS_TEXT];

	lode_buffer_print(buffer, "cluster %u   %s row%s", tree->nodes[id].cluster, lode_count_text(rows, count),
			  rows == 1 ? "" : "s");
	if (own < rows) {
		lode_buffer_text(buffer, " (by x and y: ");
		lode_explain_distribution(tree, id, buffer);
		lode_buffer_byte(buffer, ')');
	}
	lode_buffer_byte(buffer, '\n');
}

static void put_side(const struct lode_explain_report *report, uint32_t id, int yes, unsigned depth,
		     struct lode_buffer *buffer)
{
	const struct lode_tree *tree = &report->explanation->tree;
	const struct lode_tree_node *node = &tree->nodes[id];
	uint32_t child = yes ? node->right : node->left;

	lode_tree_line(buffer, depth + 1);
	lode_explain_test(report, node, yes, buffer);
	if (tree->nodes[child].feature == LODE_NONE) {
		lode_buffer_text(buffer, ": ");
		put_leaf(tree, child, buffer);
		return;
	}
	lode_buffer_byte(buffer, '\n');
	put_side(report, child, 0, depth + 1, buffer);
	put_side(report, child, 1, depth + 1, buffer);
}

static void put_same(const struct lode_explain_report *report, struct lode_buffer *buffer)
{
	const struct lode_features *features = &report->explanation->features;
	const struct lode_tree *tree = &report->explanation->tree;

	for (uint32_t f = 0; f < features->count; f++) {
		size_t used = 0;

		for (size_t i = 0; i < tree->count; i++)
			used += tree->nodes[i].feature == f;
		if (!used || features->items[f].column_count < 2)
			continue;
		lode_buffer_text(buffer, "  ");
		lode_text_safe(buffer, lode_explain_feature(report, f));
		lode_buffer_text(buffer, " is the same in every row as");
		for (size_t k = 1; k < features->items[f].column_count; k++) {
			lode_buffer_text(buffer, k > 1 ? ", " : " ");
			lode_text_safe(buffer, report->input->table->columns[features->items[f].columns[k]].name);
		}
		lode_buffer_byte(buffer, '\n');
	}
}

static void put_tree(const struct lode_explain_report *report, struct lode_buffer *buffer)
{
	const struct lode_tree *tree = &report->explanation->tree;

	if (tree->count == 1) {
		if (report->explanation->clusters > 1)
			lode_buffer_text(buffer, "\nNo column separates the clusters.\n");
		return;
	}
	lode_buffer_print(buffer, "\nWhich rows follow which: a tree of %zu leaves, height %u\n",
			  lode_tree_leaves(tree), lode_tree_height(tree));
	put_side(report, 0, 0, 0, buffer);
	put_side(report, 0, 1, 0, buffer);
	put_same(report, buffer);
}

/* ---- sentences ---- */

/* The leaf of the cluster with most rows below `limit` rows, or as many and behind `last`; LODE_NONE: no more. */
static uint32_t next_leaf(const struct lode_tree *tree, uint32_t cluster, uint32_t last)
{
	size_t limit = last == LODE_NONE ? SIZE_MAX : lode_tree_rows(tree, last);
	uint32_t best = LODE_NONE;

	for (uint32_t id = 0; id < tree->count; id++) {
		size_t rows = lode_tree_rows(tree, id);

		if (tree->nodes[id].feature != LODE_NONE || tree->nodes[id].cluster != cluster || rows > limit ||
		    (rows == limit && last != LODE_NONE && id <= last))
			continue;
		if (best == LODE_NONE || rows > lode_tree_rows(tree, best))
			best = id;
	}
	return best;
}

/* How much slower a cluster is than the fastest, at the median of its rows. */
static double times_slower(const struct lode_explanation *explanation, unsigned k)
{
	const struct lode_points *points = &explanation->points;
	double own = 0, fastest = 0;

	for (size_t row = 0; row < explanation->rows; row++) {
		if (explanation->assigned[row] != k)
			continue;
		own += lode_function_at(points, &explanation->cluster[k].function, row);
		fastest += lode_function_at(points, &explanation->cluster[0].function, row);
	}
	return fastest > 0 && own > 0 ? own / fastest : NAN;
}

/* NaN: unknown. */
static void put_times(double times, struct lode_buffer *buffer)
{
	char text[LODE_UNITS_TEXT];

	if (times > 1 && times < 1.1)
		lode_buffer_print(buffer, "%s slower than cluster 0", lode_percent_text(times - 1, text));
	else if (times >= 1.1)
		lode_buffer_print(buffer,
				  times < 10 ? "%.1f times slower than cluster 0"
					     : "%.0f times slower than cluster 0",
				  times);
	else
		lode_buffer_text(buffer, "slower");
}

void lode_explain_sentence(const struct lode_explain_report *report, unsigned k, struct lode_buffer *buffer)
{
	const struct lode_explanation *explanation = report->explanation;
	double times = k ? times_slower(explanation, k) : NAN;
	uint32_t leaf = next_leaf(&explanation->tree, k, LODE_NONE);
	unsigned ways = 0;
	size_t more = 0;

	lode_buffer_print(buffer, "cluster %u, ", k);
	put_share(explanation->cluster[k].share, buffer);
	lode_buffer_print(buffer, " of rows, is %s", k ? "" : "the fastest");
	if (k)
		put_times(times, buffer);
	lode_buffer_text(buffer, ": ");
	for (; leaf != LODE_NONE; leaf = next_leaf(&explanation->tree, k, leaf)) {
		if (ways++ >= MAX_WAYS) {
			more++;
			continue;
		}
		lode_buffer_text(buffer, ways > 1 ? "; or " : "");
		lode_explain_way(report, leaf, buffer);
	}
	if (more)
		lode_buffer_print(buffer, "; or %zu other way%s", more, more == 1 ? "" : "s");
	lode_buffer_text(buffer, ways ? "" : "no leaf of the tree");
}

static void put_sentences(const struct lode_explain_report *report, struct lode_buffer *buffer)
{
	if (report->explanation->tree.count == 1)
		return;
	lode_buffer_text(buffer, "\nIn words\n");
	for (unsigned k = 0; k < report->explanation->clusters; k++) {
		lode_buffer_text(buffer, "  ");
		lode_explain_sentence(report, k, buffer);
		lode_buffer_byte(buffer, '\n');
	}
}

/* ---- how good ---- */

static void put_confusion(const struct lode_explanation *explanation, struct lode_buffer *buffer)
{
	lode_buffer_text(buffer, "  nearest function (down) against the tree (across)\n      ");
	for (unsigned k = 0; k < explanation->clusters; k++)
		lode_buffer_print(buffer, " %8u", k);
	lode_buffer_byte(buffer, '\n');
	for (unsigned i = 0; i < explanation->clusters; i++) {
		lode_buffer_print(buffer, "  %4u", i);
		for (unsigned k = 0; k < explanation->clusters; k++)
			lode_buffer_print(buffer, " %8zu", explanation->confusion[i * explanation->clusters + k]);
		lode_buffer_byte(buffer, '\n');
	}
}

/* What one function, or clusters that no tree separates, have no accuracy of. */
static int has_accuracy(const struct lode_explanation *explanation)
{
	return explanation->clusters > 1 && explanation->tree.count > 1;
}

static void put_accuracy(const struct lode_explanation *explanation, double accuracy, struct lode_buffer *buffer)
{
	if (has_accuracy(explanation))
		lode_buffer_print(buffer, "accuracy %.2f%%, ", 100 * accuracy);
}

static void put_chance(const struct lode_explanation *explanation, struct lode_buffer *buffer)
{
	const struct lode_chance *chance = &explanation->chance;

	if (chance->tables && !explanation->withdrawn)
		lode_buffer_print(buffer, "  by chance: as much is found in %u of %u tables %s\n", chance->as_good,
				  chance->tables,
				  explanation->tree.count > 1 ? "whose columns were shuffled"
							      : "of one function and noise");
}

/* What Algorithm 1 of the paper goes by: the clusters' error, and the accuracy of the tree for their labels. */
static void put_smallest(const struct lode_explanation *explanation, struct lode_buffer *buffer)
{
	char text[LODE_UNITS_TEXT];

	if (isnan(explanation->clustering_error))
		return;
	if (explanation->points.noise == LODE_NOISE_RELATIVE) {
		lode_buffer_print(buffer, "  clusters by x and y alone: relative error %s",
				  lode_percent_text(explanation->clustering_error, text));
	} else {
		lode_buffer_text(buffer, "  clusters by x and y alone: mean square error ");
		lode_explain_number(explanation->clustering_error, buffer);
	}
	if (!isnan(explanation->accuracy) && has_accuracy(explanation))
		lode_buffer_print(buffer, "; accuracy of the tree for them %.2f%% (cross-validated)",
				  100 * explanation->accuracy);
	lode_buffer_byte(buffer, '\n');
}

static void put_quality(const struct lode_explain_report *report, struct lode_buffer *buffer)
{
	const struct lode_explanation *explanation = report->explanation;
	char text[LODE_UNITS_TEXT];

	lode_buffer_text(buffer, "\nHow good it is\n");
	if (!isnan(explanation->validated_r2) && explanation->explained) {
		lode_buffer_text(buffer, "  on rows it has not seen: ");
		put_accuracy(explanation, explanation->accuracy, buffer);
		lode_buffer_print(buffer, "R2 %.4f (cross-validated)\n", explanation->validated_r2);
	}
	put_smallest(explanation, buffer);
	lode_buffer_text(buffer,
			 explanation->explained ? "  on all rows: " : "  each row by its nearest function: ");
	put_accuracy(explanation, explanation->agreement, buffer);
	lode_buffer_print(buffer, "R2 %.4f, mean square error ", explanation->r2);
	lode_explain_number(explanation->mean_square, buffer);
	if (isfinite(explanation->relative_error))
		lode_buffer_print(buffer, ", relative error %s",
				  lode_percent_text(explanation->relative_error, text));
	lode_buffer_byte(buffer, '\n');
	put_chance(explanation, buffer);
	if (has_accuracy(explanation) && explanation->clusters <= 10)
		put_confusion(explanation, buffer);
}

/* ---- the picture ---- */

struct picture {
	struct lode_explain_frame frame;
	unsigned width;
};

static double height_of(const struct picture *picture, double y)
{
	return picture->frame.logarithmic ? log(y) : y;
}

static size_t place(double value, double least, double most, size_t cells)
{
	double share = most > least ? (value - least) / (most - least) : 0;

	return (size_t)fmin((double)cells - 1, fmax(0, share * (double)cells));
}

/* Counts rows by cell and cluster, and keeps the cluster with most in each cell. */
static void fill(const struct lode_explanation *explanation, const struct picture *picture, uint32_t *counts,
		 unsigned line, char *text)
{
	double low = height_of(picture, picture->frame.least_y), high = height_of(picture, picture->frame.most_y);

	memset(counts, 0, picture->width * explanation->clusters * sizeof(*counts));
	for (size_t row = 0; row < explanation->rows; row++) {
		size_t x = place(lode_explain_x(explanation, row), picture->frame.least_x, picture->frame.most_x,
				 picture->width);
		size_t y = place(height_of(picture, explanation->points.y[row]), low, high, LINES);

		if (LINES - 1 - y == line)
			counts[x * explanation->clusters + explanation->assigned[row]]++;
	}
	for (size_t x = 0; x < picture->width; x++) {
		const uint32_t *cell = counts + x * explanation->clusters;
		unsigned most = 0;

		for (unsigned k = 1; k < explanation->clusters; k++)
			most = cell[k] > cell[most] ? k : most;
		text[x] = cell[most] ? symbols[most % (sizeof(symbols) - 1)] : ' ';
	}
}

/* To the right of `width` places; `report`: it is a value of y, NULL: of x. */
static void put_label(const struct lode_explain_report *report, double number, unsigned width,
		      struct lode_buffer *buffer)
{
	struct lode_buffer text = { 0 };

	if (report)
		lode_explain_y(report, number, &text);
	else
		lode_explain_number(number, &text);
	buffer->failed |= text.failed;
	if (!text.failed)
		lode_buffer_print(buffer, "%*.*s", (int)width, (int)text.size, text.bytes);
	lode_buffer_release(&text);
}

static void put_picture(const struct lode_explain_report *report, struct lode_buffer *buffer)
{
	const struct lode_explanation *explanation = report->explanation;
	struct picture picture = { .width = report->width > 100  ? 88
					    : report->width < 40 ? 28
								 : report->width - 12 };
	char text[128];
	uint32_t *counts;

	lode_explain_frame(explanation, &picture.frame);
	counts = lode_calloc(picture.width, explanation->clusters * sizeof(*counts));
	if (!counts) {
		buffer->failed = 1;
		return;
	}
	lode_buffer_byte(buffer, '\n');
	lode_text_safe(buffer, report->input->table->columns[report->input->y].name);
	lode_buffer_print(buffer, "%s; digits are clusters\n", picture.frame.logarithmic ? " (logarithmic)" : "");
	for (unsigned line = 0; line < LINES; line++) {
		fill(explanation, &picture, counts, line, text);
		if (line == 0 || line == LINES - 1)
			put_label(report, line ? picture.frame.least_y : picture.frame.most_y, 9, buffer);
		else
			lode_buffer_print(buffer, "%9s", "");
		lode_buffer_print(buffer, " |%.*s\n", (int)picture.width, text);
	}
	lode_buffer_print(buffer, "%10s", "");
	for (unsigned i = 0; i <= picture.width; i++)
		lode_buffer_byte(buffer, i ? '-' : '+');
	lode_buffer_byte(buffer, '\n');
	put_label(NULL, picture.frame.least_x, 12, buffer);
	put_label(NULL, picture.frame.most_x, picture.width - 1, buffer);
	lode_buffer_text(buffer, "  ");
	lode_text_safe(buffer, report->input->table->columns[report->input->x[0]].name);
	lode_buffer_byte(buffer, '\n');
	lode_free(counts);
}

void lode_explain_summary(const struct lode_explain_report *report, struct lode_buffer *buffer)
{
	put_functions(report, buffer);
	put_withdrawn(report, buffer);
	put_tree(report, buffer);
	put_sentences(report, buffer);
	put_quality(report, buffer);
}

void lode_explain_text(const struct lode_explain_report *report, struct lode_buffer *buffer)
{
	lode_explain_summary(report, buffer);
	put_picture(report, buffer);
}

void lode_explain_warning(const struct lode_explanation *explanation, const struct lode_explain_options *how,
			  struct lode_buffer *buffer)
{
	const char *kind = how->max_error_relative ? "relative" : "mean square";
	const char *unit = how->max_error_relative ? "%" : "";

	if (how->smallest)
		lode_buffer_print(buffer, "%u functions are not within the bound: their %s error is %.4g%s",
				  explanation->clusters, kind,
				  (how->max_error_relative ? 100 : 1) * explanation->clustering_error, unit);
	else if (!explanation->explained)
		lode_buffer_text(buffer, "no tree separates the clusters");
	else
		lode_buffer_print(buffer, "no tree within the bound: the %s error is %.4g%s", kind,
				  how->max_error_relative ? 100 * explanation->relative_error
							  : explanation->mean_square,
				  unit);
	lode_buffer_byte(buffer, '\0');
}
