/*
 * Stacks that have lost their callers: put where alone they fit, left and reported where they fit in
 * several places. Against an oracle on texts, one letter a function; `K` is the kernel's.
 */
#include "cmocka_all.h"

#include "latency/lost_callers.h"
#include "latency_node.h"
#include "random_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 64

struct world {
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_lost_callers lost;
	size_t count;
	uint32_t tids[MOST]; /* of the events, in their order */
	char stacks[MOST][16];
};

static void start(struct world *world)
{
	memset(world, 0, sizeof(*world));
	assert_int_equal(lode_dictionary_init(&world->dictionary), 0);
	lode_stream_init(&world->stream, &world->dictionary);
}

static void stop(struct world *world)
{
	lode_lost_callers_release(&world->lost);
	lode_stream_release(&world->stream);
	lode_dictionary_release(&world->dictionary);
}

static void add(struct world *world, uint32_t tid, const char *stack)
{
	struct lode_event event = { .t = 1000 * (1 + world->count),
				    .cost = 1000,
				    .waker = LODE_NONE,
				    .cpu = LODE_NO_CPU };

	event.thread = lode_stream_thread(&world->stream, 1, tid);
	for (const char *letter = stack; *letter; letter++) {
		char name[16];

		snprintf(name, sizeof(name), "%s!%c", *letter == 'K' ? "kernel" : "app", *letter);
		event.stack =
			lode_stack_tree_child(&world->dictionary.tree, event.stack,
					      lode_frames_parse(&world->dictionary.frames, name, strlen(name)));
	}
	assert_int_equal(lode_stream_add_event(&world->stream, LODE_RUN, &event), 0);
	world->tids[world->count] = tid;
	snprintf(world->stacks[world->count++], 16, "%s", stack);
}

static void text_of(const struct world *world, uint32_t node, char *text)
{
	const struct lode_stack_node *nodes = world->dictionary.tree.nodes;
	uint32_t depth = lode_stack_tree_depth(&world->dictionary.tree, node);

	text[depth] = '\0';
	for (; node; node = nodes[node].parent)
		text[--depth] = lode_frames_function(&world->dictionary.frames, nodes[node].frame)[0];
}

static void check_event(const struct world *world, size_t i, const char *expected)
{
	char text[64];

	text_of(world, world->stream.events[LODE_RUN].stack[i], text);
	assert_string_equal(text, expected);
}

static void a_stack_is_put_where_alone_it_fits(void **state)
{
	struct world world;

	(void)state;
	start(&world);
	add(&world, 1, "SMab");
	add(&world, 1, "SMac");
	add(&world, 1, "Mad"); /* S is lost */
	add(&world, 1, "c");   /* all but the leaf is */
	add(&world, 1, "K");   /* the kernel's own work */
	add(&world, 1, "x");   /* begins elsewhere, for all that is known */
	add(&world, 1, "SM");
	add(&world, 1, "SM");
	add(&world, 2, "Mad"); /* a thread that begins there */
	assert_int_equal(lode_lost_callers_find(&world.stream, &world.lost), 0);
	check_event(&world, 2, "SMad");
	check_event(&world, 3, "SMac");
	check_event(&world, 4, "K");
	check_event(&world, 5, "x");
	check_event(&world, 8, "Mad");
	assert_int_equal(world.lost.placed, 2);
	assert_int_equal(world.lost.unplaced, 0);
	stop(&world);
}

static void a_stack_that_fits_in_several_places_stays_and_they_are_unsure(void **state)
{
	struct lode_latency_partial partial = { 0 };
	struct world world;

	(void)state;
	start(&world);
	for (int i = 0; i < 4; i++) {
		add(&world, 1, "SMab");
		add(&world, 1, "SMcb");
	}
	add(&world, 1, "b");
	add(&world, 1, "b");
	assert_int_equal(lode_lost_callers_find(&world.stream, &world.lost), 0);
	check_event(&world, 8, "b");
	assert_int_equal(world.lost.unplaced, 2);
	assert_int_equal(world.lost.count, 2);
	/* What they took may be the time of either place, and is of the callers that both have. */
	partial.dictionary = world.dictionary;
	partial.stream = world.stream;
	partial.stream.dictionary = &partial.dictionary;
	partial.lost = world.lost;
	assert_int_equal(lode_latency_partial_add(&partial, NULL), 0);
	for (uint32_t node = 1; node < world.dictionary.tree.count; node++) {
		char text[64];
		uint64_t expected;

		text_of(&world, node, text);
		expected = !strcmp(text, "b") ? 0 : node_of(&partial, world.lost.places[0].root).estimate;
		assert_int_equal(node_of(&partial, node).unsure, expected);
		assert_true(expected == 0 ||
			    expected == 1500); /* two periods, the last one to the end of the trace */
	}
	lode_free(partial.nodes);
	lode_free(partial.own);
	lode_free(partial.unsure);
	lode_call_chains_release(&partial.chains);
	lode_sketch_release(&partial.sketch);
	stop(&world);
}

/* ---- the oracle ---- */

/* The function that more than half of the thread's stacks begin with; 0: none does. */
static char beginning(const struct world *world, uint32_t tid)
{
	for (char letter = 'A'; letter <= 'z'; letter++) {
		int with = 0, all = 0;

		for (size_t i = 0; i < world->count; i++)
			if (world->tids[i] == tid && world->stacks[i][0] && world->stacks[i][0] != 'K') {
				all++;
				with += world->stacks[i][0] == letter;
			}
		if (2 * with > all)
			return letter;
	}
	return 0;
}

/* The ways that whole stacks of the thread lead to `letter`; the last one in `way`. */
static size_t ways_to(const struct world *world, uint32_t tid, char first, char letter, char *way)
{
	char ways[MOST * 16][16];
	size_t count = 0;

	for (size_t i = 0; i < world->count; i++) {
		const char *stack = world->stacks[i];

		for (size_t k = 0; world->tids[i] == tid && stack[0] == first && stack[k]; k++) {
			size_t other = 0;

			if (stack[k] != letter)
				continue;
			memset(ways[count], 0, 16);
			memcpy(ways[count], stack, k);
			while (strcmp(ways[other], ways[count]) != 0)
				other++;
			count += other == count;
		}
	}
	if (count)
		strcpy(way, ways[0]);
	return count;
}

static void check_against_the_oracle(struct world *world)
{
	uint64_t placed = 0, unplaced = 0;

	assert_int_equal(lode_lost_callers_find(&world->stream, &world->lost), 0);
	for (size_t i = 0; i < world->count; i++) {
		const char *stack = world->stacks[i];
		char first = beginning(world, world->tids[i]), way[16], expected[32];
		size_t ways;

		if (!first)
			continue; /* whichever is taken for the beginning */
		ways = stack[0] == first || stack[0] == 'K' ? 0
							    : ways_to(world, world->tids[i], first, stack[0], way);
		snprintf(expected, sizeof(expected), "%s%s", ways == 1 ? way : "", stack);
		check_event(world, i, expected);
		placed += ways == 1;
		unplaced += ways > 1;
	}
	if (beginning(world, 1) && beginning(world, 2)) {
		assert_int_equal(world->lost.placed, placed);
		assert_int_equal(world->lost.unplaced, unplaced);
	}
}

static void random_stacks_are_put_where_the_oracle_says(void **state)
{
	uint64_t seed = 11, placed = 0, unplaced = 0;

	(void)state;
	for (int round = 0; round < 500; round++) {
		struct world world;

		start(&world);
		for (uint64_t i = 2 + random_below(&seed, 20); i-- > 0;) {
			char stack[16] = "S";
			size_t depth = 1 + random_below(&seed, 5);

			for (size_t k = random_below(&seed, 3) ? 1 : 0; k < depth; k++)
				stack[k] = "abcdKS"[random_below(&seed, 6)];
			add(&world, 1 + (uint32_t)random_below(&seed, 2), stack);
		}
		check_against_the_oracle(&world);
		placed += world.lost.placed;
		unplaced += world.lost.unplaced;
		stop(&world);
	}
	assert_true(placed > 100 && unplaced > 100);
}

static void memory_that_runs_out_is_reported(void **state)
{
	(void)state;
	for (uint64_t nth = 1;; nth++) {
		struct world world;
		uint64_t asked;
		int code;

		start(&world);
		add(&world, 1, "SMab");
		add(&world, 1, "SMcb");
		add(&world, 1, "SM");
		add(&world, 1, "Mxy");
		add(&world, 1, "b");
		lode_memory_fail_at(nth, nth % 2);
		code = lode_lost_callers_find(&world.stream, &world.lost);
		asked = lode_memory_asked();
		lode_memory_fail_at(0, 0);
		stop(&world);
		if (!code) {
			assert_true(asked < nth && nth > 5);
			break;
		}
		assert_int_equal(code, LODE_SYSTEM);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stack_is_put_where_alone_it_fits),
		cmocka_unit_test(a_stack_that_fits_in_several_places_stays_and_they_are_unsure),
		cmocka_unit_test(random_stacks_are_put_where_the_oracle_says),
		cmocka_unit_test(memory_that_runs_out_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
