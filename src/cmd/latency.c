/*
 * lode latency: how long functions take, in which context, out of stacks that were seen
 * now and then (IntroPerf).
 */
#include "text/latency_text.h"

#include "base/memory.h"
#include "cmd/command.h"
#include "cmd/latency_options.h"
#include "cmd/results.h"
#include "cmd/work.h"
#include "export/export.h"

#include <string.h>

struct settings {
	struct lode_latency_settings latency;
	int instances;
};

static const struct lode_latency_form forms[] = {
	{.name = "html", .extension = ".html", .picture = 1},
	{.name = "dot", .extension = ".dot", .picture = 1},
	{.name = "folded", .extension = ".folded"},
	{.name = "pprof", .extension = ".pb.gz", .binary = 1},
	{.name = "speedscope", .extension = ".speedscope.json", .time_line = 1},
	{.name = "firefox", .extension = ".profile.json", .time_line = 1},
	{.name = "chrome", .extension = ".trace.json", .time_line = 1},
	{.name = NULL},
};

static const char *form_choice(size_t i)
{
	return forms[i].name;
}

#define FIELD(field) offsetof(struct settings, field)

static const struct lode_option options[] = {
	LODE_LIST("stream", 's', LODE_LATENCY_FIELD(FIELD(latency), streams), "NAME",
		  "only the streams of this name or id; may be given many times"),
	LODE_LATENCY_OPTIONS(FIELD(latency), "contexts", form_choice),
	LODE_FLAG("instances", 0, FIELD(instances), "write every inferred call, one line each"),
	LODE_NO_MORE_OPTIONS,
};

/* ---- contexts ---- */

static int write_form(const struct lode_latency_form *form, struct lode_latency_reading *reading,
		      const struct lode_latency_report *report, struct lode_output *output,
		      struct lode_error *error)
{
	if (!form)
		return lode_latency_json(report, output, error);
	if (!strcmp(form->name, "pprof"))
		return lode_latency_pprof(&reading->latency, report->contexts, output, error);
	return lode_latency_folded(report, output, reading->options.notes, error);
}

/* JSON, and what other tools read: it leaves as it is made. */
static int write_file(const struct lode_latency_form *form, const struct settings *settings,
		      struct lode_latency_reading *reading, const struct lode_latency_report *report,
		      struct lode_error *error)
{
	struct lode_output output;
	int code = lode_output_open(&output, settings->latency.output, error);

	if (code)
		return code;
	code = write_form(form, reading, report, &output, error);
	if (!code)
		return lode_output_finish(&output, error);
	lode_output_abandon(&output);
	return code;
}

static int write_page(const struct lode_call *call, const struct lode_latency_reading *reading,
		      const struct lode_latency_report *report, struct lode_error *error)
{
	const struct settings *settings = call->settings;
	struct lode_latency_report shown = *report;
	struct lode_idle_stacks *idle = NULL;
	struct lode_output json;
	int code = lode_latency_tree_min(&settings->latency, "latency", report->contexts->own, &shown.least, error);

	lode_output_memory(&json);
	if (!code)
		code = lode_idle_stacks_make(&idle, reading->rules, &reading->latency.dictionary, error);
	shown.page = idle;
	if (!settings->latency.top && !settings->latency.all)
		shown.top = lode_latency_page_top(&shown);
	if (!code)
		code = lode_latency_json(&shown, &json, error);
	if (!code)
		code = settings->latency.page_data
			       ? lode_results_write(call, settings->latency.output, &json.buffer, error)
			       : lode_results_page(call, settings->latency.output, report->corpus, &json.buffer, error);
	lode_output_abandon(&json);
	lode_idle_stacks_free(idle);
	return code;
}

static int write_graph(const struct lode_call *call, const struct lode_latency_report *report,
		       struct lode_error *error)
{
	const struct settings *settings = call->settings;
	int unfolded = settings->latency.all_frames;
	struct lode_buffer buffer = {0};
	uint64_t least;
	int code = lode_latency_tree_min(&settings->latency, "latency", report->contexts->own, &least, error);

	if (code)
		return code;
	lode_latency_dot(report, least, unfolded, &buffer);
	code = lode_results_write(call, settings->latency.output, &buffer, error);
	lode_buffer_release(&buffer);
	return code;
}

static int write_text(const struct lode_call *call, const struct lode_latency_report *report,
		      struct lode_error *error)
{
	const struct settings *settings = call->settings;
	struct lode_look look = call->out.look;
	struct lode_buffer buffer = {0};
	int code;

	if (settings->latency.output)
		look.colour = 0;
	lode_latency_text(report, settings->latency.all_frames, &look, &buffer);
	code = lode_results_write(call, settings->latency.output, &buffer, error);
	lode_buffer_release(&buffer);
	return code;
}

static int show_contexts(const struct lode_call *call, const struct lode_latency_form *form,
			 struct lode_latency_reading *reading, const enum lode_latency_rule *mean,
			 struct lode_error *error)
{
	const struct settings *settings = call->settings;
	struct lode_contexts contexts;
	struct lode_latency_report report = {
		.latency = &reading->latency,
		.contexts = &contexts,
		.top = lode_latency_top(&settings->latency),
		.corpus = call->operands[0],
	};
	int code = 0;

	if (lode_contexts_rank(&reading->latency, settings->latency.area.match.items, mean, &contexts) < 0)
		code = lode_fail_memory(error);
	if (!code && (settings->latency.page_data || (form && !strcmp(form->name, "html"))))
		code = write_page(call, reading, &report, error);
	else if (!code && form && form->picture)
		code = write_graph(call, &report, error);
	else if (!code)
		code = form || settings->latency.json ? write_file(form, settings, reading, &report, error)
						      : write_text(call, &report, error);
	lode_contexts_release(&contexts);
	return code;
}

/* ---- instances ---- */

static int write_instances(struct lode_latency_reading *reading, const struct settings *settings,
			   struct lode_error *error)
{
	struct lode_output output;
	struct lode_instance_lines lines = {
		.output = &output,
		.error = error,
		.match = settings->latency.area.match.items,
		.json = settings->latency.json,
		.aggressive_end = settings->latency.aggressive_end,
	};
	struct lode_instance_taker taker = {lode_instance_lines_stream, lode_instance_lines_take, &lines};
	int code = lode_output_open(&output, settings->latency.output, error);

	if (code)
		return code;
	if (!settings->latency.json)
		lode_buffer_text(
			&output.buffer,
			"begin_ns\testimate_ns\tconservative_ns\taggressive_ns\twaited_ns\ttid\tcontext\n");
	code = lode_latency_instances(reading->corpus, &reading->options, &taker, error);
	lode_instance_lines_release(&lines);
	if (!code)
		return lode_output_finish(&output, error);
	lode_output_abandon(&output);
	return code;
}

/* Calls on a time line, in the format of a viewer. */
static int write_time_line(struct lode_latency_reading *reading, const struct lode_latency_form *form,
			   const struct settings *settings, struct lode_error *error)
{
	const struct lode_exporter *exporter = lode_exporter_find(form->name, error);
	struct lode_export_options how = {
		.streams = reading->options.streams,
		.where = reading->options.where,
		.inferred = 1,
		.match = settings->latency.area.match.items,
		.notes = reading->options.notes,
		.progress = reading->options.progress,
	};
	struct lode_output output;
	int code = exporter ? lode_output_open(&output, settings->latency.output, error) : LODE_USAGE;

	if (code)
		return code;
	code = lode_export_corpus(reading->corpus, exporter, &how, &output, error);
	if (!code)
		return lode_output_finish(&output, error);
	lode_output_abandon(&output);
	return code;
}

/* ---- the whole ---- */

/* What is not ranked cannot be cut or ranked otherwise. */
static int check_ranking(const struct settings *settings, const char *what, struct lode_error *error)
{
	if (settings->latency.top || settings->latency.mean)
		return lode_fail(error, LODE_USAGE,
				 "latency: %s, not ranked; leave out '%s'. See 'lode help latency'.", what,
				 settings->latency.top ? "--top" : "--mean");
	return 0;
}

static int check(const struct settings *settings, const struct lode_latency_form *form,
		 struct lode_error *error)
{
	if (settings->instances && settings->latency.page_data)
		return lode_fail(error, LODE_USAGE,
				 "latency: '--instances' and '--page-data' ask for two things at once; give one of "
				 "them. See 'lode help latency'.");
	if (settings->instances && form)
		return lode_fail(error, LODE_USAGE,
				 "latency: '--instances' writes lines, or JSON with '--json'; leave out "
				 "'--format %s'. See 'lode help latency'.",
				 form->name);
	if (settings->instances)
		return check_ranking(settings, "instances are written as they end", error);
	if (form && form->time_line)
		return check_ranking(settings, "calls on a time line are written as they were", error);
	return form && !form->picture ? check_ranking(settings, "a profile holds all contexts", error) : 0;
}

static int infer(const struct lode_call *call, struct lode_latency_reading *reading, struct lode_work *work,
		 struct lode_error *error)
{
	const struct settings *settings = call->settings;
	const struct lode_latency_form *form;
	const char *path = call->operands[0];
	enum lode_latency_rule rule;
	int code = lode_latency_form(forms, &settings->latency, call, &form, error);

	if (settings->instances && !settings->latency.format)
		form = NULL; /* lines, whatever the file is called */
	if (!code)
		code = check(settings, form, error);
	if (!code)
		code = lode_latency_rule(&settings->latency, "latency", &rule, error);
	if (code)
		return code;
	if (settings->instances || (form && form->time_line)) {
		code = lode_latency_open(reading, path, &settings->latency, work, error);
		if (!code)
			code = form ? write_time_line(reading, form, settings, error)
				    : write_instances(reading, settings, error);
		return code;
	}
	code = lode_latency_read(reading, path, &settings->latency, work, error);
	lode_bar_wipe(&work->bar);
	return code ? code : show_contexts(call, form, reading, settings->latency.mean ? &rule : NULL, error);
}

static int run(struct lode_call *call, struct lode_error *error)
{
	const struct settings *settings = call->settings;
	struct lode_latency_reading reading = {0};
	struct lode_work work;
	int code;

	/* A half-written file goes away again. */
	lode_work_begin(&work, call, settings->latency.output && !settings->instances);
	code = infer(call, &reading, &work, error);
	lode_latency_reading_release(&reading);
	return lode_work_end(&work, call, code);
}

/* Instances are lines with tabs between their fields. */
static const char *ending(const void *settings, size_t i)
{
	const struct settings *latency = settings;

	if (latency->instances)
		return i ? NULL : ".tsv";
	return forms[i].extension;
}

const struct lode_command lode_command_latency = {
	.name = "latency",
	.summary = "infer how long functions take, and in which context",
	.usage = "[OPTIONS] CORPUS",
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
	.most_operands = 1,
	.operand = "CORPUS",
	.ending = ending,
	.run = run,
};
