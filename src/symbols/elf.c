/*
 * ELF tables: see elf.h.
 *
 * libelf checks that a section is inside its file; what is checked here is
 * everything that one table says about another: section numbers, string offsets,
 * sizes that wrap around. A string table is copied whole, once, instead of name
 * by name: symbols that all point at one long name then cost nothing more.
 */
#include "symbols/elf.h"

#include "base/error.h"
#include "base/hex.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int check_kind(struct lode_elf *elf)
{
	if (elf->elf && elf_kind(elf->elf) == ELF_K_ELF && gelf_getehdr(elf->elf, &elf->header))
		return 0;
	lode_elf_close(elf);
	return LODE_BAD_INPUT;
}

int lode_elf_open(struct lode_elf *elf, const char *path)
{
	memset(elf, 0, sizeof(*elf));
	elf_version(EV_CURRENT);
	elf->fd = lode_file_open_plain(path, O_RDONLY, NULL);
	if (elf->fd < 0)
		return elf->fd;
	elf->elf = elf_begin(elf->fd, ELF_C_READ_MMAP, NULL);
	return check_kind(elf);
}

int lode_elf_memory(struct lode_elf *elf, void *bytes, size_t size)
{
	memset(elf, 0, sizeof(*elf));
	elf_version(EV_CURRENT);
	elf->fd = -1;
	elf->elf = elf_memory(bytes, size);
	return check_kind(elf);
}

void lode_elf_close(struct lode_elf *elf)
{
	if (elf->elf)
		elf_end(elf->elf);
	if (elf->fd >= 0)
		close(elf->fd);
	elf->elf = NULL;
	elf->fd = -1;
}

void lode_elf_build_id(const struct lode_elf *elf, char text[LODE_BUILD_ID_TEXT])
{
	const void *bits = NULL;
	ssize_t size = dwelf_elf_gnu_build_id(elf->elf, &bits);
	const unsigned char *bytes = bits;

	if (size < 0)
		size = 0;
	lode_hex(text, bytes, size < LODE_BUILD_ID_TEXT / 2 ? (size_t)size : LODE_BUILD_ID_TEXT / 2);
}

static Elf_Scn *section_of_type(const struct lode_elf *elf, uint32_t type, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf->elf, section)))
		if (gelf_getshdr(section, header) && header->sh_type == type)
			return section;
	return NULL;
}

/* The first symbol is always the empty one. */
static int has_table(const struct lode_elf *elf, uint32_t type)
{
	GElf_Shdr header;

	return section_of_type(elf, type, &header) && header.sh_entsize && header.sh_size > header.sh_entsize;
}

int lode_elf_has_symtab(const struct lode_elf *elf)
{
	return has_table(elf, SHT_SYMTAB);
}

int lode_elf_has_dynsym(const struct lode_elf *elf)
{
	return has_table(elf, SHT_DYNSYM);
}

int lode_elf_has_dwarf(const struct lode_elf *elf)
{
	GElf_Shdr header;

	return (lode_elf_section(elf, ".debug_info", &header) || lode_elf_section(elf, ".zdebug_info", &header)) &&
	       header.sh_type != SHT_NOBITS;
}

int lode_elf_lacks_code(const struct lode_elf *elf)
{
	GElf_Phdr header;
	size_t count;

	if (elf_getphdrnum(elf->elf, &count) < 0)
		return 0;
	for (size_t i = 0; i < count && i < UINT16_MAX; i++)
		if (gelf_getphdr(elf->elf, (int)i, &header) && header.p_type == PT_LOAD && header.p_flags & PF_X &&
		    header.p_filesz < header.p_memsz)
			return 1;
	return 0;
}

void lode_elf_read_loads(const struct lode_elf *elf, int guess, struct lode_table_builder *builder)
{
	GElf_Phdr header;
	uint64_t first = 0;
	size_t count;
	int seen = 0;

	if (elf_getphdrnum(elf->elf, &count) < 0)
		return;
	for (size_t i = 0; i < count && i < UINT16_MAX; i++) {
		struct lode_load load;

		if (!gelf_getphdr(elf->elf, (int)i, &header) || header.p_type != PT_LOAD)
			continue;
		load = (struct lode_load){ header.p_offset, header.p_filesz, header.p_vaddr,
					   (header.p_flags & PF_X) != 0 };
		if (!seen++)
			first = header.p_vaddr - header.p_offset;
		/*
		 * A debug file keeps addresses but not contents; linkers lay out
		 * code so that offset and address advance together.
		 */
		if (guess && header.p_filesz < header.p_memsz) {
			load.offset = header.p_vaddr - first;
			load.size = header.p_memsz;
		}
		lode_table_add_load(builder, &load);
	}
}

/* What is needed of each section, so that a symbol costs no call for it. */
struct section {
	uint64_t end;
	int executable;
};

struct symbol_table {
	Elf_Data *data;
	size_t count;
	const char *strings; /* the builder's copy, which ends with a NUL */
	size_t string_size;
	uint32_t names; /* offset of the copy in the builder */
	struct section *sections;
	size_t section_count;
	int is_arm; /* has mapping symbols ($x, $d) */
};

static int read_sections(const struct lode_elf *elf, struct symbol_table *table)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	if (elf_getshdrnum(elf->elf, &table->section_count) < 0)
		table->section_count = 0;
	table->sections = lode_calloc(table->section_count, sizeof(*table->sections));
	if (!table->sections)
		return LODE_SYSTEM;
	while ((section = elf_nextscn(elf->elf, section))) {
		size_t number = elf_ndxscn(section);
		struct section *known;

		if (number >= table->section_count || !gelf_getshdr(section, &header))
			continue;
		known = &table->sections[number];
		known->executable = (header.sh_flags & SHF_EXECINSTR) != 0;
		if (__builtin_add_overflow(header.sh_addr, header.sh_size, &known->end))
			known->end = 0;
	}
	return 0;
}

/* The strings of a symbol table go into the builder whole, with a NUL of our own behind. */
static int copy_strings(const struct lode_elf *elf, uint32_t link, struct symbol_table *table,
			struct lode_table_builder *builder)
{
	Elf_Scn *section = elf_getscn(elf->elf, link);
	GElf_Shdr header;
	Elf_Data *data;

	if (!section || !gelf_getshdr(section, &header) || header.sh_type != SHT_STRTAB)
		return LODE_BAD_INPUT;
	data = elf_getdata(section, NULL);
	if (!data || !data->d_buf || data->d_size >= LODE_TABLE_STRING_LIMIT - builder->strings.size)
		return LODE_BAD_INPUT;
	table->names = (uint32_t)builder->strings.size;
	table->string_size = data->d_size;
	lode_buffer_add(&builder->strings, data->d_buf, data->d_size);
	lode_buffer_byte(&builder->strings, '\0');
	if (builder->strings.failed)
		return LODE_SYSTEM;
	table->strings = builder->strings.bytes + table->names;
	return 0;
}

static int open_table(const struct lode_elf *elf, uint32_t type, struct symbol_table *table,
		      struct lode_table_builder *builder)
{
	GElf_Shdr header;
	Elf_Scn *section = section_of_type(elf, type, &header);
	int code;

	memset(table, 0, sizeof(*table));
	if (!section || !header.sh_entsize)
		return LODE_BAD_INPUT;
	table->data = elf_getdata(section, NULL);
	if (!table->data || !table->data->d_buf)
		return LODE_BAD_INPUT;
	table->count = table->data->d_size / header.sh_entsize;
	if (table->count > LODE_TABLE_LIMIT)
		return LODE_BAD_INPUT;
	table->is_arm = elf->header.e_machine == EM_AARCH64 || elf->header.e_machine == EM_ARM;
	code = copy_strings(elf, header.sh_link, table, builder);
	return code < 0 ? code : read_sections(elf, table);
}

/* $x, $d, $a, $t, alone or followed by a dot: where code and data change places, no functions. */
static int is_mapping_symbol(const char *name)
{
	return name[0] == '$' && name[1] && strchr("adtx", name[1]) && (!name[2] || name[2] == '.');
}

static int is_function(const struct symbol_table *table, const GElf_Sym *symbol, const char *name,
		       const struct section *section)
{
	switch (GELF_ST_TYPE(symbol->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return 1;
	case STT_NOTYPE:
		/* Labels in assembler code; hidden ones are marks of the tools, not functions. */
		return section && section->executable && symbol->st_shndx != SHN_ABS &&
		       GELF_ST_VISIBILITY(symbol->st_other) != STV_HIDDEN &&
		       GELF_ST_VISIBILITY(symbol->st_other) != STV_INTERNAL &&
		       !(table->is_arm && is_mapping_symbol(name));
	default:
		return 0;
	}
}

static void add_symbol(const struct symbol_table *table, const GElf_Sym *symbol, struct lode_elf_symbols *symbols)
{
	const struct section *section = NULL;
	struct lode_elf_symbol found;
	const char *name;

	if (symbol->st_name >= table->string_size || symbol->st_shndx == SHN_UNDEF)
		return;
	name = table->strings + symbol->st_name;
	if (symbol->st_shndx < table->section_count)
		section = &table->sections[symbol->st_shndx];
	if (!*name || !is_function(table, symbol, name, section))
		return;
	found = (struct lode_elf_symbol){
		.start = symbol->st_value,
		.name = table->names + symbol->st_name,
		.binding = GELF_ST_BIND(symbol->st_info),
		.type = GELF_ST_TYPE(symbol->st_info),
		.section_end = section ? section->end : 0,
	};
	if (__builtin_add_overflow(symbol->st_value, symbol->st_size, &found.end))
		return;
	lode_elf_symbols_add(symbols, &found);
}

/* Appends the functions of the table of this type. Returns 0, or a negative code when there is none. */
static int read_table(const struct lode_elf *elf, uint32_t type, struct lode_table_builder *builder,
		      struct lode_elf_symbols *symbols)
{
	struct symbol_table table;
	int code = open_table(elf, type, &table, builder);

	for (size_t i = 1; code == 0 && i < table.count; i++) {
		GElf_Sym symbol;

		if (!gelf_getsym(table.data, (int)i, &symbol))
			break; /* the entries are larger than they say */
		add_symbol(&table, &symbol, symbols);
	}
	lode_free(table.sections);
	if (code == LODE_SYSTEM)
		symbols->failed = 1;
	return code;
}

static void read_minidebug(const struct lode_elf *elf, struct lode_table_builder *builder,
			   struct lode_elf_symbols *symbols)
{
	struct lode_buffer bytes = { 0 };
	struct lode_elf inner;
	int code = lode_elf_unpack_minidebug(elf, &bytes);

	if (code == 0 && lode_elf_memory(&inner, bytes.bytes, bytes.size) == 0) {
		read_table(&inner, SHT_SYMTAB, builder, symbols);
		lode_elf_close(&inner);
	}
	if (code == LODE_SYSTEM)
		symbols->failed = 1;
	lode_buffer_release(&bytes);
}

int lode_elf_read_symbols(const struct lode_elf *elf, const struct lode_elf *binary,
			  struct lode_table_builder *builder)
{
	struct lode_elf_symbols symbols = { 0 };
	int code = LODE_SYSTEM;

	if (lode_elf_has_symtab(elf)) {
		read_table(elf, SHT_SYMTAB, builder, &symbols);
	} else {
		read_table(elf, SHT_DYNSYM, builder, &symbols);
		read_minidebug(elf, builder, &symbols);
	}
	if (binary)
		lode_elf_read_plt(binary, builder, &symbols);
	if (!symbols.failed)
		code = lode_elf_choose(&symbols, builder);
	lode_free(symbols.items);
	return code;
}

/* Whether a table of strings has this one, be it as the end of a longer one. */
static int has_string(const struct lode_elf *elf, uint32_t strings, const char *text)
{
	Elf_Scn *section = elf_getscn(elf->elf, strings);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;

	return data && data->d_buf && memmem(data->d_buf, data->d_size, text, strlen(text) + 1);
}

int lode_elf_exports(const struct lode_elf *elf, const char *name)
{
	GElf_Sym symbol;

	return lode_elf_exported(elf, name, &symbol);
}

int lode_elf_each_export(const struct lode_elf *elf,
			 int (*visit)(void *context, const char *name, const GElf_Sym *symbol), void *context)
{
	GElf_Shdr header;
	Elf_Scn *section = section_of_type(elf, SHT_DYNSYM, &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	size_t count = data && header.sh_entsize ? data->d_size / header.sh_entsize : 0;
	GElf_Sym symbol;
	int code = 0;

	for (size_t i = 1; !code && i < count && i < LODE_TABLE_LIMIT && gelf_getsym(data, (int)i, &symbol); i++) {
		const char *name =
			symbol.st_shndx == SHN_UNDEF ? NULL : elf_strptr(elf->elf, header.sh_link, symbol.st_name);

		code = name ? visit(context, name, &symbol) : 0;
	}
	return code;
}

struct wanted_export {
	const char *name;
	GElf_Sym *symbol;
};

static int is_wanted_export(void *context, const char *name, const GElf_Sym *symbol)
{
	struct wanted_export *wanted = context;

	*wanted->symbol = *symbol;
	return strcmp(name, wanted->name) == 0;
}

int lode_elf_exported(const struct lode_elf *elf, const char *name, GElf_Sym *symbol)
{
	struct wanted_export wanted = { name, symbol };
	GElf_Shdr header;

	/* Most files do not even have the name. */
	if (!section_of_type(elf, SHT_DYNSYM, &header) || !has_string(elf, header.sh_link, name))
		return 0;
	return lode_elf_each_export(elf, is_wanted_export, &wanted);
}

int lode_elf_offset_of(const struct lode_elf *elf, uint64_t address, uint64_t *offset)
{
	size_t count = 0;

	if (elf_getphdrnum(elf->elf, &count) < 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr part;

		if (!gelf_getphdr(elf->elf, (int)i, &part) || part.p_type != PT_LOAD || address < part.p_vaddr ||
		    address - part.p_vaddr >= part.p_filesz)
			continue;
		*offset = address - part.p_vaddr + part.p_offset;
		return 1;
	}
	return 0;
}

/* Copies what is at an offset of the file. libelf remembers each piece that it was asked for, and looks through them all. */
static int read_raw(const struct lode_elf *elf, uint64_t offset, void *bytes, size_t size)
{
	const char *file;
	size_t whole;

	if (elf->fd >= 0)
		return offset <= INT64_MAX && pread(elf->fd, bytes, size, (off_t)offset) == (ssize_t)size;
	file = elf_rawfile(elf->elf, &whole);
	if (!file || offset > whole || size > whole - offset)
		return 0;
	memcpy(bytes, file + offset, size);
	return 1;
}

int lode_elf_initial_bytes(const struct lode_elf *elf, uint64_t address, void *bytes, size_t size)
{
	size_t count = 0;
	GElf_Phdr header;

	if (elf_getphdrnum(elf->elf, &count) < 0)
		return 0;
	for (size_t i = 0; i < count && gelf_getphdr(elf->elf, (int)i, &header); i++) {
		if (header.p_type != PT_LOAD || address < header.p_vaddr ||
		    address - header.p_vaddr > header.p_filesz ||
		    size > header.p_filesz - (address - header.p_vaddr))
			continue;
		return read_raw(elf, header.p_offset + (address - header.p_vaddr), bytes, size);
	}
	return 0;
}

uint64_t lode_elf_symbol_value(const struct lode_elf *elf, const char *name)
{
	GElf_Shdr header;
	Elf_Scn *section = section_of_type(elf, SHT_SYMTAB, &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	size_t count = data && header.sh_entsize ? data->d_size / header.sh_entsize : 0;
	GElf_Sym symbol;

	for (size_t i = 1; i < count && i < LODE_TABLE_LIMIT; i++) {
		const char *own;

		if (!gelf_getsym(data, (int)i, &symbol))
			break;
		own = elf_strptr(elf->elf, header.sh_link, symbol.st_name);
		if (own && strcmp(own, name) == 0)
			return symbol.st_value;
	}
	return 0;
}
