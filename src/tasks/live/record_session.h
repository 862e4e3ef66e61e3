/*
 * A recording from its options to its stream: record_session.c records, record_summary.c says what was recorded.
 */
#ifndef LODE_TASKS_LIVE_RECORD_SESSION_H
#define LODE_TASKS_LIVE_RECORD_SESSION_H

#include "record/contexts/context_sources.h"
#include "record/gpu/gpu_recording.h"
#include "record/stream/recording.h"
#include "tasks/live/record_settings.h"
#include "tasks/live/record_target.h"
#include "tasks/live/processor_times.h"
#include "tasks/live/group_limits.h"

#include <pthread.h>

/* While it runs. */
struct lode_record_session {
	const struct lode_call *call;
	const struct lode_record_settings *settings;
	struct lode_record_rules rules; /* of --symptom */
	struct lode_corpus *corpus;
	struct lode_symbolizer *symbolizer;
	pthread_t kernel_loader; /* reads the kernel's symbols, which the first stack needs, while the rest is prepared */
	int loads_kernel;        /* it was started */
	struct lode_recorder *recorder;
	struct lode_builder builder;
	struct lode_recording *recording;
	struct lode_recorder_sink sink;
	struct lode_recorder_held held; /* stacks that are still to be named, when old ones are about to go; */
	unsigned held_looks;            /* reads in a row before which that was looked at */
	struct lode_rule_probes *probes;
	unsigned contexts;                            /* of --context */
	struct lode_context_sources *context_sources; /* NULL: none */
	struct lode_gpu_recording *gpu;               /* of --gpu; NULL: none */
	int gpu_probe;                                /* a descriptor; 0: none */
	struct lode_notes notes;
	struct lode_record_target target;
	struct lode_record_times times;
	struct lode_corpus_entry entry; /* of the stream, once it is finished */
	int symptoms;                   /* found by the rules */
	struct lode_group_limits limits;
	struct lode_processor_times processors; /* when it began */
};

/* Reports progress to the host. */
void lode_record_status(struct lode_record_session *session);
/* Says what was recorded, and shows it as JSON where that is requested. */
int lode_record_show(const struct lode_record_session *session, struct lode_error *error);

#endif
