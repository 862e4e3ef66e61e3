/* The gate of lode diff as plain values (fields.h); gate_result.c has their table, too. */
#ifndef LODE_RESULT_GATE_RESULT_H
#define LODE_RESULT_GATE_RESULT_H

#include "latency/diff.h"
#include "result/fields.h"

struct lode_gate_values {
	const char *verdict;
	double level;
	uint64_t blocks;
	uint64_t base_streams;
	uint64_t slow_streams;
	uint64_t run_ns;
	struct lode_list rules;       /* of struct lode_gate_rule_values */
	const struct lode_diff *diff; /* the rest is what they are made from */
	const struct lode_gate *gate;
	const struct lode_gate_result *result;
};

extern const struct lode_fields lode_gate_fields;

/* Refers to `values` itself, which must stay where it is. */
void lode_gate_values_fill(struct lode_gate_values *values, const struct lode_diff *diff,
			   const struct lode_gate *gate);

#endif
