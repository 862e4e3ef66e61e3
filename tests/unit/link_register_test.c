/*
 * Whether the link register holds the caller: of small binaries of both machines, made here, so that each machine
 * reads its own and the other's.
 */
#include "cmocka_all.h"
#include "temporary.h"

#include "symbols/symbols.h"

#include <dwarf.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>

enum { NONE, TEXT, FRAMES, NAMES, SECTIONS };
enum { CODE_ADDRESS = 0x1000, CODE_SIZE = 64 };

static const char section_names[] = "\0.text\0.eh_frame\0.shstrtab";

/* clang-format off */
/* A function that starts with its caller in the link register, saves it after four bytes, and is a root from byte 8. */
static const unsigned char frames_aarch64[] = {
	/* Shared: the length, 0, version 1, "zR", alignments 4 and -8, register 30, addresses of 4 bytes. */
	20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 4, 0x78, 30, 1, DW_EH_PE_udata4,
	DW_CFA_def_cfa, 31, 0, 0, 0, 0, 0,
	/* The function: the length, the distance to the above, the start, the size. */
	24, 0, 0, 0, 28, 0, 0, 0, 0, CODE_ADDRESS >> 8, 0, 0, CODE_SIZE, 0, 0, 0, 0,
	DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 30, 2,
	DW_CFA_advance_loc | 1, DW_CFA_undefined, 30, 0, 0, 0,
	0, 0, 0, 0,
};
/* The same where calls push the return address: register 16. */
static const unsigned char frames_x86_64[] = {
	20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, DW_EH_PE_udata4,
	DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1, 0, 0,
	24, 0, 0, 0, 28, 0, 0, 0, 0, CODE_ADDRESS >> 8, 0, 0, CODE_SIZE, 0, 0, 0, 0,
	DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset, 16, 0, 0,
	DW_CFA_advance_loc | 4, DW_CFA_undefined, 16, 0, 0, 0,
	0, 0, 0, 0,
};
/* clang-format on */

struct binary {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[SECTIONS];
	unsigned char code[CODE_SIZE];
	unsigned char frames[64];
	char names[sizeof(section_names)];
};

static Elf64_Shdr describe(uint32_t name, uint32_t type, uint64_t address, size_t offset, size_t size)
{
	return (Elf64_Shdr){ .sh_name = name,
			     .sh_type = type,
			     .sh_flags = address ? SHF_ALLOC : 0,
			     .sh_addr = address,
			     .sh_offset = offset,
			     .sh_size = size,
			     .sh_addralign = 1 };
}

static void write_binary(const char *path, Elf64_Half machine, const unsigned char *frames, size_t size)
{
	struct binary binary = {
		.header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			    .e_type = ET_DYN,
			    .e_machine = machine,
			    .e_version = EV_CURRENT,
			    .e_phoff = offsetof(struct binary, segment),
			    .e_shoff = offsetof(struct binary, sections),
			    .e_ehsize = sizeof(Elf64_Ehdr),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 1,
			    .e_shentsize = sizeof(Elf64_Shdr),
			    .e_shnum = SECTIONS,
			    .e_shstrndx = NAMES },
		.segment = { .p_type = PT_LOAD,
			     .p_flags = PF_R | PF_X,
			     .p_offset = offsetof(struct binary, code),
			     .p_vaddr = CODE_ADDRESS,
			     .p_filesz = CODE_SIZE,
			     .p_memsz = CODE_SIZE,
			     .p_align = 1 },
	};
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_true(size <= sizeof(binary.frames));
	binary.sections[TEXT] =
		describe(1, SHT_PROGBITS, CODE_ADDRESS, offsetof(struct binary, code), sizeof(binary.code));
	binary.sections[TEXT].sh_flags |= SHF_EXECINSTR;
	binary.sections[FRAMES] = describe(7, SHT_PROGBITS, 0x2000, offsetof(struct binary, frames), size);
	binary.sections[NAMES] = describe(17, SHT_STRTAB, 0, offsetof(struct binary, names), sizeof(binary.names));
	memcpy(binary.frames, frames, size);
	memcpy(binary.names, section_names, sizeof(section_names));
	assert_int_equal(fwrite(&binary, sizeof(binary), 1, file), 1);
	assert_int_equal(fclose(file), 0);
}

/* What is said of the bytes from the function's start in steps of four. */
static void check_answers(Elf64_Half machine, const unsigned char *frames, size_t size, const int *expected,
			  size_t count)
{
	const struct lode_symbols_options options = { .cache = "" };
	struct lode_symbolizer *symbolizer;
	struct lode_error error;
	struct lode_image *image;
	char folder[64], path[80];

	assert_int_equal(temporary_folder(folder, sizeof(folder)), 0);
	snprintf(path, sizeof(path), "%s/binary", folder);
	write_binary(path, machine, frames, size);
	assert_int_equal(lode_symbolizer_create(&symbolizer, &options, &error), 0);
	image = lode_symbolizer_binary(symbolizer, path, "");
	assert_non_null(image);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(lode_image_link_register(image, CODE_ADDRESS + 4 * i), expected[i]);
	assert_int_equal(lode_image_link_register(image, CODE_ADDRESS + CODE_SIZE), -1);
	lode_symbolizer_destroy(symbolizer);
	assert_int_equal(temporary_remove(folder), 0);
}

static void a_function_of_aarch64_holds_its_caller_there_until_it_saves_it(void **state)
{
	const int expected[] = { 1, 0, 0 };

	(void)state;
	check_answers(EM_AARCH64, frames_aarch64, sizeof(frames_aarch64), expected, 3);
}

static void x86_64_has_no_link_register(void **state)
{
	const int expected[] = { -1, -1, -1 };

	(void)state;
	check_answers(EM_X86_64, frames_x86_64, sizeof(frames_x86_64), expected, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_of_aarch64_holds_its_caller_there_until_it_saves_it),
		cmocka_unit_test(x86_64_has_no_link_register),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
