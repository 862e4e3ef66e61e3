/* Random streams of calls for tests of latencies. Include it behind cmocka. */
#ifndef LODE_TESTS_RANDOM_CALLS_H
#define LODE_TESTS_RANDOM_CALLS_H

#include "random_stream.h"

/* Stacks of few functions, so that streams share prefixes and part anywhere. */
static inline void random_calls(struct lode_stream *stream, uint64_t *seed)
{
	struct lode_dictionary *dictionary = stream->dictionary;
	uint32_t thread = lode_stream_thread(stream, 1, 1);

	assert_int_not_equal(thread, LODE_NONE);
	for (uint64_t count = random_below(seed, 12), t = 0; count; count--) {
		uint64_t depth = random_below(seed, 9),
			 turns = random_next(seed) & random_next(seed) & random_next(seed);
		uint32_t node = 0;

		for (uint64_t at = 0; at < depth; at++) {
			const char *name = turns >> at & 1 ? "b" : "a";

			node = lode_stack_tree_child(&dictionary->tree, node,
						     lode_frames_parse(&dictionary->frames, name, 1));
			assert_int_not_equal(node, LODE_NONE);
		}
		t += random_below(seed, 1000);
		assert_int_equal(lode_stream_add_event(stream, LODE_RUN,
						       &(struct lode_event){ .t = t,
									     .cost = 100,
									     .thread = thread,
									     .stack = node }),
				 0);
	}
	assert_int_equal(lode_stream_sort(stream), 0);
}

#endif
