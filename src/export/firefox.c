/*
 * Exporter `firefox`: the "processed profile" JSON of the Firefox Profiler
 * (https://profiler.firefox.com), version 57 of that format; newer versions of
 * the site read it and bring it up to date themselves.
 *
 * Each thread with events becomes a thread with its runs as samples, weighted in
 * milliseconds, and its waits, calls and symptoms as markers with their stacks.
 * A thread that waits becomes a second thread too, "NAME, waiting", whose samples
 * are the waits: so the call tree and the flame graph work for both.
 *
 * Inferred calls become samples, too, one for each time in which the stack did not
 * change, so that the stack chart shows the calls as they were.
 *
 * The format is columns: a thread has its own tables of stacks, frames, functions
 * and resources, and each column of its samples is an array. So a thread's events
 * are read once per column, from a spool; what its tables hold is found by
 * renumbering the nodes, frames and modules that its events use. Strings and
 * libraries are shared and come last, when all are known.
 */
#include "export/call_steps.h"
#include "export/export.h"
#include "base/line_writer.h"
#include "export/renumber.h"
#include "export/spool.h"

#include "base/json.h"
#include "trace/script_modules.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PROCESSED_VERSION 57
#define GECKO_VERSION     31
#define RESOURCE_LIBRARY  "1" /* the format's number for "a library" */

/* The categories of frames: the kinds of modules, behind the one the format demands. */
enum category {
	CATEGORY_OTHER,
	CATEGORY_KINDS,
	CATEGORY_WAITING = CATEGORY_KINDS + LODE_KINDS,
};

static const struct {
	const char *name;
	const char *color;
} categories[] = {
	{ "Other", "grey" },    { "User", "yellow" }, { "Library", "blue" },
	{ "Kernel", "orange" }, { "JIT", "green" },   { "Waiting", "purple" },
};

enum marker_kind {
	MARKER_WAIT,
	MARKER_CALL,
	MARKER_SYMPTOM,
	MARKER_KINDS,
};

struct marker {
	enum marker_kind kind;
	uint64_t t;
	uint64_t duration; /* 0: an instant */
	uint64_t delay;
	uint32_t name;
	uint32_t stack;
	uint32_t waker;
};

struct writer {
	struct lode_export *export;
	struct lode_json json;
	struct lode_spool spool;
	struct lode_stream *stream;
	uint64_t start;                      /* time 0 of the profile */
	uint32_t marker_names[MARKER_KINDS]; /* strings */
	struct lode_renumber nodes;          /* of one thread */
	struct lode_renumber frames;
	struct lode_renumber modules;
	uint32_t *path; /* nodes from one up to a known one */
	size_t path_capacity;
	struct lode_buffer name;
	size_t next_symptom; /* first symptom of this or a later thread */
};

static const char *text_of(const struct writer *writer, uint32_t string)
{
	return lode_strings_get(&writer->export->dictionary.frames.strings, string);
}

/* Milliseconds, exactly. */
static void write_time(struct writer *writer, uint64_t nanoseconds)
{
	char text[LODE_PUT_NUMBER + 8];
	char *end = lode_put_decimal(text, nanoseconds, 6);

	lode_json_raw(&writer->json, text, (size_t)(end - text));
}

static uint64_t since_start(const struct writer *writer, uint64_t t)
{
	return t > writer->start ? t - writer->start : 0;
}

/* The number of a stack in the thread's table; null for the empty one. */
static void write_node(struct writer *writer, uint32_t node)
{
	if (node)
		lode_json_u64(&writer->json, writer->nodes.numbers[node]);
	else
		lode_json_null(&writer->json);
}

/* ---- which stacks a thread uses ---- */

/* Numbers a node and those above it, parents first. */
static int use_stack(struct writer *writer, uint32_t node, struct lode_error *error)
{
	const struct lode_stack_tree *tree = &writer->export->dictionary.tree;
	size_t depth = 0;

	for (; node && !lode_renumber_has(&writer->nodes, node); node = tree->nodes[node].parent) {
		if (LODE_APPEND(writer->path, depth, writer->path_capacity, node) < 0)
			return lode_fail_memory(error);
	}
	while (depth) {
		uint32_t frame = tree->nodes[writer->path[--depth]].frame;
		uint32_t module = writer->export->dictionary.frames.items[frame].module;

		lode_renumber_get(&writer->nodes, writer->path[depth]);
		lode_renumber_get(&writer->frames, frame);
		if (module)
			lode_renumber_get(&writer->modules, module);
	}
	return 0;
}

static int use_list(struct writer *writer, uint32_t thread, enum lode_event_type type, struct lode_error *error)
{
	struct lode_spool_cursor cursor;
	struct lode_spool_record record;
	int code = lode_spool_start(&writer->spool, thread, type, &cursor, error);

	while (code == 0 && lode_spool_next(&cursor, &record))
		code = use_stack(writer, record.stack, error);
	return code;
}

static int start_tables(struct writer *writer, struct lode_error *error)
{
	const struct lode_dictionary *dictionary = &writer->export->dictionary;
	int code = lode_renumber_start(&writer->nodes, dictionary->tree.count, error);

	if (code == 0)
		code = lode_renumber_start(&writer->frames, dictionary->frames.count, error);
	if (code == 0)
		code = lode_renumber_start(&writer->modules, dictionary->frames.module_count, error);
	return code;
}

/* ---- tables ---- */

struct column {
	const char *key;
	void (*cell)(struct writer *writer, uint32_t i); /* what row `i` of a table holds; NULL: all have the same */
	const char *constant;                            /* that */
};

static int write_column(struct writer *writer, const struct column *column, uint32_t length,
			struct lode_error *error)
{
	int code = 0;

	lode_json_key_array(&writer->json, column->key);
	for (uint32_t i = 0; i < length && code == 0; i++) {
		if (column->cell)
			column->cell(writer, i);
		else
			lode_json_raw(&writer->json, column->constant, strlen(column->constant));
		code = lode_output_flow(writer->export->output, error);
	}
	lode_json_array_end(&writer->json);
	return code;
}

static void cell_self(struct writer *writer, uint32_t i)
{
	lode_json_u64(&writer->json, i);
}

static void cell_stack_frame(struct writer *writer, uint32_t i)
{
	uint32_t frame = writer->export->dictionary.tree.nodes[writer->nodes.ids[i]].frame;

	lode_json_u64(&writer->json, writer->frames.numbers[frame]);
}

static void cell_stack_prefix(struct writer *writer, uint32_t i)
{
	write_node(writer, writer->export->dictionary.tree.nodes[writer->nodes.ids[i]].parent);
}

static const struct lode_frame *frame_of(const struct writer *writer, uint32_t i)
{
	return &writer->export->dictionary.frames.items[writer->frames.ids[i]];
}

static void cell_frame_category(struct writer *writer, uint32_t i)
{
	uint32_t module = frame_of(writer, i)->module;
	unsigned kind = writer->export->dictionary.frames.modules[module].kind;

	lode_json_u64(&writer->json, module && kind < LODE_KINDS ? CATEGORY_KINDS + kind : CATEGORY_OTHER);
}

static void cell_function_name(struct writer *writer, uint32_t i)
{
	lode_json_u64(&writer->json, frame_of(writer, i)->function);
}

/* The profiler can show these functions alone. */
static void cell_function_is_javascript(struct writer *writer, uint32_t i)
{
	const struct lode_module *modules = writer->export->dictionary.frames.modules;

	lode_json_bool(&writer->json, modules[frame_of(writer, i)->module].language == LODE_CODE_JAVASCRIPT);
}

static void cell_function_resource(struct writer *writer, uint32_t i)
{
	uint32_t module = frame_of(writer, i)->module;

	lode_json_i64(&writer->json, module ? (int64_t)writer->modules.numbers[module] : -1);
}

/* Module 0, the unknown one, is no library. */
static void cell_resource_library(struct writer *writer, uint32_t i)
{
	lode_json_u64(&writer->json, writer->modules.ids[i] - 1);
}

static void cell_resource_name(struct writer *writer, uint32_t i)
{
	lode_json_u64(&writer->json, writer->export->dictionary.frames.modules[writer->modules.ids[i]].name);
}

static int write_table(struct writer *writer, const char *key, uint32_t length, const struct column *columns,
		       struct lode_error *error)
{
	int code = 0;

	lode_json_key_object(&writer->json, key);
	lode_json_key_u64(&writer->json, "length", length);
	for (; columns->key && code == 0; columns++)
		code = write_column(writer, columns, length, error);
	lode_json_object_end(&writer->json);
	return code;
}

static int write_tables(struct writer *writer, struct lode_error *error)
{
	static const struct column stacks[] = {
		{ "frame", cell_stack_frame, NULL },
		{ "prefix", cell_stack_prefix, NULL },
		{ NULL, NULL, NULL },
	};
	static const struct column frames[] = {
		{ "address", NULL, "-1" },
		{ "inlineDepth", NULL, "0" },
		{ "category", cell_frame_category, NULL },
		{ "subcategory", NULL, "0" },
		{ "func", cell_self, NULL },
		{ "nativeSymbol", NULL, "null" },
		{ "innerWindowID", NULL, "0" },
		{ "line", NULL, "null" },
		{ "column", NULL, "null" },
		{ NULL, NULL, NULL },
	};
	static const struct column functions[] = {
		{ "name", cell_function_name, NULL }, { "isJS", cell_function_is_javascript, NULL },
		{ "relevantForJS", NULL, "false" },   { "resource", cell_function_resource, NULL },
		{ "fileName", NULL, "null" },         { "lineNumber", NULL, "null" },
		{ "columnNumber", NULL, "null" },     { NULL, NULL, NULL },
	};
	static const struct column resources[] = {
		{ "lib", cell_resource_library, NULL },
		{ "name", cell_resource_name, NULL },
		{ "host", NULL, "null" },
		{ "type", NULL, RESOURCE_LIBRARY },
		{ NULL, NULL, NULL },
	};
	static const struct column symbols[] = {
		/* there are none */
		{ "libIndex", NULL, "0" },        { "address", NULL, "0" }, { "name", NULL, "0" },
		{ "functionSize", NULL, "null" }, { NULL, NULL, NULL },
	};
	int code = write_table(writer, "stackTable", writer->nodes.count, stacks, error);

	if (code == 0)
		code = write_table(writer, "frameTable", writer->frames.count, frames, error);
	if (code == 0)
		code = write_table(writer, "funcTable", writer->frames.count, functions, error);
	if (code == 0)
		code = write_table(writer, "resourceTable", writer->modules.count, resources, error);
	if (code == 0)
		code = write_table(writer, "nativeSymbols", 0, symbols, error);
	return code;
}

/* ---- samples ---- */

static void sample_stack(struct writer *writer, const struct lode_spool_record *record)
{
	write_node(writer, record->stack);
}

static void sample_time(struct writer *writer, const struct lode_spool_record *record)
{
	write_time(writer, since_start(writer, record->t));
}

static void sample_weight(struct writer *writer, const struct lode_spool_record *record)
{
	write_time(writer, lode_spool_cost(record));
}

static int write_sample_column(struct writer *writer, const char *key, uint32_t thread, enum lode_event_type type,
			       void (*cell)(struct writer *, const struct lode_spool_record *),
			       struct lode_error *error)
{
	struct lode_spool_cursor cursor;
	struct lode_spool_record record;
	int code = lode_spool_start(&writer->spool, thread, type, &cursor, error);

	lode_json_key_array(&writer->json, key);
	while (code == 0 && lode_spool_next(&cursor, &record)) {
		cell(writer, &record);
		code = lode_output_flow(writer->export->output, error);
	}
	lode_json_array_end(&writer->json);
	return code;
}

static int write_samples(struct writer *writer, uint32_t thread, enum lode_event_type type,
			 struct lode_error *error)
{
	struct lode_json *json = &writer->json;
	int code;

	lode_json_key_object(json, "samples");
	lode_json_key_u64(json, "length", lode_spool_list(&writer->spool, thread, type)->count);
	lode_json_key_text(json, "weightType", "tracing-ms");
	code = write_sample_column(writer, "stack", thread, type, sample_stack, error);
	if (code == 0)
		code = write_sample_column(writer, "time", thread, type, sample_time, error);
	if (code == 0)
		code = write_sample_column(writer, "weight", thread, type, sample_weight, error);
	lode_json_object_end(json);
	return code;
}

/* ---- markers ---- */

static void marker_name(struct writer *writer, const struct marker *marker)
{
	lode_json_u64(&writer->json, marker->name ? marker->name : writer->marker_names[marker->kind]);
}

static void marker_start(struct writer *writer, const struct marker *marker)
{
	write_time(writer, since_start(writer, marker->t));
}

static void marker_end(struct writer *writer, const struct marker *marker)
{
	if (marker->duration)
		write_time(writer, since_start(writer, lode_add_saturating(marker->t, marker->duration)));
	else
		lode_json_null(&writer->json);
}

/* The format's 0 is an instant, 1 an interval. */
static void marker_phase(struct writer *writer, const struct marker *marker)
{
	lode_json_u64(&writer->json, marker->duration != 0);
}

static void marker_category(struct writer *writer, const struct marker *marker)
{
	lode_json_u64(&writer->json, marker->kind == MARKER_WAIT ? CATEGORY_WAITING : CATEGORY_OTHER);
}

static void marker_data(struct writer *writer, const struct marker *marker)
{
	static const char *const types[] = { "Wait", "Call", "Symptom" };
	struct lode_json *json = &writer->json;

	lode_json_object(json);
	lode_json_key_text(json, "type", types[marker->kind]);
	if (marker->stack) {
		lode_json_key_object(json, "cause");
		lode_json_key(json, "time");
		write_time(writer, since_start(writer, marker->t));
		lode_json_key_u64(json, "stack", writer->nodes.numbers[marker->stack]);
		lode_json_object_end(json);
	}
	if (marker->waker != LODE_NONE) {
		lode_buffer_clear(&writer->name);
		lode_export_thread_name(writer->export, writer->stream, marker->waker, &writer->name);
		lode_json_key(json, "waker");
		lode_json_text_n(json, writer->name.bytes ? writer->name.bytes : "", writer->name.size);
		json->buffer->failed |= writer->name.failed;
	}
	if (marker->delay) {
		lode_json_key(json, "delay");
		write_time(writer, marker->delay);
	}
	lode_json_object_end(json);
}

static struct marker symptom_marker(const struct lode_symptom *symptom)
{
	return (struct marker){
		.kind = MARKER_SYMPTOM,
		.t = symptom->t0,
		.duration = symptom->t1 > symptom->t0 ? symptom->t1 - symptom->t0 : 0,
		.name = symptom->name,
		.waker = LODE_NONE,
	};
}

static struct marker event_marker(enum lode_event_type type, const struct lode_spool_record *record)
{
	return (struct marker){
		.kind = type == LODE_WAIT ? MARKER_WAIT : MARKER_CALL,
		.t = record->t,
		.duration = type == LODE_WAIT ? record->cost : record->delay,
		.delay = record->delay,
		.name = record->name,
		.stack = record->stack,
		.waker = record->waker,
	};
}

static int write_marker_column(struct writer *writer, const char *key, uint32_t thread,
			       void (*cell)(struct writer *, const struct marker *), struct lode_error *error)
{
	const struct lode_stream *stream = writer->stream;
	struct lode_spool_cursor cursor;
	struct lode_spool_record record;
	struct marker marker;
	int code = 0;

	lode_json_key_array(&writer->json, key);
	for (int type = LODE_WAIT; type <= LODE_CALL && code == 0; type++) {
		code = lode_spool_start(&writer->spool, thread, (enum lode_event_type)type, &cursor, error);
		while (code == 0 && lode_spool_next(&cursor, &record)) {
			marker = event_marker((enum lode_event_type)type, &record);
			cell(writer, &marker);
			code = lode_output_flow(writer->export->output, error);
		}
	}
	for (size_t i = writer->next_symptom; i < stream->symptom_count && code == 0; i++) {
		if (stream->symptoms[i].thread != thread)
			break;
		marker = symptom_marker(&stream->symptoms[i]);
		cell(writer, &marker);
		code = lode_output_flow(writer->export->output, error);
	}
	lode_json_array_end(&writer->json);
	return code;
}

static uint64_t count_markers(const struct writer *writer, uint32_t thread)
{
	const struct lode_stream *stream = writer->stream;
	uint64_t count = lode_spool_list(&writer->spool, thread, LODE_WAIT)->count +
			 lode_spool_list(&writer->spool, thread, LODE_CALL)->count;

	for (size_t i = writer->next_symptom; i < stream->symptom_count; i++) {
		if (stream->symptoms[i].thread != thread)
			break;
		count++;
	}
	return count;
}

/* `with` is 0 for the thread of waits, whose markers are with its other half. */
static int write_markers(struct writer *writer, uint32_t thread, int with, struct lode_error *error)
{
	static const struct {
		const char *key;
		void (*cell)(struct writer *, const struct marker *);
	} columns[] = {
		{ "data", marker_data },   { "name", marker_name },   { "startTime", marker_start },
		{ "endTime", marker_end }, { "phase", marker_phase }, { "category", marker_category },
	};
	int code = 0;

	lode_json_key_object(&writer->json, "markers");
	lode_json_key_u64(&writer->json, "length", with ? count_markers(writer, thread) : 0);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]) && code == 0; i++) {
		if (with) {
			code = write_marker_column(writer, columns[i].key, thread, columns[i].cell, error);
			continue;
		}
		lode_json_key_array(&writer->json, columns[i].key);
		lode_json_array_end(&writer->json);
	}
	lode_json_object_end(&writer->json);
	return code;
}

/* ---- threads ---- */

static int write_thread_names(struct writer *writer, uint32_t thread, enum lode_event_type type,
			      struct lode_error *error)
{
	const struct lode_thread *item = &writer->stream->threads[thread];
	struct lode_json *json = &writer->json;
	struct lode_buffer *name = &writer->name;

	lode_buffer_clear(name);
	lode_export_thread_name(writer->export, writer->stream, thread, name);
	if (type == LODE_WAIT)
		lode_buffer_text(name, ", waiting");
	if (name->failed)
		return lode_fail_memory(error);
	lode_json_key(json, "name");
	lode_json_text_n(json, name->bytes, name->size);
	lode_json_key_bool(json, "isMainThread", item->pid == item->tid && type == LODE_RUN);
	/* Processes are distinguished by this text alone, so it names the stream when there are several. */
	lode_buffer_clear(name);
	if (writer->export->count > 1)
		lode_buffer_print(name, "%s: ", text_of(writer, writer->stream->name));
	if (item->pid == LODE_NO_PID)
		lode_buffer_text(name, "unknown");
	else
		lode_buffer_print(name, "%" PRIu32, item->pid);
	if (name->failed)
		return lode_fail_memory(error);
	lode_json_key(json, "pid");
	lode_json_text_n(json, name->bytes, name->size);
	lode_json_key(json, "tid");
	lode_buffer_clear(name);
	lode_buffer_print(name, type == LODE_WAIT ? "\"%" PRIu32 ", waiting\"" : "%" PRIu32, item->tid);
	lode_json_raw(json, name->bytes, name->size);
	return name->failed ? lode_fail_memory(error) : 0;
}

static int write_thread(struct writer *writer, uint32_t thread, enum lode_event_type type, struct lode_error *error)
{
	struct lode_json *json = &writer->json;
	int code;

	lode_json_object(json);
	lode_json_key_text(json, "processType", "default");
	lode_json_key_u64(json, "processStartupTime", 0);
	lode_json_key(json, "processShutdownTime");
	lode_json_null(json);
	lode_json_key_u64(json, "registerTime", 0);
	lode_json_key(json, "unregisterTime");
	lode_json_null(json);
	lode_json_key_array(json, "pausedRanges");
	lode_json_array_end(json);
	lode_json_key_bool(json, "showMarkersInTimeline", type == LODE_RUN);
	code = write_thread_names(writer, thread, type, error);
	if (code == 0)
		code = start_tables(writer, error);
	if (code == 0)
		code = use_list(writer, thread, type, error);
	if (code == 0 && type == LODE_RUN)
		code = use_list(writer, thread, LODE_WAIT, error);
	if (code == 0 && type == LODE_RUN)
		code = use_list(writer, thread, LODE_CALL, error);
	if (code == 0)
		code = write_tables(writer, error);
	if (code == 0)
		code = write_samples(writer, thread, type, error);
	if (code == 0)
		code = write_markers(writer, thread, type == LODE_RUN, error);
	lode_json_object_end(json);
	return code;
}

static int write_both_threads(struct writer *writer, uint32_t thread, struct lode_error *error)
{
	const struct lode_stream *stream = writer->stream;
	int code = 0;

	if (lode_spool_list(&writer->spool, thread, LODE_RUN)->count || count_markers(writer, thread))
		code = write_thread(writer, thread, LODE_RUN, error);
	if (code == 0 && lode_spool_list(&writer->spool, thread, LODE_WAIT)->count)
		code = write_thread(writer, thread, LODE_WAIT, error);
	while (writer->next_symptom < stream->symptom_count &&
	       stream->symptoms[writer->next_symptom].thread == thread)
		writer->next_symptom++;
	return code;
}

static int compare_symptoms(const void *left, const void *right)
{
	const struct lode_symptom *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->t0 > b->t0) - (a->t0 < b->t0);
}

static int fill_spool(struct writer *writer, struct lode_export_stream *source, struct lode_error *error)
{
	if (writer->export->options->inferred)
		return lode_call_steps_samples(&writer->spool, writer->export, source, error);
	return lode_spool_fill(&writer->spool, writer->export, source, ~0u,
			       LODE_T | LODE_DELAY | LODE_WAKER | LODE_NAME, error);
}

static int write_stream(void *context, struct lode_export_stream *source, struct lode_error *error)
{
	struct writer *writer = context;
	struct lode_stream *stream = &source->stream;
	int code = fill_spool(writer, source, error);

	if (code < 0)
		return code;
	writer->stream = stream;
	writer->next_symptom = 0;
	if (stream->symptom_count)
		qsort(stream->symptoms, stream->symptom_count, sizeof(*stream->symptoms), compare_symptoms);
	for (uint32_t i = 0; i < stream->thread_count && code == 0; i++)
		code = write_both_threads(writer, i, error);
	lode_spool_release(&writer->spool);
	return code;
}

/* ---- the profile ---- */

static void write_categories(struct lode_json *json)
{
	lode_json_key_array(json, "categories");
	for (size_t i = 0; i < sizeof(categories) / sizeof(categories[0]); i++) {
		lode_json_object(json);
		lode_json_key_text(json, "name", categories[i].name);
		lode_json_key_text(json, "color", categories[i].color);
		lode_json_key_array(json, "subcategories");
		lode_json_text(json, "Other");
		lode_json_array_end(json);
		lode_json_object_end(json);
	}
	lode_json_array_end(json);
}

static void write_field(struct lode_json *json, const char *key, const char *label, const char *format)
{
	lode_json_object(json);
	lode_json_key_text(json, "key", key);
	lode_json_key_text(json, "label", label);
	lode_json_key_text(json, "format", format);
	lode_json_object_end(json);
}

static void write_schema(struct lode_json *json, const char *name, const char *description, int with_waker)
{
	static const char *const places[] = { "marker-chart", "marker-table", "timeline-overview" };

	lode_json_object(json);
	lode_json_key_text(json, "name", name);
	lode_json_key_text(json, "description", description);
	lode_json_key_array(json, "display");
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		lode_json_text(json, places[i]);
	lode_json_array_end(json);
	lode_json_key_array(json, "fields");
	if (with_waker)
		write_field(json, "waker", "Woken by", "string");
	write_field(json, "delay", "On the run queue", "duration");
	lode_json_array_end(json);
	lode_json_object_end(json);
}

static void write_meta(struct writer *writer)
{
	struct lode_json *json = &writer->json;

	lode_json_key_object(json, "meta");
	lode_json_key_u64(json, "interval", 1);
	lode_json_key_u64(json, "startTime", 0);
	lode_json_key_u64(json, "processType", 0);
	lode_json_key_text(json, "product", writer->export->corpus);
	lode_json_key_text(json, "importedFrom", "lode");
	lode_json_key_u64(json, "stackwalk", 1);
	lode_json_key_u64(json, "version", GECKO_VERSION);
	lode_json_key_u64(json, "preprocessedProfileVersion", PROCESSED_VERSION);
	lode_json_key_bool(json, "symbolicated", 1);
	lode_json_key_bool(json, "usesOnlyOneStackType", 1);
	lode_json_key_bool(json, "sourceCodeIsNotOnSearchfox", 1);
	write_categories(json);
	lode_json_key_array(json, "markerSchema");
	write_schema(json, "Wait", "The thread was blocked.", 1);
	write_schema(json, "Call", "A system event.", 0);
	write_schema(json, "Symptom", "The thread was too slow.", 0);
	lode_json_array_end(json);
	lode_json_object_end(json);
}

static int write_libraries(struct writer *writer, struct lode_error *error)
{
	const struct lode_frames *frames = &writer->export->dictionary.frames;
	struct lode_json *json = &writer->json;
	int code = 0;

	lode_json_key_array(json, "libs");
	for (size_t i = 1; i < frames->module_count && code == 0; i++) {
		const struct lode_module *module = &frames->modules[i];
		const char *name = text_of(writer, module->name);
		const char *path = module->path ? text_of(writer, module->path) : name;

		lode_json_object(json);
		lode_json_key_text(json, "arch", "");
		lode_json_key_text(json, "name", name);
		lode_json_key_text(json, "path", path);
		lode_json_key_text(json, "debugName", name);
		lode_json_key_text(json, "debugPath", path);
		lode_json_key_text(json, "breakpadId", "");
		lode_json_key(json, "codeId");
		if (module->build_id)
			lode_json_text(json, text_of(writer, module->build_id));
		else
			lode_json_null(json);
		lode_json_object_end(json);
		code = lode_output_flow(writer->export->output, error);
	}
	lode_json_array_end(json);
	return code;
}

static void cell_string(struct writer *writer, uint32_t i)
{
	lode_json_text(&writer->json, text_of(writer, i));
}

static int write_profile(struct writer *writer, struct lode_error *error)
{
	static const struct column strings = { "stringArray", cell_string, NULL };
	struct lode_json *json = &writer->json;
	int code;

	lode_json_object(json);
	write_meta(writer);
	lode_json_key_array(json, "threads");
	code = lode_export_streams(writer->export, write_stream, writer, error);
	lode_json_array_end(json);
	if (code == 0)
		code = write_libraries(writer, error);
	lode_json_key_object(json, "shared");
	if (code == 0)
		code = write_column(writer, &strings, (uint32_t)writer->export->dictionary.frames.strings.count,
				    error);
	lode_json_object_end(json);
	lode_json_object_end(json);
	lode_json_line(json);
	return code;
}

static int init(struct writer *writer, struct lode_error *error)
{
	static const char *const names[MARKER_KINDS] = { "wait", "call", "symptom" };

	writer->json = (struct lode_json){ .buffer = &writer->export->output->buffer };
	writer->start = lode_export_start(writer->export);
	if (lode_export_add_strings(writer->export, names, MARKER_KINDS, writer->marker_names) < 0)
		return lode_fail_memory(error);
	return 0;
}

static int write_all(struct lode_export *export, struct lode_error *error)
{
	struct writer writer = { .export = export };
	int code = init(&writer, error);

	if (code == 0)
		code = write_profile(&writer, error);
	lode_renumber_release(&writer.nodes);
	lode_renumber_release(&writer.frames);
	lode_renumber_release(&writer.modules);
	lode_buffer_release(&writer.name);
	lode_free(writer.path);
	return code;
}

const struct lode_exporter lode_exporter_firefox = {
	.name = "firefox",
	.description = "profiler.firefox.com: runs as samples; waits, calls and symptoms as markers",
	.extension = ".profile.json",
	.has_timeline = 1,
	.passes = 1,
	.write = write_all,
};
