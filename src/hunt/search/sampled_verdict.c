/*
 * Verdicts by samples, for what cannot have probes, or whose probes would cost more than
 * the limit allows; see search.h.
 *
 * Such an experiment runs at the meter without its function, which needs no probes: it
 * returns the time that its focus could use and, exactly, the time of its kind that all code
 * takes there. The function's share of that is the growth of its node in the function
 * count graph of its focus (for a module: samples whose innermost function is in it).
 *
 * CPU samples are drawn by a clock. Some come late or not at all on a busy machine, no
 * matter what the program does then; so they only divide up what the meter's clock has.
 * Waits are reported one by one, when they end, with all their time. They count as they
 * are, except the part before the experiment began.
 *
 * Time that samples do not show is counted separately as unknown: time in stacks that were cut before
 * they came to the function, waits that are not over, samples that are missing in large
 * numbers. An experiment is not false while the unknown could make it true.
 */
#include "hunt/search/search_internal.h"

#include <math.h>

/* The clock's time may be at most this multiple of the samples'; the rest is unknown. */
#define MAX_LOST 2

int lode_search_may_rest_on_samples(const struct lode_experiment *experiment)
{
	return experiment->hypothesis < LODE_SMALL_IO && experiment->focus.function != LODE_NONE &&
	       !lode_focus_has(&experiment->focus, LODE_AXIS_OBJECT);
}

uint64_t lode_search_sampled(const struct lode_search *search, const struct lode_experiment *experiment)
{
	const struct lode_focus *focus = &experiment->focus;
	const struct lode_count_graph *graph =
		lode_program_is_module(search->meter->program, focus->function)
			? lode_counts_modules(&search->counts, experiment->hypothesis, focus)
			: lode_counts_graph(&search->counts, experiment->hypothesis, focus);
	uint32_t node = graph ? lode_count_node_find(graph, focus->function) : LODE_NONE;

	return node == LODE_NONE ? 0 : graph->nodes[node].weight;
}

/* What the counts have by now. */
static struct lode_sampling look_up(const struct lode_search *search, const struct lode_experiment *experiment)
{
	const struct lode_focus *focus = &experiment->focus;
	const struct lode_count_graph *graph = lode_counts_graph(&search->counts, experiment->hypothesis, focus);
	struct lode_sampling found = { .mine = lode_search_sampled(search, experiment) };
	uint32_t node;

	if (!graph)
		return found;
	found.all = graph->weight;
	if (lode_program_is_module(search->meter->program, focus->function))
		return found; /* stacks are cut at the other end */
	node = lode_count_node_find(graph, focus->function);
	found.cut = graph->cut - (node == LODE_NONE ? 0 : graph->nodes[node].cut);
	return found;
}

void lode_search_begin_samples(struct lode_search *search, struct lode_experiment *experiment)
{
	experiment->sampling = look_up(search, experiment);
	experiment->past_time = experiment->past_usable = 0;
}

double lode_search_grain(const struct lode_search *search, const struct lode_experiment *experiment)
{
	const struct lode_count_graph *graph =
		lode_counts_graph(&search->counts, experiment->hypothesis, &experiment->focus);

	return graph && graph->drawn ? (double)graph->drawn_weight / (double)graph->drawn : 0;
}

void lode_sampling_divide(struct lode_sampling *sampling, double exact, double all, double mine, double cut)
{
	if (all > 0) {
		sampling->amount += exact * mine / all;
		sampling->unknown += exact * cut / all;
	}
	sampling->unknown += fmax(0, exact - MAX_LOST * all);
}

void lode_search_read_samples(struct lode_search *search, struct lode_experiment *experiment,
			      struct lode_reading *reading)
{
	struct lode_sampling *sampling = &experiment->sampling, found = look_up(search, experiment);
	double exact = (double)reading->time[experiment->hypothesis] - (double)sampling->exact;
	double all = (double)(found.all - sampling->all), mine = (double)(found.mine - sampling->mine);
	double cut = (double)(found.cut - sampling->cut);

	if (experiment->hypothesis == LODE_CPU_BOUND) {
		lode_sampling_divide(sampling, fmax(0, exact), all, mine, cut);
	} else {
		sampling->amount += mine;
		sampling->unknown += exact - all + cut;
	}
	found.exact = reading->time[experiment->hypothesis];
	found.amount = sampling->amount;
	found.unknown = sampling->unknown;
	*sampling = found;
	experiment->observation->grain = lode_search_grain(search, experiment);
	reading->time[experiment->hypothesis] = (uint64_t)llround(sampling->amount);
	reading->usable += experiment->past_usable;
}

int lode_search_may_hold(const struct lode_experiment *experiment, double value)
{
	double base = (double)experiment->observation->last_base;

	return experiment->evidence == LODE_EVIDENCE_SAMPLES &&
	       fmax(0, experiment->sampling.unknown) > (experiment->threshold - value) * base;
}

/* ---- comparing probes with samples ---- */

int lode_search_has_comparable_samples(const struct lode_experiment *experiment)
{
	return experiment->hypothesis < LODE_SMALL_IO && experiment->focus.function != LODE_NONE &&
	       !lode_focus_has(&experiment->focus, LODE_AXIS_THREAD) &&
	       !lode_focus_has(&experiment->focus, LODE_AXIS_OBJECT);
}

void lode_search_mark_samples(struct lode_search *search, struct lode_experiment *experiment)
{
	if (!lode_search_has_comparable_samples(experiment))
		return;
	experiment->sampled = lode_search_sampled(search, experiment);
	experiment->sampled_since = now(search);
}

/* ---- waits that began before ---- */

static int is_in_place(const struct lode_meter_sample *sample, const struct lode_focus *focus)
{
	return (focus->host == LODE_NONE || focus->host == sample->host) &&
	       (focus->process == LODE_NONE || focus->process == sample->process) &&
	       (focus->thread == LODE_NONE || focus->thread == sample->thread);
}

static int shows(const struct lode_meter_sample *sample, uint32_t module, uint32_t function)
{
	for (size_t i = 0; i < sample->depth; i++)
		if (sample->functions[i] == function)
			return 1;
	return function == module;
}

void lode_search_clip(struct lode_search *search, const struct lode_meter_sample *sample, uint32_t module)
{
	if (sample->drawn || sample->t >= search->running.samples_since)
		return;
	for (size_t i = 0; i < search->running.active.count; i++) {
		struct lode_experiment *experiment = get(search, search->running.active.items[i]);
		struct lode_sampling *sampling = &experiment->sampling;
		uint64_t before;

		if (experiment->evidence != LODE_EVIDENCE_SAMPLES || experiment->hypothesis != sample->counts ||
		    sample->t >= experiment->started || !is_in_place(sample, &experiment->focus))
			continue;
		before = experiment->started - sample->t;
		if (before > sample->weight)
			before = sample->weight;
		sampling->all += before;
		if (shows(sample, module, experiment->focus.function))
			sampling->mine += before;
		else if (sample->cut && !lode_program_is_module(search->meter->program, experiment->focus.function))
			sampling->cut += before;
	}
}
