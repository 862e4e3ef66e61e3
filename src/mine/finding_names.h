/*
 * Names that mean the same though they have different numbers: of worker threads, addresses of memory, ports and
 * numbers of pipes and sockets. Private to mine.
 */
#ifndef LODE_MINE_FINDING_NAMES_H
#define LODE_MINE_FINDING_NAMES_H

#include "base/buffer.h"

/* Appends the name of a thread without a number at its end: `worker-12` and `worker-3` are `worker-`. */
void lode_finding_thread_name(struct lode_buffer *buffer, const char *name);
/* Appends the text of an object without what is different in every run. */
void lode_finding_object_name(struct lode_buffer *buffer, const char *object);

#endif
