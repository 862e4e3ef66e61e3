/*
 * Where a thread-local variable that a binary exports is in the threads of a process: at a fixed distance from the thread
 * pointer, if it is in the program itself or in a library that was loaded with it, or else in a module of the dynamic linker's
 * table (dtv). What the linker chose for a library is read from the process, where the library's own code finds it.
 */
#ifndef LODE_PROCESS_THREAD_LOCALS_H
#define LODE_PROCESS_THREAD_LOCALS_H

#include "process/languages/process_memory.h"

struct lode_thread_local_request {
	uint32_t pid;
	const char *path; /* of the binary, as this process sees it */
	const char *name; /* of the variable */
	uint64_t start;   /* where its code is mapped, */
	uint64_t offset;  /* and which part of the file that is */
};

struct lode_thread_local {
	int64_t offset;  /* from the thread pointer, or in the module's part */
	uint64_t module; /* 0: static */
};

enum lode_thread_local_state {
	LODE_THREAD_LOCAL_NONE,  /* not there, or not to be found */
	LODE_THREAD_LOCAL_LATER, /* the dynamic linker has not come to it yet */
	LODE_THREAD_LOCAL_FOUND,
};

/* Whether the binary exports such a variable. */
int lode_thread_local_exists(const char *path, const char *name);
enum lode_thread_local_state lode_thread_local_find(const struct lode_process_memory *memory,
						    const struct lode_thread_local_request *request,
						    struct lode_thread_local *found);

#endif
