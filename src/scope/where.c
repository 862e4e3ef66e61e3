/* Which streams are meant: see where.h. */
#include "scope/where.h"

#include "scope/frame_filter.h"

#include <string.h>

int lode_where_check(const char *const *where, struct lode_error *error)
{
	for (; where && *where; where++)
		if (!strchr(*where, '=') || **where == '=')
			return lode_fail(error, LODE_USAGE,
					 "'%s' is not KEY=VALUE; write 'version=4.2', "
					 "'host=web-*' or 'name=…'",
					 *where);
	return 0;
}

static const char *attribute_value(const struct lode_stream *stream, const char *key, size_t length)
{
	const struct lode_strings *strings = &stream->dictionary->frames.strings;

	for (size_t i = 0; i < stream->attribute_count; i++) {
		const char *name = lode_strings_get(strings, stream->attributes[i].key);

		if (!strncmp(name, key, length) && !name[length])
			return lode_strings_get(strings, stream->attributes[i].value);
	}
	if (length == 4 && !memcmp(key, "host", 4))
		return lode_strings_get(strings, stream->host);
	if (length == 4 && !memcmp(key, "name", 4))
		return lode_strings_get(strings, stream->name);
	return NULL;
}

int lode_where_fits(const struct lode_stream *stream, const char *const *where)
{
	for (; where && *where; where++) {
		const char *equals = strchr(*where, '=');
		const char *value = attribute_value(stream, *where, (size_t)(equals - *where));

		if (!value || !lode_glob_match(equals + 1, value))
			return 0;
	}
	return 1;
}
