/*
 * Control groups of the processes that are recorded. A process is asked for when its first event comes, and when it
 * executes a program; one that is gone by then has the group of its parent, from the kernel's report of the fork.
 */
#ifndef LODE_PROCESS_PROCESS_GROUPS_H
#define LODE_PROCESS_PROCESS_GROUPS_H

#include "base/hash_index.h"
#include "process/process_change.h"
#include "trace/stream.h"

struct lode_process_group {
	uint32_t pid;
	uint32_t path;   /* number of the path; LODE_NONE: none is known, or it is the root */
	uint8_t is_read; /* from /proc; else inherited */
};

/* A zeroed struct knows none. */
struct lode_process_groups {
	struct lode_process_group *items;
	size_t count;
	size_t capacity;
	struct lode_index index; /* by pid */
	char **paths;
	size_t path_count;
	size_t path_capacity;
	uint64_t second; /* the current one, */
	uint32_t reads;  /* and how many processes were asked in it */
};

void lode_process_groups_release(struct lode_process_groups *groups);
/* An event of a process came. Returns 0 or LODE_SYSTEM. */
int lode_process_groups_see(struct lode_process_groups *groups, uint32_t pid);
/* Learns from a fork, or a new program; other changes are of no interest. Returns 0 or LODE_SYSTEM. */
int lode_process_groups_apply(struct lode_process_groups *groups, const struct lode_change *change);
/* Gives the stream attributes (trace/control_groups.h) with the processes of its threads. Returns 0 or LODE_SYSTEM. */
int lode_process_groups_store(const struct lode_process_groups *groups, struct lode_stream *stream);

#endif
