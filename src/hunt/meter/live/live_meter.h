/*
 * Live meter: measures running processes of this host with probes that are put in
 * and taken out while they run. It is a struct lode_meter (meter.h):
 *
 * - numbers on the axis of processes are pids, on that of threads tids, the host is 0;
 * - what the hunted processes have started is hunted too, now and from now on;
 * - `read` of an experiment whose probes were taken out because they cost too much
 *   says so; no caller has to react in time, a thread of the meter removes them.
 *
 * All calls from one thread, the same that created it (a thread can be stopped
 * only by the one that did).
 */
#ifndef LODE_HUNT_METER_LIVE_LIVE_METER_H
#define LODE_HUNT_METER_LIVE_LIVE_METER_H

#include "base/notes.h"
#include "hunt/meter/meter.h"
#include "record/recorder.h"
#include "symbols/code.h"

struct lode_live_meter_options {
	const uint32_t *pids; /* processes to hunt, with all that they have started and will start */
	size_t pid_count;
	double cost;                      /* the most that probes may take of a thread's time; 0: 0.10 */
	unsigned frequency;               /* CPU samples per second; 0: 499 */
	enum lode_recorder_unwind unwind; /* how stack samples are unwound */
	unsigned languages;               /* whose functions they have (languages.h): bits */
	const char *host;                 /* how this host is called; NULL: its own name */
	int never_stop; /* do not stop threads: functions in progress are measured from their next call on */
	/* Also gets everything from the recorder, for a stream (builder.h); NULL: not wanted. */
	const struct lode_recorder_sink *tee;
};

/*
 * LODE_SYSTEM with a sentence that says what to do when a privilege, or something
 * of the kernel's, is missing; LODE_USAGE when none of the processes is there.
 */
int lode_live_meter_create(struct lode_meter **meter, const struct lode_live_meter_options *options,
			   struct lode_error *error);
/* Hunts one more process and its children. Returns 0, 1 when it is gone, or a negative code. */
int lode_live_meter_add(struct lode_meter *meter, uint32_t pid, struct lode_error *error);
/* Takes all probes out and hands the rest of what was recorded to the tee. Readings stay. Once, before
 * destroy. */
int lode_live_meter_finish(struct lode_meter *meter, struct lode_error *error);
/* What was lost; after finish. */
void lode_live_meter_note(struct lode_meter *meter, struct lode_notes *notes);
/* Nanoseconds that one hit of a probe takes here. */
uint64_t lode_live_meter_hit_cost(const struct lode_meter *meter, enum lode_probed_kind kind);

#endif
