/* The functions of libdebuginfod: see debuginfod_library.h. */
#include "symbols/debuginfod_library.h"

#include "base/shared_library.h"

#include <stdlib.h>

int lode_debuginfod_has_servers(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls && *urls;
}

int lode_debuginfod_load(struct lode_debuginfod_library *library, struct lode_error *error)
{
	const struct lode_library_function functions[] = {
		{ "debuginfod_begin", &library->begin },
		{ "debuginfod_end", &library->end },
		{ "debuginfod_find_executable", &library->find_executable },
		{ "debuginfod_find_debuginfo", &library->find_debuginfo },
		{ NULL, NULL },
	};
	struct lode_error reason;

	if (lode_library_load(LODE_DEBUGINFOD_LIBRARY, functions, &reason) == 0)
		return 0;
	return lode_fail(error, LODE_SYSTEM,
			 "--debuginfod: %s; install it ('libdebuginfod1' on Debian), or leave the option out",
			 reason.text);
}

int lode_debuginfod_check(struct lode_error *error)
{
	struct lode_debuginfod_library library;

	return lode_debuginfod_has_servers() ? lode_debuginfod_load(&library, error) : 0;
}
