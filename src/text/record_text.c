/* What lode record recorded, for people: see record_text.h. */
#include "text/record_text.h"

#include "base/units.h"

void lode_record_text(const struct lode_record_report *report, struct lode_buffer *line)
{
	const struct lode_corpus_entry *entry = report->entry;
	char text[LODE_UNITS_TEXT];

	lode_buffer_print(line, "%s: ", entry->name);
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		lode_buffer_print(line, "%s%s %s", type ? ", " : "", lode_count_text(entry->events[type], text),
				  lode_event_type_name((enum lode_event_type)type));
	lode_buffer_print(line, "; %s stacks", lode_count_text(entry->stacks, text));
	lode_buffer_print(line, "; %s", lode_duration_text(report->duration, text));
	if (report->has_symptom_rules)
		lode_buffer_print(line, "; %d symptom%s", report->symptoms, report->symptoms == 1 ? "" : "s");
	lode_buffer_print(line, "; %s in %s", lode_bytes_text(entry->file_size, text), report->corpus);
}
