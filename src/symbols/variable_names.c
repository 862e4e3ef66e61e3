/*
 * Data: see variable_names.h.
 *
 * Variables are looked up rarely, one at a time, so the symbol table is scanned
 * for each instead of being indexed. Of several symbols that contain the address
 * the smallest is the most exact, and among equal ones the one that is visible
 * to other files.
 */
#include "symbols/variable_names.h"

#include "symbols/demangle.h"

#include <inttypes.h>
#include <unistd.h>

/* A segment is mapped from the page on that it begins in. */
static int is_mapped_from(const GElf_Phdr *header, uint64_t offset)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return header->p_type == PT_LOAD && offset >= (header->p_offset & ~(page - 1)) &&
	       offset < header->p_offset + header->p_filesz;
}

int lode_data_address(const struct lode_elf *elf, uint64_t offset, int writable, uint64_t *address)
{
	GElf_Phdr header;
	size_t count;
	int found = 0;

	if (elf_getphdrnum(elf->elf, &count) < 0)
		return LODE_BAD_INPUT;
	for (size_t i = 0; i < count && i < UINT16_MAX && found < 2; i++) {
		int fits;

		if (!gelf_getphdr(elf->elf, (int)i, &header) || !is_mapped_from(&header, offset))
			continue;
		/* One page of the file can be the end of the code and the beginning of the data. */
		fits = ((header.p_flags & PF_W) != 0) == (writable != 0) ? 2 : 1;
		if (fits > found) {
			*address = header.p_vaddr + (offset - header.p_offset); /* wraps around as it should */
			found = fits;
		}
	}
	return found ? 0 : LODE_BAD_INPUT;
}

static int is_variable(const GElf_Sym *symbol, uint64_t address)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);

	return (type == STT_OBJECT || type == STT_COMMON) && symbol->st_shndx != SHN_UNDEF &&
	       address >= symbol->st_value && address - symbol->st_value < symbol->st_size;
}

static int is_better(const GElf_Sym *symbol, const GElf_Sym *best)
{
	int is_local = GELF_ST_BIND(symbol->st_info) == STB_LOCAL;

	if (symbol->st_size != best->st_size)
		return symbol->st_size < best->st_size;
	return is_local < (GELF_ST_BIND(best->st_info) == STB_LOCAL);
}

static const char *find_in(const struct lode_elf *elf, uint32_t type, uint64_t address, GElf_Sym *best)
{
	Elf_Scn *section = NULL;
	const char *name = NULL;
	GElf_Shdr header;
	GElf_Sym symbol;
	Elf_Data *data;
	size_t count;

	do {
		section = elf_nextscn(elf->elf, section);
	} while (section && (!gelf_getshdr(section, &header) || header.sh_type != type));
	data = section ? elf_getdata(section, NULL) : NULL;
	count = data && data->d_buf && header.sh_entsize ? data->d_size / header.sh_entsize : 0;
	for (size_t i = 1; i < count && i < LODE_TABLE_LIMIT && gelf_getsym(data, (int)i, &symbol); i++) {
		const char *own;

		if (!is_variable(&symbol, address) || (name && !is_better(&symbol, best)))
			continue;
		own = elf_strptr(elf->elf, header.sh_link, symbol.st_name);
		if (!own || !*own)
			continue;
		name = own;
		*best = symbol;
	}
	return name;
}

int lode_data_name(const struct lode_elf *elf, uint64_t address, struct lode_buffer *name)
{
	GElf_Sym symbol;
	const char *found = find_in(elf, SHT_SYMTAB, address, &symbol);

	if (!found)
		found = find_in(elf, SHT_DYNSYM, address, &symbol);
	if (!found)
		return LODE_BAD_INPUT;
	lode_demangle(found, 1, name);
	if (address != symbol.st_value)
		lode_buffer_print(name, "+0x%" PRIx64, address - symbol.st_value);
	return 0;
}
