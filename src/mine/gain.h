/*
 * What fixing something would gain: how much earlier the symptoms of a corpus would have ended, had the events of some stacks
 * been shorter or not there at all (scope/what_if.h).
 *
 * A *target* is what is to be fixed: a cluster, a pattern. Each is replayed at each of some percentages. Of a stream with very
 * many symptoms some are replayed, evenly spread, and represent the others: what a stream takes is linear in its events.
 */
#ifndef LODE_MINE_GAIN_H
#define LODE_MINE_GAIN_H

#include "mine/pattern_costs.h"
#include "scope/what_if.h"
#include "store/corpus.h"

#define LODE_GAIN_PERCENTS 2 /* that are asked for at once, at most */

/* What one target gains at one percentage, in all symptoms together. */
struct lode_gain {
	uint64_t likely;       /* ns */
	uint64_t low;          /* whatever holds of what the recording cannot tell, it is from this */
	uint64_t high;         /* to this */
	uint64_t interval_low; /* 95 % interval of `likely`, to be expected of as many such symptoms */
	uint64_t interval_high;
	int sure; /* there is one, else both ends are `likely`: over streams or, of fewer than three, over symptoms */
	uint64_t events; /* symptoms in which it gains something, as far as they were replayed */
};

/* One symptom, where these are wanted one by one. */
struct lode_gain_symptom {
	const char *stream; /* name and id, in the arena */
	const char *id;
	const char *name; /* "" when it has none */
	uint32_t tid;
	uint64_t t0;
	uint64_t t1;
	uint64_t replayed; /* its length when nothing is changed, ns */
	uint64_t cost;     /* of the first target on its critical path */
	uint64_t unsure;
	struct lode_gain gain; /* of the first target, at the first percentage; without interval */
};

struct lode_gain_request {
	size_t targets;
	/* Marks the stacks of target `i` among those of a stream: 1 by node. Several at a time. Returns 0 or LODE_SYSTEM. */
	int (*mark)(void *context, size_t i, const struct lode_dictionary *dictionary, uint8_t *marks);
	void *context;
	unsigned kinds; /* 1 << LODE_RUN | 1 << LODE_WAIT: which events can be shorter */
	unsigned percents[LODE_GAIN_PERCENTS];
	size_t percent_count;
	uint32_t cpus;    /* what_if.h */
	int each_symptom; /* they are wanted one by one */
};

struct lode_gains {
	struct lode_gain *items; /* by target, then by percentage */
	size_t targets;
	size_t percent_count;
	uint64_t symptoms;
	uint64_t symptoms_replayed;
	uint64_t streams;  /* with symptoms */
	uint64_t length;   /* of all symptoms, ns */
	uint64_t replayed; /* the same when nothing is changed: as near as the replay comes to it */
	uint64_t unsure; /* ns of their critical paths in waits of which it cannot be told when they would have ended */
	uint64_t cost;                  /* of the first target on them, ns */
	uint64_t sharing;               /* streams in which it is known who had the processors */
	struct lode_gain_symptom *each; /* in the order of the catalogue and of t0 */
	size_t each_count;
	size_t each_capacity;
	struct lode_arena arena;
};

/* Release it in either case. The result does not depend on options->jobs. */
int lode_gains_make(struct lode_gains *gains, struct lode_corpus *corpus, const struct lode_area_options *options,
		    const struct lode_gain_request *request, struct lode_error *error);
void lode_gains_release(struct lode_gains *gains);

static inline const struct lode_gain *lode_gain_of(const struct lode_gains *gains, size_t target, size_t percent)
{
	return &gains->items[target * gains->percent_count + percent];
}

#endif
