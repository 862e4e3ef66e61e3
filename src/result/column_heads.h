/*
 * Heads of results that have their numbers in columns (page/page_columns.h): the events of a stream, and the stack tree
 * of a corpus. The page writes a head in parts: these fields, names and facts of frames, and the columns.
 */
#ifndef LODE_RESULT_COLUMN_HEADS_H
#define LODE_RESULT_COLUMN_HEADS_H

#include "result/fields.h"

struct lode_stream_head_thread {
	uint32_t tid;
	int has_pid;
	uint32_t pid;
	const char *name;
};

struct lode_stream_head_symptom {
	uint32_t thread;
	const char *name;
	uint64_t t0;
	uint64_t t1;
	uint64_t unknown_ns;
	uint64_t path_first;
	uint64_t path_count;
};

struct lode_stream_head {
	const char *stream;
	const char *id;
	const char *host;
	const char *start_ns;
	uint64_t span_ns;
	struct lode_written attributes;
	struct lode_list threads;  /* of struct lode_stream_head_thread */
	struct lode_list symptoms; /* of struct lode_stream_head_symptom */
	struct lode_list states;   /* of const char * */
	struct lode_list objects;  /* of const char * */
	struct lode_list contexts; /* of const char * */
};

struct lode_profile_head {
	uint64_t streams;
	uint64_t stacks_cut;
};

struct lode_column_head {
	const char *name;
	const char *type;
	uint64_t offset;
	uint64_t count;
	int coded;
	uint64_t coded_bytes;
	uint64_t planes; /* 0: none */
	int predicted;
	struct lode_list steps; /* of const char * */
};

extern const struct lode_fields lode_stream_head_fields;
extern const struct lode_fields lode_profile_head_fields;
extern const struct lode_fields lode_column_head_fields;
/* All that a server's heads have. */
extern const struct lode_fields lode_stream_fields;
extern const struct lode_fields lode_profile_fields;

#endif
