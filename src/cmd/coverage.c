/*
 * lode coverage: how much of the delay the signatures explain, and which streams
 * to open first (mine/coverage.h).
 */
#include "text/coverage_text.h"

#include "base/json.h"
#include "cmd/area_options.h"
#include "cmd/output_ending.h"
#include "cmd/results.h"
#include "cmd/work.h"

/* Lines of each table that are shown unless --all or --top say otherwise. */
#define TOP 20

struct settings {
	struct lode_area_settings area;
	const char *output;
	uint64_t shuffles;
	int paper_order;
	uint64_t top;
	int all;
	int json;
};

#define FIELD(field) offsetof(struct settings, field)

static const struct lode_option options[] = {
	LODE_AREA_OPTIONS(FIELD(area)),
	LODE_NUMBER("shuffles", 0, FIELD(shuffles), "N", "shuffles for the mean of Random (default: 1000)", 1,
		    1000000),
	LODE_FLAG("paper-order", 0, FIELD(paper_order),
		  "open any stream with the next signature, as StackMine's Figure 4 does"),
	LODE_NUMBER("top", 'n', FIELD(top), "N", "lines of each table (default: 20)", 1, 0),
	LODE_FLAG("all", 'a', FIELD(all), "show all lines"),
	LODE_FLAG("json", 0, FIELD(json), "write all of it as JSON"),
	LODE_TEXT("output", 'o', FIELD(output), "FILE", "write to FILE instead of standard output; a page if it ends in .html"),
	LODE_NO_MORE_OPTIONS,
};

static int show(const struct lode_call *call, const struct lode_coverage_report *report,
		struct lode_error *error)
{
	const struct settings *settings = call->settings;
	struct lode_look look = call->out.look;
	struct lode_buffer buffer = { 0 };
	int code;

	if (settings->output)
		look.colour = 0;
	if (settings->json || lode_results_is_page(settings->output))
		lode_coverage_json(report, &buffer);
	else
		lode_coverage_text(report, &look,
				   settings->all   ? SIZE_MAX
				   : settings->top ? settings->top
						   : TOP,
				   &buffer);
	code = !settings->json && lode_results_is_page(settings->output)
		       ? lode_results_page(call, settings->output, call->operands[0], &buffer, error)
		       : lode_results_write(call, settings->output, &buffer, error);
	lode_buffer_release(&buffer);
	return code;
}

static int compute(const struct lode_call *call, const struct lode_area *area,
		   const struct lode_signatures *signatures, struct lode_error *error)
{
	const struct settings *settings = call->settings;
	struct lode_coverage coverage;
	struct lode_coverage_report report = { &coverage, area, signatures };
	struct lode_coverage_options how = {
		.shuffles = settings->shuffles ? (unsigned)settings->shuffles : LODE_COVERAGE_SHUFFLES,
		.paper_order = settings->paper_order,
	};
	int code = lode_coverage_make(&coverage, area, signatures, &how, error);

	if (!code)
		code = show(call, &report, error);
	lode_coverage_release(&coverage);
	return code;
}

static int cover(const struct lode_call *call, struct lode_corpus *corpus, struct lode_work *work,
		 struct lode_error *error)
{
	const struct settings *settings = call->settings;
	struct lode_signatures signatures;
	struct lode_area_reading reading;
	int code = lode_signatures_load(corpus, &signatures, error);

	if (!code && !signatures.count)
		code = lode_fail(error, LODE_USAGE, "%s: has no signatures; make some with 'lode sign'",
				 call->operands[0]);
	if (!code)
		code = lode_area_read(corpus, &settings->area, 0, &work->notes, &work->bar.progress, &reading,
				      error);
	lode_bar_wipe(&work->bar);
	if (!code) {
		code = compute(call, &reading.area, &signatures, error);
		lode_area_reading_release(&reading);
	}
	lode_signatures_release(&signatures);
	return code;
}

static int run(struct lode_call *call, struct lode_error *error)
{
	struct lode_corpus *corpus;
	struct lode_work work;
	int code = lode_corpus_open(&corpus, call->operands[0], LODE_CORPUS_READ, error);

	if (code)
		return code;
	lode_work_begin(&work, call, 1);
	code = lode_work_end(&work, call, cover(call, corpus, &work, error));
	lode_corpus_close(corpus);
	return code;
}

const struct lode_command lode_command_coverage = {
	.name = "coverage",
	.summary = "tell how much signatures explain, and which streams to open first",
	.usage = "[OPTIONS] CORPUS",
	.about = "Coverage is the CPU and wait time of the events that match the signatures, by the total "
		 "delay of\n"
		 "the symptoms. Shows it for each signature and for all, the streams to open to see them "
		 "all, and\n"
		 "how many streams other orders of opening need.",
	.examples = "  lode coverage corpus\n"
		    "  lode coverage corpus --symptom 'wait > 200ms in app!open_folder'\n"
		    "  lode coverage corpus --where version=4.2 --json\n",
	.options = options,
	.settings_size = sizeof(struct settings),
	.least_operands = 1,
	.most_operands = 1,
	.operand = "CORPUS",
	.ending = lode_ending_of_page,
	.run = run,
};
