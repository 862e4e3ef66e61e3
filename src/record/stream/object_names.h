/*
 * Names of objects, at the end of a recording, when functions have names: what record_objects.h left as the address of a
 * futex becomes a lock or a condition with the name of its variable, and who may hold it does so or not.
 */
#ifndef LODE_RECORD_STREAM_OBJECT_NAMES_H
#define LODE_RECORD_STREAM_OBJECT_NAMES_H

#include "process/process_images.h"
#include "record/stream/wait_functions.h"
#include "symbols/image_variables.h"
#include "trace/dictionary.h"

/* What a stack waits in. */
struct lode_stack_wait {
	uint8_t is_known;
	uint8_t function; /* enum lode_wait_function */
	uint32_t caller;
};

/* A futex, and what waits at it that have user stacks are in. */
struct lode_learnt_futex {
	uint64_t address; /* 0: none */
	uint64_t distance;
	struct lode_stack_wait wait;
};

#define LODE_LEARNT_FUTEXES 8192

struct lode_object_names {
	struct lode_dictionary *dictionary; /* with names */
	const struct lode_process_images *images;
	struct lode_stack_wait *waits;    /* by node */
	struct lode_learnt_futex *learnt; /* direct-mapped */
	size_t wait_count;
	struct lode_variables **variables; /* by image; NULL: not loaded yet */
	size_t image_count;
	struct lode_named_object {
		uint32_t raw;
		uint32_t function;
		uint32_t caller; /* where that is part of the name */
		uint32_t text;
	} * named;
	size_t named_count;
	size_t named_capacity;
	struct lode_index index; /* of `named` */
};

/* The dictionary has all its stacks by now. It and `images`, which are settled, must outlive it. Returns 0 or LODE_SYSTEM. */
int lode_object_names_init(struct lode_object_names *names, struct lode_dictionary *dictionary,
			   const struct lode_process_images *images);
void lode_object_names_release(struct lode_object_names *names);
/*
 * Learns what the futex `text` is from a wait with the stack `node`. A wait without a user stack, as budgets have them, is for what was learnt
 * before of its futex.
 */
void lode_object_names_learn(struct lode_object_names *names, const char *text, uint32_t node);
/*
 * Names the object `raw`, whose text is `text`, of a wait with the stack `node`: a string of the dictionary, 0: none; LODE_NONE when memory has run
 * out. `*holder`, a thread, becomes LODE_NONE where it does not hold the object.
 */
uint32_t lode_object_names_find(struct lode_object_names *names, uint32_t raw, const char *text, uint32_t node,
				uint32_t *holder);

#endif
