/*
 * lode import: from recordings of other tools to streams of a corpus (import/import_files.h).
 *
 * Files are imported one after another (an importer uses all processors for one file). A file
 * that cannot be read is reported and the next one taken; a corpus that cannot be written
 * ends the command. Ctrl-C takes effect between two progress reports.
 */
#include "tasks/command.h"
#include "tasks/import_options.h"
#include "tasks/show_notes.h"
#include "import/symbol_maps.h"
#include "mine/import_matches.h"
#include "text/import_text.h"

#include <string.h>

struct importing {
	const struct lode_call *call;
	const struct lode_import_settings *settings;
	struct lode_import_files files;
	struct lode_import_matching matching;
	struct lode_symbol_maps *symbol_maps;
	struct lode_notes notes;
};

static int stopped(const struct importing *importing)
{
	return importing->call->host->stopped(importing->call->host);
}

static void hold(const struct importing *importing, enum lode_stop held)
{
	importing->call->host->hold(importing->call->host, held);
}

/* ---- on the way ---- */

static void begin_reading(void *context, struct lode_corpus *corpus)
{
	struct importing *importing = context;

	lode_import_match_begin(&importing->matching, corpus);
	hold(importing, LODE_STOP_SOON);
}

static int adjust_stream(void *context, struct lode_stream *stream, struct lode_error *error)
{
	struct importing *importing = context;

	if (stopped(importing))
		return lode_fail(error, LODE_SYSTEM, "stopped");
	return lode_import_apply(importing->settings, stream, error);
}

static void match_stream(void *context, struct lode_corpus *corpus, const char *id,
			 const struct lode_stream *stream)
{
	struct importing *importing = context;

	lode_import_match_stream(&importing->matching, corpus, id, stream);
}

static int import_files(struct importing *importing, struct lode_error *error)
{
	const struct lode_call *call = importing->call;
	size_t count = importing->files.recordings.count;
	int worst = 0;

	for (size_t i = 0; i < count; i++) {
		int code = lode_import_files_read(&importing->files, i, error);

		call->host->pause(call->host);
		hold(importing, LODE_STOP_AT_ONCE);
		if (stopped(importing)) {
			lode_fail(error, 0, "stopped; %zu of %zu files are imported, nothing is half-done", i,
				  count);
			return LODE_STOPPED(stopped(importing));
		}
		if (importing->files.store_failed)
			return code;
		if (code < 0)
			lode_call_say(call, LODE_RED, "%s", error->text);
		if (code < worst)
			worst = code;
	}
	error->text[0] = '\0';
	return worst;
}

/* ---- what was imported ---- */

static void say_line(void *context, enum lode_import_line kind, const char *text)
{
	const struct importing *importing = context;
	static const enum lode_style styles[] = {
		[LODE_IMPORT_NEW] = LODE_GREEN,
		[LODE_IMPORT_KNOWN] = LODE_DIM,
		[LODE_IMPORT_MATCH] = LODE_PLAIN,
		[LODE_IMPORT_WARNING] = LODE_YELLOW,
	};

	lode_call_say(importing->call, styles[kind], "%s", text);
}

static int show_json(const struct importing *importing, const struct lode_import_report *report,
		     struct lode_error *error)
{
	struct lode_buffer buffer = { 0 };
	int code;

	lode_import_json(report, &buffer);
	code = lode_call_show(importing->call, &buffer, error);
	lode_buffer_release(&buffer);
	return code;
}

static int finish(struct importing *importing, int code, struct lode_error *error)
{
	const struct lode_call *call = importing->call;
	const struct lode_import_report report = { &importing->files, &importing->matching, &importing->notes };
	size_t bad = 0, count = importing->files.recordings.count;
	int shown = 0;

	for (size_t i = 0; i < count; i++)
		bad += importing->files.files[i].code || !importing->files.files[i].tried;
	lode_import_match_end(&importing->matching, importing->files.corpus);
	if (!call->quiet) {
		lode_import_text(&report, say_line, importing);
		lode_notes_say(&importing->notes, call);
	}
	if (importing->settings->json)
		shown = show_json(importing, &report, error);
	if (bad && count > 1 && !error->text[0])
		lode_fail(error, 0, "%zu of %zu files imported; see above for the other%s", count - bad, count,
			  bad > 1 ? "s" : "");
	return code ? code : shown;
}

static int run(struct lode_call *call, struct lode_error *error)
{
	const struct lode_import_settings *settings = call->settings;
	struct importing importing = { .call = call, .settings = settings };
	struct lode_import_files *files = &importing.files;
	int code = lode_import_settle(settings, files, error);

	if (code < 0)
		return code;
	lode_notes_init(&importing.notes);
	files->paths = (const char *const *)call->operands;
	files->path_count = call->operand_count;
	files->options.progress = call->host->begin(call->host, call);
	files->options.notes = &importing.notes;
	files->hooks = (struct lode_import_hooks){ begin_reading, adjust_stream, match_stream, &importing };
	code = lode_import_files_begin(files, error);
	if (!code)
		code = lode_symbol_maps_load(&importing.symbol_maps, settings->symbol_maps.items, error);
	files->options.symbol_maps = importing.symbol_maps;
	if (!code) {
		code = import_files(&importing, error);
		code = finish(&importing, code, error);
	}
	lode_import_match_release(&importing.matching);
	lode_import_files_release(files);
	lode_symbol_maps_destroy(importing.symbol_maps);
	lode_notes_release(&importing.notes);
	return code;
}

const struct lode_command lode_command_import = {
	.name = "import",
	.summary = "import recordings of other tools into a corpus",
	.usage = "[OPTIONS] FILE... -o CORPUS",
	.about = "Reads recordings into the folder CORPUS, which is created if it does not exist. The format is "
		 "detected from the content; gzip, zstd and xz files are decompressed; '-' is standard input. The "
		 "same content is imported only once, regardless of file names.",
	.examples = "  lode import perf.data -o corpus\n"
		    "  lode import monday/*.data.zst --attr version=4.2 -o corpus\n"
		    "  lode import --kind wait --unit us offcpu.folded -o corpus\n"
		    "  perf script | lode import - --name laptop -o corpus\n",
	.options = lode_import_table,
	.settings_size = sizeof(struct lode_import_settings),
	.least_operands = 1,
	.most_operands = SIZE_MAX,
	.operand = "FILE",
	.run = run,
};
