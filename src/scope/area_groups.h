/*
 * Control groups of processes in an area: whose events are wanted (`--where unit=…`), and events grouped by them (`--by
 * unit`).
 */
#ifndef LODE_SCOPE_AREA_GROUPS_H
#define LODE_SCOPE_AREA_GROUPS_H

#include "scope/area.h"

/* Frame of events whose process is in no such group, or it is not known. */
#define LODE_GROUP_NONE_FRAME "(none)"

/* A zeroed struct wants all and groups by stacks. */
struct lode_area_groups {
	uint8_t *fits;   /* by thread: its events are wanted; NULL: all are */
	uint32_t *nodes; /* by thread: the stack that is its group; NULL: stacks are what they are */
};

/* Looks at what the options ask, as lode_area_objects_make does. Release in either case. */
int lode_area_groups_make(struct lode_area_groups *groups, struct lode_stream *stream,
			  const struct lode_area_options *options, struct lode_error *error);
void lode_area_groups_release(struct lode_area_groups *groups);

#endif
