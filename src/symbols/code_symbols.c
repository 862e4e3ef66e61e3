/*
 * The linker's names of functions, all of them: the table of symbols.h keeps one
 * for each address, but callers in other binaries may use any, and which clone
 * belongs to which function is known only from the order of .symtab, where each
 * compilation unit begins with a symbol for its source file.
 *
 * Many symbols can share one long string, each from another byte of it on. So all
 * names together may be no longer than NAMES_LIMIT times the file; what an honest
 * linker writes is shorter than the file.
 */
#include "symbols/code_plan.h"

#include <stdlib.h>
#include <string.h>

#define NAMES_LIMIT 4

struct reader {
	struct lode_linker_symbols *symbols;
	const struct lode_elf *elf;
	Elf_Data *data;
	Elf_Data *versions; /* one for each symbol, or NULL */
	size_t strings;     /* section of the names */
	size_t count;
	uint32_t unit;
	int marks; /* $x and $d mean something */
};

static int open_table(struct reader *reader, const struct lode_elf *elf, uint32_t type)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	if (!elf->elf)
		return -1;
	do {
		section = elf_nextscn(elf->elf, section);
	} while (section && (!gelf_getshdr(section, &header) || header.sh_type != type));
	if (!section || !header.sh_entsize)
		return -1;
	reader->elf = elf;
	reader->data = elf_getdata(section, NULL);
	reader->strings = header.sh_link;
	reader->count = reader->data && reader->data->d_buf ? reader->data->d_size / header.sh_entsize : 0;
	reader->marks = elf->header.e_machine == EM_AARCH64;
	if (reader->count > LODE_TABLE_LIMIT)
		reader->count = LODE_TABLE_LIMIT;
	return 0;
}

static void add_symbol(struct lode_linker_symbols *symbols, uint64_t address, const char *name, uint32_t unit)
{
	size_t length = strnlen(name, symbols->budget < UINT32_MAX ? symbols->budget : UINT32_MAX);
	const char *version = memchr(name + 1, '@', length - 1);

	symbols->budget -= length;
	if (!symbols->budget)
		return;
	if (version)
		length = (size_t)(version - name);
	LODE_PUSH(symbols, (struct lode_linker_symbol){ address, name, (uint32_t)length, unit });
}

static void add_mark(struct lode_linker_symbols *symbols, uint64_t address, int is_data)
{
	LODE_PUSH(&symbols->marks, (struct lode_code_mark){ address, is_data });
}

static int is_mark(const char *name)
{
	return name[0] == '$' && (name[1] == 'x' || name[1] == 'd') && (!name[2] || name[2] == '.');
}

static void handle_symbol(struct reader *reader, const GElf_Sym *symbol)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);
	const char *name;

	if (type == STT_FILE)
		reader->unit++;
	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS ||
	    (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE))
		return;
	name = elf_strptr(reader->elf->elf, reader->strings, symbol->st_name);
	if (!name || !*name || !reader->symbols->budget)
		return;
	if (type != STT_NOTYPE)
		add_symbol(reader->symbols, symbol->st_value, name,
			   GELF_ST_BIND(symbol->st_info) == STB_LOCAL ? reader->unit : LODE_NONE);
	else if (reader->marks && is_mark(name))
		add_mark(reader->symbols, symbol->st_value, name[1] == 'd');
}

static void read_symbols(struct lode_linker_symbols *symbols, const struct lode_elf *elf)
{
	struct reader reader = { .symbols = symbols };
	GElf_Sym symbol;

	if (open_table(&reader, elf, SHT_SYMTAB) < 0)
		return;
	for (size_t i = 1; i < reader.count && !symbols->failed; i++) {
		if (!gelf_getsym(reader.data, (int)i, &symbol))
			break;
		handle_symbol(&reader, &symbol);
	}
}

/* Whether symbol `i` is kept only for programs that were linked long ago. */
static int is_old_version(const struct reader *reader, size_t i)
{
	GElf_Versym version;

	return reader->versions && gelf_getversym(reader->versions, (int)i, &version) && version & 0x8000;
}

static void read_exports(struct lode_linker_symbols *symbols, const struct lode_elf *elf, int old)
{
	struct reader reader = { .symbols = symbols };
	Elf_Scn *section;
	GElf_Shdr header;
	GElf_Sym symbol;

	if (open_table(&reader, elf, SHT_DYNSYM) < 0)
		return;
	section = lode_elf_section(elf, ".gnu.version", &header);
	reader.versions = section && header.sh_type == SHT_GNU_versym ? elf_getdata(section, NULL) : NULL;
	for (size_t i = 1; i < reader.count && !symbols->failed; i++) {
		if (!gelf_getsym(reader.data, (int)i, &symbol))
			break;
		if (GELF_ST_BIND(symbol.st_info) != STB_LOCAL && GELF_ST_TYPE(symbol.st_info) != STT_NOTYPE &&
		    is_old_version(&reader, i) == old)
			handle_symbol(&reader, &symbol);
	}
}

static int compare_marks(const void *a, const void *b)
{
	const struct lode_code_mark *one = a, *other = b;

	if (one->address != other->address)
		return one->address < other->address ? -1 : 1;
	return other->is_data - one->is_data;
}

int lode_linker_symbols_read(struct lode_code_plan *plan)
{
	struct lode_linker_symbols *symbols = &plan->symbols;
	int has_file = lode_elf_open(&plan->symbol_file, plan->image.origin.debug) == 0;

	symbols->budget = NAMES_LIMIT * (uint64_t)plan->map.size;
	if (has_file && !lode_elf_has_symtab(&plan->symbol_file))
		lode_elf_close(&plan->symbol_file);
	read_exports(symbols, &plan->elf, 0);
	read_exports(symbols, &plan->elf, 1);
	symbols->exported = symbols->count;
	read_symbols(symbols, plan->symbol_file.elf ? &plan->symbol_file : &plan->elf);
	if (!plan->symbol_file.elf && !lode_elf_has_symtab(&plan->elf)) {
		int code = lode_elf_unpack_minidebug(&plan->elf, &plan->packed);

		if (code == LODE_SYSTEM)
			symbols->failed = 1;
		else if (code == 0 &&
			 lode_elf_memory(&plan->packed_file, plan->packed.bytes, plan->packed.size) == 0)
			read_symbols(symbols, &plan->packed_file);
	}
	if (symbols->marks.count)
		qsort(symbols->marks.items, symbols->marks.count, sizeof(*symbols->marks.items), compare_marks);
	return symbols->failed || symbols->marks.failed ? LODE_SYSTEM : 0;
}
