/*
 * Experiment runs: what starts, what stops, and what it costs; see search.h.
 *
 * The cost of a running experiment is the measured one once that is known, before that
 * the one that the meter predicts; `committed` is their sum and never above the limit
 * when something starts. When a waiting experiment would fit if true ones were no longer
 * watched, the costliest of those are stopped; when measured costs exceed the limit, so
 * are running ones.
 */
#include "hunt/search/search_internal.h"

#include <math.h>
#include <stdio.h>

/*
 * Before this a measured cost says little. But it is soon: a function that samples do not show is
 * predicted to cost something, and mostly costs nothing, which makes room for the next.
 */
#define COST_KNOWN_AFTER 90000000ull
/* A cost that always fits. */
#define NEXT_TO_NOTHING 1e-4
/* Sums of costs are not exact. */
#define ROUNDING 1e-9

/* ---- starting and stopping ---- */

static int fill_batch(struct lode_search *search)
{
	size_t count = search->running.batch.count;

	if (LODE_GROW(search->running.batch_hypotheses, search->running.batch_hypotheses_capacity, count) < 0 ||
	    LODE_GROW(search->running.batch_foci, search->running.batch_foci_capacity, count) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < count; i++) {
		search->running.batch_hypotheses[i] = get(search, search->running.batch.items[i])->hypothesis;
		search->running.batch_foci[i] = get(search, search->running.batch.items[i])->focus;
		if (get(search, search->running.batch.items[i])->evidence == LODE_EVIDENCE_SAMPLES)
			search->running.batch_foci[i].function = LODE_NONE;
	}
	return 0;
}

static int begin_run(struct lode_search *search, uint32_t id)
{
	struct lode_experiment *experiment = get(search, id);

	experiment->observation = lode_calloc(1, sizeof(*experiment->observation));
	if (!experiment->observation || lode_ids_push(&search->running.active, id) < 0)
		return LODE_SYSTEM;
	search->queue.queued[id] = 0;
	experiment->active = 1;
	experiment->runs++;
	experiment->started = now(search);
	experiment->observed = experiment->seen = experiment->seen_added = 0;
	lode_search_mark_samples(search, experiment);
	if (experiment->evidence == LODE_EVIDENCE_SAMPLES) {
		lode_search_begin_samples(search, experiment);
		lode_search_look_back(search, experiment);
	}
	search->running.committed += fmax(experiment->cost, 0);
	search->running.highest = fmax(search->running.highest, search->running.committed);
	lode_search_set_state(search, id, LODE_EXPERIMENT_RUNNING, NULL);
	return 0;
}

/* Starts the experiments of the batch, all at once. */
static int start_batch(struct lode_search *search, struct lode_error *error)
{
	struct lode_meter *meter = search->meter;
	int code;

	if (!search->running.batch.count)
		return 0;
	if (fill_batch(search) < 0)
		return lode_fail_memory(error);
	for (size_t i = 0; i < search->running.batch.count; i++)
		if (begin_run(search, search->running.batch.items[i]) < 0)
			return lode_fail_memory(error);
	code = meter->operations->start(meter, search->running.batch.items, search->running.batch_hypotheses,
					search->running.batch_foci, search->running.batch.count, error);
	search->running.samples_since = now(search);
	for (size_t i = 0; i < search->running.batch.count; i++)
		get(search, search->running.batch.items[i])->started =
			search->running.samples_since; /* inserting probes takes its time */
	search->running.batch.count = 0;
	return code;
}

/* Takes an experiment off the active ones, to be stopped with the batch. */
int lode_search_retire(struct lode_search *search, uint32_t id)
{
	struct lode_experiment *experiment = get(search, id);

	if (lode_ids_push(&search->running.batch, id) < 0)
		return LODE_SYSTEM;
	lode_ids_remove(&search->running.active, id);
	experiment->active = 0;
	lode_free(experiment->observation);
	experiment->observation = NULL;
	search->running.committed = 0;
	for (size_t i = 0; i < search->running.active.count; i++)
		search->running.committed += fmax(get(search, search->running.active.items[i])->cost, 0);
	return 0;
}

int lode_search_stop_retired(struct lode_search *search, struct lode_error *error)
{
	struct lode_meter *meter = search->meter;
	int code = 0;

	if (search->running.batch.count)
		code = meter->operations->stop(meter, search->running.batch.items, search->running.batch.count,
					       error);
	search->running.batch.count = 0;
	return code;
}

/* ---- cost ---- */

double lode_search_predicted_cost(const struct lode_search *search, uint32_t id)
{
	const struct lode_experiment *experiment = get(search, id);
	double cost = search->meter->operations->predict(search->meter, experiment->hypothesis, &experiment->focus);

	/* What was measured the last time it ran counts too. */
	return cost < 0 || !experiment->runs ? cost : fmax(cost, experiment->cost);
}

/* Takes the measured cost in place of the predicted one. */
void lode_search_measure_cost(struct lode_search *search, struct lode_experiment *experiment,
			      const struct lode_reading *reading)
{
	double cost;

	if (experiment->observed < COST_KNOWN_AFTER || search->usable_rate <= 0)
		return;
	cost = (double)reading->cost / ((double)experiment->observed * search->usable_rate);
	search->running.committed += cost - fmax(experiment->cost, 0);
	experiment->cost = cost;
}

/* The costliest active experiment that is only watched (or, `open`, any but the roots); LODE_NONE: none costs
 * anything. */
static uint32_t costliest(const struct lode_search *search, int open)
{
	uint32_t best = LODE_NONE;

	for (size_t i = 0; i < search->running.active.count; i++) {
		const struct lode_experiment *experiment = get(search, search->running.active.items[i]);

		if (is_root(experiment) || experiment->cost <= 0 ||
		    (!open && experiment->state != LODE_EXPERIMENT_TRUE))
			continue;
		if (best == LODE_NONE || experiment->cost > get(search, best)->cost)
			best = search->running.active.items[i];
	}
	return best;
}

/* Stops watching true experiments until the active ones cost no more than `limit`. */
static int let_go(struct lode_search *search, double limit)
{
	uint32_t id;

	while (search->running.committed > limit && (id = costliest(search, 0)) != LODE_NONE) {
		lode_history_say(&search->history, id, "not watched any longer, to make room for others");
		if (lode_search_retire(search, id) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

/* Stops experiments that cost too much together: watched ones first, then running ones, which wait.
 */
int lode_search_stop_costly(struct lode_search *search, struct lode_error *error)
{
	double limit = search->options.cost;
	uint32_t id;

	if (search->running.committed <= limit)
		return 0;
	if (let_go(search, limit) < 0)
		return lode_fail_memory(error);
	while (search->running.committed > limit && (id = costliest(search, 1)) != LODE_NONE) {
		if (lode_search_retire(search, id) < 0)
			return lode_fail_memory(error);
		lode_search_set_state(search, id, LODE_EXPERIMENT_DEFERRED, "cost more than was predicted");
		if (get(search, id)->runs < LODE_MAX_RUNS && lode_search_enqueue(search, id) < 0)
			return lode_fail_memory(error);
	}
	return lode_search_stop_retired(search, error);
}

/* ---- what waits ---- */

/* Whether a plain refinement has lost its reason: all that requested it are false by now. */
static int is_pointless(const struct lode_search *search, const struct lode_experiment *experiment)
{
	if (is_root(experiment) || experiment->starter || experiment->origin != LODE_ORIGIN_CALL_GRAPH)
		return 0;
	for (uint32_t i = experiment->links; i != LODE_NONE; i = search->history.links[i].next)
		if (get(search, search->history.links[i].parent)->state != LODE_EXPERIMENT_FALSE)
			return 0;
	return 1;
}

/*
 * The cost of starting a waiting experiment. Functions that cannot be probed, or not within the limit, are
 * left to samples, which cost nothing; but to wait for room is no reason for that.
 */
static double cost_to_start(struct lode_search *search, uint32_t id)
{
	const struct lode_experiment *experiment = get(search, id);
	int is_module = lode_program_is_module(search->meter->program, experiment->focus.function);
	char why[96] = "cannot be probed";
	double cost;

	if (experiment->evidence == LODE_EVIDENCE_SAMPLES)
		return 0;
	cost = is_module ? -1 : lode_search_predicted_cost(search, id);
	if (!lode_search_may_rest_on_samples(experiment) || (cost >= 0 && cost <= search->options.cost))
		return cost;
	if (cost >= 0)
		snprintf(why, sizeof(why), "its probes would cost %.0f%% of the program's time", 100 * cost);
	lode_history_rest_on_samples(&search->history, id, is_module ? NULL : why);
	return 0;
}

static int is_unmeasurable(struct lode_search *search, uint32_t id)
{
	get(search, id)->active = 0;
	lode_search_set_state(search, id, LODE_EXPERIMENT_IMPOSSIBLE, "cannot be probed");
	return lode_search_refine(search, id);
}

/* It waits for its cost to fit, maybe forever. */
static void put_off(struct lode_search *search, uint32_t id)
{
	const struct lode_experiment *experiment = get(search, id);
	const char *why = experiment->cost > search->options.cost ? "would cost more than the limit by itself"
								  : "waits until others are done";

	if (experiment->state == LODE_EXPERIMENT_NEVER_RUN)
		lode_search_set_state(search, id, LODE_EXPERIMENT_DEFERRED, why);
	else if (experiment->state == LODE_EXPERIMENT_DEFERRED && !experiment->runs)
		lode_history_say(&search->history, id, why);
}

/*
 * Decides about one that waits: 1 it starts, 0 it is not wanted any longer, 2 it
 * goes on waiting, LODE_SYSTEM. `room` is what the limit leaves; `*blocked` says
 * that one before it waits for room that it could get.
 */
static int decide(struct lode_search *search, uint32_t id, double room, int *blocked)
{
	struct lode_experiment *experiment = get(search, id);
	double cost;

	if (is_pointless(search, experiment)) {
		lode_history_say(&search->history, id, "what it would refine has turned false");
		return 0;
	}
	cost = cost_to_start(search, id);
	if (cost < 0)
		return is_unmeasurable(search, id) < 0 ? LODE_SYSTEM : 0;
	experiment->cost = cost;
	if (cost <= room + ROUNDING && (!*blocked || cost <= NEXT_TO_NOTHING))
		return 1;
	if (cost <= search->options.cost)
		*blocked = 1;
	put_off(search, id);
	return 2;
}

/* Goes through one queue; what starts is put into the batch. The queue may grow meanwhile. */
static int sift(struct lode_search *search, struct lode_ids *queue, double *room, int *blocked)
{
	size_t kept = 0;

	for (size_t i = 0; i < queue->count; i++) {
		uint32_t id = queue->items[i];
		int decision = decide(search, id, *room, blocked);

		if (decision < 0)
			return decision;
		if (decision == 2) {
			queue->items[kept++] = id;
			continue;
		}
		if (decision == 0) {
			search->queue.queued[id] = 0;
			continue;
		}
		*room -= get(search, id)->cost;
		if (lode_ids_push(&search->running.batch, id) < 0)
			return LODE_SYSTEM;
	}
	queue->count = kept;
	return 0;
}

static size_t count_pending(const struct lode_search *search)
{
	size_t count = 0;

	for (int p = 0; p < LODE_PRIORITIES; p++)
		count += search->queue.pending[p].count;
	return count;
}

int lode_search_is_any_open(const struct lode_search *search)
{
	for (size_t i = 0; i < search->running.active.count; i++)
		if (get(search, search->running.active.items[i])->state == LODE_EXPERIMENT_RUNNING)
			return 1;
	return 0;
}

/* The cost of the first that waits and could be afforded alone; below 0: there is none. */
double lode_search_first_affordable(const struct lode_search *search)
{
	for (int p = 0; p < LODE_PRIORITIES; p++)
		for (size_t i = 0; i < search->queue.pending[p].count; i++) {
			double cost = get(search, search->queue.pending[p].items[i])->cost;

			if (cost <= search->options.cost)
				return cost;
		}
	return -1;
}

/* What the meter's own work leaves of the limit to probes: at least half, so that the search goes on. */
static double limit_of_probes(const struct lode_search *search)
{
	double own = fmax(lode_meter_own(search->meter), 0);

	return search->options.cost - fmin(own, search->options.cost / 2);
}

static int start_what_fits(struct lode_search *search, double limit, struct lode_error *error)
{
	double room = limit - search->running.committed;
	int blocked = 0;

	for (int p = 0; p < LODE_PRIORITIES; p++)
		if (sift(search, &search->queue.pending[p], &room, &blocked) < 0)
			return lode_fail_memory(error);
	return start_batch(search, error);
}

int lode_search_start_pending(struct lode_search *search, struct lode_error *error)
{
	double limit = limit_of_probes(search), cost;
	int code = count_pending(search) ? start_what_fits(search, limit, error) : 0;

	if (code || !count_pending(search) || lode_search_is_any_open(search))
		return code;
	cost = lode_search_first_affordable(search);
	if (cost < 0)
		return 0;
	limit = fmax(limit, cost); /* alone it may take all */
	if (let_go(search, limit - cost) < 0)
		return lode_fail_memory(error);
	code = lode_search_stop_retired(search, error);
	return code ? code : start_what_fits(search, limit, error);
}
