/*
 * Instances against an oracle that is slow and obvious: it writes all moments of a thread
 * down, sorts them, and compares whole rows of frames. It shares no code with what it tests.
 */
#include "failing_memory.h"
#include "latency/call_chains.h"
#include "latency/instances.h"
#include "latency_spans.h"
#include "random_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEEPEST 64

struct list {
	struct lode_instance *items;
	size_t count;
};

static int collect(void *context, const struct lode_instance *instance)
{
	struct list *list = context;

	list->items = realloc(list->items, (list->count + 1) * sizeof(*list->items));
	list->items[list->count++] = *instance;
	return 0;
}

/* ---- the oracle ---- */

struct moment {
	uint64_t t;
	int class; /* 0: a wait, or a span of running, ends, 1: call, 2: run, 3: a wait starts */
	size_t number;
	uint32_t path[DEEPEST]; /* nodes, root first */
	size_t depth;
};

struct span {
	uint64_t from;
	uint64_t to;
};

struct history {
	struct moment *moments;
	size_t count;
	struct span *waits;
	size_t wait_count;
};

static void add_moment(struct history *history, const struct lode_stream *stream, uint64_t t, int class,
		       size_t number, uint32_t stack)
{
	struct moment *moment;
	uint32_t reversed[DEEPEST];
	size_t depth = 0;

	if (!stack)
		return;
	history->moments = realloc(history->moments, (history->count + 1) * sizeof(*history->moments));
	moment = &history->moments[history->count++];
	*moment = (struct moment){ .t = t, .class = class, .number = number };
	for (; stack; stack = stream->dictionary->tree.nodes[stack].parent) {
		assert_true(depth < DEEPEST);
		reversed[depth++] = stack;
	}
	moment->depth = depth;
	for (size_t i = 0; i < depth; i++)
		moment->path[i] = reversed[depth - 1 - i];
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static int by_order(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	if (x->t != y->t)
		return x->t < y->t ? -1 : 1;
	if (x->class != y->class)
		return x->class - y->class;
	return x->number < y->number ? -1 : x->number > y->number;
}

static struct history history_of(const struct lode_stream *stream, uint32_t thread)
{
	static const int classes[LODE_EVENT_TYPES] = { [LODE_RUN] = 2, [LODE_WAIT] = 3, [LODE_CALL] = 1 };
	struct history history = { 0 };

	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		const struct lode_events *events = &stream->events[type];

		for (size_t i = 0; i < events->count; i++) {
			uint64_t end = events->t[i];

			if (events->thread[i] != thread)
				continue;
			add_moment(&history, stream, events->t[i], classes[type], i, events->stack[i]);
			if (type != LODE_RUN)
				end = plus(end, events->delay[i]);
			if (type == LODE_WAIT)
				end = plus(end, events->cost[i]);
			if (end == events->t[i])
				continue;
			history.waits = realloc(history.waits, (history.wait_count + 1) * sizeof(*history.waits));
			history.waits[history.wait_count++] = (struct span){ events->t[i], end };
		}
	}
	return history;
}

struct start {
	uint64_t t;
	int class;
	size_t place;
	uint64_t end;
	uint32_t stack;
};

static int by_start(const void *a, const void *b)
{
	const struct start *x = a, *y = b;

	if (x->t != y->t)
		return x->t < y->t ? -1 : 1;
	if (x->class != y->class)
		return x->class - y->class;
	return x->place < y->place ? -1 : x->place > y->place;
}

/* What ends together ends in the order in which it began: by start, calls before runs before waits, then by place. */
static void add_ends(struct history *history, const struct lode_stream *stream, uint32_t thread)
{
	struct start *starts = NULL;
	size_t count = 0;
	static const int classes[LODE_EVENT_TYPES] = { [LODE_RUN] = 2, [LODE_WAIT] = 3, [LODE_CALL] = 1 };

	for (int type = slow_shortest_span(stream) ? LODE_RUN : LODE_WAIT; type <= LODE_CALL; type++) {
		const struct lode_events *events = &stream->events[type];

		for (size_t i = 0; i < events->count; i++) {
			uint64_t end = plus(plus(events->t[i], type == LODE_RUN ? 0 : events->delay[i]),
					    type == LODE_CALL ? 0 : events->cost[i]);

			if (events->thread[i] != thread || end == events->t[i])
				continue;
			starts = realloc(starts, (count + 1) * sizeof(*starts));
			starts[count++] = (struct start){ events->t[i], classes[type], i, end, events->stack[i] };
		}
	}
	if (count)
		qsort(starts, count, sizeof(*starts), by_start);
	for (size_t i = 0; i < count; i++)
		add_moment(history, stream, starts[i].end, 0, i, starts[i].stack);
	free(starts);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* How much of [from, to] is in at least one wait: between neighbouring ends all or nothing does. */
static uint64_t waited(const struct history *history, uint64_t from, uint64_t to)
{
	size_t count = 0;
	uint64_t *ends = malloc((2 * history->wait_count + 2) * sizeof(*ends)), sum = 0;

	ends[count++] = from;
	ends[count++] = to;
	for (size_t i = 0; i < history->wait_count; i++) {
		ends[count++] = history->waits[i].from;
		ends[count++] = history->waits[i].to;
	}
	qsort(ends, count, sizeof(*ends), by_number);
	for (size_t i = 0; i + 1 < count; i++) {
		int inside = 0;

		if (ends[i] < from || ends[i + 1] > to)
			continue;
		for (size_t k = 0; k < history->wait_count; k++)
			inside |= history->waits[k].from <= ends[i] && ends[i + 1] <= history->waits[k].to;
		if (inside)
			sum += ends[i + 1] - ends[i];
	}
	free(ends);
	return sum;
}

static int same_up_to(const struct moment *a, const struct moment *b, size_t depth)
{
	return a->depth > depth && b->depth > depth && !memcmp(a->path, b->path, (depth + 1) * sizeof(*a->path));
}

static uint64_t half_way(uint64_t a, uint64_t b)
{
	return a + (b - a) / 2;
}

static void oracle_thread(const struct lode_stream *stream, uint32_t thread, struct list *list)
{
	struct history history = history_of(stream, thread);

	add_ends(&history, stream, thread);
	if (history.count)
		qsort(history.moments, history.count, sizeof(*history.moments), by_order);
	for (size_t i = 0; i < history.count; i++) {
		const struct moment *first = &history.moments[i];

		for (size_t depth = 0; depth < first->depth; depth++) {
			struct lode_instance instance = { .thread = thread, .node = first->path[depth] };
			size_t last = i;

			if (i && same_up_to(first - 1, first, depth))
				continue;
			while (last + 1 < history.count && same_up_to(first, &history.moments[last + 1], depth))
				last++;
			instance.seen = (uint32_t)(last - i + 1);
			for (size_t k = i; k <= last; k++)
				instance.samples += history.moments[k].class == 2;
			instance.first = first->t;
			instance.last = history.moments[last].t;
			instance.before = i ? first[-1].t : first->t;
			instance.after = last + 1 < history.count ? history.moments[last + 1].t : instance.last;
			instance.begin = half_way(instance.before, instance.first);
			instance.end = half_way(instance.last, instance.after);
			instance.waited = waited(&history, instance.first, instance.last);
			collect(list, &instance);
		}
	}
	free(history.moments);
	free(history.waits);
}

static struct list oracle(const struct lode_stream *stream)
{
	struct list list = { 0 };

	for (uint32_t thread = 0; thread < stream->thread_count; thread++)
		if (!lode_thread_is_idle_task(stream, &stream->threads[thread]))
			oracle_thread(stream, thread, &list);
	return list;
}

/* ---- comparing ---- */

static int by_all(const void *a, const void *b)
{
	const struct lode_instance *x = a, *y = b;

#define BY(field)                                                                                                 \
	if (x->field != y->field)                                                                                 \
	return x->field < y->field ? -1 : 1
	BY(thread);
	BY(node);
	BY(first);
	BY(last);
	BY(before);
	BY(after);
	BY(begin);
	BY(end);
	BY(waited);
	BY(seen);
	BY(samples);
#undef BY
	return 0;
}

static void show(const char *who, const struct lode_instance *x)
{
	printf("%s: thread %u node %u seen %u samples %u: %lu %lu %lu %lu %lu %lu waited %lu\n", who, x->thread,
	       x->node, x->seen, x->samples, x->before, x->begin, x->first, x->last, x->end, x->after, x->waited);
}

static void check_stream(const struct lode_stream *stream)
{
	struct list expected = oracle(stream), got = { 0 };
	struct lode_instances_input input;

	assert_int_equal(lode_instances_infer(stream, collect, &got, &input, NULL), 0);
	assert_int_equal(got.count, expected.count);
	if (got.count) {
		qsort(got.items, got.count, sizeof(*got.items), by_all);
		qsort(expected.items, expected.count, sizeof(*expected.items), by_all);
	}
	for (size_t i = 0; i < got.count; i++) {
		if (by_all(&got.items[i], &expected.items[i])) {
			show("got", &got.items[i]);
			show("expected", &expected.items[i]);
			fail();
		}
	}
	assert_int_equal(input.events + input.no_stack + input.idle, lode_stream_event_count(stream));
	free(expected.items);
	free(got.items);
}

/* ---- random traces ---- */

struct shape {
	size_t events;
	size_t threads;
	size_t nodes;
	size_t frames;
	uint64_t times; /* below this */
	uint64_t costs;
};

static void random_tree(struct lode_dictionary *dictionary, const struct shape *shape, uint64_t *seed)
{
	for (size_t i = 0; i < shape->nodes; i++) {
		char name[32];
		uint32_t parent = (uint32_t)random_below(seed, dictionary->tree.count), frame, child;

		if (random_below(seed, 2))
			parent = (uint32_t)(dictionary->tree.count - 1);
		if (lode_stack_tree_depth(&dictionary->tree, parent) >= DEEPEST)
			parent = 0;
		snprintf(name, sizeof(name), "f%lu", random_below(seed, shape->frames));
		frame = lode_frames_parse(&dictionary->frames, name, strlen(name));
		child = lode_stack_tree_child(&dictionary->tree, parent, frame);
		assert_int_not_equal(child, LODE_NONE);
	}
}

static void random_trace(struct lode_stream *stream, const struct shape *shape, uint64_t *seed)
{
	random_tree(stream->dictionary, shape, seed);
	/* Two processes: the same tids are used again. */
	for (size_t i = 0; i < shape->threads; i++)
		assert_int_equal(lode_stream_thread(stream, (uint32_t)(i % 2), (uint32_t)(i / 2)), i);
	for (size_t i = 0; i < shape->events; i++) {
		struct lode_event event = {
			.t = random_below(seed, shape->times),
			.cost = random_below(seed, 3) ? random_below(seed, shape->costs) : 0,
			.delay = random_below(seed, 4) ? 0 : random_below(seed, shape->costs),
			.thread = (uint32_t)random_below(seed, shape->threads),
			.stack = (uint32_t)(random_below(seed, 8)
						    ? random_below(seed, stream->dictionary->tree.count)
						    : 0),
			.waker = LODE_NONE,
			.cpu = LODE_NO_CPU,
		};

		assert_int_equal(lode_stream_add_event(stream, (enum lode_event_type)random_below(seed, 3), &event),
				 0);
	}
	assert_int_equal(lode_stream_sort(stream), 0);
}

static void instances_are_those_of_the_oracle(void **state)
{
	uint64_t seed = 20261115;

	(void)state;
	for (int round = 0; round < 6000; round++) {
		struct shape shape = {
			.events = random_below(&seed, 60),
			.threads = 1 + random_below(&seed, 4),
			.nodes = random_below(&seed, 20),
			.frames = 1 + random_below(&seed, 4),
			.times = 1 + (random_below(&seed, 2) ? random_below(&seed, 20) : random_below(&seed, 5000)),
			.costs = 1 + random_below(&seed, 200),
		};
		struct lode_dictionary dictionary;
		struct lode_stream stream;

		if (!random_below(&seed, 50)) /* the end of time */
			shape.times = shape.costs = UINT64_MAX;
		assert_int_equal(lode_dictionary_init(&dictionary), 0);
		lode_stream_init(&stream, &dictionary);
		random_trace(&stream, &shape, &seed);
		check_stream(&stream);
		lode_stream_release(&stream);
		lode_dictionary_release(&dictionary);
	}
}

static void streams_with_everything_in_them_agree_with_the_oracle_too(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct lode_dictionary dictionary;
		struct lode_stream stream;

		assert_int_equal(lode_dictionary_init(&dictionary), 0);
		lode_stream_init(&stream, &dictionary);
		assert_int_equal(random_stream(&stream, &seed, 40), 0);
		check_stream(&stream);
		lode_stream_release(&stream);
		lode_dictionary_release(&dictionary);
	}
}

/* ---- by hand ---- */

struct world {
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct list got;
};

static void start(struct world *world)
{
	memset(world, 0, sizeof(*world));
	assert_int_equal(lode_dictionary_init(&world->dictionary), 0);
	lode_stream_init(&world->stream, &world->dictionary);
}

static void stop(struct world *world)
{
	free(world->got.items);
	lode_stream_release(&world->stream);
	lode_dictionary_release(&world->dictionary);
}

/* A stack, one letter a frame. */
static uint32_t stack_of(struct world *world, const char *letters)
{
	uint32_t node = 0;

	for (; *letters; letters++)
		node = lode_stack_tree_child(&world->dictionary.tree, node,
					     lode_frames_parse(&world->dictionary.frames, letters, 1));
	return node;
}

static void add(struct world *world, enum lode_event_type type, uint64_t t, uint64_t cost, uint32_t tid,
		const char *stack)
{
	struct lode_event event = {
		.t = t,
		.cost = cost,
		.thread = lode_stream_thread(&world->stream, 1, tid),
		.stack = stack_of(world, stack),
		.waker = LODE_NONE,
		.cpu = LODE_NO_CPU,
	};

	assert_int_equal(lode_stream_add_event(&world->stream, type, &event), 0);
}

static void infer(struct world *world)
{
	assert_int_equal(lode_stream_sort(&world->stream), 0);
	assert_int_equal(lode_instances_infer(&world->stream, collect, &world->got, NULL, NULL), 0);
}

/* The only instance of a stack. */
static const struct lode_instance *only(struct world *world, const char *stack)
{
	const struct lode_instance *found = NULL;
	uint32_t node = stack_of(world, stack);

	for (size_t i = 0; i < world->got.count; i++) {
		if (world->got.items[i].node != node)
			continue;
		assert_null(found);
		found = &world->got.items[i];
	}
	assert_non_null(found);
	return found;
}

static void the_example_of_figure_3_and_table_1(void **state)
{
	/* The paper's own bound is t_k - t_s, where only the end moves. D is in two contexts. */
	static const struct {
		const char *stack;
		uint64_t first, last, conservative, aggressive, aggressive_end;
	} table[] = {
		{ "A", 10, 40, 30, 30, 30 },  { "AB", 10, 20, 10, 20, 20 }, { "ABD", 10, 20, 10, 20, 20 },
		{ "ACD", 30, 30, 0, 20, 10 }, { "AC", 30, 40, 10, 20, 10 },
	};
	struct world world;

	(void)state;
	start(&world);
	add(&world, LODE_CALL, 10, 0, 1, "ABD");
	add(&world, LODE_CALL, 20, 0, 1, "ABD");
	add(&world, LODE_CALL, 30, 0, 1, "ACD");
	add(&world, LODE_CALL, 40, 0, 1, "AC");
	infer(&world);
	assert_int_equal(world.got.count, sizeof(table) / sizeof(*table));
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		const struct lode_instance *instance = only(&world, table[i].stack);

		assert_int_equal(instance->first, table[i].first);
		assert_int_equal(instance->last, table[i].last);
		assert_int_equal(lode_instance_conservative(instance), table[i].conservative);
		assert_int_equal(lode_instance_aggressive(instance), table[i].aggressive);
		assert_int_equal(lode_instance_aggressive_end(instance), table[i].aggressive_end);
	}
	assert_int_equal(lode_instance_estimate(only(&world, "ACD")), 10); /* from 25 to 35 */
	stop(&world);
}

/* ---- Algorithm 2, line by line ---- */

struct paper_register {
	uint64_t start;
	uint64_t end;
	uint32_t node;
};

struct paper_instance {
	uint32_t node;
	uint64_t aggressive;
	uint64_t conservative;
};

struct paper {
	char last[16]; /* the last stack, one letter a function */
	struct paper_register registers[16];
	struct paper_instance instances[1024];
	size_t count;
};

/* Lines 32 to 36. */
static void paper_close(struct paper *paper, uint64_t t, size_t depth)
{
	const struct paper_register *open = &paper->registers[depth];

	paper->instances[paper->count++] =
		(struct paper_instance){ open->node, t - open->start, open->end - open->start };
}

/* Lines 6 to 31, with line 11 as it must read. */
static void paper_event(struct paper *paper, struct world *world, uint64_t t, const char *stack)
{
	size_t depth = strlen(stack), last_depth = strlen(paper->last);
	int is_new[16], all_new = 0;

	for (size_t d = 0; d < depth; d++) {
		is_new[d] = all_new || d >= last_depth || stack[d] != paper->last[d];
		all_new |= is_new[d];
	}
	for (size_t d = last_depth; d-- > depth;)
		paper_close(paper, t, d);
	for (size_t d = depth; d-- > 0;) {
		char prefix[16] = "";

		if (!is_new[d]) {
			paper->registers[d].end = t;
			continue;
		}
		if (d < last_depth)
			paper_close(paper, t, d);
		memcpy(prefix, stack, d + 1);
		paper->registers[d] = (struct paper_register){ t, t, stack_of(world, prefix) };
	}
	strcpy(paper->last, stack);
}

static int by_paper(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct paper_instance));
}

static void both_latencies_are_those_of_algorithm_2(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (int round = 0; round < 200; round++) {
		static struct paper paper;
		static struct paper_instance got[1024];
		struct world world;
		uint64_t t = 1;

		memset(&paper, 0, sizeof(paper));
		memset(got, 0, sizeof(got));
		start(&world);
		for (uint64_t i = random_below(&seed, 30) + 1; i-- > 0;) {
			char stack[8] = "A";
			size_t depth = random_below(&seed, 5);

			for (size_t d = 0; d < depth; d++)
				stack[d + 1] = (char)('B' + random_below(&seed, 2));
			t += 1 + random_below(&seed, 20);
			add(&world, LODE_CALL, t, 0, 1, stack);
			paper_event(&paper, &world, t, stack);
		}
		for (size_t d = strlen(paper.last); d-- > 0;) /* lines 4 and 5 */
			paper_close(&paper, t, d);
		infer(&world);
		assert_int_equal(world.got.count, paper.count);
		for (size_t i = 0; i < paper.count; i++) {
			const struct lode_instance *instance = &world.got.items[i];

			got[i].node = instance->node;
			got[i].aggressive = lode_instance_aggressive_end(instance);
			got[i].conservative = lode_instance_conservative(instance);
		}
		qsort(got, paper.count, sizeof(*got), by_paper);
		qsort(paper.instances, paper.count, sizeof(*got), by_paper);
		for (size_t i = 0; i < paper.count; i++) {
			assert_int_equal(got[i].node, paper.instances[i].node);
			assert_int_equal(got[i].aggressive, paper.instances[i].aggressive);
			assert_int_equal(got[i].conservative, paper.instances[i].conservative);
		}
		stop(&world);
	}
}

static void callees_are_given_before_their_callers(void **state)
{
	struct world world;

	(void)state;
	start(&world);
	add(&world, LODE_RUN, 1, 0, 1, "ABCD");
	add(&world, LODE_RUN, 2, 0, 1, "AX");
	infer(&world);
	assert_int_equal(world.got.count, 5);
	assert_int_equal(world.got.items[0].node, stack_of(&world, "ABCD"));
	assert_int_equal(world.got.items[1].node, stack_of(&world, "ABC"));
	assert_int_equal(world.got.items[2].node, stack_of(&world, "AB"));
	assert_int_equal(world.got.items[3].node, stack_of(&world, "AX"));
	assert_int_equal(world.got.items[4].node, stack_of(&world, "A"));
	stop(&world);
}

static void a_wait_is_seen_from_its_start_to_its_end(void **state)
{
	struct world world;

	(void)state;
	start(&world);
	add(&world, LODE_RUN, 100, 50, 1, "AB");
	add(&world, LODE_WAIT, 200, 1000, 1, "ABW");
	add(&world, LODE_RUN, 1300, 50, 1, "A");
	infer(&world);
	assert_int_equal(only(&world, "ABW")->first, 200);
	assert_int_equal(only(&world, "ABW")->last, 1200);
	assert_int_equal(only(&world, "ABW")->waited, 1000);
	assert_int_equal(only(&world, "ABW")->seen, 2);
	assert_int_equal(only(&world, "ABW")->begin, 150);
	assert_int_equal(only(&world, "ABW")->end, 1250);
	assert_int_equal(only(&world, "A")->waited, 1000);
	assert_int_equal(lode_instance_conservative(only(&world, "A")), 1200);
	stop(&world);
}

static void a_tid_that_another_process_uses_again_is_another_thread(void **state)
{
	struct world world;
	struct lode_event event = { .t = 50, .stack = 0, .waker = LODE_NONE, .cpu = LODE_NO_CPU };

	(void)state;
	start(&world);
	add(&world, LODE_RUN, 1, 0, 7, "A");
	event.thread = lode_stream_thread(&world.stream, 2, 7);
	event.stack = stack_of(&world, "A");
	assert_int_equal(lode_stream_add_event(&world.stream, LODE_RUN, &event), 0);
	infer(&world);
	assert_int_equal(world.got.count, 2);
	assert_int_equal(lode_instance_aggressive(&world.got.items[0]), 0);
	stop(&world);
}

static void a_stack_that_is_missing_ends_nothing(void **state)
{
	struct world world;

	(void)state;
	start(&world);
	add(&world, LODE_RUN, 1, 0, 1, "AB");
	add(&world, LODE_RUN, 5, 0, 1, "");
	add(&world, LODE_WAIT, 10, 20, 1, "");
	add(&world, LODE_RUN, 40, 0, 1, "AB");
	infer(&world);
	assert_int_equal(lode_instance_conservative(only(&world, "AB")), 39);
	assert_int_equal(only(&world, "AB")->waited, 20);
	assert_int_equal(only(&world, "AB")->seen, 2);
	stop(&world);
}

static void the_kernels_idle_task_is_left_out(void **state)
{
	struct world world;
	struct lode_instances_input input;

	(void)state;
	start(&world);
	add(&world, LODE_RUN, 1, 0, 0, "A");
	world.stream.threads[0].name = lode_strings_add(&world.dictionary.frames.strings, "swapper/0", 9);
	assert_int_equal(lode_instances_infer(&world.stream, collect, &world.got, &input, NULL), 0);
	assert_int_equal(world.got.count, 0);
	assert_int_equal(input.idle, 1);
	stop(&world);
}

static int refuse(void *context, const struct lode_instance *instance)
{
	size_t *left = context;

	(void)instance;
	return (*left)-- ? 0 : -77;
}

static void who_takes_may_end_it(void **state)
{
	struct world world;
	size_t left = 2;

	(void)state;
	start(&world);
	add(&world, LODE_RUN, 1, 0, 1, "ABCD");
	add(&world, LODE_RUN, 2, 0, 1, "X");
	assert_int_equal(lode_instances_infer(&world.stream, refuse, &left, NULL, NULL), -77);
	stop(&world);
}

static int ignore(void *context, const struct lode_instance *instance)
{
	(void)context;
	(void)instance;
	return 0;
}

/* ---- call chains ---- */

static int compare_instances(const void *left, const void *right)
{
	return memcmp(left, right, sizeof(struct lode_instance));
}

/* The instances of one chain's last node under the names of all its nodes are those that are inferred one by one. */
static void of_a_chain_all_nodes_have_the_instances_of_the_last(void **state)
{
	uint64_t seed = 23;
	size_t shorter = 0;

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct list all = { 0 }, ends = { 0 }, spread = { 0 };
		struct lode_dictionary dictionary;
		struct lode_stream stream;
		struct lode_call_chains chains, restored;

		assert_int_equal(lode_dictionary_init(&dictionary), 0);
		lode_stream_init(&stream, &dictionary);
		assert_int_equal(random_stream(&stream, &seed, 1 + random_below(&seed, 60)), 0);
		assert_int_equal(lode_call_chains_find(&chains, &stream), 0);
		assert_int_equal(lode_call_chains_restore(&restored, &dictionary.tree, chains.ends, chains.count),
				 0);
		assert_memory_equal(restored.of, chains.of, dictionary.tree.count * sizeof(*chains.of));
		lode_call_chains_release(&restored);
		assert_int_equal(lode_instances_infer(&stream, collect, &all, NULL, NULL), 0);
		assert_int_equal(lode_instances_of_chains(&stream, &chains, collect, &ends, NULL, NULL, NULL), 0);
		for (size_t i = 0; i < ends.count; i++)
			for (uint32_t node = 1; node < dictionary.tree.count; node++)
				if (chains.of[node] == ends.items[i].node) {
					struct lode_instance instance = ends.items[i];

					instance.node = node;
					collect(&spread, &instance);
				}
		assert_int_equal(spread.count, all.count);
		if (all.count) {
			qsort(all.items, all.count, sizeof(*all.items), compare_instances);
			qsort(spread.items, spread.count, sizeof(*spread.items), compare_instances);
			assert_memory_equal(all.items, spread.items, all.count * sizeof(*all.items));
		}
		shorter += ends.count < all.count;
		free(all.items);
		free(ends.items);
		free(spread.items);
		lode_call_chains_release(&chains);
		lode_stream_release(&stream);
		lode_dictionary_release(&dictionary);
	}
	assert_true(shorter > 200);
}

static int infer_once(const struct lode_stream *stream)
{
	struct lode_error error = { "" };
	int code = lode_instances_infer(stream, ignore, NULL, NULL, &error);

	assert_true(!code || error.text[0]);
	return code;
}

static void memory_that_runs_out_is_reported(void **state)
{
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct shape shape = { 100, 3, 30, 5, 50, 100 };
	uint64_t seed = 3;

	(void)state;
	assert_int_equal(lode_dictionary_init(&dictionary), 0);
	lode_stream_init(&stream, &dictionary);
	random_trace(&stream, &shape, &seed);
	FAIL_EACH_ALLOCATION(4, infer_once(&stream));
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_example_of_figure_3_and_table_1),
		cmocka_unit_test(both_latencies_are_those_of_algorithm_2),
		cmocka_unit_test(callees_are_given_before_their_callers),
		cmocka_unit_test(a_wait_is_seen_from_its_start_to_its_end),
		cmocka_unit_test(a_tid_that_another_process_uses_again_is_another_thread),
		cmocka_unit_test(a_stack_that_is_missing_ends_nothing),
		cmocka_unit_test(the_kernels_idle_task_is_left_out),
		cmocka_unit_test(who_takes_may_end_it),
		cmocka_unit_test(instances_are_those_of_the_oracle),
		cmocka_unit_test(streams_with_everything_in_them_agree_with_the_oracle_too),
		cmocka_unit_test(of_a_chain_all_nodes_have_the_instances_of_the_last),
		cmocka_unit_test(memory_that_runs_out_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
