/*
 * Similarities of many patterns against one alignment at a time, average linkage
 * against a clustering that computes every average again from the similarities.
 */
#include "mine_fixture.h"
#include "job_fixture.h"

#include "base/error.h"
#include "mine/clusters.h"
#include "mine/linkage.h"
#include "mine/mine_services.h"
#include "mine/similarity_job.h"

#define MOST 40

/* ---- random patterns ---- */

struct setup {
	struct world world;
	struct lode_words *words;
	struct lode_call_counts *counts;
	struct lode_patterns patterns;
};

static void weigh(struct setup *setup)
{
	setup->words = lode_words_make(&setup->world.dictionary.frames);
	setup->counts = lode_call_counts_make(&setup->world.dictionary.tree, setup->world.occurrences,
					      setup->world.dictionary.frames.count);
	assert_non_null(setup->words);
	assert_non_null(setup->counts);
}

/* A new pattern, or an earlier one with a change or two, so that some are alike. */
static void add_random_pattern(struct setup *setup, uint64_t *seed, uint32_t longest)
{
	size_t frames = setup->world.dictionary.frames.count;
	uint32_t *pattern = calloc(longest + 1, sizeof(*pattern));
	uint32_t length = (uint32_t)random_below(seed, longest + 1);

	for (uint32_t i = 0; i < length; i++)
		pattern[i] = (uint32_t)random_below(seed, frames);
	if (setup->patterns.count && random_below(seed, 3)) {
		size_t model = random_below(seed, setup->patterns.count);

		length = setup->patterns.items[model].length;
		if (length)
			memcpy(pattern, lode_pattern_frames(&setup->patterns, model), length * sizeof(*pattern));
		for (uint64_t changes = random_below(seed, 3); changes && length; changes--)
			pattern[random_below(seed, length)] = (uint32_t)random_below(seed, frames);
		if (length && !random_below(seed, 3))
			length--;
	}
	assert_int_equal(lode_patterns_add(&setup->patterns, pattern, length, 1), 0);
	free(pattern);
}

static void start(struct setup *setup, uint64_t *seed, size_t patterns, uint32_t longest)
{
	memset(setup, 0, sizeof(*setup));
	random_world(&setup->world, seed, 1 + random_below(seed, 20), random_below(seed, 60));
	weigh(setup);
	for (size_t i = 0; i < patterns; i++)
		add_random_pattern(setup, seed, longest);
}

static void stop(struct setup *setup)
{
	lode_patterns_release(&setup->patterns);
	lode_words_free(setup->words);
	lode_call_counts_free(setup->counts);
	world_stop(&setup->world);
}

/* ---- similarities ---- */

/* Sim of two patterns, the lower number on the left, by one alignment. */
static uint32_t plain_units(const struct setup *setup, size_t i, size_t j)
{
	const struct lode_patterns *patterns = &setup->patterns;
	size_t a = i < j ? i : j, b = i < j ? j : i;
	struct lode_alignment alignment = { 0 };
	double similarity;

	assert_int_equal(lode_align(setup->words, lode_pattern_frames(patterns, a), patterns->items[a].length,
				    lode_pattern_frames(patterns, b), patterns->items[b].length, &alignment),
			 0);
	similarity = lode_alignment_similarity(&alignment, setup->words, setup->counts,
					       lode_pattern_frames(patterns, a), lode_pattern_frames(patterns, b));
	lode_alignment_release(&alignment);
	return (uint32_t)(similarity * 2147483648.0 + 0.5);
}

struct matrix {
	uint32_t units[MOST][MOST];
	int seen[MOST];
	const uint32_t *order;
	size_t count;
	int wrong;
};

static void take_row(void *context, size_t row, const struct lode_similar *similar, size_t count)
{
	struct matrix *matrix = context;

	matrix->seen[row]++;
	for (size_t i = 0; i < count; i++) {
		uint32_t a = matrix->order[row], b = matrix->order[similar[i].other];

		matrix->wrong |= similar[i].other <= row || similar[i].other >= matrix->count;
		matrix->units[a][b] = matrix->units[b][a] = similar[i].units;
	}
}

/* What is compared by several processes. */
struct question {
	struct lode_clusters_input input;
	const struct lode_similarities *similarities;
	uint32_t least;
	const struct lode_similarities_sink *sink;
};

static int ask_or_serve(void *context, const struct lode_job_rank *rank, struct lode_error *error)
{
	struct question *question = context;
	int code;

	if (rank->number)
		return lode_job_serve(rank, lode_mine_services, error);
	question->input.rank = rank;
	code = lode_similarities_call(&question->input, question->similarities, question->least, question->sink,
				      error);
	return lode_job_call(rank, LODE_JOB_END, NULL, NULL) < 0 ? -99 : code;
}

static void compare(const struct setup *setup, const struct lode_similarities *similarities, unsigned processes,
		    unsigned jobs, uint32_t least, const struct lode_similarities_sink *sink)
{
	static struct job job;
	struct question question = {
		.input = { .patterns = &setup->patterns,
			   .words = setup->words,
			   .counts = setup->counts,
			   .jobs = jobs },
		.similarities = similarities,
		.least = least,
		.sink = sink,
	};

	if (!processes) {
		assert_int_equal(lode_similarities_compare(similarities, least, jobs, NULL, NULL, sink, NULL), 0);
		return;
	}
	job_run(&job, processes, least % 2, ask_or_serve, &question);
	for (unsigned i = 0; i < processes; i++)
		assert_int_equal(job.processes[i].code, 0);
}

/* By so many processes; 0: by none but this one. Pairs below `least` are left out. Returns how many were. */
static size_t check_similarities_by(const struct setup *setup, unsigned processes, unsigned jobs, uint32_t least)
{
	struct lode_similarities *similarities =
		lode_similarities_make(&setup->patterns, setup->words, setup->counts);
	struct matrix matrix = { .count = setup->patterns.count };
	struct lode_similarities_sink sink = { take_row, &matrix };
	size_t left_out = 0;

	assert_non_null(similarities);
	matrix.order = lode_similarities_order(similarities);
	compare(setup, similarities, processes, jobs, least, &sink);
	assert_false(matrix.wrong);
	for (size_t i = 0; i < matrix.count; i++) {
		assert_int_equal(matrix.seen[i], 1);
		for (size_t j = 0; j < i; j++) {
			uint32_t units = plain_units(setup, i, j);

			left_out += units < least && units > 0;
			assert_int_equal(matrix.units[i][j], units < least ? 0 : units);
		}
	}
	lode_similarities_free(similarities);
	return left_out;
}

static size_t check_similarities(const struct setup *setup, unsigned jobs, uint32_t least)
{
	return check_similarities_by(setup, 0, jobs, least);
}

static void similarities_of_many_are_those_of_each_pair(void **state)
{
	uint64_t seed = 41;

	(void)state;
	for (int round = 0; round < TEST_ROUNDS(400); round++) {
		struct setup setup;

		start(&setup, &seed, random_below(&seed, MOST), 1 + (uint32_t)random_below(&seed, 12));
		check_similarities(&setup, 1 + (unsigned)random_below(&seed, 3), 0);
		stop(&setup);
	}
}

/* The least similarity requested is often that of some pair, so that the bound is tried where it matters. */
static void no_pair_as_similar_as_asked_for_is_left_out(void **state)
{
	uint64_t seed = 71;
	size_t left_out = 0;

	(void)state;
	for (int round = 0; round < TEST_ROUNDS(4000); round++) {
		uint32_t least = 1 + (uint32_t)random_below(&seed, 0x80000000u);
		struct setup setup;

		start(&setup, &seed, 2 + random_below(&seed, 18),
		      1 + (uint32_t)random_below(&seed, round % 5 ? 9 : 30));
		if (random_below(&seed, 3)) {
			uint32_t units = plain_units(&setup, random_below(&seed, setup.patterns.count - 1),
						     setup.patterns.count - 1);

			least = units ? units : 1;
		}
		left_out += check_similarities(&setup, 1, least);
		stop(&setup);
	}
	assert_true(left_out > TEST_ROUNDS(1000));
}

static void similarities_of_frames_added_later_are_those_of_each_pair(void **state)
{
	struct setup setup;
	uint64_t seed = 43;

	(void)state;
	start(&setup, &seed, 0, 1);
	for (uint32_t i = 0; i < 10; i++) {
		const uint32_t pattern[] = { 0, 1000 + i % 3, 1000 + i % 2, 0 };

		assert_int_equal(lode_patterns_add(&setup.patterns, pattern, 1 + i % 4, 1), 0);
	}
	check_similarities(&setup, 2, 0);
	check_similarities(&setup, 2, 0x40000000);
	check_similarities_by(&setup, 3, 1, 0);
	check_similarities_by(&setup, 3, 1, 0x40000000);
	stop(&setup);
}

static void similarities_by_several_processes_are_those_of_each_pair(void **state)
{
	uint64_t seed = 73;

	(void)state;
	for (int round = 0; round < 400; round += ONE_IN) {
		struct setup setup;

		start(&setup, &seed, random_below(&seed, MOST), 1 + (uint32_t)random_below(&seed, 12));
		check_similarities_by(&setup, 1 + (unsigned)random_below(&seed, 7),
				      1 + (unsigned)random_below(&seed, 2),
				      round % 3 ? 1 + (uint32_t)random_below(&seed, 0x80000000u) : 0);
		stop(&setup);
	}
}

/* ---- messages between processes ---- */

static void ignore_row(void *context, size_t row, const struct lode_similar *similar, size_t count)
{
	(void)context, (void)row, (void)similar, (void)count;
}

static int stop_at_once(void *context, const char *phase, const char *unit, uint64_t done, uint64_t total)
{
	(void)context, (void)phase, (void)unit, (void)done, (void)total;
	return 1;
}

static void a_first_process_that_is_stopped_lets_the_others_end(void **state)
{
	static struct job job;
	const struct lode_progress progress = { stop_at_once, NULL };
	struct lode_similarities_sink sink = { ignore_row, NULL };
	struct setup setup;
	struct question question = { .least = 1, .sink = &sink };
	uint64_t seed = 75;

	(void)state;
	start(&setup, &seed, MOST, 12);
	question.input = (struct lode_clusters_input){
		.patterns = &setup.patterns,
		.words = setup.words,
		.counts = setup.counts,
		.progress = &progress,
	};
	question.similarities = lode_similarities_make(&setup.patterns, setup.words, setup.counts);
	assert_non_null(question.similarities);
	for (int gives = 0; gives < 2; gives++) {
		job_run(&job, 5, gives, ask_or_serve, &question);
		/* The others may have taken all of it before. */
		assert_true(job.processes[0].code == LODE_SYSTEM || (gives && !job.processes[0].code));
		for (unsigned i = 1; i < 5; i++)
			assert_int_equal(job.processes[i].code, 0);
	}
	lode_similarities_free((struct lode_similarities *)(uintptr_t)question.similarities);
	stop(&setup);
}

static void damaged_questions_are_refused_or_read(void **state)
{
	uint64_t seed = 77;

	(void)state;
	for (int round = 0; round < 300; round += ONE_IN) {
		struct lode_similarity_question question;
		struct lode_buffer message = { 0 };
		struct setup setup;
		size_t place;
		int code;

		start(&setup, &seed, 1 + random_below(&seed, MOST), 12);
		lode_similarity_question_write(&(struct lode_clusters_input){ .patterns = &setup.patterns,
									      .words = setup.words,
									      .counts = setup.counts },
					       1000, &message);
		assert_false(message.failed);
		assert_int_equal(message.size % 8, 0);
		code = lode_similarity_question_read(&question, lode_cursor(message.bytes, message.size));
		assert_int_equal(code, 0);
		assert_int_equal(question.least, 1000);
		assert_int_equal(question.patterns.count, setup.patterns.count);
		lode_similarity_question_release(&question);
		place = random_below(&seed, message.size);
		assert_int_equal(lode_similarity_question_read(&question, lode_cursor(message.bytes, place)),
				 LODE_BAD_INPUT);
		lode_similarity_question_release(&question);
		message.bytes[place] = (char)(message.bytes[place] ^ (1 << random_below(&seed, 8)));
		code = lode_similarity_question_read(&question, lode_cursor(message.bytes, message.size));
		assert_true(code == 0 || code == LODE_BAD_INPUT);
		lode_similarity_question_release(&question);
		lode_buffer_release(&message);
		stop(&setup);
	}
}

/* Of three patterns: rows 0 and 2, row 0 is similar to 1 and 2. */
static void answers_with_wrong_numbers_are_refused(void **state)
{
	static const uint64_t right[] = {
		0, 2, (uint64_t)2 << 32, 2, 2, 1 | (uint64_t)9 << 32, 2 | (uint64_t)9 << 32
	};
	static const struct {
		size_t place;
		uint64_t number;
	} wrong[] = {
		{ 1, 3 },                                         /* more rows than there are */
		{ 2, 3 },                                         /* a row beyond the patterns */
		{ 2, (uint64_t)3 << 32 },                         /* more similar ones than there are */
		{ 2, (uint64_t)1 << 32 },                         /* fewer */
		{ 3, 0 },                                         /* a row twice */
		{ 4, 1 },                                         /* bytes left */
		{ 5, (uint64_t)9 << 32 },                         /* similar to itself */
		{ 6, 3 },                                         /* to one beyond the patterns */
		{ 6, 2 | (uint64_t)1 << 63 | (uint64_t)1 << 32 }, /* more than similar */
	};
	struct lode_similarities_sink sink = { ignore_row, NULL };
	struct lode_error error;
	uint8_t seen[3] = { 0 };

	(void)state;
	assert_int_equal(lode_similarity_answer_read(lode_cursor(right, sizeof(right)), 3, seen, &sink, &error), 0);
	assert_true(seen[0] && !seen[1] && seen[2]);
	assert_int_equal(lode_similarity_answer_read(lode_cursor(right, sizeof(right)), 3, seen, &sink, &error),
			 LODE_BAD_INPUT);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		uint64_t message[sizeof(right) / sizeof(right[0])];

		memset(seen, 0, sizeof(seen));
		memcpy(message, right, sizeof(right));
		message[wrong[i].place] = wrong[i].number;
		assert_int_equal(lode_similarity_answer_read(lode_cursor(message, sizeof(message)), 3, seen, &sink,
							     &error),
				 LODE_BAD_INPUT);
	}
}

/* Beyond 1024 frames patterns are aligned without vectors. */
static void similarities_of_long_patterns_are_those_of_each_pair(void **state)
{
	struct setup setup;
	uint64_t seed = 47;

	(void)state;
	start(&setup, &seed, 0, 1);
	for (uint32_t i = 0; i < 10; i += TEST_SANITIZED ? 3 : 1) {
		uint32_t pattern[1100], length = 1020 + i;

		for (uint32_t k = 0; k < length; k++)
			pattern[k] = (uint32_t)random_below(&seed, setup.world.dictionary.frames.count);
		assert_int_equal(lode_patterns_add(&setup.patterns, pattern, i % 4 ? length : 3, 1), 0);
	}
	check_similarities(&setup, 2, 0);
	check_similarities(&setup, 2, 0x40000000);
	check_similarities_by(&setup, 2, 1, 0x40000000);
	stop(&setup);
}

/* ---- linkage ---- */

/* Sums of similarities between all members of two clusters. */
static uint64_t sum_between(const uint64_t *units, size_t count, const uint32_t *cluster, uint32_t a, uint32_t b,
			    uint64_t *pairs)
{
	uint64_t sum = 0;

	*pairs = 0;
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < count; j++)
			if (cluster[i] == a && cluster[j] == b) {
				sum += units[i * count + j];
				++*pairs;
			}
	return sum;
}

/* Joins the most similar pair of clusters, named by their first members; 0 when none reaches the cut. */
static int join_best(const uint64_t *units, size_t count, uint64_t cut, uint32_t *cluster)
{
	uint64_t best_sum = 0, best_pairs = 0;
	uint32_t from = 0, to = 0;

	for (uint32_t a = 0; a < count; a++)
		for (uint32_t b = a + 1; b < count; b++) {
			uint64_t pairs, sum = sum_between(units, count, cluster, a, b, &pairs);

			if (!pairs || sum < cut * pairs || (best_pairs && sum * best_pairs <= best_sum * pairs))
				continue;
			best_sum = sum;
			best_pairs = pairs;
			to = a;
			from = b;
		}
	for (size_t i = 0; best_pairs && i < count; i++)
		if (cluster[i] == from)
			cluster[i] = to;
	return best_pairs != 0;
}

static void plain_linkage(const uint64_t *units, size_t count, uint64_t cut, uint32_t *cluster)
{
	for (size_t i = 0; i < count; i++)
		cluster[i] = (uint32_t)i;
	while (join_best(units, count, cut, cluster))
		;
}

/* Similarities of ten members, of which linkage is given those from a floor on. */
struct linked {
	uint64_t units[100];
	size_t count;
	size_t starts[11];
	struct lode_similar similar[90];
};

static int look_up(void *context, uint32_t a, uint32_t b, uint32_t *units)
{
	struct linked *linked = context;

	assert_true(a != b);
	*units = (uint32_t)linked->units[a * linked->count + b];
	return 0;
}

static void give_similar(struct linked *linked, uint32_t floor)
{
	size_t count = linked->count, at = 0;

	for (uint32_t i = 0; i < count; i++) {
		linked->starts[i] = at;
		for (uint32_t j = 0; j < count; j++)
			if (i != j && linked->units[i * count + j] >= floor)
				linked->similar[at++] =
					(struct lode_similar){ j, (uint32_t)linked->units[i * count + j] };
	}
	linked->starts[count] = at;
}

static void linkage_joins_the_highest_average_and_the_first_of_equal_ones(void **state)
{
	uint64_t seed = 53, asked, all_asked = 0;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct linked linked = { .count = random_below(&seed, 11) };
		uint64_t limit = 1 + random_below(&seed, round % 2 ? 4 : 1000);
		struct lode_linkage_input input = {
			.count = linked.count,
			.starts = linked.starts,
			.similar = linked.similar,
			.cut = 1 + (uint32_t)random_below(&seed, limit + 1),
			.compare = look_up,
			.context = &linked,
		};
		uint32_t plain[10], leaders[10];

		input.floor = 1 + (uint32_t)random_below(&seed, input.cut);
		for (size_t i = 0; i < linked.count; i++)
			for (size_t j = i + 1; j < linked.count; j++)
				linked.units[i * linked.count + j] = linked.units[j * linked.count + i] =
					random_below(&seed, limit);
		give_similar(&linked, input.floor);
		plain_linkage(linked.units, linked.count, input.cut, plain);
		assert_int_equal(lode_linkage(&input, leaders, &asked, NULL), 0);
		for (size_t i = 0; i < linked.count; i++)
			assert_int_equal(leaders[i], plain[i]);
		all_asked += asked;
	}
	assert_true(all_asked > 1000);
}

/* ---- clusters ---- */

static struct lode_clusters_input input_of(const struct setup *setup, double similarity, unsigned jobs)
{
	return (struct lode_clusters_input){
		.patterns = &setup->patterns,
		.words = setup->words,
		.counts = setup->counts,
		.similarity = similarity,
		.jobs = jobs,
	};
}

static void check_clusters(const struct setup *setup, const struct lode_clusters *clusters,
			   const uint32_t *expected)
{
	size_t seen = 0;

	for (size_t i = 0; i < clusters->count; i++) {
		const struct lode_pattern_cluster *cluster = &clusters->items[i];
		const uint32_t *members = clusters->members + cluster->first;

		assert_true(cluster->count > 0);
		assert_int_equal(cluster->first, seen);
		if (i)
			assert_true(clusters->members[clusters->items[i - 1].first] < members[0]);
		for (size_t k = 0; k < cluster->count; k++) {
			if (k)
				assert_true(members[k - 1] < members[k]);
			assert_int_equal(expected[members[k]], members[0]);
		}
		seen += cluster->count;
	}
	assert_int_equal(seen, setup->patterns.count);
}

static void clusters_are_those_of_average_linkage_over_all_pairs(void **state)
{
	uint64_t seed = 59;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		uint64_t units[MOST * MOST] = { 0 }, cut;
		struct lode_clusters clusters;
		struct lode_clusters_input input;
		uint32_t expected[MOST];
		struct setup setup;
		size_t count;

		start(&setup, &seed, random_below(&seed, round % 8 ? 12 : 30), 8);
		count = setup.patterns.count;
		input = input_of(&setup, (double)random_below(&seed, 21) / 20,
				 1 + (unsigned)random_below(&seed, 3));
		cut = (uint64_t)(input.similarity * 2147483648.0 + 0.5);
		for (size_t i = 0; i < count; i++)
			for (size_t j = 0; j < count; j++)
				units[i * count + j] = i == j ? 0 : plain_units(&setup, i, j);
		plain_linkage(units, count, cut, expected);
		assert_int_equal(lode_clusters_make(&input, &clusters, NULL), 0);
		check_clusters(&setup, &clusters, expected);
		lode_clusters_release(&clusters);
		stop(&setup);
	}
}

static void above_one_nothing_is_joined_and_at_zero_everything(void **state)
{
	struct lode_clusters clusters;
	struct lode_clusters_input input;
	struct setup setup;
	uint64_t seed = 61;

	(void)state;
	start(&setup, &seed, 30, 5);
	input = input_of(&setup, 1.5, 2);
	assert_int_equal(lode_clusters_make(&input, &clusters, NULL), 0);
	assert_int_equal(clusters.count, 30);
	lode_clusters_release(&clusters);
	input.similarity = -1;
	assert_int_equal(lode_clusters_make(&input, &clusters, NULL), 0);
	assert_int_equal(clusters.count, 1);
	lode_clusters_release(&clusters);
	input.similarity = 0.0 / (double)(clusters.count - clusters.count);
	assert_int_equal(lode_clusters_make(&input, &clusters, NULL), LODE_USAGE);
	lode_clusters_release(&clusters);
	stop(&setup);
}

static void degenerate_patterns_are_clustered(void **state)
{
	struct lode_clusters clusters;
	struct lode_clusters_input input;
	struct setup setup;
	uint64_t seed = 67;
	const uint32_t frame = 0;

	(void)state;
	start(&setup, &seed, 0, 1);
	input = input_of(&setup, 0.5, 0);
	assert_int_equal(lode_clusters_make(&input, &clusters, NULL), 0);
	assert_int_equal(clusters.count, 0);
	lode_clusters_release(&clusters);
	for (size_t count = 1; count <= 20; count++) {
		/* All equal, some of them empty: two clusters. */
		assert_int_equal(lode_patterns_add(&setup.patterns, &frame, count % 2, 1), 0);
		assert_int_equal(lode_clusters_make(&input, &clusters, NULL), 0);
		assert_int_equal(clusters.count, count > 1 ? 2 : 1);
		lode_clusters_release(&clusters);
	}
	stop(&setup);
}

/* ---- what a cluster has in common ---- */

static uint32_t add_pattern(struct setup *setup, const char *text)
{
	char *copy = strdup(text), *rest = copy, *word;
	uint32_t frames[16], length = 0;

	while ((word = strtok_r(rest, " ", &rest)))
		frames[length++] = world_frame(&setup->world, word);
	free(copy);
	assert_int_equal(lode_patterns_add(&setup->patterns, frames, length, 1), 0);
	return (uint32_t)setup->patterns.count - 1;
}

/* As in the paper's Figure 5: what stays when variant paths between the segments are left out. */
static void the_common_part_is_what_all_patterns_match(void **state)
{
	struct setup setup = { 0 };
	uint32_t common[8], members[3];
	const char *const expected[] = { "InitComponents", "GetHashCode", "GetShortPathName", "MmAccessFault" };

	(void)state;
	world_start(&setup.world);
	members[0] = add_pattern(&setup,
				 "InitComponents GetHashCode GetShortPathName Wow64Call NtfsRead MmAccessFault");
	members[1] = add_pattern(&setup, "main InitComponents GetHashCode GetShortPathName FatRead MmAccessFault");
	members[2] = add_pattern(&setup, "InitComponents Load GetHashCode GetShortPathName MmAccessFault");
	weigh(&setup);
	assert_int_equal(lode_cluster_common(&setup.patterns, members, 3, setup.words, common), 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(common[i], world_frame(&setup.world, expected[i]));
	assert_int_equal(lode_cluster_common(&setup.patterns, members, 1, setup.words, common), 6);
	assert_int_equal(lode_cluster_common(&setup.patterns, members, 0, setup.words, common), 0);
	stop(&setup);
}

static void the_common_part_is_a_part_of_each_pattern(void **state)
{
	uint64_t seed = 71;

	(void)state;
	for (int round = 0; round < 500; round++) {
		uint32_t members[5], common[8];
		struct setup setup;
		int length;

		start(&setup, &seed, 5, 8);
		for (uint32_t i = 0; i < 5; i++)
			members[i] = i;
		length = lode_cluster_common(&setup.patterns, members, 5, setup.words, common);
		for (uint32_t i = 0; i < 5; i++) {
			const uint32_t *frames = lode_pattern_frames(&setup.patterns, i);
			int matched = 0;

			for (uint32_t k = 0; k < setup.patterns.items[i].length && matched < length; k++)
				matched += frames[k] == common[matched];
			assert_int_equal(matched, length);
		}
		stop(&setup);
	}
}

/* ---- stopping, memory ---- */

struct stopper {
	int calls;
	int stop_at;
};

static int count_and_stop(void *context, const char *phase, const char *unit, uint64_t done, uint64_t total)
{
	struct stopper *stopper = context;

	assert_non_null(phase);
	assert_non_null(unit);
	assert_true(!total || done <= total);
	return ++stopper->calls == stopper->stop_at;
}

static void a_caller_that_asks_to_stop_is_heard(void **state)
{
	struct stopper stopper = { 0, 0 };
	struct lode_progress progress = { count_and_stop, &stopper };
	struct lode_clusters clusters;
	struct lode_clusters_input input;
	struct lode_error error;
	struct setup setup;
	uint64_t seed = 73;
	int calls;

	(void)state;
	start(&setup, &seed, 40, 6);
	input = input_of(&setup, 0.2, 2);
	input.progress = &progress;
	assert_int_equal(lode_clusters_make(&input, &clusters, &error), 0);
	lode_clusters_release(&clusters);
	calls = stopper.calls;
	assert_true(calls > 5);
	for (int stop_at = 1; stop_at <= calls; stop_at++) {
		stopper = (struct stopper){ 0, stop_at };
		assert_int_equal(lode_clusters_make(&input, &clusters, &error), LODE_SYSTEM);
		assert_non_null(strstr(error.text, "stopped"));
		lode_clusters_release(&clusters);
	}
	stop(&setup);
}

static void memory_that_runs_out_is_a_clean_error(void **state)
{
	struct lode_clusters_input input;
	struct setup setup;
	uint64_t seed = 79, failures = 0;

	(void)state;
	start(&setup, &seed, 24, 6);
	input = input_of(&setup, 0.6, 1);
	for (uint64_t nth = 1;; nth++) {
		struct lode_clusters clusters;
		struct lode_error error = { "" };
		int code;

		lode_memory_fail_at(nth, 0);
		code = lode_clusters_make(&input, &clusters, &error);
		lode_memory_fail_at(0, 0);
		lode_clusters_release(&clusters);
		if (!code)
			break;
		assert_int_equal(code, LODE_SYSTEM);
		assert_true(error.text[0]);
		failures++;
	}
	assert_true(failures > 25);
	stop(&setup);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(similarities_of_many_are_those_of_each_pair),
		cmocka_unit_test(no_pair_as_similar_as_asked_for_is_left_out),
		cmocka_unit_test(similarities_of_frames_added_later_are_those_of_each_pair),
		cmocka_unit_test(similarities_by_several_processes_are_those_of_each_pair),
		cmocka_unit_test(a_first_process_that_is_stopped_lets_the_others_end),
		cmocka_unit_test(damaged_questions_are_refused_or_read),
		cmocka_unit_test(answers_with_wrong_numbers_are_refused),
		cmocka_unit_test(similarities_of_long_patterns_are_those_of_each_pair),
		cmocka_unit_test(linkage_joins_the_highest_average_and_the_first_of_equal_ones),
		cmocka_unit_test(clusters_are_those_of_average_linkage_over_all_pairs),
		cmocka_unit_test(above_one_nothing_is_joined_and_at_zero_everything),
		cmocka_unit_test(degenerate_patterns_are_clustered),
		cmocka_unit_test(the_common_part_is_what_all_patterns_match),
		cmocka_unit_test(the_common_part_is_a_part_of_each_pattern),
		cmocka_unit_test(a_caller_that_asks_to_stop_is_heard),
		cmocka_unit_test(memory_that_runs_out_is_a_clean_error),
	};

	return cmocka_run_group_tests_name("mine_clusters", tests, NULL, NULL);
}
