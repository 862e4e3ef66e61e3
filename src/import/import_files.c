/* From files to streams of a corpus: see import_files.h. */
#include "import/import_files.h"

#include "base/clock.h"
#include "base/memory.h"
#include "import/folder_digest.h"
#include "import/stream_id.h"

#include <string.h>
#include <sys/stat.h>

/* A file that is being read. */
struct reading {
	struct lode_import_files *import;
	size_t file;
	struct lode_input *input;
	const struct lode_importer *importer;
	int is_folder; /* the recording is the whole folder that the input is in */
};

/* ---- one stream ---- */

static int identify(struct reading *reading, unsigned ordinal, char id[33], struct lode_error *error)
{
	const struct lode_import_files *import = reading->import;
	char digest[33];
	struct lode_stream_id parts = {
		.digest = digest,
		.ordinal = ordinal,
		.format = reading->importer->name,
		.name = import->name,
		.host = import->host,
		.attributes = import->attributes,
		.symptom_markers = import->options.symptom_markers,
		.kind_is_wait = import->options.kind_is_wait,
		.unit_ns = import->options.unit_ns > 0 ? import->options.unit_ns : 1,
	};
	uint64_t *bytes = &import->files[reading->file].bytes;
	int code = reading->is_folder ? lode_folder_digest(lode_input_name(reading->input), digest, bytes, error)
				      : lode_input_digest(reading->input, digest, error);

	return code < 0 ? code : lode_stream_id(&parts, id, error);
}

static int describe(const struct lode_stream *stream, struct lode_imported_stream *outcome)
{
	struct lode_corpus_entry entry = { .id = "" };

	if (lode_corpus_describe(stream, &entry) < 0 || !(outcome->name = lode_strdup(entry.name)))
		return LODE_SYSTEM;
	memcpy(outcome->events, entry.events, sizeof(outcome->events));
	memcpy(outcome->cost, entry.cost, sizeof(outcome->cost));
	outcome->stacks = entry.stacks;
	outcome->span = entry.last_t - entry.first_t;
	return 0;
}

static uint64_t stored_size(struct lode_corpus *corpus, const char *id)
{
	char *path = lode_corpus_stream_path(corpus, id, NULL);
	struct stat status;
	uint64_t size = 0;

	if (path && !stat(path, &status))
		size = (uint64_t)status.st_size;
	lode_free(path);
	return size;
}

static int store(struct reading *reading, struct lode_stream *stream, struct lode_imported_stream *outcome,
		 struct lode_error *error)
{
	struct lode_import_files *import = reading->import;
	int had = lode_corpus_has(import->corpus, outcome->id, error), added;

	if (had < 0)
		return had;
	if (had && !import->replace) {
		outcome->skipped = 1;
		return 0;
	}
	if (!had && !import->name) {
		int code = lode_import_names_settle(&import->names, reading->file, import->corpus, stream, error);

		if (code < 0)
			return code;
	}
	added = lode_corpus_add(import->corpus, outcome->id, lode_input_name(reading->input), stream,
				import->replace, import->options.jobs, error);
	if (added < 0)
		return added;
	outcome->skipped = added == 0;
	outcome->replaced = added && had;
	outcome->stored = stored_size(import->corpus, outcome->id);
	if (added)
		import->hooks.added(import->hooks.context, import->corpus, outcome->id, stream);
	return 0;
}

static int take(void *context, struct lode_stream *stream, unsigned ordinal, struct lode_error *error)
{
	struct reading *reading = context;
	struct lode_import_files *import = reading->import;
	struct lode_imported_stream outcome = { .file = reading->file };
	int code;

	if (lode_grow(&import->streams, &import->capacity, import->count + 1, sizeof(outcome)) < 0)
		return lode_fail_memory(error);
	code = import->hooks.adjust(import->hooks.context, stream, error);
	if (!code)
		code = identify(reading, ordinal, outcome.id, error);
	if (!code) {
		code = store(reading, stream, &outcome, error);
		import->store_failed = code < 0;
	}
	if (!code && describe(stream, &outcome) < 0)
		code = lode_fail_memory(error);
	if (code) {
		lode_free(outcome.name);
		return code;
	}
	import->streams[import->count++] = outcome;
	return 0;
}

/* ---- one file ---- */

/* The corpus is opened when there is something to put into it, so that a wrong name leaves no empty folder. */
static int open_corpus(struct lode_import_files *import, struct lode_error *error)
{
	int code = import->corpus ? 0
				  : lode_corpus_open(&import->corpus, import->output, LODE_CORPUS_CREATE, error);

	import->store_failed = code < 0;
	return code;
}

static int is_one_of(const char *format, const char *const *formats)
{
	while (*formats && strcmp(*formats, format) != 0)
		formats++;
	return *formats != NULL;
}

/* Options that the format has no use for would be ignored in silence. */
static void note_useless_options(const struct reading *reading)
{
	static const char *const with_kinds[] = { "bpftrace", "folded", "otlp", "pprof", NULL };
	static const char *const with_units[] = { "bpftrace",   "chrome",      "folded",   "jfr",
						  "otlp",       "perf-script", "perfetto", "pprof",
						  "speedscope", "wprof",       NULL };
	static const char *const with_markers[] = { "chrome", "firefox", "perfetto", "wprof", NULL };
	const struct lode_import_files *import = reading->import;
	const char *format = reading->importer->name, *name = lode_input_name(reading->input);

	if ((import->gives_kind && !is_one_of(format, with_kinds)) ||
	    (import->gives_unit && !is_one_of(format, with_units)))
		lode_notes_add(
			import->options.notes, 1,
			"files to which --kind or --unit does not apply (lode-import(1) says to which they do)",
			name);
	if (import->options.symptom_markers && !is_one_of(format, with_markers))
		lode_notes_add(import->options.notes, 1,
			       "files whose format has no slices or markers for --symptom-markers", name);
}

static int read_input(struct reading *reading, struct lode_error *error)
{
	struct lode_import_files *import = reading->import;
	struct lode_import_sink sink = { take, reading };
	const unsigned char *bytes;
	size_t size;
	int code;

	/* Before all of it is unpacked: a few bytes show that a file is none of ours. */
	reading->importer = lode_import_choose(reading->input, &import->options, error);
	if (!reading->importer)
		return LODE_BAD_INPUT;
	code = lode_input_whole(reading->input, &bytes, &size, error);
	if (code < 0)
		return code;
	import->files[reading->file].bytes = size;
	reading->is_folder |= reading->importer->is_folder;
	note_useless_options(reading);
	code = open_corpus(import, error);
	if (code < 0)
		return code;
	import->hooks.reading(import->hooks.context, import->corpus);
	return reading->importer->read(reading->input, &import->options, &sink, error);
}

static int open_input(struct reading *reading, struct lode_error *error)
{
	const char *named = reading->import->recordings.paths[reading->file];
	char *path = lode_import_file(named);
	struct stat status;
	int code;

	reading->is_folder = path && strcmp(path, named) != 0;
	if (path && !reading->is_folder && stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		code = lode_fail(error, LODE_BAD_INPUT,
				 "%s: is a folder without a recording of LTTng, uftrace or perf record --threads; "
				 "name the files in it",
				 path);
	else
		code = path ? lode_input_open(&reading->input, path, error) : lode_fail_memory(error);
	lode_free(path);
	return code;
}

int lode_import_files_read(struct lode_import_files *import, size_t file, struct lode_error *error)
{
	struct lode_imported_file *outcome = &import->files[file];
	struct reading reading = { .import = import, .file = file };
	uint64_t began = lode_now();
	char *name;

	import->store_failed = 0;
	outcome->tried = 1;
	outcome->code = open_input(&reading, error);
	if (outcome->code < 0)
		return outcome->code;
	name = lode_import_names_get(&import->names, file);
	import->options.file_name = name;
	outcome->code = read_input(&reading, error);
	lode_input_close(reading.input);
	import->options.file_name = NULL;
	lode_free(name);
	outcome->took = lode_now() - began;
	return outcome->code;
}

/* ---- all of them ---- */

int lode_import_files_begin(struct lode_import_files *import, struct lode_error *error)
{
	struct lode_recordings *recordings = &import->recordings;
	int code = 0;

	for (size_t i = 0; code == 0 && i < import->path_count; i++)
		code = lode_recordings_add(recordings, import->paths[i], error);
	if (code)
		return code;
	import->files = lode_calloc(recordings->count + 1, sizeof(*import->files));
	if (!import->files || lode_import_names_init(&import->names, (const char *const *)recordings->paths,
						     recordings->levels, recordings->count) < 0)
		return lode_fail_memory(error);
	return 0;
}

void lode_import_files_release(struct lode_import_files *import)
{
	for (size_t i = 0; i < import->count; i++)
		lode_free(import->streams[i].name);
	lode_free(import->streams);
	lode_free(import->files);
	lode_import_names_release(&import->names);
	lode_recordings_release(&import->recordings);
	lode_corpus_close(import->corpus);
}
