/*
 * How the miner's threads share work.
 *
 * Each thread goes through its own part of the search, depth first. One that has
 * nothing left waits here and is counted as hungry; the others look at that count at
 * every step, and a worker that sees it gives away half of what is left to do on its
 * shallowest level, together with a copy of that level's tree. So work moves only when
 * a worker needs it, and in pieces as large as possible.
 *
 * The search is over when no thread has a task and no task waits.
 */
#include "mine/miner_search.h"

#include "base/error.h"

#include <string.h>

/* Every sum over nodes that the search makes is at most this one. */
static int weight_fits(const struct miner_tree *root)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < root->count; i++)
		if (__builtin_add_overflow(sum, root->nodes[i].cost, &sum))
			return 0;
	return 1;
}

static struct miner_task *root_task(struct miner_tree *root)
{
	struct miner_task *task = lode_calloc(1, sizeof(*task));

	if (!task)
		return NULL;
	task->level.tree = *root;
	memset(root, 0, sizeof(*root));
	return task;
}

void miner_level_release(struct miner_level *level)
{
	miner_tree_release(&level->tree);
	miner_tree_release(&level->spare);
	lode_free(level->pending);
	memset(level, 0, sizeof(*level));
}

void miner_task_free(struct miner_task *task)
{
	miner_level_release(&task->level);
	lode_free(task->prefix);
	lode_free(task);
}

int miner_pool_init(struct miner_pool *pool, const struct lode_miner_input *input, struct miner_tree *root)
{
	memset(pool, 0, sizeof(*pool));
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->changed, NULL);
	pthread_mutex_init(&pool->reporting, NULL);
	pool->input = input;
	pool->longest = input->max_length ? input->max_length : UINT32_MAX;
	pool->root_nodes = root->count;
	pool->root_labels = root->labels;
	pool->root_height = root->height;
	pool->weights_are_exact = weight_fits(root);
	pool->tasks = root_task(root);
	atomic_store(&pool->hungry, -1);
	return pool->tasks ? miner_seen_init(&pool->seen) : LODE_SYSTEM;
}

void miner_pool_release(struct miner_pool *pool)
{
	while (pool->tasks) {
		struct miner_task *task = pool->tasks;

		pool->tasks = task->next;
		miner_task_free(task);
	}
	miner_seen_release(&pool->seen);
	pthread_mutex_destroy(&pool->lock);
	pthread_cond_destroy(&pool->changed);
	pthread_mutex_destroy(&pool->reporting);
}

struct miner_task *miner_pool_take(struct miner_pool *pool)
{
	struct miner_task *task = NULL;

	pthread_mutex_lock(&pool->lock);
	atomic_fetch_add(&pool->hungry, 1);
	while (!pool->tasks && pool->busy && !miner_pool_stopped(pool))
		pthread_cond_wait(&pool->changed, &pool->lock);
	if (!pool->tasks)
		atomic_fetch_sub(&pool->hungry, 1);
	if (pool->tasks && !miner_pool_stopped(pool)) {
		task = pool->tasks;
		pool->tasks = task->next;
		task->next = NULL;
		pool->busy++;
	}
	pthread_mutex_unlock(&pool->lock);
	return task;
}

void miner_pool_done(struct miner_pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	pool->busy--;
	if (!pool->busy)
		pthread_cond_broadcast(&pool->changed);
	pthread_mutex_unlock(&pool->lock);
}

void miner_pool_give(struct miner_pool *pool, struct miner_task *task)
{
	pthread_mutex_lock(&pool->lock);
	task->next = pool->tasks;
	pool->tasks = task;
	atomic_fetch_sub(&pool->hungry, 1);
	pthread_cond_signal(&pool->changed);
	pthread_mutex_unlock(&pool->lock);
}

void miner_pool_stop(struct miner_pool *pool, int code, enum lode_miner_end end)
{
	pthread_mutex_lock(&pool->lock);
	if (!atomic_load(&pool->stop)) {
		pool->end = end;
		atomic_store(&pool->stop, 1);
	}
	if (code && !pool->code)
		pool->code = code;
	pthread_cond_broadcast(&pool->changed);
	pthread_mutex_unlock(&pool->lock);
}

void miner_pool_report(struct miner_pool *pool)
{
	if (!pool->input->progress || pthread_mutex_trylock(&pool->reporting) != 0)
		return;
	if (lode_progress_report(pool->input->progress, "mining", "prefixes", atomic_load(&pool->prefixes), 0))
		miner_pool_stop(pool, 0, LODE_MINER_INTERRUPTED);
	pthread_mutex_unlock(&pool->reporting);
}
