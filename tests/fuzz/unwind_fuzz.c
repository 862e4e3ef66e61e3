/*
 * Unwind tables from a cache file, and walks by their rules: each input is tried as it
 * is, and with its size and checksum repaired. Whatever the rules say, a walk ends and only
 * code becomes a frame. What tables are made from is fuzzed as ELF files (elf_fuzz.c).
 */
#include "repaired.h"

#include "base/error.h"
#include "process/unwinder.h"

#include <elf.h>

#define CODE  0x400000u
#define STACK 0x7ffff0000000u

struct walk {
	const struct lode_unwind_table *table;
	const uint8_t *bytes; /* of the stack, over and over */
	size_t size;
};

static int read_word(void *context, uint64_t address, uint64_t *word)
{
	const struct walk *walk = context;
	uint8_t bytes[8];

	if (address < STACK || address - STACK > 65536 || !walk->size)
		return 0;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = walk->bytes[(address - STACK + i) % walk->size];
	memcpy(word, bytes, sizeof(*word));
	/* Half of all words lead somewhere. */
	if (*word & 1)
		*word = *word & 2 ? CODE + (*word >> 8 & 0xffff) : STACK + (*word >> 8 & 0xfff8);
	return 1;
}

static int find_code(void *context, uint64_t address, const struct lode_unwind_table **table,
		     uint64_t *image_address)
{
	const struct walk *walk = context;

	*table = address & 0x1000 ? NULL : walk->table;
	*image_address = walk->table->base + (address - CODE);
	return address >= CODE && address < CODE + 0x20000;
}

static void walk_stack(struct walk *walk, uint64_t pc, uint32_t machine)
{
	struct lode_unwind_source source = { walk, read_word, find_code, NULL };
	struct lode_unwind_registers registers = { .pc = pc,
						   .sp = STACK,
						   .fp = STACK + 64,
						   .link = CODE + 77,
						   .scratch = STACK + 128,
						   .machine = machine };
	struct lode_unwind_frame frames[600];
	struct lode_unwound unwound;
	int count = lode_unwind(&source, &registers, frames, 600, &unwound);

	fuzz_require(count >= 1 && count <= 600, "a walk has frames");
	for (int i = 1; i < count; i++)
		fuzz_require(frames[i].address >= CODE && frames[i].address < CODE + 0x20000,
			     "callers are addresses of code");
}

static void try_bytes(const uint8_t *bytes, size_t size)
{
	struct lode_unwind_table table;
	struct walk walk = { &table, bytes, size };
	uint64_t shift;

	if (lode_unwind_table_parse(&table, bytes, size) < 0)
		return;
	for (size_t i = 0; i < table.count && i < 500; i++) {
		fuzz_require(lode_unwind_table_find(&table, table.base + table.starts[i]) != NULL, "a rule");
		walk_stack(&walk, CODE + (table.starts[i] & 0xffff), i & 1 ? EM_AARCH64 : EM_X86_64);
	}
	lode_unwind_table_find(&table, UINT64_MAX);
	for (uint64_t offset = 0; offset < 0x20000; offset += 0x800) {
		lode_unwind_table_address(&table, offset);
		lode_unwind_table_shift(&table, offset, 0x1000, &shift);
	}
	lode_unwind_table_release(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	try_repaired(bytes, size, 72, try_bytes);
	return 0;
}
