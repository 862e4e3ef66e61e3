/*
 * Stacks of a Java Flight Recorder file: from its constants to nodes of the stack tree.
 */
#ifndef LODE_IMPORT_JFR_FRAMES_H
#define LODE_IMPORT_JFR_FRAMES_H

#include "import/runtime/jfr_chunk.h"
#include "trace/dictionary.h"

/* A method as a frame, by the bytes of its packed key. */
struct lode_jfr_recent {
	uint64_t bytes;
	uint32_t round; /* what it is of: rounds of lode_jfr_frames */
	uint32_t frame;
};

#define LODE_JFR_RECENT_BITS 10

/* A frame of a stack and the node that it leads to. */
struct lode_jfr_path {
	uint32_t frame;
	uint32_t node;
};

struct lode_jfr_stack {
	uint32_t stack;
	int truncated;
};

struct lode_jfr_frames {
	struct lode_dictionary *dictionary;
	struct lode_buffer text;
	struct lode_buffer file; /* the path of a class */
	struct lode_buffer prefixes; /* names of classes of the chunk, each behind its module and length; their constants' memos name them */
	uint32_t *frames; /* of the stack being made, leaf first */
	size_t frame_capacity;
	struct lode_jfr_path *path; /* the stack that was made last, root first */
	size_t path_capacity;
	uint32_t path_depth;
	struct lode_jfr_recent recent[1 << LODE_JFR_RECENT_BITS];
	uint32_t round; /* begins anew with each chunk and class of frames: other keys mean other methods */
	uint32_t round_class;
	uint64_t round_chunk;
	struct lode_jfr_stack *stacks; /* what the constants' memos name */
	size_t stack_count;
	size_t stack_capacity;
	unsigned char *waits; /* by frame: whether it waits for something; 0: not asked yet, 1: no, 2: yes */
	size_t waits_count;
	size_t waits_capacity;
	uint64_t cut; /* stacks too deep */
};

/* A struct with a dictionary, else zeroed, is empty. */
void lode_jfr_frames_release(struct lode_jfr_frames *frames);
/* The stack that `value` names, 0 where it names none, and whether the recorder has cut it. Returns 0 or LODE_SYSTEM. */
int lode_jfr_frames_stack(struct lode_jfr_frames *frames, struct lode_jfr_chunk *chunk,
			  const struct lode_jfr_value *value, uint32_t *stack, int *truncated);
/* Whether the innermost method of a stack is one that waits for something; LODE_SYSTEM when memory has run out. */
int lode_jfr_frames_waits(struct lode_jfr_frames *frames, uint32_t stack);

#endif
