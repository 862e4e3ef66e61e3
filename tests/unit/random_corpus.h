/* A corpus of random streams, whose costs are small so that sums do not saturate. */
#ifndef LODE_TESTS_RANDOM_CORPUS_H
#define LODE_TESTS_RANDOM_CORPUS_H

#include "random_stream.h"
#include "store/corpus.h"
#include "temporary.h"

#include <string.h>

#define STREAMS 5

struct fixture {
	char folder[64];
	struct lode_corpus *corpus;
	struct lode_error error;
};

/* Times, costs and delays that the analyses of whole corpora can add up. */
static inline void shrink_events(struct lode_stream *stream)
{
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		for (size_t i = 0; i < stream->events[type].count; i++) {
			stream->events[type].cost[i] %= 1000;
			stream->events[type].delay[i] %= 100;
			stream->events[type].t[i] %= 1u << 20;
		}
}

/* Streams s0, s1, ... of version 2, 1, 2, ... */
static inline int add_stream(struct fixture *fixture, int number, uint64_t *seed)
{
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	char id[33], name[16];
	int code;

	snprintf(id, sizeof(id), "%032x", number + 1);
	snprintf(name, sizeof(name), "s%d", number);
	if (lode_dictionary_init(&dictionary) < 0)
		return -1;
	lode_stream_init(&stream, &dictionary);
	code = random_stream(&stream, seed, 300);
	stream.name = lode_strings_add(&dictionary.frames.strings, name, strlen(name));
	shrink_events(&stream);
	if (!code)
		code = lode_stream_sort(&stream);
	if (!code)
		code = lode_stream_set_attribute(&stream, "version", number % 2 ? "1" : "2", LODE_ATTRIBUTE_NUMBER);
	if (!code)
		code = lode_corpus_add(fixture->corpus, id, "test", &stream, 0, 1, &fixture->error) == 1 ? 0 : -1;
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
	return code;
}

static inline int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	uint64_t seed = 7;
	int code = temporary_folder(fixture->folder, sizeof(fixture->folder));

	*state = fixture;
	if (!code)
		code = lode_corpus_open(&fixture->corpus, fixture->folder, LODE_CORPUS_CREATE, &fixture->error);
	for (int i = 0; !code && i < STREAMS; i++)
		code = add_stream(fixture, i, &seed);
	return code;
}

static inline int tear_down(void **state)
{
	struct fixture *fixture = *state;

	lode_corpus_close(fixture->corpus);
	temporary_remove(fixture->folder);
	free(fixture);
	return 0;
}

#endif
