/*
 * Recording: a stream on its way into a corpus. What a builder has made is
 * written every second or so to a file next to the streams; a recording that dies
 * leaves that file, and `lode fsck` makes a stream of it. At the end it is
 * translated (symbolize_recording.h) and put in place.
 */
#ifndef LODE_RECORD_STREAM_RECORDING_H
#define LODE_RECORD_STREAM_RECORDING_H

#include "record/stream/builder.h"
#include "record/stream/symbolize_recording.h"

struct lode_recording;

/* Begins to write. `corpus` and `builder` must outlive it. */
int lode_recording_create(struct lode_recording **recording, struct lode_corpus *corpus,
			  struct lode_builder *builder, struct lode_error *error);
/*
 * Releases it. Unless it was finished, or no event has been written yet, the file
 * stays for `lode fsck`, and `error` (which may be NULL) says so behind what went
 * wrong.
 */
void lode_recording_abandon(struct lode_recording *recording, struct lode_error *error);
/* Writes the builder's events if there are many, or the last time was a while ago by the clock of `now`. */
int lode_recording_flow(struct lode_recording *recording, uint64_t now, struct lode_error *error);
/* Bytes written so far. */
uint64_t lode_recording_size(const struct lode_recording *recording);
/*
 * Writes the rest, translates it and puts it into the corpus; `source` says where
 * it came from. Fills `entry`, whose texts live as long as `recording`, until
 * lode_recording_abandon releases it.
 */
int lode_recording_finish(struct lode_recording *recording, const char *source,
			  const struct lode_record_symbolize_options *options, struct lode_corpus_entry *entry,
			  struct lode_error *error);

/* What else becomes part of the stream, once its events are known: `add` gets all of it, and returns 0 or LODE_SYSTEM. */
struct lode_recording_addition {
	int (*add)(void *context, struct lode_stream *stream, struct lode_notes *notes);
	void *context;
};

/* For lode_recording_finish, which then needs memory for all events. */
void lode_recording_set_addition(struct lode_recording *recording, const struct lode_recording_addition *addition);

#endif
