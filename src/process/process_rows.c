/* Rows of processes and threads: see process_rows.h. */
#include "process/process_rows.h"

uint32_t lode_process_row(const struct lode_processes *processes, uint32_t pid)
{
	return LODE_INDEX_FIND(i, &processes->index, lode_hash_pair(0, pid), processes->items[i].pid == pid);
}

struct lode_process *lode_process_enter(struct lode_processes *processes, uint32_t pid)
{
	uint32_t id = lode_process_row(processes, pid);

	if (id != LODE_NONE)
		return &processes->items[id];
	if (LODE_INDEX_APPEND(&processes->index, lode_hash_pair(0, pid), processes->items, processes->count,
			      processes->capacity,
			      (struct lode_process){ .pid = pid, .space = lode_space_empty(&processes->spaces) }) <
	    0)
		return NULL;
	return &processes->items[processes->count - 1];
}

/* The youngest thread of this number: the last one that was added. The index keeps no order when it grows. */
uint32_t lode_life_row(const struct lode_processes *processes, uint32_t pid, uint32_t tid)
{
	uint32_t id, found = LODE_NONE;
	size_t probe = 0;

	while ((id = lode_index_next(&processes->life_index, lode_hash_pair(pid, tid), &probe)) != LODE_NONE)
		if (processes->lives[id].tid == tid && processes->lives[id].pid == pid &&
		    (found == LODE_NONE || id > found))
			found = id;
	return found;
}

struct lode_thread_lifetime *lode_life_add(struct lode_processes *processes, uint32_t pid, uint32_t tid)
{
	if (LODE_INDEX_APPEND(&processes->life_index, lode_hash_pair(pid, tid), processes->lives,
			      processes->life_count, processes->life_capacity,
			      (struct lode_thread_lifetime){ .pid = pid, .tid = tid }) < 0)
		return NULL;
	return &processes->lives[processes->life_count - 1];
}
