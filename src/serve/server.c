/*
 * The server: see server.h. It listens on the loopback interface or on a Unix socket, and refuses requests that
 * access.h does not let in before it looks at what they ask for.
 *
 * Some limits are the library's (libmicrohttpd): memory of a request, no progress for a minute. The one on addresses is
 * ours, because version 0.9.75 has no answer for one whose options take more memory than a request has.
 */
#include "serve/server.h"

#include "base/memory.h"
#include "base/starts_with.h"
#include "page/page.h"
#include "result/server_answers.h"
#include "serve/access.h"
#include "serve/answers.h"
#include "serve/connections.h"
#include "serve/growing_result.h"
#include "serve/jobs.h"
#include "serve/listener.h"
#include "serve/routes.h"
#include "store/corpus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define API          "/api/"
#define THREADS      4
#define TIMEOUT      60u /* s without any progress */
#define REQUEST_ROOM (128u << 10)

#define MAX_CONNECTIONS 256
#define REQUEST_NS      10000000000ull /* until a request must be there */
#define MAX_ADDRESS     8192           /* bytes, with all options */
#define MAX_OPTIONS     128

struct lode_server {
	struct lode_http_library http;
	struct lode_access access;
	struct lode_listener listener;
	struct lode_connections *connections;
	struct MHD_Daemon *daemon;
	struct lode_jobs *jobs;
	struct lode_growing_result *growing; /* not NULL: instead of a corpus; the caller's */
	char *corpus;
	char *title;
	char *address;
	struct lode_buffer policy; /* of the page, ends with a NUL */
};

/* A request that is being answered by this server. */
struct exchange {
	struct lode_exchange with;
	struct lode_server *server;
};

static enum MHD_Result answer_progress(const struct exchange *exchange, const struct lode_job_view *view)
{
	struct lode_progress_answer answer = { "running", view->phase, view->done, view->total };
	struct lode_buffer body = { 0 };

	lode_fields_line(&lode_progress_answer_fields, &answer, &body);
	return lode_answer(&exchange->with, MHD_HTTP_ACCEPTED, "application/json", &body);
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
		return lode_answer_error(&exchange->with, MHD_HTTP_INTERNAL_SERVER_ERROR, error.text);
	}
	return lode_answer_page(&exchange->with, &page);
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
		return lode_answer_error(&exchange->with, MHD_HTTP_INTERNAL_SERVER_ERROR, error.text);
	switch (view.state) {
	case LODE_JOB_DONE:
		result = lode_answer_result(&exchange->with, MHD_HTTP_OK, route->type,
					    lode_shared_result_hold(view.result));
		break;
	case LODE_JOB_FAILED:
		result = lode_answer_error_n(&exchange->with, 422, view.message.bytes, view.message.size);
		break;
	case LODE_JOB_BUSY:
		result = lode_answer_error(&exchange->with, MHD_HTTP_SERVICE_UNAVAILABLE,
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
		return lode_answer_error(&exchange->with, MHD_HTTP_NOT_FOUND,
					 "there is no such analysis; docs/api.md lists them");
	reading.code = lode_route_begin(route, exchange->server->corpus, id, &words, &error);
	if (!reading.code)
		exchange->server->http.get_connection_values(exchange->with.connection, MHD_GET_ARGUMENT_KIND,
							     read_option, &reading);
	if (reading.code) {
		result = lode_answer_error(&exchange->with, MHD_HTTP_BAD_REQUEST, error.text);
	} else if (cancel) {
		lode_jobs_cancel(exchange->server->jobs, words.items);
		result = lode_answer(&exchange->with, MHD_HTTP_NO_CONTENT, "application/json",
				     &(struct lode_buffer){ 0 });
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
	const char *seen = exchange->server->http.lookup_connection_value(exchange->with.connection,
									  MHD_GET_ARGUMENT_KIND, "seen");
	struct lode_job_view starting = { .phase = "starting" };
	struct lode_shared_result *latest;
	uint64_t version;

	if (strcmp(name, lode_growing_name(exchange->server->growing)) != 0)
		return lode_answer_error(&exchange->with, MHD_HTTP_NOT_FOUND, "there is no such result");
	version = lode_growing_get(exchange->server->growing, seen ? strtoull(seen, NULL, 10) : 0, &latest);
	if (!version)
		return answer_progress(exchange, &starting);
	if (latest)
		return lode_answer_result(&exchange->with, MHD_HTTP_OK, "application/json", latest);
	return lode_answer(&exchange->with, MHD_HTTP_NO_CONTENT, "application/json", &(struct lode_buffer){ 0 });
}

/* ---- who asks ---- */

#define REFUSAL_HOST                                                                                              \
	"this server answers only requests for 127.0.0.1, localhost or [::1] with its own port; use the same "    \
	"port at both ends of a tunnel"
#define REFUSAL_SITE                                                                                              \
	"this request comes from a page of another site; open the address that lode printed in the address bar "  \
	"of the browser"
#define REFUSAL_TOKEN                                                                                             \
	"a token is needed: open the address that lode printed when it started, or send the token in it as "      \
	"Authorization: Bearer TOKEN"

static const char *find_header(const struct exchange *exchange, const char *name)
{
	return exchange->with.http->lookup_connection_value(exchange->with.connection, MHD_HEADER_KIND, name);
}

static enum lode_access_verdict judge(const struct exchange *exchange, int is_page)
{
	const struct lode_http_library *http = exchange->with.http;
	struct MHD_Connection *connection = exchange->with.connection;
	struct lode_access *access = &exchange->server->access;
	const struct lode_access_request request = {
		.host = find_header(exchange, "Host"),
		.origin = find_header(exchange, "Origin"),
		.fetch_site = find_header(exchange, "Sec-Fetch-Site"),
		.authorization = find_header(exchange, "Authorization"),
		.session = http->lookup_connection_value(connection, MHD_COOKIE_KIND, access->cookie),
		.token = is_page ? http->lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token") : NULL,
	};

	return lode_access_check(access, &request);
}

/* People get a page that they can read, programs JSON. */
static enum MHD_Result refuse(const struct exchange *exchange, const char *url, unsigned status,
			      const char *sentence)
{
	struct lode_exchange last = exchange->with;

	last.is_refused = 1;
	return lode_starts_with(url, API) ? lode_answer_error(&last, status, sentence)
					  : lode_answer_sentence(&last, status, sentence);
}

/* ---- requests ---- */

static enum MHD_Result answer_granted(const struct exchange *exchange, const char *url, const char *method)
{
	int cancel = !strcmp(method, MHD_HTTP_METHOD_DELETE);

	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0 && !cancel)
		return lode_answer_error(&exchange->with, MHD_HTTP_METHOD_NOT_ALLOWED,
					 "only GET and DELETE are known here");
	if (lode_starts_with(url, API) && exchange->server->growing)
		return answer_growing(exchange, url + strlen(API));
	if (lode_starts_with(url, API))
		return answer_api(exchange, url + strlen(API), cancel);
	if (!strcmp(url, "/") && !cancel)
		return answer_page(exchange);
	return lode_answer_error(&exchange->with, MHD_HTTP_NOT_FOUND, "there is nothing here; the page is at /");
}

static enum MHD_Result answer_request(const struct exchange *exchange, const char *url, const char *method,
				      int is_too_long)
{
	const struct lode_access *access = &exchange->server->access;

	if (is_too_long)
		return refuse(exchange, url, MHD_HTTP_URI_TOO_LONG,
			      "the address is too long, or has too many options");
	switch (judge(exchange, !strcmp(url, "/"))) {
	case LODE_ACCESS_GRANTED:
		return answer_granted(exchange, url, method);
	case LODE_ACCESS_FIRST_VISIT:
		return lode_answer_cookie(&exchange->with, access->cookie, access->session);
	case LODE_ACCESS_OTHER_HOST:
		return refuse(exchange, url, MHD_HTTP_FORBIDDEN, REFUSAL_HOST);
	case LODE_ACCESS_OTHER_SITE:
		return refuse(exchange, url, MHD_HTTP_FORBIDDEN, REFUSAL_SITE);
	default:
		return refuse(exchange, url, MHD_HTTP_UNAUTHORIZED, REFUSAL_TOKEN);
	}
}

static struct lode_connection *connection_of(struct lode_server *server, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		server->http.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* ---- what the library calls ---- */

/* A request is there as a whole. `*state` is what note_address returned. */
static enum MHD_Result handle_request(void *context, struct MHD_Connection *connection, const char *url,
				      const char *method, const char *version, const char *upload,
				      size_t *upload_size, void **state)
{
	struct lode_server *server = context;
	const struct exchange exchange = {
		.with = { .http = &server->http, .connection = connection, .policy = server->policy.bytes },
		.server = server,
	};

	(void)version;
	(void)upload;
	*upload_size = 0;
	lode_connection_begin_answer(server->connections, connection_of(server, connection));
	return answer_request(&exchange, url, method, *state != NULL);
}

static void handle_completion(void *context, struct MHD_Connection *connection, void **state,
			      enum MHD_RequestTerminationCode code)
{
	struct lode_server *server = context;

	(void)code;
	*state = NULL;
	lode_connection_end_answer(server->connections, connection_of(server, connection));
}

static int is_too_long(const char *address)
{
	size_t options = 0, length = 0;

	for (; address[length] && length <= MAX_ADDRESS; length++)
		options += address[length] == '&';
	return length > MAX_ADDRESS || options >= MAX_OPTIONS;
}

/*
 * Sees an address before the library takes its options apart. Where that is too much work it must not come to it: the
 * options are cut off, in the library's own buffer, and the request is refused when it is there as a whole.
 */
static void *note_address(void *context, const char *address, struct MHD_Connection *connection)
{
	static char too_long;
	char *options;

	(void)context;
	(void)connection;
	if (!address || !is_too_long(address))
		return NULL;
	options = strchr(address, '?');
	if (options)
		options[1] = '\0';
	return &too_long;
}

static void handle_connection(void *context, struct MHD_Connection *connection, void **socket_context,
			      enum MHD_ConnectionNotificationCode code)
{
	struct lode_server *server = context;
	const union MHD_ConnectionInfo *info;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		lode_connections_remove(server->connections, *socket_context);
		*socket_context = NULL;
		return;
	}
	info = server->http.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	*socket_context = info ? lode_connections_add(server->connections, info->connect_fd) : NULL;
	if (info && !*socket_context)
		shutdown(info->connect_fd, SHUT_RDWR);
}

/* ---- the whole ---- */

static int open_listener(struct lode_server *server, const struct lode_server_options *options,
			 struct lode_error *error)
{
	char token[LODE_MAX_TOKEN + 1];
	int code = 0;

	if (options->socket_path)
		return lode_listener_open_path(&server->listener, options->socket_path, error);
	if (options->token_file)
		code = lode_access_read_token(options->token_file, token, error);
	if (!code)
		code = lode_access_set_token(&server->access, options->token_file ? token : NULL, error);
	if (!code)
		code = lode_listener_open_port(&server->listener, options->port, error);
	lode_access_set_port(&server->access, server->listener.port);
	return code;
}

static char *address_with(const struct lode_server *server, const char *token)
{
	return lode_format("http://127.0.0.1:%u/?token=%s", (unsigned)server->listener.port, token);
}

static int start_daemon(struct lode_server *server, struct lode_error *error)
{
	errno = 0;
	/* Twice as many connections as are let in: those that were shut down take a moment to go. */
	server->daemon =
		server->http.start_daemon(MHD_USE_AUTO_INTERNAL_THREAD | MHD_USE_ITC, 0, NULL, NULL,
					  handle_request, server, MHD_OPTION_LISTEN_SOCKET, server->listener.fd,
					  MHD_OPTION_THREAD_POOL_SIZE, (unsigned)THREADS,
					  MHD_OPTION_CONNECTION_TIMEOUT, TIMEOUT, MHD_OPTION_CONNECTION_LIMIT,
					  2u * MAX_CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
					  (size_t)REQUEST_ROOM, MHD_OPTION_URI_LOG_CALLBACK, note_address, server,
					  MHD_OPTION_NOTIFY_COMPLETED, handle_completion, server,
					  MHD_OPTION_NOTIFY_CONNECTION, handle_connection, server, MHD_OPTION_END);
	if (!server->daemon)
		return lode_fail(error, LODE_SYSTEM, "cannot start a server: %s",
				 errno ? strerror(errno) : "libmicrohttpd refuses it");
	server->listener.fd = -1; /* the daemon closes it */
	return 0;
}

static int start(struct lode_server *server, const struct lode_server_options *options, struct lode_error *error)
{
	const struct lode_connections_limits limits = { MAX_CONNECTIONS, REQUEST_NS };
	int code = lode_http_library_load(&server->http, error);

	server->title = lode_strdup(options->title);
	lode_page_policy(&server->policy);
	lode_buffer_text(&server->policy, "; frame-ancestors 'none'");
	lode_buffer_byte(&server->policy, '\0');
	if (!code && (!server->title || server->policy.failed))
		code = lode_fail_memory(error);
	if (!code)
		code = lode_connections_make(&server->connections, &limits, error);
	if (!code)
		code = open_listener(server, options, error);
	if (code)
		return code;
	server->address = options->socket_path ? lode_strdup(options->socket_path)
					       : address_with(server, server->access.token);
	return server->address ? start_daemon(server, error) : lode_fail_memory(error);
}

static struct lode_server *make_server(void)
{
	struct lode_server *server = lode_calloc(1, sizeof(*server));

	if (server) {
		lode_access_init(&server->access);
		server->listener.fd = -1;
	}
	return server;
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

int lode_server_start(struct lode_server **server, const char *corpus, const struct lode_server_options *options,
		      struct lode_error *error)
{
	struct lode_server *made = make_server();
	int code;

	*server = NULL;
	if (!made)
		return lode_fail_memory(error);
	made->corpus = lode_strdup(corpus);
	code = made->corpus ? lode_jobs_make(&made->jobs, corpus, LODE_JOBS_KEEP_CACHE, error)
			    : lode_fail_memory(error);
	if (!code)
		code = start(made, options, error);
	if (code) {
		lode_server_end(made);
		return code;
	}
	begin_overview(made);
	*server = made;
	return 0;
}

int lode_server_start_growing(struct lode_server **server, struct lode_growing_result *growing,
			      const struct lode_server_options *options, struct lode_error *error)
{
	struct lode_server *made = make_server();
	int code;

	*server = NULL;
	if (!made)
		return lode_fail_memory(error);
	made->growing = growing;
	code = start(made, options, error);
	if (code)
		lode_server_end(made);
	else
		*server = made;
	return code;
}

const char *lode_server_address(const struct lode_server *server)
{
	return server->address;
}

char *lode_server_address_once(struct lode_server *server)
{
	const char *token = server->listener.port ? lode_access_make_once(&server->access) : NULL;

	return token ? address_with(server, token) : NULL;
}

void lode_server_end(struct lode_server *server)
{
	if (!server)
		return;
	if (server->daemon)
		server->http.stop_daemon(server->daemon);
	lode_connections_free(server->connections);
	lode_listener_close(&server->listener);
	lode_access_release(&server->access);
	lode_jobs_free(server->jobs);
	lode_buffer_release(&server->policy);
	lode_free(server->corpus);
	lode_free(server->title);
	lode_free(server->address);
	lode_free(server);
}
