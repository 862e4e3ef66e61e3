/* Frames as fields of results (fields.h): lists of texts that write themselves. */
#ifndef LODE_RESULT_WRITTEN_FRAMES_H
#define LODE_RESULT_WRITTEN_FRAMES_H

#include "result/fields.h"
#include "trace/dictionary.h"

/* These frames, in this order. */
struct lode_written lode_written_frames(const struct lode_frames *frames, const uint32_t *list, uint32_t count);
/* The frames of a stack, root first. */
struct lode_written lode_written_stack(const struct lode_dictionary *dictionary, uint32_t node);

#endif
