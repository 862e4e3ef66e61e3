/*
 * Cold parts: see cold_part.h.
 *
 * Jumps are found without decoding all instructions: on aarch64 every word is one, on x86-64 every byte is taken for the first of a
 * long jump. What is none leads anywhere, and hardly ever into a cold part, of which there are few.
 */
#include "symbols/cold_part.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"

/* Jumps that lead to a part by chance are fewer. */
#define MIN_JUMPS 2
/* No function is larger. */
#define CODE_LIMIT (16u << 20)

struct part {
	uint64_t start;
	uint64_t end;
	size_t jumps;
};

struct parts {
	LODE_ARRAY(struct part);
};

int lode_cfi_is_cold(const struct lode_cfi_function *function)
{
	struct lode_cursor program = function->program;
	uint8_t first = lode_cursor_u8(&program);

	return !program.failed && (first == DW_CFA_def_cfa || first == DW_CFA_def_cfa_offset ||
				   first == DW_CFA_def_cfa_register || (first & 0xc0) == DW_CFA_offset);
}

static int handle_function(void *context, const struct lode_cfi_function *function)
{
	struct parts *parts = context;

	if (!lode_cfi_is_cold(function))
		return 0;
	return LODE_PUSH(parts, (struct part){ function->start, function->end, 0 });
}

static int by_start(const void *one, const void *other)
{
	const struct part *a = one, *b = other;

	return a->start < b->start ? -1 : a->start > b->start;
}

static void count_jump(struct parts *parts, uint64_t target)
{
	size_t low = 0, high = parts->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (parts->items[middle].start <= target)
			low = middle + 1;
		else
			high = middle;
	}
	if (low && target < parts->items[low - 1].end)
		parts->items[low - 1].jumps++;
}

/* The signed number in the lowest `bits` bits. */
static int64_t extend(uint32_t number, unsigned bits)
{
	return (int64_t)((uint64_t)number << (64 - bits)) >> (64 - bits);
}

/* b, b.cond, cbz and cbnz, tbz and tbnz. */
static void count_aarch64(struct parts *parts, const unsigned char *code, size_t size, uint64_t address)
{
	for (size_t i = 0; i + 4 <= size; i += 4) {
		uint32_t word;
		int64_t distance = 0;

		memcpy(&word, code + i, sizeof(word));
		if (word >> 26 == 0x05)
			distance = extend(word & 0x3ffffff, 26);
		else if (word >> 24 == 0x54 || (word >> 25 & 0x3f) == 0x1a)
			distance = extend(word >> 5 & 0x7ffff, 19);
		else if ((word >> 25 & 0x3f) == 0x1b)
			distance = extend(word >> 5 & 0x3fff, 14);
		if (distance)
			count_jump(parts, address + i + (uint64_t)(distance * 4));
	}
}

/* jmp and jcc with 32 bits of distance. */
static void count_x86_64(struct parts *parts, const unsigned char *code, size_t size, uint64_t address)
{
	for (size_t i = 0; i + 6 <= size; i++) {
		size_t length = code[i] == 0xe9 ? 5 : code[i] == 0x0f && code[i + 1] >> 4 == 8 ? 6 : 0;
		int32_t distance;

		if (!length)
			continue;
		memcpy(&distance, code + i + length - 4, sizeof(distance));
		count_jump(parts, address + i + length + (uint64_t)(int64_t)distance);
	}
}

static int count_jumps(struct parts *parts, const struct lode_elf *elf, uint64_t start, uint64_t end)
{
	size_t size = end - start;
	unsigned char *code = lode_alloc(size);

	if (!code)
		return LODE_SYSTEM;
	if (!lode_elf_initial_bytes(elf, start, code, size))
		size = 0;
	if (elf->header.e_machine == EM_AARCH64)
		count_aarch64(parts, code, size, start);
	else if (elf->header.e_machine == EM_X86_64)
		count_x86_64(parts, code, size, start);
	lode_free(code);
	return 0;
}

int lode_elf_cold_part(const struct lode_elf *elf, uint64_t start, uint64_t end, uint64_t *cold_start,
		       uint64_t *cold_end)
{
	struct parts parts = { 0 };
	const struct part *best = NULL;
	int code = 0;

	if (end > start && end - start <= CODE_LIMIT)
		code = lode_cfi_walk(elf, ".eh_frame", handle_function, &parts);
	if (!code && parts.count) {
		qsort(parts.items, parts.count, sizeof(*parts.items), by_start);
		code = count_jumps(&parts, elf, start, end);
	}
	for (size_t i = 0; !code && i < parts.count; i++)
		if (parts.items[i].jumps >= MIN_JUMPS && (!best || parts.items[i].jumps > best->jumps))
			best = &parts.items[i];
	if (best) {
		*cold_start = best->start;
		*cold_end = best->end;
		code = 1;
	}
	lode_free(parts.items);
	return code;
}
