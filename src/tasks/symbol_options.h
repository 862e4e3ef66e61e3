/*
 * The options that say where symbols come from: of the commands that give functions their names.
 */
#ifndef LODE_TASKS_SYMBOL_OPTIONS_H
#define LODE_TASKS_SYMBOL_OPTIONS_H

#include "tasks/options.h"
#include "symbols/symbols.h"

#include <string.h>

struct lode_symbol_settings {
	int none; /* addresses stay as they are */
	int inlines;
	int debuginfod;
	struct lode_option_list paths;
	const char *cache;
};

#define LODE_SYMBOL_FIELD(base, field) ((base) + offsetof(struct lode_symbol_settings, field))
#define LODE_SYMBOL_OPTIONS(base)                                                                                 \
	LODE_FLAG("debuginfod", 0, LODE_SYMBOL_FIELD(base, debuginfod),                                           \
		  "fetch debug files from the servers in $DEBUGINFOD_URLS"),                                      \
		LODE_LIST("symbol-path", 0, LODE_SYMBOL_FIELD(base, paths), "DIR",                                \
			  "also look for binaries and debug files here; can be repeated"),                        \
		LODE_TEXT("symbol-cache", 0, LODE_SYMBOL_FIELD(base, cache), "DIR|none",                          \
			  "where symbols are cached between runs")
/* The same for commands that record, which may leave it for later. */
#define LODE_RECORD_SYMBOL_OPTIONS(base)                                                                          \
	LODE_FLAG("no-symbols", 0, LODE_SYMBOL_FIELD(base, none),                                                 \
		  "leave addresses in programs and libraries as they are"),                                       \
		LODE_FLAG("inlines", 0, LODE_SYMBOL_FIELD(base, inlines),                                         \
			  "show inlined functions as separate frames"),                                           \
		LODE_SYMBOL_OPTIONS(base)

/* What they ask for; of the cache, also of unwind tables: "" none, NULL the user's own. */
static inline struct lode_symbols_options lode_symbol_options(const struct lode_symbol_settings *settings,
							      struct lode_notes *notes)
{
	return (struct lode_symbols_options){
		.paths = settings->paths.items,
		.cache = settings->cache && !strcmp(settings->cache, "none") ? "" : settings->cache,
		.debuginfod = settings->debuginfod,
		.notes = notes,
	};
}

#endif
