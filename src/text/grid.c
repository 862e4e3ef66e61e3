/* Grid: see grid.h. */
#include "text/grid.h"

#include "base/safe_text.h"
#include "base/units.h"

void lode_grid_open(struct lode_grid *grid)
{
	lode_buffer_print(grid->buffer, "%*s", grid->columns[grid->at++].gap, "");
}

void lode_grid_text(struct lode_grid *grid, const char *text)
{
	int width = grid->columns[grid->at].width;

	lode_grid_open(grid);
	if (width < 0)
		lode_text_column(grid->buffer, text, (size_t)-width);
	else if (width)
		lode_buffer_print(grid->buffer, "%*s", width, text);
	else
		lode_text_safe(grid->buffer, text);
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
	lode_buffer_byte(grid->buffer, '\n');
	grid->at = 0;
}
