/*
 * Deep starters: functions that stack samples show so often that they are examined
 * early (Deep Start, section 2.1), and the calls that lead to them (section 2.2).
 */
#ifndef LODE_HUNT_SEARCH_DEEP_START_H
#define LODE_HUNT_SEARCH_DEEP_START_H

#include "hunt/search/function_counts.h"

/* What the search says about a function. */
typedef int lode_function_test(void *context, uint32_t function);

/*
 * Finds, in each connected subgraph of functions whose share of the samples' weight
 * is above `threshold` (or, `recently`, was so lately), the function that is furthest from the graph's roots
 * (the functions that samples begin with) among those that `may` allows. The distance is the least number of
 * calls. Ties go to the larger weight, then to the name that comes first. `*functions`, the heaviest first,
 * is the caller's to free. Returns 0 or LODE_SYSTEM.
 */
int lode_deep_starters(const struct lode_count_graph *graph, const struct lode_program *program, double threshold,
		       int recently, lode_function_test *may, void *context, uint32_t **functions, size_t *count);

/*
 * Marks, by node of the graph, what the functions `roots` lead to, themselves
 * included; all of it when none of them was seen. The caller's to free; NULL when
 * memory has run out.
 */
char *lode_deep_reach(const struct lode_count_graph *graph, const uint32_t *roots, size_t count);

/*
 * The shortest way, along calls that samples show, to `function` from one that is
 * `known`, or from a root of the graph when no known one leads there. `*path` begins
 * with that one, ends with `function` and is the caller's to free; of ways that are
 * equally short the one whose calls, from the end, weigh most. Empty when the graph
 * does not hold the function. Returns 0 or LODE_SYSTEM.
 */
int lode_deep_path(const struct lode_count_graph *graph, const struct lode_program *program, uint32_t function,
		   lode_function_test *known, void *context, uint32_t **path, size_t *count);

#endif
