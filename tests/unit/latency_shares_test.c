/*
 * Shares of time against an oracle that looks at each nanosecond of a thread by itself:
 * was it waiting, and between which moments is it?
 */
#include "cmocka_all.h"

#include "failing_memory.h"
#include "latency/instances.h"
#include "latency_spans.h"
#include "random_stream.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define END   4000 /* all events and waits end before this */
#define NODES 24
#define MOST  400

/* ---- the oracle ---- */

struct look {
	uint64_t t;
	uint32_t stack;
	int order; /* of equal times: ends, calls, runs, starts of waits */
	int is_sample;
	size_t number;
};

struct oracle {
	const struct lode_stream *stream;
	uint8_t waiting[END];
	struct look looks[MOST];
	size_t count;
	uint64_t limit;
	uint64_t time[NODES];
	double doubt[NODES]; /* of a node and all below it */
	double gap, gap_sum, gap_squares;
	uint64_t shortest; /* span; 0: run events are samples */
};

static int by_time(const void *left, const void *right)
{
	const struct look *a = left, *b = right;

	if (a->t != b->t)
		return a->t < b->t ? -1 : 1;
	if (a->order != b->order)
		return a->order - b->order;
	return a->number < b->number ? -1 : 1;
}

static void add_look(struct oracle *oracle, uint64_t t, uint32_t stack, int order, int is_sample, size_t number)
{
	assert_true(oracle->count < MOST);
	if (stack)
		oracle->looks[oracle->count++] = (struct look){ t, stack, order, is_sample, number };
}

static void look_at(struct oracle *oracle, uint32_t thread)
{
	static const int order[LODE_EVENT_TYPES] = { [LODE_CALL] = 1, [LODE_RUN] = 2, [LODE_WAIT] = 3 };

	memset(oracle->waiting, 0, sizeof(oracle->waiting));
	oracle->count = 0;
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		const struct lode_events *events = &oracle->stream->events[type];

		for (size_t i = 0; i < events->count; i++) {
			uint64_t t = events->t[i], until = t + events->delay[i];

			if (events->thread[i] != thread)
				continue;
			add_look(oracle, t, events->stack[i], order[type], type == LODE_RUN, i);
			if (type == LODE_RUN && oracle->shortest && events->cost[i])
				add_look(oracle, t + events->cost[i], events->stack[i], 0, 1, t * 1000 + 250 + i);
			if (type == LODE_RUN)
				continue;
			until += type == LODE_WAIT ? events->cost[i] : 0;
			assert_true(until < END);
			if (until > t)
				add_look(oracle, until, events->stack[i], 0, 0,
					 t * 1000 + (type == LODE_WAIT) * 500 + i);
			for (; t < until; t++)
				oracle->waiting[t] = 1;
		}
	}
	qsort(oracle->looks, oracle->count, sizeof(*oracle->looks), by_time);
}

static uint64_t count_ns(const struct oracle *oracle, size_t from, size_t to, int waiting)
{
	uint64_t count = 0;

	for (uint64_t t = oracle->looks[from].t; t < oracle->looks[to].t; t++)
		count += oracle->waiting[t] == waiting;
	return count;
}

static int is_on_the_way(const struct oracle *oracle, uint32_t node, uint32_t stack)
{
	while (stack && stack != node)
		stack = oracle->stream->dictionary->tree.nodes[stack].parent;
	return stack == node;
}

static void halve(struct oracle *oracle, size_t a, size_t b)
{
	uint64_t ran = count_ns(oracle, a, b, 0);
	uint32_t from = oracle->looks[a].stack, to = oracle->looks[b].stack;

	oracle->time[from] += ran / 2;
	oracle->time[to] += ran - ran / 2;
	oracle->gap_sum += (double)ran;
	oracle->gap_squares += (double)ran * (double)ran;
	for (uint32_t node = 1; node < oracle->stream->dictionary->tree.count; node++)
		if (is_on_the_way(oracle, node, from) != is_on_the_way(oracle, node, to))
			oracle->doubt[node] += (double)ran * (double)ran / 2;
		else if (from == to && is_on_the_way(oracle, node, from))
			oracle->doubt[node] += (double)ran * (double)oracle->shortest;
}

static void halve_each(struct oracle *oracle, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		halve(oracle, i, i + 1);
}

static void share_thread(struct oracle *oracle)
{
	int anchored = oracle->count && oracle->looks[0].is_sample;
	size_t i = 0, j;

	for (size_t k = 0; k + 1 < oracle->count; k++) {
		uint64_t waited = count_ns(oracle, k, k + 1, 1);

		oracle->time[oracle->looks[k].stack] += waited / 2;
		oracle->time[oracle->looks[k + 1].stack] += waited - waited / 2;
	}
	while (i + 1 < oracle->count) {
		for (j = i + 1; j < oracle->count; j++)
			if (oracle->looks[j].is_sample || count_ns(oracle, i, j, 0) > oracle->limit ||
			    !oracle->limit)
				break;
		if (j == oracle->count) {
			if (anchored)
				oracle->time[oracle->looks[i].stack] += count_ns(oracle, i, j - 1, 0);
			else
				halve_each(oracle, i, j - 1);
			return;
		}
		if (count_ns(oracle, i, j, 0) > oracle->limit || !oracle->limit)
			halve_each(oracle, i, j);
		else if (anchored)
			halve(oracle, i, j);
		else
			oracle->time[oracle->looks[j].stack] += count_ns(oracle, i, j, 0);
		anchored = 1;
		i = j;
	}
}

static void open_ends(struct oracle *oracle)
{
	for (uint32_t node = 1; oracle->count && node < oracle->stream->dictionary->tree.count; node++)
		oracle->doubt[node] += oracle->gap * oracle->gap / 2 *
				       (is_on_the_way(oracle, node, oracle->looks[0].stack) +
					is_on_the_way(oracle, node, oracle->looks[oracle->count - 1].stack));
}

static void ask_oracle(struct oracle *oracle, const struct lode_stream *stream)
{
	const struct lode_events *runs = &stream->events[LODE_RUN];
	double sum = 0;

	memset(oracle, 0, sizeof(*oracle));
	oracle->stream = stream;
	for (size_t i = 0; i < runs->count; i++)
		sum += (double)runs->cost[i];
	oracle->gap = runs->count ? sum / (double)runs->count : 0;
	oracle->limit = (uint64_t)(oracle->gap * 4);
	oracle->shortest = slow_shortest_span(stream);
	if (oracle->shortest)
		oracle->gap = (double)oracle->shortest;
	for (uint32_t thread = 0; thread < stream->thread_count; thread++) {
		look_at(oracle, thread);
		share_thread(oracle);
	}
	if (!oracle->limit)
		oracle->gap = oracle->gap_sum > 0 ? oracle->gap_squares / oracle->gap_sum : 0;
	for (uint32_t thread = 0; thread < stream->thread_count; thread++) {
		look_at(oracle, thread);
		open_ends(oracle);
	}
}

/* ---- streams ---- */

static void make_tree(struct lode_dictionary *dictionary, uint64_t *seed)
{
	while (dictionary->tree.count < NODES) {
		char name[16];
		uint32_t parent = (uint32_t)random_below(seed, dictionary->tree.count), frame;

		snprintf(name, sizeof(name), "f%lu", random_below(seed, 5));
		frame = lode_frames_parse(&dictionary->frames, name, strlen(name));
		assert_int_not_equal(lode_stack_tree_child(&dictionary->tree, parent, frame), LODE_NONE);
	}
}

/* `kinds` of events; samples cost `period` or so. */
static void make_stream(struct lode_stream *stream, uint64_t *seed, uint64_t kinds, uint64_t period)
{
	uint64_t threads = 1 + random_below(seed, 3), span = random_below(seed, 4) ? 3000 : 30, ends[3] = { 0 };
	int spans = period < 50 && random_below(seed, 3) == 0;

	make_tree(stream->dictionary, seed);
	for (uint32_t i = 0; i < threads; i++)
		assert_int_not_equal(lode_stream_thread(stream, 1, 10 + i), LODE_NONE);
	for (uint64_t i = random_below(seed, 60); i-- > 0;) {
		enum lode_event_type type = (enum lode_event_type)random_below(seed, LODE_EVENT_TYPES);
		struct lode_event event = {
			.t = random_below(seed, span),
			.thread = (uint32_t)random_below(seed, threads),
			.stack = (uint32_t)random_below(seed, random_below(seed, 3) ? NODES : 4),
			.waker = LODE_NONE,
		};

		if (!(kinds & 1u << type))
			continue;
		event.cost = type == LODE_RUN ? random_below(seed, 2 * period + 1) : random_below(seed, 400);
		if (spans && type == LODE_RUN) {
			event.t = ends[event.thread] + (random_below(seed, 4) ? 0 : random_below(seed, 9));
			ends[event.thread] = event.t + event.cost;
		}
		event.delay = type == LODE_RUN || random_below(seed, 3) ? 0 : random_below(seed, 100);
		assert_int_equal(lode_stream_add_event(stream, type, &event), 0);
	}
	assert_int_equal(lode_stream_sort(stream), 0);
}

static int ignore(void *context, const struct lode_instance *instance)
{
	(void)context;
	(void)instance;
	return 0;
}

static void compare(const struct lode_stream *stream)
{
	struct lode_time_shares shares = { 0 };
	struct oracle oracle;
	double doubt[NODES];

	ask_oracle(&oracle, stream);
	assert_int_equal(lode_instances_of_chains(stream, NULL, ignore, NULL, &shares, NULL, NULL), 0);
	for (uint32_t node = 0; node < NODES; node++)
		doubt[node] = shares.nodes[node].doubt;
	for (uint32_t node = NODES; node-- > 1;) {
		assert_int_equal(shares.nodes[node].time, oracle.time[node]);
		assert_true(fabs(doubt[node] - oracle.doubt[node]) < 1e-6 * (1 + oracle.doubt[node]));
		doubt[stream->dictionary->tree.nodes[node].parent] += doubt[node];
	}
	assert_true(fabs(shares.gap - oracle.gap) < 1e-9 * (1 + oracle.gap));
	lode_time_shares_release(&shares);
}

static void shares_are_those_of_the_oracle_on_thousands_of_streams(void **state)
{
	uint64_t seed = 99;
	int of_spans = 0;

	(void)state;
	for (int round = 0; round < 4000; round++) {
		static const uint64_t periods[] = { 0, 1, 5, 50, 50, 300 };
		struct lode_dictionary dictionary;
		struct lode_stream stream;

		assert_int_equal(lode_dictionary_init(&dictionary), 0);
		lode_stream_init(&stream, &dictionary);
		make_stream(&stream, &seed, 1 + random_below(&seed, 7), periods[random_below(&seed, 6)]);
		compare(&stream);
		of_spans += slow_shortest_span(&stream) > 0;
		lode_stream_release(&stream);
		lode_dictionary_release(&dictionary);
	}
	assert_true(of_spans > 100);
}

/* ---- by hand ---- */

struct world {
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	uint32_t main, work, ask;
};

static uint32_t call(struct world *world, uint32_t parent, const char *name)
{
	uint32_t frame = lode_frames_parse(&world->dictionary.frames, name, strlen(name));

	return lode_stack_tree_child(&world->dictionary.tree, parent, frame);
}

static void world_open(struct world *world)
{
	assert_int_equal(lode_dictionary_init(&world->dictionary), 0);
	lode_stream_init(&world->stream, &world->dictionary);
	assert_int_equal(lode_stream_thread(&world->stream, 1, 1), 0);
	world->main = call(world, 0, "main");
	world->work = call(world, world->main, "work");
	world->ask = call(world, world->main, "ask");
}

static void add(struct world *world, enum lode_event_type type, uint64_t t, uint64_t cost, uint32_t stack)
{
	struct lode_event event = { .t = t, .cost = cost, .stack = stack, .waker = LODE_NONE };

	assert_int_equal(lode_stream_add_event(&world->stream, type, &event), 0);
}

static void world_close(struct world *world)
{
	lode_stream_release(&world->stream);
	lode_dictionary_release(&world->dictionary);
}

static uint64_t time_of(struct world *world, uint32_t stack)
{
	struct lode_time_shares shares = { 0 };
	uint64_t time;

	assert_int_equal(lode_stream_sort(&world->stream), 0);
	assert_int_equal(lode_instances_of_chains(&world->stream, NULL, ignore, NULL, &shares, NULL, NULL), 0);
	time = shares.nodes[stack].time;
	lode_time_shares_release(&shares);
	return time;
}

static void what_only_calls_show_takes_no_time_from_what_samples_show(void **state)
{
	struct world world;

	(void)state;
	world_open(&world);
	for (uint64_t i = 0; i <= 10; i++)
		add(&world, LODE_RUN, i * 1000, 1000, world.work);
	for (uint64_t i = 0; i < 10; i++)
		add(&world, LODE_CALL, i * 1000 + 700, 0, world.ask);
	assert_int_equal(time_of(&world, world.work), 10000);
	assert_int_equal(time_of(&world, world.ask), 0);
	world_close(&world);
}

static void without_samples_calls_share_the_time(void **state)
{
	struct world world;

	(void)state;
	world_open(&world);
	add(&world, LODE_CALL, 0, 0, world.work);
	add(&world, LODE_CALL, 1000, 0, world.ask);
	add(&world, LODE_CALL, 4000, 0, world.ask);
	assert_int_equal(time_of(&world, world.work), 500);
	assert_int_equal(time_of(&world, world.ask), 3500);
	world_close(&world);
}

static void a_wait_belongs_to_who_waits_and_samples_share_the_rest(void **state)
{
	struct world world;

	(void)state;
	world_open(&world);
	add(&world, LODE_RUN, 0, 1000, world.work);
	add(&world, LODE_WAIT, 400, 50000, world.ask);
	add(&world, LODE_RUN, 51000, 1000, world.work);
	assert_int_equal(time_of(&world, world.ask), 50000);
	assert_int_equal(time_of(&world, world.work), 1000);
	world_close(&world);
}

static void calls_show_that_a_thread_runs_on_without_samples(void **state)
{
	struct world world;

	(void)state;
	world_open(&world);
	add(&world, LODE_RUN, 0, 1000, world.work);
	add(&world, LODE_CALL, 10000, 0, world.ask);
	add(&world, LODE_CALL, 90000, 0, world.ask);
	add(&world, LODE_RUN, 90500, 1000, world.work);
	assert_int_equal(time_of(&world, world.ask), 5000 + 80000 + 250);
	assert_int_equal(time_of(&world, world.work), 5000 + 250);
	world_close(&world);
}

static void a_span_of_running_takes_its_own_time_and_none_of_its_neighbours(void **state)
{
	struct world world;

	(void)state;
	world_open(&world);
	add(&world, LODE_RUN, 0, 50000, world.work);
	add(&world, LODE_RUN, 50000, 40000, world.ask);
	add(&world, LODE_RUN, 90000, 5000, world.main);
	assert_int_equal(time_of(&world, world.work), 50000);
	assert_int_equal(time_of(&world, world.ask), 40000);
	assert_int_equal(time_of(&world, world.main), 5000);
	world_close(&world);
}

static int share_once(const struct lode_stream *stream)
{
	struct lode_time_shares shares = { 0 };
	struct lode_error error = { "" };
	int code = lode_instances_of_chains(stream, NULL, ignore, NULL, &shares, NULL, &error);

	assert_true(!code || error.text[0]);
	lode_time_shares_release(&shares);
	return code;
}

static void memory_that_runs_out_is_reported(void **state)
{
	uint64_t seed = 3;
	struct lode_dictionary dictionary;
	struct lode_stream stream;

	(void)state;
	assert_int_equal(lode_dictionary_init(&dictionary), 0);
	lode_stream_init(&stream, &dictionary);
	make_stream(&stream, &seed, 7, 300);
	FAIL_EACH_ALLOCATION(5, share_once(&stream));
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_are_those_of_the_oracle_on_thousands_of_streams),
		cmocka_unit_test(what_only_calls_show_takes_no_time_from_what_samples_show),
		cmocka_unit_test(without_samples_calls_share_the_time),
		cmocka_unit_test(a_wait_belongs_to_who_waits_and_samples_share_the_rest),
		cmocka_unit_test(calls_show_that_a_thread_runs_on_without_samples),
		cmocka_unit_test(a_span_of_running_takes_its_own_time_and_none_of_its_neighbours),
		cmocka_unit_test(memory_that_runs_out_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
