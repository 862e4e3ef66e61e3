/*
 * Which symbols of programs the corpus has, so that senders upload only those that it lacks.
 *
 *	GET /v1/symbols?build-ids=ID,ID,...
 */
#ifndef LODE_SERVE_SYMBOL_ANSWERS_H
#define LODE_SERVE_SYMBOL_ANSWERS_H

#include "serve/answers.h"

#define LODE_SYMBOLS_URL "/v1/symbols"

/* Says what `corpus` has for build-ids, with commas between them. */
enum MHD_Result lode_answer_symbols(const struct lode_exchange *exchange, unsigned status, const char *corpus,
				    const char *build_ids);

#endif
