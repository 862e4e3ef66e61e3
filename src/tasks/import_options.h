/*
 * The options of lode import: their table, their check, and what they do to a stream.
 */
#ifndef LODE_TASKS_IMPORT_OPTIONS_H
#define LODE_TASKS_IMPORT_OPTIONS_H

#include "tasks/options.h"
#include "import/import_files.h"

struct lode_import_settings {
	const char *output;
	const char *format;
	const char *kind;
	const char *unit;
	const char *name;
	const char *host;
	struct lode_option_list attributes; /* KEY=VALUE */
	struct lode_option_list symptom_markers;
	int inlines;
	int debuginfod;
	int no_symbols;
	struct lode_option_list symbol_paths;
	struct lode_option_list symbol_maps; /* MODULE=FILE */
	const char *symbol_cache;
	int replace;
	uint64_t jobs;
	int json;
};

extern const struct lode_option lode_import_table[];

/* Checks the settings and makes what they ask for of them. Returns 0 or LODE_USAGE. */
int lode_import_settle(const struct lode_import_settings *settings, struct lode_import_files *files,
		       struct lode_error *error);
/* Gives a stream the host and the attributes that were requested. Returns 0 or LODE_SYSTEM. */
int lode_import_apply(const struct lode_import_settings *settings, struct lode_stream *stream,
		      struct lode_error *error);

#endif
