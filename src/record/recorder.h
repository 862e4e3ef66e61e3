/*
 * Recorder: loads the BPF programs, and hands what they and the sideband report to
 * a sink, in order of time. It keeps nothing: the sink decides what to do with a
 * record (builder.h makes a stream of them).
 */
#ifndef LODE_RECORD_RECORDER_H
#define LODE_RECORD_RECORDER_H

#include "base/error.h"
#include "base/notes.h"
#include "record/bpf/records.h"
#include "record/reader/sideband.h"
#include "record/sweeper.h"
#include "record/budget/time_slots.h"
#include "record/unwind/unwind_loader.h"

enum lode_recorder_unwind {
	LODE_RECORDER_AUTO,          /* by unwind tables in the kernel; copied until these are loaded */
	LODE_RECORDER_FRAME_POINTER, /* by frame pointers in the kernel */
	LODE_RECORDER_DWARF,         /* copied, and unwound by tables in the program */
};

struct lode_recorder_options {
	int only_pids;      /* only the processes that lode_recorder_add_pid names, and their children */
	const char *comm;   /* only threads of this name; NULL: any */
	const char *cgroup; /* only threads in this control group or below it, a folder; NULL: any */
	unsigned frequency; /* CPU samples a second; 0: none */
	int thin;           /* lode_recorder_set_scale says how many waits are recorded; else all */
	int totals;         /* what threads did in total (records.h); not with `cgroup` */
	int calls;          /* system calls */
	enum lode_recorder_unwind unwind; /* how user stacks are unwound */
	unsigned copy_bytes; /* of a user stack that is copied, at most LODE_RECORD_COPY_BYTES; 0: as many as that */
	const char *cache;   /* folder of cached unwind tables; NULL: the user's own, "": none */
	uint64_t min_wait;   /* nanoseconds; shorter waits and preemptions are only counted */
	uint64_t long_waits; /* nanoseconds; with `thin` every longer wait is recorded; 0: see lode_recorder_set_long_wait_tracking */
	int only_own;      /* only threads' own stacks in their programs: not the kernel's, not those of wakers */
	int no_own_walk;   /* kernel stacks only by the kernel's own way; for tests */
	size_t ring_bytes; /* of the rings of all CPUs together; 0: as much as is good for speed */
	int has_writer;    /* lode_recorder_leave_out will be used */
	int has_command;   /* lode_recorder_await_exec will be used */
	unsigned languages; /* whose frames stacks have (languages.h): bits; not where stacks are unwound in another way than by tables */
	int lines;                              /* of Python functions, in their names */
	const struct lode_record_limit *limits; /* `limit_count` of them, LODE_RECORD_LIMITS at most */
	size_t limit_count;
	int kernel_locks; /* what waits for locks of the kernel are for */
	int contexts;     /* probes report queries or marks (lode_recorder_context_program) */
	int launches;     /* a probe reports stacks of launches (lode_recorder_launch_program) */
	int traces;       /* OpenTelemetry's contexts of the processes of lode_recorder_set_context_process */
};

/* Each returns 0 or LODE_SYSTEM. What they are given is valid during the call. */
struct lode_recorder_sink {
	void *context;
	/* A stack that records may name from now on. */
	int (*stack)(void *context, const struct lode_record_stack *stack);
	int (*change)(void *context, const struct lode_change *change);
	int (*record)(void *context, const struct lode_record *record);
	/* A context that records may name from now on; NULL: they are of no use. */
	int (*named_context)(void *context, const struct lode_record_context *named);
};

struct lode_recorder;

/* Whether every context switch must be seen, for limits, or for long waits. */
int lode_recorder_sees_all_waits(const struct lode_recorder_options *options);
/* Nanoseconds that one CPU sample represents. */
uint64_t lode_recorder_period(const struct lode_recorder_options *options);

/*
 * Loads everything and begins to listen to processes; nothing is recorded before
 * lode_recorder_start. LODE_SYSTEM with a sentence that says what to do when the
 * kernel, or the lack of privileges, does not allow it; LODE_USAGE for a control
 * group that is none.
 */
int lode_recorder_create(struct lode_recorder **recorder, const struct lode_recorder_options *options,
			 struct lode_error *error);
void lode_recorder_destroy(struct lode_recorder *recorder);
int lode_recorder_add_pid(struct lode_recorder *recorder, uint32_t pid, struct lode_error *error);
/* Nothing of process `pid`, a child that is to become the recorded command, is recorded before its next exec. */
void lode_recorder_await_exec(struct lode_recorder *recorder, uint32_t pid);
int lode_recorder_start(struct lode_recorder *recorder, struct lode_error *error);

/*
 * Waits until there is much to read, but at most so long. A signal ends the wait,
 * and so does `descriptor` (-1: none) when it becomes readable. Returns 0 when it is
 * known that `descriptor` is not readable.
 */
int lode_recorder_wait(struct lode_recorder *recorder, int milliseconds, int descriptor);
/* Hands over what is there. Returns 0 or LODE_SYSTEM. */
int lode_recorder_read(struct lode_recorder *recorder, const struct lode_recorder_sink *sink);
/* Ends the recording and hands over the rest, waits that are not over among it. */
int lode_recorder_stop(struct lode_recorder *recorder, const struct lode_recorder_sink *sink);

/*
 * Descriptor of the program to attach (uprobes.h) where spans begin, or where they
 * end; cookies are the numbers of their limits. Only with a limit on spans.
 */
int lode_recorder_span_program(const struct lode_recorder *recorder, int end);
/* Descriptor of the program to attach where contexts begin and end; cookies are LODE_CONTEXT_COOKIE. Only with `contexts`. */
int lode_recorder_context_program(const struct lode_recorder *recorder);
/* The same where stacks of launches are wanted. Only with `launches`. */
int lode_recorder_launch_program(const struct lode_recorder *recorder);
/* Where a process has OpenTelemetry's context of its threads. Only with `traces`. */
void lode_recorder_set_context_process(struct lode_recorder *recorder, uint32_t pid,
				       const struct lode_context_process *process);
/* Names of the frames of languages, which the stacks that were handed over have; NULL: none were requested. */
const struct lode_languages *lode_recorder_languages(const struct lode_recorder *recorder);
/* Bytes of this process that the recorder takes at most, when all that the kernel shares with it is full. */
size_t lode_recorder_bytes(const struct lode_recorder *recorder);
/* Leaves out a child of the recorder from now on; 0: none. */
void lode_recorder_leave_out(struct lode_recorder *recorder, uint32_t pid);
/*
 * Begins a new epoch: each stack that is seen from now on is sent again. Who forgets
 * stacks of before must keep those that lode_recorder_held lists.
 */
void lode_recorder_renew(struct lode_recorder *recorder);
/*
 * Adds the ids of the stacks of threads that are off their CPU now: records that
 * are written later may name them, however long ago they were sent. To be called
 * before lode_recorder_read: what is not listed here and not named by a record of
 * that read is not named by later ones, unless it is sent again; but for a record
 * that stays in its ring behind one that is not whole, and comes with the next
 * read. Returns 0 or LODE_SYSTEM.
 */
struct lode_recorder_held {
	uint64_t *ids; /* in no order, some more than once; for the caller to free */
	size_t count;
	size_t capacity;
};

int lode_recorder_held(struct lode_recorder *recorder, struct lode_recorder_held *held);

/* The unwind tables that the kernel has by now. */
struct lode_unwind_totals lode_recorder_unwind_totals(const struct lode_recorder *recorder);
/* With `thin`: how many nanoseconds a recorded wait represents (thinning.h), and how many system calls a recorded one. */
void lode_recorder_set_scale(struct lode_recorder *recorder, uint64_t scale, uint32_t call_weight);
/* With `thin`: CPU samples a second from now on; where there are none from the start, there will be none. */
void lode_recorder_set_frequency(struct lode_recorder *recorder, unsigned frequency);
/*
 * With `thin`: enters this time slot (time_slots.h). While it is not on, the scheduler programs are detached. To be called
 * before lode_recorder_start, too, with the first slot. Returns 1 when it is done, or 0 while the kernel is not ready to attach
 * programs: nothing is recorded yet, and it must be called again with the same slot and a later begin. Negative when they
 * cannot be attached, with errno set.
 */
int lode_recorder_set_slot(struct lode_recorder *recorder, const struct lode_slot *slot);
/*
 * With `thin`: whether every wait over `long_waits`, or else 10 ms, is recorded, also between slots, by a program at wakeups. It
 * is attached with the next slot that is one of several, if the kernel lets it. Returns whether it is attached now.
 */
int lode_recorder_set_long_wait_tracking(struct lode_recorder *recorder, int on);
/*
 * With `thin`: whether the scheduler programs stay attached between slots, where they return at once, instead of being
 * detached. Holds from the end of the current slot on.
 */
void lode_recorder_set_stay_attached(struct lode_recorder *recorder, int on);
/*
 * Whether a program tracks what processes map, so that a library that takes the place of another is known at once; else it is
 * known when the kernel's report of it is read. Does nothing where the kernel cannot.
 */
void lode_recorder_set_mmap_tracking(struct lode_recorder *recorder, int on);
/*
 * Whether mappings are read from /proc when a stack shows that they changed, instead of being reported by the kernel
 * (map_reads.h). Returns whether they are from now on.
 */
int lode_recorder_set_map_reads(struct lode_recorder *recorder, int on);
/*
 * With `thin`: sweeps over all threads begin, or change their pace: they record waits that last from one sweep to the next,
 * whether programs are attached or not (sweeper.h). Returns whether this recorder can do that.
 */
int lode_recorder_set_sweep_pace(struct lode_recorder *recorder, const struct lode_sweeper_pace *pace);
/* Valid until lode_recorder_stop. */
struct lode_sweeper_counts lode_recorder_sweep_counts(const struct lode_recorder *recorder);
/* Processes that began to run a program, so far. */
uint64_t lode_recorder_exec_count(const struct lode_recorder *recorder);
/* How often its BPF programs ran and how long, if the kernel counts it (load/program_time.h). Valid until lode_recorder_stop. */
void lode_recorder_program_time(const struct lode_recorder *recorder,
				void (*each)(void *context, uint64_t runs, uint64_t nanoseconds), void *context);
/* What the kernel counted so far, all CPUs together. */
void lode_recorder_counts(struct lode_recorder *recorder, struct lode_record_counts *counts);
/* The same as notes, together with what else was lost; at the end, once. */
void lode_recorder_note(struct lode_recorder *recorder, struct lode_notes *notes);

#endif
