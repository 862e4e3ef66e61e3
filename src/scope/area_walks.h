/*
 * Waits that no symptom asks for, each followed as if it were one: through the threads that kept it waiting, to where its
 * time went (critical path). So a service that is only watched says who holds the lock, and what that thread does meanwhile.
 *
 * Of many waits that look alike not each is followed. Those whose thread, stack, waker, object and context are the same are of
 * one kind. Once one of a kind has been followed, the next ones are divided among its chains, in proportion to their times,
 * until these waits have 1 / LODE_WALK_SHARES of the time of all waits together; then the next one is followed. So whatever
 * there is, about as many waits are followed as there are kinds and shares.
 *
 * A part of the map step of the area. Private to scope.
 */
#ifndef LODE_SCOPE_AREA_WALKS_H
#define LODE_SCOPE_AREA_WALKS_H

#include "scope/area_chains.h"

#define LODE_WALK_SHARES 20000
/* Of the chains of one wait so many, the costliest, stand for the next of its kind. */
#define LODE_WALK_CHAINS 64

struct lode_walk_kind;

struct lode_area_walks {
	struct lode_area_chains *maker;
	struct lode_scope_index *index; /* of the stream */
	uint64_t share;                 /* ns: a kind's waits are not followed until they have as much */
	struct lode_walk_kind *kinds;
	size_t kind_count;
	size_t kind_capacity;
	struct lode_index kind_index;
	struct lode_parts parts; /* scratch, as are */
	struct lode_parts stepped;
	struct lode_chain_rows rows;
	uint64_t followed; /* waits */
};

/* `total`: the time of all waits that will be added, weighted. `maker`, whose index is set, must outlive it. */
void lode_area_walks_begin(struct lode_area_walks *walks, struct lode_area_chains *maker,
			   struct lode_scope_index *index, uint64_t total);
/* Adds wait number `i` of the loaded stream with its time on the run queue. Returns 0 or LODE_SYSTEM. */
int lode_area_walks_add(struct lode_area_walks *walks, size_t i);
/* Once all have been added: adds those that are still left. Returns 0 or LODE_SYSTEM. */
int lode_area_walks_end(struct lode_area_walks *walks);
void lode_area_walks_release(struct lode_area_walks *walks);

#endif
