/*
 * Heat map (the paper's Figure 7): a row per context, a cell per function of it, from root
 * to leaf; its heat is the logarithm of the function's own time. The hottest function of a
 * row is marked 0, its neighbours with their distance, callers below 0.
 */
#ifndef LODE_RESULT_HEAT_H
#define LODE_RESULT_HEAT_H

#include "result/diff_report.h"
#include "result/latency_report.h"

/* Powers of ten below the hottest cell that are distinguished. */
#define LODE_HEAT_DECADES 4
/* Rows in JSON that is not cut by --top. */
#define LODE_HEAT_JSON_ROWS 10
/* Neighbours of the hottest function that are marked, on either side. */
#define LODE_HEAT_MARKS 3

struct lode_heat_row {
	size_t rank;
	size_t first; /* its first cell */
	size_t count;
	size_t hottest; /* of its cells */
	uint32_t leaf;
	uint32_t who; /* node of the function that the row is about: see lode_stack_who */
	int64_t cost; /* ns: what the row is ranked by */
};

struct lode_heat {
	const struct lode_dictionary *dictionary;
	struct lode_heat_row *rows;
	size_t count;
	size_t capacity;
	uint32_t *nodes; /* of all cells, row by row */
	size_t cell_count;
	size_t cell_capacity;
	/* By node: what it takes, ns; latencies have one of them, differences both. */
	const uint64_t *less; /* NULL: nothing is taken off */
	const uint64_t *value;
	int64_t most;  /* of the hottest cell */
	size_t total;  /* rows there would be of all contexts or paths */
	size_t widest; /* cells of the longest row */
};

/* The heat of the first `most` contexts or paths. Return 0 or LODE_SYSTEM; release in either case. */
int lode_heat_of_latency(struct lode_heat *heat, const struct lode_latency_report *report, size_t most);
int lode_heat_of_diff(struct lode_heat *heat, const struct lode_diff_report *report,
		      const struct lode_diff_chosen *chosen, size_t most);
void lode_heat_release(struct lode_heat *heat);

/* What a node takes, or takes more. */
static inline int64_t lode_heat_value(const struct lode_heat *heat, uint32_t node)
{
	return (int64_t)(heat->value[node] - (heat->less ? heat->less[node] : 0));
}

/* The map as a field of results, and a row of it; its cells are as its frames are, root first. */
struct lode_heat_values {
	uint64_t most_ns;
	uint64_t rows_total;
	struct lode_list rows;
};

struct lode_heat_row_values {
	uint64_t rank;
	uint64_t hottest;
	struct lode_list cells; /* of int64_t */
};

/* The map must outlive it. */
struct lode_heat_values lode_heat_values_of(const struct lode_heat *heat);

/* From 0, nothing, to LODE_HEAT_DECADES, the hottest cell of all: a power of ten is 1. */
double lode_heat_level(const struct lode_heat *heat, uint32_t node);

#endif
