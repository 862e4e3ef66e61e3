/*
 * Threads and processes of a trace of Windows: most events name a thread only, and numbers are used again soon. Which
 * process a thread belongs to is known from its start and end, from the beginning and the end of the trace, and from stacks.
 */
#ifndef LODE_IMPORT_ETL_THREADS_H
#define LODE_IMPORT_ETL_THREADS_H

#include "base/array.h"
#include "base/cursor.h"
#include "base/hash_index.h"
#include "trace/stream.h"

struct lode_etl_owner;
struct lode_etl_name;

struct lode_etl_threads {
	LODE_ARRAY(struct lode_etl_owner) owners; /* by thread and time once finished */
	struct lode_index index;                  /* of the last owner of each thread */
	LODE_ARRAY(struct lode_etl_name) names;
};

void lode_etl_threads_release(struct lode_etl_threads *threads);
/* Thread `tid` is of process `pid` at tick `t`. Returns 0 or LODE_SYSTEM. */
int lode_etl_threads_own(struct lode_etl_threads *threads, uint64_t t, uint32_t tid, uint32_t pid);
/* The name of a process; with `tid` of one of its threads. `name` is a string of the stream's dictionary. The same. */
int lode_etl_threads_name(struct lode_etl_threads *threads, uint32_t pid, uint32_t tid, uint32_t name);
/* Everything was added: from now on processes can be looked up. */
void lode_etl_threads_finish(struct lode_etl_threads *threads);
/* The process of a thread at tick `t`; LODE_NO_PID when it is not known. */
uint32_t lode_etl_threads_pid(const struct lode_etl_threads *threads, uint64_t t, uint32_t tid);
/* Gives the threads of the stream their names: their own, else that of their process. */
void lode_etl_threads_apply(const struct lode_etl_threads *threads, struct lode_stream *stream);

#endif
