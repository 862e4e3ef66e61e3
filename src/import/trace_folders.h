/*
 * The recordings that the paths of a command name. Nearly every path is one; a session folder of LTTng has a CTF
 * trace for the kernel and one for each user or process, some levels down, and each is a separate recording.
 */
#ifndef LODE_IMPORT_TRACE_FOLDERS_H
#define LODE_IMPORT_TRACE_FOLDERS_H

#include "base/error.h"

#include <stddef.h>

/* A zeroed struct is an empty list. */
struct lode_recordings {
	char **paths;
	unsigned *levels; /* by path: how far it is below the folder that was named; 0: it was named itself */
	size_t count;
	size_t capacity;
	size_t level_capacity;
};

/* Adds `path`, or the traces below it, in the order of their paths. Returns 0 or a negative code. */
int lode_recordings_add(struct lode_recordings *recordings, const char *path, struct lode_error *error);
void lode_recordings_release(struct lode_recordings *recordings);

#endif
