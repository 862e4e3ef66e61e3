/*
 * Coverage (StackMine, section VII.A.2): how much of the users' delay the
 * signatures explain, and in which order to open streams to find them.
 *
 *	coverage = CPU and wait time of the area's events that match the signatures
 *	           / total response delay of the symptoms
 *
 * An event that several signatures match counts once in what they explain
 * together. Without symptoms (scope `all` looks at none) the whole is the cost of
 * all events of the area. Signatures in the state `ignored` do not count.
 *
 * Opening streams (section VII.A.3, Figure 4): a stream *reveals* a signature when
 * an event of the area in this stream matches it. What is covered after some
 * streams are opened is the cost of all events, of all streams, that match a
 * signature revealed so far. Four orders are compared:
 *
 *	StackMine     signatures by coverage; for the first one that is not revealed
 *	              yet a stream that shows it; and so on. The paper leaves open
 *	              which. Here: the one that covers most in addition; with
 *	              `paper_order` any, which is the first of the area
 *	Random        any order; means over many shuffles
 *	Greedy-Total  by the total delay of a stream's symptoms, largest first
 *	Greedy-Max    by the longest delay of one symptom, largest first
 *
 * Without symptoms the greedy orders go by the cost of a stream's events in the
 * area, in all and of one of them.
 */
#ifndef LODE_MINE_COVERAGE_H
#define LODE_MINE_COVERAGE_H

#include "mine/signatures.h"
#include "scope/area.h"

enum lode_opening {
	LODE_OPENING_STACKMINE,
	LODE_OPENING_RANDOM,
	LODE_OPENING_GREEDY_TOTAL,
	LODE_OPENING_GREEDY_MAX,
	LODE_OPENINGS,
};

/* "stackmine", "random", "greedy_total", "greedy_max". */
const char *lode_opening_name(enum lode_opening opening);

struct lode_covering {
	size_t signature; /* its number in the list given */
	uint64_t cost[2]; /* by LODE_RUN, LODE_WAIT */
	uint64_t events;
	uint64_t streams;    /* where it matches */
	uint64_t cumulative; /* cost of what it and those before it match together */
};

/* A stream that is opened and reveals something. */
struct lode_opened {
	uint64_t opened; /* streams opened up to and with this one */
	uint32_t stream; /* of the area */
	uint32_t unused; /* 0 */
	uint64_t cost;   /* covered from here on */
	size_t first;    /* of what it reveals, in `revealed` */
	size_t count;
};

struct lode_opening_curve {
	struct lode_opened *steps;
	size_t count;
	size_t capacity;
	uint32_t *revealed; /* numbers in `items`, rising for each step */
	size_t revealed_count;
	size_t revealed_capacity;
};

/* How many streams each order needs to cover as much as StackMine's after one of its steps. */
struct lode_coverage_level {
	uint64_t cost;
	double streams[LODE_OPENINGS];
};

struct lode_coverage {
	uint64_t whole;    /* what the shares are of, ns */
	int from_symptoms; /* it is the delay of symptoms */
	uint64_t cost;     /* of all that any signature matches, ns; saturating, like all sums */
	uint64_t events;
	struct lode_covering *items; /* by cost, largest first, then by name */
	size_t count;
	size_t ignored;                                  /* signatures that do not count */
	struct lode_opening_curve curves[LODE_OPENINGS]; /* Random has none */
	struct lode_coverage_level *levels;              /* rising */
	size_t level_count;
	double ratio[LODE_OPENINGS]; /* mean over the levels of StackMine's streams by those of this order */
	unsigned shuffles;
	int paper_order;
};

/* Shuffles for Random by default. */
#define LODE_COVERAGE_SHUFFLES 1000

struct lode_coverage_options {
	unsigned shuffles; /* at least 1 */
	int paper_order;   /* the next signature by any stream that shows it, not by the one that adds most */
};

/*
 * Computes all of it; the same for the same input on every machine. Returns 0 or
 * LODE_SYSTEM. Release in either case.
 */
int lode_coverage_make(struct lode_coverage *coverage, const struct lode_area *area,
		       const struct lode_signatures *signatures, const struct lode_coverage_options *options,
		       struct lode_error *error);
void lode_coverage_release(struct lode_coverage *coverage);

#endif
