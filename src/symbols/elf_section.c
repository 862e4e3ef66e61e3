/* Sections by name, and lists of symbols: what all readers of ELF files need. See elf.h. */
#include "symbols/elf.h"

#include "base/memory.h"

#include <string.h>

Elf_Scn *lode_elf_section(const struct lode_elf *elf, const char *name, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf->elf, &names) < 0)
		return NULL;
	while ((section = elf_nextscn(elf->elf, section))) {
		const char *found;

		if (!gelf_getshdr(section, header))
			continue;
		found = elf_strptr(elf->elf, names, header->sh_name);
		if (found && strcmp(found, name) == 0)
			return section;
	}
	return NULL;
}

void lode_elf_symbols_add(struct lode_elf_symbols *symbols, const struct lode_elf_symbol *symbol)
{
	if (symbols->count >= LODE_TABLE_LIMIT || LODE_PUSH(symbols, *symbol) < 0)
		symbols->failed = 1;
}
