/* Waits that are followed without symptoms: see area_walks.h. */
#include "scope/area_walks.h"

#include <stdlib.h>
#include <string.h>

/* What waits of one kind have in common. Threads are known by their names, as in chains. */
struct kind_key {
	uint32_t process;
	uint32_t thread;
	uint32_t stack;
	uint32_t waker_process;
	uint32_t waker;
	uint32_t waker_stack;
	uint32_t object;
	uint32_t context;
};

/* A chain of the wait that was followed last, and its part of that wait's time. */
struct kind_chain {
	uint32_t chain;
	uint32_t stack;
	uint64_t cost;
};

struct lode_walk_kind {
	struct kind_key key;
	uint32_t count;
	struct kind_chain *chains;
	/* The waits since, which are added to these chains together. */
	uint64_t cost;
	uint64_t events;
	uint64_t longest;
	uint64_t longest_t;
	uint32_t longest_tid;
};

void lode_area_walks_begin(struct lode_area_walks *walks, struct lode_area_chains *maker,
			   struct lode_scope_index *index, uint64_t total)
{
	*walks = (struct lode_area_walks){ .maker = maker, .index = index, .share = total / LODE_WALK_SHARES };
}

void lode_area_walks_release(struct lode_area_walks *walks)
{
	for (size_t i = 0; i < walks->kind_count; i++)
		lode_free(walks->kinds[i].chains);
	lode_free(walks->kinds);
	lode_index_release(&walks->kind_index);
	lode_parts_release(&walks->parts);
	lode_parts_release(&walks->stepped);
	lode_free(walks->rows.items);
	memset(walks, 0, sizeof(*walks));
}

/* ---- kinds ---- */

static struct kind_key key_of(const struct lode_area_walks *walks, const struct lode_events *waits, size_t i)
{
	const struct lode_area_chains *maker = walks->maker;
	const struct lode_thread *threads = maker->stream->threads;
	uint32_t waker = waits->waker[i];
	int has_waker = waker < maker->stream->thread_count;

	return (struct kind_key){
		.process = maker->processes[waits->thread[i]],
		.thread = threads[waits->thread[i]].name,
		.stack = waits->stack[i],
		.waker_process = has_waker ? maker->processes[waker] : LODE_NONE,
		.waker = has_waker ? threads[waker].name : LODE_NONE,
		.waker_stack = waits->waker_stack[i],
		.object = lode_events_object(waits, i),
		.context = lode_area_chains_context(maker, waits, i),
	};
}

static uint64_t hash_key(const struct kind_key *key)
{
	uint64_t hash = lode_hash_pair(key->process, key->thread);

	hash = lode_hash_more(hash, (uint64_t)key->stack << 32 | key->waker_stack);
	hash = lode_hash_more(hash, (uint64_t)key->waker_process << 32 | key->waker);
	return lode_hash_more(hash, (uint64_t)key->object << 32 | key->context);
}

/* NULL when memory has run out. */
static struct lode_walk_kind *kind_of(struct lode_area_walks *walks, const struct kind_key *key)
{
	uint64_t hash = hash_key(key);
	uint32_t found =
		LODE_INDEX_FIND(i, &walks->kind_index, hash, !memcmp(&walks->kinds[i].key, key, sizeof(*key)));
	struct lode_walk_kind new = { .key = *key };

	if (found != LODE_NONE)
		return &walks->kinds[found];
	if (LODE_INDEX_APPEND(&walks->kind_index, hash, walks->kinds, walks->kind_count, walks->kind_capacity,
			      new) < 0)
		return NULL;
	return &walks->kinds[walks->kind_count - 1];
}

/* ---- rows ---- */

static int compare_chains(const void *left, const void *right)
{
	const struct lode_chain_row *a = left, *b = right;

	if (a->chain != b->chain)
		return a->chain < b->chain ? -1 : 1;
	return a->stack < b->stack ? -1 : a->stack > b->stack;
}

static int compare_costs(const void *left, const void *right)
{
	const struct lode_chain_row *a = left, *b = right;

	return a->cost > b->cost ? -1 : a->cost < b->cost ? 1 : compare_chains(left, right);
}

/* Each chain and stack once, the costliest first. */
static void join_rows(struct lode_chain_rows *rows)
{
	size_t count = 0;

	if (rows->count)
		qsort(rows->items, rows->count, sizeof(*rows->items), compare_chains);
	for (size_t i = 0; i < rows->count; i++) {
		if (count && !compare_chains(&rows->items[count - 1], &rows->items[i]))
			rows->items[count - 1].cost += rows->items[i].cost;
		else
			rows->items[count++] = rows->items[i];
	}
	rows->count = count;
	if (rows->count)
		qsort(rows->items, rows->count, sizeof(*rows->items), compare_costs);
}

/* ---- waits ---- */

/* Fills `rows` with where the time of a wait went: all of it. */
static int walk(struct lode_area_walks *walks, const struct lode_events *waits, size_t i)
{
	struct lode_area_chains *maker = walks->maker;
	struct lode_symptom wait = {
		.thread = waits->thread[i],
		.t0 = waits->t[i],
		.t1 = lode_add_saturating(waits->t[i], waits->cost[i]),
	};
	struct lode_chain_row rest = { .stack = waits->stack[i] };
	uint64_t unknown;
	int code;

	walks->parts.count = walks->stepped.count = walks->rows.count = 0;
	if (lode_critical_path(walks->index, &wait, &walks->parts, &walks->stepped, &unknown, NULL) < 0)
		return LODE_SYSTEM;
	maker->into = &walks->rows;
	code = lode_area_chains_path(maker, 0, &walks->parts, 0, &walks->stepped);
	maker->into = NULL;
	rest.chain = lode_area_chains_wait(maker, waits, i);
	rest.cost = waits->cost[i];
	for (size_t k = 0; k < walks->rows.count; k++)
		rest.cost -= walks->rows.items[k].cost < rest.cost ? walks->rows.items[k].cost : rest.cost;
	if (code || rest.chain == LODE_NONE ||
	    (rest.cost && LODE_APPEND(walks->rows.items, walks->rows.count, walks->rows.capacity, rest) < 0))
		return LODE_SYSTEM;
	join_rows(&walks->rows);
	walks->followed++;
	return 0;
}

/* What was found out about a wait is seen in the wait itself. */
static int add_found(struct lode_area_walks *walks, const struct lode_walk_kind *kind,
		     const struct lode_events *waits, size_t i)
{
	uint64_t weight = lode_events_weight(waits, i);
	int code = 0;

	for (size_t k = 0; !code && k < walks->rows.count; k++) {
		struct lode_chain_row row = walks->rows.items[k];

		row.context = kind->key.context;
		row.longest = row.cost;
		row.longest_t = waits->t[i];
		row.longest_tid = walks->maker->stream->threads[waits->thread[i]].tid;
		row.cost = lode_weighted(row.cost, weight);
		row.events = weight;
		code = lode_chains_add(walks->maker->chains, &row);
	}
	return code;
}

/* Adds the waits since to the chains of the one that was followed, in proportion to their times. */
static int settle(struct lode_area_walks *walks, struct lode_walk_kind *kind)
{
	uint64_t left = kind->cost, total = 0;
	int code = 0;

	for (uint32_t k = 0; k < kind->count; k++)
		total += kind->chains[k].cost;
	/* The costliest chain, which is the first, gets what is left by rounding. */
	for (uint32_t k = kind->count; !code && kind->events && k-- > 0;) {
		double part = (double)kind->chains[k].cost / (double)total;
		uint64_t cost = k ? (uint64_t)((double)kind->cost * part) : left;
		struct lode_chain_row row = {
			.chain = kind->chains[k].chain,
			.stack = kind->chains[k].stack,
			.context = kind->key.context,
			.cost = cost < left ? cost : left,
			.events = kind->events,
			.longest = (uint64_t)((double)kind->longest * part),
			.longest_t = kind->longest_t,
			.longest_tid = kind->longest_tid,
		};

		left -= row.cost;
		code = lode_chains_add(walks->maker->chains, &row);
	}
	kind->cost = kind->events = kind->longest = 0;
	return code;
}

/* The next ones of the kind are added to the chains that were found. */
static int remember(struct lode_walk_kind *kind, const struct lode_chain_rows *rows)
{
	uint32_t count = (uint32_t)(rows->count < LODE_WALK_CHAINS ? rows->count : LODE_WALK_CHAINS);
	struct kind_chain *chains = lode_realloc(kind->chains, count + 1, sizeof(*chains));

	if (!chains)
		return LODE_SYSTEM;
	for (uint32_t i = 0; i < count; i++)
		chains[i] = (struct kind_chain){ rows->items[i].chain, rows->items[i].stack, rows->items[i].cost };
	kind->chains = chains;
	kind->count = count;
	return 0;
}

static int follow(struct lode_area_walks *walks, struct lode_walk_kind *kind, const struct lode_events *waits,
		  size_t i)
{
	int code = settle(walks, kind);

	if (!code)
		code = walk(walks, waits, i);
	if (!code)
		code = add_found(walks, kind, waits, i);
	return code ? code : remember(kind, &walks->rows);
}

static void add_to_kind(const struct lode_area_walks *walks, struct lode_walk_kind *kind,
			const struct lode_events *waits, size_t i)
{
	kind->cost = lode_add_saturating(kind->cost, lode_events_cost(waits, i));
	kind->events += lode_events_weight(waits, i);
	if (waits->cost[i] > kind->longest) {
		kind->longest = waits->cost[i];
		kind->longest_t = waits->t[i];
		kind->longest_tid = walks->maker->stream->threads[waits->thread[i]].tid;
	}
}

int lode_area_walks_add(struct lode_area_walks *walks, size_t i)
{
	const struct lode_events *waits = &walks->maker->stream->events[LODE_WAIT];
	uint64_t cost = lode_events_cost(waits, i);
	struct kind_key key = key_of(walks, waits, i);
	struct lode_walk_kind *kind = kind_of(walks, &key);
	int code = 0;

	if (!kind)
		return LODE_SYSTEM;
	if (!cost)
		return lode_area_chains_event(walks->maker, LODE_WAIT, waits, i);
	if (kind->count && lode_add_saturating(kind->cost, cost) <= walks->share)
		add_to_kind(walks, kind, waits, i);
	else
		code = follow(walks, kind, waits, i);
	return code ? code : lode_area_chains_ready(walks->maker, waits, i);
}

int lode_area_walks_end(struct lode_area_walks *walks)
{
	int code = 0;

	for (size_t i = 0; !code && i < walks->kind_count; i++)
		code = settle(walks, &walks->kinds[i]);
	return code;
}
