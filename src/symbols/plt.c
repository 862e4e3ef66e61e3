/*
 * The procedure linkage table: small pieces of code, one for each function that
 * is called in another file. No symbol names them; the relocations of .rela.plt
 * do. They become `name@plt`.
 *
 * On most machines the linker writes code and relocations in the same order. On
 * x86-64 it does not always: plt_x86_64.c reads the code instead.
 */
#include "symbols/plt.h"

#include <stdio.h>
#include <string.h>

/* How a machine lays out its table: bytes before the first entry, bytes of an entry. */
struct layout {
	uint16_t machine;
	uint16_t head;
	uint16_t entry;
};

static const struct layout layouts[] = {
	{ EM_AARCH64, 32, 16 }, { EM_386, 16, 16 },  { EM_ARM, 20, 12 },
	{ EM_RISCV, 32, 16 },   { EM_S390, 32, 32 }, { EM_LOONGARCH, 32, 16 },
};

struct plt {
	uint64_t start; /* of the first entry */
	uint64_t entry; /* bytes of one */
	uint64_t end;
	struct lode_relocations relocations;
};

/* i386 with branch tracking: calls go to .plt.sec, which has no head. */
static int find_second_table(const struct lode_elf *elf, struct plt *plt)
{
	GElf_Shdr header;

	if (elf->header.e_machine != EM_386)
		return 0;
	if (!lode_elf_section(elf, ".plt.sec", &header))
		return 0;
	plt->start = header.sh_addr;
	plt->end = header.sh_addr + header.sh_size;
	plt->entry = 16;
	return 1;
}

static int find_code(const struct lode_elf *elf, struct plt *plt)
{
	const struct layout *layout = NULL;
	GElf_Shdr header;

	if (find_second_table(elf, plt))
		return 0;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (layouts[i].machine == elf->header.e_machine)
			layout = &layouts[i];
	if (!layout || !lode_elf_section(elf, ".plt", &header) || header.sh_size < layout->head)
		return -1;
	plt->start = header.sh_addr + layout->head;
	plt->end = header.sh_addr + header.sh_size;
	plt->entry = layout->entry;
	/* aarch64 with pointer authentication or branch targets has longer entries. */
	if (elf->header.e_machine == EM_AARCH64 && plt->relocations.count &&
	    (header.sh_size - layout->head) / plt->relocations.count >= 24)
		plt->entry = 24;
	return 0;
}

void lode_elf_read_plt(const struct lode_elf *elf, struct lode_table_builder *builder,
		       struct lode_elf_symbols *symbols)
{
	size_t limit = builder->strings.size + LODE_PLT_NAMES_LIMIT;
	struct plt plt = { 0 };
	GElf_Rela relocation;

	if (elf->header.e_machine == EM_X86_64) {
		lode_plt_read_x86_64(elf, builder, symbols);
		return;
	}
	if (lode_relocations_find(elf, ".rela.plt", &plt.relocations) < 0 &&
	    lode_relocations_find(elf, ".rel.plt", &plt.relocations) < 0)
		return;
	if (find_code(elf, &plt) < 0)
		return;
	for (size_t i = 0; i < plt.relocations.count && plt.start < plt.end; i++) {
		uint32_t name = LODE_NONE;

		if (builder->strings.size >= limit || builder->failed)
			return;
		if (lode_relocations_read(&plt.relocations, i, &relocation))
			name = lode_plt_name(elf, &plt.relocations, &relocation, builder);
		lode_plt_add(symbols, plt.start, plt.entry, name);
		if (__builtin_add_overflow(plt.start, plt.entry, &plt.start))
			return;
	}
}
