/* The text format of Prometheus: see metric_text.h. */
#include "serve/metric_text.h"

void lode_metric_begin(struct lode_buffer *text, const char *name, const char *type, const char *help)
{
	lode_buffer_print(text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* Backslashes, quotes and line ends are escaped. */
void lode_metric_label(struct lode_buffer *text, const char *key, const char *value)
{
	lode_buffer_print(text, "%s=\"", key);
	for (; *value; value++) {
		if (*value == '\\' || *value == '"')
			lode_buffer_byte(text, '\\');
		if (*value == '\n')
			lode_buffer_text(text, "\\n");
		else
			lode_buffer_byte(text, *value);
	}
	lode_buffer_byte(text, '"');
}
