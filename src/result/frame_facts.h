/*
 * Facts about frames that a reader of results needs to show them well: the layer of each
 * module, and which frames say nothing about the program.
 */
#ifndef LODE_RESULT_FRAME_FACTS_H
#define LODE_RESULT_FRAME_FACTS_H

#include "base/json.h"
#include "scope/idle.h"
#include "trace/dictionary.h"

/*
 * Writes `"modules":[{"name","layer"}]` and `"plumbing":["module!function"]` for the frames
 * whose mark is not 0, in the order in which the dictionary has them. `idle`: the rules.
 */
void lode_frame_facts_json(struct lode_json *json, const struct lode_frames *frames, const uint8_t *marks,
			   const struct lode_idle_stacks *idle);

/* Marks the frames of a stack, from `node` to its root. */
void lode_frame_facts_mark(const struct lode_stack_tree *tree, uint32_t node, uint8_t *marks);

#endif
