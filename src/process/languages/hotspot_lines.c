/*
 * Lines of Java functions: see hotspot_lines.h.
 *
 * The table is a sequence of pairs, how many bytecodes and how many lines later than the one before: a byte with five and three bits,
 * or 255 and two packed numbers, whose lowest bit is the sign. 0 ends it. Lines may go back, and so may bytecodes: the last pair at
 * the bytecode or before it counts.
 */
#include "process/languages/hotspot_lines.h"

#include "process/languages/hotspot_numbers.h"

/* Bytes of a table that are read: at a time, and at most. */
#define BLOCK_BYTES 256
#define TABLE_BYTES (1u << 17)
/* In the flags of a ConstMethod: it has a table. */
#define HAS_LINES 1
/* In place of a pair: its numbers follow. */
#define LARGE_PAIR 0xff

struct table {
	const struct lode_hotspot *hotspot;
	const struct lode_process_memory *memory;
	uint64_t address; /* of the first byte in the block */
	uint64_t end;     /* of what may be read */
	size_t size;
	size_t at;
	unsigned char bytes[BLOCK_BYTES];
};

/* Has the next pair in the block, as far as memory can be read. Returns 0 at the end. */
static int fill(struct table *table)
{
	if (table->at + 1 + 2 * (size_t)LODE_HOTSPOT_NUMBER_BYTES <= table->size)
		return 1;
	table->address += table->at;
	table->at = table->size = 0;
	if (table->address < table->end)
		table->size = table->memory->read(table->memory->context, table->hotspot->pid, table->address,
						  table->bytes, sizeof(table->bytes));
	return table->size != 0;
}

static int32_t next_signed(struct table *table)
{
	uint32_t number = lode_hotspot_number_at(table->bytes, table->size, &table->at, table->hotspot->packed_add);

	return (int32_t)(number >> 1 ^ -(number & 1));
}

/* To the next pair. Returns 0 at the end of the table. */
static int next_pair(struct table *table, int32_t *bytecode, int32_t *line)
{
	unsigned byte;

	if (!fill(table) || !(byte = table->bytes[table->at++]))
		return 0;
	if (byte == LARGE_PAIR) {
		*bytecode = (int32_t)((uint32_t)*bytecode + (uint32_t)next_signed(table));
		*line = (int32_t)((uint32_t)*line + (uint32_t)next_signed(table));
	} else {
		*bytecode = (int32_t)((uint32_t)*bytecode + (byte >> 3));
		*line = (int32_t)((uint32_t)*line + (byte & 7));
	}
	return 1;
}

/* Where the bytecodes of a method begin, and behind them its table. Returns 0 when it has none. */
static int find_code(const struct lode_hotspot *hotspot, const struct lode_process_memory *memory, uint64_t method,
		     uint64_t *start, uint64_t *end)
{
	const uint32_t *offsets = hotspot->offsets;
	uint16_t size = 0, flags = 0;

	if (!offsets[LODE_HOTSPOT_CONST_CODE_SIZE] || !offsets[LODE_HOTSPOT_CONST_FLAGS])
		return 0;
	*start = method + hotspot->sizes[LODE_HOTSPOT_CONST_METHOD_SIZE];
	if (!lode_process_memory_read(memory, hotspot->pid, method + offsets[LODE_HOTSPOT_CONST_CODE_SIZE], &size,
				      sizeof(size)) ||
	    !lode_process_memory_read(memory, hotspot->pid, method + offsets[LODE_HOTSPOT_CONST_FLAGS], &flags,
				      sizeof(flags)))
		return 0;
	*end = *start + size;
	return flags & HAS_LINES;
}

uint32_t lode_hotspot_line(const struct lode_hotspot *hotspot, const struct lode_process_memory *memory,
			   uint64_t const_method, int32_t bytecode)
{
	struct table table = { .hotspot = hotspot, .memory = memory };
	int32_t at = 0, line = 0, best_at = 0, best = 0;
	uint64_t start;

	if (!find_code(hotspot, memory, const_method, &start, &table.address))
		return 0;
	table.end = table.address + TABLE_BYTES;
	if (bytecode < 0)
		bytecode = 0;
	while (next_pair(&table, &at, &line)) {
		if (at > bytecode || at < best_at)
			continue;
		best_at = at;
		best = line;
	}
	return best > 0 ? (uint32_t)best : 0;
}

uint32_t lode_hotspot_position_line(const struct lode_hotspot *hotspot, const struct lode_process_memory *memory,
				    uint64_t word, uint64_t position)
{
	uint64_t method = word & LODE_LANGUAGE_ADDRESS, const_method, start, end;

	position &= LODE_LANGUAGE_ADDRESS;
	if (!lode_process_memory_read(memory, hotspot->pid, method + hotspot->code.method_const, &const_method,
				      sizeof(const_method)) ||
	    !find_code(hotspot, memory, const_method, &start, &end) || position < start || position >= end)
		return 0;
	return lode_hotspot_line(hotspot, memory, const_method, (int32_t)(position - start));
}
