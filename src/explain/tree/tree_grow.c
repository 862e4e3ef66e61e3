/*
 * Growing a tree: CART (see tree.h).
 *
 * Nodes are split one after the other; the rows of a node are contiguous in one
 * array, which a split divides. Without prices a node is split as long as it is
 * not pure and some test divides it, like scikit-learn does. With prices it is
 * split when the entropy of its clusters falls by more than it costs to write the
 * split down; where no single test pays, groups of two and three are looked at, as
 * long as that does not take too long in all.
 */
#include "explain/tree/impurity.h"
#include "explain/tree/look_ahead.h"
#include "explain/tree/splits.h"

#include <string.h>

/* Words that all look-ahead of one tree may compare, about: a second. Every node has its turn, the root
 * first. */
#define MAX_LOOKS 2e9

/* Features that are looked at before all others. */
#define MAX_KNOWN 48

/* A node whose rows are to be split. */
struct pending {
	uint32_t node;
	size_t begin, end;
	unsigned depth;
};

struct grower {
	struct lode_tree *tree;
	const struct lode_features *features;
	const uint32_t *labels;
	const struct lode_grow_options *options;
	uint32_t *rows; /* grouped by node */
	uint32_t *scratch;
	struct lode_split_space space;
	double looks_left;         /* words of look-ahead that may still be compared */
	uint32_t known[MAX_KNOWN]; /* features that the tree asks already */
	size_t known_count;
	struct pending *stack;
	size_t stack_count;
	size_t stack_capacity;
};

static int push(struct grower *grower, uint32_t node, size_t begin, size_t end, unsigned depth)
{
	return LODE_APPEND(grower->stack, grower->stack_count, grower->stack_capacity,
			   (struct pending){ node, begin, end, depth });
}

static void settle(struct lode_tree *tree, uint32_t node)
{
	const size_t *sizes = &tree->sizes[node * tree->clusters];

	for (unsigned k = 1; k < tree->clusters; k++)
		if (sizes[k] > sizes[tree->nodes[node].cluster])
			tree->nodes[node].cluster = k;
}

/* Divides the rows, left first, in order. Returns where the right ones begin. */
static size_t divide(struct grower *grower, const struct pending *pending, struct lode_test test)
{
	size_t left = pending->begin, right = 0;

	for (size_t i = pending->begin; i < pending->end; i++) {
		uint32_t row = grower->rows[i];

		if (lode_test_row(grower->features, test, row))
			grower->scratch[right++] = row;
		else
			grower->rows[left++] = row;
	}
	memcpy(grower->rows + left, grower->scratch, right * sizeof(*grower->rows));
	return left;
}

static void count_rows(struct grower *grower, uint32_t node, size_t begin, size_t end)
{
	size_t *sizes = &grower->tree->sizes[node * grower->tree->clusters];

	for (size_t i = begin; i < end; i++)
		sizes[grower->labels[grower->rows[i]]]++;
	settle(grower->tree, node);
}

static void know(struct grower *grower, uint32_t feature)
{
	for (size_t i = 0; i < grower->known_count; i++)
		if (grower->known[i] == feature)
			return;
	if (grower->known_count < MAX_KNOWN)
		grower->known[grower->known_count++] = feature;
}

static int apply(struct grower *grower, const struct pending *pending, struct lode_test test, double threshold)
{
	uint32_t left = lode_tree_add(grower->tree), right = lode_tree_add(grower->tree);
	struct lode_tree_node *node;
	size_t middle;

	if (left == LODE_NONE || right == LODE_NONE)
		return LODE_SYSTEM;
	node = &grower->tree->nodes[pending->node];
	node->feature = test.feature;
	node->code = test.code;
	node->threshold = threshold;
	node->left = left;
	node->right = right;
	know(grower, test.feature);
	middle = divide(grower, pending, test);
	count_rows(grower, left, pending->begin, middle);
	count_rows(grower, right, middle, pending->end);
	if (push(grower, right, middle, pending->end, pending->depth + 1) < 0)
		return LODE_SYSTEM;
	return push(grower, left, pending->begin, middle, pending->depth + 1);
}

/* Nats by which the description gets shorter through one split. */
static double net_gain(const struct lode_node_rows *node, const struct lode_split *split)
{
	size_t right[LODE_MAX_CLUSTERS];

	if (split->test.feature == LODE_NONE)
		return -1;
	for (unsigned k = 0; k < node->clusters; k++)
		right[k] = node->sizes[k] - split->left[k];
	return lode_entropy_nats(node->sizes, node->clusters) - lode_entropy_nats(split->left, node->clusters) -
	       lode_entropy_nats(right, node->clusters) - lode_test_price(node->features, split->test.feature) -
	       lode_leaf_price(node->clusters);
}

/* Pairs before triples, as long as there is time for them in this tree; NULL: of all features. */
static int look_at_groups(struct grower *grower, const struct lode_node_rows *node, const uint32_t *only,
			  size_t count, struct lode_look_ahead *found)
{
	const struct lode_grow_options *options = grower->options;
	int code = 0;

	for (unsigned size = 2; code == 0 && size <= options->look_ahead && !found->count; size++) {
		double work = only ? 0 : lode_look_ahead_work(node, count, size);

		if (work > grower->looks_left) {
			grower->tree->not_looked++;
			return 0;
		}
		grower->looks_left -= work;
		code = lode_look_ahead(node, only, count, size, options->seed, options->jobs, found);
	}
	return code;
}

/* Looks at groups of features that the tree asks already, then of all. */
static int look_ahead(struct grower *grower, const struct lode_node_rows *node, struct lode_look_ahead *found)
{
	int code = 0;

	found->count = 0;
	if (grower->known_count > 1)
		code = look_at_groups(grower, node, grower->known, grower->known_count, found);
	if (code < 0 || found->count)
		return code;
	return look_at_groups(grower, node, NULL, node->features->count, found);
}

/*
 * Where the best single test pays little or nothing, and the rows hold more than
 * it can explain, a group of tests may be what is needed; its first test is then
 * taken, and the others show in the children.
 */
static int consider_group(struct grower *grower, const struct lode_node_rows *node, struct lode_split *split,
			  double *gain)
{
	double entropy = lode_entropy_nats(node->sizes, node->clusters);
	double price = lode_leaf_price(node->clusters) + lode_test_price(node->features, 0);
	struct lode_look_ahead found;
	int code;

	if (grower->options->look_ahead < 2 || *gain > 2 * price || entropy < 3 * price + 2 * *gain)
		return 0;
	code = look_ahead(grower, node, &found);
	if (code < 0 || !found.count || found.gain - found.price <= *gain)
		return code;
	*gain = found.gain - found.price;
	split->test = found.tests[0];
	split->threshold = found.thresholds[0];
	return 0;
}

static int split_node(struct grower *grower, const struct pending *pending)
{
	struct lode_tree *tree = grower->tree;
	struct lode_node_rows node = {
		.features = grower->features,
		.labels = grower->labels,
		.clusters = tree->clusters,
		.rows = grower->rows + pending->begin,
		.count = pending->end - pending->begin,
		.sizes = &tree->sizes[pending->node * tree->clusters],
	};
	struct lode_split split;
	double gain = 1;
	int code = 0;

	if (grower->options->deepest && pending->depth >= grower->options->deepest)
		return 0;
	if (!grower->features->count || lode_gini(node.sizes, node.clusters) <= 1e-9)
		return 0;
	lode_split_find(&node, grower->options->criterion, &grower->space, &split);
	if (grower->options->priced) {
		gain = net_gain(&node, &split);
		code = consider_group(grower, &node, &split, &gain);
	}
	if (code < 0 || split.test.feature == LODE_NONE || gain <= 0)
		return code;
	return apply(grower, pending, split.test, split.threshold);
}

static int grow(struct grower *grower)
{
	size_t count = 0;
	int code;

	/* Dividing keeps the order, so that the rows of every node are grouped by cluster. */
	for (unsigned k = 0; k < grower->tree->clusters; k++)
		for (size_t i = 0; i < grower->features->rows; i++)
			if (grower->labels[i] == k)
				grower->rows[count++] = (uint32_t)i;
	if (lode_tree_add(grower->tree) == LODE_NONE || push(grower, 0, 0, count, 0) < 0)
		return LODE_SYSTEM;
	count_rows(grower, 0, 0, count);
	while (grower->stack_count) {
		struct pending pending = grower->stack[--grower->stack_count];

		code = split_node(grower, &pending);
		if (code < 0)
			return code;
	}
	return 0;
}

int lode_tree_grow(struct lode_tree *tree, const struct lode_features *features, const uint32_t *labels,
		   unsigned clusters, const struct lode_grow_options *options, struct lode_error *error)
{
	struct grower grower = { .tree = tree, .features = features, .labels = labels, .options = options };
	int code = LODE_SYSTEM;

	memset(tree, 0, sizeof(*tree));
	tree->clusters = clusters;
	grower.rows = lode_calloc(features->rows, sizeof(*grower.rows));
	grower.scratch = lode_calloc(features->rows, sizeof(*grower.scratch));
	grower.looks_left = MAX_LOOKS;
	if (lode_split_space_make(&grower.space, features, clusters) == 0 && grower.rows && grower.scratch)
		code = grow(&grower);
	lode_free(grower.rows);
	lode_free(grower.scratch);
	lode_split_space_release(&grower.space);
	lode_free(grower.stack);
	if (code < 0) {
		lode_tree_release(tree);
		return lode_fail_memory(error);
	}
	return 0;
}
