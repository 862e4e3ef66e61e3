/*
 * Search: what its files share. Each uses only the ones above it:
 *
 *	search_state.c		lists of experiments, changes of state
 *	sampled_verdict.c	what stack samples say about an experiment
 *	recent_samples.c	the samples of the last second
 *	experiment_queue.c	experiments that wait for their start
 *	refine.c		more specific experiments for a true one
 *	experiment_runs.c	starts and stops experiments within the cost limit
 *	verdict_recheck.c	where samples contradict a verdict
 *	experiment_verdicts.c	judges running experiments
 *	search.c		one step of the search
 */
#ifndef LODE_HUNT_SEARCH_SEARCH_INTERNAL_H
#define LODE_HUNT_SEARCH_SEARCH_INTERNAL_H

#include "hunt/meter/focus_names.h"
#include "hunt/search/search.h"

#define LODE_PRIORITIES 3
/* An experiment runs at most this many times. */
#define LODE_MAX_RUNS 4

/* Ids of experiments, oldest first; or other numbers. */
struct lode_ids {
	uint32_t *items;
	size_t count;
	size_t capacity;
};

/* ---- the state, by the file that changes it ---- */

/* Copies of the sample counts, one per look. */
#define LODE_RECENT_LOOKS 11

struct lode_recent_weights {
	uint64_t *items; /* by node */
	size_t count;
	size_t capacity;
};

struct lode_recent_look {
	uint64_t t;
	uint64_t usable; /* time of the whole program, from its experiment */
	uint64_t exact;  /* and its CPU time */
	uint64_t all;    /* nanoseconds of CPU samples */
	uint64_t cut;    /* those whose stack is cut */
	struct lode_recent_weights functions, modules;
};

/* recent_samples.c */
struct lode_recent_samples {
	struct lode_recent_look looks[LODE_RECENT_LOOKS]; /* look n at n % LODE_RECENT_LOOKS */
	uint64_t count;                                   /* looks stored so far */
};

/* experiment_queue.c; experiment_runs.c takes out what it starts */
struct lode_experiment_queue {
	struct lode_ids pending[LODE_PRIORITIES];
	char *queued; /* by experiment: it is in `pending` */
	size_t queued_capacity;
};

/* refine.c: numbers that the meter returned for an axis */
struct lode_refinements {
	struct lode_ids numbers;
	uint64_t *objects; /* one per number */
	size_t objects_capacity;
};

/* experiment_runs.c */
struct lode_experiment_runs {
	struct lode_ids active; /* in order of their start */
	struct lode_ids batch;  /* to be started or stopped together */
	enum lode_hypothesis *batch_hypotheses;
	size_t batch_hypotheses_capacity;
	struct lode_focus *batch_foci;
	size_t batch_foci_capacity;
	uint64_t samples_since; /* when the last experiment started that is decided by samples */
	double committed;       /* cost of all active ones */
	double highest;
};

struct lode_search {
	struct lode_meter *meter;
	struct lode_search_options options;
	struct lode_history history;
	struct lode_counts counts;
	struct lode_focus_names names;
	struct lode_recent_samples recent;
	struct lode_experiment_queue queue;
	struct lode_refinements found;
	struct lode_experiment_runs running;
	uint64_t changed_at; /* when anything changed last; search_state.c */
	void (*changed)(void *context, uint32_t experiment);
	void *context;
	/* search.c */
	uint64_t began;
	uint64_t ended_at;
	/* experiment_verdicts.c, from the experiment of CPU time in the whole program: */
	double usable_share;    /* of wall time that it could use */
	double usable_rate;     /* time that all processes together could use per unit of time */
	uint32_t next_refined;  /* the next experiment to be refined again */
	uint64_t round_began;   /* when the current round of refining all of them began */
	uint64_t refined_since; /* when the last completed round began */
	enum lode_search_end end;
	int (*on_sample)(void *context, const struct lode_meter_sample *sample);
	void *sample_context;
};

static inline uint64_t now(const struct lode_search *search)
{
	return search->meter->operations->now(search->meter);
}

/* Valid until the next experiment is made. */
static inline struct lode_experiment *get(const struct lode_search *search, uint32_t id)
{
	return &search->history.experiments[id];
}

static inline int is_root(const struct lode_experiment *experiment)
{
	return experiment->parent == LODE_NONE;
}

/* ---- search_state.c ---- */

int lode_ids_push(struct lode_ids *ids, uint32_t item);
void lode_ids_remove(struct lode_ids *ids, uint32_t item);
/* Calls the user's callback: an experiment is new or has changed its state. */
void lode_search_notify(struct lode_search *search, uint32_t experiment);
/* Changes an experiment's state; the sentence may be NULL. */
void lode_search_set_state(struct lode_search *search, uint32_t experiment, enum lode_experiment_state state,
			   const char *why);

/* ---- sampled_verdict.c ---- */

/* Whether samples can decide it: they know nothing about locks and sizes. */
int lode_search_may_rest_on_samples(const struct lode_experiment *experiment);
/* Nanoseconds of samples that show the experiment's function or module, of its kind, so far. */
uint64_t lode_search_sampled(const struct lode_search *search, const struct lode_experiment *experiment);
/* Average nanoseconds per drawn sample of its kind and focus; 0: none was drawn. */
double lode_search_grain(const struct lode_search *search, const struct lode_experiment *experiment);
/* Begins a run that samples decide. */
void lode_search_begin_samples(struct lode_search *search, struct lode_experiment *experiment);
/* Puts the time that samples show into the reading of an experiment that ran without its function. */
void lode_search_read_samples(struct lode_search *search, struct lode_experiment *experiment,
			      struct lode_reading *reading);
/* Divides measured CPU time in proportion to the samples: all of them, those that show the experiment, those
 * that are cut. */
void lode_sampling_divide(struct lode_sampling *sampling, double exact, double all, double mine, double cut);
/* Whether samples decide it and what they leave unknown could make it true, given this value. */
int lode_search_may_hold(const struct lode_experiment *experiment, double value);
/* Excludes the part of a wait before an experiment began from what the experiment will read. */
void lode_search_clip(struct lode_search *search, const struct lode_meter_sample *sample, uint32_t module);
/* Whether samples are counted for its focus, so that probes can be compared with them. */
int lode_search_has_comparable_samples(const struct lode_experiment *experiment);
/* Remembers what samples have shown of an experiment's function so far. */
void lode_search_mark_samples(struct lode_search *search, struct lode_experiment *experiment);

/* ---- recent_samples.c ---- */

/* Stores the sample counts of this look. */
int lode_search_store_recent(struct lode_search *search);
/* Adds the stored looks to an experiment that begins. */
void lode_search_look_back(struct lode_search *search, struct lode_experiment *experiment);
void lode_search_release_recent(struct lode_search *search);

/* ---- experiment_queue.c ---- */

/*
 * Requests an experiment as a child of `parent`: creates it if it does not exist, and
 * enqueues it unless it ran or runs; a waiting one rises to a higher priority. Returns
 * its number, or LODE_NONE when memory has run out.
 */
uint32_t lode_search_want(struct lode_search *search, enum lode_hypothesis hypothesis,
			  const struct lode_focus *focus, uint32_t parent, enum lode_experiment_origin origin,
			  enum lode_experiment_priority priority);
int lode_search_enqueue(struct lode_search *search, uint32_t experiment);
/* Enqueues an experiment once more though it has run. Returns 0 or LODE_SYSTEM. */
int lode_search_run_again(struct lode_search *search, uint32_t experiment);

/* ---- refine.c ---- */

/* Refines a true experiment, or goes on to the callees of one that cannot be measured; calling it again adds
 * only what is new. */
int lode_search_refine(struct lode_search *search, uint32_t experiment);
/* Chooses deep starters for a true experiment, and connects them. */
int lode_search_start_deep(struct lode_search *search, uint32_t experiment);

/* ---- experiment_runs.c ---- */

/* Starts what fits into the cost limit. */
int lode_search_start_pending(struct lode_search *search, struct lode_error *error);
/* Removes an experiment from the active ones; lode_search_stop_retired ends them at the meter, all at once.
 */
int lode_search_retire(struct lode_search *search, uint32_t experiment);
int lode_search_stop_retired(struct lode_search *search, struct lode_error *error);
/* Stops experiments while the measured costs exceed the limit. */
int lode_search_stop_costly(struct lode_search *search, struct lode_error *error);
/* Whether an experiment is running that has no verdict yet. */
int lode_search_is_any_open(const struct lode_search *search);
/* The cost of the first waiting experiment that fits the limit alone; below 0: there is none. */
double lode_search_first_affordable(const struct lode_search *search);
/* Replaces the predicted cost of an active experiment by the measured one. */
void lode_search_measure_cost(struct lode_search *search, struct lode_experiment *experiment,
			      const struct lode_reading *reading);
/* The predicted cost of an experiment, or the one measured in its last run if that is higher; below 0:
 * it cannot be probed. */
double lode_search_predicted_cost(const struct lode_search *search, uint32_t experiment);

/* ---- verdict_recheck.c ---- */

/* Whether its probes saw no call of a function that samples since the mark show above the threshold. */
int lode_search_saw_nothing(const struct lode_search *search, const struct lode_experiment *experiment);
/* Runs false experiments again where the latest samples show them above the threshold. */
int lode_search_recheck(struct lode_search *search);

/* ---- experiment_verdicts.c ---- */

/* Reads and judges all active experiments. */
int lode_search_read_all(struct lode_search *search, struct lode_error *error);

#endif
