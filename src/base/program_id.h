/*
 * Which program this is, down to the build: what is kept on disk by one build must
 * not be taken for the work of another.
 */
#ifndef LODE_BASE_PROGRAM_ID_H
#define LODE_BASE_PROGRAM_ID_H

#include "base/buffer.h"

/* Appends the version and, where the linker left one, the build-id of the running program. */
void lode_program_id(struct lode_buffer *buffer);

#endif
