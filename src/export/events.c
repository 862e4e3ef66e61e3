/*
 * Exporter `events`: plain events, a format that is easy to write. It is
 * the inverse of the importer of the same name: reading back what this writes
 * gives the same stream, and writing that again gives the same bytes.
 *
 * Two kinds of line extend the contract, each only where it is needed:
 *
 *	{"type":"module",...}	what a module's name does not say: its kind, language, path, build-id
 *	{"type":"thread",...}	a thread's name; a thread that no line below mentions, or whose
 *				process a `waker` or a `holder`, which is a tid alone, does not say
 */
#include "export/export.h"
#include "export/merge.h"
#include "base/line_writer.h"
#include "result/stack_text.h"

#include "base/json.h"
#include "trace/script_modules.h"

#include <string.h>

/* All of a line but its texts: keys, punctuation, and nine numbers. */
#define LINE_ROOM (224 + 9 * LODE_PUT_NUMBER)

struct writer {
	struct lode_export *export;
	struct lode_export_stream *source;
	struct lode_stack_text stacks;
	struct lode_buffer names; /* quoted names of events and symptoms, made when first needed */
	size_t *name_starts;      /* of string i in it, plus one; 0: not yet */
	size_t *name_lengths;
	uint8_t *thread_marks; /* enum thread_mark */
};

enum thread_mark {
	MENTIONED = 1, /* by an event or a symptom of its own, which names its process too */
	WAKER = 2,     /* as a waker or a holder, by its tid alone */
};

static const char *text_of(const struct writer *writer, uint32_t string)
{
	return lode_strings_get(&writer->export->dictionary.frames.strings, string);
}

static const struct lode_thread *thread_of(const struct writer *writer, uint32_t thread)
{
	return &writer->source->stream.threads[thread];
}

/* ---- names ---- */

static int quote_name(struct writer *writer, uint32_t name, struct lode_error *error)
{
	size_t start = writer->names.size;
	struct lode_json json;

	if (writer->name_starts[name])
		return 0;
	json = (struct lode_json){ .buffer = &writer->names };
	lode_json_text(&json, text_of(writer, name));
	if (writer->names.failed)
		return lode_fail_memory(error);
	writer->name_starts[name] = start + 1;
	writer->name_lengths[name] = writer->names.size - start;
	return 0;
}

static const char *quoted_name(const struct writer *writer, uint32_t name)
{
	return writer->names.bytes + writer->name_starts[name] - 1;
}

/* ---- the head of a stream ---- */

static int write_stream_line(struct writer *writer, struct lode_error *error)
{
	struct lode_output *output = writer->export->output;
	const struct lode_stream *stream = &writer->source->stream;
	struct lode_json json = { .buffer = &output->buffer };

	lode_json_object(&json);
	lode_json_key_text(&json, "stream", text_of(writer, stream->name));
	if (stream->host)
		lode_json_key_text(&json, "host", text_of(writer, stream->host));
	if (stream->attribute_count) {
		lode_json_key_object(&json, "attrs");
		for (size_t i = 0; i < stream->attribute_count; i++)
			lode_attribute_json(&stream->attributes[i], &writer->export->dictionary.frames.strings,
					    &json);
		lode_json_object_end(&json);
	}
	lode_json_object_end(&json);
	lode_json_line(&json);
	return lode_output_flow(output, error);
}

static int write_module(struct writer *writer, const struct lode_module *module, struct lode_error *error)
{
	const struct lode_string *name = &writer->export->dictionary.frames.strings.items[module->name];
	enum lode_kind guess = lode_kind_guess(name->text, name->length);
	enum lode_code_language language = lode_code_language_guess(name->text, name->length);
	struct lode_output *output = writer->export->output;
	struct lode_json json;

	if (module->kind == guess && module->language == language && !module->path && !module->build_id)
		return 0;
	json = (struct lode_json){ .buffer = &output->buffer };
	lode_json_object(&json);
	lode_json_key_text(&json, "type", "module");
	lode_json_key_text(&json, "name", name->text);
	if (module->kind != guess)
		lode_json_key_text(&json, "kind", lode_kind_name((enum lode_kind)module->kind));
	if (module->language != language)
		lode_json_key_text(&json, "language",
				   lode_code_language_name((enum lode_code_language)module->language));
	if (module->path)
		lode_json_key_text(&json, "path", text_of(writer, module->path));
	if (module->build_id)
		lode_json_key_text(&json, "build_id", text_of(writer, module->build_id));
	lode_json_object_end(&json);
	lode_json_line(&json);
	return lode_output_flow(output, error);
}

static int mark_block(void *context, enum lode_event_type type, const struct lode_events *events,
		      struct lode_error *error)
{
	struct writer *writer = context;

	(void)type;
	(void)error;
	for (size_t i = 0; i < events->count; i++) {
		writer->thread_marks[events->thread[i]] |= MENTIONED;
		if (events->waker[i] != LODE_NONE)
			writer->thread_marks[events->waker[i]] |= WAKER;
		if (lode_events_holder(events, i) != LODE_NONE)
			writer->thread_marks[events->holder[i]] |= WAKER;
	}
	return 0;
}

static int mark_threads(struct writer *writer, struct lode_error *error)
{
	const struct lode_stream *stream = &writer->source->stream;

	writer->thread_marks = lode_calloc(stream->thread_count, 1);
	if (!writer->thread_marks)
		return lode_fail_memory(error);
	for (size_t i = 0; i < stream->symptom_count; i++)
		writer->thread_marks[stream->symptoms[i].thread] |= MENTIONED;
	return lode_export_blocks(writer->export, writer->source, ~0u, LODE_THREAD | LODE_WAKER | LODE_HOLDER,
				  mark_block, writer, error);
}

static int needs_line(const struct writer *writer, uint32_t thread)
{
	const struct lode_thread *item = thread_of(writer, thread);
	unsigned marks = writer->thread_marks[thread];

	return item->name || lode_thread_has_totals(item) ||
	       (!(marks & MENTIONED) && (item->pid != LODE_NO_PID || !(marks & WAKER)));
}

static int write_thread(struct writer *writer, uint32_t thread, struct lode_error *error)
{
	const struct lode_thread *item = thread_of(writer, thread);
	struct lode_output *output = writer->export->output;
	struct lode_json json;

	if (!needs_line(writer, thread))
		return 0;
	json = (struct lode_json){ .buffer = &output->buffer };
	lode_json_object(&json);
	lode_json_key_text(&json, "type", "thread");
	if (item->pid != LODE_NO_PID)
		lode_json_key_u64(&json, "pid", item->pid);
	lode_json_key_u64(&json, "tid", item->tid);
	if (item->name)
		lode_json_key_text(&json, "name", text_of(writer, item->name));
	if (lode_thread_has_totals(item)) {
		lode_json_key_u64(&json, "waits", item->totals.waits);
		lode_json_key_u64(&json, "preemptions", item->totals.preemptions);
		lode_json_key_u64(&json, "waited", item->totals.waited_ns);
		lode_json_key_u64(&json, "run", item->totals.run_ns);
		lode_json_key_u64(&json, "queued", item->totals.queued_ns);
	}
	lode_json_object_end(&json);
	lode_json_line(&json);
	return lode_output_flow(output, error);
}

static int write_head(struct writer *writer, struct lode_error *error)
{
	const struct lode_frames *frames = &writer->export->dictionary.frames;
	int code = write_stream_line(writer, error);

	for (size_t i = 1; i < frames->module_count && code == 0; i++)
		code = write_module(writer, &frames->modules[i], error);
	if (code == 0)
		code = mark_threads(writer, error);
	for (size_t i = 0; i < writer->source->stream.thread_count && code == 0; i++)
		code = write_thread(writer, (uint32_t)i, error);
	return code;
}

/* ---- events ---- */

static char *put_thread(const struct writer *writer, uint32_t thread, char *at)
{
	const struct lode_thread *item = thread_of(writer, thread);

	if (item->pid != LODE_NO_PID) {
		at = LODE_PUT(at, ",\"pid\":");
		at = lode_put_number(at, item->pid);
	}
	at = LODE_PUT(at, ",\"tid\":");
	return lode_put_number(at, item->tid);
}

static char *put_optional_number(char *at, const char *key, uint64_t number, uint64_t unknown)
{
	if (number == unknown)
		return at;
	at = lode_put_bytes(at, key, strlen(key));
	return lode_put_number(at, number);
}

static char *put_object(const struct writer *writer, const struct lode_event *event, char *at)
{
	if (!event->object)
		return at;
	at = LODE_PUT(at, ",\"object\":");
	at = lode_put_bytes(at, quoted_name(writer, event->object), writer->name_lengths[event->object]);
	if (event->holder == LODE_NONE)
		return at;
	at = LODE_PUT(at, ",\"holder\":");
	return lode_put_number(at, thread_of(writer, event->holder)->tid);
}

static char *put_event(const struct writer *writer, enum lode_event_type type, const struct lode_event *event,
		       char *at)
{
	static const char *const starts[LODE_EVENT_TYPES] = {
		"{\"type\":\"run\",\"t\":",
		"{\"type\":\"wait\",\"t\":",
		"{\"type\":\"call\",\"t\":",
	};
	const struct lode_stack_tree *tree = &writer->export->dictionary.tree;

	at = lode_put_bytes(at, starts[type], strlen(starts[type]));
	at = lode_put_number(at, event->t);
	if (type != LODE_CALL) {
		at = LODE_PUT(at, ",\"cost\":");
		at = lode_put_number(at, event->cost);
	}
	at = put_optional_number(at, ",\"delay\":", event->delay, 0);
	at = put_thread(writer, event->thread, at);
	at = put_optional_number(at, ",\"cpu\":", event->cpu, LODE_NO_CPU);
	at = put_optional_number(at, ",\"weight\":", event->weight, 1);
	if (event->name) {
		at = LODE_PUT(at, ",\"name\":");
		at = lode_put_bytes(at, quoted_name(writer, event->name), writer->name_lengths[event->name]);
	}
	if (event->waker != LODE_NONE) {
		at = LODE_PUT(at, ",\"waker\":");
		at = lode_put_number(at, thread_of(writer, event->waker)->tid);
	}
	at = put_object(writer, event, at);
	if (event->context) {
		at = LODE_PUT(at, ",\"context\":");
		at = lode_put_bytes(at, quoted_name(writer, event->context), writer->name_lengths[event->context]);
	}
	at = LODE_PUT(at, ",\"stack\":[");
	at = lode_stack_text_put(&writer->stacks, tree, event->stack, at);
	*at++ = ']';
	if (event->waker_stack) {
		at = LODE_PUT(at, ",\"waker_stack\":[");
		at = lode_stack_text_put(&writer->stacks, tree, event->waker_stack, at);
		*at++ = ']';
	}
	return LODE_PUT(at, "}\n");
}

static int write_event(struct writer *writer, enum lode_event_type type, const struct lode_event *event,
		       struct lode_error *error)
{
	struct lode_output *output = writer->export->output;
	size_t stacks = writer->stacks.lengths[event->stack] + writer->stacks.lengths[event->waker_stack];
	char *room;

	room = lode_buffer_room(&output->buffer, LINE_ROOM + stacks + writer->name_lengths[event->name] +
							 writer->name_lengths[event->object] +
							 writer->name_lengths[event->context]);
	if (!room)
		return lode_fail_memory(error);
	output->buffer.size = (size_t)(put_event(writer, type, event, room) - output->buffer.bytes);
	return lode_output_flow(output, error);
}

static int quote_block(void *context, enum lode_event_type type, const struct lode_events *events,
		       struct lode_error *error)
{
	uint32_t last = 0;
	int code = 0;

	(void)type;
	for (size_t i = 0; i < events->count && code == 0; i++) {
		if (events->name[i] != last)
			code = quote_name(context, events->name[i], error);
		last = events->name[i];
		if (code == 0 && lode_events_object(events, i))
			code = quote_name(context, events->object[i], error);
		if (code == 0 && lode_events_context(events, i))
			code = quote_name(context, events->context[i], error);
	}
	return code;
}

/* Names are quoted before events are written, so that a line is put together by copying. */
static int quote_names(struct writer *writer, struct lode_error *error)
{
	const struct lode_stream *stream = &writer->source->stream;
	size_t count = writer->export->dictionary.frames.strings.count;
	int code;

	writer->name_starts = lode_calloc(count, sizeof(*writer->name_starts));
	writer->name_lengths = lode_calloc(count, sizeof(*writer->name_lengths));
	if (!writer->name_starts || !writer->name_lengths)
		return lode_fail_memory(error);
	code = quote_name(writer, 0, error);
	for (size_t i = 0; i < stream->symptom_count && code == 0; i++)
		code = quote_name(writer, stream->symptoms[i].name, error);
	if (code == 0)
		code = lode_export_blocks(writer->export, writer->source, ~0u,
					  LODE_NAME | LODE_OBJECT | LODE_CONTEXT, quote_block, writer, error);
	return code;
}

static int write_events(struct writer *writer, struct lode_error *error)
{
	enum lode_event_type type;
	struct lode_event event;
	struct lode_merge merge;
	int code;

	code = lode_merge_init(&merge, writer->export, writer->source, error);
	while (code == 0 && (code = lode_merge_next(&merge, &type, &event, error)) > 0)
		code = write_event(writer, type, &event, error);
	lode_merge_release(&merge);
	return code;
}

/* ---- symptoms ---- */

static int write_symptom(struct writer *writer, const struct lode_symptom *symptom, struct lode_error *error)
{
	struct lode_output *output = writer->export->output;
	char *at = lode_buffer_room(&output->buffer, LINE_ROOM + writer->name_lengths[symptom->name]);

	if (!at)
		return lode_fail_memory(error);
	at = LODE_PUT(at, "{\"type\":\"symptom\"");
	at = put_thread(writer, symptom->thread, at);
	at = LODE_PUT(at, ",\"t0\":");
	at = lode_put_number(at, symptom->t0);
	at = LODE_PUT(at, ",\"t1\":");
	at = lode_put_number(at, symptom->t1);
	if (symptom->name) {
		at = LODE_PUT(at, ",\"name\":");
		at = lode_put_bytes(at, quoted_name(writer, symptom->name), writer->name_lengths[symptom->name]);
	}
	at = LODE_PUT(at, "}\n");
	output->buffer.size = (size_t)(at - output->buffer.bytes);
	return lode_output_flow(output, error);
}

static int write_symptoms(struct writer *writer, struct lode_error *error)
{
	const struct lode_stream *stream = &writer->source->stream;
	int code = 0;

	for (size_t i = 0; i < stream->symptom_count && code == 0; i++)
		code = write_symptom(writer, &stream->symptoms[i], error);
	return code;
}

/* ---- streams ---- */

static int write_stream(void *context, struct lode_export_stream *source, struct lode_error *error)
{
	struct writer own = { .export = context, .source = source }, *writer = &own;
	int code = write_head(writer, error);

	if (code == 0)
		code = lode_stack_text_init(&writer->stacks, &writer->export->dictionary, error);
	if (code == 0)
		code = quote_names(writer, error);
	if (code == 0)
		code = write_events(writer, error);
	if (code == 0)
		code = write_symptoms(writer, error);
	lode_stack_text_release(&writer->stacks);
	lode_buffer_release(&writer->names);
	lode_free(writer->name_starts);
	lode_free(writer->name_lengths);
	lode_free(writer->thread_marks);
	return code;
}

static int write_all(struct lode_export *export, struct lode_error *error)
{
	return lode_export_streams(export, write_stream, export, error);
}

const struct lode_exporter lode_exporter_events = {
	.name = "events",
	.description = "plain events, one JSON object per line; lode import reads it back without loss",
	.extension = ".jsonl",
	.forgets = 1,
	.passes = 3,
	.write = write_all,
};
