/*
 * The way to a leaf as one condition: what all tests on it say together, each column
 * mentioned once; see explain_report.h.
 */
#include "result/explain_report.h"

/* Tests on a way at most: no tree is deeper (tree_learn.c). */
#define LONGEST 64

struct way {
	uint32_t nodes[LONGEST]; /* from the root on */
	int yes[LONGEST];
	unsigned length;
};

static void find_way(const struct lode_tree *tree, uint32_t leaf, struct way *way)
{
	uint32_t parent[LONGEST];
	unsigned length = 0;

	/* Backwards: parents come before their children. */
	for (uint32_t id = leaf; id && length < LONGEST; id = parent[length++]) {
		uint32_t up = 0;

		while (tree->nodes[up].feature == LODE_NONE ||
		       (tree->nodes[up].left != id && tree->nodes[up].right != id))
			up++;
		parent[length] = up;
	}
	way->length = length;
	for (unsigned i = 0; i < length; i++) {
		way->nodes[i] = parent[length - 1 - i];
		way->yes[i] = tree->nodes[way->nodes[i]].right == (i + 1 < length ? parent[length - 2 - i] : leaf);
	}
}

static const struct lode_tree_node *node_at(const struct lode_tree *tree, const struct way *way, unsigned i)
{
	return &tree->nodes[way->nodes[i]];
}

/* Whether another test of the same column says this and more. */
static int is_implied(const struct lode_explain_report *report, const struct way *way, unsigned i)
{
	const struct lode_tree *tree = &report->explanation->tree;
	uint32_t feature = node_at(tree, way, i)->feature;
	int category = report->explanation->features.items[feature].kind == LODE_FEATURE_CATEGORY;

	for (unsigned k = 0; k < way->length; k++) {
		if (k == i || node_at(tree, way, k)->feature != feature)
			continue;
		/* Further down the way a bound on the same side is tighter. */
		if (category ? way->yes[k] && !way->yes[i] : k > i && way->yes[k] == way->yes[i])
			return 1;
	}
	return 0;
}

static int was_written(const struct lode_tree *tree, const struct way *way, unsigned i)
{
	for (unsigned k = 0; k < i; k++)
		if (node_at(tree, way, k)->feature == node_at(tree, way, i)->feature)
			return 1;
	return 0;
}

/* All that is said of the column of test `i`: its lower bound, then its upper one. */
static void put_column(const struct lode_explain_report *report, const struct way *way, unsigned i,
		       struct lode_buffer *buffer)
{
	const struct lode_tree *tree = &report->explanation->tree;
	int known = 0, written = 0;

	for (unsigned side = 0; side < 2; side++)
		for (unsigned k = i; k < way->length; k++) {
			int yes = !side;

			if (node_at(tree, way, k)->feature != node_at(tree, way, i)->feature ||
			    way->yes[k] != yes || is_implied(report, way, k))
				continue;
			if (written++)
				lode_buffer_text(buffer, " and ");
			lode_explain_bound(report, node_at(tree, way, k), yes, known, buffer);
			known |= yes;
		}
}

void lode_explain_way(const struct lode_explain_report *report, uint32_t leaf, struct lode_buffer *buffer)
{
	struct way way;
	int written = 0;

	find_way(&report->explanation->tree, leaf, &way);
	for (unsigned i = 0; i < way.length; i++) {
		if (was_written(&report->explanation->tree, &way, i))
			continue;
		if (written++)
			lode_buffer_text(buffer, " and ");
		put_column(report, &way, i, buffer);
	}
}
