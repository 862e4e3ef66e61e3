/* What the files of the live meter share. Private to this folder. */
#ifndef LODE_HUNT_METER_LIVE_LIVE_INTERNAL_H
#define LODE_HUNT_METER_LIVE_LIVE_INTERNAL_H

#include "base/hash_index.h"
#include "hunt/meter/live/live_meter.h"
#include "hunt/meter/live/probes.h"
#include "hunt/meter/live/stack_samples.h"
#include "hunt/meter/live/thread_stops.h"
#include "hunt/meter/live/hunted_processes.h"

/* What is counted from the beginning; a reading is the difference of two. */
struct lode_live_account {
	uint64_t usable;
	uint64_t ready;
	int64_t time[LODE_SMALL_IO];
	uint64_t operations;
	uint64_t bytes;
	uint64_t calls;
	uint64_t probes; /* nanoseconds that they took */
};

struct lode_live_experiment {
	uint32_t number; /* the caller's */
	enum lode_hypothesis hypothesis;
	struct lode_focus focus;
	uint32_t slot; /* LODE_NONE: no function */
	int impossible;
	int costly;
	int running;
	struct lode_live_account start;
	struct lode_live_account last; /* kept when it was stopped, or its probes went out */
	int closed;                    /* `last` is all there will be */
};

struct lode_live {
	struct lode_meter meter; /* first: the one is the other */
	struct lode_thread_clocks clocks;
	struct lode_probes *probes;
	struct lode_hunted_processes target;
	struct lode_stops *stops;
	struct lode_recorder *recorder;
	struct lode_stack_samples samples;
	int event; /* something happened to a process */
	int never_stop;
	int finished;
	double cost_limit;
	uint64_t began;
	uint64_t looked; /* when the processes were last asked whether they live */
	uint64_t stopped;
	/* Of the meter's own work, see live_cost.c. */
	int statistics; /* the kernel counts the time of BPF programs as long as this is open; negative: it does not */
	struct lode_live_work {
		uint64_t own;      /* CPU time of this program */
		uint64_t programs; /* of BPF programs */
		double time;       /* of the program */
	} work;                    /* at the last look at it */
	uint64_t work_looked;
	double own_share;
	struct lode_live_experiment *experiments;
	size_t count;
	size_t capacity;
	struct lode_index index; /* by the caller's number */
	size_t binaries_known;   /* whose special functions have their probes */
	char host[72];
	char text[512]; /* of the last name */
};

static inline struct lode_live *lode_live_of(struct lode_meter *meter)
{
	return (struct lode_live *)meter;
}

/* function_probes.c */

/* Fills a probe request for a function. Returns 0, or 1 when the function cannot be probed. */
int lode_live_make_probe(struct lode_live *live, uint32_t function, struct lode_probe_wish *wish);
/* Puts probes on the spin-wait and exception functions of new binaries. */
int lode_live_add_special(struct lode_live *live, struct lode_error *error);

/* live_follow.c */

/* Processes everything that happened since the last call. */
int lode_live_follow(struct lode_live *live, struct lode_error *error);
int lode_live_read_recorder(struct lode_live *live, struct lode_error *error);
/* Begins to measure a process. Returns 0, 1 when it is gone, or a negative code. */
int lode_live_add_process(struct lode_live *live, uint32_t pid, struct lode_error *error);

/* live_experiments.c */
double lode_live_predict(struct lode_meter *meter, enum lode_hypothesis hypothesis, const struct lode_focus *focus);
int lode_live_start(struct lode_meter *meter, const uint32_t *experiments, const enum lode_hypothesis *hypotheses,
		    const struct lode_focus *foci, size_t count, struct lode_error *error);
int lode_live_stop(struct lode_meter *meter, const uint32_t *experiments, size_t count, struct lode_error *error);
int lode_live_read(struct lode_meter *meter, uint32_t experiment, struct lode_reading *reading,
		   struct lode_error *error);

/* live_cost.c */
double lode_live_cost(struct lode_meter *meter);
double lode_live_own(struct lode_meter *meter);
/* To be called often: sees how much the meter's own work takes. */
void lode_live_look_at_work(struct lode_live *live);
/* Keeps what BPF programs took, before they are gone. */
void lode_live_end_work(struct lode_live *live);
/* Time of the program since the beginning: of each process what it could use, or its CPU time if that is longer. */
double lode_live_program_time(struct lode_live *live);
/* The share of its wall time that the program can use. */
double lode_live_usable_share(const struct lode_live *live);
/* CPU time of this program up to now. */
uint64_t lode_live_own_time(void);

/* functions_in_progress.c: makes functions measurable that are in progress already. */
int lode_live_seed(struct lode_live *live, struct lode_error *error);

/* live_axes.c */
int lode_live_below(struct lode_meter *meter, const struct lode_focus *focus, enum lode_focus_axis axis,
		    int (*each)(void *context, uint32_t number, uint64_t object), void *context);
int lode_live_roots(struct lode_meter *meter, const struct lode_focus *focus,
		    int (*each)(void *context, uint32_t function), void *context);
const char *lode_live_name(struct lode_meter *meter, enum lode_focus_axis axis, uint64_t number);
/* Time that threads waited for an object, in the function of a slot (LODE_NONE: anywhere). */
int64_t lode_live_object_time(struct lode_live *live, const struct lode_focus *focus, uint32_t slot, uint64_t now);

#endif
