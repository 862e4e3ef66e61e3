/*
 * The search history graph for Graphviz: see graphs.h. Nodes are coloured by
 * state, as in the page; an edge to a first parent is drawn, the others are dashed.
 */
#include "base/memory.h"
#include "export/dot_text.h"
#include "export/graphs.h"

static const char *colour_of(enum lode_experiment_state state)
{
	static const char *const colours[LODE_EXPERIMENT_STATES] = {
		[LODE_EXPERIMENT_NEVER_RUN] = "#ffffff", [LODE_EXPERIMENT_RUNNING] = "#f0e442",
		[LODE_EXPERIMENT_TRUE] = "#d55e00",      [LODE_EXPERIMENT_FALSE] = "#cccccc",
		[LODE_EXPERIMENT_DEFERRED] = "#56b4e9",  [LODE_EXPERIMENT_IMPOSSIBLE] = "#999999",
	};

	return colours[state];
}

static void put_node(const struct lode_search *search, uint32_t id, struct lode_buffer *buffer)
{
	const struct lode_experiment *experiment = &lode_search_history(search)->experiments[id];
	struct lode_buffer label = { 0 };

	lode_hunt_step(search, id, &label);
	lode_buffer_print(buffer, "\te%u [label=\"", id);
	lode_dot_quoted(buffer, label.bytes, label.size);
	buffer->failed |= label.failed;
	if (experiment->runs) {
		lode_buffer_text(buffer, "\\n");
		lode_hunt_measured(experiment, buffer);
	}
	lode_buffer_print(buffer, "\", fillcolor=\"%s\", tooltip=\"%s, %s\"%s];\n", colour_of(experiment->state),
			  lode_experiment_state_name(experiment->state),
			  lode_experiment_origin_name(experiment->origin),
			  experiment->origin == LODE_ORIGIN_DEEP_START ? ", penwidth=3" : "");
	lode_buffer_release(&label);
}

static void put_edges(const struct lode_history *history, uint32_t id, struct lode_buffer *buffer)
{
	const struct lode_experiment *experiment = &history->experiments[id];

	for (uint32_t i = experiment->links; i != LODE_NONE; i = history->links[i].next)
		lode_buffer_print(buffer, "\te%u -> e%u%s;\n", history->links[i].parent, id,
				  history->links[i].parent == experiment->parent
					  ? ""
					  : " [style=dashed, constraint=false]");
}

void lode_hunt_dot(const struct lode_hunt_report *report, struct lode_buffer *buffer)
{
	const struct lode_history *history = lode_search_history(report->search);

	lode_buffer_text(buffer, "digraph hunt {\n\trankdir=LR;\n"
				 "\tnode [fontname=\"sans-serif\", shape=box, style=filled];\n");
	for (uint32_t id = 0; id < history->count; id++)
		put_node(report->search, id, buffer);
	for (uint32_t id = 0; id < history->count; id++)
		put_edges(history, id, buffer);
	lode_buffer_text(buffer, "}\n");
}
