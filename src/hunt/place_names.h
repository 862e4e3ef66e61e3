/*
 * Place names: the texts of hosts, processes, threads and locks, by axis and number. They
 * are kept from when they were first asked for, since processes and threads end.
 */
#ifndef LODE_HUNT_PLACE_NAMES_H
#define LODE_HUNT_PLACE_NAMES_H

#include "base/strings.h"
#include "hunt/meter.h"

struct lode_place_names {
	struct lode_strings strings;
	struct lode_place_name {
		uint64_t number;
		enum lode_focus_axis axis;
		uint32_t text;
	} *items;
	size_t count;
	size_t capacity;
	struct lode_index index;
};

/* Returns 0 or LODE_SYSTEM; release it in either case. */
int lode_place_names_init(struct lode_place_names *names);
void lode_place_names_release(struct lode_place_names *names);
/* The name, or NULL when it was not kept. */
const char *lode_place_names_find(const struct lode_place_names *names, enum lode_focus_axis axis,
				  uint64_t number);
/* Keeps a name that is not there yet. Returns the copy, or NULL when memory has run out. */
const char *lode_place_names_keep(struct lode_place_names *names, enum lode_focus_axis axis, uint64_t number,
				  const char *text);

#endif
