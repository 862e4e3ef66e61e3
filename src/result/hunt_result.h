/*
 * A hunt as plain values (fields.h): an experiment, the summary, and the state that a page shows. Members have the names
 * of the JSON, which hunt_fields.c describes.
 */
#ifndef LODE_RESULT_HUNT_RESULT_H
#define LODE_RESULT_HUNT_RESULT_H

#include "result/fields.h"
#include "result/hunt_report.h"

/* What is narrowed; the others are null. */
struct lode_hunt_focus_fields {
	struct lode_written code;
	struct lode_written process;
	struct lode_written thread;
	struct lode_written host;
	struct lode_written object;
};

/* A time since the hunt began. */
struct lode_hunt_time {
	int happened;
	uint64_t ns;
};

struct lode_hunt_experiment {
	uint64_t t_ns;
	uint32_t experiment;
	int has_parent;
	uint32_t parent;
	struct lode_written parents;
	const char *hypothesis;
	struct lode_hunt_focus_fields focus;
	const char *origin;
	const char *state;
	const char *evidence;
	double value;
	double threshold;
	double confidence;
	double mean;
	double cost;
	uint64_t observed_ns;
	uint64_t calls;
	uint32_t runs;
	struct lode_hunt_time created;
	struct lode_hunt_time started;
	struct lode_hunt_time concluded;
	struct lode_hunt_time found;
	struct lode_hunt_time lost;
	const char *not_probed; /* NULL: it can be */
	const char *why;        /* NULL: nothing to say */
};

struct lode_hunt_state_counts {
	uint64_t of[LODE_EXPERIMENT_STATES];
};

struct lode_hunt_origin_counts {
	uint64_t of[LODE_ORIGINS];
};

struct lode_hunt_summary {
	uint64_t t_ns;
	const char *target;
	const char *end;
	const char *strategy;
	struct lode_written thresholds;
	double deep_threshold;
	double cost_limit;
	uint64_t experiments;
	uint64_t attempted;
	struct lode_hunt_state_counts states;
	struct lode_hunt_origin_counts origins;
	uint64_t samples;
	double cost;
	double highest_cost;
	double weighted_sum;
	uint64_t specific;
	struct lode_list bottlenecks; /* of uint32_t */
	struct lode_list history;     /* of struct lode_hunt_experiment */
};

/* What the text calls an experiment. */
struct lode_hunt_words {
	struct lode_written step;
	struct lode_written focus;
	struct lode_written measured;
	struct lode_written value;
	struct lode_written threshold;
	const char *claim;
	const char *origin;
};

struct lode_hunt_state {
	struct lode_written summary;
	struct lode_written experiments;
	struct lode_list words; /* of struct lode_hunt_words */
	struct lode_written sentences;
};

extern const struct lode_fields lode_hunt_experiment_fields;
extern const struct lode_fields lode_hunt_sums_fields;    /* the summary without `history` */
extern const struct lode_fields lode_hunt_summary_fields; /* all of it */
extern const struct lode_fields lode_hunt_state_fields;

#endif
