/* The last steps of an import: what has to be known of all events before the stream can be completed. */
#ifndef LODE_IMPORT_PERF_DATA_FINISH_STREAM_H
#define LODE_IMPORT_PERF_DATA_FINISH_STREAM_H

#include "import/kernel/perf_data/replay.h"

/*
 * Turns the counts of runs, which their names say the events of, into costs. Runs
 * must be in order of time. Returns 0 or LODE_SYSTEM.
 */
int lode_perf_finish_costs(struct lode_perf_replay *replay);
/*
 * Adds the threads that have events to the stream, all stacks to its dictionary, and translates the
 * events.
 */
int lode_perf_finish_events(struct lode_perf_replay *replay);

#endif
