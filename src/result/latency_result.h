/*
 * The result of lode latency as plain values (fields.h), and one call of it. Members have the names of the JSON, which
 * latency_fields.c describes.
 */
#ifndef LODE_RESULT_LATENCY_RESULT_H
#define LODE_RESULT_LATENCY_RESULT_H

#include "latency/code_layer.h"
#include "result/call_tree_fields.h"
#include "result/heat.h"
#include "result/unread_fields.h"

struct lode_latency_context {
	struct lode_written frames;
	uint64_t count;
	uint64_t conservative_ns;
	uint64_t aggressive_ns;
	uint64_t estimate_ns;
	uint64_t low_ns;
	uint64_t high_ns;
	uint64_t own_ns;
	uint64_t waited_ns;
	uint64_t idle_ns;
	uint64_t mean_ns;
	uint64_t median_ns;
	uint64_t p90_ns;
	uint64_t p99_ns;
	uint64_t longest_ns;
	int has_own_mean;
	double own_mean_ns;
};

struct lode_latency_sums {
	uint64_t streams;
	uint64_t threads;
	uint64_t events;
	uint64_t instances;
};

struct lode_latency_result {
	struct lode_latency_sums input;
	struct lode_unread_part unread;
	uint64_t own_ns;
	uint64_t idle_ns;
	uint64_t contexts_total;
	struct lode_written layers;
	struct lode_written states; /* none where they were not asked for */
	struct lode_heat_values heat;
	struct lode_list contexts; /* of struct lode_latency_context */
	struct lode_call_tree_part calls;
	const struct lode_latency_report *report; /* the rest is what they are made from */
	uint64_t layer_sums[LODE_LAYERS];
	struct lode_heat heat_map;
	struct lode_stack_text stacks;
};

/* A call: a line of --instances. */
struct lode_latency_call {
	const char *stream;
	int has_pid;
	uint32_t pid;
	uint32_t tid;
	uint64_t begin;
	uint64_t end;
	uint64_t conservative_ns;
	uint64_t aggressive_ns;
	uint64_t estimate_ns;
	uint64_t waited_ns;
	uint64_t seen;
	uint64_t samples;
	struct lode_written frames;
};

extern const struct lode_fields lode_latency_fields;
extern const struct lode_fields lode_latency_call_fields;

#endif
