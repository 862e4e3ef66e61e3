/*
 * What the kernel is told before a recording starts, and while it goes on: which processes and which tables. Plain memory
 * stands for the kernel's maps, and the processes are invented.
 */
#include "cmocka_all.h"

#include "record/unwind/table_preload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Beyond all numbers that a machine gives to processes, so that nothing is read from /proc. */
#define FIRST_PID 100000000u
#define ADDRESS   0x400000u
#define PAGES     0x10000000u /* more than what stands before the code of any program of tests */
#define LONG      60000000000u

struct kernel {
	struct lode_unwind_taken taken[LODE_UNWIND_TAKEN];
	struct lode_unwind_maps maps;
	struct lode_process_unwinder unwinder;
	struct lode_unwind_loader *loader;
	const struct lode_unwind_space *spaces;
	const struct lode_unwind_mapping *mappings;
};

static int make_map(size_t bytes)
{
	int fd = memfd_create("map", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	return fd;
}

static const void *look_into(int fd, size_t bytes)
{
	void *found = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);

	assert_true(found != MAP_FAILED);
	return found;
}

static void open_kernel(struct kernel *kernel)
{
	memset(kernel, 0, sizeof(*kernel));
	kernel->maps = (struct lode_unwind_maps){
		.spaces = make_map(LODE_UNWIND_SPACES * sizeof(struct lode_unwind_space)),
		.mappings = make_map(LODE_UNWIND_MAPPINGS * sizeof(struct lode_unwind_mapping)),
		.sizes = make_map((size_t)LODE_UNWIND_TABLES * 8),
		.rules = make_map(LODE_UNWIND_RULES * sizeof(struct lode_unwind_rule)),
		.languages = make_map(LODE_LANGUAGE_PROCESSES * sizeof(struct lode_language_process)),
		.tables = -1, /* takes none */
		.taken = kernel->taken,
	};
	assert_int_equal(lode_process_unwinder_init(&kernel->unwinder, ""), 0);
	kernel->loader = lode_unwind_loader_create(&kernel->maps, &kernel->unwinder);
	assert_non_null(kernel->loader);
	kernel->spaces = look_into(kernel->maps.spaces, LODE_UNWIND_SPACES * sizeof(*kernel->spaces));
	kernel->mappings = look_into(kernel->maps.mappings, LODE_UNWIND_MAPPINGS * sizeof(*kernel->mappings));
}

static void close_kernel(struct kernel *kernel)
{
	lode_unwind_loader_destroy(kernel->loader);
	lode_process_unwinder_release(&kernel->unwinder);
	munmap((void *)(uintptr_t)kernel->spaces, LODE_UNWIND_SPACES * sizeof(*kernel->spaces));
	munmap((void *)(uintptr_t)kernel->mappings, LODE_UNWIND_MAPPINGS * sizeof(*kernel->mappings));
	close(kernel->maps.spaces);
	close(kernel->maps.mappings);
	close(kernel->maps.sizes);
	close(kernel->maps.rules);
	close(kernel->maps.languages);
}

/* A process that has mapped a file. */
static void add_process(struct kernel *kernel, uint32_t pid, uint64_t start, char *path)
{
	struct lode_change change = { .type = LODE_CHANGE_MAP,
				      .pid = pid,
				      .tid = pid,
				      .start = start,
				      .end = start + PAGES,
				      .text = path };

	assert_int_equal(lode_process_unwinder_apply(&kernel->unwinder, &change), 0);
}

static size_t preload(struct kernel *kernel, uint64_t patience)
{
	uint64_t left_out = UINT64_MAX;

	assert_int_equal(lode_tables_preload(kernel->loader, &kernel->unwinder, 1, patience, &left_out), 0);
	return left_out;
}

static const struct lode_unwind_space *space_of(const struct kernel *kernel, uint32_t pid)
{
	return &kernel->spaces[pid % LODE_UNWIND_SPACES];
}

static char *own_path(void)
{
	static char path[4096];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);

	assert_true(size > 0);
	path[size] = '\0';
	return path;
}

static void as_many_processes_as_there_is_room_for_are_known(void **state)
{
	uint32_t count = LODE_PRELOAD_PROCESSES + 88, known = 0;
	struct kernel kernel;

	(void)state;
	open_kernel(&kernel);
	for (uint32_t i = 0; i < count; i++)
		add_process(&kernel, FIRST_PID + i, ADDRESS + i * (uint64_t)PAGES, own_path());
	assert_int_equal(preload(&kernel, LONG), 88);
	for (uint32_t i = 0; i < count; i++) {
		const struct lode_unwind_space *space = space_of(&kernel, FIRST_PID + i);

		if (!space->id)
			continue;
		known++;
		assert_int_equal(space->pid, FIRST_PID + i);
		assert_int_equal(space->count, 1);
		assert_int_equal(kernel.mappings[space->first].start, ADDRESS + i * (uint64_t)PAGES);
	}
	assert_int_equal(known, LODE_PRELOAD_PROCESSES);
	close_kernel(&kernel);
}

static void processes_without_code_take_no_room(void **state)
{
	struct lode_change name = { .type = LODE_CHANGE_NAME, .executed = 1, .mounts = 1, .text = (char[]){ "k" } };
	struct kernel kernel;

	(void)state;
	open_kernel(&kernel);
	for (uint32_t i = 0; i < 2 * LODE_PRELOAD_PROCESSES; i++) {
		name.pid = name.tid = FIRST_PID + i;
		assert_int_equal(lode_process_unwinder_apply(&kernel.unwinder, &name), 0);
	}
	add_process(&kernel, FIRST_PID + 2 * LODE_PRELOAD_PROCESSES, ADDRESS, own_path());
	assert_int_equal(preload(&kernel, LONG), 0);
	assert_int_not_equal(space_of(&kernel, FIRST_PID + 2 * LODE_PRELOAD_PROCESSES)->id, 0);
	close_kernel(&kernel);
}

/* Its mapping says so to a walk, which then has the stack copied. */
static void without_time_processes_are_known_and_their_tables_pending(void **state)
{
	const struct lode_unwind_space *space;
	struct kernel kernel;

	(void)state;
	open_kernel(&kernel);
	add_process(&kernel, FIRST_PID, ADDRESS, own_path());
	assert_int_equal(preload(&kernel, 0), 0);
	space = space_of(&kernel, FIRST_PID);
	assert_int_not_equal(space->id, 0);
	assert_int_equal(kernel.mappings[space->first].table, LODE_UNWIND_PENDING);
	assert_int_equal(preload(&kernel, LONG), 0);
	assert_int_not_equal(kernel.mappings[space->first].table, LODE_UNWIND_PENDING);
	assert_int_not_equal(kernel.mappings[space->first].table, LODE_UNWIND_NO_TABLE);
	close_kernel(&kernel);
}

static const char *opened[8];
static size_t opened_count;

static int note_opened(void *context, struct lode_unwind_table *table, const char *path, const char *build_id,
		       const char *cache)
{
	static char names[8][4096];
	ssize_t size = readlink(path, names[opened_count], sizeof(names[0]) - 1);

	(void)context;
	assert_true(size > 0);
	names[opened_count][size] = '\0';
	opened[opened_count] = names[opened_count];
	opened_count++;
	return lode_unwind_table_open(table, path, NULL, build_id, cache);
}

static void the_table_that_most_processes_use_comes_first(void **state)
{
	char seldom[] = "/bin/true";
	struct kernel kernel;

	(void)state;
	open_kernel(&kernel);
	kernel.unwinder.open_table = note_opened;
	add_process(&kernel, FIRST_PID, ADDRESS, seldom);
	for (uint32_t i = 1; i < 4; i++)
		add_process(&kernel, FIRST_PID + i, ADDRESS, own_path());
	assert_int_equal(preload(&kernel, LONG), 0);
	assert_int_equal(opened_count, 2);
	assert_string_equal(opened[0], own_path());
	close_kernel(&kernel);
}

/* ---- binaries that come and go ---- */

#define BINARIES 400u
#define LIVING   8u
#define ROWS     50u
#define SECOND   ((uint64_t)1000000000)

/* The number in a file's name becomes the first address of its table. */
static int invent_table(void *context, struct lode_unwind_table *table, const char *path, const char *build_id,
			const char *cache)
{
	static const struct lode_load load = { .size = PAGES, .executable = 1 };
	char name[4096] = "";
	uint32_t *starts = calloc(ROWS, sizeof(*starts) + sizeof(uint16_t) + sizeof(struct lode_unwind_rule));

	(void)context;
	(void)build_id;
	(void)cache;
	assert_non_null(starts);
	assert_true(readlink(path, name, sizeof(name) - 1) > 0);
	for (uint32_t i = 0; i < ROWS; i++)
		starts[i] = i * 16;
	*table = (struct lode_unwind_table){
		.base = strtoul(strrchr(name, '/') + 1, NULL, 10),
		.starts = starts,
		.rules = (const uint16_t *)(starts + ROWS),
		.count = ROWS,
		.dictionary = (const void *)((const uint16_t *)(starts + ROWS) + ROWS),
		.rule_count = 1,
		.loads = &load,
		.load_count = 1,
		.owned = starts,
	};
	return 0;
}

static void end_process(struct kernel *kernel, uint32_t pid, uint64_t t)
{
	struct lode_change change = { .type = LODE_CHANGE_EXIT, .t = t, .pid = pid, .tid = pid };

	assert_int_equal(lode_process_unwinder_apply(&kernel->unwinder, &change), 0);
}

/* What the recorder does with each reading. */
static void keep_tables(struct kernel *kernel, uint64_t t)
{
	int tidied = lode_process_unwinder_tidy(&kernel->unwinder, t);

	assert_true(tidied >= 0);
	if (tidied)
		assert_int_equal(lode_unwind_loader_renumbered(kernel->loader, t), 0);
	assert_int_equal(lode_unwind_loader_flush(kernel->loader, t), 0);
}

/* Each living process has a table of its own in the kernel, and what is known of it is that of its binary. */
static uint32_t assert_own_tables(struct kernel *kernel, uint32_t first, uint32_t end)
{
	uint32_t most = 0;

	for (uint32_t i = first; i < end; i++) {
		const struct lode_unwind_space *space = space_of(kernel, FIRST_PID + i);
		uint32_t place = kernel->mappings[space->first].table, number = 0;

		assert_int_equal(space->pid, FIRST_PID + i);
		assert_true(place > 0 && place < LODE_UNWIND_TABLES);
		for (uint32_t j = first; j < i; j++)
			assert_int_not_equal(kernel->mappings[space_of(kernel, FIRST_PID + j)->first].table, place);
		assert_int_equal(kernel->mappings[space->first].bias, ADDRESS + i);
		while (!kernel->unwinder.tables[number].key || kernel->unwinder.tables[number].table.base != i)
			assert_true(++number < kernel->unwinder.table_count);
		most = place > most ? place : most;
	}
	return most;
}

/* More than there is room for, but few at a time. */
static void processes_that_ended_take_no_room(void **state)
{
	uint32_t count = LODE_UNWIND_MAPPINGS + 1000;
	struct kernel kernel;

	(void)state;
	open_kernel(&kernel);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t pid = FIRST_PID + i;
		struct lode_change fork = { .type = LODE_CHANGE_FORK, .t = i, .pid = pid, .tid = pid };

		assert_int_equal(lode_process_unwinder_apply(&kernel.unwinder, &fork), 0);
		add_process(&kernel, pid, ADDRESS + (uint64_t)i * PAGES, own_path());
		assert_int_equal(lode_unwind_loader_changed(kernel.loader, pid), 0);
		if (i >= LIVING)
			end_process(&kernel, pid - LIVING, i);
		if (i % 3 == 0)
			assert_int_equal(lode_unwind_loader_flush(kernel.loader, i), 0);
	}
	assert_int_equal(lode_unwind_loader_flush(kernel.loader, count), 0);
	assert_int_equal(lode_unwind_loader_totals(kernel.loader).crowded, 0);
	for (uint32_t i = count - LIVING; i < count; i++) {
		const struct lode_unwind_space *space = space_of(&kernel, FIRST_PID + i);

		assert_int_equal(space->pid, FIRST_PID + i);
		assert_int_equal(kernel.mappings[space->first].start, ADDRESS + (uint64_t)i * PAGES);
	}
	close_kernel(&kernel);
}

/* The kernel reports the end of the first thread, and then the new program under its number. */
static void a_process_lives_on_when_another_thread_calls_exec(void **state)
{
	struct lode_change fork = { .type = LODE_CHANGE_FORK, .t = 1, .pid = FIRST_PID, .tid = FIRST_PID };
	struct lode_change name = { .type = LODE_CHANGE_NAME,
				    .t = 3,
				    .pid = FIRST_PID,
				    .tid = FIRST_PID,
				    .executed = 1,
				    .text = (char[]){ "new" } };
	struct kernel kernel;

	(void)state;
	open_kernel(&kernel);
	assert_int_equal(lode_process_unwinder_apply(&kernel.unwinder, &fork), 0);
	end_process(&kernel, FIRST_PID, 2);
	assert_true(lode_processes_has_ended(&kernel.unwinder.processes, FIRST_PID));
	assert_int_equal(lode_process_unwinder_apply(&kernel.unwinder, &name), 0);
	add_process(&kernel, FIRST_PID, ADDRESS, own_path());
	assert_int_equal(lode_unwind_loader_changed(kernel.loader, FIRST_PID), 0);
	keep_tables(&kernel, 60 * SECOND);
	assert_int_equal(space_of(&kernel, FIRST_PID)->pid, FIRST_PID);
	assert_int_equal(space_of(&kernel, FIRST_PID)->count, 1);
	close_kernel(&kernel);
}

static void tables_of_binaries_that_are_gone_are_dropped(void **state)
{
	char folder[] = "/tmp/lode-test-XXXXXX", path[64];
	uint32_t most = 0, place;
	struct kernel kernel;

	(void)state;
	assert_non_null(mkdtemp(folder));
	open_kernel(&kernel);
	kernel.unwinder.open_table = invent_table;
	kernel.unwinder.tables_limit = 20 * ROWS * 6;
	for (uint32_t i = 0; i < BINARIES; i++) {
		uint32_t first = i < LIVING ? 0 : i - LIVING + 1;
		FILE *file;

		snprintf(path, sizeof(path), "%s/%u", folder, i);
		file = fopen(path, "w");
		assert_non_null(file);
		fclose(file);
		add_process(&kernel, FIRST_PID + i, ADDRESS, path);
		if (i >= LIVING) {
			end_process(&kernel, FIRST_PID + i - LIVING, i * SECOND);
			snprintf(path, sizeof(path), "%s/%u", folder, i - LIVING);
			unlink(path);
		}
		assert_int_equal(lode_unwind_loader_changed(kernel.loader, FIRST_PID + i), 0);
		keep_tables(&kernel, (i + 1) * SECOND);
		/* As copies of stacks ask for tables. */
		for (uint32_t j = first; j <= i; j++)
			assert_int_equal(lode_process_unwinder_load(&kernel.unwinder, FIRST_PID + j), 0);
		assert_int_equal(lode_unwind_loader_flush(kernel.loader, (i + 1) * SECOND), 0);
		place = assert_own_tables(&kernel, first, i + 1);
		most = place > most ? place : most;
		usleep(200); /* a place is free when the installer's thread has got to it */
	}
	print_message("%u places, %zu tables\n", most, kernel.unwinder.table_count);
	assert_true(most < BINARIES && kernel.unwinder.table_count < BINARIES / 4);
	assert_true(lode_unwind_loader_totals(kernel.loader).tables < BINARIES / 4);
	close_kernel(&kernel);
	for (uint32_t i = BINARIES - LIVING; i < BINARIES; i++) {
		snprintf(path, sizeof(path), "%s/%u", folder, i);
		unlink(path);
	}
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_processes_as_there_is_room_for_are_known),
		cmocka_unit_test(processes_without_code_take_no_room),
		cmocka_unit_test(without_time_processes_are_known_and_their_tables_pending),
		cmocka_unit_test(the_table_that_most_processes_use_comes_first),
		cmocka_unit_test(processes_that_ended_take_no_room),
		cmocka_unit_test(a_process_lives_on_when_another_thread_calls_exec),
		cmocka_unit_test(tables_of_binaries_that_are_gone_are_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
