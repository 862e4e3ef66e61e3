/*
 * The root cause: which function of the first path to look at first: the first that --match lets in, and that
 * is not idle on both sides.
 *
 * The hottest function of the path is where the time is spent, but time that is waited is
 * spent in the kernel for all threads: the last function before the kernel and the C library
 * chose to wait.
 *
 * If the good side also has the path, that is the answer: the same calls take longer. If the
 * path is new, more is known. A function that the good side also calls, from other places,
 * was not slow there; what is new is that it is called from here. So the search goes up, as
 * long as the path is new, to a function that the good side never shows; and on to one that
 * is called from several places and slow in all of them, if there is one. If its caller is
 * known, and all calls come from it, either it calls this function instead of another one,
 * which is gone, and the new function is the cause; or it does something that it did not do
 * before, and it is the cause itself.
 *
 * A function that takes the time itself, or waits, is not skipped. Functions that are
 * too short to be sampled look new when they become slow, so it means nothing that the good
 * side does not have their callers.
 */
#include "latency/cause.h"

#include "scope/frame_filter.h"

/* A function that is gone was replaced if it took at least this part of what the new one takes. */
#define REPLACED_PART 10

/* One caller has what all others have less than this part of. */
#define ONE_CALLER_PART 10

/* All but this part of an idle path is idle. */
#define IDLE_PART 10

/* How far up it is looked for a function that many call. */
#define MAX_STEPS 64

struct search {
	const struct lode_diff *diff;
	const struct lode_latency *base;
	const struct lode_stack_node *nodes;
	uint8_t *in_base;      /* by frame: the good side shows it somewhere */
	uint8_t *in_slow;      /* by node: the slow side has it */
	uint64_t *slow_waited; /* by node of the common tree */
	uint64_t *slow_latency;
	uint64_t *slow_idle;
};

static void search_release(struct search *search)
{
	lode_free(search->in_base);
	lode_free(search->in_slow);
	lode_free(search->slow_waited);
	lode_free(search->slow_latency);
	lode_free(search->slow_idle);
}

static int search_prepare(struct search *search, const struct lode_latency *slow, const uint32_t *slow_nodes)
{
	const struct lode_dictionary *dictionary = search->diff->dictionary;
	size_t nodes = dictionary->tree.count;

	search->in_base = lode_calloc(dictionary->frames.count + 1, 1);
	search->in_slow = lode_calloc(nodes, 1);
	search->slow_waited = lode_calloc(nodes, sizeof(*search->slow_waited));
	search->slow_latency = lode_calloc(nodes, sizeof(*search->slow_latency));
	search->slow_idle = lode_calloc(nodes, sizeof(*search->slow_idle));
	if (!search->in_base || !search->in_slow || !search->slow_waited || !search->slow_latency ||
	    !search->slow_idle)
		return LODE_SYSTEM;
	for (uint32_t i = 1; i < nodes; i++)
		if (search->diff->known[i])
			search->in_base[search->nodes[i].frame] = 1;
	for (uint32_t i = 1; i < slow->node_count; i++) {
		search->in_slow[slow_nodes[i]] = slow->nodes[i].count > 0;
		search->slow_waited[slow_nodes[i]] = slow->nodes[i].waited;
		search->slow_latency[slow_nodes[i]] = slow->nodes[i].estimate;
		search->slow_idle[slow_nodes[i]] = slow->nodes[i].idle;
	}
	return 0;
}

static int mostly_waits(const struct search *search, uint32_t node)
{
	return search->slow_waited[node] > search->slow_latency[node] / 2;
}

/* ---- new paths ---- */

static int is_known(const struct search *search, uint32_t node)
{
	return !node || search->diff->known[node];
}

static int is_shown(const struct search *search, uint32_t node)
{
	return search->in_base[search->nodes[node].frame];
}

/* Whether the base has another function below the caller of `node` that is gone, and took as much. */
static int replaces_another(const struct search *search, uint32_t node)
{
	const struct lode_latency *base = search->base;
	uint64_t streams = base->stream_count ? base->stream_count : 1;
	int64_t more = search->diff->more[node];

	for (uint32_t i = 1; i < base->node_count; i++)
		if (search->nodes[i].parent == search->nodes[node].parent && i != node && base->nodes[i].count &&
		    !search->in_slow[i] &&
		    base->nodes[i].estimate / streams > (uint64_t)(more > 0 ? more : 0) / REPLACED_PART)
			return 1;
	return 0;
}

static int64_t add_growth(int64_t sum, int64_t more)
{
	int64_t result;

	return more > 0 && !__builtin_add_overflow(sum, more, &result) ? result : sum;
}

/* Whether the function of `node` has become slow below one caller, its own, and hardly below others. */
static int has_one_caller(const struct search *search, uint32_t node)
{
	uint32_t frame = search->nodes[node].frame, caller = search->nodes[search->nodes[node].parent].frame;
	int64_t all = 0, here = 0;

	for (uint32_t i = 1; i < search->diff->dictionary->tree.count; i++) {
		if (search->nodes[i].frame != frame)
			continue;
		all = add_growth(all, search->diff->more[i]);
		if (search->nodes[search->nodes[i].parent].frame == caller)
			here = add_growth(here, search->diff->more[i]);
	}
	return here > all - all / ONE_CALLER_PART;
}

/* The next function from `node` upwards that many call, as long as the base shows none; `node` if none is. */
static uint32_t where_paths_meet(const struct search *search, uint32_t node)
{
	uint32_t at = node;

	for (int i = 0; i < MAX_STEPS && !is_known(search, at) && !is_shown(search, at); i++) {
		if (!has_one_caller(search, at))
			return at;
		at = search->nodes[at].parent;
	}
	return node;
}

/* From a function in a new context to the one that made it so. */
static uint32_t who_is_new(const struct search *search, uint32_t node)
{
	uint32_t start = node, parent;

	while (parent = search->nodes[node].parent, is_shown(search, node) && !is_known(search, parent))
		node = parent;
	if (node == start || is_shown(search, node))
		return node;
	node = where_paths_meet(search, node);
	parent = search->nodes[node].parent;
	if (parent && is_known(search, parent) && search->nodes[parent].parent && has_one_caller(search, node) &&
	    !replaces_another(search, node))
		return parent;
	return node;
}

static uint32_t choose(const struct search *search, uint32_t hottest)
{
	uint32_t own = lode_stack_who(search->diff->dictionary, hottest);

	if (!is_known(search, own))
		return who_is_new(search, own);
	/* Below a function that was known, waiting in another way is no cause of its own. */
	return !is_known(search, hottest) || mostly_waits(search, hottest) ? own : hottest;
}

/* ---- the path ---- */

static int is_mostly_idle(uint64_t idle, uint64_t latency)
{
	return idle && idle >= latency - latency / IDLE_PART;
}

/*
 * A path that ends where threads had nothing to do, on both sides: what they take more there is how long nobody wanted
 * anything of them.
 */
static int is_idle(const struct search *search, const struct lode_diff_path *path)
{
	uint32_t leaf = path->leaf;

	return leaf < search->base->node_count && search->diff->known[leaf] &&
	       is_mostly_idle(search->base->nodes[leaf].idle, search->base->nodes[leaf].estimate) &&
	       is_mostly_idle(search->slow_idle[leaf], search->slow_latency[leaf]);
}

/* The first path that may have a cause; NULL: none. */
static const struct lode_diff_path *choose_path(const struct search *search, const uint8_t *fits, int guess)
{
	const struct lode_diff *diff = search->diff;

	for (size_t i = 0; i < diff->path_count; i++) {
		const struct lode_diff_path *path = &diff->paths[i];

		if ((!guess && !lode_diff_path_is_sure(path)) || path->cost <= 0)
			return NULL;
		if ((fits && !fits[path->leaf]) || is_idle(search, path))
			continue;
		return lode_diff_delta(diff, path->hottest) > 0 ? path : NULL;
	}
	return NULL;
}

/* ---- the whole ---- */

static void set_cause(struct lode_diff *diff, const struct search *search, const struct lode_diff_path *path)
{
	uint32_t node = choose(search, path->hottest);
	int64_t own = lode_diff_delta(diff, node);

	diff->cause = (struct lode_root_cause){
		.node = node,
		.caller = search->nodes[node].parent,
		.is_new = !diff->known[node],
		.more = diff->more[node] > own ? diff->more[node] : own,
		.layer = lode_layer_of_node(diff->dictionary, node),
		.sure = lode_diff_path_is_sure(path),
		.p = path->p,
		.q = path->q,
	};
}

int lode_cause_find(struct lode_diff *diff, const struct lode_latency *base, const struct lode_latency *slow,
		    const uint32_t *slow_nodes, const struct lode_diff_options *options)
{
	struct search search = { .diff = diff, .base = base, .nodes = diff->dictionary->tree.nodes };
	const struct lode_diff_path *path = NULL;
	uint8_t *fits = NULL;
	int code = lode_stacks_match(diff->dictionary, options->match, &fits);

	if (!code)
		code = search_prepare(&search, slow, slow_nodes);
	if (!code)
		path = choose_path(&search, fits, options->guess);
	if (path)
		set_cause(diff, &search, path);
	search_release(&search);
	lode_free(fits);
	return code;
}
