/*
 * A chunk of plain events as one thread reads it: the plain lines (plain_event.h)
 * as events of a stream of their own, all others as text, to be read one by one
 * when the chunk's turn comes.
 */
#ifndef LODE_IMPORT_EVENTS_PART_H
#define LODE_IMPORT_EVENTS_PART_H

#include "base/array.h"
#include "import/frame_memo.h"
#include "import/text/plain_event.h"

/* Events, and the lines behind them that are none. */
struct lode_events_piece {
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_event_tids {
		uint32_t *tids; /* parallel to the events, which have neither wakers nor holders: LODE_NONE or a tid */
		size_t capacity;
	} wakers[LODE_EVENT_TYPES], holders[LODE_EVENT_TYPES];
	const char *rest;
	size_t rest_size;
	uint64_t rest_line; /* lines of the chunk in front of it */
};

struct lode_written_stack {
	struct lode_span written;
	uint32_t node;
};

/* Stacks by how they are written; the text is the chunk's. */
struct lode_written_stacks {
	LODE_ARRAY(struct lode_written_stack);
	struct lode_index index;
};

/* A zeroed struct is an empty part. */
struct lode_events_part {
	struct lode_events_piece **pieces;
	size_t count;
	size_t capacity;
	uint64_t lines;
	int code; /* LODE_SYSTEM: memory has run out */

	/* of the piece that is being read */
	struct lode_frame_memo memo;
	struct lode_written_stacks stacks;
	struct lode_plain_event event;
	uint32_t *frames; /* parallel to the event's */
	size_t frame_capacity;
};

/* Reads whole lines into an empty part. The text must outlive what the part holds. */
void lode_events_part_read(struct lode_events_part *part, const char *text, size_t size);
/* Appends the events of a piece to a stream. Wakers and holders stay tids. Returns 0 or LODE_SYSTEM. */
int lode_events_piece_merge(struct lode_stream *stream, const struct lode_events_piece *piece);
/* Empties it; release frees also what is reused. */
void lode_events_part_clear(struct lode_events_part *part);
void lode_events_part_release(struct lode_events_part *part);

#endif
