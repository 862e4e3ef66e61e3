/*
 * What the tables of a query read: the streams with their heads in one dictionary, so that
 * equal stacks of different streams have one number; both are loaded as far as a statement
 * needs them. Private to src/query/.
 *
 * Streams are numbered in the order of the catalogue. Threads are numbered over all streams; how
 * many each stream has is known from the catalogue, so a number tells the stream without its file.
 */
#ifndef LODE_QUERY_QUERY_DATA_H
#define LODE_QUERY_QUERY_DATA_H

#include "base/array.h"
#include "query/query.h"
#include "query/stack_globs.h"
#include "store/unread_streams.h"

#include <sqlite3.h>

/* How much of a stream is loaded. */
enum lode_query_level {
	LODE_QUERY_CLOSED,
	LODE_QUERY_OPENED,  /* events can be read, except their ids */
	LODE_QUERY_THREADS, /* names, threads, symptoms */
	LODE_QUERY_STACKS,  /* everything */
};

struct lode_query_sums;

struct lode_query_stream {
	const struct lode_corpus_entry *entry;
	struct lode_store *store;
	struct lode_stream head; /* over the dictionary of the data */
	int64_t first_thread;    /* number of its first one */
	enum lode_query_level level;
	int unread;                   /* its file is damaged or gone: it has no rows */
	uint32_t *processes;          /* names of processes, by thread; NULL: not made yet */
	struct lode_query_sums *sums; /* NULL: not made yet */
};

struct lode_query_attribute {
	uint32_t stream;
	uint8_t type;
	const char *key;
	const char *value;
};

struct lode_query_symptom {
	uint32_t stream;
	uint32_t number; /* in the stream */
};

struct lode_query_results;

enum lode_query_stop {
	LODE_QUERY_GOES_ON,
	LODE_QUERY_OUT_OF_TIME,
	LODE_QUERY_OUT_OF_MEMORY,
	LODE_QUERY_STOPPED,
};

struct lode_query_data {
	struct lode_corpus *corpus;
	struct lode_query_options options;
	struct lode_query_stream *streams;
	size_t stream_count;
	int64_t thread_count;
	struct lode_dictionary dictionary;
	struct lode_arena arena;
	LODE_ARRAY(const char *) frame_texts;               /* by frame; NULL: not made yet */
	LODE_ARRAY(struct lode_query_attribute) attributes; /* by stream and key, once they are read */
	int has_attributes;
	LODE_ARRAY(const char *) attribute_keys;        /* those that are columns of `streams` */
	LODE_ARRAY(struct lode_query_symptom) symptoms; /* once they are listed */
	int has_symptoms;
	struct lode_query_results *results; /* of analyses; NULL: none was asked for */
	struct lode_stack_globs globs;
	struct lode_unread_streams unread;
	uint64_t deadline;      /* of the statement that runs; 0: none */
	uint64_t memory_before; /* SQLite's, when the statement began */
	int is_declaring;       /* SQLite is told the columns of a table, for which it changes its schema */
	uint64_t looks;         /* at its memory */
	enum lode_query_stop stop;
	struct lode_error error; /* why a table failed */
	int code;                /* 0: none did */
};

/* Both as lode_query_open. */
int lode_query_data_open(struct lode_query_data *data, struct lode_corpus *corpus,
			 const struct lode_corpus_list *list, const struct lode_query_options *options,
			 struct lode_error *error);
/* Sums and results of analyses must be freed before. */
void lode_query_data_close(struct lode_query_data *data);

/*
 * Loads a stream as far as `level`. Returns 0, also where the stream cannot be read and was marked so; or a
 * negative code, with the sentence in the data.
 */
int lode_query_load(struct lode_query_data *data, size_t stream, enum lode_query_level level);
/* After reading a stream failed: leaves it out where only its file is to blame. Returns as lode_query_load. */
int lode_query_leave_out(struct lode_query_data *data, size_t stream, int code, const struct lode_error *error);
/* The same as lode_query_load of all streams. */
int lode_query_load_all(struct lode_query_data *data, enum lode_query_level level);
/* Reads the attributes of all streams from the catalogues, once. */
int lode_query_load_attributes(struct lode_query_data *data);
/* The stream of a thread's number; `stream_count` when there is no such thread. */
size_t lode_query_stream_of(const struct lode_query_data *data, int64_t thread);

/* Whether the statement must end; called often, also from loops of the tables. */
int lode_query_must_stop(struct lode_query_data *data);
/* The same, and tells how far a part of the statement is (progress.h). */
int lode_query_report(struct lode_query_data *data, const char *phase, const char *unit, uint64_t done,
		      uint64_t total);
/* Notes that memory ran out; returns LODE_SYSTEM. */
int lode_query_no_memory(struct lode_query_data *data);

/* `module!function`; NULL when memory has run out. It stays until the data is closed. */
const char *lode_query_frame_text(struct lode_query_data *data, uint32_t frame);
/* Appends `root;...;leaf`. */
void lode_query_text_of(struct lode_query_data *data, uint32_t stack, struct lode_buffer *buffer);
/* The same for a folded line: no frame has a `;` or a line end of its own. */
void lode_query_folded_of(struct lode_query_data *data, uint32_t stack, struct lode_buffer *buffer);
/* The number of a stack in a value of SQLite; LODE_NONE: it is none. */
uint32_t lode_query_stack_of(const struct lode_query_data *data, sqlite3_value *value);

/* A sum or time as SQLite has it: signed, and never beyond its largest number. */
static inline int64_t lode_query_number(uint64_t number)
{
	return number > INT64_MAX ? INT64_MAX : (int64_t)number;
}

#endif
