/*
 * The procedure linkage tables of x86-64: see plt.c.
 *
 * There are up to four: .plt; .plt.sec, to which calls go when branches are
 * tracked; .plt.got, for functions whose address is taken as well; .iplt, for
 * functions that are chosen at the start. The linker puts entries of chosen
 * functions among the others but their relocations after them, so counting
 * entries gives wrong names; all variants of libc's memcpy are of this kind. So
 * the code is read: an entry jumps through a slot whose address it holds, and
 * the relocation that fills this slot has the name. The head of .plt has a slot
 * too, which no relocation fills.
 */
#include "symbols/plt.h"

#include "base/bisect.h"
#include "base/memory.h"
#include "base/sort_order.h"

#include <string.h>

/* The relocations that fill slots, of both sections. */
struct slots {
	uint64_t *addresses;
	size_t address_capacity;
	uint32_t *numbers; /* of the relocation, plus FROM_DYNAMIC where it is of .rela.dyn */
	size_t number_capacity;
	uint32_t *order; /* by address */
	size_t count;
	int failed;
	struct lode_relocations relocations[2]; /* .rela.plt, .rela.dyn */
};

#define FROM_DYNAMIC 0x80000000u

static int fills_slot(const GElf_Rela *relocation)
{
	switch (GELF_R_TYPE(relocation->r_info)) {
	case R_X86_64_JUMP_SLOT:
	case R_X86_64_GLOB_DAT:
	case R_X86_64_IRELATIVE:
		return 1;
	default:
		return 0;
	}
}

static void add_slot(struct slots *slots, uint64_t address, uint32_t number)
{
	if (LODE_GROW(slots->addresses, slots->address_capacity, slots->count + 1) < 0 ||
	    LODE_GROW(slots->numbers, slots->number_capacity, slots->count + 1) < 0) {
		slots->failed = 1;
		return;
	}
	slots->addresses[slots->count] = address;
	slots->numbers[slots->count++] = number;
}

static void read_slots(const struct lode_elf *elf, const char *name, uint32_t mark, struct slots *slots)
{
	struct lode_relocations *relocations = &slots->relocations[mark != 0];
	GElf_Rela relocation;

	if (lode_relocations_find(elf, name, relocations) < 0)
		return;
	for (size_t i = 0; i < relocations->count && i < LODE_TABLE_LIMIT && !slots->failed; i++)
		if (lode_relocations_read(relocations, i, &relocation) && fills_slot(&relocation))
			add_slot(slots, relocation.r_offset, (uint32_t)i | mark);
}

static void sort_slots(struct slots *slots)
{
	slots->order = lode_realloc(NULL, slots->count, sizeof(*slots->order));
	if (!slots->order || lode_sort_order(slots->addresses, slots->count, slots->order) < 0)
		slots->failed = 1;
}

/* The relocation that fills the slot at `address`; LODE_NONE without one. */
static uint32_t find_slot(const struct slots *slots, uint64_t address)
{
	size_t low = LODE_BISECT(i, 0, slots->count, slots->addresses[slots->order[i]] < address);
	if (low == slots->count || slots->addresses[slots->order[low]] != address)
		return LODE_NONE;
	return slots->numbers[slots->order[low]];
}

/*
 * The slot through which the entry at `address` jumps: `jmp *distance(%rip)`, with
 * endbr64 or a bnd prefix before it or not. Returns 0 for other code.
 */
static int read_jump(const unsigned char *code, size_t size, uint64_t address, uint64_t *slot)
{
	static const unsigned char endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t at = 0;
	int32_t distance;

	if (size >= sizeof(endbr64) && memcmp(code, endbr64, sizeof(endbr64)) == 0)
		at += sizeof(endbr64);
	if (at < size && code[at] == 0xf2)
		at++;
	if (size - at < 6 || code[at] != 0xff || code[at + 1] != 0x25)
		return 0;
	memcpy(&distance, code + at + 2, sizeof(distance));
	*slot = address + at + 6 + (uint64_t)(int64_t)distance;
	return 1;
}

static uint32_t name_of_slot(const struct lode_elf *elf, const struct slots *slots, uint64_t address,
			     struct lode_table_builder *builder)
{
	uint32_t number = find_slot(slots, address);
	const struct lode_relocations *relocations;
	GElf_Rela relocation;

	if (number == LODE_NONE)
		return LODE_NONE;
	relocations = &slots->relocations[(number & FROM_DYNAMIC) != 0];
	if (!lode_relocations_read(relocations, number & ~FROM_DYNAMIC, &relocation))
		return LODE_NONE;
	return lode_plt_name(elf, relocations, &relocation, builder);
}

static void read_table(const struct lode_elf *elf, const char *name, const struct slots *slots, size_t limit,
		       struct lode_table_builder *builder, struct lode_elf_symbols *symbols)
{
	GElf_Shdr header = { 0 };
	Elf_Scn *section = lode_elf_section(elf, name, &header);
	Elf_Data *data = section && header.sh_type != SHT_NOBITS ? elf_rawdata(section, NULL) : NULL;
	size_t entry = strcmp(name, ".plt.got") == 0 && header.sh_entsize != 16 ? 8 : 16;
	uint64_t slot;

	if (!data || !data->d_buf)
		return;
	for (size_t at = 0; at + entry <= data->d_size; at += entry) {
		uint64_t address = header.sh_addr + at;

		if (builder->strings.size >= limit || builder->failed || symbols->failed)
			return;
		if (read_jump((const unsigned char *)data->d_buf + at, entry, address, &slot))
			lode_plt_add(symbols, address, entry, name_of_slot(elf, slots, slot, builder));
	}
}

void lode_plt_read_x86_64(const struct lode_elf *elf, struct lode_table_builder *builder,
			  struct lode_elf_symbols *symbols)
{
	static const char *const tables[] = { ".plt", ".plt.sec", ".plt.got", ".iplt" };
	size_t limit = builder->strings.size + LODE_PLT_NAMES_LIMIT;
	struct slots slots = { 0 };

	read_slots(elf, ".rela.plt", 0, &slots);
	read_slots(elf, ".rela.dyn", FROM_DYNAMIC, &slots);
	if (slots.count)
		sort_slots(&slots);
	for (size_t i = 0; slots.count && !slots.failed && i < sizeof(tables) / sizeof(tables[0]); i++)
		read_table(elf, tables[i], &slots, limit, builder, symbols);
	if (slots.failed)
		symbols->failed = 1;
	lode_free(slots.addresses);
	lode_free(slots.numbers);
	lode_free(slots.order);
}
