/*
 * The ending of an output file decides its format: see output_ending.h.
 *
 * A command lists the endings of its pictures and pages (lode_command.ending); JSON
 * is known from its option --json. What is left is text, which may be called
 * anything, but not by the ending of a format that other programs would take it
 * for: results.png with text in it is noticed only when it is opened.
 */
#include "tasks/output_ending.h"

#include "tasks/analysis.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Endings that promise a format. A scratch file's `.Xa83bs` or a date promises nothing. */
static const char *const promises[] = {
	".html",      ".htm", ".xhtml", ".svg", ".png",     ".jpg",    ".jpeg",  ".gif",    ".webp",
	".pdf",       ".ps",  ".eps",   ".dot", ".gv",      ".json",   ".jsonl", ".ndjson", ".folded",
	".collapsed", ".gz",  ".xz",    ".zst", ".bz2",     ".zip",    ".tar",   ".pb",     ".pprof",
	".csv",       ".tsv", ".arff",  ".xml", ".yaml",    ".yml",    ".toml",  ".md",     ".rst",
	".tex",       ".xls", ".xlsx",  ".ods", ".parquet", ".sqlite", ".db",
};

/* What one command can write. */
struct forms {
	const struct lode_command *command;
	const void *settings;
	int has_json;
};

const char *lode_ending_of_page(const void *settings, size_t i)
{
	(void)settings;
	return i ? NULL : ".html";
}

static const struct lode_option *find(const struct lode_command *command, const char *name)
{
	const struct lode_option *option = command->options;

	while (option && option->name && strcmp(option->name, name))
		option++;
	return option && option->name ? option : NULL;
}

static void *field(const struct lode_option *option, void *settings)
{
	return (char *)settings + option->offset;
}

static const char *own_ending(const struct forms *forms, size_t i)
{
	const struct lode_command *command = forms->command;

	if (command->analysis)
		return lode_analysis_ending(command->analysis, forms->settings, i);
	return command->ending ? command->ending(forms->settings, i) : NULL;
}

/* The command's own ending that fits, the longest of several; NULL: none. */
static const char *find_own(const struct forms *forms, const char *path, size_t *number)
{
	const char *best = NULL, *ending;

	for (size_t i = 0; (ending = own_ending(forms, i)); i++) {
		if (!lode_ends_in(path, ending) || (best && strlen(ending) <= strlen(best)))
			continue;
		best = ending;
		*number = i;
	}
	return best;
}

static int is_json(const char *path)
{
	return lode_ends_in(path, ".json") || lode_ends_in(path, ".jsonl") || lode_ends_in(path, ".ndjson");
}

static const char *find_promise(const char *path)
{
	for (size_t i = 0; i < sizeof(promises) / sizeof(*promises); i++)
		if (lode_ends_in(path, promises[i]))
			return promises[i];
	return NULL;
}

static int refuse_promise(const struct forms *forms, const char *path, const char *promise,
			  struct lode_error *error)
{
	const char *name = forms->command->name, *ending;
	struct lode_buffer known = { 0 };
	int code;

	for (size_t i = 0; (ending = own_ending(forms, i)); i++)
		lode_buffer_print(&known, "%s%s", i ? ", " : "", ending);
	/* What has JSON is a report, and has text as well. */
	if (forms->has_json)
		lode_buffer_print(&known, "%s.json, or .txt for text", known.size ? ", " : "");
	lode_buffer_byte(&known, '\0');
	if (known.failed)
		code = lode_fail_memory(error);
	else
		code = lode_fail(error, LODE_USAGE,
				 "%s: '-o %s': no %s can be written here; end the name in %s. "
				 "See 'lode help %s'.",
				 name, path, promise, known.bytes, name);
	lode_buffer_release(&known);
	return code;
}

/* The format was named; another one's ending would mislead. */
static int check_format(const struct forms *forms, const struct lode_option *format, const char *chosen,
			const char *path, struct lode_error *error)
{
	const char *name = forms->command->name, *own;
	size_t number = 0;

	own = find_own(forms, path, &number);
	if (!own || !strcmp(format->choice(number), chosen))
		return 0;
	return lode_fail(error, LODE_USAGE,
			 "%s: '--format %s' and '-o %s' contradict each other; give one of them. "
			 "See 'lode help %s'.",
			 name, chosen, path, name);
}

static int check_ending(const struct forms *forms, const char *path, int *json, struct lode_error *error)
{
	const char *name = forms->command->name, *promise = find_promise(path);
	size_t number;

	if (json && *json && is_json(path))
		return 0;
	if (find_own(forms, path, &number))
		promise = json && *json ? promise : NULL;
	else if (json && is_json(path))
		*json = 1;
	if (!promise || (json && *json && is_json(path)))
		return 0;
	if (json && *json)
		return lode_fail(error, LODE_USAGE,
				 "%s: '--json' and '-o %s' contradict each other; end the name in .json. "
				 "See 'lode help %s'.",
				 name, path, name);
	return refuse_promise(forms, path, promise, error);
}

/* A new folder results.html would be found out late, too. One that is there has its name. */
static int check_corpus(const char *command, const char *path, struct lode_error *error)
{
	const char *promise = find_promise(path);

	if (!promise || !access(path, F_OK))
		return 0;
	return lode_fail(error, LODE_USAGE,
			 "%s: '-o %s' names a corpus, which is a folder, not a %s file; leave out the ending. "
			 "See 'lode help %s'.",
			 command, path, promise, command);
}

int lode_output_ending_check(const struct lode_command *command, void *settings, struct lode_error *error)
{
	const struct lode_option *output = find(command, "output"), *json = find(command, "json"),
				 *format = find(command, "format");
	struct forms forms = { command, settings, json != NULL };
	const char *path, *chosen;

	path = output ? *(const char **)field(output, settings) : NULL;
	if (!path || !strcmp(path, "-"))
		return 0;
	if (!strcmp(output->argument, "CORPUS"))
		return check_corpus(command->name, path, error);
	if (strcmp(output->argument, "FILE"))
		return 0;
	chosen = format ? *(const char **)field(format, settings) : NULL;
	if (chosen)
		return check_format(&forms, format, chosen, path, error);
	return check_ending(&forms, path, json ? field(json, settings) : NULL, error);
}
