/* Hashes: see hash.h. */
#include "base/hash.h"

#include "base/clock.h"
#include "base/random.h"

#include <sys/random.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

struct lode_hash_key lode_hash_key;

/* Where the system has no random numbers, addresses and the time are better than nothing. */
static void make_up(unsigned char *bytes, size_t size)
{
	uint64_t state = (uint64_t)(uintptr_t)&bytes ^ (uint64_t)getpid() << 32;

	state ^= lode_now() * 0x9e3779b97f4a7c15u;
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
