/*
 * Thread-local variables: see thread_locals.h.
 *
 * Of the program itself the distance follows from its file alone (Drepper, "ELF Handling For Thread-Local Storage"): its
 * part is the first behind the thread pointer (aarch64, variant I) or the last before it (x86-64, variant II).
 *
 * For a library one of three relocations says where to look: a distance in one word (TPREL), a descriptor of function and
 * argument (TLSDESC), or module and offset in two words (DTPMOD). The argument of a descriptor is a distance when the
 * module is in the static part, else the address of module and offset; distances are small, and addresses are not.
 */
#include "process/thread_locals.h"

#include "symbols/elf.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define HEAD_BYTES     16        /* of what is at the thread pointer, before the first part (aarch64) */
#define STATIC_BYTES   (1 << 20) /* no static part is larger */
#define MAX_PAGE       ((uint64_t)65536)
#define MAX_MODULE     65536
#define MAX_RELOCATION 2000000 /* of a section, */
#define MAX_VARIABLES  4096    /* and those of thread-local variables */

enum slot_kind { SLOT_OTHER, SLOT_DISTANCE, SLOT_DESCRIPTOR, SLOT_MODULE };

struct search {
	const struct lode_process_memory *memory;
	const struct lode_thread_local_request *request;
	struct lode_elf elf;
	GElf_Sym symbol;
	GElf_Phdr part; /* PT_TLS */
	uint64_t bias;  /* between addresses of the file and of the process */
};

static int is_variable(const struct lode_elf *elf, const char *name, GElf_Sym *symbol)
{
	return elf->header.e_ident[EI_CLASS] == ELFCLASS64 && lode_elf_exported(elf, name, symbol) &&
	       GELF_ST_TYPE(symbol->st_info) == STT_TLS;
}

int lode_thread_local_exists(const char *path, const char *name)
{
	struct lode_elf elf;
	GElf_Sym symbol;
	int found;

	if (lode_elf_open(&elf, path))
		return 0;
	found = is_variable(&elf, name, &symbol);
	lode_elf_close(&elf);
	return found;
}

/* The thread-local part, and where the file is in the process. Returns 1 or 0. */
static int find_parts(struct search *search)
{
	int has_part = 0, has_bias = 0;
	size_t count = 0;
	GElf_Phdr part;

	if (elf_getphdrnum(search->elf.elf, &count) < 0)
		return 0;
	for (size_t i = 0; i < count && gelf_getphdr(search->elf.elf, (int)i, &part); i++) {
		uint64_t begin = part.p_offset & ~(MAX_PAGE - 1), end = part.p_offset + part.p_filesz;

		if (part.p_type == PT_TLS) {
			search->part = part;
			has_part = 1;
		}
		if (part.p_type != PT_LOAD || !(part.p_flags & PF_X) || search->request->offset < begin ||
		    search->request->offset >= end)
			continue;
		search->bias = search->request->start - (search->request->offset - part.p_offset + part.p_vaddr);
		has_bias = 1;
	}
	return has_part && has_bias;
}

static int is_program(const struct search *search)
{
	struct stat program, file;
	char path[32];

	if (search->elf.header.e_type == ET_EXEC)
		return 1;
	snprintf(path, sizeof(path), "/proc/%u/exe", search->request->pid);
	return !stat(path, &program) && !stat(search->request->path, &file) && program.st_dev == file.st_dev &&
	       program.st_ino == file.st_ino;
}

static uint64_t round_up(uint64_t number, uint64_t align)
{
	return (number + align - 1) & ~(align - 1);
}

static enum lode_thread_local_state find_in_program(const struct search *search, struct lode_thread_local *found)
{
	uint64_t align = search->part.p_align ? search->part.p_align : 1, first, begin;

	if (align & (align - 1) || align > STATIC_BYTES || search->part.p_memsz > STATIC_BYTES)
		return LODE_THREAD_LOCAL_NONE;
	first = -search->part.p_vaddr & (align - 1); /* the part begins this much below a multiple */
	found->module = 0;
	if (search->elf.header.e_machine == EM_AARCH64) {
		begin = round_up(HEAD_BYTES, align);
		begin += begin - HEAD_BYTES < first ? align : 0;
		found->offset = (int64_t)(begin - first + search->symbol.st_value);
		return LODE_THREAD_LOCAL_FOUND;
	}
	if (search->elf.header.e_machine != EM_X86_64)
		return LODE_THREAD_LOCAL_NONE;
	begin = round_up(search->part.p_memsz - first, align) + first;
	found->offset = (int64_t)(search->symbol.st_value - begin);
	return LODE_THREAD_LOCAL_FOUND;
}

static enum slot_kind kind_of(const struct search *search, uint64_t type)
{
	if (search->elf.header.e_machine == EM_AARCH64)
		return type == R_AARCH64_TLS_TPREL    ? SLOT_DISTANCE
		       : type == R_AARCH64_TLSDESC    ? SLOT_DESCRIPTOR
		       : type == R_AARCH64_TLS_DTPMOD ? SLOT_MODULE
						      : SLOT_OTHER;
	if (search->elf.header.e_machine == EM_X86_64)
		return type == R_X86_64_TPOFF64    ? SLOT_DISTANCE
		       : type == R_X86_64_TLSDESC  ? SLOT_DESCRIPTOR
		       : type == R_X86_64_DTPMOD64 ? SLOT_MODULE
						   : SLOT_OTHER;
	return SLOT_OTHER;
}

static int is_distance(uint64_t word)
{
	return (int64_t)word > -STATIC_BYTES && (int64_t)word < STATIC_BYTES;
}

static enum lode_thread_local_state read_module(const uint64_t words[2], struct lode_thread_local *found)
{
	if (!words[0])
		return LODE_THREAD_LOCAL_LATER;
	if (words[0] >= MAX_MODULE || words[1] >= INT32_MAX)
		return LODE_THREAD_LOCAL_NONE;
	found->module = words[0];
	found->offset = (int64_t)words[1];
	return LODE_THREAD_LOCAL_FOUND;
}

/* What the dynamic linker has put at a place of the process. */
static enum lode_thread_local_state read_slot(const struct search *search, enum slot_kind kind, uint64_t offset,
					      struct lode_thread_local *found)
{
	uint32_t pid = search->request->pid;
	uint64_t words[2] = { 0, 0 };

	if (!lode_process_memory_read(search->memory, pid, search->bias + offset, words,
				      kind == SLOT_DISTANCE ? 8 : 16))
		return LODE_THREAD_LOCAL_LATER;
	if (kind == SLOT_MODULE)
		return read_module(words, found);
	if (!words[0])
		return LODE_THREAD_LOCAL_LATER;
	if (kind == SLOT_DISTANCE)
		words[1] = words[0];
	if (is_distance(words[1])) {
		*found = (struct lode_thread_local){ .offset = (int64_t)words[1] };
		return words[1] ? LODE_THREAD_LOCAL_FOUND : LODE_THREAD_LOCAL_LATER;
	}
	if (kind == SLOT_DISTANCE || !lode_process_memory_read(search->memory, pid, words[1], words, sizeof(words)))
		return LODE_THREAD_LOCAL_NONE;
	return read_module(words, found);
}

/* Whether a relocation is about the variable: by its name, or, where the linker knew that none takes its place, by its value. */
static int is_about(const struct search *search, const GElf_Shdr *section, const GElf_Rela *relocation)
{
	Elf_Scn *table = elf_getscn(search->elf.elf, section->sh_link);
	Elf_Data *data = table ? elf_getdata(table, NULL) : NULL;
	size_t number = GELF_R_SYM(relocation->r_info);
	const char *name;
	GElf_Shdr header;
	GElf_Sym symbol;

	if (!number)
		return (uint64_t)relocation->r_addend == search->symbol.st_value;
	if (!data || !gelf_getshdr(table, &header) || !gelf_getsym(data, (int)number, &symbol))
		return 0;
	name = elf_strptr(search->elf.elf, header.sh_link, symbol.st_name);
	return name && !strcmp(name, search->request->name);
}

static enum lode_thread_local_state find_in_section(const struct search *search, Elf_Scn *section,
						    const GElf_Shdr *header, struct lode_thread_local *found)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
	GElf_Rela relocation;
	unsigned variables = 0;

	for (size_t i = 0; i < count && i < MAX_RELOCATION && gelf_getrela(data, (int)i, &relocation); i++) {
		enum slot_kind kind = kind_of(search, GELF_R_TYPE(relocation.r_info));

		if (kind == SLOT_OTHER)
			continue;
		if (is_about(search, header, &relocation))
			return read_slot(search, kind, relocation.r_offset, found);
		if (++variables == MAX_VARIABLES)
			break;
	}
	return LODE_THREAD_LOCAL_NONE;
}

static enum lode_thread_local_state find_in_library(const struct search *search, struct lode_thread_local *found)
{
	enum lode_thread_local_state state = LODE_THREAD_LOCAL_NONE;
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while (state == LODE_THREAD_LOCAL_NONE && (section = elf_nextscn(search->elf.elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA)
			state = find_in_section(search, section, &header, found);
	return state;
}

enum lode_thread_local_state lode_thread_local_find(const struct lode_process_memory *memory,
						    const struct lode_thread_local_request *request,
						    struct lode_thread_local *found)
{
	struct search search = { .memory = memory, .request = request };
	enum lode_thread_local_state state = LODE_THREAD_LOCAL_NONE;

	if (lode_elf_open(&search.elf, request->path))
		return LODE_THREAD_LOCAL_NONE;
	if (is_variable(&search.elf, request->name, &search.symbol) && find_parts(&search))
		state = is_program(&search) ? find_in_program(&search, found) : find_in_library(&search, found);
	lode_elf_close(&search.elf);
	return state;
}
