/*
 * Copies of user stacks (perf record --call-graph dwarf), from the sample that
 * brings one until the replay comes to the sample's time and unwinds it.
 *
 * Where the recording is in memory a copy points into it. From pipes and
 * compressed records it has its own bytes, and the bytes of waiting copies are
 * limited: beyond the limit those of new ones are dropped, so that only
 * registers are left.
 */
#ifndef LODE_IMPORT_PERF_DATA_USER_STACK_COPIES_H
#define LODE_IMPORT_PERF_DATA_USER_STACK_COPIES_H

#include "base/array.h"
#include "process/unwinder.h"

/* Bytes of their own that waiting copies may have together. Recorders end a round long before. */
#define LODE_PERF_COPIES_LIMIT ((size_t)1 << 29)

struct lode_perf_copy {
	struct lode_unwind_registers registers;
	const unsigned char *bytes; /* the stack, from the stack pointer on */
	unsigned char *owned;       /* the same where they are the copy's own, else NULL */
	uint32_t size;
	uint32_t chain;      /* number of the call chain beside it, the kernel's part; LODE_NONE: none */
	uint8_t is_cut;      /* there was more of the stack than the recorder was to copy */
	uint8_t is_dropped;  /* it had bytes, but too many were waiting */
	uint8_t is_deferred; /* there is none: the user's part comes in a record with the same cookie */
	uint64_t cookie;
};

struct lode_perf_copies {
	LODE_ARRAY(struct lode_perf_copy); /* those that wait, by number, and free places */
	uint32_t free; /* chain of free places by their `chain`, the number plus one; 0: none */
	size_t bytes;  /* that the copies own */
	size_t limit;  /* of these; 0: LODE_PERF_COPIES_LIMIT */
};

/* A zeroed struct is empty. */
void lode_perf_copies_release(struct lode_perf_copies *copies);
/*
 * Takes a copy over, its own bytes included, which `*copy` does not have any more
 * then. Returns its number, or LODE_NONE when memory has run out.
 */
uint32_t lode_perf_copies_add(struct lode_perf_copies *copies, struct lode_perf_copy *copy);
/* Forgets a copy and frees its own bytes; its number is given out again. */
void lode_perf_copies_remove(struct lode_perf_copies *copies, uint32_t number);

#endif
