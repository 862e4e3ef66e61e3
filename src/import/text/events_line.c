/* One line of plain events as JSON: see events_line.h. */
#include "import/text/events_line.h"

#include "import/text/events_stream.h"
#include "import/text/exact_number.h"

#include <string.h>

#define NESTING_LIMIT 64

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
} fields[LODE_JSONL_FIELDS] = {
	[LODE_JSONL_TYPE] = { "type", TEXT, 0 },
	[LODE_JSONL_T] = { "t", NUMBER, UINT64_MAX },
	[LODE_JSONL_COST] = { "cost", NUMBER, UINT64_MAX },
	[LODE_JSONL_DELAY] = { "delay", NUMBER, UINT64_MAX },
	[LODE_JSONL_PID] = { "pid", NUMBER, LODE_NO_PID - 1 },
	[LODE_JSONL_TID] = { "tid", NUMBER, UINT32_MAX - 1 },
	[LODE_JSONL_CPU] = { "cpu", NUMBER, LODE_NO_CPU - 1 },
	[LODE_JSONL_WEIGHT] = { "weight", NUMBER, UINT32_MAX },
	[LODE_JSONL_WAKER] = { "waker", NUMBER, UINT32_MAX - 1 },
	[LODE_JSONL_STACK] = { "stack", FRAMES, 0 },
	[LODE_JSONL_WAKER_STACK] = { "waker_stack", FRAMES, 0 },
	[LODE_JSONL_NAME] = { "name", TEXT, 0 },
	[LODE_JSONL_T0] = { "t0", NUMBER, UINT64_MAX },
	[LODE_JSONL_T1] = { "t1", NUMBER, UINT64_MAX },
	[LODE_JSONL_STREAM] = { "stream", TEXT, 0 },
	[LODE_JSONL_HOST] = { "host", TEXT, 0 },
	[LODE_JSONL_ATTRS] = { "attrs", OBJECT, 0 },
	[LODE_JSONL_KIND] = { "kind", TEXT, 0 },
	[LODE_JSONL_LANGUAGE] = { "language", TEXT, 0 },
	[LODE_JSONL_PATH] = { "path", TEXT, 0 },
	[LODE_JSONL_BUILD_ID] = { "build_id", TEXT, 0 },
	[LODE_JSONL_WAITS] = { "waits", NUMBER, UINT64_MAX },
	[LODE_JSONL_PREEMPTIONS] = { "preemptions", NUMBER, UINT64_MAX },
	[LODE_JSONL_WAITED] = { "waited", NUMBER, UINT64_MAX },
	[LODE_JSONL_RUN_TIME] = { "run", NUMBER, UINT64_MAX },
	[LODE_JSONL_QUEUED] = { "queued", NUMBER, UINT64_MAX },
	[LODE_JSONL_OBJECT] = { "object", TEXT, 0 },
	[LODE_JSONL_HOLDER] = { "holder", NUMBER, UINT32_MAX - 1 },
	[LODE_JSONL_CONTEXT] = { "context", TEXT, 0 },
};

const char *lode_events_field_name(enum lode_events_field field)
{
	return fields[field].name;
}

/* All callbacks end with one of these: what yajl wants to hear. */
static int go_on(void)
{
	return 1;
}

static int stop_memory(struct lode_events_reader *reader)
{
	reader->code = lode_fail_memory(reader->error);
	return 0;
}

static int stop_wrong_value(struct lode_events_reader *reader)
{
	static const char *const wanted[] = { "a text", "a number", "an array of strings", "an object" };

	if (reader->depth == 0)
		reader->code = lode_import_fail(
			reader->input, reader->error,
			"is not a JSON object; each line must be one, as in {\"type\":\"run\",…}");
	else if (reader->depth == 2)
		reader->code = lode_import_fail(reader->input, reader->error, "`%s` must contain only strings",
						fields[reader->field].name);
	else
		reader->code = lode_import_fail(reader->input, reader->error, "`%s` must be %s",
						fields[reader->field].name, wanted[fields[reader->field].shape]);
	return 0;
}

/* Whether the value that comes now is to be skipped. */
static int is_unwanted(const struct lode_events_reader *reader)
{
	return reader->skipping || (reader->depth == 1 && reader->field == LODE_JSONL_UNKNOWN);
}

static int keep_text(struct lode_events_line *line, const void *text, size_t length, struct lode_events_text *kept)
{
	*kept = (struct lode_events_text){ line->bytes.size, length };
	lode_buffer_add(&line->bytes, text, length);
	lode_buffer_byte(&line->bytes, '\0');
	return line->bytes.failed ? -1 : 0;
}

static int keep_attribute(struct lode_events_reader *reader, const void *value, size_t length,
			  enum lode_attribute_type type)
{
	struct lode_events_line *line = &reader->line;
	struct lode_events_attribute attribute = { .key = reader->attribute_key, .type = type };

	if (keep_text(line, value, length, &attribute.value) < 0 || LODE_PUSH(&line->attributes, attribute) < 0)
		return stop_memory(reader);
	return go_on();
}

static int keep_frame(struct lode_events_reader *reader, const char *text, size_t length)
{
	struct lode_events_frames *frames = &reader->line.frames[reader->field == LODE_JSONL_WAKER_STACK];
	uint64_t hash = lode_hash_bytes(text, length);
	uint32_t frame;

	if (!reader->open && lode_events_start_stream(reader) < 0)
		return 0;
	frame = lode_frame_memo_find(&reader->memo, text, length, hash);
	if (frame == LODE_NONE) {
		frame = lode_frames_parse(&reader->dictionary.frames, text, length);
		if (frame == LODE_NONE || lode_frame_memo_add(&reader->memo, text, length, hash, frame) < 0)
			return stop_memory(reader);
	}
	if (LODE_APPEND(frames->ids, frames->count, frames->capacity, frame) < 0)
		return stop_memory(reader);
	return go_on();
}

/* A text ends at a NUL, because strings of Lode do. */
static size_t length_to_nul(struct lode_events_reader *reader, const unsigned char *text, size_t length)
{
	const unsigned char *nul = memchr(text, '\0', length);

	if (!nul)
		return length;
	lode_tally_add(&reader->cut_texts, reader->input, NULL, 0);
	return (size_t)(nul - text);
}

static int on_string(void *context, const unsigned char *text, size_t length)
{
	struct lode_events_reader *reader = context;
	struct lode_events_line *line = &reader->line;

	if (is_unwanted(reader))
		return go_on();
	length = length_to_nul(reader, text, length);
	if (reader->depth == 2 && reader->field == LODE_JSONL_ATTRS)
		return keep_attribute(reader, text, length, LODE_ATTRIBUTE_TEXT);
	if (reader->depth == 2)
		return keep_frame(reader, (const char *)text, length);
	if (reader->depth == 0 || fields[reader->field].shape != TEXT)
		return stop_wrong_value(reader);
	if (keep_text(line, text, length, &line->texts[reader->field]) < 0)
		return stop_memory(reader);
	line->seen |= LODE_JSONL_BIT(reader->field);
	return go_on();
}

static int keep_number(struct lode_events_reader *reader, const char *text, size_t length)
{
	static const char *const faults[] = { "", "is negative", "is too large", "is not a whole number" };
	uint64_t number;
	enum lode_number_fault fault = lode_exact_number(text, length, &number);

	if (fault == LODE_NUMBER_FINE && number > fields[reader->field].most)
		fault = LODE_NUMBER_TOO_LARGE;
	if (fault != LODE_NUMBER_FINE) {
		reader->code = lode_import_fail(reader->input, reader->error,
						"`%s` %s: %.*s; it must be from 0 to %llu",
						fields[reader->field].name, faults[fault],
						(int)(length < 60 ? length : 60), text,
						(unsigned long long)fields[reader->field].most);
		return 0;
	}
	reader->line.numbers[reader->field] = number;
	reader->line.seen |= LODE_JSONL_BIT(reader->field);
	return go_on();
}

static int on_number(void *context, const char *text, size_t length)
{
	struct lode_events_reader *reader = context;

	if (is_unwanted(reader))
		return go_on();
	if (reader->depth == 2 && reader->field == LODE_JSONL_ATTRS)
		return keep_attribute(reader, text, length, LODE_ATTRIBUTE_NUMBER);
	if (reader->depth != 1 || fields[reader->field].shape != NUMBER)
		return stop_wrong_value(reader);
	return keep_number(reader, text, length);
}

static int on_boolean(void *context, int yes)
{
	struct lode_events_reader *reader = context;

	if (is_unwanted(reader))
		return go_on();
	if (reader->depth == 2 && reader->field == LODE_JSONL_ATTRS)
		return keep_attribute(reader, yes ? "true" : "false", yes ? 4 : 5, LODE_ATTRIBUTE_BOOL);
	return stop_wrong_value(reader);
}

/* null is the same as leaving the field out. */
static int on_null(void *context)
{
	struct lode_events_reader *reader = context;

	if (is_unwanted(reader) || (reader->depth == 2 && reader->field == LODE_JSONL_ATTRS))
		return go_on();
	if (reader->depth != 1)
		return stop_wrong_value(reader);
	reader->line.seen &= ~LODE_JSONL_BIT(reader->field);
	return go_on();
}

static int skip_nested(struct lode_events_reader *reader)
{
	if (++reader->skipping <= NESTING_LIMIT)
		return go_on();
	reader->code = lode_import_fail(reader->input, reader->error, "values are nested more than %d deep",
					NESTING_LIMIT);
	return 0;
}

/* An array or object where none of ours can be. */
static int begin_other(struct lode_events_reader *reader)
{
	if (is_unwanted(reader))
		return skip_nested(reader);
	if (reader->depth == 2 && reader->field == LODE_JSONL_ATTRS) {
		lode_tally_add(&reader->nested_attributes, reader->input,
			       reader->line.bytes.bytes + reader->attribute_key.at, reader->attribute_key.length);
		return skip_nested(reader);
	}
	return stop_wrong_value(reader);
}

static int on_object(void *context)
{
	struct lode_events_reader *reader = context;

	if (!is_unwanted(reader) && reader->depth == 0) {
		reader->depth = 1;
		reader->objects++;
		return go_on();
	}
	if (!is_unwanted(reader) && reader->depth == 1 && reader->field == LODE_JSONL_ATTRS) {
		reader->depth = 2;
		reader->line.seen |= LODE_JSONL_BIT(LODE_JSONL_ATTRS);
		reader->line.attributes.count = 0;
		return go_on();
	}
	return begin_other(reader);
}

static int on_array(void *context)
{
	struct lode_events_reader *reader = context;

	if (is_unwanted(reader) || reader->depth != 1 || fields[reader->field].shape != FRAMES)
		return begin_other(reader);
	reader->depth = 2;
	reader->line.seen |= LODE_JSONL_BIT(reader->field);
	reader->line.frames[reader->field == LODE_JSONL_WAKER_STACK].count = 0;
	return go_on();
}

static int on_end(void *context)
{
	struct lode_events_reader *reader = context;

	if (reader->skipping)
		reader->skipping--;
	else
		reader->depth--;
	return go_on();
}

static enum lode_events_field find_field(const unsigned char *key, size_t length)
{
	for (int i = 0; i < LODE_JSONL_FIELDS; i++) {
		const char *name = fields[i].name;

		if ((unsigned char)name[0] == key[0] && strlen(name) == length && memcmp(name, key, length) == 0)
			return (enum lode_events_field)i;
	}
	return LODE_JSONL_UNKNOWN;
}

static int on_key(void *context, const unsigned char *key, size_t length)
{
	struct lode_events_reader *reader = context;

	if (reader->skipping)
		return go_on();
	if (reader->depth == 2) {
		if (keep_text(&reader->line, key, length_to_nul(reader, key, length), &reader->attribute_key) < 0)
			return stop_memory(reader);
		return go_on();
	}
	reader->field = length ? find_field(key, length) : LODE_JSONL_UNKNOWN;
	if (reader->field == LODE_JSONL_UNKNOWN)
		lode_tally_add(&reader->unknown_fields, reader->input, (const char *)key, length);
	return go_on();
}

const yajl_callbacks lode_events_callbacks = {
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
