/*
 * The result of a hunt (hunt/search/search.h): lines of JSON while it runs and a summary at the
 * end, and the words that text, graph and page share. All append to a buffer, which remembers
 * when memory ran out. The search and its meter must still exist.
 */
#ifndef LODE_RESULT_HUNT_REPORT_H
#define LODE_RESULT_HUNT_REPORT_H

#include "base/json.h"
#include "hunt/search/search.h"

struct lode_hunt_report {
	const struct lode_search *search;
	const char *target; /* what was hunted, as the user named it */
	int ascii;          /* no other characters in text */
};

/* An experiment as it is now, one line. */
void lode_hunt_line(const struct lode_hunt_report *report, uint32_t experiment, struct lode_buffer *buffer);
/* The last line: the sums and the search history graph. */
void lode_hunt_summary(const struct lode_hunt_report *report, struct lode_buffer *buffer);
/* The sums alone, an object. */
void lode_hunt_sums(const struct lode_hunt_report *report, struct lode_json *json);

/* ---- what all of them ask ---- */

/*
 * The bottlenecks: experiments that were true, if only for some time. Most specific
 * first: those that nothing true refines, the strongest first, those that no longer hold
 * behind the others; then what leads to them, the deepest first. `*ids` is the caller's to free; NULL when memory has run
 * out. `*specific` is how many come before those that lead to them.
 */
uint32_t *lode_hunt_bottlenecks(const struct lode_search *search, size_t *count, size_t *specific);
/* The share of the samples of its kind and place that hold the function of an experiment; 0 for all code. */
double lode_hunt_sampled(const struct lode_search *search, const struct lode_experiment *experiment);
/* Steps from the whole program, by first parents. */
unsigned lode_hunt_depth(const struct lode_history *history, uint32_t experiment);

/* ---- words ---- */

/* What is narrowed, `the whole program` when nothing is: `app!sort in thread 12 worker`. */
void lode_hunt_focus(const struct lode_search *search, const struct lode_focus *focus, struct lode_buffer *buffer);
/* What the focus of an experiment adds to that of its first parent: `app!sort`, `thread 12 worker`. */
void lode_hunt_step(const struct lode_search *search, uint32_t experiment, struct lode_buffer *buffer);
/* What a hypothesis says of a place, for people: `uses the CPU`, `waits for other threads`. */
const char *lode_hunt_claim(enum lode_hypothesis hypothesis);
/* How the search came to an experiment, for people: `found from samples`; NULL: step by step, as usual. */
const char *lode_hunt_origin(enum lode_experiment_origin origin);
/* A measured value or a threshold: `42.3%`, `16 bytes`. */
void lode_hunt_value(enum lode_hypothesis hypothesis, double value, struct lode_buffer *buffer);
/* What an experiment has measured, and how if not by probes: `42.3%`, `42.3% by samples`. */
void lode_hunt_measured(const struct lode_experiment *experiment, struct lode_buffer *buffer);
/* The bottleneck in one sentence. */
void lode_hunt_sentence(const struct lode_search *search, uint32_t experiment, struct lode_buffer *buffer);
/* How the search ended: `nothing is left to examine`. */
const char *lode_hunt_end(const struct lode_search *search);

#endif
