/*
 * A sandbox for code that parses files of strangers: the calling process can compute, use memory up to a limit, and
 * read and write the descriptors it has. It cannot open anything, start anything, or reach the network.
 */
#ifndef LODE_COLLECT_SANDBOX_H
#define LODE_COLLECT_SANDBOX_H

#include "base/error.h"

#include <stdint.h>

struct lode_sandbox_limits {
	uint64_t memory;  /* bytes of address space */
	uint64_t written; /* bytes that a file may reach */
	unsigned seconds; /* of CPU time, and twice as many on the clock; then the process is killed */
};

/* For good. Returns 0, or LODE_SYSTEM and a sentence: then the process must not go on. One thread only. */
int lode_sandbox_enter(const struct lode_sandbox_limits *limits, struct lode_error *error);

#endif
