/* The events of a pattern or cluster as lines of JSON: see mine_report.h. */
#include "result/field_rows.h"
#include "result/mine_report.h"
#include "result/written_frames.h"

struct event_fields {
	const char *stream;
	const char *stream_id;
	uint64_t t;
	uint64_t cost_ns;
	int has_pid;
	uint32_t pid;
	uint32_t tid;
	const char *thread; /* NULL: not known */
	struct lode_written stack;
};

#define TABLE_OF struct event_fields
static const struct lode_field event_rows[] = {
	FIELD_TEXT(stream, "Name of the stream."),
	FIELD_TEXT(stream_id, "Id of the stream."),
	FIELD_U64(t, "Start, in ns."),
	FIELD_U64(cost_ns, "Length."),
	FIELD_U32(pid, "Process, where known.", FIELD_OPTIONAL_IF(has_pid)),
	FIELD_U32(tid, "Thread."),
	FIELD_TEXT(thread, "Name of the thread, where known.", FIELD_OPTIONAL),
	FIELD_WRITTEN_TEXTS(stack, "Its stack, root first."),
};
const struct lode_fields lode_mine_event_fields = FIELD_TABLE("MineEvent", event_rows);
#undef TABLE_OF

int lode_mine_event_json(void *context, const struct lode_area_event *event)
{
	struct lode_mine_events_json *listing = context;
	const struct lode_area_stream *stream = &listing->area->streams[event->stream];
	struct event_fields fields = {
		.stream = lode_strings_get(&listing->area->dictionary.frames.strings, stream->name),
		.stream_id = stream->id,
		.t = event->t,
		.cost_ns = event->cost,
		.has_pid = event->pid != LODE_NO_PID,
		.pid = event->pid,
		.tid = event->tid,
		.thread = *event->thread ? event->thread : NULL,
		.stack = lode_written_stack(&listing->area->dictionary, event->stack),
	};

	lode_fields_write(&lode_mine_event_fields, &fields, listing->json);
	lode_json_line(listing->json);
	return 0;
}
