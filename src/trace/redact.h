/*
 * Redaction: names in a stream that say who uses a machine, and for what, become keyed hashes, so that equal names stay
 * equal and nobody without the key can find out what they were.
 */
#ifndef LODE_TRACE_REDACT_H
#define LODE_TRACE_REDACT_H

#include "trace/stream.h"

/*
 * Hashes, in the stream's dictionary, which must be of this stream alone: host names; the parts of paths, but the base
 * names of native modules; names of functions and modules of interpreted languages; objects and contexts of events; the
 * stream's name and command lines. Looking strings up by their text finds nothing afterwards. Returns 0 or LODE_SYSTEM.
 */
int lode_stream_redact(struct lode_stream *stream, const char *key);

#endif
