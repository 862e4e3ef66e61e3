/* The events of a pattern or cluster as lines of JSON: see mine_report.h. */
#include "base/json.h"
#include "result/mine_report.h"

int lode_mine_event_json(void *context, const struct lode_area_event *event)
{
	struct lode_mine_events_json *listing = context;
	const struct lode_area_stream *stream = &listing->area->streams[event->stream];
	struct lode_json *json = listing->json;

	lode_json_object(json);
	lode_json_key_text(json, "stream",
			   lode_strings_get(&listing->area->dictionary.frames.strings, stream->name));
	lode_json_key_text(json, "stream_id", stream->id);
	lode_json_key_u64(json, "t", event->t);
	lode_json_key_u64(json, "cost_ns", event->cost);
	if (event->pid != LODE_NO_PID)
		lode_json_key_u64(json, "pid", event->pid);
	lode_json_key_u64(json, "tid", event->tid);
	if (*event->thread)
		lode_json_key_text(json, "thread", event->thread);
	lode_json_key(json, "stack");
	lode_stack_json(&listing->area->dictionary, event->stack, json);
	lode_json_object_end(json);
	lode_json_line(json);
	return 0;
}
