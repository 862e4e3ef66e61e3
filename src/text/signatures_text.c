/*
 * Signatures for people: a table, and below it those that are fixed and match newer streams; see
 * signatures_text.h.
 */
#include "text/signatures_text.h"

#include "base/safe_text.h"
#include "base/units.h"
#include "text/grid.h"

#include <string.h>

#define NAME_WIDTH 40

static int name_width(const struct lode_signatures_report *report)
{
	const struct lode_signature *signature;
	size_t width = strlen("name");

	for (size_t i = 0; (signature = lode_signatures_report_next(report, &i));)
		if (lode_text_width(signature->name) > width)
			width = lode_text_width(signature->name);
	return width < NAME_WIDTH ? (int)width : NAME_WIDTH;
}

static void put_row(struct lode_grid *grid, const struct lode_look *look, const struct lode_signature *signature)
{
	enum lode_style style = lode_signature_is_back(signature)         ? LODE_RED
				: signature->state == LODE_SIGNATURE_OPEN ? LODE_PLAIN
									  : LODE_DIM;

	lode_grid_text(grid, signature->name);
	lode_grid_styled(grid, look, style, lode_signature_state_name(signature->state));
	lode_grid_text(grid, lode_signature_kind(signature));
	lode_grid_count(grid, signature->count);
	lode_grid_count(grid, signature->streams);
	lode_grid_duration(grid, lode_signature_cost(signature));
	if (*signature->bug)
		lode_grid_text(grid, signature->bug);
	lode_grid_end(grid);
}

static void put_table(const struct lode_signatures_report *report, const struct lode_look *look,
		      struct lode_buffer *buffer)
{
	const struct lode_grid_column columns[] = {
		{ "name", 0, -name_width(report) },
		{ "state", 2, -7 },
		{ "kind", 2, -4 },
		{ "patterns", 2, 8 },
		{ "streams", 2, 8 },
		{ "cost", 2, 8 },
		{ "bug", 2, 0 },
		{ NULL, 0, 0 },
	};
	struct lode_grid grid = { .buffer = buffer, .columns = columns };
	const struct lode_signature *signature;
	size_t shown = 0;

	for (size_t i = 0; (signature = lode_signatures_report_next(report, &i));) {
		if (!shown++) {
			lode_grid_style(&grid, look, LODE_BOLD);
			lode_grid_titles(&grid);
		}
		put_row(&grid, look, signature);
	}
	if (!shown)
		lode_buffer_print(buffer, "no %s%ssignatures\n", report->state ? report->state : "",
				  report->state ? " " : "");
}

static void put_notes(const struct lode_signatures_report *report, const struct lode_look *look,
		      struct lode_buffer *buffer)
{
	const struct lode_signature *signature;
	int any = 0;

	for (size_t i = 0; (signature = lode_signatures_report_next(report, &i));) {
		if (!signature->note_count)
			continue;
		if (!any++)
			lode_buffer_print(buffer, "\n%snotes%s\n", lode_style(look, LODE_BOLD),
					  lode_style(look, LODE_PLAIN));
		lode_buffer_text(buffer, "  \"");
		lode_text_safe(buffer, signature->name);
		lode_buffer_text(buffer, "\"\n");
		for (size_t k = 0; k < signature->note_count; k++) {
			lode_buffer_text(buffer, "    ");
			lode_text_safe(buffer, signature->notes[k]);
			lode_buffer_byte(buffer, '\n');
		}
	}
}

static void put_return(const struct lode_signature *signature, struct lode_buffer *buffer)
{
	char newer[LODE_UNITS_TEXT], streams[LODE_UNITS_TEXT];

	lode_buffer_text(buffer, "  \"");
	lode_text_safe(buffer, signature->name);
	lode_buffer_print(buffer,
			  "\" is fixed since %.10s, but %s of the %s stream%s it matches came in after that\n",
			  signature->since, lode_count_text(signature->newer, newer),
			  lode_count_text(signature->streams, streams), lode_plural(signature->streams));
}

void lode_signatures_text(const struct lode_signatures_report *report, const struct lode_look *look,
			  struct lode_buffer *buffer)
{
	const struct lode_signature *signature;
	int any = 0;

	put_table(report, look, buffer);
	for (size_t i = 0; (signature = lode_signatures_report_next(report, &i));) {
		if (!lode_signature_is_back(signature))
			continue;
		if (!any++)
			lode_buffer_print(buffer, "\n%sregressions%s\n", lode_style(look, LODE_BOLD),
					  lode_style(look, LODE_PLAIN));
		put_return(signature, buffer);
	}
	put_notes(report, look, buffer);
}
