/* Frames and stacks in text for people: names from outside, safe for a terminal. */
#ifndef LODE_TEXT_FRAME_TEXT_H
#define LODE_TEXT_FRAME_TEXT_H

#include "trace/frames.h"

/* Appends `module!function`. */
void lode_text_frame(struct lode_buffer *buffer, const struct lode_frames *frames, uint32_t frame);
/* The same in `width` columns at most: one that does not fit loses its module, then its end. */
void lode_text_frame_within(struct lode_buffer *buffer, const struct lode_frames *frames, uint32_t frame,
			    size_t width);

#endif
