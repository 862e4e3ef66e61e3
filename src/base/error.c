/* Errors as sentences: see error.h. */
#include "base/error.h"

#include "base/memory.h"
#include "base/unsafe_characters.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* File names and frames come from outside: nothing in them may drive a terminal. */
static void escape_controls(char *text, const char *raw, size_t size)
{
	const unsigned char *at = (const unsigned char *)raw, *end = at + strlen(raw);
	char escaped[LODE_ESCAPED_SIZE];
	size_t used = 0;

	while (at < end && used + LODE_ESCAPED_SIZE <= size) {
		size_t length = lode_character(at, (size_t)(end - at), escaped);
		size_t shown = *escaped ? strlen(escaped) : length;

		memcpy(text + used, *escaped ? (const void *)escaped : at, shown);
		used += shown;
		at += length;
	}
	text[used] = '\0';
}

int lode_fail(struct lode_error *error, int code, const char *format, ...)
{
	char raw[sizeof(error->text)];
	va_list arguments;

	if (!error)
		return code;
	va_start(arguments, format);
	vsnprintf(raw, sizeof(raw), format, arguments);
	va_end(arguments);
	escape_controls(error->text, raw, sizeof(error->text));
	return code;
}

/* Whole megabytes, rounded up. */
static size_t megabytes(size_t bytes)
{
	return bytes / 1000000 + (bytes % 1000000 != 0);
}

int lode_fail_memory(struct lode_error *error)
{
	const struct lode_shortage *shortage = lode_memory_shortage();

	if (!shortage)
		return lode_fail(error, LODE_SYSTEM,
				 "memory ran out; free some, or work on fewer or smaller files at once");
	return lode_fail(error, LODE_SYSTEM,
			 "--memory %zuMB is used up, and %s has no room for %zu MB more (%s); name a folder on a "
			 "disk with TMPDIR, or give --memory %zuMB, which would do for what was read so far",
			 megabytes(shortage->limit), shortage->folder, megabytes(shortage->wanted),
			 shortage->reason, megabytes(shortage->needed));
}
