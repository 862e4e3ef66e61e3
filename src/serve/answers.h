/*
 * Answers of the server: a result, a page, a sentence, each with the headers that keep other pages away from it.
 */
#ifndef LODE_SERVE_ANSWERS_H
#define LODE_SERVE_ANSWERS_H

#include "serve/http_library.h"
#include "serve/shared_result.h"

/* A request that is being answered. */
struct lode_exchange {
	const struct lode_http_library *http;
	struct MHD_Connection *connection;
	const char *policy;   /* of the page: what a browser lets it do */
	int is_refused;       /* nothing more is expected of this client: its connection is closed */
	unsigned retry_after; /* s: when the client may try again; 0: not said */
};

/* Takes a hold of the result over; NULL: there was no memory for it. Other answers end here. */
enum MHD_Result lode_answer_result(const struct lode_exchange *exchange, unsigned status, const char *type,
				   struct lode_shared_result *result);
/* Takes ownership of the bytes. */
enum MHD_Result lode_answer(const struct lode_exchange *exchange, unsigned status, const char *type,
			    struct lode_buffer *bytes);
/* {"error": sentence} */
enum MHD_Result lode_answer_error(const struct lode_exchange *exchange, unsigned status, const char *sentence);
enum MHD_Result lode_answer_error_n(const struct lode_exchange *exchange, unsigned status, const char *sentence,
				    size_t length);
/* The whole page of Lode. */
enum MHD_Result lode_answer_page(const struct lode_exchange *exchange, struct lode_buffer *page);
/* A sentence for people, without a full stop and without markup, as a page of its own. */
enum MHD_Result lode_answer_sentence(const struct lode_exchange *exchange, unsigned status, const char *sentence);
/* Leads to the page, with a cookie. */
enum MHD_Result lode_answer_cookie(const struct lode_exchange *exchange, const char *name, const char *value);

#endif
