/* Groups that ran into a limit: see throttled.h. */
#include "trace/throttled.h"

#include "base/starts_with.h"

#include <stdlib.h>
#include <string.h>

/* The group with the largest number of those whose keys begin with `prefix`; the path is NULL where there is none. */
static struct lode_throttled largest(const struct lode_attribute *attributes, size_t count,
				     const struct lode_strings *strings, const char *prefix)
{
	struct lode_throttled found = { NULL, 0 };

	for (size_t i = 0; i < count; i++) {
		const char *key = lode_strings_get(strings, attributes[i].key);
		struct lode_throttled one;

		if (!lode_starts_with(key, prefix))
			continue;
		one.path = key + strlen(prefix);
		one.time = strtoull(lode_strings_get(strings, attributes[i].value), NULL, 10);
		if (one.time > found.time ||
		    (found.path && one.time == found.time && strlen(one.path) > strlen(found.path)))
			found = one;
	}
	return found;
}

struct lode_throttled lode_throttled_of(const struct lode_attribute *attributes, size_t count,
					const struct lode_strings *strings)
{
	return largest(attributes, count, strings, LODE_THROTTLED);
}

struct lode_memory_limited lode_memory_limited_of(const struct lode_attribute *attributes, size_t count,
						  const struct lode_strings *strings)
{
	struct lode_throttled found = largest(attributes, count, strings, LODE_MEMORY_LIMITED);

	return (struct lode_memory_limited){ found.path, found.time };
}

struct lode_throttled lode_stream_throttled(const struct lode_stream *stream)
{
	return lode_throttled_of(stream->attributes, stream->attribute_count, &stream->dictionary->frames.strings);
}
