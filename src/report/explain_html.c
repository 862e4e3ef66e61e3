/*
 * An explanation as a page that stands by itself: the picture of functions and
 * tree, and below it what the text says; see explain_report.h.
 */
#include "report/explain_report.h"
#include "report/html.h"

#include <string.h>

/* Line by line, for a line's end is a control character to lode_html_text. */
static void put_lines(const struct lode_buffer *text, struct lode_buffer *buffer)
{
	for (size_t at = 0; at < text->size;) {
		const char *end = memchr(text->bytes + at, '\n', text->size - at);
		size_t length = end ? (size_t)(end - text->bytes) - at : text->size - at;

		lode_html_text(buffer, text->bytes + at, length);
		lode_buffer_byte(buffer, '\n');
		at += length + 1;
	}
}

void lode_explain_html(const struct lode_explain_report *report, struct lode_buffer *buffer)
{
	struct lode_explain_report wide = *report;
	struct lode_buffer text = { 0 };

	wide.ascii = 0;
	lode_explain_summary(&wide, &text);
	lode_html_begin(buffer, report->input->name);
	lode_buffer_text(buffer, "<h1>");
	lode_html_text(buffer, report->input->name, strlen(report->input->name));
	lode_buffer_text(buffer, ": why some runs are slow</h1>\n<div style=\"overflow-x:auto\">\n");
	lode_explain_svg(report, buffer);
	lode_buffer_text(buffer, "</div>\n<pre>\n");
	put_lines(&text, buffer);
	lode_buffer_text(buffer, "</pre>\n");
	lode_html_end(buffer);
	buffer->failed |= text.failed;
	lode_buffer_release(&text);
}
