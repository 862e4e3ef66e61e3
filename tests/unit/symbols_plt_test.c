/*
 * The procedure linkage tables of x86-64, in a small file made here, so that they
 * are tried on every machine.
 */
#include "cmocka_all.h"

#include "symbols/elf.h"

#include "base/error.h"

#include <string.h>

enum section { NONE, PLT, PLT_SEC, PLT_GOT, RELA_PLT, RELA_DYN, DYNSYM, DYNSTR, NAMES, SECTIONS };

static const char section_names[] = "\0.plt\0.plt.sec\0.plt.got\0.rela.plt\0.rela.dyn\0.dynsym\0.dynstr"
				    "\0.shstrtab";
static const char symbol_names[] = "\0free\0puts\0exit";

/* The file: its header, its section headers, then the contents in the order of the sections. */
struct file {
	_Alignas(16) unsigned char bytes[4096];
	size_t size;
};

static Elf64_Shdr *header_of(struct file *file, enum section section)
{
	return (Elf64_Shdr *)(void *)(file->bytes + sizeof(Elf64_Ehdr)) + section;
}

static void add_bytes(struct file *file, enum section section, const void *bytes, size_t size)
{
	Elf64_Shdr *header = header_of(file, section);

	assert_true(file->size + size <= sizeof(file->bytes));
	if (!header->sh_size)
		header->sh_offset = file->size;
	assert_int_equal(header->sh_offset + header->sh_size, file->size);
	memcpy(file->bytes + file->size, bytes, size);
	file->size += size;
	header->sh_size += size;
}

/* An entry of `size` bytes: `prefix`, a jump through `slot`, the rest filled up. */
static void add_entry(struct file *file, enum section section, const char *prefix, uint64_t slot, size_t size)
{
	Elf64_Shdr *header = header_of(file, section);
	size_t length = strlen(prefix);
	int32_t distance = (int32_t)(slot - (header->sh_addr + header->sh_size + length + 6));
	unsigned char code[16];

	memset(code, 0x90, sizeof(code));
	memcpy(code, prefix, length);
	code[length] = 0xff;
	code[length + 1] = 0x25;
	memcpy(code + length + 2, &distance, sizeof(distance));
	add_bytes(file, section, code, size);
}

static void add_relocation(struct file *file, enum section section, uint64_t slot, uint32_t symbol, uint32_t type,
			   int64_t addend)
{
	Elf64_Rela relocation = { slot, ELF64_R_INFO((uint64_t)symbol, type), addend };

	add_bytes(file, section, &relocation, sizeof(relocation));
}

static void add_symbol(struct file *file, uint32_t name)
{
	Elf64_Sym symbol = { .st_name = name, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC) };

	add_bytes(file, DYNSYM, &symbol, sizeof(symbol));
}

static void describe(struct file *file, enum section section, uint32_t type, uint64_t address, uint64_t entry,
		     uint32_t link)
{
	Elf64_Shdr *header = header_of(file, section);
	const char *name = section_names;

	for (enum section i = NONE; i < section; i++)
		name += strlen(name) + 1;
	*header = (Elf64_Shdr){
		.sh_name = (uint32_t)(name - section_names),
		.sh_type = type,
		.sh_addr = address,
		.sh_offset = file->size,
		.sh_entsize = entry,
		.sh_link = link,
		.sh_addralign = 1,
	};
}

static void begin_file(struct file *file)
{
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_shoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTIONS,
		.e_shstrndx = NAMES,
	};

	memset(file, 0, sizeof(*file));
	memcpy(file->bytes, &header, sizeof(header));
	file->size = sizeof(header) + SECTIONS * sizeof(Elf64_Shdr);
	describe(file, PLT, SHT_PROGBITS, 0x1000, 16, 0);
	describe(file, PLT_SEC, SHT_PROGBITS, 0x2000, 16, 0);
	describe(file, PLT_GOT, SHT_PROGBITS, 0x3000, 8, 0);
	describe(file, RELA_PLT, SHT_RELA, 0, sizeof(Elf64_Rela), DYNSYM);
	describe(file, RELA_DYN, SHT_RELA, 0, sizeof(Elf64_Rela), DYNSYM);
	describe(file, DYNSYM, SHT_DYNSYM, 0, sizeof(Elf64_Sym), DYNSTR);
	describe(file, DYNSTR, SHT_STRTAB, 0, 0, 0);
	describe(file, NAMES, SHT_STRTAB, 0, 0, 0);
}

/* As linkers write it: the chosen function first among the entries, last among the relocations. */
static void make_file(struct file *file)
{
	begin_file(file);
	add_entry(file, PLT, "\xff\x35\x02\x30\x01\x01", 0x4010, 16);
	add_entry(file, PLT, "", 0x4018, 16);
	add_entry(file, PLT, "", 0x4020, 16);
	add_entry(file, PLT, "", 0x4028, 16);
	add_entry(file, PLT, "", 0x4030, 16);
	add_entry(file, PLT_SEC, "\xf3\x0f\x1e\xfa\xf2", 0x4028, 16);
	add_entry(file, PLT_SEC, "\xf3\x0f\x1e\xfa", 0x4020, 16);
	add_entry(file, PLT_GOT, "", 0x5000, 8);
	add_entry(file, PLT_GOT, "", 0x5008, 8);
	add_entry(file, PLT_GOT, "", 0x4018, 7);
	add_relocation(file, RELA_PLT, 0x4020, 1, R_X86_64_JUMP_SLOT, 0);
	add_relocation(file, RELA_PLT, 0x4028, 2, R_X86_64_JUMP_SLOT, 0);
	add_relocation(file, RELA_PLT, 0x4018, 0, R_X86_64_IRELATIVE, 0x1234);
	add_relocation(file, RELA_DYN, 0x5008, 0, R_X86_64_RELATIVE, 0x1234);
	add_relocation(file, RELA_DYN, 0x5000, 3, R_X86_64_GLOB_DAT, 0);
	add_symbol(file, 0);
	add_symbol(file, 1);
	add_symbol(file, 6);
	add_symbol(file, 11);
	add_bytes(file, DYNSTR, symbol_names, sizeof(symbol_names));
	add_bytes(file, NAMES, section_names, sizeof(section_names));
}

static int read_file(struct file *file, struct lode_table *table)
{
	struct lode_table_builder builder = { 0 };
	struct lode_elf elf;
	int code;

	assert_int_equal(lode_elf_memory(&elf, file->bytes, file->size), 0);
	code = lode_elf_read_symbols(&elf, &elf, &builder);
	if (lode_table_finish(&builder, table) < 0)
		code = LODE_SYSTEM;
	else if (code < 0)
		lode_table_release(table);
	lode_elf_close(&elf);
	return code;
}

static const char *name_at(const struct lode_table *table, uint64_t address)
{
	uint32_t record = lode_table_find(table, address);
	const char *name = record == LODE_NONE ? NULL : lode_table_text(table, table->records[record].name);

	return name ? name : "";
}

static void check_names(const struct lode_table *table)
{
	assert_string_equal(name_at(table, 0x1000), ""); /* the head */
	assert_string_equal(name_at(table, 0x1010), "*ABS*+0x1234@plt");
	assert_string_equal(name_at(table, 0x1020), "free@plt");
	assert_string_equal(name_at(table, 0x103f), "puts@plt");
	assert_string_equal(name_at(table, 0x1040), ""); /* nothing fills its slot */
	assert_string_equal(name_at(table, 0x2000), "puts@plt");
	assert_string_equal(name_at(table, 0x201f), "free@plt");
	assert_string_equal(name_at(table, 0x2020), "");
	assert_string_equal(name_at(table, 0x3000), "exit@plt");
	assert_string_equal(name_at(table, 0x3007), "exit@plt");
	assert_string_equal(name_at(table, 0x3008), ""); /* its slot holds no function */
	assert_string_equal(name_at(table, 0x3010), ""); /* cut off */
}

static void entries_are_named_after_the_slots_they_jump_through(void **state)
{
	struct lode_table table;
	struct file file;

	(void)state;
	make_file(&file);
	assert_int_equal(read_file(&file, &table), 0);
	check_names(&table);
	lode_table_release(&table);
}

static void memory_that_runs_out_is_reported(void **state)
{
	struct lode_table table;
	struct file file;
	uint64_t nth = 0;
	int code;

	(void)state;
	make_file(&file);
	do {
		lode_memory_fail_at(++nth, 0);
		code = read_file(&file, &table);
		lode_memory_fail_at(0, 0);
		assert_true(code == 0 || code == LODE_SYSTEM);
	} while (code < 0);
	assert_true(nth > 5);
	check_names(&table);
	lode_table_release(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_are_named_after_the_slots_they_jump_through),
		cmocka_unit_test(memory_that_runs_out_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
