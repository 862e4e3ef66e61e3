/*
 * Closer: closes descriptors whose closing takes long, somewhere else. The kernel
 * takes a link's probes out at once, but lets close() wait some ten milliseconds
 * until no CPU can be inside them; several such waits run side by side.
 */
#ifndef LODE_HUNT_CLOSER_H
#define LODE_HUNT_CLOSER_H

struct lode_closer;

/* NULL when memory has run out. */
struct lode_closer *lode_closer_create(void);
/* Closes `fd` soon; any thread may call it. Where there is no thread for it, it is closed before this
 * returns. */
void lode_closer_add(struct lode_closer *closer, int fd);
/* Returns when all are closed. */
void lode_closer_destroy(struct lode_closer *closer);

#endif
