/*
 * The options of lode import: see import_options.h.
 */
#include "tasks/import_options.h"

#include "base/memory.h"
#include "base/starts_with.h"
#include "base/units.h"
#include "symbols/debuginfod_library.h"
#include "tasks/area_options.h"
#include "tasks/attributes.h"

#include <string.h>

static const char *format_choice(size_t i)
{
	return lode_importers[i] ? lode_importers[i]->name : NULL;
}

static const char *format_meaning(size_t i)
{
	return lode_importers[i]->description;
}

LODE_CHOICES(kind_choice, "run", "wait")

#define FIELD(field) offsetof(struct lode_import_settings, field)

const struct lode_option lode_import_table[] = {
	LODE_TEXT("output", 'o', FIELD(output), "CORPUS", "the folder to import into"),
	LODE_CHOICE_LISTED("format", 'f', FIELD(format), "NAME", "the format, instead of detecting it",
			   format_choice, format_meaning),
	LODE_CHOICE("kind", 'k', FIELD(kind), "KIND", "what folded stacks, pprof samples and bpftrace counts are",
		    kind_choice),
	LODE_TEXT("unit", 'u', FIELD(unit), "ns|us|ms|s|samples=PERIOD",
		  "the unit of values if the file does not say; PERIOD is a duration such as 10ms"),
	LODE_TEXT("name", 'n', FIELD(name), "NAME", "name of the stream, instead of the file's name"),
	LODE_TEXT("host", 0, FIELD(host), "HOST", "host of the recording"),
	/* No letter: -a is --all everywhere else. */
	{ LODE_ROW("attr", 0, LODE_OPTION_LIST, FIELD(attributes), "KEY=VALUE",
		   "an attribute for every stream; can be repeated"),
	  .old_letter = 'a' },
	LODE_LIST("symptom-markers", 0, FIELD(symptom_markers), "NAME",
		  "slices and markers with this name (or pattern) become symptoms; can be repeated"),
	LODE_FLAG("inlines", 0, FIELD(inlines), "show inlined functions as separate frames"),
	LODE_FLAG("debuginfod", 0, FIELD(debuginfod), "fetch debug files from the servers in $DEBUGINFOD_URLS"),
	LODE_FLAG("no-symbols", 0, FIELD(no_symbols), "leave addresses as they are"),
	LODE_LIST("symbol-path", 0, FIELD(symbol_paths), "DIR",
		  "also look for binaries and debug files here; can be repeated"),
	LODE_LIST("symbol-map", 0, FIELD(symbol_maps), "MODULE=FILE",
		  "function names for a Windows module: a file with an address and a name on each line; can be "
		  "repeated"),
	LODE_TEXT("symbol-cache", 0, FIELD(symbol_cache), "DIR|none", "where symbols are cached between runs"),
	LODE_FLAG("replace", 0, FIELD(replace), "import again what the corpus already has"),
	LODE_JOBS_OPTION(FIELD(jobs)),
	LODE_FLAG("json", 0, FIELD(json), "write what was imported as JSON to standard output"),
	LODE_NO_MORE_OPTIONS,
};

static int wrong(struct lode_error *error, const char *sentence, const char *what)
{
	return lode_fail(error, LODE_USAGE, "import: %s '%s'. See 'lode help import'.", sentence, what);
}

static int read_unit(const char *unit, double *nanoseconds, struct lode_error *error)
{
	static const struct {
		const char *name;
		double nanoseconds;
	} units[] = {
		{ "ns", 1 },
		{ "us", 1e3 },
		{ "ms", 1e6 },
		{ "s", 1e9 },
	};
	uint64_t period;

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(units[i].name, unit))
			continue;
		*nanoseconds = units[i].nanoseconds;
		return 0;
	}
	if (lode_starts_with(unit, "samples=") && lode_duration_lacks_unit(unit + 8))
		return lode_fail(error, LODE_USAGE,
				 "import: '--unit %s': %s has no unit; write samples=%sms for milliseconds or "
				 "samples=%sns for nanoseconds. See 'lode help import'.",
				 unit, unit + 8, unit + 8, unit + 8);
	if (!lode_starts_with(unit, "samples=") || lode_duration_parse(unit + 8, &period, NULL) < 0 || !period)
		return wrong(error, "'--unit' needs ns, us, ms, s or samples=PERIOD (such as samples=10ms), not",
			     unit);
	*nanoseconds = (double)period;
	return 0;
}

int lode_import_settle(const struct lode_import_settings *settings, struct lode_import_files *files,
		       struct lode_error *error)
{
	struct lode_import_options *options = &files->options;

	if (!settings->output)
		return lode_fail(
			error, LODE_USAGE,
			"import: no corpus to import into; name one with '-o CORPUS'. See 'lode help import'.");
	if (settings->unit && read_unit(settings->unit, &options->unit_ns, error) < 0)
		return LODE_USAGE;
	if (lode_attributes_check("import", &settings->attributes, error) < 0)
		return LODE_USAGE;
	if (settings->debuginfod && lode_debuginfod_check(error) < 0)
		return LODE_SYSTEM;
	options->format = settings->format;
	options->kind_is_wait = settings->kind && !strcmp(settings->kind, "wait");
	options->jobs = (unsigned)settings->jobs;
	options->inlines = settings->inlines;
	options->debuginfod = settings->debuginfod;
	options->no_symbols = settings->no_symbols;
	options->symbol_paths = settings->symbol_paths.items;
	options->symptom_markers = settings->symptom_markers.items;
	options->cache = settings->symbol_cache;
	if (options->cache && !strcmp(options->cache, "none"))
		options->cache = "";
	options->stream_name = settings->name;
	files->output = settings->output;
	files->name = settings->name;
	files->host = settings->host;
	files->attributes = settings->attributes.items;
	files->gives_kind = settings->kind != NULL;
	files->gives_unit = settings->unit != NULL;
	files->replace = settings->replace;
	return 0;
}

int lode_import_apply(const struct lode_import_settings *settings, struct lode_stream *stream,
		      struct lode_error *error)
{
	if (settings->host) {
		uint32_t host = lode_strings_add(&stream->dictionary->frames.strings, settings->host,
						 strlen(settings->host));

		if (host == LODE_NONE)
			return lode_fail_memory(error);
		stream->host = host;
	}
	return lode_attributes_apply(&settings->attributes, stream) < 0 ? lode_fail_memory(error) : 0;
}
