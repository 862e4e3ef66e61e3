/* What threads did, for people: see activity_text.h. */
#include "text/activity_text.h"

#include "base/units.h"
#include "text/grid.h"

#include <stdio.h>
#include <string.h>

/* Longer names are cut, with a mark. */
#define NAME_LIMIT 30
/* A state that is nowhere more than a 1/RARE of a process has no column. */
#define RARE 200

static size_t shown_of(size_t most, size_t count)
{
	return most && most < count ? most : count;
}

static int widen(int width, const char *name)
{
	size_t length = strlen(name);

	if (length > NAME_LIMIT)
		length = NAME_LIMIT;
	return (int)length > width ? (int)length : width;
}

/* ---- processes ---- */

/* A column beside the states: the part of running time that is the kernel's. */
#define IN_KERNEL LODE_STATES

static uint64_t time_of(const struct lode_process_states *row, int state)
{
	return state == IN_KERNEL ? row->running.kernel : row->ns[state];
}

static const char *title_of(int state)
{
	return state == IN_KERNEL ? "in kernel" : lode_state_name((enum lode_state)state);
}

static int has_column(const struct lode_state_table *table, size_t shown, int state)
{
	for (size_t i = 0; i < shown; i++)
		if (time_of(&table->items[i], state) > table->items[i].interval / RARE)
			return 1;
	return 0;
}

/* Columns of a process: its name, its time, and a share of each state; which states these are. */
static size_t choose_columns(const struct lode_state_table *table, size_t shown, struct lode_grid_column *columns,
			     int *states)
{
	int name = 7;
	size_t count = 0;

	for (size_t i = 0; i < shown; i++)
		name = widen(name, lode_strings_get(&table->names, table->items[i].process));
	columns[0] = (struct lode_grid_column){ "PROCESS", 2, -name };
	columns[1] = (struct lode_grid_column){ "THREADS", 1, 7 };
	columns[2] = (struct lode_grid_column){ "TIME", 1, 8 };
	for (int place = 0; place <= LODE_STATES; place++) {
		/* Running, of this in the kernel, and then the others. */
		int state = place == 1 ? IN_KERNEL : place > 1 ? place - 1 : place;
		const char *title = title_of(state);

		if (state != LODE_STATE_RUNNING && state != LODE_STATE_READY && !has_column(table, shown, state))
			continue;
		columns[3 + count] =
			(struct lode_grid_column){ title, 2, strlen(title) > 6 ? (int)strlen(title) : 6 };
		states[count++] = state;
	}
	columns[3 + count] = (struct lode_grid_column){ NULL, 0, 0 };
	return count;
}

void lode_state_shares_text(const uint64_t ns[LODE_STATES], struct lode_buffer *buffer)
{
	unsigned done = 0;
	uint64_t all = 0;
	const char *lead = "";
	char share[LODE_UNITS_TEXT];

	for (int state = 0; state < LODE_STATES; state++)
		all = lode_add_saturating(all, ns[state]);
	for (int rest = LODE_STATES; rest--;) {
		int next = -1;

		for (int state = 0; state < LODE_STATES; state++)
			if (!(done & 1u << state) && ns[state] > all / RARE && (next < 0 || ns[state] > ns[next]))
				next = state;
		if (next < 0)
			break;
		lode_buffer_print(buffer, "%s%s %s", lead, lode_state_name((enum lode_state)next),
				  lode_share_text(ns[next], all, share));
		done |= 1u << next;
		lead = ", ";
	}
}

void lode_states_text(const struct lode_state_table *table, size_t most, struct lode_buffer *buffer)
{
	struct lode_grid_column columns[LODE_STATES + 5];
	struct lode_grid grid = { .buffer = buffer, .columns = columns };
	size_t shown = shown_of(most, table->count), count;
	int states[LODE_STATES + 1];

	count = choose_columns(table, shown, columns, states);
	lode_grid_titles(&grid);
	for (size_t i = 0; i < shown; i++) {
		const struct lode_process_states *row = &table->items[i];
		const char *name = lode_strings_get(&table->names, row->process);

		lode_grid_text(&grid, *name ? name : "-");
		lode_grid_count(&grid, row->threads);
		lode_grid_duration(&grid, row->interval);
		for (size_t k = 0; k < count; k++)
			lode_grid_share(&grid, time_of(row, states[k]), row->interval);
		lode_grid_end(&grid);
	}
}

/* ---- requests ---- */

static void loop_name(const struct lode_loop_table *table, const struct lode_loop *loop, char *text, size_t size)
{
	const char *process = lode_strings_get(&table->names, loop->process);
	const char *thread = lode_strings_get(&table->names, loop->thread);

	if (!strcmp(process, thread) || !*thread || !*process)
		snprintf(text, size, "%s", *process ? process : *thread ? thread : "-");
	else
		snprintf(text, size, "%s/%s", process, thread);
}

void lode_requests_text(const struct lode_loop_table *table, size_t most, struct lode_buffer *buffer)
{
	struct lode_grid_column columns[] = {
		{ "THREADS OF", 2, 0 }, { "REQUESTS", 1, 11 }, { "TIME", 1, 8 },
		{ "MEDIAN", 1, 8 },     { "95%", 1, 8 },       { "99%", 1, 8 },
		{ "LONGEST", 1, 8 },    { "WAIT IN", 2, 0 },   { NULL, 0, 0 },
	};
	struct lode_grid grid = { .buffer = buffer, .columns = columns };
	size_t shown = shown_of(most, table->count);
	char name[NAME_LIMIT * 2 + 2];
	int width = 10;

	for (size_t i = 0; i < shown; i++) {
		loop_name(table, &table->items[i], name, sizeof(name));
		width = widen(width, name);
	}
	columns[0].width = -width;
	lode_grid_titles(&grid);
	for (size_t i = 0; i < shown; i++) {
		const struct lode_loop *loop = &table->items[i];

		loop_name(table, loop, name, sizeof(name));
		lode_grid_text(&grid, name);
		lode_grid_count(&grid, loop->count);
		lode_grid_duration(&grid, loop->time);
		lode_grid_duration(&grid, lode_loop_quantile(loop, 50));
		lode_grid_duration(&grid, lode_loop_quantile(loop, 95));
		lode_grid_duration(&grid, lode_loop_quantile(loop, 99));
		lode_grid_duration(&grid, loop->longest);
		lode_grid_text(&grid, lode_strings_get(&table->names, loop->frame));
		lode_grid_end(&grid);
	}
}
