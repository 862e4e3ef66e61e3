/* Neighbours: see neighbours.h. */
#include "record/neighbours.h"

#include "record/recorder_state.h"

#include <bpf/bpf.h>

/* Keeps it among the first ones. Returns how many there are then. */
static size_t keep(struct lode_neighbour *items, size_t count, size_t room, const struct lode_neighbour *item)
{
	size_t at = count < room ? count++ : room;

	for (; at && items[at - 1].time < item->time; at--)
		if (at < room)
			items[at] = items[at - 1];
	if (at < room)
		items[at] = *item;
	return count;
}

size_t lode_recorder_neighbours(const struct lode_recorder *recorder, struct lode_neighbour *items, size_t room)
{
	struct lode_record_neighbours key, next, *last = NULL;
	int map = bpf_map__fd(recorder->programs->maps.neighbours);
	size_t count = 0;

	/* A map that changes may begin again from its start. */
	for (int i = 0; i < 2 * LODE_RECORD_NEIGHBOURS && !bpf_map_get_next_key(map, last, &next); i++) {
		struct lode_neighbour item = { .names = next };

		key = next;
		last = &key;
		if (!bpf_map_lookup_elem(map, &key, &item.time))
			count = keep(items, count, room, &item);
	}
	return count;
}
