/*
 * Sums of many streams, kept once for nodes that no stream has distinguished, against adding
 * the sums of each node alone.
 */
#include "cmocka_all.h"
#include "latency_node.h"
#include "random_calls.h"

#include "latency/merged_sums.h"

#include <math.h>
#include <string.h>

#define NODES 4096

struct plain {
	struct lode_dictionary dictionary;
	struct lode_latency_node nodes[NODES];
	struct lode_sketch sketch;
	struct lode_merged_sums sums;
	size_t parted; /* streams after the first that had nodes of one class in several chains */
};

static void add_plain(struct lode_latency_node *to, const struct lode_latency_node *from)
{
	to->count += from->count;
	to->conservative = lode_add_saturating(to->conservative, from->conservative);
	to->aggressive = lode_add_saturating(to->aggressive, from->aggressive);
	to->estimate = lode_add_saturating(to->estimate, from->estimate);
	to->waited = lode_add_saturating(to->waited, from->waited);
	to->idle = lode_add_saturating(to->idle, from->idle);
	to->unsure = lode_add_saturating(to->unsure, from->unsure);
	to->longest = from->longest > to->longest ? from->longest : to->longest;
	to->variance += floor(from->variance + 0.5); /* whole numbers, all exact */
	to->gap = from->gap > to->gap ? from->gap : to->gap;
}

static void add_stream(struct plain *plain, uint64_t *seed)
{
	struct lode_latency_partial partial = { 0 };
	struct lode_dictionary_map map = { 0 };
	size_t classes = plain->sums.class_count;

	assert_int_equal(lode_dictionary_init(&partial.dictionary), 0);
	lode_stream_init(&partial.stream, &partial.dictionary);
	random_calls(&partial.stream, seed);
	assert_int_equal(lode_latency_partial_add(&partial, NULL), 0);
	if (!random_below(seed, 3)) {
		partial.unsure = lode_calloc(partial.dictionary.tree.count, sizeof(*partial.unsure));
		for (size_t i = 1; i < partial.dictionary.tree.count; i++)
			partial.unsure[i] = random_below(seed, 5);
	}
	assert_int_equal(lode_dictionary_merge(&plain->dictionary, &partial.dictionary, &map), 0);
	assert_in_range(plain->dictionary.tree.count, 1, NODES);
	for (uint32_t node = 1; node < partial.dictionary.tree.count; node++) {
		struct lode_latency_node sums = node_of(&partial, node);

		if (!sums.count)
			continue;
		add_plain(&plain->nodes[map.nodes[node]], &sums);
		assert_int_equal(lode_sketch_merge_row(&plain->sketch, map.nodes[node],
						       &partial.sketch.rows[partial.chains.of[node]]),
				 0);
	}
	assert_int_equal(lode_merged_sums_add(&plain->sums, &partial, map.nodes, plain->dictionary.tree.count), 0);
	plain->parted += classes && plain->sums.class_count > classes;
	lode_dictionary_map_release(&map);
	lode_latency_partial_release(&partial);
}

static void compare(struct plain *plain)
{
	size_t count = plain->dictionary.tree.count;
	struct lode_latency_node *nodes = NULL;
	struct lode_sketch sketch = { 0 };

	assert_int_equal(lode_merged_sums_finish(&plain->sums, count, &nodes, &sketch), 0);
	assert_memory_equal(nodes, plain->nodes, count * sizeof(*nodes));
	for (uint32_t node = 0; node < count; node++) {
		struct lode_sketch_step left[512], right[512];
		uint32_t steps = lode_sketch_steps(&plain->sketch, node, left);

		assert_int_equal(lode_sketch_steps(&sketch, node, right), steps);
		for (uint32_t i = 0; i < steps; i++) {
			assert_int_equal(left[i].step, right[i].step);
			assert_int_equal(left[i].count, right[i].count);
		}
	}
	lode_free(nodes);
	lode_sketch_release(&sketch);
}

static void merged_sums_are_those_of_each_node_alone(void **state)
{
	static struct plain plain;
	uint64_t seed = 12;
	size_t parted = 0;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		memset(&plain, 0, sizeof(plain));
		assert_int_equal(lode_dictionary_init(&plain.dictionary), 0);
		for (uint64_t streams = random_below(&seed, 8); streams; streams--)
			add_stream(&plain, &seed);
		compare(&plain);
		parted += plain.parted;
		lode_merged_sums_release(&plain.sums);
		lode_sketch_release(&plain.sketch);
		lode_dictionary_release(&plain.dictionary);
	}
	assert_true(parted > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merged_sums_are_those_of_each_node_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
