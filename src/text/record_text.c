/* What lode record recorded, for people: see record_text.h. */
#include "text/record_text.h"

#include "base/units.h"

/* `12 waits` */
static void put_count(struct lode_buffer *line, const char *lead, uint64_t count, const char *one)
{
	char text[LODE_UNITS_TEXT];

	lode_buffer_print(line, "%s%s %s%s", lead, lode_count_text(count, text), one, lode_plural(count));
}

void lode_record_text(const struct lode_record_report *report, struct lode_buffer *line)
{
	const struct lode_corpus_entry *entry = report->entry;
	char text[LODE_UNITS_TEXT];

	lode_buffer_print(line, "%s: ", entry->name);
	put_count(line, "", entry->events[LODE_RUN], "sample");
	put_count(line, ", ", entry->events[LODE_WAIT], "wait");
	put_count(line, ", ", report->preemptions, "preemption");
	if (report->system_calls)
		put_count(line, ", ", report->system_calls, "system call");
	put_count(line, "; ", entry->stacks, "stack");
	lode_buffer_print(line, "; %s", lode_duration_text(report->duration, text));
	if (report->has_symptom_rules)
		lode_buffer_print(line, "; %d symptom%s", report->symptoms, report->symptoms == 1 ? "" : "s");
	lode_buffer_print(line, "; %s in %s", lode_bytes_text(entry->file_size, text), report->corpus);
}
