/*
 * perf.data, as `perf record` writes it: into a file or into a pipe.
 *
 * The way of the data, on two threads:
 *
 *	reader	goes through the records in the order of the file; a sample becomes
 *		32 bytes, its call chain a number (reader.c, decode.c)
 *	replay	puts them into order of time, follows threads and mappings, unwinds
 *		copies of user stacks, and adds events to the stream (replay.c)
 *
 * A recording of several threads (perf record --threads) is a folder: `data` is a file
 * like any other, `data.0` and so on are records only, each in order of time for itself.
 * Only the end of all of them is the end of a round.
 *
 * At the end each distinct address is looked up once (perf_data/symbolize_stacks.c). Nothing
 * grows with the number of samples but the events themselves.
 */
#include "base/array.h"
#include "import/kernel/perf_data/recording_facts.h"
#include "import/kernel/perf_data/pipeline.h"
#include "import/kernel/perf_data/reader.h"
#include "import/kernel/perf_data/replay.h"
#include "import/kernel/perf_data/sections.h"
#include "import/import_common.h"

#include "base/parallel.h"

#include <stdio.h>
#include <unistd.h>

/* Files that a folder may have. */
#define FILES_LIMIT 65536

struct recording {
	struct lode_perf_facts facts;
	struct lode_perf_pipeline pipeline;
	struct lode_perf_reader reader;
	struct lode_perf_replay replay;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	LODE_ARRAY(struct lode_input *)
	more; /* the other files of a folder; copies of stacks may point into them */
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
				 "%s: was recorded on a big-endian machine; import the output of perf "
				 "script instead",
				 name);
	if (size >= 8 && !memcmp(bytes, PERF_MAGIC_OLD, 8))
		return lode_fail(error, LODE_BAD_INPUT,
				 "%s: has the format from before 2013; import the output of perf script instead",
				 name);
	if (size < PERF_PIPE_BYTES || memcmp(bytes, PERF_MAGIC_LITTLE, 8) != 0)
		return lode_fail(error, LODE_BAD_INPUT, "%s: not a perf.data file", name);
	*pipe = perf_u64(bytes + 8) == PERF_PIPE_BYTES;
	return 0;
}

static int replay_batch(void *context, struct lode_perf_batch *batch)
{
	return lode_perf_replay_batch(context, batch);
}

/* ---- folders ---- */

/* The folder of a file called `data`, with the slash; its length, 0 when it is no such file. */
static size_t folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && !strcmp(slash, "/data") ? (size_t)(slash + 1 - path) : 0;
}

/* Opens and reads the file `path`. Returns 1, 0 when there is none, or a negative code. */
static int read_another(struct recording *recording, const char *path, struct lode_error *error)
{
	struct lode_input *input;
	int code;

	if (access(path, F_OK) < 0)
		return 0;
	if (LODE_RESERVE(&recording->more, 1) < 0)
		return lode_fail_memory(error);
	code = lode_input_open_plain(&input, path, 0, error);
	if (code < 0)
		return code;
	recording->more.items[recording->more.count++] = input;
	code = lode_perf_reader_more(&recording->reader, input, error);
	return code < 0 ? code : 1;
}

static int read_more(struct recording *recording, struct lode_input *input, struct lode_error *error)
{
	const char *name = lode_input_name(input);
	size_t folder = folder_length(name);
	int code = 1;

	if (!folder)
		lode_notes_add(recording->facts.notes, 1,
			       "recordings written as a folder, of which only one file was given; name the folder",
			       name);
	for (unsigned i = 0; folder && code > 0 && i < FILES_LIMIT; i++) {
		char *path = lode_format("%.*sdata.%u", (int)folder, name, i);

		code = path ? read_another(recording, path, error) : lode_fail_memory(error);
		lode_free(path);
	}
	return code < 0 ? code : 0;
}

/* perf record --kcore copies the kernel's symbols, with the addresses of the time, into the folder. */
static int find_kallsyms(struct recording *recording, struct lode_input *input, struct lode_error *error)
{
	size_t folder = folder_length(lode_input_name(input));
	char *path;

	if (!folder)
		return 0;
	path = lode_format("%.*skcore_dir/kallsyms", (int)folder, lode_input_name(input));
	if (!path)
		return lode_fail_memory(error);
	if (access(path, R_OK) == 0)
		recording->facts.kallsyms = lode_arena_text(&recording->facts.arena, path, strlen(path));
	lode_free(path);
	return 0;
}

static int read_file(struct recording *recording, struct lode_input *input, struct lode_error *error)
{
	const unsigned char *bytes;
	uint64_t offset, length;
	size_t size;
	int code = lode_input_whole(input, &bytes, &size, error);

	if (code == 0)
		code = lode_perf_sections_read(&recording->facts, bytes, size, lode_input_name(input), &offset,
					       &length, error);
	if (code < 0 || (code = find_kallsyms(recording, input, error)) < 0)
		return code;
	code = lode_perf_reader_file(&recording->reader, bytes + offset, (size_t)length, offset, error);
	if (code == 0 && recording->facts.is_folder)
		code = read_more(recording, input, error);
	return code < 0 ? code : lode_perf_reader_end(&recording->reader, error);
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
		stream->host =
			lode_strings_add(&recording->dictionary.frames.strings, facts->host, strlen(facts->host));
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
	if (!facts->has_frames && facts->events.count)
		lode_notes_add(notes, 1, "recordings without call chains; record with -g", NULL);
}

static int read_recording(struct recording *recording, struct lode_input *input, int pipe, struct lode_error *error)
{
	int code = pipe ? read_pipe(recording, input, error) : read_file(recording, input, error);

	/* The replay uses what the reader owns: it always ends first. */
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
	    lode_perf_reader_init(&recording->reader, input, options, &recording->facts, &recording->pipeline) < 0)
		return lode_fail_memory(error);
	code = lode_perf_replay_init(&recording->replay, &recording->facts, options, &recording->stream, error);
	if (code < 0)
		return code;
	lode_perf_pipeline_init(&recording->pipeline, replay_batch, &recording->replay, jobs > 1);
	code = read_recording(recording, input, pipe, error);
	lode_perf_pipeline_release(&recording->pipeline);
	return code < 0 ? code : lode_import_deliver(input, options, sink, &recording->stream, 0, error);
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
	for (size_t i = 0; i < recording->more.count; i++)
		lode_input_close(recording->more.items[i]);
	lode_free(recording->more.items);
	lode_free(recording);
	return code;
}

const struct lode_importer lode_importer_perf_data = {
	.name = "perf.data",
	.description = "recordings of perf record: a file, a folder or a pipe",
	.sniff = sniff,
	.read = read_perf_data,
};
