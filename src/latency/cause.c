/*
 * The root cause: which function to look at first. It is on a path that --match lets in and that is not idle
 * on both sides; of these, on the one whose hottest function has most weight (diff.h).
 *
 * Time that was only moved is no extra time. A function may be called from another place than before, or
 * inlined, renamed or split in two: then another context or another function has less. So the function
 * must take more in all contexts together, with all that it calls, and so must the functions that call it; and
 * the whole run must take more, or nothing made it slow.
 *
 * The hottest function of the path is where the time is spent, but all threads wait in the kernel, and
 * all programs copy and compare in the C library: the last function before them chose to do so.
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

#include "latency/diff_evidence.h"
#include "scope/frame_filter.h"

#include <string.h>

/* A function that is gone was replaced if it took at least this part of what the new one takes. */
#define REPLACED_PART 10

/* One caller has what all others have less than this part of. */
#define ONE_CALLER_PART 10

/* All but this part of an idle path is idle. */
#define IDLE_PART 10

/* How far up it is looked for a function that many call. */
#define MAX_STEPS 64

/* So many functions are looked at whose time turns out to have been moved. */
#define MAX_MOVED 100

struct search {
	const struct lode_diff *diff;
	const struct lode_diff_rows *rows;
	const struct lode_diff_options *options;
	const struct lode_latency *base;
	const struct lode_stack_node *nodes;
	uint8_t *in_base;       /* by frame: the good side shows it somewhere */
	uint8_t *in_slow;       /* by node: the slow side has it */
	uint64_t *slow_latency; /* by node of the common tree */
	uint64_t *slow_idle;
	uint8_t *fits;   /* by node: --match lets it in; NULL: all */
	uint8_t *moved;  /* by frame: its time was moved */
	uint8_t *frames; /* by frame: room for a set */
};

static void search_release(struct search *search)
{
	lode_free(search->in_base);
	lode_free(search->in_slow);
	lode_free(search->slow_latency);
	lode_free(search->slow_idle);
	lode_free(search->fits);
	lode_free(search->moved);
	lode_free(search->frames);
}

static int search_prepare(struct search *search)
{
	const struct lode_latency *slow = search->rows->sides[1];
	const uint32_t *slow_nodes = search->rows->nodes[1];
	const struct lode_dictionary *dictionary = search->diff->dictionary;
	size_t nodes = dictionary->tree.count;

	search->in_base = lode_calloc(dictionary->frames.count + 1, 1);
	search->moved = lode_calloc(dictionary->frames.count + 1, 1);
	search->frames = lode_calloc(dictionary->frames.count + 1, 1);
	search->in_slow = lode_calloc(nodes, 1);
	search->slow_latency = lode_calloc(nodes, sizeof(*search->slow_latency));
	search->slow_idle = lode_calloc(nodes, sizeof(*search->slow_idle));
	if (!search->in_base || !search->in_slow || !search->slow_latency || !search->slow_idle ||
	    !search->moved || !search->frames)
		return LODE_SYSTEM;
	for (uint32_t i = 1; i < nodes; i++)
		if (search->diff->known[i])
			search->in_base[search->nodes[i].frame] = 1;
	for (uint32_t i = 1; i < slow->node_count; i++) {
		search->in_slow[slow_nodes[i]] = slow->nodes[i].count > 0;
		search->slow_latency[slow_nodes[i]] = slow->nodes[i].estimate;
		search->slow_idle[slow_nodes[i]] = slow->nodes[i].idle;
	}
	return 0;
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

	return is_known(search, own) ? own : who_is_new(search, own);
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

/* Whether the path may have the cause; `sure`: only if its hottest function surely takes more. */
static int may_have_cause(const struct search *search, const struct lode_diff_path *path, int sure)
{
	const struct lode_diff *diff = search->diff;

	return path->cost > 0 && lode_diff_delta(diff, path->hottest) > 0 &&
	       !search->moved[diff->function_of[path->hottest]] &&
	       (!sure || lode_diff_function_is_sure(lode_diff_function_of(diff, path->hottest))) &&
	       (!search->fits || search->fits[path->leaf]) && !is_idle(search, path);
}

/* The path whose function has most weight, of those that are sure; else, for a guess, of all. NULL: none. */
static const struct lode_diff_path *choose_path(const struct search *search)
{
	const struct lode_diff *diff = search->diff;
	const struct lode_diff_path *best = NULL;

	for (int sure = 1; sure >= 0 && !best; sure--) {
		if (!sure && !search->options->guess)
			break;
		for (size_t i = 0; i < diff->path_count; i++)
			if (may_have_cause(search, &diff->paths[i], sure) &&
			    (!best || lode_diff_function_of(diff, diff->paths[i].hottest)->weight >
					      lode_diff_function_of(diff, best->hottest)->weight))
				best = &diff->paths[i];
	}
	return best;
}

/* ---- moved time ---- */

static int test_frames(const struct search *search, struct lode_diff_function_growth *growth)
{
	return lode_diff_test_inclusive(search->diff, search->rows, search->frames, search->options->jobs, growth);
}

static void clear_frames(struct search *search)
{
	memset(search->frames, 0, search->diff->dictionary->frames.count + 1);
}

static int test_function(struct search *search, uint32_t frame, struct lode_diff_function_growth *growth)
{
	clear_frames(search);
	search->frames[frame] = 1;
	return test_frames(search, growth);
}

/*
 * What the callers of a function take more, all of its contexts together: of each context the nearest caller
 * that the base shows. A context without one counts with the function itself.
 */
static int test_callers(struct search *search, uint32_t frame, struct lode_diff_function_growth *growth)
{
	const struct lode_stack_node *nodes = search->nodes;

	clear_frames(search);
	for (uint32_t i = 1; i < search->diff->dictionary->tree.count; i++) {
		uint32_t caller = nodes[i].parent;

		if (nodes[i].frame != frame)
			continue;
		while (caller && (nodes[caller].frame == frame || !search->in_base[nodes[caller].frame]))
			caller = nodes[caller].parent;
		search->frames[caller ? nodes[caller].frame : frame] = 1;
	}
	return test_frames(search, growth);
}

static int has_grown(const struct search *search, const struct lode_diff_function_growth *growth)
{
	return growth->more > 0 &&
	       (search->options->guess || !search->diff->chance.tested || growth->p < LODE_DIFF_CONFIRMED);
}

/* 1: the time of the path's hottest function is extra time, 0: it was moved. `more`: what its callers take more. */
static int is_extra(struct search *search, const struct lode_diff_path *path, int64_t *more)
{
	uint32_t frame = search->diff->function_of[path->hottest];
	struct lode_diff_function_growth own, callers;

	if (lode_diff_function_of(search->diff, path->hottest)->more <= 0)
		return 0;
	if (test_function(search, frame, &own) < 0 || test_callers(search, frame, &callers) < 0)
		return LODE_SYSTEM;
	*more = callers.more;
	return has_grown(search, &own) && has_grown(search, &callers);
}

/* The path that has the cause; NULL: none. */
static int find_path(struct search *search, const struct lode_diff_path **path, int64_t *more)
{
	int code = 0;

	for (int i = 0; i < MAX_MOVED && (*path = choose_path(search)); i++) {
		code = is_extra(search, *path, more);
		if (code)
			return code < 0 ? code : 0;
		search->moved[search->diff->function_of[(*path)->hottest]] = 1;
	}
	*path = NULL;
	return 0;
}

/* ---- the whole ---- */

const char *lode_no_cause_name(unsigned no_cause)
{
	static const char *const names[] = { NULL, "nothing-sure", "not-slower", "total-unsure", "moved" };

	return no_cause < sizeof(names) / sizeof(*names) ? names[no_cause] : NULL;
}

static int set_cause(struct lode_diff *diff, struct search *search, const struct lode_diff_path *path,
		     int64_t limit)
{
	const struct lode_diff_function_growth *function = lode_diff_function_of(diff, path->hottest);
	struct lode_diff_function_growth growth;
	uint32_t node = choose(search, path->hottest);

	if (test_function(search, search->nodes[node].frame, &growth) < 0)
		return LODE_SYSTEM;
	diff->cause = (struct lode_root_cause){
		.node = node,
		.caller = search->nodes[node].parent,
		.is_new = !diff->known[node],
		.more = growth.more > 0 && growth.more < limit ? growth.more : limit,
		.layer = lode_layer_of_node(diff->dictionary, node),
		.sure = lode_diff_function_is_sure(function) && lode_diff_total_is_confirmed(diff),
		.p = function->p,
		.q = function->q,
	};
	return 0;
}

static int decide(struct lode_diff *diff, struct search *search)
{
	const struct lode_diff_path *path = NULL;
	int64_t limit = 0;

	if (diff->difference <= 0) {
		diff->no_cause = LODE_CAUSE_NOT_SLOWER;
		return 0;
	}
	diff->no_cause = choose_path(search) ? LODE_CAUSE_MOVED : LODE_CAUSE_NOTHING_SURE;
	if (find_path(search, &path, &limit) < 0)
		return LODE_SYSTEM;
	if (!path)
		return 0;
	if (!search->options->guess && !lode_diff_total_is_confirmed(diff)) {
		diff->no_cause = LODE_CAUSE_TOTAL_UNSURE;
		diff->cause_hint = choose(search, path->hottest);
		return 0;
	}
	diff->no_cause = LODE_CAUSE_KNOWN;
	return set_cause(diff, search, path, limit);
}

int lode_cause_find(struct lode_diff *diff, const struct lode_diff_rows *rows,
		    const struct lode_diff_options *options)
{
	struct search search = { .diff = diff,
				 .rows = rows,
				 .options = options,
				 .base = rows->sides[0],
				 .nodes = diff->dictionary->tree.nodes };
	int code = lode_stacks_match(diff->dictionary, options->match, &search.fits);

	if (!code)
		code = search_prepare(&search);
	if (!code)
		code = decide(diff, &search);
	search_release(&search);
	return code;
}
