/*
 * Extracts of symbols: see symbol_extract.h.
 *
 * The file is a stranger's: what its headers say is checked against its size, and sections that share bytes cannot make the
 * extract larger than the file.
 */
#include "symbols/symbol_extract.h"

#include "base/memory.h"

#include <string.h>

#define ALIGNMENT 8

struct extracting {
	const unsigned char *bytes;
	size_t size;
	Elf64_Ehdr header;
	Elf64_Shdr *sections;
	size_t count;
	const char *names;
	size_t names_size;
	struct lode_buffer *file;
};

static int is_inside(const struct extracting *extracting, uint64_t offset, uint64_t size)
{
	return offset <= extracting->size && size <= extracting->size - offset;
}

static int refuse(struct lode_error *error, const char *why)
{
	return lode_fail(error, LODE_BAD_INPUT, "it is not a program, a library or a debug file of these: %s", why);
}

static int read_header(struct extracting *extracting, struct lode_error *error)
{
	const Elf64_Ehdr *header = &extracting->header;

	if (extracting->size < sizeof(*header) || memcmp(extracting->bytes, ELFMAG, SELFMAG) != 0)
		return refuse(error, "it does not begin like an ELF file");
	memcpy(&extracting->header, extracting->bytes, sizeof(*header));
	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
		return refuse(error, "it is not of 64 bits, little-endian");
	if (header->e_shentsize != sizeof(Elf64_Shdr) ||
	    !is_inside(extracting, header->e_shoff, sizeof(Elf64_Shdr)))
		return refuse(error, "it has no sections");
	if (header->e_phnum &&
	    (header->e_phnum == PN_XNUM || header->e_phentsize != sizeof(Elf64_Phdr) ||
	     !is_inside(extracting, header->e_phoff, (uint64_t)header->e_phnum * sizeof(Elf64_Phdr))))
		return refuse(error, "its program headers are not in the file");
	return 0;
}

/* Numbers that do not fit into the header are in the first section. */
static int read_sections(struct extracting *extracting, struct lode_error *error)
{
	const Elf64_Ehdr *header = &extracting->header;
	Elf64_Shdr first;
	uint64_t count, names;

	memcpy(&first, extracting->bytes + header->e_shoff, sizeof(first));
	count = header->e_shnum ? header->e_shnum : first.sh_size;
	names = header->e_shstrndx == SHN_XINDEX ? first.sh_link : header->e_shstrndx;
	if (count > extracting->size / sizeof(first) || names >= count ||
	    !is_inside(extracting, header->e_shoff, count * sizeof(first)))
		return refuse(error, "its section headers are not in the file");
	extracting->sections = lode_calloc(count, sizeof(*extracting->sections));
	if (!extracting->sections)
		return lode_fail_memory(error);
	memcpy(extracting->sections, extracting->bytes + header->e_shoff, count * sizeof(first));
	extracting->count = count;
	first = extracting->sections[names];
	if (first.sh_type != SHT_STRTAB || !is_inside(extracting, first.sh_offset, first.sh_size))
		return refuse(error, "the names of its sections are not in the file");
	extracting->names = (const char *)extracting->bytes + first.sh_offset;
	extracting->names_size = first.sh_size;
	return 0;
}

static int has_name(const struct extracting *extracting, const Elf64_Shdr *section, const char *name)
{
	size_t length = strlen(name) + 1;

	return section->sh_name < extracting->names_size && length <= extracting->names_size - section->sh_name &&
	       memcmp(extracting->names + section->sh_name, name, length) == 0;
}

static int is_kept(const struct extracting *extracting, const Elf64_Shdr *section)
{
	static const char *const names[] = { ".eh_frame", ".eh_frame_hdr", ".debug_frame", ".gnu_debugdata",
					     ".rela.plt" };

	/* Readers would unpack it, however large it says that it is. */
	if (section->sh_flags & SHF_COMPRESSED)
		return 0;
	switch (section->sh_type) {
	case SHT_STRTAB:
	case SHT_SYMTAB:
	case SHT_DYNSYM:
	case SHT_SYMTAB_SHNDX:
	case SHT_NOTE: /* one of them has the build-id */
		return 1;
	case SHT_NOBITS:
	case SHT_NULL:
		return 0;
	default:
		break;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (has_name(extracting, section, names[i]))
			return 1;
	return 0;
}

static void align(struct lode_buffer *file)
{
	while (file->size % ALIGNMENT && !file->failed)
		lode_buffer_byte(file, 0);
}

/* Appends the contents of a section, or leaves only its header, as for memory without contents. */
static int write_section(struct extracting *extracting, Elf64_Shdr *section, struct lode_error *error)
{
	struct lode_buffer *file = extracting->file;

	if (!is_kept(extracting, section)) {
		if (section->sh_type != SHT_NULL)
			section->sh_type = SHT_NOBITS;
		section->sh_offset = file->size;
		return 0;
	}
	if (!is_inside(extracting, section->sh_offset, section->sh_size))
		return refuse(error, "a section is not in the file");
	align(file);
	if (file->size + section->sh_size > extracting->size + ALIGNMENT * extracting->count)
		return refuse(error, "its sections overlap");
	/* What a program would load is not all there: nobody must take it for the program. */
	if (section->sh_type != SHT_NOTE)
		section->sh_flags &= ~(uint64_t)SHF_ALLOC;
	lode_buffer_add(file, extracting->bytes + section->sh_offset, section->sh_size);
	section->sh_offset = file->size - section->sh_size;
	return 0;
}

static int write_file(struct extracting *extracting, struct lode_error *error)
{
	struct lode_buffer *file = extracting->file;
	Elf64_Ehdr header = extracting->header;
	int code = 0;

	header.e_phoff = header.e_phnum ? sizeof(header) : 0;
	lode_buffer_add(file, &header, sizeof(header));
	if (header.e_phnum)
		lode_buffer_add(file, extracting->bytes + extracting->header.e_phoff,
				header.e_phnum * sizeof(Elf64_Phdr));
	for (size_t i = 0; !code && i < extracting->count; i++)
		code = write_section(extracting, &extracting->sections[i], error);
	if (code)
		return code;
	align(file);
	header.e_shoff = file->size;
	lode_buffer_add(file, extracting->sections, extracting->count * sizeof(*extracting->sections));
	if (file->failed)
		return lode_fail_memory(error);
	memcpy(file->bytes, &header, sizeof(header));
	return 0;
}

/* What the extract says of itself. */
static int describe(struct lode_symbol_extract *extract, struct lode_error *error)
{
	struct lode_elf elf;

	if (lode_elf_memory(&elf, extract->file.bytes, extract->file.size) < 0)
		return refuse(error, "its headers contradict each other");
	lode_elf_build_id(&elf, extract->build_id);
	extract->has_all = lode_elf_has_symtab(&elf);
	lode_elf_close(&elf);
	return *extract->build_id
		       ? 0
		       : lode_fail(error, LODE_BAD_INPUT,
				   "it has no build-id, by which its symbols could be found; link it with "
				   "-Wl,--build-id");
}

int lode_symbol_extract_make(struct lode_symbol_extract *extract, const void *bytes, size_t size,
			     struct lode_error *error)
{
	struct extracting extracting = { .bytes = bytes, .size = size, .file = &extract->file };
	int code;

	memset(extract, 0, sizeof(*extract));
	code = read_header(&extracting, error);
	if (!code)
		code = read_sections(&extracting, error);
	if (!code)
		code = write_file(&extracting, error);
	lode_free(extracting.sections);
	return code ? code : describe(extract, error);
}

void lode_symbol_extract_release(struct lode_symbol_extract *extract)
{
	lode_buffer_release(&extract->file);
}
