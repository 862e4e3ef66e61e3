/* Fills experiments and summaries of a hunt, and writes them as lines of JSON: see hunt_report.h, hunt_result.h. */
#include "result/hunt_result.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

/* ---- an experiment ---- */

static int write_name(const struct lode_written *self, struct lode_json *json)
{
	lode_json_text(json, lode_search_name(self->from, self->with, (enum lode_focus_axis)self->first));
	return 0;
}

/* Null where the focus is not narrowed. */
static struct lode_written name_of(const struct lode_search *search, const struct lode_focus *focus,
				   enum lode_focus_axis axis)
{
	return (struct lode_written){
		.write = lode_focus_has(focus, axis) ? write_name : NULL,
		.from = search,
		.with = focus,
		.first = axis,
	};
}

static int write_parents(const struct lode_written *self, struct lode_json *json)
{
	const struct lode_history *history = self->from;

	lode_json_array(json);
	for (uint32_t i = (uint32_t)self->first; i != LODE_NONE; i = history->links[i].next)
		lode_json_u64(json, history->links[i].parent);
	lode_json_array_end(json);
	return 0;
}

static struct lode_hunt_time time_of(const struct lode_search *search, uint64_t time)
{
	return (struct lode_hunt_time){ time != 0, time - lode_search_began(search) };
}

/* An experiment as it is now. */
static struct lode_hunt_experiment experiment_of(const struct lode_search *search, uint32_t id)
{
	const struct lode_history *history = lode_search_history(search);
	const struct lode_experiment *experiment = &history->experiments[id];
	const struct lode_focus *focus = &experiment->focus;
	int measured = experiment->runs > 0;

	return (struct lode_hunt_experiment){
		.t_ns = lode_search_lasted(search),
		.experiment = id,
		.has_parent = experiment->parent != LODE_NONE,
		.parent = experiment->parent,
		.parents = { .write = write_parents, .from = history, .first = experiment->links },
		.hypothesis = lode_hypothesis_name(experiment->hypothesis),
		.focus = { name_of(search, focus, LODE_AXIS_CODE), name_of(search, focus, LODE_AXIS_PROCESS),
			   name_of(search, focus, LODE_AXIS_THREAD), name_of(search, focus, LODE_AXIS_HOST),
			   name_of(search, focus, LODE_AXIS_OBJECT) },
		.origin = lode_experiment_origin_name(experiment->origin),
		.state = lode_experiment_state_name(experiment->state),
		.evidence = lode_evidence_name(experiment->evidence),
		.value = measured ? experiment->value : NAN,
		.threshold = experiment->threshold,
		.confidence = experiment->concluded ? experiment->confidence : NAN,
		.mean = measured ? experiment->mean : NAN,
		.cost = experiment->cost >= 0 ? experiment->cost : NAN,
		.observed_ns = experiment->observed,
		.calls = experiment->calls,
		.runs = experiment->runs,
		.created = time_of(search, experiment->created),
		.started = time_of(search, experiment->started),
		.concluded = time_of(search, experiment->concluded),
		.found = time_of(search, experiment->found),
		.lost = time_of(search, experiment->lost),
		.not_probed = experiment->not_probed,
		.why = experiment->why,
	};
}

void lode_hunt_line(const struct lode_hunt_report *report, uint32_t experiment, struct lode_buffer *buffer)
{
	struct lode_hunt_experiment fields = experiment_of(report->search, experiment);

	lode_fields_line(&lode_hunt_experiment_fields, &fields, buffer);
}

/* ---- the last line ---- */

static void count_experiments(const struct lode_history *history, struct lode_hunt_summary *summary)
{
	summary->experiments = history->count;
	for (size_t i = 0; i < history->count; i++) {
		summary->states.of[history->experiments[i].state]++;
		summary->origins.of[history->experiments[i].origin]++;
		summary->attempted += history->experiments[i].runs > 0;
	}
}

static int write_thresholds(const struct lode_written *self, struct lode_json *json)
{
	const struct lode_search_options *options = self->from;

	lode_json_object(json);
	for (int i = 0; i < LODE_HYPOTHESES; i++)
		lode_json_key_double(json, lode_hypothesis_name((enum lode_hypothesis)i), options->thresholds[i]);
	lode_json_object_end(json);
	return 0;
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

/* The search history graph: all experiments as they are now; `parents` are its edges. */
static int make_experiment(const struct lode_list *list, size_t i, void *item)
{
	*(struct lode_hunt_experiment *)item = experiment_of(list->from, (uint32_t)i);
	return 1;
}

static void write_summary(const struct lode_hunt_report *report, const struct lode_fields *fields,
			  struct lode_json *json)
{
	const struct lode_search *search = report->search;
	const struct lode_search_options *options = lode_search_options(search);
	struct lode_meter *meter = lode_search_meter(search);
	size_t count = 0, specific = 0;
	uint32_t *ids = lode_hunt_bottlenecks(search, &count, &specific);
	struct lode_hunt_summary summary = {
		.t_ns = lode_search_lasted(search),
		.target = report->target,
		.end = lode_hunt_end(search),
		.strategy = options->strategy == LODE_STRATEGY_DEEP_START ? "deep-start" : "call-graph",
		.thresholds = { .write = write_thresholds, .from = options },
		.deep_threshold = options->deep_threshold,
		.cost_limit = options->cost,
		.samples = lode_search_counts(search)->samples,
		.cost = meter->operations->cost(meter),
		.highest_cost = lode_search_highest_cost(search),
		.weighted_sum = utility(search),
		.specific = specific,
		.bottlenecks = lode_list_of(ids, ids ? count : 0),
		.history = { lode_search_history(search)->count, search, 0, make_experiment },
	};

	json->buffer->failed |= !ids;
	count_experiments(lode_search_history(search), &summary);
	lode_fields_write(fields, &summary, json);
	lode_free(ids);
}

void lode_hunt_sums(const struct lode_hunt_report *report, struct lode_json *json)
{
	write_summary(report, &lode_hunt_sums_fields, json);
}

void lode_hunt_summary(const struct lode_hunt_report *report, struct lode_buffer *buffer)
{
	struct lode_json json = { .buffer = buffer };

	write_summary(report, &lode_hunt_summary_fields, &json);
	lode_json_line(&json);
}
