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
	":root{color-scheme:light dark;--line:#8884;--soft:#8881;--dim:#888;--bar:#d9822b;--base:#4477aa;--slow:#ee6677}"
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
	".frame{margin:.1rem 0 .1rem 1rem}.dim{color:var(--dim)}"
	"h2{font-size:1.1rem;margin:1.6rem 0 .4rem}.wide{overflow-x:auto}"
	/* Trees of calls: an edge is a picture, the rest of a trunk a stripe that is as high as what is open. */
	"ul.calls,ul.calls ul{list-style:none;margin:0;padding:0}ul.calls ul{margin-left:.6rem}"
	"ul.calls li{position:relative;padding-left:28px}ul.calls>li{padding-left:0}"
	"ul.calls svg{position:absolute;left:0;top:0}"
	"ul.calls .trunk{position:absolute;top:13px;bottom:0;background:var(--slow)}"
	"ul.calls .trunk i{position:absolute;top:0;bottom:0;left:50%;transform:translateX(-50%);background:var(--base)}"
	"ul.calls details{border:0;padding:0}ul.calls summary{display:block}"
	"ul.calls summary,ul.calls .call{line-height:26px;white-space:nowrap}"
	"ul.calls summary::before{content:\"\\25b8\";color:var(--dim);display:inline-block;width:.9rem}"
	"ul.calls details[open]>summary::before{content:\"\\25be\"}ul.calls .call{padding-left:.9rem}"
	"ul.calls code{font-size:.85rem;white-space:nowrap}"
	".badge{font-size:.7rem;border:1px solid var(--line);border-radius:.6rem;padding:0 .4rem;color:var(--dim)}"
	".new{color:var(--slow);border-color:var(--slow)}"
	".key{display:inline-block;width:1.6rem;height:.6rem;border-radius:.2rem;margin:0 .3rem 0 .8rem}";

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
