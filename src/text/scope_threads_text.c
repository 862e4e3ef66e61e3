/* The threads of a scope that is no path, busiest first, as text. */
#include "text/scope_words.h"

#include "result/scope_threads.h"
#include "text/grid.h"

static void put_sum(struct lode_scope_page *page, struct lode_grid *grid, const struct lode_scope_thread *sum)
{
	lode_grid_duration(grid, sum->cost[LODE_RUN]);
	lode_grid_duration(grid, sum->cost[LODE_WAIT]);
	lode_grid_count(grid, sum->events);
	lode_buffer_text(page->buffer, "  ");
	lode_put_thread(page, sum->thread);
	lode_grid_end(grid);
}

void lode_put_scope_threads(struct lode_scope_page *page)
{
	static const struct lode_grid_column columns[] = {
		{ "RUN", 2, 8 },
		{ "WAIT", 1, 8 },
		{ "EVENTS", 1, 8 },
		{ NULL, 0, 0 },
	};
	struct lode_grid grid = { .buffer = page->buffer, .columns = columns };
	struct lode_scope_threads threads;
	size_t shown;

	if (lode_scope_threads_make(&threads, page->report, page->found, 0, 0) < 0)
		page->buffer->failed = 1;
	shown = page->most && page->most < threads.count ? page->most : threads.count;
	if (shown < threads.count)
		lode_buffer_print(page->buffer, "  the %zu busiest of %zu threads; --all shows all\n", shown,
				  threads.count);
	if (threads.count)
		lode_grid_titles(&grid);
	for (size_t i = 0; i < shown; i++)
		put_sum(page, &grid, &threads.items[i]);
	lode_scope_threads_release(&threads);
}
