/*
 * lode import: from recordings of other tools to streams of a corpus.
 *
 * Files are taken one after another (an importer uses all processors for one).
 * Whatever is not a plain file, be it packed or standard input, is first spooled
 * to a temporary file, so that every input lies in memory as a whole: its digest,
 * and with it the id of each stream (stream_id.h), is then known when the first
 * stream comes out, and the same content is the same stream however it arrives.
 *
 * A file that cannot be read is reported and the next one taken; a corpus that
 * cannot be written ends the command. Ctrl-C is obeyed between two progress
 * reports: a stream is in the corpus whole or not at all.
 */
#include "base/clock.h"
#include "base/memory.h"
#include "import/symbol_maps.h"
#include "tasks/command.h"
#include "tasks/import_match.h"
#include "tasks/import_names.h"
#include "tasks/import_options.h"
#include "tasks/notes.h"
#include "tasks/stream_id.h"
#include "text/import_text.h"
#include "trace/corpus.h"

#include <string.h>
#include <sys/stat.h>

struct importing {
	const struct lode_call *call;
	const struct lode_import_settings *settings;
	struct lode_import_options options;
	struct lode_symbol_maps *symbol_maps;
	struct lode_corpus *corpus;
	struct lode_import_matching matching;
	struct lode_import_names names;
	struct lode_notes notes;
	struct lode_imported_stream *outcomes;
	size_t count;
	size_t capacity;
	struct lode_imported_file *files;

	/* of the file that is being read */
	size_t file;
	struct lode_input *input;
	const struct lode_importer *importer;
	int store_failed; /* the corpus, not the file, is to blame */
};

static int stopped(const struct importing *importing)
{
	return importing->call->host->stopped(importing->call->host);
}

static void hold(const struct importing *importing, int held)
{
	importing->call->host->hold(importing->call->host, held);
}

/* ---- one stream ---- */

static int identify(struct importing *importing, unsigned ordinal, char id[33], struct lode_error *error)
{
	const struct lode_import_settings *settings = importing->settings;
	char digest[33];
	struct lode_stream_id parts = {
		.digest = digest,
		.ordinal = ordinal,
		.format = importing->importer->name,
		.name = settings->name,
		.host = settings->host,
		.attributes = settings->attributes.items,
		.symptom_markers = settings->symptom_markers.items,
		.kind_is_wait = importing->options.kind_is_wait,
		.unit_ns = importing->options.unit_ns > 0 ? importing->options.unit_ns : 1,
	};
	int code = lode_input_digest(importing->input, digest, error);

	return code < 0 ? code : lode_stream_id(&parts, id, error);
}

static int describe(struct importing *importing, const struct lode_stream *stream, struct lode_imported_stream *outcome)
{
	struct lode_corpus_entry entry = { .id = "" };

	if (lode_corpus_describe(stream, &entry) < 0 || !(outcome->name = lode_strdup(entry.name)))
		return LODE_SYSTEM;
	memcpy(outcome->events, entry.events, sizeof(outcome->events));
	memcpy(outcome->cost, entry.cost, sizeof(outcome->cost));
	outcome->stacks = entry.stacks;
	outcome->span = entry.last_t - entry.first_t;
	outcome->file = importing->file;
	return 0;
}

static uint64_t stored_size(struct importing *importing, const char *id)
{
	char *path = lode_corpus_stream_path(importing->corpus, id, NULL);
	struct stat status;
	uint64_t size = 0;

	if (path && !stat(path, &status))
		size = (uint64_t)status.st_size;
	lode_free(path);
	return size;
}

static int store(struct importing *importing, struct lode_stream *stream, struct lode_imported_stream *outcome,
		 struct lode_error *error)
{
	int replace = importing->settings->replace;
	const char *source = lode_input_name(importing->input);
	int had = lode_corpus_has(importing->corpus, outcome->id, error);
	int added;

	if (had < 0)
		return had;
	if (had && !replace) {
		outcome->skipped = 1;
		return 0;
	}
	if (!had && !importing->settings->name) {
		int code = lode_import_names_settle(&importing->names, importing->file, importing->corpus,
						    stream, error);

		if (code < 0)
			return code;
	}
	added = lode_corpus_add(importing->corpus, outcome->id, source, stream, replace,
				importing->options.jobs, error);
	outcome->skipped = added == 0;
	outcome->replaced = added > 0 && had;
	if (added >= 0)
		outcome->stored = stored_size(importing, outcome->id);
	if (added > 0)
		lode_import_match_stream(&importing->matching, importing->corpus, outcome->id, stream);
	return added < 0 ? added : 0;
}

static int take(void *context, struct lode_stream *stream, unsigned ordinal, struct lode_error *error)
{
	struct importing *importing = context;
	struct lode_imported_stream outcome = { 0 };
	int code;

	if (stopped(importing))
		return lode_fail(error, LODE_SYSTEM, "stopped");
	if (lode_grow(&importing->outcomes, &importing->capacity, importing->count + 1, sizeof(outcome)) < 0)
		return lode_fail_memory(error);
	code = lode_import_apply(importing->settings, stream, error);
	if (!code)
		code = identify(importing, ordinal, outcome.id, error);
	if (!code) {
		code = store(importing, stream, &outcome, error);
		importing->store_failed = code < 0;
	}
	if (!code && describe(importing, stream, &outcome) < 0)
		code = lode_fail_memory(error);
	if (code) {
		lode_free(outcome.name);
		return code;
	}
	importing->outcomes[importing->count++] = outcome;
	return 0;
}

/* ---- one file ---- */

/* The corpus is opened when there is something to put into it, so that a wrong name leaves no empty folder.
 */
static int open_corpus(struct importing *importing, struct lode_error *error)
{
	int code;

	if (importing->corpus)
		return 0;
	code = lode_corpus_open(&importing->corpus, importing->settings->output, LODE_CORPUS_CREATE, error);
	importing->store_failed = code < 0;
	if (!code)
		lode_import_match_begin(&importing->matching, importing->corpus);
	return code;
}

static int is_one_of(const char *format, const char *const *formats)
{
	while (*formats && strcmp(*formats, format) != 0)
		formats++;
	return *formats != NULL;
}

/* Options that the format has no use for would be ignored in silence. */
static void note_useless_options(struct importing *importing)
{
	static const char *const with_kinds[] = { "bpftrace", "folded", "otlp", "pprof", NULL };
	static const char *const with_units[] = { "bpftrace", "chrome", "folded", "jfr", "otlp", "perf-script", "perfetto", "pprof", "speedscope", "wprof", NULL };
	static const char *const with_markers[] = { "chrome", "firefox", "perfetto", "wprof", NULL };
	const struct lode_import_settings *settings = importing->settings;
	const char *format = importing->importer->name, *name = lode_input_name(importing->input);

	if ((settings->kind && !is_one_of(format, with_kinds)) || (settings->unit && !is_one_of(format, with_units)))
		lode_notes_add(&importing->notes, 1,
			       "files whose format knows its own kinds and units "
			       "(--kind and --unit are for folded stacks and pprof)",
			       name);
	if (settings->symptom_markers.items && !is_one_of(format, with_markers))
		lode_notes_add(&importing->notes, 1, "files whose format has no slices or markers for --symptom-markers", name);
}

static int read_input(struct importing *importing, struct lode_error *error)
{
	struct lode_import_sink sink = { take, importing };
	const unsigned char *bytes;
	size_t size;
	int code = lode_input_whole(importing->input, &bytes, &size, error);

	if (code < 0)
		return code;
	importing->files[importing->file].bytes = size;
	importing->importer = lode_import_choose(importing->input, &importing->options, error);
	if (!importing->importer)
		return LODE_BAD_INPUT;
	note_useless_options(importing);
	code = open_corpus(importing, error);
	if (code < 0)
		return code;
	hold(importing, 1);
	code = importing->importer->read(importing->input, &importing->options, &sink, error);
	importing->call->host->pause(importing->call->host);
	hold(importing, 0);
	return code;
}

static int import_file(struct importing *importing, size_t file, struct lode_error *error)
{
	struct lode_imported_file *outcome = &importing->files[file];
	uint64_t began = lode_now();
	char *name;
	int code;

	importing->file = file;
	outcome->tried = 1;
	name = lode_import_file(importing->call->operands[file]);
	code = name ? lode_input_open(&importing->input, name, error) : lode_fail_memory(error);
	lode_free(name);
	if (code < 0)
		return outcome->code = code;
	name = lode_import_names_get(&importing->names, file);
	importing->options.file_name = name;
	code = read_input(importing, error);
	lode_input_close(importing->input);
	importing->options.file_name = NULL;
	lode_free(name);
	importing->input = NULL;
	outcome->took = lode_now() - began;
	outcome->code = code;
	return code;
}

/* ---- telling ---- */

static void say_line(const struct lode_call *call, enum lode_style style, const char *name,
		     struct lode_buffer *line)
{
	lode_buffer_byte(line, '\0');
	if (!line->failed)
		lode_call_say(call, style, "%s: %s", name, line->bytes);
	lode_buffer_release(line);
}

/* `file` is given when the stream is all there was in it. */
static void tell_outcome(const struct lode_call *call, const struct lode_imported_stream *stream,
			 const struct lode_imported_file *file)
{
	struct lode_buffer line = { 0 };

	lode_imported_stream_text(stream, file, &line);
	say_line(call, stream->skipped ? LODE_DIM : LODE_GREEN, stream->name, &line);
}

static void tell_file(const struct importing *importing, size_t file)
{
	const struct lode_imported_file *outcome = &importing->files[file];
	const char *path = importing->call->operands[file];
	const struct lode_call *call = importing->call;
	struct lode_buffer line = { 0 };
	size_t streams = 0, skipped = 0;

	for (size_t i = 0; i < importing->count; i++) {
		if (importing->outcomes[i].file != file)
			continue;
		streams++;
		skipped += importing->outcomes[i].skipped;
	}
	for (size_t i = 0; i < importing->count; i++)
		if (importing->outcomes[i].file == file)
			tell_outcome(call, &importing->outcomes[i],
				     streams == 1 && !outcome->code ? outcome : NULL);
	if (outcome->code || !outcome->tried || streams == 1 || (streams && skipped == streams))
		return;
	lode_imported_file_text(outcome, &line);
	say_line(call, LODE_DIM, strcmp(path, "-") ? path : "standard input", &line);
}

static int show_json(const struct importing *importing, struct lode_error *error)
{
	const struct lode_import_report report = {
		.streams = importing->outcomes,
		.count = importing->count,
		.signatures = &importing->matching.signatures,
		.notes = &importing->notes,
	};
	struct lode_buffer buffer = { 0 };
	int code;

	lode_import_json(&report, &buffer);
	code = lode_call_show(importing->call, &buffer, error);
	lode_buffer_release(&buffer);
	return code;
}

/* ---- all of it ---- */

static int import_files(struct importing *importing, struct lode_error *error)
{
	const struct lode_call *call = importing->call;
	int worst = 0;

	for (size_t i = 0; i < call->operand_count; i++) {
		int code = import_file(importing, i, error);

		if (stopped(importing)) {
			lode_fail(error, 0, "stopped; %zu of %zu files are imported, nothing is half-done", i,
				  call->operand_count);
			return LODE_STOPPED(stopped(importing));
		}
		if (importing->store_failed)
			return code;
		if (code < 0)
			lode_call_say(call, LODE_RED, "%s", error->text);
		if (code < worst)
			worst = code;
	}
	error->text[0] = '\0';
	return worst;
}

static int finish(struct importing *importing, int code, struct lode_error *error)
{
	const struct lode_call *call = importing->call;
	size_t bad = 0;
	int shown = 0;

	for (size_t i = 0; i < call->operand_count; i++) {
		if (!call->quiet)
			tell_file(importing, i);
		bad += importing->files[i].code || !importing->files[i].tried;
	}
	lode_import_match_end(&importing->matching, importing->corpus);
	if (!call->quiet) {
		lode_import_match_say(&importing->matching, call);
		lode_notes_say(&importing->notes, call);
	}
	if (importing->settings->json)
		shown = show_json(importing, error);
	if (bad && call->operand_count > 1 && !error->text[0])
		lode_fail(error, 0, "%zu of %zu files imported; see above for the other%s",
			  call->operand_count - bad, call->operand_count, bad > 1 ? "s" : "");
	return code ? code : shown;
}

static void release(struct importing *importing)
{
	for (size_t i = 0; i < importing->count; i++)
		lode_free(importing->outcomes[i].name);
	lode_free(importing->outcomes);
	lode_free(importing->files);
	lode_import_match_release(&importing->matching);
	lode_import_names_release(&importing->names);
	lode_symbol_maps_destroy(importing->symbol_maps);
	lode_corpus_close(importing->corpus);
	lode_notes_release(&importing->notes);
}

static int run(struct lode_call *call, struct lode_error *error)
{
	struct importing importing = { .call = call, .settings = call->settings };
	int code = lode_import_options(importing.settings, &importing.options, error);

	if (code < 0)
		return code;
	lode_notes_init(&importing.notes);
	importing.options.progress = call->host->begin(call->host, call);
	importing.options.notes = &importing.notes;
	importing.files = lode_calloc(call->operand_count, sizeof(*importing.files));
	if (!importing.files || lode_import_names_init(&importing.names, (const char *const *)call->operands,
						       call->operand_count) < 0)
		code = lode_fail_memory(error);
	if (!code)
		code = lode_symbol_maps_load(&importing.symbol_maps, importing.settings->symbol_maps.items, error);
	importing.options.symbol_maps = importing.symbol_maps;
	if (!code) {
		code = import_files(&importing, error);
		code = finish(&importing, code, error);
	}
	release(&importing);
	return code;
}

const struct lode_command lode_command_import = {
	.name = "import",
	.summary = "read recordings of other tools into a corpus",
	.usage = "[OPTIONS] FILE... -o CORPUS",
	.about = "Reads recordings into the folder CORPUS, which is made if it is not there. The format is\n"
		 "recognised from the content; gzip, zstd and xz are unpacked; '-' is standard input.\n"
		 "The same content is imported once, whatever the file is called.",
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
