/*
 * Stacks: from call chains to nodes of the stack tree.
 *
 * While a recording is replayed, each address becomes a *location* (image and
 * address in it) as of that moment, and each distinct chain in an address space a
 * numbered stack of locations. At the end each distinct location is looked up
 * once and the stacks are added to the dictionary.
 */
#ifndef LODE_IMPORT_PERF_DATA_CHAIN_STACKS_H
#define LODE_IMPORT_PERF_DATA_CHAIN_STACKS_H

#include "base/array.h"
#include "import/kernel/perf_data/batch.h"
#include "import/kernel/perf_data/recorded_images.h"
#include "process/address_spaces.h"

#define LODE_PERF_PATHS 512

/* The chain that a thread had last, and the calls it became. */
struct lode_perf_path {
	uint32_t version; /* of the address space */
	uint32_t kernel_version;
	uint32_t chain;
	uint32_t count;  /* addresses and markers of the chain; 0: there is none */
	uint32_t *calls; /* from the root, for each of them: the last call it became plus one, or 0 */
	size_t capacity;
};

/* A stack: calls[start..start+count), below the call `parent` - 1 and its parents; 0: below nothing. */
struct lode_perf_stack {
	uint32_t version; /* of the address space, 0 where it does not matter */
	uint32_t kernel_version;
	uint32_t chain; /* see LODE_PERF_UNWOUND */
	uint32_t parent;
	uint32_t start;
	uint32_t count;
	uint32_t same_as; /* another stack that it is the same as, or 0; it has no calls of its own then */
};

struct lode_perf_location {
	uint64_t address; /* in the image */
	uint32_t image;
};

struct lode_perf_stacks {
	struct lode_perf_images *images;
	struct lode_spaces *spaces;
	const struct lode_perf_chains *unwound;
	struct lode_space kernel;
	LODE_ARRAY(struct lode_perf_chain) chains; /* of the recording */
	LODE_ARRAY(struct lode_perf_stack);        /* number 0 is the empty stack */
	struct lode_index index;                   /* by chain and versions */
	LODE_ARRAY(uint32_t) calls;                /* locations, root first; see LODE_PERF_OPTIONAL */
	LODE_ARRAY(struct lode_perf_location) locations;
	struct lode_index location_index;
	struct lode_perf_path paths[LODE_PERF_PATHS]; /* thread t has paths[t % LODE_PERF_PATHS] */
};

/*
 * With this bit a call is optional: it is there if the call below it, a leaf, is
 * where its return address still is in the link register.
 */
#define LODE_PERF_OPTIONAL 0x80000000u

/* With this bit the number of a chain is one of `unwound`, else of the recording. */
#define LODE_PERF_UNWOUND LODE_PERF_CHAIN_MARK

/* Returns 0 or LODE_SYSTEM. What is given must outlive it; `unwound` may grow meanwhile. */
int lode_perf_stacks_init(struct lode_perf_stacks *stacks, struct lode_perf_images *images,
			  struct lode_spaces *spaces, const struct lode_perf_chains *unwound);
void lode_perf_stacks_release(struct lode_perf_stacks *stacks);
/* Takes over the chains that a batch brings. Returns 0 or LODE_SYSTEM. */
int lode_perf_stacks_add_chains(struct lode_perf_stacks *stacks, const struct lode_perf_chain *chains,
				size_t count);
/*
 * The number of a chain's stack in the address space of its process as it is now;
 * LODE_NONE when memory has run out. Stacks of one `thread`, any number, are
 * taken to be alike: that makes it fast and changes nothing.
 */
uint32_t lode_perf_stacks_get(struct lode_perf_stacks *stacks, const struct lode_space *space, uint32_t thread,
			      uint32_t chain);
/* A number of its own for a stack that is the same as `stack`, until lode_perf_stacks_set says another;
 * LODE_NONE. */
uint32_t lode_perf_stacks_reserve(struct lode_perf_stacks *stacks, uint32_t stack);
/* `stack` is no reserved number itself. */
void lode_perf_stacks_set(struct lode_perf_stacks *stacks, uint32_t reserved, uint32_t stack);
/*
 * Looks up all locations and adds all stacks to `dictionary`. `*map`, which the
 * caller frees, says for each stack its node there. Returns 0 or LODE_SYSTEM.
 */
int lode_perf_stacks_translate(struct lode_perf_stacks *stacks, struct lode_dictionary *dictionary,
			       const struct lode_import_options *options, uint32_t **map);

#endif
