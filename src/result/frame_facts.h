/*
 * Facts about frames that a reader of results needs to show them well: the layer of each
 * module, and which frames say nothing about the program.
 */
#ifndef LODE_RESULT_FRAME_FACTS_H
#define LODE_RESULT_FRAME_FACTS_H

#include "result/fields.h"
#include "scope/idle.h"
#include "trace/dictionary.h"

/* Part of a result: fields `modules`, `plumbing`, `waiting` and `starting`. Does not move once it was made: its lists point to it. */
struct lode_frame_facts {
	struct lode_list modules;
	struct lode_written plumbing;
	struct lode_written waiting;
	struct lode_written starting;
	const struct lode_frames *frames; /* the rest is for the lists */
	const struct lode_idle_stacks *idle;
	const uint8_t *marks; /* by frame */
	uint8_t *has_module;  /* by module */
	int has_javascript;
	int has_plumbing; /* of languages */
};

extern const struct lode_fields lode_frame_facts_fields;

/*
 * Facts about the frames whose mark is not 0, in the order in which the dictionary has them. `idle`: the rules. All
 * must outlive the facts. Returns 0 or LODE_SYSTEM; release in either case.
 */
int lode_frame_facts_make(struct lode_frame_facts *facts, const struct lode_frames *frames, const uint8_t *marks,
			  const struct lode_idle_stacks *idle);
void lode_frame_facts_release(struct lode_frame_facts *facts);

/* The same for results that are written by hand: members of an object. */
void lode_frame_facts_json(struct lode_json *json, const struct lode_frames *frames, const uint8_t *marks,
			   const struct lode_idle_stacks *idle);

/* Marks the frames of a stack, from `node` to its root. */
void lode_frame_facts_mark(const struct lode_stack_tree *tree, uint32_t node, uint8_t *marks);

#endif
