/* What the machine's processors did: see processor_times.h. */
#include "tasks/live/processor_times.h"

#include "base/proc_files.h"
#include "base/starts_with.h"
#include "trace/stolen_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* user, nice, system, idle, iowait, irq, softirq, steal; guests, which follow, are counted in user and nice. */
#define FIELDS 8

struct lode_processor_times lode_processor_times_parse(const char *text)
{
	struct lode_processor_times times = { 0 };
	char *at;

	if (!lode_starts_with(text, "cpu "))
		return times;
	text += strlen("cpu ");
	for (int i = 0; i < FIELDS; i++) {
		uint64_t ticks = strtoull(text, &at, 10);

		if (at == text)
			break;
		times.all += ticks;
		times.stolen = i == FIELDS - 1 ? ticks : 0;
		text = at;
	}
	return times;
}

struct lode_processor_times lode_processor_times_now(void)
{
	char text[512];

	/* The first line is enough. */
	if (lode_proc_text(text, sizeof(text), "/proc/stat"))
		return (struct lode_processor_times){ 0 };
	return lode_processor_times_parse(text);
}

int lode_processor_times_store(const struct lode_processor_times *before, const struct lode_processor_times *after,
			       struct lode_stream *stream)
{
	char percent[32];

	if (after->stolen <= before->stolen || after->all <= before->all)
		return 0;
	snprintf(percent, sizeof(percent), "%.2f",
		 100 * (double)(after->stolen - before->stolen) / (double)(after->all - before->all));
	return lode_stream_set_attribute(stream, LODE_STOLEN, percent, LODE_ATTRIBUTE_NUMBER);
}
