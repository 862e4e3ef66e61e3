/*
 * Who ends which wait, and what that means for a replay: see what_if.h. Private to the files of the replay.
 */
#ifndef LODE_SCOPE_REPLAY_EDGES_H
#define LODE_SCOPE_REPLAY_EDGES_H

#include "scope/idle.h"
#include "scope/replay_pieces.h"
#include "scope/wait_kinds.h"

enum lode_edge_flag {
	LODE_EDGE_FREE = 1 << 0, /* the waker goes on whoever waits: a lock is released, a kernel launched, or done */
	LODE_EDGE_MEETS =
		1 << 1, /* the waker needs the thread to have come: a bounded queue, both depend on each other */
	LODE_EDGE_BARRIER = 1 << 2, /* both meet at a barrier */
	LODE_EDGE_UNSURE = 1 << 3,  /* no thread ended it, and it cannot be told when it would have ended */
	LODE_EDGE_LOCK = 1 << 5,    /* it is a lock */
	LODE_EDGE_IDLE = 1 << 4,    /* unsure, and the thread had nothing to do until then */
};

struct lode_replay_edges {
	uint32_t *wakers; /* by wait: the group whose thread ended it while it ran; LODE_NONE: none did, or it is unknown */
	uint8_t *flags;  /* by wait: enum lode_edge_flag */
	uint32_t *woken; /* waits that a group ended, by end; of group 0, then of group 1, ... */
	size_t *starts;  /* of group i in it; one more than groups */
	uint8_t *is_gpu; /* by group: a stream of a GPU, which needs no processor */
	uint64_t *from; /* by group: just before it first ended a wait, UINT64_MAX: never; only of groups with events */
	uint64_t *to; /* when it last did, 0: never */
};

/* Finds the wakers. Returns 0 or LODE_SYSTEM; release it in either case. */
int lode_replay_edges_find(struct lode_replay_edges *edges, const struct lode_scope_index *index);
/* With the pieces of all groups: drops wakers that did not run then, and fills all else. Returns 0 or LODE_SYSTEM. */
int lode_replay_edges_settle(struct lode_replay_edges *edges, const struct lode_scope_index *index,
			     const struct lode_pieces *pieces, const struct lode_idle_stacks *idle,
			     const struct lode_wait_kinds *kinds);
void lode_replay_edges_release(struct lode_replay_edges *edges);

#endif
