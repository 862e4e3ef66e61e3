/* Answers of the server: see answers.h. */
#include "serve/answers.h"

#include "base/memory.h"
#include "result/server_answers.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define HTML "text/html; charset=utf-8"
#define JSON "application/json"

/* What is no page loads nothing and is shown nowhere. */
#define NO_PAGE_POLICY "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/* Of all answers. */
static const char *const headers[][2] = {
	{ "Cache-Control", "no-store" },
	{ "X-Content-Type-Options", "nosniff" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
	{ "Cross-Origin-Opener-Policy", "same-origin" },
	{ "X-Frame-Options", "DENY" },
};

static void release(void *result)
{
	lode_shared_result_release(result);
}

/* An answer without a result has no body. */
static struct MHD_Response *make_response(const struct lode_exchange *exchange, const char *type,
					  const char *policy, struct lode_shared_result *result)
{
	const struct lode_http_library *http = exchange->http;
	const char *bytes = result ? lode_shared_result_bytes(result) : "";
	/* It is only read there, which not all versions of the library declare. */
	struct MHD_Response *response =
		http->create_response_with_free_callback(result ? lode_shared_result_size(result) : 0,
							 (void *)(uintptr_t)bytes, release, result);

	if (!response) {
		lode_shared_result_release(result);
		return NULL;
	}
	http->add_response_header(response, "Content-Type", type);
	http->add_response_header(response, "Content-Security-Policy", policy);
	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
		http->add_response_header(response, headers[i][0], headers[i][1]);
	if (exchange->retry_after) {
		char seconds[16];

		snprintf(seconds, sizeof(seconds), "%u", exchange->retry_after);
		http->add_response_header(response, "Retry-After", seconds);
	}
	if (exchange->is_refused)
		http->add_response_header(response, "Connection", "close");
	return response;
}

static enum MHD_Result send_response(const struct lode_exchange *exchange, unsigned status,
				     struct MHD_Response *response)
{
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	if (status == MHD_HTTP_UNAUTHORIZED)
		exchange->http->add_response_header(response, "WWW-Authenticate", "Bearer");
	result = exchange->http->queue_response(exchange->connection, status, response);
	exchange->http->destroy_response(response);
	return result;
}

enum MHD_Result lode_answer_result(const struct lode_exchange *exchange, unsigned status, const char *type,
				   struct lode_shared_result *result)
{
	return send_response(exchange, result ? status : MHD_HTTP_INTERNAL_SERVER_ERROR,
			     make_response(exchange, type, NO_PAGE_POLICY, result));
}

enum MHD_Result lode_answer(const struct lode_exchange *exchange, unsigned status, const char *type,
			    struct lode_buffer *bytes)
{
	return lode_answer_result(exchange, status, type, lode_shared_result_make(bytes));
}

enum MHD_Result lode_answer_error_n(const struct lode_exchange *exchange, unsigned status, const char *sentence,
				    size_t length)
{
	struct lode_error_answer answer = lode_error_answer(sentence, length);
	struct lode_buffer body = { 0 };

	lode_fields_line(&lode_error_answer_fields, &answer, &body);
	return lode_answer(exchange, status, JSON, &body);
}

enum MHD_Result lode_answer_error(const struct lode_exchange *exchange, unsigned status, const char *sentence)
{
	return lode_answer_error_n(exchange, status, sentence, strlen(sentence));
}

enum MHD_Result lode_answer_page(const struct lode_exchange *exchange, struct lode_buffer *page)
{
	struct lode_shared_result *result = lode_shared_result_make(page);

	return send_response(exchange, result ? MHD_HTTP_OK : MHD_HTTP_INTERNAL_SERVER_ERROR,
			     make_response(exchange, HTML, exchange->policy, result));
}

enum MHD_Result lode_answer_sentence(const struct lode_exchange *exchange, unsigned status, const char *sentence)
{
	struct lode_buffer page = { 0 };

	lode_buffer_print(&page,
			  "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
			  "<meta name=\"viewport\" content=\"width=device-width\"><title>Lode</title></head>"
			  "<body><h1>Lode</h1><p>%c%s.</p></body></html>\n",
			  toupper((unsigned char)sentence[0]), sentence + 1);
	return lode_answer(exchange, status, HTML, &page);
}

enum MHD_Result lode_answer_cookie(const struct lode_exchange *exchange, const char *name, const char *value)
{
	char *cookie = lode_format("%s=%s; Path=/; HttpOnly; SameSite=Strict", name, value);
	struct MHD_Response *response = cookie ? make_response(exchange, HTML, NO_PAGE_POLICY, NULL) : NULL;

	if (response) {
		exchange->http->add_response_header(response, "Set-Cookie", cookie);
		exchange->http->add_response_header(response, "Location", "/");
	}
	lode_free(cookie);
	return send_response(exchange, MHD_HTTP_SEE_OTHER, response);
}
