/* The limit of open files: see open_files.h. */
#include "cmd/open_files.h"

#include <sys/resource.h>

static struct rlimit before; /* 0: nothing was raised */

void lode_open_files_raise(void)
{
	struct rlimit limit;

	if (before.rlim_cur || getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= limit.rlim_max)
		return;
	before = limit;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

void lode_open_files_restore(void)
{
	if (before.rlim_cur)
		setrlimit(RLIMIT_NOFILE, &before);
}
