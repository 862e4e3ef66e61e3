/* Words, alignments, call counts and Sim against oracles that follow the paper's definitions word by word. */
#include "mine_fixture.h"

#include "base/error.h"
#include "mine/alignment.h"

#include <math.h>

#define LONGEST 6

/* ---- oracle: words ---- */

#define MAX_WORDS 40

static int letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80);
}

static int capital(char c)
{
	return c >= 'A' && c <= 'Z';
}

/* Whether a word begins at this letter. */
static int begins(const char *name, size_t at)
{
	char before = at ? name[at - 1] : ' ', c = name[at], after = name[at + 1];

	if (!letter(before))
		return 1;
	return capital(c) && (!capital(before) || (letter(after) && !capital(after)));
}

static size_t oracle_words(const char *name, char words[MAX_WORDS][64])
{
	size_t count = 0;

	if (strncmp(name, "0x", 2) == 0)
		return 0;
	for (size_t at = 0; name[at]; at++) {
		char c = name[at], small[2] = { capital(c) ? (char)(c - 'A' + 'a') : c, '\0' };

		if (!letter(c))
			continue;
		if (begins(name, at))
			words[count++][0] = '\0';
		strcat(words[count - 1], small);
	}
	return count;
}

struct fraction {
	uint64_t top;
	uint64_t bottom;
};

static struct fraction oracle_sub(const struct lode_frames *frames, uint32_t f1, uint32_t f2)
{
	char a[MAX_WORDS][64], b[MAX_WORDS][64];
	size_t m = oracle_words(lode_frames_function(frames, f1), a);
	size_t n = oracle_words(lode_frames_function(frames, f2), b), common = 0;

	if (f1 == f2)
		return (struct fraction){ 0, 1 };
	if (m + n == 0)
		return (struct fraction){ 1, 1 };
	for (size_t i = 0; i < m; i++)
		for (size_t j = 0; j < n; j++)
			if (b[j][0] && strcmp(a[i], b[j]) == 0) {
				common++;
				b[j][0] = '\0';
				break;
			}
	return (struct fraction){ m + n - 2 * common, m + n };
}

/* ---- oracle: all alignments of two patterns, as rows of steps from the leaf ---- */

struct best {
	uint64_t cost; /* in parts of 720720, exact for the short names of these tests */
	uint8_t steps[2 * LONGEST];
	size_t count;
};

struct search {
	const struct lode_frames *frames;
	const uint32_t *left;
	const uint32_t *right;
	struct best best;
	int found;
};

static void offer(struct search *search, const uint8_t *steps, size_t count, uint64_t cost)
{
	struct best *best = &search->best;
	size_t shorter = count < best->count ? count : best->count;

	if (search->found && cost > best->cost)
		return;
	if (search->found && cost == best->cost && memcmp(steps, best->steps, shorter) >= 0)
		return;
	search->found = 1;
	best->cost = cost;
	best->count = count;
	memcpy(best->steps, steps, count);
}

static void search_all(struct search *search, size_t i, size_t j, uint8_t *steps, size_t count, uint64_t cost)
{
	const uint64_t one = 720720;

	if (!i && !j)
		offer(search, steps, count, cost);
	if (i && j) {
		struct fraction sub = oracle_sub(search->frames, search->left[i - 1], search->right[j - 1]);

		assert_int_equal(one % sub.bottom, 0);
		steps[count] = search->left[i - 1] == search->right[j - 1] ? LODE_MATCH : LODE_SUBSTITUTE;
		search_all(search, i - 1, j - 1, steps, count + 1, cost + one / sub.bottom * sub.top);
	}
	if (i) {
		steps[count] = LODE_DELETE;
		search_all(search, i - 1, j, steps, count + 1, cost + one);
	}
	if (j) {
		steps[count] = LODE_INSERT;
		search_all(search, i, j - 1, steps, count + 1, cost + one);
	}
}

/* ---- oracle: counts, by walking every stack of every event ---- */

struct counted {
	uint64_t stacks;
	uint64_t including;   /* f2 */
	uint64_t pairs;       /* f1 that call f2 */
	uint64_t with_callee; /* f1 */
	uint64_t with_caller; /* f2 */
};

static struct counted count_by_walking(const struct world *world, uint32_t f1, uint32_t f2)
{
	const struct lode_stack_tree *tree = &world->dictionary.tree;
	struct counted counted = { 0 };

	for (uint32_t node = 1; node < tree->count; node++)
		for (uint64_t event = 0; event < world->occurrences[node]; event++) {
			uint32_t depth = lode_stack_tree_depth(tree, node), frames[512];
			int includes = 0;

			assert_true(depth < 512);
			lode_stack_tree_frames(tree, node, frames, depth);
			for (uint32_t i = 0; i < depth; i++) {
				includes |= frames[i] == f2;
				counted.with_callee += frames[i] == f1 && i + 1 < depth;
				counted.with_caller += frames[i] == f2 && i > 0;
				counted.pairs += i > 0 && frames[i - 1] == f1 && frames[i] == f2;
			}
			counted.stacks++;
			counted.including += (uint64_t)includes;
		}
	return counted;
}

static double one_minus(uint64_t part, uint64_t whole)
{
	return whole ? 1 - (double)part / (double)whole : 1;
}

static double oracle_uni(const struct world *world, uint32_t f)
{
	struct counted counted = count_by_walking(world, f, f);

	return one_minus(counted.including, counted.stacks);
}

static double oracle_fbi(const struct world *world, uint32_t f1, uint32_t f2)
{
	struct counted counted;

	if (f1 == LODE_NONE)
		return 1;
	counted = count_by_walking(world, f1, f2);
	return one_minus(counted.pairs, counted.with_callee);
}

static double oracle_bbi(const struct world *world, uint32_t f1, uint32_t f2)
{
	struct counted counted;

	if (f2 == LODE_NONE)
		return 1;
	counted = count_by_walking(world, f1, f2);
	return one_minus(counted.pairs, counted.with_caller);
}

/* ---- oracle: Sim, segment by segment ---- */

/* X[1..k], with X[0] = X[k+1] = none, as the paper writes it. */
static double omega(const struct world *world, const uint32_t *x, size_t j)
{
	return oracle_uni(world, x[j]) * (oracle_fbi(world, x[j - 1], x[j]) + oracle_bbi(world, x[j], x[j + 1])) /
	       2;
}

static double segment_weight(const struct world *world, const uint32_t *l, const uint32_t *r, size_t k,
			     uint8_t kind)
{
	double sum = 0;

	for (size_t j = 1; j <= k; j++) {
		struct fraction sub;

		if (kind == LODE_MATCH || kind == LODE_DELETE) {
			sum += omega(world, l, j);
		} else if (kind == LODE_INSERT) {
			sum += omega(world, r, j);
		} else {
			sub = oracle_sub(&world->dictionary.frames, l[j], r[j]);
			sum += (double)sub.top / (double)sub.bottom * (omega(world, l, j) + omega(world, r, j)) / 2;
		}
	}
	return sum;
}

static double oracle_similarity(const struct world *world, const uint8_t *steps, size_t count,
				const uint32_t *left, const uint32_t *right)
{
	double matched = 0, rest = 0;
	int equal = 1;

	for (size_t at = 0; at < count;) {
		uint32_t l[LONGEST + 2], r[LONGEST + 2];
		uint8_t kind = steps[at];
		size_t k = 0;
		double weight;

		memset(l, 0xff, sizeof(l));
		memset(r, 0xff, sizeof(r));
		for (; at < count && steps[at] == kind; at++) {
			k++;
			if (kind != LODE_INSERT)
				l[k] = *left++;
			if (kind != LODE_DELETE)
				r[k] = *right++;
		}
		weight = segment_weight(world, l, r, k, kind);
		*(kind == LODE_MATCH ? &matched : &rest) += weight;
		equal &= kind == LODE_MATCH;
	}
	return matched + rest > 0 ? matched / (matched + rest) : equal;
}

/* ---- random worlds ---- */

struct measure {
	struct world world;
	struct lode_words *words;
	struct lode_call_counts *counts;
};

static void start(struct measure *measure, uint64_t *seed, size_t frames, size_t nodes)
{
	random_world(&measure->world, seed, frames, nodes);
	measure->words = lode_words_make(&measure->world.dictionary.frames);
	measure->counts = lode_call_counts_make(&measure->world.dictionary.tree, measure->world.occurrences,
						measure->world.dictionary.frames.count);
	assert_non_null(measure->words);
	assert_non_null(measure->counts);
}

static void stop(struct measure *measure)
{
	lode_words_free(measure->words);
	lode_call_counts_free(measure->counts);
	world_stop(&measure->world);
}

static uint32_t random_pattern(const struct measure *measure, uint64_t *seed, uint32_t longest, uint32_t *pattern)
{
	uint32_t length = (uint32_t)random_below(seed, longest + 1);

	for (uint32_t i = 0; i < length; i++)
		pattern[i] = (uint32_t)random_below(seed, measure->world.dictionary.frames.count);
	return length;
}

static void check_alignment(const struct measure *measure, const uint32_t *left, uint32_t m, const uint32_t *right,
			    uint32_t n, struct lode_alignment *alignment)
{
	struct search search = { &measure->world.dictionary.frames, left, right, { 0 }, 0 };
	uint8_t steps[2 * LONGEST + 1], root_first[2 * LONGEST + 1];
	double similarity;

	search_all(&search, m, n, steps, 0, 0);
	assert_int_equal(lode_align(measure->words, left, m, right, n, alignment), 0);
	assert_int_equal(alignment->count, search.best.count);
	assert_true(fabs(alignment->cost - (double)search.best.cost / 720720) < 1e-12);
	for (size_t i = 0; i < search.best.count; i++) {
		root_first[i] = search.best.steps[search.best.count - 1 - i];
		assert_int_equal(alignment->steps[i], root_first[i]);
	}
	similarity = lode_alignment_similarity(alignment, measure->words, measure->counts, left, right);
	assert_true(similarity >= 0 && similarity <= 1);
	assert_true(fabs(similarity -
			 oracle_similarity(&measure->world, root_first, search.best.count, left, right)) < 1e-12);
}

/* ---- tests ---- */

static void expect_words(const char *name, const char *const *expected)
{
	struct lode_frames frames;
	struct lode_words *words;
	uint32_t frame, other;
	size_t count = 0;

	for (; expected[count]; count++)
		;
	assert_int_equal(lode_frames_init(&frames), 0);
	frame = lode_frames_add(&frames, 0, name, strlen(name));
	/* Against each word alone one word is common, and Sub says how many words the name has. */
	for (size_t i = 0; i < count; i++)
		lode_frames_add(&frames, lode_frames_module(&frames, "m", 1), expected[i], strlen(expected[i]));
	other = lode_frames_add(&frames, 0, "notaword", 8);
	words = lode_words_make(&frames);
	assert_non_null(words);
	for (size_t i = 0; i < count; i++) {
		double sub = lode_words_sub(words, frame, frame + 1 + (uint32_t)i);

		assert_true(fabs(sub - (1 - 2.0 / (double)(count + 1))) < 1e-6);
	}
	assert_true(lode_words_sub(words, frame, other) == 1);
	lode_words_free(words);
	lode_frames_release(&frames);
}

#define EXPECT_WORDS(name, ...) expect_words(name, (const char *const[]){ __VA_ARGS__, NULL })

static void names_are_split_into_words(void **state)
{
	(void)state;
	EXPECT_WORDS("GetShortPathName", "get", "short", "path", "name");
	EXPECT_WORDS("XMLParser", "xml", "parser");
	EXPECT_WORDS("GetHTTPRequest", "get", "http", "request");
	EXPECT_WORDS("IOCTL", "ioctl");
	EXPECT_WORDS("IoCTL", "io", "ctl");
	EXPECT_WORDS("aB", "a", "b");
	EXPECT_WORDS("__x64_sys_openat2", "x", "sys", "openat");
	EXPECT_WORDS("std::vector<int>::at", "std", "vector", "int", "at");
	EXPECT_WORDS("read.constprop.0", "read", "constprop");
	EXPECT_WORDS("größeÄndern", "größeÄndern");
	EXPECT_WORDS("operator()", "operator");
	EXPECT_WORDS("0xyz", "xyz");
}

static void an_address_has_no_words(void **state)
{
	struct lode_frames frames;
	struct lode_words *words;
	uint32_t a, b, c;

	(void)state;
	assert_int_equal(lode_frames_init(&frames), 0);
	a = lode_frames_parse(&frames, "lib!0x1a0", 9);
	b = lode_frames_parse(&frames, "lib!0x2b0", 9);
	c = lode_frames_parse(&frames, "lib!fox", 7);
	words = lode_words_make(&frames);
	assert_non_null(words);
	assert_true(lode_words_sub(words, a, b) == 1);
	assert_true(lode_words_sub(words, a, a) == 0);
	assert_true(lode_words_sub(words, a, c) == 1);
	/* Frames added later are not known. */
	assert_true(lode_words_sub(words, a, 77) == 1);
	assert_true(lode_words_sub(words, 77, 77) == 0);
	lode_words_free(words);
	lode_frames_release(&frames);
}

static void words_that_stand_twice_are_common_twice(void **state)
{
	struct lode_frames frames;
	struct lode_words *words;

	(void)state;
	assert_int_equal(lode_frames_init(&frames), 0);
	lode_frames_parse(&frames, "copy_copy_page", 14);
	lode_frames_parse(&frames, "PageCopyCopy", 12);
	lode_frames_parse(&frames, "copy", 4);
	words = lode_words_make(&frames);
	assert_non_null(words);
	assert_true(lode_words_sub(words, 0, 1) == 0);
	assert_true(lode_words_sub(words, 0, 2) == 0.5);
	lode_words_free(words);
	lode_frames_release(&frames);
}

static void sub_is_the_papers_formula(void **state)
{
	uint64_t seed = 21;

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct measure measure;

		start(&measure, &seed, 12, 0);
		for (uint32_t a = 0; a < measure.world.dictionary.frames.count; a++)
			for (uint32_t b = 0; b < measure.world.dictionary.frames.count; b++) {
				struct fraction sub = oracle_sub(&measure.world.dictionary.frames, a, b);

				assert_true(fabs(lode_words_sub(measure.words, a, b) -
						 (double)sub.top / (double)sub.bottom) < 1e-15);
			}
		stop(&measure);
	}
}

static void very_long_names_come_within_a_millionth(void **state)
{
	char name[2 * 400 + 1] = "";
	struct lode_frames frames;
	struct lode_words *words;

	(void)state;
	for (int i = 0; i < 400; i++)
		strcat(name, i % 3 ? "a_" : "b_");
	assert_int_equal(lode_frames_init(&frames), 0);
	lode_frames_add(&frames, 0, name, strlen(name));
	lode_frames_add(&frames, 0, name, strlen(name) - 2 * 87);
	words = lode_words_make(&frames);
	assert_non_null(words);
	assert_true(fabs(lode_words_sub(words, 0, 1) - (1 - 2.0 * 313 / 713)) < 1e-6);
	lode_words_free(words);
	lode_frames_release(&frames);
}

static void counts_are_those_of_every_stack_of_every_event(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct measure measure;
		uint32_t count;

		start(&measure, &seed, 4, random_below(&seed, 30));
		count = (uint32_t)measure.world.dictionary.frames.count;
		for (uint32_t a = 0; a < count; a++) {
			assert_true(fabs(lode_call_uni(measure.counts, a) - oracle_uni(&measure.world, a)) < 1e-12);
			assert_true(lode_call_fbi(measure.counts, LODE_NONE, a) == 1);
			assert_true(lode_call_bbi(measure.counts, a, LODE_NONE) == 1);
			for (uint32_t b = 0; b < count; b++) {
				assert_true(fabs(lode_call_fbi(measure.counts, a, b) -
						 oracle_fbi(&measure.world, a, b)) < 1e-12);
				assert_true(fabs(lode_call_bbi(measure.counts, a, b) -
						 oracle_bbi(&measure.world, a, b)) < 1e-12);
			}
		}
		stop(&measure);
	}
}

static void weights_of_what_was_never_seen_are_one(void **state)
{
	struct world world;
	struct lode_call_counts *counts;

	(void)state;
	world_start(&world);
	counts = lode_call_counts_make(&world.dictionary.tree, world.occurrences, 0);
	assert_non_null(counts);
	assert_true(lode_call_uni(counts, 3) == 1);
	assert_true(lode_call_fbi(counts, 3, 4) == 1);
	lode_call_counts_free(counts);
	world_stop(&world);
}

/* Forward: what the caller calls besides; the paper's printed denominator would give 1 - 3/0 here. */
static void the_forward_bigram_is_the_share_of_the_callers_calls(void **state)
{
	struct lode_call_counts *counts;
	struct world world;
	uint32_t f, g;

	(void)state;
	world_start(&world);
	world_stack(&world, "f g", 3);
	world_stack(&world, "f h", 1);
	world_stack(&world, "k g", 9);
	world_stack(&world, "f", 5);
	f = world_frame(&world, "f");
	g = world_frame(&world, "g");
	counts = lode_call_counts_make(&world.dictionary.tree, world.occurrences, world.dictionary.frames.count);
	assert_non_null(counts);
	assert_true(lode_call_fbi(counts, f, g) == 0.25);
	assert_true(lode_call_bbi(counts, f, g) == 0.75);
	assert_true(lode_call_uni(counts, f) == 0.5);
	lode_call_counts_free(counts);
	world_stop(&world);
}

static void alignments_are_the_cheapest_and_ties_go_by_the_rule(void **state)
{
	struct lode_alignment alignment = { 0 };
	uint64_t seed = 77;

	(void)state;
	for (int round = 0; round < 1200; round++) {
		struct measure measure;
		uint32_t left[LONGEST], right[LONGEST];

		start(&measure, &seed, 1 + random_below(&seed, 6), random_below(&seed, 12));
		for (int i = 0; i < 3; i++) {
			uint32_t m = random_pattern(&measure, &seed, 5, left);
			uint32_t n = random_pattern(&measure, &seed, 5, right);

			check_alignment(&measure, left, m, right, n, &alignment);
		}
		stop(&measure);
	}
	lode_alignment_release(&alignment);
}

/* Reads "MMDISM" from the steps. */
static void expect_steps(const struct lode_alignment *alignment, const char *expected)
{
	char text[64] = "";

	assert_true(alignment->count < sizeof(text));
	for (size_t i = 0; i < alignment->count; i++)
		text[i] = "MSDI"[alignment->steps[i]];
	assert_string_equal(text, expected);
}

static uint32_t parse_pattern(struct world *world, const char *text, uint32_t *pattern)
{
	char *copy = strdup(text), *rest = copy, *word;
	uint32_t length = 0;

	while ((word = strtok_r(rest, " ", &rest)))
		pattern[length++] = world_frame(world, word);
	free(copy);
	return length;
}

/*
 * The paper's Figure 3: M1, ID1, M2, S1. A 64-bit system passes through wow64
 * functions that a 32-bit one does not have, and ends in functions with like names.
 */
static const char figure_left[] = "App_main OpenFolder wow64!Wow64SystemService wow64!Wow64Execute "
				  "nt!NtQueryDirectory ntfs!NtfsQueryDirectory ntfs!NtfsWaitSync";
static const char figure_right[] = "App_main OpenFolder nt!NtQueryDirectory fat!FatQueryDirectory fat!FatWaitSync";

static void figure_3_falls_into_its_segments(void **state)
{
	struct lode_alignment alignment = { 0 };
	uint32_t left[8], right[8], m, n;
	struct lode_words *words;
	struct world world;

	(void)state;
	world_start(&world);
	m = parse_pattern(&world, figure_left, left);
	n = parse_pattern(&world, figure_right, right);
	words = lode_words_make(&world.dictionary.frames);
	assert_non_null(words);
	assert_int_equal(lode_align(words, left, m, right, n, &alignment), 0);
	expect_steps(&alignment, "MMDDMSS");
	/* Two deletions, and 1 - 2*2/6 for each of the two substitutions. */
	assert_true(fabs(alignment.cost - (2 + 2 / 3.0)) < 1e-12);
	assert_int_equal(lode_align(words, right, n, left, m, &alignment), 0);
	expect_steps(&alignment, "MMIIMSS");
	lode_alignment_release(&alignment);
	lode_words_free(words);
	world_stop(&world);
}

/* By hand: App_main is in all stacks (weight 0), wow64 functions always call each other. */
static void figure_3_has_the_similarity_of_its_weights(void **state)
{
	struct lode_alignment alignment = { 0 };
	uint32_t left[8], right[8], m, n;
	struct lode_call_counts *counts;
	struct lode_words *words;
	struct world world;
	double matched, deleted, substituted;

	(void)state;
	world_start(&world);
	world_stack(&world, figure_left, 1);
	world_stack(&world, figure_right, 1);
	world_stack(&world, "App_main", 2);
	m = parse_pattern(&world, figure_left, left);
	n = parse_pattern(&world, figure_right, right);
	words = lode_words_make(&world.dictionary.frames);
	counts = lode_call_counts_make(&world.dictionary.tree, world.occurrences, world.dictionary.frames.count);
	assert_non_null(words);
	assert_non_null(counts);
	assert_int_equal(lode_align(words, left, m, right, n, &alignment), 0);
	/* M1: App_main 0, OpenFolder 1/2 * (FBi 0 + 1)/2; M2: one function alone, 1/2 * (1 + 1)/2. */
	matched = 0.25 + 0.5;
	/* ID1: each function is in 1 of 4 stacks: 3/4 * (1 + 0)/2, twice. */
	deleted = 2 * 0.75 / 2;
	/* S1: Sub 1/3; on both sides 3/4 * (1 + 0)/2 and 3/4 * (0 + 1)/2. */
	substituted = 2 * (1 / 3.0) * (0.375 + 0.375) / 2;
	assert_true(fabs(lode_alignment_similarity(&alignment, words, counts, left, right) -
			 matched / (matched + deleted + substituted)) < 1e-12);
	lode_alignment_release(&alignment);
	lode_call_counts_free(counts);
	lode_words_free(words);
	world_stop(&world);
}

static void the_same_name_in_two_modules_is_a_substitution_that_costs_nothing(void **state)
{
	struct lode_alignment alignment = { 0 };
	uint32_t left[4], right[4], m, n;
	struct lode_words *words;
	struct world world;

	(void)state;
	world_start(&world);
	m = parse_pattern(&world, "a!main a!read", left);
	n = parse_pattern(&world, "a!main b!read", right);
	words = lode_words_make(&world.dictionary.frames);
	assert_non_null(words);
	assert_int_equal(lode_align(words, left, m, right, n, &alignment), 0);
	expect_steps(&alignment, "MS");
	assert_true(alignment.cost == 0);
	lode_alignment_release(&alignment);
	lode_words_free(words);
	world_stop(&world);
}

/* All functions in all stacks: all weights are 0, and Sim is 0/0. */
static void without_weights_only_equal_patterns_are_similar(void **state)
{
	struct lode_alignment alignment = { 0 };
	uint32_t left[4], right[4];
	struct lode_call_counts *counts;
	struct lode_words *words;
	struct world world;

	(void)state;
	world_start(&world);
	world_stack(&world, "a b", 4);
	parse_pattern(&world, "a b", left);
	parse_pattern(&world, "a", right);
	words = lode_words_make(&world.dictionary.frames);
	counts = lode_call_counts_make(&world.dictionary.tree, world.occurrences, world.dictionary.frames.count);
	assert_non_null(words);
	assert_non_null(counts);
	assert_int_equal(lode_align(words, left, 2, right, 1, &alignment), 0);
	assert_true(lode_alignment_similarity(&alignment, words, counts, left, right) == 0);
	assert_int_equal(lode_align(words, left, 2, left, 2, &alignment), 0);
	assert_true(lode_alignment_similarity(&alignment, words, counts, left, left) == 1);
	assert_int_equal(lode_align(words, NULL, 0, NULL, 0, &alignment), 0);
	assert_int_equal(alignment.count, 0);
	assert_true(lode_alignment_similarity(&alignment, words, counts, NULL, NULL) == 1);
	lode_alignment_release(&alignment);
	lode_call_counts_free(counts);
	lode_words_free(words);
	world_stop(&world);
}

static void long_patterns_are_aligned_in_bounded_memory(void **state)
{
	enum { LENGTH = 3000 };
	uint32_t *left = calloc(LENGTH, sizeof(*left)), *right = calloc(LENGTH, sizeof(*right));
	struct lode_alignment alignment = { 0 };
	struct lode_words *words;
	struct world world;

	(void)state;
	world_start(&world);
	for (int i = 0; i < 2; i++)
		left[LENGTH / 2] = world_frame(&world, i ? "other" : "same");
	words = lode_words_make(&world.dictionary.frames);
	assert_non_null(words);
	assert_int_equal(lode_align(words, left, LENGTH, right, LENGTH - 1, &alignment), 0);
	assert_int_equal(alignment.count, LENGTH);
	assert_true(alignment.cost == 1);
	assert_int_equal(alignment.steps[LENGTH / 2], LODE_DELETE);
	assert_true(alignment.work_capacity < 8u << 20);
	lode_alignment_release(&alignment);
	lode_words_free(words);
	world_stop(&world);
	free(left);
	free(right);
}

/* Makes everything once; 0, or LODE_SYSTEM when something could not be made. */
static int make_all(const struct world *world)
{
	const uint32_t pattern[] = { 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3 };
	struct lode_words *words = lode_words_make(&world->dictionary.frames);
	struct lode_call_counts *counts =
		lode_call_counts_make(&world->dictionary.tree, world->occurrences, world->dictionary.frames.count);
	struct lode_alignment alignment = { 0 };
	int code = words && counts ? 0 : LODE_SYSTEM;

	if (!code)
		code = lode_align(words, pattern, 20, pattern + 1, 18, &alignment);
	lode_alignment_release(&alignment);
	lode_call_counts_free(counts);
	lode_words_free(words);
	return code;
}

static void memory_that_runs_out_is_a_clean_error(void **state)
{
	uint64_t seed = 9, failures = 0;
	struct world world;

	(void)state;
	random_world(&world, &seed, 60, 300);
	for (uint64_t nth = 1;; nth++) {
		int code;

		lode_memory_fail_at(nth, 0);
		code = make_all(&world);
		lode_memory_fail_at(0, 0);
		if (!code)
			break;
		assert_int_equal(code, LODE_SYSTEM);
		failures++;
	}
	assert_true(failures > 15);
	world_stop(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_split_into_words),
		cmocka_unit_test(an_address_has_no_words),
		cmocka_unit_test(words_that_stand_twice_are_common_twice),
		cmocka_unit_test(sub_is_the_papers_formula),
		cmocka_unit_test(very_long_names_come_within_a_millionth),
		cmocka_unit_test(counts_are_those_of_every_stack_of_every_event),
		cmocka_unit_test(weights_of_what_was_never_seen_are_one),
		cmocka_unit_test(the_forward_bigram_is_the_share_of_the_callers_calls),
		cmocka_unit_test(alignments_are_the_cheapest_and_ties_go_by_the_rule),
		cmocka_unit_test(figure_3_falls_into_its_segments),
		cmocka_unit_test(figure_3_has_the_similarity_of_its_weights),
		cmocka_unit_test(the_same_name_in_two_modules_is_a_substitution_that_costs_nothing),
		cmocka_unit_test(without_weights_only_equal_patterns_are_similar),
		cmocka_unit_test(long_patterns_are_aligned_in_bounded_memory),
		cmocka_unit_test(memory_that_runs_out_is_a_clean_error),
	};

	return cmocka_run_group_tests_name("mine_similarity", tests, NULL, NULL);
}
