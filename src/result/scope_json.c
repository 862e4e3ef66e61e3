/*
 * Scopes as JSON: one object per symptom and line, as docs/man/lode-scope.1 says.
 * Parts may be many, so their lines are put together from texts that are made once
 * (stack_text.h), and leave as they are written.
 */
#include "result/scope_report.h"

#include "base/memory.h"
#include "base/line_writer.h"
#include "result/activity_result.h"
#include "result/scope_result.h"
#include "result/scope_threads.h"
#include "result/stack_text.h"
#include "trace/stolen_time.h"
#include "trace/throttled.h"

/* Threads whose timelines are written, and slices of these. */
#define PICTURED 20
#define SLICES   30

/* All of a part but its stack, object and context: keys, punctuation, and seven numbers. */
#define PART_ROOM (224 + 7 * LODE_PUT_NUMBER)

struct writer {
	struct lode_scope_report *report;
	struct lode_output *output;
	struct lode_error *error;
	struct lode_stack_text stacks;
	struct lode_scope_threads threads; /* of the symptom that is written */
	struct lode_buffer *object;        /* of the wait that is being written, quoted; empty: it has none */
	struct lode_buffer *context;       /* the same of any event's context */
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
	if (writer->object->size) {
		at = LODE_PUT(at, ",\"object\":");
		at = lode_put_bytes(at, writer->object->bytes, writer->object->size);
	}
	if (lode_scope_holder(writer->report, wait) != LODE_NONE) {
		at = LODE_PUT(at, ",\"holder\":");
		at = lode_put_number(at, thread_of(writer, lode_scope_holder(writer->report, wait))->tid);
	}
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

/* With who had the processor, where that is known. */
static char *put_ready(const struct writer *writer, const struct lode_part *part, char *at)
{
	uint32_t behind = lode_scope_behind(writer->report, part);

	at = LODE_PUT(at, ",\"queued\":true");
	if (behind == LODE_NONE)
		return at;
	at = LODE_PUT(at, ",\"behind\":");
	return lode_put_number(at, thread_of(writer, behind)->tid);
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
		at = put_ready(writer, part, at);
	if (writer->context->size) {
		at = LODE_PUT(at, ",\"context\":");
		at = lode_put_bytes(at, writer->context->bytes, writer->context->size);
	}
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

static int quote(const struct writer *writer, uint32_t string, struct lode_buffer *quoted)
{
	struct lode_json json = { .buffer = quoted };

	lode_buffer_clear(quoted);
	if (string)
		lode_json_text(&json, text_of(writer, string));
	return quoted->failed ? LODE_SYSTEM : 0;
}

/* Quotes the object of a wait, and the context of any event. */
static int quote_texts(const struct writer *writer, const struct lode_part *part)
{
	const struct lode_events *events = &writer->report->stream.events[part->type];
	uint32_t object = part->type == LODE_WAIT ? lode_events_object(events, part->event) : 0;

	if (quote(writer, object, writer->object) < 0)
		return LODE_SYSTEM;
	return quote(writer, lode_events_context(events, part->event), writer->context);
}

static int write_part_list(const struct writer *writer, const struct lode_parts *parts,
			   char *(*put)(const struct writer *, const struct lode_part *, char *))
{
	struct lode_buffer *buffer = &writer->output->buffer;
	int code = 0;

	for (size_t i = 0; i < parts->count && !code; i++) {
		const struct lode_events *events = &writer->report->stream.events[parts->items[i].type];
		uint32_t event = parts->items[i].event;
		size_t stacks = writer->stacks.lengths[events->stack[event]] +
				(events->waker_stack ? writer->stacks.lengths[events->waker_stack[event]] : 0);
		int is_quoted = quote_texts(writer, &parts->items[i]) == 0;
		char *room = lode_buffer_room(buffer,
					      PART_ROOM + stacks + writer->object->size + writer->context->size);

		if (!room || !is_quoted)
			return lode_fail_memory(writer->error);
		if (i)
			*room++ = ',';
		buffer->size = (size_t)(put(writer, &parts->items[i], room) - buffer->bytes);
		code = lode_output_flow(writer->output, writer->error);
	}
	return code;
}

static int write_path(const struct lode_written *self, struct lode_json *json)
{
	const struct writer *writer = self->from;
	int code;

	lode_json_array(json);
	code = write_part_list(writer, self->with, put_part);
	lode_json_array_end(json);
	return code;
}

static int write_steps(const struct lode_written *self, struct lode_json *json)
{
	const struct writer *writer = self->from;
	int code;

	lode_json_array(json);
	code = write_part_list(writer, self->with, put_step);
	lode_json_array_end(json);
	return code;
}

/* ---- a symptom ---- */

/* The busiest threads of the scope. */
static int make_thread(const struct lode_list *list, size_t i, void *item)
{
	const struct writer *writer = list->from;
	const struct lode_scope_thread *found = &writer->threads.items[i];
	const struct lode_thread *thread = thread_of(writer, found->thread);

	*(struct lode_scope_result_thread *)item = (struct lode_scope_result_thread){
		.tid = thread->tid,
		.name = thread->name ? text_of(writer, thread->name) : NULL,
		.parts = found->events,
		.run_ns = found->cost[LODE_RUN],
		.wait_ns = found->cost[LODE_WAIT],
		.ready_ns = found->cost[LODE_CALL],
		.timeline = lode_timeline_fields_of(&found->line),
	};
	return 1;
}

/* The names of all threads: what is known of frames is in the page's table. */
static int make_name(const struct lode_list *list, size_t i, void *item)
{
	const struct writer *writer = list->from;
	const struct lode_thread *thread = thread_of(writer, (uint32_t)i);

	if (!thread->name)
		return 0;
	*(struct lode_scope_thread_name *)item =
		(struct lode_scope_thread_name){ thread->tid, text_of(writer, thread->name) };
	return 1;
}

/* Hosts that were joined: of others the clock is not known. */
static int make_host(const struct lode_list *list, size_t i, void *item)
{
	const struct writer *writer = list->from;
	const struct lode_joined_host *host = &writer->report->hosts.items[i];

	if (!host->clock.exchanges)
		return 0;
	*(struct lode_scope_host *)item = (struct lode_scope_host){
		.host = host->entry->host,
		.stream = host->entry->id,
		.offset_ns = host->clock.offset,
		.error_ns = host->clock.error,
		.drift_ppm = host->clock.drift.rate * 1e6,
		.exchanges = host->clock.exchanges,
		.waits = host->waits,
		.first_tid = (uint32_t)(i + 1) * LODE_HOST_TIDS,
	};
	return 1;
}

static struct lode_scope_symptom symptom_of(const struct writer *writer, const struct lode_scope_found *found)
{
	const struct lode_stream *stream = &writer->report->stream;
	const struct lode_thread *thread = thread_of(writer, found->symptom.thread);
	struct lode_throttled throttled = lode_stream_throttled(stream);
	double stolen = lode_stream_stolen(stream);
	int is_path = writer->report->options->scope == LODE_SCOPE_CRITICAL_PATH;

	return (struct lode_scope_symptom){
		.stream = text_of(writer, stream->name),
		.id = writer->report->entry->id,
		.name = found->symptom.name ? text_of(writer, found->symptom.name) : NULL,
		.has_pid = thread->pid != LODE_NO_PID,
		.pid = thread->pid,
		.tid = thread->tid,
		.thread = thread->name ? text_of(writer, thread->name) : NULL,
		.t0 = found->symptom.t0,
		.t1 = found->symptom.t1,
		.scope = lode_scope_name(writer->report->options->scope),
		.events = found->events,
		.edges = found->result.edges,
		.path = { .write = write_path, .from = writer, .with = &found->parts },
		.steps = { .write = is_path ? write_steps : NULL, .from = writer, .with = &found->stepped },
		.states = lode_written_states(is_path ? found->states : NULL),
		.is_path = is_path,
		.running_kernel_ns = found->in_kernel,
		.is_stolen = stolen > 0,
		.stolen_percent = stolen,
		.is_throttled = is_path && throttled.path,
		.throttled = { throttled.path, throttled.time },
		.unknown_ns = found->result.unknown,
		.thinned = lode_events_thinned(&stream->events[LODE_WAIT]),
		.has_hosts = writer->report->hosts.count > 0,
		.hosts = { writer->report->hosts.count, writer, 0, make_host },
		.threads_total = writer->threads.count,
		.threads = { writer->threads.count < PICTURED ? writer->threads.count : PICTURED, writer, 0,
			     make_thread },
		.facts = { { stream->thread_count, writer, 0, make_name } },
	};
}

static int write_symptom(struct writer *writer, const struct lode_scope_found *found)
{
	int code = lode_scope_threads_make(&writer->threads, writer->report, found, PICTURED, SLICES);

	if (code < 0) {
		code = lode_fail_memory(writer->error);
	} else {
		struct lode_scope_symptom symptom = symptom_of(writer, found);

		code = lode_fields_flow(writer->shared ? &lode_scope_page_symptom_fields : &lode_scope_fields,
					&symptom, writer->output, writer->error);
	}
	lode_scope_threads_release(&writer->threads);
	return code;
}

int lode_scope_json(struct lode_scope_report *report, struct lode_output *output, struct lode_error *error)
{
	struct lode_buffer object = { 0 }, context = { 0 };
	struct writer writer = { .report = report,
				 .output = output,
				 .error = error,
				 .object = &object,
				 .context = &context };
	int code;

	if (!report->count)
		return 0;
	code = lode_stack_text_init(&writer.stacks, &report->dictionary, error);
	for (size_t i = 0; i < report->count && !code; i++) {
		code = lode_scope_report_find(report, i, error);
		if (!code)
			code = write_symptom(&writer, &report->items[i]);
		lode_scope_report_forget(report, i);
	}
	lode_stack_text_release(&writer.stacks);
	lode_buffer_release(&object);
	lode_buffer_release(&context);
	return code;
}

int lode_scope_page_symptom(struct lode_scope_report *report, size_t i, const uint32_t *shared,
			    struct lode_output *output, struct lode_error *error)
{
	struct lode_buffer object = { 0 }, context = { 0 };
	struct writer writer = { .report = report,
				 .output = output,
				 .error = error,
				 .object = &object,
				 .context = &context,
				 .shared = shared };
	int code = lode_scope_report_find(report, i, error);

	if (!code)
		code = lode_stack_text_init(&writer.stacks, &report->dictionary, error);
	if (!code)
		code = write_symptom(&writer, &report->items[i]);
	lode_stack_text_release(&writer.stacks);
	lode_buffer_release(&object);
	lode_buffer_release(&context);
	return code;
}
