/*
 * One stream's share of the latencies: the map step of latency.h. Private to latency.
 */
#ifndef LODE_LATENCY_PARTIAL_H
#define LODE_LATENCY_PARTIAL_H

#include "latency/latency.h"
#include "latency/lost_callers.h"

/* Nodes are those of the stream's own dictionary. */
struct lode_latency_partial {
	struct lode_dictionary dictionary;
	struct lode_stream stream; /* head; events, too, while they are needed */
	int wanted;		   /* the options let it in */
	int aggressive_end;	   /* as in the options */
	struct lode_latency_node *nodes;
	uint64_t *own;
	uint64_t *slept;
	uint64_t *queued;
	struct lode_sketch sketch;
	struct lode_instances_input input;
	struct lode_lost_callers lost;
};

/* Reads a stream, its events too when the options let it in. Release in either case (zeroed before). */
int lode_latency_partial_load(struct lode_latency_partial *partial,
			      const struct lode_latency_options *options,
			      const struct lode_corpus_entry *entry, struct lode_error *error);
/* Infers and adds up on nodes and own, which are there; the first step of lode_latency_partial_infer. */
int lode_latency_partial_add(struct lode_latency_partial *partial, struct lode_error *error);
/* Infers, adds up and normalises; afterwards the events are gone. */
int lode_latency_partial_infer(struct lode_latency_partial *partial, const struct lode_latency_options *options,
			       struct lode_error *error);
/* Both of the above, or what the cache of the stream's corpus has kept of them. */
int lode_latency_partial_make(struct lode_latency_partial *partial, const struct lode_latency_options *options,
			      const struct lode_corpus_entry *entry, struct lode_error *error);
void lode_latency_partial_release(struct lode_latency_partial *partial);

#endif
