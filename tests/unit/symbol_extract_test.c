/* Extracts of symbols: this program's says the same of each function as the program itself. */
#include "cmocka_all.h"

#include "base/file.h"
#include "base/memory.h"
#include "small_elf.h"
#include "symbols/symbol_extract.h"
#include "symbols/image.h"
#include "symbols/symbols.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWN "/proc/self/exe"

static void make_own(struct lode_symbol_extract *extract)
{
	struct lode_error error;
	struct lode_map map;

	assert_int_equal(lode_map_open(&map, OWN, &error), 0);
	if (lode_symbol_extract_make(extract, map.bytes, map.size, &error))
		fail_msg("%s", error.text);
	assert_true(extract->file.size < map.size);
	lode_map_close(&map);
}

/* Writes it where symbols of a corpus are: FOLDER/.build-id/xx/yyyy.debug. */
static void keep(const char *folder, const struct lode_symbol_extract *extract, char path[256])
{
	FILE *file;

	snprintf(path, 256, "%s/.build-id", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, 256, "%s/.build-id/%.2s", folder, extract->build_id);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, 256, "%s/.build-id/%.2s/%s.debug", folder, extract->build_id, extract->build_id + 2);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(extract->file.bytes, extract->file.size, 1, file), 1);
	assert_int_equal(fclose(file), 0);
}

static void forget(const char *folder, char *path)
{
	assert_int_equal(unlink(path), 0);
	*strrchr(path, '/') = '\0';
	assert_int_equal(rmdir(path), 0);
	*strrchr(path, '/') = '\0';
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

/* Each function of the program, at its beginning, by offset in the file. Returns how many have a name. */
static size_t compare(struct lode_image *own, struct lode_image *kept)
{
	size_t named = 0;

	lode_image_load(own);
	lode_image_load(kept);
	assert_true(own->table.segments > 100);
	for (size_t i = 0; i < own->table.segments; i++) {
		struct lode_symbol one = { .name = NULL }, other = { .name = NULL };
		uint64_t address = own->table.starts[i];
		int has_one = lode_image_find(own, address, &one),
		    has_other = lode_image_find(kept, address, &other);

		if (has_one && one.name && !strstr(one.name, "@plt")) {
			assert_true(has_other && other.name);
			assert_string_equal(one.name, other.name);
			named++;
		}
	}
	for (uint64_t offset = 0; offset < 1u << 20; offset += 4093)
		assert_int_equal(lode_image_address(own, offset), lode_image_address(kept, offset));
	return named;
}

static void an_extract_names_what_its_program_names(void **state)
{
	char folder[] = "/tmp/lode-extract-XXXXXX", path[256];
	struct lode_symbols_options options = { .cache = "" };
	struct lode_symbolizer *of_program, *of_extract;
	struct lode_symbol_extract extract;
	struct lode_error error;

	(void)state;
	assert_non_null(mkdtemp(folder));
	make_own(&extract);
	assert_true(extract.has_all);
	keep(folder, &extract, path);
	assert_int_equal(lode_symbolizer_create(&of_program, &options, &error), 0);
	options.kept = folder;
	assert_int_equal(lode_symbolizer_create(&of_extract, &options, &error), 0);
	assert_true(compare(lode_symbolizer_binary(of_program, OWN, ""),
			    lode_symbolizer_binary(of_extract, "/no/such/program", extract.build_id)) > 50);
	lode_symbolizer_destroy(of_program);
	lode_symbolizer_destroy(of_extract);
	lode_symbol_extract_release(&extract);
	forget(folder, path);
}

static void the_extract_of_an_extract_is_the_same(void **state)
{
	struct lode_symbol_extract extract, again;

	(void)state;
	make_own(&extract);
	assert_int_equal(lode_symbol_extract_make(&again, extract.file.bytes, extract.file.size, NULL), 0);
	assert_string_equal(extract.build_id, again.build_id);
	assert_int_equal(extract.file.size, again.file.size);
	assert_memory_equal(extract.file.bytes, again.file.bytes, again.file.size);
	lode_symbol_extract_release(&extract);
	lode_symbol_extract_release(&again);
}

static void expect_refusal(const void *bytes, size_t size, const char *words)
{
	struct lode_symbol_extract extract;
	struct lode_error error = { "" };

	assert_int_equal(lode_symbol_extract_make(&extract, bytes, size, &error), LODE_BAD_INPUT);
	if (!strstr(error.text, words))
		fail_msg("'%s' does not say '%s'", error.text, words);
	lode_symbol_extract_release(&extract);
}

static void what_is_no_program_is_refused(void **state)
{
	struct small_elf small = make_small_elf(EM_X86_64, ".text", 0x1000, "\xc3", 1);
	Elf64_Shdr *sections;

	(void)state;
	assert_non_null(small.bytes);
	sections = (Elf64_Shdr *)(void *)(small.bytes + sizeof(Elf64_Ehdr));
	expect_refusal("", 0, "does not begin like an ELF file");
	expect_refusal("\177ELF", 4, "does not begin like an ELF file");
	expect_refusal(small.bytes, small.size, "no build-id");
	expect_refusal(small.bytes, sizeof(Elf64_Ehdr) + 10, "no sections");
	expect_refusal(small.bytes, sizeof(Elf64_Ehdr) + 100, "section headers are not in the file");
	sections[1].sh_type = SHT_SYMTAB;
	sections[1].sh_size = UINT64_MAX - 2;
	expect_refusal(small.bytes, small.size, "a section is not in the file");
	small.bytes[EI_DATA] = ELFDATA2MSB;
	expect_refusal(small.bytes, small.size, "64 bits");
	free(small.bytes);
}

/* A thousand sections of the same bytes would make an extract that is much larger than the file. */
static void sections_cannot_share_bytes(void **state)
{
	enum { SECTIONS = 1000, BYTES = 1 << 20 };
	unsigned char *bytes = lode_calloc(BYTES, 1);
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_shoff = sizeof(header),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTIONS,
	};

	(void)state;
	assert_non_null(bytes);
	memcpy(bytes, &header, sizeof(header));
	for (int i = 0; i < SECTIONS; i++) {
		Elf64_Shdr section = { .sh_type = SHT_STRTAB, .sh_offset = 0, .sh_size = BYTES };

		memcpy(bytes + sizeof(header) + sizeof(section) * (size_t)i, &section, sizeof(section));
	}
	expect_refusal(bytes, BYTES, "its sections overlap");
	lode_free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_extract_names_what_its_program_names),
		cmocka_unit_test(the_extract_of_an_extract_is_the_same),
		cmocka_unit_test(what_is_no_program_is_refused),
		cmocka_unit_test(sections_cannot_share_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
