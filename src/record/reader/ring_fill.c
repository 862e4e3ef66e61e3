/* How much is in a ring: see ring_fill.h. The kernel shows who reads in the first page of the map, who writes in the second. */
#include "record/reader/ring_fill.h"

#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const uint64_t *map_page(int map, long page)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *mapped = mmap(NULL, size, PROT_READ, MAP_SHARED, map, page * (long)size); /* from the kernel */

	return mapped == MAP_FAILED ? NULL : mapped;
}

int lode_ring_fill_open(struct lode_ring_fill *fill, int map)
{
	fill->taken = map_page(map, 0);
	fill->written = fill->taken ? map_page(map, 1) : NULL;
	return fill->written ? 0 : -1;
}

void lode_ring_fill_close(struct lode_ring_fill *fill)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);

	if (fill->taken)
		munmap((void *)(uintptr_t)fill->taken, size);
	if (fill->written)
		munmap((void *)(uintptr_t)fill->written, size);
	memset(fill, 0, sizeof(*fill));
}

size_t lode_ring_fill(const struct lode_ring_fill *fill)
{
	return (size_t)(__atomic_load_n(fill->written, __ATOMIC_ACQUIRE) -
			__atomic_load_n(fill->taken, __ATOMIC_RELAXED));
}

size_t lode_ring_fill_of(size_t size)
{
	return (size + BPF_RINGBUF_HDR_SZ + 7) & ~(size_t)7;
}
