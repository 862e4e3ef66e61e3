/*
 * Scratch files: room on disk for what does not fit into memory.
 *
 * They have no name, so nothing is left behind, however the program ends.
 */
#ifndef LODE_BASE_SCRATCH_H
#define LODE_BASE_SCRATCH_H

#include "base/error.h"

/* Where they are made: TMPDIR, or /var/tmp, since /tmp may be memory. For error messages. */
const char *lode_scratch_folder(void);

/* An empty file, open for reading and writing. Returns its descriptor, the caller's to close, or LODE_SYSTEM. */
int lode_scratch_open(struct lode_error *error);
/* Whether the file is in memory itself (tmpfs), so that nothing is gained by it. */
int lode_scratch_is_memory(int fd);

#endif
