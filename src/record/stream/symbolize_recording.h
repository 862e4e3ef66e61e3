/*
 * Translation: from the file that a recording wrote while it went on, with
 * addresses in place of functions and in the order of coming, to a stream file
 * with names and in order of time.
 */
#ifndef LODE_RECORD_STREAM_SYMBOLIZE_RECORDING_H
#define LODE_RECORD_STREAM_SYMBOLIZE_RECORDING_H

#include "record/stream/stack_nodes.h"
#include "store/corpus.h"

struct lode_record_symbolize_options {
	struct lode_symbolizer *symbolizer; /* NULL: addresses stay, as symbols/name_frames.h has them */
	int inlines;                        /* inlined functions as frames of their own */
	int lines;                          /* functions with the line that they are at */
	int calibrates; /* events were left out by chance alone: weights are made to agree with totals (calibration.h) */
	uint32_t stands_for; /* how many recordings this one is drawn from: weights are multiplied by it; 0: 1 */
	unsigned jobs;
	struct lode_notes *notes;
};

/*
 * Translates the finished file `from`, whose frames are those of `stacks`, to the
 * new file `to`. `stream` (empty, over its own dictionary) is filled except
 * its events, and `entry` with its name, host and numbers; texts are the
 * dictionary's. Memory: some blocks, and the waits that are longer than others.
 */
int lode_record_symbolize(const char *from, const char *to, struct lode_record_stacks *stacks,
			  const struct lode_record_symbolize_options *options, struct lode_stream *stream,
			  struct lode_corpus_entry *entry, struct lode_error *error);

#endif
