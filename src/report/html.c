/*
 * HTML: see html.h. A page needs nothing from elsewhere: no scripts, no fonts, no
 * pictures; it can be mailed.
 */
#include "report/html.h"

#include "base/json.h"

#include <string.h>

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

void lode_html_text(struct lode_buffer *buffer, const char *text, size_t length)
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

static const char style[] =
	":root{color-scheme:light dark;--line:#8884;--soft:#8881;--dim:#888;--bar:#d9822b}"
	"body{font:15px/1.45 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}"
	"h1{font-size:1.4rem;margin:0 0 .5rem}table{border-collapse:collapse}"
	"td,th{padding:.15rem .8rem .15rem 0;text-align:left;vertical-align:top}"
	"td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}"
	"details{border-top:1px solid var(--line);padding:.4rem 0}"
	"summary{cursor:pointer;display:grid;grid-template-columns:2.5rem 12rem 1fr;gap:.6rem;align-items:center}"
	"summary b{font-variant-numeric:tabular-nums}"
	".bar{position:relative;height:1.1rem;background:var(--soft)}"
	".bar i{position:absolute;top:0;bottom:0;left:0;background:var(--bar)}"
	".bar u{position:absolute;top:45%;height:10%;background:currentColor}"
	".leaf{font-family:ui-monospace,monospace;font-size:.85rem;overflow-wrap:anywhere}"
	"pre,code{font-family:ui-monospace,monospace;font-size:.85rem;white-space:pre-wrap;overflow-wrap:anywhere}"
	".variant{margin:.1rem 0 .1rem 2rem;padding-left:.6rem;border-left:2px dotted var(--dim);color:var(--dim)}"
	".frame{margin:.1rem 0 .1rem 1rem}.dim{color:var(--dim)}";

void lode_html_begin(struct lode_buffer *buffer, const char *title)
{
	lode_buffer_text(buffer, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
				 "<meta name=\"viewport\" content=\"width=device-width\"><title>");
	lode_html_text(buffer, title, strlen(title));
	lode_buffer_text(buffer, "</title><style>");
	lode_buffer_text(buffer, style);
	lode_buffer_text(buffer, "</style></head><body>\n");
}

void lode_html_end(struct lode_buffer *buffer)
{
	lode_buffer_text(buffer, "</body></html>\n");
}
