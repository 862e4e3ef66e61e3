/*
 * Symbols: tables, the parsers of text, the choice among names, and this very
 * program as an ELF file, compared with slow and simple ways to the same answer.
 */
#include "cmocka_all.h"
#include "random_stream.h"

#include "symbols/demangle.h"
#include "symbols/elf.h"
#include "symbols/image.h"
#include "symbols/symbols.h"

#include "base/error.h"
#include "base/sort_order.h"

#include <dlfcn.h>
#include <elfutils/libdw.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- tables ---- */

static uint32_t slow_owner(const struct lode_table_record *records, size_t count, uint64_t address)
{
	uint32_t owner = LODE_NONE;

	for (size_t i = 0; i < count; i++)
		if (records[i].start <= address && address < records[i].end)
			owner = (uint32_t)i;
	return owner;
}

static void check_random_ranges(uint64_t *seed)
{
	struct lode_table_builder builder = { 0 };
	size_t count = random_below(seed, 60);
	uint64_t space = 1 + random_below(seed, 200);
	uint64_t offset = random_below(seed, 2) ? 0 : 0xffff800000000000u;
	struct lode_table_record copy[60];
	struct lode_table table;

	for (size_t i = 0; i < count; i++) {
		uint64_t start = offset + random_below(seed, space);

		copy[i] = (struct lode_table_record){ start, start + random_below(seed, 40), 0, 0 };
		lode_table_add(&builder, copy[i].start, copy[i].end, 0, 0);
	}
	assert_int_equal(lode_table_finish(&builder, &table), 0);
	for (uint64_t address = offset ? offset - 3 : 0; address < offset + space + 50; address++)
		assert_int_equal(lode_table_find(&table, address), slow_owner(copy, count, address));
	assert_int_equal(lode_table_find(&table, UINT64_MAX), LODE_NONE);
	for (size_t i = 1; i < table.segments; i++)
		assert_true(table.starts[i - 1] < table.starts[i]);
	lode_table_release(&table);
}

static void where_ranges_overlap_the_later_one_owns_the_address(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (int i = 0; i < 3000; i++)
		check_random_ranges(&seed);
}

static void a_table_without_records_owns_nothing(void **state)
{
	struct lode_table_builder builder = { 0 };
	struct lode_table table;

	(void)state;
	assert_int_equal(lode_table_finish(&builder, &table), 0);
	assert_int_equal(lode_table_find(&table, 0), LODE_NONE);
	assert_null(lode_table_text(&table, LODE_NONE));
	assert_null(lode_table_text(&table, 5));
	lode_table_release(&table);
}

static void sorting_is_by_key_and_keeps_the_order_of_equal_keys(void **state)
{
	static uint64_t keys[6000];
	static uint32_t order[6000];
	uint64_t seed = 11;

	(void)state;
	for (int round = 0; round < 300; round++) {
		size_t count = random_below(&seed, round % 20 ? 500 : 6000);
		unsigned bits = 1 + (unsigned)random_below(&seed, 64);
		uint64_t least = random_number(&seed) >> (64 - bits) / 2;

		for (size_t i = 0; i < count; i++)
			keys[i] = round % 3 == 0   ? random_number(&seed)
				  : round % 3 == 1 ? random_below(&seed, 20) << 40
						   : least + (random_number(&seed) >> (64 - bits));
		assert_int_equal(lode_sort_order(keys, count, order), 0);
		for (size_t i = 1; i < count; i++) {
			assert_true(keys[order[i - 1]] <= keys[order[i]]);
			if (keys[order[i - 1]] == keys[order[i]])
				assert_true(order[i - 1] < order[i]);
		}
	}
}

/* ---- names ---- */

static void check_readable(const char *name, const char *expected)
{
	struct lode_buffer buffer = { 0 };

	lode_demangle(name, 1, &buffer);
	lode_buffer_byte(&buffer, '\0');
	assert_string_equal(buffer.bytes, expected);
	lode_buffer_release(&buffer);
}

static void names_are_made_readable(void **state)
{
	(void)state;
	check_readable("main", "main");
	check_readable("memcpy@@GLIBC_2.17", "memcpy");
	check_readable("old_name@GLIBC_2.2.5", "old_name");
	check_readable("puts@plt", "puts@plt");
	check_readable("_ZdlPv@plt", "operator delete@plt");
	check_readable("_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back");
	check_readable("_ZN3fooEv.cold", "foo");
	check_readable("parse.cold", "parse");
	check_readable("parse.cold.12@@LIB_2", "parse");
	check_readable("parse.part.0.cold", "parse.part.0");
	check_readable("parse.12", "parse.12");
	check_readable("parse.colder", "parse.colder");
	check_readable(".cold", ".cold");
	check_readable("12", "12");
	check_readable("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad");
	check_readable("_RNvCs1234_7mycrate3foo", "mycrate::foo");
	check_readable("_Zwhatever", "_Zwhatever");
	check_readable("_", "_");
	check_readable("", "");
	check_readable("@", "@");
}

/* f<pair<int, int>, pair<A, A>, …>, where each A means the whole argument before it. */
static void folded_name(char *name, size_t size, unsigned levels)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t length = (size_t)snprintf(name, size, "_Z1fI4pairIiiE");

	for (unsigned i = 1; i <= levels; i++)
		length += (size_t)snprintf(name + length, size - length, "S0_IS%c_S%c_E", digits[i], digits[i]);
	snprintf(name + length, size - length, "EvT_");
}

static void a_name_that_unfolds_without_end_stays_as_it_is(void **state)
{
	char name[1000];

	(void)state;
	folded_name(name, sizeof(name), 1);
	check_readable(name, "f<pair<int, int>, pair<pair<int, int>, pair<int, int> > >");
	folded_name(name, sizeof(name), 34);
	check_readable(name, name);
}

/* ---- the choice among names at one address ---- */

struct alias {
	const char *name;
	uint64_t size;
	uint8_t binding;
	uint8_t type;
};

/* The name of address 0x1000 when the aliases are all there, in this order. */
static void check_choice(const struct alias *aliases, size_t count, const char *expected)
{
	struct lode_table_builder builder = { 0 };
	struct lode_elf_symbols symbols = { 0 };
	struct lode_table table;
	uint32_t record;

	for (size_t i = 0; i < count; i++) {
		struct lode_elf_symbol symbol = {
			.start = 0x1000,
			.end = 0x1000 + aliases[i].size,
			.name = lode_table_name(&builder, aliases[i].name, strlen(aliases[i].name)),
			.binding = aliases[i].binding,
			.type = aliases[i].type,
		};

		lode_elf_symbols_add(&symbols, &symbol);
	}
	assert_int_equal(lode_elf_choose(&symbols, &builder), 0);
	assert_int_equal(lode_table_finish(&builder, &table), 0);
	record = lode_table_find(&table, 0x1000);
	assert_int_not_equal(record, LODE_NONE);
	assert_string_equal(lode_table_text(&table, table.records[record].name), expected);
	lode_table_release(&table);
	free(symbols.items);
}

static void among_names_of_one_function_the_one_that_perf_prints_is_chosen(void **state)
{
	const struct alias sized[] = { { "a", 0, STB_GLOBAL, STT_FUNC }, { "b", 4, STB_LOCAL, STT_FUNC } };
	const struct alias weak[] = { { "weaker", 4, STB_WEAK, STT_FUNC }, { "strong", 4, STB_LOCAL, STT_FUNC } };
	const struct alias local[] = { { "longer", 4, STB_LOCAL, STT_FUNC }, { "short", 4, STB_GLOBAL, STT_FUNC } };
	const struct alias low[] = { { "__longer", 4, STB_GLOBAL, STT_FUNC }, { "_s", 4, STB_GLOBAL, STT_FUNC } };
	const struct alias length[] = { { "abc", 4, STB_GLOBAL, STT_FUNC }, { "abcd", 4, STB_GLOBAL, STT_FUNC } };
	const struct alias equal[] = { { "abc", 4, STB_GLOBAL, STT_FUNC }, { "xyz", 4, STB_GLOBAL, STT_FUNC } };
	const struct alias label[] = { { "label", 4, STB_GLOBAL, STT_NOTYPE }, { "f", 4, STB_LOCAL, STT_FUNC } };

	(void)state;
	check_choice(sized, 2, "b");
	check_choice(weak, 2, "strong");
	check_choice(local, 2, "short");
	check_choice(low, 2, "_s");
	check_choice(length, 2, "abcd");
	check_choice(equal, 2, "abc");
	check_choice(label, 2, "f");
}

static void a_symbol_without_a_size_reaches_to_the_next_or_to_the_end_of_its_section(void **state)
{
	struct lode_elf_symbol items[] = {
		{ .start = 0x10, .end = 0x10, .section_end = 0x100 },
		{ .start = 0x40, .end = 0x40, .section_end = 0x50 },
		{ .start = 0x80, .end = 0x90, .section_end = 0x100 },
	};
	struct lode_elf_symbols symbols = { 0 };
	struct lode_table_builder builder = { 0 };
	struct lode_table table;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		items[i].name = lode_table_name(&builder, "f", 1);
		items[i].type = STT_FUNC;
		lode_elf_symbols_add(&symbols, &items[i]);
	}
	assert_int_equal(lode_elf_choose(&symbols, &builder), 0);
	assert_int_equal(lode_table_finish(&builder, &table), 0);
	assert_int_equal(lode_table_find(&table, 0x3f), 0);
	assert_int_equal(lode_table_find(&table, 0x4f), 1);
	assert_int_equal(lode_table_find(&table, 0x50), LODE_NONE);
	assert_int_equal(lode_table_find(&table, 0x8f), 2);
	assert_int_equal(lode_table_find(&table, 0x90), LODE_NONE);
	lode_table_release(&table);
	free(symbols.items);
}

/* ---- perf maps ---- */

static const char *name_at(const struct lode_table *table, uint64_t address)
{
	uint32_t record = lode_table_find(table, address);

	return record == LODE_NONE ? "-" : lode_table_text(table, table->records[record].name);
}

static void in_a_perf_map_later_lines_win_and_wrong_or_cut_off_ones_are_left_out(void **state)
{
	static const char text[] = "7f0000001000 100 first one\n"
				   "0x7f0000001040 0x20 moved here\r\n"
				   "nonsense\n"
				   "7f0000002000 zz wrong size\n"
				   "7f0000002000 0 no size\n"
				   "ffffffffffffffff 10 around the end\n"
				   "12345678901234567 10 too many digits\n"
				   "\n"
				   "7f0000003000 10 _ZN1a@plt\n"
				   "7f0000004000 10 cut o";
	struct lode_table_builder builder = { 0 };
	struct lode_table table;
	uint64_t skipped = 0;

	(void)state;
	assert_int_equal(lode_image_parse_perf_map(&builder, text, sizeof(text) - 1, &skipped), 0);
	assert_int_equal(lode_table_finish(&builder, &table), 0);
	assert_int_equal(skipped, 5);
	assert_string_equal(name_at(&table, 0x7f0000001000), "first one");
	assert_string_equal(name_at(&table, 0x7f0000001040), "moved here");
	assert_string_equal(name_at(&table, 0x7f000000105f), "moved here");
	assert_string_equal(name_at(&table, 0x7f0000001060), "first one");
	assert_string_equal(name_at(&table, 0x7f0000003000), "_ZN1a@plt");
	assert_string_equal(name_at(&table, 0x7f0000004000), "-");
	assert_string_equal(name_at(&table, 0x7f0000002000), "-");
	lode_table_release(&table);
}

/* ---- kallsyms ---- */

static void kallsyms_are_cut_into_functions_and_modules(void **state)
{
	static const char text[] = "ffff800080000000 T _text\n"
				   "ffff800080010000 T _stext\n"
				   "ffff800080010000 t second_name\n"
				   "ffff800080010100 t $x\n"
				   "ffff800080010200 W weak_one\n"
				   "ffff800080010300 D data\n"
				   "ffff800080010400 r constant\n"
				   "ffff800080020000 T last_of_kernel\n"
				   "ffff800079000100 t later\t[ext4]\n"
				   "ffff800079000000 t earlier\t[ext4]\n"
				   "ffff80007a000000 t bpf_prog_6deef7357e7b4530_sd [bpf]\n"
				   "0000000000000000 t hidden\n"
				   "what is this\n"
				   "ffff800080030000 T cut";
	struct lode_table_builder builder = { 0 };
	struct lode_kallsyms kallsyms;
	struct lode_table table;
	uint32_t record;

	(void)state;
	assert_int_equal(lode_image_parse_kallsyms(&builder, text, sizeof(text) - 1, &kallsyms), 0);
	assert_int_equal(lode_table_finish(&builder, &table), 0);
	assert_int_equal(kallsyms.text, 0xffff800080000000);
	assert_int_equal(kallsyms.stext, 0xffff800080010000);
	assert_int_equal(kallsyms.hidden, 1);
	assert_int_equal(kallsyms.skipped, 1);
	assert_string_equal(name_at(&table, 0xffff800080000004), "_text");
	assert_string_equal(name_at(&table, 0xffff8000800101ff), "second_name");
	assert_string_equal(name_at(&table, 0xffff8000800102ff), "weak_one");
	assert_string_equal(name_at(&table, 0xffff800080010300), "-");
	assert_string_equal(name_at(&table, 0xffff800080020004), "last_of_kernel");
	assert_string_equal(name_at(&table, 0xffff800080030004), "-");
	assert_string_equal(name_at(&table, 0xffff8000790000ff), "earlier");
	assert_string_equal(name_at(&table, 0xffff800079000100), "later");
	/* A module ends within two pages, not at the next module. */
	assert_string_equal(name_at(&table, 0xffff800079002000), "-");
	record = lode_table_find(&table, 0xffff80007a000000);
	assert_string_equal(lode_table_text(&table, table.records[record].name), "bpf_prog_6deef7357e7b4530_sd");
	assert_string_equal(lode_table_text(&table, table.records[record].link), "bpf");
	record = lode_table_find(&table, 0xffff800079000100);
	assert_string_equal(lode_table_text(&table, table.records[record].link), "ext4");
	lode_table_release(&table);
}

/* The last function of the kernel itself at or before each address, by reading every line for each. */
struct kallsyms_line {
	uint64_t address;
	char type;
	char name[512];
};

static size_t read_kallsyms(struct kallsyms_line **lines)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	size_t count = 0, capacity = 0;
	char line[1024];

	*lines = NULL;
	while (file && fgets(line, sizeof(line), file)) {
		struct kallsyms_line found;
		unsigned long long address;

		if (sscanf(line, "%llx %c %511s", &address, &found.type, found.name) != 3 || strchr(line, '['))
			continue;
		found.address = address;
		assert_int_equal(lode_grow(lines, &capacity, count + 1, sizeof(**lines)), 0);
		if (strchr("tTwWdDbB", found.type) && found.name[0] != '$')
			(*lines)[count++] = found;
	}
	if (file)
		fclose(file);
	return count;
}

static const struct kallsyms_line *slow_kernel(const struct kallsyms_line *lines, size_t count, uint64_t address)
{
	const struct kallsyms_line *best = NULL;

	for (size_t i = 0; i < count; i++)
		if (lines[i].address <= address && (!best || lines[i].address >= best->address))
			best = &lines[i];
	return best;
}

static void the_running_kernel_reads_as_a_slow_scan_of_kallsyms_does(void **state)
{
	struct lode_symbols_options options = { .cache = "" };
	struct lode_symbolizer *symbolizer;
	struct kallsyms_line *lines;
	size_t count = read_kallsyms(&lines);
	struct lode_image *image;
	struct lode_symbol symbol;
	uint64_t seed = 3;

	(void)state;
	if (!count || !lines[count / 2].address) {
		free(lines);
		skip();
	}
	assert_int_equal(lode_symbolizer_create(&symbolizer, &options, NULL), 0);
	image = lode_symbolizer_kernel(symbolizer, "", NULL, NULL, 0);
	for (int i = 0; i < 500; i++) {
		const struct kallsyms_line *line = &lines[random_below(&seed, count)];
		uint64_t address = line->address + random_below(&seed, 64);

		line = slow_kernel(lines, count, address);
		if (!strchr("tTwW", line->type))
			continue;
		assert_int_equal(lode_image_find(image, address, &symbol), 1);
		assert_string_equal(symbol.name, line->name);
		assert_string_equal(symbol.module, "kernel");
		assert_int_equal(symbol.start, line->address);
	}
	lode_symbolizer_destroy(symbolizer);
	free(lines);
}

/* ---- this program as an ELF file ---- */

/* The file as bytes, read without any library. */
struct own_file {
	unsigned char *bytes;
	size_t size;
	uint64_t base; /* run-time address minus the file's */
};

static int take_first_base(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uint64_t *)base = info->dlpi_addr;
	return 1;
}

static void read_own_file(struct own_file *own)
{
	FILE *file = fopen("/proc/self/exe", "rb");
	long size;

	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	own->size = (size_t)size;
	own->bytes = malloc(own->size);
	assert_int_equal(fread(own->bytes, 1, own->size, file), own->size);
	fclose(file);
	dl_iterate_phdr(take_first_base, &own->base);
}

static const ElfW(Shdr) * own_section(const struct own_file *own, const char *name)
{
	const ElfW(Ehdr) *header = (const void *)own->bytes;
	const ElfW(Shdr) *sections = (const void *)(own->bytes + header->e_shoff);
	const char *names = (const char *)own->bytes + sections[header->e_shstrndx].sh_offset;

	for (unsigned i = 0; i < header->e_shnum; i++)
		if (strcmp(names + sections[i].sh_name, name) == 0)
			return &sections[i];
	return NULL;
}

/* The sized function around an address that starts last; NULL when only others may hold it. */
static const ElfW(Sym) * slow_function(const struct own_file *own, const ElfW(Shdr) * table, uint64_t address)
{
	const ElfW(Sym) *symbols = (const void *)(own->bytes + table->sh_offset), *best = NULL;

	for (size_t i = 0; i < table->sh_size / sizeof(*symbols); i++)
		if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC && symbols[i].st_shndx &&
		    symbols[i].st_value <= address && address < symbols[i].st_value + symbols[i].st_size &&
		    (!best || symbols[i].st_value >= best->st_value))
			best = &symbols[i];
	return best;
}

static int is_an_alias(const struct own_file *own, const ElfW(Shdr) * table, uint64_t start, const char *name)
{
	const ElfW(Shdr) *strings = own_section(own, ".strtab");
	const ElfW(Sym) *symbols = (const void *)(own->bytes + table->sh_offset);

	for (size_t i = 0; i < table->sh_size / sizeof(*symbols); i++) {
		const char *alias = (const char *)own->bytes + strings->sh_offset + symbols[i].st_name;

		if (symbols[i].st_value == start && strncmp(alias, name, strlen(name)) == 0 &&
		    (!alias[strlen(name)] || strncmp(alias + strlen(name), ".cold", 5) == 0))
			return 1;
	}
	return 0;
}

struct symbolizer_fixture {
	struct lode_symbolizer *symbolizer;
	struct lode_notes notes;
	struct lode_image *image;
	struct own_file own;
	char path[4096];
};

static int set_up(void **state)
{
	struct symbolizer_fixture *fixture = calloc(1, sizeof(*fixture));
	struct lode_symbols_options options = { .cache = "", .notes = &fixture->notes };
	ssize_t length = readlink("/proc/self/exe", fixture->path, sizeof(fixture->path) - 1);

	if (length < 0)
		return -1;
	lode_notes_init(&fixture->notes);
	if (lode_symbolizer_create(&fixture->symbolizer, &options, NULL) < 0)
		return -1;
	fixture->image = lode_symbolizer_binary(fixture->symbolizer, fixture->path, "");
	read_own_file(&fixture->own);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct symbolizer_fixture *fixture = *state;

	lode_symbolizer_destroy(fixture->symbolizer);
	lode_notes_release(&fixture->notes);
	free(fixture->own.bytes);
	free(fixture);
	return 0;
}

static void every_function_of_this_program_is_found_as_a_slow_scan_finds_it(void **state)
{
	struct symbolizer_fixture *fixture = *state;
	const ElfW(Shdr) *table = own_section(&fixture->own, ".symtab");
	const ElfW(Shdr) *text = own_section(&fixture->own, ".text");
	struct lode_symbol symbol;
	uint64_t seed = 5;
	size_t found = 0;

	if (!table)
		skip();
	for (int i = 0; i < 5000; i++) {
		uint64_t address = text->sh_addr + random_below(&seed, text->sh_size);
		const ElfW(Sym) *expected = slow_function(&fixture->own, table, address);

		if (!expected)
			continue;
		assert_int_equal(lode_image_find(fixture->image, address, &symbol), 1);
		assert_int_equal(symbol.start, expected->st_value);
		assert_int_equal(symbol.size, expected->st_size);
		assert_null(symbol.module);
		assert_true(is_an_alias(&fixture->own, table, symbol.start, symbol.name));
		found++;
	}
	assert_true(found > 3000);
}

/* Where it is called; each call counts, or a compiler would make two calls one. */
static __attribute__((noinline)) uint64_t own_address(void)
{
	__asm__ volatile("" ::: "memory");
	return (uint64_t)(uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)) - 1;
}

/* The offset in its file of an address of this process, from /proc/self/maps. */
static uint64_t file_offset(uint64_t address)
{
	FILE *file = fopen("/proc/self/maps", "r");
	unsigned long long from, to, offset;
	uint64_t found = 0;
	char line[4200];

	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%llx-%llx %*s %llx", &from, &to, &offset) == 3 && from <= address && address < to)
			found = address - from + offset;
	fclose(file);
	return found;
}

static void a_file_offset_becomes_the_address_that_the_linker_gave(void **state)
{
	struct symbolizer_fixture *fixture = *state;
	uint64_t address = own_address();
	struct lode_symbol symbol;

	assert_int_equal(lode_image_address(fixture->image, file_offset(address)), address - fixture->own.base);
	assert_int_equal(lode_image_find(fixture->image, address - fixture->own.base, &symbol), 1);
	assert_string_equal(symbol.name, __func__);
}

static void calls_into_libraries_are_named_after_their_target(void **state)
{
	struct symbolizer_fixture *fixture = *state;
	const ElfW(Shdr) *plt = own_section(&fixture->own, ".plt");
	struct lode_symbol symbol;
	int seen = 0;

	if (!own_section(&fixture->own, ".rela.plt") || !plt)
		skip();
	if (own_section(&fixture->own, ".plt.sec"))
		plt = own_section(&fixture->own, ".plt.sec");
	for (uint64_t address = plt->sh_addr; address < plt->sh_addr + plt->sh_size; address += 4)
		if (lode_image_find(fixture->image, address, &symbol) && symbol.name)
			seen |= strcmp(symbol.name, "fread@plt") == 0;
	assert_true(seen);
}

static inline __attribute__((always_inline)) uint64_t inner_inlined(void)
{
	volatile uint64_t address = own_address();

	return address;
}

static inline __attribute__((always_inline)) uint64_t outer_inlined(void)
{
	return inner_inlined();
}

static void inlined_functions_are_listed_outermost_first(void **state)
{
	struct symbolizer_fixture *fixture = *state;
	uint64_t address = outer_inlined() - fixture->own.base;
	const char *names[4] = { "", "", "untouched", "untouched" };
	struct lode_symbol symbol;

	if (!own_section(&fixture->own, ".debug_info"))
		skip();
	assert_int_equal(lode_image_inlines(fixture->image, address, names, 4), 2);
	assert_string_equal(names[0], "outer_inlined");
	assert_string_equal(names[1], "inner_inlined");
	assert_string_equal(names[2], "untouched");
	assert_int_equal(lode_image_inlines(fixture->image, address, names + 2, 1), 1);
	assert_string_equal(names[2], "outer_inlined");
	assert_int_equal(lode_image_inlines(fixture->image, address, NULL, 0), 0);
	assert_int_equal(lode_image_find(fixture->image, address, &symbol), 1);
	assert_string_equal(symbol.name, __func__);
	assert_int_equal(lode_image_inlines(fixture->image, own_address() - fixture->own.base, names, 4), 0);
}

/* What libdw says, one address at a time. */
static int slow_link_register(Dwarf_CFI *tables, uint64_t address)
{
	Dwarf_Op memory[3], *operations;
	Dwarf_Frame *frame;
	size_t count = 1;
	int rule;

	if (dwarf_cfi_addrframe(tables, address, &frame) != 0)
		return -1;
	rule = dwarf_frame_register(frame, 30, memory, &operations, &count) == 0 && !count && !operations;
	free(frame);
	return rule;
}

static int is_inside(const ElfW(Shdr) * section, uint64_t address)
{
	return section && address >= section->sh_addr && address - section->sh_addr < section->sh_size;
}

/* Of the linkage table, which leaves the register as it is, libdw knows nothing. */
static void the_link_register_rule_is_the_one_that_libdw_gives(void **state)
{
	struct symbolizer_fixture *fixture = *state;
	const ElfW(Ehdr) *header = (const void *)fixture->own.bytes;
	const ElfW(Shdr) *text = own_section(&fixture->own, ".text");
	const ElfW(Shdr) *linkage = own_section(&fixture->own, ".plt");
	int seen[3] = { 0 };
	struct lode_elf elf;
	Dwarf_CFI *tables;
	uint64_t seed = 9;

	if (header->e_machine != EM_AARCH64) {
		assert_int_equal(lode_image_link_register(fixture->image, text->sh_addr), -1);
		skip();
	}
	assert_int_equal(lode_elf_open(&elf, fixture->path), 0);
	tables = dwarf_getcfi_elf(elf.elf);
	assert_non_null(tables);
	for (int i = 0; i < 20000; i++) {
		uint64_t address = text->sh_addr - 64 + random_below(&seed, text->sh_size + 128);
		int rule = lode_image_link_register(fixture->image, address);

		assert_int_equal(rule, is_inside(linkage, address) ? 1 : slow_link_register(tables, address));
		seen[rule + 1]++;
	}
	assert_true(seen[1] && seen[2]);
	dwarf_cfi_end(tables);
	lode_elf_close(&elf);
}

static void the_vdso_of_this_machine_has_names(void **state)
{
	struct symbolizer_fixture *fixture = *state;
	struct lode_image *image = lode_symbolizer_vdso(fixture->symbolizer, "");
	struct lode_symbol symbol;
	int seen = 0;

	if (!lode_image_symbols(image))
		skip();
	for (uint64_t address = 0; address < 65536; address += 4)
		if (lode_image_find(image, address, &symbol) && symbol.name)
			seen |= strstr(symbol.name, "gettime") != NULL;
	assert_true(seen);
	image = lode_symbolizer_vdso(fixture->symbolizer, "00112233445566778899");
	assert_int_equal(lode_image_symbols(image), 0);
}

static void a_file_of_another_build_is_not_used_and_noted(void **state)
{
	struct symbolizer_fixture *fixture = *state;
	struct lode_image *image =
		lode_symbolizer_binary(fixture->symbolizer, fixture->path, "00112233445566778899");
	struct lode_symbol symbol = { .name = "before" };

	assert_int_equal(lode_image_symbols(image), 0);
	assert_int_equal(lode_image_find(image, 0x1234, &symbol), 0);
	assert_null(symbol.name);
	assert_int_equal(symbol.start, 0x1234);
	assert_int_equal(lode_image_address(image, 0x1234), 0x1234);
	assert_int_equal(lode_image_link_register(image, 0x1234), -1);
	assert_int_equal(fixture->notes.count, 1);
	assert_non_null(strstr(fixture->notes.items[0].what, "have changed since"));
}

static void what_is_no_binary_is_an_image_without_symbols(void **state)
{
	struct symbolizer_fixture *fixture = *state;
	const char *const paths[] = { "/nowhere/at/all", "/dev/null", "/tmp", "/proc/self/maps", "",
				      "[heap]",          "//anon" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct lode_image *image = lode_symbolizer_binary(fixture->symbolizer, paths[i], "");

		assert_non_null(image);
		assert_int_equal(lode_image_symbols(image), 0);
	}
}

static void the_same_build_is_one_image_wherever_it_lies(void **state)
{
	struct symbolizer_fixture *fixture = *state;
	struct lode_symbolizer *symbolizer = fixture->symbolizer;
	struct lode_image *image = lode_symbolizer_binary(symbolizer, "/a/b", "abcdef0123");

	assert_ptr_equal(lode_symbolizer_binary(symbolizer, "/c/d", "ABCDEF0123"), image);
	assert_ptr_not_equal(lode_symbolizer_binary(symbolizer, "/a/b", "abcdef0124"), image);
	assert_ptr_not_equal(lode_symbolizer_binary(symbolizer, "/a/b", ""), image);
	assert_ptr_equal(lode_symbolizer_binary(symbolizer, fixture->path, ""), fixture->image);
	image = lode_symbolizer_kernel(symbolizer, "aa", NULL, "_text", 1);
	assert_ptr_equal(lode_symbolizer_kernel(symbolizer, "aa", NULL, "_text", 1), image);
	assert_ptr_not_equal(lode_symbolizer_kernel(symbolizer, "aa", NULL, "_text", 2), image);
}

/* Bytes of this program, damaged at random, must never lead outside of them. */
static void a_damaged_elf_file_is_read_without_harm(void **state)
{
	struct symbolizer_fixture *fixture = *state;
	size_t size = fixture->own.size;
	unsigned char *copy = malloc(size);
	uint64_t seed = 13;

	for (int round = 0; round < 200; round++) {
		struct lode_table_builder builder = { 0 };
		const ElfW(Ehdr) *header = (const void *)fixture->own.bytes;
		size_t tables = (size_t)header->e_shnum * sizeof(ElfW(Shdr));
		struct lode_elf elf;
		struct lode_table table;

		memcpy(copy, fixture->own.bytes, size);
		for (int i = 0; i < 20; i++) {
			copy[random_below(&seed, 1024)] ^= (unsigned char)(i % 2 ? 0 : random_next(&seed));
			copy[header->e_shoff + random_below(&seed, tables)] = (unsigned char)random_next(&seed);
			copy[random_below(&seed, size)] = (unsigned char)random_next(&seed);
		}
		memcpy(copy, fixture->own.bytes, EI_NIDENT);
		if (lode_elf_memory(&elf, copy, round % 4 ? size : random_below(&seed, size)) < 0)
			continue;
		lode_elf_read_frames(&elf, &builder);
		lode_elf_read_symbols(&elf, &elf, &builder);
		lode_elf_read_loads(&elf, 0, &builder);
		if (lode_table_finish(&builder, &table) == 0)
			lode_table_release(&table);
		lode_elf_close(&elf);
	}
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_ranges_overlap_the_later_one_owns_the_address),
		cmocka_unit_test(a_table_without_records_owns_nothing),
		cmocka_unit_test(sorting_is_by_key_and_keeps_the_order_of_equal_keys),
		cmocka_unit_test(names_are_made_readable),
		cmocka_unit_test(a_name_that_unfolds_without_end_stays_as_it_is),
		cmocka_unit_test(among_names_of_one_function_the_one_that_perf_prints_is_chosen),
		cmocka_unit_test(a_symbol_without_a_size_reaches_to_the_next_or_to_the_end_of_its_section),
		cmocka_unit_test(in_a_perf_map_later_lines_win_and_wrong_or_cut_off_ones_are_left_out),
		cmocka_unit_test(kallsyms_are_cut_into_functions_and_modules),
		cmocka_unit_test(the_running_kernel_reads_as_a_slow_scan_of_kallsyms_does),
		cmocka_unit_test_setup_teardown(every_function_of_this_program_is_found_as_a_slow_scan_finds_it,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_file_offset_becomes_the_address_that_the_linker_gave, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(calls_into_libraries_are_named_after_their_target, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(inlined_functions_are_listed_outermost_first, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_link_register_rule_is_the_one_that_libdw_gives, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_vdso_of_this_machine_has_names, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_file_of_another_build_is_not_used_and_noted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_no_binary_is_an_image_without_symbols, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_same_build_is_one_image_wherever_it_lies, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_damaged_elf_file_is_read_without_harm, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
