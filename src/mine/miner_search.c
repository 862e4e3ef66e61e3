/*
 * The miner's search (StackMine, section V), depth first over prefixes.
 *
 * A prefix p comes with its tree: the stacks that support it, cut behind the place where p first
 * ends in them, only with functions that are costly behind p, equal beginnings merged
 * (miner_tree.c). Appending a function x leads to the subtrees below the topmost nodes of x. A
 * prefix whose tree is empty is a candidate; what is contained in another candidate is dropped at
 * the end (maximal.c). Without further measures this visits every costly pattern, 2^70 of them for
 * one stack of 70 frames. These are skipped:
 *
 * - Chain: when the tree has one node at the top, every stack goes through it, so
 *   it belongs to every longest pattern behind p. The prefix takes it over at once,
 *   with all such nodes that follow; a single path is done in one step.
 * - Cover: when another function y is above each topmost node of x, then
 *   everything that is costly behind p x is costly behind p y x.
 * - Seen: the tree is the same as that of a longer prefix that contains this one
 *   (miner_seen.h). Functions near the root are appended first, so that the
 *   longer prefix comes first as often as may be.
 *
 * Also, a level's functions with nothing below them are candidates without a tree
 * of their own, and a prefix that cannot reach min_length is not followed.
 *
 * Each of the three names a longer costly pattern for every pattern it leaves out,
 * so no maximal pattern is ever left out, in any order of visits and
 * whichever thread came first; the result is the same set each time. Where the
 * longer pattern could exceed max_length, they do not apply.
 *
 * That also holds when processes each follow some prefixes only (is_other_part): none leaves out
 * a maximal pattern behind a prefix that is its own. What they do not know is what others have seen.
 *
 * Measured on 169,279 CPU samples and not kept: asking whether a whole tree fits
 * into one pattern found before (true for 2 % of the trees, even with all patterns
 * known beforehand); looking for insertable functions in the stacks themselves, as
 * BIDE does (3 % more than what is seen); taking out a recursive function's
 * further occurrences that no costly pair needs (14 % of the nodes, but counting
 * the pairs doubles the time).
 *
 * The levels of the search are held in an array, not on the C stack: prefixes can
 * be as long as stacks are deep.
 */
#include "mine/miner_search.h"

#include "base/error.h"
#include "base/hash.h"
#include "mine/maximal.h"

#include <stdlib.h>
#include <string.h>

/* Nodes looked at between two words to the progress callback: some milliseconds. */
#define WORK_BETWEEN_REPORTS (1u << 20)
#define WORK_OF_A_PREFIX     128
/* Nodes looked at between two gifts to other threads. */
#define WORK_BETWEEN_SHARES 20000u
/* Prefixes of this many steps are divided among parts. */
#define SHARED_STEPS 2
/* Visited prefixes that are kept, in all threads together: 128 MiB. */
#define SEEN_LIMIT (4u << 20)

void miner_worker_release(struct miner_worker *worker)
{
	for (size_t i = 0; i < worker->level_count; i++)
		miner_level_release(&worker->levels[i]);
	lode_free(worker->levels);
	lode_free(worker->prefix);
	lode_arena_release(&worker->arena);
	lode_patterns_release(&worker->found);
	miner_room_release(&worker->room);
}

static void swap_trees(struct miner_tree *a, struct miner_tree *b)
{
	struct miner_tree c = *a;

	*a = *b;
	*b = c;
}

/* Appends a function to the prefix. */
static int append(struct miner_worker *worker, uint32_t name)
{
	return LODE_APPEND(worker->prefix, worker->length, worker->prefix_capacity, name);
}

/* The level's prefix has got longer by one function: keeps it as seen, while there is room for such. */
static int remember(struct miner_worker *worker, struct miner_level *level, uint32_t name)
{
	struct miner_pool *pool = worker->pool;
	int known = level->seen || !level->length;

	level->length++;
	if (!known || !pool->weights_are_exact ||
	    atomic_fetch_add_explicit(&pool->seen_count, 1, memory_order_relaxed) >= SEEN_LIMIT) {
		level->seen = NULL;
		return 0;
	}
	level->seen = miner_seen_add(&worker->arena, level->seen, name);
	return level->seen ? 0 : LODE_SYSTEM;
}

/* Takes over the nodes through which all stacks go. Returns how many, or LODE_SYSTEM. */
static int take_chain(struct miner_worker *worker, struct miner_level *level)
{
	const struct miner_tree *tree = &level->tree;
	uint32_t taken = 0;

	while (taken < tree->count && tree->nodes[taken].end == tree->count &&
	       tree->nodes[taken].cost >= worker->pool->input->threshold) {
		uint32_t name = tree->label[tree->nodes[taken].label].name;

		if (append(worker, name) < 0 || remember(worker, level, name) < 0)
			return LODE_SYSTEM;
		level->cost = tree->nodes[taken++].cost;
	}
	return (int)taken;
}

/*
 * Takes chains over until the tree has several nodes at the top, or none. A
 * function that was taken over may be costly no more further down, and when it
 * goes, paths merge and a new chain can come up.
 */
static int take_chains(struct miner_worker *worker, struct miner_level *level)
{
	struct miner_pool *pool = worker->pool;
	int any = 0, taken;

	while (pool->longest - level->length >= level->tree.height) {
		taken = take_chain(worker, level);
		if (taken <= 0) {
			if (!taken && any && level->seen)
				miner_seen_publish(&pool->seen, level->seen, worker->room.all_weight);
			return taken;
		}
		any = 1;
		worker->work += level->tree.count;
		miner_tree_cut(&level->tree, (uint32_t)taken);
		if (miner_tree_count(&level->tree, LODE_NONE, pool->input->threshold, &worker->room) ==
		    level->tree.labels) {
			miner_tree_recount(&level->tree, &worker->room);
			continue;
		}
		if (miner_tree_make(&level->spare, &level->tree, LODE_NONE, &worker->room) < 0)
			return LODE_SYSTEM;
		swap_trees(&level->tree, &level->spare);
	}
	return 0;
}

/*
 * With several parts, all of them go through the prefixes of few steps, and each follows its own of those with
 * SHARED_STEPS. Which these are depends only on their functions, not on what a part has seen so far.
 */
static int is_other_part(const struct miner_worker *worker, const struct miner_level *level, uint32_t name)
{
	const struct lode_miner_input *input = worker->pool->input;
	uint64_t digest; /* hashes differ from process to process, digests do not */

	if (input->parts < 2 || level->steps + 1 != SHARED_STEPS)
		return 0;
	digest = lode_digest_bytes(worker->prefix, level->length * sizeof(*worker->prefix)) ^ name;
	return lode_digest_bytes(&digest, sizeof(digest)) % input->parts != input->part;
}

/* What all parts find, the first one lists. */
static int is_listed(const struct miner_worker *worker, const struct miner_level *level)
{
	return !worker->pool->input->part || level->steps >= SHARED_STEPS;
}

/* Keeps the list short that max_patterns asks for; when it cannot be, there are more than that. */
static int obey_max_patterns(struct miner_worker *worker)
{
	uint64_t most = worker->pool->input->max_patterns;

	if (!most || worker->found.count / 2 < most)
		return 0;
	if (lode_patterns_keep_maximal(&worker->found, 0, NULL) < 0)
		return LODE_SYSTEM;
	if (worker->found.count > most)
		miner_pool_stop(worker->pool, 0, LODE_MINER_MAX_PATTERNS);
	return 0;
}

/* The prefix, which is that of the level or one longer, has no costly extension. */
static int found(struct miner_worker *worker, const struct miner_level *level, uint64_t cost)
{
	if (worker->length < worker->pool->input->min_length || !is_listed(worker, level))
		return 0;
	if (lode_patterns_add(&worker->found, worker->prefix, worker->length, cost) < 0)
		return LODE_SYSTEM;
	return obey_max_patterns(worker);
}

/* High first; ties by label, so that runs are alike. */
static int by_height(const void *a, const void *b, void *context)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct miner_sight *sight = context;

	if (sight[x].high != sight[y].high)
		return sight[x].high > sight[y].high ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* A label with nothing below it: the prefix with it is a candidate, and there is nothing to follow. */
static int found_last(struct miner_worker *worker, const struct miner_level *level, const struct miner_label *label)
{
	int code;

	worker->prefixes++;
	worker->work += WORK_OF_A_PREFIX;
	if (append(worker, label->name) < 0)
		return LODE_SYSTEM;
	code = found(worker, level, label->total);
	worker->length--;
	return code;
}

/* Lists the labels by which to extend the level's prefix. */
static int list_labels(struct miner_worker *worker, struct miner_level *level)
{
	const struct miner_tree *tree = &level->tree;
	int limited = worker->pool->longest - level->length < tree->height;

	if (LODE_GROW(level->pending, level->pending_capacity, tree->labels) < 0)
		return LODE_SYSTEM;
	level->next = level->count = 0;
	for (uint32_t i = 0; i < tree->labels; i++) {
		if (tree->label[i].covered && !limited)
			continue;
		if (tree->label[i].inner)
			level->pending[level->count++] = i;
		else if (found_last(worker, level, &tree->label[i]) < 0)
			return LODE_SYSTEM;
	}
	qsort_r(level->pending, level->count, sizeof(*level->pending), by_height, worker->room.sight);
	return 0;
}

/* Whether a longer prefix has the tree that was counted last, which is at most `height` high. */
static int is_seen(const struct miner_worker *worker, uint32_t height)
{
	const struct miner_pool *pool = worker->pool;

	return pool->weights_are_exact && pool->longest > height &&
	       miner_seen_covers(&pool->seen, worker->prefix, worker->length, worker->room.all_weight,
				 pool->longest - height);
}

/* Begins with the level's tree. Returns 1, 0 when there is nothing to extend the prefix by, or LODE_SYSTEM. */
static int begin(struct miner_worker *worker, struct miner_level *level)
{
	const struct miner_pool *pool = worker->pool;

	if (take_chains(worker, level) < 0)
		return LODE_SYSTEM;
	if (!level->tree.count)
		return level->length ? found(worker, level, level->cost) : 0;
	if ((uint64_t)level->length + level->tree.height < pool->input->min_length)
		return 0;
	worker->work += level->tree.count;
	miner_tree_survey(&level->tree, &worker->room);
	return list_labels(worker, level) < 0 ? LODE_SYSTEM : level->count > 0;
}

/* Extends the prefix of `level` by a label of its tree; the result goes to `next`. Returns as begin. */
static int extend(struct miner_worker *worker, struct miner_level *level, struct miner_level *next, uint32_t label)
{
	struct miner_pool *pool = worker->pool;
	uint32_t name = level->tree.label[label].name;

	worker->length = level->length;
	if (is_other_part(worker, level, name))
		return 0;
	worker->prefixes++;
	worker->work += WORK_OF_A_PREFIX;
	next->length = level->length;
	next->steps = level->steps + 1;
	next->seen = level->seen;
	next->cost = level->tree.label[label].total;
	if (append(worker, name) < 0)
		return LODE_SYSTEM;
	if (worker->length == pool->longest ||
	    !miner_tree_count(&level->tree, label, pool->input->threshold, &worker->room))
		return found(worker, next, next->cost);
	if (is_seen(worker, level->tree.height - 1))
		return 0;
	if (remember(worker, next, name) < 0)
		return LODE_SYSTEM;
	if (next->seen)
		miner_seen_publish(&pool->seen, next->seen, worker->room.all_weight);
	if (miner_tree_make(&next->tree, &level->tree, label, &worker->room) < 0)
		return LODE_SYSTEM;
	worker->work += next->tree.count;
	return begin(worker, next);
}

static int reserve_level(struct miner_worker *worker, size_t depth)
{
	if (depth < worker->level_count)
		return 0;
	if (LODE_GROW(worker->levels, worker->level_capacity, depth + 1) < 0)
		return LODE_SYSTEM;
	while (worker->level_count <= depth)
		worker->levels[worker->level_count++] = (struct miner_level){ 0 };
	return 0;
}

/* A task with the last `count` labels of a level; NULL when memory has run out. */
static struct miner_task *split(const struct miner_worker *worker, const struct miner_level *level, uint32_t count)
{
	struct miner_task *task = lode_calloc(1, sizeof(*task));
	struct miner_level *part;

	if (!task)
		return NULL;
	part = &task->level;
	part->cost = level->cost;
	part->length = level->length;
	part->steps = level->steps;
	part->seen = level->seen;
	part->count = count;
	task->prefix = lode_alloc(level->length * sizeof(*task->prefix));
	if (!task->prefix || miner_tree_copy(&part->tree, &level->tree) < 0 ||
	    LODE_GROW(part->pending, part->pending_capacity, count) < 0) {
		miner_task_free(task);
		return NULL;
	}
	if (level->length)
		memcpy(task->prefix, worker->prefix, level->length * sizeof(*task->prefix));
	memcpy(part->pending, level->pending + level->count - count, count * sizeof(*part->pending));
	return task;
}

/* Gives away half of what is left on the shallowest level that has something left. */
static int share(struct miner_worker *worker)
{
	for (size_t i = 0; i <= worker->depth; i++) {
		struct miner_level *level = &worker->levels[i];
		uint32_t left = level->count - level->next, given = left - left / 2;
		struct miner_task *task;

		if (!left)
			continue;
		task = split(worker, level, given);
		if (!task)
			return LODE_SYSTEM;
		level->count -= given;
		miner_pool_give(worker->pool, task);
		break;
	}
	return 0;
}

/* Not at every step: with more threads than processors most of the time would go into giving and taking. */
static int is_time_to_share(struct miner_worker *worker)
{
	if (worker->work < worker->share_at || !miner_pool_is_hungry(worker->pool))
		return 0;
	worker->share_at = worker->work + WORK_BETWEEN_SHARES;
	return 1;
}

static void report(struct miner_worker *worker)
{
	atomic_fetch_add(&worker->pool->prefixes, worker->prefixes);
	worker->prefixes = 0;
	worker->report_at = worker->work + WORK_BETWEEN_REPORTS;
	miner_pool_report(worker->pool);
}

/*
 * Goes on with the next level. A level that has nothing left to do is not kept
 * below it, so that a prefix that grows and grows in a deep recursion does not
 * hold a tree for each of its functions.
 */
static void go_down(struct miner_worker *worker)
{
	struct miner_level *level = &worker->levels[worker->depth], done = *level;

	if (level->next < level->count) {
		worker->depth++;
	} else {
		level[0] = level[1];
		level[1] = done;
	}
}

/* Works on level 0 and all below it. */
static int search(struct miner_worker *worker)
{
	while (!miner_pool_stopped(worker->pool)) {
		struct miner_level *level = &worker->levels[worker->depth];
		int code;

		if (level->next == level->count) {
			if (!worker->depth)
				return 0;
			worker->depth--;
			continue;
		}
		if (is_time_to_share(worker)) {
			if (share(worker) < 0)
				return LODE_SYSTEM;
			continue;
		}
		if (reserve_level(worker, worker->depth + 1) < 0)
			return LODE_SYSTEM;
		level = &worker->levels[worker->depth];
		code = extend(worker, level, level + 1, level->pending[level->next++]);
		if (code < 0)
			return code;
		if (code > 0)
			go_down(worker);
		if (worker->work >= worker->report_at)
			report(worker);
	}
	return 0;
}

/* Makes a task the worker's level 0. The first task of all is a bare tree. */
static int install(struct miner_worker *worker, struct miner_task *task)
{
	struct miner_level *level;
	int code = 0;

	worker->depth = 0;
	worker->length = 0;
	if (reserve_level(worker, 0) < 0)
		return LODE_SYSTEM;
	level = &worker->levels[0];
	miner_level_release(level);
	*level = task->level;
	memset(&task->level, 0, sizeof(task->level));
	for (uint32_t i = 0; !code && i < level->length; i++)
		code = append(worker, task->prefix[i]);
	if (!code && !level->pending)
		code = begin(worker, level);
	return code < 0 ? code : 0;
}

void miner_worker_run(struct miner_worker *worker)
{
	struct miner_pool *pool = worker->pool;
	int code = miner_room_init(&worker->room, pool->root_nodes, pool->root_labels, pool->root_height);
	struct miner_task *task;

	worker->report_at = WORK_BETWEEN_REPORTS;
	if (code)
		miner_pool_stop(pool, code, LODE_MINER_COMPLETE);
	while ((task = miner_pool_take(pool))) {
		code = install(worker, task);
		miner_task_free(task);
		if (!code)
			code = search(worker);
		if (code)
			miner_pool_stop(pool, code, LODE_MINER_COMPLETE);
		miner_pool_done(pool);
	}
	report(worker);
}
