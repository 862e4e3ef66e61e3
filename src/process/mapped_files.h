/*
 * Names of mapped files: what a process that waits for a page has mapped there.
 *
 * The kernel side knows device and inode of the file (page_faults.bpf.h); its path is looked up in /proc/PID/maps, and
 * kept for other waits and processes. Memory and time are bounded: so many names are kept, and so many looked up in a
 * second; the others are unknown, and counted.
 */
#ifndef LODE_PROCESS_MAPPED_FILES_H
#define LODE_PROCESS_MAPPED_FILES_H

#include "base/hash_index.h"

struct lode_mapped_file {
	uint32_t device; /* as the kernel has it: major << 20 | minor */
	uint32_t inode;  /* its lower half */
	uint64_t t;      /* when it was looked up */
	char *path;      /* NULL: it was not found */
};

/* A zeroed struct knows none. */
struct lode_mapped_files {
	struct lode_mapped_file *items;
	size_t count;
	size_t capacity;
	struct lode_index index;
	uint64_t second;    /* the current one, */
	uint32_t looked_up; /* and how many were looked up in it */
	uint64_t left_out;  /* not looked up because there were too many */
};

void lode_mapped_files_release(struct lode_mapped_files *names);
/*
 * The path of the file that `pid` had mapped at `page` when it waited for that at `t` (CLOCK_MONOTONIC); valid until the
 * next call. NULL where it is not known, or memory has run out.
 */
const char *lode_mapped_file_name(struct lode_mapped_files *names, uint32_t pid, uint64_t page, uint32_t device,
				  uint32_t inode, uint64_t t);

#endif
