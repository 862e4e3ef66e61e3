/*
 * Threads and processes of a recording, at the current time of the replay.
 * Numbers are the replay's own: a thread gets into the stream only when something
 * is known of it, and its process may be learnt after its first mention.
 */
#ifndef LODE_IMPORT_PERF_DATA_THREADS_H
#define LODE_IMPORT_PERF_DATA_THREADS_H

#include "base/array.h"
#include "base/hash_index.h"
#include "process/address_spaces.h"

struct lode_perf_thread {
	uint32_t pid; /* UINT32_MAX: unknown */
	uint32_t tid;
	uint32_t process; /* number; LODE_NONE while its pid is unknown */
	uint32_t name;    /* text of the replay; 0: unknown */
	uint32_t used;    /* some event names it */
};

struct lode_perf_process {
	uint32_t pid;
	struct lode_space space;
};

/* The thread that has a tid at present. */
struct lode_perf_tid {
	uint32_t tid;
	uint32_t thread;
};

struct lode_perf_threads {
	struct lode_spaces *spaces;
	LODE_ARRAY(struct lode_perf_thread);
	struct lode_index index; /* (pid, tid) */
	LODE_ARRAY(struct lode_perf_tid) tids;
	struct lode_index tid_index;
	LODE_ARRAY(struct lode_perf_process) processes;
	struct lode_index process_index;
	uint32_t last; /* the thread requested last; LODE_NONE: none */
};

void lode_perf_threads_init(struct lode_perf_threads *threads, struct lode_spaces *spaces);
void lode_perf_threads_release(struct lode_perf_threads *threads);
/* All return a number, or LODE_NONE when memory has run out; what is not there is added. */
uint32_t lode_perf_threads_get(struct lode_perf_threads *threads, uint32_t pid, uint32_t tid);
/* The thread that has this tid at present. */
uint32_t lode_perf_threads_tid(struct lode_perf_threads *threads, uint32_t tid);
uint32_t lode_perf_threads_process(struct lode_perf_threads *threads, uint32_t pid);

#endif
