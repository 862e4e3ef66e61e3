/*
 * Names of descriptors: what a process had open under a number, as the object of a wait (`file:/var/lib/x`, `pipe:[123]`).
 *
 * A name is looked up some time after the wait, when the number may belong to another file. So the inode of that moment
 * must be known, and a name is given only where the file that is open now has the same. What is known is kept; after
 * KEPT_NS it is looked up again, because a file may be renamed, or its inode number come again for another file: so a path
 * is out of date by that time at most. Sockets never change their names; a pipe is called by the process at its other end where that is a relative
 * (pipe_peers.h).
 *
 * Memory and time are bounded: so many names are kept, and so many looked up in a second; the others have only
 * their kind, and are counted.
 */
#ifndef LODE_PROCESS_DESCRIPTOR_NAMES_H
#define LODE_PROCESS_DESCRIPTOR_NAMES_H

#include "base/hash_index.h"
#include "process/unix_names.h"

struct lode_descriptor {
	uint32_t pid;
	uint32_t number;
	uint32_t inode; /* its lower half */
	uint32_t type;  /* of the inode: S_IF… >> 12 */
};

struct lode_descriptor_name {
	struct lode_descriptor descriptor;
	uint64_t t;
	char *text;
};

/* A zeroed struct knows none. */
struct lode_descriptor_names {
	struct lode_descriptor_name *items;
	size_t count;
	size_t capacity;
	struct lode_index index;
	struct lode_unix_names unix_names;
	uint64_t second;          /* the current one, */
	uint32_t looked_up;       /* and how many were looked up in it, */
	uint32_t pipes_looked_up; /* and other ends of pipes */
	uint64_t left_out;        /* not looked up because there were too many */
};

void lode_descriptor_names_release(struct lode_descriptor_names *names);
/*
 * The object of a wait at the time `t` (CLOCK_MONOTONIC) for what is no socket of the Internet; valid until the next call. NULL when memory
 * has run out.
 */
const char *lode_descriptor_name(struct lode_descriptor_names *names, const struct lode_descriptor *descriptor,
				 uint64_t t);

#endif
