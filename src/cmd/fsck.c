/*
 * lode fsck: checks every byte of corpora and stream files, and repairs them.
 *
 * The checking itself is the library's (trace/corpus_check.h, trace/store.h); a
 * single stream file is treated like a corpus of one. What was found is the
 * result and goes to standard output; the exit status is 0 when all is well (or
 * was made so), 3 when damage is left.
 */
#include "base/file.h"
#include "base/memory.h"
#include "tasks/analysis.h"
#include "cmd/signals.h"
#include "mine/signatures.h"
#include "text/fsck_text.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct settings {
	int repair;
	struct lode_result_settings result;
};

static const struct lode_option options[] = {
	LODE_FLAG("repair", 'r', offsetof(struct settings, repair),
		  "put right what can be; damaged originals stay beside as NAME.lode.damaged"),
	LODE_FLAG("json", 0, offsetof(struct settings, result.json), "write JSON"),
	LODE_NO_MORE_OPTIONS,
};

/* ---- a stream file by itself ---- */

/* The salvaged file takes the place of the damaged one, which keeps its bytes under another name. */
static int exchange(const char *path, const char *salvaged, struct lode_error *error)
{
	char *damaged = lode_format("%s.damaged", path);
	int code;

	if (!damaged)
		return lode_fail_memory(error);
	if (link(path, damaged) < 0)
		code = lode_fail(error, LODE_SYSTEM, "%s: cannot be made: %s; move what stands there away",
				 damaged, strerror(errno));
	else
		code = lode_file_rename(salvaged, path, error);
	lode_free(damaged);
	return code;
}

static int repair_file(struct lode_fsck_finding *finding, struct lode_error *error)
{
	char *salvaged = lode_format("%s.salvaged-%d", finding->path, (int)getpid());
	struct lode_fsck_result blocks;
	int code;

	if (!salvaged)
		return lode_fail_memory(error);
	code = lode_store_salvage(finding->path, salvaged, &blocks, NULL, error);
	if (!code)
		code = exchange(finding->path, salvaged, error);
	if (code < 0)
		lode_file_remove(salvaged, NULL);
	lode_free(salvaged);
	return code;
}

static int is_damaged(const struct lode_fsck_result *blocks)
{
	return blocks->blocks_bad || blocks->bytes_bad || blocks->footer_bad;
}

static int check_file(struct lode_fsck_finding *finding, int repair, struct lode_error *error)
{
	struct lode_corpus_check_result *result = &finding->result;
	int code = lode_store_check(finding->path, &result->blocks, &finding->notes, error);

	if (code < 0)
		return code;
	if (!is_damaged(&result->blocks)) {
		result->streams_good = 1;
		return 0;
	}
	if (!repair) {
		result->streams_bad = 1;
		return 0;
	}
	code = repair_file(finding, error);
	result->streams_bad = code < 0;
	result->streams_repaired = code == 0;
	return code;
}

/* ---- signatures ---- */

/* A catalogue that was made anew takes its signatures from the text file, when it is first asked for them. */
static int take_signatures(const char *path, struct lode_error *error)
{
	struct lode_signatures signatures = { 0 };
	struct lode_corpus *corpus;
	int code = lode_corpus_open(&corpus, path, LODE_CORPUS_WRITE, error);

	if (code < 0)
		return code;
	code = lode_signatures_load(corpus, &signatures, error);
	lode_signatures_release(&signatures);
	lode_corpus_close(corpus);
	return code;
}

static int check_signatures(struct lode_fsck_finding *finding, int repair, struct lode_error *error)
{
	int code = lode_signatures_check(finding->path, error);

	if (code == LODE_BAD_INPUT) {
		finding->signatures_bad = 1;
		lode_notes_add(&finding->notes, 1, "files of signatures that cannot be read, to be put right by hand",
			       error->text);
		return 0;
	}
	return !code && repair ? take_signatures(finding->path, error) : code;
}

/* ---- any path ---- */

static int check_path(struct lode_fsck_finding *finding, int repair, const struct lode_progress *progress,
		      struct lode_error *error)
{
	struct stat status;
	int code;

	if (stat(finding->path, &status) < 0)
		return lode_fail(error, errno == ENOENT || errno == ENOTDIR ? LODE_BAD_INPUT : LODE_SYSTEM,
				 "%s: cannot be checked: %s; name a corpus or a .lode file", finding->path,
				 strerror(errno));
	finding->is_corpus = S_ISDIR(status.st_mode);
	if (!finding->is_corpus)
		return check_file(finding, repair, error);
	code = lode_corpus_check(finding->path, repair, &finding->result, &finding->notes, progress, error);
	return code ? code : check_signatures(finding, repair, error);
}

/* ---- all of them ---- */

static int write_text(struct lode_analysis *analysis, void *result, struct lode_output *output, struct lode_error *error)
{
	(void)error;
	lode_fsck_text(result, &analysis->look, &output->buffer);
	return 0;
}

static int write_json(struct lode_analysis *analysis, void *result, struct lode_output *output, struct lode_error *error)
{
	(void)analysis, (void)error;
	lode_fsck_json(result, &output->buffer);
	return 0;
}

static const struct lode_form forms[] = {
	{ .name = "text", .kind = LODE_FORM_TEXT, .write = write_text },
	{ .name = "json", .kind = LODE_FORM_JSON, .write = write_json },
	{ .name = NULL },
};

/* Checks one path; what could not be checked is told at once. Returns 0, 3's code when damage is left, or a failure. */
static int check_one(struct lode_analysis *analysis, struct lode_fsck_report *report, const char *path,
		     struct lode_error *error)
{
	struct lode_fsck_finding *finding = &report->items[report->count];
	int code;

	finding->path = path;
	lode_notes_init(&finding->notes);
	code = check_path(finding, report->repair, analysis->work.progress, error);
	lode_work_pause(&analysis->work);
	if (code && !lode_signals_stop())
		lode_call_say(analysis->call, LODE_RED, "%s", error->text);
	error->text[0] = '\0';
	if (!code) {
		report->count++;
		return lode_fsck_is_wrong(finding, report->repair) ? LODE_BAD_INPUT : 0;
	}
	lode_notes_release(&finding->notes);
	*finding = (struct lode_fsck_finding){ 0 };
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
	.about = "Checks every byte of a corpus or of a .lode file, and whether the catalogue of a corpus "
		 "agrees\n"
		 "with its files. Exit status 0: all is well; 3: there is damage.",
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
