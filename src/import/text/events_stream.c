/* The stream under way while plain events are read: see events_stream.h. */
#include "import/text/events_stream.h"

int lode_events_start_stream(struct lode_events_reader *reader)
{
	if (lode_dictionary_init(&reader->dictionary) < 0)
		return reader->code = lode_fail_memory(reader->error);
	lode_stream_init(&reader->stream, &reader->dictionary);
	reader->open = 1;
	reader->announced = 0;
	return 0;
}

void lode_events_drop_stream(struct lode_events_reader *reader)
{
	if (!reader->open)
		return;
	lode_stream_release(&reader->stream);
	lode_dictionary_release(&reader->dictionary);
	lode_frame_memo_release(&reader->memo);
	reader->open = 0;
}

/* Opened by a line that turned out to be none of ours. */
static int is_nothing(const struct lode_events_reader *reader)
{
	const struct lode_stream *stream = &reader->stream;

	return !reader->announced && !stream->thread_count && reader->dictionary.frames.module_count == 1;
}

/*
 * A waker or holder is a bare tid, and the thread it means may come later: so only
 * when all lines are read tids become threads, new ones where no line has them.
 */
static int resolve_tids(struct lode_stream *stream, uint32_t *tids, size_t count)
{
	for (size_t i = 0; tids && i < count; i++) {
		if (tids[i] == LODE_NONE)
			continue;
		tids[i] = lode_stream_tid(stream, tids[i]);
		if (tids[i] == LODE_NONE)
			return LODE_SYSTEM;
	}
	return 0;
}

static int resolve_threads(struct lode_stream *stream)
{
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		struct lode_events *events = &stream->events[type];

		if (resolve_tids(stream, events->waker, events->count) < 0)
			return LODE_SYSTEM;
	}
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		if (resolve_tids(stream, stream->events[type].holder, stream->events[type].count) < 0)
			return LODE_SYSTEM;
	return 0;
}

/* The name that the user gives wins when the file holds only one stream. */
int lode_events_finish_stream(struct lode_events_reader *reader, int at_end)
{
	int code;

	if (!reader->open || is_nothing(reader)) {
		lode_events_drop_stream(reader);
		return 0;
	}
	if (at_end && reader->ordinal == 0 && reader->options->stream_name)
		reader->stream.name = 0;
	if (resolve_threads(&reader->stream) < 0)
		code = lode_fail_memory(reader->error);
	else
		code = lode_import_deliver(reader->input, reader->options, reader->sink, &reader->stream,
					   reader->ordinal, reader->error);
	reader->ordinal++;
	lode_events_drop_stream(reader);
	return code;
}
