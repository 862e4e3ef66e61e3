/* Contexts of events in an area: which are wanted (`--where context=…`), and events grouped by them (`--by context`). */
#ifndef LODE_SCOPE_AREA_CONTEXTS_H
#define LODE_SCOPE_AREA_CONTEXTS_H

#include "scope/area.h"
#include "store/store.h"

/* Frame of events whose context is not known. */
#define LODE_CONTEXT_NONE_FRAME "(no context)"

/* A zeroed struct wants all and groups by stacks. */
struct lode_area_contexts {
	uint8_t *fits;   /* by string: such a context is wanted; NULL: all are */
	uint32_t *nodes; /* by string: the stack that is this context; NULL: stacks are what they are */
};

/* Looks at what the options ask, as lode_area_objects_make does. Release in either case. */
int lode_area_contexts_make(struct lode_area_contexts *contexts, const struct lode_store *store,
			    struct lode_stream *stream, const struct lode_area_options *options,
			    struct lode_error *error);
void lode_area_contexts_release(struct lode_area_contexts *contexts);

static inline int lode_area_context_fits(const struct lode_area_contexts *contexts,
					 const struct lode_events *events, size_t i)
{
	return !contexts->fits || contexts->fits[lode_events_context(events, i)];
}

#endif
