/*
 * What the kernel side of the live meter (hunt.bpf.c) and the program share.
 *
 * A thread has clocks: CPU time, time blocked in synchronisation, in input and
 * output, and other time; one of them runs at any moment, and hooks in the
 * scheduler switch over from one to the next. A function in progress remembers
 * what the clocks showed when it was entered; its time is how far they have
 * advanced when it ends. So a call costs the same regardless of how many functions
 * are watched, and one pair of probes gives all kinds of time.
 *
 * Threads and cells are arrays that both sides map. The kernel writes a thread and
 * its cells on the CPU that runs it; the program writes them only while the
 * thread is stopped or asleep, and when it is dead. `sequence` is odd while the
 * kernel is writing, so that the program can read a whole state. What others may
 * write, and when, is in clock_updates.h.
 */
#ifndef LODE_HUNT_METER_LIVE_THREAD_COUNTERS_H
#define LODE_HUNT_METER_LIVE_THREAD_COUNTERS_H

#include <stdint.h>

/* Functions that have probes, at a time, at most. Slot numbers are cookies of the probes. */
#define LODE_HUNT_SLOTS 1024

/* Cookie: slot in the lower bits, and what kind of place it is. */
#define LODE_HUNT_END       (1u << 16) /* a return or a tail call; else an entry */
#define LODE_HUNT_SWEEP     (1u << 17) /* only for its stack pointer: an exception has been caught */
#define LODE_HUNT_SLOT_MASK 0xffffu
/* And which kind of instruction is probed there (enum lode_probed_kind), which decides about the cost of a
 * hit. */
#define LODE_HUNT_KIND_SHIFT 18
#define LODE_HUNT_KINDS      8

enum lode_hunt_clock {
	LODE_CLOCK_CPU, /* the first three in the order of the hypotheses */
	LODE_CLOCK_SYNC,
	LODE_CLOCK_IO,
	LODE_CLOCK_OTHER, /* ready to run without a CPU, asleep, stopped */
	LODE_CLOCKS,
};

/* What a system call is, one byte for each number. */
#define LODE_CALL_CLASS 3u  /* bits: the clock that runs while it blocks */
#define LODE_CALL_FUTEX 4u  /* waits for the object in its first argument */
#define LODE_CALL_MOVES 8u  /* returns how many bytes it has read or written */
#define LODE_CALL_POLLS 16u /* waits for descriptors to have something: may be idle */
#define LODE_HUNT_CALLS 512 /* numbers; a power of two */

/* Waiting for descriptors longer than this, in nanoseconds, is idle, and so is a wait that ended without any. */
#define LODE_HUNT_IDLE 1000000000

/* The value of a futex that is a lock with waiters, in the C libraries and in Rust; what waits for other things has others. */
#define LODE_FUTEX_CONTENDED 2u

struct lode_hunt_clocks {
	int64_t time[LODE_CLOCKS];
	uint64_t operations; /* of input and output */
	uint64_t bytes;
};

struct lode_hunt_thread {
	uint32_t tid; /* 0: the place is free, or being filled */
	uint32_t pid;
	uint32_t sequence;
	uint32_t clock;   /* which of the clocks runs */
	uint32_t waiting; /* open functions that wait by spinning; while there are any, SYNC runs instead */
	uint32_t top;     /* slot + 1 of the innermost open function; 0: none */
	uint32_t blocked; /* off its CPU, and not woken yet */
	uint32_t switches;
	uint32_t holding; /* the program writes its open functions: keep off */
	uint32_t claimed; /* a CPU fills the slot, or has filled it */
	uint64_t last;    /* up to when the clocks are wound */
	struct lode_hunt_clocks clocks;
	uint64_t took; /* nanoseconds that probes took */
	uint64_t window;
	uint64_t window_took;
	uint64_t object;      /* what it waits for */
	int64_t object_since; /* SYNC when it began to */
	uint64_t pc;          /* registers when it left its CPU last */
	uint64_t sp;
	uint64_t fp;
	uint64_t link;
	uint64_t born;
	uint64_t died;   /* 0: it lives */
	int64_t polling; /* OTHER less `ready`, + 1, when it began to wait for descriptors */
	uint64_t queued; /* nanoseconds in the run queue */
	int64_t ready;   /* the part of OTHER that it was ready to run; not while it waits by spinning */
	int64_t held;    /* the part of OTHER that it was stopped by a tracer: its stack was looked at */
	uint64_t woken;  /* when it was made ready last; another CPU writes it */
	uint32_t seen;   /* the kernel has seen it run, wait or return */
	uint32_t found;  /* clock + 1 that it was found with; 0: none. The program writes it. */
	uint64_t found_object;
	uint32_t found_bound; /* it was found waiting for a lock */
	uint32_t unused;
	uint64_t message;      /* what the function that waits by spinning waits for (wait_objects.h); 0: not known
			   */
	int64_t message_since; /* SYNC when it began to */
	/* Whether it is idle (idle_waits.c): */
	uint64_t bound;      /* nanoseconds of waits for a lock or a disk, or for input or output that came */
	uint64_t brought;    /* of others that another thread ended */
	uint64_t waited_for; /* of other hunted threads' waits that this one ended; they write it */
	uint64_t idle_from; /* its waits from here on to `idle_until` are idle, and OTHER; the program writes both */
	uint64_t idle_until;
	uint32_t waker;    /* the thread that ended its wait last; 0: an interrupt. The waker writes it. */
	uint32_t is_bound; /* it waits for a lock or a disk */
	uint32_t is_held;  /* a tracer has stopped it */
	uint32_t unused_too;
};

/* A function in a thread. */
struct lode_hunt_cell {
	struct lode_hunt_clocks over; /* of calls that are over; OTHER is not kept */
	struct lode_hunt_clocks at;   /* what the thread's clocks showed when it was entered */
	uint64_t calls;
	uint64_t sp;    /* at the outermost entry; 0: not in progress */
	uint32_t below; /* slot + 1 of the next outer open function */
	uint32_t window;
	uint32_t window_took; /* nanoseconds that its probes took in that window of the thread's time */
	uint32_t unused;
};

enum lode_hunt_slot_flag {
	LODE_SLOT_MUTED = 1,   /* its probes do nothing, and are to be taken out */
	LODE_SLOT_WAITING = 2, /* a function that waits by spinning */
};

struct lode_hunt_slot {
	uint32_t flags;
	uint32_t message; /* which of its arguments name what it waits for (wait_objects.h); 0: nowhere */
	uint64_t hits;
	uint64_t took; /* nanoseconds */
};

/* Waiting for an object: of a thread, in a function (slot + 1; 0: anywhere). */
struct lode_hunt_object_key {
	uint64_t object;
	uint32_t tid;
	uint32_t slot;
};

struct lode_hunt_object {
	int64_t time;
	uint64_t waits;
	uint32_t pid;
	uint32_t unused;
};

/* Sent as it happens. */
enum lode_hunt_message_type {
	LODE_MESSAGE_MUTED, /* a slot cost too much */
	LODE_MESSAGE_BORN,  /* a thread or process */
	LODE_MESSAGE_DIED,
	LODE_MESSAGE_EXECUTED,
};

struct lode_hunt_message {
	uint32_t type;
	uint32_t slot;
	uint32_t pid;
	uint32_t tid;
};

/* Settings that change while the programs run. */
struct lode_hunt_kernel_settings {
	uint64_t hit_costs[LODE_HUNT_KINDS]; /* nanoseconds that a probe takes when it is hit, by kind */
	uint64_t window;                     /* nanoseconds of a thread's time over which cost is limited */
	uint64_t window_limit;               /* nanoseconds that probes may take of a thread in it */
	uint8_t calls[LODE_HUNT_CALLS];
};

struct lode_hunt_counts {
	uint64_t lost_threads; /* without a place */
	uint64_t lost_messages;
};

#endif
