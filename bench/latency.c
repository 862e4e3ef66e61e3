/*
 * How fast latencies are inferred: `latency [EVENTS [THREADS]]`, or `latency CORPUS`
 *
 * Of a corpus each stream is loaded, then measured. Otherwise:
 *
 * Makes a stream of EVENTS samples and waits (5,000,000) in THREADS threads (16), whose
 * stacks are about 20 frames deep and change by a few frames from one event to the next,
 * as those of programs do. Measures on one core, as the median of five, the inference
 * alone and with sums and quantiles on the nodes. One line of JSON each:
 *
 *	{"what":"instances","events":5000000,"instances":…,"ns":…,"events_per_s":…}
 */
#include "latency/partial.h"

#include "figures.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMES       5
#define FUNCTIONS   2000
#define CALLEES     4 /* that a function has */
#define DEPTH       20
#define MILLISECOND 1000000u

/* From one stack to the next: some returns, most often one or two, and about as many calls. */
static uint32_t step(struct lode_stack_tree *tree, uint32_t node)
{
	uint32_t depth = lode_stack_tree_depth(tree, node);

	while (depth > 2 && (random_below(2) || depth > 2 * DEPTH)) {
		node = tree->nodes[node].parent;
		depth--;
	}
	while (node != LODE_NONE && (depth < DEPTH / 2 || random_below(DEPTH + depth) < DEPTH)) {
		uint32_t caller = node ? tree->nodes[node].frame : 0;

		/* The first callee is the usual one. */
		uint64_t callee = random_below(24) ? 0 : random_below(CALLEES);

		node = lode_stack_tree_child(tree, node, (uint32_t)((caller * 31 + 7 + callee) % FUNCTIONS));
		depth++;
	}
	return node;
}

static int fill(struct lode_stream *stream, size_t events, size_t threads)
{
	uint32_t *stacks = lode_calloc(threads, sizeof(*stacks));
	uint64_t t = 0;
	int code = stacks ? 0 : LODE_SYSTEM;

	for (uint32_t i = 0; !code && i < FUNCTIONS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "app!function_%u", i);
		if (lode_frames_parse(&stream->dictionary->frames, name, strlen(name)) == LODE_NONE)
			code = LODE_SYSTEM;
	}
	for (size_t i = 0; i < threads && !code; i++)
		if (lode_stream_thread(stream, 1, (uint32_t)i + 100) == LODE_NONE)
			code = LODE_SYSTEM;
	for (size_t i = 0; !code && i < events; i++) {
		uint32_t thread = (uint32_t)random_below(threads);
		struct lode_event event = { .t = t, .cost = MILLISECOND, .thread = thread, .waker = LODE_NONE };

		event.stack = stacks[thread] = step(&stream->dictionary->tree, stacks[thread]);
		t += random_below(2 * MILLISECOND / threads);
		code = stacks[thread] == LODE_NONE
			       ? LODE_SYSTEM
			       : lode_stream_add_event(stream, random_below(4) ? LODE_RUN : LODE_WAIT, &event);
	}
	lode_free(stacks);
	return code ? code : lode_stream_sort(stream);
}

static int count(void *context, const struct lode_instance *instance)
{
	uint64_t *instances = context;

	(void)instance;
	++*instances;
	return 0;
}

/* The sums and quantiles of a stream in memory. Its events stay with the caller. */
static int add_up(const struct lode_stream *stream, uint64_t *instances)
{
	struct lode_latency_partial partial = { .stream = *stream, .dictionary = *stream->dictionary };
	int code = lode_latency_partial_add(&partial, NULL);

	*instances = 0;
	for (size_t i = 0; !code && i < partial.dictionary.tree.count; i++)
		*instances += partial.nodes[partial.chains.of[i]].count;
	lode_free(partial.nodes);
	lode_free(partial.own);
	lode_free(partial.unsure);
	lode_call_chains_release(&partial.chains);
	lode_sketch_release(&partial.sketch);
	return code;
}

static uint64_t count_frames(const struct lode_stream *stream)
{
	uint64_t frames = 0;

	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		for (size_t i = 0; i < stream->events[type].count; i++)
			frames += lode_stack_tree_depth(&stream->dictionary->tree, stream->events[type].stack[i]);
	return frames;
}

static int measure(const struct lode_stream *stream, int sums)
{
	size_t events = lode_stream_event_count(stream);
	uint64_t ns[TIMES], instances = 0;
	int code = 0;

	for (int i = 0; i < TIMES && !code; i++) {
		uint64_t start = cpu_ns();

		instances = 0;
		code = sums ? add_up(stream, &instances)
			    : lode_instances_infer(stream, count, &instances, NULL, NULL);
		ns[i] = cpu_ns() - start;
	}
	if (code)
		return code;
	qsort(ns, TIMES, sizeof(*ns), by_size);
	printf("{\"what\":\"%s\",\"events\":%zu,\"frames\":%" PRIu64 ",\"stacks\":%zu,\"instances\":%" PRIu64
	       ",\"ns\":%" PRIu64 ",\"events_per_s\":%.0f}\n",
	       sums ? "sums and quantiles" : "instances", events, count_frames(stream),
	       stream->dictionary->tree.count, instances, ns[TIMES / 2],
	       (double)events * 1e9 / (double)ns[TIMES / 2]);
	return 0;
}

static int measure_entry(const struct lode_corpus_entry *entry, struct lode_error *error)
{
	struct lode_latency_options options = { 0 };
	struct lode_latency_partial partial = { 0 };
	int code = lode_latency_partial_load(&partial, &options, entry, error);

	for (int sums = 0; sums < 2 && !code; sums++)
		code = measure(&partial.stream, sums);
	lode_latency_partial_release(&partial);
	return code;
}

static int measure_corpus(const char *path)
{
	struct lode_error error = { "memory has run out" };
	struct lode_corpus_list list = { 0 };
	struct lode_corpus *corpus;
	int code = lode_corpus_open(&corpus, path, 0, &error);

	if (!code) {
		code = lode_corpus_streams(corpus, &list, &error);
		for (size_t i = 0; i < list.count && !code; i++)
			code = measure_entry(&list.items[i], &error);
		lode_corpus_list_release(&list);
		lode_corpus_close(corpus);
	}
	if (code)
		fprintf(stderr, "latency: %s\n", error.text);
	return -code;
}

static int measure_made_up(size_t events, size_t threads)
{
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	int code;

	if (!threads || threads > 1000000 || lode_dictionary_init(&dictionary) < 0)
		return 2;
	lode_stream_init(&stream, &dictionary);
	code = fill(&stream, events, threads);
	for (int sums = 0; sums < 2 && !code; sums++)
		code = measure(&stream, sums);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
	if (code)
		fprintf(stderr, "latency: memory has run out\n");
	return -code;
}

int main(int argc, char **argv)
{
	if (argc > 1 && (*argv[1] < '0' || *argv[1] > '9'))
		return measure_corpus(argv[1]);
	return measure_made_up(argc > 1 ? strtoul(argv[1], NULL, 10) : 5000000,
			       argc > 2 ? strtoul(argv[2], NULL, 10) : 16);
}
