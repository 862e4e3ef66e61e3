/* Frames as fields of results (fields.h): lists of texts that write themselves. */
#ifndef LODE_RESULT_WRITTEN_FRAMES_H
#define LODE_RESULT_WRITTEN_FRAMES_H

#include "result/fields.h"
#include "result/stack_text.h"
#include "trace/dictionary.h"

/* These frames, in this order. */
struct lode_written lode_written_frames(const struct lode_frames *frames, const uint32_t *list, uint32_t count);
/* One frame: a text. */
struct lode_written lode_written_frame(const struct lode_frames *frames, uint32_t frame);
/* The frames of a stack, root first; the second copies them from texts that are there, for many stacks. */
struct lode_written lode_written_stack(const struct lode_dictionary *dictionary, uint32_t node);
struct lode_written lode_written_stack_text(const struct lode_stack_text *stacks,
					    const struct lode_stack_tree *tree, uint32_t node);

#endif
