/*
 * What would have been: a symptom replayed forward, with some of its events shortened or taken away.
 *
 * A wait of 300 ms on the critical path is worth 300 ms only if nothing else would have kept the thread waiting. So the threads
 * that the symptom's thread depends on are replayed from t0 as they were recorded:
 *
 *	run          keeps its length
 *	wait         ends when the thread that ended it gets to where it did so. If that is before the wait begins, the thread
 *	             does not wait at all
 *	order        locks, pages that another thread brings, and queues keep theirs: who waited for whom still does
 *	             (a lock is free while its holder has yet to wake from a sleep that was over when the wait for it began; see below)
 *	barrier      opens when all that met there have come, whoever is the last now. A thread that another one wakes over and
 *	             over, and that has work for it in turn (a bounded queue), must have come back before it is woken again
 *	GPUs         launches queue, so neither who launches nor a stream needs the other to have come; streams need no processor
 *	processors   ready threads share those that there were, all at the same speed. What a thread waited in the run queue
 *	             while no recorded thread had its processor stays as it was
 *	new threads  begin when the thread of their process that ran then gets there
 *	no waker     a sleep, a disk, a page keep their length. Of all else (no waker is known, an interrupt, a time-out, work from
 *	             outside) the recording cannot tell whether it would have ended earlier: such a wait is *unsure*
 *
 * Three answers, by what is assumed of what is not known:
 *
 *	low     unsure waits end no earlier than they did, and who wakes another (other than by releasing a lock) needs
 *	        it to have come; who comes to a lock earlier waits until it was released
 *	likely  unsure waits keep their length, except of threads that are idle: work comes when it came. Of a lock that is free
 *	        others have it as often as before: the wait keeps its length, less what its holder has to do less
 *	high    unsure waits keep their length, and who wakes another never waits for it, nor who comes to a lock that is free
 *
 * With nothing changed and processors for all, each of them gives exactly the recorded length. Near-linear in the events of
 * the threads that are replayed; memory for as many.
 */
#ifndef LODE_SCOPE_WHAT_IF_H
#define LODE_SCOPE_WHAT_IF_H

#include "scope/idle.h"
#include "scope/processors.h"
#include "scope/scope.h"
#include "scope/wait_kinds.h"

enum lode_replay_bound {
	LODE_REPLAY_LOW,
	LODE_REPLAY_LIKELY,
	LODE_REPLAY_HIGH,
	LODE_REPLAY_BOUNDS,
};

#define LODE_CPUS_RECORDED  0
#define LODE_CPUS_UNLIMITED UINT32_MAX

struct lode_replay_options {
	const struct lode_idle_stacks *idle;      /* NULL: nothing is idle */
	const struct lode_wait_kinds *kinds;      /* which have seen all events */
	const struct lode_processors *processors; /* who had them; NULL: not known */
	uint32_t cpus; /* how many there are; LODE_CPUS_RECORDED: as many as there were, LODE_CPUS_UNLIMITED */
};

/* What is changed: events whose stacks are marked are shorter. */
struct lode_replay_change {
	const uint8_t *stacks; /* by node of the stream's stack tree; NULL: nothing is changed */
	unsigned kinds;        /* 1 << LODE_RUN | 1 << LODE_WAIT: of which events */
	unsigned percent;      /* by how much shorter, up to 100: they are taken away */
};

struct lode_replay;

/* For a stream with all its symptoms; index and options must outlive it. One thread at a time uses it. */
int lode_replay_make(struct lode_replay **replay, const struct lode_scope_index *index,
		     const struct lode_replay_options *options, struct lode_error *error);
void lode_replay_free(struct lode_replay *replay);

/* Sets up the threads that a symptom depends on, from t0 to t1. */
int lode_replay_set(struct lode_replay *replay, const struct lode_symptom *symptom, struct lode_error *error);
/* How much there is to replay since then: steps of threads. */
size_t lode_replay_steps(const struct lode_replay *replay);
/* Whether any of them is changed. */
int lode_replay_touches(const struct lode_replay *replay, const struct lode_replay_change *change);
/* Replays it and returns how long the symptom takes, in ns. */
uint64_t lode_replay_run(struct lode_replay *replay, const struct lode_replay_change *change,
			 enum lode_replay_bound bound);
/* Whether wait number `wait` is one of which the recording cannot tell when it would have ended. */
int lode_replay_is_unsure(const struct lode_replay *replay, uint32_t wait);
/* Whether threads compete for processors in the replay: it is known who had them. */
int lode_replay_shares_processors(const struct lode_replay *replay);

#endif
