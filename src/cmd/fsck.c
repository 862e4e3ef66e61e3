/*
 * lode fsck: checks every byte of corpora and stream files, and repairs them.
 *
 * What was found is the result and goes to standard output; the exit status is 0
 * if there is no damage (or it was repaired), 3 if damage is left.
 */
#include "base/memory.h"
#include "tasks/analysis.h"
#include "cmd/signals.h"
#include "text/fsck_text.h"

struct settings {
	int repair;
	struct lode_result_settings result;
};

static const struct lode_option options[] = {
	LODE_FLAG("repair", 'r', offsetof(struct settings, repair),
		  "repair what can be repaired; damaged originals are kept as NAME.lode.damaged"),
	LODE_FLAG("json", 0, offsetof(struct settings, result.json), "write JSON"),
	LODE_NO_MORE_OPTIONS,
};

LODE_TEXT_WRITER(write_text, lode_fsck_text)
LODE_FORM_WRITER(write_json, lode_fsck_json)

static const struct lode_form forms[] = {
	{ .name = "text", .kind = LODE_FORM_TEXT, .write = write_text },
	{ .name = "json", .kind = LODE_FORM_JSON, .write = write_json },
	{ .name = NULL },
};

/* Checks one path; what cannot be checked is an error message at once. Returns 0, LODE_BAD_INPUT when damage is left, or a failure. */
static int check_one(struct lode_analysis *analysis, struct lode_fsck_report *report, const char *path,
		     struct lode_error *error)
{
	struct lode_fsck_finding *finding = &report->items[report->count];
	int code = lode_fsck_check(finding, path, report->repair, analysis->work.progress, error);

	lode_work_pause(&analysis->work);
	if (code && !lode_signals_stop())
		lode_call_say(analysis->call, LODE_RED, "%s", error->text);
	error->text[0] = '\0';
	if (!code) {
		report->count++;
		return lode_fsck_is_wrong(finding, report->repair) ? LODE_BAD_INPUT : 0;
	}
	lode_notes_release(&finding->notes);
	return code;
}

static int check_all(struct lode_analysis *analysis, struct lode_error *error)
{
	const struct lode_call *call = analysis->call;
	struct lode_fsck_report report = {
		.items = lode_calloc(call->operand_count, sizeof(*report.items)),
		.repair = ((const struct settings *)call->settings)->repair,
	};
	int worst = 0, shown;

	if (!report.items)
		return lode_fail_memory(error);
	for (size_t i = 0; i < call->operand_count && !lode_signals_stop(); i++) {
		int code = check_one(analysis, &report, call->operands[i], error);

		worst = code < worst ? code : worst;
	}
	shown = lode_analysis_write(analysis, &report, error);
	for (size_t i = 0; i < report.count; i++)
		lode_notes_release(&report.items[i].notes);
	lode_free(report.items);
	return shown < 0 ? shown : worst;
}

static const struct lode_analysis_command analysis = {
	.result = offsetof(struct settings, result),
	.hold = LODE_HOLD_ALWAYS,
	.forms = forms,
	.make = check_all,
};

const struct lode_command lode_command_fsck = {
	.name = "fsck",
	.summary = "check a corpus or a stream file, and repair it",
	.usage = "[--repair] [--json] PATH...",
	.about = "Checks every byte of a corpus or of a .lode file, and whether the catalogue of a corpus agrees "
		 "with its files. Exit status 0: no damage; 3: damage was found.",
	.examples = "  lode fsck corpus\n"
		    "  lode fsck --repair corpus\n",
	.options = options,
	.settings_size = sizeof(struct settings),
	.least_operands = 1,
	.most_operands = SIZE_MAX,
	.operand = "PATH",
	.analysis = &analysis,
	.run = lode_analysis_run,
};
