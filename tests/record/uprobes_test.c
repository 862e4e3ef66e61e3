/*
 * Uprobes: a program attached to 500 functions of this very program counts their
 * calls, and stops when its link goes away, in whichever way.
 *
 *	uprobes_test PROGRAM.bpf.o
 *
 * Needs privileges; ends with 77 (skipped), and says why, where it has none.
 */
#include "../unit/cmocka_all.h"

#include "record/load/uprobes.h"
#include "symbols/code.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PLACES 500
#define SELF   "/proc/self/exe"

static volatile unsigned work; /* makes the functions differ, so that they are not folded into one */

#define FUNCTION(a, b, c)                                                                                         \
	static __attribute__((noinline)) void function_##a##b##c(void)                                            \
	{                                                                                                         \
		work += 1##a##b##c;                                                                               \
	}
/* clang-format off */
#define TEN(do, a, b)                                                                                  \
	do(a, b, 0) do(a, b, 1) do(a, b, 2) do(a, b, 3) do(a, b, 4) do(a, b, 5) do(a, b, 6) do(a, b, 7) \
		do(a, b, 8) do(a, b, 9)
#define HUNDRED(do, a)                                                                          \
	TEN(do, a, 0) TEN(do, a, 1) TEN(do, a, 2) TEN(do, a, 3) TEN(do, a, 4) TEN(do, a, 5)      \
		TEN(do, a, 6) TEN(do, a, 7) TEN(do, a, 8) TEN(do, a, 9)
#define ALL(do) HUNDRED(do, 0) HUNDRED(do, 1) HUNDRED(do, 2) HUNDRED(do, 3) HUNDRED(do, 4)
/* clang-format on */
#define ADDRESS(a, b, c) function_##a##b##c,

ALL(FUNCTION)

static void (*const functions[])(void) = { ALL(ADDRESS) };

struct programs {
	struct bpf_object *object;
	int program;
	int counts;
};

static const char *object_path;

static int set_up(void **state)
{
	static struct programs programs;
	struct bpf_program *program;

	*state = &programs;
	programs.object = bpf_object__open_file(object_path, NULL);
	if (!programs.object) {
		printf("%s: cannot be opened: %s\n", object_path, strerror(errno));
		return -1;
	}
	program = bpf_object__find_program_by_name(programs.object, "count_call");
	if (!program || bpf_program__set_expected_attach_type(program, LODE_UPROBES_ATTACH_TYPE) ||
	    bpf_object__load(programs.object)) {
		printf("%s: cannot be loaded: %s\n", object_path, strerror(errno));
		return -1;
	}
	programs.program = bpf_program__fd(program);
	programs.counts = bpf_object__find_map_fd_by_name(programs.object, "counts");
	return 0;
}

static int tear_down(void **state)
{
	struct programs *programs = *state;

	bpf_object__close(programs->object);
	return 0;
}

static uint64_t count_of(const struct programs *programs, uint32_t place)
{
	uint64_t count = 0;

	assert_int_equal(bpf_map_lookup_elem(programs->counts, &place, &count), 0);
	return count;
}

static void forget(const struct programs *programs)
{
	uint64_t zero = 0;

	for (uint32_t i = 0; i < 2 * PLACES; i++)
		assert_int_equal(bpf_map_update_elem(programs->counts, &i, &zero, BPF_ANY), 0);
}

/* Where the code of a function is in this program's file. */
static uint64_t file_offset(uintptr_t address)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end, offset;
	uint64_t found = 0;
	char line[512];

	assert_non_null(maps);
	while (!found && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 && address >= start && address < end)
			found = address - start + offset;
	fclose(maps);
	assert_true(found != 0);
	return found;
}

static void find_places(struct lode_uprobe_place *places)
{
	for (uint32_t i = 0; i < PLACES; i++)
		places[i] = (struct lode_uprobe_place){ file_offset((uintptr_t)functions[i]), i };
}

static int attach(const struct programs *programs, uint32_t pid)
{
	struct lode_uprobe_place places[PLACES];
	struct lode_error error = { "" };
	int link;

	find_places(places);
	link = lode_uprobes_attach(programs->program, SELF, places, PLACES, pid, &error);
	if (link < 0)
		fail_msg("%s", error.text);
	return link;
}

static unsigned times_called(uint32_t place)
{
	return place % 7;
}

static void *call_all(void *unused)
{
	for (uint32_t i = 0; i < PLACES; i++)
		for (unsigned n = 0; n < times_called(i); n++)
			functions[i]();
	return unused;
}

/* Each was counted `rounds` times as often as call_all calls it. */
static void assert_counted(const struct programs *programs, unsigned rounds)
{
	for (uint32_t i = 0; i < PLACES; i++)
		assert_int_equal(count_of(programs, i), rounds * times_called(i));
}

static double milliseconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void each_call_is_counted_at_its_place_while_the_link_is_there(void **state)
{
	const struct programs *programs = *state;
	double began, attached, detaching, detached;
	int link;

	forget(programs);
	call_all(NULL);
	began = milliseconds();
	link = attach(programs, (uint32_t)getpid());
	attached = milliseconds();
	call_all(NULL);
	call_all(NULL);
	detaching = milliseconds();
	close(link);
	detached = milliseconds();
	call_all(NULL);
	assert_counted(programs, 2);
	print_message("%d functions: attached in %.1f ms, detached in %.1f ms\n", PLACES, attached - began,
		      detached - detaching);
}

static int linux_is_at_least(int major, int minor)
{
	struct utsname system;
	int has_major = 0, has_minor = 0;

	return uname(&system) == 0 && sscanf(system.release, "%d.%d", &has_major, &has_minor) == 2 &&
	       (has_major > major || (has_major == major && has_minor >= minor));
}

static void threads_of_the_process_are_counted_too(void **state)
{
	const struct programs *programs = *state;
	pthread_t thread;
	int link;

	if (!linux_is_at_least(6, 10))
		skip();
	forget(programs);
	link = attach(programs, (uint32_t)getpid());
	assert_int_equal(pthread_create(&thread, NULL, call_all, NULL), 0);
	pthread_join(thread, NULL);
	close(link);
	assert_counted(programs, 1);
}

/* Calls everything in a separate process. */
static void call_all_elsewhere(void)
{
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		call_all(NULL);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void other_processes_are_counted_only_when_all_are_asked_for(void **state)
{
	const struct programs *programs = *state;
	int link;

	forget(programs);
	link = attach(programs, (uint32_t)getpid());
	call_all_elsewhere();
	close(link);
	assert_counted(programs, 0);
	link = attach(programs, 0);
	call_all_elsewhere();
	close(link);
	assert_counted(programs, 1);
}

/* Attaches to its parent, says so, and waits to be killed. */
static void attach_and_wait(const struct programs *programs, int said)
{
	int link = attach(programs, (uint32_t)getppid());

	if (link < 0 || write(said, "!", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static void nothing_stays_behind_a_program_that_is_killed(void **state)
{
	const struct programs *programs = *state;
	int said[2];
	pid_t child;
	char byte;

	forget(programs);
	assert_int_equal(pipe(said), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child)
		attach_and_wait(programs, said[1]);
	close(said[1]);
	assert_int_equal(read(said[0], &byte, 1), 1);
	close(said[0]);
	call_all(NULL);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	call_all(NULL);
	assert_counted(programs, 1);
}

/* Places of the entries of the functions, with their numbers, and of their ends, with PLACES added. */
static size_t find_ends(const struct lode_code *code, struct lode_uprobe_place *places, size_t most)
{
	size_t count = 0;

	for (uint32_t i = 0; i < PLACES; i++) {
		uint32_t number = lode_code_find(code, file_offset((uintptr_t)functions[i]));
		const struct lode_code_function *function = &code->functions[number];

		assert_true(number < code->count);
		if (function->unknown_ends)
			return 0; /* of a machine that is not understood here */
		assert_true(count + function->entry_count + function->end_count <= most);
		for (uint32_t n = 0; n < function->entry_count; n++)
			places[count++] = (struct lode_uprobe_place){ code->offsets[function->first_entry + n], i };
		for (uint32_t n = 0; n < function->end_count; n++)
			places[count++] =
				(struct lode_uprobe_place){ code->offsets[function->first_end + n], PLACES + i };
	}
	return count;
}

static void what_is_entered_ends_where_its_code_says(void **state)
{
	const struct programs *programs = *state;
	struct lode_uprobe_place places[8 * PLACES];
	struct lode_error error = { "" };
	struct lode_code code;
	size_t count;
	int link;

	forget(programs);
	assert_int_equal(lode_code_read(&code, SELF, &error), 0);
	count = find_ends(&code, places, 8 * PLACES);
	lode_code_release(&code);
	if (!count)
		skip();
	link = lode_uprobes_attach(programs->program, SELF, places, count, (uint32_t)getpid(), &error);
	if (link < 0)
		fail_msg("%s", error.text);
	call_all(NULL);
	close(link);
	assert_counted(programs, 1);
	for (uint32_t i = 0; i < PLACES; i++)
		assert_int_equal(count_of(programs, PLACES + i), times_called(i));
}

static void assert_refused(const struct programs *programs, const char *path, uint64_t offset, uint32_t pid,
			   const char *sentence)
{
	struct lode_uprobe_place place = { offset, 0 };
	struct lode_error error = { "" };

	assert_int_equal(lode_uprobes_attach(programs->program, path, &place, 1, pid, &error), LODE_SYSTEM);
	if (!strstr(error.text, sentence))
		fail_msg("'%s' does not say '%s'", error.text, sentence);
}

static void what_is_wrong_is_said(void **state)
{
	const struct programs *programs = *state;
	uint64_t offset = file_offset((uintptr_t)functions[0]);
	struct lode_error error = { "" };
	pid_t gone = fork();

	if (!gone)
		_exit(0);
	waitpid(gone, NULL, 0);
	assert_refused(programs, "/no/such/file", offset, 0, "/no/such/file: the file does not exist");
	assert_refused(programs, SELF, offset, (uint32_t)gone, "has ended");
	assert_refused(programs, SELF, 1u << 30, 0, "cannot be probed");
	assert_int_equal(lode_uprobes_attach(programs->program, SELF, NULL, 0, 0, &error), LODE_SYSTEM);
	assert_non_null(strstr(error.text, "0 places"));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_call_is_counted_at_its_place_while_the_link_is_there),
		cmocka_unit_test(threads_of_the_process_are_counted_too),
		cmocka_unit_test(other_processes_are_counted_only_when_all_are_asked_for),
		cmocka_unit_test(nothing_stays_behind_a_program_that_is_killed),
		cmocka_unit_test(what_is_entered_ends_where_its_code_says),
		cmocka_unit_test(what_is_wrong_is_said),
	};
	struct lode_error error = { "" };

	if (lode_uprobes_possible(&error) < 0) {
		printf("skipped: %s\n", error.text);
		return 77;
	}
	if (argc != 2) {
		fprintf(stderr, "usage: uprobes_test PROGRAM.bpf.o\n");
		return 2;
	}
	object_path = argv[1];
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
