/* A folder for the files of one test, in memory where there is such a place: tests write durably and often. */
#ifndef LODE_TESTS_TEMPORARY_H
#define LODE_TESTS_TEMPORARY_H

#include <ftw.h>
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

static inline int temporary_remove_one(const char *path, const struct stat *status, int flag, struct FTW *walk)
{
	(void)status;
	(void)flag;
	(void)walk;
	return remove(path);
}

/* Removes a folder with all that is in it. Returns 0, or -1. */
static inline int temporary_remove(const char *path)
{
	return nftw(path, temporary_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
