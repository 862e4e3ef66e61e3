/*
 * The bound of Sim, with weights of our own, against alignments: few functions that repeat, some of them with the
 * same words in their names, and neighbours that weigh nothing, so that each step of its proof is needed.
 */
#include "mine_fixture.h"

#include "mine/similarity_bound.h"

#define FRAMES   8
#define FEW      5
#define PATTERNS LODE_BOUND_LANES
#define UNITS    2147483648.0

struct setup {
	struct world world;
	struct lode_words *words;
	struct lode_patterns patterns;
	struct lode_names names;
	double uni[FRAMES];
	double forward[FRAMES][FRAMES];  /* caller, callee */
	double backward[FRAMES][FRAMES]; /* caller, callee */
	struct lode_similarity_weight *weights;
	struct lode_bound_patterns bounds;
	struct lode_bound *bound;
};

static double random_weight(uint64_t *seed)
{
	static const double weights[] = { 0, 0.01, 0.3, 0.9, 1 };

	return weights[random_below(seed, 5)];
}

static void choose_weights(struct setup *setup, uint64_t *seed)
{
	for (int i = 0; i < FRAMES; i++) {
		setup->uni[i] = random_weight(seed);
		for (int j = 0; j < FRAMES; j++) {
			setup->forward[i][j] = random_weight(seed);
			setup->backward[i][j] = random_weight(seed);
		}
	}
}

/* The first two have the same words, the third has one of them, the others none. */
static void name_frames(struct setup *setup)
{
	static const char *const names[FRAMES] = { "read_file", "file::read", "read_lock", "x", "y", "z", "v", "w" };

	world_start(&setup->world);
	for (uint32_t i = 0; i < FRAMES; i++)
		assert_int_equal(world_frame(&setup->world, names[i]), i);
	setup->words = lode_words_make(&setup->world.dictionary.frames);
	assert_non_null(setup->words);
	assert_int_equal(lode_words_sub_units(setup->words, 0, 1), 0);
}

/* The weight of a function in its pattern; `before` and `after`: its segment goes on there. */
static double weight(const struct setup *setup, const uint32_t *frames, size_t at, int before, int after)
{
	double forward = before ? setup->forward[frames[at - 1]][frames[at]] : 1;
	double backward = after ? setup->backward[frames[at]][frames[at + 1]] : 1;

	return setup->uni[frames[at]] * (forward + backward) / 2;
}

static void prepare(struct setup *setup)
{
	struct lode_patterns *patterns = &setup->patterns;

	setup->weights = calloc(patterns->frame_count + 1, sizeof(*setup->weights));
	for (size_t p = 0; p < patterns->count; p++) {
		const uint32_t *frames = lode_pattern_frames(patterns, p);
		uint32_t length = patterns->items[p].length;

		for (uint32_t i = 0; i < length; i++)
			setup->weights[patterns->items[p].first + i] = (struct lode_similarity_weight){
				.uni = setup->uni[frames[i]],
				.forward = i ? setup->forward[frames[i - 1]][frames[i]] : 1,
				.backward = i + 1 < length ? setup->backward[frames[i]][frames[i + 1]] : 1,
				.inner = weight(setup, frames, i, i > 0, i + 1 < length),
			};
	}
	assert_int_equal(lode_names_make(&setup->names, patterns, setup->words), 0);
	assert_int_equal(lode_bound_patterns_make(&setup->bounds, patterns, &setup->names, setup->weights), 0);
	setup->bound = lode_bound_make(&setup->bounds, setup->names.count);
	assert_non_null(setup->bound);
}

/* All patterns are rows, each in the lane of its number. */
static void enter_rows(struct setup *setup)
{
	uint32_t common[FRAMES] = { 0 };
	struct lode_near_name near[FRAMES];

	lode_bound_clear(setup->bound);
	for (size_t p = 0; p < setup->patterns.count; p++) {
		const struct lode_pattern *pattern = &setup->patterns.items[p];

		lode_bound_add_row(setup->bound, p, pattern->first, pattern->length);
		for (uint32_t i = 0; i < pattern->length; i++) {
			size_t count =
				lode_names_near(&setup->names, setup->names.of[pattern->first + i], common, near);

			for (size_t k = 0; k < count; k++)
				assert_int_equal(lode_bound_add_near(setup->bound, p, i, near[k]), 0);
		}
	}
}

static void stop(struct setup *setup)
{
	lode_bound_free(setup->bound);
	lode_bound_patterns_release(&setup->bounds);
	lode_names_release(&setup->names);
	lode_patterns_release(&setup->patterns);
	lode_words_free(setup->words);
	world_stop(&setup->world);
	free(setup->weights);
}

/* Sim by its definition. */
static double similarity(const struct setup *setup, size_t a, size_t b)
{
	const uint32_t *left = lode_pattern_frames(&setup->patterns, a);
	const uint32_t *right = lode_pattern_frames(&setup->patterns, b);
	struct lode_alignment alignment = { 0 };
	double matched = 0, rest = 0;
	size_t i = 0, j = 0, differences = 0;

	assert_int_equal(lode_align(setup->words, left, setup->patterns.items[a].length, right,
				    setup->patterns.items[b].length, &alignment),
			 0);
	for (size_t at = 0; at < alignment.count; at++) {
		uint8_t step = alignment.steps[at];
		int before = at > 0 && alignment.steps[at - 1] == step;
		int after = at + 1 < alignment.count && alignment.steps[at + 1] == step;
		double row = step == LODE_INSERT ? 0 : weight(setup, left, i, before, after);
		double column = step == LODE_DELETE ? 0 : weight(setup, right, j, before, after);

		if (step == LODE_MATCH)
			matched += row;
		else if (step == LODE_SUBSTITUTE)
			rest += lode_words_sub(setup->words, left[i], right[j]) * (row + column) / 2;
		else
			rest += row + column;
		differences += step != LODE_MATCH;
		i += step != LODE_INSERT;
		j += step != LODE_DELETE;
	}
	lode_alignment_release(&alignment);
	return matched + rest > 0 ? matched / (matched + rest) : differences == 0;
}

/* Asks for what each pair has, and for somewhat more. Returns how many pairs the latter ruled out. */
static size_t check(struct setup *setup)
{
	size_t ruled_out = 0;

	prepare(setup);
	enter_rows(setup);
	for (size_t column = 0; column < setup->patterns.count; column++)
		for (size_t row = 0; row < setup->patterns.count; row++) {
			const struct lode_pattern *pattern = &setup->patterns.items[column];
			double one = similarity(setup, row, column), other = similarity(setup, column, row);
			double higher = one > other ? one : other, asked = higher - 1 / UNITS;

			if (asked > 0 &&
			    !(lode_bound_possible(setup->bound, pattern->first, pattern->length, asked) >> row & 1))
				fail_msg("patterns %zu and %zu: Sim %.9f is ruled out", row, column, higher);
			if (higher < 0.99)
				ruled_out += !(lode_bound_possible(setup->bound, pattern->first, pattern->length,
								   higher + 0.01) >>
						       row &
					       1);
		}
	return ruled_out;
}

static void no_pair_is_ruled_out_that_is_as_similar(void **state)
{
	uint64_t seed = 3;
	size_t ruled_out = 0;

	(void)state;
	for (int round = 0; round < TEST_ROUNDS(20000); round++) {
		uint64_t frames = 2 + random_below(&seed, FEW - 1);
		struct setup setup = { 0 };

		name_frames(&setup);
		choose_weights(&setup, &seed);
		for (int i = 0; i < PATTERNS; i++) {
			uint32_t pattern[8], length = (uint32_t)random_below(&seed, 9);

			for (uint32_t k = 0; k < length; k++)
				pattern[k] = (uint32_t)random_below(&seed, frames);
			assert_int_equal(lode_patterns_add(&setup.patterns, pattern, length, 1), 0);
		}
		ruled_out += check(&setup);
		stop(&setup);
	}
	assert_true(ruled_out > TEST_ROUNDS(20000));
}

/*
 * What is lost when a function does not match counts once, though it is next to two that the row has not: `x` is
 * matched in neither alignment, and what is around it in the column would weigh more if it were.
 */
static void a_function_between_two_others_is_lost_once(void **state)
{
	enum { m2, unused, before_p, p, x, q, behind_q, m1 };
	const uint32_t column[] = { before_p, p, x, q, behind_q, m1, m2, m2 }, row[] = { m1, m2, m2, x };
	struct setup setup = { .uni = { [p] = 1, [q] = 1, [x] = 0.15, [m1] = 0.1 } };

	(void)state;
	name_frames(&setup);
	for (int i = 0; i < FRAMES; i++)
		for (int j = 0; j < FRAMES; j++)
			setup.forward[i][j] = setup.backward[i][j] = 1;
	setup.forward[before_p][p] = setup.forward[p][x] = setup.forward[x][q] = 0;
	setup.backward[p][x] = setup.backward[x][q] = setup.backward[q][behind_q] = 0;
	assert_int_equal(lode_patterns_add(&setup.patterns, column, 8, 1), 0);
	assert_int_equal(lode_patterns_add(&setup.patterns, row, 4, 1), 0);
	assert_float_equal(similarity(&setup, 0, 1), 0.4, 1e-9);
	check(&setup);
	stop(&setup);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_pair_is_ruled_out_that_is_as_similar),
		cmocka_unit_test(a_function_between_two_others_is_lost_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
