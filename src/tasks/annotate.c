/*
 * lode annotate: the source of a function, or its instructions, with what each line costs, running and waiting (annotate/annotation.h).
 */
#include "result/annotate_report.h"
#include "tasks/analysis.h"
#include "tasks/source.h"
#include "tasks/symbol_options.h"
#include "text/annotate_text.h"

#include <string.h>

/* Lines around the function. */
#define CONTEXT 3

struct settings {
	struct lode_area_settings area;
	struct lode_result_settings result;
	struct lode_symbol_settings symbols;
	struct lode_option_list source_paths;
	const char *function;
	uint64_t context;
	int code;
	int folders_only;
};

#define FIELD(field) offsetof(struct settings, field)

static const struct lode_option options[] = {
	LODE_LIST("source-path", 0, FIELD(source_paths), "DIR", "look for sources here first; can be repeated"),
	LODE_FLAG("code", 0, FIELD(code), "show instructions, even if there is source"),
	LODE_NUMBER("context", 0, FIELD(context), "N", "lines before and behind the function (default: 3)", 1, 1000),
	LODE_TEXT("function", 0, FIELD(function), "FUNCTION", "the function; then all operands are corpora"),
	LODE_HIDDEN_FLAG("source-path-only", FIELD(folders_only), "read no sources outside --source-path"),
	LODE_AREA_OPTIONS_FROM(FIELD(area), "all"),
	LODE_SYMBOL_OPTIONS(FIELD(symbols)),
	LODE_FLAG("json", 0, FIELD(result.json), "write everything as JSON"),
	LODE_TEXT("output", 'o', FIELD(result.output), "FILE", "write to FILE instead of standard output"),
	LODE_NO_MORE_OPTIONS,
};

LODE_TEXT_WRITER(write_text, lode_annotate_text)
LODE_FORM_WRITER(write_json, lode_annotate_json)

static const struct lode_form forms[] = {
	{ .name = "text", .kind = LODE_FORM_TEXT, .write = write_text },
	{ .name = "json", .kind = LODE_FORM_JSON, .write = write_json },
	{ .name = NULL },
};

static int show(struct lode_analysis *analysis, const struct lode_area *area, const char *function,
		struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	struct lode_annotation annotation;
	struct lode_annotate_report report = { &annotation, area };
	struct lode_annotation_options how = {
		.symbols = lode_symbol_options(&settings->symbols, &analysis->work.notes),
		.places = { settings->source_paths.items, settings->folders_only },
		.context = settings->context ? (uint32_t)settings->context : CONTEXT,
		.prefers_code = settings->code,
	};
	int code = lode_annotation_make(area, function, &how, &annotation, error);

	if (!code)
		code = lode_analysis_write(analysis, &report, error);
	lode_annotation_release(&annotation);
	return code;
}

/* Everything counts, unless symptoms are asked for. */
static struct lode_area_settings area_settings(const struct settings *settings)
{
	struct lode_area_settings area = settings->area;

	if (!area.scope && !area.symptoms.count && !area.slow)
		area.scope = lode_scope_name(LODE_SCOPE_ALL);
	return area;
}

static int annotate(struct lode_analysis *analysis, struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	const struct lode_area_settings how = area_settings(settings);
	size_t corpora = analysis->call->operand_count - !settings->function;
	const char *function = settings->function ? settings->function : analysis->call->operands[corpora];
	struct lode_area_reading reading = { 0 };
	struct lode_source source = { 0 };
	int code;

	if (!corpora)
		return lode_fail(error, LODE_USAGE,
				 "annotate: needs a corpus and a function; see 'lode help annotate'");
	code = lode_source_open(&source, analysis->call->operands, corpora, &how, analysis->call->host, error);
	if (!code)
		code = lode_source_area(&source, &how, 0, &analysis->work, &reading, error);
	lode_work_pause(&analysis->work);
	if (!code)
		code = show(analysis, &reading.area, function, error);
	lode_area_reading_release(&reading);
	lode_source_close(&source);
	return code;
}

static const struct lode_analysis_command analysis = {
	.result = FIELD(result),
	.memory = FIELD(area.memory),
	.hold = LODE_HOLD_ALWAYS,
	.forms = forms,
	.make = annotate,
};

const struct lode_command lode_command_annotate = {
	.name = "annotate",
	.summary = "show the source of a function with what each line costs",
	.usage = "[OPTIONS] CORPUS... FUNCTION",
	.about = "Shows the lines of FUNCTION (parse, app!parse, *parse*; of several that fit the one that takes "
		 "most) with the time "
		 "that they run and wait, by themselves and with what they call. Recordings have lines if they "
		 "are made with "
		 "'lode record --lines'. The source is looked for where the debug files say that it was compiled, "
		 "and below "
		 "--source-path; without it instructions are shown.",
	.examples = "  lode record --lines -- ./app && lode annotate lode-corpus parse\n"
		    "  lode annotate corpus 'server.py!handle' --symptom 'request > 10ms'\n"
		    "  lode annotate corpus app!parse --source-path ~/src/app\n"
		    "  lode annotate corpus app!parse --code\n",
	.options = options,
	.settings_size = sizeof(struct settings),
	.least_operands = 1,
	.most_operands = SIZE_MAX,
	.operand = "CORPUS",
	.analysis = &analysis,
	.run = lode_analysis_run,
};
