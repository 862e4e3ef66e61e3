/*
 * One line of plain events in the form that programs write them: an object of a
 * `run`, `wait` or `call` with known fields, each once, texts without escapes,
 * numbers of digits only. Nearly all lines of a file are such lines, and need no
 * general JSON parser. Every other line, right or wrong, is left to events.c.
 */
#ifndef LODE_IMPORT_PLAIN_EVENT_H
#define LODE_IMPORT_PLAIN_EVENT_H

#include "base/array.h"
#include "import/text_span.h"
#include "trace/stream.h"

/* An array of texts, as it is written and as its items. */
struct lode_plain_stack {
	struct lode_span written; /* without the brackets; no text: the field is not there */
	size_t first;             /* in the event's `frames` */
	size_t count;
};

struct lode_plain_event {
	enum lode_event_type type;
	uint32_t pid; /* LODE_NO_PID: not there */
	uint32_t tid;
	uint64_t t;
	uint64_t cost;
	uint64_t delay;
	uint32_t waker; /* tid; LODE_NONE: not there */
	uint32_t weight;
	uint16_t cpu;
	struct lode_span name;    /* no text: not there */
	struct lode_span object;  /* the same */
	uint32_t holder;          /* tid; LODE_NONE: not there */
	struct lode_span context; /* no text: not there */
	struct lode_plain_stack stack;
	struct lode_plain_stack waker_stack;
	LODE_ARRAY(struct lode_span) frames; /* of both, in the order of the line; reused from line to line */
};

/*
 * Reads a line (without its line end). Returns 1, or 0 when it is no such line, or
 * LODE_SYSTEM when memory has run out. The pieces point into the line.
 */
int lode_plain_event_read(struct lode_plain_event *event, const char *line, size_t length);
void lode_plain_event_release(struct lode_plain_event *event);

#endif
