/* A folder for the files of one test, in memory where there is such a place: tests write durably and often. */
#ifndef LODE_TESTS_TEMPORARY_H
#define LODE_TESTS_TEMPORARY_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Makes a new folder and writes its path. Returns 0, or -1 also where there is no room for the path. */
static inline int temporary_folder(char *path, size_t size)
{
	const char *place = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

	if (!path || (size_t)snprintf(path, size, "%s/lode-test-XXXXXX", place) >= size)
		return -1;
	return mkdtemp(path) ? 0 : -1;
}

#endif
