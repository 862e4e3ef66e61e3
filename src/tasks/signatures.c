/*
 * lode signatures: the signatures of a corpus and where they match. A signature
 * that is fixed and matches streams that came in later is pointed out.
 */
#include "tasks/analysis.h"
#include "tasks/area_options.h"
#include "text/signatures_text.h"

struct settings {
	const char *state;
	uint64_t jobs;
	int exit_code;
	struct lode_result_settings result;
};

static const char *state_choice(size_t i)
{
	return i < LODE_SIGNATURE_STATES ? lode_signature_state_name((enum lode_signature_state)i) : NULL;
}

#define FIELD(field) offsetof(struct settings, field)

static const struct lode_option options[] = {
	LODE_CHOICE("state", 's', FIELD(state), "STATE", "only signatures in this state", state_choice),
	LODE_FLAG("exit-code", 0, FIELD(exit_code), "exit with 1 when a fixed signature matches newer streams"),
	LODE_JOBS_OPTION(FIELD(jobs)),
	LODE_FLAG("json", 0, FIELD(result.json), "write JSON"),
	LODE_TEXT("output", 'o', FIELD(result.output), "FILE", "write to FILE instead of standard output"),
	LODE_NO_MORE_OPTIONS,
};

LODE_TEXT_WRITER(write_text, lode_signatures_text)
LODE_FORM_WRITER(write_json, lode_signatures_json)

static const struct lode_form forms[] = {
	{ .name = "text", .kind = LODE_FORM_TEXT, .write = write_text },
	{ .name = "json", .kind = LODE_FORM_JSON, .write = write_json },
	{ .name = NULL },
};

static int show(struct lode_analysis *analysis, const struct lode_signatures *signatures, struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	struct lode_signatures_report report = { signatures, settings->state };
	const struct lode_signature *signature;
	int found = 0, code = lode_analysis_write(analysis, &report, error);

	for (size_t i = 0; (signature = lode_signatures_report_next(&report, &i));)
		found |= lode_signature_is_back(signature);
	return !code && found && settings->exit_code ? LODE_FOUND : code;
}

static int list(struct lode_analysis *analysis, struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	struct lode_signatures signatures = { 0 };
	struct lode_corpus *corpus;
	int code = lode_corpus_open(&corpus, analysis->call->operands[0], LODE_CORPUS_READ, error);

	if (code)
		return code;
	code = lode_signatures_load(corpus, &signatures, error);
	if (!code)
		code = lode_signatures_refresh(corpus, &signatures, (unsigned)settings->jobs,
					       analysis->work.progress, error);
	if (!code)
		code = show(analysis, &signatures, error);
	lode_signatures_release(&signatures);
	lode_corpus_close(corpus);
	return code;
}

static const struct lode_analysis_command analysis = {
	.result = FIELD(result),
	.hold = LODE_HOLD_ALWAYS,
	.forms = forms,
	.make = list,
};

const struct lode_command lode_command_signatures = {
	.name = "signatures",
	.summary = "list signatures and where they match",
	.usage = "[OPTIONS] CORPUS",
	.about = "Lists the signatures of CORPUS with their state, the number of streams they match, and the cost "
		 "of the matching events. Streams are matched when they are imported, and again here if "
		 "signatures have changed.",
	.examples = "  lode signatures corpus\n"
		    "  lode signatures corpus --state open --json\n"
		    "  lode signatures corpus --state fixed --exit-code\n",
	.options = options,
	.settings_size = sizeof(struct settings),
	.least_operands = 1,
	.most_operands = 1,
	.operand = "CORPUS",
	.analysis = &analysis,
	.run = lode_analysis_run,
};
