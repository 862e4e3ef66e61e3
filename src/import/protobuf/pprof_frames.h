/*
 * Frames and stacks of a pprof profile: from locations, with their mappings and functions, to nodes of the stack tree.
 */
#ifndef LODE_IMPORT_PPROF_FRAMES_H
#define LODE_IMPORT_PPROF_FRAMES_H

#include "base/array.h"
#include "base/hash_index.h"
#include "import/import_common.h"
#include "import/protobuf/pprof_tables.h"

struct lode_pprof_range;
struct lode_pprof_step;

struct lode_pprof_frames {
	struct lode_pprof_tables *tables;   /* not owned */
	struct lode_dictionary *dictionary; /* not owned */
	LODE_ARRAY(uint32_t) frames;        /* of all locations that were met */
	LODE_ARRAY(struct lode_pprof_range) ranges;
	LODE_ARRAY(struct lode_pprof_step) steps;
	struct lode_index step_index;
	uint64_t cut; /* stacks too deep */
	struct lode_import_addresses addresses;
};

/*
 * The stack of `count` locations, leaf first, of the sample at `at`; `stack` is used up. Returns 0 or a negative code with
 * a sentence.
 */
int lode_pprof_frames_stack(struct lode_pprof_frames *maker, uint64_t *stack, size_t count, uint64_t at,
			    uint32_t *node);
/* The dictionary is an empty one again. */
void lode_pprof_frames_forget(struct lode_pprof_frames *maker);
void lode_pprof_frames_release(struct lode_pprof_frames *maker);

#endif
