/* The result of lode annotate as text: see annotate_text.h. */
#include "text/annotate_text.h"

#include "base/memory.h"
#include "base/safe_text.h"
#include "base/units.h"

#include <stdio.h>
#include <string.h>

/* Lines that take this part of what the function takes are the ones to look at. */
#define HOT_PART 10
#define TAB      8

struct page {
	const struct lode_annotation *annotation;
	const struct lode_look *look;
	struct lode_buffer *buffer;
};

/* ---- above ---- */

static void add_kind(const struct page *page, const char *verb, enum lode_event_type kind)
{
	const struct lode_line_costs *costs = &page->annotation->costs;
	char self[LODE_UNITS_TEXT], total[LODE_UNITS_TEXT], part[LODE_UNITS_TEXT];

	if (!costs->all.total[kind]) {
		lode_buffer_print(page->buffer, "does not %s", verb);
		return;
	}
	lode_buffer_print(page->buffer, "%ss %s, %s of all", verb,
			  lode_duration_text(costs->all.total[kind], total),
			  lode_share_text(costs->all.total[kind], costs->whole[kind], part));
	if (!costs->all.self[kind])
		lode_buffer_text(page->buffer, ", in what it calls");
	else if (costs->all.self[kind] < costs->all.total[kind])
		lode_buffer_print(page->buffer, "; %s of it by itself",
				  lode_duration_text(costs->all.self[kind], self));
}

static void add_sentence(const struct page *page, const char *text)
{
	if (!*text)
		return;
	lode_text_safe(page->buffer, text);
	lode_buffer_byte(page->buffer, '\n');
}

static void add_others(const struct page *page)
{
	const struct lode_line_costs *costs = &page->annotation->costs;

	if (!costs->other_count)
		return;
	lode_buffer_text(page->buffer, "also fits:");
	for (size_t i = 0; i < costs->others.count; i++) {
		lode_buffer_text(page->buffer, i ? ", " : " ");
		lode_text_safe(page->buffer, costs->others.items[i]);
	}
	if (costs->other_count > costs->others.count)
		lode_buffer_print(page->buffer, " and %zu more", costs->other_count - costs->others.count);
	lode_buffer_byte(page->buffer, '\n');
}

static void add_head(const struct page *page, const char *function)
{
	const struct lode_annotation *annotation = page->annotation;

	lode_buffer_text(page->buffer, lode_style(page->look, LODE_BOLD));
	lode_text_safe(page->buffer, function);
	lode_buffer_text(page->buffer, lode_style(page->look, LODE_PLAIN));
	if (annotation->file) {
		lode_buffer_text(page->buffer,
				 annotation->kind == LODE_ANNOTATION_CODE ? "  instructions of " : "  ");
		lode_text_safe(page->buffer, annotation->file);
	}
	lode_buffer_byte(page->buffer, '\n');
	add_kind(page, "run", LODE_RUN);
	lode_buffer_byte(page->buffer, '\n');
	add_kind(page, "wait", LODE_WAIT);
	lode_buffer_byte(page->buffer, '\n');
	add_others(page);
	add_sentence(page, annotation->why_no_lines);
	add_sentence(page, annotation->why_no_source);
	add_sentence(page, annotation->why_no_code);
}

/* ---- lines ---- */

/* Nothing where there is no time: what has a cost is to be seen at once. */
static void add_time(const struct page *page, uint64_t time, uint64_t whole)
{
	int is_hot = time && time >= whole / HOT_PART;
	char text[LODE_UNITS_TEXT];

	lode_buffer_print(page->buffer, "%s%9s%s", is_hot ? lode_style(page->look, LODE_RED) : "",
			  time ? lode_duration_text(time, text) : "",
			  is_hot ? lode_style(page->look, LODE_PLAIN) : "");
}

/* Tabs are stops in the file, not behind the columns. */
static void add_source(const struct page *page, const char *text)
{
	struct lode_buffer plain = { 0 };
	size_t column = 0;

	for (; *text; text++)
		if (*text == '\t')
			do
				lode_buffer_byte(&plain, ' ');
			while (++column % TAB);
		else {
			lode_buffer_byte(&plain, *text);
			column += (*text & 0xc0) != 0x80;
		}
	lode_buffer_byte(&plain, '\0');
	if (plain.failed)
		page->buffer->failed = 1;
	else
		lode_text_safe(page->buffer, plain.bytes);
	lode_buffer_release(&plain);
}

static void add_row(const struct page *page, const struct lode_annotation_row *row)
{
	static const struct lode_line_cost none;
	const struct lode_line_cost *cost = row->cost ? row->cost : &none, *all = &page->annotation->costs.all;
	char line[16] = "";

	add_time(page, cost->self[LODE_RUN], all->total[LODE_RUN]);
	add_time(page, cost->total[LODE_RUN], all->total[LODE_RUN]);
	add_time(page, cost->self[LODE_WAIT], all->total[LODE_WAIT]);
	add_time(page, cost->total[LODE_WAIT], all->total[LODE_WAIT]);
	if (row->line)
		snprintf(line, sizeof(line), "%u", row->line);
	lode_buffer_print(page->buffer, " %6s", *line || row->address ? line : "?");
	if (row->address)
		lode_buffer_print(page->buffer, " %8llx", (unsigned long long)row->address);
	lode_buffer_text(page->buffer, *row->text ? "  " : "");
	add_source(page, row->text);
	lode_buffer_byte(page->buffer, '\n');
}

static void add_titles(const struct page *page)
{
	lode_buffer_print(page->buffer, "\n%s%9s%9s%9s%9s %6s%s%s\n", lode_style(page->look, LODE_DIM), "RUN",
			  "+CALLS", "WAIT", "+CALLS", "LINE",
			  page->annotation->kind == LODE_ANNOTATION_CODE ? "  ADDRESS" : "",
			  lode_style(page->look, LODE_PLAIN));
}

void lode_annotate_text(const struct lode_annotate_report *report, const struct lode_look *look,
			struct lode_buffer *buffer)
{
	struct page page = { report->annotation, look, buffer };
	char *function = lode_annotate_function(report);

	if (!function) {
		buffer->failed = 1;
		return;
	}
	add_head(&page, function);
	add_titles(&page);
	for (size_t i = 0; i < report->annotation->rows.count; i++)
		add_row(&page, &report->annotation->rows.items[i]);
	lode_free(function);
}
