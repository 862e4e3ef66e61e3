/*
 * The procedure linkage table: small pieces of code, one for each function that
 * is called in another file. No symbol names them; the relocations of .rela.plt
 * do, because the linker writes both in the same order. They become `name@plt`.
 */
#include "symbols/elf.h"

#include <stdio.h>
#include <string.h>

/* How a machine lays out its table: bytes before the first entry, bytes of an entry. */
struct layout {
	uint16_t machine;
	uint16_t head;
	uint16_t entry;
};

static const struct layout layouts[] = {
	{EM_AARCH64, 32, 16}, {EM_X86_64, 16, 16}, {EM_386, 16, 16},	   {EM_ARM, 20, 12},
	{EM_RISCV, 32, 16},   {EM_S390, 32, 32},   {EM_LOONGARCH, 32, 16},
};

struct plt {
	uint64_t start; /* of the first entry */
	uint64_t entry; /* bytes of one */
	uint64_t end;
	Elf_Data *relocations;
	size_t count;
	int with_addend;
	Elf_Data *symbols;
	size_t strings; /* section of their names */
};

/* x86 with branch tracking: calls go to .plt.sec, which has no head. */
static int find_second_table(const struct lode_elf *elf, struct plt *plt)
{
	GElf_Shdr header;

	if (elf->header.e_machine != EM_X86_64 && elf->header.e_machine != EM_386)
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
	if (elf->header.e_machine == EM_AARCH64 && plt->count &&
	    (header.sh_size - layout->head) / plt->count >= 24)
		plt->entry = 24;
	return 0;
}

static int find_relocations(const struct lode_elf *elf, struct plt *plt)
{
	GElf_Shdr header;
	Elf_Scn *section = lode_elf_section(elf, ".rela.plt", &header);
	Elf_Scn *symbols;

	if (!section)
		section = lode_elf_section(elf, ".rel.plt", &header);
	if (!section || !header.sh_entsize || !(plt->relocations = elf_getdata(section, NULL)))
		return -1;
	plt->with_addend = header.sh_type == SHT_RELA;
	plt->count = plt->relocations->d_size / header.sh_entsize;
	symbols = elf_getscn(elf->elf, header.sh_link);
	if (!symbols || !gelf_getshdr(symbols, &header))
		return 0;
	if (header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB) {
		plt->symbols = elf_getdata(symbols, NULL);
		plt->strings = header.sh_link;
	}
	return 0;
}

static int read_relocation(const struct plt *plt, size_t i, GElf_Rela *relocation)
{
	GElf_Rel plain;

	if (plt->with_addend)
		return gelf_getrela(plt->relocations, (int)i, relocation) != NULL;
	if (!gelf_getrel(plt->relocations, (int)i, &plain))
		return 0;
	*relocation = (GElf_Rela){plain.r_offset, plain.r_info, 0};
	return 1;
}

/* The name of entry `i`, into the builder; LODE_NONE without one. */
static uint32_t entry_name(const struct lode_elf *elf, const struct plt *plt, size_t i,
			   struct lode_table_builder *builder)
{
	const char *target = NULL;
	GElf_Rela relocation;
	GElf_Sym symbol;
	char text[1024];
	int length;

	if (!read_relocation(plt, i, &relocation))
		return LODE_NONE;
	if (plt->symbols && GELF_R_SYM(relocation.r_info) &&
	    gelf_getsym(plt->symbols, (int)GELF_R_SYM(relocation.r_info), &symbol))
		target = elf_strptr(elf->elf, plt->strings, symbol.st_name);
	if (target && *target)
		length = snprintf(text, sizeof(text), "%s@plt", target);
	else
		length = snprintf(text, sizeof(text), "*ABS*+0x%llx@plt",
				  (unsigned long long)relocation.r_addend);
	if (length < 0 || (size_t)length >= sizeof(text))
		return LODE_NONE;
	return lode_table_name(builder, text, (size_t)length);
}

/* Many relocations can name one long symbol: what their names may take in all. */
#define PLT_NAMES_LIMIT (64u << 20)

void lode_elf_read_plt(const struct lode_elf *elf, struct lode_table_builder *builder,
		       struct lode_elf_symbols *symbols)
{
	size_t limit = builder->strings.size + PLT_NAMES_LIMIT;
	struct plt plt = {0};

	if (find_relocations(elf, &plt) < 0 || find_code(elf, &plt) < 0)
		return;
	for (size_t i = 0; i < plt.count && plt.start < plt.end && builder->strings.size < limit; i++) {
		struct lode_elf_symbol entry = {
			.start = plt.start,
			.end = plt.start + plt.entry,
			.name = entry_name(elf, &plt, i, builder),
			.binding = STB_GLOBAL,
			.type = STT_FUNC,
		};

		if (entry.end <= entry.start || builder->failed)
			return;
		if (entry.name != LODE_NONE)
			lode_elf_symbols_add(symbols, &entry);
		plt.start = entry.end;
	}
}
