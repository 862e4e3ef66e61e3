/*
 * Variables of an image: see image_variables.h.
 *
 * Symbols of variables rarely overlap (a union's parts, aliases), so the one that begins last before an address is looked
 * at, and some before it: the smallest that covers the address is the most exact.
 */
#include "symbols/image_variables.h"

#include "symbols/elf.h"
#include "symbols/image.h"

#include <stdlib.h>
#include <string.h>

/* Symbols that may begin between an address and the one that covers it. */
#define MAX_OVERLAPS 16

void lode_variables_release(struct lode_variables *variables)
{
	lode_free(variables->items);
	lode_arena_release(&variables->names);
	memset(variables, 0, sizeof(*variables));
}

static int add_symbol(struct lode_variables *variables, const GElf_Sym *symbol, const char *name)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);
	struct lode_variable variable = { .start = symbol->st_value,
					  .size = symbol->st_size,
					  .is_local = GELF_ST_BIND(symbol->st_info) == STB_LOCAL };
	size_t length = name ? strlen(name) : 0;
	char *copy;

	if ((type != STT_OBJECT && type != STT_COMMON) || symbol->st_shndx == SHN_UNDEF || !symbol->st_size ||
	    !length)
		return 0;
	copy = lode_arena_alloc(&variables->names, length + 1);
	if (!copy)
		return LODE_SYSTEM;
	variable.name = memcpy(copy, name, length + 1);
	return LODE_PUSH(variables, variable);
}

static int read_table(struct lode_variables *variables, const struct lode_elf *elf, uint32_t type)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Sym symbol;
	Elf_Data *data;
	size_t count;
	int code = 0;

	do {
		section = elf_nextscn(elf->elf, section);
	} while (section && (!gelf_getshdr(section, &header) || header.sh_type != type));
	data = section ? elf_getdata(section, NULL) : NULL;
	count = data && data->d_buf && header.sh_entsize ? data->d_size / header.sh_entsize : 0;
	for (size_t i = 1; !code && i < count && i < LODE_TABLE_LIMIT && gelf_getsym(data, (int)i, &symbol); i++)
		code = add_symbol(variables, &symbol, elf_strptr(elf->elf, header.sh_link, symbol.st_name));
	return code;
}

/* From the first to the last byte that can be written to. */
static void read_bounds(struct lode_variables *variables, const struct lode_elf *elf)
{
	GElf_Phdr header;
	size_t count;

	if (elf_getphdrnum(elf->elf, &count) < 0)
		return;
	for (size_t i = 0; i < count && i < UINT16_MAX; i++) {
		if (!gelf_getphdr(elf->elf, (int)i, &header) || header.p_type != PT_LOAD ||
		    !(header.p_flags & PF_W))
			continue;
		if (!variables->high || header.p_vaddr < variables->low)
			variables->low = header.p_vaddr;
		if (header.p_vaddr + header.p_memsz > variables->high)
			variables->high = header.p_vaddr + header.p_memsz;
	}
}

static int compare(const void *a, const void *b)
{
	const struct lode_variable *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	if (x->is_local != y->is_local)
		return x->is_local ? -1 : 1;
	return -strcmp(x->name, y->name);
}

static int read_file(struct lode_variables *variables, const char *path, int has_bounds)
{
	struct lode_elf elf;
	int code;

	if (!path || !path[0] || lode_elf_open(&elf, path) < 0)
		return 0;
	if (has_bounds)
		read_bounds(variables, &elf);
	code = read_table(variables, &elf, SHT_SYMTAB);
	if (!code && !variables->count)
		code = read_table(variables, &elf, SHT_DYNSYM);
	lode_elf_close(&elf);
	return code;
}

int lode_variables_load(struct lode_variables *variables, struct lode_image *image)
{
	int code;

	if (image->kind != LODE_IMAGE_BINARY)
		return 0;
	lode_image_load(image);
	code = read_file(variables, image->origin.binary, 1);
	if (!code)
		code = read_file(variables, image->origin.debug, 0);
	if (variables->count)
		qsort(variables->items, variables->count, sizeof(*variables->items), compare);
	return code;
}

const struct lode_variable *lode_variables_find(const struct lode_variables *variables, uint64_t address)
{
	const struct lode_variable *best = NULL;
	size_t low = 0, high = variables->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (variables->items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i > 0 && low - i < MAX_OVERLAPS; i--) {
		const struct lode_variable *variable = &variables->items[i - 1];

		if (address - variable->start < variable->size && (!best || variable->size < best->size))
			best = variable;
	}
	return best;
}

int lode_variables_has(const struct lode_variables *variables, uint64_t address)
{
	return address >= variables->low && address < variables->high;
}
