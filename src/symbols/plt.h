/*
 * Procedure linkage tables: what their readers share. Private to plt*.c.
 */
#ifndef LODE_SYMBOLS_PLT_H
#define LODE_SYMBOLS_PLT_H

#include "symbols/elf.h"

/* Many relocations can name one long symbol: what their names may take in all. */
#define LODE_PLT_NAMES_LIMIT (64u << 20)

/* A section of relocations with the symbols that it speaks of. */
struct lode_relocations {
	Elf_Data *data;
	size_t count;
	int with_addend;
	Elf_Data *symbols;
	size_t strings; /* section of their names */
};

/* Returns 0, or -1 when there is no section of this name that can be read. */
int lode_relocations_find(const struct lode_elf *elf, const char *name, struct lode_relocations *relocations);
int lode_relocations_read(const struct lode_relocations *relocations, size_t i, GElf_Rela *relocation);
/* The name of the entry that jumps to where `relocation` leads, into the builder; LODE_NONE without one. */
uint32_t lode_plt_name(const struct lode_elf *elf, const struct lode_relocations *relocations,
		       const GElf_Rela *relocation, struct lode_table_builder *builder);
void lode_plt_add(struct lode_elf_symbols *symbols, uint64_t start, uint64_t size, uint32_t name);

/* The entries of an x86-64 file (plt_x86_64.c). */
void lode_plt_read_x86_64(const struct lode_elf *elf, struct lode_table_builder *builder,
			  struct lode_elf_symbols *symbols);

#endif
