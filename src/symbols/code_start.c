/*
 * Where `main` is in a program that was stripped: the first instructions of the
 * program hand its address to the C library, in the first argument of the only
 * call they make. It is in them, or in a slot that the linker fills.
 */
#include "symbols/code_plan.h"

#include "symbols/plt.h"

#include <string.h>

/* Instructions, and bytes, of the start that are looked at. */
#define START_WORDS 20
#define START_BYTES 80

static uint64_t number_at(const struct lode_code_plan *plan, uint64_t address, size_t size)
{
	size_t left = 0;
	const unsigned char *bytes = lode_code_plan_bytes(plan, address, &left);
	uint64_t number = 0;

	if (bytes && left >= size)
		memcpy(&number, bytes, size);
	return number;
}

/* What a slot holds when the program runs, minus where the program was put. */
static uint64_t slot_value(const struct lode_code_plan *plan, uint64_t address)
{
	struct lode_relocations relocations;
	GElf_Rela relocation;
	GElf_Sym symbol;

	if (lode_relocations_find(&plan->elf, ".rela.dyn", &relocations) < 0)
		return number_at(plan, address, 8);
	for (size_t i = 0; i < relocations.count; i++) {
		if (!lode_relocations_read(&relocations, i, &relocation) || relocation.r_offset != address)
			continue;
		if (!GELF_R_SYM(relocation.r_info))
			return (uint64_t)relocation.r_addend;
		if (relocations.symbols &&
		    gelf_getsym(relocations.symbols, (int)GELF_R_SYM(relocation.r_info), &symbol))
			return symbol.st_value;
	}
	return number_at(plan, address, 8);
}

/* adrp and add, or adrp and ldr, into x0, before the first call. */
static uint64_t start_aarch64(const struct lode_code_plan *plan, uint64_t entry)
{
	uint64_t registers[32] = { 0 };

	for (uint64_t at = entry; at < entry + 4 * START_WORDS; at += 4) {
		uint32_t word = (uint32_t)number_at(plan, at, 4);
		unsigned to = word & 31, from = word >> 5 & 31;
		uint64_t scaled = word >> 10 & 0xfff;

		if ((word & 0xfc000000) == 0x94000000)
			return registers[0];
		if ((word & 0x9f000000) == 0x90000000) {
			uint64_t pages = (uint64_t)(word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3);

			pages |= pages & 0x100000 ? ~(uint64_t)0x1fffff : 0;
			registers[to] = (at & ~(uint64_t)0xfff) + (pages << 12);
		} else if ((word & 0xffc00000) == 0x91000000 && registers[from]) {
			registers[to] = registers[from] + scaled;
		} else if ((word & 0xffc00000) == 0xf9400000 && registers[from]) {
			registers[to] = slot_value(plan, registers[from] + 8 * scaled);
		}
	}
	return 0;
}

/* lea, or mov from a slot, or mov of a number, into rdi. */
static uint64_t start_x86_64(const struct lode_code_plan *plan, uint64_t entry)
{
	for (uint64_t at = entry; at < entry + START_BYTES; at++) {
		uint32_t opcode = (uint32_t)number_at(plan, at, 3);
		uint64_t wide = (uint64_t)(int64_t)(int32_t)number_at(plan, at + 3, 4);

		if (opcode == 0x3d8d48)
			return at + 7 + wide;
		if (opcode == 0x3d8b48)
			return slot_value(plan, at + 7 + wide);
		if (opcode == 0xc7c748)
			return wide;
	}
	return 0;
}

/* Where the start of the program was linked together with its C library, it goes through a separate jump.
 */
static uint64_t follow_jump(const struct lode_code_plan *plan, uint64_t address)
{
	for (uint64_t at = address; at < address + 8; at += 4) {
		uint32_t word = (uint32_t)number_at(plan, at, 4);
		int32_t away = (int32_t)(word << 6) >> 6;

		if ((word & 0xfc000000) == 0x14000000)
			return at + (uint64_t)((int64_t)away * 4);
	}
	return address;
}

uint64_t lode_code_start(const struct lode_code_plan *plan)
{
	uint64_t entry = plan->elf.header.e_entry, address = 0;

	if (entry && entry < UINT64_MAX - 4096 && plan->elf.header.e_machine == EM_AARCH64) {
		address = start_aarch64(plan, entry);
		if (address && address < UINT64_MAX - 8)
			address = follow_jump(plan, address);
	} else if (entry && entry < UINT64_MAX - 4096 && plan->elf.header.e_machine == EM_X86_64) {
		address = start_x86_64(plan, entry);
	}
	return address;
}
