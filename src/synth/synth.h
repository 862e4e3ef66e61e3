/*
 * Generated corpora with planted bugs: what mining is measured with.
 *
 * Each stream is a host: a program with a UI thread, workers and event loops,
 * other programs, and the idle task, which all interrupts find. Threads run (1 ms
 * samples) and wait; every wait has the waker that ended it, and a waker is at work
 * at that moment, so critical paths can be walked. When the UI thread takes too
 * long there is a symptom. Part of that delay comes from bugs that were planted
 * there on purpose, the rest from ordinary work; outside of it threads idle, which
 * costs far more time and means nothing.
 *
 * The same options give the same corpus on every machine and with any number of
 * threads. The planted bugs are listed in a separate file, never in the corpus.
 */
#ifndef LODE_SYNTH_SYNTH_H
#define LODE_SYNTH_SYNTH_H

#include "base/buffer.h"
#include "base/progress.h"
#include "store/corpus.h"

struct lode_synth_options {
	uint64_t seed;
	uint64_t streams;
	uint64_t events;   /* a stream; more where its symptoms alone have more */
	uint64_t waits;    /* percent of the events that are waits */
	uint64_t bugs;     /* kinds of bugs that are planted */
	uint64_t symptoms; /* in all streams together */
	uint64_t delay;    /* ns: mean length of a symptom */
	uint64_t tasks;    /* different things that a thread of the program does: the more, the more stacks */
};

/* A corpus that is made in a moment. */
struct lode_synth_options lode_synth_defaults(void);
/* The names of the presets, in order; NULL behind the last. */
const char *lode_synth_preset_name(size_t i);
/* Replaces all options but the seed by those of a preset, which must be one of the names. */
void lode_synth_preset(const char *name, struct lode_synth_options *options);
/* Returns 0, or LODE_USAGE and a sentence. */
int lode_synth_check(const struct lode_synth_options *options, struct lode_error *error);

struct lode_synth_model;

int lode_synth_model_create(struct lode_synth_model **model, const struct lode_synth_options *options,
			    struct lode_error *error);
void lode_synth_model_free(struct lode_synth_model *model);

/* What a bug costs in a stream. */
struct lode_synth_cost {
	uint64_t cost;   /* ns on the critical paths of the stream's symptoms, with the run queue behind waits */
	uint64_t events; /* that have a part in it */
	uint64_t whole;  /* ns of all events with the key frames, in a symptom or not */
};

/* What was generated for a stream, besides its events. */
struct lode_synth_made {
	uint64_t symptoms;
	uint64_t delay; /* ns: of all symptoms */
	uint64_t longest;
	uint64_t events;
};

/*
 * Fills `stream`, empty and over an empty dictionary, with stream number `number`,
 * sorted; `costs` has room for each bug. Several threads may call it with one
 * model. Returns 0 or LODE_SYSTEM.
 */
int lode_synth_stream(const struct lode_synth_model *model, size_t number, struct lode_stream *stream,
		      struct lode_synth_cost *costs, struct lode_synth_made *made, struct lode_error *error);

/* What was planted, by bug and by stream. */
struct lode_synth_truth {
	const struct lode_synth_model *model;
	struct lode_synth_cost *costs; /* by stream, then by bug */
	struct lode_synth_made *made;  /* by stream */
};

/*
 * Generates all streams of the model into the corpus at `path`, one per thread at a
 * time, on `jobs` threads (0: one per processor), and fills `truth`, which the caller
 * releases in either case. Returns 0 or a negative code; when the progress callback
 * asks to stop, LODE_SYSTEM without a sentence, and the streams so far are there.
 */
int lode_synth_corpus(const struct lode_synth_model *model, const char *path, unsigned jobs,
		      const struct lode_progress *progress, struct lode_synth_truth *truth,
		      struct lode_error *error);
void lode_synth_truth_release(struct lode_synth_truth *truth);
/* Appends the truth as JSON. */
void lode_synth_truth_json(const struct lode_synth_truth *truth, struct lode_buffer *buffer);

#endif
