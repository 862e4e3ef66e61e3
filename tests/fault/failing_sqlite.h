/*
 * SQLite on a machine that fails: a file system of SQLite's (a VFS) that passes
 * everything on to the system's own and fails where it is asked to, and the same
 * for SQLite's memory. It puts itself in place before the first use of SQLite.
 */
#ifndef LODE_TESTS_FAILING_SQLITE_H
#define LODE_TESTS_FAILING_SQLITE_H

#include <stdint.h>

enum failing_sqlite_kind {
	FAILING_SQLITE_IO,     /* SQLITE_IOERR_… from openings, writes, syncs, truncations, deletions */
	FAILING_SQLITE_FULL,   /* SQLITE_FULL from writes */
	FAILING_SQLITE_MEMORY, /* no memory */
};

/* The n-th request of the kind fails, and all behind it with `for_good`; 0 turns it off. Counts from here on.
 */
void failing_sqlite_arm(uint64_t nth, int for_good, int kind);
/* Requests of the armed kind since then. */
uint64_t failing_sqlite_asked(void);

#endif
