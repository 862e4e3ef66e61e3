/*
 * User stacks: unwinds the copies that samples carry (perf record --call-graph
 * dwarf) into call chains, with what the process had mapped at that moment. The
 * kernel's part of a sample's chain stays on top.
 */
#ifndef LODE_IMPORT_PERF_DATA_USER_STACKS_H
#define LODE_IMPORT_PERF_DATA_USER_STACKS_H

#include "base/array.h"
#include "import/kernel/perf_data/distinct_chains.h"
#include "import/kernel/perf_data/user_stack_copies.h"
#include "import/kernel/perf_data/recorded_images.h"
#include "process/address_spaces.h"

/* What is known of an image's unwind table. */
enum lode_perf_unwind_state {
	LODE_PERF_UNWIND_NOT_ASKED,
	LODE_PERF_UNWIND_THERE,
	LODE_PERF_UNWIND_ABSENT,  /* the code has none */
	LODE_PERF_UNWIND_MISSING, /* the file was not found */
};

/* Why a user stack is not unwound up to the start of its thread, and whose code that is put down to. */
enum lode_perf_unwind_failure {
	LODE_PERF_FILE_MISSING,  /* its file was not found */
	LODE_PERF_NO_TABLE,      /* it has no unwind information */
	LODE_PERF_LEADS_NOWHERE, /* its unwind information, or the stack, is wrong or says nothing */
	LODE_PERF_UNWIND_FAILURES,
};

/* Unwinding through the code of an image. */
struct lode_perf_unwinding {
	enum lode_perf_unwind_state state;
	const struct lode_unwind_table *table;        /* NULL unless its state is LODE_PERF_UNWIND_THERE */
	uint64_t failures[LODE_PERF_UNWIND_FAILURES]; /* user stacks */
};

/* Mapped code as it was found last. */
struct lode_perf_code {
	uint32_t version; /* of the address space; 0: none */
	uint32_t image;
	uint64_t start;
	uint64_t end;
	uint64_t shift;                        /* from its addresses to those of the image */
	const struct lode_unwind_table *table; /* or NULL */
};

/* How many are remembered: an address looks for its own by the bits above the lowest so many. */
#define LODE_PERF_CODE_PARTS 128
#define LODE_PERF_CODE_BITS  16

struct lode_perf_user_stacks {
	struct lode_perf_images *images;
	const struct lode_spaces *spaces;
	LODE_ARRAY(struct lode_perf_unwinding) unwinding; /* by image, as far as was needed */
	struct lode_perf_code known[LODE_PERF_CODE_PARTS];
	struct lode_perf_chains chains;   /* what was unwound */
	struct lode_unwind_frame *frames; /* room for the longest stack */
	uint64_t *ips;                    /* and for its chain */
	uint64_t too_small;               /* stacks of which the recording has only the first bytes */
	uint64_t dropped;                 /* stacks whose bytes were dropped while they waited */
};

/* What is given must outlive it. */
void lode_perf_user_stacks_init(struct lode_perf_user_stacks *stacks, struct lode_perf_images *images,
				const struct lode_spaces *spaces);
void lode_perf_user_stacks_release(struct lode_perf_user_stacks *stacks);
/*
 * Unwinds a copy in the address space of its process as it is now, below the chain
 * `above` (NULL: nothing). What is found of an incomplete stack is kept. Returns
 * the number of the chain in `chains`, or LODE_NONE when memory has run out.
 */
uint32_t lode_perf_user_stacks_unwind(struct lode_perf_user_stacks *stacks, const struct lode_space *space,
				      const struct lode_perf_copy *copy, const struct lode_perf_chain *above);
/* Adds to the notes how many stacks do not reach the start of their thread, and why. */
void lode_perf_user_stacks_note(const struct lode_perf_user_stacks *stacks, struct lode_notes *notes);

/* The chain of the kernel's part `above`, or NULL, and the user's `below`, as above; LODE_NONE: no memory. */
uint32_t lode_perf_user_stacks_join(struct lode_perf_user_stacks *stacks, const struct lode_perf_chain *above,
				    const struct lode_perf_chain *below);

#endif
