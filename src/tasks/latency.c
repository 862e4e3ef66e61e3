/*
 * lode latency: how long functions take, in which context, out of stacks that were seen
 * now and then (IntroPerf).
 */
#include "tasks/latency_options.h"
#include "export/export.h"
#include "export/graphs.h"
#include "export/latency_export.h"
#include "text/latency_text.h"

struct settings {
	struct lode_latency_settings latency;
	int instances;
};

static const char *form_choice(size_t i);

#define FIELD(field) offsetof(struct settings, field)

static const struct lode_option options[] = {
	LODE_STREAM_OPTION(LODE_LATENCY_FIELD(FIELD(latency), streams)),
	LODE_LATENCY_OPTIONS(FIELD(latency), "contexts", form_choice),
	LODE_FLAG("instances", 0, FIELD(instances), "write every inferred call, one line each"),
	LODE_NO_MORE_OPTIONS,
};

/* ---- contexts ---- */

/* What the forms get. */
struct inferred {
	struct lode_latency_reading reading;
	struct lode_latency_report report;
};

static int write_text(struct lode_analysis *analysis, void *result, struct lode_output *output, struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	struct inferred *inferred = result;

	(void)error;
	lode_latency_text(&inferred->report, settings->latency.all_frames, &analysis->look, &output->buffer);
	return 0;
}

static int write_json(struct lode_analysis *analysis, void *result, struct lode_output *output, struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	struct lode_latency_report *report = &((struct inferred *)result)->report;
	int code = lode_latency_tree_min(&settings->latency, "latency", report->contexts->own, &report->least, error);

	return code ? code : lode_latency_json(report, output, error);
}

static int write_page(struct lode_analysis *analysis, void *result, struct lode_output *output, struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	struct inferred *inferred = result;
	struct lode_latency_report shown = inferred->report;
	struct lode_idle_stacks *idle = NULL;
	int code = lode_latency_tree_min(&settings->latency, "latency", shown.contexts->own, &shown.least, error);

	if (!code)
		code = lode_idle_stacks_make(&idle, inferred->reading.source.rules, &shown.latency->dictionary, error);
	shown.page = idle;
	if (!settings->latency.top && !settings->latency.all)
		shown.top = lode_latency_page_top(&shown);
	if (!code)
		code = lode_latency_json(&shown, output, error);
	lode_idle_stacks_free(idle);
	return code;
}

static int write_graph(struct lode_analysis *analysis, void *result, struct lode_output *output, struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	struct inferred *inferred = result;
	uint64_t least;
	int code = lode_latency_tree_min(&settings->latency, "latency", inferred->report.contexts->own, &least, error);

	if (!code)
		lode_latency_dot(&inferred->report, least, settings->latency.all_frames, &output->buffer);
	return code;
}

static int write_folded(struct lode_analysis *analysis, void *result, struct lode_output *output,
			struct lode_error *error)
{
	struct inferred *inferred = result;

	return lode_latency_folded(&inferred->report, output, &analysis->work.notes, error);
}

static int write_pprof(struct lode_analysis *analysis, void *result, struct lode_output *output,
		       struct lode_error *error)
{
	struct inferred *inferred = result;

	(void)analysis;
	return lode_latency_pprof(&inferred->reading.latency, inferred->report.contexts, output, error);
}

/* ---- single calls ---- */

static int write_instances(struct lode_analysis *analysis, void *result, struct lode_output *output,
			   struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	struct inferred *inferred = result;
	struct lode_instance_lines lines = {
		.output = output,
		.error = error,
		.match = settings->latency.area.match.items,
		.json = lode_analysis_is(analysis, LODE_FORM_JSON),
		.aggressive_end = settings->latency.aggressive_end,
	};
	struct lode_instance_taker taker = {lode_instance_lines_stream, lode_instance_lines_take, &lines};
	int code;

	if (!lines.json)
		lode_buffer_text(
			&output->buffer,
			"begin_ns\testimate_ns\tconservative_ns\taggressive_ns\twaited_ns\ttid\tcontext\n");
	code = lode_latency_instances(inferred->reading.source.corpus, &inferred->reading.options, &taker, error);
	lode_instance_lines_release(&lines);
	return code;
}

/* Calls on a time line, in the format of a viewer: the exporter of the form's name. */
static int write_time_line(struct lode_analysis *analysis, void *result, struct lode_output *output,
			   struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	const struct lode_exporter *exporter = lode_exporter_find(analysis->form->name, error);
	struct inferred *inferred = result;
	struct lode_export_options how = {
		.streams = inferred->reading.options.streams,
		.where = inferred->reading.options.where,
		.inferred = 1,
		.match = settings->latency.area.match.items,
		.notes = inferred->reading.options.notes,
		.progress = inferred->reading.options.progress,
	};

	return exporter ? lode_export_corpus(inferred->reading.source.corpus, exporter, &how, output, error) : LODE_USAGE;
}

/* ---- the whole ---- */

static const struct lode_form forms[] = {
	{.name = "text", .kind = LODE_FORM_TEXT, .write = write_text},
	{.name = "json", .kind = LODE_FORM_JSON, .flows = 1, .write = write_json},
	{.name = "html", .extension = ".html", .kind = LODE_FORM_PAGE, .write = write_page},
	{.name = "dot", .extension = ".dot", .kind = LODE_FORM_OTHER, .write = write_graph},
	{.name = "folded", .extension = ".folded", .kind = LODE_FORM_OTHER, .flows = 1, .write = write_folded},
	{.name = "pprof", .extension = ".pb.gz", .kind = LODE_FORM_OTHER, .flows = 1, .binary = 1, .write = write_pprof},
	{.name = "speedscope", .extension = ".speedscope.json", .kind = LODE_FORM_OTHER, .flows = 1, .write = write_time_line},
	{.name = "firefox", .extension = ".profile.json", .kind = LODE_FORM_OTHER, .flows = 1, .write = write_time_line},
	{.name = "chrome", .extension = ".trace.json", .kind = LODE_FORM_OTHER, .flows = 1, .write = write_time_line},
	{.name = NULL},
};

/* Instances are lines with tabs between their fields, whatever the file is called. */
static const struct lode_form instance_forms[] = {
	{.name = "text", .kind = LODE_FORM_TEXT, .flows = 1, .write = write_instances},
	{.name = "json", .kind = LODE_FORM_JSON, .flows = 1, .write = write_instances},
	{.name = "tsv", .extension = ".tsv", .kind = LODE_FORM_OTHER, .flows = 1, .write = write_instances},
	{.name = NULL},
};

static const char *form_choice(size_t i)
{
	return lode_form_name(forms, i);
}

static const struct lode_form *forms_of(const void *settings)
{
	return ((const struct settings *)settings)->instances ? instance_forms : forms;
}

/* What is not ranked cannot be cut or ranked otherwise. */
static int check_ranking(const struct settings *settings, const char *what, struct lode_error *error)
{
	if (settings->latency.top || settings->latency.mean)
		return lode_fail(error, LODE_USAGE,
				 "latency: %s, not ranked; leave out '%s'. See 'lode help latency'.", what,
				 settings->latency.top ? "--top" : "--mean");
	return 0;
}

static int check(const struct settings *settings, const struct lode_form *form, struct lode_error *error)
{
	if (settings->instances && settings->latency.result.page_data)
		return lode_fail(error, LODE_USAGE,
				 "latency: '--instances' and '--page-data' ask for two things at once; give one of "
				 "them. See 'lode help latency'.");
	if (settings->instances && settings->latency.result.format)
		return lode_fail(error, LODE_USAGE,
				 "latency: '--instances' writes lines, or JSON with '--json'; leave out "
				 "'--format %s'. See 'lode help latency'.",
				 settings->latency.result.format);
	if (settings->instances)
		return check_ranking(settings, "instances are written as they end", error);
	if (form->write == write_time_line)
		return check_ranking(settings, "calls on a time line are written as they were", error);
	return form->write == write_folded || form->write == write_pprof
		       ? check_ranking(settings, "a profile holds all contexts", error)
		       : 0;
}

static int rank_contexts(struct lode_analysis *analysis, struct inferred *inferred,
			 const enum lode_latency_rule *mean, struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	struct lode_contexts contexts;
	int code = 0;

	inferred->report = (struct lode_latency_report){
		.latency = &inferred->reading.latency,
		.contexts = &contexts,
		.top = lode_latency_top(&settings->latency, analysis),
		.corpus = inferred->reading.source.path,
	};
	if (lode_contexts_rank(&inferred->reading.latency, settings->latency.area.match.items, mean, &contexts) < 0)
		code = lode_fail_memory(error);
	if (!code)
		code = lode_analysis_write(analysis, inferred, error);
	lode_contexts_release(&contexts);
	return code;
}

static int infer(struct lode_analysis *analysis, struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	struct inferred inferred = {0};
	enum lode_latency_rule rule;
	int code = check(settings, analysis->form, error);

	if (!code)
		code = lode_latency_check(&settings->latency, "latency", &rule, error);
	if (!code)
		code = lode_latency_open(&inferred.reading, analysis->call->operands, analysis->call->operand_count,
					 &settings->latency, &analysis->work, error);
	if (!code && (settings->instances || analysis->form->write == write_time_line)) {
		code = lode_analysis_write(analysis, &inferred, error);
	} else if (!code) {
		code = lode_latency_read(&inferred.reading, error);
		if (!code)
			code = rank_contexts(analysis, &inferred, settings->latency.mean ? &rule : NULL, error);
	}
	lode_latency_reading_release(&inferred.reading);
	return code;
}

static const struct lode_analysis_command analysis = {
	.result = FIELD(latency.result),
	.hold = LODE_HOLD_FILES,
	.forms_of = forms_of,
	.make = infer,
};

const struct lode_command lode_command_latency = {
	.name = "latency",
	.summary = "infer how long functions take, and in which context",
	.usage = "[OPTIONS] CORPUS...",
	.about = "Infers from the stacks of each thread which calls there were and how long they took: a "
		 "call lasts\n"
		 "while one stack after the other goes through it. Ranks contexts by the time spent in them.",
	.examples = "  lode latency corpus\n"
		    "  lode latency corpus --match 'libssl*!*'\n"
		    "  # every inferred call of one function, as JSON lines\n"
		    "  lode latency corpus --instances --json --match handle_click\n"
		    "  # a page with a heat map and the tree of calls\n"
		    "  lode latency corpus -o latency.html\n"
		    "  # inferred calls on a time line, for speedscope.app\n"
		    "  lode latency corpus -o calls.speedscope.json\n",
	.options = options,
	.settings_size = sizeof(struct settings),
	.least_operands = 1,
	.most_operands = SIZE_MAX,
	.operand = "CORPUS",
	.analysis = &analysis,
	.run = lode_analysis_run,
};
