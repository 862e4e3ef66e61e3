/* The options of `lode watch`, and its run. */
#ifndef LODE_TASKS_LIVE_WATCH_SETTINGS_H
#define LODE_TASKS_LIVE_WATCH_SETTINGS_H

#include "tasks/command.h"
#include "tasks/live/record_target_options.h"
#include "tasks/symbol_options.h"

struct lode_watch_settings {
	struct lode_record_target_settings target;
	uint64_t last;
	const char *after;
	const char *memory;
	uint64_t duration;
	const char *output;
	const char *name;
	struct lode_option_list attributes;
	struct lode_option_list triggers;
	uint64_t per_hour;
	struct lode_option_list keep;
	struct lode_symbol_settings symbols;
	const char *context;
	const char *push;
	const char *baseline;
	uint64_t baseline_hour; /* for tests; 0: an hour */
	int json;
};

/* Watches as the call's settings, a struct lode_watch_settings, ask for. */
int lode_watch_run(struct lode_call *call, struct lode_error *error);

#endif
