/*
 * lode fsck: checks every byte of corpora and stream files, and repairs them.
 *
 * The checking itself is the library's (trace/corpus_check.h, trace/store.h); a
 * single stream file is treated like a corpus of one. What was found is the
 * result and goes to standard output; the exit status is 0 when all is well (or
 * was made so), 3 when damage is left.
 */
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/units.h"
#include "cmd/command.h"
#include "cmd/notes.h"
#include "cmd/progress.h"
#include "cmd/signals.h"
#include "mine/signatures.h"
#include "trace/corpus_check.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct settings {
	int repair;
	int json;
};

static const struct lode_option options[] = {
	LODE_FLAG("repair", 'r', offsetof(struct settings, repair),
		  "put right what can be; damaged originals stay beside as NAME.lode.damaged"),
	LODE_FLAG("json", 0, offsetof(struct settings, json), "write JSON"),
	LODE_NO_MORE_OPTIONS,
};

/* What was found at one path. */
struct finding {
	const char *path;
	int is_corpus;
	int signatures_bad; /* their text file cannot be read; it is a person's, so repair leaves it alone */
	struct lode_corpus_check_result result;
	struct lode_notes notes;
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

static int repair_file(struct finding *finding, struct lode_error *error)
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

static int check_file(struct finding *finding, int repair, struct lode_error *error)
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

static int check_signatures(struct finding *finding, int repair, struct lode_error *error)
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

static int check_path(struct finding *finding, int repair, const struct lode_progress *progress,
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

/*
 * Whether something was wrong, right now or before it was repaired. Leftovers and
 * files that no row names harm nobody: of a whole catalogue no row is missing.
 */
static int was_wrong(const struct lode_corpus_check_result *result)
{
	return result->streams_bad || result->streams_repaired || result->recordings ||
	       result->rows_without_file || result->rows_wrong || result->catalogue_bad;
}

/* Whether it still is. */
static int is_wrong(const struct finding *finding, int repair)
{
	if (finding->signatures_bad)
		return 1;
	return repair ? finding->result.streams_bad != 0 : was_wrong(&finding->result);
}

/* ---- telling ---- */

static void add_count(struct lode_buffer *buffer, const char *lead, uint64_t count, const char *one,
		      const char *many)
{
	char text[LODE_UNITS_TEXT];

	lode_buffer_print(buffer, "%s%s %s", lead, lode_count_text(count, text), count == 1 ? one : many);
}

/* One line about the streams; what else was found is in the notes. */
static void add_damage(struct lode_buffer *buffer, const struct lode_corpus_check_result *result)
{
	const char *lead = "  ";

	if (result->streams_bad) {
		add_count(buffer, lead, result->streams_bad, "stream is damaged", "streams are damaged");
		lead = ", ";
	}
	if (result->streams_repaired) {
		add_count(buffer, lead, result->streams_repaired,
			  "stream was damaged and keeps its whole blocks (the original is beside it as "
			  ".lode.damaged)",
			  "streams were damaged and keep their whole blocks (the originals are beside them "
			  "as .lode.damaged)");
		lead = ", ";
	}
	if (result->blocks.blocks_bad) {
		add_count(buffer, lead, result->blocks.blocks_bad, "block is lost", "blocks are lost");
		lead = ", ";
	}
	if (result->blocks.bytes_bad) {
		add_count(buffer, lead, result->blocks.bytes_bad, "byte belongs to no whole block",
			  "bytes belong to no whole block");
		lead = ", ";
	}
	if (*lead == ',')
		lode_buffer_byte(buffer, '\n');
}

static void add_repair(struct lode_buffer *buffer, uint64_t count, const char *one, const char *many)
{
	if (!count)
		return;
	add_count(buffer, "  ", count, one, many);
	lode_buffer_byte(buffer, '\n');
}

/* What was done about the catalogue and the folder. */
static void add_repairs(struct lode_buffer *buffer, const struct lode_corpus_check_result *result)
{
	if (result->catalogue_bad)
		lode_buffer_text(buffer, "  the catalogue was made anew\n");
	add_repair(buffer, result->recordings, "recording that was cut off is a stream now",
		   "recordings that were cut off are streams now");
	add_repair(buffer, result->files_without_row, "stream was added to the catalogue",
		   "streams were added to the catalogue");
	add_repair(buffer, result->rows_without_file, "stream without a file was struck from the catalogue",
		   "streams without a file were struck from the catalogue");
	add_repair(buffer, result->rows_wrong, "entry of the catalogue was made anew from its stream",
		   "entries of the catalogue were made anew from their streams");
	add_repair(buffer, result->leftovers, "leftover was removed", "leftovers were removed");
}

static void add_notes(struct lode_buffer *buffer, const struct lode_notes *notes)
{
	for (size_t i = 0; i < notes->count; i++) {
		const struct lode_note *note = &notes->items[i];
		char count[LODE_UNITS_TEXT];

		lode_buffer_text(buffer, "  ");
		lode_text_safe(buffer, note->what);
		lode_buffer_print(buffer, ": %s", lode_count_text(note->count, count));
		if (note->example) {
			lode_buffer_text(buffer, note->count > 1 ? ", first " : ", ");
			lode_text_safe(buffer, note->example);
		}
		lode_buffer_byte(buffer, '\n');
	}
}

static void add_finding(const struct lode_call *call, const struct finding *finding,
			struct lode_buffer *buffer)
{
	const struct settings *settings = call->settings;
	const struct lode_corpus_check_result *result = &finding->result;
	int wrong = is_wrong(finding, settings->repair);

	lode_text_safe(buffer, finding->path);
	lode_buffer_print(buffer, ": %s%s%s", lode_style(&call->out.look, wrong ? LODE_RED : LODE_GREEN),
			  wrong               ? "damaged"
			  : was_wrong(result) ? "repaired"
					      : "clean",
			  lode_style(&call->out.look, LODE_PLAIN));
	add_count(buffer, "; ", result->streams_good + result->streams_bad + result->streams_repaired,
		  "stream", "streams");
	add_count(buffer, ", ", result->blocks.blocks_good, "good block", "good blocks");
	add_count(buffer, ", ", result->blocks.events_good, "event", "events");
	lode_buffer_byte(buffer, '\n');
	add_damage(buffer, result);
	add_notes(buffer, &finding->notes);
	if (settings->repair)
		add_repairs(buffer, result);
	if (wrong && !settings->repair && was_wrong(result)) {
		lode_buffer_text(buffer, "  'lode fsck --repair ");
		lode_text_safe(buffer, finding->path);
		lode_buffer_text(buffer, "' puts right what can be\n");
	}
}

static void write_finding(struct lode_json *json, const struct finding *finding, int repair)
{
	const struct lode_corpus_check_result *result = &finding->result;

	lode_json_object(json);
	lode_json_key_text(json, "path", finding->path);
	lode_json_key_text(json, "kind", finding->is_corpus ? "corpus" : "stream");
	lode_json_key_text(json, "state",
			   is_wrong(finding, repair) ? "damaged"
			   : was_wrong(result)      ? "repaired"
						    : "clean");
	lode_json_key_u64(json, "streams_good", result->streams_good);
	lode_json_key_u64(json, "streams_bad", result->streams_bad);
	lode_json_key_u64(json, "streams_repaired", result->streams_repaired);
	lode_json_key_u64(json, "rows_without_file", result->rows_without_file);
	lode_json_key_u64(json, "rows_wrong", result->rows_wrong);
	lode_json_key_u64(json, "files_without_row", result->files_without_row);
	lode_json_key_u64(json, "recordings", result->recordings);
	lode_json_key_u64(json, "leftovers", result->leftovers);
	lode_json_key(json, "catalogue_bad");
	lode_json_bool(json, result->catalogue_bad);
	lode_json_key(json, "signatures_bad");
	lode_json_bool(json, finding->signatures_bad);
	lode_json_key(json, "footer_bad");
	lode_json_bool(json, result->blocks.footer_bad);
	lode_json_key_u64(json, "blocks_good", result->blocks.blocks_good);
	lode_json_key_u64(json, "blocks_bad", result->blocks.blocks_bad);
	lode_json_key_u64(json, "bytes_bad", result->blocks.bytes_bad);
	lode_json_key_u64(json, "events_good", result->blocks.events_good);
	lode_json_key(json, "notes");
	lode_notes_json(&finding->notes, json);
	lode_json_object_end(json);
}

/* Checks one path and adds what was found to the results. Returns 0, 3's code when damage is left, or a
 * failure. */
static int check_one(const struct lode_call *call, const char *path, struct lode_buffer *text,
		     struct lode_json *json, struct lode_error *error)
{
	const struct settings *settings = call->settings;
	struct finding finding = { .path = path };
	struct lode_bar bar;
	int code;

	lode_notes_init(&finding.notes);
	lode_bar_init(&bar, &call->err, call->quiet);
	code = check_path(&finding, settings->repair, &bar.progress, error);
	lode_bar_wipe(&bar);
	if (!code) {
		if (settings->json)
			write_finding(json, &finding, settings->repair);
		else
			add_finding(call, &finding, text);
		code = is_wrong(&finding, settings->repair) ? LODE_BAD_INPUT : 0;
	} else if (!lode_signals_stop()) {
		lode_say(&call->err, LODE_RED, "%s", error->text);
	}
	error->text[0] = '\0';
	lode_notes_release(&finding.notes);
	return code;
}

static int run(struct lode_call *call, struct lode_error *error)
{
	const struct settings *settings = call->settings;
	struct lode_buffer text = { 0 };
	struct lode_json json;
	int worst = 0, shown;

	lode_json_init(&json, &text);
	if (settings->json) {
		lode_json_object(&json);
		lode_json_key(&json, "paths");
		lode_json_array(&json);
	}
	lode_signals_hold();
	for (size_t i = 0; i < call->operand_count && !lode_signals_stop(); i++) {
		int code = check_one(call, call->operands[i], &text, &json, error);

		worst = code < worst ? code : worst;
	}
	lode_signals_release();
	if (settings->json) {
		lode_json_array_end(&json);
		lode_json_object_end(&json);
		lode_json_line(&json);
	}
	shown = lode_show(&call->out, &text, error);
	lode_buffer_release(&text);
	if (lode_signals_stop())
		return LODE_STOPPED(lode_signals_stop());
	return shown < 0 ? shown : worst;
}

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
	.run = run,
};
