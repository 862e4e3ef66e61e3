/*
 * Threads of a Perfetto trace, by tid: their process and name, from any packet about
 * them. They become threads of the stream when all packets are read.
 */
#ifndef LODE_IMPORT_PERFETTO_THREADS_H
#define LODE_IMPORT_PERFETTO_THREADS_H

#include "base/array.h"
#include "base/hash_index.h"
#include "import/import.h"

struct lode_perfetto_thread {
	uint32_t tid;
	uint32_t pid;           /* LODE_NO_PID: unknown */
	uint32_t name;          /* string */
	uint32_t stream_thread; /* LODE_NONE: not one of the stream's yet */
	int measured;           /* its time is known from samples or switches */
};

struct lode_perfetto_threads {
	struct lode_strings *strings;
	LODE_ARRAY(struct lode_perfetto_thread);
	struct lode_index index; /* by tid */
};

/* A struct with only `strings` set is empty. */
void lode_perfetto_threads_release(struct lode_perfetto_threads *threads);
/* The number of the thread, added if it is new; LODE_NONE when memory has run out. */
uint32_t lode_perfetto_thread(struct lode_perfetto_threads *threads, uint32_t tid);
/* The same, and keeps its process (unless LODE_NO_PID) and its name (unless empty). */
uint32_t lode_perfetto_thread_named(struct lode_perfetto_threads *threads, uint32_t pid, uint32_t tid,
				    const char *name, size_t length);
/* The stream's thread of a number; LODE_NONE when memory has run out. Idle threads (tid 0) are threads too. */
uint32_t lode_perfetto_stream_thread(struct lode_perfetto_threads *threads, struct lode_stream *stream,
				     uint32_t thread);

#endif
