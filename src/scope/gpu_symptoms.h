/* What each GPU of a stream did, as a symptom: from the first run of its busiest stream to the end of the last (trace/gpu_threads.h). */
#ifndef LODE_SCOPE_GPU_SYMPTOMS_H
#define LODE_SCOPE_GPU_SYMPTOMS_H

#include "trace/stream.h"

/* Appends them to `*symptoms` (lode_grow). Columns t, cost and thread of runs. Returns 0 or LODE_SYSTEM. */
int lode_gpu_symptoms_find(const struct lode_stream *stream, struct lode_symptom **symptoms, size_t *count,
			   size_t *capacity);

#endif
