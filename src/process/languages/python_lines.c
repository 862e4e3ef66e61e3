/*
 * Lines of Python frames: see python_lines.h.
 *
 * The table of a code object (co_linetable, the same since 3.11) has an entry for each run of instructions with one location. Its first
 * byte, the only one with the highest bit, has a kind and the number of instructions; what follows depends on the kind:
 *
 *	0 to 9    columns                       the line of the entry before
 *	10 to 12  columns                       0 to 2 lines later
 *	13        a number: lines later         no columns
 *	14        the same, then three numbers: end line and columns
 *	15        nothing                       no line
 *
 * A number is a sequence of bytes with six bits each, the lowest first; all but the last have bit 6. Of one that may be negative, the
 * lowest bit is the sign. An instruction has two bytes.
 */
#include "process/languages/python_lines.h"

/* Bytes of a table that are read: at a time, and at most. */
#define BLOCK_BYTES 512
#define TABLE_BYTES (1u << 18)
/* Of an object of bytes: how many they are, and where they are. */
#define BYTES_LENGTH 16
#define BYTES_START  32

struct table {
	const struct lode_process_memory *memory;
	uint32_t pid;
	uint64_t address; /* of what is not read yet */
	uint64_t left;
	unsigned char bytes[BLOCK_BYTES];
	size_t size;
	size_t at;
};

static int open_table(struct table *table, uint64_t object)
{
	unsigned char head[BYTES_START];
	size_t size = object ? table->memory->read(table->memory->context, table->pid, object, head, sizeof(head))
			     : 0;

	table->address = object + BYTES_START;
	table->left = lode_python_word_at(head, size, BYTES_LENGTH);
	return table->left && table->left <= TABLE_BYTES;
}

/* The next byte, which stays the next one with `peeks`; -1 at the end. */
static int next_byte(struct table *table, int peeks)
{
	if (table->at == table->size) {
		size_t wanted = table->left < BLOCK_BYTES ? table->left : BLOCK_BYTES;

		table->at = 0;
		table->size = wanted ? table->memory->read(table->memory->context, table->pid, table->address,
							   table->bytes, wanted)
				     : 0;
		table->address += table->size;
		table->left -= table->size;
		if (!table->size) {
			table->left = 0;
			return -1;
		}
	}
	return peeks ? table->bytes[table->at] : table->bytes[table->at++];
}

/* A number that may be negative. */
static int64_t next_number(struct table *table)
{
	uint64_t number = 0;

	for (unsigned shift = 0; shift < 36; shift += 6) {
		int byte = next_byte(table, 1);

		if (byte < 0 || byte & 0x80)
			break;
		next_byte(table, 0);
		number |= (uint64_t)(byte & 0x3f) << shift;
		if (!(byte & 0x40))
			break;
	}
	return number & 1 ? -(int64_t)(number >> 1) : (int64_t)(number >> 1);
}

static int64_t lines_later(struct table *table, unsigned kind)
{
	if (kind == 13 || kind == 14)
		return next_number(table);
	return kind >= 10 && kind <= 12 ? kind - 10 : 0;
}

/* The line of an instruction by its number; 0: it has none. */
static int64_t find_line(struct table *table, int64_t line, uint64_t instruction)
{
	for (int byte = next_byte(table, 0); byte >= 0; byte = next_byte(table, 0)) {
		unsigned kind = (unsigned)byte >> 3 & 15, length = ((unsigned)byte & 7) + 1;

		if (!(byte & 0x80)) /* columns of the entry before */
			continue;
		line += lines_later(table, kind);
		if (instruction < length)
			return kind == 15 ? 0 : line;
		instruction -= length;
	}
	return 0;
}

uint32_t lode_python_line(const struct lode_process_memory *memory, const struct lode_python_process *process,
			  uint64_t word, uint64_t position)
{
	const struct lode_python_lines *lines = &process->image->lines;
	struct table table = { .memory = memory, .pid = process->pid };
	uint64_t start = (word & LODE_LANGUAGE_ADDRESS) + lines->code_instructions;
	struct lode_python_code code;
	int64_t line;

	if (!lode_python_code(memory, process, word, &code))
		return 0;
	position &= LODE_LANGUAGE_ADDRESS;
	if (position < start) /* it has not begun */
		return code.line;
	if (!open_table(&table, lode_python_word_at(code.bytes, code.size, lines->code_table)))
		return 0;
	line = find_line(&table, code.line, (position - start) / 2);
	return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}
