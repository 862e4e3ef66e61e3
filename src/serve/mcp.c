/*
 * A Model Context Protocol server: see mcp.h. One request at a time. Messages are checked as a whole before
 * anything in them is read (base/json_read.h), which also limits how deep they are nested.
 */
#include "serve/mcp.h"

#include "base/file.h"
#include "base/json.h"
#include "base/json_read.h"
#include "base/memory.h"
#include "base/starts_with.h"
#include "serve/jobs.h"
#include "serve/routes.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define PROTOCOL      "2025-06-18"
#define MAX_LINE      (1u << 20)
#define MAX_ANSWER    100000 /* bytes of a tool's text */
#define TREE_MIN      "10%"
#define BETWEEN_LOOKS 20000 /* us */

/* Errors of JSON-RPC. */
#define PARSE_ERROR      (-32700)
#define INVALID_REQUEST  (-32600)
#define METHOD_NOT_FOUND (-32601)
#define INVALID_PARAMS   (-32602)

struct mcp {
	const char *corpus;
	int out;
	int (*stopped)(void);
	struct lode_jobs *jobs;
	struct lode_buffer answer;
	struct lode_json json;
};

/* ---- answers ---- */

static void put_raw(struct mcp *mcp, const char *value)
{
	lode_json_raw(&mcp->json, value, strlen(value));
}

static void put_text(struct mcp *mcp, struct lode_json_value text)
{
	struct lode_buffer bytes = { 0 };

	lode_json_text_to(text, &bytes);
	lode_json_text_n(&mcp->json, bytes.size ? bytes.bytes : "", bytes.size);
	mcp->answer.failed |= bytes.failed;
	lode_buffer_release(&bytes);
}

static void put_id(struct mcp *mcp, struct lode_json_value id)
{
	lode_json_key(&mcp->json, "id");
	if (lode_json_kind(id) == LODE_JSON_TEXT)
		put_text(mcp, id);
	else if (lode_json_kind(id) == LODE_JSON_NUMBER)
		lode_json_raw(&mcp->json, id.at, lode_json_length(id));
	else
		lode_json_null(&mcp->json);
}

static void begin(struct mcp *mcp, struct lode_json_value id)
{
	lode_buffer_clear(&mcp->answer);
	mcp->json = (struct lode_json){ .buffer = &mcp->answer };
	lode_json_object(&mcp->json);
	lode_json_key_text(&mcp->json, "jsonrpc", "2.0");
	put_id(mcp, id);
}

static int send(struct mcp *mcp, struct lode_error *error)
{
	lode_json_object_end(&mcp->json);
	lode_json_line(&mcp->json);
	if (mcp->answer.failed)
		return lode_fail_memory(error);
	return lode_file_write(mcp->out, mcp->answer.bytes, mcp->answer.size, "standard output", error);
}

static int send_error(struct mcp *mcp, struct lode_json_value id, int number, const char *sentence,
		      struct lode_error *error)
{
	begin(mcp, id);
	lode_json_key_object(&mcp->json, "error");
	lode_json_key(&mcp->json, "code");
	lode_json_i64(&mcp->json, number);
	lode_json_key_text(&mcp->json, "message", sentence);
	lode_json_object_end(&mcp->json);
	return send(mcp, error);
}

/* ---- initialize, tools/list ---- */

static int initialize(struct mcp *mcp, struct lode_json_value id, struct lode_json_value params,
		      struct lode_error *error)
{
	struct lode_json_value version = lode_json_get(params, "protocolVersion");

	begin(mcp, id);
	lode_json_key_object(&mcp->json, "result");
	/* Older versions are the same as far as tools go. */
	lode_json_key(&mcp->json, "protocolVersion");
	if (lode_json_kind(version) == LODE_JSON_TEXT)
		put_text(mcp, version);
	else
		lode_json_text(&mcp->json, PROTOCOL);
	lode_json_key(&mcp->json, "capabilities");
	put_raw(mcp, "{\"tools\":{}}");
	lode_json_key_object(&mcp->json, "serverInfo");
	lode_json_key_text(&mcp->json, "name", "lode");
	lode_json_key_text(&mcp->json, "version", LODE_VERSION);
	lode_json_object_end(&mcp->json);
	lode_json_key_text(
		&mcp->json, "instructions",
		"Lode finds performance bugs from call stacks. Begin with 'info' to see the streams and their "
		"attributes, then 'findings' for where the time went, 'mine' for the costliest call-stack "
		"patterns, 'scope' for the critical path of a slow thread, 'latency' for functions, 'diff' to "
		"compare streams by attribute, 'query' for anything else, in SQL. Durations in "
		"options need a unit, such as 200ms.");
	lode_json_object_end(&mcp->json);
	return send(mcp, error);
}

static int is_tool(const struct lode_route *route)
{
	return strcmp(route->type, "application/octet-stream");
}

/* What only the page can read is not for agents. */
static int is_argument(const char *option)
{
	return strcmp(option, LODE_ROUTE_PAGE_DATA) != 0;
}

static void put_schema(struct mcp *mcp, const struct lode_route *route)
{
	lode_json_key_object(&mcp->json, "inputSchema");
	lode_json_key_text(&mcp->json, "type", "object");
	lode_json_key_object(&mcp->json, "properties");
	for (size_t i = 0; route->options[i]; i++) {
		if (!is_argument(route->options[i]))
			continue;
		lode_json_key(&mcp->json, route->options[i]);
		put_raw(mcp, "{\"type\":\"string\"}");
	}
	lode_json_key(&mcp->json, "format");
	put_raw(mcp, "{\"type\":\"string\",\"enum\":[\"text\",\"json\"]}");
	lode_json_object_end(&mcp->json);
	lode_json_key_bool(&mcp->json, "additionalProperties", 0);
	lode_json_object_end(&mcp->json);
}

static int list_tools(struct mcp *mcp, struct lode_json_value id, struct lode_error *error)
{
	begin(mcp, id);
	lode_json_key_object(&mcp->json, "result");
	lode_json_key_array(&mcp->json, "tools");
	for (const struct lode_route *route = lode_routes; route->name; route++) {
		if (!is_tool(route))
			continue;
		lode_json_object(&mcp->json);
		lode_json_key_text(&mcp->json, "name", route->name);
		lode_json_key_text(&mcp->json, "description", route->description);
		put_schema(mcp, route);
		lode_json_key(&mcp->json, "annotations");
		put_raw(mcp, "{\"readOnlyHint\":true}");
		lode_json_object_end(&mcp->json);
	}
	lode_json_array_end(&mcp->json);
	lode_json_object_end(&mcp->json);
	return send(mcp, error);
}

/* ---- tools/call ---- */

/* The text of a name or an argument, for the caller to free; NULL for what is neither text, number nor true. */
static char *text_of(struct lode_json_value value)
{
	struct lode_buffer text = { 0 };

	switch (lode_json_kind(value)) {
	case LODE_JSON_TEXT:
		lode_json_text_to(value, &text);
		break;
	case LODE_JSON_NUMBER:
		lode_buffer_add(&text, value.at, lode_json_length(value));
		break;
	case LODE_JSON_TRUE:
		break;
	default:
		return NULL;
	}
	lode_buffer_byte(&text, '\0');
	if (text.failed || strlen(text.bytes) + 1 != text.size) /* no word of a command has a NUL inside */
		lode_buffer_release(&text);
	return text.bytes;
}

static int read_argument(const struct lode_route *route, const char *key, const char *value, int *as_json,
			 struct lode_text_list *words, struct lode_error *error)
{
	if (!strcmp(key, "format")) {
		*as_json = value && !strcmp(value, "json");
		return 0;
	}
	if (!is_argument(key))
		return lode_fail(error, LODE_USAGE, "%s: not an argument of this tool", key);
	return value ? lode_route_option(route, key, value, words, error) : 0;
}

static int read_arguments(const struct lode_route *route, struct lode_json_value arguments, int *as_json,
			  struct lode_text_list *words, struct lode_error *error)
{
	struct lode_json_walk walk = lode_json_walk(arguments);
	struct lode_json_value key, value;
	int code = 0;

	if (lode_json_kind(arguments) != LODE_JSON_OBJECT)
		return 0;
	while (!code && lode_json_member(&walk, &key, &value)) {
		char *name = text_of(key), *text = text_of(value);

		code = name ? read_argument(route, name, text, as_json, words, error) : lode_fail_memory(error);
		lode_free(name);
		lode_free(text);
	}
	return code;
}

static int has_word(const struct lode_text_list *words, const char *start)
{
	size_t i = 0;

	while (i < words->count && !lode_starts_with(words->items[i], start))
		i++;
	return i < words->count;
}

/* What is bounded for programs may still be too much to read: only the thickest branches, unless more are requested. */
static int prune_tree(const struct lode_route *route, struct lode_text_list *words, struct lode_error *error)
{
	int code = has_word(words, "--tree-min") ? 0 : lode_route_option(route, "tree-min", TREE_MIN, words, error);

	return code == LODE_USAGE ? 0 : code; /* it has no tree */
}

/* Without --json it is written for people. */
static void leave_out_json(struct lode_text_list *words)
{
	size_t kept = 0;

	for (size_t i = 0; i < words->count; i++) {
		if (!strcmp(words->items[i], "--json"))
			lode_free(words->items[i]);
		else
			words->items[kept++] = words->items[i];
	}
	words->items[kept] = NULL;
	words->count = kept;
}

/*
 * A result that is too long is cut at the end of a line, and says so. False when it has no such end: half a JSON is
 * none.
 */
static int cut(const struct lode_shared_result *result, struct lode_buffer *text)
{
	const char *bytes = lode_shared_result_bytes(result);
	size_t whole = lode_shared_result_size(result), size = whole < MAX_ANSWER ? whole : MAX_ANSWER;

	while (size && size < whole && bytes[size - 1] != '\n')
		size--;
	lode_buffer_add(text, bytes, size);
	if (size < whole)
		lode_buffer_print(
			text, "[cut: %zu of %zu bytes are shown; ask for less with top, where, match or stream]\n",
			size, whole);
	return size || !whole;
}

static int send_text(struct mcp *mcp, struct lode_json_value id, const struct lode_buffer *text, int failed,
		     struct lode_error *error)
{
	begin(mcp, id);
	lode_json_key_object(&mcp->json, "result");
	lode_json_key_array(&mcp->json, "content");
	lode_json_object(&mcp->json);
	lode_json_key_text(&mcp->json, "type", "text");
	lode_json_key(&mcp->json, "text");
	lode_json_text_n(&mcp->json, text->size ? text->bytes : "", text->size);
	lode_json_object_end(&mcp->json);
	lode_json_array_end(&mcp->json);
	lode_json_key_bool(&mcp->json, "isError", failed);
	lode_json_object_end(&mcp->json);
	return send(mcp, error);
}

static int run_tool(struct mcp *mcp, struct lode_json_value id, const struct lode_text_list *words,
		    struct lode_error *error)
{
	struct lode_buffer text = { 0 };
	struct lode_job_view view;
	int code = lode_jobs_ask(mcp->jobs, words->items, &view, error), fine;

	while (!code && (view.state == LODE_JOB_RUNNING || view.state == LODE_JOB_BUSY) && !mcp->stopped()) {
		usleep(BETWEEN_LOOKS);
		code = lode_jobs_ask(mcp->jobs, words->items, &view, error);
	}
	if (code)
		return code;
	fine = view.state == LODE_JOB_DONE && cut(view.result, &text);
	code = send_text(mcp, id, view.state == LODE_JOB_DONE ? &text : &view.message, !fine, error);
	lode_buffer_release(&text);
	lode_job_view_release(&view);
	return code;
}

static int call_tool(struct mcp *mcp, struct lode_json_value id, struct lode_json_value params,
		     struct lode_error *error)
{
	char *name = text_of(lode_json_get(params, "name"));
	const char *stream;
	const struct lode_route *route = name ? lode_route_find(name, &stream) : NULL;
	struct lode_error wrong = { "" };
	struct lode_text_list words = { 0 };
	int as_json = 0, code;

	lode_free(name);
	if (!route || !is_tool(route))
		return send_error(mcp, id, INVALID_PARAMS, "there is no such tool; tools/list names all", error);
	code = lode_route_begin(route, mcp->corpus, "", &words, &wrong);
	if (!code)
		code = read_arguments(route, lode_json_get(params, "arguments"), &as_json, &words, &wrong);
	if (!code && as_json)
		code = prune_tree(route, &words, &wrong);
	if (code)
		code = send_error(mcp, id, INVALID_PARAMS, wrong.text, error);
	else {
		if (!as_json)
			leave_out_json(&words);
		code = run_tool(mcp, id, &words, error);
	}
	lode_text_list_release(&words);
	return code;
}

/* ---- messages ---- */

static int answer_request(struct mcp *mcp, struct lode_json_value id, struct lode_json_value method,
			  struct lode_json_value params, struct lode_error *error)
{
	if (lode_json_is_text(method, "initialize"))
		return initialize(mcp, id, params, error);
	if (lode_json_is_text(method, "tools/list"))
		return list_tools(mcp, id, error);
	if (lode_json_is_text(method, "tools/call"))
		return call_tool(mcp, id, params, error);
	if (!lode_json_is_text(method, "ping"))
		return send_error(mcp, id, METHOD_NOT_FOUND,
				  "this server knows initialize, ping, tools/list and tools/call", error);
	begin(mcp, id);
	lode_json_key(&mcp->json, "result");
	put_raw(mcp, "{}");
	return send(mcp, error);
}

static int handle_line(struct mcp *mcp, const char *line, size_t length, struct lode_error *error)
{
	struct lode_error wrong = { "" };
	struct lode_json_value message, id, method;

	if (lode_json_check("message", line, length, &message, &wrong) < 0)
		return send_error(mcp, (struct lode_json_value){ NULL }, PARSE_ERROR, wrong.text, error);
	id = lode_json_get(message, "id");
	method = lode_json_get(message, "method");
	if (lode_json_kind(method) != LODE_JSON_TEXT)
		return send_error(mcp, id, INVALID_REQUEST, "invalid request: method is missing", error);
	if (!id.at) /* a notification, which wants no answer */
		return 0;
	return answer_request(mcp, id, method, lode_json_get(message, "params"), error);
}

static int handle_lines(struct mcp *mcp, struct lode_buffer *input, struct lode_error *error)
{
	size_t start = 0;
	char *end;
	int code = 0;

	while (!code && (end = memchr(input->bytes + start, '\n', input->size - start))) {
		if (input->bytes + start != end)
			code = handle_line(mcp, input->bytes + start, (size_t)(end - input->bytes) - start, error);
		start = (size_t)(end + 1 - input->bytes);
	}
	memmove(input->bytes, input->bytes + start, input->size - start);
	input->size -= start;
	if (!code && input->size > MAX_LINE)
		code = lode_fail(error, LODE_BAD_INPUT, "a message is longer than %u bytes", MAX_LINE);
	return code;
}

static int read_messages(struct mcp *mcp, int in, struct lode_error *error)
{
	struct lode_buffer input = { 0 };
	struct pollfd file = { in, POLLIN, 0 };
	int code = 0;

	while (!code && !mcp->stopped()) {
		char *room = lode_buffer_room(&input, 65536);
		ssize_t size;

		if (!room) {
			code = lode_fail_memory(error);
			break;
		}
		if (poll(&file, 1, 100) <= 0)
			continue;
		size = read(in, room, 65536);
		if (size == 0 || (size < 0 && errno != EINTR && errno != EAGAIN))
			break;
		input.size += size > 0 ? (size_t)size : 0;
		code = handle_lines(mcp, &input, error);
	}
	lode_buffer_release(&input);
	return code;
}

int lode_mcp_run(const char *corpus, int in, int out, int (*stopped)(void), struct lode_error *error)
{
	struct mcp mcp = { .corpus = corpus, .out = out, .stopped = stopped };
	int code = lode_jobs_make(&mcp.jobs, corpus, LODE_JOBS_KEEP_NOTHING, error);

	if (!code)
		code = read_messages(&mcp, in, error);
	lode_jobs_free(mcp.jobs);
	lode_buffer_release(&mcp.answer);
	return code;
}
