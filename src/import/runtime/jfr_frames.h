/*
 * Stacks of a Java Flight Recorder file: from its constants to nodes of the stack tree.
 */
#ifndef LODE_IMPORT_JFR_FRAMES_H
#define LODE_IMPORT_JFR_FRAMES_H

#include "import/runtime/jfr_chunk.h"
#include "trace/dictionary.h"

#define LODE_JFR_STACK_TRUNCATED 1 /* the recorder has cut it */
#define LODE_JFR_STACK_BLOCKS    2 /* its innermost method is one that waits for something */

struct lode_jfr_frames {
	struct lode_dictionary *dictionary;
	struct lode_buffer text;
	uint32_t *frames; /* of the stack being made, leaf first */
	size_t frame_capacity;
	struct {
		uint32_t stack;
		int flags;
	} * stacks; /* what the constants' memos name */
	size_t stack_count;
	size_t stack_capacity;
	uint64_t cut; /* stacks too deep */
};

/* A struct with a dictionary, else zeroed, is empty. */
void lode_jfr_frames_release(struct lode_jfr_frames *frames);
/* The stack that `value` names, 0 where it names none, and its flags. Returns 0 or LODE_SYSTEM. */
int lode_jfr_frames_stack(struct lode_jfr_frames *frames, struct lode_jfr_chunk *chunk,
			  const struct lode_jfr_value *value, uint32_t *stack, int *flags);

#endif
