/* Groups that ran into a limit: see throttled.h. */
#include "trace/throttled.h"

#include "base/starts_with.h"
#include "trace/numbered_names.h"

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

/* Places a program among the first ones, where it is not one of them with a longer time. */
static void keep_neighbour(struct lode_neighbours *neighbours, const char *name, uint64_t time)
{
	size_t at = 0, end;

	while (at < neighbours->count && strcmp(neighbours->names[at], name) != 0)
		at++;
	end = at;
	if (at < neighbours->count && neighbours->times[at] >= time)
		return;
	if (at == neighbours->count && at < LODE_MAX_NEIGHBOURS)
		neighbours->count++;
	for (at = end; at && neighbours->times[at - 1] < time; at--)
		if (at < LODE_MAX_NEIGHBOURS) {
			neighbours->names[at] = neighbours->names[at - 1];
			neighbours->times[at] = neighbours->times[at - 1];
		}
	if (at < LODE_MAX_NEIGHBOURS) {
		neighbours->names[at] = name;
		neighbours->times[at] = time;
	}
}

/* The program that threads like `thread` were behind, by a key of this kind; NULL: there is none, or the key is about something else. */
static const char *neighbour_of(const char *key, const char *kind, const char *thread)
{
	const char *behind, *name;

	if (!lode_starts_with(key, kind))
		return NULL;
	key += strlen(kind);
	behind = strstr(key, LODE_NEIGHBOUR_BEHIND);
	if (!behind || !lode_names_are_alike(key, (size_t)(behind - key), thread, strlen(thread)))
		return NULL;
	name = behind + strlen(LODE_NEIGHBOUR_BEHIND);
	return lode_names_are_alike(name, strlen(name), thread, strlen(thread)) ? NULL : name;
}

/* For how long threads like `thread` were behind the program that attribute `first` names; 0: an earlier one names it, too. */
static uint64_t time_behind(const struct lode_attribute *attributes, size_t count, size_t first, const char *name,
			    const char *kind, const char *thread, const struct lode_strings *strings)
{
	uint64_t time = 0;

	for (size_t i = 0; i < count; i++) {
		const char *other = neighbour_of(lode_strings_get(strings, attributes[i].key), kind, thread);

		if (!other || strcmp(other, name) != 0)
			continue;
		if (i < first)
			return 0;
		time = lode_add_saturating(time,
					   strtoull(lode_strings_get(strings, attributes[i].value), NULL, 10));
	}
	return time;
}

void lode_neighbours_add(struct lode_neighbours *neighbours, const char *thread, int with_recorded,
			 const struct lode_attribute *attributes, size_t count, const struct lode_strings *strings)
{
	for (size_t i = 0; i < count; i++) {
		const char *key = lode_strings_get(strings, attributes[i].key);
		const char *other = neighbour_of(key, LODE_NEIGHBOUR, thread),
			   *name = other ? other : neighbour_of(key, LODE_RECORDED_NEIGHBOUR, thread),
			   *kind = other ? LODE_NEIGHBOUR : LODE_RECORDED_NEIGHBOUR;
		uint64_t time = name ? time_behind(attributes, count, i, name, kind, thread, strings) : 0;

		if (!time)
			continue;
		neighbours->total = lode_add_saturating(neighbours->total, time);
		if (!other)
			neighbours->recorded = lode_add_saturating(neighbours->recorded, time);
		if (other || with_recorded)
			keep_neighbour(neighbours, name, time);
	}
}
