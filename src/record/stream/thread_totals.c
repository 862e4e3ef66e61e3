/*
 * Totals of threads: see thread_totals.h.
 *
 * A wait that began before the first switch-out that was seen is no event, so what was waited until then does not count either: the
 * sum of all waits of a thread is its total.
 *
 * A thread's totals are what was counted at its last record less what was counted at its first. A thread
 * without a first one was started during the recording, or is unknown until then, such as one that got the
 * recorded name only later. Threads that did nothing are left out. What is neither run nor queued was waited, if the
 * thread blocked at all: else a hypervisor had taken its processor away.
 */
#include "record/stream/thread_totals.h"

#include "base/memory.h"

#include <string.h>

void lode_record_totals_release(struct lode_record_totals *totals)
{
	lode_free(totals->firsts);
	lode_index_release(&totals->index);
	memset(totals, 0, sizeof(*totals));
}

/* The first record of a thread, or NULL. */
static struct lode_record *find_first(struct lode_record_totals *totals, uint32_t tid)
{
	uint64_t hash = lode_hash_pair(tid, 2);
	uint32_t at = LODE_INDEX_FIND(i, &totals->index, hash, totals->firsts[i].tid == tid);

	return at == LODE_NONE ? NULL : &totals->firsts[at];
}

static int handle_first(struct lode_record_totals *totals, const struct lode_record *record)
{
	struct lode_record *known = find_first(totals, record->tid);

	if (!totals->began)
		totals->began = record->t;
	if (known) {
		*known = *record;
		return 0;
	}
	return LODE_INDEX_APPEND(&totals->index, lode_hash_pair(record->tid, 2), totals->firsts, totals->count,
				 totals->capacity, *record);
}

static uint64_t less(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* What a thread waited until its first switch-out that was seen is kept as the cost of its first record. */
static void handle_seen(struct lode_record_totals *totals, const struct lode_record *record)
{
	struct lode_record *first = find_first(totals, record->tid);

	if (first && first->pid && !first->cost)
		first->cost = less(less(record->t, first->t),
				   less(record->user, first->user) + less(record->kernel, first->kernel));
}

int lode_record_totals_take(struct lode_record_totals *totals, const struct lode_record *record,
			    struct lode_stream *stream)
{
	struct lode_record first = { .t = record->t }, *known;
	uint64_t end = record->t + record->cost, run, queued, waits, preemptions;
	struct lode_thread_totals *sum;
	uint32_t thread;

	if (record->type == LODE_RECORD_TOTALS_FIRST)
		return handle_first(totals, record);
	if (record->type == LODE_RECORD_TOTALS_SEEN) {
		handle_seen(totals, record);
		return 0;
	}
	known = find_first(totals, record->tid);
	if (known && known->pid) {
		first = *known;
		known->pid = 0; /* the number may come again for another thread */
	} else if (!totals->began || record->t < totals->began) {
		return 0;
	}
	run = less(record->user, first.user);
	queued = less(record->kernel, first.kernel);
	waits = less(record->waker_user, first.waker_user);
	preemptions = less(record->waker_kernel, first.waker_kernel);
	if (!run && !waits)
		return 0;
	thread = lode_stream_thread(stream, record->pid, record->tid);
	if (thread == LODE_NONE)
		return LODE_SYSTEM;
	sum = &stream->threads[thread].totals;
	sum->waits += waits;
	sum->preemptions += preemptions;
	sum->run_ns += run;
	sum->queued_ns += queued;
	if (waits)
		sum->waited_ns += less(less(end, first.t), run + queued + first.cost);
	return 0;
}
