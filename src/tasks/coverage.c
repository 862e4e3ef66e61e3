/*
 * lode coverage: how much of the delay the signatures explain, and which streams
 * to open first (mine/coverage.h).
 */
#include "text/coverage_text.h"

#include "tasks/analysis.h"
#include "tasks/source.h"

/* Lines of each table that are shown unless --all or --top say otherwise. */
#define TOP 20

struct settings {
	struct lode_area_settings area;
	struct lode_result_settings result;
	uint64_t shuffles;
	int paper_order;
	uint64_t top;
	int all;
};

#define FIELD(field) offsetof(struct settings, field)

static const struct lode_option options[] = {
	LODE_AREA_OPTIONS(FIELD(area)),
	LODE_NUMBER("shuffles", 0, FIELD(shuffles), "N", "shuffles for the mean of Random (default: 1000)", 1,
		    1000000),
	LODE_FLAG("paper-order", 0, FIELD(paper_order),
		  "open any stream with the next signature, as StackMine's Figure 4 does"),
	LODE_NUMBER("top", 'n', FIELD(top), "N", "lines per table (default: 20)", 1, 0),
	LODE_FLAG("all", 'a', FIELD(all), "show all lines"),
	LODE_FLAG("json", 0, FIELD(result.json), "write everything as JSON"),
	LODE_TEXT("output", 'o', FIELD(result.output), "FILE",
		  "write to FILE instead of standard output; a page if it ends in .html"),
	LODE_NO_MORE_OPTIONS,
};

static int write_text(struct lode_analysis *analysis, void *result, struct lode_output *output,
		      struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	size_t top = settings->all ? SIZE_MAX : settings->top ? settings->top : TOP;

	(void)error;
	lode_coverage_text(result, &analysis->look, top, &output->buffer);
	return 0;
}

LODE_FORM_WRITER(write_json, lode_coverage_json)

static const struct lode_form forms[] = {
	{ .name = "text", .kind = LODE_FORM_TEXT, .write = write_text },
	{ .name = "json", .kind = LODE_FORM_JSON, .write = write_json },
	{ .name = "html", .extension = ".html", .kind = LODE_FORM_PAGE, .write = write_json },
	{ .name = NULL },
};

static int compute(struct lode_analysis *analysis, const struct lode_area *area,
		   const struct lode_signatures *signatures, struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	struct lode_coverage coverage;
	struct lode_coverage_report report = { &coverage, area, signatures };
	struct lode_coverage_options how = {
		.shuffles = settings->shuffles ? (unsigned)settings->shuffles : LODE_COVERAGE_SHUFFLES,
		.paper_order = settings->paper_order,
	};
	int code = lode_coverage_make(&coverage, area, signatures, &how, error);

	if (!code)
		code = lode_analysis_write(analysis, &report, error);
	lode_coverage_release(&coverage);
	return code;
}

static int read_area(struct lode_analysis *analysis, struct lode_source *source, struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	struct lode_signatures signatures;
	struct lode_area_reading reading = { 0 };
	int code = lode_signatures_load(source->corpus, &signatures, error);

	if (!code && !signatures.count)
		code = lode_fail(error, LODE_USAGE, "%s: has no signatures; make some with 'lode sign'",
				 source->path);
	if (!code)
		code = lode_source_area(source, &settings->area, 0, &analysis->work, &reading, error);
	lode_work_pause(&analysis->work);
	if (!code)
		code = compute(analysis, &reading.area, &signatures, error);
	lode_area_reading_release(&reading);
	lode_signatures_release(&signatures);
	return code;
}

static int cover(struct lode_analysis *analysis, struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	struct lode_source source;
	int code = lode_source_operands(&source, analysis->call, &settings->area, error);

	if (!code)
		code = read_area(analysis, &source, error);
	lode_source_close(&source);
	return code;
}

static const struct lode_analysis_command analysis = {
	.result = FIELD(result),
	.memory = FIELD(area.memory),
	.hold = LODE_HOLD_ALWAYS,
	.forms = forms,
	.make = cover,
};

const struct lode_command lode_command_coverage = {
	.name = "coverage",
	.summary = "show how much signatures explain, and which streams to open first",
	.usage = "[OPTIONS] CORPUS...",
	.about = "Coverage is the CPU and wait time of the events that match the signatures, divided by the total "
		 "delay of the symptoms. Shows it for each signature and for all together, which streams to open "
		 "to see all signatures, and how many streams other orders need.",
	.examples = "  lode coverage corpus\n"
		    "  lode coverage corpus --symptom 'wait > 200ms in app!open_folder'\n"
		    "  lode coverage corpus --where version=4.2 --json\n",
	.options = options,
	.settings_size = sizeof(struct settings),
	.least_operands = 1,
	.most_operands = SIZE_MAX,
	.operand = "CORPUS",
	.analysis = &analysis,
	.run = lode_analysis_run,
};
