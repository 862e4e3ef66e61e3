/*
 * SHA-256: see sha256.h. Own code, because no library that Lode is linked with has it, and one of cryptography would be a
 * large dependency for a digest of a hundred bytes.
 */
#include "base/sha256.h"

#include "base/hex.h"

#include <stdint.h>
#include <string.h>

#define BLOCK 64

static const uint32_t constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t word, unsigned bits)
{
	return word >> bits | word << (32 - bits);
}

static void expand(const unsigned char block[BLOCK], uint32_t words[64])
{
	for (int i = 0; i < 16; i++)
		words[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
			   (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < 64; i++) {
		uint32_t early = words[i - 15], late = words[i - 2];

		words[i] = words[i - 16] + (rotate(early, 7) ^ rotate(early, 18) ^ early >> 3) + words[i - 7] +
			   (rotate(late, 17) ^ rotate(late, 19) ^ late >> 10);
	}
}

static void compress(uint32_t state[8], const unsigned char block[BLOCK])
{
	uint32_t words[64], work[8];

	expand(block, words);
	memcpy(work, state, sizeof(work));
	for (int i = 0; i < 64; i++) {
		uint32_t a = work[0], e = work[4];
		uint32_t choice = (e & work[5]) ^ (~e & work[6]);
		uint32_t majority = (a & work[1]) ^ (a & work[2]) ^ (work[1] & work[2]);
		uint32_t first = work[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choice + constants[i] +
				 words[i];
		uint32_t second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority;

		memmove(work + 1, work, 7 * sizeof(*work));
		work[4] += first;
		work[0] = first + second;
	}
	for (int i = 0; i < 8; i++)
		state[i] += work[i];
}

void lode_sha256(const void *bytes, size_t size, char digest[LODE_SHA256_TEXT])
{
	uint32_t state[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
			      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
	unsigned char last[2 * BLOCK] = { 0 }, result[32];
	const unsigned char *from = bytes;
	size_t left = size, padded;

	for (; left >= BLOCK; left -= BLOCK, from += BLOCK)
		compress(state, from);
	if (left)
		memcpy(last, from, left);
	last[left] = 0x80;
	padded = left < BLOCK - 8 ? BLOCK : 2 * BLOCK;
	for (int i = 0; i < 8; i++)
		last[padded - 1 - (size_t)i] = (unsigned char)((uint64_t)size * 8 >> 8 * i);
	for (size_t at = 0; at < padded; at += BLOCK)
		compress(state, last + at);
	for (int i = 0; i < 32; i++)
		result[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
	lode_hex(digest, result, sizeof(result));
}
