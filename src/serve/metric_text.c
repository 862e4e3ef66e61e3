/* The text format of Prometheus: see metric_text.h. */
#include "serve/metric_text.h"

#include "base/utf8.h"

#include <string.h>

#define REPLACEMENT 0xfffd

void lode_metric_begin(struct lode_buffer *text, const char *name, const char *type, const char *help)
{
	lode_buffer_print(text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* Backslashes, quotes and line ends are escaped; what is not UTF-8, which would spoil all of /metrics, is replaced. */
void lode_metric_label(struct lode_buffer *text, const char *key, const char *value)
{
	size_t length;

	lode_buffer_print(text, "%s=\"", key);
	for (size_t left = strlen(value); left; value += length, left -= length) {
		length = lode_utf8_length((const unsigned char *)value, left);
		if (*value == '\\' || *value == '"')
			lode_buffer_byte(text, '\\');
		if (*value == '\n')
			lode_buffer_text(text, "\\n");
		else if (length)
			lode_buffer_add(text, value, length);
		else
			lode_utf8_append(text, REPLACEMENT);
		length += !length;
	}
	lode_buffer_byte(text, '"');
}
