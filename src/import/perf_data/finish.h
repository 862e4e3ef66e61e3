/* The last steps of an import: what needs to be known of all events before any can be told. */
#ifndef LODE_IMPORT_PERF_DATA_FINISH_H
#define LODE_IMPORT_PERF_DATA_FINISH_H

#include "import/perf_data/replay.h"

/* Cost of a run that is estimated at the end. */
#define LODE_PERF_COST_UNKNOWN UINT64_MAX

/*
 * Gives runs of unknown cost the median of the gaps between samples that follow
 * each other on one CPU. Runs must be in order of time. Returns 0 or LODE_SYSTEM.
 */
int lode_perf_finish_costs(struct lode_stream *stream, struct lode_notes *notes);
/*
 * Adds the threads that events tell of to the stream, all stacks to its dictionary, and translates the
 * events.
 */
int lode_perf_finish_events(struct lode_perf_replay *replay);

#endif
