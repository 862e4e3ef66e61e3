/*
 * The miner against an oracle that is nothing but the definition: write down every
 * subsequence of every stack, sum up what the stacks that contain it cost, keep
 * the costly ones, drop those that a longer one contains. And what would take for
 * ever, or all memory, or the whole C stack, if it were done in that way.
 */
#include "cmocka_all.h"
#include "job_fixture.h"

#include "base/parallel.h"
#include "mine/maximal.h"
#include "mine/mine_services.h"
#include "mine/miner_job.h"
#include "mine/miner_run.h"
#include "random_stream.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STACKS  8
#define LENGTH  10
#define ORACLE  (STACKS << LENGTH)
#define CORPORA TEST_ROUNDS(4000)

struct sequence {
	uint32_t frames[LENGTH];
	uint32_t length;
	uint64_t cost;
};

struct corpus {
	struct sequence stacks[STACKS];
	size_t count;
};

struct oracle {
	struct sequence *items;
	size_t count;
};

/* ---- The definition. ---- */

static int contains(const struct sequence *whole, const struct sequence *part)
{
	uint32_t met = 0;

	for (uint32_t i = 0; i < whole->length && met < part->length; i++)
		if (whole->frames[i] == part->frames[met])
			met++;
	return met == part->length;
}

static int compare(const void *a, const void *b)
{
	const struct sequence *x = a, *y = b;

	if (x->cost != y->cost)
		return x->cost > y->cost ? -1 : 1;
	if (x->length != y->length)
		return x->length > y->length ? -1 : 1;
	for (uint32_t i = 0; i < x->length; i++)
		if (x->frames[i] != y->frames[i])
			return x->frames[i] < y->frames[i] ? -1 : 1;
	return 0;
}

static struct sequence pick(const struct sequence *stack, uint32_t bits)
{
	struct sequence part = { { 0 }, 0, 0 };

	for (uint32_t i = 0; i < stack->length; i++)
		if (bits >> i & 1)
			part.frames[part.length++] = stack->frames[i];
	return part;
}

static uint64_t cost_of(const struct corpus *corpus, const struct sequence *part)
{
	uint64_t cost = 0;

	for (size_t i = 0; i < corpus->count; i++)
		if (contains(&corpus->stacks[i], part) &&
		    __builtin_add_overflow(cost, corpus->stacks[i].cost, &cost))
			return UINT64_MAX;
	return cost;
}

static void all_costly(struct oracle *oracle, const struct corpus *corpus, const struct lode_miner_input *input)
{
	size_t distinct = 0;

	for (size_t i = 0; i < corpus->count; i++)
		for (uint32_t bits = 1; bits < 1u << corpus->stacks[i].length; bits++) {
			struct sequence part = pick(&corpus->stacks[i], bits);

			part.cost = cost_of(corpus, &part);
			if (part.cost >= input->threshold &&
			    (!input->max_length || part.length <= input->max_length))
				oracle->items[oracle->count++] = part;
		}
	qsort(oracle->items, oracle->count, sizeof(*oracle->items), compare);
	for (size_t i = 0; i < oracle->count; i++)
		if (!i || compare(&oracle->items[i], &oracle->items[i - 1]) != 0)
			oracle->items[distinct++] = oracle->items[i];
	oracle->count = distinct;
}

static int is_maximal(const struct oracle *oracle, const struct sequence *part)
{
	for (size_t i = 0; i < oracle->count; i++)
		if (oracle->items[i].length > part->length && contains(&oracle->items[i], part))
			return 0;
	return 1;
}

/* The result, in the order the miner promises. */
static struct oracle ask_oracle(struct corpus corpus, const struct lode_miner_input *input)
{
	struct oracle all = { calloc(ORACLE, sizeof(struct sequence)), 0 };
	struct oracle result = { calloc(ORACLE, sizeof(struct sequence)), 0 };

	all_costly(&all, &corpus, input);
	for (size_t i = 0; i < all.count; i++)
		if (all.items[i].length >= input->min_length && is_maximal(&all, &all.items[i]))
			result.items[result.count++] = all.items[i];
	free(all.items);
	return result;
}

/* ---- The miner's input. ---- */

struct forest {
	struct lode_stack_tree tree;
	uint64_t *cost;
	size_t capacity;
};

static void forest_init(struct forest *forest)
{
	memset(forest, 0, sizeof(*forest));
	assert_int_equal(lode_stack_tree_init(&forest->tree), 0);
}

static void forest_release(struct forest *forest)
{
	lode_stack_tree_release(&forest->tree);
	free(forest->cost);
}

static void forest_add(struct forest *forest, const uint32_t *frames, uint32_t length, uint64_t cost)
{
	uint32_t node = 0;

	for (uint32_t i = 0; i < length; i++)
		node = lode_stack_tree_child(&forest->tree, node, frames[i]);
	assert_int_not_equal(node, LODE_NONE);
	if (forest->tree.capacity > forest->capacity) {
		forest->cost = realloc(forest->cost, forest->tree.capacity * sizeof(*forest->cost));
		memset(forest->cost + forest->capacity, 0,
		       (forest->tree.capacity - forest->capacity) * sizeof(*forest->cost));
		forest->capacity = forest->tree.capacity;
	}
	if (__builtin_add_overflow(forest->cost[node], cost, &forest->cost[node]))
		forest->cost[node] = UINT64_MAX;
}

static void forest_of(struct forest *forest, const struct corpus *corpus)
{
	forest_init(forest);
	for (size_t i = 0; i < corpus->count; i++)
		forest_add(forest, corpus->stacks[i].frames, corpus->stacks[i].length, corpus->stacks[i].cost);
}

static struct lode_miner_input input_of(const struct forest *forest, uint64_t threshold)
{
	return (struct lode_miner_input){ .tree = &forest->tree,
					  .cost = forest->cost,
					  .threshold = threshold,
					  .jobs = 1 };
}

static void mine(const struct lode_miner_input *input, struct lode_patterns *patterns)
{
	struct lode_error error = { "" };

	memset(patterns, 0, sizeof(*patterns));
	assert_int_equal(lode_mine_patterns(input, patterns, &error), 0);
}

static void random_corpus(struct corpus *corpus, uint64_t *seed)
{
	uint32_t functions = 1 + (uint32_t)random_below(seed, 6);
	uint32_t longest = 1 + (uint32_t)random_below(seed, LENGTH);
	uint64_t costs = random_below(seed, 3) ? 4 : 100;

	corpus->count = 1 + random_below(seed, STACKS);
	for (size_t i = 0; i < corpus->count; i++) {
		struct sequence *stack = &corpus->stacks[i];

		stack->length = (uint32_t)random_below(seed, longest + 1);
		stack->cost = random_below(seed, costs);
		for (uint32_t j = 0; j < stack->length; j++)
			stack->frames[j] = (uint32_t)random_below(seed, functions);
		/* Real stacks begin alike. */
		if (i && random_below(seed, 2)) {
			uint32_t shared = (uint32_t)random_below(seed, stack->length + 1);

			if (shared <= stack[-1].length)
				memcpy(stack->frames, stack[-1].frames, shared * sizeof(uint32_t));
		}
	}
}

static uint64_t total_of(const struct corpus *corpus)
{
	struct sequence empty = { { 0 }, 0, 0 };

	return cost_of(corpus, &empty);
}

static uint64_t random_threshold(const struct corpus *corpus, uint64_t *seed)
{
	uint64_t total = total_of(corpus);

	switch (random_below(seed, 8)) {
	case 0:
		return 1;
	case 1:
		return total ? total : 1;
	case 2:
		return total < UINT64_MAX ? total + 1 : total;
	default:
		return 1 + random_below(seed, total);
	}
}

static void assert_same(const struct lode_patterns *patterns, const struct oracle *oracle)
{
	assert_int_equal(patterns->count, oracle->count);
	for (size_t i = 0; i < oracle->count; i++) {
		assert_int_equal(patterns->items[i].length, oracle->items[i].length);
		assert_true(patterns->items[i].cost == oracle->items[i].cost);
		assert_memory_equal(lode_pattern_frames(patterns, i), oracle->items[i].frames,
				    oracle->items[i].length * sizeof(uint32_t));
	}
	assert_int_equal(patterns->end, LODE_MINER_COMPLETE);
}

/* ---- Several processes. ---- */

struct search {
	struct lode_miner_input input;
	struct lode_patterns patterns;
};

/* Whatever the size of the tree. */
static int search_or_serve(void *context, const struct lode_job_rank *rank, struct lode_error *error)
{
	struct search *search = context;
	struct miner_tree root = { 0 };
	int code;

	if (rank->number)
		return lode_job_serve(rank, lode_mine_services, error);
	search->input.rank = rank;
	code = miner_root_make(&root, &search->input);
	if (!code)
		code = lode_miner_call(&search->input, &root, &search->patterns, error);
	miner_tree_release(&root);
	return lode_job_call(rank, LODE_JOB_END, NULL, NULL) < 0 ? -99 : code;
}

static void mine_by(unsigned processes, const struct lode_miner_input *input, struct lode_patterns *patterns)
{
	static struct job job;
	struct search search = { .input = *input };

	job_run(&job, processes, 1, search_or_serve, &search);
	for (unsigned i = 0; i < processes; i++)
		assert_int_equal(job.processes[i].code, 0);
	*patterns = search.patterns;
}

/* options.parts: by so many processes. */
static void check(const struct corpus *corpus, struct lode_miner_input options)
{
	struct lode_patterns patterns;
	struct oracle oracle;
	struct forest forest;
	struct lode_miner_input input;

	forest_of(&forest, corpus);
	input = input_of(&forest, options.threshold);
	input.min_length = options.min_length;
	input.max_length = options.max_length;
	input.jobs = options.jobs;
	if (options.parts)
		mine_by(options.parts, &input, &patterns);
	else
		mine(&input, &patterns);
	oracle = ask_oracle(*corpus, &input);
	assert_same(&patterns, &oracle);
	free(oracle.items);
	lode_patterns_release(&patterns);
	forest_release(&forest);
}

/* ---- The tests. ---- */

static void the_patterns_are_those_of_brute_force(void **state)
{
	uint64_t seed = 4;

	(void)state;
	for (unsigned i = 0; i < CORPORA; i++) {
		struct corpus corpus;

		random_corpus(&corpus, &seed);
		check(&corpus, (struct lode_miner_input){ .threshold = random_threshold(&corpus, &seed),
							  .jobs = i % 16 == 0 ? 2 : 1 });
	}
}

static void the_patterns_of_several_processes_are_those_of_brute_force(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (unsigned i = 0; i < CORPORA; i += 4) {
		struct corpus corpus;
		uint32_t most = (uint32_t)random_below(&seed, 8);

		random_corpus(&corpus, &seed);
		check(&corpus, (struct lode_miner_input){ .threshold = random_threshold(&corpus, &seed),
							  .jobs = i % 16 == 0 ? 2 : 1,
							  .min_length = (uint32_t)random_below(&seed, 3),
							  .max_length = i % 12 ? 0 : most,
							  .parts = 1 + (unsigned)random_below(&seed, 6) });
	}
}

static void length_limits_choose_among_patterns_up_to_the_longest(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (unsigned i = 0; i < CORPORA; i++) {
		struct corpus corpus;

		random_corpus(&corpus, &seed);
		check(&corpus, (struct lode_miner_input){ .threshold = random_threshold(&corpus, &seed),
							  .min_length = (uint32_t)random_below(&seed, 5),
							  .max_length = (uint32_t)random_below(&seed, LENGTH),
							  .jobs = i % 16 == 0 ? 2 : 1 });
	}
}

static void costs_that_overflow_stop_at_the_largest(void **state)
{
	uint64_t seed = 6;

	(void)state;
	for (unsigned i = 0; i < CORPORA / 2; i++) {
		struct corpus corpus;

		random_corpus(&corpus, &seed);
		for (size_t j = 0; j < corpus.count; j++)
			corpus.stacks[j].cost = UINT64_MAX >> random_below(&seed, 6);
		check(&corpus,
		      (struct lode_miner_input){ .threshold = i % 3 ? random_threshold(&corpus, &seed) : UINT64_MAX,
						 .jobs = 1 });
	}
}

/* Larger corpora than the oracle can do: the result is the same to the byte. */
static void the_result_does_not_depend_on_the_number_of_threads(void **state)
{
	static const unsigned jobs[] = { 1, 2, 8 };
	uint64_t seed = 7;

	(void)state;
	for (unsigned round = 0; round < 5; round++) {
		struct lode_patterns first = { 0 };
		struct forest forest;
		uint32_t frames[24];

		forest_init(&forest);
		for (unsigned i = 0; i < 60; i++) {
			for (unsigned j = 0; j < 24; j++)
				frames[j] = (uint32_t)random_below(&seed, 3) + (i % 4 ? j / 2 : 0);
			forest_add(&forest, frames, 24, 1);
		}
		for (unsigned i = 0; i < 3; i++) {
			struct lode_miner_input input = input_of(&forest, 12);
			struct lode_patterns patterns;

			input.jobs = jobs[i];
			mine(&input, &patterns);
			if (i) {
				assert_int_equal(patterns.count, first.count);
				assert_int_equal(patterns.frame_count, first.frame_count);
				assert_memory_equal(patterns.frames, first.frames,
						    first.frame_count * sizeof(*first.frames));
				assert_memory_equal(patterns.items, first.items,
						    first.count * sizeof(*first.items));
				lode_patterns_release(&patterns);
			} else {
				assert_true(patterns.count > 10);
				first = patterns;
			}
		}
		lode_patterns_release(&first);
		forest_release(&forest);
	}
}

static double seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void equal_stacks_of_seventy_frames_are_one_pattern_at_once(void **state)
{
	struct lode_patterns patterns;
	struct lode_miner_input input;
	struct forest forest;
	uint32_t frames[70];
	double start = seconds();

	(void)state;
	for (uint32_t i = 0; i < 70; i++)
		frames[i] = i;
	forest_init(&forest);
	for (unsigned i = 0; i < 5000; i++)
		forest_add(&forest, frames, 70, 7);
	/* One that is much like them. */
	frames[35] = 99;
	forest_add(&forest, frames, 70, 6);
	input = input_of(&forest, 7 * 5000);
	mine(&input, &patterns);
	assert_int_equal(patterns.count, 1);
	assert_int_equal(patterns.items[0].length, 70);
	assert_true(patterns.items[0].cost == 35000);
	lode_patterns_release(&patterns);
	input.threshold = 35001;
	mine(&input, &patterns);
	assert_int_equal(patterns.count, 1);
	assert_int_equal(patterns.items[0].length, 69);
	assert_true(patterns.items[0].cost == 35006);
	lode_patterns_release(&patterns);
	forest_release(&forest);
	assert_true(seconds() - start < 2);
}

static void stacks_of_thousands_of_frames_are_mined(void **state)
{
	struct lode_patterns patterns;
	struct lode_miner_input input;
	struct forest forest;
	uint32_t deep = TEST_SANITIZED ? 2000 : 10000;
	uint32_t *frames = calloc(deep, sizeof(*frames));

	(void)state;
	for (uint32_t i = 0; i < deep; i++)
		frames[i] = i;
	forest_init(&forest);
	forest_add(&forest, frames, deep, 5);
	for (uint32_t i = 0; i < deep; i++)
		frames[i] = i % 2 ? i : i + deep;
	forest_add(&forest, frames, deep, 5);
	input = input_of(&forest, 10);
	mine(&input, &patterns);
	assert_int_equal(patterns.count, 1);
	assert_int_equal(patterns.items[0].length, deep / 2);
	lode_patterns_release(&patterns);
	input.threshold = 5;
	mine(&input, &patterns);
	assert_int_equal(patterns.count, 2);
	assert_int_equal(patterns.items[1].length, deep);
	lode_patterns_release(&patterns);
	forest_release(&forest);
	free(frames);
}

static void recursion_five_thousand_deep_is_mined(void **state)
{
	struct lode_patterns patterns;
	struct lode_miner_input input;
	struct forest forest;
	uint32_t *frames = calloc(5001, sizeof(*frames));

	(void)state;
	forest_init(&forest);
	/* f called 100, 200, … 5000 times, then g. */
	for (uint32_t i = 100; i <= 5000; i += 100) {
		frames[i] = 1;
		forest_add(&forest, frames, i + 1, 1);
		frames[i] = 0;
	}
	input = input_of(&forest, 10);
	mine(&input, &patterns);
	assert_int_equal(patterns.count, 1);
	assert_int_equal(patterns.items[0].length, 4101);
	assert_true(patterns.items[0].cost == 10);
	lode_patterns_release(&patterns);
	forest_release(&forest);
	free(frames);
}

static void without_stacks_there_are_no_patterns(void **state)
{
	struct lode_patterns patterns;
	struct lode_miner_input input;
	struct forest forest;
	uint32_t frame = 3;

	(void)state;
	forest_init(&forest);
	forest_add(&forest, NULL, 0, 100);
	input = input_of(&forest, 1);
	mine(&input, &patterns);
	assert_int_equal(patterns.count, 0);
	assert_int_equal(patterns.end, LODE_MINER_COMPLETE);
	lode_patterns_release(&patterns);
	/* A stack that costs nothing. */
	forest_add(&forest, &frame, 1, 0);
	input = input_of(&forest, 1);
	mine(&input, &patterns);
	assert_int_equal(patterns.count, 0);
	lode_patterns_release(&patterns);
	forest_release(&forest);
}

/* Stacks with too many patterns to wait for all of them. */
static void endless_forest(struct forest *forest)
{
	uint64_t seed = 8;
	uint32_t frames[60];

	forest_init(forest);
	for (unsigned i = 0; i < 200; i++) {
		for (unsigned j = 0; j < 60; j++)
			frames[j] = (uint32_t)random_below(&seed, 30);
		forest_add(forest, frames, 60, 1);
	}
}

struct patience {
	unsigned calls;
	unsigned allowed;
};

static int lose_patience(void *context, const char *phase, const char *unit, uint64_t done, uint64_t total)
{
	struct patience *patience = context;

	assert_true(phase && unit && done > 0 && (!total || done <= total));
	return ++patience->calls >= patience->allowed;
}

static void the_search_can_be_interrupted_and_returns_what_it_had(void **state)
{
	(void)state;
	for (unsigned jobs = 1; jobs <= 2; jobs++) {
		struct patience patience = { 0, 20 };
		struct lode_progress progress = { lose_patience, &patience };
		struct lode_patterns patterns;
		struct lode_miner_input input;
		struct forest forest;

		endless_forest(&forest);
		input = input_of(&forest, 3);
		input.jobs = jobs;
		input.progress = &progress;
		mine(&input, &patterns);
		assert_int_equal(patterns.end, LODE_MINER_INTERRUPTED);
		assert_true(patience.calls >= 20);
		assert_true(patterns.count > 0);
		assert_true(patterns.prefixes > 0);
		for (size_t i = 0; i < patterns.count; i++)
			assert_true(patterns.items[i].cost >= 3);
		lode_patterns_release(&patterns);
		forest_release(&forest);
	}
}

/* The others would search for ever. */
static void a_first_process_that_is_interrupted_lets_the_others_end(void **state)
{
	static struct job job;
	struct patience patience = { 0 };
	struct lode_progress progress = { lose_patience, &patience };
	struct forest forest;
	struct search search = { 0 };

	(void)state;
	endless_forest(&forest);
	search.input = input_of(&forest, 2);
	search.input.progress = &progress;
	job_run(&job, 3, 1, search_or_serve, &search);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(job.processes[i].code, 0);
	assert_int_equal(search.patterns.end, LODE_MINER_INTERRUPTED);
	lode_patterns_release(&search.patterns);
	forest_release(&forest);
}

/* ---- Messages between processes. ---- */

/* Names are numbers of frames: any could be right, but large ones take as much memory. */
static int has_small_names(const struct miner_tree *tree)
{
	for (uint32_t i = 0; i < tree->labels; i++)
		if (tree->label[i].name > 100000)
			return 0;
	return 1;
}

static void damaged_trees_are_refused_or_searched(void **state)
{
	uint64_t seed = 21;

	(void)state;
	for (unsigned i = 0; i < CORPORA; i++) {
		struct lode_miner_input input, received = { 0 };
		struct miner_tree root = { 0 }, tree = { 0 };
		struct lode_buffer message = { 0 };
		struct corpus corpus;
		struct forest forest;
		size_t place;
		int code;

		random_corpus(&corpus, &seed);
		forest_of(&forest, &corpus);
		input = input_of(&forest, random_threshold(&corpus, &seed));
		assert_int_equal(miner_root_make(&root, &input), 0);
		lode_miner_question_write(&input, &root, &message);
		assert_false(message.failed);
		place = random_below(&seed, message.size);
		code = lode_miner_question_read(&received, &tree, lode_cursor(message.bytes, place));
		assert_int_equal(code, LODE_BAD_INPUT);
		miner_tree_release(&tree);
		message.bytes[place] = (char)(message.bytes[place] ^ (1 << random_below(&seed, 8)));
		code = lode_miner_question_read(&received, &tree, lode_cursor(message.bytes, message.size));
		assert_true(code == 0 || code == LODE_BAD_INPUT);
		if (!code && received.jobs <= 8 && has_small_names(&tree)) {
			struct lode_patterns patterns = { 0 };

			assert_int_equal(miner_run(&received, &tree, &patterns), 0);
			lode_patterns_release(&patterns);
		}
		miner_tree_release(&tree);
		miner_tree_release(&root);
		lode_buffer_release(&message);
		forest_release(&forest);
	}
}

/* One pattern of the frames 1 and 2, another of 2. */
static void answers_with_wrong_numbers_are_refused(void **state)
{
	static const uint64_t right[] = { 0, 0, 5, 2, 0, 2, 10, 1, 1, 7, 2, 1 | (uint64_t)2 << 32 };
	static const struct {
		size_t place;
		uint64_t number;
	} wrong[] = {
		{ 3, 1 },  /* bytes left */
		{ 3, 3 },  /* more patterns than there are */
		{ 4, 1 },  /* frames beyond the last */
		{ 5, 0 },  /* a pattern without frames */
		{ 7, 3 },  /* one that begins beyond the last */
		{ 10, 9 }, /* more frames than there are */
		{ 11, 3 }, /* a frame that is not known */
	};
	struct lode_patterns patterns = { 0 };
	struct lode_error error;

	(void)state;
	assert_int_equal(lode_miner_answer_read(lode_cursor(right, sizeof(right)), 3, &patterns, &error), 0);
	assert_int_equal(patterns.count, 2);
	assert_int_equal(patterns.prefixes, 5);
	assert_int_equal(patterns.items[0].cost, 10);
	assert_int_equal(lode_pattern_frames(&patterns, 1)[0], 2);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		uint64_t message[sizeof(right) / sizeof(right[0])];

		memcpy(message, right, sizeof(right));
		message[wrong[i].place] = wrong[i].number;
		assert_int_equal(lode_miner_answer_read(lode_cursor(message, sizeof(message)), 3, &patterns, &error),
				 LODE_BAD_INPUT);
	}
	lode_patterns_release(&patterns);
}

static void the_search_stops_at_max_patterns(void **state)
{
	(void)state;
	for (unsigned jobs = 1; jobs <= 2; jobs++) {
		struct lode_patterns patterns;
		struct lode_miner_input input;
		struct forest forest;

		endless_forest(&forest);
		input = input_of(&forest, 3);
		input.jobs = jobs;
		input.max_patterns = 100;
		mine(&input, &patterns);
		assert_int_equal(patterns.end, LODE_MINER_MAX_PATTERNS);
		assert_int_equal(patterns.count, 100);
		lode_patterns_release(&patterns);
		forest_release(&forest);
	}
}

static void max_patterns_that_are_enough_change_nothing(void **state)
{
	uint64_t seed = 9;

	(void)state;
	for (unsigned i = 0; i < TEST_ROUNDS(500); i++) {
		struct lode_patterns all, limited;
		struct lode_miner_input input;
		struct corpus corpus;
		struct forest forest;

		random_corpus(&corpus, &seed);
		forest_of(&forest, &corpus);
		input = input_of(&forest, random_threshold(&corpus, &seed));
		mine(&input, &all);
		input.max_patterns = ORACLE;
		mine(&input, &limited);
		assert_int_equal(limited.end, LODE_MINER_COMPLETE);
		assert_int_equal(limited.count, all.count);
		lode_patterns_release(&limited);
		if (all.count > 1) {
			input.max_patterns = all.count - 1;
			mine(&input, &limited);
			assert_int_equal(limited.end, LODE_MINER_MAX_PATTERNS);
			assert_true(limited.count <= input.max_patterns);
			lode_patterns_release(&limited);
		}
		lode_patterns_release(&all);
		forest_release(&forest);
	}
}

static void memory_that_runs_out_is_a_clean_error(void **state)
{
	uint64_t seed = 10;

	(void)state;
	for (unsigned jobs = 1; jobs <= 2; jobs++) {
		struct lode_miner_input input;
		struct corpus corpus;
		struct forest forest;
		int code = LODE_SYSTEM;

		do
			random_corpus(&corpus, &seed);
		while (corpus.count < STACKS || corpus.stacks[0].length < 6);
		forest_of(&forest, &corpus);
		input = input_of(&forest, 1 + total_of(&corpus) / 3);
		input.jobs = jobs;
		for (uint64_t nth = 1; code; nth++) {
			struct lode_patterns patterns = { 0 };
			struct lode_error error = { "" };

			assert_true(nth < 10000);
			lode_memory_fail_at(nth, (int)(nth % 2));
			code = lode_mine_patterns(&input, &patterns, &error);
			/* Where no thread could be started for lack of memory the search goes on with one. */
			if (!code && lode_memory_asked() >= nth)
				code = 1;
			lode_memory_fail_at(0, 0);
			assert_true(code >= 0 || (code == LODE_SYSTEM && error.text[0]));
			lode_patterns_release(&patterns);
		}
		forest_release(&forest);
	}
}

static void patterns_in_longer_ones_are_dropped(void **state)
{
	static const uint32_t frames[][4] = { { 1, 2, 3, 4 }, { 1, 3 }, { 3, 1 }, { 4 }, { 2, 3, 3 }, { 5 } };
	static const uint32_t lengths[] = { 4, 2, 2, 1, 3, 1 };
	struct lode_patterns patterns = { 0 };

	(void)state;
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(lode_patterns_add(&patterns, frames[i], lengths[i], 10 + i), 0);
	assert_int_equal(lode_patterns_keep_maximal(&patterns, 0, NULL), 0);
	assert_int_equal(patterns.count, 4);
	assert_int_equal(patterns.frame_count, 10);
	assert_int_equal(lode_pattern_frames(&patterns, 0)[0], 5);
	assert_int_equal(lode_pattern_frames(&patterns, 1)[2], 3);
	assert_int_equal(lode_pattern_frames(&patterns, 2)[1], 1);
	assert_int_equal(lode_pattern_frames(&patterns, 3)[3], 4);
	assert_int_equal(lode_patterns_keep_maximal(&patterns, 3, NULL), 0);
	assert_int_equal(patterns.count, 2);
	lode_patterns_release(&patterns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_patterns_are_those_of_brute_force),
		cmocka_unit_test(the_patterns_of_several_processes_are_those_of_brute_force),
		cmocka_unit_test(length_limits_choose_among_patterns_up_to_the_longest),
		cmocka_unit_test(costs_that_overflow_stop_at_the_largest),
		cmocka_unit_test(the_result_does_not_depend_on_the_number_of_threads),
		cmocka_unit_test(equal_stacks_of_seventy_frames_are_one_pattern_at_once),
		cmocka_unit_test(stacks_of_thousands_of_frames_are_mined),
		cmocka_unit_test(recursion_five_thousand_deep_is_mined),
		cmocka_unit_test(without_stacks_there_are_no_patterns),
		cmocka_unit_test(the_search_can_be_interrupted_and_returns_what_it_had),
		cmocka_unit_test(a_first_process_that_is_interrupted_lets_the_others_end),
		cmocka_unit_test(damaged_trees_are_refused_or_searched),
		cmocka_unit_test(answers_with_wrong_numbers_are_refused),
		cmocka_unit_test(the_search_stops_at_max_patterns),
		cmocka_unit_test(max_patterns_that_are_enough_change_nothing),
		cmocka_unit_test(memory_that_runs_out_is_a_clean_error),
		cmocka_unit_test(patterns_in_longer_ones_are_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
