/* Streams that were left out, as JSON: see unread_json.h. */
#include "result/unread_json.h"

/* Streams that are listed; there may be as many as a disk had. */
#define LISTED 100

void lode_unread_streams_json(const struct lode_unread_streams *unread, struct lode_json *json)
{
	if (!unread->count)
		return;
	lode_json_key_object(json, "unread_streams");
	lode_json_key_u64(json, "count", unread->count);
	lode_json_key_array(json, "first");
	for (size_t i = 0; i < unread->count && i < LISTED; i++) {
		lode_json_object(json);
		lode_json_key_text(json, "stream", unread->items[i].name);
		lode_json_key_text(json, "stream_id", unread->items[i].id);
		lode_json_key_text(json, "reason", unread->items[i].reason);
		lode_json_object_end(json);
	}
	lode_json_array_end(json);
	lode_json_object_end(json);
}
