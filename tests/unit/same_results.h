/* Random corpora whose streams overlap, and whether two results over them are the same to the last bit. */
#ifndef LODE_TESTS_SAME_RESULTS_H
#define LODE_TESTS_SAME_RESULTS_H

#include "cmocka_all.h"
#include "random_stream.h"
#include "temporary.h"

#include "latency/latency.h"
#include "scope/area.h"

#include <string.h>
#include <sys/stat.h>

/* Streams of two hosts overlap, and some have the same symptoms, so that one counts in another. */
static inline void fill_stream(struct lode_stream *stream, int number, uint64_t *seed)
{
	const char *host = number % 3 ? "h1" : "h2";
	uint32_t thread;

	assert_int_equal(random_stream(stream, seed, 200), 0);
	stream->host = lode_strings_add(&stream->dictionary->frames.strings, host, strlen(host));
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		for (size_t i = 0; i < stream->events[type].count; i++) {
			stream->events[type].cost[i] %= 1000;
			stream->events[type].delay[i] %= 100;
			stream->events[type].t[i] %= 1u << 20;
		}
	thread = lode_stream_thread(stream, 1, 77);
	for (int i = 0; i < 3; i++) {
		struct lode_symptom symptom = { .thread = thread, .t0 = 1000, .t1 = 5000 };
		struct lode_event event = { .t = 2000,
					    .cost = 50,
					    .thread = thread,
					    .waker = LODE_NONE,
					    .weight = number % 2 ? 5 : 1 };

		assert_int_equal(lode_stream_add_symptom(stream, &symptom), 0);
		assert_int_equal(lode_stream_add_event(stream, LODE_RUN, &event), 0);
	}
	assert_int_equal(lode_stream_sort(stream), 0);
	assert_int_equal(lode_stream_set_attribute(stream, "version", number % 2 ? "1" : "2", LODE_ATTRIBUTE_NUMBER),
			 0);
}

/* Adds stream `number`, or puts it in place of the one with this number. */
static inline void add_random_stream(struct lode_corpus *corpus, int number, uint64_t seed)
{
	struct lode_error error = { "" };
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	char id[33];

	snprintf(id, sizeof(id), "%032x", number + 1);
	assert_int_equal(lode_dictionary_init(&dictionary), 0);
	lode_stream_init(&stream, &dictionary);
	fill_stream(&stream, number, &seed);
	assert_int_equal(lode_corpus_add(corpus, id, "test", &stream, 1, 1, &error), 1);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
}

static inline void require_same_dictionary(const struct lode_dictionary *a, const struct lode_dictionary *b)
{
	assert_int_equal(a->frames.strings.count, b->frames.strings.count);
	for (uint32_t i = 0; i < a->frames.strings.count; i++)
		assert_string_equal(lode_strings_get(&a->frames.strings, i),
				    lode_strings_get(&b->frames.strings, i));
	assert_int_equal(a->frames.count, b->frames.count);
	assert_memory_equal(a->frames.items, b->frames.items, a->frames.count * sizeof(*a->frames.items));
	assert_int_equal(a->tree.count, b->tree.count);
	assert_memory_equal(a->tree.nodes, b->tree.nodes, a->tree.count * sizeof(*a->tree.nodes));
}

static inline void require_same_rows(const struct lode_area_rows *a, const struct lode_area_rows *b)
{
	assert_int_equal(a->count, b->count);
	assert_int_equal(a->cost, b->cost);
	assert_int_equal(a->events, b->events);
	assert_memory_equal(a->items, b->items, a->count * sizeof(*a->items));
}

static inline void require_same_area(const struct lode_area *a, const struct lode_area *b)
{
	require_same_dictionary(&a->dictionary, &b->dictionary);
	assert_memory_equal(a->occurrences, b->occurrences, a->dictionary.tree.count * sizeof(*a->occurrences));
	assert_memory_equal(a->input_events, b->input_events, sizeof(a->input_events));
	assert_memory_equal(a->recorded_events, b->recorded_events, sizeof(a->recorded_events));
	assert_memory_equal(a->input_cost, b->input_cost, sizeof(a->input_cost));
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++) {
		require_same_rows(&a->rows[kind], &b->rows[kind]);
		require_same_rows(&a->idle[kind], &b->idle[kind]);
	}
	require_same_rows(&a->work, &b->work);
	assert_int_equal(a->stream_count, b->stream_count);
	for (size_t i = 0; i < a->stream_count; i++) {
		struct lode_area_stream left = a->streams[i], right = b->streams[i];

		left.attributes = right.attributes = NULL; /* of either arena */
		assert_memory_equal(&left, &right, sizeof(left));
	}
}

static inline void require_same_latency(const struct lode_latency *a, const struct lode_latency *b)
{
	require_same_dictionary(&a->dictionary, &b->dictionary);
	assert_int_equal(a->node_count, b->node_count);
	assert_memory_equal(a->nodes, b->nodes, a->node_count * sizeof(*a->nodes));
	assert_memory_equal(a->own, b->own, a->node_count * sizeof(*a->own));
	assert_int_equal(a->row_count, b->row_count);
	assert_memory_equal(a->rows, b->rows, a->row_count * sizeof(*a->rows));
	assert_memory_equal(&a->input, &b->input, sizeof(a->input));
	assert_int_equal(a->instances, b->instances);
	assert_int_equal(a->placed, b->placed);
	assert_int_equal(a->unplaced, b->unplaced);
	for (uint32_t node = 0; node < a->node_count; node++)
		for (double share = 0; share <= 1; share += 0.125)
			assert_int_equal(lode_latency_quantile(a, node, share),
					 lode_latency_quantile(b, node, share));
}
#endif
