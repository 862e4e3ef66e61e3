/* Objects of waits in an area: which of them are wanted (`--where object=…`), and waits grouped by them (`--by object`). */
#ifndef LODE_SCOPE_AREA_OBJECTS_H
#define LODE_SCOPE_AREA_OBJECTS_H

#include "scope/area.h"
#include "store/store.h"

/* Frame of waits whose object is not known. */
#define LODE_OBJECT_UNKNOWN_FRAME "(not known what for)"

/* A zeroed struct wants all and groups by stacks. */
struct lode_area_objects {
	uint8_t *fits;   /* by string: such an object is wanted; NULL: all are */
	uint32_t *nodes; /* by string: the stack that is this object; NULL: stacks are what they are */
};

/*
 * Looks at what the options ask. Grouping adds a stack of one frame for each object of the stream to its dictionary, so nothing that is made by
 * node may be there yet. Release in either case.
 */
int lode_area_objects_make(struct lode_area_objects *objects, const struct lode_store *store,
			   struct lode_stream *stream, const struct lode_area_options *options,
			   struct lode_error *error);
void lode_area_objects_release(struct lode_area_objects *objects);

/* The stack of one frame with this text, added if it is new; LODE_NONE when memory has run out. */
uint32_t lode_area_named_stack(struct lode_dictionary *dictionary, const char *text);

/* Whether an event with this object, 0 for none, is wanted. */
static inline int lode_area_object_fits(const struct lode_area_objects *objects, uint32_t object)
{
	return !objects->fits || objects->fits[object];
}

/* The stack that wait `i` counts under. */
static inline uint32_t lode_area_object_stack(const struct lode_area_objects *objects,
					      const struct lode_events *waits, size_t i)
{
	return objects->nodes ? objects->nodes[lode_events_object(waits, i)] : waits->stack[i];
}

#endif
