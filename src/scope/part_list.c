/* Lists of parts: see scope.h and scope_index.h. */
#include "scope/scope_index.h"

#include <stdlib.h>
#include <string.h>

void lode_parts_release(struct lode_parts *parts)
{
	lode_free(parts->items);
	memset(parts, 0, sizeof(*parts));
}

int lode_parts_add(struct lode_parts *parts, enum lode_event_type type, uint32_t event, uint64_t t, uint64_t cost)
{
	return LODE_APPEND(parts->items, parts->count, parts->capacity,
			   (struct lode_part){ .t = t, .cost = cost, .event = event, .type = (uint8_t)type });
}

int lode_part_is_ready(const struct lode_stream *stream, const struct lode_part *part)
{
	return part->type == LODE_CALL || (part->type == LODE_WAIT && part->cost &&
					   part->t >= lode_event_end(&stream->events[LODE_WAIT], part->event));
}

void lode_parts_reverse(struct lode_parts *parts, size_t first)
{
	for (size_t last = parts->count; first + 1 < last; first++) {
		struct lode_part part = parts->items[--last];

		parts->items[last] = parts->items[first];
		parts->items[first] = part;
	}
}

static int compare_parts(const void *left, const void *right)
{
	const struct lode_part *a = left, *b = right;

	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	if (a->t != b->t)
		return a->t < b->t ? -1 : 1;
	return a->cost < b->cost ? -1 : a->cost > b->cost;
}

static int parts_in_order(const struct lode_parts *parts)
{
	for (size_t i = 1; i < parts->count; i++)
		if (compare_parts(&parts->items[i - 1], &parts->items[i]) > 0)
			return 0;
	return 1;
}

/* Takes `part` into `last`, which precedes it, if they belong together. */
static int join(struct lode_part *last, const struct lode_part *part)
{
	uint64_t end = lode_add_saturating(last->t, last->cost);
	uint64_t part_end = lode_add_saturating(part->t, part->cost);

	if (last->type != part->type || last->event != part->event || part->t > end)
		return 0;
	if (part_end > end)
		last->cost = part_end - last->t;
	return 1;
}

int lode_parts_unite(struct lode_parts *parts)
{
	size_t kept = 0;

	if (!parts_in_order(parts))
		qsort(parts->items, parts->count, sizeof(*parts->items), compare_parts);
	for (size_t i = 0; i < parts->count; i++)
		if (!kept || !join(&parts->items[kept - 1], &parts->items[i]))
			parts->items[kept++] = parts->items[i];
	parts->count = kept;
	return 0;
}
