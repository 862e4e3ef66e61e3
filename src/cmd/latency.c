/*
 * lode latency: how long functions take, in which context, out of stacks that were seen
 * now and then (IntroPerf).
 */
#include "cmd/latency.h"

#include "base/memory.h"
#include "cmd/command.h"
#include "cmd/latency_options.h"
#include "cmd/results.h"
#include "cmd/work.h"

#define TOP 10

struct settings {
	struct lode_latency_settings latency;
	uint64_t top;
	int all;
	int all_frames;
	int mean;
	int instances;
	int json;
	const char *output;
};

#define FIELD(field) offsetof(struct settings, field)

static const struct lode_option options[] = {
	LODE_LATENCY_OPTIONS(FIELD(latency)),
	LODE_FLAG("mean", 0, FIELD(mean),
		  "rank by mean latency minus the means of the callees, as the paper does"),
	LODE_FLAG("instances", 0, FIELD(instances), "write every inferred call, one line each"),
	LODE_NUMBER("top", 'n', FIELD(top), "N", "show so many contexts (text: 10)", 1, 0),
	LODE_FLAG("all", 'a', FIELD(all), "show all contexts"),
	LODE_FLAG("all-frames", 0, FIELD(all_frames), "show all callers of each context"),
	LODE_FLAG("json", 0, FIELD(json), "write all of it as JSON"),
	LODE_TEXT("output", 'o', FIELD(output), "FILE", "write to FILE instead of standard output"),
	LODE_NO_MORE_OPTIONS,
};

static size_t chosen_top(const struct settings *settings)
{
	if (settings->top)
		return settings->top;
	return settings->all || settings->json ? 0 : TOP;
}

/* ---- contexts ---- */

static int write_json(const struct lode_latency_report *report, const char *path, struct lode_error *error)
{
	struct lode_output output;
	int code = lode_output_open(&output, path, error);

	if (code)
		return code;
	code = lode_latency_json(report, &output, error);
	if (!code)
		return lode_output_finish(&output, error);
	lode_output_abandon(&output);
	return code;
}

static int write_text(const struct lode_call *call, const struct lode_latency_report *report,
		      struct lode_error *error)
{
	const struct settings *settings = call->settings;
	struct lode_terminal terminal = call->out;
	struct lode_buffer buffer = { 0 };
	int code;

	if (settings->output)
		terminal.colour = 0;
	lode_latency_text(report, settings->all_frames, &terminal, &buffer);
	code = lode_results_write(call, settings->output, &buffer, error);
	lode_buffer_release(&buffer);
	return code;
}

static int show_contexts(const struct lode_call *call, const struct lode_latency *latency,
			 struct lode_error *error)
{
	const struct settings *settings = call->settings;
	struct lode_contexts contexts;
	struct lode_latency_report report = { latency, &contexts, chosen_top(settings) };
	int code = 0;

	if (lode_contexts_rank(latency, settings->latency.area.match.items, settings->mean, &contexts) < 0)
		code = lode_fail_memory(error);
	if (!code)
		code = settings->json ? write_json(&report, settings->output, error)
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
		.json = settings->json,
	};
	struct lode_instance_taker taker = { lode_instance_lines_stream, lode_instance_lines_take, &lines };
	int code = lode_output_open(&output, settings->output, error);

	if (code)
		return code;
	if (!settings->json)
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

/* ---- the whole ---- */

static int check(const struct settings *settings, struct lode_error *error)
{
	if (settings->instances && (settings->top || settings->mean))
		return lode_fail(error, LODE_USAGE,
				 "latency: instances are written as they end, not ranked; leave out '%s'. "
				 "See 'lode help latency'.",
				 settings->top ? "--top" : "--mean");
	return 0;
}

static int infer(const struct lode_call *call, struct lode_latency_reading *reading, struct lode_work *work,
		 struct lode_error *error)
{
	const struct settings *settings = call->settings;
	const char *path = call->operands[0];
	int code = check(settings, error);

	if (code)
		return code;
	if (settings->instances) {
		code = lode_latency_open(reading, path, &settings->latency, work, error);
		return code ? code : write_instances(reading, settings, error);
	}
	code = lode_latency_read(reading, path, &settings->latency, work, error);
	lode_bar_wipe(&work->bar);
	return code ? code : show_contexts(call, &reading->latency, error);
}

static int run(struct lode_call *call, struct lode_error *error)
{
	struct lode_latency_reading reading = { 0 };
	struct lode_work work;
	int code;

	lode_work_begin(&work, call, 0);
	code = infer(call, &reading, &work, error);
	lode_latency_reading_release(&reading);
	return lode_work_end(&work, call, code);
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
		    "  lode latency corpus --instances --json --match handle_click\n",
	.options = options,
	.settings_size = sizeof(struct settings),
	.least_operands = 1,
	.most_operands = 1,
	.operand = "CORPUS",
	.run = run,
};
