/*
 * Probes: puts probes on functions of the watched processes and takes them out
 * again. A function that has probes has a *slot*, the number under which the
 * BPF side counts it; it keeps its slot when the probes are out, until the
 * slot is needed for another.
 *
 * What costs too much is taken out by a separate thread (the keeper), as soon as
 * the BPF side has muted it, regardless of what the caller is doing.
 */
#ifndef LODE_HUNT_METER_LIVE_PROBES_H
#define LODE_HUNT_METER_LIVE_PROBES_H

#include "base/error.h"
#include "hunt/meter/live/thread_clocks.h"
#include "record/load/uprobes.h"

#include <stddef.h>

struct lode_probes;

/* A function to be probed. */
struct lode_probe_wish {
	uint32_t function; /* any number that the caller knows it by */
	uint32_t binary;   /* likewise; functions of one binary go in together */
	const char *path;  /* of the binary, as it can be opened here */
	const uint64_t *entries;
	const uint8_t *entry_kinds; /* enum lode_probed_kind, of each */
	size_t entry_count;
	const uint64_t *ends;
	const uint8_t *end_kinds;
	size_t end_count;
	uint32_t message; /* which of its arguments name what it waits for (wait_objects.h) */
	int waiting;      /* it waits by spinning: time in it is sync waiting */
	int sweeping;     /* not measured: its entry shows that frames below were left */
	uint32_t slot;    /* result; LODE_NONE: it cannot be probed, all slots are taken */
	int fresh;        /* result: the slot may have been another function's */
};

enum lode_probe_state {
	LODE_PROBE_OUT,
	LODE_PROBE_IN,
	LODE_PROBE_COSTLY,     /* was taken out by the keeper */
	LODE_PROBE_IMPOSSIBLE, /* the kernel refuses it */
};

/* Something that happened to a watched process. */
struct lode_probes_event {
	enum lode_hunt_message_type type;
	uint32_t pid;
	uint32_t tid;
	int last; /* of a death: the process has ended */
};

/*
 * `cost`: the most that probes may take, as a share of a thread's time; `event`: a
 * descriptor of an eventfd that becomes readable when there are events.
 */
int lode_probes_create(struct lode_probes **probes, struct lode_thread_clocks *clocks, double cost, int event,
		       struct lode_error *error);
/* Takes all probes out. */
void lode_probes_destroy(struct lode_probes *probes);

/* Processes in which probes are put, now and from now on. */
int lode_probes_add_process(struct lode_probes *probes, uint32_t pid, struct lode_error *error);
void lode_probes_remove_process(struct lode_probes *probes, uint32_t pid);

/* Gives a wish a slot; one that is in already is only counted once more. The probes go in with lode_probes_insert. */
int lode_probes_take(struct lode_probes *probes, struct lode_probe_wish *wish, struct lode_error *error);
int lode_probes_insert(struct lode_probes *probes, struct lode_error *error);
/* A slot is needed once less. */
void lode_probes_drop(struct lode_probes *probes, uint32_t slot);
/* Removes unused probes where that pays: a whole group, or those that are hit often. */
void lode_probes_tidy(struct lode_probes *probes);

enum lode_probe_state lode_probes_state(struct lode_probes *probes, uint32_t slot);
/* The slot of a function, or LODE_NONE. */
uint32_t lode_probes_slot(struct lode_probes *probes, uint32_t function);
/* The time that its probes took while they were in, as a share of that time; below 0: it never had any. */
double lode_probes_cost_rate(struct lode_probes *probes, uint32_t slot);
/* The events since the last call, for the caller to free; NULL with *count 0: none. */
struct lode_probes_event *lode_probes_events(struct lode_probes *probes, size_t *count);

#endif
