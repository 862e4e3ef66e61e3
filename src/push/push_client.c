/* Sending to a collector: see push_client.h. */
#include "push/push_client.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/shared_library.h"
#include "base/starts_with.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#define UPLOADS       "/v1/streams"
#define CONNECT_S     10L
#define SLOW_BYTES_S  100L
#define SLOW_S        60L
#define ANSWER_S      120L
#define BUFFER_BYTES  (64L << 10)
#define PROXY_SCHEMES "http,https"

/* The functions of libcurl. */
struct library {
	__typeof__(curl_global_init) *global_init;
	__typeof__(curl_easy_init) *init;
	__typeof__(curl_easy_setopt) *set;
	__typeof__(curl_easy_perform) *perform;
	__typeof__(curl_easy_getinfo) *get;
	__typeof__(curl_easy_strerror) *explain;
	__typeof__(curl_easy_escape) *escape;
	__typeof__(curl_free) *release;
	__typeof__(curl_easy_cleanup) *cleanup;
	__typeof__(curl_slist_append) *append;
	__typeof__(curl_slist_free_all) *free_list;
};

struct lode_push_client {
	struct library curl;
	CURL *handle;
	struct curl_slist *headers;
	char *url; /* without an address */
	/* what is being sent: the file, unless `bytes` */
	int fd;
	const char *path;
	const char *bytes;
	size_t size, done;
	/* what comes back */
	struct lode_push_answer *answer;
	struct lode_buffer *body; /* instead of its text; NULL: as a sentence */
};

static int load_library(struct library *curl, struct lode_error *error)
{
	const struct lode_library_function functions[] = {
		{ "curl_global_init", &curl->global_init },  { "curl_easy_init", &curl->init },
		{ "curl_easy_setopt", &curl->set },          { "curl_easy_perform", &curl->perform },
		{ "curl_easy_getinfo", &curl->get },         { "curl_easy_strerror", &curl->explain },
		{ "curl_easy_escape", &curl->escape },       { "curl_free", &curl->release },
		{ "curl_easy_cleanup", &curl->cleanup },     { "curl_slist_append", &curl->append },
		{ "curl_slist_free_all", &curl->free_list }, { NULL, NULL },
	};
	struct lode_error reason;

	if (lode_library_load(LODE_CURL_LIBRARY, functions, &reason) < 0)
		return lode_fail(error, LODE_SYSTEM,
				 "sending needs libcurl: %s; install it ('libcurl3-gnutls' on Debian)",
				 reason.text);
	if (curl->global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return lode_fail(error, LODE_SYSTEM, "libcurl cannot be used");
	return 0;
}

/* ---- what the library calls ---- */

static size_t give_body(char *bytes, size_t size, size_t count, void *context)
{
	struct lode_push_client *client = context;
	size_t room = size * count, left = client->size - client->done;
	ssize_t got;

	if (client->bytes) {
		room = room < left ? room : left;
		memcpy(bytes, client->bytes + client->done, room);
		client->done += room;
		return room;
	}
	got = lode_file_read(client->fd, bytes, room, client->path, NULL);
	return got < 0 ? CURL_READFUNC_ABORT : (size_t)got;
}

/* Another connection is tried where one was closed: all is sent from its beginning again. */
static int seek_body(void *context, curl_off_t offset, int origin)
{
	struct lode_push_client *client = context;

	if (client->bytes) {
		if (origin != SEEK_SET || offset < 0 || (size_t)offset > client->size)
			return CURL_SEEKFUNC_FAIL;
		client->done = (size_t)offset;
		return CURL_SEEKFUNC_OK;
	}
	return lseek(client->fd, (off_t)offset, origin) < 0 ? CURL_SEEKFUNC_FAIL : CURL_SEEKFUNC_OK;
}

/* The beginning of an answer; what is longer is no sentence. */
static size_t keep_answer(char *bytes, size_t size, size_t count, void *context)
{
	struct lode_push_client *client = context;
	char *text = client->answer->text;
	size_t length = strlen(text), room = sizeof(client->answer->text) - 1 - length, more = size * count;

	if (client->body && client->body->size + more <= LODE_PUSH_BODY)
		lode_buffer_add(client->body, bytes, more);
	if (more > room)
		more = room;
	memcpy(text + length, bytes, more);
	text[length + more] = '\0';
	return size * count;
}

/* ---- making ---- */

static int set_url(struct lode_push_client *client, const char *url, struct lode_error *error)
{
	size_t length = strlen(url);

	if (lode_starts_with(url, "unix:") && url[5]) {
		client->url = lode_strdup("http://localhost");
		client->curl.set(client->handle, CURLOPT_UNIX_SOCKET_PATH, url + 5);
	} else if ((lode_starts_with(url, "http://") && url[7]) || (lode_starts_with(url, "https://") && url[8])) {
		while (length && url[length - 1] == '/')
			length--;
		client->url = lode_strndup(url, length);
	} else {
		return lode_fail(
			error, LODE_USAGE,
			"%s: is not the address of a collector, such as http://HOST:7070, https://HOST or "
			"unix:PATH",
			url);
	}
	return client->url ? 0 : lode_fail_memory(error);
}

static int set_headers(struct lode_push_client *client, const char *token, struct lode_error *error)
{
	char *bearer = token ? lode_format("Authorization: Bearer %s", token) : NULL;
	struct curl_slist *list = client->curl.append(NULL, "Content-Type: application/octet-stream");

	client->headers = list && bearer ? client->curl.append(list, bearer) : list;
	lode_free(bearer);
	return client->headers && (!token || client->headers->next) ? 0 : lode_fail_memory(error);
}

static void set_options(struct lode_push_client *client)
{
	const struct library *curl = &client->curl;
	CURL *handle = client->handle;

	curl->set(handle, CURLOPT_NOSIGNAL, 1L);
	curl->set(handle, CURLOPT_USERAGENT, "lode/" LODE_VERSION);
	curl->set(handle, CURLOPT_HTTPHEADER, client->headers);
	curl->set(handle, CURLOPT_READFUNCTION, give_body);
	curl->set(handle, CURLOPT_READDATA, client);
	curl->set(handle, CURLOPT_SEEKFUNCTION, seek_body);
	curl->set(handle, CURLOPT_SEEKDATA, client);
	curl->set(handle, CURLOPT_WRITEFUNCTION, keep_answer);
	curl->set(handle, CURLOPT_WRITEDATA, client);
	curl->set(handle, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
	curl->set(handle, CURLOPT_LOW_SPEED_LIMIT, SLOW_BYTES_S);
	curl->set(handle, CURLOPT_LOW_SPEED_TIME, SLOW_S);
	curl->set(handle, CURLOPT_BUFFERSIZE, BUFFER_BYTES);
	curl->set(handle, CURLOPT_UPLOAD_BUFFERSIZE, BUFFER_BYTES);
#if LIBCURL_VERSION_NUM >= 0x075500
	curl->set(handle, CURLOPT_PROTOCOLS_STR, PROXY_SCHEMES);
#endif
}

int lode_push_client_make(struct lode_push_client **client, const char *url, const char *token,
			  struct lode_error *error)
{
	struct lode_push_client *made = lode_calloc(1, sizeof(*made));
	int code;

	*client = NULL;
	if (!made)
		return lode_fail_memory(error);
	code = load_library(&made->curl, error);
	if (!code && !(made->handle = made->curl.init()))
		code = lode_fail_memory(error);
	if (!code)
		code = set_url(made, url, error);
	if (!code)
		code = set_headers(made, token, error);
	if (code) {
		lode_push_client_free(made);
		return code;
	}
	set_options(made);
	*client = made;
	return 0;
}

void lode_push_client_free(struct lode_push_client *client)
{
	if (!client)
		return;
	if (client->handle)
		client->curl.cleanup(client->handle);
	if (client->headers)
		client->curl.free_list(client->headers);
	lode_free(client->url);
	lode_free(client);
}

/* ---- sending ---- */

static char *address_of(struct lode_push_client *client, const char *name)
{
	char *escaped, *address;

	if (!name)
		return lode_format("%s" UPLOADS, client->url);
	escaped = client->curl.escape(client->handle, name, 0);
	address = escaped ? lode_format("%s" UPLOADS "?name=%s", client->url, escaped) : NULL;
	client->curl.release(escaped);
	return address;
}

/* The sentence of {"error":"…"}; other answers stay as they are. */
static void take_out_sentence(char *text)
{
	static const char before[] = "{\"error\":\"";
	char *end = strrchr(text, '"');

	if (lode_starts_with(text, before) && end > text + sizeof(before) - 1) {
		*end = '\0';
		memmove(text, text + sizeof(before) - 1, strlen(text + sizeof(before) - 1) + 1);
	}
}

static void perform(struct lode_push_client *client, struct lode_push_answer *answer)
{
	CURLcode outcome = client->curl.perform(client->handle);
	curl_off_t after = 0;

	client->curl.get(client->handle, CURLINFO_RESPONSE_CODE, &answer->status);
	client->curl.get(client->handle, CURLINFO_RETRY_AFTER, &after);
	answer->retry_after = after > 0 && after < 86400 ? (unsigned)after : 0;
	take_out_sentence(answer->text);
	/* An answer that came before all was sent is an answer. */
	if (outcome != CURLE_OK && answer->status < 400) {
		answer->status = 0;
		snprintf(answer->text, sizeof(answer->text), "%s", client->curl.explain(outcome));
	}
}

/* Sends what is to be sent, `size` bytes. */
static void send_body(struct lode_push_client *client, const char *url, uint64_t size,
		      struct lode_push_answer *answer)
{
	client->answer = answer;
	client->curl.set(client->handle, CURLOPT_POST, 1L);
	client->curl.set(client->handle, CURLOPT_URL, url);
	client->curl.set(client->handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
	client->curl.set(client->handle, CURLOPT_TIMEOUT, ANSWER_S + (long)(size / SLOW_BYTES_S));
	perform(client, answer);
}

int lode_push_client_send(struct lode_push_client *client, const char *path, const char *name,
			  struct lode_push_answer *answer, struct lode_error *error)
{
	char *url = address_of(client, name);
	struct stat status;

	memset(answer, 0, sizeof(*answer));
	if (!url)
		return lode_fail_memory(error);
	client->fd = lode_file_open_plain(path, O_RDONLY, error);
	if (client->fd < 0 || fstat(client->fd, &status) < 0) {
		lode_free(url);
		return LODE_SYSTEM;
	}
	client->path = path;
	send_body(client, url, (uint64_t)status.st_size, answer);
	lode_file_close(client->fd, path, NULL);
	lode_free(url);
	return 0;
}

int lode_push_client_post(struct lode_push_client *client, const char *address, const void *bytes, size_t size,
			  struct lode_push_answer *answer, struct lode_error *error)
{
	char *url = lode_format("%s%s", client->url, address);

	memset(answer, 0, sizeof(*answer));
	if (!url)
		return lode_fail_memory(error);
	client->bytes = bytes;
	client->size = size;
	client->done = 0;
	send_body(client, url, size, answer);
	client->bytes = NULL;
	lode_free(url);
	return 0;
}

int lode_push_client_get(struct lode_push_client *client, const char *address, struct lode_buffer *body,
			 struct lode_push_answer *answer, struct lode_error *error)
{
	char *url = lode_format("%s%s", client->url, address);

	memset(answer, 0, sizeof(*answer));
	if (!url)
		return lode_fail_memory(error);
	client->answer = answer;
	client->body = body;
	client->curl.set(client->handle, CURLOPT_HTTPGET, 1L);
	client->curl.set(client->handle, CURLOPT_URL, url);
	client->curl.set(client->handle, CURLOPT_TIMEOUT, ANSWER_S);
	perform(client, answer);
	client->body = NULL;
	lode_free(url);
	return body->failed ? lode_fail_memory(error) : 0;
}
