/*
 * Decoder: from the bytes of one record to an entry of a batch. Call chains are
 * interned here, so that their bytes are read once.
 */
#ifndef LODE_IMPORT_PERF_DATA_DECODE_H
#define LODE_IMPORT_PERF_DATA_DECODE_H

#include "import/kernel/perf_data/batch.h"
#include "import/kernel/perf_data/recording_facts.h"

/* What was met on the way; goes to the notes at the end. */
struct lode_perf_counts {
	uint64_t samples;
	uint64_t bad_samples;     /* shorter than their event says */
	uint64_t unknown_samples; /* of no event in the header */
	uint64_t bad_records;
	uint64_t lost; /* records the kernel could not store */
	uint64_t lost_samples;
	uint64_t throttled;
	uint64_t switches;      /* context switches without a stack */
	uint64_t exits;         /* of system calls */
	uint64_t aux;           /* hardware traces */
	uint64_t narrow;        /* user stacks of 32-bit programs */
	uint64_t other_machine; /* user stacks that are not unwound */
	uint64_t no_registers;  /* user stacks that cannot be unwound for want of them */
	uint64_t timeless;
	uint64_t summed;  /* off-CPU samples that are sums */
	uint64_t unknown; /* records of unknown types */
};

struct lode_perf_decoder {
	struct lode_perf_facts *facts;
	struct lode_perf_batch *batch; /* being filled */
	struct lode_perf_counts counts;
	uint64_t time;   /* of the last record that had one */
	uint64_t latest; /* of all samples */
	int is_lasting;  /* the bytes of the current record stay where they are until the import is over */
	struct lode_perf_chains chains;
	uint64_t last_id; /* the id looked up last, and its event */
	const struct lode_perf_event *last_event;
	uint64_t *scratch; /* room for the longest chain */
	uint32_t *named;   /* threads that have a name already: tid at tid % LODE_PERF_NAMED_TIDS */
};

#define LODE_PERF_NAMED_TIDS 65536

/* Returns 0 or LODE_SYSTEM. `facts` must outlive it. */
int lode_perf_decoder_init(struct lode_perf_decoder *decoder, struct lode_perf_facts *facts);
void lode_perf_decoder_release(struct lode_perf_decoder *decoder);
/*
 * Takes one record of the kernel (type below 64) of `size` bytes, header
 * included, which are all there. What is damaged is counted. Returns 0 or LODE_SYSTEM.
 */
int lode_perf_decode(struct lode_perf_decoder *decoder, const unsigned char *record, size_t size);
/* Adds what was counted to the notes. */
void lode_perf_counts_note(const struct lode_perf_counts *counts, struct lode_notes *notes);

#endif
