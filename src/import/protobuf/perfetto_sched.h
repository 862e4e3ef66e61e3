/*
 * Scheduler events of Perfetto's traces: bundles of ftrace events, each of one CPU, plain or in the
 * compact form that holds columns. Bundles come in any order; all are put in order of time
 * before they are joined into waits (sched.h).
 *
 * Threads are tids here: what is known of them comes with other packets, also later ones.
 */
#ifndef LODE_IMPORT_PERFETTO_SCHED_H
#define LODE_IMPORT_PERFETTO_SCHED_H

#include "base/array.h"
#include "import/protobuf/perfetto_threads.h"
#include "import/protobuf/protobuf.h"

struct lode_perfetto_switch; /* a switch or a waking */

struct lode_perfetto_sched {
	struct lode_perfetto_threads *threads;
	LODE_ARRAY(struct lode_perfetto_switch);
	uint64_t *columns[13]; /* of a compact bundle, by number of field */
	size_t column_counts[13];
	size_t column_capacities[13];
	LODE_ARRAY(struct lode_cursor) comms; /* names of a compact bundle */
	uint64_t others;                      /* events of other kinds */
	uint64_t lost;                        /* bundles that lost events */
	uint64_t uneven;                      /* events left out: not all columns of their bundle have them */
};

/* A struct with only `threads` set is empty. */
void lode_perfetto_sched_release(struct lode_perfetto_sched *sched);
/* Takes over an FtraceEventBundle. Returns 0 or LODE_SYSTEM. */
int lode_perfetto_sched_bundle(struct lode_perfetto_sched *sched, struct lode_cursor bundle);
/* Joins all into waits of the stream and marks their threads in `measured`, which has room for all. The same. */
int lode_perfetto_sched_finish(struct lode_perfetto_sched *sched, struct lode_stream *stream,
			       const struct lode_import_options *options);

#endif
