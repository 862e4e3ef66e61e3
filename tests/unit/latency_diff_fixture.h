/* Two corpora to compare, for tests of differences. */
#ifndef LODE_TESTS_LATENCY_DIFF_FIXTURE_H
#define LODE_TESTS_LATENCY_DIFF_FIXTURE_H

#include "cmocka_all.h"
#include "latency/contexts.h"
#include "latency/diff.h"
#include "latency/paper_ranking.h"
#include "random_stream.h"
#include "temporary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Most tests compare single streams, of which nothing is sure. */
static const struct lode_diff_options one_job = { .jobs = 1, .guess = 1 };

struct side {
	char folder[64];
	struct lode_corpus *corpus;
	struct lode_latency latency;
	int streams;
};

static inline void side_open(struct side *side)
{
	memset(side, 0, sizeof(*side));
	assert_int_equal(temporary_folder(side->folder, sizeof(side->folder)), 0);
	assert_int_equal(lode_corpus_open(&side->corpus, side->folder, LODE_CORPUS_CREATE, NULL), 0);
}

static inline void side_infer(struct side *side)
{
	struct lode_latency_options options = { .jobs = 2 };
	struct lode_idle_rules *rules;

	assert_int_equal(lode_idle_rules_load(&rules, NULL, NULL), 0);
	options.idle = rules;
	assert_int_equal(lode_latency_collect(side->corpus, &options, NULL, &side->latency, NULL), 0);
	lode_idle_rules_free(rules);
}

static inline void side_close(struct side *side)
{
	lode_latency_release(&side->latency);
	lode_corpus_close(side->corpus);
	temporary_remove(side->folder);
}

static inline void side_add(struct side *side, struct lode_stream *stream)
{
	char id[33];

	snprintf(id, sizeof(id), "%032x", ++side->streams);
	assert_int_equal(lode_stream_sort(stream), 0);
	assert_int_equal(lode_corpus_add(side->corpus, id, "test", stream, 0, 1, NULL), 1);
}

static inline void add_event(struct lode_stream *stream, enum lode_event_type type, uint64_t t, uint64_t cost,
			     uint32_t tid, const char *stack)
{
	struct lode_event event = { .t = t, .cost = cost, .waker = LODE_NONE, .cpu = LODE_NO_CPU };
	char *copy = strdup(stack), *rest = copy, *word;

	event.thread = lode_stream_thread(stream, 1, tid);
	while ((word = strtok_r(rest, " ", &rest)))
		event.stack =
			lode_stack_tree_child(&stream->dictionary->tree, event.stack,
					      lode_frames_parse(&stream->dictionary->frames, word, strlen(word)));
	free(copy);
	assert_int_equal(lode_stream_add_event(stream, type, &event), 0);
}

static inline enum lode_layer layer(const char *module, const char *path)
{
	struct lode_frames frames;
	uint32_t number;
	enum lode_layer found;

	assert_int_equal(lode_frames_init(&frames), 0);
	number = lode_frames_module(&frames, module, strlen(module));
	frames.modules[number].path = lode_strings_add(&frames.strings, path, strlen(path));
	found = lode_layer_of(&frames, number);
	lode_frames_release(&frames);
	return found;
}

#endif
