/*
 * What a thread did, without gaps from its first moment to its last, as a replay needs it: see what_if.h. Private to the files
 * of the replay.
 */
#ifndef LODE_SCOPE_REPLAY_PIECES_H
#define LODE_SCOPE_REPLAY_PIECES_H

#include "scope/processors.h"
#include "scope/scope_index.h"

enum lode_piece_kind {
	LODE_PIECE_RUN,       /* on a processor; `event` is the sample that tells where, LODE_NONE: none does */
	LODE_PIECE_PLAIN,     /* nothing is known of it: it takes as long as it took */
	LODE_PIECE_BLOCKED,   /* in wait `event`, until that is ended */
	LODE_PIECE_WOKEN,     /* on the run queue after wait `event` while no recorded thread had the processor */
	LODE_PIECE_PREEMPTED, /* the same in preemption `event`, a call */
	LODE_PIECE_QUEUED,    /* on the run queue behind recorded threads */
};

struct lode_piece {
	uint64_t start;
	uint64_t end;
	uint32_t event;
	uint32_t kind; /* enum lode_piece_kind */
};

struct lode_pieces {
	struct lode_piece *items; /* in order of time, each begins where the one before ends */
	size_t count;
	size_t capacity;
};

struct lode_piece_source {
	const struct lode_scope_index *index;
	const struct lode_processors *processors; /* NULL: all time on the run queue stays as it was */
};

/*
 * The pieces of each group of threads, which the caller frees with lode_pieces_free; NULL when memory has run out. `from`
 * and `to`, by group, are moments at which it is known to have run besides its events (UINT64_MAX and 0: none).
 */
struct lode_pieces *lode_pieces_make(const struct lode_piece_source *source, const uint64_t *from,
				     const uint64_t *to);
void lode_pieces_free(struct lode_pieces *pieces, size_t count);

/* The first piece that ends at `t` or later, or `count`. */
size_t lode_piece_at(const struct lode_pieces *pieces, uint64_t t);

#endif
