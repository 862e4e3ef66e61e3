/*
 * Fills the result of lode latency, and writes it as JSON. Contexts may be many: stacks are copied from texts that are
 * made once (stack_text.h), and what is written leaves at once. See latency_result.h.
 */
#include "result/latency_result.h"

#include "result/activity_result.h"
#include "result/written_frames.h"

static int write_layers(const struct lode_written *self, struct lode_json *json)
{
	const uint64_t *sums = self->from;

	lode_json_object(json);
	for (int i = 0; i < LODE_LAYERS; i++)
		if (sums[i])
			lode_json_key_u64(json, lode_layer_name((enum lode_layer)i), sums[i]);
	lode_json_object_end(json);
	return 0;
}

static int make_context(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_latency_result *result = list->from;
	const struct lode_latency *latency = result->report->latency;
	const struct lode_contexts *contexts = result->report->contexts;
	uint32_t node = contexts->nodes[i];
	const struct lode_latency_node *sums = &latency->nodes[node];

	*(struct lode_latency_context *)item = (struct lode_latency_context){
		.frames = lode_written_stack_text(&result->stacks, &latency->dictionary.tree, node),
		.count = sums->count,
		.conservative_ns = sums->conservative,
		.aggressive_ns = sums->aggressive,
		.estimate_ns = sums->estimate,
		.low_ns = lode_latency_low(sums),
		.high_ns = lode_latency_high(sums),
		.own_ns = latency->own[node],
		.waited_ns = sums->waited,
		.idle_ns = sums->idle,
		.mean_ns = sums->estimate / sums->count,
		.median_ns = lode_latency_quantile(latency, node, 0.5),
		.p90_ns = lode_latency_quantile(latency, node, 0.9),
		.p99_ns = lode_latency_quantile(latency, node, 0.99),
		.longest_ns = sums->longest,
		.has_own_mean = contexts->means != NULL,
		.own_mean_ns = contexts->means ? contexts->means[node] : 0,
	};
	return 1;
}

static int make_result(struct lode_latency_result *result, const struct lode_latency_report *report,
		       struct lode_error *error)
{
	const struct lode_latency *latency = report->latency;
	size_t rows = report->top ? report->top : LODE_HEAT_JSON_ROWS;

	*result = (struct lode_latency_result){
		.input = { latency->stream_count, latency->input.threads, latency->input.events,
			   latency->instances },
		.unread = lode_unread_part(&latency->unread),
		.own_ns = report->contexts->own,
		.idle_ns = report->contexts->idle,
		.contexts_total = report->contexts->count,
		.layers = { .write = write_layers, .from = result->layer_sums },
		.states = lode_written_states(report->states),
		.contexts = { lode_latency_shown(report), result, 0, make_context },
		.report = report,
	};
	if (lode_layer_sums(&latency->dictionary, latency->own, latency->node_count, result->layer_sums) < 0 ||
	    lode_heat_of_latency(&result->heat_map, report, rows) < 0 ||
	    lode_latency_calls(report, &result->calls) < 0)
		return lode_fail_memory(error);
	result->heat = lode_heat_values_of(&result->heat_map);
	return lode_stack_text_init(&result->stacks, &latency->dictionary, error);
}

int lode_latency_json(const struct lode_latency_report *report, struct lode_output *output,
		      struct lode_error *error)
{
	struct lode_latency_result result;
	int code = make_result(&result, report, error);

	if (!code)
		code = lode_fields_flow(&lode_latency_fields, &result, output, error);
	lode_call_tree_part_release(&result.calls);
	lode_heat_release(&result.heat_map);
	lode_stack_text_release(&result.stacks);
	return code;
}
