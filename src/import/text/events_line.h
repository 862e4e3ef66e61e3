/*
 * One line of plain events as JSON: yajl's callbacks put each field where it belongs in the line. Private to events.c,
 * which turns lines into events.
 */
#ifndef LODE_IMPORT_EVENTS_LINE_H
#define LODE_IMPORT_EVENTS_LINE_H

#include "base/array.h"
#include "base/buffer.h"
#include "import/frame_memo.h"
#include "import/import_common.h"

#include <yajl/yajl_parse.h>

enum lode_events_field {
	LODE_JSONL_TYPE,
	LODE_JSONL_T,
	LODE_JSONL_COST,
	LODE_JSONL_DELAY,
	LODE_JSONL_PID,
	LODE_JSONL_TID,
	LODE_JSONL_CPU,
	LODE_JSONL_WEIGHT,
	LODE_JSONL_WAKER,
	LODE_JSONL_STACK,
	LODE_JSONL_WAKER_STACK,
	LODE_JSONL_NAME,
	LODE_JSONL_T0,
	LODE_JSONL_T1,
	LODE_JSONL_STREAM,
	LODE_JSONL_HOST,
	LODE_JSONL_ATTRS,
	LODE_JSONL_KIND,
	LODE_JSONL_LANGUAGE,
	LODE_JSONL_PATH,
	LODE_JSONL_BUILD_ID,
	LODE_JSONL_WAITS,
	LODE_JSONL_PREEMPTIONS,
	LODE_JSONL_WAITED,
	LODE_JSONL_RUN_TIME,
	LODE_JSONL_QUEUED, /* TOTALS, in the order of struct lode_thread_totals */
	LODE_JSONL_OBJECT,
	LODE_JSONL_HOLDER,
	LODE_JSONL_CONTEXT,
	LODE_JSONL_FIELDS,
	LODE_JSONL_UNKNOWN = LODE_JSONL_FIELDS,
};

#define LODE_JSONL_BIT(field) (1u << (field))

/* A text of the line, in the line's buffer, with a NUL behind it. */
struct lode_events_text {
	size_t at;
	size_t length;
};

struct lode_events_frames {
	uint32_t *ids; /* root first */
	size_t count;
	size_t capacity;
};

struct lode_events_attribute {
	struct lode_events_text key;
	struct lode_events_text value;
	enum lode_attribute_type type;
};

/* All that the line read last said. */
struct lode_events_line {
	unsigned seen; /* bit f: field f was there */
	uint64_t numbers[LODE_JSONL_FIELDS];
	struct lode_events_text texts[LODE_JSONL_FIELDS];
	struct lode_events_frames frames[2]; /* stack, waker stack */
	LODE_ARRAY(struct lode_events_attribute) attributes;
	struct lode_buffer bytes;
};

struct lode_events_reader {
	struct lode_input *input;
	const struct lode_import_options *options;
	const struct lode_import_sink *sink;
	struct lode_error *error;
	yajl_handle json;
	uint64_t lines; /* in front of the chunk whose turn it is */
	int code;

	/* Where in the JSON we are. */
	unsigned depth;    /* 0: outside; 1: in the line's object; 2: in a stack or in attrs */
	unsigned skipping; /* nesting inside a value that is skipped */
	enum lode_events_field field;
	struct lode_events_text attribute_key;
	unsigned objects; /* in this line */
	struct lode_events_line line;

	/* The stream under way. */
	int open;
	int announced; /* by a separate line */
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

/* The name of a field, as it is written. */
const char *lode_events_field_name(enum lode_events_field field);
/* The callbacks; their context is the reader. */
extern const yajl_callbacks lode_events_callbacks;

#endif
