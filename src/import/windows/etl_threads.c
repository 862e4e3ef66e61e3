/* Threads and processes of a trace of Windows: see etl_threads.h. */
#include "import/windows/etl_threads.h"

#include "base/bisect.h"
#include "base/memory.h"

#include <stdlib.h>

struct lode_etl_owner {
	uint64_t t; /* from here on */
	uint32_t tid;
	uint32_t pid;
	uint32_t next; /* LODE_NONE, or a later owner of the thread */
};

struct lode_etl_name {
	uint32_t pid;
	uint32_t tid; /* LODE_NO_PID: the process itself */
	uint32_t name;
	uint32_t order;
};

void lode_etl_threads_release(struct lode_etl_threads *threads)
{
	lode_free(threads->owners.items);
	lode_free(threads->names.items);
	lode_index_release(&threads->index);
}

int lode_etl_threads_own(struct lode_etl_threads *threads, uint64_t t, uint32_t tid, uint32_t pid)
{
	struct lode_etl_owner owner = { .t = t, .tid = tid, .pid = pid, .next = LODE_NONE };
	uint64_t hash = lode_hash_u64(tid);
	uint32_t number = (uint32_t)threads->owners.count, last;
	uint32_t first = LODE_INDEX_FIND(i, &threads->index, hash, threads->owners.items[i].tid == tid);

	if (first == LODE_NONE) {
		owner.t = 0;
		return LODE_INDEX_PUSH(&threads->index, hash, &threads->owners, owner);
	}
	/* the first owner keeps the number of the last one */
	last = threads->owners.items[first].next == LODE_NONE ? first : threads->owners.items[first].next;
	if (threads->owners.items[last].pid == pid)
		return 0;
	if (number >= LODE_NONE - 1 || LODE_PUSH(&threads->owners, owner) < 0)
		return LODE_SYSTEM;
	threads->owners.items[first].next = number;
	return 0;
}

int lode_etl_threads_name(struct lode_etl_threads *threads, uint32_t pid, uint32_t tid, uint32_t name)
{
	struct lode_etl_name item = { .pid = pid, .tid = tid, .name = name, .order = (uint32_t)threads->names.count };

	if (item.order == LODE_NONE || LODE_PUSH(&threads->names, item) < 0)
		return LODE_SYSTEM;
	return 0;
}

static int compare_owners(const void *left, const void *right)
{
	const struct lode_etl_owner *a = left, *b = right;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->t != b->t)
		return a->t < b->t ? -1 : 1;
	return (a->pid > b->pid) - (a->pid < b->pid);
}

static int compare_names(const void *left, const void *right)
{
	const struct lode_etl_name *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

void lode_etl_threads_finish(struct lode_etl_threads *threads)
{
	if (threads->owners.count)
		qsort(threads->owners.items, threads->owners.count, sizeof(*threads->owners.items), compare_owners);
	if (threads->names.count)
		qsort(threads->names.items, threads->names.count, sizeof(*threads->names.items), compare_names);
}

uint32_t lode_etl_threads_pid(const struct lode_etl_threads *threads, uint64_t t, uint32_t tid)
{
	size_t low = LODE_BISECT(i, 0, threads->owners.count,
				 threads->owners.items[i].tid < tid ||
					 (threads->owners.items[i].tid == tid && threads->owners.items[i].t <= t));
	return low && threads->owners.items[low - 1].tid == tid ? threads->owners.items[low - 1].pid : LODE_NO_PID;
}

/* The last name in the trace; 0: none. */
static uint32_t find_name(const struct lode_etl_threads *threads, uint32_t pid, uint32_t tid)
{
	size_t low = LODE_BISECT(i, 0, threads->names.count,
				 threads->names.items[i].pid < pid || (threads->names.items[i].pid == pid &&
								       threads->names.items[i].tid <= tid));
	return low && threads->names.items[low - 1].pid == pid && threads->names.items[low - 1].tid == tid
		       ? threads->names.items[low - 1].name
		       : 0;
}

void lode_etl_threads_apply(const struct lode_etl_threads *threads, struct lode_stream *stream)
{
	for (size_t i = 0; i < stream->thread_count; i++) {
		struct lode_thread *thread = &stream->threads[i];

		thread->name = find_name(threads, thread->pid, thread->tid);
		if (!thread->name)
			thread->name = find_name(threads, thread->pid, LODE_NO_PID);
	}
}
