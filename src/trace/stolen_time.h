/*
 * Time that the hypervisor took from the processors while a stream was recorded, from its attribute `stolen_percent`: a share of the
 * time of all processors of the machine. Threads that it was taken from seem to run, or are ready; which ones these were is not known.
 */
#ifndef LODE_TRACE_STOLEN_TIME_H
#define LODE_TRACE_STOLEN_TIME_H

#include "trace/stream.h"

#define LODE_STOLEN "stolen_percent"
/* Percent below which it explains nothing. */
#define LODE_MIN_STOLEN 1.0

/* In percent; 0: none was, or it is not known. */
double lode_stream_stolen(const struct lode_stream *stream);

#endif
