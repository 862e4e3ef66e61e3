/* Formats without an importer: see other_formats.h. */
#include "import/other_formats.h"

#include <string.h>

#define MARKS 2

/* Known by its marks, which all occur in the first bytes; with `at_start` the first one begins the file. */
struct other_format {
	const char *marks[MARKS];
	int at_start;
	const char *sentence;
};

static const struct other_format formats[] = {
	{{"PK\x03\x04"}, 1, "is a ZIP archive; unpack it and import the files in it"},
};

static int has_mark(const unsigned char *bytes, size_t size, const char *mark)
{
	return memmem(bytes, size, mark, strlen(mark)) != NULL;
}

static int matches(const struct other_format *format, const unsigned char *bytes, size_t size)
{
	size_t length = strlen(format->marks[0]);

	if (format->at_start && (size < length || memcmp(bytes, format->marks[0], length) != 0))
		return 0;
	for (int i = 0; i < MARKS && format->marks[i]; i++)
		if (!has_mark(bytes, size, format->marks[i]))
			return 0;
	return 1;
}

/* JSON begins with a bracket; only there a key in quotes means what it says. */
static int is_json(const unsigned char *bytes, size_t size)
{
	size_t at = 0;

	while (at < size && memchr(" \t\r\n\xef\xbb\xbf", bytes[at], 7))
		at++;
	return at < size && (bytes[at] == '{' || bytes[at] == '[');
}

const char *lode_other_format(const unsigned char *bytes, size_t size)
{
	int json = is_json(bytes, size);

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if ((formats[i].at_start || json) && matches(&formats[i], bytes, size))
			return formats[i].sentence;
	return NULL;
}
