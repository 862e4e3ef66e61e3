/*
 * Tables that hold what analyses found: patterns and clusters of `lode mine`, critical paths of `lode scope`,
 * signatures. Private to src/query/.
 */
#ifndef LODE_QUERY_ANALYSIS_TABLES_H
#define LODE_QUERY_ANALYSIS_TABLES_H

struct lode_query_results;

void lode_query_results_free(struct lode_query_results *results); /* NULL is fine */

#endif
