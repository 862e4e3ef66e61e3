/*
 * Meter: the interface through which the search measures. The live one puts probes into
 * running processes (live_meter.h); the tests' one simulates a program; the one of
 * another host speaks through a pipe. The search has no clock except the meter's, so a
 * simulated hunt of an hour takes no time.
 *
 * A *focus* says where: each axis is narrowed by itself, LODE_NONE is "all". Times
 * are taken while the focus holds: inclusive of callees, recursion counted once a
 * thread, summed over threads. Shares are of the time that the processes in the focus could
 * use, or the thread of the focus: wall time less the time for which they were ready to run and had no CPU. A
 * busy machine takes that away, whatever the program does; it has a hypothesis of its own. So a share is sum of
 * time / sum of the processes' usable time. That of one thread is at most 1; those of processes can
 * exceed 1 where several threads work at once.
 */
#ifndef LODE_HUNT_METER_METER_H
#define LODE_HUNT_METER_METER_H

#include "base/error.h"
#include "hunt/meter/program.h"

enum lode_hypothesis {
	LODE_CPU_BOUND,     /* CPU time */
	LODE_SYNC_WAITING,  /* blocked on locks and on other threads or processes (futex; MPI waiting functions
			      by wall time) */
	LODE_IO_BLOCKING,   /* blocked in input and output */
	LODE_SMALL_IO,      /* mean bytes of an input or output operation; true when BELOW its threshold */
	LODE_READY_WAITING, /* ready to run without a CPU, a share of wall time; of places, not of functions */
	LODE_HYPOTHESES,
};

struct lode_focus {
	uint32_t function; /* of the program */
	uint32_t host;     /* number from lode_meter_operations.name */
	uint32_t process;
	uint32_t thread;
	uint64_t object; /* sync waiting: address of a futex; 0: all */
};

enum lode_focus_axis {
	LODE_AXIS_CODE,
	LODE_AXIS_HOST,
	LODE_AXIS_PROCESS,
	LODE_AXIS_THREAD,
	LODE_AXIS_OBJECT,
	LODE_AXES,
};

enum lode_reading_state {
	LODE_READING_ON,
	LODE_READING_COSTLY,     /* it cost more than it was allowed: its probes are out */
	LODE_READING_IMPOSSIBLE, /* this function cannot be probed */
	LODE_READING_GONE,       /* the processes of the focus have ended */
};

/* What an experiment has measured since it was started; all grow only. */
struct lode_reading {
	enum lode_reading_state state;
	const char *why; /* of a state that is not ON: a sentence */
	uint64_t usable; /* wall time of the processes in the focus while probes were in, less `ready` */
	uint64_t ready;  /* for which they were ready to run and had no CPU */
	uint64_t time[LODE_SMALL_IO]; /* by hypothesis; what probes took is already taken off */
	uint64_t operations;          /* of input and output */
	uint64_t bytes;
	uint64_t calls; /* of the function */
	uint64_t cost;  /* time that the probes took from the program */
};

/* A stack sample: functions, root first; of a running or of a waiting thread. */
struct lode_meter_sample {
	uint64_t t;
	uint32_t host;
	uint32_t process;
	uint32_t thread;
	uint64_t weight;             /* nanoseconds that it represents */
	enum lode_hypothesis counts; /* what its thread was doing: CPU, sync waiting or input and output */
	const uint32_t *functions;
	size_t depth;
	int drawn; /* by a clock: its time is an estimate; else it was measured, all of it, from `t`
		      on */
	int cut;   /* functions before the first are not known: the stack was too deep, or could not be walked
		    */
};

struct lode_meter;

struct lode_meter_operations {
	/* Nanoseconds, monotonic. */
	uint64_t (*now)(struct lode_meter *meter);
	/* Waits until `until`, a signal, or the end of the program. Returns 0; 1: the program has ended;
	 * LODE_SYSTEM. */
	int (*wait)(struct lode_meter *meter, uint64_t until, struct lode_error *error);
	/* The share of the program's time that measuring this would cost, as far as samples show; below 0:
	 * cannot be measured. */
	double (*predict)(struct lode_meter *meter, enum lode_hypothesis hypothesis,
			  const struct lode_focus *focus);
	/* Starts experiments, all probes at once. An experiment is known by the caller's number. */
	int (*start)(struct lode_meter *meter, const uint32_t *experiments, const enum lode_hypothesis *hypotheses,
		     const struct lode_focus *foci, size_t count, struct lode_error *error);
	/* Ends experiments and takes their probes out; probes that others need stay. */
	int (*stop)(struct lode_meter *meter, const uint32_t *experiments, size_t count, struct lode_error *error);
	int (*read)(struct lode_meter *meter, uint32_t experiment, struct lode_reading *reading,
		    struct lode_error *error);
	/* Hands the samples since the last call to `each`. */
	int (*samples)(struct lode_meter *meter, int (*each)(void *context, const struct lode_meter_sample *sample),
		       void *context, struct lode_error *error);
	/* What is directly below a focus on an axis other than code (processes of a host, threads of a
	 * process, objects), as known now. */
	int (*below)(struct lode_meter *meter, const struct lode_focus *focus, enum lode_focus_axis axis,
		     int (*each)(void *context, uint32_t number, uint64_t object), void *context);
	/* The roots of the call graph in this focus: `main`, and what threads start with. */
	int (*roots)(struct lode_meter *meter, const struct lode_focus *focus,
		     int (*each)(void *context, uint32_t function), void *context);
	/* The text of a number on an axis (`host`, `PID name`, `TID name`, a lock with its address); valid
	 * until the next call. */
	const char *(*name)(struct lode_meter *meter, enum lode_focus_axis axis, uint64_t number);
	/* The share of the program's time that measuring took since the beginning. */
	double (*cost)(struct lode_meter *meter);
	/* The share of the program's time that the meter's own work takes at present, besides probes; NULL:
	 * none. */
	double (*own)(struct lode_meter *meter);
	void (*destroy)(struct lode_meter *meter);
};

struct lode_meter {
	const struct lode_meter_operations *operations;
	struct lode_program *program;
};

static inline double lode_meter_own(struct lode_meter *meter)
{
	return meter->operations->own ? meter->operations->own(meter) : 0;
}

#endif
