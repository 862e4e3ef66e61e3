/*
 * The order of all stacks by name against comparing them two by two, and merging
 * sketches against adding their latencies one by one.
 */
#include "cmocka_all.h"
#include "random_stream.h"

#include "latency/contexts.h"
#include "latency/sketch.h"
#include "latency/stack_order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void random_stacks(struct lode_dictionary *dictionary, uint64_t *seed)
{
	uint64_t frames = 1 + random_below(seed, 12), nodes = random_below(seed, 60);

	assert_int_equal(lode_dictionary_init(dictionary), 0);
	for (uint64_t i = 0; i < nodes; i++) {
		char text[40];
		uint32_t frame, parent = (uint32_t)random_below(seed, dictionary->tree.count);

		/* Some names are the beginnings of others, some functions are in several modules. */
		snprintf(text, sizeof(text), "%s%.*s",
			 random_below(seed, 2)   ? "lib!"
			 : random_below(seed, 2) ? "a!"
						 : "",
			 1 + (int)random_below(seed, frames), "abbabaabbaba");
		frame = lode_frames_parse(&dictionary->frames, text, strlen(text));
		assert_int_not_equal(lode_stack_tree_child(&dictionary->tree, parent, frame), LODE_NONE);
	}
}

static void the_order_of_all_stacks_is_that_of_each_two(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct lode_dictionary dictionary;
		uint32_t *places;
		size_t count;

		random_stacks(&dictionary, &seed);
		places = lode_stack_order(&dictionary);
		count = dictionary.tree.count;
		assert_non_null(places);
		for (uint32_t a = 0; a < count; a++) {
			assert_in_range(places[a], 0, count - 1);
			for (uint32_t b = 0; b < count; b++) {
				int order = lode_stacks_compare(&dictionary, a, b);

				assert_int_equal((places[a] > places[b]) - (places[a] < places[b]),
						 (order > 0) - (order < 0));
			}
		}
		lode_free(places);
		lode_dictionary_release(&dictionary);
	}
}

static void contexts_come_by_own_time_and_then_by_name(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (int round = 0; round < 1000; round++) {
		struct lode_latency_node nodes[64] = { 0 };
		uint64_t own[64] = { 0 };
		struct lode_latency latency = { .nodes = nodes, .own = own };
		struct lode_contexts contexts;
		size_t seen = 0;

		random_stacks(&latency.dictionary, &seed);
		/* The tree may have grown since. */
		latency.node_count = 1 + random_below(&seed, latency.dictionary.tree.count);
		for (size_t i = 1; i < latency.node_count; i++) {
			seen += nodes[i].count = random_below(&seed, 2);
			own[i] = nodes[i].count * random_below(&seed, 3);
		}
		assert_int_equal(lode_contexts_rank(&latency, NULL, NULL, &contexts), 0);
		assert_int_equal(contexts.count, seen);
		for (size_t i = 0; i < contexts.count; i++) {
			uint32_t node = contexts.nodes[i], next = i + 1 < seen ? contexts.nodes[i + 1] : 0;

			assert_int_equal(nodes[node].count, 1);
			if (next)
				assert_true(own[node] > own[next] ||
					    (own[node] == own[next] &&
					     lode_stacks_compare(&latency.dictionary, node, next) < 0));
		}
		lode_contexts_release(&contexts);
		lode_dictionary_release(&latency.dictionary);
	}
}

/* ---- sketches ---- */

#define NODES 6

static uint64_t random_latency(uint64_t *seed)
{
	return random_next(seed) >> random_below(seed, 64);
}

static void assert_same_sketch(const struct lode_sketch *a, const struct lode_sketch *b)
{
	for (uint32_t node = 0; node < NODES; node++) {
		struct lode_sketch_step left[600], right[600];
		uint32_t count = lode_sketch_steps(a, node, NULL);

		assert_in_range(count, 0, 600);
		assert_int_equal(lode_sketch_steps(b, node, NULL), count);
		lode_sketch_steps(a, node, left);
		lode_sketch_steps(b, node, right);
		for (uint32_t i = 0; i < count; i++) {
			assert_int_equal(left[i].step, right[i].step);
			assert_int_equal(left[i].count, right[i].count);
		}
	}
}

static void add_one(struct lode_sketch *sketch, uint32_t node, uint64_t latency)
{
	struct lode_sketch_step step = { lode_sketch_step(latency), 1 };

	assert_int_equal(lode_sketch_put(sketch, node, &step, 1), 0);
}

static void merge(struct lode_sketch *sketch, const struct lode_sketch *from, const uint32_t *nodes)
{
	for (size_t node = 0; node < from->count; node++)
		assert_int_equal(lode_sketch_merge_row(sketch, nodes[node], &from->rows[node]), 0);
}

/* Adds to a part and, under the node's name in the whole, to the sketch of all. */
static void add_latencies(struct lode_sketch *part, struct lode_sketch *all, const uint32_t *nodes, uint64_t *seed)
{
	uint64_t count = random_below(seed, 3) ? random_below(seed, 40) : random_below(seed, 1500);

	while (count--) {
		uint32_t node = (uint32_t)random_below(seed, NODES);
		uint64_t latency = random_latency(seed);

		add_one(part, node, latency);
		add_one(all, nodes[node], latency);
	}
}

static void merged_sketches_are_those_of_all_latencies(void **state)
{
	uint64_t seed = 6;

	(void)state;
	for (int round = 0; round < 400; round++) {
		struct lode_sketch all = { 0 }, merged = { 0 };
		uint32_t nodes[NODES];

		for (uint64_t parts = random_below(&seed, 6); parts; parts--) {
			struct lode_sketch part = { 0 };

			/* Two nodes of a part may be one of the whole. */
			for (uint32_t i = 0; i < NODES; i++)
				nodes[i] = (uint32_t)random_below(&seed, NODES);
			add_latencies(&part, &all, nodes, &seed);
			merge(&merged, &part, nodes);
			lode_sketch_release(&part);
		}
		assert_same_sketch(&merged, &all);
		lode_sketch_release(&all);
		lode_sketch_release(&merged);
	}
}

static void sketches_of_batches_are_those_of_all_latencies(void **state)
{
	uint64_t seed = 8;

	(void)state;
	for (int round = 0; round < 400; round++) {
		struct lode_sketch all = { 0 }, batched = { 0 };
		struct lode_sketch_batch batch;

		assert_int_equal(lode_sketch_batch_init(&batch, NODES, 1 + random_below(&seed, 100)), 0);
		for (uint64_t count = random_below(&seed, 600); count; count--) {
			uint32_t node = (uint32_t)random_below(&seed, NODES);
			uint64_t latency = random_below(&seed, 50) ? random_latency(&seed) : UINT64_MAX;

			add_one(&all, node, latency);
			assert_int_equal(lode_sketch_batch_add(&batch, &batched, node, latency), 0);
		}
		assert_int_equal(lode_sketch_batch_flush(&batch, &batched), 0);
		assert_same_sketch(&batched, &all);
		lode_sketch_batch_release(&batch);
		lode_sketch_release(&all);
		lode_sketch_release(&batched);
	}
}

static void counts_that_are_full_stay_full_when_merged(void **state)
{
	struct lode_sketch sketch = { 0 }, part = { 0 };
	struct lode_sketch_step steps[] = { { 3, UINT32_MAX - 1 }, { 9, 1 } }, got[2];
	uint32_t nodes[] = { 0 };

	(void)state;
	assert_int_equal(lode_sketch_put(&sketch, 0, steps, 2), 0);
	assert_int_equal(lode_sketch_put(&part, 0, steps, 2), 0);
	merge(&sketch, &part, nodes);
	assert_int_equal(lode_sketch_steps(&sketch, 0, got), 2);
	assert_int_equal(got[0].count, UINT32_MAX);
	assert_int_equal(got[1].count, 2);
	lode_sketch_release(&sketch);
	lode_sketch_release(&part);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_order_of_all_stacks_is_that_of_each_two),
		cmocka_unit_test(contexts_come_by_own_time_and_then_by_name),
		cmocka_unit_test(merged_sketches_are_those_of_all_latencies),
		cmocka_unit_test(sketches_of_batches_are_those_of_all_latencies),
		cmocka_unit_test(counts_that_are_full_stay_full_when_merged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
