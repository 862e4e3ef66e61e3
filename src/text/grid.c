/* Grid: see grid.h. */
#include "text/grid.h"

#include "base/safe_text.h"
#include "base/units.h"

#include <stdio.h>

void lode_grid_open(struct lode_grid *grid)
{
	lode_buffer_print(grid->buffer, "%*s", grid->columns[grid->at++].gap, "");
}

static void put_cell(struct lode_grid *grid, int width, const char *text)
{
	if (width < 0)
		lode_text_column(grid->buffer, text, (size_t)-width);
	else if (width)
		lode_buffer_print(grid->buffer, "%*s", width, text);
	else
		lode_text_safe(grid->buffer, text);
}

void lode_grid_text(struct lode_grid *grid, const char *text)
{
	lode_grid_open(grid);
	put_cell(grid, grid->columns[grid->at - 1].width, text);
}

void lode_grid_styled(struct lode_grid *grid, const struct lode_look *look, enum lode_style style, const char *text)
{
	lode_grid_open(grid);
	lode_buffer_text(grid->buffer, lode_style(look, style));
	put_cell(grid, grid->columns[grid->at - 1].width, text);
	lode_buffer_text(grid->buffer, lode_style(look, LODE_PLAIN));
}

void lode_grid_style(struct lode_grid *grid, const struct lode_look *look, enum lode_style style)
{
	lode_buffer_text(grid->buffer, lode_style(look, style));
	grid->plain = lode_style(look, LODE_PLAIN);
}

void lode_grid_titles(struct lode_grid *grid)
{
	while (grid->columns[grid->at].title)
		lode_grid_text(grid, grid->columns[grid->at].title);
	lode_grid_end(grid);
}

void lode_grid_count(struct lode_grid *grid, uint64_t count)
{
	char text[LODE_UNITS_TEXT];

	lode_grid_text(grid, lode_count_text(count, text));
}

void lode_grid_duration(struct lode_grid *grid, uint64_t nanoseconds)
{
	char text[LODE_UNITS_TEXT];

	lode_grid_text(grid, lode_duration_text(nanoseconds, text));
}

void lode_grid_number(struct lode_grid *grid, double number, int decimals)
{
	char text[LODE_UNITS_TEXT];

	snprintf(text, sizeof(text), "%.*f", decimals, number);
	lode_grid_text(grid, text);
}

void lode_grid_bytes(struct lode_grid *grid, uint64_t bytes)
{
	char text[LODE_UNITS_TEXT];

	lode_grid_text(grid, lode_bytes_text(bytes, text));
}

void lode_grid_share(struct lode_grid *grid, uint64_t part, uint64_t whole)
{
	char text[LODE_UNITS_TEXT];

	lode_grid_text(grid, lode_share_text(part, whole, text));
}

void lode_grid_end(struct lode_grid *grid)
{
	lode_buffer_print(grid->buffer, "%s\n", grid->plain ? grid->plain : "");
	grid->plain = NULL;
	grid->at = 0;
}
