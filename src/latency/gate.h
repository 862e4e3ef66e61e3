/*
 * A gate for releases: rules that say how much more time a new version may take (`lode diff --gate`).
 *
 *	total > 3%             the whole run
 *	own > 5ms in FRAME     a function, without the functions that it calls, in all its contexts
 *	all > 5ms in FRAME     a function with all that it calls
 *
 * A share is one of a run of the base. Without `in FRAME` every function is judged. Each is a *subject*, whose difference
 * has an interval (blocked_intervals.h); all intervals of all rules together are right in 95 of 100 comparisons. A
 * subject is surely beyond its limit when its interval is, and surely not when its interval is not.
 *
 * Time that moved from one function to another makes nothing slower. So a function itself is beyond a limit only if its
 * callers, with all that they call, are beyond it, too: the nearest ones that the base shows.
 *
 * A slow-down that was over before the last streams were recorded went away. It did if the last ones take surely less
 * than those before them, and no more than the limit.
 */
#ifndef LODE_LATENCY_GATE_H
#define LODE_LATENCY_GATE_H

#include "base/error.h"
#include "latency/blocked_intervals.h"

/* What a rule measures. */
enum lode_gate_metric { LODE_GATE_TOTAL, LODE_GATE_OWN, LODE_GATE_ALL, LODE_GATE_METRICS };

struct lode_gate_rule {
	const char *text; /* as it was given */
	enum lode_gate_metric metric;
	double share;      /* of a run of the base; below 0: the limit is a time */
	double limit;      /* ns, unless it is a share */
	const char *frame; /* a glob, a part of `text`; NULL: every function */
};

/* What is known, the gravest last. */
enum lode_gate_verdict {
	LODE_GATE_WITHIN,    /* surely not beyond the limit */
	LODE_GATE_MOVED,     /* a function is, but its callers surely are not */
	LODE_GATE_WENT_AWAY, /* it was, and is no longer */
	LODE_GATE_UNSURE,    /* neither is sure */
	LODE_GATE_BEYOND,    /* surely */
	LODE_GATE_VERDICTS,
};

struct lode_gate {
	struct lode_gate_rule *rules;
	size_t rule_count;
	uint32_t *blocks; /* by stream, base first; numbers below the number of streams; NULL: one block */
	uint64_t *times;  /* by stream of the slow side: when it was recorded; NULL: not known */
	size_t persist;   /* how many of the last streams must show it; 0: nothing goes away */
};

#define LODE_GATE_NO_FRAME UINT32_MAX

struct lode_gate_subject {
	size_t rule;
	uint32_t frame; /* LODE_GATE_NO_FRAME: the whole run */
	enum lode_gate_verdict verdict;
	struct lode_blocked_interval difference;
	int has_callers; /* it is judged by its callers, too: */
	struct lode_blocked_interval callers;
	int has_recent; /* it went away: */
	double recent;  /* what the last streams take more */
};

/* What a rule came to. */
struct lode_gate_outcome {
	enum lode_gate_verdict verdict; /* the gravest of its subjects' */
	double limit;                   /* ns */
	size_t counts[LODE_GATE_VERDICTS];
	size_t left_out; /* functions that a rule for every function does not judge because there are too many */
};

struct lode_gate_result {
	enum lode_gate_verdict verdict; /* WITHIN, UNSURE or BEYOND: of all rules */
	double run;                     /* ns that a run of the base takes, in the streams that were compared */
	struct lode_blocked_use use;
	struct lode_gate_outcome *outcomes; /* by rule */
	struct lode_gate_subject *subjects; /* by rule, the gravest first, then those that take most more */
	size_t subject_count;
	size_t subject_capacity;
};

/* Reads a rule; `rule->text` and `rule->frame` point into `text`. Returns 0 or LODE_USAGE with a sentence. */
int lode_gate_rule_parse(struct lode_gate_rule *rule, const char *text, struct lode_error *error);
/* `total`, `own`, `all`; NULL: no such metric. */
const char *lode_gate_metric_name(unsigned metric);
/* `within`, `moved`, `went-away`, `unsure`, `beyond`; NULL: no such verdict. */
const char *lode_gate_verdict_name(unsigned verdict);

struct lode_diff;
struct lode_diff_rows;
/* Judges the rules by a comparison; `gate` stays as it is. Returns 0 or LODE_SYSTEM; release in either case. */
int lode_gate_judge(const struct lode_diff *diff, const struct lode_diff_rows *rows, const struct lode_gate *gate,
		    unsigned jobs, struct lode_gate_result *result);
void lode_gate_result_release(struct lode_gate_result *result);

#endif
