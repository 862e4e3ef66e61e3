/*
 * Exporter `speedscope`: the JSON of https://www.speedscope.app (file format
 * 0.0.1 with the schema of the same site). One profile of type "sampled" for the
 * runs of each thread and one for its waits, weights in nanoseconds; the frames
 * of all streams are shared. Calls have no weight and are left out, counted.
 *
 * Inferred calls make a profile of type "evented" per thread, on one timeline that
 * starts with the first stream.
 *
 * A profile is two arrays, stacks and weights, so a thread's events are read
 * twice: that is what the spool is for. Frames come last, when all are known.
 */
#include "export/call_steps.h"
#include "export/export.h"
#include "base/line_writer.h"
#include "export/spool.h"

#include "base/json.h"

#include <string.h>

struct writer {
	struct lode_export *export;
	struct lode_json json;
	struct lode_spool spool;
	uint32_t *path; /* frames of one stack */
	size_t path_capacity;
	struct lode_buffer name; /* of the profile being written */
	uint64_t profiles;
	uint64_t heaviest; /* profile shown first */
	uint64_t most_weight;
	uint64_t start; /* time 0 of inferred calls */
};

/* `[0,5,7]`, straight into the output: there is one for every event. */
static int write_sample(struct writer *writer, uint32_t node, int first, struct lode_error *error)
{
	const struct lode_stack_tree *tree = &writer->export->dictionary.tree;
	struct lode_output *output = writer->export->output;
	uint32_t depth = lode_stack_tree_depth(tree, node);
	char *at;

	if (lode_grow(&writer->path, &writer->path_capacity, depth, sizeof(*writer->path)) < 0 ||
	    !(at = lode_buffer_room(&output->buffer, 4 + (size_t)depth * (LODE_PUT_NUMBER + 1))))
		return lode_fail_memory(error);
	lode_stack_tree_frames(tree, node, writer->path, depth);
	if (!first)
		*at++ = ',';
	*at++ = '[';
	for (uint32_t i = 0; i < depth; i++) {
		if (i)
			*at++ = ',';
		at = lode_put_number(at, writer->path[i]);
	}
	*at++ = ']';
	output->buffer.size = (size_t)(at - output->buffer.bytes);
	return lode_output_flow(output, error);
}

static int write_samples(struct writer *writer, uint32_t thread, enum lode_event_type type,
			 struct lode_error *error)
{
	struct lode_spool_cursor cursor;
	struct lode_spool_record record;
	int first = 1;
	int code = lode_spool_start(&writer->spool, thread, type, &cursor, error);

	lode_json_key_array(&writer->json, "samples");
	for (; code == 0 && lode_spool_next(&cursor, &record); first = 0)
		code = write_sample(writer, record.stack, first, error);
	lode_json_array_end(&writer->json);
	return code;
}

static int write_weights(struct writer *writer, uint32_t thread, enum lode_event_type type,
			 struct lode_error *error)
{
	struct lode_spool_cursor cursor;
	struct lode_spool_record record;
	int code = lode_spool_start(&writer->spool, thread, type, &cursor, error);

	lode_json_key_array(&writer->json, "weights");
	while (code == 0 && lode_spool_next(&cursor, &record)) {
		lode_json_u64(&writer->json, lode_spool_cost(&record));
		code = lode_output_flow(writer->export->output, error);
	}
	lode_json_array_end(&writer->json);
	return code;
}

/* The head of a thread's profile. The one that weighs the most is shown first. */
static int begin_profile(struct writer *writer, const struct lode_stream *stream, uint32_t thread,
			 const char *what, uint64_t weight, struct lode_error *error)
{
	lode_buffer_clear(&writer->name);
	lode_export_thread_name(writer->export, stream, thread, &writer->name);
	lode_buffer_text(&writer->name, what);
	if (writer->name.failed)
		return lode_fail_memory(error);
	if (!writer->profiles || weight > writer->most_weight) {
		writer->heaviest = writer->profiles;
		writer->most_weight = weight;
	}
	writer->profiles++;
	lode_json_object(&writer->json);
	lode_json_key_text(&writer->json, "type", writer->export->options->inferred ? "evented" : "sampled");
	lode_json_key(&writer->json, "name");
	lode_json_text_n(&writer->json, writer->name.bytes, writer->name.size);
	lode_json_key_text(&writer->json, "unit", "nanoseconds");
	return 0;
}

static int write_profile(struct writer *writer, const struct lode_stream *stream, uint32_t thread,
			 enum lode_event_type type, struct lode_error *error)
{
	const struct lode_spool_list *list = lode_spool_list(&writer->spool, thread, type);
	int code = begin_profile(writer, stream, thread, type == LODE_WAIT ? ", waiting" : ", running", list->cost,
				 error);

	if (code < 0)
		return code;
	lode_json_key_u64(&writer->json, "startValue", 0);
	lode_json_key_u64(&writer->json, "endValue", list->cost);
	code = write_samples(writer, thread, type, error);
	if (code == 0)
		code = write_weights(writer, thread, type, error);
	lode_json_object_end(&writer->json);
	return code;
}

/* ---- inferred calls ---- */

static uint64_t since_start(const struct writer *writer, uint64_t t)
{
	return t > writer->start ? t - writer->start : 0;
}

static int write_step(struct writer *writer, const struct lode_call_step *step, int first, struct lode_error *error)
{
	struct lode_output *output = writer->export->output;
	char *at = lode_buffer_room(&output->buffer, 40 + 2 * LODE_PUT_NUMBER);

	if (!at)
		return lode_fail_memory(error);
	if (!first)
		*at++ = ',';
	at = step->ends ? LODE_PUT(at, "{\"type\":\"C\",\"frame\":") : LODE_PUT(at, "{\"type\":\"O\",\"frame\":");
	at = lode_put_number(at, writer->export->dictionary.tree.nodes[step->node].frame);
	at = LODE_PUT(at, ",\"at\":");
	at = lode_put_number(at, since_start(writer, step->t));
	*at++ = '}';
	output->buffer.size = (size_t)(at - output->buffer.bytes);
	return lode_output_flow(output, error);
}

/* When the thread's first call began and its last one ended. */
static void find_span(struct lode_call_steps *calls, uint32_t thread, uint64_t span[2])
{
	struct lode_spool_cursor cursor;
	struct lode_call_step step;

	lode_call_steps_start(calls, thread, &cursor);
	for (int first = 1; lode_call_steps_next(&cursor, &step); first = 0) {
		if (first)
			span[0] = step.t;
		span[1] = step.t;
	}
}

/* The thread with the most calls is shown first: long times are mostly those of threads that wait. */
static int write_evented(struct writer *writer, const struct lode_stream *stream, uint32_t thread,
			 struct lode_call_steps *calls, struct lode_error *error)
{
	struct lode_spool_cursor cursor;
	struct lode_call_step step;
	uint64_t span[2] = { 0, 0 };
	int first = 1;
	int code = begin_profile(writer, stream, thread, "", lode_call_steps_count(calls, thread), error);

	if (code < 0)
		return code;
	find_span(calls, thread, span);
	lode_json_key_u64(&writer->json, "startValue", since_start(writer, span[0]));
	lode_json_key_u64(&writer->json, "endValue", since_start(writer, span[1]));
	lode_json_key_array(&writer->json, "events");
	lode_call_steps_start(calls, thread, &cursor);
	for (; code == 0 && lode_call_steps_next(&cursor, &step); first = 0)
		code = write_step(writer, &step, first, error);
	lode_json_array_end(&writer->json);
	lode_json_object_end(&writer->json);
	return code;
}

static int write_inferred(struct writer *writer, struct lode_export_stream *source, struct lode_error *error)
{
	struct lode_call_steps calls;
	int code = lode_call_steps_make(&calls, writer->export, source, error);

	if (code < 0)
		return code;
	for (uint32_t i = 0; i < source->stream.thread_count && code == 0; i++)
		if (lode_call_steps_count(&calls, i))
			code = write_evented(writer, &source->stream, i, &calls, error);
	lode_call_steps_release(&calls);
	return code;
}

/* ---- the whole ---- */

static int write_opened(struct writer *writer, struct lode_export_stream *source, struct lode_error *error)
{
	const struct lode_stream *stream = &source->stream;
	int code = lode_spool_fill(&writer->spool, writer->export, source, 1u << LODE_RUN | 1u << LODE_WAIT, 0,
				   error);

	if (code < 0)
		return code;
	for (int type = LODE_RUN; type <= LODE_WAIT; type++)
		for (uint32_t i = 0; i < stream->thread_count && code == 0; i++)
			if (lode_spool_list(&writer->spool, i, (enum lode_event_type)type)->count)
				code = write_profile(writer, stream, i, (enum lode_event_type)type, error);
	lode_spool_release(&writer->spool);
	return code;
}

static int write_stream(void *context, struct lode_export_stream *source, struct lode_error *error)
{
	struct writer *writer = context;

	return writer->export->options->inferred ? write_inferred(writer, source, error)
						 : write_opened(writer, source, error);
}

static int write_frames(struct writer *writer, struct lode_error *error)
{
	const struct lode_frames *frames = &writer->export->dictionary.frames;
	struct lode_json *json = &writer->json;
	int code = 0;

	lode_json_key_object(json, "shared");
	lode_json_key_array(json, "frames");
	for (uint32_t i = 0; i < frames->count && code == 0; i++) {
		lode_json_object(json);
		lode_json_key_text(json, "name", lode_frames_function(frames, i));
		if (frames->items[i].module)
			lode_json_key_text(json, "file", lode_frames_module_name(frames, i));
		lode_json_object_end(json);
		code = lode_output_flow(writer->export->output, error);
	}
	lode_json_array_end(json);
	lode_json_object_end(json);
	return code;
}

static int write_file(struct writer *writer, struct lode_error *error)
{
	struct lode_json *json = &writer->json;
	int code;

	lode_json_object(json);
	lode_json_key_text(json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	lode_json_key_text(json, "exporter", "lode");
	lode_json_key_text(json, "name", writer->export->corpus);
	lode_json_key_array(json, "profiles");
	code = lode_export_streams(writer->export, write_stream, writer, error);
	lode_json_array_end(json);
	lode_json_key_u64(json, "activeProfileIndex", writer->heaviest);
	if (code == 0)
		code = write_frames(writer, error);
	lode_json_object_end(json);
	lode_json_line(json);
	return code;
}

static int write_all(struct lode_export *export, struct lode_error *error)
{
	struct writer writer = { .export = export, .start = lode_export_start(export) };
	int code;

	writer.json = (struct lode_json){ .buffer = &export->output->buffer };
	code = write_file(&writer, error);
	lode_buffer_release(&writer.name);
	lode_free(writer.path);
	return code;
}

const struct lode_exporter lode_exporter_speedscope = {
	.name = "speedscope",
	.description = "speedscope.app: a flame graph for each thread, running and waiting",
	.extension = ".speedscope.json",
	.has_timeline = 1,
	.has_no_calls = 1,
	.passes = 1,
	.write = write_all,
};
