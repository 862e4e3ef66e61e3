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
#include "serve/candidates.h"
#include "serve/metrics.h"
#include "serve/overview.h"
#include "serve/recognition.h"
#include "serve/routes.h"
#include "serve/signing.h"
#include "serve/symbol_answers.h"
#include "serve/uploads.h"

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
	struct lode_collector *collector;    /* the caller's; NULL: no uploads */
	struct lode_recognition *recognition;
	struct lode_candidate_search *candidates;
	char *corpus;
	char *title;
	struct lode_route_sources sources; /* the folders are the caller's */
	char *symptom;                     /* NULL: none */
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
	default: /* it runs, or waits for others */
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
		reading.code = lode_route_sources(route, &exchange->server->sources, &words, &error);
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

static enum MHD_Result answer_metrics(const struct exchange *exchange)
{
	struct lode_error error = { "" };
	struct lode_buffer text = { 0 };

	lode_candidate_search_write(exchange->server->candidates, &text);
	if (lode_metrics_write(&text, exchange->server->corpus, exchange->server->collector,
			       exchange->server->access.tokens, &error) == 0)
		return lode_answer(&exchange->with, MHD_HTTP_OK, LODE_METRICS_TYPE, &text);
	lode_buffer_release(&text);
	return lode_answer_error(&exchange->with, MHD_HTTP_INTERNAL_SERVER_ERROR, error.text);
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

/* Fills in what the request may do, and the cookie for a first visit. */
static enum lode_access_verdict judge(const struct exchange *exchange, int is_page, struct lode_grant *grant,
				      char cookie[LODE_COOKIE_TEXT])
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

	lode_access_grant(access, &request, grant);
	lode_access_cookie(access, &request, cookie);
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

#define REFUSAL_RIGHT "this token does not allow that; its rights are in the server's file of tokens"

/* Who may upload may ask which symbols are lacking. */
static int may_get(const struct exchange *exchange, const char *url, const struct lode_grant *grant)
{
	return grant->rights & LODE_RIGHT_READ ||
	       (grant->rights & LODE_RIGHT_UPLOAD && exchange->server->collector && !strcmp(url, LODE_SYMBOLS_URL));
}

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
	if (!strcmp(url, LODE_SYMBOLS_URL) && !cancel && exchange->server->collector)
		return lode_answer_symbols(&exchange->with, MHD_HTTP_OK, exchange->server->corpus,
					   exchange->server->http.lookup_connection_value(exchange->with.connection,
											  MHD_GET_ARGUMENT_KIND,
											  "build-ids"));
	if (!strcmp(url, "/metrics") && !cancel && exchange->server->corpus)
		return answer_metrics(exchange);
	if (!strcmp(url, "/") && !cancel)
		return lode_answer_overview(&exchange->with,
					    &(struct lode_overview){ .title = exchange->server->title,
								     .symptom = exchange->server->symptom,
								     .data = API,
								     .corpus = exchange->server->corpus,
								     .growing = exchange->server->growing });
	return lode_answer_error(&exchange->with, MHD_HTTP_NOT_FOUND, "there is nothing here; the page is at /");
}

static enum MHD_Result answer_request(const struct exchange *exchange, const char *url, const char *method,
				      int is_too_long)
{
	const struct lode_access *access = &exchange->server->access;
	char cookie[LODE_COOKIE_TEXT];
	struct lode_grant grant;

	if (is_too_long)
		return refuse(exchange, url, MHD_HTTP_URI_TOO_LONG,
			      "the address is too long, or has too many options");
	switch (judge(exchange, !strcmp(url, "/"), &grant, cookie)) {
	case LODE_ACCESS_GRANTED:
		return may_get(exchange, url, &grant) ? answer_granted(exchange, url, method)
						      : refuse(exchange, url, MHD_HTTP_FORBIDDEN, REFUSAL_RIGHT);
	case LODE_ACCESS_FIRST_VISIT:
		return lode_answer_cookie(&exchange->with, access->cookie, cookie);
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

/* ---- uploads: all that is posted ---- */

/* The headers of an upload are there. */
static struct lode_upload_body *begin_upload(const struct exchange *exchange, const char *url)
{
	struct lode_collector *collector = exchange->server->collector;
	char cookie[LODE_COOKIE_TEXT];
	struct lode_grant grant;
	unsigned status = MHD_HTTP_FORBIDDEN;
	const char *sentence;
	const char *corpus = exchange->server->growing ? NULL : exchange->server->corpus;
	int is_signing = corpus && !strcmp(url, LODE_SIGNING_URL);

	switch (judge(exchange, 0, &grant, cookie)) {
	case LODE_ACCESS_GRANTED:
		sentence = is_signing ? (grant.rights & LODE_RIGHT_ADMIN ? NULL : REFUSAL_RIGHT)
			   : collector && grant.rights & LODE_RIGHT_UPLOAD ? NULL
									   : REFUSAL_RIGHT;
		break;
	case LODE_ACCESS_OTHER_HOST:
		sentence = REFUSAL_HOST;
		break;
	case LODE_ACCESS_OTHER_SITE:
		sentence = REFUSAL_SITE;
		break;
	default:
		status = MHD_HTTP_UNAUTHORIZED;
		sentence = REFUSAL_TOKEN;
	}
	if (is_signing && !sentence)
		return lode_upload_body_signing(&exchange->with, corpus);
	if (!is_signing && !collector && sentence && status == MHD_HTTP_FORBIDDEN) {
		status = MHD_HTTP_METHOD_NOT_ALLOWED;
		sentence = "this server takes no uploads; start it with --collect";
	} else if (!sentence && !lode_uploads_has(url)) {
		status = MHD_HTTP_METHOD_NOT_ALLOWED;
		sentence = "this address takes no uploads; try /v1/streams";
	}
	return sentence ? lode_upload_body_refused(collector, &exchange->with, status, sentence)
			: lode_upload_body_begin(collector, &exchange->with, url, grant.name);
}

/* From now on its connection has the time that it needs. */
static void leave_alone(const struct exchange *exchange)
{
	lode_connection_begin_answer(exchange->server->connections,
				     connection_of(exchange->server, exchange->with.connection));
}

static enum MHD_Result answer_upload(const struct exchange *exchange, struct lode_upload_body *body)
{
	leave_alone(exchange);
	return lode_upload_body_answer(body, &exchange->with);
}

/* Called with the headers, then with each piece of the body, and when it is there as a whole. */
static enum MHD_Result handle_upload(const struct exchange *exchange, const char *url, const char *bytes,
				     size_t *size, void **state)
{
	struct lode_upload_body *body = *state;

	if (!body) {
		*state = body = begin_upload(exchange, url);
		if (!body)
			return MHD_NO;
		/* One that is refused must be there in the time of any request: nobody holds a connection without a token. */
		if (lode_upload_body_is_accepted(body))
			leave_alone(exchange);
		return lode_upload_body_is_answered(body) ? answer_upload(exchange, body) : MHD_YES;
	}
	if (*size) {
		int code = lode_upload_body_add(body, bytes, *size);

		*size = 0;
		return code < 0 ? MHD_NO : MHD_YES;
	}
	return answer_upload(exchange, body);
}

/* ---- what the library calls ---- */

/* The state of a request whose address is too long. */
static char too_long;

/* A request is there as a whole, or an upload in part. `*state` is what note_address returned, or an upload's. */
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
	if (*state != &too_long && !strcmp(method, MHD_HTTP_METHOD_POST))
		return handle_upload(&exchange, url, upload, upload_size, state);
	*upload_size = 0;
	leave_alone(&exchange);
	return answer_request(&exchange, url, method, *state != NULL);
}

static void handle_completion(void *context, struct MHD_Connection *connection, void **state,
			      enum MHD_RequestTerminationCode code)
{
	struct lode_server *server = context;

	(void)code;
	if (*state != &too_long)
		lode_upload_body_end(*state);
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
		code = lode_token_file_read(options->token_file, token, error);
	if (!code)
		code = lode_access_set_token(&server->access, options->token_file ? token : NULL, error);
	if (!code && options->tokens)
		code = lode_tokens_read(&server->access.tokens, options->tokens, error);
	if (!code && options->listen && !options->tokens)
		code = lode_fail(error, LODE_USAGE,
				 "--listen %s: others could reach this server; say who may with --tokens FILE",
				 options->listen);
	if (!code)
		code = options->listen ? lode_listener_open_address(&server->listener, options->listen,
								    options->port, error)
				       : lode_listener_open_port(&server->listener, options->port, error);
	lode_access_set_port(&server->access, server->listener.port);
	return code;
}

static char *address_with(const struct lode_server *server, const char *token)
{
	return lode_format("http://127.0.0.1:%u/?token=%s", (unsigned)server->listener.port, token);
}

/* Uploads wait for the disk, each in a thread of its own; analyses run elsewhere, and a few threads serve all others. */
static int start_daemon(struct lode_server *server, struct lode_error *error)
{
	unsigned collects = server->collector ? MHD_USE_THREAD_PER_CONNECTION : 0;

	errno = 0;
	/* Twice as many connections as are let in: those that were shut down take a moment to go. */
	server->daemon =
		server->http.start_daemon(MHD_USE_AUTO_INTERNAL_THREAD | MHD_USE_ITC | collects, 0, NULL, NULL,
					  handle_request, server, MHD_OPTION_LISTEN_SOCKET, server->listener.fd,
					  MHD_OPTION_THREAD_POOL_SIZE, collects ? 0 : (unsigned)THREADS,
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

	server->collector = options->collector;
	server->sources = options->sources;
	server->title = lode_strdup(options->title);
	server->symptom = options->symptom ? lode_strdup(options->symptom) : NULL;
	lode_page_policy(&server->policy);
	lode_buffer_text(&server->policy, "; frame-ancestors 'none'");
	lode_buffer_byte(&server->policy, '\0');
	if (!code && (!server->title || (options->symptom && !server->symptom) || server->policy.failed))
		code = lode_fail_memory(error);
	if (!code)
		code = lode_connections_make(&server->connections, &limits, error);
	if (!code)
		code = open_listener(server, options, error);
	if (code)
		return code;
	server->address = options->socket_path ? lode_strdup(options->socket_path)
			  : options->tokens
				  ? lode_format("http://%s:%u/", options->listen ? options->listen : "127.0.0.1",
						(unsigned)server->listener.port)
				  : address_with(server, server->access.token);
	return server->address ? start_daemon(server, error) : lode_fail_memory(error);
}

static void start_background(struct lode_server *server, const struct lode_server_options *options)
{
	const struct lode_candidate_search_keep keep = { .streams = options->keep, .sums = options->keep_sums };

	server->recognition = lode_recognition_start(server->jobs, server->corpus);
	server->candidates = lode_candidate_search_start(server->jobs, server->corpus, &keep);
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
	lode_overview_begin(made->jobs, corpus, made->symptom);
	if (made->collector)
		start_background(made, options);
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
	lode_recognition_end(server->recognition);
	lode_candidate_search_end(server->candidates);
	lode_connections_free(server->connections);
	lode_listener_close(&server->listener);
	lode_tokens_free(server->access.tokens);
	lode_access_release(&server->access);
	lode_jobs_free(server->jobs);
	lode_buffer_release(&server->policy);
	lode_free(server->corpus);
	lode_free(server->title);
	lode_free(server->symptom);
	lode_free(server->address);
	lode_free(server);
}
