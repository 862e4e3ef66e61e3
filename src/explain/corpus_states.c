/*
 * The states of a stream's threads as columns of its table (see corpus_table.h): how long they ran, ran in the kernel, were ready, waited for
 * locks, disks and so on, all threads together. What is idle or not recorded is no reason for anything.
 */
#include "explain/corpus_columns.h"

#include "scope/activity.h"

#include <string.h>

/* A column of its own beside the states: how long they ran in the kernel. */
#define RUNNING_KERNEL "running_kernel"
#define COLUMNS        (LODE_STATES + 1)

static int is_reason(int column)
{
	return column == LODE_STATES || lode_state_counts((enum lode_state)column);
}

static const char *name_of(int column)
{
	return column == LODE_STATES ? RUNNING_KERNEL : lode_state_key((enum lode_state)column);
}

/* Adds a column for each state, and one for the kernel. */
static int add_columns(struct lode_corpus_making *making, uint32_t columns[COLUMNS])
{
	struct lode_data_table *table = making->table;

	for (int state = 0; state < COLUMNS; state++) {
		const char *name = name_of(state);
		struct lode_data_column *column;

		if (!is_reason(state))
			continue;
		if (LODE_GROW(making->features, making->feature_capacity, table->count + 1) < 0)
			return lode_fail_memory(making->error);
		making->features[table->count] = (struct lode_corpus_feature){ .cost = 0 };
		columns[state] = (uint32_t)table->count;
		column = lode_corpus_column(making, name, strlen(name));
		if (!column)
			return LODE_SYSTEM;
		for (size_t row = 0; row < table->rows; row++)
			column->numbers[row] = 0;
	}
	return 0;
}

static int fill_row(struct lode_corpus_making *making, const struct lode_corpus_entry *entry, size_t row,
		    const uint32_t columns[COLUMNS])
{
	const struct lode_activity_options how = {
		.idle = making->options->idle,
		.states_only = 1,
		.where = making->options->where,
		.strict = 1,
		.jobs = 1,
	};
	struct lode_corpus_entry copy = *entry;
	const struct lode_corpus_list one = { .items = &copy, .count = 1 };
	struct lode_activity activity;
	int code = lode_activity_collect(&activity, &one, &how, making->error);

	for (size_t i = 0; !code && i < activity.states.count; i++)
		for (int state = 0; state < COLUMNS; state++) {
			const struct lode_process_states *item = &activity.states.items[i];
			double time = (double)(state == LODE_STATES ? item->running.kernel : item->ns[state]);

			if (!is_reason(state))
				continue;
			making->table->columns[columns[state]].numbers[row] += time;
			making->features[columns[state]].cost += time;
		}
	lode_activity_release(&activity);
	return code;
}

int lode_corpus_states(struct lode_corpus_making *making)
{
	const struct lode_area *area = making->area;
	struct lode_corpus_list list = { 0 };
	uint32_t columns[COLUMNS] = { 0 };
	size_t row = 0;
	int code = add_columns(making, columns);

	if (!code)
		code = lode_corpus_streams(making->corpus, &list, making->error);
	/* Both are in the catalogue's order. */
	for (size_t i = 0; !code && i < list.count && row < area->stream_count; i++)
		if (!strcmp(list.items[i].id, area->streams[row].id))
			code = fill_row(making, &list.items[i], row++, columns);
	lode_corpus_list_release(&list);
	return code;
}
