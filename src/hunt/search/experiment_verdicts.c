/*
 * Experiment verdicts: reads what every running experiment has measured, and decides
 * whether it is true, false, or to be run another way; see search.h.
 */
#include "hunt/search/search_internal.h"

#include <math.h>

/* How many times longer measuring may take where the program gets no CPU. */
#define MIN_USABLE_SHARE 0.05

/* ---- another look ---- */

/* Looks once more at what was found false below `id`. */
static int examine_again_below(struct lode_search *search, uint32_t id)
{
	for (uint32_t child = get(search, id)->first_child; child != LODE_NONE;
	     child = get(search, child)->next_sibling)
		if (get(search, child)->state == LODE_EXPERIMENT_FALSE && lode_search_run_again(search, child) < 0)
			return LODE_SYSTEM;
	return 0;
}

/* `id` is a bottleneck no longer: one of its siblings may be one now. */
static int examine_again_beside(struct lode_search *search, uint32_t id)
{
	for (uint32_t i = get(search, id)->links; i != LODE_NONE; i = search->history.links[i].next) {
		uint32_t parent = search->history.links[i].parent;

		if (get(search, parent)->state == LODE_EXPERIMENT_TRUE && examine_again_below(search, parent) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

/* ---- verdicts ---- */

static int turn_true(struct lode_search *search, uint32_t id)
{
	struct lode_experiment *experiment = get(search, id);
	int again = experiment->runs > 1 || experiment->state == LODE_EXPERIMENT_FALSE;

	experiment->concluded = now(search);
	if (!experiment->found)
		experiment->found = experiment->concluded;
	experiment->lost = 0;
	lode_observation_settle(experiment->observation);
	lode_search_set_state(search, id, LODE_EXPERIMENT_TRUE, NULL);
	if (again && examine_again_below(search, id) < 0)
		return LODE_SYSTEM;
	/* The way to a deep starter begins at what refinement has made. */
	if (lode_search_refine(search, id) < 0)
		return LODE_SYSTEM;
	return lode_search_start_deep(search, id);
}

/* Whether one is a share of the same time as another, and a part of it: of some of its code, or one of its locks. */
static int is_part(const struct lode_experiment *part, const struct lode_experiment *whole)
{
	struct lode_focus focus = part->focus;

	if (whole->focus.function == LODE_NONE)
		focus.function = LODE_NONE;
	if (!whole->focus.object)
		focus.object = 0;
	return part->hypothesis == whole->hypothesis && part->hypothesis < LODE_SMALL_IO &&
	       lode_focus_equal(&focus, &whole->focus);
}

/* What was found in a place and is not watched any longer does not hold either when the place is no bottleneck now. */
static void lose_parts(struct lode_search *search, uint32_t id)
{
	const struct lode_experiment *whole = get(search, id);

	for (uint32_t other = 0; other < search->history.count; other++) {
		struct lode_experiment *part = get(search, other);

		if (other == id || part->active || part->state != LODE_EXPERIMENT_TRUE || !is_part(part, whole))
			continue;
		part->lost = whole->concluded;
		lode_search_set_state(search, other, LODE_EXPERIMENT_FALSE,
				      "what it is a part of has turned false");
	}
}

static int turn_false(struct lode_search *search, uint32_t id)
{
	struct lode_experiment *experiment = get(search, id);
	int was_true = experiment->state == LODE_EXPERIMENT_TRUE;

	experiment->concluded = now(search);
	if (was_true)
		experiment->lost = experiment->concluded;
	lode_observation_settle(experiment->observation);
	lode_search_mark_samples(search, experiment);
	lode_search_set_state(search, id, LODE_EXPERIMENT_FALSE, was_true ? "was true for some time" : NULL);
	if (was_true)
		lose_parts(search, id);
	if (was_true && examine_again_beside(search, id) < 0)
		return LODE_SYSTEM;
	return is_root(get(search, id)) ? 0 : lode_search_retire(search, id);
}

/* Lets samples decide an experiment that probes cannot measure. */
static int rest_on_samples(struct lode_search *search, uint32_t id, const char *why)
{
	lode_history_rest_on_samples(&search->history, id, why);
	lode_search_set_state(search, id, LODE_EXPERIMENT_DEFERRED, why);
	return lode_search_enqueue(search, id);
}

/* Neither probes nor samples can decide it. Its callees are examined in its place. */
static int set_undecidable(struct lode_search *search, uint32_t id, const char *why)
{
	if (lode_search_retire(search, id) < 0)
		return LODE_SYSTEM;
	lode_search_set_state(search, id, LODE_EXPERIMENT_IMPOSSIBLE, why);
	return lode_search_refine(search, id);
}

/* Samples cannot decide it: the time that they do not show may belong to it. */
static int stays_unknown(struct lode_search *search, uint32_t id)
{
	const struct lode_experiment *experiment = get(search, id);

	if (experiment->state != LODE_EXPERIMENT_RUNNING || experiment->seen < search->options.test.maximum)
		return 0;
	return set_undecidable(search, id,
			       "samples cannot decide: their stacks are cut, too many are missing, or "
			       "waits are not over");
}

/* Its probes missed a call that was in progress: they go in again, a few times at most. */
static int was_missed(struct lode_search *search, uint32_t id)
{
	if (lode_search_retire(search, id) < 0)
		return LODE_SYSTEM;
	if (get(search, id)->runs < LODE_MAX_RUNS) {
		lode_search_set_state(search, id, LODE_EXPERIMENT_DEFERRED,
				      "its probes saw nothing, though samples show it; runs again");
		return lode_search_enqueue(search, id);
	}
	return rest_on_samples(search, id, "its probes saw nothing, though samples show it");
}

/* Judges what one experiment has measured. */
static int judge(struct lode_search *search, uint32_t id)
{
	struct lode_experiment *experiment = get(search, id);
	struct lode_test_options test = search->options.test;
	int is_open = experiment->state == LODE_EXPERIMENT_RUNNING;
	struct lode_verdict verdict;

	if (!is_open)
		test.maximum = UINT64_MAX; /* it has its verdict, which stays until there is a sure one against it */
	verdict = lode_observation_look(experiment->observation, experiment->hypothesis, experiment->threshold,
					&test, experiment->seen);
	experiment->mean = lode_observation_mean(experiment->observation);
	if (is_open || verdict.concluded) {
		experiment->value = verdict.value;
		experiment->confidence = verdict.confidence;
	}
	if (!verdict.concluded || (!is_open && verdict.truth == (experiment->state == LODE_EXPERIMENT_TRUE)))
		return 0;
	if (!verdict.truth && lode_search_may_hold(experiment, verdict.value))
		return stays_unknown(search, id);
	if (is_open && !verdict.truth && lode_search_saw_nothing(search, experiment))
		return was_missed(search, id);
	return verdict.truth ? turn_true(search, id) : turn_false(search, id);
}

/* Its probes cost too much and were removed. It runs again if it could fit; otherwise samples decide. */
static int was_costly(struct lode_search *search, uint32_t id, const struct lode_reading *reading)
{
	struct lode_experiment *experiment = get(search, id);

	if (lode_search_retire(search, id) < 0)
		return LODE_SYSTEM;
	experiment->cost = lode_search_predicted_cost(search, id); /* the meter knows better now */
	if (experiment->runs < 2 && experiment->cost <= search->options.cost) {
		lode_search_set_state(search, id, LODE_EXPERIMENT_DEFERRED, reading->why);
		return lode_search_enqueue(search, id);
	}
	if (lode_search_may_rest_on_samples(experiment))
		return rest_on_samples(search, id, reading->why);
	if (experiment->state == LODE_EXPERIMENT_TRUE)
		lode_history_say(&search->history, id, reading->why);
	else
		lode_search_set_state(search, id, LODE_EXPERIMENT_DEFERRED, reading->why);
	return 0;
}

/* The processes have ended: what was measured decides, if it is enough. */
static int has_gone(struct lode_search *search, uint32_t id, const struct lode_reading *reading)
{
	struct lode_experiment *experiment = get(search, id);
	struct lode_verdict verdict =
		lode_observation_close(experiment->observation, experiment->hypothesis, experiment->threshold);
	int is_open = experiment->state == LODE_EXPERIMENT_RUNNING;
	int enough = experiment->seen >= search->options.test.minimum && experiment->observation->filled &&
		     (verdict.truth || !lode_search_may_hold(experiment, verdict.value));

	if (lode_search_retire(search, id) < 0)
		return LODE_SYSTEM;
	if (!is_open)
		return 0;
	if (!enough) {
		lode_search_set_state(search, id, LODE_EXPERIMENT_IMPOSSIBLE,
				      reading->why ? reading->why : "its processes have ended");
		return 0;
	}
	experiment->value = verdict.value;
	experiment->confidence = verdict.confidence;
	experiment->concluded = now(search);
	if (verdict.truth)
		experiment->found = experiment->concluded;
	lode_search_set_state(search, id, verdict.truth ? LODE_EXPERIMENT_TRUE : LODE_EXPERIMENT_FALSE,
			      "its processes have ended");
	return 0;
}

static int cannot_be_probed(struct lode_search *search, uint32_t id, const struct lode_reading *reading)
{
	if (!lode_search_may_rest_on_samples(get(search, id)))
		return set_undecidable(search, id, reading->why);
	if (lode_search_retire(search, id) < 0)
		return LODE_SYSTEM;
	return rest_on_samples(search, id, reading->why);
}

/*
 * How long it was measured: of the time that its place could use, since a program that has a CPU for a tenth of the time
 * shows in ten seconds what it would show in one.
 */
static void measure_time(struct lode_search *search, struct lode_experiment *experiment,
			 const struct lode_reading *reading)
{
	double wall = (double)reading->usable + (double)reading->ready, share = 1;

	if (wall > 0 && experiment->hypothesis != LODE_READY_WAITING)
		share = fmax((double)reading->usable / wall, MIN_USABLE_SHARE);
	experiment->observed = experiment->past_time + now(search) - experiment->started;
	if (is_root(experiment) && experiment->hypothesis == LODE_CPU_BOUND && experiment->observed) {
		search->usable_share = share;
		search->usable_rate = (double)reading->usable / (double)experiment->observed;
	}
	experiment->seen = (uint64_t)((double)experiment->observed * share);
}

static int handle_reading(struct lode_search *search, uint32_t id, struct lode_reading *reading)
{
	struct lode_experiment *experiment = get(search, id);

	if (reading->state == LODE_READING_IMPOSSIBLE)
		return cannot_be_probed(search, id, reading);
	measure_time(search, experiment, reading);
	experiment->calls = reading->calls;
	if (experiment->evidence == LODE_EVIDENCE_SAMPLES)
		lode_search_read_samples(search, experiment, reading);
	lode_search_measure_cost(search, experiment, reading);
	/* Sub-intervals are about as long for the program, too. */
	if (reading->state == LODE_READING_ON &&
	    experiment->seen < experiment->seen_added + search->options.test.interval / 2)
		return 0;
	experiment->seen_added = experiment->seen;
	lode_observation_add(experiment->observation, experiment->hypothesis, reading);
	switch (reading->state) {
	case LODE_READING_COSTLY:
		return was_costly(search, id, reading);
	case LODE_READING_GONE:
		return has_gone(search, id, reading);
	default:
		return judge(search, id);
	}
}

int lode_search_read_all(struct lode_search *search, struct lode_error *error)
{
	int code;

	for (size_t i = 0; i < search->running.active.count;) {
		uint32_t id = search->running.active.items[i];
		struct lode_reading reading = { 0 };

		code = search->meter->operations->read(search->meter, id, &reading, error);
		if (code < 0)
			return code;
		if (handle_reading(search, id, &reading) < 0)
			return lode_fail_memory(error);
		i += i < search->running.active.count &&
		     search->running.active.items[i] == id; /* else it has left the row */
	}
	return lode_search_stop_retired(search, error);
}
