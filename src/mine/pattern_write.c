/* Patterns as lines of a pattern file, which its parser reads back as the same: see pattern_file.h. */
#include "mine/pattern_file.h"

#include <string.h>

static void write_byte(struct lode_buffer *buffer, unsigned char byte, int at_an_end, int first)
{
	if (byte == '\\')
		lode_buffer_text(buffer, "\\\\");
	else if (byte == '\n')
		lode_buffer_text(buffer, "\\n");
	else if (byte == '\t')
		lode_buffer_text(buffer, "\\t");
	else if (byte < ' ' || byte == 0x7f || (byte == ' ' && at_an_end) || (byte == '#' && first))
		lode_buffer_print(buffer, "\\x%02x", byte);
	else
		lode_buffer_byte(buffer, (char)byte);
}

static void write_text(struct lode_buffer *buffer, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		write_byte(buffer, (unsigned char)text[i], i == 0 || i + 1 == size, i == 0);
	lode_buffer_byte(buffer, '\n');
}

void lode_pattern_line_write(const char *keyword, const char *value, struct lode_buffer *buffer)
{
	if (!value || !*value)
		return;
	lode_buffer_text(buffer, keyword);
	lode_buffer_byte(buffer, ' ');
	write_text(buffer, value, strlen(value));
}

void lode_pattern_write(const struct lode_patterns *patterns, size_t i, const struct lode_frames *frames,
			struct lode_buffer *buffer)
{
	const uint32_t *sequence = lode_pattern_frames(patterns, i);
	struct lode_buffer text = { 0 };

	lode_buffer_text(buffer, "pattern\n");
	for (uint32_t k = 0; k < patterns->items[i].length; k++) {
		lode_buffer_clear(&text);
		lode_frames_text(frames, sequence[k], &text);
		if (!text.size)
			lode_buffer_byte(&text, '!'); /* a function without a name in no module */
		lode_buffer_byte(buffer, '\t');
		if (!text.failed)
			write_text(buffer, text.bytes, text.size);
		buffer->failed |= text.failed;
	}
	lode_buffer_release(&text);
}
