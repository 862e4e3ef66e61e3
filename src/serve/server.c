/*
 * The server: see server.h. It listens only on the loopback interface, and answers only
 * requests that name this machine as their host, so that no page from elsewhere can read
 * a corpus through a browser (DNS rebinding).
 */
#include "serve/server.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/starts_with.h"
#include "page/page.h"
#include "serve/jobs.h"
#include "serve/growing_result.h"
#include "serve/http_library.h"
#include "serve/routes.h"
#include "store/corpus.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API     "/api/"
#define THREADS 4

struct lode_server {
	struct lode_http_library http;
	struct MHD_Daemon *daemon;
	struct lode_jobs *jobs;
	struct lode_growing_result *growing; /* not NULL: instead of a corpus; the caller's */
	char *corpus;
	char *title;
	uint16_t port;
};

/* A request that is being answered. */
struct exchange {
	struct lode_server *server;
	struct MHD_Connection *connection;
};

/* ---- answers ---- */

static const char *const headers[][2] = {
	{ "Cache-Control", "no-store" },      { "X-Content-Type-Options", "nosniff" },
	{ "Referrer-Policy", "no-referrer" }, { "Cross-Origin-Resource-Policy", "same-origin" },
	{ "X-Frame-Options", "DENY" },
};

static void release(void *result)
{
	lode_shared_result_release(result);
}

/* Takes a hold of the result over; NULL: there was no memory for it. */
static enum MHD_Result answer_result(const struct exchange *exchange, unsigned status, const char *type,
				     struct lode_shared_result *shared)
{
	const struct lode_http_library *http = &exchange->server->http;
	const char *bytes = shared ? lode_shared_result_bytes(shared) : "";
	/* It is only read there, which not all versions of the library declare. */
	struct MHD_Response *response =
		http->create_response_with_free_callback(shared ? lode_shared_result_size(shared) : 0,
							 (void *)(uintptr_t)bytes, release, shared);
	enum MHD_Result result;

	if (!response) {
		lode_shared_result_release(shared);
		return MHD_NO;
	}
	http->add_response_header(response, "Content-Type", type);
	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
		http->add_response_header(response, headers[i][0], headers[i][1]);
	result = http->queue_response(exchange->connection, shared ? status : MHD_HTTP_INTERNAL_SERVER_ERROR,
				      response);
	http->destroy_response(response);
	return result;
}

/* Takes ownership of the bytes. */
static enum MHD_Result answer(const struct exchange *exchange, unsigned status, const char *type,
			      struct lode_buffer *body)
{
	return answer_result(exchange, status, type, lode_shared_result_make(body));
}

static enum MHD_Result answer_error(const struct exchange *exchange, unsigned status, const char *sentence,
				    size_t length)
{
	struct lode_buffer body = { 0 };
	struct lode_json json = { .buffer = &body };

	lode_json_object(&json);
	lode_json_key(&json, "error");
	lode_json_text_n(&json, sentence, length);
	lode_json_object_end(&json);
	lode_json_line(&json);
	return answer(exchange, status, "application/json", &body);
}

static enum MHD_Result refuse(const struct exchange *exchange, unsigned status, const char *sentence)
{
	return answer_error(exchange, status, sentence, strlen(sentence));
}

static enum MHD_Result answer_progress(const struct exchange *exchange, const struct lode_job_view *view)
{
	struct lode_buffer body = { 0 };
	struct lode_json json = { .buffer = &body };

	lode_json_object(&json);
	lode_json_key_text(&json, "state", "running");
	lode_json_key_text(&json, "phase", view->phase);
	lode_json_key_u64(&json, "done", view->done);
	lode_json_key_u64(&json, "total", view->total);
	lode_json_object_end(&json);
	lode_json_line(&json);
	return answer(exchange, MHD_HTTP_ACCEPTED, "application/json", &body);
}

/* ---- the page ---- */

static int write_blocks(struct lode_server *server, struct lode_page_index *index, struct lode_error *error)
{
	struct lode_corpus_list list = { 0 };
	struct lode_corpus *corpus;
	int code = lode_corpus_open(&corpus, server->corpus, LODE_CORPUS_READ, error);

	if (code)
		return code;
	code = lode_corpus_streams(corpus, &list, error);
	for (const struct lode_route *route = lode_routes; route->name && !code; route++)
		if (route->name[strlen(route->name) - 1] != '/')
			lode_page_index_block(index, route->name);
	for (size_t i = 0; i < list.count && !code; i++) {
		char name[48];

		snprintf(name, sizeof(name), "stream/%s", list.items[i].id);
		lode_page_index_block(index, name);
	}
	lode_corpus_list_release(&list);
	lode_corpus_close(corpus);
	return code;
}

static enum MHD_Result answer_page(const struct exchange *exchange)
{
	struct lode_buffer page = { 0 };
	struct lode_page_index index;
	struct lode_error error = { "" };
	int code;

	lode_page_index_begin(&index, exchange->server->title, API);
	if (exchange->server->growing)
		lode_page_index_block(&index, lode_growing_name(exchange->server->growing));
	code = exchange->server->growing ? 0 : write_blocks(exchange->server, &index, &error);
	lode_page_index_end(&index);
	if (!code) {
		lode_page_begin_with(&page, exchange->server->title, &index);
		lode_page_end(&page);
	}
	lode_page_index_release(&index);
	if (code) {
		lode_buffer_release(&page);
		return refuse(exchange, MHD_HTTP_INTERNAL_SERVER_ERROR, error.text);
	}
	return answer(exchange, MHD_HTTP_OK, "text/html; charset=utf-8", &page);
}

/* ---- analyses ---- */

struct reading {
	const struct lode_route *route;
	struct lode_text_list *words;
	struct lode_error *error;
	int code;
};

static enum MHD_Result read_option(void *context, enum MHD_ValueKind kind, const char *key, const char *value)
{
	struct reading *reading = context;

	(void)kind;
	if (!reading->code)
		reading->code = lode_route_option(reading->route, key, value, reading->words, reading->error);
	return reading->code ? MHD_NO : MHD_YES;
}

static enum MHD_Result answer_job(const struct exchange *exchange, const struct lode_route *route,
				  const struct lode_text_list *words)
{
	struct lode_error error = { "" };
	struct lode_job_view view;
	enum MHD_Result result;

	if (lode_jobs_ask(exchange->server->jobs, words->items, &view, &error))
		return refuse(exchange, MHD_HTTP_INTERNAL_SERVER_ERROR, error.text);
	switch (view.state) {
	case LODE_JOB_DONE:
		result = answer_result(exchange, MHD_HTTP_OK, route->type, lode_shared_result_hold(view.result));
		break;
	case LODE_JOB_FAILED:
		result = answer_error(exchange, 422, view.message.bytes, view.message.size);
		break;
	case LODE_JOB_BUSY:
		result = refuse(exchange, MHD_HTTP_SERVICE_UNAVAILABLE,
				"too many analyses are running; wait for one, or cancel one");
		break;
	default:
		result = answer_progress(exchange, &view);
	}
	lode_job_view_release(&view);
	return result;
}

static enum MHD_Result answer_api(const struct exchange *exchange, const char *name, int cancel)
{
	struct lode_error error = { "" };
	struct lode_text_list words = { 0 };
	const char *id;
	const struct lode_route *route = lode_route_find(name, &id);
	struct reading reading = { route, &words, &error, 0 };
	enum MHD_Result result;

	if (!route)
		return refuse(exchange, MHD_HTTP_NOT_FOUND, "there is no such analysis; docs/api.md lists them");
	reading.code = lode_route_begin(route, exchange->server->corpus, id, &words, &error);
	if (!reading.code)
		exchange->server->http.get_connection_values(exchange->connection, MHD_GET_ARGUMENT_KIND,
							     read_option, &reading);
	if (reading.code) {
		result = refuse(exchange, MHD_HTTP_BAD_REQUEST, error.text);
	} else if (cancel) {
		lode_jobs_cancel(exchange->server->jobs, words.items);
		result = answer(exchange, MHD_HTTP_NO_CONTENT, "application/json", &(struct lode_buffer){ 0 });
	} else {
		result = answer_job(exchange, route, &words);
	}
	lode_text_list_release(&words);
	return result;
}

/* ---- a result that is still being made ---- */

/* Without a body when it is as `seen` says. */
static enum MHD_Result answer_growing(const struct exchange *exchange, const char *name)
{
	const char *seen = exchange->server->http.lookup_connection_value(exchange->connection,
									  MHD_GET_ARGUMENT_KIND, "seen");
	struct lode_job_view starting = { .phase = "starting" };
	struct lode_shared_result *latest;
	uint64_t version;

	if (strcmp(name, lode_growing_name(exchange->server->growing)) != 0)
		return refuse(exchange, MHD_HTTP_NOT_FOUND, "there is no such result");
	version = lode_growing_get(exchange->server->growing, seen ? strtoull(seen, NULL, 10) : 0, &latest);
	if (!version)
		return answer_progress(exchange, &starting);
	if (latest)
		return answer_result(exchange, MHD_HTTP_OK, "application/json", latest);
	return answer(exchange, MHD_HTTP_NO_CONTENT, "application/json", &(struct lode_buffer){ 0 });
}

/* ---- requests ---- */

static int is_this_machine(const struct exchange *exchange)
{
	static const char *const names[] = { "127.0.0.1", "localhost", "[::1]" };
	const char *host = exchange->server->http.lookup_connection_value(exchange->connection, MHD_HEADER_KIND,
									  MHD_HTTP_HEADER_HOST);

	for (size_t i = 0; host && i < sizeof(names) / sizeof(*names); i++) {
		size_t length = strlen(names[i]);

		if (!strncmp(host, names[i], length) && (!host[length] || host[length] == ':'))
			return 1;
	}
	return 0;
}

static enum MHD_Result take(void *context, struct MHD_Connection *connection, const char *url, const char *method,
			    const char *version, const char *upload, size_t *upload_size, void **state)
{
	struct lode_server *server = context;
	const struct exchange exchange = { server, connection };
	int cancel = !strcmp(method, MHD_HTTP_METHOD_DELETE);

	(void)version;
	(void)upload;
	(void)state;
	*upload_size = 0;
	if (!is_this_machine(&exchange))
		return refuse(&exchange, MHD_HTTP_FORBIDDEN, "this server answers requests for this machine alone");
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD) && !cancel)
		return refuse(&exchange, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and DELETE are known here");
	if (lode_starts_with(url, API) && server->growing)
		return answer_growing(&exchange, url + strlen(API));
	if (lode_starts_with(url, API))
		return answer_api(&exchange, url + strlen(API), cancel);
	if (!strcmp(url, "/") && !cancel)
		return answer_page(&exchange);
	return refuse(&exchange, MHD_HTTP_NOT_FOUND, "there is nothing here; the page is at /");
}

/* ---- the whole ---- */

static int listen_on(struct lode_server *server, uint16_t port, struct lode_error *error)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	const union MHD_DaemonInfo *info;
	int code = lode_http_library_load(&server->http, error);

	if (code < 0)
		return code;
	errno = 0;
	server->daemon = server->http.start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, port, NULL, NULL, take, server,
						   MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_THREAD_POOL_SIZE,
						   THREADS, MHD_OPTION_CONNECTION_TIMEOUT, 60u, MHD_OPTION_END);
	if (!server->daemon)
		return lode_fail(error, LODE_SYSTEM, "cannot listen on port %u: %s; choose another with --port",
				 (unsigned)port, errno ? strerror(errno) : "it is in use");
	info = server->http.get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
	server->port = info ? info->port : port;
	return 0;
}

/* Starts an analysis ahead of its request, which reports the error if this fails. */
static void begin_early(struct lode_server *server, const char *name, const char *option)
{
	struct lode_error error = { "" };
	struct lode_text_list words = { 0 };
	struct lode_job_view view = { 0 };
	const char *id;
	const struct lode_route *route = lode_route_find(name, &id);

	if (!lode_route_begin(route, server->corpus, id, &words, &error) &&
	    !lode_route_option(route, option, NULL, &words, &error))
		lode_jobs_ask(server->jobs, words.items, &view, &error);
	lode_job_view_release(&view);
	lode_text_list_release(&words);
}

/* What the overview shows first (web/src/views/overview.tsx): it is done, or on its way, when a browser asks. */
static void begin_overview(struct lode_server *server)
{
	begin_early(server, "info", "brief");
	begin_early(server, "mine", LODE_ROUTE_PAGE_DATA);
	begin_early(server, "mine-run", LODE_ROUTE_PAGE_DATA);
}

int lode_server_start(struct lode_server **server, const char *corpus, const char *title, uint16_t port,
		      struct lode_error *error)
{
	struct lode_server *made = lode_calloc(1, sizeof(*made));
	int code;

	*server = made;
	if (!made)
		return lode_fail_memory(error);
	made->corpus = lode_strdup(corpus);
	made->title = lode_strdup(title);
	code = made->corpus && made->title ? lode_jobs_make(&made->jobs, corpus, LODE_JOBS_KEEP_CACHE, error)
					   : lode_fail_memory(error);
	if (!code)
		code = listen_on(made, port, error);
	if (!code) {
		begin_overview(made);
		return 0;
	}
	lode_server_end(made);
	*server = NULL;
	return code;
}

int lode_server_start_growing(struct lode_server **server, struct lode_growing_result *growing, const char *title,
			      uint16_t port, struct lode_error *error)
{
	struct lode_server *made = lode_calloc(1, sizeof(*made));
	int code;

	*server = made;
	if (!made)
		return lode_fail_memory(error);
	made->growing = growing;
	made->title = lode_strdup(title);
	code = made->title ? listen_on(made, port, error) : lode_fail_memory(error);
	if (code) {
		lode_server_end(made);
		*server = NULL;
	}
	return code;
}

uint16_t lode_server_port(const struct lode_server *server)
{
	return server->port;
}

void lode_server_end(struct lode_server *server)
{
	if (!server)
		return;
	if (server->daemon)
		server->http.stop_daemon(server->daemon);
	lode_jobs_free(server->jobs);
	lode_free(server->corpus);
	lode_free(server->title);
	lode_free(server);
}
