/*
 * The labels of a pprof profile's samples. Those that profilers use for threads say
 * whose sample it is; one that is the same in all samples describes the recording.
 */
#ifndef LODE_IMPORT_PPROF_LABELS_H
#define LODE_IMPORT_PPROF_LABELS_H

#include "base/strings.h"
#include "import/text_span.h"
#include "trace/stream.h"

/* Different keys that are watched; more are only counted. */
#define LODE_PPROF_LABEL_KEYS 256

struct lode_pprof_label {
	struct lode_span key;  /* lasting */
	struct lode_span text; /* the same; empty: it is a number */
	int64_t number;
};

/* Whose sample it is. */
struct lode_pprof_who {
	uint32_t pid; /* LODE_NO_PID: unknown */
	uint32_t tid;
	int has_tid;
	struct lode_span name;
	uint64_t end;   /* time stamp; 0: none */
	int has_others; /* labels that say nothing of these */
};

struct lode_pprof_labels {
	struct lode_pprof_label *items; /* the first of each key, of those that are of no thread */
	uint64_t *counts;               /* by item: samples that have it, all with the same value */
	char *varies;                   /* by item: two samples have different values */
	size_t count;
	uint64_t dropped;          /* labels beyond the limit */
	struct lode_strings names; /* of threads without a number */
	int has_names;
};

/* A zeroed struct is empty. */
void lode_pprof_labels_release(struct lode_pprof_labels *labels);
/* An empty one, before the labels of a sample. */
struct lode_pprof_who lode_pprof_nobody(void);
/* Takes a label of a sample: into `who`, or among the others. Returns 0 or LODE_SYSTEM. */
int lode_pprof_labels_add(struct lode_pprof_labels *labels, const struct lode_pprof_label *label,
			  struct lode_pprof_who *who);
/* The thread of the stream; LODE_NONE when memory has run out. */
uint32_t lode_pprof_labels_thread(struct lode_pprof_labels *labels, struct lode_stream *stream,
				  const struct lode_pprof_who *who);
/*
 * At the end of `samples` samples: labels of one value become attributes. `*lost` is one that could not be
 * kept (NULL: none), `*count` how many samples have such. Returns 0 or LODE_SYSTEM.
 */
int lode_pprof_labels_finish(const struct lode_pprof_labels *labels, uint64_t samples, struct lode_stream *stream,
			     const struct lode_pprof_label **lost, uint64_t *count);

#endif
