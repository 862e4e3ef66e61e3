/*
 * Hunted processes: their list, the binaries that they have mapped, and the time that
 * their threads have used, including threads that have ended.
 */
#ifndef LODE_HUNT_METER_LIVE_HUNTED_PROCESSES_H
#define LODE_HUNT_METER_LIVE_HUNTED_PROCESSES_H

#include "hunt/meter/program.h"
#include "hunt/meter/live/thread_clocks.h"
#include "process/process_images.h"
#include "process/processes.h"

/* Wall time up to `settled`, see hunted_time.c. */
struct lode_hunted_time {
	double usable;
	double ready;               /* that could not be used, since no CPU was free */
	double longer[LODE_CLOCKS]; /* by which a thread waited longer than `usable`, by clock */
};

struct lode_hunted_process {
	uint32_t pid;
	uint32_t binary; /* of the program it runs; LODE_NONE: not known */
	uint64_t since;  /* when it was first seen */
	uint64_t ended;  /* 0: it lives */
	uint64_t took;   /* nanoseconds by probes, of its threads that have ended */
	struct lode_hunted_time time;
	int launches;     /* it only starts others (mpirun): not measured itself */
	int shows_starts; /* samples of it begin with what starts a program or a thread */
	char name[LODE_THREAD_NAME];
};

/* What threads that have ended used, in one function or (LODE_NONE) in all. */
struct lode_hunted_past {
	uint32_t pid;
	uint32_t tid; /* 0: all threads of the process together */
	uint32_t slot;
	struct lode_thread_clocks_sum sum;
};

/* What a thread had used when the time of its process was settled last. */
struct lode_hunted_seen {
	uint32_t tid; /* 0: never */
	int64_t time[LODE_CLOCKS];
	int64_t ready;
	int64_t took; /* by probes, or while it was held */
};

/* Where a thread waited for others, of as many different stacks. */
#define LODE_WAIT_PLACES 8

struct lode_wait_places {
	uint32_t tid;
	struct lode_wait_place {
		uint64_t stack;
		uint64_t time;
		uint32_t depth;
		uint32_t count;
	} items[LODE_WAIT_PLACES];
};

/* What a thread did, for telling whether it is idle; nanoseconds. */
struct lode_thread_activity {
	double ran;
	double waited;
	double bound; /* as in thread_counters.h */
	double brought;
	double waited_for;
};

struct lode_thread_history {
	uint32_t tid; /* 0: none */
	uint64_t t;
	struct lode_thread_activity total; /* at `t` */
	struct lode_thread_activity runs;  /* older things have less weight; the longer ago, the less */
	struct lode_thread_activity waits; /* the same, but they count for longer */
};

/* A binary of the program, as it can be opened here. */
struct lode_hunted_binary {
	char *path;
	uint32_t image;
};

struct lode_hunted_processes {
	struct lode_thread_clocks *clocks;
	struct lode_program *program;
	struct lode_frames frames; /* only for what images need */
	struct lode_process_images images;
	struct lode_processes spaces;
	struct lode_hunted_process *items;
	size_t count;
	size_t capacity;
	struct lode_hunted_past *past;
	size_t past_count;
	size_t past_capacity;
	struct lode_hunted_seen *seen;  /* by place of the clocks */
	struct lode_wait_places *waits; /* the same; NULL: no thread waited for another */
	struct lode_thread_history *histories;
	uint64_t settled;
	struct lode_hunted_time time; /* of all processes together */
	uint32_t *of_image; /* the binary of an image; LODE_NONE: none, NOT_ASKED: see hunted_processes.c */
	size_t image_capacity;
	size_t images_known;                 /* of which is known whether they have special functions */
	struct lode_hunted_binary *binaries; /* by the program's numbers */
	size_t binary_count;
	size_t binary_capacity;
	int defers_code;     /* a thread is stopped, so no code is read now */
	int failed;          /* memory ran out while code was read: the program can only be destroyed */
	uint64_t unreadable; /* binaries whose code could not be read */
};

int lode_hunted_init(struct lode_hunted_processes *target, struct lode_thread_clocks *clocks,
		     struct lode_program *program, struct lode_error *error);
void lode_hunted_release(struct lode_hunted_processes *target);

/* Adds a process and reads the code of its program. Returns 0, 1 when there is none, or a negative code. */
int lode_hunted_add(struct lode_hunted_processes *target, uint32_t pid, struct lode_error *error);
/* The process, or NULL. */
struct lode_hunted_process *lode_hunted_find(struct lode_hunted_processes *target, uint32_t pid);
void lode_hunted_end(struct lode_hunted_processes *target, uint32_t pid);
/* How many live. */
size_t lode_hunted_alive(const struct lode_hunted_processes *target);
/* What happened to a process, from the sideband. Returns 0 or LODE_SYSTEM. */
int lode_hunted_apply(struct lode_hunted_processes *target, const struct lode_change *change);
/*
 * Begins to measure processes that have become more than launchers by their names, and ends to measure
 * those that have become launchers. Returns 0 or a negative code.
 */
int lode_hunted_settle_roles(struct lode_hunted_processes *target, struct lode_error *error);
/* Changes when the process maps something. */
uint32_t lode_hunted_version(struct lode_hunted_processes *target, uint32_t pid);
/* Reads the code of the program that the process runs by now. */
int lode_hunted_learn(struct lode_hunted_processes *target, uint32_t pid, struct lode_error *error);
/*
 * Reads the code of those binaries that came up since and have special functions
 * (spin_wait_functions.h). Others are read when an address in them is requested.
 */
int lode_hunted_learn_images(struct lode_hunted_processes *target, struct lode_error *error);

/* The function at an address of a process; LODE_NONE: none. */
uint32_t lode_hunted_at(struct lode_hunted_processes *target, uint32_t pid, uint64_t address);

/* Keeps what threads that are dead have used, and frees their places. `is_asked`: someone asks for this
 * thread. */
int lode_hunted_reap(struct lode_hunted_processes *target, int (*is_asked)(void *context, uint32_t tid),
		     void *context);
/* Forgets what dead threads used in a slot that becomes another function's. */
void lode_hunted_forget_slot(struct lode_hunted_processes *target, uint32_t slot);
/* What all threads of a process (LODE_NONE: of all) used, or one thread, in the function of a slot
 * (LODE_NONE: in all). */
void lode_hunted_sum(const struct lode_hunted_processes *target, uint32_t pid, uint32_t tid, uint32_t slot,
		     uint64_t now, struct lode_thread_clocks_sum *sum);
/* ---- hunted_time.c: time that processes could use ---- */

/*
 * Brings the processes' time up to date, if it is older than a millisecond. Returns the moment for which it holds; what
 * is compared with it must be read for the same moment.
 */
uint64_t lode_hunted_settle(struct lode_hunted_processes *target);
/* The same, however old it is. */
void lode_hunted_settle_now(struct lode_hunted_processes *target);
/* Wall time of a process (LODE_NONE: of all together) at that moment, without the time for which it had no CPU and
 * without what hunting took from it: what time on a clock is a share of. */
uint64_t lode_hunted_usable(const struct lode_hunted_processes *target, uint32_t pid, enum lode_hunt_clock clock);
/* And the time for which it had none. */
uint64_t lode_hunted_ready(const struct lode_hunted_processes *target, uint32_t pid);
/* ---- idle_waits.c ---- */

/* Adds a wait for other threads. */
void lode_wait_places_add(struct lode_wait_places *places, uint64_t stack, uint32_t depth, uint64_t time);
/* The share of the time that was in the outer loop; 0: there is none. */
double lode_wait_places_outer(const struct lode_wait_places *places);
/* Adds what a thread has done in all its time, at `now`. */
void lode_thread_history_add(struct lode_thread_history *history, const struct lode_thread_activity *total,
			     uint64_t now);
/* Whether a thread is idle, given what it did and the share of the outer loop. */
int lode_thread_is_idle(const struct lode_thread_history *history, double outer);
/* Notes where a thread waited for others. Returns 0 or LODE_SYSTEM. */
int lode_hunted_note_wait(struct lode_hunted_processes *target, uint32_t tid, uint64_t stack, uint32_t depth,
			  uint64_t time);
/* Finds the threads that are idle by now; to be called often. */
void lode_hunted_mark_idle(struct lode_hunted_processes *target);
/* Nanoseconds of a wait that a thread was idle in. */
uint64_t lode_hunted_idle_part(const struct lode_hunted_processes *target, uint32_t tid, uint64_t from,
			       uint64_t until);

/* ---- sums ---- */

/* Nanoseconds that probes took of all threads, ever. */
uint64_t lode_hunted_probe_time(const struct lode_hunted_processes *target);

#endif
