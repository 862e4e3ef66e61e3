/*
 * Facts of a stream that a format cannot express: a JSON object, stored where the format keeps
 * data that only its writer understands, and read by the importer of the format
 * (import/exported_facts.h), so that a stream can be imported again without loss.
 *
 *	{"exporter":"lode","stream":NAME,"host":NAME,"start_ns":N,"attributes":{…},
 *	 "no_process":[TID of threads whose process is not known,…],
 *	 "totals":[{"pid":…,"tid":…,"waits":N,…} of threads, as in lode-events(5),…],
 *	 "modules":[{"name":…,"kind":…,"path":…,"build_id":…},…]}
 *
 * Of several streams in one file only their number is given: `streams`.
 */
#ifndef LODE_EXPORT_STREAM_FACTS_H
#define LODE_EXPORT_STREAM_FACTS_H

#include "base/buffer.h"
#include "trace/stream.h"

/* Appends the object. `start` is the time that the file calls 0. Memory that runs out marks the buffer. */
void lode_stream_facts_put(struct lode_buffer *buffer, const struct lode_stream *stream, uint64_t start);
void lode_stream_facts_put_several(struct lode_buffer *buffer, size_t streams);

#endif
