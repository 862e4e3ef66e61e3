/* Safe text: see safe_text.h. */
#include "base/safe_text.h"

#include "base/memory.h"
#include "base/unsafe_characters.h"

#include <string.h>

/* Appends the character at `at`, of a text up to `end`; adds its columns to `*width`; returns its bytes. */
static size_t add_character(struct lode_buffer *buffer, const unsigned char *at, const unsigned char *end,
			    size_t *width)
{
	char escaped[LODE_ESCAPED_SIZE];
	size_t length = lode_character(at, (size_t)(end - at), escaped);

	if (buffer && *escaped)
		lode_buffer_text(buffer, escaped);
	else if (buffer)
		lode_buffer_add(buffer, at, length);
	*width += *escaped ? strlen(escaped) : 1;
	return length;
}

void lode_text_safe(struct lode_buffer *buffer, const char *text)
{
	const unsigned char *at = (const unsigned char *)text, *end = at + strlen(text);
	size_t width = 0;

	while (at < end)
		at += add_character(buffer, at, end, &width);
}

size_t lode_text_width(const char *text)
{
	const unsigned char *at = (const unsigned char *)text, *end = at + strlen(text);
	size_t width = 0;

	while (at < end)
		at += add_character(NULL, at, end, &width);
	return width;
}

void lode_text_column(struct lode_buffer *buffer, const char *text, size_t width)
{
	const unsigned char *at = (const unsigned char *)text, *end = at + strlen(text);
	size_t limit = lode_text_width(text) > width ? width - 1 : width;
	size_t used = 0;

	while (at < end) {
		size_t after = used;

		add_character(NULL, at, end, &after);
		if (after > limit)
			break;
		at += add_character(buffer, at, end, &used);
	}
	if (at < end && width) {
		lode_buffer_byte(buffer, '~');
		used++;
	}
	for (; used < width; used++)
		lode_buffer_byte(buffer, ' ');
}

/* Whether one of the `kept` bytes, which may be "". */
static int is_kept(unsigned char byte, const char *kept)
{
	return byte && strchr(kept, byte) != NULL;
}

/* Bytes of the buffer from `start` on that need no escaping. */
static size_t safe_length(const struct lode_buffer *buffer, size_t start, const char *kept)
{
	const unsigned char *bytes = (const unsigned char *)buffer->bytes;
	char escaped[LODE_ESCAPED_SIZE];
	size_t at = start;

	while (at < buffer->size) {
		size_t length = lode_character(bytes + at, buffer->size - at, escaped);

		if (*escaped && !is_kept(bytes[at], kept))
			break;
		at += length;
	}
	return at - start;
}

void lode_text_escape(struct lode_buffer *buffer, size_t start)
{
	char *raw;

	if (buffer->failed || safe_length(buffer, start, "") == buffer->size - start)
		return;
	raw = lode_strndup(buffer->bytes + start, buffer->size - start);
	buffer->size = start;
	if (raw)
		lode_text_safe(buffer, raw);
	else
		buffer->failed = 1;
	lode_free(raw);
}

int lode_text_for_terminal(const struct lode_buffer *raw, int has_colours, struct lode_buffer *safe)
{
	const char *kept = has_colours ? "\n\t\r\033" : "\n\t";
	const unsigned char *bytes = (const unsigned char *)raw->bytes;
	size_t at = raw->failed ? raw->size : safe_length(raw, 0, kept);

	if (at == raw->size)
		return 0;
	lode_buffer_add(safe, bytes, at);
	while (at < raw->size) {
		size_t width = 0, length;

		at += add_character(safe, bytes + at, bytes + raw->size, &width);
		length = safe_length(raw, at, kept);
		lode_buffer_add(safe, bytes + at, length);
		at += length;
	}
	return 1;
}
