/*
 * Experiment queue: experiments that wait for their start, by priority; see search.h.
 * experiment_runs.c starts them.
 */
#include "hunt/search/search_internal.h"

int lode_search_enqueue(struct lode_search *search, uint32_t id)
{
	if (lode_ids_push(&search->queue.pending[get(search, id)->priority], id) < 0)
		return LODE_SYSTEM;
	search->queue.queued[id] = 1;
	return 0;
}

/* One that waits rises to a higher priority, and then owes its place to the new origin. */
static int raise_priority(struct lode_search *search, uint32_t id, enum lode_experiment_origin origin,
			  enum lode_experiment_priority priority)
{
	struct lode_experiment *experiment = get(search, id);

	if (priority >= experiment->priority)
		return 0;
	if (!experiment->runs)
		experiment->origin = origin;
	if (search->queue.queued[id] == 1) {
		lode_ids_remove(&search->queue.pending[experiment->priority], id);
		if (lode_ids_push(&search->queue.pending[priority], id) < 0)
			return LODE_SYSTEM;
	}
	experiment->priority = priority;
	return 0;
}

/* Stores the names in a focus while its processes and threads exist. */
static int keep_names(struct lode_search *search, const struct lode_focus *focus)
{
	for (enum lode_focus_axis axis = LODE_AXIS_HOST; axis < LODE_AXES; axis++) {
		uint64_t number = lode_focus_on(focus, axis);
		const char *name;

		if (!lode_focus_has(focus, axis) || lode_focus_names_find(&search->names, axis, number))
			continue;
		name = search->meter->operations->name(search->meter, axis, number);
		if (!lode_focus_names_keep(&search->names, axis, number, name ? name : "?"))
			return LODE_SYSTEM;
	}
	return 0;
}

uint32_t lode_search_want(struct lode_search *search, enum lode_hypothesis hypothesis,
			  const struct lode_focus *focus, uint32_t parent, enum lode_experiment_origin origin,
			  enum lode_experiment_priority priority)
{
	struct lode_experiment *experiment;
	int added;
	uint32_t id;

	if (LODE_GROW(search->queue.queued, search->queue.queued_capacity, search->history.count + 1) < 0)
		return LODE_NONE;
	id = lode_history_add(&search->history, hypothesis, focus, parent, &added);
	if (id == LODE_NONE)
		return LODE_NONE;
	experiment = get(search, id);
	if (added) {
		if (keep_names(search, focus) < 0)
			return LODE_NONE;
		experiment->origin = origin;
		experiment->priority = priority;
		experiment->threshold = search->options.thresholds[hypothesis];
		experiment->created = now(search);
		search->queue.queued[id] = 0;
		lode_search_notify(search, id);
	} else if (raise_priority(search, id, origin, priority) < 0) {
		return LODE_NONE;
	}
	if (experiment->state == LODE_EXPERIMENT_NEVER_RUN && !search->queue.queued[id] &&
	    lode_search_enqueue(search, id) < 0)
		return LODE_NONE;
	return id;
}

int lode_search_run_again(struct lode_search *search, uint32_t id)
{
	const struct lode_experiment *experiment = get(search, id);

	if (experiment->active || search->queue.queued[id] || experiment->runs >= LODE_MAX_RUNS)
		return 0;
	return lode_search_enqueue(search, id);
}
