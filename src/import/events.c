/*
 * Plain events (.jsonl): the format anyone can write by hand. One JSON object a
 * line; lode-events(5) tells every field.
 *
 * Several threads read chunks of lines (line_chunks.h). They take the events that are
 * written as programs write them (events_part.h); all other lines are read here, one
 * by one, when their turn comes: headers, symptoms, anything unusual or wrong.
 *
 * These are read by yajl without building trees: its callbacks put each field where it
 * belongs in `struct line`, and the end of the object turns the line into an
 * event, a symptom, a thread's name, a module's description or a new stream.
 * Fields may come in any order, so nothing is decided before that end; only
 * frames are interned on the way.
 *
 * Threads: each distinct (pid or none, tid) is a thread of its own, so that what is
 * exported again says what was written; analyses compare tids. A waker is always a
 * bare tid: the first thread that has it, wherever in the file it stands.
 *
 * yajl does not survive a failing allocation, so it keeps the system's.
 */
#include "base/buffer.h"
#include "import/events_part.h"
#include "import/exact_number.h"
#include "import/frame_memo.h"
#include "import/line_chunks.h"
#include "import/reading.h"

#include <stdio.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#define NESTING_LIMIT 64

enum field {
	TYPE,
	T,
	COST,
	DELAY,
	PID,
	TID,
	CPU,
	WEIGHT,
	WAKER,
	STACK,
	WAKER_STACK,
	NAME,
	T0,
	T1,
	STREAM,
	HOST,
	ATTRS,
	KIND,
	PATH,
	BUILD_ID,
	WAITS, PREEMPTIONS, WAITED, RUN_TIME, QUEUED, /* TOTALS, in the order of struct lode_thread_totals */
	FIELDS,
	UNKNOWN = FIELDS,
};

enum shape {
	TEXT,
	NUMBER,
	FRAMES,
	OBJECT,
};

static const struct {
	const char *name;
	enum shape shape;
	uint64_t most; /* numbers: the largest allowed */
} fields[FIELDS] = {
	[TYPE] = { "type", TEXT, 0 },
	[T] = { "t", NUMBER, UINT64_MAX },
	[COST] = { "cost", NUMBER, UINT64_MAX },
	[DELAY] = { "delay", NUMBER, UINT64_MAX },
	[PID] = { "pid", NUMBER, LODE_NO_PID - 1 },
	[TID] = { "tid", NUMBER, UINT32_MAX - 1 },
	[CPU] = { "cpu", NUMBER, LODE_NO_CPU - 1 },
	[WEIGHT] = { "weight", NUMBER, UINT32_MAX },
	[WAKER] = { "waker", NUMBER, UINT32_MAX - 1 },
	[STACK] = { "stack", FRAMES, 0 },
	[WAKER_STACK] = { "waker_stack", FRAMES, 0 },
	[NAME] = { "name", TEXT, 0 },
	[T0] = { "t0", NUMBER, UINT64_MAX },
	[T1] = { "t1", NUMBER, UINT64_MAX },
	[STREAM] = { "stream", TEXT, 0 },
	[HOST] = { "host", TEXT, 0 },
	[ATTRS] = { "attrs", OBJECT, 0 },
	[KIND] = { "kind", TEXT, 0 },
	[PATH] = { "path", TEXT, 0 },
	[BUILD_ID] = { "build_id", TEXT, 0 },
	[WAITS] = { "waits", NUMBER, UINT64_MAX },
	[PREEMPTIONS] = { "preemptions", NUMBER, UINT64_MAX },
	[WAITED] = { "waited", NUMBER, UINT64_MAX },
	[RUN_TIME] = { "run", NUMBER, UINT64_MAX },
	[QUEUED] = { "queued", NUMBER, UINT64_MAX },
};

#define BIT(field) (1u << (field))

#define EVENT_MAY                                                                                            \
	(BIT(PID) | BIT(CPU) | BIT(WEIGHT) | BIT(STACK) | BIT(NAME) | BIT(DELAY) | BIT(WAKER) | BIT(WAKER_STACK))

#define TOTALS (BIT(WAITS) | BIT(PREEMPTIONS) | BIT(WAITED) | BIT(RUN_TIME) | BIT(QUEUED))

/* What a line of each type must have and may have. */
static const struct line_type {
	const char *name;
	unsigned must;
	unsigned may;
} line_types[] = {
	{ "run", BIT(T) | BIT(COST) | BIT(TID), EVENT_MAY },
	{ "wait", BIT(T) | BIT(COST) | BIT(TID), EVENT_MAY },
	{ "call", BIT(T) | BIT(TID), EVENT_MAY },
	{ "symptom", BIT(TID) | BIT(T0) | BIT(T1), BIT(PID) | BIT(NAME) },
	{ "thread", BIT(TID), BIT(PID) | BIT(NAME) | TOTALS },
	{ "module", BIT(NAME), BIT(KIND) | BIT(PATH) | BIT(BUILD_ID) },
	{ NULL, 0, 0 },
};

static const struct line_type stream_line = { "stream", BIT(STREAM), BIT(HOST) | BIT(ATTRS) };

/* The first types are those of events, in the order of enum lode_event_type. */
enum { SYMPTOM = LODE_EVENT_TYPES, THREAD, MODULE };

/* A text of the line, in the line's buffer, with a NUL behind it. */
struct text {
	size_t at;
	size_t length;
};

struct frames {
	uint32_t *ids; /* root first */
	size_t count;
	size_t capacity;
};

struct attribute {
	struct text key;
	struct text value;
	enum lode_attribute_type type;
};

/* All that the line read last said. */
struct line {
	unsigned seen; /* bit f: field f was there */
	uint64_t numbers[FIELDS];
	struct text texts[FIELDS];
	struct frames frames[2]; /* stack, waker stack */
	struct attribute *attributes;
	size_t attribute_count;
	size_t attribute_capacity;
	struct lode_buffer bytes;
};

struct reader {
	struct lode_input *input;
	const struct lode_import_options *options;
	const struct lode_import_sink *sink;
	struct lode_error *error;
	yajl_handle json;
	uint64_t lines; /* in front of the chunk whose turn it is */
	int code;

	/* Where in the JSON we are. */
	unsigned depth; /* 0: outside; 1: in the line's object; 2: in a stack or in attrs */
	unsigned skipping; /* nesting inside a value that nobody wants */
	enum field field;
	struct text attribute_key;
	unsigned objects; /* in this line */
	struct line line;

	/* The stream under way. */
	int open;
	int announced; /* by a line of its own */
	unsigned ordinal;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_frame_memo memo;

	struct lode_tally unknown_types;
	struct lode_tally unknown_fields;
	struct lode_tally misplaced_fields;
	struct lode_tally nested_attributes;
	struct lode_tally cut_stacks;
	struct lode_tally cut_texts;
	struct lode_tally cut_lines;
};

/* ---- from callbacks into the line ---- */

/* All callbacks end with one of these: what yajl wants to hear. */
static int go_on(void)
{
	return 1;
}

static int stop_memory(struct reader *reader)
{
	reader->code = lode_fail_memory(reader->error);
	return 0;
}

static int stop_wrong_value(struct reader *reader)
{
	static const char *const wanted[] = { "a text", "a number", "an array of texts", "an object" };

	if (reader->depth == 0)
		reader->code = lode_reading_fail(
			reader->input, reader->error,
			"is no JSON object; each line must be one, as in {\"type\":\"run\",…}");
	else if (reader->depth == 2)
		reader->code = lode_reading_fail(reader->input, reader->error, "`%s` must hold only texts",
						 fields[reader->field].name);
	else
		reader->code =
			lode_reading_fail(reader->input, reader->error, "`%s` must be %s",
					  fields[reader->field].name, wanted[fields[reader->field].shape]);
	return 0;
}

/* Whether the value that comes now is to be passed over. */
static int is_unwanted(const struct reader *reader)
{
	return reader->skipping || (reader->depth == 1 && reader->field == UNKNOWN);
}

static int keep_text(struct line *line, const void *text, size_t length, struct text *kept)
{
	*kept = (struct text){ line->bytes.size, length };
	lode_buffer_add(&line->bytes, text, length);
	lode_buffer_byte(&line->bytes, '\0');
	return line->bytes.failed ? -1 : 0;
}

static int keep_attribute(struct reader *reader, const void *value, size_t length,
			  enum lode_attribute_type type)
{
	struct line *line = &reader->line;
	struct attribute attribute = { .key = reader->attribute_key, .type = type };

	if (keep_text(line, value, length, &attribute.value) < 0 ||
	    lode_grow(&line->attributes, &line->attribute_capacity, line->attribute_count + 1,
		      sizeof(attribute)) < 0)
		return stop_memory(reader);
	line->attributes[line->attribute_count++] = attribute;
	return go_on();
}

static int start_stream(struct reader *reader);

static int keep_frame(struct reader *reader, const char *text, size_t length)
{
	struct frames *frames = &reader->line.frames[reader->field == WAKER_STACK];
	uint64_t hash = lode_hash_bytes(text, length);
	uint32_t frame;

	if (!reader->open && start_stream(reader) < 0)
		return 0;
	frame = lode_frame_memo_find(&reader->memo, text, length, hash);
	if (frame == LODE_NONE) {
		frame = lode_frames_parse(&reader->dictionary.frames, text, length);
		if (frame == LODE_NONE || lode_frame_memo_add(&reader->memo, text, length, hash, frame) < 0)
			return stop_memory(reader);
	}
	if (lode_grow(&frames->ids, &frames->capacity, frames->count + 1, sizeof(*frames->ids)) < 0)
		return stop_memory(reader);
	frames->ids[frames->count++] = frame;
	return go_on();
}

/* A text ends at a NUL, because strings of Lode do. */
static size_t length_to_nul(struct reader *reader, const unsigned char *text, size_t length)
{
	const unsigned char *nul = memchr(text, '\0', length);

	if (!nul)
		return length;
	lode_tally_add(&reader->cut_texts, reader->input, NULL, 0);
	return (size_t)(nul - text);
}

static int on_string(void *context, const unsigned char *text, size_t length)
{
	struct reader *reader = context;
	struct line *line = &reader->line;

	if (is_unwanted(reader))
		return go_on();
	length = length_to_nul(reader, text, length);
	if (reader->depth == 2 && reader->field == ATTRS)
		return keep_attribute(reader, text, length, LODE_ATTRIBUTE_TEXT);
	if (reader->depth == 2)
		return keep_frame(reader, (const char *)text, length);
	if (reader->depth == 0 || fields[reader->field].shape != TEXT)
		return stop_wrong_value(reader);
	if (keep_text(line, text, length, &line->texts[reader->field]) < 0)
		return stop_memory(reader);
	line->seen |= BIT(reader->field);
	return go_on();
}

static int keep_number(struct reader *reader, const char *text, size_t length)
{
	static const char *const faults[] = { "", "is negative", "is too large", "is not a whole number" };
	uint64_t number;
	enum lode_number_fault fault = lode_exact_number(text, length, &number);

	if (fault == LODE_NUMBER_FINE && number > fields[reader->field].most)
		fault = LODE_NUMBER_TOO_LARGE;
	if (fault != LODE_NUMBER_FINE) {
		reader->code = lode_reading_fail(
			reader->input, reader->error, "`%s` %s: %.*s; it must be from 0 to %llu",
			fields[reader->field].name, faults[fault], (int)(length < 60 ? length : 60), text,
			(unsigned long long)fields[reader->field].most);
		return 0;
	}
	reader->line.numbers[reader->field] = number;
	reader->line.seen |= BIT(reader->field);
	return go_on();
}

static int on_number(void *context, const char *text, size_t length)
{
	struct reader *reader = context;

	if (is_unwanted(reader))
		return go_on();
	if (reader->depth == 2 && reader->field == ATTRS)
		return keep_attribute(reader, text, length, LODE_ATTRIBUTE_NUMBER);
	if (reader->depth != 1 || fields[reader->field].shape != NUMBER)
		return stop_wrong_value(reader);
	return keep_number(reader, text, length);
}

static int on_boolean(void *context, int yes)
{
	struct reader *reader = context;

	if (is_unwanted(reader))
		return go_on();
	if (reader->depth == 2 && reader->field == ATTRS)
		return keep_attribute(reader, yes ? "true" : "false", yes ? 4 : 5, LODE_ATTRIBUTE_BOOL);
	return stop_wrong_value(reader);
}

/* null is the same as leaving the field out. */
static int on_null(void *context)
{
	struct reader *reader = context;

	if (is_unwanted(reader) || (reader->depth == 2 && reader->field == ATTRS))
		return go_on();
	if (reader->depth != 1)
		return stop_wrong_value(reader);
	reader->line.seen &= ~BIT(reader->field);
	return go_on();
}

static int skip_nested(struct reader *reader)
{
	if (++reader->skipping <= NESTING_LIMIT)
		return go_on();
	reader->code = lode_reading_fail(reader->input, reader->error, "values are nested more than %d deep",
					 NESTING_LIMIT);
	return 0;
}

/* An array or object where none of ours can be. */
static int begin_other(struct reader *reader)
{
	if (is_unwanted(reader))
		return skip_nested(reader);
	if (reader->depth == 2 && reader->field == ATTRS) {
		lode_tally_add(&reader->nested_attributes, reader->input,
			       reader->line.bytes.bytes + reader->attribute_key.at,
			       reader->attribute_key.length);
		return skip_nested(reader);
	}
	return stop_wrong_value(reader);
}

static int on_object(void *context)
{
	struct reader *reader = context;

	if (!is_unwanted(reader) && reader->depth == 0) {
		reader->depth = 1;
		reader->objects++;
		return go_on();
	}
	if (!is_unwanted(reader) && reader->depth == 1 && reader->field == ATTRS) {
		reader->depth = 2;
		reader->line.seen |= BIT(ATTRS);
		reader->line.attribute_count = 0;
		return go_on();
	}
	return begin_other(reader);
}

static int on_array(void *context)
{
	struct reader *reader = context;

	if (is_unwanted(reader) || reader->depth != 1 || fields[reader->field].shape != FRAMES)
		return begin_other(reader);
	reader->depth = 2;
	reader->line.seen |= BIT(reader->field);
	reader->line.frames[reader->field == WAKER_STACK].count = 0;
	return go_on();
}

static int on_end(void *context)
{
	struct reader *reader = context;

	if (reader->skipping)
		reader->skipping--;
	else
		reader->depth--;
	return go_on();
}

static enum field find_field(const unsigned char *key, size_t length)
{
	for (int i = 0; i < FIELDS; i++) {
		const char *name = fields[i].name;

		if ((unsigned char)name[0] == key[0] && strlen(name) == length &&
		    memcmp(name, key, length) == 0)
			return (enum field)i;
	}
	return UNKNOWN;
}

static int on_key(void *context, const unsigned char *key, size_t length)
{
	struct reader *reader = context;

	if (reader->skipping)
		return go_on();
	if (reader->depth == 2) {
		if (keep_text(&reader->line, key, length_to_nul(reader, key, length),
			      &reader->attribute_key) < 0)
			return stop_memory(reader);
		return go_on();
	}
	reader->field = length ? find_field(key, length) : UNKNOWN;
	if (reader->field == UNKNOWN)
		lode_tally_add(&reader->unknown_fields, reader->input, (const char *)key, length);
	return go_on();
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_boolean,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_object,
	.yajl_map_key = on_key,
	.yajl_end_map = on_end,
	.yajl_start_array = on_array,
	.yajl_end_array = on_end,
};

/* ---- streams ---- */

/* Opens an empty stream without a name. */
static int start_stream(struct reader *reader)
{
	if (lode_dictionary_init(&reader->dictionary) < 0)
		return reader->code = lode_fail_memory(reader->error);
	lode_stream_init(&reader->stream, &reader->dictionary);
	reader->open = 1;
	reader->announced = 0;
	return 0;
}

static void drop_stream(struct reader *reader)
{
	if (!reader->open)
		return;
	lode_stream_release(&reader->stream);
	lode_dictionary_release(&reader->dictionary);
	lode_frame_memo_release(&reader->memo);
	reader->open = 0;
}

/* Opened by a line that turned out to be none of ours. */
static int is_nothing(const struct reader *reader)
{
	const struct lode_stream *stream = &reader->stream;

	return !reader->announced && !stream->thread_count && reader->dictionary.frames.module_count == 1;
}

/*
 * A waker is a bare tid, and the thread it means may stand further down: so only
 * when all lines are read tids become threads, new ones where no line has them.
 */
static int resolve_wakers(struct lode_stream *stream)
{
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		struct lode_events *events = &stream->events[type];

		for (size_t i = 0; i < events->count; i++) {
			if (events->waker[i] == LODE_NONE)
				continue;
			events->waker[i] = lode_stream_tid(stream, events->waker[i]);
			if (events->waker[i] == LODE_NONE)
				return LODE_SYSTEM;
		}
	}
	return 0;
}

/* Hands the stream on. The name that the user gives wins when the file holds only one stream. */
static int finish_stream(struct reader *reader, int at_end)
{
	int code;

	if (!reader->open || is_nothing(reader)) {
		drop_stream(reader);
		return 0;
	}
	if (at_end && reader->ordinal == 0 && reader->options->stream_name)
		reader->stream.name = 0;
	if (resolve_wakers(&reader->stream) < 0)
		code = lode_fail_memory(reader->error);
	else
		code = lode_reading_deliver(reader->input, reader->options, reader->sink, &reader->stream,
					    reader->ordinal, reader->error);
	reader->ordinal++;
	drop_stream(reader);
	return code;
}

/* ---- from the line into the stream ---- */

static const char *text_of(const struct reader *reader, enum field field)
{
	return reader->line.bytes.bytes + reader->line.texts[field].at;
}

/* The string id of a text field; 0 when it was not there. */
static uint32_t string_of(struct reader *reader, enum field field)
{
	if (!(reader->line.seen & BIT(field)))
		return 0;
	return lode_strings_add(&reader->dictionary.frames.strings, text_of(reader, field),
				reader->line.texts[field].length);
}

static uint32_t thread_of(struct reader *reader)
{
	const struct line *line = &reader->line;
	uint32_t pid = line->seen & BIT(PID) ? (uint32_t)line->numbers[PID] : LODE_NO_PID;

	return lode_stream_thread(&reader->stream, pid, (uint32_t)line->numbers[TID]);
}

/* Its tid as it stands there; resolve_wakers makes a thread of it. */
static uint32_t waker_of(const struct reader *reader)
{
	return reader->line.seen & BIT(WAKER) ? (uint32_t)reader->line.numbers[WAKER] : LODE_NONE;
}

/* The node of a stack field; longer ones than allowed lose frames at the root. */
static uint32_t stack_of(struct reader *reader, enum field field)
{
	const struct frames *frames = &reader->line.frames[field == WAKER_STACK];
	uint32_t node = 0;
	size_t i = 0;

	if (!(reader->line.seen & BIT(field)))
		return 0;
	if (frames->count > LODE_STACK_DEPTH_LIMIT) {
		i = frames->count - LODE_STACK_DEPTH_LIMIT;
		lode_tally_add(&reader->cut_stacks, reader->input, NULL, 0);
	}
	for (; i < frames->count; i++)
		node = lode_stack_tree_child(&reader->dictionary.tree, node, frames->ids[i]);
	return node;
}

static int add_event(struct reader *reader, enum lode_event_type type)
{
	const struct line *line = &reader->line;
	struct lode_event event = {
		.t = line->numbers[T],
		.cost = type != LODE_CALL ? line->numbers[COST] : 0,
		.delay = line->seen & BIT(DELAY) ? line->numbers[DELAY] : 0,
		.thread = thread_of(reader),
		.stack = stack_of(reader, STACK),
		.waker = waker_of(reader),
		.waker_stack = stack_of(reader, WAKER_STACK),
		.name = string_of(reader, NAME),
		.cpu = line->seen & BIT(CPU) ? (uint16_t)line->numbers[CPU] : LODE_NO_CPU,
		.weight = line->seen & BIT(WEIGHT) ? (uint32_t)line->numbers[WEIGHT] : 1,
	};

	if (!event.weight)
		return lode_reading_fail(reader->input, reader->error,
					 "`weight` is 0; an event stands for at least one, itself");
	if (event.thread == LODE_NONE || event.stack == LODE_NONE || event.waker_stack == LODE_NONE ||
	    event.name == LODE_NONE ||
	    lode_stream_add_event(&reader->stream, type, &event) < 0)
		return lode_fail_memory(reader->error);
	return 0;
}

static int add_symptom(struct reader *reader)
{
	struct lode_symptom symptom = {
		.t0 = reader->line.numbers[T0],
		.t1 = reader->line.numbers[T1],
	};

	if (symptom.t0 > symptom.t1)
		return lode_reading_fail(reader->input, reader->error,
					 "the symptom ends (`t1`) before it begins (`t0`)");
	symptom.thread = thread_of(reader);
	symptom.name = string_of(reader, NAME);
	if (symptom.thread == LODE_NONE || symptom.name == LODE_NONE ||
	    lode_stream_add_symptom(&reader->stream, &symptom) < 0)
		return lode_fail_memory(reader->error);
	return 0;
}

static int name_thread(struct reader *reader)
{
	uint32_t thread = thread_of(reader);
	uint32_t name = string_of(reader, NAME);

	if (thread == LODE_NONE || name == LODE_NONE)
		return lode_fail_memory(reader->error);
	if (reader->line.seen & BIT(NAME))
		reader->stream.threads[thread].name = name;
	for (unsigned i = WAITS; i <= QUEUED; i++)
		if (reader->line.seen & BIT(i))
			(&reader->stream.threads[thread].totals.waits)[i - WAITS] = reader->line.numbers[i];
	return 0;
}

static int find_kind(const char *name)
{
	int kind = 0;

	while (kind < LODE_KINDS && strcmp(lode_kind_name((enum lode_kind)kind), name) != 0)
		kind++;
	return kind;
}

static int describe_module(struct reader *reader)
{
	const struct line *line = &reader->line;
	struct lode_frames *frames = &reader->dictionary.frames;
	int kind = line->seen & BIT(KIND) ? find_kind(text_of(reader, KIND)) : -1;
	uint32_t module, path, build_id;

	if (kind == LODE_KINDS)
		return lode_reading_fail(reader->input, reader->error,
					 "`kind` is %s; it must be user, library, kernel or jit",
					 text_of(reader, KIND));
	module = lode_frames_module(frames, text_of(reader, NAME), line->texts[NAME].length);
	path = string_of(reader, PATH);
	build_id = string_of(reader, BUILD_ID);
	if (module == LODE_NONE || path == LODE_NONE || build_id == LODE_NONE)
		return lode_fail_memory(reader->error);
	if (kind >= 0)
		frames->modules[module].kind = (uint8_t)kind;
	if (line->seen & BIT(PATH))
		frames->modules[module].path = path;
	if (line->seen & BIT(BUILD_ID))
		frames->modules[module].build_id = build_id;
	return 0;
}

/* A `stream` line: ends the one before it, names the next. */
static int begin_stream(struct reader *reader)
{
	struct line *line = &reader->line;
	int code = finish_stream(reader, 0);

	if (code < 0 || (code = start_stream(reader)) < 0)
		return code;
	reader->announced = 1;
	reader->stream.name = string_of(reader, STREAM);
	reader->stream.host = string_of(reader, HOST);
	if (reader->stream.name == LODE_NONE || reader->stream.host == LODE_NONE)
		return lode_fail_memory(reader->error);
	for (size_t i = 0; line->seen & BIT(ATTRS) && i < line->attribute_count; i++) {
		const struct attribute *attribute = &line->attributes[i];

		if (lode_stream_set_attribute(&reader->stream, line->bytes.bytes + attribute->key.at,
					      line->bytes.bytes + attribute->value.at, attribute->type) < 0)
			return lode_fail_memory(reader->error);
	}
	return 0;
}

static int check_fields(struct reader *reader, const struct line_type *type)
{
	unsigned missing = type->must & ~reader->line.seen;
	unsigned misplaced = reader->line.seen & ~(type->must | type->may | BIT(TYPE));
	int first;

	if (missing)
		return lode_reading_fail(reader->input, reader->error, "a `%s` line needs `%s`", type->name,
					 fields[__builtin_ctz(missing)].name);
	for (; misplaced; misplaced &= misplaced - 1) {
		first = __builtin_ctz(misplaced);
		lode_tally_add(&reader->misplaced_fields, reader->input, fields[first].name,
			       strlen(fields[first].name));
	}
	return 0;
}

static int use_typed_line(struct reader *reader)
{
	const char *name = text_of(reader, TYPE);
	size_t type = 0;
	int code;

	while (line_types[type].name && strcmp(line_types[type].name, name) != 0)
		type++;
	if (!line_types[type].name) {
		lode_tally_add(&reader->unknown_types, reader->input, name, strlen(name));
		return 0;
	}
	code = check_fields(reader, &line_types[type]);
	if (code < 0 || (!reader->open && (code = start_stream(reader)) < 0))
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

static int use_line(struct reader *reader)
{
	int code;

	if (reader->objects == 0)
		return 0;
	if (reader->objects > 1)
		return lode_reading_fail(reader->input, reader->error,
					 "holds more than one object; write one a line");
	if (reader->depth)
		return lode_reading_fail(reader->input, reader->error,
					 "the object does not end on its line; write each on one line");
	if (reader->line.seen & BIT(TYPE))
		return use_typed_line(reader);
	if (!(reader->line.seen & BIT(STREAM)))
		return lode_reading_fail(reader->input, reader->error, "has neither `type` nor `stream`");
	code = check_fields(reader, &stream_line);
	return code < 0 ? code : begin_stream(reader);
}

/* ---- lines ---- */

static int fail_json(struct reader *reader, yajl_handle json)
{
	unsigned char *what;
	char *newline;

	if (reader->code < 0)
		return reader->code;
	what = yajl_get_error(json, 0, NULL, 0);
	newline = what ? strchr((char *)what, '\n') : NULL;
	if (newline)
		*newline = '\0';
	lode_reading_fail(reader->input, reader->error, "is no JSON object (%s)",
			  what ? (char *)what : "not readable");
	if (what)
		yajl_free_error(json, what);
	return LODE_BAD_INPUT;
}

/*
 * Whether the line is the last one and ends in the midst of its object, as when
 * a copy or a writer was stopped.
 */
static int is_cut(const struct reader *reader)
{
	return reader->depth && !lode_input_line_ended(reader->input);
}

static int read_line(struct reader *reader, yajl_handle json, const char *text, size_t length)
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

static int read_lines(struct reader *reader)
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

static int take_events(struct reader *reader, const struct lode_events_piece *piece)
{
	if (!lode_stream_event_count(&piece->stream))
		return 0;
	if (!reader->open && start_stream(reader) < 0)
		return reader->code;
	return lode_events_piece_merge(&reader->stream, piece) < 0 ? lode_fail_memory(reader->error) : 0;
}

/* The lines behind the events, one by one. */
static int read_rest(struct reader *reader, const struct lode_events_piece *piece)
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
	struct reader *reader = context;
	const struct lode_events_part *part = item;
	int code = part->code;

	reader->error = error;
	if (code < 0)
		return lode_fail_memory(error);
	for (size_t i = 0; i < part->count && code == 0; i++) {
		code = take_events(reader, part->pieces[i]);
		if (code == 0 && part->pieces[i]->rest)
			code = read_rest(reader, part->pieces[i]);
	}
	reader->lines += part->lines;
	return code;
}

static void tell_notes(const struct reader *reader)
{
	const struct lode_import_options *options = reader->options;

	lode_tally_tell(&reader->unknown_types, options, "lines of a type that is not known");
	lode_tally_tell(&reader->unknown_fields, options, "fields that are not known");
	lode_tally_tell(&reader->misplaced_fields, options, "fields that do not belong to their line's type");
	lode_tally_tell(&reader->nested_attributes, options, "attributes that are arrays or objects");
	lode_tally_tell(&reader->cut_stacks, options, "stacks deeper than 16384 frames, cut at the root");
	lode_tally_tell(&reader->cut_texts, options, "texts with a NUL character, cut there");
	lode_tally_tell(&reader->cut_lines, options, LODE_LEFT_OUT_LINE);
}

static void release_reader(struct reader *reader)
{
	drop_stream(reader);
	lode_free(reader->line.frames[0].ids);
	lode_free(reader->line.frames[1].ids);
	lode_free(reader->line.attributes);
	lode_buffer_release(&reader->line.bytes);
}

static int read_events(struct lode_input *input, const struct lode_import_options *options,
		       const struct lode_import_sink *sink, struct lode_error *error)
{
	struct reader reader = { .input = input, .options = options, .sink = sink, .error = error };
	struct lode_line_chunks chunks = { make_part, free_part, parse_part, join_part, clear_part, &reader };
	int code;

	reader.json = yajl_alloc(&callbacks, NULL, &reader);
	if (!reader.json)
		return lode_fail_memory(error);
	yajl_config(reader.json, yajl_allow_multiple_values, 1);
	yajl_config(reader.json, yajl_dont_validate_strings, 1);
	code = lode_line_chunks_read(input, options, &chunks, error);
	reader.error = error;
	if (code == 0)
		code = finish_stream(&reader, 1);
	tell_notes(&reader);
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
	.description = "plain events, one JSON object a line (.jsonl)",
	.sniff = sniff_events,
	.read = read_events,
};
