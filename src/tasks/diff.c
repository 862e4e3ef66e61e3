/*
 * lode diff: which functions make slow streams slow, and in which context (IntroPerf).
 */
#include "base/memory.h"
#include "tasks/diff_forms.h"
#include "scope/frame_filter.h"

#include <string.h>

/* Paths of a page, unless --top or --all say otherwise. */
#define PAGE_PATHS 200

LODE_CHOICES(new_paths_choice, "more", "whole")

#define FIELD(field) offsetof(struct lode_diff_settings, field)

static const struct lode_option options[] = {
	LODE_LIST("base-where", 0, FIELD(base.where), "KEY=VALUE", "BASE: only streams with this attribute"),
	LODE_LIST("slow-where", 0, FIELD(slow.where), "KEY=VALUE", "SLOW: only streams with this attribute"),
	LODE_LIST("base-stream", 0, FIELD(base.streams), "NAME", "BASE: only streams with this name or id"),
	LODE_LIST("slow-stream", 0, FIELD(slow.streams), "NAME", "SLOW: only streams with this name or id"),
	LODE_LIST("slow-module", 0, FIELD(modules), "NEW=OLD",
		  "SLOW: take the program or library NEW for OLD, of which it is another version"),
	LODE_LATENCY_OPTIONS(FIELD(latency), "paths", lode_diff_form_choice),
	LODE_CHOICE("new-paths", 0, FIELD(new_paths), "HOW",
		    "cost of paths that BASE lacks: the extra time of their functions, or all of it",
		    new_paths_choice),
	LODE_LIST("truth", 0, FIELD(truth), "GLOB", "functions known to be at fault: show how close the result is"),
	LODE_FLAG("guess", 0, FIELD(guess), "name the likeliest cause even if nothing is sure"),
	LODE_FLAG("exit-code", 0, FIELD(exit_code), "exit with 1 when SLOW surely takes more"),
	LODE_GATE_OPTIONS(FIELD(gate)),
	LODE_NO_MORE_OPTIONS,
};

/* What was compared. */
struct comparison {
	struct lode_diff_sides sides;
	struct lode_diff diff;
	uint8_t *fits;
	struct lode_diff_distance distance;
	struct lode_gate gate;
	struct lode_checks checks;
};

static int show(struct lode_analysis *analysis, const struct comparison *comparison, struct lode_error *error)
{
	const struct lode_diff_settings *settings = analysis->call->settings;
	const struct lode_diff_sides *sides = &comparison->sides;
	struct lode_diff_report report = {
		.base = { sides->base.source.path, sides->base_streams, &sides->base.latency, sides->base_states },
		.slow = { sides->slow.source.path, sides->slow_streams, &sides->slow.latency, sides->slow_states },
		.diff = &comparison->diff,
		.fits = comparison->fits,
		.top = lode_latency_top(&settings->latency, analysis),
		.distance = settings->truth.count ? &comparison->distance : NULL,
		.gate = comparison->gate.rule_count ? &comparison->gate : NULL,
		.checks = comparison->gate.rule_count ? &comparison->checks : NULL,
		.for_page = lode_analysis_is(analysis, LODE_FORM_PAGE),
		.rules = sides->base.source.rules,
	};
	int code = lode_latency_tree_min(&settings->latency, "diff", lode_diff_whole(report.diff), &report.least,
					 error);
	char *title = lode_format("%s %s", report.base.corpus, report.slow.corpus);

	if (!code && !title)
		code = lode_fail_memory(error);
	if (report.for_page && !settings->latency.top && !settings->latency.all)
		report.top = PAGE_PATHS;
	analysis->title = title;
	if (!code)
		code = lode_analysis_write(analysis, &report, error);
	lode_free(title);
	return code;
}

/* To standard output or -o first, then to the files of --report. */
static int show_all(struct lode_analysis *analysis, const struct comparison *comparison, struct lode_error *error)
{
	const struct lode_option_list *reports =
		&((const struct lode_diff_settings *)analysis->call->settings)->gate.reports;
	int code = show(analysis, comparison, error);

	for (size_t i = 0; !code && i < reports->count; i++) {
		struct lode_analysis_target target;

		code = lode_analysis_turn(analysis, reports->items[i], &target, error);
		if (!code)
			code = show(analysis, comparison, error);
		lode_analysis_turn(analysis, NULL, &target, NULL);
	}
	return code;
}

/* Before anything is read: rules, and whether there are some where a form or a file needs them. */
static int check_gate(struct lode_analysis *analysis, struct comparison *comparison, struct lode_error *error)
{
	const struct lode_diff_settings *settings = analysis->call->settings;
	const struct lode_option_list *reports = &settings->gate.reports;
	int code = lode_gate_read_rules(&settings->gate, &comparison->gate, error);

	if (!code && !settings->gate.rules.count && lode_diff_form_needs_gate(analysis->form))
		code = lode_fail(
			error, LODE_USAGE,
			"diff: '%s' has the results of rules; give some with '--gate'. See 'lode help diff'.",
			analysis->form->name);
	for (size_t i = 0; !code && i < reports->count; i++) {
		struct lode_analysis_target target;

		code = lode_analysis_turn(analysis, reports->items[i], &target, error);
		if (!code && !settings->gate.rules.count && lode_diff_form_needs_gate(analysis->form))
			code = lode_fail(error, LODE_USAGE,
					 "diff: '%s' has the results of rules; give some with '--gate'. See 'lode "
					 "help diff'.",
					 reports->items[i]);
		lode_analysis_turn(analysis, NULL, &target, NULL);
	}
	return code;
}

static int measure_distance(struct comparison *comparison, const struct lode_option_list *truth)
{
	uint8_t *frames;

	if (!truth->count)
		return 0;
	frames = lode_frame_filter(&comparison->diff.dictionary->frames, truth->items);
	if (!frames)
		return LODE_SYSTEM;
	comparison->distance = lode_diff_distance_of(&comparison->diff, frames);
	lode_free(frames);
	return 0;
}

static int compare_sides(struct lode_analysis *analysis, struct comparison *comparison, struct lode_error *error)
{
	const struct lode_diff_settings *settings = analysis->call->settings;
	struct lode_diff_sides *sides = &comparison->sides;
	struct lode_diff_options how = {
		.jobs = (unsigned)settings->latency.area.jobs,
		.guess = settings->guess,
		.match = settings->latency.area.match.items,
		.mean = settings->latency.mean,
		.whole_new_paths = settings->new_paths && !strcmp(settings->new_paths, "whole"),
	};
	int code = lode_latency_check(&settings->latency, "diff", &how.rule, error);

	if (!code)
		code = check_gate(analysis, comparison, error);
	if (!code)
		code = lode_diff_sides_read(sides, analysis->call, &analysis->work, error);
	if (!code && comparison->gate.rule_count && !lode_host_helps(analysis->call->host)) {
		code = lode_gate_read_blocks(&settings->gate, sides, &comparison->gate, error);
		how.gate = &comparison->gate;
	}
	lode_work_pause(&analysis->work);
	if (code)
		return code;
	if (lode_diff(&sides->base.latency, &sides->slow.latency, &how, &comparison->diff) < 0 ||
	    lode_stacks_match(comparison->diff.dictionary, settings->latency.area.match.items, &comparison->fits) <
		    0 ||
	    measure_distance(comparison, &settings->truth) < 0)
		return lode_fail_memory(error);
	if (how.gate)
		lode_gate_checks(&comparison->diff, &comparison->gate, &comparison->checks);
	lode_gate_set_unsure(&settings->gate, &comparison->checks);
	if (comparison->checks.failed)
		return lode_fail_memory(error);
	code = show_all(analysis, comparison, error);
	if (!code && settings->exit_code && lode_diff_is_sure(&comparison->diff))
		return LODE_FOUND;
	return !code && how.gate ? lode_checks_code(&comparison->checks) : code;
}

static int compare(struct lode_analysis *analysis, struct lode_error *error)
{
	struct comparison comparison = { 0 };
	int code = compare_sides(analysis, &comparison, error);

	lode_checks_release(&comparison.checks);
	lode_gate_release(&comparison.gate);
	lode_free(comparison.fits);
	lode_diff_release(&comparison.diff);
	lode_diff_sides_release(&comparison.sides);
	return code;
}

static const struct lode_analysis_command analysis = {
	.result = FIELD(latency.result),
	.memory = FIELD(latency.area.memory),
	.forms = lode_diff_forms,
	.make = compare,
};

const struct lode_command lode_command_diff = {
	.name = "diff",
	.summary = "find what makes slow streams slow, compared with good ones",
	.usage = "[OPTIONS] BASE [SLOW]",
	.about = "Infers the latencies of both corpora (see 'lode help latency') and ranks the paths of SLOW by "
		 "how much more time their functions take per stream than in BASE. Names the function to look at "
		 "first, if there are enough streams to be sure. Both sides may be in one corpus, distinguished "
		 "by attributes or names of their streams.",
	.examples = "  lode diff release-1 release-2\n"
		    "  lode diff corpus --base-where version=1 --slow-where version=2\n"
		    "  # a page with a heat map and the calls of both sides\n"
		    "  lode diff good bad -o diff.html\n"
		    "  # a gate for a release\n"
		    "  lode diff main branch --gate 'total > 3%' --report gate.md --report gate.xml\n",
	.options = options,
	.settings_size = sizeof(struct lode_diff_settings),
	.least_operands = 1,
	.most_operands = 2,
	.operand = "CORPUS",
	.analysis = &analysis,
	.run = lode_analysis_run,
};
