/*
 * The map step of the area, in parts: what area_stream.c and the files that do a part of its work share. Private to these.
 *
 *	area_stream.c         a stream from its head to its rows, or from the cache
 *	area_all.c            scope `all`
 *	area_symptoms.c       the scopes of symptoms
 *	area_learn.c          which waits count and which are counted separately
 *	area_rows.c           rows: which events go to which, sums
 *	area_ready.c          time ready instead of waits
 *	area_stream_chains.c  chains beside rows
 */
#ifndef LODE_SCOPE_AREA_MAPPING_H
#define LODE_SCOPE_AREA_MAPPING_H

#include "scope/area_chains.h"
#include "scope/area_contexts.h"
#include "scope/area_groups.h"
#include "scope/area_objects.h"
#include "scope/area_stream.h"
#include "scope/area_walks.h"
#include "scope/host_joins.h"
#include "scope/wait_classes.h"
#include "trace/slot_sampling.h"

#define LODE_AREA_WAIT_COLUMNS                                                                                    \
	(LODE_T | LODE_COST | LODE_THREAD | LODE_STACK | LODE_WAKER_STACK | LODE_WEIGHT | LODE_OBJECT)
#define LODE_AREA_PART_COLUMNS (LODE_AREA_WAIT_COLUMNS | LODE_DELAY | LODE_WAKER)
#define LODE_AREA_CALL_COLUMNS                                                                                    \
	(LODE_T | LODE_COST | LODE_DELAY | LODE_THREAD | LODE_STACK | LODE_NAME |                                 \
	 LODE_WEIGHT) /* derived symptoms look at calls, critical paths at preemptions */

/* Where an event goes. */
enum lode_area_row_set {
	LODE_AREA_COUNTED,
	LODE_AREA_IDLE,
	LODE_AREA_FOR_WORK,
	LODE_AREA_ROW_SETS,
};

/* Rows that are being filled. */
struct lode_area_sums {
	struct lode_area_rows *rows;
	uint32_t *places;                 /* by node: number of its row plus one; 0: none yet */
	struct lode_area_kept_list *kept; /* NULL: only rows are wanted */
	uint32_t symptom;                 /* whose rows they are, where these are wanted apart */
	size_t begin;                     /* its first row */
};

struct lode_area_mapping {
	const struct lode_area_plan *plan;
	const struct lode_corpus_entry *entry;
	struct lode_area_partial *partial;
	struct lode_store *store;
	struct lode_joined_hosts hosts;
	struct lode_idle_stacks *idle; /* NULL: nothing is */
	struct lode_wait_classes classes;
	struct lode_wait_kinds *kinds; /* where chains are wanted */
	struct lode_area_chains chains;
	struct lode_area_walks *walks;      /* of loaded waits, in scope `all`; NULL: they are not followed */
	struct lode_processors *processors; /* the same, on paths */
	uint8_t *match;                     /* by node; NULL: all match */
	uint8_t *exclude;
	uint8_t *threads; /* by thread: it is wanted; NULL: all are, */
	int any_thread;   /* or the symptoms are chosen by it, and all that belongs to these counts */
	struct lode_area_objects objects;
	struct lode_area_contexts contexts;
	struct lode_area_groups groups;
	struct lode_area_sums sums[LODE_AREA_KINDS][LODE_AREA_ROW_SETS];
	struct lode_slot_sampling sampling; /* the slots of time that it was recorded in */
	uint32_t preemption;                /* the name of such calls; LODE_NONE: there are none */
	uint64_t from;
	uint64_t to;
};

/* Functions that can fail return 0 or a negative code; without an `error` that is LODE_SYSTEM, as memory has run out. */

/* ---- area_rows.c ---- */

/* Whether the options let an event at `t` with this stack in. */
int lode_area_is_inside(const struct lode_area_mapping *mapping, uint64_t t, uint32_t stack);
int lode_area_has_thread(const struct lode_area_mapping *mapping, uint32_t thread);
/* The same for event `i`, of which the part at `t` counts; looks at its object, too. */
int lode_area_is_wanted(const struct lode_area_mapping *mapping, int type, const struct lode_events *events,
			size_t i, uint64_t t);
/* Which rows event `i` is added to. */
enum lode_area_row_set lode_area_row_set_of(const struct lode_area_mapping *mapping, int type,
					    const struct lode_events *events, size_t i);
/* The stack that event `i` counts under; what does not count keeps its own. */
uint32_t lode_area_counted_stack(const struct lode_area_mapping *mapping, int type, enum lode_area_row_set set,
				 const struct lode_events *events, size_t i);
/* When an event was over; its delay is only there where the stream was recorded in slots. */
uint64_t lode_area_event_end(const struct lode_events *events, size_t i);
/* Adds `weight` events like this one, which ended at `end`; the costliest, and of equal ones the earliest, is remembered. */
int lode_area_add(struct lode_area_mapping *mapping, struct lode_area_sums *sums, uint32_t stack, uint64_t t,
		  uint64_t cost, uint64_t weight, uint32_t thread, uint64_t end);
/* Counts how often stacks occur, and what all events come to. */
void lode_area_count_stacks(struct lode_area_mapping *mapping, const struct lode_events *events);
void lode_area_count_input(struct lode_area_mapping *mapping, int type, const struct lode_events *events);

/* ---- area_ready.c ---- */

/* What all time ready comes to, and its rows: after waits, and of preemptions, in place of the events themselves. */
void lode_area_count_ready(struct lode_area_mapping *mapping, int type, const struct lode_events *events);
int lode_area_add_ready(struct lode_area_mapping *mapping, int type, const struct lode_events *events);

/* The column of contexts where they are needed, for any type of event; else 0. */
unsigned lode_area_context_column(const struct lode_area_mapping *mapping);

/* ---- area_stream_chains.c ---- */

/* Sets up `kinds` and `chains` where the plan wants chains. */
int lode_area_prepare_chains(struct lode_area_mapping *mapping, struct lode_error *error);
/* The columns that chains need besides those of rows. */
unsigned lode_area_chain_columns(const struct lode_area_mapping *mapping);
/* Without symptoms: all that threads did; of calls the preemptions. Waits are followed if `walks` are there. */
int lode_area_add_to_chains(struct lode_area_mapping *mapping, int type, const struct lode_events *events);

/* ---- area_learn.c ---- */

/* Whether something is to be counted separately for more than the names of its functions. */
int lode_area_learns_classes(const struct lode_area_mapping *mapping);
/* Finds where threads wait for work and which are idle, where that is asked for; `loaded`: the events are in memory. */
int lode_area_learn_classes(struct lode_area_mapping *mapping, int loaded, struct lode_error *error);
/* Shows the threads of all stored events to the kinds of waits: these may be waited for. */
int lode_area_show_threads(struct lode_area_mapping *mapping, struct lode_error *error);

/* ---- area_all.c and area_symptoms.c ---- */

/* Reads all blocks; without `rows` only to count stacks. */
int lode_area_map_blocks(struct lode_area_mapping *mapping, int rows, struct lode_error *error);
int lode_area_map_all(struct lode_area_mapping *mapping, struct lode_error *error);
int lode_area_map_symptoms(struct lode_area_mapping *mapping, struct lode_error *error);

#endif
