/*
 * Single calls of lode latency --instances, a line each, as JSON or in columns. They may be many: stacks are copied
 * from texts that are made once (stack_text.h), and lines leave as they are made.
 */
#include "result/latency_result.h"

#include "base/memory.h"
#include "result/written_frames.h"
#include "scope/frame_filter.h"

#include <string.h>

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
	const struct lode_dictionary *dictionary = lines->stream->dictionary;
	const struct lode_thread *thread = &lines->stream->threads[instance->thread];
	struct lode_latency_call call = {
		.stream = lode_strings_get(&dictionary->frames.strings, lines->stream->name),
		.has_pid = thread->pid != LODE_NO_PID,
		.pid = thread->pid,
		.tid = thread->tid,
		.begin = instance->begin,
		.end = instance->end,
		.conservative_ns = lode_instance_conservative(instance),
		.aggressive_ns = aggressive_of(lines, instance),
		.estimate_ns = lode_instance_estimate(instance),
		.waited_ns = instance->waited,
		.seen = instance->seen,
		.samples = instance->samples,
		.frames = lode_written_stack_text(&lines->stacks, &dictionary->tree, instance->node),
	};

	lode_fields_line(&lode_latency_call_fields, &call, &lines->output->buffer);
}

static void put_number(struct lode_buffer *buffer, const char *before, uint64_t number)
{
	lode_buffer_text(buffer, before);
	lode_buffer_number(buffer, number);
}

/* `[…]`: the frames of a stack. */
static void put_stack(struct instance_lines *lines, uint32_t node)
{
	struct lode_json json = { .buffer = &lines->output->buffer };
	struct lode_written stack = lode_written_stack_text(&lines->stacks, &lines->stream->dictionary->tree, node);

	stack.write(&stack, &json);
}

static void put_columns(struct instance_lines *lines, const struct lode_instance *instance)
{
	struct lode_buffer *buffer = &lines->output->buffer;

	put_number(buffer, "", instance->begin);
	put_number(buffer, "\t", lode_instance_estimate(instance));
	put_number(buffer, "\t", lode_instance_conservative(instance));
	put_number(buffer, "\t", aggressive_of(lines, instance));
	put_number(buffer, "\t", instance->waited);
	put_number(buffer, "\t", lines->stream->threads[instance->thread].tid);
	lode_buffer_byte(buffer, '\t');
	put_stack(lines, instance->node);
	lode_buffer_byte(buffer, '\n');
}

static int handle_instance(void *context, const struct lode_instance *instance)
{
	struct instance_lines *lines = context;

	if (lines->fits && !lines->fits[instance->node])
		return 0;
	if (lines->json)
		put_json(lines, instance);
	else
		put_columns(lines, instance);
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
	struct lode_instance_taker taker = { begin_stream, handle_instance, &lines };
	int code;

	if (!as_json)
		lode_buffer_text(
			&output->buffer,
			"begin_ns\testimate_ns\tconservative_ns\taggressive_ns\twaited_ns\ttid\tcontext\n");
	code = lode_latency_instances(corpus, options, &taker, error);
	forget_stream(&lines);
	return code;
}
