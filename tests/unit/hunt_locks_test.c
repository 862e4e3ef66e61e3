/*
 * Locks are called as this program calls its own variables, and by where they are
 * when they have no name.
 */
#include "cmocka_all.h"
#include "own_maps.h"

#include "base/memory.h"
#include "hunt/meter/live/lock_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Not static, so that no compiler changes their names. */
int lock_with_a_value = 7;
char lock_without_a_value[100000];
struct {
	int before[5];
	int lock;
} lock_in_a_struct;

static uint32_t no_thread(void *context, uint64_t start, uint64_t end)
{
	(void)context;
	(void)start;
	(void)end;
	return 0;
}

/* The thread that `context` says, if the address is in the range. */
struct stack {
	uint64_t address;
	uint32_t tid;
};

static uint32_t thread_in(void *context, uint64_t start, uint64_t end)
{
	const struct stack *stack = context;

	return stack->address >= start && stack->address < end ? stack->tid : 0;
}

static void assert_name(const volatile void *place, const char *before, const char *behind)
{
	char text[512], expected[512];

	lode_lock_name((uint32_t)getpid(), (uint64_t)(uintptr_t)place, no_thread, NULL, text, sizeof(text));
	snprintf(expected, sizeof(expected), "%s0x%llx%s", before, (unsigned long long)(uintptr_t)place, behind);
	assert_string_equal(text, expected);
}

static void variables_have_their_names(void **state)
{
	(void)state;
	assert_name(&lock_with_a_value, "hunt_locks_test!lock_with_a_value (", ")");
	assert_name(&lock_without_a_value, "hunt_locks_test!lock_without_a_value (", ")");
	assert_name(lock_without_a_value + 99999, "hunt_locks_test!lock_without_a_value+0x1869f (", ")");
	assert_name(&lock_in_a_struct.lock, "hunt_locks_test!lock_in_a_struct+0x14 (", ")");
}

static void variables_of_libraries_have_their_names(void **state)
{
	char text[512];

	(void)state;
	lode_lock_name((uint32_t)getpid(), (uint64_t)(uintptr_t)stdin, no_thread, NULL, text, sizeof(text));
	assert_non_null(strstr(text, "_IO_2_1_stdin_ (0x"));
}

static void a_place_on_the_stack_is_known_by_its_address(void **state)
{
	char expected[64];

	(void)state;
	snprintf(expected, sizeof(expected), " (stack of thread %d)", (int)getpid());
	assert_name(__builtin_frame_address(0), "", expected);
}

static void a_place_on_the_heap_is_known_by_its_address(void **state)
{
	char *place = sbrk(4096);

	(void)state;
	skip_unless_mapped(MAPPED_HEAP);
	assert_name(place, "", " (heap)");
}

static void shared_locks_are_known_by_their_file(void **state)
{
	char path[] = "/tmp/lode-locks-XXXXXX", expected[128];
	int fd = mkstemp(path);
	char *memory;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 131072), 0);
	memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 65536);
	assert_true(memory != MAP_FAILED);
	snprintf(expected, sizeof(expected), " (shared memory %s+0x10088)", path);
	assert_name(memory + 0x88, "", expected);
	munmap(memory, 65536);
	close(fd);
	unlink(path);
}

static void a_stack_belongs_to_its_thread(void **state)
{
	size_t size = 65536;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct stack stack = { (uint64_t)(uintptr_t)memory + 100, 4711 };
	char text[64], expected[64];

	(void)state;
	assert_true(memory != MAP_FAILED);
	lode_lock_name((uint32_t)getpid(), stack.address + 1000, thread_in, &stack, text, sizeof(text));
	snprintf(expected, sizeof(expected), "0x%llx (stack of thread 4711)",
		 (unsigned long long)stack.address + 1000);
	assert_string_equal(text, expected);
	munmap(memory, size);
}

static void where_nothing_is_known_the_address_is_the_name(void **state)
{
	char text[64];

	(void)state;
	lode_lock_name((uint32_t)getpid(), 0x10, no_thread, NULL, text, sizeof(text));
	assert_string_equal(text, "0x10");
	lode_lock_name(UINT32_MAX, 0x10, no_thread, NULL, text, sizeof(text));
	assert_string_equal(text, "0x10");
}

static void an_address_is_found_by_its_lowest_bits(void **state)
{
	const volatile void *const places[] = { &lock_with_a_value, lock_without_a_value + 99999,
						__builtin_frame_address(0) };
	const uint64_t mask = (1ull << 35) - 1;

	(void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip(); /* their memory takes so many addresses that some end like any other */
#endif
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		uint64_t address = (uint64_t)(uintptr_t)places[i];

		assert_int_equal(lode_lock_address((uint32_t)getpid(), address & mask, 35), address);
	}
	/* Code is not written to; nothing is at 16; many places end like this; nobody has this number. */
	assert_int_equal(lode_lock_address((uint32_t)getpid(), (uint64_t)(uintptr_t)thread_in & mask, 35), 0);
	assert_int_equal(lode_lock_address((uint32_t)getpid(), 16, 40), 0);
	assert_int_equal(lode_lock_address((uint32_t)getpid(), 16, 12), 0);
	assert_int_equal(lode_lock_address(UINT32_MAX, 16, 35), 0);
}

static void names_that_are_too_long_are_cut(void **state)
{
	char text[12];

	(void)state;
	lode_lock_name((uint32_t)getpid(), (uint64_t)(uintptr_t)&lock_with_a_value, no_thread, NULL, text,
		       sizeof(text));
	assert_string_equal(text, "hunt_locks_");
}

static void without_memory_there_is_always_a_name(void **state)
{
	char plain[64], text[512];

	(void)state;
	snprintf(plain, sizeof(plain), "0x%llx", (unsigned long long)(uintptr_t)&lock_with_a_value);
	for (uint64_t nth = 1; nth < 40; nth++) {
		lode_memory_fail_at(nth, 0);
		lode_lock_name((uint32_t)getpid(), (uint64_t)(uintptr_t)&lock_with_a_value, no_thread, NULL, text,
			       sizeof(text));
		lode_memory_fail_at(0, 0);
		assert_non_null(strstr(text, plain));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables_have_their_names),
		cmocka_unit_test(variables_of_libraries_have_their_names),
		cmocka_unit_test(a_place_on_the_stack_is_known_by_its_address),
		cmocka_unit_test(a_place_on_the_heap_is_known_by_its_address),
		cmocka_unit_test(shared_locks_are_known_by_their_file),
		cmocka_unit_test(a_stack_belongs_to_its_thread),
		cmocka_unit_test(where_nothing_is_known_the_address_is_the_name),
		cmocka_unit_test(an_address_is_found_by_its_lowest_bits),
		cmocka_unit_test(names_that_are_too_long_are_cut),
		cmocka_unit_test(without_memory_there_is_always_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
