/*
 * Search: what its parts share. search.c judges experiments, experiment_queue.c runs them, refine.c
 * makes new ones.
 */
#ifndef LODE_HUNT_SEARCH_SEARCH_INTERNAL_H
#define LODE_HUNT_SEARCH_SEARCH_INTERNAL_H

#include "hunt/meter/focus_names.h"
#include "hunt/search/search.h"

#define LODE_PRIORITIES 3
/* An experiment is run at most so often. */
#define LODE_MOST_RUNS 4

/* Experiments that wait, oldest first. */
struct lode_search_queue {
	uint32_t *items;
	size_t count;
	size_t capacity;
};

/* Copies of what samples have told, after each of the latest looks. */
#define LODE_PAST 11

struct lode_past_weights {
	uint64_t *items; /* by node */
	size_t count;
	size_t capacity;
};

struct lode_past {
	uint64_t t;
	uint64_t wall;	/* of the whole program, as its experiment has it */
	uint64_t exact; /* and its CPU time */
	uint64_t all;	/* nanoseconds of CPU samples */
	uint64_t cut;
	struct lode_past_weights functions, modules;
};

struct lode_search {
	struct lode_meter *meter;
	struct lode_search_options options;
	struct lode_history history;
	struct lode_counts counts;
	struct lode_focus_names names;
	struct lode_past past[LODE_PAST]; /* look n at n % LODE_PAST */
	uint64_t past_looks;		  /* so many were kept */
	struct lode_search_queue pending[LODE_PRIORITIES];
	struct lode_search_queue active; /* in order of their start */
	struct lode_search_queue batch;	 /* to be started or stopped together */
	enum lode_hypothesis *batch_hypotheses;
	size_t batch_hypotheses_capacity;
	struct lode_focus *batch_foci;
	size_t batch_foci_capacity;
	struct lode_search_queue found; /* numbers that a meter told, for refinement */
	uint64_t *objects;		/* beside it */
	size_t objects_capacity;
	char *queued; /* by experiment: it waits in a queue */
	size_t queued_capacity;
	uint64_t began;
	uint64_t ended_at;
	uint32_t next_refined;	/* the experiment whose turn it is to be refined again */
	uint64_t round_began;	/* when the turn came to the first */
	uint64_t refined_since; /* when the last round began that has come to its end */
	uint64_t changed_at;	/* last time that anything changed */
	uint64_t samples_since; /* when the last experiment began that rests on samples */
	double committed;	/* cost of all active ones */
	double highest;
	enum lode_search_end end;
	void (*changed)(void *context, uint32_t experiment);
	void *context;
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

int lode_search_queue_push(struct lode_search_queue *queue, uint32_t item);
void lode_search_queue_remove(struct lode_search_queue *queue, uint32_t item);
/* Tells that an experiment is new or in another state. */
void lode_search_tell(struct lode_search *search, uint32_t experiment);

/* Puts an experiment into another state; the sentence may be NULL. */
void lode_search_set_state(struct lode_search *search, uint32_t experiment, enum lode_experiment_state state,
			   const char *why);

/*
 * An experiment is wanted, as a child of `parent`: makes it if it is not there, and
 * puts it into the queue unless it ran or runs; a waiting one rises to a higher
 * priority. Returns its number, or LODE_NONE when memory has run out.
 */
uint32_t lode_search_want(struct lode_search *search, enum lode_hypothesis hypothesis,
			  const struct lode_focus *focus, uint32_t parent, enum lode_experiment_origin origin,
			  enum lode_experiment_priority priority);
/* Puts an experiment into the queue once more, though it has run. Returns 0 or LODE_SYSTEM. */
int lode_search_again(struct lode_search *search, uint32_t experiment);
int lode_search_enqueue(struct lode_search *search, uint32_t experiment);
/* Takes an experiment off the active ones; lode_search_stop_retired ends them at the meter, all at once. */
int lode_search_retire(struct lode_search *search, uint32_t experiment);
int lode_search_stop_retired(struct lode_search *search, struct lode_error *error);
/* Starts what fits. */
int lode_search_start_pending(struct lode_search *search, struct lode_error *error);
/* Whether an experiment runs that has not concluded. */
int lode_search_is_any_open(const struct lode_search *search);
/* The cost of the first that waits and could be afforded alone; below 0: there is none. */
double lode_search_first_affordable(const struct lode_search *search);
/* How many processes' wall times pass at once; from the experiments of the whole program. */
double lode_search_wall_rate(const struct lode_search *search);
/* Takes the measured cost of an active experiment in place of the predicted one. */
void lode_search_measure_cost(struct lode_search *search, struct lode_experiment *experiment,
			      const struct lode_reading *reading, double rate);
/* What an experiment will cost, as predicted, or as measured when it ran last, whichever is more; below 0:
 * impossible. */
double lode_search_predicted_cost(const struct lode_search *search, uint32_t experiment);
/* Lets go what was measured to cost too much together. */
int lode_search_shed(struct lode_search *search, struct lode_error *error);

/* Whether samples can tell it: they know no locks, and nothing of sizes. */
int lode_search_may_rest_on_samples(const struct lode_experiment *experiment);
/* Nanoseconds of samples that show the function or module of an experiment, in what it counts, so far. */
uint64_t lode_search_sampled(const struct lode_search *search, const struct lode_experiment *experiment);
/* Nanoseconds that one sample of its kind and place stands for by chance; 0: none was drawn. */
double lode_search_grain(const struct lode_search *search, const struct lode_experiment *experiment);
/* A run that rests on samples begins. */
void lode_search_begin_samples(struct lode_search *search, struct lode_experiment *experiment);
/* Puts the time that samples tell into the reading of an experiment that ran without its function. */
void lode_search_read_samples(struct lode_search *search, struct lode_experiment *experiment,
			      struct lode_reading *reading);
/* Divides up CPU time that the clock has, as samples show it: all of them, those that show an experiment,
 * those that are cut. */
void lode_sampling_divide(struct lode_sampling *sampling, double exact, double all, double mine, double cut);
/* Keeps what this look has of samples; and adds what was kept to an experiment that begins. */
int lode_search_keep_past(struct lode_search *search);
void lode_search_look_back(struct lode_search *search, struct lode_experiment *experiment);
void lode_search_release_past(struct lode_search *search);
/* Whether it rests on samples and what they do not tell could make it true, with this value. */
int lode_search_may_hold(const struct lode_experiment *experiment, double value);
/* Takes the part of a wait that lies before an experiment began off what that will read. */
void lode_search_clip(struct lode_search *search, const struct lode_meter_sample *sample, uint32_t module);

/* Remembers what samples show of an experiment's function so far. */
void lode_search_mark_samples(struct lode_search *search, struct lode_experiment *experiment);
/* Whether its probes saw nothing of a function that samples since the mark show above the threshold. */
int lode_search_saw_nothing(const struct lode_search *search, const struct lode_experiment *experiment);
/* Runs what is false once more where the latest samples show it above the threshold. */
int lode_search_doubt(struct lode_search *search);

/* Refines a true experiment, or passes through one that nothing can be told about; asking again adds only
 * what is new. */
int lode_search_refine(struct lode_search *search, uint32_t experiment);
/* Chooses deep starters for a true experiment, and connects them. */
int lode_search_start_deep(struct lode_search *search, uint32_t experiment);

#endif
