/*
 * What lode import did, and its JSON.
 */
#ifndef LODE_RESULT_IMPORT_REPORT_H
#define LODE_RESULT_IMPORT_REPORT_H

#include "base/notes.h"
#include "mine/signatures.h"

/* What became of one stream. */
struct lode_imported_stream {
	char id[33];
	char *name;
	uint64_t events[LODE_EVENT_TYPES];
	uint64_t cost[LODE_EVENT_TYPES];
	uint64_t stacks;
	uint64_t span;
	uint64_t stored; /* bytes of its file */
	int skipped;     /* was there already */
	int replaced;
	size_t file; /* index of the operand it came from */
};

/* What became of one operand. */
struct lode_imported_file {
	uint64_t bytes; /* unpacked */
	uint64_t took;  /* nanoseconds */
	int tried;      /* 0: the command ended before it */
	int code;
};

struct lode_import_report {
	const struct lode_imported_stream *streams;
	size_t count;
	const struct lode_signatures *signatures; /* their sums are those of the new streams */
	const struct lode_notes *notes;
};

void lode_import_json(const struct lode_import_report *report, struct lode_buffer *buffer);

#endif
