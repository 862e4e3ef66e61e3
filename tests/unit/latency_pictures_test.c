/*
 * Pictures of latencies: the tree of costly calls against a slow one made from the
 * definition, the heat map, and that pages and graphs hold whatever names there are.
 */
#include "export_fixture.h"

#include "export/graphs.h"
#include "latency/contexts.h"
#include "result/call_tree.h"
#include "result/heat.h"

#include <yajl/yajl_tree.h>

/* Most tests compare single streams, of which nothing is sure. */
static const struct lode_diff_options one_job = { .jobs = 1, .guess = 1 };

/* ---- call trees ---- */

#define MAX_NODES 40

/* A random tree and what its nodes take. */
struct forest {
	struct lode_dictionary dictionary;
	uint64_t own[LODE_SIDES][MAX_NODES];
	uint8_t known[MAX_NODES];
	uint8_t fits[MAX_NODES];
	struct lode_call_tree_input input;
};

static void grow_forest(struct forest *forest, uint64_t *seed)
{
	static const char *const names[] = { "app!a", "app!b", "libc.so.6!c", "kernel!d", "e" };
	size_t wanted = 1 + random_below(seed, MAX_NODES - 1);

	memset(forest, 0, sizeof(*forest));
	assert_int_equal(lode_dictionary_init(&forest->dictionary), 0);
	for (int i = 0; i < 200 && forest->dictionary.tree.count < wanted; i++) {
		const char *name = names[random_below(seed, 5)];
		uint32_t frame = lode_frames_parse(&forest->dictionary.frames, name, strlen(name));
		/* Often below the last one, so that there are chains. */
		uint32_t parent = random_below(seed, 3)
					  ? (uint32_t)forest->dictionary.tree.count - 1
					  : (uint32_t)random_below(seed, forest->dictionary.tree.count);

		lode_stack_tree_child(&forest->dictionary.tree, parent, frame);
	}
	for (size_t i = 1; i < forest->dictionary.tree.count; i++) {
		for (int side = 0; side < LODE_SIDES; side++)
			forest->own[side][i] = random_below(seed, 3) ? 0 : random_below(seed, 50);
		forest->known[i] = random_below(seed, 4) > 0;
		forest->fits[i] = random_below(seed, 4) > 0;
	}
	forest->input = (struct lode_call_tree_input){
		.dictionary = &forest->dictionary,
		.own = { random_below(seed, 2) ? forest->own[0] : NULL, forest->own[1] },
		.node_count = forest->dictionary.tree.count,
		.fits = random_below(seed, 2) ? forest->fits : NULL,
		.known = random_below(seed, 2) ? forest->known : NULL,
		.cause = (uint32_t)random_below(seed, forest->dictionary.tree.count),
		.least = random_below(seed, 40),
		.unfolded = !random_below(seed, 4),
	};
}

static uint32_t parent_of(const struct forest *forest, uint32_t node)
{
	return forest->dictionary.tree.nodes[node].parent;
}

static uint64_t true_own(const struct forest *forest, int side, uint32_t node)
{
	const struct lode_call_tree_input *input = &forest->input;

	return input->own[side] && (!input->fits || input->fits[node]) ? input->own[side][node] : 0;
}

static int is_below(const struct forest *forest, uint32_t node, uint32_t above)
{
	while (node && node != above)
		node = parent_of(forest, node);
	return node == above;
}

static uint64_t true_whole(const struct forest *forest, int side, uint32_t node)
{
	uint64_t sum = 0;

	for (uint32_t i = 1; i < forest->input.node_count; i++)
		if (is_below(forest, i, node))
			sum += true_own(forest, side, i);
	return sum;
}

static uint64_t true_cost(const struct forest *forest, uint32_t node)
{
	uint64_t base = true_whole(forest, 0, node), slow = true_whole(forest, 1, node);

	return base > slow ? base : slow;
}

static int is_shown(const struct forest *forest, uint32_t node)
{
	return true_cost(forest, node) > 0 && true_cost(forest, node) >= forest->input.least;
}

/* Whether `node` must be in one item with its only costly callee. */
static int is_folded(const struct forest *forest, uint32_t node, uint32_t callee)
{
	const struct lode_call_tree_input *input = &forest->input;
	size_t callees = 0;

	for (uint32_t i = 1; i < input->node_count; i++)
		callees += parent_of(forest, i) == node && is_shown(forest, i);
	if (input->unfolded || callees != 1 || node == input->cause || callee == input->cause ||
	    (input->known && input->known[node] != input->known[callee]) ||
	    (!lode_layer_is_machinery(&forest->dictionary, node) &&
	     lode_layer_is_machinery(&forest->dictionary, callee)))
		return 0;
	for (int side = 0; side < LODE_SIDES; side++) {
		uint64_t own = true_own(forest, side, node);

		if (own >= input->least ||
		    true_whole(forest, side, node) - own - true_whole(forest, side, callee) >= input->least)
			return 0;
	}
	return 1;
}

static void check_item(const struct forest *forest, const struct lode_call_tree *tree, size_t at, uint8_t *met)
{
	const struct lode_call_tree_item *item = &tree->items[at];
	uint64_t own[LODE_SIDES] = { 0 };
	uint32_t length = 1, hidden = 0;

	for (uint32_t node = item->last;; node = parent_of(forest, node), length++) {
		assert_false(met[node]++);
		assert_true(is_shown(forest, node));
		for (int side = 0; side < LODE_SIDES; side++)
			own[side] += true_own(forest, side, node);
		if (node == item->first)
			break;
		assert_true(is_folded(forest, parent_of(forest, node), node));
	}
	assert_int_equal(item->length, length);
	for (uint32_t i = 1; i < forest->input.node_count; i++) {
		if (parent_of(forest, i) != item->last)
			continue;
		hidden += true_cost(forest, i) > 0 && !is_shown(forest, i);
		assert_false(is_shown(forest, i) && is_folded(forest, item->last, i));
	}
	assert_int_equal(item->hidden, hidden);
	for (int side = 0; side < LODE_SIDES; side++) {
		uint64_t rest = 0;

		for (uint32_t i = 1; i < forest->input.node_count; i++)
			if (parent_of(forest, i) == item->last && !is_shown(forest, i))
				rest += true_whole(forest, side, i);
		assert_true(item->own[side] == own[side]);
		assert_true(item->whole[side] == true_whole(forest, side, item->first));
		assert_true(item->rest[side] == rest);
	}
}

/* Callers before callees, siblings by cost. */
static void check_order(const struct forest *forest, const struct lode_call_tree *tree, size_t at)
{
	const struct lode_call_tree_item *item = &tree->items[at];
	size_t above = at;

	while (above-- > 0 && tree->items[above].depth >= item->depth)
		;
	if (above == SIZE_MAX)
		assert_true(item->depth == 0 && parent_of(forest, item->first) == 0);
	else
		assert_true(tree->items[above].depth + 1 == item->depth &&
			    parent_of(forest, item->first) == tree->items[above].last);
	for (size_t i = at + 1; i < tree->count && tree->items[i].depth >= item->depth; i++) {
		if (tree->items[i].depth > item->depth)
			continue;
		assert_true(true_cost(forest, tree->items[i].first) <= true_cost(forest, item->first));
	}
}

static void call_trees_are_what_the_definition_says(void **state)
{
	uint64_t seed = 21;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		uint8_t met[MAX_NODES] = { 0 };
		struct lode_call_tree tree;
		struct forest forest;
		size_t shown = 0;

		grow_forest(&forest, &seed);
		assert_int_equal(lode_call_tree_make(&tree, &forest.input), 0);
		for (size_t i = 0; i < tree.count; i++) {
			check_item(&forest, &tree, i, met);
			check_order(&forest, &tree, i);
		}
		for (uint32_t i = 1; i < forest.input.node_count; i++) {
			assert_int_equal(met[i], is_shown(&forest, i));
			shown += met[i];
		}
		assert_int_equal(tree.shown, shown);
		lode_call_tree_release(&tree);
		lode_dictionary_release(&forest.dictionary);
	}
}

/* ---- pages ---- */

/* Both sides of a comparison, of streams with odd or random names. */
struct sides {
	struct lode_latency base, slow;
	struct lode_contexts contexts;
	struct lode_diff diff;
	struct lode_latency_report latency;
	struct lode_diff_report report;
	struct lode_idle_rules *rules;
};

static void collect(struct fixture *fixture, int odd, uint64_t *seed, struct lode_latency *latency)
{
	struct lode_latency_options options = { .jobs = 1 };
	struct lode_corpus *corpus;
	struct lode_error error;
	struct whole whole;

	next_corpus(fixture);
	if (odd)
		odd_whole(&whole);
	else
		random_whole(&whole, seed, 60);
	add_stream(fixture, &whole);
	release_whole(&whole);
	assert_int_equal(lode_corpus_open(&corpus, fixture->corpus, LODE_CORPUS_READ, &error), 0);
	assert_int_equal(lode_latency_collect(corpus, &options, NULL, latency, &error), 0);
	lode_corpus_close(corpus);
}

static void make_sides(struct fixture *fixture, int odd, uint64_t *seed, struct sides *sides)
{
	struct lode_error error;

	memset(sides, 0, sizeof(*sides));
	collect(fixture, 0, seed, &sides->base);
	collect(fixture, odd, seed, &sides->slow);
	assert_int_equal(lode_contexts_rank(&sides->slow, NULL, NULL, &sides->contexts), 0);
	assert_int_equal(lode_diff(&sides->base, &sides->slow, &one_job, &sides->diff), 0);
	sides->latency = (struct lode_latency_report){ .latency = &sides->slow,
						       .contexts = &sides->contexts,
						       .top = 10,
						       .corpus = "a <b> \"c\"" };
	sides->report = (struct lode_diff_report){ .base = { .corpus = "a <b> \"c\"", .latency = &sides->base },
						   .slow = { .corpus = "a <b> \"c\"", .latency = &sides->slow },
						   .diff = &sides->diff,
						   .top = 10 };
	assert_int_equal(lode_idle_rules_load(&sides->rules, NULL, &error), 0);
}

static void release_sides(struct sides *sides)
{
	lode_idle_rules_free(sides->rules);
	lode_diff_release(&sides->diff);
	lode_contexts_release(&sides->contexts);
	lode_latency_release(&sides->base);
	lode_latency_release(&sides->slow);
}

/* The JSON of a page, which has the tree besides. */
static void write_page(const struct sides *sides, int which, struct lode_buffer *buffer)
{
	struct lode_latency_report latency = sides->latency;
	struct lode_diff_report report = sides->report;
	struct lode_output output;
	struct lode_error error;

	lode_output_memory(&output);
	latency.for_page = report.for_page = 1;
	latency.rules = report.rules = sides->rules;
	report.least = 1;
	if ((which ? lode_diff_json(&report, &output, &error) : lode_latency_json(&latency, &output, &error)) < 0)
		buffer->failed = 1;
	else
		lode_buffer_add(buffer, output.buffer.bytes, output.buffer.size);
	lode_output_abandon(&output);
}

static void write_picture(const struct sides *sides, int which, struct lode_buffer *buffer)
{
	switch (which) {
	case 0:
	case 1:
		write_page(sides, which, buffer);
		break;
	case 2:
		lode_latency_dot(&sides->latency, 0, 0, buffer);
		break;
	default:
		lode_diff_dot(&sides->report, 1, 0, buffer);
	}
}

static double number_of(yajl_val object, const char *key)
{
	const char *path[] = { key, NULL };
	yajl_val value = yajl_tree_get(object, path, yajl_t_number);

	return value ? YAJL_GET_DOUBLE(value) : 0;
}

/* On each side, what the roots take is what all calls take by themselves and what is left out. */
static void check_sums(yajl_val tree, int two)
{
	static const char *const keys[2][3] = { { "whole_ns", "own_ns", "hidden_ns" },
						{ "base_whole_ns", "base_own_ns", "base_hidden_ns" } };
	const char *path[] = { "items", NULL };
	yajl_val items = yajl_tree_get(tree, path, yajl_t_array);

	assert_non_null(items);
	for (int side = 0; side < 1 + two; side++) {
		double sum = number_of(tree, keys[side][2]), whole = number_of(tree, keys[side][0]);

		for (size_t i = 0; i < YAJL_GET_ARRAY(items)->len; i++)
			sum += number_of(YAJL_GET_ARRAY(items)->values[i], keys[side][1]) +
			       number_of(YAJL_GET_ARRAY(items)->values[i], keys[side][2]);
		/* Sums that no longer fit into 64 bits stay at the most. */
		assert_true(whole > 1.8e19 || (sum > whole * 0.999999 - 1 && sum < whole * 1.000001 + 1));
	}
}

static void check_page(const char *text, int two)
{
	const char *tree[] = { "page", "tree", NULL }, *modules[] = { "page", "modules", NULL },
		   *plumbing[] = { "page", "plumbing", NULL };
	char problem[200];
	yajl_val page = yajl_tree_parse(text, problem, sizeof(problem));

	assert_non_null(page);
	assert_non_null(yajl_tree_get(page, modules, yajl_t_array));
	assert_non_null(yajl_tree_get(page, plumbing, yajl_t_array));
	check_sums(yajl_tree_get(page, tree, yajl_t_object), two);
	yajl_tree_free(page);
}

/* Every line ends outside of quotes. */
static void check_graph(const char *text)
{
	int quoted = 0;

	for (; *text; text++) {
		if (*text == '\\' && quoted && text[1])
			text++;
		else if (*text == '"')
			quoted = !quoted;
		else if (*text == '\n')
			assert_false(quoted);
	}
	assert_false(quoted);
}

static void pages_and_graphs_hold_whatever_names_there_are(void **state)
{
	struct fixture *fixture = *state;
	uint64_t seed = 22;

	for (int round = 0; round < 12; round++) {
		struct sides sides;

		make_sides(fixture, round % 3 == 0, &seed, &sides);
		for (int which = 0; which < 4; which++) {
			struct lode_buffer buffer = { 0 };

			write_picture(&sides, which, &buffer);
			lode_buffer_byte(&buffer, '\0');
			assert_false(buffer.failed);
			if (which < 2)
				check_page(buffer.bytes, which);
			else
				check_graph(buffer.bytes);
			lode_buffer_release(&buffer);
		}
		release_sides(&sides);
	}
}

static void pictures_remember_that_memory_ran_out(void **state)
{
	struct fixture *fixture = *state;
	uint64_t seed = 23;
	struct sides sides;

	make_sides(fixture, 0, &seed, &sides);
	for (int which = 0; which < 4; which++) {
		for (uint64_t at = 1;; at++) {
			struct lode_buffer buffer = { 0 };
			int failed;

			lode_memory_fail_at(at, 0);
			write_picture(&sides, which, &buffer);
			lode_memory_fail_at(0, 0);
			failed = buffer.failed;
			lode_buffer_release(&buffer);
			if (!failed)
				break;
		}
	}
	release_sides(&sides);
}

/* ---- heat ---- */

static void assert_level(const struct lode_heat *heat, uint32_t node, double level)
{
	double difference = lode_heat_level(heat, node) - level;

	assert_true(difference < 1e-9 && difference > -1e-9);
}

static void heat_is_a_power_of_ten_and_the_hottest_function_is_the_origin(void **state)
{
	struct fixture *fixture = *state;
	struct lode_latency_options options = { .jobs = 1 };
	struct lode_latency latency;
	struct lode_contexts contexts;
	struct lode_latency_report report = { .latency = &latency, .contexts = &contexts };
	struct lode_corpus *corpus;
	struct lode_heat heat;
	struct lode_error error;
	struct whole whole;

	/* 1,000 ns of `hot`, 100 of its caller, 10 of a third. */
	next_corpus(fixture);
	init_whole(&whole, "s");
	add_event(&whole, LODE_WAIT, 0, 100, 1, 1, "main|load");
	add_event(&whole, LODE_WAIT, 100, 1000, 1, 1, "main|load|kernel!hot");
	add_event(&whole, LODE_WAIT, 1100, 10, 1, 1, "main|draw");
	add_stream(fixture, &whole);
	release_whole(&whole);
	assert_int_equal(lode_corpus_open(&corpus, fixture->corpus, LODE_CORPUS_READ, &error), 0);
	assert_int_equal(lode_latency_collect(corpus, &options, NULL, &latency, &error), 0);
	assert_int_equal(lode_contexts_rank(&latency, NULL, NULL, &contexts), 0);
	assert_int_equal(lode_heat_of_latency(&heat, &report, lode_latency_shown(&report)), 0);
	assert_int_equal(heat.count, 3);
	assert_int_equal(heat.most, 1000);
	assert_int_equal(heat.widest, 3);
	assert_int_equal(heat.rows[0].hottest, 2);
	assert_int_equal(heat.rows[0].who, heat.nodes[heat.rows[0].first + 1]); /* whoever called the kernel */
	assert_int_equal(heat.rows[2].hottest, 1);
	assert_level(&heat, heat.nodes[heat.rows[0].first + 2], 4);
	assert_level(&heat, heat.nodes[heat.rows[0].first + 1], 3);
	assert_level(&heat, heat.nodes[heat.rows[0].first], 0);
	assert_level(&heat, heat.nodes[heat.rows[2].first + 1], 2);
	lode_heat_release(&heat);
	lode_contexts_release(&contexts);
	lode_latency_release(&latency);
	lode_corpus_close(corpus);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(call_trees_are_what_the_definition_says),
		cmocka_unit_test(pages_and_graphs_hold_whatever_names_there_are),
		cmocka_unit_test(pictures_remember_that_memory_ran_out),
		cmocka_unit_test(heat_is_a_power_of_ten_and_the_hottest_function_is_the_origin),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
