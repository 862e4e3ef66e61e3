/*
 * Replay: goes through a recording in order of time, keeps threads, processes
 * and address spaces as they were at each moment, and adds to the stream what
 * happened. Batches go in as the reader made them.
 */
#ifndef LODE_IMPORT_PERF_DATA_REPLAY_H
#define LODE_IMPORT_PERF_DATA_REPLAY_H

#include "base/array.h"
#include "import/import.h"
#include "import/kernel/perf_data/deferred_stacks.h"
#include "import/kernel/perf_data/recorded_images.h"
#include "import/kernel/perf_data/time_order.h"
#include "import/kernel/perf_data/chain_stacks.h"
#include "import/kernel/perf_data/threads.h"
#include "import/kernel/perf_data/user_stacks.h"
#include "import/sched.h"

/* System calls whose names are remembered. */
#define LODE_PERF_SYSCALLS 512

/* A change of threads or mappings, with its text and path as numbers. */
struct lode_perf_change {
	uint32_t type; /* enum lode_perf_task_type */
	uint32_t pid;
	uint32_t tid;
	uint32_t parent_pid;
	uint32_t parent_tid;
	uint32_t text; /* of the replay's texts */
	uint32_t image;
	uint32_t share_space;
	uint64_t start;
	uint64_t end;
	uint64_t offset;
};

struct lode_perf_replay {
	const struct lode_perf_facts *facts;
	const struct lode_import_options *options;
	struct lode_stream *stream;
	struct lode_perf_images images;
	struct lode_spaces spaces;
	struct lode_perf_stacks stacks;
	struct lode_perf_user_stacks user_stacks;
	struct lode_perf_copies copies; /* of user stacks; those that wait */
	struct lode_perf_deferred deferred;
	struct lode_perf_threads threads;
	struct lode_perf_order order;
	struct lode_sched *sched;
	struct lode_strings texts;                   /* names of threads */
	LODE_ARRAY(struct lode_perf_change) changes; /* those that wait; entries name them by number */
	uint32_t *event_names;                       /* by event: string of the stream, 0 while not requested */
	uint32_t syscall_names[LODE_PERF_SYSCALLS];
	int started;    /* the first sample was seen */
	int has_counts; /* there are runs whose cost is a count until the end */
};

/* What is given must outlive it. Returns 0 or a negative code; release it in either case. */
int lode_perf_replay_init(struct lode_perf_replay *replay, const struct lode_perf_facts *facts,
			  const struct lode_import_options *options, struct lode_stream *stream,
			  struct lode_error *error);
void lode_perf_replay_release(struct lode_perf_replay *replay);
/* Takes a batch; its entries are changed. Returns 0 or LODE_SYSTEM. */
int lode_perf_replay_batch(struct lode_perf_replay *replay, struct lode_perf_batch *batch);
/*
 * All batches were taken: ends what is open, and fills in the stream's threads and stacks. Returns 0 or
 * LODE_SYSTEM.
 */
int lode_perf_replay_finish(struct lode_perf_replay *replay);

#endif
