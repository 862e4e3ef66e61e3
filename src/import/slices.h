/*
 * Slices: named stretches of a thread's time, nested in one another, as tracers write
 * them. The innermost slice with all those around it is a stack, and the time until
 * the next change is a run of that stack.
 *
 * Slices may come in any order and in two forms: whole (from, until), or as a beginning and an
 * end that are joined by name. lode_slices_finish puts them in order:
 *
 *	- an end closes the innermost open slice of its name on its thread, and with it all
 *	  that began inside; without a name it closes the innermost
 *	- what is never closed ends with the last event of the trace
 *	- a slice that ends after the one it began in is cut there
 *	- of two that begin together, the longer is outside; of two equal ones, the first
 *
 * Waits that are in the stream already and have no stack get the slices that are open where they begin, and their
 * wakers those that are open on the waker's thread when it wakes.
 *
 * Slices whose name is a symptom marker (symptom_markers.h) become symptoms as well.
 */
#ifndef LODE_IMPORT_SLICES_H
#define LODE_IMPORT_SLICES_H

#include "base/array.h"
#include "import/import.h"

/* A whole slice. */
struct lode_slice {
	uint64_t t0;
	uint64_t t1;
	uint32_t thread;
	uint32_t frame;
	uint32_t order; /* of two that are equal, the lower one is outside */
};

/* A beginning, an end or an instant. */
struct lode_slice_mark {
	uint64_t t;
	uint32_t thread;
	uint32_t frame; /* of an end: LODE_NONE closes the innermost open one; of an instant: its name, a string */
	uint32_t order;
	uint32_t kind;
};

struct lode_slices {
	LODE_ARRAY(struct lode_slice);
	LODE_ARRAY(struct lode_slice_mark) marks; /* beginnings and ends */
	LODE_ARRAY(struct lode_slice_mark) instants;
	uint32_t next_order;
	uint64_t last; /* latest time of all */
};

/* A zeroed struct has no slices. All of these return 0 or LODE_SYSTEM. */
int lode_slices_add(struct lode_slices *slices, uint32_t thread, uint64_t t0, uint64_t t1, uint32_t frame);
int lode_slices_begin(struct lode_slices *slices, uint32_t thread, uint64_t t, uint32_t frame);
int lode_slices_end(struct lode_slices *slices, uint32_t thread, uint64_t t, uint32_t frame);
/* An instant called `name` (a string) becomes a call, with the slices around it as its stack. */
int lode_slices_instant(struct lode_slices *slices, uint32_t thread, uint64_t t, uint32_t name);
/*
 * Adds runs, calls and symptoms to the stream. Threads with something in `measured` (one byte
 * a thread, or NULL) have better knowledge of their time: their slices give symptoms and the stacks of waits only.
 */
int lode_slices_finish(struct lode_slices *slices, struct lode_stream *stream, const uint8_t *measured,
		       const struct lode_import_options *options);
void lode_slices_release(struct lode_slices *slices);

#endif
