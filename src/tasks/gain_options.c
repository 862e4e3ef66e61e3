/* Options of what would be gained: see gain_options.h. */
#include "tasks/gain_options.h"

#include <stdlib.h>
#include <string.h>

#define MAX_CPUS 65535

int lode_cpus_parse(const char *text, uint32_t *cpus, struct lode_error *error)
{
	unsigned long number;
	char *rest;

	*cpus = LODE_CPUS_RECORDED;
	if (!text)
		return 0;
	if (!strcmp(text, "unlimited")) {
		*cpus = LODE_CPUS_UNLIMITED;
		return 0;
	}
	number = strtoul(text, &rest, 10);
	if (rest == text || *rest || *text == '-' || !number || number > MAX_CPUS)
		return lode_fail(error, LODE_USAGE,
				 "'--cpus' needs a number of processors from 1 to %d, or 'unlimited', not '%s'",
				 MAX_CPUS, text);
	*cpus = (uint32_t)number;
	return 0;
}
