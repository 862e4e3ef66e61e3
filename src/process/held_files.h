/*
 * Files that processes started to run recently, kept open: when a flight recorder
 * saves its memory, the process, its container or the file itself may be gone. A
 * file is closed some time after the last process that mapped it ended, or when
 * there are too many and it is the least recently used one.
 */
#ifndef LODE_PROCESS_HELD_FILES_H
#define LODE_PROCESS_HELD_FILES_H

#include "base/memory.h"
#include "process/process_change.h"

/* Files at a time. */
#define LODE_HELD_FILES 384

struct lode_held_file {
	uint64_t hash;
	char *path; /* NULL: the place is free */
	char build_id[2 * LODE_CHANGE_BUILD_ID + 1];
	int fd;
	uint32_t pid; /* mapped it last */
	uint64_t seen;
	uint64_t gone; /* when that process was first found to be gone; 0: it lives */
};

struct lode_held_files {
	struct lode_held_file items[LODE_HELD_FILES];
	uint64_t tidied;
};

/* All free. */
void lode_held_files_init(struct lode_held_files *files);
void lode_held_files_release(struct lode_held_files *files);
/* Something was mapped; returns 0 or LODE_SYSTEM. A file that is gone already is left alone. */
int lode_held_files_see(struct lode_held_files *files, const struct lode_change *change);
/* Lets go of files whose process has been gone for `time`. Looks once a second. */
void lode_held_files_tidy(struct lode_held_files *files, uint64_t now, uint64_t time);
/* A new descriptor of a file; -1: it is not held. */
int lode_held_files_open(const struct lode_held_files *files, const char *path, const char *build_id);

#endif
