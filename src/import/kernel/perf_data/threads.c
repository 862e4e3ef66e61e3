/* Threads and processes: see threads.h. */
#include "import/kernel/perf_data/threads.h"

#include "base/error.h"

#include <string.h>

void lode_perf_threads_init(struct lode_perf_threads *threads, struct lode_spaces *spaces)
{
	memset(threads, 0, sizeof(*threads));
	threads->spaces = spaces;
	threads->last = LODE_NONE;
}

void lode_perf_threads_release(struct lode_perf_threads *threads)
{
	lode_free(threads->items);
	lode_index_release(&threads->index);
	lode_free(threads->tids.items);
	lode_index_release(&threads->tid_index);
	lode_free(threads->processes.items);
	lode_index_release(&threads->process_index);
	memset(threads, 0, sizeof(*threads));
}

uint32_t lode_perf_threads_process(struct lode_perf_threads *threads, uint32_t pid)
{
	uint64_t hash = lode_hash_pair(0, pid);
	uint32_t id = LODE_INDEX_FIND(i, &threads->process_index, hash, threads->processes.items[i].pid == pid);

	if (id != LODE_NONE)
		return id;
	if (LODE_INDEX_PUSH(&threads->process_index, hash, &threads->processes,
			    (struct lode_perf_process){ pid, lode_space_empty(threads->spaces) }) < 0)
		return LODE_NONE;
	return (uint32_t)threads->processes.count - 1;
}

static struct lode_perf_tid *find_tid(const struct lode_perf_threads *threads, uint32_t tid)
{
	uint32_t id =
		LODE_INDEX_FIND(i, &threads->tid_index, lode_hash_pair(1, tid), threads->tids.items[i].tid == tid);

	return id == LODE_NONE ? NULL : &threads->tids.items[id];
}

/* From now on `tid` is this thread. */
static int set_tid(struct lode_perf_threads *threads, uint32_t tid, uint32_t thread)
{
	struct lode_perf_tid *place = find_tid(threads, tid);

	if (place) {
		place->thread = thread;
		return 0;
	}
	return LODE_INDEX_PUSH(&threads->tid_index, lode_hash_pair(1, tid), &threads->tids,
			       (struct lode_perf_tid){ tid, thread });
}

static uint32_t add_thread(struct lode_perf_threads *threads, uint32_t pid, uint32_t tid)
{
	if (LODE_RESERVE(threads, 1) < 0 || set_tid(threads, tid, (uint32_t)threads->count) < 0)
		return LODE_NONE;
	threads->items[threads->count] = (struct lode_perf_thread){ pid, tid, LODE_NONE, 0, 0 };
	return (uint32_t)threads->count++;
}

/* The pid of a thread that had none becomes known. */
static int set_pid(struct lode_perf_threads *threads, uint32_t thread, uint32_t pid)
{
	struct lode_perf_thread *item = &threads->items[thread];
	uint32_t process = lode_perf_threads_process(threads, pid);

	if (process == LODE_NONE || lode_index_insert(&threads->index, lode_hash_pair(pid, item->tid), thread) < 0)
		return LODE_SYSTEM;
	item->pid = pid;
	item->process = process;
	return 0;
}

uint32_t lode_perf_threads_tid(struct lode_perf_threads *threads, uint32_t tid)
{
	const struct lode_perf_tid *place = find_tid(threads, tid);

	return place ? place->thread : add_thread(threads, UINT32_MAX, tid);
}

static uint32_t find_or_add(struct lode_perf_threads *threads, uint32_t pid, uint32_t tid)
{
	const struct lode_perf_tid *place;
	uint64_t hash = lode_hash_pair(pid, tid);
	uint32_t id = LODE_INDEX_FIND(i, &threads->index, hash,
				      threads->items[i].tid == tid && threads->items[i].pid == pid);

	if (id != LODE_NONE)
		return set_tid(threads, tid, id) < 0 ? LODE_NONE : id;
	place = find_tid(threads, tid);
	id = place && threads->items[place->thread].pid == UINT32_MAX ? place->thread
								      : add_thread(threads, pid, tid);
	if (id == LODE_NONE || set_pid(threads, id, pid) < 0)
		return LODE_NONE;
	return id;
}

uint32_t lode_perf_threads_get(struct lode_perf_threads *threads, uint32_t pid, uint32_t tid)
{
	if (threads->last != LODE_NONE && threads->items[threads->last].tid == tid &&
	    threads->items[threads->last].pid == pid)
		return threads->last;
	threads->last = pid == UINT32_MAX ? lode_perf_threads_tid(threads, tid) : find_or_add(threads, pid, tid);
	return threads->last;
}
