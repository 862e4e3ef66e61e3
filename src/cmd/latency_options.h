/*
 * The options that `lode latency` and `lode diff` share, and reading the latencies of a
 * corpus as they ask.
 */
#ifndef LODE_CMD_LATENCY_OPTIONS_H
#define LODE_CMD_LATENCY_OPTIONS_H

#include "cmd/area_options.h"
#include "cmd/work.h"
#include "latency/latency.h"

struct lode_latency_settings {
	struct lode_area_settings area; /* match, where, include_idle, idle_rules, jobs */
	struct lode_option_list streams;
};

#define LODE_LATENCY_FIELD(base, field) ((base) + offsetof(struct lode_latency_settings, field))
#define LODE_LATENCY_AREA(base, field)	LODE_AREA_FIELD(LODE_LATENCY_FIELD(base, area), field)
#define LODE_LATENCY_OPTIONS(base)                                                                           \
	LODE_LIST("stream", 's', LODE_LATENCY_FIELD(base, streams), "NAME",                                  \
		  "only the streams of this name or id; may be given many times"),                           \
		LODE_LIST("where", 0, LODE_LATENCY_AREA(base, where), "KEY=VALUE",                           \
			  "only streams with this attribute, host or name; VALUE may hold * and ?"),         \
		LODE_LIST("match", 0, LODE_LATENCY_AREA(base, match), "GLOB",                                \
			  "only contexts with a frame that fits (module!function, * and ?)"),                \
		LODE_FLAG("include-idle", 0, LODE_LATENCY_AREA(base, include_idle),                          \
			  "count waits of threads that have nothing to do, too"),                            \
		LODE_LIST("idle-rules", 0, LODE_LATENCY_AREA(base, idle_rules), "FILE",                      \
			  "more rules for what is idle; see lode-idle(5)"),                                  \
		LODE_NUMBER("jobs", 'j', LODE_LATENCY_AREA(base, jobs), "N",                                 \
			    "number of threads (default: one a processor)", 1, 1024)

/* A corpus that is open, and what the settings ask of it. */
struct lode_latency_reading {
	struct lode_corpus *corpus;
	struct lode_idle_rules *rules;
	struct lode_latency_options options;
	struct lode_latency latency;
};

/* Opens the corpus and makes the options. Release in either case. */
int lode_latency_open(struct lode_latency_reading *reading, const char *path,
		      const struct lode_latency_settings *settings, struct lode_work *work,
		      struct lode_error *error);
/* The same, and infers its latencies. */
int lode_latency_read(struct lode_latency_reading *reading, const char *path,
		      const struct lode_latency_settings *settings, struct lode_work *work,
		      struct lode_error *error);
void lode_latency_reading_release(struct lode_latency_reading *reading);

#endif
