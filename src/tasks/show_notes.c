/* Notes, shown: see show_notes.h. */
#include "tasks/show_notes.h"

#include "base/units.h"

void lode_notes_say(const struct lode_notes *notes, const struct lode_call *call)
{
	for (size_t i = 0; i < notes->count; i++) {
		const struct lode_note *note = &notes->items[i];
		char count[LODE_UNITS_TEXT];

		lode_count_text(note->count, count);
		if (note->example)
			lode_call_say(call, LODE_YELLOW, "note: %s: %s, %s%s", note->what, count,
				      note->count > 1 ? "first: " : "", note->example);
		else
			lode_call_say(call, LODE_YELLOW, "note: %s: %s", note->what, count);
	}
}
