/*
 * Thread stops: reads the stack of a thread while it does not run. A sleeping thread is
 * unwound from the registers that the BPF programs saved. A running thread is stopped
 * with ptrace for a moment; it always continues, even if this program is killed (the
 * kernel detaches then).
 */
#ifndef LODE_HUNT_METER_LIVE_THREAD_STOPS_H
#define LODE_HUNT_METER_LIVE_THREAD_STOPS_H

#include "base/error.h"
#include "hunt/meter/live/thread_clocks.h"

/* Frames of one stack; what is further out is cut. */
#define LODE_STOP_FRAMES 1024

/* Leaf first. */
struct lode_stop_frame {
	uint64_t address; /* in the function: of the instruction, or before the place of return */
	uint64_t sp;      /* at the function's entry; at least above all that it calls */
};

struct lode_stops;

/* NULL when memory has run out. */
struct lode_stops *lode_stops_create(struct lode_thread_clocks *clocks);
/* Waits for stopped threads that have not been continued, if there are any. */
void lode_stops_destroy(struct lode_stops *stops);
/*
 * Whether this program may stop threads of the process: 0, or LODE_SYSTEM with the
 * sentence. Reads what is needed for unwinding; `version` changes when the process maps something.
 */
int lode_stops_prepare(struct lode_stops *stops, uint32_t pid, uint32_t version, struct lode_error *error);
/* Forgets a process. */
void lode_stops_forget(struct lode_stops *stops, uint32_t pid);
/* Continues threads that could not be continued in time. */
void lode_stops_tidy(struct lode_stops *stops);

/*
 * Stops or finds asleep the thread at a place of the clocks' table and passes its frames to
 * `take` while it does not run; what `take` returns is returned. 1: the thread is
 * gone, or could not be held long enough. Adds the nanoseconds that it was stopped to *stopped.
 */
int lode_stops_look(struct lode_stops *stops, uint32_t place,
		    int (*take)(void *context, uint32_t place, const struct lode_stop_frame *frames, size_t count),
		    void *context, uint64_t *stopped);

#endif
