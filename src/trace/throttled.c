/* Groups without quota left: see throttled.h. */
#include "trace/throttled.h"

#include "base/starts_with.h"

#include <stdlib.h>
#include <string.h>

struct lode_throttled lode_throttled_of(const struct lode_attribute *attributes, size_t count,
					const struct lode_strings *strings)
{
	struct lode_throttled longest = { NULL, 0 };

	for (size_t i = 0; i < count; i++) {
		const char *key = lode_strings_get(strings, attributes[i].key);
		struct lode_throttled one;

		if (!lode_starts_with(key, LODE_THROTTLED))
			continue;
		one.path = key + strlen(LODE_THROTTLED);
		one.time = strtoull(lode_strings_get(strings, attributes[i].value), NULL, 10);
		if (one.time > longest.time ||
		    (longest.path && one.time == longest.time && strlen(one.path) > strlen(longest.path)))
			longest = one;
	}
	return longest;
}

struct lode_throttled lode_stream_throttled(const struct lode_stream *stream)
{
	return lode_throttled_of(stream->attributes, stream->attribute_count, &stream->dictionary->frames.strings);
}
