/* Tree: the struct itself, and its measures: see tree.h. */
#include "explain/tree/tree.h"

#include <string.h>

void lode_tree_release(struct lode_tree *tree)
{
	lode_free(tree->nodes);
	lode_free(tree->sizes);
	memset(tree, 0, sizeof(*tree));
}

uint32_t lode_tree_add(struct lode_tree *tree)
{
	if (tree->count >= LODE_NONE - 1 || LODE_GROW(tree->nodes, tree->capacity, tree->count + 1) < 0 ||
	    LODE_GROW(tree->sizes, tree->size_capacity, (tree->count + 1) * tree->clusters) < 0)
		return LODE_NONE;
	memset(&tree->sizes[tree->count * tree->clusters], 0, tree->clusters * sizeof(*tree->sizes));
	tree->nodes[tree->count] = (struct lode_tree_node){ .feature = LODE_NONE };
	return (uint32_t)tree->count++;
}

uint32_t lode_tree_leaf(const struct lode_tree *tree, const struct lode_features *features, size_t row)
{
	uint32_t id = 0;

	while (tree->nodes[id].feature != LODE_NONE) {
		const struct lode_tree_node *node = &tree->nodes[id];
		struct lode_test test = { node->feature, node->code };

		id = lode_test_row(features, test, row) ? node->right : node->left;
	}
	return id;
}

size_t lode_tree_leaves(const struct lode_tree *tree)
{
	size_t leaves = 0;

	for (size_t i = 0; i < tree->count; i++)
		leaves += tree->nodes[i].feature == LODE_NONE;
	return leaves;
}

static unsigned height_below(const struct lode_tree *tree, uint32_t id)
{
	const struct lode_tree_node *node = &tree->nodes[id];
	unsigned left, right;

	if (node->feature == LODE_NONE)
		return 0;
	left = height_below(tree, node->left);
	right = height_below(tree, node->right);
	return 1 + (left > right ? left : right);
}

unsigned lode_tree_height(const struct lode_tree *tree)
{
	return height_below(tree, 0);
}

void lode_tree_count(struct lode_tree *tree, const struct lode_features *features, const uint32_t *labels)
{
	memset(tree->sizes, 0, tree->count * tree->clusters * sizeof(*tree->sizes));
	for (size_t row = 0; row < features->rows; row++)
		if (labels[row] != LODE_NONE)
			tree->sizes[lode_tree_leaf(tree, features, row) * tree->clusters + labels[row]]++;
	for (size_t i = tree->count; i-- > 0;) {
		const struct lode_tree_node *node = &tree->nodes[i];

		for (unsigned k = 0; node->feature != LODE_NONE && k < tree->clusters; k++)
			tree->sizes[i * tree->clusters + k] = tree->sizes[node->left * tree->clusters + k] +
							      tree->sizes[node->right * tree->clusters + k];
	}
}

size_t lode_tree_rows(const struct lode_tree *tree, uint32_t id)
{
	size_t rows = 0;

	for (unsigned k = 0; k < tree->clusters; k++)
		rows += tree->sizes[id * tree->clusters + k];
	return rows;
}

/* ---- tidying ---- */

void lode_tree_join(struct lode_tree *tree)
{
	for (size_t i = tree->count; i-- > 0;) {
		struct lode_tree_node *node = &tree->nodes[i];

		if (node->feature == LODE_NONE || tree->nodes[node->left].feature != LODE_NONE ||
		    tree->nodes[node->right].feature != LODE_NONE ||
		    tree->nodes[node->left].cluster != tree->nodes[node->right].cluster)
			continue;
		node->cluster = tree->nodes[node->left].cluster;
		node->feature = LODE_NONE;
	}
}

int lode_tree_tidy(struct lode_tree *tree, struct lode_error *error)
{
	struct lode_tree tidy = { .clusters = tree->clusters };
	uint32_t *from = NULL;
	size_t capacity = 0;

	if (LODE_GROW(from, capacity, tree->count) < 0)
		return lode_fail_memory(error);
	from[0] = 0;
	if (lode_tree_add(&tidy) == LODE_NONE)
		goto failed;
	for (size_t i = 0; i < tidy.count; i++) {
		struct lode_tree_node node = tree->nodes[from[i]];

		memcpy(&tidy.sizes[i * tidy.clusters], &tree->sizes[from[i] * tree->clusters],
		       tree->clusters * sizeof(*tree->sizes));
		if (node.feature != LODE_NONE) {
			uint32_t left = lode_tree_add(&tidy), right = lode_tree_add(&tidy);

			if (left == LODE_NONE || right == LODE_NONE)
				goto failed;
			from[left] = node.left;
			from[right] = node.right;
			node.left = left;
			node.right = right;
		}
		tidy.nodes[i] = node;
	}
	lode_free(from);
	lode_tree_release(tree);
	*tree = tidy;
	return 0;
failed:
	lode_free(from);
	lode_tree_release(&tidy);
	return lode_fail_memory(error);
}
