/*
 * Uploads over HTTP: see uploads.h.
 *
 * A refusal is answered when the whole body is there, since many clients look for an answer only then; a longer rest is
 * not waited for.
 */
#include "serve/uploads.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/starts_with.h"
#include "base/units.h"
#include "result/server_answers.h"
#include "serve/signing.h"
#include "serve/symbol_answers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_REFUSED_BYTES (8u << 20) /* that are read and dropped: most senders read no answer before */
#define MAX_DROPPING_NS   10000000000ull
#define BAD_REQUEST       400
#define UNSUPPORTED       415
#define UNREADABLE        422

struct address {
	const char *url;
	enum lode_upload_form form;
	int is_ours; /* answers with JSON; others expect an empty answer */
};

static const struct address addresses[] = {
	{ "/v1/streams", LODE_UPLOAD_FILE, 1 },
	{ LODE_SYMBOLS_URL, LODE_UPLOAD_SYMBOLS, 1 },
	{ "/v1development/profiles", LODE_UPLOAD_OTLP, 0 },
	{ "/push.v1.PusherService/Push", LODE_UPLOAD_PYROSCOPE, 0 },
	{ "/ingest", LODE_UPLOAD_FILE, 0 },
};

struct lode_upload_body {
	const struct address *address;
	struct lode_receiving *receiving; /* NULL: it was refused, or is over */
	struct lode_signing *signing;     /* instead: a signature is posted */
	const char *corpus;               /* the collector's */
	struct lode_upload_options options;
	struct lode_upload_refusal refusal;
	struct lode_text_list texts;  /* that the options have */
	struct lode_text_list labels; /* KEY=VALUE */
	uint64_t declared;            /* bytes that will come; 0: not known */
	uint64_t dropped;
	uint64_t dropped_since; /* ns; 0: nothing was */
	int is_json;            /* what the sender sends, and gets */
	int is_asking;          /* the sender waits for a word before it sends the body */
};

static const struct address *find_address(const char *url)
{
	for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++)
		if (!strcmp(addresses[i].url, url))
			return &addresses[i];
	return NULL;
}

int lode_uploads_has(const char *url)
{
	return find_address(url) != NULL;
}

/* ---- what a request says ---- */

static const char *find_value(const struct lode_exchange *exchange, enum MHD_ValueKind kind, const char *key)
{
	return exchange->http->lookup_connection_value(exchange->connection, kind, key);
}

/* A copy that lives as long as the body; NULL where there is nothing to copy. */
static const char *keep(struct lode_upload_body *body, const char *text)
{
	if (!text || !*text)
		return NULL;
	lode_text_list_add(&body->texts, lode_strdup(text));
	return body->texts.failed ? NULL : body->texts.items[body->texts.count - 1];
}

static enum MHD_Result read_argument(void *context, enum MHD_ValueKind kind, const char *key, const char *value)
{
	struct lode_upload_body *body = context;

	(void)kind;
	if (!strcmp(key, "attr") && value && strchr(value, '=') && value[0] != '=')
		lode_text_list_add(&body->labels, lode_strdup(value));
	return MHD_YES;
}

/* `APP.TYPE{KEY=VALUE,…}`, as Pyroscope's agents name what they send. */
static void read_application(struct lode_upload_body *body, const char *text)
{
	const char *open = strchr(text, '{');
	char *name = open ? lode_strndup(text, (size_t)(open - text)) : lode_strdup(text), *labels, *rest = NULL;

	body->options.name = keep(body, name);
	if (name)
		lode_text_list_add(&body->labels, lode_format("service.name=%s", name));
	lode_free(name);
	labels = open ? lode_strdup(open + 1) : NULL;
	for (char *label = labels ? strtok_r(labels, ",}", &rest) : NULL; label;
	     label = strtok_r(NULL, ",}", &rest))
		if (strchr(label, '=') && label[0] != '=' && strncmp(label, "__", 2) != 0)
			lode_text_list_add(&body->labels, lode_strdup(label));
	lode_free(labels);
}

/* samples=DURATION, or a unit of time, as --unit of `lode import`. */
static int read_unit(struct lode_upload_body *body, const char *text)
{
	uint64_t ns = 0;
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 } };

	for (size_t i = 0; text && i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(units[i].name, text))
			body->options.unit_ns = units[i].ns;
	if (text && lode_starts_with(text, "samples=") && lode_duration_parse(text + 8, &ns, NULL) == 0)
		body->options.unit_ns = (double)ns;
	if (!text || body->options.unit_ns > 0)
		return 0;
	return lode_upload_refuse(&body->refusal, BAD_REQUEST, "unit=%.40s: is ns, us, ms or samples=10ms", text);
}

/* Pyroscope's sample rate, for stacks that are counted. */
static void read_rate(struct lode_upload_body *body, const char *text)
{
	double rate = text ? strtod(text, NULL) : 0;

	if (rate >= 1 && rate <= 1e6)
		body->options.unit_ns = 1e9 / rate;
}

static int read_arguments(struct lode_upload_body *body, const struct lode_exchange *exchange)
{
	struct lode_upload_options *options = &body->options;
	const char *kind = find_value(exchange, MHD_GET_ARGUMENT_KIND, "kind"),
		   *format = find_value(exchange, MHD_GET_ARGUMENT_KIND, "format"),
		   *name = find_value(exchange, MHD_GET_ARGUMENT_KIND, "name");

	exchange->http->get_connection_values(exchange->connection, MHD_GET_ARGUMENT_KIND, read_argument, body);
	options->host = keep(body, find_value(exchange, MHD_GET_ARGUMENT_KIND, "host"));
	options->kind_is_wait = kind && !strcmp(kind, "wait");
	if (body->address->is_ours) {
		options->name = keep(body, name);
		options->format = keep(body, format);
		return read_unit(body, find_value(exchange, MHD_GET_ARGUMENT_KIND, "unit"));
	}
	if (options->form == LODE_UPLOAD_OTLP)
		return 0;
	if (name)
		read_application(body, name);
	/* Others are recognized: `pprof`, `jfr`, `lines` and `groups` with and without versions. */
	if (options->form == LODE_UPLOAD_FILE &&
	    (!format || !strcmp(format, "folded") || !strcmp(format, "groups"))) {
		options->format = "folded";
		read_rate(body, find_value(exchange, MHD_GET_ARGUMENT_KIND, "sampleRate"));
	}
	return 0;
}

static int read_headers(struct lode_upload_body *body, const struct lode_exchange *exchange)
{
	const char *type = find_value(exchange, MHD_HEADER_KIND, "Content-Type"),
		   *packing = find_value(exchange, MHD_HEADER_KIND, "Content-Encoding"),
		   *length = find_value(exchange, MHD_HEADER_KIND, "Content-Length"), *boundary;

	body->declared = length ? strtoull(length, NULL, 10) : 0;
	body->is_json = type && lode_starts_with(type, "application/json");
	if (packing && strcmp(packing, "gzip") != 0 && strcmp(packing, "zstd") != 0 &&
	    strcmp(packing, "identity") != 0)
		return lode_upload_refuse(&body->refusal, UNSUPPORTED,
					  "Content-Encoding: %.40s: is not known here; use gzip, zstd or none",
					  packing);
	if (body->options.form == LODE_UPLOAD_PYROSCOPE && body->is_json)
		return lode_upload_refuse(
			&body->refusal, UNSUPPORTED,
			"Content-Type: application/json: is not known here; use application/proto");
	if (body->options.form == LODE_UPLOAD_SYMBOLS && type && lode_starts_with(type, "multipart/"))
		return lode_upload_refuse(&body->refusal, UNSUPPORTED,
					  "symbols are not sent as a form; send the file itself as the body");
	boundary = type && lode_starts_with(type, "multipart/form-data") ? strstr(type, "boundary=") : NULL;
	if (boundary) {
		char *text = lode_strdup(boundary + strlen("boundary=") + (boundary[9] == '"'));

		if (text)
			text[strcspn(text, "\";")] = '\0';
		body->options.boundary = keep(body, text);
		body->options.form = LODE_UPLOAD_MULTIPART;
		if (!find_value(exchange, MHD_GET_ARGUMENT_KIND, "format"))
			body->options.format = NULL; /* pprof, or folded stacks */
		lode_free(text);
	}
	return 0;
}

/* ---- a body ---- */

static struct lode_upload_body *make_body(const struct lode_exchange *exchange)
{
	struct lode_upload_body *body = lode_calloc(1, sizeof(*body));
	const char *length = find_value(exchange, MHD_HEADER_KIND, "Content-Length");

	if (body && length)
		body->declared = strtoull(length, NULL, 10);
	if (body)
		body->is_asking = find_value(exchange, MHD_HEADER_KIND, "Expect") != NULL;
	return body;
}

struct lode_upload_body *lode_upload_body_refused(struct lode_collector *collector,
						  const struct lode_exchange *exchange, unsigned status,
						  const char *sentence)
{
	struct lode_upload_body *body = make_body(exchange);

	if (!body)
		return NULL;
	lode_upload_refuse(&body->refusal, status, "%s", sentence);
	if (collector)
		lode_collector_count_refusal(collector, status);
	return body;
}

struct lode_upload_body *lode_upload_body_begin(struct lode_collector *collector,
						const struct lode_exchange *exchange, const char *url,
						const char *sender)
{
	struct lode_upload_body *body = make_body(exchange);
	int code;

	if (!body)
		return NULL;
	body->corpus = lode_collector_corpus(collector);
	body->address = find_address(url);
	body->options.form = body->address->form;
	body->options.source = keep(body, *sender ? sender : "upload");
	code = read_arguments(body, exchange);
	if (!code)
		code = read_headers(body, exchange);
	if (!code && body->labels.count > LODE_UPLOAD_MAX_LABELS)
		code = lode_upload_refuse(&body->refusal, UNREADABLE, "it has more than %d labels",
					  LODE_UPLOAD_MAX_LABELS);
	body->options.labels = body->labels.count ? (const char *const *)body->labels.items : NULL;
	if (!code && (body->texts.failed || body->labels.failed || !body->options.source)) {
		lode_upload_body_end(body);
		return NULL;
	}
	if (code)
		lode_collector_count_refusal(collector, body->refusal.status);
	else
		lode_receiving_begin(&body->receiving, collector, sender, body->declared, &body->refusal);
	return body;
}

struct lode_upload_body *lode_upload_body_signing(const struct lode_exchange *exchange, const char *corpus)
{
	struct lode_upload_body *body = make_body(exchange);

	if (body)
		body->signing = lode_signing_begin(exchange, corpus);
	if (body && body->signing)
		return body;
	lode_upload_body_end(body);
	return NULL;
}

int lode_upload_body_is_accepted(const struct lode_upload_body *body)
{
	return body->receiving || body->signing;
}

int lode_upload_body_is_answered(const struct lode_upload_body *body)
{
	return !lode_upload_body_is_accepted(body) && (body->is_asking || body->declared > MAX_REFUSED_BYTES);
}

/* Returns 0, or -1 when the sender has gone on for too long. */
static int drop(struct lode_upload_body *body, size_t size)
{
	uint64_t now = lode_now();

	if (!body->dropped_since)
		body->dropped_since = now;
	body->dropped += size;
	return body->dropped > MAX_REFUSED_BYTES || now - body->dropped_since > MAX_DROPPING_NS ? -1 : 0;
}

int lode_upload_body_add(struct lode_upload_body *body, const void *bytes, size_t size)
{
	if (body->signing)
		lode_signing_add(body->signing, bytes, size);
	if (!body->receiving)
		return drop(body, size);
	if (lode_receiving_add(body->receiving, bytes, size, &body->refusal) == 0)
		return 0;
	lode_receiving_abandon(body->receiving, &body->refusal);
	body->receiving = NULL;
	return body->refusal.status == MHD_HTTP_REQUEST_TIMEOUT ? -1 : 0;
}

void lode_upload_body_end(struct lode_upload_body *body)
{
	if (!body)
		return;
	if (body->receiving)
		lode_receiving_abandon(body->receiving, NULL);
	lode_signing_end(body->signing);
	lode_text_list_release(&body->texts);
	lode_text_list_release(&body->labels);
	lode_free(body);
}

/* ---- answers ---- */

static enum MHD_Result answer_refusal(const struct lode_upload_body *body, const struct lode_exchange *exchange)
{
	struct lode_exchange with = *exchange;

	with.is_refused = lode_upload_body_is_answered(body);
	with.retry_after = body->refusal.retry_after;
	return lode_answer_error(&with, body->refusal.status, body->refusal.error.text);
}

static enum MHD_Result answer_streams(const struct lode_exchange *exchange, const struct lode_collected_list *list)
{
	struct lode_upload_answer_stream *streams = lode_calloc(list->count + 1, sizeof(*streams));
	struct lode_upload_answer answer = { .streams = { .count = list->count, .from = streams } };
	struct lode_buffer text = { 0 };
	unsigned status = MHD_HTTP_OK;

	for (size_t i = 0; streams && i < list->count; i++) {
		streams[i] = (struct lode_upload_answer_stream){ .id = list->items[i].id,
								 .is_new = list->items[i].is_new };
		status = list->items[i].is_new ? MHD_HTTP_CREATED : status;
	}
	if (streams)
		lode_fields_line(&lode_upload_answer_fields, &answer, &text);
	else
		text.failed = 1;
	lode_free(streams);
	return lode_answer(exchange, status, "application/json", &text);
}

/* An empty message: in protobuf that is nothing at all. */
static enum MHD_Result answer_empty(const struct lode_upload_body *body, const struct lode_exchange *exchange)
{
	struct lode_buffer text = { 0 };

	if (body->is_json)
		lode_buffer_text(&text, "{}");
	return lode_answer(exchange, MHD_HTTP_OK,
			   body->is_json                                 ? "application/json"
			   : body->options.form == LODE_UPLOAD_PYROSCOPE ? "application/proto"
									 : "application/x-protobuf",
			   &text);
}

enum MHD_Result lode_upload_body_answer(struct lode_upload_body *body, const struct lode_exchange *exchange)
{
	struct lode_receiving *receiving = body->receiving;
	struct lode_collected_list list = { 0 };
	enum MHD_Result result;

	if (body->signing)
		return lode_signing_answer(body->signing, exchange);
	body->receiving = NULL;
	if (!receiving || lode_receiving_finish(receiving, &body->options, &list, &body->refusal) < 0)
		result = answer_refusal(body, exchange);
	else if (body->options.form == LODE_UPLOAD_SYMBOLS)
		result = lode_answer_symbols(exchange, list.has_new_symbols ? MHD_HTTP_CREATED : MHD_HTTP_OK,
					     body->corpus, list.symbols.build_id);
	else
		result = body->address->is_ours ? answer_streams(exchange, &list) : answer_empty(body, exchange);
	lode_free(list.items);
	return result;
}
