/* Recording: see recording.h. */
#include "record/stream/recording.h"

#include "base/file.h"
#include "record/stream/record_commands.h"
#include "trace/objects.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Nanoseconds between two writes; what a recording that is killed loses at most. */
#define BETWEEN_WRITES 1000000000u

struct lode_recording {
	struct lode_corpus *corpus;
	struct lode_builder *builder;
	char id[33];
	char *path; /* of the file that is written while recording */
	struct lode_store_writer *writer;
	uint64_t written_at;
	int finished; /* all of it is in the corpus */
	struct lode_dictionary dictionary;
	struct lode_stream stream; /* the head of what became of it */
	struct lode_recording_addition addition;
};

int lode_recording_create(struct lode_recording **result, struct lode_corpus *corpus, struct lode_builder *builder,
			  struct lode_error *error)
{
	struct lode_recording *recording = lode_calloc(1, sizeof(*recording));
	int code;

	*result = NULL;
	if (!recording || lode_dictionary_init(&recording->dictionary) < 0) {
		lode_free(recording);
		return lode_fail_memory(error);
	}
	lode_stream_init(&recording->stream, &recording->dictionary);
	recording->corpus = corpus;
	recording->builder = builder;
	code = lode_stream_draw_id(recording->id, error);
	if (!code && !(recording->path = lode_corpus_recording(corpus, recording->id)))
		code = lode_fail_memory(error);
	if (!code)
		code = lode_store_create(&recording->writer, recording->path, lode_corpus_file_mode(corpus), 1,
					 error);
	if (code) {
		lode_recording_abandon(recording, NULL);
		return code;
	}
	lode_file_keep(recording->path); /* however this program ends, lode fsck can make a stream of it */
	lode_store_set_fast(recording->writer);
	lode_store_keep(recording->writer);
	*result = recording;
	return 0;
}

/* Whether the file holds events that are nowhere else. What cannot be read now may be readable later. */
static int holds_events(const struct lode_recording *recording)
{
	struct lode_fsck_result result;

	if (recording->finished || access(recording->path, F_OK) < 0)
		return 0;
	return lode_store_check(recording->path, &result, NULL, NULL) < 0 || result.events_good;
}

static void name_kept_file(const struct lode_recording *recording, struct lode_error *error)
{
	size_t length = error ? strlen(error->text) : 0;

	if (length)
		snprintf(error->text + length, sizeof(error->text) - length,
			 "; what was recorded until then is kept: 'lode fsck --repair %s' makes it a stream",
			 lode_corpus_path(recording->corpus));
}

void lode_recording_abandon(struct lode_recording *recording, struct lode_error *error)
{
	if (!recording)
		return;
	if (recording->writer)
		lode_store_abandon(recording->writer);
	if (recording->path && holds_events(recording))
		name_kept_file(recording, error);
	else if (recording->path)
		unlink(recording->path);
	lode_stream_release(&recording->stream);
	lode_dictionary_release(&recording->dictionary);
	lode_free(recording->path);
	lode_free(recording);
}

/* As they come, in the order of their ends: to sort them is left to the translation, or to `lode fsck`. */
static int write_events(struct lode_recording *recording, uint64_t now, struct lode_error *error)
{
	struct lode_stream *stream = &recording->builder->stream;
	int code;

	if (lode_builder_refresh(recording->builder, now) < 0)
		return lode_fail_memory(error);
	code = lode_store_append(recording->writer, stream, error);
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		stream->events[type].count = 0;
	return code;
}

int lode_recording_flow(struct lode_recording *recording, uint64_t now, struct lode_error *error)
{
	size_t count = lode_stream_event_count(&recording->builder->stream);

	if (!recording->written_at)
		recording->written_at = now;
	if (count < LODE_BLOCK_EVENTS && now - recording->written_at < BETWEEN_WRITES)
		return 0;
	recording->written_at = now;
	if (!count)
		return lode_builder_refresh(recording->builder, now) < 0 ? lode_fail_memory(error) : 0;
	return write_events(recording, now, error);
}

uint64_t lode_recording_size(const struct lode_recording *recording)
{
	struct stat status;

	return stat(recording->path, &status) < 0 ? 0 : (uint64_t)status.st_size;
}

/* Ends the file that was written while recording. */
static int close_file(struct lode_recording *recording, struct lode_error *error)
{
	struct lode_builder *builder = recording->builder;
	int code;

	/* Names first: what is called as its first thread needs no more. */
	if (lode_builder_refresh(builder, recording->written_at) < 0 ||
	    lode_record_commands(&builder->processes, &builder->stream) < 0 ||
	    lode_process_groups_store(&builder->groups, &builder->stream) < 0 ||
	    (builder->objects.connections &&
	     lode_stream_set_text(&builder->stream, LODE_CONNECTIONS, LODE_CONNECTIONS_VALUE) < 0))
		return lode_fail_memory(error);
	code = write_events(recording, recording->written_at, error);
	if (code)
		return code;
	code = lode_store_finish(recording->writer, error);
	recording->writer = NULL;
	return code;
}

void lode_recording_set_addition(struct lode_recording *recording, const struct lode_recording_addition *addition)
{
	recording->addition = *addition;
}

/* Writes the translated file once more, with what is to be added. */
static int add_to_file(struct lode_recording *recording, const char *draft,
		       const struct lode_record_symbolize_options *options, struct lode_corpus_entry *entry,
		       struct lode_error *error)
{
	struct lode_stream *stream = &recording->stream;
	int code;

	lode_stream_release(stream);
	lode_dictionary_release(&recording->dictionary);
	code = lode_dictionary_init(&recording->dictionary) < 0 ? lode_fail_memory(error) : 0;
	lode_stream_init(stream, &recording->dictionary);
	if (!code)
		code = lode_store_load(draft, stream, error);
	if (!code && (recording->addition.add(recording->addition.context, stream, options->notes) < 0 ||
		      lode_stream_sort(stream) < 0))
		code = lode_fail_memory(error);
	if (!code)
		code = lode_file_remove(draft, error);
	if (!code)
		code = lode_store_write(draft, lode_corpus_file_mode(recording->corpus), stream, options->jobs,
					error);
	if (!code && lode_corpus_describe(stream, entry) < 0)
		code = lode_fail_memory(error);
	return code;
}

int lode_recording_finish(struct lode_recording *recording, const char *source,
			  const struct lode_record_symbolize_options *options, struct lode_corpus_entry *entry,
			  struct lode_error *error)
{
	char *draft;
	int code = close_file(recording, error);

	if (code)
		return code;
	draft = lode_corpus_draft(recording->corpus, recording->id);
	if (!draft)
		return lode_fail_memory(error);
	memset(entry, 0, sizeof(*entry));
	memcpy(entry->id, recording->id, sizeof(entry->id));
	entry->source = source;
	code = lode_record_symbolize(recording->path, draft, &recording->builder->stacks, options,
				     &recording->stream, entry, error);
	if (!code && recording->addition.add)
		code = add_to_file(recording, draft, options, entry, error);
	if (!code) {
		code = lode_corpus_place(recording->corpus, entry, draft, &recording->stream, error);
		code = code < 0 ? code : 0;
	}
	unlink(draft);
	lode_free(draft);
	recording->finished = !code;
	return code;
}
