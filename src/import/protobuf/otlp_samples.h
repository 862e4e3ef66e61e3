/*
 * The samples of OpenTelemetry's profiles, as events of a stream: whose they are by their attributes, and
 * when they were by their time stamps.
 */
#ifndef LODE_IMPORT_OTLP_SAMPLES_H
#define LODE_IMPORT_OTLP_SAMPLES_H

#include "base/array.h"
#include "import/protobuf/otlp_tables.h"
#include "import/protobuf/pprof_values.h"

/* What a profile says of its samples. */
struct lode_otlp_profile {
	struct lode_pprof_value value;
	enum lode_event_type type;
	int time_is_end; /* of a wait; else its beginning */
	uint64_t start;
};

struct lode_otlp_samples {
	struct lode_otlp_tables *tables;
	struct lode_otlp_known_attribute *known; /* by attribute */
	size_t known_count;
	struct lode_otlp_known_threads *threads; /* by hash of their attributes */
	uint32_t pid;                            /* of samples that name none */
	LODE_ARRAY(uint64_t) ends;               /* by thread: where its next event without a time begins */
	uint64_t events, labels, links, negative, timeless; /* of all streams */
};

/* A struct with only `tables` set is empty. */
void lode_otlp_samples_release(struct lode_otlp_samples *samples);
/* Begins a stream, after its tables. Returns 0, or a negative code with a sentence; so does the last one. */
int lode_otlp_samples_reset(struct lode_otlp_samples *samples);
/* Samples that name no process are of this one from now on; LODE_NO_PID: of none. */
void lode_otlp_samples_set_pid(struct lode_otlp_samples *samples, uint32_t pid);
/* Adds the events of all samples of a profile, which is `message`, to the stream. */
int lode_otlp_samples_add(struct lode_otlp_samples *samples, const struct lode_otlp_profile *profile,
			  struct lode_cursor message);

#endif
