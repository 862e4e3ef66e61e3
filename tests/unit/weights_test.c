/*
 * Weights of events: they come through files unharmed, an event of weight w counts like w such
 * events, and sums over a stream that was thinned at random are those of the whole one on average.
 */
#include "cmocka_all.h"
#include "random_stream.h"
#include "small_stream.h"
#include "temporary.h"

#include "base/file.h"
#include "latency/latency.h"
#include "scope/area.h"
#include "scope/scope.h"
#include "store/store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fixture {
	char folder[64];
	unsigned corpora;
	struct lode_error error;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	return fixture ? temporary_folder(fixture->folder, sizeof(fixture->folder)) : -1;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	int code = temporary_remove(fixture->folder);

	free(fixture);
	return code;
}

/* A corpus of this one stream. */
static struct lode_corpus *corpus_of(struct fixture *fixture, const struct lode_stream *stream)
{
	struct lode_corpus *corpus;
	char path[96];

	snprintf(path, sizeof(path), "%s/c%u", fixture->folder, fixture->corpora++);
	assert_int_equal(lode_corpus_open(&corpus, path, LODE_CORPUS_CREATE, &fixture->error), 0);
	assert_int_equal(lode_corpus_add(corpus, "00000000000000000000000000000001", "test", stream, 0, 1,
					 &fixture->error),
			 1);
	return corpus;
}

/* Events of random streams with costs and times that sums hold. */
static void make_stream(struct small_stream *small, uint64_t *seed, size_t most)
{
	small_begin(small);
	small_random(small, seed, most, 1000);
}

/* Copies the threads, stacks and events; `times` says how often event `i` comes, and with which weight. */
static void copy(const struct small_stream *from, struct small_stream *to, enum lode_event_type type,
		 uint64_t *seed, void (*times)(uint64_t *seed, struct lode_event *event, size_t *count))
{
	struct lode_dictionary_map map = { 0 };

	assert_int_equal(lode_dictionary_merge(&to->dictionary, &from->dictionary, &map), 0);
	for (size_t i = 0; i < from->stream.thread_count; i++)
		lode_stream_thread(&to->stream, from->stream.threads[i].pid, from->stream.threads[i].tid);
	for (size_t i = 0; i < from->stream.events[type].count; i++) {
		struct lode_event event = lode_events_get(&from->stream.events[type], i);
		size_t count = 1;

		event.stack = map.nodes[event.stack];
		event.waker_stack = map.nodes[event.waker_stack];
		if (times)
			times(seed, &event, &count);
		while (count--)
			assert_int_equal(lode_stream_add_event(&to->stream, type, &event), 0);
	}
	lode_dictionary_map_release(&map);
}

/* ---- files ---- */

static void give_weights(struct lode_stream *stream, uint64_t *seed)
{
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		struct lode_events *events = &stream->events[type];

		assert_int_equal(lode_events_reserve(events, events->capacity + 1, LODE_WEIGHT), 0);
		for (size_t i = 0; i < events->count; i++)
			events->weight[i] = random_below(seed, 3) ? 1 : 1 + (uint32_t)(random_number(seed) >> 32);
	}
}

static void a_file_keeps_weights(void **state)
{
	struct fixture *fixture = *state;
	uint64_t seed = 3;
	char path[96];

	for (int round = 0; round < 200; round++) {
		struct small_stream small, back;

		small_begin(&small);
		small_begin(&back);
		assert_int_equal(random_stream(&small.stream, &seed, 60), 0);
		give_weights(&small.stream, &seed);
		assert_int_equal(lode_stream_sort(&small.stream), 0);
		snprintf(path, sizeof(path), "%s/w%d.lode", fixture->folder, round);
		assert_int_equal(lode_store_write(path, 0666, &small.stream, 1, &fixture->error), 0);
		assert_int_equal(lode_store_load(path, &back.stream, &fixture->error), 0);
		assert_true(streams_equal(&small.stream, &back.stream));
		small_end(&small);
		small_end(&back);
	}
}

static void files_without_weights_are_the_same_bytes_with_a_column_of_ones(void **state)
{
	struct fixture *fixture = *state;
	struct lode_map maps[2];
	struct small_stream small;
	uint64_t seed = 5;
	char path[2][96];

	small_begin(&small);
	assert_int_equal(random_stream(&small.stream, &seed, 100), 0);
	for (int i = 0; i < 2; i++) {
		snprintf(path[i], sizeof(path[i]), "%s/ones%d.lode", fixture->folder, i);
		for (int type = 0; i && type < LODE_EVENT_TYPES; type++)
			assert_int_equal(lode_events_reserve(&small.stream.events[type], 1, LODE_WEIGHT), 0);
		assert_int_equal(lode_store_write(path[i], 0666, &small.stream, 1, &fixture->error), 0);
		assert_int_equal(lode_map_open(&maps[i], path[i], &fixture->error), 0);
	}
	assert_int_equal(maps[0].size, maps[1].size);
	assert_memory_equal(maps[0].bytes, maps[1].bytes, maps[0].size);
	lode_map_close(&maps[0]);
	lode_map_close(&maps[1]);
	small_end(&small);
}

/* ---- an event of weight w is w events ---- */

static void repeat(uint64_t *seed, struct lode_event *event, size_t *count)
{
	*count = 1 + random_below(seed, 5);
	event->weight = 1;
}

static void weigh(uint64_t *seed, struct lode_event *event, size_t *count)
{
	*count = 1;
	event->weight = (uint32_t)(1 + random_below(seed, 5));
}

static void require_same_rows(const struct lode_area_rows *a, const struct lode_area_rows *b)
{
	assert_int_equal(a->count, b->count);
	assert_int_equal(a->cost, b->cost);
	assert_int_equal(a->events, b->events);
	for (size_t i = 0; i < a->count; i++) {
		assert_int_equal(a->items[i].stack, b->items[i].stack);
		assert_int_equal(a->items[i].cost, b->items[i].cost);
		assert_int_equal(a->items[i].events, b->items[i].events);
		assert_int_equal(a->items[i].longest, b->items[i].longest);
	}
}

static void an_event_of_weight_w_counts_like_w_events(void **state)
{
	struct fixture *fixture = *state;
	uint64_t seed = 11;

	for (int round = 0; round < 60; round++) {
		struct lode_area_options options = { .scope = round % 2 ? LODE_SCOPE_THREAD : LODE_SCOPE_ALL,
						     .jobs = 1 };
		void (*const ways[2])(uint64_t *, struct lode_event *, size_t *) = { repeat, weigh };
		struct small_stream small;
		struct lode_area areas[2];
		uint64_t before = random_next(&seed);

		make_stream(&small, &seed, 60);
		for (int i = 0; i < 2; i++) {
			struct small_stream other;
			struct lode_corpus *corpus;
			uint64_t draws = before;

			small_begin(&other);
			for (int type = 0; type < LODE_EVENT_TYPES; type++)
				copy(&small, &other, (enum lode_event_type)type, &draws, ways[i]);
			assert_int_equal(lode_stream_add_symptom(&other.stream, &(struct lode_symptom){ .t1 = 700 }),
					 0);
			corpus = corpus_of(fixture, &other.stream);
			assert_int_equal(lode_area_collect(corpus, &options, NULL, &areas[i], &fixture->error), 0);
			lode_corpus_close(corpus);
			small_end(&other);
		}
		for (int kind = 0; kind < LODE_AREA_KINDS; kind++) {
			require_same_rows(&areas[0].rows[kind], &areas[1].rows[kind]);
			assert_int_equal(areas[0].input_events[kind], areas[1].input_events[kind]);
			assert_int_equal(areas[0].input_cost[kind], areas[1].input_cost[kind]);
		}
		for (size_t i = 0; i < areas[0].dictionary.tree.count; i++)
			assert_int_equal(areas[0].occurrences[i], areas[1].occurrences[i]);
		lode_area_release(&areas[0]);
		lode_area_release(&areas[1]);
		small_end(&small);
	}
}

/* ---- on average ---- */

#define DRAWS 400

/* The chance depends on the stack, and never on the cost. */
static void thin(uint64_t *seed, struct lode_event *event, size_t *count)
{
	event->weight = 1 + event->stack % 4 * 2;
	*count = random_below(seed, event->weight) == 0;
}

/* Sums of values that should be `truth` on average, and of their own estimates of their variance. */
struct tally {
	double truth, sum, squares, variances;
};

static void add(struct tally *tally, double value, double variance)
{
	tally->sum += value;
	tally->squares += (value - tally->truth) * (value - tally->truth);
	tally->variances += variance;
}

/* The mean is within four standard errors, and variances are reported right within a quarter. */
static void require_unbiased(const struct tally *tally)
{
	double variance = tally->squares / DRAWS;

	assert_true(fabs(tally->sum / DRAWS - tally->truth) <= 4 * sqrt(variance / DRAWS) + 1);
	assert_true(fabs(tally->variances / DRAWS - variance) <= variance / 4 + 1);
}

static void sums_of_an_area_are_right_on_average(void **state)
{
	struct fixture *fixture = *state;
	struct lode_area_options options = { .scope = LODE_SCOPE_ALL, .jobs = 1 };
	struct tally tallies[5] = { { 0 } };
	struct small_stream small;
	struct lode_area area;
	uint64_t seed = 17;

	small_begin(&small);
	while (small.stream.events[LODE_WAIT].count < 300)
		small_random(&small, &seed, 100, 1000);
	for (size_t i = 0; i < small.stream.events[LODE_WAIT].count; i++)
		tallies[small.stream.events[LODE_WAIT].stack[i]].truth +=
			(double)small.stream.events[LODE_WAIT].cost[i];
	for (int draw = 0; draw < DRAWS; draw++) {
		struct small_stream thinned;
		struct lode_corpus *corpus;
		double costs[5] = { 0 }, variances[5] = { 0 };

		small_begin(&thinned);
		copy(&small, &thinned, LODE_WAIT, &seed, thin);
		corpus = corpus_of(fixture, &thinned.stream);
		assert_int_equal(lode_area_collect(corpus, &options, NULL, &area, &fixture->error), 0);
		for (size_t i = 0; i < area.rows[LODE_WAIT].count; i++) {
			const struct lode_area_row *row = &area.rows[LODE_WAIT].items[i];
			uint32_t depth = lode_stack_tree_depth(&area.dictionary.tree, row->stack);

			costs[depth] += (double)row->cost;
			variances[depth] += row->variance;
		}
		for (int i = 0; i < 5; i++)
			add(&tallies[i], costs[i], variances[i]);
		lode_area_release(&area);
		lode_corpus_close(corpus);
		small_end(&thinned);
	}
	for (int i = 0; i < 5; i++)
		require_unbiased(&tallies[i]);
	small_end(&small);
}

/* A thread that only waits, in many stacks: what belongs to each of them is known. */
static void make_waiter(struct small_stream *small, uint64_t *seed, double truth[4])
{
	static const char *const stacks[] = { "a", "a;b", "a;b;c", "d" };
	uint64_t t = 1000;

	for (int i = 0; i < 400; i++) {
		uint64_t which = random_below(seed, 4), cost = 1 + random_below(seed, 1000);

		small_event(small, LODE_WAIT, 7, t, cost, 0, LODE_NONE, stacks[which]);
		truth[which] += (double)cost;
		t += cost + 1;
	}
}

static void latencies_are_right_on_average(void **state)
{
	struct fixture *fixture = *state;
	struct lode_latency_options options = { .jobs = 1 };
	struct tally tallies[4] = { { 0 } };
	double truth[4] = { 0 };
	struct small_stream small;
	uint64_t seed = 23;

	small_begin(&small);
	make_waiter(&small, &seed, truth);
	for (int i = 0; i < 4; i++)
		tallies[i].truth = truth[i];
	for (int draw = 0; draw < DRAWS; draw++) {
		double own[4] = { 0 };
		struct small_stream thinned;
		struct lode_latency latency;
		struct lode_corpus *corpus;

		small_begin(&thinned);
		copy(&small, &thinned, LODE_WAIT, &seed, thin);
		corpus = corpus_of(fixture, &thinned.stream);
		assert_int_equal(lode_latency_collect(corpus, &options, NULL, &latency, &fixture->error), 0);
		for (size_t i = 1; i < latency.dictionary.tree.count; i++) {
			uint32_t frame = latency.dictionary.tree.nodes[i].frame;
			const char *name = lode_frames_function(&latency.dictionary.frames, frame);

			own[*name - 'a'] += (double)latency.own[i];
		}
		for (int i = 0; i < 4; i++)
			add(&tallies[i], own[i], 0);
		lode_latency_release(&latency);
		lode_corpus_close(corpus);
		small_end(&thinned);
	}
	for (int i = 0; i < 4; i++)
		assert_true(fabs(tallies[i].sum / DRAWS - truth[i]) <= 4 * sqrt(tallies[i].squares) / DRAWS + 1);
	small_end(&small);
}

/* ---- critical paths ---- */

/* Thread 1 waits for thread 2, of which nothing is known in between. */
static uint64_t unknown_of(uint32_t weight)
{
	struct lode_symptom symptom = { .t1 = 100 };
	struct lode_parts parts = { 0 };
	struct lode_scope_index *index;
	struct small_stream small;
	uint64_t unknown, sum = 0;

	small_begin(&small);
	small_wait(&small, 1, 0, 100, 2);
	small_run(&small, 2, 80, 20);
	small_event(&small, LODE_WAIT, 3, 200, 1, 0, LODE_NONE, "f");
	assert_int_equal(lode_events_reserve(&small.stream.events[LODE_WAIT], 2, LODE_WEIGHT), 0);
	small.stream.events[LODE_WAIT].weight[1] = weight;
	assert_int_equal(lode_scope_index_make(&index, &small.stream, NULL), 0);
	assert_int_equal(lode_critical_path(index, &symptom, &parts, NULL, &unknown, NULL), 0);
	for (size_t i = 0; i < parts.count; i++)
		sum += parts.items[i].cost;
	assert_int_equal(sum + unknown, 100);
	lode_parts_release(&parts);
	lode_scope_index_free(index);
	small_end(&small);
	return unknown;
}

static void a_path_says_what_a_thinned_stream_does_not_show(void **state)
{
	(void)state;
	assert_int_equal(unknown_of(1), 0);
	assert_int_equal(unknown_of(2), 80);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_keeps_weights),
		cmocka_unit_test(files_without_weights_are_the_same_bytes_with_a_column_of_ones),
		cmocka_unit_test(an_event_of_weight_w_counts_like_w_events),
		cmocka_unit_test(sums_of_an_area_are_right_on_average),
		cmocka_unit_test(latencies_are_right_on_average),
		cmocka_unit_test(a_path_says_what_a_thinned_stream_does_not_show),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
