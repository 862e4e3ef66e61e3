/* What lode serve answers when there is no result, or not yet, and to uploads. */
#ifndef LODE_RESULT_SERVER_ANSWERS_H
#define LODE_RESULT_SERVER_ANSWERS_H

#include "result/fields.h"

struct lode_progress_answer {
	const char *state; /* "running" */
	const char *phase;
	uint64_t done;
	uint64_t total;
};

struct lode_error_answer {
	struct lode_written error;
};

/* A stream that an upload had. */
struct lode_upload_answer_stream {
	const char *id;
	int is_new;
};

struct lode_upload_answer {
	struct lode_list streams; /* of struct lode_upload_answer_stream */
};

/* Symbols of a program, or what is asked about them. */
struct lode_symbols_answer_program {
	const char *build_id;
	const char *kept; /* lode_kept_symbols_name */
};

struct lode_symbols_answer {
	struct lode_list symbols; /* of struct lode_symbols_answer_program */
};

extern const struct lode_fields lode_upload_answer_fields;
extern const struct lode_fields lode_symbols_answer_fields;
extern const struct lode_fields lode_progress_answer_fields;
extern const struct lode_fields lode_error_answer_fields;

/* A sentence of `length` bytes. */
struct lode_error_answer lode_error_answer(const char *sentence, size_t length);

#endif
