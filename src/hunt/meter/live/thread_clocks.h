/*
 * Thread clocks: loads the live meter's BPF programs, which update the clocks of the
 * hunted threads, and reads the tables that they share with this program
 * (thread_counters.h).
 */
#ifndef LODE_HUNT_METER_LIVE_THREAD_CLOCKS_H
#define LODE_HUNT_METER_LIVE_THREAD_CLOCKS_H

#include "base/clock.h" /* lode_now: the BPF side uses the same clock */
#include "base/error.h"
#include "hunt/meter/live/thread_counters.h"

#include <stddef.h>

struct lode_thread_clocks {
	struct hunt *programs; /* the skeleton */
	struct lode_hunt_thread *threads;
	struct lode_hunt_cell *cells;
	struct lode_hunt_slot *slots;
	struct lode_hunt_kernel_settings *settings;
	uint32_t thread_count; /* places; a power of two */
	uint32_t slot_count;
	/* The kernel's table of objects as it was at `objects_taken`. */
	struct lode_hunt_object_key *object_keys;
	struct lode_hunt_object *objects;
	size_t object_keys_capacity;
	size_t objects_capacity;
	size_t object_count;
	uint64_t objects_taken; /* 0: never */
};

/* What a thread, or a function in a thread, has used up to some moment. */
struct lode_thread_clocks_sum {
	int64_t time[LODE_CLOCKS];
	int64_t ready; /* of OTHER: ready to run without a CPU; not known of a function */
	int64_t held;  /* of OTHER: stopped by a tracer; neither */
	uint64_t operations;
	uint64_t bytes;
	uint64_t calls;
};

/* The state of a thread from /proc, and the parent of its process; 0: it is gone. */
char lode_thread_proc_state(uint32_t pid, uint32_t tid, uint32_t *parent);

/*
 * Loads and attaches everything but probes, with places for at least `threads`
 * threads. LODE_SYSTEM with a sentence that says what to do where it cannot be.
 */
int lode_thread_clocks_open(struct lode_thread_clocks *clocks, uint32_t threads, struct lode_error *error);
void lode_thread_clocks_close(struct lode_thread_clocks *clocks);
/* The program for probes, a descriptor. */
int lode_thread_clocks_program(const struct lode_thread_clocks *clocks);
/* How often the programs ran and how long, except those of probes, if the kernel counts it (program_time.h). */
void lode_thread_clocks_program_time(const struct lode_thread_clocks *clocks,
				     void (*each)(void *context, uint64_t runs, uint64_t nanoseconds),
				     void *context);
/* The ring buffer of messages, a descriptor of its map. */
int lode_thread_clocks_messages(const struct lode_thread_clocks *clocks);

/* Watches a process with all its threads, and what it will start. Returns 0, 1 if there is none, or
 * LODE_SYSTEM. */
int lode_thread_clocks_add_process(struct lode_thread_clocks *clocks, uint32_t pid, struct lode_error *error);
/* Watches one thread; for calibrating. Its place, or LODE_NONE. */
uint32_t lode_thread_clocks_add_thread(struct lode_thread_clocks *clocks, uint32_t pid, uint32_t tid);
/* Watches only for what the process will start, not what it does itself. Returns 0 or LODE_SYSTEM. */
int lode_thread_clocks_children_only(struct lode_thread_clocks *clocks, uint32_t pid, struct lode_error *error);
/* Frees the place of a thread that is dead, or was added by hand. */
void lode_thread_clocks_forget(struct lode_thread_clocks *clocks, uint32_t place);
/* The place of a living or dead thread; NULL: it has none. */
const struct lode_hunt_thread *lode_thread_clocks_find(const struct lode_thread_clocks *clocks, uint32_t tid);
/* A copy of a thread as it was at one moment. */
void lode_thread_clocks_thread(const struct lode_thread_clocks *clocks, uint32_t place,
			       struct lode_hunt_thread *thread);
/* Adds to `sum` what the thread at `place` used, at `now`: in the function of `slot` (LODE_NONE: in all). */
void lode_thread_clocks_add(const struct lode_thread_clocks *clocks, uint32_t place, uint32_t slot, uint64_t now,
			    struct lode_thread_clocks_sum *sum);

/* A function found on the stack of a thread that does not run now. */
struct lode_thread_clocks_frame {
	uint32_t slot;
	uint64_t sp; /* at its entry */
};

/* Makes functions that are on a thread's stack ones in progress, unless they are. The thread must not run. */
void lode_thread_clocks_seed(struct lode_thread_clocks *clocks, uint32_t place,
			     const struct lode_thread_clocks_frame *frames, size_t count);
/* Whether any thread has the function of this slot in progress. */
int lode_thread_clocks_is_open(const struct lode_thread_clocks *clocks, uint32_t slot);
/* Forgets all that was counted in a slot; it must not be open nor probed. */
void lode_thread_clocks_clear_slot(struct lode_thread_clocks *clocks, uint32_t slot);

/* ---- objects that threads wait for ---- */

/* From now on waits for this object are also counted function by function. */
int lode_thread_clocks_object(struct lode_thread_clocks *clocks, uint64_t object);
/* Calls within a millisecond get the same answer. LODE_SYSTEM when memory has run out. */
int lode_thread_clocks_each_object(struct lode_thread_clocks *clocks,
				   int (*each)(void *context, const struct lode_hunt_object_key *key,
					       const struct lode_hunt_object *object),
				   void *context);
/* Threads that had no place, and messages without room. */
void lode_thread_clocks_counts(struct lode_thread_clocks *clocks, struct lode_hunt_counts *counts);

#endif
