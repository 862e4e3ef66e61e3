/*
 * Deferred close: closes descriptors of probes on background threads. The kernel removes
 * a link's probes at once, but close() blocks for some ten milliseconds until no CPU
 * can be inside them; several of these waits run in parallel.
 */
#ifndef LODE_HUNT_METER_LIVE_DEFERRED_CLOSE_H
#define LODE_HUNT_METER_LIVE_DEFERRED_CLOSE_H

struct lode_deferred_close;

/* NULL when memory has run out. */
struct lode_deferred_close *lode_deferred_close_create(void);
/* Closes `fd` soon; any thread may call it. Where there is no thread for it, it is closed before this
 * returns. */
void lode_deferred_close_add(struct lode_deferred_close *deferred, int fd);
/* Returns when all are closed. */
void lode_deferred_close_destroy(struct lode_deferred_close *deferred);

#endif
