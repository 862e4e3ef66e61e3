/*
 * Small streams for the tests of scopes: written by hand, a call an event, or at
 * random over few threads and short times, so that everything collides.
 */
#ifndef LODE_TESTS_SMALL_STREAM_H
#define LODE_TESTS_SMALL_STREAM_H

#include "cmocka_all.h"
#include "random_stream.h"

#include <string.h>

struct small_stream {
	struct lode_dictionary dictionary;
	struct lode_stream stream;
};

static inline void small_begin(struct small_stream *small)
{
	assert_int_equal(lode_dictionary_init(&small->dictionary), 0);
	lode_stream_init(&small->stream, &small->dictionary);
}

static inline void small_end(struct small_stream *small)
{
	lode_stream_release(&small->stream);
	lode_dictionary_release(&small->dictionary);
}

/* A stack `frame;frame`, root first; 0 for "". */
static inline uint32_t stack_of(struct lode_dictionary *dictionary, const char *text)
{
	uint32_t node = 0;

	while (*text) {
		size_t length = strcspn(text, ";");
		uint32_t frame = lode_frames_parse(&dictionary->frames, text, length);

		node = lode_stack_tree_child(&dictionary->tree, node, frame);
		text += length + (text[length] == ';');
	}
	return node;
}

static inline uint32_t small_stack(struct small_stream *small, const char *text)
{
	return stack_of(&small->dictionary, text);
}

/* In order of time. `waker` is a tid, or LODE_NONE. */
static inline void small_event(struct small_stream *small, enum lode_event_type type, uint32_t tid, uint64_t t,
			       uint64_t cost, uint64_t delay, uint32_t waker, const char *stack)
{
	struct lode_event event = {
		.t = t,
		.cost = cost,
		.delay = delay,
		.thread = lode_stream_tid(&small->stream, tid),
		.stack = small_stack(small, stack),
		.waker = waker == LODE_NONE ? LODE_NONE : lode_stream_tid(&small->stream, waker),
		.cpu = LODE_NO_CPU,
	};

	assert_int_equal(lode_stream_add_event(&small->stream, type, &event), 0);
}

static inline void small_run(struct small_stream *small, uint32_t tid, uint64_t t, uint64_t cost)
{
	small_event(small, LODE_RUN, tid, t, cost, 0, LODE_NONE, "");
}

static inline void small_wait(struct small_stream *small, uint32_t tid, uint64_t t, uint64_t cost, uint32_t waker)
{
	small_event(small, LODE_WAIT, tid, t, cost, 0, waker, "");
}

/* A thread of tid 0 to 4, under one of two processes or none. */
static inline uint32_t small_random_thread(struct small_stream *small, uint64_t *seed)
{
	uint32_t pid = random_below(seed, 3) ? (uint32_t)random_below(seed, 2) : LODE_NO_PID;

	return lode_stream_thread(&small->stream, pid, (uint32_t)random_below(seed, 5));
}

/* Up to `most` events before moment `limit`; stacks are nodes 0 to 4, made as needed. */
static inline void small_random(struct small_stream *small, uint64_t *seed, size_t most, uint64_t limit)
{
	uint32_t frame = lode_frames_parse(&small->dictionary.frames, "f", 1);
	uint32_t preempt =
		lode_strings_add(&small->dictionary.frames.strings, LODE_PREEMPTION, strlen(LODE_PREEMPTION));

	for (uint32_t node = 0; node < 4; node++)
		assert_int_equal(lode_stack_tree_child(&small->dictionary.tree, node, frame), node + 1);
	for (size_t i = random_below(seed, most + 1); i--;) {
		struct lode_event event = {
			.t = random_below(seed, limit),
			.cost = random_below(seed, random_below(seed, 4) ? 8 : limit / 2),
			.thread = small_random_thread(small, seed),
			.stack = (uint32_t)random_below(seed, 5),
			.waker = LODE_NONE,
			.cpu = LODE_NO_CPU,
		};
		int type = random_below(seed, 8) ? (int)random_below(seed, 2) : LODE_CALL;

		if (type == LODE_CALL) {
			event.cost = 0;
			event.name = random_below(seed, 4) ? preempt : 0;
			event.delay = random_below(seed, 3) ? random_below(seed, limit / 2) : 0;
		} else if (type == LODE_WAIT && random_below(seed, 2))
			event.delay = random_below(seed, 6);
		if (type == LODE_WAIT && random_below(seed, 6)) {
			event.waker = small_random_thread(small, seed);
			event.waker_stack = (uint32_t)random_below(seed, 5);
		}
		assert_int_equal(lode_stream_add_event(&small->stream, (enum lode_event_type)type, &event), 0);
	}
	small_random_thread(small, seed); /* there is at least one */
	assert_int_equal(lode_stream_sort(&small->stream), 0);
}

static inline struct lode_symptom small_random_symptom(struct small_stream *small, uint64_t *seed, uint64_t limit)
{
	struct lode_symptom symptom = {
		.thread = (uint32_t)random_below(seed, small->stream.thread_count),
		.t0 = random_below(seed, limit),
	};

	symptom.t1 = random_below(seed, 3) ? symptom.t0 + random_below(seed, limit) : limit * 2;
	return symptom;
}

#endif
