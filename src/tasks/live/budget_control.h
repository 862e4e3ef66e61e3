/*
 * The budget of `lode record` and `lode watch`: connects the controller (record/budget/budget.h) with the recorder. It reads
 * the recorder's counters, carries out what is decided, goes from one time slot to the next, and reports at the end. A zeroed
 * struct is one without a budget: all functions do nothing then. To be used by the thread that reads the recorder.
 */
#ifndef LODE_TASKS_LIVE_BUDGET_CONTROL_H
#define LODE_TASKS_LIVE_BUDGET_CONTROL_H

#include "record/budget/budget.h"
#include "record/recorder.h"
#include "result/budget_report.h"

struct lode_budget_control_options {
	double share;           /* of the machine's CPU time, above 0 */
	unsigned frequency_hz;  /* CPU samples a second, at most */
	int needs_every_switch; /* limits on waits or run queues */
	uint64_t min_wait_ns;   /* shorter waits are not recorded */
	uint64_t long_waits_ns; /* of --long-waits: every longer wait is recorded; 0: those over 10 ms, if there is room */
	uint64_t symptom_ns; /* the longest limit of a symptom; 0: none has any */
};

/* For how long the scheduler programs were attached, and were to be. */
struct lode_attach_clock {
	uint64_t attached_ns;    /* until attached_since, */
	uint64_t attached_since; /* since when they are attached, if they are */
	uint64_t planned_ns;     /* on average over all draws of slots, until planned_since */
	uint64_t planned_since;
	uint64_t delay_ns; /* the kernel took to attach them */
	uint64_t attaches;
	int is_pending; /* the kernel is about to attach them */
};

/* For how long not every wait was recorded, and not every long one. */
struct lode_wait_coverage {
	uint64_t slots_since; /* since when programs are attached in slots only, as far as counted; 0: they always are */
	uint64_t slots_ns;         /* for how long that was so, */
	uint64_t no_long_waits_ns; /* and not every long wait was recorded */
	uint64_t thinned_ns; /* for how long programs were always attached, but even long waits were left to chance, */
	uint64_t max_scale_ns;     /* with this scale at most, and no sweeps to find them */
	uint64_t max_sweep_gap_ns; /* between two sweeps while these were needed */
	uint64_t maps_read_ns;     /* for how long the kernel did not report mappings */
	int has_long_waits;        /* every long wait is recorded now */
};

struct lode_budget_control {
	struct lode_budget_control_options options;
	struct lode_budget budget;
	struct lode_slots slots;
	struct lode_attach_clock clock;
	struct lode_wait_coverage coverage;
	int has_sweeps;          /* all threads are swept (lode_recorder_set_sweep_pace), */
	uint64_t frequent_until; /* often until then, unless every long wait is recorded; 0: never yet */
	uint64_t saving_ns;      /* for the owner to set: CPU time of processes that write streams */
};

/* Before the recorder starts. */
void lode_budget_control_begin(struct lode_budget_control *control, struct lode_recorder *recorder,
			       const struct lode_budget_control_options *options);
/* Milliseconds to sleep, at most `milliseconds`, until a slot is over. */
int lode_budget_control_sleep(const struct lode_budget_control *control, int milliseconds);
/* Goes to the next slot when one is over: to be called after each sleep, before anything is read. Returns 0 or LODE_SYSTEM. */
int lode_budget_control_change_slot(struct lode_budget_control *control, struct lode_recorder *recorder,
				    struct lode_error *error);
/* Makes a step of the controller if one is due, and carries out what it decides: to be called often while recording. */
void lode_budget_control_steer(struct lode_budget_control *control, struct lode_recorder *recorder, uint64_t now);
/* When the recording has ended: counts what came since the last step. */
void lode_budget_control_end(struct lode_budget_control *control, struct lode_recorder *recorder);
/* What recording took, and what it recorded. */
struct lode_budget_report lode_budget_control_report(const struct lode_budget_control *control);

#endif
