/* lode scope --without PATTERN: see scope_without.h. */
#include "tasks/scope_without.h"

#include "mine/gain_targets.h"
#include "scope/where.h"
#include "tasks/gain_options.h"
#include "text/gain_text.h"

#include <string.h>

/* Symptoms that are shown unless more are requested. */
#define TOP 10

LODE_TEXT_WRITER(write_text, lode_gain_text)
LODE_FORM_WRITER(write_json, lode_gain_json)

const struct lode_form lode_scope_without_forms[] = {
	{ .name = "text", .kind = LODE_FORM_TEXT, .write = write_text },
	{ .name = "json", .kind = LODE_FORM_JSON, .write = write_json },
	{ .name = NULL },
};

static int check_settings(const struct lode_scope_settings *settings, struct lode_error *error)
{
	if (lode_scope_chosen(settings->area.scope, LODE_SCOPE_CRITICAL_PATH) != LODE_SCOPE_CRITICAL_PATH)
		return lode_fail(
			error, LODE_USAGE,
			"scope: '--without' replays all threads that a symptom depends on; leave out '--scope'. "
			"See 'lode help scope'.");
	if (settings->streams.count)
		return lode_fail(error, LODE_USAGE,
				 "scope: '--without' and '--stream' do not go together; use '--where name=NAME'. "
				 "See 'lode help scope'.");
	return lode_where_check_threads(settings->area.where.items, error);
}

/* Which events of its stacks a pattern is about. */
static unsigned kinds_of(const struct lode_gain_pattern *pattern)
{
	if (!pattern->kind)
		return 1u << LODE_RUN | 1u << LODE_WAIT;
	return 1u << (strcmp(pattern->kind, "run") ? LODE_WAIT : LODE_RUN);
}

static int replay(struct lode_analysis *analysis, struct lode_source *source, struct lode_gain_report *report,
		  struct lode_gain_pattern *pattern, struct lode_gains *gains, struct lode_error *error)
{
	const struct lode_scope_settings *settings = analysis->call->settings;
	const struct lode_gain_request request = {
		.targets = 1,
		.mark = lode_gain_mark_pattern,
		.context = pattern,
		.kinds = kinds_of(pattern),
		.percents = { pattern->percent },
		.percent_count = 1,
		.cpus = report->cpus,
		.each_symptom = 1,
	};
	struct lode_area_options options = {
		.scope = LODE_SCOPE_CRITICAL_PATH,
		.where = settings->area.where.items,
		.idle = source->rules,
		.strict = settings->area.strict,
		.jobs = (unsigned)settings->area.jobs,
		.notes = &analysis->work.notes,
		.progress = analysis->work.progress,
	};
	int code = lode_source_symptoms(source, &settings->area, &options.symptoms, error);

	if (!code)
		code = lode_source_joins(source, error);
	options.joins = source->joins;
	if (!code)
		code = lode_gains_make(gains, source->corpus, &options, &request, error);
	if (!code && !gains->symptoms)
		code = lode_fail(
			error, LODE_USAGE,
			"%s: there are no symptoms; say what was slow with --symptom 'thread NAME', 'wait > "
			"200ms in FRAME' or --slow 10ms",
			source->path);
	return code;
}

int lode_scope_without(struct lode_analysis *analysis, struct lode_error *error)
{
	const struct lode_scope_settings *settings = analysis->call->settings;
	struct lode_gain_pattern pattern = { 0 };
	struct lode_source source = { 0 };
	struct lode_gains gains = { 0 };
	struct lode_gain_report report = { .gains = &gains, .top = settings->top };
	int code = check_settings(settings, error);

	if (!code)
		code = lode_cpus_parse(settings->cpus, &report.cpus, error);
	if (!code)
		code = lode_source_operands(&source, analysis->call, &settings->area, error);
	if (!code)
		code = lode_gain_pattern_parse(&pattern, settings->without, lode_corpus_path(source.corpus), error);
	if (!code)
		code = replay(analysis, &source, &report, &pattern, &gains, error);
	if (lode_analysis_is(analysis, LODE_FORM_TEXT) && !settings->top && !settings->all)
		report.top = TOP;
	report.corpus = source.path;
	report.without = pattern.text;
	report.percent = pattern.percent;
	if (!code)
		code = lode_analysis_write(analysis, &report, error);
	lode_gains_release(&gains);
	lode_gain_pattern_release(&pattern);
	lode_source_close(&source);
	return code;
}
