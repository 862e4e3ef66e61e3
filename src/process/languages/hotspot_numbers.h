/*
 * Packed numbers, as HotSpot keeps them in what describes code: up to five bytes, of six bits each but for the first; one below
 * `END` ends. Since OpenJDK 20 bytes are larger by 1, so that none is 0.
 */
#ifndef LODE_PROCESS_LANGUAGES_HOTSPOT_NUMBERS_H
#define LODE_PROCESS_LANGUAGES_HOTSPOT_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#define LODE_HOTSPOT_NUMBER_BYTES 5
#define LODE_HOTSPOT_NUMBER_END   192

/* The number from *at on, of `size` bytes; `add`: what bytes are larger by. */
static inline uint32_t lode_hotspot_number_at(const unsigned char *bytes, size_t size, size_t *at, unsigned add)
{
	uint32_t number = 0;

	for (unsigned i = 0; i < LODE_HOTSPOT_NUMBER_BYTES && *at < size; i++) {
		unsigned byte = bytes[(*at)++];

		number += (byte - add) << 6 * i;
		if (byte < LODE_HOTSPOT_NUMBER_END)
			break;
	}
	return number;
}

#endif
