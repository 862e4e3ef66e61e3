/*
 * The cache of symbols, debug files that come later, threads at once, and memory
 * and files that fail. The binary is this program itself, whole and stripped of
 * its .symtab.
 */
#include "cmocka_all.h"
#include "temporary.h"
#include "random_stream.h"

#include "symbols/symbol_cache.h"
#include "symbols/demangle.h"
#include "symbols/elf.h"
#include "symbols/symbols.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

/* The function that is looked for: static, so that only .symtab names it. */
static __attribute__((noinline)) int well_known(int number)
{
	__asm__ volatile("" : "+r"(number));
	return number * 3 + 1;
}

struct fixture {
	char folder[64];
	char binary[128]; /* this program without .symtab */
	char whole[128];  /* with it */
	char cache[128];
	char debug[128]; /* folder for debug files */
	char build_id[LODE_BUILD_ID_TEXT];
	unsigned char *bytes;
	size_t size;
	uint64_t address; /* of well_known, as the linker gave it */
	struct lode_notes notes;
};

static int take_first_base(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uint64_t *)base = info->dlpi_addr;
	return 1;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static unsigned char *read_whole(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	unsigned char *bytes;

	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	*size = (size_t)ftell(file);
	rewind(file);
	bytes = malloc(*size + 1);
	assert_int_equal(fread(bytes, 1, *size, file), *size);
	fclose(file);
	return bytes;
}

/* Makes sections of this type, and all DWARF, as if they were not there. */
static void hide_symbols(unsigned char *bytes)
{
	const ElfW(Ehdr) *header = (const void *)bytes;
	ElfW(Shdr) *sections = (void *)(bytes + header->e_shoff);
	const char *names = (const char *)bytes + sections[header->e_shstrndx].sh_offset;

	for (unsigned i = 0; i < header->e_shnum; i++)
		if (sections[i].sh_type == SHT_SYMTAB || strncmp(names + sections[i].sh_name, ".debug", 6) == 0)
			sections[i].sh_type = SHT_NULL;
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct lode_elf elf;
	uint64_t base;

	assert_int_equal(temporary_folder(fixture->folder, sizeof(fixture->folder)), 0);
	setenv("HOME", fixture->folder, 1); /* perf keeps copies of binaries in ~/.debug, and they would be found */
	snprintf(fixture->binary, sizeof(fixture->binary), "%s/program", fixture->folder);
	snprintf(fixture->whole, sizeof(fixture->whole), "%s/whole", fixture->folder);
	snprintf(fixture->cache, sizeof(fixture->cache), "%s/deep/cache", fixture->folder);
	snprintf(fixture->debug, sizeof(fixture->debug), "%s/debug", fixture->folder);
	fixture->bytes = read_whole("/proc/self/exe", &fixture->size);
	write_file(fixture->whole, fixture->bytes, fixture->size);
	assert_int_equal(lode_elf_open(&elf, fixture->whole), 0);
	lode_elf_build_id(&elf, fixture->build_id);
	lode_elf_close(&elf);
	hide_symbols(fixture->bytes);
	write_file(fixture->binary, fixture->bytes, fixture->size);
	dl_iterate_phdr(take_first_base, &base);
	fixture->address = (uint64_t)(uintptr_t)well_known - base;
	lode_notes_init(&fixture->notes);
	*state = fixture;
	return 0;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	(void)status, (void)type, (void)walk;
	return remove(path);
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	nftw(fixture->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	lode_notes_release(&fixture->notes);
	free(fixture->bytes);
	free(fixture);
	return 0;
}

static struct lode_symbolizer *make(struct fixture *fixture, const char *const *paths)
{
	struct lode_symbols_options options = {
		.cache = fixture->cache,
		.paths = paths,
		.notes = &fixture->notes,
	};
	struct lode_symbolizer *symbolizer;

	assert_int_equal(lode_symbolizer_create(&symbolizer, &options, NULL), 0);
	return symbolizer;
}

/* The name at well_known's address, through a fresh symbolizer; says whether it came from the cache. */
static int name_is(struct fixture *fixture, const char *path, const char *expected, int *cached)
{
	const char *const paths[] = { fixture->debug, NULL };
	struct lode_symbolizer *symbolizer = make(fixture, paths);
	struct lode_image *image = lode_symbolizer_binary(symbolizer, path, fixture->build_id);
	struct lode_symbol symbol;
	int found = lode_image_find(image, fixture->address + 1, &symbol);
	int good;

	assert_true(!found || symbol.start == fixture->address);
	if (expected)
		good = found && symbol.name && strcmp(symbol.name, expected) == 0;
	else
		good = found && !symbol.name;
	*cached = image->table.map.bytes != NULL;
	lode_symbolizer_destroy(symbolizer);
	return good;
}

static size_t files_in(const char *folder, char path[512])
{
	DIR *listing = opendir(folder);
	struct dirent *entry;
	size_t count = 0;

	while (listing && (entry = readdir(listing)))
		if (entry->d_name[0] != '.') {
			snprintf(path, 512, "%s/%s", folder, entry->d_name);
			count++;
		}
	if (listing)
		closedir(listing);
	return count;
}

static void a_table_is_made_once_and_then_comes_from_the_cache(void **state)
{
	struct fixture *fixture = *state;
	char path[512];
	int cached;

	assert_true(name_is(fixture, fixture->whole, "well_known", &cached));
	assert_false(cached);
	assert_int_equal(files_in(fixture->cache, path), 1);
	assert_true(name_is(fixture, fixture->whole, "well_known", &cached));
	assert_true(cached);
	assert_int_equal(fixture->notes.count, 0);
}

static void root_does_not_believe_the_cache_of_another_user(void **state)
{
	struct fixture *fixture = *state;
	char path[512];
	int cached;

	if (geteuid() != 0)
		skip();
	assert_true(name_is(fixture, fixture->whole, "well_known", &cached));
	assert_int_equal(files_in(fixture->cache, path), 1);
	/* A file that another user put into root's folder is made again, and is root's then. */
	assert_int_equal(chown(path, 4321, 4321), 0);
	assert_true(name_is(fixture, fixture->whole, "well_known", &cached));
	assert_false(cached);
	assert_true(name_is(fixture, fixture->whole, "well_known", &cached));
	assert_true(cached);
	assert_int_equal(fixture->notes.count, 0);
	/* A folder of another user, or for all, is left alone. */
	assert_int_equal(chown(fixture->cache, 4321, 4321), 0);
	assert_true(name_is(fixture, fixture->whole, "well_known", &cached));
	assert_false(cached);
	assert_int_equal(fixture->notes.count, 1);
	assert_string_equal(fixture->notes.items[0].what, "symbol caches not used");
	assert_int_equal(chown(fixture->cache, 0, 0), 0);
	assert_int_equal(chmod(fixture->cache, 01777), 0);
	assert_true(name_is(fixture, fixture->whole, "well_known", &cached));
	assert_false(cached);
	/* The user who called sudo could do anything as root. */
	assert_int_equal(chmod(fixture->cache, 0755), 0);
	assert_int_equal(chown(fixture->cache, 4321, 4321), 0);
	setenv("SUDO_UID", "4321", 1);
	assert_true(name_is(fixture, fixture->whole, "well_known", &cached));
	unsetenv("SUDO_UID");
	assert_true(cached);
}

static void a_link_in_the_cache_is_replaced_and_not_followed(void **state)
{
	struct fixture *fixture = *state;
	char path[512], away[256];
	struct stat status;
	int cached;

	assert_true(name_is(fixture, fixture->whole, "well_known", &cached));
	assert_int_equal(files_in(fixture->cache, path), 1);
	snprintf(away, sizeof(away), "%s/away", fixture->folder);
	assert_int_equal(rename(path, away), 0);
	assert_int_equal(symlink(away, path), 0);
	assert_true(name_is(fixture, fixture->whole, "well_known", &cached));
	assert_false(cached);
	assert_int_equal(lstat(path, &status), 0);
	assert_true(S_ISREG(status.st_mode));
}

static void a_binary_that_changed_is_read_again(void **state)
{
	struct fixture *fixture = *state;
	struct timeval times[2] = { { 1000, 0 }, { 1000, 0 } };
	int cached;

	name_is(fixture, fixture->whole, "well_known", &cached);
	assert_int_equal(utimes(fixture->whole, times), 0);
	assert_true(name_is(fixture, fixture->whole, "well_known", &cached));
	assert_false(cached);
	assert_true(name_is(fixture, fixture->whole, "well_known", &cached));
	assert_true(cached);
}

static void without_a_symbol_a_function_has_the_bounds_of_its_unwind_entry(void **state)
{
	struct fixture *fixture = *state;
	struct lode_symbolizer *symbolizer = make(fixture, NULL);
	struct lode_image *image = lode_symbolizer_binary(symbolizer, fixture->binary, "");
	struct lode_image *whole = lode_symbolizer_binary(symbolizer, fixture->whole, "");
	struct lode_symbol symbol, known;

	assert_int_equal(lode_image_find(image, fixture->address + 1, &symbol), 1);
	assert_null(symbol.name);
	assert_int_equal(symbol.start, fixture->address);
	assert_int_equal(lode_image_find(whole, fixture->address + 1, &known), 1);
	assert_string_equal(known.name, "well_known");
	assert_int_equal(symbol.size, known.size);
	lode_symbolizer_destroy(symbolizer);
}

static void a_debug_file_that_comes_later_is_picked_up(void **state)
{
	struct fixture *fixture = *state;
	char folder[256], path[512];
	size_t size;
	unsigned char *whole = read_whole(fixture->whole, &size);
	int cached;

	if (strlen(fixture->build_id) < 6) {
		free(whole);
		skip();
	}
	assert_true(name_is(fixture, fixture->binary, NULL, &cached));
	assert_true(name_is(fixture, fixture->binary, NULL, &cached));
	snprintf(folder, sizeof(folder), "%s/.build-id/%.2s", fixture->debug, fixture->build_id);
	assert_int_equal(mkdir(fixture->debug, 0700), 0);
	snprintf(path, sizeof(path), "%s/.build-id", fixture->debug);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(mkdir(folder, 0700), 0);
	snprintf(path, sizeof(path), "%s/%s.debug", folder, fixture->build_id + 2);
	write_file(path, whole, size);
	assert_true(name_is(fixture, fixture->binary, "well_known", &cached));
	assert_false(cached);
	assert_true(name_is(fixture, fixture->binary, "well_known", &cached));
	assert_true(cached);
	assert_int_equal(unlink(path), 0);
	assert_true(name_is(fixture, fixture->binary, NULL, &cached));
	assert_false(cached);
	free(whole);
}

static void what_was_not_found_is_not_cached(void **state)
{
	struct fixture *fixture = *state;
	struct lode_symbolizer *symbolizer = make(fixture, NULL);
	struct lode_image *image = lode_symbolizer_binary(symbolizer, "/nowhere/program", fixture->build_id);
	char path[512];

	assert_int_equal(lode_image_symbols(image), 0);
	assert_int_equal(files_in(fixture->cache, path), 0);
	assert_int_equal(fixture->notes.count, 1);
	lode_symbolizer_destroy(symbolizer);
}

/* ---- damage ---- */

/* Not from the file, and not from the cache, where the same path has been seen as one of this machine. */
static void a_binary_of_another_machine_is_not_taken(void **state)
{
	struct fixture *fixture = *state;
	const ElfW(Ehdr) *header = (const void *)fixture->bytes;

	for (int i = 0; i < 4; i++) {
		struct lode_symbols_options options = {
			.cache = fixture->cache,
			.machine = i % 2 ? header->e_machine + 1u : header->e_machine,
		};
		struct lode_symbolizer *symbolizer;
		struct lode_image *image;

		assert_int_equal(lode_symbolizer_create(&symbolizer, &options, NULL), 0);
		image = lode_symbolizer_binary(symbolizer, fixture->whole, "");
		assert_int_equal(lode_image_symbols(image) > 0, i % 2 == 0);
		assert_int_equal(lode_image_is_found(image), i % 2 == 0);
		assert_int_equal(lode_image_unwind(image)->count > 0, i % 2 == 0);
		lode_symbolizer_destroy(symbolizer);
	}
}

static void a_damaged_cache_file_is_refused_whatever_byte_it_is(void **state)
{
	struct fixture *fixture = *state;
	struct lode_cached cached;
	unsigned char *bytes;
	uint64_t seed = 17;
	char path[512];
	size_t size;
	int was_cached;

	name_is(fixture, fixture->whole, "well_known", &was_cached);
	assert_int_equal(files_in(fixture->cache, path), 1);
	bytes = read_whole(path, &size);
	assert_int_equal(lode_cache_parse(bytes, size, &cached), 0);
	lode_cached_release(&cached);
	for (int i = 0; i < 600; i++) {
		size_t at = i < 100 ? (size_t)i : random_below(&seed, size);

		bytes[at] ^= 0x10;
		assert_int_equal(lode_cache_parse(bytes, size, &cached), LODE_BAD_INPUT);
		bytes[at] ^= 0x10;
		assert_int_equal(lode_cache_parse(bytes, random_below(&seed, size), &cached), LODE_BAD_INPUT);
	}
	bytes[size / 2] ^= 1;
	write_file(path, bytes, size);
	assert_true(name_is(fixture, fixture->whole, "well_known", &was_cached));
	assert_false(was_cached);
	assert_true(name_is(fixture, fixture->whole, "well_known", &was_cached));
	assert_true(was_cached);
	free(bytes);
}

/* The author of a hostile file can compute its checksum. */
static void forge_checksum(unsigned char *bytes, size_t size)
{
	uint64_t checksum = lode_digest_bytes(bytes + 24, size - 24);

	memcpy(bytes + 16, &checksum, sizeof(checksum));
}

static void a_forged_cache_file_leads_nowhere_outside_itself(void **state)
{
	struct fixture *fixture = *state;
	const char *names[8];
	unsigned char *bytes, *copy;
	uint64_t seed = 19;
	char path[512];
	size_t size;
	int was_cached;

	name_is(fixture, fixture->whole, "well_known", &was_cached);
	assert_int_equal(files_in(fixture->cache, path), 1);
	bytes = read_whole(path, &size);
	copy = malloc(size);
	for (int round = 0; round < 60; round++) {
		struct lode_symbolizer *symbolizer = make(fixture, NULL);
		struct lode_image *image;
		struct lode_symbol symbol;

		/* All numbers behind the header, up to where names begin, may be anything. */
		memcpy(copy, bytes, size);
		for (int i = 0; i < 3000; i++)
			copy[96 + random_below(&seed, (size - 96) / 2)] = (unsigned char)random_next(&seed);
		forge_checksum(copy, size);
		write_file(path, copy, size);
		image = lode_symbolizer_binary(symbolizer, fixture->whole, fixture->build_id);
		for (int i = 0; i < 2000; i++) {
			uint64_t address = fixture->address - 5000 + random_below(&seed, 10000);

			if (lode_image_find(image, address, &symbol) && symbol.name)
				assert_true(strlen(symbol.name) < size + LODE_DEMANGLE_LIMIT);
			lode_image_address(image, address);
			lode_image_inlines(image, address, names, 8);
		}
		lode_symbolizer_destroy(symbolizer);
	}
	free(bytes);
	free(copy);
}

static void a_cache_folder_that_cannot_be_made_costs_a_note_and_no_symbol(void **state)
{
	struct fixture *fixture = *state;
	int cached;

	snprintf(fixture->cache, sizeof(fixture->cache), "%s/program/is/a/file", fixture->folder);
	assert_true(name_is(fixture, fixture->whole, "well_known", &cached));
	assert_int_equal(fixture->notes.count, 1);
	assert_non_null(strstr(fixture->notes.items[0].what, "cached"));
}

/* ---- kernels ---- */

static const char small_kallsyms[] = "ffff800080010000 T _stext\n"
				     "ffff800080010100 T do_sys_open\n"
				     "ffff800080010200 T schedule\n"
				     "ffff800078000000 t ext4_sync\t[ext4]\n";

static void check_kernel(struct fixture *fixture, const char *path, uint64_t reference, uint64_t address,
			 const char *name, const char *module)
{
	struct lode_symbolizer *symbolizer = make(fixture, NULL);
	struct lode_image *image = lode_symbolizer_kernel(symbolizer, "", path, "_stext", reference);
	struct lode_symbol symbol;
	int found = lode_image_find(image, address, &symbol);

	assert_int_equal(found, name != NULL);
	if (name) {
		assert_string_equal(symbol.name, name);
		assert_string_equal(symbol.module, module);
		assert_true(symbol.start <= address && address < symbol.start + symbol.size);
	}
	lode_symbolizer_destroy(symbolizer);
}

static void a_kernel_that_was_moved_is_moved_back_and_its_modules_are_left_out(void **state)
{
	struct fixture *fixture = *state;
	char path[512];

	snprintf(path, sizeof(path), "%s/kallsyms", fixture->folder);
	write_file(path, small_kallsyms, sizeof(small_kallsyms) - 1);
	for (int round = 0; round < 2; round++) { /* the second time from the cache */
		check_kernel(fixture, path, 0, 0xffff800080010110, "do_sys_open", "kernel");
		check_kernel(fixture, path, 0, 0xffff800078000010, "ext4_sync", "ext4");
		check_kernel(fixture, path, 0xffff800080010000, 0xffff800078000010, "ext4_sync", "ext4");
		assert_int_equal(fixture->notes.count, 0);
	}
	check_kernel(fixture, path, 0xffff800090010000, 0xffff800090010110, "do_sys_open", "kernel");
	check_kernel(fixture, path, 0xffff800090010000, 0xffff800088000010, NULL, NULL);
	check_kernel(fixture, path, 0xffff800090010000, 0xffff800078000010, NULL, NULL);
	assert_int_equal(fixture->notes.count, 1);
}

static void hidden_kernel_addresses_are_no_symbols_and_the_note_says_what_to_do(void **state)
{
	struct fixture *fixture = *state;
	struct lode_symbolizer *symbolizer = make(fixture, NULL);
	static const char text[] = "0000000000000000 T _stext\n0000000000000000 T schedule\n";
	struct lode_image *image;
	char path[512];

	snprintf(path, sizeof(path), "%s/kallsyms", fixture->folder);
	write_file(path, text, sizeof(text) - 1);
	image = lode_symbolizer_kernel(symbolizer, "", path, NULL, 0);
	assert_int_equal(lode_image_symbols(image), 0);
	assert_int_equal(fixture->notes.count, 1);
	assert_non_null(strstr(fixture->notes.items[0].what, "kptr_restrict"));
	lode_symbolizer_destroy(symbolizer);
}

/* ---- threads ---- */

struct asking {
	struct lode_image *image;
	uint64_t address;
	const char *names[200];
};

static void *ask(void *context)
{
	struct asking *asking = context;
	const char *inlines[4];

	for (unsigned i = 0; i < 200; i++) {
		struct lode_symbol symbol;

		lode_image_find(asking->image, asking->address + 40 * i, &symbol);
		asking->names[i] = symbol.name;
		lode_image_inlines(asking->image, asking->address + 40 * i, inlines, 4);
		lode_image_link_register(asking->image, asking->address + 40 * i);
	}
	return NULL;
}

static void threads_at_once_get_the_same_names(void **state)
{
	struct fixture *fixture = *state;

	for (int round = 0; round < 4; round++) {
		struct lode_symbolizer *symbolizer = make(fixture, NULL);
		struct asking asking[6];
		pthread_t threads[6];

		for (size_t i = 0; i < 6; i++) {
			asking[i].image = lode_symbolizer_binary(symbolizer, fixture->whole, "");
			asking[i].address = fixture->address - 4000;
			assert_int_equal(pthread_create(&threads[i], NULL, ask, &asking[i]), 0);
		}
		for (size_t i = 0; i < 6; i++)
			pthread_join(threads[i], NULL);
		for (size_t i = 1; i < 6; i++)
			assert_memory_equal(asking[i].names, asking[0].names, sizeof(asking[0].names));
		lode_symbolizer_destroy(symbolizer);
	}
}

/* ---- failures ---- */

/* Everything once; whatever fails, a name that comes out is a right one. */
static void use_everything(struct fixture *fixture, const char *kallsyms, const char *map)
{
	struct lode_symbols_options options = { .cache = fixture->cache, .notes = &fixture->notes };
	struct lode_symbolizer *symbolizer;
	struct lode_image *image;
	struct lode_error error = { "" };
	struct lode_symbol symbol;
	const char *names[4];

	if (lode_symbolizer_create(&symbolizer, &options, &error) < 0) {
		assert_true(error.text[0] != '\0');
		return;
	}
	image = lode_symbolizer_binary(symbolizer, fixture->whole, fixture->build_id);
	if (image && lode_image_find(image, fixture->address + 1, &symbol) && symbol.name)
		assert_string_equal(symbol.name, "well_known");
	if (image) {
		lode_image_inlines(image, fixture->address + 1, names, 4);
		lode_image_link_register(image, fixture->address + 1);
	}
	image = lode_symbolizer_kernel(symbolizer, "", kallsyms, "_stext", 0);
	if (image && lode_image_find(image, 0xffff800080010110, &symbol))
		assert_string_equal(symbol.name, "do_sys_open");
	image = lode_symbolizer_perf_map(symbolizer, map, 0);
	if (image && lode_image_find(image, 0x1010, &symbol))
		assert_string_equal(symbol.name, "jitted");
	image = lode_symbolizer_vdso(symbolizer, "");
	if (image)
		lode_image_find(image, 0x400, &symbol);
	lode_symbolizer_destroy(symbolizer);
}

static void forget_cache(struct fixture *fixture)
{
	char path[512];

	while (files_in(fixture->cache, path))
		unlink(path);
}

static void whatever_memory_fails_nothing_breaks(void **state)
{
	struct fixture *fixture = *state;
	char kallsyms[128], map[128];
	uint64_t asked, step;
	int cached;

	snprintf(kallsyms, sizeof(kallsyms), "%s/kallsyms", fixture->folder);
	snprintf(map, sizeof(map), "%s/perf-1.map", fixture->folder);
	write_file(kallsyms, small_kallsyms, sizeof(small_kallsyms) - 1);
	write_file(map, "1000 100 jitted\n", 16);
	lode_memory_fail_at(0, 0);
	use_everything(fixture, kallsyms, map);
	asked = lode_memory_asked();
	step = asked / 400 + 1;
	for (uint64_t nth = 1; nth <= asked; nth += nth < 100 ? 1 : step)
		for (int for_good = 0; for_good < 2; for_good++) {
			if (nth % 3)
				forget_cache(fixture);
			lode_memory_fail_at(nth, for_good);
			use_everything(fixture, kallsyms, map);
			lode_memory_fail_at(0, 0);
		}
	assert_true(name_is(fixture, fixture->whole, "well_known", &cached));
}

static void whatever_file_operation_fails_nothing_breaks(void **state)
{
	static const int numbers[] = { EIO, ENOSPC, 0 };
	struct fixture *fixture = *state;
	char kallsyms[128], map[128];
	uint64_t asked;
	int cached;

	snprintf(kallsyms, sizeof(kallsyms), "%s/kallsyms", fixture->folder);
	snprintf(map, sizeof(map), "%s/perf-1.map", fixture->folder);
	write_file(kallsyms, small_kallsyms, sizeof(small_kallsyms) - 1);
	write_file(map, "1000 100 jitted\n", 16);
	lode_file_fail_at(0, 0, 0);
	use_everything(fixture, kallsyms, map);
	asked = lode_file_asked();
	for (uint64_t nth = 1; nth <= asked + 1; nth++)
		for (size_t i = 0; i < 6; i++) {
			if (i % 2)
				forget_cache(fixture);
			lode_file_fail_at(nth, i >= 3, numbers[i % 3]);
			use_everything(fixture, kallsyms, map);
			lode_file_fail_at(0, 0, 0);
		}
	assert_true(name_is(fixture, fixture->whole, "well_known", &cached));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_table_is_made_once_and_then_comes_from_the_cache, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(root_does_not_believe_the_cache_of_another_user, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_link_in_the_cache_is_replaced_and_not_followed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_binary_that_changed_is_read_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_a_symbol_a_function_has_the_bounds_of_its_unwind_entry,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_debug_file_that_comes_later_is_picked_up, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_was_not_found_is_not_cached, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_binary_of_another_machine_is_not_taken, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_damaged_cache_file_is_refused_whatever_byte_it_is, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_forged_cache_file_leads_nowhere_outside_itself, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_cache_folder_that_cannot_be_made_costs_a_note_and_no_symbol,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_kernel_that_was_moved_is_moved_back_and_its_modules_are_left_out,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(hidden_kernel_addresses_are_no_symbols_and_the_note_says_what_to_do,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(threads_at_once_get_the_same_names, set_up, tear_down),
		cmocka_unit_test_setup_teardown(whatever_memory_fails_nothing_breaks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(whatever_file_operation_fails_nothing_breaks, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
