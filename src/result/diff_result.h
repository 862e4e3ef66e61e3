/*
 * The result of lode diff as plain values (fields.h). Members have the names of the JSON, which diff_fields.c describes.
 */
#ifndef LODE_RESULT_DIFF_RESULT_H
#define LODE_RESULT_DIFF_RESULT_H

#include "latency/code_layer.h"
#include "result/gate_result.h"
#include "result/call_tree_fields.h"
#include "result/heat.h"
#include "result/unread_fields.h"

struct lode_diff_result_side {
	const char *corpus;
	const char *chosen; /* NULL: all its streams */
	uint64_t streams;
	struct lode_unread_part unread;
	uint64_t events;
	uint64_t instances;
	struct lode_written states; /* none where they were not asked for */
};

/* That a difference is chance. */
struct lode_diff_probability {
	int tested;
	double p;
	double q;
};

struct lode_diff_evidence {
	int sure;
	uint64_t sure_paths;
	uint64_t sure_functions;
	struct lode_diff_probability probability;
	double level;
	const char *level_is_of;
	double power;
	int has_detectable;
	uint64_t detectable_ns;
	double detectable_share;
	int has_detectable_path;
	uint64_t detectable_path_ns;
	double detectable_path_share;
	int has_streams;
	uint64_t streams_for_5_percent;
};

struct lode_diff_layer {
	uint64_t base_ns;
	uint64_t slow_ns;
};

struct lode_diff_result_cause {
	struct lode_written frame;
	const char *module;
	const char *function;
	const char *layer;
	int internal;
	int new;
	struct lode_written caller; /* none where no function calls it */
	int64_t delta_ns;
	int sure;
	struct lode_diff_probability probability;
};

struct lode_diff_truth {
	uint64_t p_min; /* 0: no path has it */
	uint64_t f_min;
	int found;
};

struct lode_diff_result_function {
	struct lode_written frame;
	uint64_t base_ns;
	uint64_t slow_ns;
	int64_t delta_ns;
	int64_t whole_delta_ns;
	int has_means;
	double base_mean_ns;
	double slow_mean_ns;
	uint32_t rank;
	int64_t distance;
	const char *layer;
};

struct lode_diff_result_path {
	uint64_t rank;
	int64_t cost_ns;
	int64_t function_delta_ns;
	int new;
	struct lode_diff_probability probability;
	struct lode_list frames; /* of struct lode_diff_result_function */
};

struct lode_diff_result {
	struct lode_diff_result_side base;
	struct lode_diff_result_side slow;
	int64_t delta_ns;
	int tested;
	struct lode_diff_evidence chance;
	struct lode_written layers;
	int has_cause;
	struct lode_diff_result_cause root_cause;
	const char *no_cause; /* NULL: there is one */
	int has_truth;
	struct lode_diff_truth truth;
	int has_gate;
	struct lode_gate_values gate;
	uint64_t paths_total;
	struct lode_heat_values heat;
	struct lode_list paths; /* of struct lode_diff_result_path */
	struct lode_call_tree_part calls;
	const struct lode_diff_report *report; /* the rest is what they are made from */
	struct lode_diff_layer layer_sums[LODE_LAYERS];
	struct lode_heat heat_map;
	struct lode_diff_functions *functions; /* of the path that is written */
};

extern const struct lode_fields lode_diff_fields;
extern const struct lode_fields lode_diff_layer_fields;

#endif
