/* What lode serve answers when there is no result, or not yet. */
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

extern const struct lode_fields lode_progress_answer_fields;
extern const struct lode_fields lode_error_answer_fields;

/* A sentence of `length` bytes. */
struct lode_error_answer lode_error_answer(const char *sentence, size_t length);

#endif
