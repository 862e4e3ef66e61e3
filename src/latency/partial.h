/*
 * One stream's share of the latencies: the map step of latency.h. Private to latency.
 */
#ifndef LODE_LATENCY_PARTIAL_H
#define LODE_LATENCY_PARTIAL_H

#include "latency/call_chains.h"
#include "latency/latency.h"
#include "latency/lost_callers.h"

/* Nodes are those of the stream's own dictionary. Sums are by call chain, whose nodes all have the same. */
struct lode_latency_partial {
	struct lode_dictionary dictionary;
	struct lode_stream stream; /* head; events, too, while they are needed */
	int wanted;                /* the options let it in */
	int unread;         /* not 0: its file is damaged or gone; the code, and nothing else is there but */
	char *reason;       /* the sentence */
	int aggressive_end; /* as in the options */
	struct lode_call_chains chains;
	struct lode_latency_node *nodes; /* by chain, `unsure` aside */
	uint64_t *own;                   /* by chain, here and below: of its last node; of the others it is 0 */
	uint64_t *slept;
	uint64_t *queued;
	uint64_t *unsure;          /* by node; NULL: 0 for all */
	struct lode_sketch sketch; /* by chain */
	struct lode_instances_input input;
	struct lode_lost_callers lost;
};

/* Reads a stream, its events too when the options let it in. Release in either case (zeroed before). */
int lode_latency_partial_load(struct lode_latency_partial *partial, const struct lode_latency_options *options,
			      const struct lode_corpus_entry *entry, struct lode_error *error);
/* Finds the chains, infers and adds up, of events that are there. */
int lode_latency_partial_add(struct lode_latency_partial *partial, struct lode_error *error);
/* Reads a stream, infers, adds up and normalises, or takes what the cache of its corpus kept of that; afterwards the events are gone. */
int lode_latency_partial_make(struct lode_latency_partial *partial, const struct lode_latency_options *options,
			      const struct lode_corpus_entry *entry, struct lode_error *error);
/* The same where a stream that cannot be read is left out (unread_streams.h): `unread` says so, unless options are strict. */
int lode_latency_partial_make_if_readable(struct lode_latency_partial *partial,
					  const struct lode_latency_options *options,
					  const struct lode_corpus_entry *entry, struct lode_error *error);
void lode_latency_partial_release(struct lode_latency_partial *partial);

#endif
