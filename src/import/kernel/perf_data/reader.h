/*
 * Reader: goes through the records of a recording in the order of the file and
 * sees to each: facts about the recording, rounds, compressed records; the
 * kernel's go to the decoder. Full batches are handed to the pipeline.
 */
#ifndef LODE_IMPORT_PERF_DATA_READER_H
#define LODE_IMPORT_PERF_DATA_READER_H

#include "import/import.h"
#include "import/kernel/perf_data/decode.h"
#include "import/kernel/perf_data/pipeline.h"
#include "import/kernel/perf_data/compressed_records.h"

struct lode_perf_reader {
	struct lode_input *input;
	const struct lode_import_options *options;
	struct lode_perf_facts *facts;
	struct lode_perf_pipeline *pipeline;
	struct lode_perf_decoder decoder;
	struct lode_perf_unpack unpack;
	int unpacking;       /* the current records come out of a compressed one */
	uint64_t place;      /* of the current record in the input, for messages */
	int in_place;        /* file mode: all records are in memory */
	uint64_t skipped_to; /* place up to which the input was skipped */
	uint64_t skip;       /* bytes after the current record that are not records */
	size_t wanted;       /* bytes that must be there to go on, where a record needs more than its size */
	int damaged;         /* a record's size cannot be; nothing behind it can be found */
};

/* What is given must outlive it. Returns 0 or LODE_SYSTEM. */
int lode_perf_reader_init(struct lode_perf_reader *reader, struct lode_input *input,
			  const struct lode_import_options *options, struct lode_perf_facts *facts,
			  struct lode_perf_pipeline *pipeline);
void lode_perf_reader_release(struct lode_perf_reader *reader);
/*
 * File mode: the records are `bytes`, at `place` in the input; lode_perf_reader_end follows. Returns 0 or a
 * negative code.
 */
int lode_perf_reader_file(struct lode_perf_reader *reader, const unsigned char *bytes, size_t size, uint64_t place,
			  struct lode_error *error);
/* The same for another file of the recording, whose records are all of `input`, which lasts. */
int lode_perf_reader_more(struct lode_perf_reader *reader, struct lode_input *input, struct lode_error *error);
/* Nothing follows. */
int lode_perf_reader_end(struct lode_perf_reader *reader, struct lode_error *error);
/* Pipe mode: the records are the rest of the input. Returns 0 or a negative code. */
int lode_perf_reader_pipe(struct lode_perf_reader *reader, struct lode_error *error);

#endif
