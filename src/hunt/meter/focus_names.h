/*
 * Focus names: the names of hosts, processes, threads and locks, by axis and number. A
 * name is stored when it is first needed, since processes and threads end.
 */
#ifndef LODE_HUNT_METER_FOCUS_NAMES_H
#define LODE_HUNT_METER_FOCUS_NAMES_H

#include "base/strings.h"
#include "hunt/meter/meter.h"

struct lode_focus_names {
	struct lode_strings strings;
	struct lode_focus_name {
		uint64_t number;
		enum lode_focus_axis axis;
		uint32_t text;
	} * items;
	size_t count;
	size_t capacity;
	struct lode_index index;
};

/* Returns 0 or LODE_SYSTEM; release it in either case. */
int lode_focus_names_init(struct lode_focus_names *names);
void lode_focus_names_release(struct lode_focus_names *names);
/* The name, or NULL when it was not kept. */
const char *lode_focus_names_find(const struct lode_focus_names *names, enum lode_focus_axis axis, uint64_t number);
/* Keeps a name that is not there yet. Returns the copy, or NULL when memory has run out. */
const char *lode_focus_names_keep(struct lode_focus_names *names, enum lode_focus_axis axis, uint64_t number,
				  const char *text);

#endif
