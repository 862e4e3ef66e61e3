/*
 * Plain events (.jsonl): the format anyone can write by hand. One JSON object a
 * line; lode-events(5) describes every field.
 *
 * Several threads read chunks of lines (line_chunks.h). They take the events that are
 * written as programs write them (events_part.h); all other lines are read here, one
 * by one, when their turn comes: headers, symptoms, anything unusual or wrong.
 *
 * These are read by yajl without building trees: its callbacks (events_line.h) put each
 * field where it belongs in the line, and the end of the object turns the line into an
 * event, a symptom, a thread's name, a module's description or a new stream.
 * Fields may come in any order, so nothing is decided before that end; only
 * frames are interned on the way.
 *
 * Threads: each distinct (pid or none, tid) is a separate thread, so that what is
 * exported again says what was written; analyses compare tids. A waker is always a
 * bare tid: the first thread that has it, wherever in the file it is; so is a holder.
 *
 * yajl does not survive a failing allocation, so it keeps the system's.
 */
#include "import/import_common.h"
#include "import/text/events_line.h"
#include "import/text/events_part.h"
#include "import/text/events_stream.h"
#include "import/text/line_chunks.h"
#include "trace/script_modules.h"

#include <string.h>

#define HAS(field) LODE_JSONL_BIT(LODE_JSONL_##field)

#define EVENT_MAY                                                                                                 \
	(HAS(PID) | HAS(CPU) | HAS(WEIGHT) | HAS(STACK) | HAS(NAME) | HAS(DELAY) | HAS(WAKER) |                   \
	 HAS(WAKER_STACK) | HAS(OBJECT) | HAS(HOLDER) | HAS(CONTEXT))

#define TOTALS (HAS(WAITS) | HAS(PREEMPTIONS) | HAS(WAITED) | HAS(RUN_TIME) | HAS(QUEUED))

/* What a line of each type must have and may have. */
static const struct line_type {
	const char *name;
	unsigned must;
	unsigned may;
} line_types[] = {
	{ "run", HAS(T) | HAS(COST) | HAS(TID), EVENT_MAY },
	{ "wait", HAS(T) | HAS(COST) | HAS(TID), EVENT_MAY },
	{ "call", HAS(T) | HAS(TID), EVENT_MAY },
	{ "symptom", HAS(TID) | HAS(T0) | HAS(T1), HAS(PID) | HAS(NAME) },
	{ "thread", HAS(TID), HAS(PID) | HAS(NAME) | TOTALS },
	{ "module", HAS(NAME), HAS(KIND) | HAS(LANGUAGE) | HAS(PATH) | HAS(BUILD_ID) },
	{ NULL, 0, 0 },
};

static const struct line_type stream_line = { "stream", HAS(STREAM), HAS(HOST) | HAS(ATTRS) };

/* The first types are those of events, in the order of enum lode_event_type. */
enum { SYMPTOM = LODE_EVENT_TYPES, THREAD, MODULE };

/* ---- from the line into the stream ---- */

static const char *text_of(const struct lode_events_reader *reader, enum lode_events_field field)
{
	return reader->line.bytes.bytes + reader->line.texts[field].at;
}

/* The string id of a text field; 0 when it was not there. */
static uint32_t string_of(struct lode_events_reader *reader, enum lode_events_field field)
{
	if (!(reader->line.seen & LODE_JSONL_BIT(field)))
		return 0;
	return lode_strings_add(&reader->dictionary.frames.strings, text_of(reader, field),
				reader->line.texts[field].length);
}

static uint32_t thread_of(struct lode_events_reader *reader)
{
	const struct lode_events_line *line = &reader->line;
	uint32_t pid = line->seen & HAS(PID) ? (uint32_t)line->numbers[LODE_JSONL_PID] : LODE_NO_PID;

	return lode_stream_thread(&reader->stream, pid, (uint32_t)line->numbers[LODE_JSONL_TID]);
}

/* A waker's or holder's tid as written; resolve_tids makes a thread of it. */
static uint32_t tid_of(const struct lode_events_reader *reader, enum lode_events_field field)
{
	return reader->line.seen & LODE_JSONL_BIT(field) ? (uint32_t)reader->line.numbers[field] : LODE_NONE;
}

/* The node of a stack field; longer ones than allowed lose frames at the root. */
static uint32_t stack_of(struct lode_events_reader *reader, enum lode_events_field field)
{
	const struct lode_events_frames *frames = &reader->line.frames[field == LODE_JSONL_WAKER_STACK];
	uint32_t node = 0;
	size_t i = 0;

	if (!(reader->line.seen & LODE_JSONL_BIT(field)))
		return 0;
	if (frames->count > LODE_STACK_DEPTH_LIMIT) {
		i = frames->count - LODE_STACK_DEPTH_LIMIT;
		lode_tally_add(&reader->cut_stacks, reader->input, NULL, 0);
	}
	for (; i < frames->count; i++)
		node = lode_stack_tree_child(&reader->dictionary.tree, node, frames->ids[i]);
	return node;
}

static int add_event(struct lode_events_reader *reader, enum lode_event_type type)
{
	const struct lode_events_line *line = &reader->line;
	struct lode_event event = {
		.t = line->numbers[LODE_JSONL_T],
		.cost = type != LODE_CALL ? line->numbers[LODE_JSONL_COST] : 0,
		.delay = line->seen & HAS(DELAY) ? line->numbers[LODE_JSONL_DELAY] : 0,
		.thread = thread_of(reader),
		.stack = stack_of(reader, LODE_JSONL_STACK),
		.waker = tid_of(reader, LODE_JSONL_WAKER),
		.waker_stack = stack_of(reader, LODE_JSONL_WAKER_STACK),
		.name = string_of(reader, LODE_JSONL_NAME),
		.object = string_of(reader, LODE_JSONL_OBJECT),
		.holder = tid_of(reader, LODE_JSONL_HOLDER),
		.context = string_of(reader, LODE_JSONL_CONTEXT),
		.cpu = line->seen & HAS(CPU) ? (uint16_t)line->numbers[LODE_JSONL_CPU] : LODE_NO_CPU,
		.weight = line->seen & HAS(WEIGHT) ? (uint32_t)line->numbers[LODE_JSONL_WEIGHT] : 1,
	};

	if (!event.weight)
		return lode_import_fail(reader->input, reader->error,
					"`weight` is 0; an event represents at least one, itself");
	if (event.thread == LODE_NONE || event.stack == LODE_NONE || event.waker_stack == LODE_NONE ||
	    event.name == LODE_NONE || event.object == LODE_NONE || event.context == LODE_NONE ||
	    lode_stream_add_event(&reader->stream, type, &event) < 0)
		return lode_fail_memory(reader->error);
	return 0;
}

static int add_symptom(struct lode_events_reader *reader)
{
	struct lode_symptom symptom = {
		.t0 = reader->line.numbers[LODE_JSONL_T0],
		.t1 = reader->line.numbers[LODE_JSONL_T1],
	};

	if (symptom.t0 > symptom.t1)
		return lode_import_fail(reader->input, reader->error,
					"the symptom ends (`t1`) before it begins (`t0`)");
	symptom.thread = thread_of(reader);
	symptom.name = string_of(reader, LODE_JSONL_NAME);
	if (symptom.thread == LODE_NONE || symptom.name == LODE_NONE ||
	    lode_stream_add_symptom(&reader->stream, &symptom) < 0)
		return lode_fail_memory(reader->error);
	return 0;
}

static int name_thread(struct lode_events_reader *reader)
{
	uint32_t thread = thread_of(reader);
	uint32_t name = string_of(reader, LODE_JSONL_NAME);

	if (thread == LODE_NONE || name == LODE_NONE)
		return lode_fail_memory(reader->error);
	if (reader->line.seen & HAS(NAME))
		reader->stream.threads[thread].name = name;
	for (unsigned i = LODE_JSONL_WAITS; i <= LODE_JSONL_QUEUED; i++)
		if (reader->line.seen & LODE_JSONL_BIT(i))
			(&reader->stream.threads[thread].totals.waits)[i - LODE_JSONL_WAITS] =
				reader->line.numbers[i];
	return 0;
}

static int find_kind(const char *name)
{
	int kind = 0;

	while (kind < LODE_KINDS && strcmp(lode_kind_name((enum lode_kind)kind), name) != 0)
		kind++;
	return kind;
}

static int describe_module(struct lode_events_reader *reader)
{
	const struct lode_events_line *line = &reader->line;
	struct lode_frames *frames = &reader->dictionary.frames;
	int kind = line->seen & HAS(KIND) ? find_kind(text_of(reader, LODE_JSONL_KIND)) : -1;
	enum lode_code_language language = line->seen & HAS(LANGUAGE)
						   ? lode_code_language_find(text_of(reader, LODE_JSONL_LANGUAGE))
						   : LODE_CODE_NATIVE;
	uint32_t module, path, build_id;

	if (language == LODE_CODE_LANGUAGES)
		return lode_import_fail(reader->input, reader->error,
					"`language` is %s; it must be native, python, javascript, java or php",
					text_of(reader, LODE_JSONL_LANGUAGE));
	if (kind == LODE_KINDS)
		return lode_import_fail(reader->input, reader->error,
					"`kind` is %s; it must be user, library, kernel or jit",
					text_of(reader, LODE_JSONL_KIND));
	module = lode_frames_module(frames, text_of(reader, LODE_JSONL_NAME), line->texts[LODE_JSONL_NAME].length);
	path = string_of(reader, LODE_JSONL_PATH);
	build_id = string_of(reader, LODE_JSONL_BUILD_ID);
	if (module == LODE_NONE || path == LODE_NONE || build_id == LODE_NONE)
		return lode_fail_memory(reader->error);
	if (kind >= 0)
		frames->modules[module].kind = (uint8_t)kind;
	if (line->seen & HAS(LANGUAGE))
		frames->modules[module].language = (uint8_t)language;
	if (line->seen & HAS(PATH))
		frames->modules[module].path = path;
	if (line->seen & HAS(BUILD_ID))
		frames->modules[module].build_id = build_id;
	return 0;
}

/* A `stream` line: ends the one before it, names the next. */
static int begin_stream(struct lode_events_reader *reader)
{
	struct lode_events_line *line = &reader->line;
	int code = lode_events_finish_stream(reader, 0);

	if (code < 0 || (code = lode_events_start_stream(reader)) < 0)
		return code;
	reader->announced = 1;
	reader->stream.name = string_of(reader, LODE_JSONL_STREAM);
	reader->stream.host = string_of(reader, LODE_JSONL_HOST);
	if (reader->stream.name == LODE_NONE || reader->stream.host == LODE_NONE)
		return lode_fail_memory(reader->error);
	for (size_t i = 0; line->seen & HAS(ATTRS) && i < line->attributes.count; i++) {
		const struct lode_events_attribute *attribute = &line->attributes.items[i];

		if (lode_stream_set_attribute(&reader->stream, line->bytes.bytes + attribute->key.at,
					      line->bytes.bytes + attribute->value.at, attribute->type) < 0)
			return lode_fail_memory(reader->error);
	}
	return 0;
}

static int check_fields(struct lode_events_reader *reader, const struct line_type *type)
{
	unsigned missing = type->must & ~reader->line.seen;
	unsigned misplaced = reader->line.seen & ~(type->must | type->may | HAS(TYPE));
	int first;

	if (missing)
		return lode_import_fail(reader->input, reader->error, "a `%s` line needs `%s`", type->name,
					lode_events_field_name((enum lode_events_field)(__builtin_ctz(missing))));
	for (; misplaced; misplaced &= misplaced - 1) {
		first = __builtin_ctz(misplaced);
		lode_tally_add(&reader->misplaced_fields, reader->input,
			       lode_events_field_name((enum lode_events_field)(first)),
			       strlen(lode_events_field_name((enum lode_events_field)(first))));
	}
	return 0;
}

static int use_typed_line(struct lode_events_reader *reader)
{
	const char *name = text_of(reader, LODE_JSONL_TYPE);
	size_t type = 0;
	int code;

	while (line_types[type].name && strcmp(line_types[type].name, name) != 0)
		type++;
	if (!line_types[type].name) {
		lode_tally_add(&reader->unknown_types, reader->input, name, strlen(name));
		return 0;
	}
	code = check_fields(reader, &line_types[type]);
	if (code < 0 || (!reader->open && (code = lode_events_start_stream(reader)) < 0))
		return code;
	switch (type) {
	case SYMPTOM:
		return add_symptom(reader);
	case THREAD:
		return name_thread(reader);
	case MODULE:
		return describe_module(reader);
	default:
		return add_event(reader, (enum lode_event_type)type);
	}
}

static int use_line(struct lode_events_reader *reader)
{
	int code;

	if (reader->objects == 0)
		return 0;
	if (reader->objects > 1)
		return lode_import_fail(reader->input, reader->error,
					"holds more than one object; write one per line");
	if (reader->depth)
		return lode_import_fail(reader->input, reader->error,
					"the object does not end on its line, as plain events do; if this is a "
					"file of another tool, name its format with --format");
	if (reader->line.seen & HAS(TYPE))
		return use_typed_line(reader);
	if (!(reader->line.seen & HAS(STREAM)))
		return lode_import_fail(reader->input, reader->error, "has neither `type` nor `stream`");
	code = check_fields(reader, &stream_line);
	return code < 0 ? code : begin_stream(reader);
}

/* ---- lines ---- */

static int fail_json(struct lode_events_reader *reader, yajl_handle json)
{
	unsigned char *what;
	char *newline;

	if (reader->code < 0)
		return reader->code;
	what = yajl_get_error(json, 0, NULL, 0);
	newline = what ? strchr((char *)what, '\n') : NULL;
	if (newline)
		*newline = '\0';
	lode_import_fail(reader->input, reader->error, "is not a JSON object (%s)",
			 what ? (char *)what : "not readable");
	if (what)
		yajl_free_error(json, what);
	return LODE_BAD_INPUT;
}

/*
 * Whether the line is the last one and ends in the midst of its object, as when
 * a copy or a writer was stopped.
 */
static int is_cut(const struct lode_events_reader *reader)
{
	return reader->depth && !lode_input_line_ended(reader->input);
}

static int read_line(struct lode_events_reader *reader, yajl_handle json, const char *text, size_t length)
{
	int was_open = reader->open;

	reader->line.seen = 0;
	reader->objects = 0;
	lode_buffer_clear(&reader->line.bytes);
	if (yajl_parse(json, (const unsigned char *)text, length) != yajl_status_ok)
		return fail_json(reader, json);
	/* A file of nothing else is no file of events. */
	if (was_open && is_cut(reader)) {
		lode_tally_add(&reader->cut_lines, reader->input, text, length);
		return 0;
	}
	if (yajl_parse(json, (const unsigned char *)"\n", 1) != yajl_status_ok)
		return fail_json(reader, json);
	return use_line(reader);
}

static int read_lines(struct lode_events_reader *reader)
{
	size_t length;
	const char *text;
	int got;

	while ((got = lode_input_line(reader->input, LODE_LINE_LIMIT, &text, &length, reader->error)) > 0) {
		int code;

		if (lode_input_line_number(reader->input) == 1 && length >= 3 &&
		    memcmp(text, "\xef\xbb\xbf", 3) == 0) {
			text += 3; /* the mark that some editors put in front */
			length -= 3;
		}
		code = read_line(reader, reader->json, text, length);
		if (code < 0)
			return code;
	}
	return got;
}

/* ---- parts ---- */

static void *make_part(void *context)
{
	(void)context;
	return lode_calloc(1, sizeof(struct lode_events_part));
}

static void free_part(void *part)
{
	if (part)
		lode_events_part_release(part);
	lode_free(part);
}

static void parse_part(void *context, void *part, const char *text, size_t size)
{
	(void)context;
	lode_events_part_read(part, text, size);
}

static void clear_part(void *part)
{
	lode_events_part_clear(part);
}

static int handle_events(struct lode_events_reader *reader, const struct lode_events_piece *piece)
{
	if (!lode_stream_event_count(&piece->stream))
		return 0;
	if (!reader->open && lode_events_start_stream(reader) < 0)
		return reader->code;
	return lode_events_piece_merge(&reader->stream, piece) < 0 ? lode_fail_memory(reader->error) : 0;
}

/* The lines behind the events, one by one. */
static int read_rest(struct lode_events_reader *reader, const struct lode_events_piece *piece)
{
	struct lode_input *input = reader->input;
	int code = lode_input_lines(&reader->input, lode_input_name(input), piece->rest, piece->rest_size,
				    reader->lines + piece->rest_line, reader->error);

	if (code == 0)
		code = read_lines(reader);
	lode_input_close(reader->input);
	reader->input = input;
	return code;
}

static int join_part(void *context, void *item, struct lode_error *error)
{
	struct lode_events_reader *reader = context;
	const struct lode_events_part *part = item;
	int code = part->code;

	reader->error = error;
	if (code < 0)
		return lode_fail_memory(error);
	for (size_t i = 0; i < part->count && code == 0; i++) {
		code = handle_events(reader, part->pieces[i]);
		if (code == 0 && part->pieces[i]->rest)
			code = read_rest(reader, part->pieces[i]);
	}
	reader->lines += part->lines;
	return code;
}

static void report_notes(const struct lode_events_reader *reader)
{
	const struct lode_import_options *options = reader->options;

	lode_tally_report(&reader->unknown_types, options, "lines of an unknown type");
	lode_tally_report(&reader->unknown_fields, options, "unknown fields");
	lode_tally_report(&reader->misplaced_fields, options, "fields that do not belong to their line's type");
	lode_tally_report(&reader->nested_attributes, options, "attributes that are arrays or objects");
	lode_tally_report(&reader->cut_stacks, options, LODE_CUT_AT_ROOT);
	lode_tally_report(&reader->cut_texts, options, "strings with a NUL character, cut there");
	lode_tally_report(&reader->cut_lines, options, LODE_LEFT_OUT_LINE);
}

static void release_reader(struct lode_events_reader *reader)
{
	lode_events_drop_stream(reader);
	lode_free(reader->line.frames[0].ids);
	lode_free(reader->line.frames[1].ids);
	lode_free(reader->line.attributes.items);
	lode_buffer_release(&reader->line.bytes);
}

static int read_events(struct lode_input *input, const struct lode_import_options *options,
		       const struct lode_import_sink *sink, struct lode_error *error)
{
	struct lode_events_reader reader = { .input = input, .options = options, .sink = sink, .error = error };
	struct lode_line_chunks chunks = { make_part, free_part, parse_part, join_part, clear_part, &reader };
	int code;

	reader.json = yajl_alloc(&lode_events_callbacks, NULL, &reader);
	if (!reader.json)
		return lode_fail_memory(error);
	yajl_config(reader.json, yajl_allow_multiple_values, 1);
	yajl_config(reader.json, yajl_dont_validate_strings, 1);
	code = lode_line_chunks_read(input, options, &chunks, error);
	reader.error = error;
	if (code == 0)
		code = lode_events_finish_stream(&reader, 1);
	report_notes(&reader);
	yajl_free(reader.json);
	release_reader(&reader);
	return code;
}

/* ---- the sniffer ---- */

/* Where the text that begins at `at` has its closing quote, or the end. */
static size_t end_of_string(const unsigned char *bytes, size_t size, size_t at)
{
	while (at < size && bytes[at] != '"')
		at += bytes[at] == '\\' ? 2 : 1;
	return at < size ? at : size;
}

static int is_telling_key(const unsigned char *bytes, size_t size, size_t start, size_t end)
{
	size_t length = end - start;

	if (!(length == 4 && memcmp(bytes + start, "type", 4) == 0) &&
	    !(length == 6 && memcmp(bytes + start, "stream", 6) == 0))
		return 0;
	for (end++; end < size && (bytes[end] == ' ' || bytes[end] == '\t');)
		end++;
	return end < size && bytes[end] == ':';
}

/* Looks for `type` or `stream` as a key of the first object itself, not of what is nested in it. */
static int sniff_events(const unsigned char *bytes, size_t size, const char *name)
{
	size_t at = size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	unsigned depth = 0;

	while (at < size && memchr(" \t\r\n", bytes[at], 4))
		at++;
	if (at == size || bytes[at] != '{')
		return 0;
	for (; at < size; at++) {
		if (bytes[at] == '{' || bytes[at] == '[')
			depth++;
		else if ((bytes[at] == '}' || bytes[at] == ']') && --depth == 0)
			break;
		else if (bytes[at] == '"') {
			size_t end = end_of_string(bytes, size, at + 1);

			if (depth == 1 && is_telling_key(bytes, size, at + 1, end))
				return 90;
			at = end;
		}
	}
	return strstr(name, ".jsonl") ? 50 : 10;
}

const struct lode_importer lode_importer_events = {
	.name = "events",
	.description = "plain events, one JSON object per line (.jsonl)",
	.sniff = sniff_events,
	.read = read_events,
};
