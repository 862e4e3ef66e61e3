/* Sides of a comparison as lists of stacks with the time that a run spends in each, and noise. */
#ifndef LODE_TESTS_LATENCY_RUNS_H
#define LODE_TESTS_LATENCY_RUNS_H

#include "cmocka_all.h"
#include "base/memory.h"
#include "latency/diff.h"
#include "random_stream.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_STACKS 128
#define MS         1e6

struct place {
	char stack[128]; /* functions of `app`, unless they have a module */
	double time;     /* ms that a run spends in it */
	double tail;     /* 0, or: times vary by powers of this number instead */
};

struct runs {
	struct place places[MAX_STACKS];
	size_t count;
};

static inline void spend(struct runs *runs, const char *stack, double time, double tail)
{
	struct place *place = &runs->places[runs->count++];

	assert_true(runs->count <= MAX_STACKS);
	snprintf(place->stack, sizeof(place->stack), "%s", stack);
	place->time = time;
	place->tail = tail;
}

/* ---- latencies of a side ---- */

static inline double normal(uint64_t *seed)
{
	double u = ((double)random_below(seed, 1u << 30) + 1) / ((1u << 30) + 1);
	double v = (double)random_below(seed, 1u << 30) / (1u << 30);

	return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979 * v);
}

static inline uint32_t node_of(struct lode_dictionary *dictionary, const char *stack)
{
	char copy[128], name[160], *rest = copy, *word;
	uint32_t node = 0;

	snprintf(copy, sizeof(copy), "%s", stack);
	while ((word = strtok_r(rest, " ", &rest))) {
		snprintf(name, sizeof(name), "%s%s", strchr(word, '!') ? "" : "app!", word);
		node = lode_stack_tree_child(&dictionary->tree, node,
					     lode_frames_parse(&dictionary->frames, name, strlen(name)));
	}
	return node;
}

static inline double draw(const struct place *place, uint64_t *seed)
{
	double noise = normal(seed);

	return place->time * (place->tail > 0 ? pow(place->tail, noise) : fmax(0, 1 + 0.05 * noise));
}

/* The latencies of `streams` runs, as inference leaves them. */
static inline void infer(const struct runs *runs, size_t streams, uint64_t *seed, struct lode_latency *latency)
{
	size_t nodes;

	memset(latency, 0, sizeof(*latency));
	assert_int_equal(lode_dictionary_init(&latency->dictionary), 0);
	for (size_t i = 0; i < runs->count; i++)
		node_of(&latency->dictionary, runs->places[i].stack);
	nodes = latency->dictionary.tree.count;
	latency->stream_count = streams;
	latency->node_count = nodes;
	latency->nodes = lode_calloc(nodes, sizeof(*latency->nodes));
	latency->own = lode_calloc(nodes, sizeof(*latency->own));
	latency->rows = lode_calloc(nodes * streams, sizeof(*latency->rows));
	for (uint32_t node = 1; node < nodes; node++) {
		latency->nodes[node].count = 1;
		for (size_t stream = 0; stream < streams; stream++)
			latency->rows[latency->row_count++] =
				(struct lode_latency_row){ .node = node, .stream = (uint32_t)stream };
	}
	for (size_t i = 0; i < runs->count; i++) {
		uint32_t node = node_of(&latency->dictionary, runs->places[i].stack);

		for (size_t stream = 0; stream < streams; stream++) {
			uint64_t time = (uint64_t)(draw(&runs->places[i], seed) * MS);

			latency->rows[(node - 1) * streams + stream].own += time;
			for (uint32_t at = node; at; at = latency->dictionary.tree.nodes[at].parent)
				latency->nodes[at].estimate += time;
		}
	}
}

static inline void release_latency(struct lode_latency *latency)
{
	lode_free(latency->nodes);
	lode_free(latency->own);
	lode_free(latency->rows);
	lode_dictionary_release(&latency->dictionary);
}

#endif
