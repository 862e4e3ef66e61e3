/* Relocations and names of entries, for all machines: see plt.h. */
#include "symbols/plt.h"

#include <stdio.h>
#include <string.h>

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
	*relocation = (GElf_Rela){ plain.r_offset, plain.r_info, 0 };
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
		length = snprintf(text, sizeof(text), "*ABS*+0x%llx@plt", (unsigned long long)relocation->r_addend);
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
