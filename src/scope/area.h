/*
 * The area of interest: the events of a corpus that belong to its symptoms, merged
 * by stack. This is what the miner, the ranking, coverage and comparison work on.
 *
 * One pass over the streams (map: one stream to its rows; merge: in the order of
 * the catalogue) gives, for each distinct stack and each stream, what the events
 * with this stack cost in this stream. Nothing grows with the number of events.
 *
 * Waits of threads that have nothing to do are counted separately, never dropped: idle by
 * the rules (idle.h), or waiting for work (work_waits.h).
 */
#ifndef LODE_SCOPE_AREA_H
#define LODE_SCOPE_AREA_H

#include "base/notes.h"
#include "base/progress.h"
#include "scope/chains.h"
#include "scope/idle.h"
#include "scope/scope.h"
#include "store/corpus.h"
#include "store/unread_streams.h"
#include "trace/slot_sampling.h"

/* What the events of one stream (or of one symptom, where the area has these apart) with one stack come to. */
struct lode_area_row {
	uint32_t stack;  /* node of the area's dictionary */
	uint32_t stream; /* number in `streams` */
	uint64_t cost;   /* sum of the time in the area, ns */
	uint64_t events;
	double variance;         /* of `cost`: what it gained by events that were not recorded (trace/events.h) */
	uint64_t longest;        /* the costliest of them, to jump to: its cost in the area, */
	uint64_t longest_t;      /* its start, */
	uint32_t longest_thread; /* and its thread's tid */
	uint32_t spread;         /* number in `spreads` plus one; 0: the stream was not recorded in slots */
};

/* Random sums of the weighted costs of a row (trace/slot_sampling.h): how far slots of time have it be off. */
struct lode_area_spread {
	float sums[LODE_SPREADS];
};

/* Rows by stack, then by stream. */
struct lode_area_rows {
	struct lode_area_row *items;
	size_t count;
	size_t capacity;
	struct lode_area_spread *spreads;
	size_t spread_count;
	size_t spread_capacity;
	uint64_t cost; /* sums over the rows */
	uint64_t events;
};

struct lode_area_symptom {
	uint32_t name; /* string; "" when it has none */
	uint32_t tid;
	uint64_t t0;
	uint64_t t1;
};

/* A stream of the area; with `by_symptom` one of its symptoms, and the numbers are that symptom's alone. */
struct lode_area_stream {
	char id[33];
	uint32_t name; /* strings of the area's dictionary */
	uint32_t host;
	struct lode_attribute *attributes; /* in the area's arena */
	size_t attribute_count;
	uint64_t first_t;
	uint64_t symptoms;
	uint64_t delay;         /* ns: sum of the symptoms' lengths, time in two symptoms counted twice */
	uint64_t longest_delay; /* of one symptom */
	uint64_t unknown;       /* ns of critical paths that no event explains; */
	uint64_t running;       /* of samples on them, before anything was filtered; */
	uint64_t waiting;       /* of waits; */
	uint64_t idling;        /* of waits that the rules call idle; */
	uint64_t ready;         /* in which a thread had no processor. These five add up to `delay` */
	uint64_t own_symptoms;  /* that came with the stream, also where the scope does not look at symptoms */
	uint64_t own_delay;     /* sum of their lengths */
	struct lode_area_symptom symptom; /* by_symptom: which one; else only the name that all of them have, if any */
};

/* Only run and wait events have a cost, so only they can be in an area. */
#define LODE_AREA_KINDS 2

struct lode_area {
	struct lode_dictionary dictionary; /* of all streams of the corpus */
	struct lode_arena arena;
	enum lode_scope scope;            /* what `auto` came to */
	int by_symptom;                   /* as the options had it */
	int by_rules;                     /* symptoms are those of rules: names of recorded ones are not theirs */
	int requests;                     /* all symptoms are requests: the rules look for nothing else */
	int gpus;                         /* the same: they are what GPUs did */
	struct lode_area_stream *streams; /* those that --where leaves, in the catalogue's order */
	size_t stream_count;
	struct lode_area_rows rows[LODE_AREA_KINDS]; /* by LODE_RUN, LODE_WAIT */
	struct lode_area_rows idle[LODE_AREA_KINDS]; /* by the rules */
	struct lode_area_rows work;                  /* waits for work, which no idle rule names */
	struct lode_chains chains;              /* who kept whom waiting; only where the options ask for them */
	uint64_t input_events[LODE_AREA_KINDS]; /* of the streams in `streams`, before anything was cut */
	uint64_t input_cost[LODE_AREA_KINDS];
	uint64_t recorded_events[LODE_AREA_KINDS]; /* fewer than `input_events` where recordings were thinned */
	/*
	 * By node: how many events of the whole corpus (all types, all streams, also
	 * those that --where leaves out) have exactly this stack.
	 */
	uint64_t *occurrences;
	struct lode_unread_streams unread; /* streams that are left out */
};

/*
 * All zero: the default scope over everything. What of it changes the rows of a stream
 * belongs to the key in area_cache.c, too.
 */
/* What events count under, as one frame in place of their stacks. */
enum lode_area_by {
	LODE_BY_STACK,   /* their stacks as they are */
	LODE_BY_OBJECT,  /* waits: what they were for; runs keep their stacks */
	LODE_BY_CONTEXT, /* the request that they belonged to */
	LODE_BY_UNIT,    /* the systemd unit of the process (trace/control_groups.h), */
	LODE_BY_CONTAINER,
	LODE_BY_POD,
};

struct lode_host_joins;

struct lode_area_options {
	enum lode_scope scope;
	const char *const *symptoms; /* texts of --symptom (symptoms.h), NULL-terminated; NULL: those of the streams */
	const char *const *match;   /* globs: a stack must have a frame that fits one of them; NULL: all */
	const char *const *exclude; /* globs: a stack must have no frame that fits any */
	const char *const *where; /* `key=value`: streams must have all of these (`host`, `name` too), or events (`object`, `peer`, `context`) or threads (`process`, `thread`, `unit`, …) */
	const char *time;         /* `A..B`: events that begin there; `+A..+B` from a stream's start; NULL: all */
	const struct lode_idle_rules *idle; /* NULL: nothing is idle and no waker an interrupt */
	int include_idle;       /* idle waits count like others; the rules still say what an interrupt is */
	int include_work_waits; /* where a thread waits for work, only the idle rules say so */
	enum lode_area_by by;
	const struct lode_host_joins *joins; /* streams of other hosts (host_joins.h); NULL: none are joined */
	int by_symptom; /* every symptom is a separate stream; needs a scope that starts from one */
	int chains;     /* chains are wanted; scope all or critical path */
	/*
	 * The rows of waits are times in which threads were ready but had no processor: after waits, and preempted; with
	 * the stack of the wait or preemption. Needs scope all or critical path; nothing of it is idle.
	 */
	int ready;
	unsigned kinds; /* 1 << LODE_RUN | 1 << LODE_WAIT: which rows are wanted; 0: both */
	int strict;     /* a stream that cannot be read ends it, instead of being left out */
	unsigned jobs;  /* 0: one a processor */
	struct lode_notes *notes;
	const struct lode_progress *progress;
};

/* The scope of an area: where the options leave it open, critical paths if there are symptoms. Never auto. */
enum lode_scope lode_area_scope(const struct lode_area_options *options, const struct lode_corpus_list *list);

/*
 * Collects the area of all streams of `corpus`. The result does not depend on
 * `jobs`. A symptom that no stream has, a scope that needs symptoms where there
 * are none, a pattern that is no pattern: LODE_USAGE and a sentence. Streams whose files
 * are damaged or gone are left out, with a note; that no other is left is an error. On success
 * the caller releases it.
 *
 * `rank` NULL: by this process alone. Several (base/job_rank.h) collect some streams each and join them; the first
 * process has the area afterwards, the others an empty one. All fail when one does.
 */
struct lode_job_rank;
int lode_area_collect(struct lode_corpus *corpus, const struct lode_area_options *options,
		      const struct lode_job_rank *rank, struct lode_area *area, struct lode_error *error);
void lode_area_release(struct lode_area *area);
/*
 * Makes the share of one of several processes: the results of its streams go to the cache
 * of the corpus (store/map_cache.h), which must be in use, unless they are there. A stream
 * that cannot be read is left to the caller that collects them all.
 */
int lode_area_keep(struct lode_corpus *corpus, const struct lode_area_options *options,
		   const struct lode_job_rank *rank, struct lode_error *error);

/*
 * Adds the runs, and what is idle of them, to the waits: from then on the rows of
 * LODE_WAIT are both kinds, those of LODE_RUN as they were. Returns 0 or LODE_SYSTEM.
 */
int lode_area_join_kinds(struct lode_area *area);

/*
 * Folds recursion in all rows: of each function in a stack only the first
 * occurrence stays. Returns 0 or LODE_SYSTEM.
 */
int lode_area_fold(struct lode_area *area);
/*
 * The cost of rows of one kind in whose stacks a function comes back `returns` times or more, after other functions: a
 * function that only calls itself does not. Returns 0 or LODE_SYSTEM.
 */
int lode_area_recursive_cost(const struct lode_area *area, enum lode_event_type kind, uint32_t returns,
			     uint64_t *cost);
/* Leaves plumbing (plumbing.h) out of the stacks of all rows. Returns 0 or LODE_SYSTEM. */
int lode_area_hide_plumbing(struct lode_area *area);
/* By node: its folded stack, which is added to the tree. The caller frees it; NULL when memory has run out. */
uint32_t *lode_stacks_fold(struct lode_stack_tree *tree);

/* One event, or the part of it in the area. */
struct lode_area_event {
	uint32_t stream; /* number in the area's streams */
	uint32_t stack;  /* node of the area's dictionary */
	uint32_t pid;    /* LODE_NO_PID: unknown */
	uint32_t tid;
	uint64_t t;
	uint64_t cost;
	const char *thread; /* its name, "" when unknown */
};

/*
 * From stacks back to events: reads the streams again and gives `take` each event
 * of `kind` in the area that is not idle and whose stack is marked (`wanted`, by
 * node), stream by stream, in order of time. `options` are those the area was
 * collected with (not by_symptom). Stops when `take` returns something other than 0, and returns that.
 */
int lode_area_events(struct lode_corpus *corpus, const struct lode_area_options *options, struct lode_area *area,
		     enum lode_event_type kind, const uint8_t *wanted,
		     int (*take)(void *context, const struct lode_area_event *event), void *context,
		     struct lode_error *error);
/*
 * Takes the rows of `kind` whose stacks are marked out of the area and returns
 * what they cost; the sums follow.
 */
uint64_t lode_area_remove(struct lode_area *area, enum lode_event_type kind, const uint8_t *marked);

#endif
