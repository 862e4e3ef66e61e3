/*
 * Doubts: where stack samples contradict a verdict; see search.h.
 *
 * Probes are exact and samples are not, so probes decide. But they see nothing of a
 * function that was on the stack when they went in and could not be found there; and
 * a program goes on to its next phase after a function was found false. In both cases
 * samples show the function above its threshold, and it is worth another run.
 *
 * Counts exist for hosts and processes, not for threads and objects: experiments on
 * those are not rechecked.
 */
#include "hunt/search/search_internal.h"

#include <math.h>

/* Samples of less time than this say little; those of more are of another phase. */
#define MIN_SAMPLED 5e8
#define MAX_SAMPLED 1e9
/* Standard deviations of chance that they must be above the threshold by. */
#define BEYOND_CHANCE 2

/* Whether samples since the mark show it clearly above its threshold. */
static int samples_hold(const struct lode_search *search, const struct lode_experiment *experiment)
{
	double passed = (double)(now(search) - experiment->sampled_since);
	double all = search->usable_rate;
	double rate = lode_focus_has(&experiment->focus, LODE_AXIS_PROCESS) ? fmin(all, 1) : all;
	double least = experiment->threshold * rate * passed;

	return lode_search_has_comparable_samples(experiment) &&
	       (double)(lode_search_sampled(search, experiment) - experiment->sampled) >
		       least + BEYOND_CHANCE * sqrt(least * lode_search_grain(search, experiment));
}

int lode_search_saw_nothing(const struct lode_search *search, const struct lode_experiment *experiment)
{
	return experiment->evidence == LODE_EVIDENCE_PROBES && !experiment->calls &&
	       !experiment->observation->last_amount && samples_hold(search, experiment);
}

static int may_follow_samples(const struct lode_search *search)
{
	return search->options.strategy == LODE_STRATEGY_DEEP_START && !search->options.starters_by_the_paper;
}

/* Whether it is false and the latest samples show it above the threshold. */
static int has_changed(struct lode_search *search, struct lode_experiment *experiment)
{
	double passed = (double)(now(search) - experiment->sampled_since) * search->usable_share;

	if (experiment->state != LODE_EXPERIMENT_FALSE || passed < MIN_SAMPLED)
		return 0;
	if (samples_hold(search, experiment))
		return 1;
	if (passed >= MAX_SAMPLED)
		lode_search_mark_samples(search, experiment);
	return 0;
}

int lode_search_recheck(struct lode_search *search)
{
	for (uint32_t id = 0; may_follow_samples(search) && id < search->history.count; id++)
		if (has_changed(search, get(search, id)) && lode_search_run_again(search, id) < 0)
			return LODE_SYSTEM;
	return 0;
}
