/*
 * Stacks whose callers were lost: what a recorder could not unwind to the start of its thread.
 * Private to latency.
 *
 * Such a stack begins with a function that the thread's other stacks show further inside. Taken as
 * it is, its time would be missing in all the callers, which samples do not show. So where the
 * thread's whole stacks have the function in one place only, the stack is put there; where they have
 * it in several, the callers' time is unsure by as much.
 */
#ifndef LODE_LATENCY_LOST_CALLERS_H
#define LODE_LATENCY_LOST_CALLERS_H

#include "trace/stream.h"

/* Stacks that begin with node `root` may belong to any such place. */
struct lode_lost_place {
	uint32_t root;
	uint32_t place; /* a node with the same function, further inside */
};

struct lode_lost_callers {
	uint64_t placed;                /* events whose stacks were put in place */
	uint64_t unplaced;              /* events whose stacks fit in several places */
	struct lode_lost_place *places; /* of these, by root */
	size_t count;
	size_t capacity;
};

/*
 * Puts the stacks of a stream's events in place, as far as that is certain; columns thread and
 * stack must be there. Adds to the stream's stack tree. Returns 0 or LODE_SYSTEM; release in
 * either case (zeroed before).
 */
int lode_lost_callers_find(struct lode_stream *stream, struct lode_lost_callers *lost);
void lode_lost_callers_release(struct lode_lost_callers *lost);

#endif
