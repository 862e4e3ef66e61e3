/* A hunt as lines of JSON: see hunt_report.h and the contract of `lode hunt --json`. */
#include "base/memory.h"
#include "result/hunt_report.h"

#include <math.h>

/* A time since the hunt began; null: has not happened. */
static void key_time(struct lode_json *json, const char *key, const struct lode_search *search, uint64_t time)
{
	lode_json_key_u64_or_null(json, key, time != 0, time - lode_search_began(search));
}

static void put_focus(const struct lode_search *search, const struct lode_focus *focus, struct lode_json *json)
{
	static const char *const keys[LODE_AXES] = { "code", "host", "process", "thread", "object" };
	static const enum lode_focus_axis order[LODE_AXES] = { LODE_AXIS_CODE, LODE_AXIS_PROCESS, LODE_AXIS_THREAD,
							       LODE_AXIS_HOST, LODE_AXIS_OBJECT };

	lode_json_key_object(json, "focus");
	for (int i = 0; i < LODE_AXES; i++)
		lode_json_key_text_or_null(json, keys[order[i]],
					   lode_focus_has(focus, order[i])
						   ? lode_search_name(search, focus, order[i])
						   : NULL);
	lode_json_object_end(json);
}

static void put_parents(const struct lode_history *history, const struct lode_experiment *experiment,
			struct lode_json *json)
{
	lode_json_key_array(json, "parents");
	for (uint32_t i = experiment->links; i != LODE_NONE; i = history->links[i].next)
		lode_json_u64(json, history->links[i].parent);
	lode_json_array_end(json);
}

static void put_measured(const struct lode_search *search, const struct lode_experiment *experiment,
			 struct lode_json *json)
{
	int measured = experiment->runs > 0;

	lode_json_key_double(json, "value", measured ? experiment->value : NAN);
	lode_json_key_double(json, "threshold", experiment->threshold);
	lode_json_key_double(json, "confidence", experiment->concluded ? experiment->confidence : NAN);
	lode_json_key_double(json, "mean", measured ? experiment->mean : NAN);
	lode_json_key_double(json, "cost", experiment->cost >= 0 ? experiment->cost : NAN);
	lode_json_key_u64(json, "observed_ns", experiment->observed);
	lode_json_key_u64(json, "calls", experiment->calls);
	lode_json_key_u64(json, "runs", experiment->runs);
	key_time(json, "created_ns", search, experiment->created);
	key_time(json, "started_ns", search, experiment->started);
	key_time(json, "concluded_ns", search, experiment->concluded);
	key_time(json, "found_ns", search, experiment->found);
	key_time(json, "lost_ns", search, experiment->lost);
}

/* An experiment as it is now. */
static void put_experiment(const struct lode_search *search, uint32_t id, struct lode_json *json)
{
	const struct lode_history *history = lode_search_history(search);
	const struct lode_experiment *experiment = &history->experiments[id];

	lode_json_object(json);
	lode_json_key_u64(json, "t_ns", lode_search_lasted(search));
	lode_json_key_u64(json, "experiment", id);
	lode_json_key_u64_or_null(json, "parent", experiment->parent != LODE_NONE, experiment->parent);
	put_parents(history, experiment, json);
	lode_json_key_text(json, "hypothesis", lode_hypothesis_name(experiment->hypothesis));
	put_focus(search, &experiment->focus, json);
	lode_json_key_text(json, "origin", lode_experiment_origin_name(experiment->origin));
	lode_json_key_text(json, "state", lode_experiment_state_name(experiment->state));
	lode_json_key_text(json, "evidence", lode_evidence_name(experiment->evidence));
	put_measured(search, experiment, json);
	if (experiment->not_probed)
		lode_json_key_text(json, "not_probed", experiment->not_probed);
	if (experiment->why)
		lode_json_key_text(json, "why", experiment->why);
	lode_json_object_end(json);
}

void lode_hunt_line(const struct lode_hunt_report *report, uint32_t experiment, struct lode_buffer *buffer)
{
	struct lode_json json = { .buffer = buffer };

	put_experiment(report->search, experiment, &json);
	lode_json_line(&json);
}

/* ---- the last line ---- */

static void put_counts(const struct lode_history *history, struct lode_json *json)
{
	uint64_t states[LODE_EXPERIMENT_STATES] = { 0 }, origins[LODE_ORIGINS] = { 0 }, attempted = 0;

	for (size_t i = 0; i < history->count; i++) {
		states[history->experiments[i].state]++;
		origins[history->experiments[i].origin]++;
		attempted += history->experiments[i].runs > 0;
	}
	lode_json_key_u64(json, "experiments", history->count);
	lode_json_key_u64(json, "attempted", attempted);
	lode_json_key_object(json, "states");
	for (int i = 0; i < LODE_EXPERIMENT_STATES; i++)
		lode_json_key_u64(json, lode_experiment_state_name((enum lode_experiment_state)i), states[i]);
	lode_json_object_end(json);
	lode_json_key_object(json, "origins");
	for (int i = 0; i < LODE_ORIGINS; i++)
		lode_json_key_u64(json, lode_experiment_origin_name((enum lode_experiment_origin)i), origins[i]);
	lode_json_object_end(json);
}

static void put_settings(const struct lode_search_options *options, struct lode_json *json)
{
	lode_json_key_text(json, "strategy",
			   options->strategy == LODE_STRATEGY_DEEP_START ? "deep-start" : "call-graph");
	lode_json_key_object(json, "thresholds");
	for (int i = 0; i < LODE_HYPOTHESES; i++)
		lode_json_key_double(json, lode_hypothesis_name((enum lode_hypothesis)i), options->thresholds[i]);
	lode_json_object_end(json);
	lode_json_key_double(json, "deep_threshold", options->deep_threshold);
	lode_json_key_double(json, "cost_limit", options->cost);
}

/* The weighted sum of the paper, section 3: U(t) = -t seconds, over all bottlenecks. */
static double utility(const struct lode_search *search)
{
	const struct lode_history *history = lode_search_history(search);
	double sum = 0;

	for (size_t i = 0; i < history->count; i++)
		if (history->experiments[i].found)
			sum -= (double)(history->experiments[i].found - lode_search_began(search)) / 1e9;
	return sum;
}

static void put_bottlenecks(const struct lode_search *search, struct lode_json *json)
{
	size_t count, specific;
	uint32_t *ids = lode_hunt_bottlenecks(search, &count, &specific);

	json->buffer->failed |= !ids;
	lode_json_key_u64(json, "specific", specific);
	lode_json_key_array(json, "bottlenecks");
	for (size_t i = 0; ids && i < count; i++)
		lode_json_u64(json, ids[i]);
	lode_json_array_end(json);
	lode_free(ids);
}

/* The search history graph: all experiments as they are now; `parents` are its edges. */
static void put_history(const struct lode_search *search, struct lode_json *json)
{
	lode_json_key_array(json, "history");
	for (uint32_t i = 0; i < lode_search_history(search)->count; i++)
		put_experiment(search, i, json);
	lode_json_array_end(json);
}

static void put_summary(const struct lode_hunt_report *report, struct lode_json *json)
{
	const struct lode_search *search = report->search;
	struct lode_meter *meter = lode_search_meter(search);

	lode_json_key_bool(json, "summary", 1);
	lode_json_key_u64(json, "t_ns", lode_search_lasted(search));
	lode_json_key_text(json, "target", report->target);
	lode_json_key_text(json, "end", lode_hunt_end(search));
	put_settings(lode_search_options(search), json);
	put_counts(lode_search_history(search), json);
	lode_json_key_u64(json, "samples", lode_search_counts(search)->samples);
	lode_json_key_double(json, "cost", meter->operations->cost(meter));
	lode_json_key_double(json, "highest_cost", lode_search_highest_cost(search));
	lode_json_key_double(json, "weighted_sum", utility(search));
	put_bottlenecks(search, json);
}

void lode_hunt_sums(const struct lode_hunt_report *report, struct lode_json *json)
{
	lode_json_object(json);
	put_summary(report, json);
	lode_json_object_end(json);
}

void lode_hunt_summary(const struct lode_hunt_report *report, struct lode_buffer *buffer)
{
	struct lode_json json = { .buffer = buffer };

	lode_json_object(&json);
	put_summary(report, &json);
	put_history(report->search, &json);
	lode_json_object_end(&json);
	lode_json_line(&json);
}
