/* Editing the text file of signatures: see signature_text.h. What is not touched stays byte for byte as it
 * was. */
#include "mine/signature_text.h"

#include <string.h>

/* Behind the line that begins at `at`. */
static size_t line_end(const char *text, size_t size, size_t at)
{
	const char *end = memchr(text + at, '\n', size - at);

	return end ? (size_t)(end - text) + 1 : size;
}

/* Whether the line at `at` begins with just this word. */
static int begins_with(const char *text, size_t size, size_t at, const char *word)
{
	size_t length = strlen(word), left = size - at;

	return left >= length && memcmp(text + at, word, length) == 0 &&
	       (left == length || strchr(" \t\r\n", text[at + length]));
}

static void add_lines(const struct lode_buffer *lines, struct lode_buffer *result)
{
	result->failed |= lines->failed;
	lode_buffer_add(result, lines->bytes, lines->size);
}

/* A last line without a line end gets one before something is put behind it. */
static void end_line(struct lode_buffer *result)
{
	if (result->size && result->bytes[result->size - 1] != '\n')
		lode_buffer_byte(result, '\n');
}

void lode_signature_text_set(const char *text, size_t size, const struct lode_pattern_group *group,
			     const char *keyword, const char *value, struct lode_buffer *result)
{
	size_t at = group->start, behind;

	while (at < group->end && !begins_with(text, size, at, "pattern") && !begins_with(text, size, at, keyword))
		at = line_end(text, size, at);
	behind = at < group->end && begins_with(text, size, at, keyword) ? line_end(text, size, at) : at;
	lode_buffer_add(result, text, at);
	lode_pattern_line_write(keyword, value, result);
	lode_buffer_add(result, text + behind, size - behind);
}

void lode_signature_text_drop(const char *text, size_t size, const struct lode_pattern_group *group,
			      const char *keyword, struct lode_buffer *result)
{
	size_t at = group->start;

	lode_buffer_add(result, text, at);
	while (at < group->end && !begins_with(text, size, at, "pattern")) {
		size_t next = line_end(text, size, at);

		if (!begins_with(text, size, at, keyword))
			lode_buffer_add(result, text + at, next - at);
		at = next;
	}
	lode_buffer_add(result, text + at, size - at);
}

void lode_signature_text_insert(const char *text, size_t size, const struct lode_pattern_group *group,
				const struct lode_buffer *lines, struct lode_buffer *result)
{
	size_t at = group->start;

	while (at < group->end && !begins_with(text, size, at, "pattern"))
		at = line_end(text, size, at);
	lode_buffer_add(result, text, at);
	add_lines(lines, result);
	lode_buffer_add(result, text + at, size - at);
}

void lode_signature_text_extend(const char *text, size_t size, const struct lode_pattern_group *group,
				const struct lode_buffer *lines, struct lode_buffer *result)
{
	lode_buffer_add(result, text, group->end);
	end_line(result);
	add_lines(lines, result);
	lode_buffer_add(result, text + group->end, size - group->end);
}

void lode_signature_text_cut(const char *text, size_t size, const struct lode_pattern_group *group,
			     struct lode_buffer *result)
{
	size_t behind = group->end;

	/* One of the blank lines around it goes with it. */
	if (behind < size && text[behind] == '\n')
		behind++;
	lode_buffer_add(result, text, group->start);
	lode_buffer_add(result, text + behind, size - behind);
}

void lode_signature_text_append(const char *text, size_t size, const struct lode_buffer *lines,
				struct lode_buffer *result)
{
	lode_buffer_add(result, text, size);
	end_line(result);
	if (result->size)
		lode_buffer_byte(result, '\n');
	add_lines(lines, result);
}
