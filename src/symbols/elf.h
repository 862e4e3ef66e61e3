/*
 * ELF files: opening them, and reading what a symbol table is made of.
 *
 * The readers append to a lode_table_builder; the order of the calls decides
 * who owns an address (later wins): lode_elf_read_frames before the symbols.
 * A handle is for one thread at a time.
 */
#ifndef LODE_SYMBOLS_ELF_H
#define LODE_SYMBOLS_ELF_H

#include "base/array.h"
#include "symbols/symbol_table.h"

#include <gelf.h>

/* Hexadecimal digits of the longest build-id that is read, and a NUL. */
#define LODE_BUILD_ID_TEXT 129

struct lode_elf {
	Elf *elf;
	int fd; /* -1 for memory */
	GElf_Ehdr header;
};

/*
 * Opens a plain file that is an ELF file. Returns 0, or a negative code when it
 * is not there, is none, or cannot be read. Never waits for a pipe or a device.
 */
int lode_elf_open(struct lode_elf *elf, const char *path);
/* The same over bytes in memory, which must outlive it (the vDSO, fuzzing). */
int lode_elf_memory(struct lode_elf *elf, void *bytes, size_t size);
void lode_elf_close(struct lode_elf *elf);

/* The build-id in hexadecimal, "" without one. */
void lode_elf_build_id(const struct lode_elf *elf, char text[LODE_BUILD_ID_TEXT]);
/* The first section of this name, with its header; NULL without one. */
Elf_Scn *lode_elf_section(const struct lode_elf *elf, const char *name, GElf_Shdr *header);
/* Whether there is a .symtab with something in it, a .dynsym, a .debug_info. */
int lode_elf_has_symtab(const struct lode_elf *elf);
int lode_elf_has_dynsym(const struct lode_elf *elf);
int lode_elf_has_dwarf(const struct lode_elf *elf);

/* Whether code is loaded of which the file has not all: it is a debug file. */
int lode_elf_lacks_code(const struct lode_elf *elf);
/* The mapped parts. `guess`: this is a debug file, whose offsets are not the binary's. */
void lode_elf_read_loads(const struct lode_elf *elf, int guess, struct lode_table_builder *builder);
/*
 * The functions of .symtab, else of .gnu_debugdata together with .dynsym, else
 * of .dynsym; the entries of the procedure linkage table from `binary`, which
 * may be the same, or NULL. Returns 0, or LODE_SYSTEM when memory ran out.
 */
int lode_elf_read_symbols(const struct lode_elf *elf, const struct lode_elf *binary,
			  struct lode_table_builder *builder);
/* The bounds of functions from .eh_frame, without names: a stripped file still has them (cfi.c). */
void lode_elf_read_frames(const struct lode_elf *elf, struct lode_table_builder *builder);

/* The value of the first symbol called `name` in .symtab; 0 without one. */
uint64_t lode_elf_symbol_value(const struct lode_elf *elf, const char *name);
/* Whether other binaries get something of this name from the file, by its .dynsym. */
int lode_elf_exports(const struct lode_elf *elf, const char *name);
/* The same; `symbol` is what they get. */
int lode_elf_exported(const struct lode_elf *elf, const char *name, GElf_Sym *symbol);
/*
 * Calls `visit` with each symbol that other binaries may get from the file, until it returns non-zero, which is returned; else 0.
 */
int lode_elf_each_export(const struct lode_elf *elf,
			 int (*visit)(void *context, const char *name, const GElf_Sym *symbol), void *context);
/* The offset in the file of an address. Returns 1, or 0 when it is in no part that is loaded from the file. */
int lode_elf_offset_of(const struct lode_elf *elf, uint64_t address, uint64_t *offset);
/* Copies what the file has for the memory at an address. Returns 1, or 0 when it has not all of it. */
int lode_elf_initial_bytes(const struct lode_elf *elf, uint64_t address, void *bytes, size_t size);

/* ---- inside src/symbols/ ---- */

/* One symbol before the choice among those at the same address. */
struct lode_elf_symbol {
	uint64_t start;
	uint64_t end;
	uint64_t section_end; /* where a symbol without a size must end */
	uint32_t name;        /* offset in the builder's strings */
	uint8_t binding;      /* STB_… */
	uint8_t type;         /* STT_… */
};

struct lode_elf_symbols {
	LODE_ARRAY(struct lode_elf_symbol);
};

void lode_elf_symbols_add(struct lode_elf_symbols *symbols, const struct lode_elf_symbol *symbol);
/* Appends `name@plt` for the entries of the procedure linkage table (plt.c). */
void lode_elf_read_plt(const struct lode_elf *elf, struct lode_table_builder *builder,
		       struct lode_elf_symbols *symbols);
/* Unpacks .gnu_debugdata into `bytes`; 0, or a negative code without it (minidebug.c). */
int lode_elf_unpack_minidebug(const struct lode_elf *elf, struct lode_buffer *bytes);
/* Gives each address one symbol and appends the records (symbol_choice.c). Returns 0 or LODE_SYSTEM. */
int lode_elf_choose(struct lode_elf_symbols *symbols, struct lode_table_builder *builder);
/* Which of two names perf would print for the same function: < 0 the first, > 0 the second, 0 no matter. */
int lode_elf_compare_names(const char *a, const char *b);

#endif
