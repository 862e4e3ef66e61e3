/*
 * Scopes as JSON: one object per symptom and line, as docs/man/lode-scope.1 says.
 * Parts may be many, so their lines are put together from texts that are made once
 * (stack_text.h), and leave as they are written.
 */
#include "result/scope_report.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/line_writer.h"
#include "result/scope_threads.h"
#include "result/stack_text.h"

/* Threads whose timelines are written, and slices of these. */
#define PICTURED 20
#define SLICES   30

/* All of a part but its stack: keys, punctuation, and five numbers. */
#define PART_ROOM (160 + 5 * LODE_PUT_NUMBER)

struct writer {
	struct lode_scope_report *report;
	struct lode_output *output;
	struct lode_stack_text stacks;
	const uint32_t *shared; /* for a page: the number of each stack in the table that all symptoms share; else NULL */
};

static const char *text_of(const struct writer *writer, uint32_t string)
{
	return lode_strings_get(&writer->report->dictionary.frames.strings, string);
}

static const struct lode_thread *thread_of(const struct writer *writer, uint32_t thread)
{
	return &writer->report->stream.threads[thread];
}

/* ---- parts ---- */

/* A page has each stack once for all symptoms, and its number here. */
static char *put_stack(const struct writer *writer, uint32_t node, char *at)
{
	if (writer->shared)
		return lode_put_number(at, writer->shared[node]);
	*at++ = '[';
	at = lode_stack_text_put(&writer->stacks, &writer->report->dictionary.tree, node, at);
	*at++ = ']';
	return at;
}

static char *put_wait(const struct writer *writer, uint32_t wait, char *at)
{
	const struct lode_events *waits = &writer->report->stream.events[LODE_WAIT];

	if (waits->waker[wait] != LODE_NONE) {
		at = LODE_PUT(at, ",\"waker\":");
		at = lode_put_number(at, thread_of(writer, waits->waker[wait])->tid);
	}
	if (lode_wake_ends_chain(writer->report->index, wait))
		at = LODE_PUT(at, ",\"interrupt\":true");
	return at;
}

/* A thread that was preempted is ready; so is one on the run queue after a wait, which is told beside the wait. */
static char *put_type(const struct lode_part *part, char *at)
{
	switch (part->type) {
	case LODE_RUN:
		return LODE_PUT(at, "{\"type\":\"run\",\"tid\":");
	case LODE_WAIT:
		return LODE_PUT(at, "{\"type\":\"wait\",\"tid\":");
	default:
		return LODE_PUT(at, "{\"type\":\"ready\",\"tid\":");
	}
}

static char *put_part(const struct writer *writer, const struct lode_part *part, char *at)
{
	const struct lode_events *events = &writer->report->stream.events[part->type];

	at = put_type(part, at);
	at = lode_put_number(at, thread_of(writer, events->thread[part->event])->tid);
	at = LODE_PUT(at, ",\"t\":");
	at = lode_put_number(at, part->t);
	at = LODE_PUT(at, ",\"cost_ns\":");
	at = lode_put_number(at, part->cost);
	if (part->type == LODE_WAIT)
		at = put_wait(writer, part->event, at);
	if (lode_part_is_ready(&writer->report->stream, part))
		at = LODE_PUT(at, ",\"queued\":true");
	at = LODE_PUT(at, ",\"stack\":");
	at = put_stack(writer, events->stack[part->event], at);
	return LODE_PUT(at, "}");
}

/* A wait that was stepped into: also where its waker was. */
static char *put_step(const struct writer *writer, const struct lode_part *part, char *at)
{
	const struct lode_events *waits = &writer->report->stream.events[LODE_WAIT];

	at = put_part(writer, part, at) - 1;
	at = LODE_PUT(at, ",\"waker_stack\":");
	at = put_stack(writer, waits->waker_stack[part->event], at);
	return LODE_PUT(at, "}");
}

static int write_parts(struct writer *writer, const struct lode_parts *parts,
		       char *(*put)(const struct writer *, const struct lode_part *, char *),
		       struct lode_error *error)
{
	struct lode_buffer *buffer = &writer->output->buffer;
	int code = 0;

	for (size_t i = 0; i < parts->count && !code; i++) {
		const struct lode_events *events = &writer->report->stream.events[parts->items[i].type];
		uint32_t event = parts->items[i].event;
		size_t stacks = writer->stacks.lengths[events->stack[event]] +
				(events->waker_stack ? writer->stacks.lengths[events->waker_stack[event]] : 0);
		char *room = lode_buffer_room(buffer, PART_ROOM + stacks);

		if (!room)
			return lode_fail_memory(error);
		if (i)
			*room++ = ',';
		buffer->size = (size_t)(put(writer, &parts->items[i], room) - buffer->bytes);
		code = lode_output_flow(writer->output, error);
	}
	return code;
}

/* ---- a symptom ---- */

static void write_head(struct writer *writer, const struct lode_scope_found *found)
{
	const struct lode_thread *thread = thread_of(writer, found->symptom.thread);
	struct lode_json json = { .buffer = &writer->output->buffer };

	lode_json_object(&json);
	lode_json_key_text(&json, "stream", text_of(writer, writer->report->stream.name));
	lode_json_key_text(&json, "id", writer->report->entry->id);
	if (found->symptom.name)
		lode_json_key_text(&json, "name", text_of(writer, found->symptom.name));
	if (thread->pid != LODE_NO_PID)
		lode_json_key_u64(&json, "pid", thread->pid);
	lode_json_key_u64(&json, "tid", thread->tid);
	if (thread->name)
		lode_json_key_text(&json, "thread", text_of(writer, thread->name));
	lode_json_key_u64(&json, "t0", found->symptom.t0);
	lode_json_key_u64(&json, "t1", found->symptom.t1);
	lode_json_key_text(&json, "scope", lode_scope_name(writer->report->options->scope));
	lode_json_key_u64(&json, "events", found->events);
	lode_json_key_u64(&json, "edges", found->result.edges);
}

static void write_threads(const struct writer *writer, struct lode_json *json)
{
	const struct lode_stream *stream = &writer->report->stream;

	lode_json_key_array(json, "threads");
	for (size_t i = 0; i < stream->thread_count; i++) {
		if (!stream->threads[i].name)
			continue;
		lode_json_object(json);
		lode_json_key_u64(json, "tid", stream->threads[i].tid);
		lode_json_key_text(json, "name", text_of(writer, stream->threads[i].name));
		lode_json_object_end(json);
	}
	lode_json_array_end(json);
}

/* The names of its threads; what is known of frames is in the table. */
static void write_page(struct writer *writer)
{
	struct lode_json json = { .buffer = &writer->output->buffer };

	lode_buffer_text(&writer->output->buffer, ",\"facts\":");
	lode_json_object(&json);
	write_threads(writer, &json);
	lode_json_object_end(&json);
}

/* `"threads_total":…,"threads":[…]`: the busiest threads of the scope. */
static void write_thread_lines(struct writer *writer, const struct lode_scope_found *found)
{
	struct lode_buffer *buffer = &writer->output->buffer;
	struct lode_scope_threads threads;
	struct lode_json json = { .buffer = buffer };

	if (lode_scope_threads_make(&threads, writer->report, found, PICTURED, SLICES) < 0)
		buffer->failed = 1;
	lode_buffer_print(buffer, ",\"threads_total\":%zu,\"threads\":", threads.count);
	lode_json_array(&json);
	for (size_t i = 0; i < threads.count && i < PICTURED && !buffer->failed; i++) {
		const struct lode_scope_thread *item = &threads.items[i];
		const struct lode_thread *thread = thread_of(writer, item->thread);
		struct lode_timeline_fields line;

		lode_json_object(&json);
		lode_json_key_u64(&json, "tid", thread->tid);
		if (thread->name)
			lode_json_key_text(&json, "name", text_of(writer, thread->name));
		lode_json_key_u64(&json, "parts", item->events);
		lode_json_key_u64(&json, "run_ns", item->cost[LODE_RUN]);
		lode_json_key_u64(&json, "wait_ns", item->cost[LODE_WAIT]);
		lode_json_key_u64(&json, "ready_ns", item->cost[LODE_CALL]);
		line = lode_timeline_fields_of(&item->line);
		lode_json_key(&json, "timeline");
		lode_fields_write(&lode_timeline_fields, &line, &json);
		lode_json_object_end(&json);
	}
	lode_json_array_end(&json);
	lode_scope_threads_release(&threads);
}

/* Which states the path was in; only those that it was. */
static void write_states(struct writer *writer, const struct lode_scope_found *found)
{
	struct lode_json json = { .buffer = &writer->output->buffer };

	lode_buffer_text(&writer->output->buffer, ",\"states\":");
	lode_json_object(&json);
	for (int state = 0; state < LODE_STATES; state++)
		if (found->states[state])
			lode_json_key_u64(&json, lode_state_key((enum lode_state)state), found->states[state]);
	lode_json_object_end(&json);
}

static int write_symptom(struct writer *writer, const struct lode_scope_found *found, struct lode_error *error)
{
	struct lode_buffer *buffer = &writer->output->buffer;
	int code;

	write_head(writer, found);
	lode_buffer_text(buffer, ",\"path\":[");
	code = write_parts(writer, &found->parts, put_part, error);
	lode_buffer_byte(buffer, ']');
	if (!code && writer->report->options->scope == LODE_SCOPE_CRITICAL_PATH) {
		lode_buffer_text(buffer, ",\"steps\":[");
		code = write_parts(writer, &found->stepped, put_step, error);
		lode_buffer_byte(buffer, ']');
		write_states(writer, found);
	}
	lode_buffer_text(buffer, ",\"unknown_ns\":");
	lode_buffer_number(buffer, found->result.unknown);
	if (lode_events_thinned(&writer->report->stream.events[LODE_WAIT]))
		lode_buffer_text(buffer, ",\"thinned\":true");
	write_thread_lines(writer, found);
	if (writer->shared)
		write_page(writer);
	lode_buffer_text(buffer, "}\n");
	return code ? code : lode_output_flow(writer->output, error);
}

int lode_scope_json(struct lode_scope_report *report, struct lode_output *output, struct lode_error *error)
{
	struct writer writer = { .report = report, .output = output };
	int code;

	if (!report->count)
		return 0;
	code = lode_stack_text_init(&writer.stacks, &report->dictionary, error);
	for (size_t i = 0; i < report->count && !code; i++) {
		code = lode_scope_report_find(report, i, error);
		if (!code)
			code = write_symptom(&writer, &report->items[i], error);
		lode_scope_report_forget(report, i);
	}
	lode_stack_text_release(&writer.stacks);
	return code;
}

int lode_scope_page_symptom(struct lode_scope_report *report, size_t i, const uint32_t *shared,
			    struct lode_output *output, struct lode_error *error)
{
	struct writer writer = { .report = report, .output = output, .shared = shared };
	int code = lode_scope_report_find(report, i, error);

	if (!code)
		code = lode_stack_text_init(&writer.stacks, &report->dictionary, error);
	if (!code)
		code = write_symptom(&writer, &report->items[i], error);
	lode_stack_text_release(&writer.stacks);
	return code;
}
