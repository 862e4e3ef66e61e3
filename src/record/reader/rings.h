/*
 * Rings of records: one per CPU, in memory that the kernel writes and the program
 * reads (records.h). They are consumed in place (zero-copy), merged by time; a slot goes back
 * to the kernel when the record in it has been used.
 */
#ifndef LODE_RECORD_READER_RINGS_H
#define LODE_RECORD_READER_RINGS_H

#include "base/ordered_merge.h"
#include "record/bpf/records.h"

#include <stddef.h>

/* How far a ring has been read. */
struct lode_ring {
	uint64_t at;      /* position of the next record */
	uint64_t until;   /* position where this reading ends */
	uint64_t written; /* when the next record was written, or the latest before it if that seems later */
};

struct lode_rings {
	struct lode_record_ends *ends;   /* `cpu_count` of them, the caller's */
	const struct lode_record *slots; /* `slot_count`, a power of two, for each CPU, the caller's */
	uint32_t cpu_count;
	uint32_t slot_count;
	struct lode_ring *rings;         /* one per CPU */
	struct lode_ordered_merge order; /* CPUs whose rings have a next record, by when that was written */
};

/* Returns 0 or LODE_SYSTEM. */
int lode_rings_init(struct lode_rings *rings, struct lode_record_ends *ends, const struct lode_record *slots,
		    uint32_t cpu_count, uint32_t slot_count);
/* A zeroed struct may be released. */
void lode_rings_release(struct lode_rings *rings);
/* Whether one is half full: the kernel wakes the reader when a ring becomes so, and not while it stays so. */
int lode_rings_half_full(const struct lode_rings *rings);

/* Begins to read what is there now. */
void lode_rings_begin(struct lode_rings *rings);
/*
 * The next record and when it was written, NULL at the end; it stays where it is
 * until lode_rings_pass. Behind a record that is not whole, because its writer was
 * interrupted, the rest of that ring waits for the next reading.
 */
const struct lode_record *lode_rings_next(const struct lode_rings *rings, uint64_t *written);
/* The next record has been used. */
void lode_rings_pass(struct lode_rings *rings);

#endif
