/*
 * Function counts, deep starters and conclusions. The oracles are written from the
 * paper's sentences and share no code with what they check: counts are taken by
 * looking through all samples for each question, connected subgraphs and distances
 * are closures of matrices.
 */
#include "cmocka_all.h"

#include "base/memory.h"
#include "base/student.h"
#include "hunt/search/conclusion.h"
#include "hunt/search/deep_start.h"
#include "random_stream.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST 12

static struct lode_program *new_program(void)
{
	struct lode_program *program;
	struct lode_error error;

	assert_int_equal(lode_program_create(&program, &error), 0);
	return program;
}

/* Counts a sample whose functions are the letters of `stack`, root first. */
static void add_letters(struct lode_counts *counts, struct lode_program *program, const char *stack, uint32_t host,
			uint32_t process)
{
	uint32_t functions[64];
	size_t depth = strlen(stack);
	struct lode_meter_sample sample = { .host = host,
					    .process = process,
					    .thread = process,
					    .weight = 1,
					    .counts = LODE_CPU_BOUND,
					    .functions = functions,
					    .depth = depth };

	for (size_t i = 0; i < depth; i++)
		functions[i] = lode_program_named(program, (char[]){ stack[i], '\0' });
	assert_int_equal(lode_counts_add(counts, &sample), 0);
}

static uint64_t count_of(const struct lode_count_graph *graph, struct lode_program *program, const char *name)
{
	uint32_t node = lode_count_node_find(graph, lode_program_named(program, name));

	return node == LODE_NONE ? 0 : graph->nodes[node].count;
}

static uint64_t edge_of(const struct lode_count_graph *graph, struct lode_program *program, const char *call)
{
	uint32_t caller = lode_program_named(program, (char[]){ call[0], '\0' });
	uint32_t callee = lode_program_named(program, (char[]){ call[1], '\0' });

	for (size_t i = 0; i < graph->edge_count; i++)
		if (graph->nodes[graph->edges[i].caller].function == caller &&
		    graph->nodes[graph->edges[i].callee].function == callee)
			return graph->edges[i].count;
	return 0;
}

static struct lode_focus whole(void)
{
	return (struct lode_focus){ LODE_NONE, LODE_NONE, LODE_NONE, LODE_NONE, 0 };
}

static void the_graph_of_figure_3_is_that_of_the_paper(void **state)
{
	static const struct {
		const char *name; /* of a node, or of caller and callee */
		uint64_t count;
	} figure[] = {
		{ "A", 4 },  { "B", 1 },  { "C", 2 },  { "D", 3 },  { "E", 1 },
		{ "F", 2 },  { "G", 1 },  { "AB", 1 }, { "AE", 1 }, { "AF", 2 },
		{ "BC", 1 }, { "EC", 1 }, { "CD", 2 }, { "FD", 1 }, { "FG", 1 },
	};
	struct lode_program *program = new_program();
	struct lode_counts counts = { 0 };
	struct lode_focus focus = whole();
	const struct lode_count_graph *graph;

	(void)state;
	add_letters(&counts, program, "ABCD", 0, 0);
	add_letters(&counts, program, "AECD", 0, 0);
	add_letters(&counts, program, "AFD", 0, 0);
	add_letters(&counts, program, "AFG", 0, 0);
	graph = lode_counts_graph(&counts, LODE_CPU_BOUND, &focus);
	assert_non_null(graph);
	assert_int_equal(graph->samples, 4);
	assert_int_equal(graph->node_count, 7);
	assert_int_equal(graph->edge_count, 8);
	for (size_t i = 0; i < sizeof(figure) / sizeof(*figure); i++)
		assert_int_equal(figure[i].name[1] ? edge_of(graph, program, figure[i].name)
						   : count_of(graph, program, figure[i].name),
				 figure[i].count);
	assert_null(lode_counts_graph(&counts, LODE_SYNC_WAITING, &focus));
	lode_counts_release(&counts);
	lode_program_destroy(program);
}

static void counts_are_kept_for_hosts_and_processes_as_in_figure_4(void **state)
{
	struct lode_program *program = new_program();
	struct lode_counts counts = { 0 };
	struct lode_focus focus = whole();

	(void)state;
	add_letters(&counts, program, "AB", 1, 10);
	add_letters(&counts, program, "AB", 1, 11);
	add_letters(&counts, program, "AC", 2, 20);
	assert_int_equal(count_of(lode_counts_graph(&counts, LODE_CPU_BOUND, &focus), program, "A"), 3);
	focus.host = 1;
	assert_int_equal(count_of(lode_counts_graph(&counts, LODE_CPU_BOUND, &focus), program, "A"), 2);
	assert_int_equal(count_of(lode_counts_graph(&counts, LODE_CPU_BOUND, &focus), program, "C"), 0);
	focus.process = 11;
	assert_int_equal(count_of(lode_counts_graph(&counts, LODE_CPU_BOUND, &focus), program, "B"), 1);
	focus.process = 12;
	assert_null(lode_counts_graph(&counts, LODE_CPU_BOUND, &focus));
	lode_counts_release(&counts);
	lode_program_destroy(program);
}

/* Random samples in some looks; what the graphs should have is summed up straight from their definition. */
#define DRAWN 60

struct drawn_sample {
	struct lode_meter_sample sample;
	uint32_t functions[4];
	uint64_t look;
	uint32_t module; /* of the innermost */
};

static void draw(struct drawn_sample *samples, uint64_t *seed)
{
	uint64_t look = 1;

	for (int i = 0; i < DRAWN; i++) {
		struct drawn_sample *it = &samples[i];

		look += random_below(seed, 4) ? 0 : random_below(seed, 9);
		it->look = look;
		for (int f = 0; f < 4; f++)
			it->functions[f] = (uint32_t)random_below(seed, 5);
		it->sample = (struct lode_meter_sample){ .process = (uint32_t)random_below(seed, 2),
							 .weight = random_below(seed, 1000),
							 .counts = LODE_CPU_BOUND,
							 .functions = it->functions,
							 .depth = random_below(seed, 5),
							 .drawn = (int)random_below(seed, 2),
							 .cut = (int)random_below(seed, 2) };
		it->module = it->sample.depth ? 100 + it->functions[it->sample.depth - 1] / 3 : LODE_NONE;
	}
}

struct sums {
	double weight, recent, cut;
	uint64_t drawn;
};

/* Of the samples of a process that hold a function; LODE_NONE: of all; from 100 on: that end in a module. */
static struct sums sum_up(const struct drawn_sample *samples, uint32_t process, uint32_t function)
{
	struct sums sums = { 0 };
	uint64_t last = 0;

	for (int i = 0; i < DRAWN; i++)
		if (samples[i].sample.process == process &&
		    (function < 100 || samples[i].module != LODE_NONE || function == LODE_NONE))
			last = samples[i].look;
	for (int i = 0; i < DRAWN; i++) {
		const struct lode_meter_sample *sample = &samples[i].sample;
		int held = function == LODE_NONE || (function >= 100 && samples[i].module == function);

		for (size_t f = 0; f < sample->depth; f++)
			held |= sample->functions[f] == function;
		if (!held || sample->process != process)
			continue;
		sums.weight += (double)sample->weight;
		sums.recent +=
			(double)sample->weight * pow(0.5, (double)(last - samples[i].look) / LODE_COUNT_HALVES);
		sums.cut += sample->cut ? (double)sample->weight : 0;
		sums.drawn += sample->drawn != 0;
	}
	return sums;
}

static void check_node(const struct lode_count_graph *graph, uint32_t function, const struct sums *sums,
		       const struct sums *all, int has_cuts)
{
	uint32_t node = graph ? lode_count_node_find(graph, function) : LODE_NONE;

	if (node == LODE_NONE) {
		assert_true(sums->weight == 0);
		return;
	}
	assert_true((double)graph->nodes[node].weight == sums->weight);
	assert_true((double)graph->nodes[node].cut == (has_cuts ? sums->cut : 0));
	if (all->recent > 0)
		assert_true(fabs(lode_count_recent_share(graph, node) - sums->recent / all->recent) < 1e-9);
}

static void samples_are_counted_as_cut_as_drawn_lately_and_by_module(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct lode_counts counts = { 0 };
		struct drawn_sample samples[DRAWN];
		struct lode_focus focus = whole();

		draw(samples, &seed);
		for (int i = 0; i < DRAWN; i++) {
			counts.look = samples[i].look;
			assert_int_equal(lode_counts_add(&counts, &samples[i].sample), 0);
			if (samples[i].module != LODE_NONE)
				assert_int_equal(lode_counts_add_module(&counts, &samples[i].sample,
									samples[i].module),
						 0);
		}
		for (focus.process = 0; focus.process < 2; focus.process++) {
			const struct lode_count_graph *graph = lode_counts_graph(&counts, LODE_CPU_BOUND, &focus);
			const struct lode_count_graph *modules =
				lode_counts_modules(&counts, LODE_CPU_BOUND, &focus);
			struct sums all = sum_up(samples, focus.process, LODE_NONE), in_modules = { 0 };

			assert_true(!graph || ((double)graph->weight == all.weight &&
					       (double)graph->cut == all.cut && graph->drawn == all.drawn));
			for (uint32_t f = 0; f < 5; f++) {
				struct sums sums = sum_up(samples, focus.process, f);

				check_node(graph, f, &sums, &all, 1);
			}
			for (uint32_t m = 100; m < 102; m++)
				in_modules.recent += sum_up(samples, focus.process, m).recent;
			for (uint32_t m = 100; m < 102; m++) {
				struct sums sums = sum_up(samples, focus.process, m);

				check_node(modules, m, &sums, &in_modules, 0);
			}
		}
		lode_counts_release(&counts);
	}
}

static void a_function_counts_once_a_sample_even_in_recursion(void **state)
{
	struct lode_program *program = new_program();
	struct lode_counts counts = { 0 };
	struct lode_focus focus = whole();
	const struct lode_count_graph *graph;

	(void)state;
	add_letters(&counts, program, "ABABAB", 0, 0);
	add_letters(&counts, program, "AAA", 0, 0);
	add_letters(&counts, program, "", 0, 0);
	graph = lode_counts_graph(&counts, LODE_CPU_BOUND, &focus);
	assert_int_equal(graph->samples, 3);
	assert_int_equal(count_of(graph, program, "A"), 2);
	assert_int_equal(count_of(graph, program, "B"), 1);
	assert_int_equal(edge_of(graph, program, "AB"), 1);
	assert_int_equal(edge_of(graph, program, "BA"), 1);
	assert_int_equal(edge_of(graph, program, "AA"), 1);
	lode_counts_release(&counts);
	lode_program_destroy(program);
}

/* ---- deep starters against the definition ---- */

struct random_samples {
	uint32_t functions[40][16];
	size_t depth[40];
	uint64_t weight[40];
	size_t count;
	uint64_t total;
	int allowed[MOST];
	uint64_t counted[MOST];
	int calls[MOST][MOST];
	int distance[MOST];
	int joined[MOST][MOST];
};

static int is_allowed(void *context, uint32_t function)
{
	return ((struct random_samples *)context)->allowed[function];
}

static void draw_samples(struct random_samples *samples, uint64_t *seed)
{
	memset(samples, 0, sizeof(*samples));
	samples->count = random_below(seed, 40);
	for (size_t s = 0; s < samples->count; s++) {
		samples->depth[s] = random_below(seed, 9);
		samples->weight[s] = random_below(seed, 5);
		samples->total += samples->weight[s];
		for (size_t i = 0; i < samples->depth[s]; i++)
			samples->functions[s][i] = (uint32_t)random_below(seed, 2 + random_below(seed, MOST - 1));
	}
	for (int f = 0; f < MOST; f++)
		samples->allowed[f] = random_below(seed, 5) > 0;
}

static int sample_has(const struct random_samples *samples, size_t s, uint32_t function)
{
	for (size_t i = 0; i < samples->depth[s]; i++)
		if (samples->functions[s][i] == function)
			return 1;
	return 0;
}

/* Counts, calls and distances, straight from the samples. */
static void understand(struct random_samples *samples)
{
	for (uint32_t f = 0; f < MOST; f++) {
		samples->distance[f] = 1000;
		for (size_t s = 0; s < samples->count; s++)
			if (sample_has(samples, s, f))
				samples->counted[f] += samples->weight[s];
	}
	for (size_t s = 0; s < samples->count; s++) {
		if (samples->depth[s])
			samples->distance[samples->functions[s][0]] = 0;
		for (size_t i = 1; i < samples->depth[s]; i++)
			samples->calls[samples->functions[s][i - 1]][samples->functions[s][i]] = 1;
	}
	for (int round = 0; round < MOST; round++)
		for (int a = 0; a < MOST; a++)
			for (int b = 0; b < MOST; b++)
				if (samples->calls[a][b] && samples->distance[a] + 1 < samples->distance[b])
					samples->distance[b] = samples->distance[a] + 1;
}

static void join_those_above(struct random_samples *samples, double threshold)
{
	for (int a = 0; a < MOST; a++)
		for (int b = 0; b < MOST; b++)
			samples->joined[a][b] = (a == b || samples->calls[a][b] || samples->calls[b][a]) &&
						(double)samples->counted[a] > threshold * (double)samples->total &&
						(double)samples->counted[b] > threshold * (double)samples->total;
	for (int k = 0; k < MOST; k++)
		for (int a = 0; a < MOST; a++)
			for (int b = 0; b < MOST; b++)
				samples->joined[a][b] |= samples->joined[a][k] && samples->joined[k][b];
}

/* Whether `a` is the deep starter of its subgraph: no other in it is preferred. Numbers are in the order of
 * names. */
static int is_starter(const struct random_samples *samples, int a)
{
	if (!samples->joined[a][a] || !samples->allowed[a])
		return 0;
	for (int b = 0; b < MOST; b++) {
		if (b == a || !samples->joined[a][b] || !samples->allowed[b])
			continue;
		if (samples->distance[b] > samples->distance[a])
			return 0;
		if (samples->distance[b] == samples->distance[a] &&
		    (samples->counted[b] > samples->counted[a] ||
		     (samples->counted[b] == samples->counted[a] && b < a)))
			return 0;
	}
	return 1;
}

static void deep_starters_are_the_deepest_of_each_subgraph_above_the_threshold(void **state)
{
	static struct random_samples samples;
	uint64_t seed = 4711;
	struct lode_focus focus = whole();

	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct lode_program *program = new_program();
		struct lode_counts counts = { 0 };
		double threshold = (double)random_below(&seed, 10) / 10;
		const struct lode_count_graph *graph;
		uint32_t *starters = NULL;
		size_t count = 0, expected = 0;
		char name[16];

		draw_samples(&samples, &seed);
		understand(&samples);
		join_those_above(&samples, threshold);
		for (int f = 0; f < MOST; f++) {
			snprintf(name, sizeof(name), "f%02d", f);
			assert_int_equal(lode_program_named(program, name), f);
		}
		for (size_t s = 0; s < samples.count; s++) {
			struct lode_meter_sample sample = { .weight = samples.weight[s],
							    .functions = samples.functions[s],
							    .depth = samples.depth[s] };

			assert_int_equal(lode_counts_add(&counts, &sample), 0);
		}
		graph = lode_counts_graph(&counts, LODE_CPU_BOUND, &focus);
		if (graph)
			assert_int_equal(lode_deep_starters(graph, program, threshold, 0, is_allowed, &samples,
							    &starters, &count),
					 0);
		for (int f = 0; f < MOST; f++) {
			int found = 0;

			for (size_t i = 0; i < count; i++)
				found += starters[i] == (uint32_t)f;
			assert_int_equal(found, is_starter(&samples, f));
			expected += (size_t)found;
		}
		assert_int_equal(count, expected);
		lode_free(starters);
		lode_counts_release(&counts);
		lode_program_destroy(program);
	}
}

/* The least number of calls from any known function (or, if none leads there, any root) to `to`. */
static int least_way(const struct random_samples *samples, const int *known, uint32_t to)
{
	int ways[MOST];

	for (int from_roots = 0; from_roots < 2; from_roots++) {
		for (int f = 0; f < MOST; f++)
			ways[f] = from_roots ? (samples->distance[f] == 0 ? 0 : 1000)
					     : (known[f] && f != (int)to ? 0 : 1000);
		for (int round = 0; round < MOST; round++)
			for (int a = 0; a < MOST; a++)
				for (int b = 0; b < MOST; b++)
					if (samples->calls[a][b] && ways[a] + 1 < ways[b])
						ways[b] = ways[a] + 1;
		if (ways[to] < 1000)
			return ways[to];
	}
	return -1;
}

static int is_in_array(void *context, uint32_t function)
{
	return ((const int *)context)[function];
}

static void the_way_to_a_deep_starter_is_a_shortest_one_from_what_is_known(void **state)
{
	static struct random_samples samples;
	uint64_t seed = 815;
	struct lode_focus focus = whole();

	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct lode_program *program = new_program();
		struct lode_counts counts = { 0 };
		const struct lode_count_graph *graph;
		int known[MOST];
		char name[16];

		draw_samples(&samples, &seed);
		understand(&samples);
		for (int f = 0; f < MOST; f++) {
			known[f] = !random_below(&seed, 6);
			snprintf(name, sizeof(name), "f%02d", f);
			lode_program_named(program, name);
		}
		for (size_t s = 0; s < samples.count; s++) {
			struct lode_meter_sample sample = { .weight = samples.weight[s],
							    .functions = samples.functions[s],
							    .depth = samples.depth[s] };

			assert_int_equal(lode_counts_add(&counts, &sample), 0);
		}
		graph = lode_counts_graph(&counts, LODE_CPU_BOUND, &focus);
		for (uint32_t f = 0; graph && f < MOST; f++) {
			uint32_t *path;
			size_t count;

			assert_int_equal(lode_deep_path(graph, program, f, is_in_array, known, &path, &count), 0);
			assert_int_equal((int)count - 1, least_way(&samples, known, f));
			for (size_t i = 0; i + 1 < count; i++) {
				assert_true(samples.calls[path[i]][path[i + 1]]);
				assert_true(i == 0 || !known[path[i]]);
			}
			if (count)
				assert_int_equal(path[count - 1], f);
			lode_free(path);
		}
		lode_counts_release(&counts);
		lode_program_destroy(program);
	}
}

/* ---- conclusions ---- */

static void students_distribution_has_the_values_of_the_tables(void **state)
{
	(void)state;
	assert_true(fabs(lode_student_below(0, 5) - 0.5) < 1e-12);
	assert_true(fabs(lode_student_below(12.706, 1) - 0.975) < 1e-5);
	assert_true(fabs(lode_student_below(2.776, 4) - 0.975) < 2e-5);
	assert_true(fabs(lode_student_below(3.747, 4) - 0.99) < 2e-5);
	assert_true(fabs(lode_student_below(-2.042, 30) - 0.025) < 2e-5);
	assert_true(fabs(lode_student_below(2.660, 60) - 0.995) < 2e-5);
	assert_true(lode_student_below(INFINITY, 3) == 1);
	assert_true(fabs(lode_student_point(0.975, 4) - 2.776445) < 1e-5);
	assert_true(fabs(lode_student_point(0.025, 30) + 2.042272) < 1e-5);
	assert_true(fabs(lode_student_point(0.99999, 1) - 31830.9886) < 1e-2);
	assert_true(fabs(lode_student_point(0.5, 2.5)) < 1e-6);
}

static struct lode_test_options quick_test(void)
{
	return (struct lode_test_options){ .interval = 100, .minimum = 500, .maximum = 5000, .error = 0.05 };
}

static void what_does_not_vary_concludes_after_the_minimum(void **state)
{
	struct lode_test_options options = quick_test();
	struct lode_observation observation = { 0 };
	struct lode_reading reading = { 0 };
	struct lode_verdict verdict;

	(void)state;
	for (uint64_t t = 100; t <= 500; t += 100) {
		reading.usable = t;
		reading.time[LODE_CPU_BOUND] = t / 2;
		lode_observation_add(&observation, LODE_CPU_BOUND, &reading);
		verdict = lode_observation_look(&observation, LODE_CPU_BOUND, 0.2, &options, t);
		assert_int_equal(verdict.concluded, t >= 500);
	}
	assert_true(verdict.truth);
	assert_true(fabs(verdict.value - 0.5) < 1e-9);
	assert_true(verdict.confidence == 1);
}

static void conclusions_are_seldom_wrong_and_those_near_the_threshold_take_longer(void **state)
{
	struct lode_test_options options = quick_test();
	uint64_t seed = 99, time_near = 0, time_far = 0;
	int wrong = 0, by_test = 0;

	(void)state;
	for (int round = 0; round < 4000; round++) {
		double mean = round % 2 ? 0.28 : 0.6;
		struct lode_observation observation = { 0 };
		struct lode_reading reading = { 0 };
		struct lode_verdict verdict = { 0 };
		uint64_t t = 0;

		while (!verdict.concluded) {
			t += 100;
			reading.usable += 1000000;
			reading.time[0] +=
				(uint64_t)((mean + ((double)random_below(&seed, 1000) - 499.5) / 2500) * 1e6);
			lode_observation_add(&observation, LODE_CPU_BOUND, &reading);
			verdict = lode_observation_look(&observation, LODE_CPU_BOUND, 0.2, &options, t);
		}
		*(round % 2 ? &time_near : &time_far) += t;
		by_test += t < options.maximum;
		wrong += !verdict.truth;
	}
	assert_true(wrong <= 100); /* 2.5 % of all, where 5 % are stated */
	assert_true(by_test > 3500);
	assert_true(time_near > time_far);
}

static void after_the_longest_time_the_mean_decides_and_says_how_unsure_it_is(void **state)
{
	struct lode_test_options options = quick_test();
	struct lode_observation observation = { 0 };
	struct lode_reading reading = { 0 };
	struct lode_verdict verdict = { 0 };
	uint64_t t = 0;

	(void)state;
	while (!verdict.concluded) {
		t += 100;
		reading.usable += 100;
		reading.time[0] += t / 100 % 2 ? 1 : 40; /* 0.205 on average, or a little less */
		lode_observation_add(&observation, LODE_CPU_BOUND, &reading);
		verdict = lode_observation_look(&observation, LODE_CPU_BOUND, 0.2, &options, t);
	}
	assert_int_equal(t, 5000);
	assert_true(verdict.truth);
	assert_true(verdict.confidence < 0.8);
}

/* Sub-intervals without a single sample are all alike, which makes nothing sure. */
static void what_is_counted_in_samples_is_no_surer_than_chance_allows(void **state)
{
	struct lode_reading reading = { 0 };
	struct lode_observation exact = { 0 }, coarse = { .grain = 80e6 }, fine = { .grain = 1e6 };
	double unsure, sure;

	(void)state;
	for (int i = 0; i < 5; i++) {
		reading.usable += 100000000;
		lode_observation_add(&exact, LODE_CPU_BOUND, &reading);
		lode_observation_add(&coarse, LODE_CPU_BOUND, &reading);
		lode_observation_add(&fine, LODE_CPU_BOUND, &reading);
	}
	assert_true(lode_observation_close(&exact, LODE_CPU_BOUND, 0.2).confidence == 1);
	unsure = lode_observation_close(&coarse, LODE_CPU_BOUND, 0.2).confidence;
	sure = lode_observation_close(&fine, LODE_CPU_BOUND, 0.2).confidence;
	/* One sample would be 0.16: 0.2 is a little more than that away, with four degrees of freedom. */
	assert_true(fabs(unsure - lode_student_below(0.2 / 0.16, 4)) < 1e-9);
	assert_true(unsure < 0.9 && sure > 0.999);
}

static void small_operations_are_true_below_their_threshold(void **state)
{
	struct lode_test_options options = quick_test();
	struct lode_observation observation = { 0 };
	struct lode_reading reading = { 0 };
	struct lode_verdict verdict;

	(void)state;
	for (uint64_t t = 100; t <= 500; t += 100) {
		reading.usable = t;
		reading.operations = t;
		reading.bytes = 100 * t;
		lode_observation_add(&observation, LODE_SMALL_IO, &reading);
		verdict = lode_observation_look(&observation, LODE_SMALL_IO, 4096, &options, t);
	}
	assert_true(verdict.concluded && verdict.truth);
	assert_true(fabs(verdict.value - 100) < 1e-9);
}

static void no_operations_at_all_are_no_small_ones(void **state)
{
	struct lode_test_options options = quick_test();
	struct lode_observation observation = { 0 };
	struct lode_reading reading = { .usable = 5000 };
	struct lode_verdict verdict;

	(void)state;
	lode_observation_add(&observation, LODE_SMALL_IO, &reading);
	verdict = lode_observation_look(&observation, LODE_SMALL_IO, 4096, &options, 5000);
	assert_true(verdict.concluded && !verdict.truth);
}

static void the_held_test_wants_its_side_of_the_threshold_for_some_time(void **state)
{
	struct lode_test_options options = { .interval = 100,
					     .minimum = 1000,
					     .maximum = 30000,
					     .held = 1,
					     .hysteresis = 0.05,
					     .hold = 6000 };
	struct lode_observation observation = { 0 };
	struct lode_reading reading = { 0 };
	struct lode_verdict verdict = { 0 };
	uint64_t t = 0;

	(void)state;
	while (!verdict.concluded) {
		t += 100;
		reading.usable += 100;
		reading.time[0] += t <= 1000 ? 10 : 60; /* the mean passes 0.315 after 1000 more */
		lode_observation_add(&observation, LODE_CPU_BOUND, &reading);
		verdict = lode_observation_look(&observation, LODE_CPU_BOUND, 0.3, &options, t);
	}
	assert_true(verdict.truth);
	assert_in_range(t, 7500, 8200);
	memset(&observation, 0, sizeof(observation));
	memset(&reading, 0, sizeof(reading));
	verdict = (struct lode_verdict){ 0 };
	for (t = 0; !verdict.concluded;) {
		t += 100;
		reading.usable += 100;
		reading.time[0] += 31; /* inside of the hysteresis: never clear */
		lode_observation_add(&observation, LODE_CPU_BOUND, &reading);
		verdict = lode_observation_look(&observation, LODE_CPU_BOUND, 0.3, &options, t);
	}
	assert_int_equal(t, 30000);
	assert_true(verdict.truth);
}

/* ---- memory ---- */

static void memory_that_runs_out_while_counting_is_an_error_and_leaves_nothing(void **state)
{
	(void)state;
	for (uint64_t nth = 1; nth < 60; nth++) {
		struct lode_program *program = new_program();
		struct lode_counts counts = { 0 };
		uint32_t functions[] = { lode_program_named(program, "A"), lode_program_named(program, "B") };
		struct lode_meter_sample sample = { .weight = 1, .functions = functions, .depth = 2 };
		struct lode_focus focus = whole();
		int always = 1, code;

		lode_memory_fail_at(nth, 0);
		code = lode_counts_add(&counts, &sample);
		if (!code) {
			uint32_t *starters = NULL;
			size_t count;

			code = lode_deep_starters(lode_counts_graph(&counts, LODE_CPU_BOUND, &focus), program, 0.5,
						  1, is_in_array, (int[]){ 1, 1 }, &starters, &count);
			lode_free(starters);
			if (!code)
				always = 0;
		}
		lode_memory_fail_at(0, 0);
		assert_true(code == 0 || code == LODE_SYSTEM);
		assert_true(always || code == 0);
		lode_counts_release(&counts);
		lode_program_destroy(program);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_graph_of_figure_3_is_that_of_the_paper),
		cmocka_unit_test(counts_are_kept_for_hosts_and_processes_as_in_figure_4),
		cmocka_unit_test(samples_are_counted_as_cut_as_drawn_lately_and_by_module),
		cmocka_unit_test(a_function_counts_once_a_sample_even_in_recursion),
		cmocka_unit_test(deep_starters_are_the_deepest_of_each_subgraph_above_the_threshold),
		cmocka_unit_test(the_way_to_a_deep_starter_is_a_shortest_one_from_what_is_known),
		cmocka_unit_test(students_distribution_has_the_values_of_the_tables),
		cmocka_unit_test(what_does_not_vary_concludes_after_the_minimum),
		cmocka_unit_test(conclusions_are_seldom_wrong_and_those_near_the_threshold_take_longer),
		cmocka_unit_test(after_the_longest_time_the_mean_decides_and_says_how_unsure_it_is),
		cmocka_unit_test(what_is_counted_in_samples_is_no_surer_than_chance_allows),
		cmocka_unit_test(small_operations_are_true_below_their_threshold),
		cmocka_unit_test(no_operations_at_all_are_no_small_ones),
		cmocka_unit_test(the_held_test_wants_its_side_of_the_threshold_for_some_time),
		cmocka_unit_test(memory_that_runs_out_while_counting_is_an_error_and_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
