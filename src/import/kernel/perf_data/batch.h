/*
 * Batch: records as the reader hands them on, in the order of the file. A sample
 * is 32 bytes, its call chain a number. Nothing in it points into the file but
 * copies of user stacks, where the file is in memory.
 *
 * The reader thread fills batches, the replay thread empties them; a batch
 * belongs to one of them at a time.
 */
#ifndef LODE_IMPORT_PERF_DATA_BATCH_H
#define LODE_IMPORT_PERF_DATA_BATCH_H

#include "base/array.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "import/kernel/perf_data/distinct_chains.h"
#include "import/kernel/perf_data/user_stack_copies.h"
#include "import/kernel/perf_data/format.h"

/* A batch is handed on at the end of the recorder's round, and when it has this many entries or stack bytes. */
#define LODE_PERF_BATCH_ENTRIES    32768
#define LODE_PERF_BATCH_COPY_BYTES (8u << 20)

/* `event` of an entry that is no sample. */
#define LODE_PERF_TASK UINT16_MAX

struct lode_perf_entry {
	uint64_t time;
	uint64_t value; /* by use: period; next thread and state (lode_perf_switch_value); woken thread;
			   number of the system call; of a task: its place among the batch's tasks */
	uint32_t pid;
	uint32_t tid;
	uint32_t chain; /* LODE_NONE: no call chain; with LODE_PERF_COPIED: number of a copy of its stack */
	uint16_t cpu;
	uint16_t event; /* number of the event, or LODE_PERF_TASK */
};

#define LODE_PERF_COPIED LODE_PERF_CHAIN_MARK

/* Whether the sample has a copy of its user's stack, which names its chain. */
static inline int lode_perf_has_copy(const struct lode_perf_entry *entry)
{
	return entry->chain != LODE_NONE && entry->chain & LODE_PERF_COPIED;
}

static inline uint64_t lode_perf_switch_value(uint32_t next, unsigned state)
{
	return (uint64_t)state << 32 | next;
}

/* A change of threads or mappings, what kind of record it came from. */
enum lode_perf_task_type {
	LODE_PERF_MAP,        /* file mapped by a process */
	LODE_PERF_KERNEL_MAP, /* the kernel or a module of it */
	LODE_PERF_COMM,
	LODE_PERF_FORK,
	LODE_PERF_KSYMBOL, /* code the kernel generated at run time */
	LODE_PERF_KSYMBOL_GONE,
	LODE_PERF_NAME,       /* a tracepoint names a thread */
	LODE_PERF_USER_STACK, /* the user's part of stacks: `start` is its cookie, `offset` the number of its
				 chain */
};

struct lode_perf_task {
	uint32_t type;
	uint32_t pid;
	uint32_t tid;
	uint32_t parent_pid;
	uint32_t parent_tid;
	uint32_t text; /* path or name: where it starts in the batch's texts; NUL-terminated */
	uint64_t start;
	uint64_t length;
	uint64_t offset; /* in the file */
	uint8_t build_id[PERF_BUILD_ID_BYTES];
	uint8_t build_id_size; /* 0: unknown */
	uint8_t share_space;   /* fork: the child starts with its parent's mappings */
	uint8_t is_data;       /* mapping: not executable */
};

struct lode_perf_batch {
	LODE_ARRAY(struct lode_perf_entry) entries;
	LODE_ARRAY(struct lode_perf_task) tasks;
	LODE_ARRAY(struct lode_perf_chain) chains; /* those that are new, in order of their numbers */
	LODE_ARRAY(struct lode_perf_copy) copies;  /* in order of the entries that name them */
	size_t copy_bytes;                         /* of all copies */
	struct lode_buffer texts;
	int round; /* a round of the recorder ends here */
	int last;  /* nothing follows */
};

void lode_perf_batch_release(struct lode_perf_batch *batch);
/* Empties it, keeps its memory. */
void lode_perf_batch_clear(struct lode_perf_batch *batch);

#endif
