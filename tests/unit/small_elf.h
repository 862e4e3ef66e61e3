/* A small ELF file in memory, of any machine: one section of code, and its name. */
#ifndef LODE_TESTS_SMALL_ELF_H
#define LODE_TESTS_SMALL_ELF_H

#include <elf.h>
#include <stdlib.h>
#include <string.h>

struct small_elf {
	unsigned char *bytes; /* to be freed */
	size_t size;
};

/* `address`: where the section is. `bytes` is NULL when memory has run out. */
static inline struct small_elf make_small_elf(uint16_t machine, const char *name, uint64_t address,
					      const void *code, size_t size)
{
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = machine,
		.e_version = EV_CURRENT,
		.e_shoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
		.e_shstrndx = 2,
	};
	Elf64_Shdr sections[3] = {
		{ 0 },
		{ .sh_name = 1,
		  .sh_type = SHT_PROGBITS,
		  .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		  .sh_addr = address,
		  .sh_offset = sizeof(header) + sizeof(sections),
		  .sh_size = size },
		{ .sh_name = 0,
		  .sh_type = SHT_STRTAB,
		  .sh_offset = sizeof(header) + sizeof(sections) + size,
		  .sh_size = strlen(name) + 2 },
	};
	struct small_elf file = { .size = sections[2].sh_offset + sections[2].sh_size };

	file.bytes = calloc(1, file.size);
	if (!file.bytes)
		return file;
	memcpy(file.bytes, &header, sizeof(header));
	memcpy(file.bytes + sizeof(header), sections, sizeof(sections));
	if (size)
		memcpy(file.bytes + sections[1].sh_offset, code, size);
	memcpy(file.bytes + sections[2].sh_offset + 1, name, strlen(name) + 1);
	return file;
}

#endif
