/*
 * Inferred latencies, and differences between them, for the viewers of profiles.
 */
#ifndef LODE_EXPORT_LATENCY_EXPORT_H
#define LODE_EXPORT_LATENCY_EXPORT_H

#include "result/diff_report.h"
#include "result/latency_report.h"

/* Writes own latencies of the contexts as folded stacks, regardless of `top`. `notes` may be NULL. */
int lode_latency_folded(const struct lode_latency_report *report, struct lode_output *output,
			struct lode_notes *notes, struct lode_error *error);
/*
 * Writes a pprof profile of the contexts: calls, own latency and idle waits; viewers add up
 * the whole latencies themselves. Adds words to the latencies' dictionary.
 */
int lode_latency_pprof(struct lode_latency *latency, const struct lode_contexts *contexts,
		       struct lode_output *output, struct lode_error *error);

/*
 * Writes folded stacks with two values each, own latency in the base and in the slow
 * streams, ns per stream, as tools for differential flame graphs take them.
 */
int lode_diff_folded(const struct lode_diff_report *report, struct lode_output *output, struct lode_notes *notes,
		     struct lode_error *error);

#endif
