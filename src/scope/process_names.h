/*
 * What people call the process of a thread.
 */
#ifndef LODE_SCOPE_PROCESS_NAMES_H
#define LODE_SCOPE_PROCESS_NAMES_H

#include "trace/stream.h"

/*
 * By thread: the name of its process, a string of the dictionary: what was started, where the stream says so by an
 * attribute (`command PID`); else that of its first thread, else of any that has one; where the process is not known the
 * thread's own. Where none has a name, as in profiles of agents: what the stream says its service is called, by the attribute
 * `service.name`. The caller frees it; NULL when memory has run out.
 */
uint32_t *lode_process_names(const struct lode_stream *stream);

#endif
