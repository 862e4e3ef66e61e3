/* What processes of a recording were started as, where their threads do not say so: attributes `command PID`. */
#ifndef LODE_RECORD_STREAM_RECORD_COMMANDS_H
#define LODE_RECORD_STREAM_RECORD_COMMANDS_H

#include "process/processes.h"
#include "trace/stream.h"

/*
 * Adds an attribute for each process of the stream whose first thread is not there, or is called otherwise; not for more than
 * some hundreds. Threads have their names. Returns 0 or LODE_SYSTEM.
 */
int lode_record_commands(struct lode_processes *processes, struct lode_stream *stream);

#endif
