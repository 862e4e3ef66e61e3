/*
 * perf.data, as `perf record` writes it: into a file or into a pipe.
 *
 * The way of the data, on two threads:
 *
 *	reader	goes through the records in the order of the file; a sample becomes
 *		32 bytes, its call chain a number (reader.c, decode.c)
 *	replay	puts them into order of time, follows threads and mappings, unwinds
 *		copies of user stacks, and tells the stream (replay.c)
 *
 * and at the end each distinct address is looked up once (translate.c). Nothing
 * grows with the number of samples but the events themselves.
 */
#include "import/perf_data/facts.h"
#include "import/perf_data/pipeline.h"
#include "import/perf_data/reader.h"
#include "import/perf_data/replay.h"
#include "import/perf_data/sections.h"
#include "import/reading.h"

#include "base/parallel.h"

#include <stdio.h>

struct recording {
	struct lode_perf_facts facts;
	struct lode_perf_pipeline pipeline;
	struct lode_perf_reader reader;
	struct lode_perf_replay replay;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
};

static int sniff(const unsigned char *bytes, size_t size, const char *name)
{
	(void)name;
	if (size < 8)
		return 0;
	return !memcmp(bytes, PERF_MAGIC_LITTLE, 8) || !memcmp(bytes, PERF_MAGIC_BIG, 8) ||
			       !memcmp(bytes, PERF_MAGIC_OLD, 8)
		       ? 100
		       : 0;
}

/* Looks at the first bytes: refuses what cannot be read, and says whether it is pipe mode. */
static int check_magic(struct lode_input *input, int *pipe, struct lode_error *error)
{
	const char *name = lode_input_name(input);
	const unsigned char *bytes;
	size_t size;
	int code = lode_input_peek(input, PERF_PIPE_BYTES, &bytes, &size, error);

	if (code < 0)
		return code;
	if (size >= 8 && !memcmp(bytes, PERF_MAGIC_BIG, 8))
		return lode_fail(error, LODE_BAD_INPUT,
				 "%s:0: was recorded on a big-endian machine; import the output of perf "
				 "script instead",
				 name);
	if (size >= 8 && !memcmp(bytes, PERF_MAGIC_OLD, 8))
		return lode_fail(
			error, LODE_BAD_INPUT,
			"%s:0: is of the format of before 2013; import the output of perf script instead",
			name);
	if (size < PERF_PIPE_BYTES || memcmp(bytes, PERF_MAGIC_LITTLE, 8) != 0)
		return lode_fail(error, LODE_BAD_INPUT, "%s:0: is no perf.data file", name);
	*pipe = perf_u64(bytes + 8) == PERF_PIPE_BYTES;
	return 0;
}

static int replay_batch(void *context, struct lode_perf_batch *batch)
{
	return lode_perf_replay_batch(context, batch);
}

static int read_file(struct recording *recording, struct lode_input *input, struct lode_error *error)
{
	const unsigned char *bytes;
	uint64_t offset, length;
	size_t size;
	int code = lode_input_whole(input, &bytes, &size, error);

	if (code == 0)
		code = lode_perf_sections_read(&recording->facts, bytes, size, lode_input_name(input),
					       &offset, &length, error);
	if (code < 0)
		return code;
	return lode_perf_reader_file(&recording->reader, bytes + offset, (size_t)length, offset, error);
}

static int read_pipe(struct recording *recording, struct lode_input *input, struct lode_error *error)
{
	lode_input_skip(input, PERF_PIPE_BYTES);
	return lode_perf_reader_pipe(&recording->reader, error);
}

static int set_text(struct lode_stream *stream, const char *key, const char *value)
{
	return value && *value ? lode_stream_set_attribute(stream, key, value, LODE_ATTRIBUTE_TEXT) : 0;
}

/* What the recording says about itself becomes the stream's attributes. */
static int describe(struct recording *recording, struct lode_error *error)
{
	const struct lode_perf_facts *facts = &recording->facts;
	struct lode_stream *stream = &recording->stream;
	char cpus[16];

	snprintf(cpus, sizeof(cpus), "%u", facts->cpus);
	if (facts->host) {
		stream->host = lode_strings_add(&recording->dictionary.frames.strings, facts->host,
						strlen(facts->host));
		if (stream->host == LODE_NONE)
			return lode_fail_memory(error);
	}
	if (set_text(stream, "kernel", facts->kernel) < 0 || set_text(stream, "arch", facts->arch) < 0 ||
	    set_text(stream, "command", facts->command) < 0 ||
	    (facts->cpus && lode_stream_set_attribute(stream, "cpus", cpus, LODE_ATTRIBUTE_NUMBER) < 0))
		return lode_fail_memory(error);
	return 0;
}

static void note_stacks(const struct lode_perf_facts *facts, struct lode_notes *notes)
{
	if (!facts->has_frames && facts->event_count)
		lode_notes_add(notes, 1, "recordings without call chains; record with -g", NULL);
}

static int read_recording(struct recording *recording, struct lode_input *input, int pipe,
			  struct lode_error *error)
{
	int code = pipe ? read_pipe(recording, input, error) : read_file(recording, input, error);

	/* The replay uses what the reader owns: it ends first, whatever happened. */
	if (lode_perf_pipeline_finish(&recording->pipeline) < 0 && code == 0)
		return lode_fail_memory(error);
	if (code < 0)
		return code;
	note_stacks(&recording->facts, recording->facts.notes);
	if (lode_perf_replay_finish(&recording->replay) < 0)
		return lode_fail_memory(error);
	return describe(recording, error);
}

static int import(struct recording *recording, struct lode_input *input, int pipe,
		  const struct lode_import_options *options, const struct lode_import_sink *sink,
		  struct lode_error *error)
{
	unsigned jobs = options->jobs ? options->jobs : lode_processors();
	int code;

	lode_perf_facts_init(&recording->facts, options->notes);
	lode_stream_init(&recording->stream, &recording->dictionary);
	if (lode_dictionary_init(&recording->dictionary) < 0 ||
	    lode_perf_reader_init(&recording->reader, input, options, &recording->facts,
				  &recording->pipeline) < 0)
		return lode_fail_memory(error);
	code = lode_perf_replay_init(&recording->replay, &recording->facts, options, &recording->stream,
				     error);
	if (code < 0)
		return code;
	lode_perf_pipeline_init(&recording->pipeline, replay_batch, &recording->replay, jobs > 1);
	code = read_recording(recording, input, pipe, error);
	lode_perf_pipeline_release(&recording->pipeline);
	return code < 0 ? code : lode_reading_deliver(input, options, sink, &recording->stream, 0, error);
}

static int read_perf_data(struct lode_input *input, const struct lode_import_options *options,
			  const struct lode_import_sink *sink, struct lode_error *error)
{
	struct recording *recording;
	int pipe = 0, code = check_magic(input, &pipe, error);

	if (code < 0)
		return code;
	recording = lode_calloc(1, sizeof(*recording));
	if (!recording)
		return lode_fail_memory(error);
	code = import(recording, input, pipe, options, sink, error);
	lode_perf_replay_release(&recording->replay);
	lode_perf_reader_release(&recording->reader);
	lode_stream_release(&recording->stream);
	lode_dictionary_release(&recording->dictionary);
	lode_perf_facts_release(&recording->facts);
	lode_free(recording);
	return code;
}

const struct lode_importer lode_importer_perf_data = {
	.name = "perf.data",
	.description = "recording of perf record, from a file or a pipe",
	.sniff = sniff,
	.read = read_perf_data,
};
