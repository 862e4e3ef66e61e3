/*
 * Trees: splits against a slow search of all of them, whole trees against those of
 * scikit-learn that are stored, shortest trees against an enumeration of every tree,
 * and parity, which greedy trees cannot learn.
 */
#include "cmocka_all.h"
#include "random_stream.h"

#include "explain/model/klinear.h"
#include "explain/tree/impurity.h"
#include "explain/tree/optimal_tree.h"
#include "explain/tree/tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A table with everything that belongs to it. */
struct world {
	struct lode_data_table table;
	struct lode_features features;
	uint32_t *labels;
	struct lode_costs costs;
};

static void world_release(struct world *world)
{
	lode_features_release(&world->features);
	lode_data_table_release(&world->table);
	free(world->labels);
	free(world->costs.cost);
}

static void make_features(struct world *world)
{
	unsigned char *use = malloc(world->table.count + 1);
	uint32_t *rows = malloc(world->table.rows * sizeof(*rows));

	memset(use, 1, world->table.count);
	for (size_t i = 0; i < world->table.rows; i++)
		rows[i] = (uint32_t)i;
	assert_int_equal(lode_features_make(&world->features, &world->table, use, rows, world->table.rows, NULL),
			 0);
	free(use);
	free(rows);
}

static void add_binary(struct world *world, uint64_t *seed)
{
	char name[16];
	struct lode_data_column *column;

	snprintf(name, sizeof(name), "f%zu", world->table.count);
	column = lode_data_table_add(&world->table, name, strlen(name), LODE_DATA_BINARY);
	for (size_t i = 0; i < world->table.rows; i++)
		if (random_below(seed, 2))
			lode_bit_set(column->bits, i);
}

static void add_number(struct world *world, uint64_t *seed, uint64_t values)
{
	struct lode_data_column *column = lode_data_table_add(&world->table, "n", 1, LODE_DATA_NUMBER);

	for (size_t i = 0; i < world->table.rows; i++)
		if (random_below(seed, 12))
			column->numbers[i] = (double)random_below(seed, values) - 2;
}

static void add_category(struct world *world, uint64_t *seed, uint64_t values)
{
	struct lode_data_column *column = lode_data_table_add(&world->table, "c", 1, LODE_DATA_CATEGORY);

	for (size_t i = 0; i < world->table.rows; i++) {
		char text[2] = { (char)('a' + random_below(seed, values)), '\0' };

		column->codes[i] = lode_strings_add(&column->values, text, 1);
	}
}

/* Random costs, near which the cluster of the row's label is mostly the cheapest. */
static void add_costs(struct world *world, unsigned clusters, uint64_t *seed, double wrong)
{
	size_t rows = world->table.rows;

	world->costs = (struct lode_costs){ .rows = rows, .clusters = clusters };
	world->costs.cost = malloc(rows * clusters * sizeof(float));
	for (size_t i = 0; i < rows; i++)
		for (unsigned k = 0; k < clusters; k++)
			world->costs.cost[i * clusters + k] = (float)((world->labels[i] == k ? -3 : wrong - 3) +
								      (double)random_below(seed, 1000) / 2000);
}

static void random_world(struct world *world, uint64_t *seed, size_t rows, size_t binary, unsigned clusters)
{
	memset(world, 0, sizeof(*world));
	lode_data_table_init(&world->table, rows);
	for (size_t i = 0; i < binary; i++)
		add_binary(world, seed);
	world->labels = malloc(rows * sizeof(*world->labels));
	for (size_t i = 0; i < rows; i++)
		world->labels[i] = (uint32_t)random_below(seed, clusters);
}

/* ---- growing ---- */

static double gini_of(const struct world *world, const int *side, int which)
{
	double counts[8] = { 0 }, rows = 0, sum = 0;

	for (size_t i = 0; i < world->table.rows; i++)
		if (side[i] == which) {
			counts[world->labels[i]]++;
			rows++;
		}
	for (int k = 0; k < 8 && rows > 0; k++)
		sum += counts[k] * counts[k];
	return rows > 0 ? rows - sum / rows : 0;
}

/* The least impurity of any test at the root, by trying all of them. */
static double least_impurity(const struct world *world)
{
	const struct lode_features *features = &world->features;
	double least = INFINITY;
	int *side = calloc(world->table.rows, sizeof(*side));

	for (uint32_t f = 0; f < features->count; f++) {
		uint32_t codes = features->items[f].kind == LODE_FEATURE_BITS ? 1 : features->items[f].value_count;

		for (uint32_t code = 0; code < codes; code++) {
			struct lode_test test = { f, code };
			size_t yes = 0;

			for (size_t i = 0; i < world->table.rows; i++)
				yes += (size_t)(side[i] = lode_test_row(features, test, i));
			if (yes && yes < world->table.rows)
				least = fmin(least, gini_of(world, side, 0) + gini_of(world, side, 1));
		}
	}
	free(side);
	return least;
}

static void the_root_is_the_best_of_all_splits(void **state)
{
	struct lode_grow_options how = { .criterion = LODE_GINI, .deepest = 1 };
	uint64_t seed = 5;

	(void)state;
	for (int round = 0; round < 400; round++) {
		struct world world;
		struct lode_tree tree;
		int *side;

		random_world(&world, &seed, 2 + random_below(&seed, 200), random_below(&seed, 5), 2 + round % 5);
		if (round % 2)
			add_number(&world, &seed, 2 + random_below(&seed, 20));
		if (round % 3)
			add_category(&world, &seed, 2 + random_below(&seed, 5));
		make_features(&world);
		assert_int_equal(lode_tree_grow(&tree, &world.features, world.labels, 8, &how, NULL), 0);
		if (tree.count > 1) {
			side = calloc(world.table.rows, sizeof(*side));
			for (size_t i = 0; i < world.table.rows; i++)
				side[i] = lode_tree_leaf(&tree, &world.features, i) == tree.nodes[0].right;
			assert_float_equal(gini_of(&world, side, 0) + gini_of(&world, side, 1),
					   least_impurity(&world), 1e-6);
			free(side);
		} else {
			int *all = calloc(world.table.rows, sizeof(*all));

			assert_true(least_impurity(&world) == INFINITY || gini_of(&world, all, 0) < 1e-9);
			free(all);
		}
		lode_tree_release(&tree);
		world_release(&world);
	}
}

static void a_full_tree_separates_all_rows_that_differ(void **state)
{
	struct lode_grow_options how = { .criterion = LODE_ENTROPY };
	uint64_t seed = 6;

	(void)state;
	for (int round = 0; round < 100; round++) {
		struct world world;
		struct lode_tree tree;

		random_world(&world, &seed, 60, 6, 3);
		make_features(&world);
		/* A label that the features decide. */
		for (size_t i = 0; i < world.table.rows; i++)
			world.labels[i] =
				(uint32_t)(world.features.by_row[i * world.features.row_words] * 2654435761u >> 13) %
				3;
		assert_int_equal(lode_tree_grow(&tree, &world.features, world.labels, 3, &how, NULL), 0);
		for (size_t i = 0; i < world.table.rows; i++)
			assert_int_equal(tree.nodes[lode_tree_leaf(&tree, &world.features, i)].cluster,
					 world.labels[i]);
		lode_tree_release(&tree);
		world_release(&world);
	}
}

/* ---- scikit-learn ---- */

static FILE *open_trees(void)
{
	return fopen(TEST_DATA "/explain/trees.txt", "r");
}

static void read_case(FILE *file, struct world *world, size_t rows, size_t columns)
{
	memset(world, 0, sizeof(*world));
	lode_data_table_init(&world->table, rows);
	for (size_t i = 0; i < columns; i++)
		assert_non_null(lode_data_table_add(&world->table, "n", 1, LODE_DATA_NUMBER));
	world->labels = malloc(rows * sizeof(*world->labels));
	for (size_t row = 0; row < rows; row++) {
		assert_int_equal(fscanf(file, "%u", &world->labels[row]), 1);
		for (size_t i = 0; i < columns; i++)
			assert_int_equal(fscanf(file, "%lf", &world->table.columns[i].numbers[row]), 1);
	}
	make_features(world);
}

static void compare_node(FILE *file, const struct world *world, const struct lode_tree *tree, uint32_t id)
{
	const struct lode_tree_node *node = &tree->nodes[id];
	char word[8];

	assert_int_equal(fscanf(file, "%7s", word), 1);
	if (!strcmp(word, "split")) {
		uint32_t column;
		double threshold;

		assert_int_equal(fscanf(file, "%u %lf", &column, &threshold), 2);
		assert_true(node->feature != LODE_NONE);
		assert_int_equal(world->features.items[node->feature].columns[0], column);
		assert_float_equal(node->threshold, threshold, 1e-9);
		compare_node(file, world, tree, node->left);
		compare_node(file, world, tree, node->right);
		return;
	}
	assert_int_equal(node->feature, LODE_NONE);
	for (unsigned k = 0; k < tree->clusters; k++) {
		size_t count;

		assert_int_equal(fscanf(file, "%zu", &count), 1);
		assert_int_equal(tree->sizes[id * tree->clusters + k], count);
	}
}

/*
 * Minimal cost-complexity pruning, with which most of these trees were made: the smallest subtree with the least sum of
 * impurity (weighted by its share of rows) and `alpha` a leaf.
 */
static void prune(struct lode_tree *tree, enum lode_criterion criterion, double alpha)
{
	double *below = calloc(tree->count, sizeof(*below));
	size_t rows = 0;

	for (unsigned k = 0; k < tree->clusters; k++)
		rows += tree->sizes[k];
	/* Children come after their parents: backwards is bottom-up. */
	for (size_t i = tree->count; i-- > 0;) {
		struct lode_tree_node *node = &tree->nodes[i];
		double own = lode_impurity(criterion, &tree->sizes[i * tree->clusters], tree->clusters) /
				     (double)(rows ? rows : 1) +
			     alpha;

		below[i] = own;
		if (node->feature == LODE_NONE)
			continue;
		if (own <= below[node->left] + below[node->right] + 1e-12)
			node->feature = LODE_NONE;
		else
			below[i] = below[node->left] + below[node->right];
	}
	free(below);
	assert_int_equal(lode_tree_tidy(tree, NULL), 0);
}

static void trees_are_those_of_scikit_learn(void **state)
{
	FILE *file = open_trees();
	size_t rows, columns, cases = 0;
	char criterion[16];
	unsigned clusters;
	double alpha;

	(void)state;
	assert_non_null(file);
	while (fscanf(file, " case %zu %zu %u %15s %lf", &rows, &columns, &clusters, criterion, &alpha) == 5) {
		struct lode_grow_options how = { .criterion = criterion[0] == 'g' ? LODE_GINI : LODE_ENTROPY };
		struct lode_tree tree;
		struct world world;

		read_case(file, &world, rows, columns);
		assert_int_equal(lode_tree_grow(&tree, &world.features, world.labels, clusters, &how, NULL), 0);
		/* Asked for 0, scikit-learn does not prune at all, not even what gains nothing. */
		if (alpha > 0)
			prune(&tree, how.criterion, alpha);
		compare_node(file, &world, &tree, 0);
		lode_tree_release(&tree);
		world_release(&world);
		cases++;
	}
	assert_int_equal(cases, 24);
	fclose(file);
}

/* ---- shortest trees ---- */

/* Telling each row's best cluster by itself, with the number of parameters that takes. */
static double mixed_leaf(const struct world *world, const unsigned char *in)
{
	unsigned clusters = world->costs.clusters;
	double sum = 0, sizes[8] = { 0 }, rows = 0;

	for (size_t i = 0; i < world->table.rows; i++) {
		const float *cost = world->costs.cost + i * clusters;
		unsigned best = 0;

		for (unsigned k = 1; k < clusters; k++)
			best = cost[k] < cost[best] ? k : best;
		if (in[i]) {
			sum += (double)cost[best];
			sizes[best]++;
			rows++;
		}
	}
	for (unsigned k = 0; k < clusters; k++)
		sum -= sizes[k] > 0 ? sizes[k] * log(sizes[k] / rows) : 0;
	return rows > 0 ? sum + (clusters - 1) / 2.0 * log(rows) : 0;
}

/* The least length of any tree over the binary features of these rows, by trying all trees of this depth. */
static double enumerate(const struct world *world, const unsigned char *in, uint32_t asked, unsigned depth)
{
	unsigned clusters = world->costs.clusters;
	double best = mixed_leaf(world, in) + log(clusters) + log(2);
	size_t rows = world->table.rows;

	for (unsigned k = 0; k < clusters; k++) {
		double sum = log(clusters) + log(2);

		for (size_t i = 0; i < rows; i++)
			if (in[i])
				sum += (double)world->costs.cost[i * clusters + k];
		best = fmin(best, sum);
	}
	for (uint32_t f = 0; depth && f < world->features.count; f++) {
		unsigned char left[64], right[64];

		if (asked >> f & 1)
			continue;
		for (size_t i = 0; i < rows; i++) {
			right[i] = in[i] && lode_bit_get(world->features.items[f].bits, i);
			left[i] = in[i] && !right[i];
		}
		best = fmin(best, log(2) + log((double)world->features.count) +
					  enumerate(world, left, asked | 1u << f, depth - 1) +
					  enumerate(world, right, asked | 1u << f, depth - 1));
	}
	return best;
}

static double length_of(const struct world *world, const struct lode_tree *tree)
{
	double length = lode_tree_price(tree, &world->features);

	for (uint32_t id = 0; id < tree->count; id++) {
		double pure = 0;
		unsigned char in[64];

		if (tree->nodes[id].feature != LODE_NONE)
			continue;
		for (size_t i = 0; i < world->table.rows; i++) {
			in[i] = lode_tree_leaf(tree, &world->features, i) == id;
			if (in[i])
				pure += (double)world->costs.cost[i * world->costs.clusters + tree->nodes[id].cluster];
		}
		length += fmin(pure, mixed_leaf(world, in));
	}
	return length;
}

static void shortest_trees_are_as_short_as_any(void **state)
{
	struct lode_learn_options how = { 3, 1, 1 };
	uint64_t seed = 8;

	(void)state;
	for (int round = 0; round < 300; round++) {
		unsigned clusters = 2 + round % 3, binary = 1 + round % 5;
		unsigned char all[64];
		struct world world;
		struct lode_tree tree;

		random_world(&world, &seed, 10 + random_below(&seed, 50), binary, clusters);
		make_features(&world);
		for (size_t i = 0; i < world.table.rows; i++)
			if (random_below(&seed, 8))
				world.labels[i] =
					(uint32_t)(world.features.by_row[i] * (2654435761u + (unsigned)round) >>
						   11) %
					clusters;
		add_costs(&world, clusters, &seed, 1 + (double)random_below(&seed, 5));
		memset(all, 1, sizeof(all));
		assert_int_equal(lode_tree_learn(&tree, &world.features, &world.costs, &how, NULL), 0);
		assert_float_equal(length_of(&world, &tree), enumerate(&world, all, 0, binary), 1e-3);
		lode_tree_release(&tree);
		for (unsigned depth = 1; depth <= 4; depth++) {
			assert_int_equal(lode_tree_optimal(&tree, &world.features, &world.costs, depth, &how, NULL),
					 0);
			assert_float_equal(length_of(&world, &tree), enumerate(&world, all, 0, depth), 1e-3);
			assert_true(lode_tree_height(&tree) <= depth);
			lode_tree_release(&tree);
		}
		world_release(&world);
	}
}

static void too_many_columns_for_an_optimal_tree_are_refused(void **state)
{
	struct lode_learn_options how = { 3, 1, 1 };
	struct lode_error error = { "" };
	struct lode_tree tree;
	struct world world;
	uint64_t seed = 9;

	(void)state;
	random_world(&world, &seed, 200, 50, 2);
	make_features(&world);
	add_costs(&world, 2, &seed, 5);
	assert_int_equal(lode_tree_optimal(&tree, &world.features, &world.costs, 4, &how, &error), LODE_USAGE);
	assert_non_null(strstr(error.text, "at most 40 tests"));
	world_release(&world);
}

/* ---- parity ---- */

static void parity_world(struct world *world, uint64_t *seed, size_t rows, size_t columns, unsigned tests)
{
	random_world(world, seed, rows, columns, 2);
	make_features(world);
	for (size_t i = 0; i < rows; i++) {
		world->labels[i] = 0;
		for (unsigned t = 0; t < tests; t++)
			world->labels[i] ^= (uint32_t)lode_bit_get(world->features.items[7 + 5 * t].bits, i);
		if (random_below(seed, 100) == 0)
			world->labels[i] ^= 1;
	}
	add_costs(world, 2, seed, 6);
}

static void learn_parity(size_t rows, size_t columns, unsigned tests)
{
	struct lode_learn_options how = { 3, 2, 1 };
	struct lode_tree tree;
	struct world world;
	uint64_t seed = 31 + columns;

	parity_world(&world, &seed, rows, columns, tests);
	assert_int_equal(lode_tree_learn(&tree, &world.features, &world.costs, &how, NULL), 0);
	assert_int_equal(lode_tree_leaves(&tree), 1u << tests);
	assert_int_equal(lode_tree_height(&tree), tests);
	lode_tree_release(&tree);
	world_release(&world);
}

static void parity_of_two_and_three_is_learned_among_dummies(void **state)
{
	(void)state;
	learn_parity(400, 30, 2);
	learn_parity(400, 120, 3); /* all triples */
	learn_parity(800, 400, 3); /* by hashing */
	learn_parity(800, 1500, 2);
}

static void what_was_not_looked_at_is_counted(void **state)
{
	struct lode_grow_options how = { .criterion = LODE_GINI, .priced = 1, .look_ahead = 3, .jobs = 1 };
	struct lode_tree tree;
	struct world world;
	uint64_t seed = 14;

	(void)state;
	for (unsigned columns = 300; columns <= 17300; columns += 17000) {
		uint32_t labels[100];

		random_world(&world, &seed, 100, columns, 2);
		make_features(&world);
		for (size_t i = 0; i < 100; i++)
			labels[i] = (uint32_t)random_below(&seed, 2);
		assert_int_equal(lode_tree_grow(&tree, &world.features, labels, 2, &how, NULL), 0);
		/* Pairs can be looked at even of the many, triples cannot. */
		assert_int_equal(tree.not_looked > 0, columns > 300);
		lode_tree_release(&tree);
		world_release(&world);
	}
}

static void noise_is_not_explained(void **state)
{
	struct lode_learn_options how = { 3, 1, 1 };
	uint64_t seed = 12;

	(void)state;
	for (int round = 0; round < 20; round++) {
		struct lode_tree tree;
		struct world world;

		random_world(&world, &seed, 300, 40, 3);
		add_number(&world, &seed, 100);
		make_features(&world);
		add_costs(&world, 3, &seed, 4);
		assert_int_equal(lode_tree_learn(&tree, &world.features, &world.costs, &how, NULL), 0);
		assert_int_equal(tree.count, 1);
		lode_tree_release(&tree);
		world_release(&world);
	}
}

static void numbers_and_categories_are_split_where_they_should(void **state)
{
	struct lode_learn_options how = { 3, 1, 1 };
	struct lode_tree tree;
	struct world world;
	uint64_t seed = 13;

	(void)state;
	random_world(&world, &seed, 500, 12, 2);
	add_number(&world, &seed, 50);
	add_category(&world, &seed, 4);
	make_features(&world);
	for (size_t i = 0; i < 500; i++) {
		double number = world.table.columns[12].numbers[i];
		int is_a =
			!strcmp(lode_strings_get(&world.table.columns[13].values, world.table.columns[13].codes[i]),
				"a");

		world.labels[i] = is_a || (!isnan(number) && number > 10);
	}
	add_costs(&world, 2, &seed, 8);
	assert_int_equal(lode_tree_learn(&tree, &world.features, &world.costs, &how, NULL), 0);
	assert_int_equal(lode_tree_leaves(&tree), 3);
	for (size_t i = 0; i < tree.count; i++)
		if (tree.nodes[i].feature == 12)
			assert_true(tree.nodes[i].threshold == 10.5);
	for (size_t i = 0; i < 500; i++)
		assert_int_equal(tree.nodes[lode_tree_leaf(&tree, &world.features, i)].cluster, world.labels[i]);
	lode_tree_release(&tree);
	world_release(&world);
}

/* ---- memory ---- */

static void memory_that_runs_out_is_a_clean_error(void **state)
{
	struct lode_learn_options how = { 3, 1, 1 };
	struct world world;
	uint64_t seed = 14;

	(void)state;
	parity_world(&world, &seed, 300, 40, 2);
	for (int optimal = 0; optimal < 2; optimal++)
		for (uint64_t nth = 1;; nth++) {
			struct lode_error error = { "" };
			struct lode_tree tree;
			uint64_t asked;
			int code;

			lode_memory_fail_at(nth, 0);
			code = optimal ? lode_tree_optimal(&tree, &world.features, &world.costs, 2, &how, &error)
				       : lode_tree_learn(&tree, &world.features, &world.costs, &how, &error);
			asked = lode_memory_asked();
			lode_memory_fail_at(0, 0);
			if (code == 0) {
				lode_tree_release(&tree);
				if (asked < nth)
					break;
				continue;
			}
			assert_int_equal(code, LODE_SYSTEM);
			assert_string_not_equal(error.text, "");
		}
	world_release(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_root_is_the_best_of_all_splits),
		cmocka_unit_test(a_full_tree_separates_all_rows_that_differ),
		cmocka_unit_test(trees_are_those_of_scikit_learn),
		cmocka_unit_test(shortest_trees_are_as_short_as_any),
		cmocka_unit_test(too_many_columns_for_an_optimal_tree_are_refused),
		cmocka_unit_test(parity_of_two_and_three_is_learned_among_dummies),
		cmocka_unit_test(what_was_not_looked_at_is_counted),
		cmocka_unit_test(noise_is_not_explained),
		cmocka_unit_test(numbers_and_categories_are_split_where_they_should),
		cmocka_unit_test(memory_that_runs_out_is_a_clean_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
