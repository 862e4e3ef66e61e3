/*
 * Crowds: threads of one name that one waker wakes at once, from waits for the same thing. One connection, or one item of work,
 * wakes all that wait for it, and all but one of them queue for a processor only to find that there is nothing to do (a
 * thundering herd); of a barrier each has something to do, and they queue behind one another all the same.
 *
 * Waits belong to one crowd when they have the same object, or where that is unknown the same stack, the same waker, and
 * threads with the same names, and end within LODE_CROWD_NS of the first of them. Crowds of fewer than
 * LODE_MIN_CROWD are none.
 */
#ifndef LODE_SCOPE_CROWDS_H
#define LODE_SCOPE_CROWDS_H

#include "trace/stream.h"

#define LODE_CROWD_NS  200000
#define LODE_MIN_CROWD 4

/* A zeroed struct holds none. */
struct lode_crowds {
	uint32_t *objects; /* by wait: text of its crowd, a string; 0: it is in none. NULL: no wait is */
};

/*
 * For a sorted stream: waits with t, cost, thread, stack, waker, objects where there are some. `processes`: names of processes,
 * by thread. Adds to the strings of the stream's dictionary. Release it in either case. Returns 0 or LODE_SYSTEM.
 */
int lode_crowds_make(struct lode_crowds *crowds, struct lode_stream *stream, const uint32_t *processes);
void lode_crowds_release(struct lode_crowds *crowds);

/*
 * Reads the text of a crowd: what its threads wait for, "" where that is unknown, and how many they usually are. NULL: it
 * is another text.
 */
const char *lode_crowd_of(const char *text, unsigned *size);

#endif
