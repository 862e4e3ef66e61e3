/*
 * Latencies of a corpus: the stack tree of its streams with, on each node, what the
 * inferred instances of this function in this context come to (IntroPerf's
 * performance-annotated calling context tree).
 *
 * Streams are mapped in parallel, each over its own dictionary, and merged in the
 * order of the catalogue, so that the result does not depend on threads.
 *
 * Idle waits are part of latencies like everything else, but `idle` says how much they are,
 * and `own`, which contexts are ranked by, excludes them: waits of threads that have
 * nothing to do or wait for work from outside (scope/wait_classes.h), the wait of a thread
 * that did nothing else in its life, and waits for another thread to end.
 */
#ifndef LODE_LATENCY_LATENCY_H
#define LODE_LATENCY_LATENCY_H

#include "base/notes.h"
#include "base/progress.h"
#include "latency/instances.h"
#include "latency/sketch.h"
#include "scope/idle.h"
#include "store/corpus.h"
#include "store/unread_streams.h"

/* Sums over the instances of a node; ns, saturating. */
struct lode_latency_node {
	uint64_t count;
	uint64_t conservative;
	uint64_t aggressive;
	uint64_t estimate; /* by shares.h, of this node and all below it */
	uint64_t waited;   /* blocked, or waiting for a processor */
	uint64_t idle;     /* of it in idle waits, of this node and all below it */
	uint64_t longest;  /* estimate of the longest instance */
	uint64_t unsure;   /* what stacks without their callers may add to the estimate */
	double variance;   /* of the estimate, ns squared */
	double gap;        /* ns that a thread ran between two looks at it, the largest of all streams */
};

/* What a node comes to in one stream, after normalising. */
struct lode_latency_row {
	uint32_t node;
	uint32_t stream;
	uint64_t own;    /* estimate minus those of its callees, without idle waits */
	uint64_t slept;  /* of these idle waits, sleeping until a time has come */
	uint64_t queued; /* of own: ready to run, and waiting for a processor */
};

struct lode_latency_stream {
	char id[33];
	uint32_t name; /* string */
};

struct lode_latency {
	struct lode_dictionary dictionary;
	struct lode_latency_stream *streams; /* those that the options leave, in the catalogue's order */
	size_t stream_count;
	struct lode_latency_node *nodes; /* by node of the dictionary's tree; node 0 stays empty */
	size_t node_count;               /* of nodes and own; the tree may have grown since (diff.h) */
	uint64_t *own;                   /* by node: sum of the rows */
	struct lode_latency_row *rows;   /* by node, then by stream; only what is not all 0; none with sums_only */
	size_t row_count;
	struct lode_sketch sketch; /* of estimates */
	struct lode_instances_input input;
	uint64_t instances;
	uint64_t placed; /* events whose stacks had lost their callers: put in place, and not (lost_callers.h) */
	uint64_t unplaced;
	struct lode_unread_streams unread; /* streams that are left out */
};

/* What of it changes the result of a stream belongs to the key in partial_cache.c, too. */
struct lode_latency_options {
	const char *const *where;           /* `key=value`: streams must have all of these; NULL: all streams */
	const char *const *streams;         /* names or ids, one of which a stream must have; NULL: all */
	const struct lode_idle_rules *idle; /* NULL: nothing is idle */
	int include_work_waits;             /* waits for work (scope/work_waits.h) are not idle */
	int aggressive_end; /* the aggressive latency moves only the end of a call, as in the paper */
	int keep_plumbing; /* stacks keep the functions of interpreters between those of the program (scope/plumbing.h) */
	int sums_only; /* no rows: what each stream comes to is not asked for, and takes most of the memory */
	int strict;    /* a stream that cannot be read ends it, instead of being left out */
	unsigned jobs; /* 0: one a processor */
	struct lode_notes *notes;
	const struct lode_progress *progress;
};

/*
 * Infers the latencies of all streams that the options leave. No such stream in a corpus
 * that has some: LODE_USAGE and a sentence. Streams whose files are damaged or gone are left out
 * (`unread`); that no other is left is an error. On success the caller releases it. `rank` as of
 * lode_area_collect (scope/area.h).
 */
struct lode_job_rank;
int lode_latency_collect(struct lode_corpus *corpus, const struct lode_latency_options *options,
			 const struct lode_job_rank *rank, struct lode_latency *latency, struct lode_error *error);
void lode_latency_release(struct lode_latency *latency);
/* As lode_area_keep (scope/area.h). */
int lode_latency_keep(struct lode_corpus *corpus, const struct lode_latency_options *options,
		      const struct lode_job_rank *rank, struct lode_error *error);

/*
 * The ends of an interval that holds the sum of the node's true latencies 95 times of 100,
 * as far as events come without regard to what the thread does (samples, preemptions).
 */
uint64_t lode_latency_low(const struct lode_latency_node *node);
uint64_t lode_latency_high(const struct lode_latency_node *node);

/* The latency that `share` (0 to 1) of the node's instances do not exceed, by the estimate; within 6.25 %. */
uint64_t lode_latency_quantile(const struct lode_latency *latency, uint32_t node, double share);

/* By which rule calls are measured. */
enum lode_latency_rule { LODE_RULE_ESTIMATE, LODE_RULE_CONSERVATIVE, LODE_RULE_AGGRESSIVE, LODE_RULES };

/* `estimate`, ...; NULL: no such rule. */
const char *lode_latency_rule_name(size_t rule);

/*
 * The paper's arithmetic (section 3.4.1, Algorithm 3, lines 1 to 6): the mean latency of each
 * node minus those of its callees, which may be negative, since a callee may be called many
 * times. By node; the caller frees it, NULL when memory has run out.
 */
double *lode_latency_own_means(const struct lode_latency *latency, enum lode_latency_rule rule);

/* Who wants every instance. What returns not 0 ends it, and is the result. */
struct lode_instance_taker {
	/* The instances of this stream follow; it stays until the next one, or the end. */
	int (*stream)(void *context, const struct lode_stream *stream);
	int (*instance)(void *context, const struct lode_instance *instance);
	void *context;
};

/*
 * Gives every instance, stream by stream in the order of the catalogue (see instances.h
 * for the order in a stream), one at a time; memory does not grow with their number.
 */
int lode_latency_instances(struct lode_corpus *corpus, const struct lode_latency_options *options,
			   const struct lode_instance_taker *taker, struct lode_error *error);

#endif
