/*
 * Latencies of a corpus: sums on nodes against sums over the instances themselves,
 * normalising, quantiles, and that threads change nothing.
 */
#include "cmocka_all.h"

#include "latency/latency.h"
#include "random_corpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void collect(struct fixture *fixture, const struct lode_latency_options *options,
		    struct lode_latency *latency)
{
	if (lode_latency_collect(fixture->corpus, options, NULL, latency, &fixture->error))
		fail_msg("%s", fixture->error.text);
}

/* ---- sums ---- */

/* The sums of one context, found by the text of its frames. */
struct sums {
	char *text;
	uint64_t count, conservative, aggressive, aggressive_end, waited, longest;
	uint64_t *estimates;
};

struct table {
	struct sums *items;
	size_t count;
	const struct lode_stream *stream;
};

static void stack_text(const struct lode_dictionary *dictionary, uint32_t node, struct lode_buffer *buffer)
{
	uint32_t parent = dictionary->tree.nodes[node].parent;

	if (parent)
		stack_text(dictionary, parent, buffer);
	lode_frames_text(&dictionary->frames, dictionary->tree.nodes[node].frame, buffer);
	lode_buffer_byte(buffer, '\n');
}

static char *text_of(const struct lode_dictionary *dictionary, uint32_t node)
{
	struct lode_buffer buffer = { 0 };

	stack_text(dictionary, node, &buffer);
	lode_buffer_byte(&buffer, '\0');
	assert_false(buffer.failed);
	return buffer.bytes;
}

static struct sums *sums_of(struct table *table, const struct lode_dictionary *dictionary, uint32_t node)
{
	char *text = text_of(dictionary, node);

	for (size_t i = 0; i < table->count; i++)
		if (!strcmp(table->items[i].text, text)) {
			lode_free(text);
			return &table->items[i];
		}
	table->items = realloc(table->items, (table->count + 1) * sizeof(*table->items));
	table->items[table->count] = (struct sums){ .text = text };
	return &table->items[table->count++];
}

static int next_stream(void *context, const struct lode_stream *stream)
{
	struct table *table = context;

	table->stream = stream;
	return 0;
}

static int add_up(void *context, const struct lode_instance *instance)
{
	struct table *table = context;
	struct sums *sums = sums_of(table, table->stream->dictionary, instance->node);
	uint64_t estimate = instance->end - instance->begin;

	sums->estimates = realloc(sums->estimates, (sums->count + 1) * sizeof(*sums->estimates));
	sums->estimates[sums->count++] = estimate;
	sums->conservative += instance->last - instance->first;
	sums->aggressive += instance->after - instance->before;
	sums->aggressive_end += instance->after - instance->first;
	sums->waited += instance->waited;
	if (estimate > sums->longest)
		sums->longest = estimate;
	assert_true(instance->before <= instance->begin && instance->begin <= instance->first);
	assert_true(instance->last <= instance->end && instance->end <= instance->after);
	return 0;
}

static void table_release(struct table *table)
{
	for (size_t i = 0; i < table->count; i++) {
		lode_free(table->items[i].text);
		free(table->items[i].estimates);
	}
	free(table->items);
}

static void check_sums(struct fixture *fixture, int aggressive_end)
{
	struct lode_latency_options options = { .jobs = 3, .aggressive_end = aggressive_end };
	struct lode_latency latency;
	struct table table = { 0 };
	struct lode_instance_taker taker = { next_stream, add_up, &table };
	uint64_t instances = 0, contexts = 0;

	collect(fixture, &options, &latency);
	assert_int_equal(lode_latency_instances(fixture->corpus, &options, &taker, &fixture->error), 0);
	for (uint32_t node = 1; node < latency.dictionary.tree.count; node++) {
		const struct lode_latency_node *got = &latency.nodes[node];
		const struct sums *sums;

		if (!got->count)
			continue;
		sums = sums_of(&table, &latency.dictionary, node);
		assert_int_equal(got->count, sums->count);
		assert_int_equal(got->conservative, sums->conservative);
		assert_int_equal(got->aggressive, aggressive_end ? sums->aggressive_end : sums->aggressive);
		assert_int_equal(got->waited, sums->waited);
		assert_int_equal(got->longest, sums->longest);
		assert_true(lode_latency_low(got) >= got->waited && lode_latency_low(got) <= got->estimate);
		assert_true(lode_latency_high(got) >= got->estimate);
		instances += got->count;
		contexts++;
	}
	assert_int_equal(contexts, table.count);
	assert_int_equal(instances, latency.instances);
	assert_true(instances > 1000);
	table_release(&table);
	lode_latency_release(&latency);
}

static void nodes_hold_the_sums_of_all_instances(void **state)
{
	check_sums(*state, 0);
	check_sums(*state, 1);
}

static void own_latencies_add_up_to_what_the_roots_took(void **state)
{
	struct fixture *fixture = *state;
	struct lode_latency_options options = { 0 };
	struct lode_latency latency;
	uint64_t own = 0, roots = 0;

	collect(fixture, &options, &latency);
	for (uint32_t node = 1; node < latency.dictionary.tree.count; node++) {
		uint64_t children = 0;

		for (uint32_t child = node + 1; child < latency.dictionary.tree.count; child++)
			if (latency.dictionary.tree.nodes[child].parent == node)
				children += latency.nodes[child].estimate;
		assert_int_equal(latency.own[node], latency.nodes[node].estimate - children);
		own += latency.own[node];
		if (!latency.dictionary.tree.nodes[node].parent)
			roots += latency.nodes[node].estimate;
	}
	assert_int_equal(own, roots);
	lode_latency_release(&latency);
}

static void rows_by_stream_add_up_to_own_latencies(void **state)
{
	struct fixture *fixture = *state;
	struct lode_latency_options options = { 0 };
	struct lode_latency latency;
	uint64_t *sums;

	collect(fixture, &options, &latency);
	sums = calloc(latency.dictionary.tree.count, sizeof(*sums));
	for (size_t i = 0; i < latency.row_count; i++) {
		const struct lode_latency_row *row = &latency.rows[i];

		assert_true(row->stream < latency.stream_count);
		if (i)
			assert_true(row->node > row[-1].node ||
				    (row->node == row[-1].node && row->stream > row[-1].stream));
		sums[row->node] += row->own;
	}
	assert_memory_equal(sums, latency.own, latency.dictionary.tree.count * sizeof(*sums));
	free(sums);
	lode_latency_release(&latency);
}

static uint64_t sum_by(const struct lode_latency_node *node, enum lode_latency_rule rule)
{
	const uint64_t sums[LODE_RULES] = { node->estimate, node->conservative, node->aggressive };

	return sums[rule];
}

static void check_means(struct fixture *fixture, enum lode_latency_rule rule)
{
	struct lode_latency_options options = { 0 };
	struct lode_latency latency;
	double *means;

	collect(fixture, &options, &latency);
	means = lode_latency_own_means(&latency, rule);
	for (uint32_t node = 1; node < latency.dictionary.tree.count; node++) {
		double expected = 0;

		for (uint32_t other = node; other < latency.dictionary.tree.count; other++) {
			const struct lode_latency_node *sums = &latency.nodes[other];

			if (!sums->count)
				continue;
			if (other == node)
				expected += (double)sum_by(sums, rule) / (double)sums->count;
			else if (latency.dictionary.tree.nodes[other].parent == node)
				expected -= (double)sum_by(sums, rule) / (double)sums->count;
		}
		assert_true(means[node] - expected < 1e-3 && expected - means[node] < 1e-3);
	}
	lode_free(means);
	lode_latency_release(&latency);
}

static void means_follow_the_arithmetic_of_the_paper(void **state)
{
	for (int rule = 0; rule < LODE_RULES; rule++)
		check_means(*state, (enum lode_latency_rule)rule);
	assert_null(lode_latency_rule_name(LODE_RULES));
}

/* ---- quantiles ---- */

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void add_one(struct lode_sketch *sketch, uint32_t node, uint64_t latency)
{
	struct lode_sketch_step step = { lode_sketch_step(latency), 1 };

	assert_int_equal(lode_sketch_put(sketch, node, &step, 1), 0);
}

static void quantiles_are_right_within_a_sixteenth(void **state)
{
	static const double shares[] = { 0, 0.1, 0.5, 0.9, 0.99, 1 };
	uint64_t seed = 11;

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct lode_sketch sketch = { 0 };
		size_t count = 1 + random_below(&seed, 200);
		uint64_t *numbers = malloc(count * sizeof(*numbers));

		for (size_t i = 0; i < count; i++) {
			numbers[i] = random_number(&seed);
			add_one(&sketch, 7, numbers[i]);
			add_one(&sketch, 8, 3);
		}
		qsort(numbers, count, sizeof(*numbers), by_number);
		for (size_t i = 0; i < 6; i++) {
			uint64_t exact = numbers[(size_t)(shares[i] * (double)(count - 1) + 0.5)];
			uint64_t got = lode_sketch_quantile(&sketch, 7, shares[i]);

			assert_true((got > exact ? got - exact : exact - got) <= exact / 16 + (exact >= 16));
			assert_int_equal(lode_sketch_quantile(&sketch, 8, shares[i]), 3);
		}
		assert_int_equal(lode_sketch_quantile(&sketch, 6, 0.5), 0);
		assert_int_equal(lode_sketch_quantile(&sketch, 9, 0.5), 0);
		lode_sketch_release(&sketch);
		free(numbers);
	}
}

static void steps_of_a_sketch_follow_one_another_without_gaps(void **state)
{
	(void)state;
	for (uint32_t step = 0; step < 495; step++) {
		uint64_t next = lode_sketch_floor(step + 1);

		assert_int_equal(lode_sketch_step(lode_sketch_floor(step)), step);
		assert_int_equal(lode_sketch_step(next - 1), step);
	}
	assert_int_equal(lode_sketch_step(UINT64_MAX), 495);
}

/* ---- options ---- */

static void threads_change_nothing(void **state)
{
	struct fixture *fixture = *state;
	struct lode_latency_options one = { .jobs = 1 }, many = { .jobs = 4 };
	struct lode_latency a, b;

	collect(fixture, &one, &a);
	collect(fixture, &many, &b);
	assert_int_equal(a.dictionary.tree.count, b.dictionary.tree.count);
	assert_memory_equal(a.nodes, b.nodes, a.dictionary.tree.count * sizeof(*a.nodes));
	assert_memory_equal(a.own, b.own, a.dictionary.tree.count * sizeof(*a.own));
	assert_int_equal(a.row_count, b.row_count);
	assert_memory_equal(a.rows, b.rows, a.row_count * sizeof(*a.rows));
	for (uint32_t node = 1; node < a.node_count; node++)
		for (double share = 0; share <= 1; share += 0.25)
			assert_int_equal(lode_latency_quantile(&a, node, share),
					 lode_latency_quantile(&b, node, share));
	lode_latency_release(&a);
	lode_latency_release(&b);
}

static void only_streams_that_were_asked_for_count(void **state)
{
	static const char *const where[] = { "version=1", NULL }, *const names[] = { "s1", "s2", NULL };
	static const char *const nowhere[] = { "version=9", NULL };
	struct fixture *fixture = *state;
	struct lode_latency_options options = { .where = where };
	struct lode_latency latency;

	collect(fixture, &options, &latency);
	assert_int_equal(latency.stream_count, 2);
	lode_latency_release(&latency);
	options.streams = names;
	collect(fixture, &options, &latency);
	assert_int_equal(latency.stream_count, 1);
	assert_string_equal(lode_strings_get(&latency.dictionary.frames.strings, latency.streams[0].name), "s1");
	lode_latency_release(&latency);
	options.where = nowhere;
	assert_int_equal(lode_latency_collect(fixture->corpus, &options, NULL, &latency, &fixture->error),
			 LODE_USAGE);
	assert_non_null(strstr(fixture->error.text, "version=9"));
}

/* ---- idle ---- */

static void idle_waits_are_no_part_of_own_latency(void **state)
{
	struct fixture *fixture = *state;
	struct lode_latency_options options = { 0 };
	struct lode_idle_rules *rules;
	struct lode_latency with, without;
	uint64_t all = 0, busy = 0, idle = 0;

	assert_int_equal(lode_idle_rules_load(&rules, NULL, &fixture->error), 0);
	collect(fixture, &options, &with);
	options.idle = rules;
	collect(fixture, &options, &without);
	for (uint32_t node = 1; node < with.dictionary.tree.count; node++) {
		assert_int_equal(with.nodes[node].estimate, without.nodes[node].estimate);
		assert_true(without.own[node] <= with.own[node]);
		all += with.own[node];
		busy += without.own[node];
		if (!with.dictionary.tree.nodes[node].parent)
			idle += without.nodes[node].idle;
	}
	assert_true(all - busy <= idle);
	lode_latency_release(&with);
	lode_latency_release(&without);
	lode_idle_rules_free(rules);
}

static void memory_that_runs_out_is_reported(void **state)
{
	struct fixture *fixture = *state;
	struct lode_latency_options options = { .jobs = 1 };

	for (uint64_t nth = 1;; nth += 1 + nth / 50) {
		struct lode_latency latency;
		struct lode_error error = { "" };
		uint64_t asked;
		int code;

		lode_memory_fail_at(nth, nth % 2);
		code = lode_latency_collect(fixture->corpus, &options, NULL, &latency, &error);
		asked = lode_memory_asked();
		lode_memory_fail_at(0, 0);
		if (!code) {
			lode_latency_release(&latency);
			assert_true(asked < nth);
			break;
		}
		assert_int_equal(code, LODE_SYSTEM);
		assert_true(error.text[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_hold_the_sums_of_all_instances),
		cmocka_unit_test(own_latencies_add_up_to_what_the_roots_took),
		cmocka_unit_test(rows_by_stream_add_up_to_own_latencies),
		cmocka_unit_test(means_follow_the_arithmetic_of_the_paper),
		cmocka_unit_test(quantiles_are_right_within_a_sixteenth),
		cmocka_unit_test(steps_of_a_sketch_follow_one_another_without_gaps),
		cmocka_unit_test(threads_change_nothing),
		cmocka_unit_test(only_streams_that_were_asked_for_count),
		cmocka_unit_test(idle_waits_are_no_part_of_own_latency),
		cmocka_unit_test(memory_that_runs_out_is_reported),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
