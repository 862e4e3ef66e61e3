/*
 * Streams whose kernel functions have no names. The rules for idle waits and interrupts know the kernel by its names, so
 * results of such streams are worse than they look.
 */
#ifndef LODE_SCOPE_KERNEL_NAMES_H
#define LODE_SCOPE_KERNEL_NAMES_H

#include "base/notes.h"
#include "trace/frames.h"

/*
 * Adds a note if the kernel hid its names from the recorder: then all its functions are addresses. A few always may be,
 * such as those of a module that was unloaded.
 */
void lode_kernel_names_note(const struct lode_frames *frames, struct lode_notes *notes);

#endif
