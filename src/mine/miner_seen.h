/*
 * Prefixes that were visited, to know a tree that was met before. Private to the
 * miner.
 *
 * Let a prefix q contain a prefix p. In every stack that supports q, q ends where
 * p ends or deeper; so each stack gives the tree of p all it gives the tree of q,
 * and each function that is costly behind q is costly behind p. When the weights
 * of both trees (the cost of all their nodes) are equal, there is no difference:
 * the trees are the same. Everything that is costly behind p is then costly behind q, as
 * a longer pattern: p need not be followed.
 *
 * The table forgets: a slot holds what came last. That costs time, never a
 * pattern. Any number of threads may use it at once.
 */
#ifndef LODE_MINE_MINER_SEEN_H
#define LODE_MINE_MINER_SEEN_H

#include "base/arena.h"

#include <stdatomic.h>
#include <stdint.h>

/* A prefix by its last function. */
struct miner_seen {
	const struct miner_seen *before; /* NULL: it is the first */
	uint64_t weight;                 /* of its tree */
	uint64_t signature;              /* a bit for each of its functions, by hash */
	uint32_t name;
	uint32_t length;
};

struct miner_seen_table {
	_Atomic(const struct miner_seen *) *slots;
};

/* Returns 0 or LODE_SYSTEM; release in either case. */
int miner_seen_init(struct miner_seen_table *table);
void miner_seen_release(struct miner_seen_table *table);
/*
 * Whether a longer prefix that contains this one and has a tree of the same weight
 * is known; only those up to `longest` count.
 */
int miner_seen_covers(const struct miner_seen_table *table, const uint32_t *prefix, uint32_t length,
		      uint64_t weight, uint32_t longest);
/* A prefix one longer than `before` (NULL: of one function), in `arena`; NULL when memory has run out. */
struct miner_seen *miner_seen_add(struct lode_arena *arena, const struct miner_seen *before, uint32_t name);
/* Makes it known. It must not change afterwards and must live as long as the table. */
void miner_seen_publish(struct miner_seen_table *table, struct miner_seen *seen, uint64_t weight);

#endif
