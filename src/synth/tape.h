/*
 * The tape: what the threads of one stream do, written down as events.
 *
 * Each thread has a point in time up to which its story is told. Whoever tells goes
 * on from there, so events of a thread never overlap. A thread that waits for
 * another ends its wait at the point where the other's story has come to: the waker
 * is at work at that moment. A thread without work waits idly until it is roused.
 */
#ifndef LODE_SYNTH_TAPE_H
#define LODE_SYNTH_TAPE_H

#include "synth/model.h"
#include "synth/translate.h"

#define LODE_SYNTH_MS	  1000000ull
#define LODE_SYNTH_SECOND 1000000000ull

/* A run event represents this much. */
#define LODE_SYNTH_SAMPLE LODE_SYNTH_MS

struct lode_synth_actor {
	uint32_t thread; /* of the stream */
	uint64_t now;	 /* its story is told up to here */
	const struct lode_synth_role *role;
};

struct lode_synth_tape {
	const struct lode_synth_model *model;
	struct lode_stream *stream;
	struct lode_synth_translator translator;
	struct lode_synth_random random;
	uint32_t idle_task; /* the thread that interrupts find */
	uint64_t waits;	    /* events so far */
	uint64_t runs;
	int failed; /* memory ran out; nothing more is written */
};

/* The actor that thread (pid, tid) is, in a role, its story beginning at `now`. */
struct lode_synth_actor lode_synth_actor(struct lode_synth_tape *tape, const struct lode_synth_role *role,
					 uint32_t pid, uint32_t tid, const char *name, uint64_t now);
/* Any task of the actor's role, some more often than others. */
const struct lode_synth_task *lode_synth_any_task(struct lode_synth_tape *tape,
						  const struct lode_synth_actor *actor);

/* Runs for `samples` samples in stacks of `leaves`. */
void lode_synth_run(struct lode_synth_tape *tape, struct lode_synth_actor *actor,
		    struct lode_synth_leaves leaves, uint64_t samples);
/* Waits for `cost` until an interrupt comes. */
void lode_synth_wait(struct lode_synth_tape *tape, struct lode_synth_actor *actor,
		     struct lode_synth_leaves leaves, uint64_t cost, enum lode_synth_interrupt interrupt);
/* Waits until `waker`, which has told its story to beyond this actor's, wakes it now; nothing if it has not.
 */
void lode_synth_await(struct lode_synth_tape *tape, struct lode_synth_actor *actor,
		      struct lode_synth_leaves leaves, const struct lode_synth_actor *waker,
		      struct lode_synth_leaves waking);
/* Idles until `waker` rouses it now; it goes on at once when its story is that far already. */
void lode_synth_rouse(struct lode_synth_tape *tape, struct lode_synth_actor *actor,
		      const struct lode_synth_actor *waker, struct lode_synth_leaves waking);
/* The same at a given time by an interrupt. */
void lode_synth_rouse_at(struct lode_synth_tape *tape, struct lode_synth_actor *actor, uint64_t time,
			 enum lode_synth_interrupt interrupt);

/* ---- ordinary work, made of these ---- */

/*
 * `server` does a little work of the task: up to two runs, and one or two waits of
 * the mean cost `mean`.
 */
void lode_synth_serve(struct lode_synth_tape *tape, struct lode_synth_actor *server,
		      const struct lode_synth_task *task, uint64_t mean);
/* `client`, in a task, waits until `server` has done some work for it. At most 4 waits and 2 runs. */
void lode_synth_ask(struct lode_synth_tape *tape, struct lode_synth_actor *client,
		    const struct lode_synth_task *task, struct lode_synth_actor *server, uint64_t mean);
/* The same, but `holder` is at work already, with a lock that `client` wants. */
void lode_synth_contend(struct lode_synth_tape *tape, struct lode_synth_actor *client,
			const struct lode_synth_task *task, struct lode_synth_actor *holder, uint64_t mean);

#endif
