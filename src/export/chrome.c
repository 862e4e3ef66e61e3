/*
 * Exporter `chrome`: the trace event JSON of chrome://tracing, which Perfetto
 * (https://ui.perfetto.dev) opens too.
 *
 *	wait	a slice ("X") of its thread, named by its innermost function; the time on the
 *		run queue after it is a separate slice
 *	run	a slice ("X") as long as its cost, in `weight_ns`, or up to the next event of its
 *		thread: slices of one thread must not overlap
 *	call	an instant ("i"), or a slice when it represents time in the run queue
 *	symptom	an asynchronous slice ("b", "e")
 *
 * Inferred calls are slices inside one another, and take the place of events. Callers
 * come before callees, so that slices which begin at the same time nest as they should.
 *
 * Stacks are numbers into `stackFrames`, which holds the stack tree and comes last; Perfetto
 * does not read those, so slices have their stack in `args` too. Times begin with the first
 * event of a host. Everything is written as it is read, in order of time.
 *
 * `otherData` says who wrote it and, for one stream, what Chrome has no place for, so that
 * importing it gives that stream again.
 *
 * Process numbers are the recording's own for one stream. For several streams,
 * whose hosts may use the same numbers, processes are counted from 1 and their
 * names say which is which.
 */
#include "export/call_steps.h"
#include "export/export.h"
#include "export/merge.h"
#include "export/process_leaders.h"
#include "export/stream_facts.h"
#include "base/line_writer.h"

#include "base/json.h"

#include <inttypes.h>
#include <string.h>

/* Threads whose process is not known are shown together under this number. */
#define UNKNOWN_PROCESS INT32_MAX

struct writer {
	struct lode_export *export;
	struct lode_json json;
	const struct lode_stream *stream; /* the one being written */
	uint32_t *processes;              /* number of each thread's process */
	uint32_t *leaders;                /* thread that names the process, for its first thread; else LODE_NONE */
	uint32_t next_process;
	uint64_t next_symptom;
	uint64_t start;          /* time that is 0 in the trace */
	struct lode_event *runs; /* by thread: the run that waits for the next event */
	char *has_run;
	struct lode_buffer facts; /* of the stream, for `otherData` */
};

static const char *text_of(const struct writer *writer, uint32_t string)
{
	return lode_strings_get(&writer->export->dictionary.frames.strings, string);
}

static int end_event(struct writer *writer, struct lode_error *error)
{
	lode_json_object_end(&writer->json);
	return lode_output_flow(writer->export->output, error);
}

/* Microseconds, exactly. */
static void write_time(struct writer *writer, const char *key, uint64_t nanoseconds)
{
	char text[LODE_PUT_NUMBER + 4];
	char *end = lode_put_decimal(text, nanoseconds, 3);

	lode_json_key(&writer->json, key);
	lode_json_raw(&writer->json, text, (size_t)(end - text));
}

static void begin_event(struct writer *writer, const char *phase, const char *category, const char *name,
			uint32_t thread, uint64_t t)
{
	struct lode_json *json = &writer->json;

	lode_json_object(json);
	lode_json_key_text(json, "ph", phase);
	lode_json_key_text(json, "cat", category);
	lode_json_key_text(json, "name", name);
	lode_json_key_u64(json, "pid", writer->processes[thread]);
	lode_json_key_u64(json, "tid", writer->stream->threads[thread].tid);
	write_time(writer, "ts", t > writer->start ? t - writer->start : 0);
}

static void write_stack(struct writer *writer, const char *key, uint32_t node)
{
	char number[LODE_PUT_NUMBER];
	char *end = lode_put_number(number, node);

	if (!node)
		return;
	lode_json_key(&writer->json, key);
	lode_json_text_n(&writer->json, number, (size_t)(end - number));
}

/* The frames from the root on, as one text. Memory that runs out marks the output's buffer. */
static void write_stack_text(struct writer *writer, uint32_t node)
{
	const struct lode_stack_tree *tree = &writer->export->dictionary.tree;
	uint32_t depth = lode_stack_tree_depth(tree, node), *frames;
	struct lode_buffer text = { 0 };

	if (!node)
		return;
	frames = lode_calloc(depth, sizeof(*frames));
	if (!frames) {
		writer->json.buffer->failed = 1;
		return;
	}
	lode_stack_tree_frames(tree, node, frames, depth);
	for (uint32_t i = 0; i < depth; i++) {
		lode_buffer_text(&text, i ? ";" : "");
		lode_frames_text(&writer->export->dictionary.frames, frames[i], &text);
	}
	lode_json_key(&writer->json, "stack");
	if (!text.failed)
		lode_json_text_n(&writer->json, text.bytes, text.size);
	writer->json.buffer->failed |= text.failed;
	lode_buffer_release(&text);
	lode_free(frames);
}

static const char *leaf_name(const struct writer *writer, uint32_t node, const char *otherwise)
{
	return node ? lode_frames_function(&writer->export->dictionary.frames,
					   writer->export->dictionary.tree.nodes[node].frame)
		    : otherwise;
}

/* ---- processes and threads ---- */

static uint32_t number_process(struct writer *writer, uint32_t pid)
{
	if (writer->export->count > 1)
		return writer->next_process++;
	return pid == LODE_NO_PID ? UNKNOWN_PROCESS : pid;
}

static int number_processes(struct writer *writer, struct lode_error *error)
{
	const struct lode_stream *stream = writer->stream;

	writer->processes = lode_calloc(stream->thread_count, sizeof(*writer->processes));
	writer->leaders = lode_calloc(stream->thread_count, sizeof(*writer->leaders));
	if (!writer->processes || !writer->leaders ||
	    lode_process_leaders(stream, writer->processes, writer->leaders) < 0)
		return lode_fail_memory(error);
	for (uint32_t i = 0; i < stream->thread_count; i++) /* from the first thread to the number; it comes first */
		writer->processes[i] = writer->processes[i] == i ? number_process(writer, stream->threads[i].pid)
								 : writer->processes[writer->processes[i]];
	return 0;
}

static int write_metadata(struct writer *writer, const char *what, uint32_t thread, const char *name,
			  size_t length, struct lode_error *error)
{
	struct lode_json *json = &writer->json;

	begin_event(writer, "M", "__metadata", what, thread, 0);
	lode_json_key_object(json, "args");
	lode_json_key(json, "name");
	lode_json_text_n(json, name, length);
	lode_json_object_end(json);
	return end_event(writer, error);
}

static int write_process_name(struct writer *writer, uint32_t leader, struct lode_error *error)
{
	const struct lode_thread *thread = &writer->stream->threads[leader];
	struct lode_buffer name = { 0 };
	int code;

	if (writer->export->count > 1)
		lode_buffer_print(&name, "%s: ", text_of(writer, writer->stream->name));
	if (thread->pid == LODE_NO_PID)
		lode_buffer_text(&name, "unknown process");
	else if (thread->pid == thread->tid && thread->name)
		lode_buffer_text(&name, text_of(writer, thread->name));
	else
		lode_buffer_print(&name, "process %" PRIu32, thread->pid);
	if (name.failed)
		code = lode_fail_memory(error);
	else
		code = write_metadata(writer, "process_name", leader, name.bytes, name.size, error);
	lode_buffer_release(&name);
	return code;
}

static int write_threads(struct writer *writer, struct lode_error *error)
{
	const struct lode_stream *stream = writer->stream;
	int code = 0;

	for (uint32_t i = 0; i < stream->thread_count && code == 0; i++) {
		const struct lode_string *name =
			&writer->export->dictionary.frames.strings.items[stream->threads[i].name];

		if (writer->leaders[i] != LODE_NONE)
			code = write_process_name(writer, writer->leaders[i], error);
		if (code == 0 && name->length)
			code = write_metadata(writer, "thread_name", i, name->text, name->length, error);
	}
	return code;
}

/* ---- events ---- */

static void write_context(struct writer *writer, const struct lode_event *event)
{
	if (event->context)
		lode_json_key_text(&writer->json, "context", text_of(writer, event->context));
}

static int write_run(struct writer *writer, const struct lode_event *event, uint64_t duration,
		     struct lode_error *error)
{
	begin_event(writer, "X", "run", leaf_name(writer, event->stack, "run"), event->thread, event->t);
	write_time(writer, "dur", duration);
	write_stack(writer, "sf", event->stack);
	lode_json_key_object(&writer->json, "args");
	lode_json_key_u64(&writer->json, "weight_ns", lode_weighted(event->cost, event->weight));
	if (event->cpu != LODE_NO_CPU)
		lode_json_key_u64(&writer->json, "cpu", event->cpu);
	write_context(writer, event);
	write_stack_text(writer, event->stack);
	lode_json_object_end(&writer->json);
	return end_event(writer, error);
}

/* The run that waits, if there is one, ends at `t` at the latest. */
static int end_run(struct writer *writer, uint32_t thread, uint64_t t, struct lode_error *error)
{
	const struct lode_event *run = &writer->runs[thread];

	if (!writer->has_run[thread])
		return 0;
	writer->has_run[thread] = 0;
	return write_run(writer, run, t - run->t < run->cost ? t - run->t : run->cost, error);
}

static int write_slice(struct writer *writer, const char *category, const char *name, uint32_t thread, uint64_t t,
		       uint64_t duration, struct lode_error *error)
{
	begin_event(writer, "X", category, name, thread, t);
	write_time(writer, "dur", duration);
	return end_event(writer, error);
}

static void write_object(struct writer *writer, const struct lode_event *event)
{
	if (!event->object)
		return;
	lode_json_key_text(&writer->json, "object", text_of(writer, event->object));
	if (event->holder == LODE_NONE)
		return;
	lode_json_key_u64(&writer->json, "holder", writer->stream->threads[event->holder].tid);
	if (writer->processes[event->holder] != UNKNOWN_PROCESS)
		lode_json_key_u64(&writer->json, "holder_pid", writer->processes[event->holder]);
}

static void write_wait_facts(struct writer *writer, const struct lode_event *event)
{
	lode_json_key_object(&writer->json, "args");
	if (event->delay)
		lode_json_key_u64(&writer->json, "delay_ns", event->delay);
	if (event->cpu != LODE_NO_CPU)
		lode_json_key_u64(&writer->json, "cpu", event->cpu);
	if (event->waker != LODE_NONE) {
		lode_json_key_u64(&writer->json, "waker", writer->stream->threads[event->waker].tid);
		if (writer->processes[event->waker] != UNKNOWN_PROCESS)
			lode_json_key_u64(&writer->json, "waker_pid", writer->processes[event->waker]);
		write_stack(writer, "waker_stack", event->waker_stack);
	}
	if (event->weight > 1)
		lode_json_key_u64(&writer->json, "weight", event->weight);
	write_object(writer, event);
	write_context(writer, event);
	write_stack_text(writer, event->stack);
	lode_json_object_end(&writer->json);
}

static int write_wait(struct writer *writer, const struct lode_event *event, struct lode_error *error)
{
	const char *name = event->name ? text_of(writer, event->name) : leaf_name(writer, event->stack, "wait");
	int code;

	begin_event(writer, "X", "wait", name, event->thread, event->t);
	write_time(writer, "dur", event->cost);
	write_stack(writer, "sf", event->stack);
	write_wait_facts(writer, event);
	code = end_event(writer, error);
	if (code == 0 && event->delay)
		code = write_slice(writer, "delay", "on the run queue", event->thread,
				   lode_add_saturating(event->t, event->cost), event->delay, error);
	return code;
}

static int write_call(struct writer *writer, const struct lode_event *event, struct lode_error *error)
{
	const char *name = event->name ? text_of(writer, event->name) : leaf_name(writer, event->stack, "call");

	begin_event(writer, event->delay ? "X" : "i", "call", name, event->thread, event->t);
	if (event->delay)
		write_time(writer, "dur", event->delay);
	else
		lode_json_key_text(&writer->json, "s", "t");
	write_stack(writer, "sf", event->stack);
	if (event->cpu != LODE_NO_CPU || event->context) {
		lode_json_key_object(&writer->json, "args");
		if (event->cpu != LODE_NO_CPU)
			lode_json_key_u64(&writer->json, "cpu", event->cpu);
		write_context(writer, event);
		lode_json_object_end(&writer->json);
	}
	return end_event(writer, error);
}

static int write_event(struct writer *writer, enum lode_event_type type, const struct lode_event *event,
		       struct lode_error *error)
{
	int code = type == LODE_CALL && !event->delay ? 0 : end_run(writer, event->thread, event->t, error);

	if (code < 0)
		return code;
	if (type == LODE_WAIT)
		return write_wait(writer, event, error);
	if (type == LODE_CALL)
		return write_call(writer, event, error);
	writer->runs[event->thread] = *event;
	writer->has_run[event->thread] = 1;
	return 0;
}

static int write_events(struct writer *writer, struct lode_export_stream *source, struct lode_error *error)
{
	struct lode_merge merge;
	enum lode_event_type type;
	struct lode_event event;
	int code, got = 0;

	writer->runs = lode_calloc(source->stream.thread_count, sizeof(*writer->runs));
	writer->has_run = lode_calloc(source->stream.thread_count, 1);
	code = writer->runs && writer->has_run ? 0 : lode_fail_memory(error);
	if (code == 0) {
		code = lode_merge_init(&merge, writer->export, source, error);
		while (code == 0 && (got = lode_merge_next(&merge, &type, &event, error)) > 0)
			code = write_event(writer, type, &event, error);
		lode_merge_release(&merge);
	}
	if (code == 0)
		code = got;
	for (uint32_t i = 0; i < source->stream.thread_count && code == 0; i++)
		code = end_run(writer, i, UINT64_MAX, error);
	lode_free(writer->runs);
	lode_free(writer->has_run);
	return code;
}

/* ---- inferred calls ---- */

static int write_inferred(struct writer *writer, uint32_t thread, const struct lode_call_step *step,
			  struct lode_error *error)
{
	const struct lode_frames *frames = &writer->export->dictionary.frames;
	uint32_t frame = writer->export->dictionary.tree.nodes[step->node].frame;

	begin_event(writer, "X", lode_frames_module_name(frames, frame), lode_frames_function(frames, frame),
		    thread, step->t);
	write_time(writer, "dur", step->duration);
	if (step->waited) {
		lode_json_key_object(&writer->json, "args");
		lode_json_key_u64(&writer->json, "waited_ns", step->waited);
		lode_json_object_end(&writer->json);
	}
	return end_event(writer, error);
}

static int write_all_inferred(struct writer *writer, struct lode_export_stream *source, struct lode_error *error)
{
	struct lode_call_steps calls;
	struct lode_spool_cursor cursor;
	struct lode_call_step step;
	int code = lode_call_steps_make(&calls, writer->export, source, error);

	if (code < 0)
		return code;
	for (uint32_t i = 0; i < source->stream.thread_count && code == 0; i++) {
		lode_call_steps_start(&calls, i, &cursor);
		while (code == 0 && lode_call_steps_next(&cursor, &step))
			if (!step.ends)
				code = write_inferred(writer, i, &step, error);
	}
	lode_call_steps_release(&calls);
	return code;
}

/* ---- symptoms ---- */

static int write_symptom(struct writer *writer, const struct lode_symptom *symptom, struct lode_error *error)
{
	const char *name = symptom->name ? text_of(writer, symptom->name) : "symptom";
	int code = 0;

	for (int end = 0; end <= 1 && code == 0; end++) {
		begin_event(writer, end ? "e" : "b", "symptom", name, symptom->thread,
			    end ? symptom->t1 : symptom->t0);
		lode_json_key_u64(&writer->json, "id", writer->next_symptom);
		code = end_event(writer, error);
	}
	writer->next_symptom++;
	return code;
}

/* ---- the whole ---- */

static int write_opened(struct writer *writer, struct lode_export_stream *source, struct lode_error *error)
{
	int code = number_processes(writer, error);

	if (code == 0)
		code = write_threads(writer, error);
	if (code == 0 && writer->export->options->inferred)
		code = write_all_inferred(writer, source, error);
	else if (code == 0)
		code = write_events(writer, source, error);
	for (size_t i = 0; i < source->stream.symptom_count && code == 0; i++)
		code = write_symptom(writer, &source->stream.symptoms[i], error);
	lode_free(writer->processes);
	lode_free(writer->leaders);
	return code;
}

/* The first time of all streams of the same host: its clock is theirs. */
static uint64_t start_of_host(const struct lode_export *export, const char *host)
{
	uint64_t start = UINT64_MAX;

	for (size_t i = 0; i < export->count; i++)
		if (!strcmp(export->entries[i]->host, host) && export->entries[i]->first_t < start)
			start = export->entries[i]->first_t;
	return start;
}

static int write_stream(void *context, struct lode_export_stream *source, struct lode_error *error)
{
	struct writer *writer = context;
	int code;

	writer->stream = &source->stream;
	writer->start = start_of_host(writer->export, source->entry->host);
	code = write_opened(writer, source, error);
	if (writer->export->count == 1)
		lode_stream_facts_put(&writer->facts, &source->stream,
				      writer->start == UINT64_MAX ? 0 : writer->start);
	else if (source->number == 0)
		lode_stream_facts_put_several(&writer->facts, writer->export->count);
	return code;
}

static int write_stack_frames(struct writer *writer, struct lode_error *error)
{
	const struct lode_stack_tree *tree = &writer->export->dictionary.tree;
	const struct lode_frames *frames = &writer->export->dictionary.frames;
	struct lode_json *json = &writer->json;
	int code = 0;

	lode_json_key_object(json, "stackFrames");
	for (uint32_t i = 1; i < tree->count && code == 0; i++) {
		char key[LODE_PUT_NUMBER + 1];

		*lode_put_number(key, i) = '\0';
		lode_json_key_object(json, key);
		lode_json_key_text(json, "category", lode_frames_module_name(frames, tree->nodes[i].frame));
		lode_json_key_text(json, "name", lode_frames_function(frames, tree->nodes[i].frame));
		write_stack(writer, "parent", tree->nodes[i].parent);
		lode_json_object_end(json);
		code = lode_output_flow(writer->export->output, error);
	}
	lode_json_object_end(json);
	return code;
}

static int write_file(struct writer *writer, struct lode_error *error)
{
	struct lode_json *json = &writer->json;
	int code;

	lode_json_object(json);
	lode_json_key_text(json, "displayTimeUnit", "ns");
	lode_json_key_array(json, "traceEvents");
	code = lode_export_streams(writer->export, write_stream, writer, error);
	lode_json_array_end(json);
	if (writer->facts.size) {
		lode_json_key(json, "otherData");
		lode_json_raw(json, writer->facts.bytes, writer->facts.size);
	}
	json->buffer->failed |= writer->facts.failed;
	if (code == 0 && !writer->export->options->inferred)
		code = write_stack_frames(writer, error);
	lode_json_object_end(json);
	lode_json_line(json);
	return code;
}

static int write_all(struct lode_export *export, struct lode_error *error)
{
	struct writer writer = { .export = export, .next_process = 1, .next_symptom = 1 };
	int code;

	writer.json = (struct lode_json){ .buffer = &export->output->buffer };
	code = write_file(&writer, error);
	lode_buffer_release(&writer.facts);
	return code;
}

const struct lode_exporter lode_exporter_chrome = {
	.name = "chrome",
	.description =
		"trace events for chrome://tracing and ui.perfetto.dev: samples, waits and symptoms on a timeline",
	.extension = ".trace.json",
	.has_timeline = 1,
	.passes = 1,
	.write = write_all,
};
