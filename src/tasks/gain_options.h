/* Options of what would be gained: lode mine --gain and lode scope --without. */
#ifndef LODE_TASKS_GAIN_OPTIONS_H
#define LODE_TASKS_GAIN_OPTIONS_H

#include "scope/what_if.h"
#include "tasks/options.h"

#define LODE_CPUS_OPTION(offset)                                                                                  \
	LODE_TEXT("cpus", 0, offset, "N|unlimited",                                                               \
		  "processors that threads share in a replay (default: as many as they ran on)")

/* Reads the text of --cpus; NULL: LODE_CPUS_RECORDED. LODE_USAGE with a sentence if it is none. */
int lode_cpus_parse(const char *text, uint32_t *cpus, struct lode_error *error);

#endif
