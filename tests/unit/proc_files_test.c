/* What /proc says of the mappings of a process, against mappings that the test has made. */
#include "cmocka_all.h"
#include "temporary.h"

#include "base/proc_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct wanted {
	uint64_t start;
	uint64_t bytes;
	uint64_t offset;
	const char *rights;
	const char *path;
	unsigned found;
};

static int compare(void *context, const struct lode_proc_mapping *mapping)
{
	struct wanted *wanted = context;

	if (mapping->start != wanted->start)
		return 0;
	assert_int_equal(mapping->end, wanted->start + wanted->bytes);
	assert_int_equal(mapping->offset, wanted->offset);
	assert_string_equal(mapping->rights, wanted->rights);
	assert_string_equal(mapping->path, wanted->path);
	wanted->found++;
	return 0;
}

static void assert_listed(struct wanted wanted)
{
	assert_int_equal(lode_proc_mappings(0, compare, &wanted), 0);
	assert_int_equal(wanted.found, 1);
	wanted.found = 0;
	assert_int_equal(lode_proc_mappings((uint32_t)getpid(), compare, &wanted), 0);
	assert_int_equal(wanted.found, 1);
}

static void *map(int fd, size_t bytes, int protection, int flags, off_t offset)
{
	/* Between two pages that nobody may use, so that the kernel joins it with no other. */
	unsigned char *room = mmap(NULL, bytes + 2 * (size_t)sysconf(_SC_PAGESIZE), PROT_NONE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *at;

	assert_true(room != MAP_FAILED);
	at = mmap(room + sysconf(_SC_PAGESIZE), bytes, protection, flags | MAP_FIXED, fd, offset);
	assert_true(at != MAP_FAILED);
	return at;
}

static void a_file_is_listed_with_its_offset_and_name(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char folder[200], path[256], gone[300];
	void *at;
	int fd;

	(void)state;
	assert_int_equal(temporary_folder(folder, sizeof(folder)), 0);
	snprintf(path, sizeof(path), "%s/a name  with spaces", folder);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)(8 * page)), 0);
	at = map(fd, 2 * page, PROT_READ, MAP_SHARED, (off_t)(5 * page));
	assert_listed((struct wanted){ (uint64_t)(uintptr_t)at, 2 * page, 5 * page, "r--s", path, 0 });
	unlink(path);
	snprintf(gone, sizeof(gone), "%s (deleted)", path);
	assert_listed((struct wanted){ (uint64_t)(uintptr_t)at, 2 * page, 5 * page, "r--s", gone, 0 });
	munmap(at, 2 * page);
	close(fd);
	assert_int_equal(temporary_remove(folder), 0);
}

static void memory_without_a_file_has_no_name(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at = map(-1, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, 0);

	(void)state;
	assert_listed((struct wanted){ (uint64_t)(uintptr_t)at, 3 * page, 0, "rw-p", "", 0 });
	munmap(at, 3 * page);
}

static int stop_at_once(void *context, const struct lode_proc_mapping *mapping)
{
	(void)mapping;
	++*(unsigned *)context;
	return 7;
}

static void a_visit_can_be_ended(void **state)
{
	unsigned calls = 0;

	(void)state;
	assert_int_equal(lode_proc_mappings(0, stop_at_once, &calls), 7);
	assert_int_equal(calls, 1);
	assert_int_equal(lode_proc_mappings(UINT32_MAX, stop_at_once, &calls), 0); /* there is no such process */
	assert_int_equal(calls, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_listed_with_its_offset_and_name),
		cmocka_unit_test(memory_without_a_file_has_no_name),
		cmocka_unit_test(a_visit_can_be_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
