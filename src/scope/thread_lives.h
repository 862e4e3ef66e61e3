/*
 * Threads that begin and end within a recording: those of servers that start one for each connection or task.
 *
 * When a recording ends, waits that are not over are recorded, too, so a live thread has events up to the end. Of imported
 * traces that is not known, and nobody's life is: only recordings have exact totals of threads.
 */
#ifndef LODE_SCOPE_THREAD_LIVES_H
#define LODE_SCOPE_THREAD_LIVES_H

#include "trace/stream.h"

struct lode_thread_life {
	uint64_t first; /* of all its events; UINT64_MAX: it has none, */
	uint64_t last;  /* and the end of the last one */
	uint32_t thread;
	uint32_t stack; /* of its first event that has one; 0: none */
	uint32_t whole; /* it is no process's first thread, and began and ended within the recording */
};

/*
 * By group of threads (lode_threads_by_tid), from columns t, cost and thread of all types that are loaded. The caller frees it;
 * NULL: no memory.
 */
struct lode_thread_life *lode_thread_lives(const struct lode_stream *stream, const uint32_t *groups,
					   size_t group_count);

#endif
