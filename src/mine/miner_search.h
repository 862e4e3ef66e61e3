/*
 * The search for costly patterns: what its threads share, and what one thread
 * does. Private to the miner; miner_search.c explains the search, miner_pool.c
 * how work is shared.
 */
#ifndef LODE_MINE_MINER_SEARCH_H
#define LODE_MINE_MINER_SEARCH_H

#include "mine/miner.h"
#include "mine/miner_seen.h"
#include "mine/miner_tree.h"

#include <pthread.h>

/* A prefix, the tree behind it, and the functions by which it is still to be extended. */
struct miner_level {
	struct miner_tree tree;
	struct miner_tree spare; /* room for the tree's next form */
	uint64_t cost;           /* of the prefix */
	uint32_t length;         /* of the prefix */
	uint32_t steps;          /* from the tree of all stacks: functions that were appended, without chains */
	uint32_t count;          /* of `pending` */
	uint32_t next;           /* in `pending` */
	uint32_t *pending;       /* labels of `tree` */
	size_t pending_capacity;
	struct miner_seen *seen; /* the prefix; NULL: it is empty, or not kept */
};

/* A level that one thread gives to another. */
struct miner_task {
	struct miner_task *next;
	struct miner_level level;
	uint32_t *prefix;
};

struct miner_pool {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct miner_task *tasks;
	unsigned busy;     /* threads that have a task */
	atomic_int hungry; /* threads that wait for a task, less the tasks that wait for a thread */
	atomic_int stop;   /* set once: everyone ends */
	int code;          /* 0, or what failed */
	enum lode_miner_end end;
	atomic_uint_fast64_t prefixes;
	pthread_mutex_t reporting; /* held while calling the progress callback */
	const struct lode_miner_input *input;
	uint32_t root_nodes; /* of the tree of all stacks, the largest there is */
	uint32_t root_labels;
	uint32_t root_height;
	uint32_t longest;      /* max_length, or UINT32_MAX */
	int weights_are_exact; /* no sum of costs over all nodes overflows: miner_seen may be used */
	struct miner_seen_table seen;
	atomic_size_t seen_count;
};

/* One thread's own. */
struct miner_worker {
	struct miner_pool *pool;
	struct miner_room room;
	struct miner_level *levels;
	size_t level_count; /* those that were ever used */
	size_t level_capacity;
	size_t depth; /* the level that is worked on */
	uint32_t *prefix;
	size_t prefix_capacity;
	uint32_t length;
	struct lode_arena arena; /* of visited prefixes; lives until all threads have ended */
	struct lode_patterns found;
	uint64_t prefixes;
	uint64_t work;      /* nodes looked at */
	uint64_t report_at; /* when to report to the pool next, by `work` */
	uint64_t share_at;  /* when to give something away next, by `work` */
};

/* Takes over `root`, which is to be searched. Returns 0 or LODE_SYSTEM; release in either case. */
int miner_pool_init(struct miner_pool *pool, const struct lode_miner_input *input, struct miner_tree *root);
void miner_pool_release(struct miner_pool *pool);
/* Waits for a task; NULL when there is nothing left to do. */
struct miner_task *miner_pool_take(struct miner_pool *pool);
/* The task that was taken is done. */
void miner_pool_done(struct miner_pool *pool);
void miner_pool_give(struct miner_pool *pool, struct miner_task *task);
/* Everyone ends: because of a failure (`code`), or with `end`. The first to say so counts. */
void miner_pool_stop(struct miner_pool *pool, int code, enum lode_miner_end end);
/* Reports how far the search is, and stops it when it should. */
void miner_pool_report(struct miner_pool *pool);
void miner_level_release(struct miner_level *level);
void miner_task_free(struct miner_task *task);

static inline int miner_pool_is_hungry(struct miner_pool *pool)
{
	return atomic_load_explicit(&pool->hungry, memory_order_relaxed) > 0;
}

static inline int miner_pool_stopped(struct miner_pool *pool)
{
	return atomic_load_explicit(&pool->stop, memory_order_relaxed);
}

/* Works on tasks until there are none; results stay in the worker. Failures go to the pool. */
void miner_worker_run(struct miner_worker *worker);
void miner_worker_release(struct miner_worker *worker);

/*
 * The tree of all stacks, without what costs nothing and without functions that
 * are not costly. The names of its labels are frames. Returns 0 or LODE_SYSTEM;
 * release the tree in either case.
 */
int miner_root_make(struct miner_tree *root, const struct lode_miner_input *input);

#endif
