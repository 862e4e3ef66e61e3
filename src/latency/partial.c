/*
 * From one stream to sums on the nodes of its stack tree.
 *
 * Counts, bounds and quantiles are those of the instances. The estimate is added up from
 * below: what belongs to each stack itself (shares.h) is its own latency (the paper's
 * top-down normalising, section 3.4.1), and a node's latency is its own and that of all
 * below it. So callees never take more than their callers, and nothing is negative.
 */
#include "latency/partial.h"

#include "latency/call_chains.h"
#include "latency/partial_cache.h"
#include "scope/frame_filter.h"
#include "scope/plumbing.h"
#include "scope/wait_classes.h"
#include "scope/where.h"

#include <string.h>

/* ---- reading ---- */

static int is_called_so(const struct lode_corpus_entry *entry, const char *const *names)
{
	if (!names || !*names)
		return 1;
	for (; *names; names++)
		if (!strcmp(*names, entry->name) || !strcmp(*names, entry->id))
			return 1;
	return 0;
}

/* Opens a stream that is called as the options say and reads its head; `*store` is NULL for others. */
static int load_head(struct lode_latency_partial *partial, const struct lode_latency_options *options,
		     const struct lode_corpus_entry *entry, struct lode_store **store, struct lode_error *error)
{
	int code;

	*store = NULL;
	if (lode_dictionary_init(&partial->dictionary) < 0)
		return lode_fail_memory(error);
	lode_stream_init(&partial->stream, &partial->dictionary);
	if (!is_called_so(entry, options->streams))
		return 0;
	code = lode_store_open(store, entry->path, error);
	if (!code)
		code = lode_store_head(*store, &partial->stream, error);
	if (!code)
		partial->wanted = lode_where_fits(&partial->stream, options->where);
	return code;
}

/* Leaves plumbing out of the stacks of all events. Returns 0 or LODE_SYSTEM. */
static int hide_plumbing(struct lode_latency_partial *partial)
{
	uint32_t *without;

	if (!lode_frames_have_plumbing(&partial->dictionary.frames))
		return 0;
	without = lode_stacks_without_plumbing(&partial->dictionary);
	for (int type = 0; without && type < LODE_EVENT_TYPES; type++) {
		struct lode_events *events = &partial->stream.events[type];

		for (size_t i = 0; i < events->count; i++) {
			events->stack[i] = without[events->stack[i]];
			if (type == LODE_WAIT)
				events->waker_stack[i] = without[events->waker_stack[i]];
		}
	}
	lode_free(without);
	return without ? 0 : LODE_SYSTEM;
}

static int load_events(struct lode_latency_partial *partial, const struct lode_latency_options *options,
		       const struct lode_store *store, struct lode_error *error)
{
	const unsigned basic = LODE_T | LODE_THREAD | LODE_STACK | LODE_WEIGHT;
	/* Only slots of a thinned recording are recognized by name. */
	int slots = lode_slot_sampling_is_possible(&partial->dictionary.frames.strings);
	const unsigned columns[LODE_EVENT_TYPES] = {
		[LODE_RUN] = basic | LODE_COST,
		[LODE_WAIT] = basic | LODE_COST | LODE_DELAY | LODE_WAKER | LODE_WAKER_STACK,
		[LODE_CALL] = basic | LODE_DELAY | (slots ? LODE_NAME : 0),
	};
	int code = lode_store_load_events(store, &partial->stream, columns, error);

	if (!code && lode_where_keep_threads(&partial->stream, options->where) < 0)
		code = lode_fail_memory(error);
	if (!code && !options->keep_plumbing && hide_plumbing(partial) < 0)
		code = lode_fail_memory(error);
	if (!code && lode_lost_callers_find(&partial->stream, &partial->lost) < 0)
		code = lode_fail_memory(error);
	return code;
}

int lode_latency_partial_load(struct lode_latency_partial *partial, const struct lode_latency_options *options,
			      const struct lode_corpus_entry *entry, struct lode_error *error)
{
	struct lode_store *store;
	int code = load_head(partial, options, entry, &store, error);

	if (!code && partial->wanted)
		code = load_events(partial, options, store, error);
	lode_store_close(store);
	return code;
}

/* ---- adding up ---- */

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Instances on their way to the sums. */
struct adding {
	struct lode_latency_partial *partial;
	struct lode_sketch_batch batch;
};

#define BATCH 262144u /* latencies */

static int add_instance(void *context, const struct lode_instance *instance)
{
	struct adding *adding = context;
	struct lode_latency_node *node = &adding->partial->nodes[instance->node];
	uint64_t estimate = lode_instance_estimate(instance);
	uint64_t aggressive = adding->partial->aggressive_end ? lode_instance_aggressive_end(instance)
							      : lode_instance_aggressive(instance);

	node->count++;
	node->conservative = lode_add_saturating(node->conservative, lode_instance_conservative(instance));
	node->aggressive = lode_add_saturating(node->aggressive, aggressive);
	node->waited = lode_add_saturating(node->waited, instance->waited);
	if (estimate > node->longest)
		node->longest = estimate;
	return lode_sketch_batch_add(&adding->batch, &adding->partial->sketch, instance->node, estimate);
}

/* Random sums go to the caller; of those that are whole by now the variance between slots is taken. */
static void add_spread(float (*spreads)[LODE_SPREADS], uint32_t chain, uint32_t above,
		       struct lode_latency_node *node)
{
	for (size_t i = 0; i < LODE_SPREADS; i++)
		spreads[above][i] += spreads[chain][i];
	node->variance += lode_slot_sampling_between(spreads[chain]);
}

/* Callees have larger numbers than their callers: one pass from the end. */
static void add_shares(struct lode_latency_partial *partial, const struct lode_time_shares *shares)
{
	const struct lode_stack_tree *tree = &partial->dictionary.tree;
	struct lode_latency_node *nodes = partial->nodes;

	for (size_t i = tree->count; i-- > 1;) {
		uint32_t chain = partial->chains.of[i], above = partial->chains.of[tree->nodes[i].parent];
		struct lode_latency_node *node = &nodes[chain], *parent = &nodes[above];

		if (chain == above)
			continue;
		partial->own[chain] = shares->nodes[chain].time;
		node->estimate = lode_add_saturating(node->estimate, shares->nodes[chain].time);
		node->variance += shares->nodes[chain].doubt;
		node->gap = node->count ? shares->gap : 0;
		parent->estimate = lode_add_saturating(parent->estimate, node->estimate);
		parent->variance += node->variance;
		if (shares->spreads)
			add_spread(shares->spreads, chain, above, node);
		/* What is taken away where stacks part leaves rounding behind. */
		node->variance = node->variance > 1 ? node->variance : 0;
	}
	nodes[0] = (struct lode_latency_node){ 0 };
}

/*
 * Stacks without their callers that fit in several places: any of these places, and their callers,
 * may have taken that time, too.
 */
static int add_unsure(struct lode_latency_partial *partial)
{
	const struct lode_lost_callers *lost = &partial->lost;
	const struct lode_stack_tree *tree = &partial->dictionary.tree;
	uint32_t *seen; /* by node: the last root that was added */

	if (!lost->count)
		return 0;
	partial->unsure = lode_calloc(tree->count, sizeof(*partial->unsure));
	seen = lode_calloc(tree->count, sizeof(*seen));
	for (size_t i = 0; seen && partial->unsure && i < lost->count; i++) {
		uint32_t root = lost->places[i].root;
		uint64_t estimate = partial->nodes[partial->chains.of[root]].estimate;

		for (uint32_t node = lost->places[i].place; node && seen[node] != root;
		     node = tree->nodes[node].parent) {
			seen[node] = root;
			partial->unsure[node] = lode_add_saturating(partial->unsure[node], estimate);
		}
	}
	lode_free(seen);
	return seen && partial->unsure ? 0 : LODE_SYSTEM;
}

static int add_instances(struct lode_latency_partial *partial, struct lode_time_shares *shares,
			 struct lode_error *error)
{
	struct adding adding = { .partial = partial };
	int code = lode_sketch_batch_init(&adding.batch, partial->chains.count, BATCH);

	if (!code)
		code = lode_instances_of_chains(&partial->stream, &partial->chains, add_instance, &adding, shares,
						&partial->input, error);
	if (!code)
		code = lode_sketch_batch_flush(&adding.batch, &partial->sketch);
	lode_sketch_batch_release(&adding.batch);
	return code;
}

int lode_latency_partial_add(struct lode_latency_partial *partial, struct lode_error *error)
{
	struct lode_time_shares shares = { 0 };
	int code = lode_call_chains_find(&partial->chains, &partial->stream);

	if (!code) {
		partial->nodes = lode_calloc(partial->chains.count, sizeof(*partial->nodes));
		partial->own = lode_calloc(partial->chains.count, sizeof(*partial->own));
		code = partial->nodes && partial->own ? lode_sketch_reserve(&partial->sketch, partial->chains.count)
						      : LODE_SYSTEM;
	}
	if (!code)
		code = add_instances(partial, &shares, error);
	if (!code) {
		add_shares(partial, &shares);
		code = add_unsure(partial);
	}
	lode_time_shares_release(&shares);
	return code < 0 ? lode_fail_memory(error) : 0; /* nothing else can fail there */
}

/* ns: a thread that waited all its life except less than this did nothing else. */
#define SOMETHING 1000000u

/* By thread: from its first event to the end of its last. NULL when memory has run out. */
static uint64_t *find_lives(const struct lode_stream *stream)
{
	uint64_t *first = lode_calloc(stream->thread_count + 1, sizeof(*first));
	uint64_t *last = lode_calloc(stream->thread_count + 1, sizeof(*last));

	for (size_t i = 0; first && last && i < stream->thread_count; i++)
		first[i] = UINT64_MAX;
	for (int type = 0; first && last && type < LODE_EVENT_TYPES; type++) {
		const struct lode_events *events = &stream->events[type];

		for (size_t i = 0; i < events->count; i++) {
			uint32_t thread = events->thread[i];
			uint64_t end = events->t[i];

			if (type == LODE_WAIT)
				end = lode_add_saturating(end,
							  lode_add_saturating(events->cost[i], events->delay[i]));
			first[thread] = events->t[i] < first[thread] ? events->t[i] : first[thread];
			last[thread] = end > last[thread] ? end : last[thread];
		}
	}
	for (size_t i = 0; first && last && i < stream->thread_count; i++)
		last[i] = first[i] < last[i] ? last[i] - first[i] : 0;
	lode_free(first);
	if (first)
		return last;
	lode_free(last);
	return NULL;
}

static const char *const joins[] = { "pthread_join", "pthread_*join_np", "__pthread_*join_ex", NULL };
static const char *const sleeps[] = { "kernel!*nanosleep*", "kernel!common_nsleep*", "kernel!msleep*",
				      "kernel!usleep_range*", NULL };

/* What decides which waits are idle. */
struct idle {
	struct lode_idle_stacks *stacks;
	struct lode_wait_classes classes;
	uint64_t *lives;
	uint8_t *joins;  /* by node: waits for another thread to end */
	uint8_t *sleeps; /* by node: sleeps until a time has come */
};

static int is_idle(const struct idle *idle, const struct lode_events *waits, size_t i, uint64_t length)
{
	if (length > SOMETHING && less(idle->lives[waits->thread[i]], length) < SOMETHING)
		return 1;
	return idle->joins[waits->stack[i]] || lode_wait_class(&idle->classes, waits, i) != LODE_WAIT_COUNTS;
}

/*
 * Idle waits at the leaf of their stacks: those that the rules say; those for work; that of
 * a thread which did nothing but wait once, all its life, since it is as long as the
 * recording; and those for another thread to end, which has latencies of its own.
 */
static void add_idle_waits(struct lode_latency_partial *partial, const struct idle *idle)
{
	const struct lode_events *waits = &partial->stream.events[LODE_WAIT];

	for (size_t i = 0; i < waits->count; i++) {
		uint32_t chain = partial->chains.of[waits->stack[i]];
		struct lode_latency_node *node = &partial->nodes[chain];
		uint64_t length = lode_add_saturating(waits->cost[i], waits->delay[i]);
		uint64_t weight = lode_events_weight(waits, i), all = lode_weighted(length, weight);

		if (!waits->stack[i] || !node->count || !is_idle(idle, waits, i, length))
			continue;
		/* All of it is idle, regardless of what came after the wait. */
		partial->queued[chain] = less(partial->queued[chain], lode_weighted(waits->delay[i], weight));
		node->idle = lode_add_saturating(node->idle, all);
		if (idle->sleeps[waits->stack[i]])
			partial->slept[chain] = lode_add_saturating(partial->slept[chain], all);
	}
}

static int add_idle(struct lode_latency_partial *partial, const struct lode_latency_options *options,
		    struct lode_error *error)
{
	struct idle idle = { 0 };
	int code;

	if (!options->idle || !partial->stream.events[LODE_WAIT].count)
		return 0;
	code = lode_idle_stacks_make(&idle.stacks, options->idle, &partial->dictionary, error);
	if (code)
		return code;
	code = lode_wait_classes_make(&idle.classes, &partial->stream, idle.stacks, !options->include_work_waits,
				      error);
	idle.lives = find_lives(&partial->stream);
	if (!code && idle.lives && !lode_stacks_match(&partial->dictionary, joins, &idle.joins) &&
	    !lode_stacks_match(&partial->dictionary, sleeps, &idle.sleeps))
		add_idle_waits(partial, &idle);
	else if (!code)
		code = lode_fail_memory(error);
	lode_free(idle.lives);
	lode_free(idle.joins);
	lode_free(idle.sleeps);
	lode_wait_classes_release(&idle.classes);
	lode_idle_stacks_free(idle.stacks);
	return code;
}

/* Time in the run queue at the leaf of each stack: behind waits, and of preemptions. */
static void add_queued(struct lode_latency_partial *partial)
{
	static const enum lode_event_type types[] = { LODE_WAIT, LODE_CALL };

	for (size_t k = 0; k < sizeof(types) / sizeof(types[0]); k++) {
		const struct lode_events *events = &partial->stream.events[types[k]];

		for (size_t i = 0; i < events->count; i++) {
			uint64_t *queued = &partial->queued[partial->chains.of[events->stack[i]]];

			*queued = lode_add_saturating(*queued, lode_weighted(events->delay[i],
									     lode_events_weight(events, i)));
		}
	}
}

/* Own latency is the time of the very stack; what of it was idle is not counted. */
static void normalise(struct lode_latency_partial *partial)
{
	const struct lode_stack_tree *tree = &partial->dictionary.tree;
	struct lode_latency_node *nodes = partial->nodes;

	for (size_t i = 1; i < partial->chains.count; i++) {
		uint64_t own = less(partial->own[i], nodes[i].idle), idle = partial->own[i] - own;

		partial->own[i] = own;
		partial->slept[i] = partial->slept[i] < idle ? partial->slept[i] : idle;
		partial->queued[i] = partial->queued[i] < own ? partial->queued[i] : own;
	}
	for (size_t i = tree->count; i-- > 1;) {
		uint32_t chain = partial->chains.of[i], above = partial->chains.of[tree->nodes[i].parent];

		if (above && chain != above)
			nodes[above].idle = lode_add_saturating(nodes[above].idle, nodes[chain].idle);
	}
}

/* Infers, adds up and normalises; afterwards the events are gone. */
static int infer_events(struct lode_latency_partial *partial, const struct lode_latency_options *options,
			struct lode_error *error)
{
	int code = lode_latency_partial_add(partial, error);

	if (code)
		return code;
	partial->slept = lode_calloc(partial->chains.count, sizeof(*partial->slept));
	partial->queued = lode_calloc(partial->chains.count, sizeof(*partial->queued));
	if (!partial->slept || !partial->queued)
		code = lode_fail_memory(error);
	if (!code)
		add_queued(partial);
	if (!code)
		code = add_idle(partial, options, error);
	if (!code)
		normalise(partial);
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		lode_events_release(&partial->stream.events[type]);
	return code;
}

/* ---- with the cache ---- */

static int infer(struct lode_latency_partial *partial, const struct lode_latency_options *options,
		 const struct lode_store *store, struct lode_error *error)
{
	int code = load_events(partial, options, store, error);

	if (code)
		return code;
	partial->aggressive_end = options->aggressive_end;
	return infer_events(partial, options, error);
}

static int infer_and_keep(struct lode_latency_partial *partial, const struct lode_latency_options *options,
			  const struct lode_corpus_entry *entry, const struct lode_store *store,
			  const struct lode_map_key *key, struct lode_error *error)
{
	size_t nodes = partial->dictionary.tree.count;
	int code = infer(partial, options, store, error);

	if (!code && key)
		lode_latency_cache_put(entry->cache, key, partial, nodes);
	return code;
}

/* What was kept turned out to be damaged when part of it was taken over: from the beginning, without it. */
static int make_anew(struct lode_latency_partial *partial, const struct lode_latency_options *options,
		     const struct lode_corpus_entry *entry, const struct lode_map_key *key,
		     struct lode_error *error)
{
	struct lode_store *store;
	int code;

	lode_latency_partial_release(partial);
	memset(partial, 0, sizeof(*partial));
	code = load_head(partial, options, entry, &store, error);
	if (!code)
		code = infer_and_keep(partial, options, entry, store, key, error);
	lode_store_close(store);
	return code;
}

static int make(struct lode_latency_partial *partial, const struct lode_latency_options *options,
		const struct lode_corpus_entry *entry, const struct lode_store *store, struct lode_error *error)
{
	struct lode_map_key key;
	int kept = lode_latency_cache_key(options, entry, store, &key);
	int found = kept > 0 ? lode_latency_cache_find(entry->cache, &key, partial) : kept;

	switch (found) {
	case 1:
		return 0;
	case 0:
		return infer_and_keep(partial, options, entry, store, kept ? &key : NULL, error);
	case LODE_BAD_INPUT:
		return make_anew(partial, options, entry, &key, error);
	default:
		return lode_fail_memory(error);
	}
}

int lode_latency_partial_make(struct lode_latency_partial *partial, const struct lode_latency_options *options,
			      const struct lode_corpus_entry *entry, struct lode_error *error)
{
	struct lode_store *store;
	int code = load_head(partial, options, entry, &store, error);

	if (!code && partial->wanted)
		code = make(partial, options, entry, store, error);
	lode_store_close(store);
	return code;
}

int lode_latency_partial_make_if_readable(struct lode_latency_partial *partial,
					  const struct lode_latency_options *options,
					  const struct lode_corpus_entry *entry, struct lode_error *error)
{
	struct lode_error own = { "" };
	int code = lode_latency_partial_make(partial, options, entry, &own);

	if (!code)
		return 0;
	if (options->strict || !lode_stream_is_unreadable(entry, code))
		return lode_fail(error, code, "%s", own.text);
	lode_latency_partial_release(partial);
	*partial = (struct lode_latency_partial){ .unread = code, .reason = lode_strdup(own.text) };
	return partial->reason ? 0 : lode_fail_memory(error);
}

void lode_latency_partial_release(struct lode_latency_partial *partial)
{
	lode_free(partial->reason);
	lode_free(partial->nodes);
	lode_free(partial->own);
	lode_free(partial->slept);
	lode_free(partial->queued);
	lode_free(partial->unsure);
	lode_call_chains_release(&partial->chains);
	lode_sketch_release(&partial->sketch);
	lode_lost_callers_release(&partial->lost);
	lode_stream_release(&partial->stream);
	lode_dictionary_release(&partial->dictionary);
}
