/* Text in graphs for Graphviz: see dot_text.h. */
#include "export/dot_text.h"

#include "base/json.h"

void lode_dot_quoted(struct lode_buffer *buffer, const char *text, size_t length)
{
	const unsigned char *bytes = (const unsigned char *)text;

	for (size_t i = 0; i < length;) {
		size_t width = lode_utf8_length(bytes + i, length - i);

		if (bytes[i] == '"' || bytes[i] == '\\')
			lode_buffer_byte(buffer, '\\');
		if (!width || bytes[i] < 0x20)
			lode_buffer_text(buffer, "\xef\xbf\xbd");
		else
			lode_buffer_add(buffer, text + i, width);
		i += width ? width : 1;
	}
}
