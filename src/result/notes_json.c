/* Notes as JSON: see notes_json.h. */
#include "result/notes_json.h"

void lode_notes_json(const struct lode_notes *notes, struct lode_json *json)
{
	lode_json_array(json);
	for (size_t i = 0; i < notes->count; i++) {
		const struct lode_note *note = &notes->items[i];

		lode_json_object(json);
		lode_json_key_text(json, "what", note->what);
		lode_json_key_u64(json, "count", note->count);
		lode_json_key_text_or_null(json, "example", note->example);
		lode_json_object_end(json);
	}
	lode_json_array_end(json);
}
