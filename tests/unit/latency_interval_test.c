/*
 * How often the 95 % intervals hold the true latency: programs that are simulated, so that each
 * context's time is known, and seen by samples that come without regard to them. What the
 * manual says of intervals is measured here; with real programs and the recorder,
 * bench/latency-truth does it.
 */
#include "cmocka_all.h"

#include "latency_node.h"
#include "random_stream.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PERIOD    1001001u /* ns between two samples */
#define FUNCTIONS 8
#define RUNS      60

struct program {
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	uint32_t start; /* `start` calls `main` calls each function, which may call `deep` */
	uint32_t main_node;
	uint32_t functions[FUNCTIONS];
	uint32_t deep[FUNCTIONS];
	uint32_t lost[FUNCTIONS]; /* the functions' stacks without `start` and `main` */
	uint32_t lost_main;
	double truth[64]; /* by node, ns: with all that is called */
};

static uint32_t call(struct program *program, uint32_t caller, const char *name)
{
	uint32_t node = lode_stack_tree_child(&program->dictionary.tree, caller,
					      lode_frames_parse(&program->dictionary.frames, name, strlen(name)));

	assert_true(node < 64);
	return node;
}

static void program_make(struct program *program)
{
	memset(program, 0, sizeof(*program));
	assert_int_equal(lode_dictionary_init(&program->dictionary), 0);
	lode_stream_init(&program->stream, &program->dictionary);
	program->start = call(program, 0, "app!start");
	program->main_node = call(program, program->start, "app!main");
	program->lost_main = call(program, 0, "app!main");
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "app!f%u", i);
		program->functions[i] = call(program, program->main_node, name);
		program->deep[i] = call(program, program->functions[i], "app!deep");
		program->lost[i] = call(program, program->lost_main, name);
	}
}

static void program_release(struct program *program)
{
	lode_stream_release(&program->stream);
	lode_dictionary_release(&program->dictionary);
}

static double fraction(uint64_t *seed)
{
	return ((double)random_below(seed, 1u << 30) + 0.5) / (1u << 30);
}

static void see(struct program *program, uint64_t t, uint32_t stack)
{
	struct lode_event event = { .t = t, .cost = PERIOD, .stack = stack, .waker = LODE_NONE, .cpu = LODE_NO_CPU };

	event.thread = lode_stream_thread(&program->stream, 1, 1);
	assert_int_equal(lode_stream_add_event(&program->stream, LODE_RUN, &event), 0);
}

/* From `*t` on the program is in this stack for `length` ns; samples fall where they fall. */
static void spend(struct program *program, double *t, double *next, double length, uint32_t node, uint32_t seen)
{
	for (uint32_t at = node; at; at = program->dictionary.tree.nodes[at].parent)
		program->truth[at] += length;
	*t += length;
	for (; *next < *t; *next += PERIOD)
		see(program, (uint64_t)*next, seen);
}

struct kind {
	double growth; /* each function takes so much longer than the one before it; the longer, the rarer */
	unsigned lost; /* of a hundred calls that are seen without their callers */
};

/* Runs for about two seconds. */
static void program_run(struct program *program, const struct kind *kind, uint64_t *seed)
{
	double t = 0, next = fraction(seed) * PERIOD;

	while (t < 2e9) {
		unsigned which = (unsigned)random_below(seed, FUNCTIONS);
		double length = -log(fraction(seed)) * 8000 * pow(kind->growth, which);
		int is_lost = random_below(seed, 100) < kind->lost;

		if (random_below(seed, 1u << which))
			continue;
		spend(program, &t, &next, 500, program->main_node, program->main_node);
		spend(program, &t, &next, length, program->functions[which],
		      is_lost ? program->lost[which] : program->functions[which]);
		spend(program, &t, &next, length / 4, program->deep[which], program->deep[which]);
	}
	assert_int_equal(lode_stream_sort(&program->stream), 0);
}

/* The share of contexts whose true latency their intervals hold. */
static double coverage(const struct kind *kind, uint64_t seed)
{
	int held = 0, count = 0;

	for (int run = 0; run < RUNS; run++) {
		struct lode_latency_partial partial = { 0 };
		struct program program;
		size_t nodes;

		program_make(&program);
		program_run(&program, kind, &seed);
		partial.dictionary = program.dictionary;
		partial.stream = program.stream;
		partial.stream.dictionary = &partial.dictionary;
		assert_int_equal(lode_lost_callers_find(&partial.stream, &partial.lost), 0);
		nodes = partial.dictionary.tree.count;
		assert_int_equal(lode_latency_partial_add(&partial, NULL), 0);
		for (uint32_t node = 1; node < nodes && node < 64; node++) {
			struct lode_latency_node sums = node_of(&partial, node);

			if (program.truth[node] < 2 * PERIOD)
				continue;
			count++;
			held += (double)lode_latency_low(&sums) <= program.truth[node] &&
				program.truth[node] <= (double)lode_latency_high(&sums);
		}
		program.dictionary = partial.dictionary;
		program.stream = partial.stream;
		program.stream.dictionary = &program.dictionary;
		lode_free(partial.nodes);
		lode_free(partial.own);
		lode_free(partial.unsure);
		lode_call_chains_release(&partial.chains);
		lode_sketch_release(&partial.sketch);
		lode_lost_callers_release(&partial.lost);
		program_release(&program);
	}
	assert_true(count > 10 * RUNS);
	return (double)held / count;
}

/* Calls of some microseconds, much shorter than the time between two samples. */
static void intervals_of_short_calls_hold_the_truth_in_95_of_100_cases(void **state)
{
	double share = coverage(&(struct kind){ 1.5, 0 }, 1);

	(void)state;
	print_message("%.1f %% of intervals hold the truth\n", 100 * share);
	assert_true(share >= 0.93 && share <= 0.98);
}

/* Up to milliseconds. Of a long call only the ends are in doubt, which samples cannot distinguish from many short ones. */
static void intervals_of_long_calls_are_rather_too_wide(void **state)
{
	double share = coverage(&(struct kind){ 3, 0 }, 2);

	(void)state;
	print_message("%.1f %% of intervals hold the truth\n", 100 * share);
	assert_true(share >= 0.95);
}

static void they_hold_it_where_callers_were_lost(void **state)
{
	double share = coverage(&(struct kind){ 1.5, 10 }, 3);

	(void)state;
	print_message("%.1f %% of intervals hold the truth where 10 %% of stacks lost their callers\n",
		      100 * share);
	assert_true(share >= 0.93 && share <= 0.98);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_of_short_calls_hold_the_truth_in_95_of_100_cases),
		cmocka_unit_test(intervals_of_long_calls_are_rather_too_wide),
		cmocka_unit_test(they_hold_it_where_callers_were_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
