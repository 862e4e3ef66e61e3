/* HTML and XML: see markup.h. */
#include "base/markup.h"

#include "base/json.h"

static const char *entity(unsigned char byte)
{
	switch (byte) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '&':
		return "&amp;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return byte < 0x20 && byte != '\t' ? "&#xFFFD;" : NULL;
	}
}

void lode_markup_text(struct lode_buffer *buffer, const char *text, size_t length)
{
	const unsigned char *bytes = (const unsigned char *)text;

	for (size_t i = 0; i < length;) {
		size_t width = lode_utf8_length(bytes + i, length - i);
		const char *instead = width ? entity(bytes[i]) : "&#xFFFD;";

		if (instead)
			lode_buffer_text(buffer, instead);
		else
			lode_buffer_add(buffer, text + i, width);
		i += width ? width : 1;
	}
}
