/*
 * The result of lode mine as plain values (fields.h): every number that text, JSON and page show of a whole result.
 * Members have the names of the JSON, which mine_fields.c describes.
 */
#ifndef LODE_RESULT_MINE_RESULT_H
#define LODE_RESULT_MINE_RESULT_H

#include "result/findings_result.h"
#include "result/frame_facts.h"
#include "result/gain_result.h"
#include "result/mine_report.h"
#include "result/unread_fields.h"

struct lode_mine_input {
	uint64_t streams;
	uint64_t events;
	int thinned; /* events represent others, too */
	uint64_t recorded_events;
	uint64_t cost_ns;
};

/* Events that were mined, or counted separately. */
struct lode_mine_events {
	uint64_t events;
	uint64_t distinct_stacks;
	uint64_t cost_ns;
};

struct lode_mine_work {
	struct lode_mine_events sums;
	struct lode_list places; /* of struct lode_mine_work_place */
};

struct lode_mine_work_place {
	struct lode_written frames;
	uint64_t events;
	uint64_t cost_ns;
};

/* What the recorded streams would have come to with all their events. */
struct lode_mine_sampling {
	int any; /* some were left out */
	uint64_t sampling_low_ns;
	uint64_t sampling_high_ns;
};

struct lode_mine_pattern {
	const char *id;
	struct lode_written frames;
	struct lode_metrics metrics;
	struct lode_mine_sampling sampling;
};

struct lode_mine_cluster_example {
	const char *stream;
	const char *stream_id;
	const char *host;
	uint64_t cost_ns;
	uint64_t events;
	uint64_t t;
	uint32_t tid;
	uint64_t longest_ns;
};

#define LODE_MINE_EXAMPLES 5

/* What fixing a cluster gains: wholly, and half of it. */
struct lode_gain_all_and_half {
	struct lode_gain all;
	struct lode_gain half;
};

struct lode_mine_cluster {
	const char *id;
	struct lode_list patterns; /* of const char *: their ids */
	struct lode_metrics metrics;
	double share;
	struct lode_mine_sampling sampling;
	struct lode_written common;
	struct lode_list examples;
	struct lode_mine_cluster_example example[LODE_MINE_EXAMPLES]; /* what `examples` lists */
	struct lode_written by_stream;
	uint64_t by_stream_left_out;
	int has_gain;
	struct lode_gain_all_and_half gain;
};

struct lode_mine_times {
	uint64_t reading_ns;
	uint64_t mining_ns;
	uint64_t clustering_ns;
	uint64_t ranking_ns;
	uint64_t prefixes;
};

struct lode_mine_result {
	const char *kind;
	const char *scope;
	uint64_t threshold_ns;
	double similarity;
	const char *rank;
	int fold_recursion;
	const char *end;
	int clustered;
	struct lode_mine_input input;
	struct lode_unread_part unread;
	struct lode_mine_events area;
	struct lode_mine_events idle;
	int has_work; /* only waits are for work */
	struct lode_mine_work waiting_for_work;
	struct lode_mine_symptoms symptoms;
	struct lode_findings_result findings;
	int only_new;
	uint64_t covered_ns;
	struct lode_list stream_ids; /* of const char * */
	uint64_t patterns_total;
	uint64_t clusters_total;
	struct lode_list patterns; /* of struct lode_mine_pattern */
	struct lode_list clusters; /* of struct lode_mine_cluster */
	struct lode_frame_facts facts;
	int has_replay;
	struct lode_gain_replay replay;
	int has_timing;
	struct lode_mine_times timing;
	const struct lode_mine_report *report; /* from here on: what the lists are made from */
	struct lode_mine_places places;
	uint8_t *shown_patterns; /* NULL: all */
	uint8_t *shown_frames;
};

extern const struct lode_fields lode_mine_fields;

/* The report must outlive it, and it does not move. Returns 0 or LODE_SYSTEM; release it in either case. */
int lode_mine_result_make(struct lode_mine_result *result, const struct lode_mine_report *report);
void lode_mine_result_release(struct lode_mine_result *result);

#endif
