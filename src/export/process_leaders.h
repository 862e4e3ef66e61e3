/* Which threads are of one process, and which of them names it. */
#ifndef LODE_EXPORT_PROCESS_LEADERS_H
#define LODE_EXPORT_PROCESS_LEADERS_H

#include "trace/stream.h"

/*
 * For each thread of the stream: in `first` the first thread of the same process; in `leaders`, where that is
 * the thread itself, the one that names the process, which has its number if there is one; else LODE_NONE.
 * Returns 0 or LODE_SYSTEM.
 */
int lode_process_leaders(const struct lode_stream *stream, uint32_t *first, uint32_t *leaders);

#endif
