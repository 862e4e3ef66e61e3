/* Safe text: see safe_text.h. */
#include "base/safe_text.h"

#include "base/memory.h"

/* A control character: C0, DEL, or C1 in its UTF-8 form. Returns how many bytes it has. */
static size_t control_length(const unsigned char *at)
{
	if (*at < 0x20 || *at == 0x7f)
		return 1;
	if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0)
		return 2;
	return 0;
}

/* Appends the character at `at`; adds its columns to `*width`; returns its bytes. */
static size_t add_character(struct lode_buffer *buffer, const unsigned char *at, size_t *width)
{
	size_t control = control_length(at);
	size_t length = 1;

	if (control) {
		if (buffer)
			lode_buffer_print(buffer, "\\x%02x", at[control - 1]);
		*width += 4;
		return control;
	}
	while (*at >= 0xc0 && (at[length] & 0xc0) == 0x80 && length < 4)
		length++;
	if (buffer)
		lode_buffer_add(buffer, at, length);
	*width += 1;
	return length;
}

void lode_text_safe(struct lode_buffer *buffer, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t width = 0;

	while (*at)
		at += add_character(buffer, at, &width);
}

size_t lode_text_width(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t width = 0;

	while (*at)
		at += add_character(NULL, at, &width);
	return width;
}

void lode_text_column(struct lode_buffer *buffer, const char *text, size_t width)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t limit = lode_text_width(text) > width ? width - 1 : width;
	size_t used = 0;

	while (*at) {
		size_t after = used;

		add_character(NULL, at, &after);
		if (after > limit)
			break;
		at += add_character(buffer, at, &used);
	}
	if (*at && width) {
		lode_buffer_byte(buffer, '~');
		used++;
	}
	for (; used < width; used++)
		lode_buffer_byte(buffer, ' ');
}

static int is_safe(const struct lode_buffer *buffer, size_t start)
{
	for (size_t i = start; i < buffer->size; i++) {
		unsigned char next = i + 1 < buffer->size ? (unsigned char)buffer->bytes[i + 1] : 0;
		const unsigned char pair[2] = { (unsigned char)buffer->bytes[i], next };

		if (control_length(pair))
			return 0;
	}
	return 1;
}

void lode_text_escape(struct lode_buffer *buffer, size_t start)
{
	char *raw;

	if (buffer->failed || is_safe(buffer, start))
		return;
	raw = lode_strndup(buffer->bytes + start, buffer->size - start);
	buffer->size = start;
	if (raw)
		lode_text_safe(buffer, raw);
	else
		buffer->failed = 1;
	lode_free(raw);
}
