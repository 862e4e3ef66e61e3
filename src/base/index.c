/* Index: see index.h. Kept at most 5/8 full. */
#include "base/index.h"

#include "base/error.h"
#include "base/random.h"

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

void lode_index_release(struct lode_index *index)
{
	lode_free(index->slots);
	index->slots = NULL;
	index->mask = index->count = 0;
}

static void place(uint64_t *slots, size_t mask, uint64_t slot)
{
	size_t at = (size_t)(slot >> 32) & mask;

	while (slots[at])
		at = (at + 1) & mask;
	slots[at] = slot;
}

int lode_index_reserve(struct lode_index *index, size_t count)
{
	size_t size = index->slots ? index->mask + 1 : 64;
	uint64_t *slots;

	while (size / 8 * 5 < count)
		size *= 2;
	if (index->slots && size == index->mask + 1)
		return 0;
	slots = lode_calloc(size, sizeof(*slots));
	if (!slots)
		return LODE_SYSTEM;
	for (size_t i = 0; index->slots && i <= index->mask; i++)
		if (index->slots[i])
			place(slots, size - 1, index->slots[i]);
	lode_free(index->slots);
	index->slots = slots;
	index->mask = size - 1;
	return 0;
}

int lode_index_insert(struct lode_index *index, uint64_t hash, uint32_t id)
{
	if (!index->slots || index->count >= (index->mask + 1) / 8 * 5) {
		if (lode_index_reserve(index, index->count + 1) < 0)
			return LODE_SYSTEM;
	}
	place(index->slots, index->mask, hash >> 32 << 32 | (uint64_t)(id + 1));
	index->count++;
	return 0;
}

/* ---- hashing ---- */

struct lode_hash_key lode_hash_key;

/* Where the system has no random numbers, addresses and the time are better than nothing. */
static void make_up(unsigned char *bytes, size_t size)
{
	struct timespec now;
	uint64_t state = (uint64_t)(uintptr_t)&now ^ (uint64_t)getpid() << 32;

	clock_gettime(CLOCK_MONOTONIC, &now);
	state ^= (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15u;
	for (size_t i = 0; i < size; i++)
		bytes[i] = (unsigned char)lode_splitmix64(&state);
}

__attribute__((constructor)) static void make_key(void)
{
	if (getrandom(&lode_hash_key, sizeof(lode_hash_key), GRND_NONBLOCK) != (ssize_t)sizeof(lode_hash_key))
		make_up((unsigned char *)&lode_hash_key, sizeof(lode_hash_key));
	lode_hash_key.multiply[0] |= 1;
	lode_hash_key.multiply[1] |= 1;
}

uint64_t lode_hash_bytes(const void *bytes, size_t size)
{
	return XXH3_64bits_withSecret(bytes, size, lode_hash_key.secret, LODE_HASH_SECRET);
}

uint64_t lode_digest_bytes(const void *bytes, size_t size)
{
	return XXH3_64bits(bytes, size);
}
