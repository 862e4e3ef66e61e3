/* What lode watch saved, and what it did in total, with their JSON. */
#ifndef LODE_RESULT_WATCH_REPORT_H
#define LODE_RESULT_WATCH_REPORT_H

#include "base/buffer.h"
#include "base/notes.h"
#include "result/budget_report.h"

/* A stream that was written. */
struct lode_watch_stream {
	const char *id;
	const char *trigger;
	uint64_t events;
	uint64_t symptoms;
	uint64_t span;
	uint64_t bytes;
	uint64_t removed; /* older streams, because of --keep */
};

struct lode_watch_report {
	uint64_t duration;
	uint64_t records;
	uint64_t kept;
	uint64_t dropped; /* before their time */
	uint64_t lost;    /* by the kernel's rings */
	uint64_t missing_stacks;
	uint64_t memory_bytes;
	uint64_t triggered;
	uint64_t refused;
	uint64_t saved;
	uint64_t failed;
	uint64_t removed;
	struct lode_budget_report budget;
	const struct lode_notes *notes;
};

extern const struct lode_fields lode_watch_stream_fields;
extern const struct lode_fields lode_watch_fields;

/* One line each. */
void lode_watch_stream_json(const struct lode_watch_stream *stream, struct lode_buffer *buffer);
void lode_watch_json(const struct lode_watch_report *report, struct lode_buffer *buffer);

#endif
