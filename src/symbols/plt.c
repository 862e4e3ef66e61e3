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
	{EM_AARCH64, 32, 16}, {EM_386, 16, 16},	 {EM_ARM, 20, 12},
	{EM_RISCV, 32, 16},   {EM_S390, 32, 32}, {EM_LOONGARCH, 32, 16},
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

int lode_relocations_find(const struct lode_elf *elf, const char *name, struct lode_relocations *relocations)
{
	GElf_Shdr header;
	Elf_Scn *section = lode_elf_section(elf, name, &header);
	Elf_Scn *symbols;

	memset(relocations, 0, sizeof(*relocations));
	if (!section || !header.sh_entsize || !(relocations->data = elf_getdata(section, NULL)))
		return -1;
	relocations->with_addend = header.sh_type == SHT_RELA;
	relocations->count = relocations->data->d_size / header.sh_entsize;
	symbols = elf_getscn(elf->elf, header.sh_link);
	if (!symbols || !gelf_getshdr(symbols, &header))
		return 0;
	if (header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB) {
		relocations->symbols = elf_getdata(symbols, NULL);
		relocations->strings = header.sh_link;
	}
	return 0;
}

int lode_relocations_read(const struct lode_relocations *relocations, size_t i, GElf_Rela *relocation)
{
	GElf_Rel plain;

	if (relocations->with_addend)
		return gelf_getrela(relocations->data, (int)i, relocation) != NULL;
	if (!gelf_getrel(relocations->data, (int)i, &plain))
		return 0;
	*relocation = (GElf_Rela){plain.r_offset, plain.r_info, 0};
	return 1;
}

uint32_t lode_plt_name(const struct lode_elf *elf, const struct lode_relocations *relocations,
		       const GElf_Rela *relocation, struct lode_table_builder *builder)
{
	const char *target = NULL;
	GElf_Sym symbol;
	char text[1024];
	int length;

	if (relocations->symbols && GELF_R_SYM(relocation->r_info) &&
	    gelf_getsym(relocations->symbols, (int)GELF_R_SYM(relocation->r_info), &symbol))
		target = elf_strptr(elf->elf, relocations->strings, symbol.st_name);
	if (target && *target)
		length = snprintf(text, sizeof(text), "%s@plt", target);
	else
		length = snprintf(text, sizeof(text), "*ABS*+0x%llx@plt",
				  (unsigned long long)relocation->r_addend);
	if (length < 0 || (size_t)length >= sizeof(text))
		return LODE_NONE;
	return lode_table_name(builder, text, (size_t)length);
}

void lode_plt_add(struct lode_elf_symbols *symbols, uint64_t start, uint64_t size, uint32_t name)
{
	struct lode_elf_symbol entry = {
		.start = start,
		.end = start + size,
		.name = name,
		.binding = STB_GLOBAL,
		.type = STT_FUNC,
	};

	if (name != LODE_NONE && entry.end > entry.start)
		lode_elf_symbols_add(symbols, &entry);
}

void lode_elf_read_plt(const struct lode_elf *elf, struct lode_table_builder *builder,
		       struct lode_elf_symbols *symbols)
{
	size_t limit = builder->strings.size + LODE_PLT_NAMES_LIMIT;
	struct plt plt = {0};
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
