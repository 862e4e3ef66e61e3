/*
 * Results as graphs for Graphviz and as pictures.
 */
#ifndef LODE_EXPORT_GRAPHS_H
#define LODE_EXPORT_GRAPHS_H

#include "result/diff_report.h"
#include "result/explain_report.h"
#include "result/hunt_report.h"
#include "result/latency_report.h"

/*
 * Append the tree of all calls that take at least `least` ns (call_tree.h; `unfolded` as
 * there).
 */
void lode_latency_dot(const struct lode_latency_report *report, uint64_t least, int unfolded,
		      struct lode_buffer *buffer);
void lode_diff_dot(const struct lode_diff_report *report, uint64_t least, int unfolded, struct lode_buffer *buffer);
/* The search history graph. */
void lode_hunt_dot(const struct lode_hunt_report *report, struct lode_buffer *buffer);
/* The tree, with functions at its leaves; and x against y. */
void lode_explain_dot(const struct lode_explain_report *report, struct lode_buffer *buffer);
void lode_explain_svg(const struct lode_explain_report *report, struct lode_buffer *buffer);

#endif
