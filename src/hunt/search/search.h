/*
 * Search: looks for the bottlenecks of a running program by experiments, beginning
 * with the whole program and narrowing down where a hypothesis is true (Deep Start,
 * sections 1 and 2).
 *
 * A true experiment is refined: to a more specific hypothesis, to each function that its function calls
 * (first to the roots of the call graph), to each host, process, thread, object; one axis at a time. New
 * experiments wait in a queue and start, all that fit, within the cost limit: those of deep starters
 * first, then what connects them, then the plain refinements, each in the order they were made. A false
 * one is stopped and not refined. A true one is still watched while the cost limit allows it; it may turn
 * false. Those of the whole program need no probes and are watched throughout.
 *
 * Beyond the paper: a function that cannot have probes, or whose probes would cost more than the limit by
 * themselves, gets its verdict by samples (sampled_verdict.c); so do modules, to which experiments on all
 * code are refined. A function that neither can decide is passed through: its callees are examined in its
 * place. When a bottleneck goes away, its false siblings run again, and so do verdicts that samples
 * contradict (verdict_recheck.c), a few times at most.
 *
 * One thread. The search knows no clock but the meter's.
 */
#ifndef LODE_HUNT_SEARCH_SEARCH_H
#define LODE_HUNT_SEARCH_SEARCH_H

#include "hunt/search/function_counts.h"
#include "hunt/search/search_history.h"

enum lode_strategy {
	LODE_STRATEGY_DEEP_START,
	LODE_STRATEGY_CALL_GRAPH, /* without deep starters */
};

struct lode_search_options {
	double thresholds[LODE_HYPOTHESES];
	enum lode_strategy strategy;
	double deep_threshold; /* share of the samples */
	/*
	 * As the paper has it (section 2.1): when an experiment on a function tests true,
	 * and then only, deep starters are chosen, by all samples of its host or process
	 * regardless of what their threads were doing, and one for each connected subgraph. Else
	 * experiments on the whole code choose too, by samples of their own kind and
	 * thread, of all time and of late, and functions that have their experiment make
	 * room for the next.
	 */
	int starters_by_the_paper;
	int paper_hypotheses; /* none but the paper's: time without a CPU is not asked for */
	double cost;          /* most that probes may cost, as a share of the program's time */
	uint64_t time;        /* longest duration of the search; 0: none */
	int watch_on;         /* goes on when there is nothing left to examine */
	struct lode_test_options test;
};

/* Lode's own defaults; and those that Paradyn has published. */
void lode_search_options_default(struct lode_search_options *options);
void lode_search_options_paradyn(struct lode_search_options *options);
/* Returns 0, or LODE_USAGE with a sentence. */
int lode_search_options_check(const struct lode_search_options *options, struct lode_error *error);

/* How a search ended. */
enum lode_search_end {
	LODE_SEARCH_GOES_ON,
	LODE_SEARCH_PROGRAM_ENDED,
	LODE_SEARCH_EXHAUSTED, /* nothing is left to examine */
	LODE_SEARCH_TIME_UP,
	LODE_SEARCH_STOPPED, /* by the caller */
};

struct lode_search;

/*
 * Begins a search with the program's whole-program experiments. The meter stays the
 * caller's and must outlive the search. `changed`, which may be NULL, is called
 * for each experiment that is new or whose state has changed; it must not call the search.
 */
int lode_search_create(struct lode_search **search, struct lode_meter *meter,
		       const struct lode_search_options *options,
		       void (*changed)(void *context, uint32_t experiment), void *context,
		       struct lode_error *error);
void lode_search_destroy(struct lode_search *search);
/* `each` is called for every sample; a value below 0 ends the search: memory has run out. */
void lode_search_on_sample(struct lode_search *search,
			   int (*each)(void *context, const struct lode_meter_sample *sample), void *context);
/* Waits for the next look and takes it. Returns an enum lode_search_end, or a negative code. */
int lode_search_step(struct lode_search *search, struct lode_error *error);
/* Ends all experiments; says why those that did not conclude did not. After that, only look at it. */
int lode_search_finish(struct lode_search *search, enum lode_search_end end, struct lode_error *error);

const struct lode_history *lode_search_history(const struct lode_search *search);
const struct lode_counts *lode_search_counts(const struct lode_search *search);
const struct lode_search_options *lode_search_options(const struct lode_search *search);
struct lode_meter *lode_search_meter(const struct lode_search *search);
/* What a focus names on an axis, a function or a place; also after a process has ended. Valid until the next
 * call. */
const char *lode_search_name(const struct lode_search *search, const struct lode_focus *focus,
			     enum lode_focus_axis axis);
/* When it began, by the meter's clock; and how long it has gone on, or took. */
uint64_t lode_search_began(const struct lode_search *search);
uint64_t lode_search_lasted(const struct lode_search *search);
/* The share of the program's time that the running experiments cost, as estimated for the limit; and its
 * highest. */
double lode_search_cost(const struct lode_search *search);
double lode_search_highest_cost(const struct lode_search *search);
enum lode_search_end lode_search_ended(const struct lode_search *search);

#endif
