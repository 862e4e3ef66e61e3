/*
 * Parts of uploads: see upload_forms.h.
 *
 * Pyroscope's labels become attributes: `service_name` is what others call service.name, and names the streams; a label
 * of a host is their host. Labels that begin with two underscores are for Pyroscope itself.
 */
#include "collect/upload_forms.h"

#include "base/memory.h"
#include "import/protobuf/protobuf.h"

#include <string.h>

#define BAD_REQUEST 400

/* ---- Pyroscope's push API ---- */

/* Numbers of fields. */
enum {
	PUSH_SERIES = 1,
	SERIES_LABEL = 1,
	SERIES_SAMPLE = 2,
	LABEL_NAME = 1,
	LABEL_VALUE = 2,
	SAMPLE_PROFILE = 1,
};

/* What the labels of a series say; texts are its own. */
struct series {
	struct lode_text_list labels;
	char *name;
	char *host;
};

static void release_series(struct series *series)
{
	lode_text_list_release(&series->labels);
	lode_free(series->name);
	lode_free(series->host);
}

static char *text_of(struct lode_cursor bytes)
{
	return lode_strndup((const char *)bytes.next, lode_cursor_left(&bytes));
}

static int is_host(struct lode_cursor name)
{
	return lode_protobuf_is(name, "host") || lode_protobuf_is(name, "hostname") ||
	       lode_protobuf_is(name, "host_name") || lode_protobuf_is(name, "node");
}

static int is_internal(struct lode_cursor name)
{
	return lode_cursor_left(&name) >= 2 && name.next[0] == '_' && name.next[1] == '_';
}

static void add_label(struct series *series, struct lode_cursor name, struct lode_cursor value)
{
	int is_service = lode_protobuf_is(name, "service_name");

	if (is_internal(name) || !lode_cursor_left(&name))
		return;
	if (is_service && !series->name)
		series->name = text_of(value);
	if (is_host(name) && !series->host)
		series->host = text_of(value);
	else
		lode_text_list_add(&series->labels,
				   lode_format("%.*s=%.*s", is_service ? 12 : (int)lode_cursor_left(&name),
					       is_service ? "service.name" : (const char *)name.next,
					       (int)lode_cursor_left(&value), (const char *)value.next));
}

static int read_label(struct series *series, struct lode_cursor message)
{
	struct lode_cursor name = lode_cursor("", 0), value = lode_cursor("", 0);
	struct lode_protobuf_field field;

	while (lode_protobuf_next(&message, &field)) {
		if (field.number == LABEL_NAME && field.wire == LODE_WIRE_BYTES)
			name = field.bytes;
		else if (field.number == LABEL_VALUE && field.wire == LODE_WIRE_BYTES)
			value = field.bytes;
	}
	if (lode_cursor_left(&name) > INT16_MAX || lode_cursor_left(&value) > INT16_MAX)
		return -1;
	add_label(series, name, value);
	return message.failed ? -1 : 0;
}

static int each_sample(struct lode_cursor message, const struct lode_upload_options *options,
		       lode_upload_part_taker *take, void *context)
{
	struct lode_protobuf_field sample, field;
	int code = 0;

	while (!code && lode_protobuf_next(&message, &sample)) {
		if (sample.number != SERIES_SAMPLE || sample.wire != LODE_WIRE_BYTES)
			continue;
		while (!code && lode_protobuf_next(&sample.bytes, &field))
			if (field.number == SAMPLE_PROFILE && field.wire == LODE_WIRE_BYTES)
				code = take(context, field.bytes, options);
	}
	return code;
}

static int read_series(struct lode_cursor message, const struct lode_upload_options *options,
		       lode_upload_part_taker *take, void *context, struct lode_upload_refusal *refusal)
{
	struct lode_upload_options own = *options;
	struct series series = { .name = NULL };
	struct lode_cursor labels = message;
	struct lode_protobuf_field field;
	int code = 0;

	while (!code && lode_protobuf_next(&labels, &field))
		if (field.number == SERIES_LABEL && field.wire == LODE_WIRE_BYTES)
			code = read_label(&series, field.bytes);
	if (code || labels.failed) {
		code = lode_upload_refuse(refusal, BAD_REQUEST, "a series of the message is damaged");
	} else if (series.labels.failed) {
		code = lode_fail_memory(&refusal->error);
	} else {
		own.name = own.name ? own.name : series.name;
		own.host = own.host ? own.host : series.host;
		own.labels = series.labels.count ? (const char *const *)series.labels.items : NULL;
		code = each_sample(message, &own, take, context);
	}
	release_series(&series);
	return code;
}

static int read_push(struct lode_cursor body, const struct lode_upload_options *options,
		     lode_upload_part_taker *take, void *context, struct lode_upload_refusal *refusal)
{
	struct lode_protobuf_field field;
	int code = 0, any = 0;

	while (!code && lode_protobuf_next(&body, &field))
		if (field.number == PUSH_SERIES && field.wire == LODE_WIRE_BYTES) {
			code = read_series(field.bytes, options, take, context, refusal);
			any = 1;
		}
	if (!code && (body.failed || !any))
		code = lode_upload_refuse(refusal, BAD_REQUEST,
					  body.failed ? "the message is damaged or cut off"
						      : "the message has no series of profiles");
	return code;
}

/* ---- forms ---- */

/* The rest of `bytes` from the first `text` on; nothing is left where there is none. */
static struct lode_cursor find(struct lode_cursor bytes, const char *text, size_t length)
{
	const unsigned char *found = memmem(bytes.next, lode_cursor_left(&bytes), text, length);

	bytes.next = found ? found : bytes.end;
	return bytes;
}

/* Whether a part is a profile: others of Pyroscope's forms say how to show it. */
static int is_profile(struct lode_cursor headers)
{
	static const char *const names[] = { "name=\"profile\"", "name=\"jfr\"", "name=\"file\"" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct lode_cursor found = find(headers, names[i], strlen(names[i]));

		if (lode_cursor_left(&found))
			return 1;
	}
	return 0;
}

/* A part is its headers, an empty line and its content, up to the next boundary. */
static int read_parts(struct lode_cursor body, const char *mark, size_t length,
		      const struct lode_upload_options *options, lode_upload_part_taker *take, void *context,
		      int *any)
{
	int code = 0;

	for (body = find(body, mark, length); !code && lode_cursor_left(&body) > length;) {
		struct lode_cursor part = lode_cursor(body.next + length, lode_cursor_left(&body) - length),
				   content;

		body = find(part, mark, length);
		part.end = body.next;
		content = find(part, "\r\n\r\n", 4);
		if (lode_cursor_left(&content) < 6) /* with the line end before the boundary */
			continue;
		part.end = content.next;
		content.next += 4;
		content.end -= 2;
		if (!is_profile(part))
			continue;
		*any = 1;
		code = take(context, content, options);
	}
	return code;
}

static int read_form(struct lode_cursor body, const struct lode_upload_options *options,
		     lode_upload_part_taker *take, void *context, struct lode_upload_refusal *refusal)
{
	char *mark = options->boundary && *options->boundary ? lode_format("--%s", options->boundary) : NULL;
	int code, any = 0;

	if (!mark)
		return lode_upload_refuse(refusal, BAD_REQUEST, "the form has no boundary");
	code = read_parts(body, mark, strlen(mark), options, take, context, &any);
	lode_free(mark);
	return code || any ? code
			   : lode_upload_refuse(refusal, BAD_REQUEST,
						"the form has no part called 'profile', 'jfr' or 'file'");
}

int lode_upload_each_part(struct lode_cursor body, const struct lode_upload_options *options,
			  lode_upload_part_taker *take, void *context, struct lode_upload_refusal *refusal)
{
	switch (options->form) {
	case LODE_UPLOAD_PYROSCOPE:
		return read_push(body, options, take, context, refusal);
	case LODE_UPLOAD_MULTIPART:
		return read_form(body, options, take, context, refusal);
	default:
		return take(context, body, options);
	}
}
