/* Runs the miner's search: see miner_run.h. */
#include "mine/miner_run.h"

#include "base/parallel.h"
#include "mine/maximal.h"

static void run_worker(void *context, size_t i)
{
	struct miner_worker *workers = context;

	miner_worker_run(&workers[i]);
}

static int gather(struct lode_patterns *patterns, const struct miner_worker *workers, unsigned jobs)
{
	for (unsigned i = 0; i < jobs; i++)
		for (size_t j = 0; j < workers[i].found.count; j++) {
			const struct lode_patterns *found = &workers[i].found;

			if (lode_patterns_add(patterns, lode_pattern_frames(found, j), found->items[j].length,
					      found->items[j].cost) < 0)
				return LODE_SYSTEM;
		}
	return 0;
}

/* Drops what is not maximal, and what is more than requested. */
static int finish(struct lode_patterns *patterns, const struct lode_miner_input *input)
{
	if (lode_patterns_keep_maximal(patterns, input->min_length, input->progress) < 0)
		return LODE_SYSTEM;
	if (input->max_patterns && patterns->count > input->max_patterns) {
		patterns->count = input->max_patterns;
		patterns->end = LODE_MINER_MAX_PATTERNS;
	}
	return 0;
}

static int mine(const struct lode_miner_input *input, struct miner_pool *pool, struct miner_worker *workers,
		unsigned jobs, struct lode_patterns *patterns)
{
	int code;

	for (unsigned i = 0; i < jobs; i++)
		workers[i].pool = pool;
	lode_parallel(jobs, jobs, run_worker, workers);
	patterns->end = pool->end;
	patterns->prefixes = atomic_load(&pool->prefixes);
	code = pool->code;
	if (!code)
		code = gather(patterns, workers, jobs);
	if (!code)
		code = finish(patterns, input);
	return code;
}

int miner_run(const struct lode_miner_input *input, struct miner_tree *root, struct lode_patterns *patterns)
{
	unsigned jobs = input->jobs ? input->jobs : lode_processors();
	struct miner_worker *workers = lode_calloc(jobs, sizeof(*workers));
	struct miner_pool pool;
	int code;

	if (!workers)
		return LODE_SYSTEM;
	code = miner_pool_init(&pool, input, root);
	if (!code)
		code = mine(input, &pool, workers, jobs, patterns);
	for (unsigned i = 0; i < jobs; i++)
		miner_worker_release(&workers[i]);
	miner_pool_release(&pool);
	lode_free(workers);
	return code;
}
