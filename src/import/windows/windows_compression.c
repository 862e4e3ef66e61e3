/*
 * Compressions of Windows: see windows_compression.h. Every read and every copy is checked against what there is;
 * a match may overlap its own output, so it is copied byte by byte.
 */
#include "import/windows/windows_compression.h"

#include "base/cursor.h"
#include "base/error.h"

/* Where the output is and how much of it is written. */
struct target {
	unsigned char *bytes;
	size_t size;
	size_t at;
};

static int copy_match(struct target *target, uint64_t distance, uint64_t length)
{
	if (!distance || distance > target->at || length > target->size - target->at)
		return LODE_BAD_INPUT;
	for (; length; length--, target->at++)
		target->bytes[target->at] = target->bytes[target->at - distance];
	return 0;
}

/* ---- plain XPRESS ---- */

/*
 * The rest of a length whose three bits are all set: a nibble, half of a byte that two lengths share, then a byte,
 * two or four.
 */
static uint64_t read_long_length(struct lode_cursor *in, const unsigned char **half)
{
	uint64_t length;

	if (*half) {
		length = **half >> 4;
		*half = NULL;
	} else {
		*half = in->next;
		length = lode_cursor_u8(in) & 15;
	}
	if (length < 15)
		return length + 7;
	length = lode_cursor_u8(in);
	if (length < 255)
		return length + 15 + 7;
	length = lode_cursor_u16(in);
	if (!length)
		length = lode_cursor_u32(in);
	in->failed |= length < 15 + 7;
	return length;
}

static int unpack_xpress(struct lode_cursor in, struct target *target)
{
	const unsigned char *half = NULL;
	uint32_t flags = 0;
	unsigned left = 0;

	while (target->at < target->size && !in.failed) {
		if (!left) {
			flags = lode_cursor_u32(&in);
			left = 32;
		}
		if (flags >> --left & 1) {
			unsigned match = lode_cursor_u16(&in);
			uint64_t length = match & 7;

			if (length == 7)
				length = read_long_length(&in, &half);
			if (in.failed || copy_match(target, (match >> 3) + 1, length + 3) < 0)
				return LODE_BAD_INPUT;
		} else {
			target->bytes[target->at++] = lode_cursor_u8(&in);
		}
	}
	return in.failed ? LODE_BAD_INPUT : 0;
}

/* ---- LZNT1 ---- */

/* One of up to 4 KiB of output. The split of a match's 16 bits depends on how far into it the output is. */
static int unpack_chunk(struct lode_cursor in, struct target *target)
{
	size_t start = target->at;

	while (lode_cursor_left(&in) && target->at < target->size) {
		unsigned flags = lode_cursor_u8(&in);

		for (unsigned i = 0; i < 8 && lode_cursor_left(&in) && target->at < target->size; i++) {
			unsigned match, bits = 12;

			if (!(flags >> i & 1)) {
				target->bytes[target->at++] = lode_cursor_u8(&in);
				continue;
			}
			match = lode_cursor_u16(&in);
			if (in.failed || target->at == start || target->at - start > 4096)
				return LODE_BAD_INPUT;
			for (size_t place = target->at - start - 1; place >= 16; place >>= 1)
				bits--;
			if ((match >> bits) + 1 > target->at - start ||
			    copy_match(target, (match >> bits) + 1, (match & ((1u << bits) - 1)) + 3) < 0)
				return LODE_BAD_INPUT;
		}
	}
	return 0;
}

static int unpack_lznt1(struct lode_cursor in, struct target *target)
{
	while (target->at < target->size) {
		unsigned head = lode_cursor_u16(&in), size = (head & 0xfff) + 1;
		const unsigned char *chunk = lode_cursor_bytes(&in, size);

		if (!head || !chunk)
			return LODE_BAD_INPUT;
		if (head & 0x8000) {
			if (unpack_chunk(lode_cursor(chunk, size), target) < 0)
				return LODE_BAD_INPUT;
			continue;
		}
		if (size > target->size - target->at)
			size = (unsigned)(target->size - target->at);
		memcpy(target->bytes + target->at, chunk, size);
		target->at += size;
	}
	return 0;
}

/* ---- XPRESS with Huffman codes ---- */

#define SYMBOLS    512
#define CODE_BITS  15
#define BLOCK_SIZE 65536

struct huffman {
	struct lode_cursor in;
	uint32_t bits; /* the next ones, the first on top */
	int extra;     /* of them beyond the first 16 */
	unsigned char lengths[SYMBOLS];
	uint16_t symbols[1 << CODE_BITS]; /* by the next 15 bits */
};

static int read_codes(struct huffman *huffman)
{
	const unsigned char *table = lode_cursor_bytes(&huffman->in, SYMBOLS / 2);
	size_t filled = 0;

	if (!table)
		return LODE_BAD_INPUT;
	for (unsigned i = 0; i < SYMBOLS; i++)
		huffman->lengths[i] = i & 1 ? table[i / 2] >> 4 : table[i / 2] & 15;
	for (unsigned length = 1; length <= CODE_BITS; length++) {
		for (unsigned i = 0; i < SYMBOLS; i++) {
			size_t count = (size_t)1 << (CODE_BITS - length);

			if (huffman->lengths[i] != length)
				continue;
			if (count > sizeof(huffman->symbols) / sizeof(*huffman->symbols) - filled)
				return LODE_BAD_INPUT;
			while (count--)
				huffman->symbols[filled++] = (uint16_t)i;
		}
	}
	return filled == sizeof(huffman->symbols) / sizeof(*huffman->symbols) ? 0 : LODE_BAD_INPUT;
}

static void skip_bits(struct huffman *huffman, unsigned count)
{
	huffman->bits = count < 32 ? huffman->bits << count : 0;
	huffman->extra -= (int)count;
	if (huffman->extra < 0) {
		/* behind the last code there need not be 16 bits any more */
		if (lode_cursor_left(&huffman->in) >= 2)
			huffman->bits |= (uint32_t)lode_cursor_u16(&huffman->in) << -huffman->extra;
		huffman->extra += 16;
	}
}

static int unpack_match(struct huffman *huffman, struct target *target, unsigned symbol)
{
	uint64_t length = symbol & 15, distance;
	unsigned distance_bits = symbol >> 4;

	if (length == 15) {
		length = lode_cursor_u8(&huffman->in);
		if (length == 255) {
			length = lode_cursor_u16(&huffman->in);
			if (!length)
				length = lode_cursor_u32(&huffman->in);
			if (length < 15)
				return LODE_BAD_INPUT;
			length -= 15;
		}
		length += 15;
	}
	distance = (uint64_t)1 << distance_bits;
	if (distance_bits)
		distance += huffman->bits >> (32 - distance_bits);
	skip_bits(huffman, distance_bits);
	return huffman->in.failed ? LODE_BAD_INPUT : copy_match(target, distance, length + 3);
}

static int unpack_block(struct huffman *huffman, struct target *target)
{
	size_t end = target->size - target->at > BLOCK_SIZE ? target->at + BLOCK_SIZE : target->size;

	if (read_codes(huffman) < 0)
		return LODE_BAD_INPUT;
	huffman->bits = (uint32_t)lode_cursor_u16(&huffman->in) << 16;
	huffman->bits |= lode_cursor_u16(&huffman->in);
	huffman->extra = 16;
	while (target->at < end && !huffman->in.failed) {
		unsigned symbol = huffman->symbols[huffman->bits >> (32 - CODE_BITS)];

		skip_bits(huffman, huffman->lengths[symbol]);
		if (symbol < 256)
			target->bytes[target->at++] = (unsigned char)symbol;
		else if (unpack_match(huffman, target, symbol - 256) < 0)
			return LODE_BAD_INPUT;
	}
	return huffman->in.failed ? LODE_BAD_INPUT : 0;
}

static int unpack_huffman(struct lode_cursor in, struct target *target)
{
	struct huffman huffman = { .in = in };
	int code = 0;

	while (code == 0 && target->at < target->size)
		code = unpack_block(&huffman, target);
	return code;
}

int lode_windows_unpack(enum lode_windows_compression compression, const unsigned char *bytes, size_t size,
			unsigned char *out, size_t out_size)
{
	struct target target = { out, out_size, 0 };

	switch (compression) {
	case LODE_LZNT1:
		return unpack_lznt1(lode_cursor(bytes, size), &target);
	case LODE_XPRESS:
		return unpack_xpress(lode_cursor(bytes, size), &target);
	case LODE_XPRESS_HUFFMAN:
		return unpack_huffman(lode_cursor(bytes, size), &target);
	}
	return LODE_BAD_INPUT;
}
