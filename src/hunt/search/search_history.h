/*
 * Search history graph: all experiments of a hunt and how each came to be (Deep
 * Start, section 1 and Fig. 1).
 *
 * An experiment is a hypothesis at a focus; requested twice it is one node with
 * several parents. The first parent is the one that led to it; by first parents the
 * graph is a forest whose roots test the whole program.
 */
#ifndef LODE_HUNT_SEARCH_SEARCH_HISTORY_H
#define LODE_HUNT_SEARCH_SEARCH_HISTORY_H

#include "base/hash_index.h"
#include "hunt/search/conclusion.h"

enum lode_experiment_state {
	LODE_EXPERIMENT_NEVER_RUN,
	LODE_EXPERIMENT_RUNNING,
	LODE_EXPERIMENT_TRUE,
	LODE_EXPERIMENT_FALSE,
	LODE_EXPERIMENT_DEFERRED,   /* waits for its cost to fit */
	LODE_EXPERIMENT_IMPOSSIBLE, /* cannot be measured */
	LODE_EXPERIMENT_STATES,
};

enum lode_experiment_origin {
	LODE_ORIGIN_CALL_GRAPH, /* by refinement, on any axis */
	LODE_ORIGIN_CONNECT,
	LODE_ORIGIN_DEEP_START,
	LODE_ORIGINS,
};

enum lode_experiment_priority {
	LODE_PRIORITY_HIGH,
	LODE_PRIORITY_MEDIUM,
	LODE_PRIORITY_LOW,
};

/* What a verdict rests on. */
enum lode_evidence {
	LODE_EVIDENCE_PROBES, /* or the scheduler's clocks, where it is about all code */
	LODE_EVIDENCE_SAMPLES,
	LODE_EVIDENCES,
};

/* What stack samples have shown for an experiment that they decide, in this run (sampled_verdict.c). */
struct lode_sampling {
	uint64_t mine;  /* nanoseconds of samples that show it, at the last look */
	uint64_t all;   /* of all samples of its kind and place */
	uint64_t cut;   /* of those whose stack is cut and that do not show it */
	uint64_t exact; /* what the meter's clock had, without the function */
	double amount;  /* time so far, as samples divide up what the clock has */
	double unknown; /* time so far that may be its, or not */
};

struct lode_experiment {
	enum lode_hypothesis hypothesis;
	struct lode_focus focus;
	enum lode_experiment_state state;
	enum lode_experiment_origin origin;
	enum lode_experiment_priority priority;
	enum lode_evidence evidence;
	uint32_t parent;      /* the first one; LODE_NONE: a root */
	uint32_t links;       /* in lode_history.links, all parents, newest first; LODE_NONE: none */
	uint32_t first_child; /* by first parents, in order of creation */
	uint32_t last_child;
	uint32_t next_sibling;
	int active;  /* it is being measured: its verdict is open, or true and watched */
	int starter; /* a deep starter, regardless of how it was created */
	unsigned runs;
	double threshold;
	double value;      /* that the last verdict rests on; until then what was measured so far */
	double confidence; /* of it */
	double mean;       /* of all that was measured */
	double cost;       /* share of the program's time: measured, or until then predicted; below 0: not known */
	uint64_t created;  /* times of the meter's clock; 0: has not happened */
	uint64_t started;  /* last time */
	uint64_t concluded; /* last verdict */
	uint64_t found;     /* first time true */
	uint64_t lost;      /* last time it turned false after it had been true */
	uint64_t observed;  /* nanoseconds, of the last run */
	uint64_t seen;      /* those of them that its place could use; by the last sub-interval: */
	uint64_t seen_added;
	uint64_t calls;         /* of the function, seen in the last run */
	uint64_t sampled;       /* nanoseconds of samples that showed it by `sampled_since` */
	uint64_t sampled_since; /* when it was last started or found false */
	struct lode_sampling sampling;
	uint64_t past_time;   /* by samples: nanoseconds that it looked back when it began, and usable time of */
	uint64_t past_usable; /* its place in them */
	char *why;            /* a sentence about its state, or NULL */
	char *not_probed;     /* why it rests on samples, or NULL: it cannot have probes */
	struct lode_observation *observation; /* while it is active */
};

struct lode_history_link {
	uint32_t parent;
	uint32_t next;
};

struct lode_history {
	struct lode_experiment *experiments;
	size_t count;
	size_t capacity;
	struct lode_history_link *links;
	size_t link_count;
	size_t link_capacity;
	struct lode_index index;
	uint32_t first_root, last_root;
};

void lode_history_init(struct lode_history *history);
void lode_history_release(struct lode_history *history);
/* The experiment of a hypothesis at a focus, or LODE_NONE. */
uint32_t lode_history_find(const struct lode_history *history, enum lode_hypothesis hypothesis,
			   const struct lode_focus *focus);
/*
 * The experiment of a hypothesis at a focus, a child of `parent` (LODE_NONE: a root)
 * from now on. `*added` says whether it is new. LODE_NONE when memory has run out.
 */
uint32_t lode_history_add(struct lode_history *history, enum lode_hypothesis hypothesis,
			  const struct lode_focus *focus, uint32_t parent, int *added);
/* Sets the sentence about an experiment's state; NULL takes it away. Memory that runs out loses the sentence.
 */
void lode_history_say(struct lode_history *history, uint32_t experiment, const char *why);
/* From now on it rests on samples, for this reason (NULL: it cannot have probes). */
void lode_history_rest_on_samples(struct lode_history *history, uint32_t experiment, const char *why);
/* `never-run`, `running`, `true`, `false`, `deferred`, `impossible`. */
const char *lode_experiment_state_name(enum lode_experiment_state state);
/* `call-graph`, `connect`, `deep-start`. */
const char *lode_experiment_origin_name(enum lode_experiment_origin origin);
/* `probes`, `samples`. */
const char *lode_evidence_name(enum lode_evidence evidence);

#endif
