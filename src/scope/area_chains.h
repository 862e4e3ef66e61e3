/*
 * The chains of one stream: which thread was in which state, for whom (chains.h). A part of the map
 * step of the area; area_walks.h makes those of waits that no symptom asks for. Private to scope.
 */
#ifndef LODE_SCOPE_AREA_CHAINS_H
#define LODE_SCOPE_AREA_CHAINS_H

#include "scope/chains.h"
#include "scope/crowds.h"
#include "scope/idle.h"
#include "scope/processors.h"
#include "scope/scope.h"
#include "scope/wait_kinds.h"

/* A wait that a path stepped into. */
struct lode_open_wait {
	uint32_t event;
	uint32_t chain;
	uint64_t end;
};

struct lode_chain_rows {
	struct lode_chain_row *items;
	size_t count;
	size_t capacity;
};

struct lode_area_chains {
	const struct lode_stream *stream;
	const struct lode_wait_kinds *kinds;      /* what each wait is for */
	const struct lode_processors *processors; /* who had them; NULL: not known */
	const struct lode_scope_index *index;     /* of the paths; set by the caller */
	struct lode_crowds crowds;                /* of waits; made by the caller */
	struct lode_chains *chains;               /* what is being filled */
	int (*is_wanted)(void *context,
			 const struct lode_part *part); /* of paths; set by the caller; NULL: all are */
	void *context;
	struct lode_chain_rows *into; /* set by the caller: where rows of paths go instead; NULL: to the chains */
	uint32_t *places;             /* by node: the innermost function of the program itself */
	uint32_t *processes;          /* by thread: name of its process, a string */
	struct lode_open_wait *open;  /* scratch: the waits around a part */
	size_t open_capacity;
};

/* `stream`, `kinds` and `chains` must outlive it. Release it in either case. */
int lode_area_chains_make(struct lode_area_chains *maker, const struct lode_stream *stream,
			  const struct lode_idle_stacks *idle, const struct lode_wait_kinds *kinds,
			  struct lode_chains *chains);
void lode_area_chains_release(struct lode_area_chains *maker);

/*
 * Adds the critical path of symptom number `symptom`: its parts, from number `first` on, and the waits
 * that were stepped into, as lode_critical_path gives them. Columns: all that the kinds need. Returns 0 or LODE_SYSTEM.
 */
int lode_area_chains_path(struct lode_area_chains *maker, uint32_t symptom, const struct lode_parts *path,
			  size_t first, const struct lode_parts *stepped);
/* The chain of a wait that is not followed: one link. LODE_NONE when memory has run out. */
uint32_t lode_area_chains_wait(struct lode_area_chains *maker, const struct lode_events *waits, size_t i);
/* The context that rows of event `i` are told apart by, a string; 0: none. */
uint32_t lode_area_chains_context(const struct lode_area_chains *maker, const struct lode_events *events, size_t i);
/* Adds the time that event `i`'s thread was ready behind it. Returns 0 or LODE_SYSTEM. */
int lode_area_chains_ready(struct lode_area_chains *maker, const struct lode_events *events, size_t i);
/* Adds event `i` by itself: a sample, or a wait with its time in the run queue. Returns 0 or LODE_SYSTEM. */
int lode_area_chains_event(struct lode_area_chains *maker, enum lode_event_type type,
			   const struct lode_events *events, size_t i);
/* Adds event `i`, which is counted separately: it is idle or waits for work. Returns 0 or LODE_SYSTEM. */
int lode_area_chains_set_apart(struct lode_area_chains *maker, enum lode_state state,
			       const struct lode_events *events, size_t i);

#endif
