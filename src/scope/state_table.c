/*
 * States of processes over streams: see states.h. Processes of the same name are one row, so that the number of rows
 * does not grow with the number of streams.
 */
#include "scope/states.h"

#include "scope/process_names.h"

#include <stdlib.h>
#include <string.h>

int lode_state_table_init(struct lode_state_table *table)
{
	memset(table, 0, sizeof(*table));
	return lode_strings_init(&table->names);
}

void lode_state_table_release(struct lode_state_table *table)
{
	lode_strings_release(&table->names);
	lode_free(table->items);
	lode_free(table->places);
	memset(table, 0, sizeof(*table));
}

/* The row of a process, added if new; NULL when memory has run out. */
static struct lode_process_states *row_of(struct lode_state_table *table, const char *name)
{
	uint32_t id = lode_strings_add(&table->names, name, strlen(name));

	if (id == LODE_NONE || LODE_GROW(table->places, table->place_capacity, table->names.count) < 0)
		return NULL;
	while (table->place_count < table->names.count)
		table->places[table->place_count++] = 0;
	if (table->places[id])
		return &table->items[table->places[id] - 1];
	if (LODE_APPEND(table->items, table->count, table->capacity,
			(struct lode_process_states){ .process = id }) < 0)
		return NULL;
	table->places[id] = (uint32_t)table->count;
	return &table->items[table->count - 1];
}

static void add_sums(struct lode_process_states *row, const struct lode_process_states *more)
{
	row->threads += more->threads;
	row->processes += more->processes;
	row->interval = lode_add_saturating(row->interval, more->interval);
	for (int state = 0; state < LODE_STATES; state++)
		row->ns[state] = lode_add_saturating(row->ns[state], more->ns[state]);
	row->running.user = lode_add_saturating(row->running.user, more->running.user);
	row->running.kernel = lode_add_saturating(row->running.kernel, more->running.kernel);
}

static int add_thread(struct lode_state_table *table, const struct lode_stream *stream, const char *process,
		      const struct lode_thread_states *item)
{
	const struct lode_thread *thread = &stream->threads[item->thread];
	struct lode_process_states *row,
		sums = { .threads = 1, .interval = item->interval, .running = item->running };

	if (lode_thread_is_idle_task(stream, thread))
		return 0;
	row = row_of(table, process);
	if (!row)
		return LODE_SYSTEM;
	sums.processes = thread->pid == LODE_NO_PID || thread->pid == thread->tid;
	memcpy(sums.ns, item->ns, sizeof(sums.ns));
	add_sums(row, &sums);
	return 0;
}

int lode_state_table_add(struct lode_state_table *table, const struct lode_stream *stream,
			 const struct lode_stream_states *states)
{
	uint32_t *processes = lode_process_names(stream);
	int code = processes ? 0 : LODE_SYSTEM;

	for (size_t i = 0; !code && i < states->count; i++) {
		uint32_t name = processes[states->items[i].thread];

		code = add_thread(table, stream, lode_strings_get(&stream->dictionary->frames.strings, name),
				  &states->items[i]);
	}
	lode_free(processes);
	return code;
}

int lode_state_table_put(struct lode_state_table *table, const char *process,
			 const struct lode_process_states *more)
{
	struct lode_process_states *row = row_of(table, process);

	if (!row)
		return LODE_SYSTEM;
	add_sums(row, more);
	return 0;
}

int lode_state_table_merge(struct lode_state_table *table, const struct lode_state_table *more)
{
	int code = 0;

	for (size_t i = 0; !code && i < more->count; i++)
		code = lode_state_table_put(table, lode_strings_get(&more->names, more->items[i].process),
					    &more->items[i]);
	return code;
}

static uint64_t busy_time(const struct lode_process_states *row)
{
	uint64_t all = 0;

	for (int state = 0; state < LODE_STATES; state++)
		if (lode_state_counts((enum lode_state)state))
			all = lode_add_saturating(all, row->ns[state]);
	return all;
}

struct ranked {
	const char *name;
	uint64_t busy;
	struct lode_process_states row;
};

static int compare_rows(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	if (a->busy != b->busy)
		return a->busy > b->busy ? -1 : 1;
	if (a->row.ns[LODE_STATE_RUNNING] != b->row.ns[LODE_STATE_RUNNING])
		return a->row.ns[LODE_STATE_RUNNING] > b->row.ns[LODE_STATE_RUNNING] ? -1 : 1;
	return strcmp(a->name, b->name);
}

int lode_state_table_sort(struct lode_state_table *table)
{
	struct ranked *ranked = lode_calloc(table->count + 1, sizeof(*ranked));

	if (!ranked)
		return LODE_SYSTEM;
	for (size_t i = 0; i < table->count; i++)
		ranked[i] = (struct ranked){ lode_strings_get(&table->names, table->items[i].process),
					     busy_time(&table->items[i]), table->items[i] };
	if (table->count)
		qsort(ranked, table->count, sizeof(*ranked), compare_rows);
	for (size_t i = 0; i < table->count; i++) {
		table->items[i] = ranked[i].row;
		table->places[table->items[i].process] = (uint32_t)i + 1;
	}
	lode_free(ranked);
	return 0;
}
