/*
 * lode diff: which functions make slow streams slow, and in which context (IntroPerf).
 */
#include "cmd/diff.h"

#include "base/memory.h"
#include "cmd/command.h"
#include "cmd/latency_options.h"
#include "cmd/results.h"
#include "cmd/work.h"
#include "scope/frame_filter.h"

#define TOP 10

struct settings {
	struct lode_latency_settings latency; /* match, include_idle, idle_rules, jobs */
	struct lode_option_list base_where;
	struct lode_option_list slow_where;
	uint64_t top;
	int all;
	int all_frames;
	int json;
	const char *output;
};

#define FIELD(field) offsetof(struct settings, field)

static const struct lode_option options[] = {
	LODE_LIST("base-where", 0, FIELD(base_where), "KEY=VALUE", "only these streams of BASE"),
	LODE_LIST("slow-where", 0, FIELD(slow_where), "KEY=VALUE", "only these streams of SLOW"),
	LODE_LIST("match", 0, LODE_LATENCY_AREA(FIELD(latency), match), "GLOB",
		  "only contexts with a frame that fits (module!function, * and ?)"),
	LODE_FLAG("include-idle", 0, LODE_LATENCY_AREA(FIELD(latency), include_idle),
		  "count waits of threads that have nothing to do, too"),
	LODE_LIST("idle-rules", 0, LODE_LATENCY_AREA(FIELD(latency), idle_rules), "FILE",
		  "more rules for what is idle; see lode-idle(5)"),
	LODE_NUMBER("jobs", 'j', LODE_LATENCY_AREA(FIELD(latency), jobs), "N",
		    "number of threads (default: one a processor)", 1, 1024),
	LODE_NUMBER("top", 'n', FIELD(top), "N", "show so many paths (text: 10)", 1, 0),
	LODE_FLAG("all", 'a', FIELD(all), "show all paths"),
	LODE_FLAG("all-frames", 0, FIELD(all_frames), "show all callers of each path"),
	LODE_FLAG("json", 0, FIELD(json), "write all of it as JSON"),
	LODE_TEXT("output", 'o', FIELD(output), "FILE", "write to FILE instead of standard output"),
	LODE_NO_MORE_OPTIONS,
};

/* Both sides, read. */
struct sides {
	struct lode_latency_reading base;
	struct lode_latency_reading slow;
	struct lode_diff diff;
	uint8_t *fits;
};

/* ---- showing ---- */

static int write_json(const struct lode_diff_report *report, const char *path, struct lode_error *error)
{
	struct lode_output output;
	int code = lode_output_open(&output, path, error);

	if (code)
		return code;
	code = lode_diff_json(report, &output, error);
	if (!code)
		return lode_output_finish(&output, error);
	lode_output_abandon(&output);
	return code;
}

static int write_text(const struct lode_call *call, const struct lode_diff_report *report,
		      struct lode_error *error)
{
	const struct settings *settings = call->settings;
	struct lode_terminal terminal = call->out;
	struct lode_buffer buffer = { 0 };
	int code;

	if (settings->output)
		terminal.colour = 0;
	lode_diff_text(report, settings->all_frames, &terminal, &buffer);
	code = lode_results_write(call, settings->output, &buffer, error);
	lode_buffer_release(&buffer);
	return code;
}

static int show(const struct lode_call *call, const struct sides *sides, struct lode_error *error)
{
	const struct settings *settings = call->settings;
	struct lode_diff_report report = {
		.base = { call->operands[0], &sides->base.latency },
		.slow = { call->operands[1], &sides->slow.latency },
		.diff = &sides->diff,
		.fits = sides->fits,
		.top = settings->top			 ? settings->top
		       : settings->all || settings->json ? 0
							 : TOP,
	};

	return settings->json ? write_json(&report, settings->output, error)
			      : write_text(call, &report, error);
}

/* ---- the whole ---- */

static int read_side(struct lode_latency_reading *reading, const char *path, const struct settings *settings,
		     const struct lode_option_list *where, struct lode_work *work, struct lode_error *error)
{
	struct lode_latency_settings own = settings->latency;
	int code;

	own.area.where = *where;
	code = lode_latency_read(reading, path, &own, work, error);
	if (!code && !reading->latency.stream_count)
		return lode_fail(error, LODE_BAD_INPUT,
				 "%s: holds no streams, so there is nothing to compare with", path);
	return code;
}

static int make_filter(struct sides *sides, const char *const *match)
{
	const struct lode_dictionary *dictionary = &sides->base.latency.dictionary;
	uint8_t *frames;

	if (!match || !*match)
		return 0;
	frames = lode_frame_filter(&dictionary->frames, match);
	sides->fits = frames ? lode_stack_filter(&dictionary->tree, frames) : NULL;
	lode_free(frames);
	return sides->fits ? 0 : LODE_SYSTEM;
}

static int compare(const struct lode_call *call, struct sides *sides, struct lode_work *work,
		   struct lode_error *error)
{
	const struct settings *settings = call->settings;
	int code = read_side(&sides->base, call->operands[0], settings, &settings->base_where, work, error);

	if (!code)
		code = read_side(&sides->slow, call->operands[1], settings, &settings->slow_where, work,
				 error);
	lode_bar_wipe(&work->bar);
	if (!code && (lode_diff(&sides->base.latency, &sides->slow.latency,
				(unsigned)settings->latency.area.jobs, &sides->diff) < 0 ||
		      make_filter(sides, settings->latency.area.match.items) < 0))
		code = lode_fail_memory(error);
	return code ? code : show(call, sides, error);
}

static int run(struct lode_call *call, struct lode_error *error)
{
	struct sides sides = { 0 };
	struct lode_work work;
	int code;

	lode_work_begin(&work, call, 0);
	code = compare(call, &sides, &work, error);
	lode_free(sides.fits);
	lode_diff_release(&sides.diff);
	lode_latency_reading_release(&sides.slow);
	lode_latency_reading_release(&sides.base);
	return lode_work_end(&work, call, code);
}

const struct lode_command lode_command_diff = {
	.name = "diff",
	.summary = "find what makes slow streams slow, against good ones",
	.usage = "[OPTIONS] BASE SLOW",
	.about = "Infers the latencies of both corpora (see 'lode help latency') and ranks the paths of SLOW "
		 "by what\n"
		 "their functions take more, per stream, than in BASE. Names the function to look at first.",
	.examples = "  lode diff release-1 release-2\n"
		    "  lode diff corpus corpus --base-where variant=good --slow-where variant=bad\n"
		    "  lode diff good bad --json --top 1\n",
	.options = options,
	.settings_size = sizeof(struct settings),
	.least_operands = 2,
	.most_operands = 2,
	.operand = "CORPUS",
	.run = run,
};
