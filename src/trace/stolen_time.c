/* Time that the hypervisor took: see stolen_time.h. */
#include "trace/stolen_time.h"

#include <stdlib.h>
#include <string.h>

double lode_stream_stolen(const struct lode_stream *stream)
{
	const struct lode_strings *strings = &stream->dictionary->frames.strings;

	for (size_t i = 0; i < stream->attribute_count; i++) {
		double percent;

		if (strcmp(lode_strings_get(strings, stream->attributes[i].key), LODE_STOLEN) != 0)
			continue;
		percent = strtod(lode_strings_get(strings, stream->attributes[i].value), NULL);
		return percent > 0 && percent <= 100 ? percent : 0;
	}
	return 0;
}
