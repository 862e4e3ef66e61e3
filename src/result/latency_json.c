/*
 * Latencies as JSON: contexts, and single instances line by line. Both may be many, so
 * stacks are copied from texts that are made once (stack_text.h), and output is
 * written immediately.
 */
#include "result/latency_report.h"

#include "base/json.h"
#include "latency/code_layer.h"
#include "result/heat.h"
#include "result/unread_fields.h"
#include "scope/frame_filter.h"

#include <string.h>

/* `[…]`: the frames of a stack. */
static int put_stack(struct lode_buffer *buffer, const struct lode_stack_text *stacks,
		     const struct lode_stack_tree *tree, uint32_t node)
{
	char *room = lode_buffer_room(buffer, stacks->lengths[node] + 2);

	if (!room)
		return LODE_SYSTEM;
	*room++ = '[';
	room = lode_stack_text_put(stacks, tree, node, room);
	*room++ = ']';
	buffer->size = (size_t)(room - buffer->bytes);
	return 0;
}

static void put_key(struct lode_buffer *buffer, const char *key, uint64_t number)
{
	lode_buffer_text(buffer, key);
	lode_buffer_number(buffer, number);
}

/* ---- contexts ---- */

static void put_head(const struct lode_latency_report *report, struct lode_json *json)
{
	const struct lode_latency *latency = report->latency;

	lode_json_object(json);
	lode_json_key_object(json, "input");
	lode_json_key_u64(json, "streams", latency->stream_count);
	lode_json_key_u64(json, "threads", latency->input.threads);
	lode_json_key_u64(json, "events", latency->input.events);
	lode_json_key_u64(json, "instances", latency->instances);
	lode_json_object_end(json);
	lode_unread_streams_json(&latency->unread, json);
	lode_json_key_u64(json, "own_ns", report->contexts->own);
	lode_json_key_u64(json, "idle_ns", report->contexts->idle);
	lode_json_key_u64(json, "contexts_total", report->contexts->count);
}

static int put_layers(const struct lode_latency_report *report, struct lode_json *json)
{
	const struct lode_latency *latency = report->latency;
	uint64_t sums[LODE_LAYERS];

	if (lode_layer_sums(&latency->dictionary, latency->own, latency->node_count, sums) < 0)
		return LODE_SYSTEM;
	lode_json_key_object(json, "layers");
	for (int i = 0; i < LODE_LAYERS; i++)
		if (sums[i])
			lode_json_key_u64(json, lode_layer_name((enum lode_layer)i), sums[i]);
	lode_json_object_end(json);
	return 0;
}

static int put_heat(const struct lode_latency_report *report, struct lode_json *json)
{
	struct lode_heat heat;
	int code = lode_heat_of_latency(&heat, report, report->top ? report->top : LODE_HEAT_JSON_ROWS);

	lode_json_key(json, "heat");
	lode_heat_json(&heat, "own_ns", json);
	lode_heat_release(&heat);
	return code;
}

static void put_sums(const struct lode_latency_report *report, uint32_t node, struct lode_buffer *buffer)
{
	const struct lode_latency *latency = report->latency;
	const struct lode_latency_node *sums = &latency->nodes[node];

	put_key(buffer, ",\"count\":", sums->count);
	put_key(buffer, ",\"conservative_ns\":", sums->conservative);
	put_key(buffer, ",\"aggressive_ns\":", sums->aggressive);
	put_key(buffer, ",\"estimate_ns\":", sums->estimate);
	put_key(buffer, ",\"low_ns\":", lode_latency_low(sums));
	put_key(buffer, ",\"high_ns\":", lode_latency_high(sums));
	put_key(buffer, ",\"own_ns\":", latency->own[node]);
	put_key(buffer, ",\"waited_ns\":", sums->waited);
	put_key(buffer, ",\"idle_ns\":", sums->idle);
	put_key(buffer, ",\"mean_ns\":", sums->estimate / sums->count);
	put_key(buffer, ",\"median_ns\":", lode_latency_quantile(latency, node, 0.5));
	put_key(buffer, ",\"p90_ns\":", lode_latency_quantile(latency, node, 0.9));
	put_key(buffer, ",\"p99_ns\":", lode_latency_quantile(latency, node, 0.99));
	put_key(buffer, ",\"longest_ns\":", sums->longest);
	if (report->contexts->means) {
		struct lode_json json = { .buffer = buffer };

		lode_buffer_text(buffer, ",\"own_mean_ns\":");
		lode_json_double(&json, report->contexts->means[node]);
	}
	lode_buffer_byte(buffer, '}');
}

static int put_contexts(const struct lode_latency_report *report, const struct lode_stack_text *stacks,
			struct lode_output *output, struct lode_error *error)
{
	int code = 0;

	for (size_t i = 0; !code && i < lode_latency_shown(report); i++) {
		uint32_t node = report->contexts->nodes[i];

		lode_buffer_text(&output->buffer, i ? ",{\"frames\":" : "{\"frames\":");
		if (put_stack(&output->buffer, stacks, &report->latency->dictionary.tree, node) < 0)
			return lode_fail_memory(error);
		put_sums(report, node, &output->buffer);
		code = lode_output_flow(output, error);
	}
	return code;
}

int lode_latency_json(const struct lode_latency_report *report, struct lode_output *output,
		      struct lode_error *error)
{
	struct lode_stack_text stacks = { 0 };
	struct lode_json json = { .buffer = &output->buffer };
	int code = lode_stack_text_init(&stacks, &report->latency->dictionary, error);

	if (!code) {
		put_head(report, &json);
		if (put_layers(report, &json) < 0 || put_heat(report, &json) < 0)
			code = lode_fail_memory(error);
	}
	if (!code) {
		lode_json_key_array(&json, "contexts");
		code = put_contexts(report, &stacks, output, error);
		lode_json_array_end(&json);
		lode_latency_tree_json(report, &json);
		lode_json_object_end(&json);
		lode_json_line(&json);
	}
	lode_stack_text_release(&stacks);
	return code;
}

/* ---- instances ---- */

struct instance_lines {
	struct lode_output *output;
	struct lode_error *error;
	const char *const *match;
	int json;
	int aggressive_end;
	const struct lode_stream *stream; /* whose turn it is, and what was made for it */
	struct lode_stack_text stacks;
	uint8_t *fits;
};

static void forget_stream(struct instance_lines *lines)
{
	lode_stack_text_release(&lines->stacks);
	lode_free(lines->fits);
	memset(&lines->stacks, 0, sizeof(lines->stacks));
	lines->fits = NULL;
	lines->stream = NULL;
}

static int begin_stream(void *context, const struct lode_stream *stream)
{
	struct instance_lines *lines = context;
	int code;

	forget_stream(lines);
	code = lode_stack_text_init(&lines->stacks, stream->dictionary, lines->error);
	if (!code && lode_stacks_match(stream->dictionary, lines->match, &lines->fits) < 0)
		code = lode_fail_memory(lines->error);
	lines->stream = stream;
	return code;
}

static uint64_t aggressive_of(const struct instance_lines *lines, const struct lode_instance *instance)
{
	return lines->aggressive_end ? lode_instance_aggressive_end(instance) : lode_instance_aggressive(instance);
}

static void put_json(struct instance_lines *lines, const struct lode_instance *instance)
{
	const struct lode_thread *thread = &lines->stream->threads[instance->thread];
	struct lode_buffer *buffer = &lines->output->buffer;
	struct lode_json json = { .buffer = buffer };

	lode_json_object(&json);
	lode_json_key_text(&json, "stream",
			   lode_strings_get(&lines->stream->dictionary->frames.strings, lines->stream->name));
	if (thread->pid != LODE_NO_PID)
		lode_json_key_u64(&json, "pid", thread->pid);
	lode_json_key_u64(&json, "tid", thread->tid);
	put_key(buffer, ",\"begin\":", instance->begin);
	put_key(buffer, ",\"end\":", instance->end);
	put_key(buffer, ",\"conservative_ns\":", lode_instance_conservative(instance));
	put_key(buffer, ",\"aggressive_ns\":", aggressive_of(lines, instance));
	put_key(buffer, ",\"estimate_ns\":", lode_instance_estimate(instance));
	put_key(buffer, ",\"waited_ns\":", instance->waited);
	put_key(buffer, ",\"seen\":", instance->seen);
	put_key(buffer, ",\"samples\":", instance->samples);
	lode_buffer_text(buffer, ",\"frames\":");
}

static void put_columns(struct instance_lines *lines, const struct lode_instance *instance)
{
	struct lode_buffer *buffer = &lines->output->buffer;

	put_key(buffer, "", instance->begin);
	put_key(buffer, "\t", lode_instance_estimate(instance));
	put_key(buffer, "\t", lode_instance_conservative(instance));
	put_key(buffer, "\t", aggressive_of(lines, instance));
	put_key(buffer, "\t", instance->waited);
	put_key(buffer, "\t", lines->stream->threads[instance->thread].tid);
	lode_buffer_byte(buffer, '\t');
}

static int take_instance(void *context, const struct lode_instance *instance)
{
	struct instance_lines *lines = context;
	struct lode_buffer *buffer = &lines->output->buffer;

	if (lines->fits && !lines->fits[instance->node])
		return 0;
	if (lines->json)
		put_json(lines, instance);
	else
		put_columns(lines, instance);
	if (put_stack(buffer, &lines->stacks, &lines->stream->dictionary->tree, instance->node) < 0)
		return lode_fail_memory(lines->error);
	lode_buffer_text(buffer, lines->json ? "}\n" : "\n");
	return lode_output_flow(lines->output, lines->error);
}

int lode_latency_instances_write(struct lode_corpus *corpus, const struct lode_latency_options *options,
				 const char *const *match, int as_json, struct lode_output *output,
				 struct lode_error *error)
{
	struct instance_lines lines = {
		.output = output,
		.error = error,
		.match = match,
		.json = as_json,
		.aggressive_end = options->aggressive_end,
	};
	struct lode_instance_taker taker = { begin_stream, take_instance, &lines };
	int code;

	if (!as_json)
		lode_buffer_text(
			&output->buffer,
			"begin_ns\testimate_ns\tconservative_ns\taggressive_ns\twaited_ns\ttid\tcontext\n");
	code = lode_latency_instances(corpus, options, &taker, error);
	forget_stream(&lines);
	return code;
}
