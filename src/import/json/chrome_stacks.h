/*
 * Call stacks of Chrome's traces: the table `stackFrames`, in which a frame names its
 * caller, and samples, which name a frame (`sf`).
 *
 * Samples have a weight but no duration: one counts as the usual time between two of
 * a thread (the median), or as what `--unit` says.
 */
#ifndef LODE_IMPORT_CHROME_STACKS_H
#define LODE_IMPORT_CHROME_STACKS_H

#include "base/array.h"
#include "import/frame_memo.h"
#include "import/json_profile.h"

/* An entry of the table. */
struct lode_chrome_frame {
	struct lode_json_value object;
	uint32_t stack; /* LODE_NONE: not made yet */
	uint32_t depth;
	int is_open; /* its stack is being made */
};

struct lode_chrome_sample {
	uint64_t t;
	double weight;
	uint32_t thread;
	uint32_t stack;
	uint16_t cpu;
};

struct lode_chrome_stacks {
	struct lode_json_import *import;
	int is_lode;                /* `category` is a module as Lode writes it, not a file */
	struct lode_frame_memo ids; /* from an id to its place in `frames` */
	struct lode_chrome_frame *frames;
	size_t capacity;
	uint32_t *chain;
	size_t chain_capacity;
	LODE_ARRAY(struct lode_chrome_sample) samples;
	uint64_t cut;     /* stacks too deep */
	uint64_t missing; /* stacks that are not in the table */
};

/* A struct with only `import` set is empty. */
void lode_chrome_stacks_release(struct lode_chrome_stacks *stacks);
/* Takes over the table, an object. Returns 0, or a negative code with a sentence in the import's error. */
int lode_chrome_stacks_load(struct lode_chrome_stacks *stacks, struct lode_json_value table);
/* The stack that `sf` names; 0 for none. The same. */
int lode_chrome_stacks_find(struct lode_chrome_stacks *stacks, struct lode_json_value sf, uint32_t *stack);
/* Keeps a sample until it is known what one represents. The same. */
int lode_chrome_stacks_sample(struct lode_chrome_stacks *stacks, const struct lode_chrome_sample *sample);
/* Adds all samples to the stream as runs, and marks their threads in `measured`. The same. */
int lode_chrome_stacks_finish(struct lode_chrome_stacks *stacks, uint8_t *measured);

#endif
