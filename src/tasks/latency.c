/*
 * lode latency: how long functions take, in which context, out of stacks that were seen
 * now and then (IntroPerf).
 */
#include "tasks/latency_forms.h"
#include "tasks/latency_states.h"

#define FIELD(field) offsetof(struct lode_latency_command_settings, field)

static const struct lode_option options[] = {
	LODE_STREAM_OPTION(LODE_LATENCY_FIELD(FIELD(latency), streams)),
	LODE_LATENCY_OPTIONS(FIELD(latency), "contexts", lode_latency_form_choice),
	LODE_FLAG("instances", 0, FIELD(instances), "write every inferred call, one line each"),
	LODE_NO_MORE_OPTIONS,
};

/* Reading more events again for the states of threads would take too long beside latencies that are cached. */
#define MAX_EVENTS_FOR_STATES 5000000

/* Where only samples are, everything runs. */
static int has_waits(const uint64_t states[LODE_STATES])
{
	for (int state = 0; state < LODE_STATES; state++)
		if (states[state] && (state == LODE_STATE_READY || lode_state_is_wait((enum lode_state)state)))
			return 1;
	return 0;
}

static int rank_contexts(struct lode_analysis *analysis, struct lode_latency_inferred *inferred,
			 const enum lode_latency_rule *mean, struct lode_error *error)
{
	const struct lode_latency_settings *settings =
		&((const struct lode_latency_command_settings *)analysis->call->settings)->latency;
	struct lode_latency_report *report = &inferred->report;
	uint64_t states[LODE_STATES] = { 0 };
	struct lode_contexts contexts;
	int code = 0;

	*report = (struct lode_latency_report){
		.latency = &inferred->reading.latency,
		.contexts = &contexts,
		.top = lode_latency_top(settings, analysis),
		.corpus = inferred->reading.source.path,
		.for_page = lode_analysis_is(analysis, LODE_FORM_PAGE),
		.rules = inferred->reading.source.rules,
	};
	if (lode_contexts_rank(report->latency, settings->area.match.items, mean, &contexts) < 0)
		code = lode_fail_memory(error);
	if (!code && !lode_host_helps(analysis->call->host))
		code = lode_latency_states(&inferred->reading, settings->area.where.items, &analysis->work,
					   MAX_EVENTS_FOR_STATES, states, error);
	report->states = has_waits(states) ? states : NULL;
	if (!code)
		code = lode_latency_tree_min(settings, "latency", contexts.own, &report->least, error);
	if (!code && report->for_page && !settings->top && !settings->all)
		report->top = lode_latency_page_top(report);
	if (!code)
		code = lode_analysis_write(analysis, inferred, error);
	lode_contexts_release(&contexts);
	return code;
}

static int infer(struct lode_analysis *analysis, struct lode_error *error)
{
	const struct lode_latency_command_settings *settings = analysis->call->settings;
	struct lode_latency_inferred inferred = { 0 };
	enum lode_latency_rule rule;
	int code = lode_latency_form_check(settings, analysis->form, error);

	if (!code)
		code = lode_latency_check(&settings->latency, "latency", &rule, error);
	if (!code)
		code = lode_latency_open(&inferred.reading, analysis->call->operands,
					 analysis->call->operand_count, &settings->latency, &analysis->work, error);
	if (!code && lode_latency_form_is_flat(analysis->form)) {
		code = lode_analysis_write(analysis, &inferred, error);
	} else if (!code) {
		inferred.reading.options.sums_only = 1;
		code = lode_latency_read(&inferred.reading, error);
		lode_unread_streams_note(&inferred.reading.latency.unread, &analysis->work.notes);
		if (!code)
			code = rank_contexts(analysis, &inferred, settings->latency.mean ? &rule : NULL, error);
	}
	lode_latency_reading_release(&inferred.reading);
	return code;
}

static const struct lode_analysis_command analysis = {
	.result = FIELD(latency.result),
	.memory = FIELD(latency.area.memory),
	.hold = LODE_HOLD_FILES,
	.forms_of = lode_latency_forms,
	.make = infer,
};

const struct lode_command lode_command_latency = {
	.name = "latency",
	.summary = "infer how long functions take, and in which context",
	.usage = "[OPTIONS] CORPUS...",
	.about = "Infers from the stacks of each thread which calls there were and how long they took: a call "
		 "lasts as long as consecutive stacks contain it. Ranks contexts by the time spent in them.",
	.examples = "  lode latency corpus\n"
		    "  lode latency corpus --match 'libssl*!*'\n"
		    "  # every inferred call of one function, as JSON lines\n"
		    "  lode latency corpus --instances --json --match handle_click\n"
		    "  # a page with a heat map and the tree of calls\n"
		    "  lode latency corpus -o latency.html\n"
		    "  # inferred calls on a timeline, for speedscope.app\n"
		    "  lode latency corpus -o calls.speedscope.json\n",
	.options = options,
	.settings_size = sizeof(struct lode_latency_command_settings),
	.least_operands = 1,
	.most_operands = SIZE_MAX,
	.operand = "CORPUS",
	.analysis = &analysis,
	.run = lode_analysis_run,
};
