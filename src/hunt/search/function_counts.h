/*
 * Function count graph: how often each function, and each call between two of
 * them, was seen in the stack samples (Deep Start, section 2.1, Fig. 3 and 4).
 *
 * There is one graph for each kind of sample (running, waiting for others, waiting for
 * input and output) and each scope: the whole program, a host, a process, a thread. The
 * paper hangs a tree of counts on every node; graphs side by side say the same, and a
 * search in one scope touches only what was seen there. A function counts once per
 * sample, even if it is on that stack several times; so does a call.
 *
 * A program goes through phases. So each weight is also kept for the recent past: it
 * halves in every LODE_COUNT_HALVES looks of the search.
 *
 * In addition there are graphs without calls that count the module of the
 * innermost function of each sample: time that a module uses by itself.
 */
#ifndef LODE_HUNT_SEARCH_FUNCTION_COUNTS_H
#define LODE_HUNT_SEARCH_FUNCTION_COUNTS_H

#include "base/hash_index.h"
#include "hunt/meter/meter.h"

/* In place of a kind of samples: all of them together, as the paper has it. */
#define LODE_COUNT_ALL LODE_SMALL_IO

/* Looks in which what was counted comes down to half of its weight. */
#define LODE_COUNT_HALVES 10

struct lode_count_node {
	uint32_t function;
	uint32_t starts; /* samples that begin with it; more than 0: a root of the graph */
	uint64_t count;  /* samples that hold it */
	uint64_t weight; /* nanoseconds that those samples represent */
	uint64_t cut;    /* those of them whose stack was cut */
	uint64_t look;   /* when it was counted last */
	double recent;   /* weight as of then, lately */
};

struct lode_count_edge {
	uint32_t caller; /* nodes */
	uint32_t callee;
	uint64_t count;
	uint64_t weight;
};

struct lode_count_graph {
	struct lode_count_node *nodes;
	size_t node_count;
	size_t node_capacity;
	struct lode_count_edge *edges;
	size_t edge_count;
	size_t edge_capacity;
	struct lode_index node_index;
	struct lode_index edge_index;
	uint64_t samples;
	uint64_t weight;
	uint64_t drawn; /* samples that were drawn by a clock, and nanoseconds that they represent */
	uint64_t drawn_weight;
	uint64_t look;
	double recent;
	uint64_t cut; /* nanoseconds of samples whose stack was cut: who knows what else they held */
};

struct lode_counts {
	struct lode_count_scope *scopes;
	size_t count;
	size_t capacity;
	struct lode_index index;
	uint64_t samples; /* of all kinds */
	int all_kinds;    /* set it to count samples of all kinds together, too: LODE_COUNT_ALL */
	uint64_t look;    /* number of this one, for the caller to count */
};

/* A zeroed struct is empty. */
void lode_counts_release(struct lode_counts *counts);
/* Counts a sample in its four scopes. Returns 0 or LODE_SYSTEM: memory has run out, and it may be counted in
 * part. */
int lode_counts_add(struct lode_counts *counts, const struct lode_meter_sample *sample);
/* Counts the module of its innermost function in as many. */
int lode_counts_add_module(struct lode_counts *counts, const struct lode_meter_sample *sample, uint32_t module);
/* The graph of a kind of samples in the narrowest scope that a focus names; NULL when nothing was seen there.
 */
const struct lode_count_graph *lode_counts_graph(const struct lode_counts *counts, enum lode_hypothesis kind,
						 const struct lode_focus *focus);
const struct lode_count_graph *lode_counts_modules(const struct lode_counts *counts, enum lode_hypothesis kind,
						   const struct lode_focus *focus);
/* The share of the samples' weight that a node has: of all, and lately. */
double lode_count_share(const struct lode_count_graph *graph, uint32_t node);
double lode_count_recent_share(const struct lode_count_graph *graph, uint32_t node);
/* The node of a function, or LODE_NONE. */
uint32_t lode_count_node_find(const struct lode_count_graph *graph, uint32_t function);

#endif
