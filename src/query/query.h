/*
 * Queries: SQL over the streams of corpora, which are read where they are. SQLite plans and runs
 * the statement; its tables (query_tables.h) are virtual ones over stream files.
 *
 * A statement can only read: it may select, and nothing else (query_guard.h). It ends when its time
 * or memory is used up, or when the caller's progress asks it to stop.
 *
 * One thread at a time.
 */
#ifndef LODE_QUERY_QUERY_H
#define LODE_QUERY_QUERY_H

#include "base/buffer.h"
#include "base/notes.h"
#include "base/progress.h"
#include "store/corpus.h"

struct lode_query;

/* Tables that hold the results of an analysis ask for them when they are first used. */
struct lode_query_analyses {
	/*
	 * Appends the JSON that `lode NAME --json` writes for the same streams ("mine", "scope", "signatures"). `progress` asks
	 * it to stop when the time of the statement is used up.
	 */
	int (*make)(void *context, const char *name, const struct lode_progress *progress,
		    struct lode_buffer *json, struct lode_error *error);
	void *context;
};

struct lode_query_options {
	uint64_t time;   /* ns that a statement may take; 0: no limit */
	uint64_t memory; /* bytes that it may use besides the stacks and sums of the streams; 0: LODE_QUERY_MEMORY */
	unsigned jobs;   /* threads; 0: one a processor */
	int strict;      /* a stream that cannot be read is an error, instead of being left out */
	int own_process; /* the limit of memory may be set for all that the process does with SQLite */
	const struct lode_progress *progress; /* NULL: none */
	struct lode_notes *notes;             /* NULL: not wanted */
	struct lode_query_analyses analyses;  /* without `make` their tables are empty */
};

#define LODE_QUERY_MEMORY (UINT64_C(1) << 30)

/*
 * Opens the streams of `list`, which must stay, as must the corpus that it is of. On success the caller
 * closes it.
 */
int lode_query_open(struct lode_query **query, struct lode_corpus *corpus, const struct lode_corpus_list *list,
		    const struct lode_query_options *options, struct lode_error *error);
void lode_query_close(struct lode_query *query);

enum lode_query_type {
	LODE_QUERY_NULL,
	LODE_QUERY_INTEGER,
	LODE_QUERY_REAL,
	LODE_QUERY_TEXT, /* also bytes */
};

struct lode_query_value {
	enum lode_query_type type;
	int64_t integer;
	double real;
	const char *text; /* NUL-terminated; until the next row */
	size_t length;
};

/* Takes a result, row by row. Its functions return 0, a negative code, or LODE_QUERY_ENOUGH. */
struct lode_query_sink {
	int (*begin)(void *context, const char *const *columns, size_t count, struct lode_error *error);
	int (*row)(void *context, const struct lode_query_value *values, size_t count, struct lode_error *error);
	void *context;
};

/* No more rows are wanted. */
#define LODE_QUERY_ENOUGH 1

/*
 * Runs one statement. Returns 0, LODE_QUERY_ENOUGH where the sink said so, or a negative code: LODE_USAGE
 * for a statement that is wrong or not allowed, and where a limit ended it.
 */
int lode_query_run(struct lode_query *query, const char *sql, const struct lode_query_sink *sink,
		   struct lode_error *error);
/* Whether `sql` has a whole statement with its `;`, for prompts. */
int lode_query_is_complete(const char *sql);
/* A stack as a folded line has it, `root;...;leaf` (base/folded_frame.h). Returns 0, or LODE_USAGE when there is none. */
int lode_query_folded_stack(struct lode_query *query, int64_t stack, struct lode_buffer *buffer);
/* Names that statements may use, for completion: tables, columns, functions; NULL behind the last. */
const char *lode_query_word(size_t i);

#endif
