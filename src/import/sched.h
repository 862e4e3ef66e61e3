/*
 * Scheduler events joined into waits: from `sched_switch` and `sched_waking` (or
 * `sched_wakeup`) to one wait with its waker and its run-queue delay.
 *
 * A thread that is switched out in a blocking state waits from then on; it is
 * woken when a waking names it, and that ends the wait (`cost`); it runs again at
 * the switch that names it as next, and the time between is the run-queue delay.
 * A thread switched out while runnable was preempted: a `call` event named
 * `preempt` with the run-queue delay. Feed events in order of time.
 */
#ifndef LODE_IMPORT_SCHED_H
#define LODE_IMPORT_SCHED_H

#include "base/notes.h"
#include "trace/stream.h"

struct lode_sched;

enum lode_switch_state {
	LODE_SWITCH_BLOCKED,   /* S, D, T, …: waits until it is woken */
	LODE_SWITCH_PREEMPTED, /* R, R+: still runnable */
	LODE_SWITCH_DEAD,      /* X, Z: will not run again */
};

/*
 * The state in sched_switch. The lowest byte holds what it waits for (1
 * interruptible, 2 uninterruptible, 4 stopped, 8 traced, 0x10 dead, 0x20 zombie,
 * 0x40 parked, 0x80 idle); a bit above it says that it was preempted. `dead` are the bits
 * of threads that will not run again: before Linux 4.14 0x40 was one of them.
 */
#define LODE_SWITCH_DEAD_BITS     0x30u
#define LODE_SWITCH_DEAD_BITS_OLD 0x70u

static inline enum lode_switch_state lode_switch_state(uint64_t state, unsigned dead)
{
	if (!(state & 0xff) || state & 0xff00)
		return LODE_SWITCH_PREEMPTED;
	return state & dead ? LODE_SWITCH_DEAD : LODE_SWITCH_BLOCKED;
}

/*
 * Events go to `stream`; threads are found in it by tid. NULL when memory has run out; where it does later the
 * stream is marked (`failed`).
 */
struct lode_sched *lode_sched_create(struct lode_stream *stream, struct lode_notes *notes);
void lode_sched_destroy(struct lode_sched *sched);
/* `previous` and `next` are threads of the stream; LODE_NONE for the idle thread. */
void lode_sched_switch(struct lode_sched *sched, uint64_t t, uint16_t cpu, uint32_t previous,
		       enum lode_switch_state state, uint32_t stack, uint32_t next);
/*
 * `waker` made `target` ready. `waker` is LODE_NONE for an interrupt on an idle
 * CPU. A later waking of a thread that is already ready changes nothing, so that
 * waking and wakeup may both be fed; of several wakings of a thread that still runs the last counts.
 */
void lode_sched_waking(struct lode_sched *sched, uint64_t t, uint32_t waker, uint32_t waker_stack, uint32_t target);
/*
 * Where the thread waits, for recordings that have it only when it runs again: call it before the
 * switch-in. Nothing happens to a thread that does not wait.
 */
void lode_sched_set_stack(struct lode_sched *sched, uint32_t thread, uint32_t stack);
/*
 * The thread was seen running at `t` (a sample, a system call). Says nothing new
 * where switches are recorded whole; where the switch-in of the thread is missing
 * it ends its wait. LODE_NONE is fine.
 */
void lode_sched_running(struct lode_sched *sched, uint64_t t, uint32_t thread);
/*
 * The recording ended at `t`: waits that are still open are stored up to then,
 * without a waker, and counted in the notes, as are switch-ins without a waking. Returns 0, or LODE_SYSTEM where the
 * stream has failed.
 */
int lode_sched_finish(struct lode_sched *sched, uint64_t t);

#endif
