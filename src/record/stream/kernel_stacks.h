/*
 * Which part of a kernel's stack is that of an interrupt, and which of the recorder's own tracing, by the names of functions. Lists of
 * frames begin with the leaf.
 */
#ifndef LODE_RECORD_STREAM_KERNEL_STACKS_H
#define LODE_RECORD_STREAM_KERNEL_STACKS_H

#include "trace/frames.h"

/* The first frame, from the leaf, that is not of the tracing itself. */
uint32_t lode_kernel_first_untraced(const struct lode_frames *frames, const uint32_t *list, uint32_t count);
/*
 * How many frames, from the leaf, an interrupt has: as far as the innermost place where one is entered. A softirq
 * that is not inside an interrupt belongs to one, too, unless it delivers what the thread itself sends.
 */
uint32_t lode_kernel_count_interrupt(const struct lode_frames *frames, const uint32_t *list, uint32_t count);

#endif
