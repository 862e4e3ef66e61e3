/* Uploads: see upload.h. A text in a message is its length and its bytes with a NUL, so that it can be used in place. */
#include "collect/upload.h"

#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct lode_upload_limits lode_upload_limits_default = {
	.packed = 64u << 20,
	.unpacked = 256u << 20,
	.memory = 2048ull << 20,
	.seconds = 20,
	.events = 20000000,
	.frames = 4000000,
	.name = 4096,
	.attributes = 1000,
	.symptoms = 100000,
	.streams = 1024,
};

int lode_upload_refuse(struct lode_upload_refusal *refusal, unsigned status, const char *format, ...)
{
	va_list arguments;
	char text[sizeof(refusal->error.text)];

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	refusal->status = status;
	return lode_fail(&refusal->error, LODE_BAD_INPUT, "%s", text);
}

void lode_upload_stream_release(struct lode_upload_stream *found)
{
	lode_stream_release(&found->stream);
	lode_dictionary_release(&found->dictionary);
}

/* ---- texts ---- */

/* NULL is a length of 0, others have one more than they have bytes. */
static void write_text(struct lode_buffer *message, const char *text)
{
	size_t length = text ? strlen(text) + 1 : 0;

	lode_buffer_varint(message, length);
	if (text)
		lode_buffer_add(message, text, length);
}

static const char *read_text(struct lode_cursor *message)
{
	uint64_t length = lode_cursor_varint(message);
	const char *text = length ? lode_cursor_bytes(message, length) : NULL;

	if (text && memchr(text, '\0', (size_t)length) != text + length - 1) {
		message->failed = 1;
		return NULL;
	}
	return text;
}

/* One that must be there. */
static const char *read_known(struct lode_cursor *message)
{
	const char *text = read_text(message);

	message->failed |= !text;
	return text ? text : "";
}

/* ---- options ---- */

void lode_upload_options_write(struct lode_buffer *message, const struct lode_upload_options *options)
{
	const char *const *label = options->labels;

	lode_buffer_varint(message, options->form);
	write_text(message, options->format);
	write_text(message, options->name);
	write_text(message, options->host);
	write_text(message, options->source);
	write_text(message, options->boundary);
	lode_buffer_add(message, &options->unit_ns, sizeof(options->unit_ns));
	lode_buffer_varint(message, options->kind_is_wait != 0);
	for (; label && *label; label++)
		write_text(message, *label);
	write_text(message, NULL);
}

int lode_upload_options_read(struct lode_cursor *message, struct lode_upload_options *options,
			     struct lode_text_list *labels)
{
	uint64_t form = lode_cursor_varint(message);
	const void *unit;
	const char *label;

	*options = (struct lode_upload_options){ .form = (enum lode_upload_form)form };
	options->format = read_text(message);
	options->name = read_text(message);
	options->host = read_text(message);
	options->source = read_known(message);
	options->boundary = read_text(message);
	unit = lode_cursor_bytes(message, sizeof(options->unit_ns));
	if (unit)
		memcpy(&options->unit_ns, unit, sizeof(options->unit_ns));
	options->kind_is_wait = lode_cursor_varint(message) != 0;
	while ((label = read_text(message)) && labels->count < LODE_UPLOAD_MAX_LABELS)
		lode_text_list_add(labels, lode_strdup(label));
	options->labels = labels->count ? (const char *const *)labels->items : NULL;
	if (labels->failed)
		return LODE_SYSTEM;
	return message->failed || label || form >= LODE_UPLOAD_FORMS ? LODE_BAD_INPUT : 0;
}

/* ---- streams ---- */

static void write_symptoms(struct lode_buffer *message, const struct lode_stream *stream)
{
	const struct lode_strings *strings = &stream->dictionary->frames.strings;

	lode_buffer_varint(message, stream->symptom_count);
	for (size_t i = 0; i < stream->symptom_count; i++) {
		const struct lode_symptom *symptom = &stream->symptoms[i];

		lode_buffer_varint(message, stream->threads[symptom->thread].pid);
		lode_buffer_varint(message, stream->threads[symptom->thread].tid);
		write_text(message, lode_strings_get(strings, symptom->name));
		lode_buffer_varint(message, symptom->t0);
		lode_buffer_varint(message, symptom->t1);
	}
}

void lode_upload_stream_write(struct lode_buffer *message, const struct lode_upload_stream *found,
			      const struct lode_stream *stream)
{
	const struct lode_strings *strings = &stream->dictionary->frames.strings;
	const struct lode_corpus_entry *entry = &found->entry;
	const uint64_t numbers[] = { (uint64_t)found->is_upload,
				     found->offset,
				     found->size,
				     entry->first_t,
				     entry->last_t,
				     entry->threads,
				     entry->stacks,
				     entry->symptoms };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		lode_buffer_varint(message, numbers[i]);
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		lode_buffer_varint(message, entry->events[type]);
		lode_buffer_varint(message, entry->cost[type]);
	}
	write_text(message, entry->id);
	write_text(message, entry->name);
	write_text(message, entry->host);
	lode_buffer_varint(message, stream->attribute_count);
	for (size_t i = 0; i < stream->attribute_count; i++) {
		lode_buffer_varint(message, stream->attributes[i].type);
		write_text(message, lode_strings_get(strings, stream->attributes[i].key));
		write_text(message, lode_strings_get(strings, stream->attributes[i].value));
	}
	write_symptoms(message, stream);
}

static int read_attributes(struct lode_cursor *message, struct lode_stream *stream)
{
	uint64_t count = lode_cursor_varint(message);
	int code = 0;

	for (uint64_t i = 0; !code && !message->failed && i < count; i++) {
		uint64_t type = lode_cursor_varint(message);
		const char *key = read_known(message), *value = read_known(message);

		message->failed |= type > LODE_ATTRIBUTE_BOOL;
		if (!message->failed)
			code = lode_stream_set_attribute(stream, key, value, (enum lode_attribute_type)type);
	}
	message->failed |= !code && stream->attribute_count != count;
	return code;
}

static int read_symptoms(struct lode_cursor *message, struct lode_stream *stream)
{
	uint64_t count = lode_cursor_varint(message);
	int code = 0;

	for (uint64_t i = 0; !code && !message->failed && i < count; i++) {
		uint64_t pid = lode_cursor_varint(message), tid = lode_cursor_varint(message);
		const char *name = read_known(message);
		struct lode_symptom symptom = { .t0 = lode_cursor_varint(message),
						.t1 = lode_cursor_varint(message) };

		message->failed |= pid > UINT32_MAX || tid > UINT32_MAX;
		if (message->failed)
			break;
		symptom.thread = lode_stream_thread(stream, (uint32_t)pid, (uint32_t)tid);
		symptom.name = lode_strings_add(&stream->dictionary->frames.strings, name, strlen(name));
		code = lode_stream_add_symptom(stream, &symptom);
	}
	return code;
}

static int is_id(const char *text)
{
	return strlen(text) == 32 && strspn(text, "0123456789abcdef") == 32;
}

static int read_stream(struct lode_cursor *message, struct lode_upload_stream *found)
{
	struct lode_corpus_entry *entry = &found->entry;
	uint64_t *const numbers[] = { &found->offset,  &found->size,   &entry->first_t, &entry->last_t,
				      &entry->threads, &entry->stacks, &entry->symptoms };
	const char *id, *name, *host;
	struct lode_strings *strings = &found->dictionary.frames.strings;
	int code;

	found->is_upload = lode_cursor_varint(message) != 0;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		*numbers[i] = lode_cursor_varint(message);
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		entry->events[type] = lode_cursor_varint(message);
		entry->cost[type] = lode_cursor_varint(message);
	}
	id = read_known(message);
	name = read_known(message);
	host = read_known(message);
	if (message->failed || !is_id(id))
		return LODE_BAD_INPUT;
	memcpy(entry->id, id, sizeof(entry->id));
	found->stream.name = lode_strings_add(strings, name, strlen(name));
	found->stream.host = lode_strings_add(strings, host, strlen(host));
	if (found->stream.name == LODE_NONE || found->stream.host == LODE_NONE)
		return LODE_SYSTEM;
	code = read_attributes(message, &found->stream);
	if (!code)
		code = read_symptoms(message, &found->stream);
	/* Texts of the dictionary stay where they are. */
	entry->name = lode_strings_get(strings, found->stream.name);
	entry->host = lode_strings_get(strings, found->stream.host);
	return code < 0 ? LODE_SYSTEM : message->failed || lode_cursor_left(message) ? LODE_BAD_INPUT : 0;
}

int lode_upload_stream_read(struct lode_cursor *message, struct lode_upload_stream *found)
{
	int code;

	memset(found, 0, sizeof(*found));
	if (lode_dictionary_init(&found->dictionary) < 0)
		return LODE_SYSTEM;
	lode_stream_init(&found->stream, &found->dictionary);
	code = read_stream(message, found);
	if (code)
		lode_upload_stream_release(found);
	return code;
}
