/* The options of `lode record` and of the library's liblode_record, and their run. */
#ifndef LODE_TASKS_LIVE_RECORD_SETTINGS_H
#define LODE_TASKS_LIVE_RECORD_SETTINGS_H

#include "tasks/command.h"
#include "tasks/live/record_target_options.h"
#include "tasks/symbol_options.h"

#define LODE_DEFAULT_CORPUS "lode-corpus"

struct lode_record_settings {
	struct lode_record_target_settings target;
	uint64_t duration;
	const char *output;
	const char *name;
	struct lode_option_list attributes;
	struct lode_option_list symptoms;
	struct lode_symbol_settings symbols;
	const char *context;
	const char *push;
	int kernel_locks;
	int gpu;
	int no_own_walk;
	int json;
};

/*
 * Records as the call's settings, a struct lode_record_settings, ask for; shows what was recorded. Where the host
 * collects results, the command's exit status is only in these; else it is what is returned.
 */
int lode_record_run(struct lode_call *call, struct lode_error *error);

#endif
