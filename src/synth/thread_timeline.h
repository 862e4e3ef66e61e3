/*
 * Thread timelines: what the threads of one stream do, written as events.
 *
 * Each thread has a current time, up to which its events are written. The next
 * event begins there, so events of a thread never overlap. A thread that waits for
 * another ends its wait at the other's current time: the waker is running at that
 * moment. A thread without work waits idly until it is woken.
 */
#ifndef LODE_SYNTH_THREAD_TIMELINE_H
#define LODE_SYNTH_THREAD_TIMELINE_H

#include "synth/model.h"
#include "synth/emulation.h"

#define LODE_SYNTH_MS     1000000ull
#define LODE_SYNTH_SECOND 1000000000ull

/* A run event represents this much. */
#define LODE_SYNTH_SAMPLE LODE_SYNTH_MS

struct lode_synth_actor {
	uint32_t thread; /* of the stream */
	uint64_t now;    /* its events are written up to here */
	const struct lode_synth_role *role;
};

struct lode_synth_timeline {
	const struct lode_synth_model *model;
	struct lode_stream *stream;
	struct lode_synth_translator translator;
	struct lode_random random;
	uint32_t idle_task; /* the thread that interrupts find */
	uint64_t waits;     /* events so far */
	uint64_t runs;
	int failed; /* memory ran out; nothing more is written */
};

/* The actor for thread (pid, tid), in a role, beginning at `now`. */
struct lode_synth_actor lode_synth_actor(struct lode_synth_timeline *timeline, const struct lode_synth_role *role,
					 uint32_t pid, uint32_t tid, const char *name, uint64_t now);
/* Any task of the actor's role, some more often than others. */
const struct lode_synth_task *lode_synth_any_task(struct lode_synth_timeline *timeline,
						  const struct lode_synth_actor *actor);

/* Runs for `samples` samples in stacks of `leaves`. */
void lode_synth_run(struct lode_synth_timeline *timeline, struct lode_synth_actor *actor,
		    struct lode_synth_leaves leaves, uint64_t samples);
/* Waits for `cost` until an interrupt comes. */
void lode_synth_wait(struct lode_synth_timeline *timeline, struct lode_synth_actor *actor,
		     struct lode_synth_leaves leaves, uint64_t cost, enum lode_synth_interrupt interrupt);
/* Waits until `waker`, whose current time is later, wakes it now; does nothing if it is not later.
 */
void lode_synth_await(struct lode_synth_timeline *timeline, struct lode_synth_actor *actor,
		      struct lode_synth_leaves leaves, const struct lode_synth_actor *waker,
		      struct lode_synth_leaves waking);
/* Idles until `waker` wakes it now; it goes on at once when its current time is that far already. */
void lode_synth_wake(struct lode_synth_timeline *timeline, struct lode_synth_actor *actor,
		     const struct lode_synth_actor *waker, struct lode_synth_leaves waking);
/* The same at a given time by an interrupt. */
void lode_synth_wake_at(struct lode_synth_timeline *timeline, struct lode_synth_actor *actor, uint64_t time,
			enum lode_synth_interrupt interrupt);

/* ---- ordinary work, made of these ---- */

/* `client`, in a task, waits until `server` has done some work for it. At most 4 waits and 2 runs. */
void lode_synth_ask(struct lode_synth_timeline *timeline, struct lode_synth_actor *client,
		    const struct lode_synth_task *task, struct lode_synth_actor *server, uint64_t mean);
/* The same, but `holder` is at work already, with a lock that `client` wants. */
void lode_synth_contend(struct lode_synth_timeline *timeline, struct lode_synth_actor *client,
			const struct lode_synth_task *task, struct lode_synth_actor *holder, uint64_t mean);

#endif
