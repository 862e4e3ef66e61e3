/*
 * Inner thread ids: see inner_tids.h.
 *
 * /proc/TID/status has the ids of a thread in all namespaces, the innermost last (NSpid). Nearly all processes are in the
 * namespace of /proc itself: there inner and outer ids are equal, and whether the thread exists is all that is asked.
 */
#include "process/inner_tids.h"

#include "base/proc_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEPT_NS        1000000000ull
#define MAX_TIDS       16384
#define MAX_PER_SECOND 4000
/* Threads of a process in a namespace whose ids are compared. */
#define MAX_THREADS 2000

void lode_inner_tids_release(struct lode_inner_tids *tids)
{
	lode_free(tids->items);
	lode_index_release(&tids->index);
	memset(tids, 0, sizeof(*tids));
}

/* The innermost id of a thread, and in how many namespaces it has one; 0: the thread is gone. */
static unsigned innermost(uint32_t pid, uint32_t tid, uint32_t *inner)
{
	char text[4096], *at, *end;
	unsigned count = 0;

	if (lode_proc_text(text, sizeof(text), "/proc/%u/task/%u/status", pid, tid) < 0)
		return 0;
	at = strstr(text, "\nNSpid:");
	if (!at) /* the kernel has no namespaces */
		return *inner = tid, 1;
	for (at += strlen("\nNSpid:"); *at == '\t' || *at == ' '; at = end, count++) {
		*inner = (uint32_t)strtoul(at, &end, 10);
		if (end == at)
			break;
	}
	return count;
}

struct search {
	uint32_t pid;
	uint32_t inner;
	uint32_t outer;
	unsigned visited;
};

static int compare_thread(void *context, uint32_t tid)
{
	struct search *search = context;
	uint32_t inner = 0;

	if (innermost(search->pid, tid, &inner) && inner == search->inner)
		search->outer = tid;
	return search->outer || ++search->visited >= MAX_THREADS;
}

static uint32_t look_up(uint32_t pid, uint32_t inner)
{
	struct search search = { .pid = pid, .inner = inner };
	char place[64];
	uint32_t first = 0;
	unsigned depth = innermost(pid, pid, &first);

	if (depth > 1)
		lode_proc_threads(pid, compare_thread, &search);
	if (depth != 1)
		return search.outer;
	snprintf(place, sizeof(place), "/proc/%u/task/%u", pid, inner);
	return access(place, F_OK) == 0 ? inner : 0;
}

static int may_look_up(struct lode_inner_tids *tids, uint64_t t)
{
	uint64_t second = t / 1000000000;

	if (second > tids->second) {
		tids->second = second;
		tids->looked_up = 0;
	}
	return tids->looked_up++ < MAX_PER_SECOND;
}

uint32_t lode_inner_tid(struct lode_inner_tids *tids, uint32_t pid, uint32_t inner, uint64_t t)
{
	uint64_t hash = lode_hash_u64((uint64_t)pid << 32 | inner);
	uint32_t found =
		LODE_INDEX_FIND(i, &tids->index, hash, tids->items[i].pid == pid && tids->items[i].inner == inner);
	struct lode_inner_tid fresh = { .pid = pid, .inner = inner };

	if (found != LODE_NONE && t < tids->items[found].t + KEPT_NS)
		return tids->items[found].outer;
	if (!may_look_up(tids, t))
		return 0;
	if (found == LODE_NONE) {
		if (tids->count == MAX_TIDS) {
			tids->count = 0;
			lode_index_clear(&tids->index);
		}
		if (LODE_INDEX_APPEND(&tids->index, hash, tids->items, tids->count, tids->capacity, fresh) < 0)
			return 0;
		found = (uint32_t)tids->count - 1;
	}
	tids->items[found].outer = look_up(pid, inner);
	tids->items[found].t = t;
	return tids->items[found].outer;
}
