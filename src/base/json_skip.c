/*
 * Finds the closing bracket of a JSON value, 64 bytes at a time; see json_skip.h.
 *
 * Importers look up a few members of large objects, so most bytes of a document are
 * skipped more often than read. Each block becomes four masks with one bit per byte:
 * quotes, backslashes, opening and closing brackets. A quote that is not escaped
 * toggles "inside a string", which a prefix XOR of the quotes gives for all 64 bytes at
 * once; brackets inside strings do not count (Langdale and Lemire, "Parsing Gigabytes of
 * JSON per Second", VLDB Journal 2019, section 3.1).
 *
 * Blocks are aligned, so a load never touches a page that the text is not on, although it
 * may read bytes before and behind the text. Those have no effect: bits before the start
 * are cleared, and the closing bracket comes before the end.
 */
#include "base/json_skip.h"

#include "base/json_block.h"

#include <stddef.h>
#include <stdint.h>

#define BLOCK_SIZE LODE_JSON_BLOCK

/* '[' and '{', ']' and '}' differ in this bit only. */
#define BRACE_BIT 0x20

struct masks {
	uint64_t quotes, backslashes, opening, closing;
};

static struct masks read_block(const char *start)
{
	struct lode_json_block block = lode_json_block(start), folded = lode_json_block_or(&block, BRACE_BIT);

	return (struct masks){ lode_json_block_equal(&block, '"'), lode_json_block_equal(&block, '\\'),
			       lode_json_block_equal(&folded, '{'), lode_json_block_equal(&folded, '}') };
}

/* The bytes that follow an escaping backslash; `*carry` says whether the first byte of a block is one. */
static uint64_t find_escaped(uint64_t backslashes, unsigned *carry)
{
	uint64_t escaped = *carry;

	backslashes &= ~escaped;
	*carry = 0;
	while (backslashes) {
		uint64_t next = (backslashes & -backslashes) << 1;

		*carry = !next;
		escaped |= next;
		backslashes &= backslashes - 1;
		backslashes &= ~next;
	}
	return escaped;
}

/* Bit i is the XOR of the bits 0 to i. */
static uint64_t prefix_xor(uint64_t bits)
{
	for (int shift = 1; shift < 64; shift *= 2)
		bits ^= bits << shift;
	return bits;
}

/* The bracket that takes `*depth` to 0, as a bit; 0 where none of these does. */
static uint64_t find_end(uint64_t opening, uint64_t closing, size_t *depth)
{
	size_t ends = closing ? (size_t)__builtin_popcountll(closing) : 0;

	if (*depth > ends) { /* too deep to get out here */
		*depth += (size_t)__builtin_popcountll(opening) - ends;
		return 0;
	}
	for (uint64_t brackets = opening | closing; brackets; brackets &= brackets - 1) {
		uint64_t bracket = brackets & -brackets;

		*depth += opening & bracket ? 1 : (size_t)-1;
		if (!*depth)
			return bracket;
	}
	return 0;
}

const char *lode_json_skip_brackets(const char *at)
{
	size_t before = (uintptr_t)at % BLOCK_SIZE, depth = 0;
	uint64_t wanted = UINT64_MAX << before, in_text = 0, end;
	unsigned carry = 0;

	for (const char *block = at - before;; block += BLOCK_SIZE, wanted = UINT64_MAX) {
		struct masks masks = read_block(block);
		uint64_t quotes = masks.quotes & wanted & ~find_escaped(masks.backslashes & wanted, &carry);
		uint64_t text = prefix_xor(quotes) ^ in_text, brackets = wanted & ~text;

		in_text = text >> 63 ? UINT64_MAX : 0;
		end = find_end(masks.opening & brackets, masks.closing & brackets, &depth);
		if (end)
			return block + __builtin_ctzll(end) + 1;
	}
}
