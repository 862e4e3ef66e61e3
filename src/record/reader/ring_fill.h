/* How much is in a ring of the kernel's (BPF_MAP_TYPE_RINGBUF), by the positions that it shows. */
#ifndef LODE_RECORD_READER_RING_FILL_H
#define LODE_RECORD_READER_RING_FILL_H

#include <stddef.h>
#include <stdint.h>

/* A zeroed struct is of no ring. */
struct lode_ring_fill {
	const uint64_t *taken;
	const uint64_t *written;
};

/* `map`: its descriptor. Returns 0, or -1 with errno. Closing one that was not opened is allowed. */
int lode_ring_fill_open(struct lode_ring_fill *fill, int map);
void lode_ring_fill_close(struct lode_ring_fill *fill);
/* Bytes that were written and not taken yet, with what the ring keeps for each record (lode_ring_fill_of). */
size_t lode_ring_fill(const struct lode_ring_fill *fill);
/* Bytes of the ring that a record of `size` bytes takes. */
size_t lode_ring_fill_of(size_t size);

#endif
