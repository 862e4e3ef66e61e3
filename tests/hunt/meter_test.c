/*
 * What the live meter measures is what the hunted program says of itself (prey.h),
 * and the program goes on unharmed.
 *
 *	meter_test FOLDER [TEST...]
 *
 * FOLDER holds the programs to hunt. Both measure the same time: the program's own
 * sums are read just before and just after each reading, so that the meter's
 * must lie between, whatever else the machine is doing. Only time that the
 * hypervisor takes is seen by one of them alone; therefore a comparison that
 * fails is made again, up to three times in all.
 *
 * Exits with 77, and says why, where the kernel does not permit it.
 */
#include "base/memory.h"
#include "hunt/meter/live/live_meter.h"
#include "hunt/meter/wait_objects.h"
#include "prey.h"
#include "unit/cmocka_all.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS    1000000u
#define TRIES 3
#define WAIT  (50u * MS)

static const char *folder;

struct hunt {
	pid_t pid;
	char page_path[64];
	struct prey_page *page;
	struct lode_meter *meter;
};

static void nap(uint64_t time)
{
	struct timespec left = { (time_t)(time / 1000000000u), (long)(time % 1000000000u) };

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

/* ---- the program that is hunted ---- */

static void run_prey(const char *program, const char *act, const char *page)
{
	char path[4096], plugin[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, program);
	snprintf(plugin, sizeof(plugin), "%s/plugin.so", folder);
	setenv("PREY_PLUGIN", plugin, 1);
	execl(path, path, act, page, (char *)NULL);
	_exit(3);
}

static void map_page(struct hunt *hunt)
{
	int fd = mkstemp(hunt->page_path);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, sizeof(*hunt->page)), 0);
	hunt->page = mmap(NULL, sizeof(*hunt->page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(hunt->page != MAP_FAILED);
	close(fd);
}

static void begin_hunt(struct hunt *hunt, const char *program, const char *act)
{
	*hunt = (struct hunt){ .page_path = "/tmp/lode-prey-XXXXXX" };
	map_page(hunt);
	hunt->pid = fork();
	if (!hunt->pid)
		run_prey(program, act, hunt->page_path);
	for (int i = 0; i < 5000 && hunt->page->turns < 3; i++)
		nap(2 * MS);
	assert_true(hunt->page->turns >= 3);
}

static void begin_meter(struct hunt *hunt, double cost)
{
	uint32_t pid = (uint32_t)hunt->pid;
	struct lode_live_meter_options options = { .pids = &pid, .pid_count = 1, .cost = cost };
	struct lode_error error;

	if (lode_live_meter_create(&hunt->meter, &options, &error) < 0)
		fail_msg("%s", error.text);
}

/* Whether any thread of the program is stopped, or traced. */
static int is_held(pid_t pid)
{
	char command[256];

	snprintf(command, sizeof(command),
		 "cat /proc/%d/task/*/status | grep -E '^State:.*[Tt] |^TracerPid:\\s[1-9]' > /dev/null", (int)pid);
	return system(command) == 0;
}

/* The program is as it was before: it lives, is not stopped, and goes on. */
static void check_unharmed(struct hunt *hunt)
{
	uint64_t turns = hunt->page->turns;

	assert_int_equal(waitpid(hunt->pid, NULL, WNOHANG), 0);
	assert_false(is_held(hunt->pid));
	for (int i = 0; i < 5000 && hunt->page->turns < turns + 2; i++)
		nap(2 * MS);
	assert_true(hunt->page->turns >= turns + 2);
}

static void end_hunt(struct hunt *hunt)
{
	if (hunt->meter)
		hunt->meter->operations->destroy(hunt->meter);
	check_unharmed(hunt);
	kill(hunt->pid, SIGKILL);
	assert_int_equal(waitpid(hunt->pid, NULL, 0), hunt->pid);
	unlink(hunt->page_path);
	munmap(hunt->page, sizeof(*hunt->page));
}

/* ---- functions ---- */

/* The offset in its file of an address of the program, and the file's name. */
static uint64_t file_offset(const struct hunt *hunt, uint64_t address, char *module, size_t size)
{
	char path[64], line[4096], *name;
	unsigned long long start, end, offset;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)hunt->pid);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llx-%llx %*s %llx", &start, &end, &offset) != 3 || address < start ||
		    address >= end)
			continue;
		fclose(file);
		line[strcspn(line, "\n")] = '\0';
		name = strrchr(line, '/');
		snprintf(module, size, "%s", name ? name + 1 : "");
		module[strcspn(module, " ")] = '\0'; /* "(deleted)" */
		return address - start + offset;
	}
	fclose(file);
	return 0;
}

/* The function at an address, found by its offset, for a stripped program has no names. */
static uint32_t function_at(const struct hunt *hunt, uint64_t address)
{
	const struct lode_program *program = hunt->meter->program;
	char module[4096];
	uint64_t offset = file_offset(hunt, address, module, sizeof(module));

	for (uint32_t i = 0; i < lode_program_count(program); i++) {
		const struct lode_program_function *function = lode_program_function(program, i);

		if (function->binary != LODE_NONE && !strcmp(function->module, module) &&
		    lode_program_at(program, function->binary, offset) == i)
			return i;
	}
	return LODE_NONE;
}

static struct lode_focus focus_on(uint32_t function)
{
	return (struct lode_focus){ function, LODE_NONE, LODE_NONE, LODE_NONE, 0 };
}

static void start_one(struct hunt *hunt, uint32_t number, enum lode_hypothesis hypothesis,
		      const struct lode_focus *focus)
{
	struct lode_error error;

	if (hunt->meter->operations->start(hunt->meter, &number, &hypothesis, focus, 1, &error) < 0)
		fail_msg("%s", error.text);
}

static void wait_for(struct hunt *hunt, uint64_t time)
{
	const struct lode_meter_operations *operations = hunt->meter->operations;
	uint64_t until = operations->now(hunt->meter) + time;
	struct lode_error error;
	int code = 0;

	while (code == 0 && operations->now(hunt->meter) < until)
		code = operations->wait(hunt->meter, until, &error);
	assert_true(code >= 0);
}

static struct lode_reading read_one(struct hunt *hunt, uint32_t number)
{
	struct lode_reading reading;
	struct lode_error error;

	assert_int_equal(hunt->meter->operations->read(hunt->meter, number, &reading, &error), 0);
	return reading;
}

/* ---- comparing ---- */

/* A reading, and the program's own sum before and after it. */
struct moment {
	struct prey_truth before;
	struct lode_reading reading;
	struct prey_truth after;
};

static struct moment take_moment(struct hunt *hunt, uint32_t number, int truth)
{
	struct moment moment;

	memcpy(&moment.before, &hunt->page->truths[truth], sizeof(moment.before));
	moment.reading = read_one(hunt, number);
	memcpy(&moment.after, &hunt->page->truths[truth], sizeof(moment.after));
	return moment;
}

/* How far, in points of the wall time, a measured time lies outside what the program says. */
static double distance(uint64_t measured, uint64_t least, uint64_t most, uint64_t wall)
{
	if (measured < least)
		return 100.0 * (double)(least - measured) / (double)wall;
	return measured > most ? 100.0 * (double)(measured - most) / (double)wall : 0;
}

/*
 * The program keeps its sums of CPU time up to date every few milliseconds; a wait
 * is told when it is over, and the longest takes WAIT.
 */
static double compare(const struct moment *a, const struct moment *b, enum lode_hypothesis hypothesis)
{
	uint64_t wall = b->reading.wall - a->reading.wall, measured, least, most, slack;

	measured = b->reading.time[hypothesis] - a->reading.time[hypothesis];
	if (hypothesis == LODE_CPU_BOUND) {
		least = b->before.cpu - a->after.cpu;
		most = b->after.cpu - a->before.cpu;
	} else {
		least = b->before.blocked - a->after.blocked;
		most = b->after.blocked - a->before.blocked;
	}
	slack = hypothesis == LODE_CPU_BOUND ? 3 * MS : WAIT;
	return distance(measured, least > slack ? least - slack : 0, most + slack, wall);
}

/* Measures a function that the program keeps a sum of, and compares. */
static void check_share(struct hunt *hunt, int truth, enum lode_hypothesis hypothesis, double points)
{
	static uint32_t number = 1000;
	uint32_t function = function_at(hunt, hunt->page->truths[truth].address);
	struct lode_focus focus = focus_on(function);
	double off = 0;

	assert_int_not_equal(function, LODE_NONE);
	start_one(hunt, ++number, hypothesis, &focus);
	for (int try = 0; try < TRIES; try++) {
		struct moment first, second;

		nap(20 * MS);
		first = take_moment(hunt, number, truth);
		wait_for(hunt, hypothesis == LODE_CPU_BOUND ? 500 * MS : 1000 * MS);
		second = take_moment(hunt, number, truth);
		assert_int_equal(second.reading.state, LODE_READING_ON);
		off = compare(&first, &second, hypothesis);
		print_message("  %s: %.1f of 100, %.2f off, %llu calls\n",
			      lode_program_function(hunt->meter->program, function)->name,
			      100.0 * (double)(second.reading.time[hypothesis] - first.reading.time[hypothesis]) /
				      (double)(second.reading.wall - first.reading.wall),
			      off, (unsigned long long)second.reading.calls);
		if (off <= points)
			break;
	}
	assert_true(off <= points);
}

static void hunt_shares(const char *program, const char *act, int truths, enum lode_hypothesis hypothesis)
{
	struct hunt hunt;

	begin_hunt(&hunt, program, act);
	begin_meter(&hunt, 0);
	for (int i = 0; i < truths; i++)
		check_share(&hunt, i, hypothesis, 2);
	end_hunt(&hunt);
}

/* ---- tests ---- */

static void shares_of_cpu_time_are_the_programs_own(void **state)
{
	(void)state;
	hunt_shares("prey", "shares", 2, LODE_CPU_BOUND);
}

static void a_function_in_progress_from_before_is_measured_at_once(void **state)
{
	(void)state;
	hunt_shares("prey", "loop", 1, LODE_CPU_BOUND);
}

static void recursion_counts_once(void **state)
{
	(void)state;
	hunt_shares("prey", "recursion", 1, LODE_CPU_BOUND);
}

static void a_function_ends_with_its_tail_call(void **state)
{
	(void)state;
	hunt_shares("prey", "tail", 2, LODE_CPU_BOUND);
}

static void functions_left_by_longjmp_are_over(void **state)
{
	struct hunt hunt;
	struct lode_focus focus;

	(void)state;
	begin_hunt(&hunt, "prey", "jumps");
	begin_meter(&hunt, 0);
	check_share(&hunt, 1, LODE_CPU_BOUND, 2);
	/* What follows the jump has probes too, and tells that the other is over. */
	focus = focus_on(function_at(&hunt, hunt.page->truths[1].address));
	start_one(&hunt, 1, LODE_CPU_BOUND, &focus);
	check_share(&hunt, 0, LODE_CPU_BOUND, 2);
	end_hunt(&hunt);
}

static void exceptions_pass_through_functions_with_probes(void **state)
{
	char path[4096];

	(void)state;
	snprintf(path, sizeof(path), "%s/prey_throw", folder);
	if (access(path, X_OK) < 0)
		skip(); /* there was no C++ compiler */
	hunt_shares("prey_throw", "-", 2, LODE_CPU_BOUND);
}

static void a_stripped_program_is_measured(void **state)
{
	(void)state;
	hunt_shares("prey_stripped", "shares", 2, LODE_CPU_BOUND);
}

static void a_plugin_that_comes_late_is_measured(void **state)
{
	struct hunt hunt;

	(void)state;
	begin_hunt(&hunt, "prey", "plugin");
	begin_meter(&hunt, 0);
	for (int i = 0; i < 100 && (!hunt.page->truths[0].address ||
				    function_at(&hunt, hunt.page->truths[0].address) == LODE_NONE);
	     i++)
		wait_for(&hunt, 100 * MS);
	check_share(&hunt, 0, LODE_CPU_BOUND, 2);
	end_hunt(&hunt);
}

/* Copies a file; the copy can be run. */
static void copy_program(const char *from, const char *to)
{
	char command[16384];

	snprintf(command, sizeof(command), "rm -f '%s' && cp '%s' '%s'", to, from, to);
	assert_int_equal(system(command), 0);
}

static void a_program_whose_file_was_replaced_is_measured(void **state)
{
	char original[4096], other[4096], copy[4096];
	struct hunt hunt;

	(void)state;
	snprintf(original, sizeof(original), "%s/prey", folder);
	snprintf(other, sizeof(other), "%s/meter_test", folder);
	snprintf(copy, sizeof(copy), "%s/prey_replaced", folder);
	copy_program(original, copy);
	begin_hunt(&hunt, "prey_replaced", "loop");
	copy_program(other, copy);
	begin_meter(&hunt, 0);
	unlink(copy);
	check_share(&hunt, 0, LODE_CPU_BOUND, 2);
	end_hunt(&hunt);
}

static void waiting_for_a_lock_is_sync_waiting(void **state)
{
	(void)state;
	hunt_shares("prey", "lock", 1, LODE_SYNC_WAITING);
}

static void waiting_for_a_pipe_is_io_blocking(void **state)
{
	(void)state;
	hunt_shares("prey", "pipe", 1, LODE_IO_BLOCKING);
}

static void waiting_by_spinning_is_sync_waiting_and_no_cpu_time(void **state)
{
	struct hunt hunt;
	struct lode_focus focus;
	struct lode_reading reading;

	(void)state;
	begin_hunt(&hunt, "prey", "spin");
	begin_meter(&hunt, 0);
	check_share(&hunt, 0, LODE_SYNC_WAITING, 2);
	focus = focus_on(function_at(&hunt, hunt.page->truths[0].address));
	start_one(&hunt, 1, LODE_CPU_BOUND, &focus);
	wait_for(&hunt, 300 * MS);
	reading = read_one(&hunt, 1);
	assert_true(reading.time[LODE_SYNC_WAITING] > 0);
	assert_true(reading.time[LODE_CPU_BOUND] < reading.time[LODE_SYNC_WAITING] / 20);
	end_hunt(&hunt);
}

struct found {
	uint64_t objects[64];
	uint32_t numbers[64];
	size_t count;
};

static int find_one(void *context, uint32_t number, uint64_t object)
{
	struct found *found = context;

	if (found->count < 64) {
		found->objects[found->count] = object;
		found->numbers[found->count++] = number;
	}
	return 0;
}

static void the_lock_that_is_waited_for_is_found(void **state)
{
	struct hunt hunt;
	struct found found = { .count = 0 };
	struct lode_focus focus = focus_on(LODE_NONE);
	struct lode_reading all, object, in_function;

	(void)state;
	begin_hunt(&hunt, "prey", "lock");
	begin_meter(&hunt, 0);
	wait_for(&hunt, 300 * MS);
	assert_int_equal(hunt.meter->operations->below(hunt.meter, &focus, LODE_AXIS_OBJECT, find_one, &found), 0);
	assert_int_equal(found.count, 1);
	assert_int_equal(strncmp(hunt.meter->operations->name(hunt.meter, LODE_AXIS_OBJECT, found.objects[0]),
				 "prey!lock (0x", 13),
			 0);
	start_one(&hunt, 1, LODE_SYNC_WAITING, &focus);
	focus.object = found.objects[0];
	start_one(&hunt, 2, LODE_SYNC_WAITING, &focus);
	focus.function = function_at(&hunt, hunt.page->truths[0].address);
	start_one(&hunt, 3, LODE_SYNC_WAITING, &focus);
	wait_for(&hunt, 500 * MS);
	all = read_one(&hunt, 1);
	object = read_one(&hunt, 2);
	in_function = read_one(&hunt, 3);
	assert_true(all.time[LODE_SYNC_WAITING] > 50 * MS);
	/* The same waits, but for those that began before, and what lies between two readings. */
	assert_true(object.time[LODE_SYNC_WAITING] + 30 * MS > all.time[LODE_SYNC_WAITING]);
	assert_true(object.time[LODE_SYNC_WAITING] < all.time[LODE_SYNC_WAITING] + 30 * MS);
	assert_true(in_function.time[LODE_SYNC_WAITING] + 60 * MS > all.time[LODE_SYNC_WAITING]);
	end_hunt(&hunt);
}

/* ---- messages ---- */

static struct found below(struct hunt *hunt, uint64_t object)
{
	struct lode_focus focus = focus_on(LODE_NONE);
	struct found found = { .count = 0 };

	focus.object = object;
	assert_int_equal(hunt->meter->operations->below(hunt->meter, &focus, LODE_AXIS_OBJECT, find_one, &found),
			 0);
	return found;
}

static int was_found(const struct found *found, uint64_t object)
{
	for (size_t i = 0; i < found->count; i++)
		if (found->objects[i] == object)
			return 1;
	return 0;
}

static void assert_called(struct hunt *hunt, uint64_t object, const char *name)
{
	assert_string_equal(hunt->meter->operations->name(hunt->meter, LODE_AXIS_OBJECT, object), name);
}

/* Waiting for messages is told by communicator, and in each by tag, as the program itself counts it. */
static void messages_are_known_by_communicator_and_tag(void **state)
{
	const uint64_t world = lode_message_communicator(0x44000000, 0),
		       other = lode_message_communicator(0x84000001, 0);
	/* Each object, and the truths that it is made of. */
	const struct {
		uint64_t object;
		unsigned truths;
	} expected[] = {
		{ world, 7 },
		{ other, 8 },
		{ lode_message_tagged(world, 7), 1 },
		{ lode_message_tagged(world, 8), 2 },
		{ lode_message_collective(world), 4 },
		{ lode_message_tagged(other, 7), 8 },
	};
	const size_t count = sizeof(expected) / sizeof(*expected);
	uint64_t before[4], after[4];
	struct lode_focus focus = focus_on(LODE_NONE);
	struct hunt hunt;
	struct found found;

	(void)state;
	begin_hunt(&hunt, "prey", "messages");
	begin_meter(&hunt, 0);
	wait_for(&hunt, 300 * MS);
	found = below(&hunt, 0);
	/* MPI_Recv calls MPI_Barrier, which counts only where the probes went in between the two. */
	assert_int_equal(found.count, 2 + (size_t)was_found(&found, lode_message_communicator(0x44000001, 0)));
	assert_true(was_found(&found, world) && was_found(&found, other));
	found = below(&hunt, world);
	assert_int_equal(found.count, 3);
	for (size_t i = 2; i < 5; i++)
		assert_true(was_found(&found, expected[i].object));
	assert_int_equal(below(&hunt, other).count, 1);
	assert_int_equal(below(&hunt, expected[2].object).count, 0);
	assert_called(&hunt, world, "communicator 0x44000000 (MPI_COMM_WORLD)");
	assert_called(&hunt, expected[3].object, "tag 8 of communicator 0x44000000 (MPI_COMM_WORLD)");
	assert_called(&hunt, expected[4].object, "collective calls of communicator 0x44000000 (MPI_COMM_WORLD)");
	assert_called(&hunt, expected[5].object, "tag 7 of communicator 0x84000001");
	for (size_t i = 0; i < count; i++) {
		focus.object = expected[i].object;
		start_one(&hunt, (uint32_t)i + 1, LODE_SYNC_WAITING, &focus);
	}
	/* And in a function: what goes on in MPI_Recv is all of tags 7 and 8 of the first communicator. */
	focus.object = world;
	focus.function = function_at(&hunt, hunt.page->truths[0].address);
	start_one(&hunt, (uint32_t)count + 1, LODE_SYNC_WAITING, &focus);
	for (int i = 0; i < 4; i++)
		before[i] = hunt.page->truths[i].blocked;
	wait_for(&hunt, 800 * MS);
	for (int i = 0; i < 4; i++)
		after[i] = hunt.page->truths[i].blocked;
	for (size_t i = 0; i <= count; i++) {
		unsigned truths = i < count ? expected[i].truths : 3;
		uint64_t time = read_one(&hunt, (uint32_t)i + 1).time[LODE_SYNC_WAITING], truth = 0, longest = 0;

		for (int t = 0; t < 4; t++) {
			truth += truths >> t & 1 ? after[t] - before[t] : 0;
			longest += truths >> t & 1 ? hunt.page->truths[t].cpu : 0;
		}
		print_message("  %zu: %.1f ms, in truth %.1f ms\n", i, (double)time / 1e6, (double)truth / 1e6);
		/* A call that is not over at either end, which a busy machine makes long. */
		longest += 20 * MS;
		assert_true(time + longest + truth / 10 > truth && time < truth + longest + truth / 10);
	}
	end_hunt(&hunt);
}

static void operations_and_their_bytes_are_counted(void **state)
{
	struct hunt hunt;
	struct lode_focus all = focus_on(LODE_NONE), one;
	uint64_t before, after, least, most;
	struct lode_reading reading;

	(void)state;
	begin_hunt(&hunt, "prey", "writes");
	begin_meter(&hunt, 0);
	one = focus_on(function_at(&hunt, hunt.page->truths[0].address));
	before = hunt.page->operations;
	start_one(&hunt, 1, LODE_SMALL_IO, &all);
	start_one(&hunt, 2, LODE_SMALL_IO, &one);
	least = hunt.page->operations;
	wait_for(&hunt, 200 * MS);
	most = hunt.page->operations;
	reading = read_one(&hunt, 1);
	assert_true(reading.operations + 1 >= most - least);
	reading = read_one(&hunt, 2);
	after = hunt.page->operations;
	/* One round of writes may be under way at either end. */
	assert_true(reading.operations + 51 >= most - least && reading.operations <= after - before + 51);
	assert_int_equal(reading.bytes, reading.operations * 64);
	end_hunt(&hunt);
}

static void a_function_that_is_called_too_often_is_let_go(void **state)
{
	struct hunt hunt;
	struct lode_focus often, seldom;
	struct lode_reading reading = { 0 };

	(void)state;
	begin_hunt(&hunt, "prey", "hot");
	begin_meter(&hunt, 0.05);
	often = focus_on(function_at(&hunt, hunt.page->truths[0].address));
	seldom = focus_on(function_at(&hunt, hunt.page->truths[1].address));
	start_one(&hunt, 2, LODE_CPU_BOUND, &seldom);
	assert_true(hunt.meter->operations->predict(hunt.meter, LODE_CPU_BOUND, &often) >= 0);
	start_one(&hunt, 1, LODE_CPU_BOUND, &often);
	for (int i = 0; i < 100 && reading.state != LODE_READING_COSTLY; i++) {
		wait_for(&hunt, 20 * MS);
		reading = read_one(&hunt, 1);
	}
	assert_int_equal(reading.state, LODE_READING_COSTLY);
	assert_non_null(reading.why);
	/* Once known, it is predicted to cost more than is allowed; the other one is still measured. */
	assert_true(hunt.meter->operations->predict(hunt.meter, LODE_CPU_BOUND, &often) > 0.05);
	assert_int_equal(read_one(&hunt, 2).state, LODE_READING_ON);
	wait_for(&hunt, 900 * MS);
	reading = read_one(&hunt, 2);
	assert_true(reading.calls > 0);
	assert_true((double)(read_one(&hunt, 1).cost + reading.cost) < 0.05 * (double)reading.wall);
	end_hunt(&hunt);
}

/* Nanoseconds of CPU time of a call, by the program's own account, over a while. */
static double own_cost(struct hunt *hunt, int truth)
{
	struct prey_truth before = hunt->page->truths[truth];

	nap(400 * MS);
	return (double)(hunt->page->truths[truth].cpu - before.cpu) /
	       (double)(hunt->page->truths[truth].calls - before.calls);
}

/* What a call is said to cost with probes, and what it costs. */
static int agrees_on_cost(struct hunt *hunt, int truth)
{
	static uint32_t number = 2000;
	struct lode_focus focus = focus_on(function_at(hunt, hunt->page->truths[truth].address));
	double without = own_cost(hunt, truth), with, told;
	struct lode_reading first, second;
	struct lode_error error;

	assert_int_not_equal(focus.function, LODE_NONE);
	start_one(hunt, ++number, LODE_CPU_BOUND, &focus);
	wait_for(hunt, 50 * MS);
	first = read_one(hunt, number);
	with = own_cost(hunt, truth);
	second = read_one(hunt, number);
	assert_int_equal(hunt->meter->operations->stop(hunt->meter, &number, 1, &error), 0);
	assert_true(second.calls > first.calls);
	told = (double)(second.cost - first.cost) / (double)(second.calls - first.calls);
	print_message("  %s: told %.0f ns a call, %.0f by its own clock\n",
		      lode_program_function(hunt->meter->program, focus.function)->name, told, with - without);
	return told > 0.75 * (with - without) && told < 1.35 * (with - without);
}

static void the_cost_of_probes_depends_on_the_kind_of_instruction(void **state)
{
	struct hunt hunt;

	(void)state;
	begin_hunt(&hunt, "prey", "kinds");
	begin_meter(&hunt, 0.9);
	for (int kind = 0; kind < LODE_PROBED_KINDS; kind++)
		print_message("  kind %d: %llu ns\n", kind,
			      (unsigned long long)lode_live_meter_hit_cost(hunt.meter, (enum lode_probed_kind)kind));
	/* An emulated machine takes whatever time it likes for a trap, and never twice the same. */
	for (int truth = 0; lode_live_meter_hit_cost(hunt.meter, LODE_PROBED_PUSH) < 15000 && truth < 3; truth++) {
		int agrees = 0;

		for (int try = 0; !agrees && try < TRIES; try++)
			agrees = agrees_on_cost(&hunt, truth);
		assert_true(agrees);
	}
	end_hunt(&hunt);
}

static void children_are_followed(void **state)
{
	struct hunt hunt;
	struct found found = { .count = 0 };
	struct lode_focus all = focus_on(LODE_NONE), one;
	uint64_t time = 0;

	(void)state;
	begin_hunt(&hunt, "prey", "children");
	for (int i = 0; i < 1000 && hunt.page->truths[0].calls < 4; i++)
		nap(5 * MS);
	begin_meter(&hunt, 0);
	assert_int_equal(hunt.meter->operations->below(hunt.meter, &all, LODE_AXIS_PROCESS, find_one, &found), 0);
	assert_int_equal(found.count, 3);
	one = focus_on(function_at(&hunt, hunt.page->truths[0].address));
	for (size_t i = 0; i < found.count; i++) {
		one.process = found.numbers[i];
		start_one(&hunt, (uint32_t)i + 1, LODE_CPU_BOUND, &one);
	}
	wait_for(&hunt, 500 * MS);
	for (size_t i = 0; i < found.count; i++) {
		struct lode_reading reading = read_one(&hunt, (uint32_t)i + 1);

		if (found.numbers[i] == (uint32_t)hunt.pid)
			assert_int_equal(reading.calls, 0);
		else
			assert_true(reading.calls > 0);
		time += reading.time[LODE_CPU_BOUND];
	}
	assert_true(time > 20 * MS);
	end_hunt(&hunt);
}

/* Is called like one that starts others, and starts the prey slowly. */
static void run_launcher(const struct hunt *hunt, int go)
{
	char byte;

	prctl(PR_SET_NAME, "mpirun");
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody is left behind by a test that fails */
	if (read(go, &byte, 1) == 1 && !fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		nap(300 * MS);
		run_prey("prey", "shares", hunt->page_path);
	}
	pause();
	_exit(0);
}

static void what_a_launcher_starts_slowly_is_measured(void **state)
{
	struct hunt hunt = { .page_path = "/tmp/lode-prey-XXXXXX" };
	struct lode_focus all = focus_on(LODE_NONE);
	struct found found = { .count = 0 };
	struct lode_reading reading = { 0 };
	int go[2];

	(void)state;
	map_page(&hunt);
	assert_int_equal(pipe(go), 0);
	hunt.pid = fork();
	if (!hunt.pid)
		run_launcher(&hunt, go[0]);
	begin_meter(&hunt, 0);
	start_one(&hunt, 1, LODE_CPU_BOUND, &all);
	assert_int_equal(write(go[1], "", 1), 1);
	for (int i = 0; i < 200 && reading.time[LODE_CPU_BOUND] < 20 * MS; i++) {
		wait_for(&hunt, 50 * MS);
		reading = read_one(&hunt, 1);
	}
	assert_true(reading.time[LODE_CPU_BOUND] >= 20 * MS);
	assert_int_equal(hunt.meter->operations->below(hunt.meter, &all, LODE_AXIS_PROCESS, find_one, &found), 0);
	assert_int_equal(found.count, 1);
	assert_true(found.numbers[0] != (uint32_t)hunt.pid);
	kill((pid_t)found.numbers[0], SIGKILL);
	hunt.meter->operations->destroy(hunt.meter);
	kill(hunt.pid, SIGKILL);
	assert_int_equal(waitpid(hunt.pid, NULL, 0), hunt.pid);
	close(go[0]);
	close(go[1]);
	unlink(hunt.page_path);
	munmap(hunt.page, sizeof(*hunt.page));
}

static void threads_that_have_ended_still_count(void **state)
{
	(void)state;
	struct hunt hunt;

	begin_hunt(&hunt, "prey", "lives");
	begin_meter(&hunt, 0);
	check_share(&hunt, 1, LODE_CPU_BOUND, 2);
	end_hunt(&hunt);
}

static int count_sample(void *context, const struct lode_meter_sample *sample)
{
	struct found *found = context;

	if (!sample->depth)
		return 0;
	found->objects[0] += sample->weight;
	for (size_t i = 0; i < sample->depth; i++)
		if (sample->functions[i] == found->numbers[0]) {
			found->objects[1] += sample->weight;
			break;
		}
	return 0;
}

static void samples_show_where_the_time_goes(void **state)
{
	struct hunt hunt;
	struct found found = { .count = 0 };
	struct lode_focus all = focus_on(LODE_NONE);
	struct lode_error error;

	(void)state;
	begin_hunt(&hunt, "prey", "shares");
	begin_meter(&hunt, 0);
	found.numbers[0] = function_at(&hunt, hunt.page->truths[0].address);
	for (int i = 0; i < 20 && found.objects[0] < 200 * MS; i++) {
		wait_for(&hunt, 500 * MS);
		assert_int_equal(hunt.meter->operations->samples(hunt.meter, count_sample, &found, &error), 0);
	}
	print_message("  %.1f of 100\n", 100.0 * (double)found.objects[1] / (double)found.objects[0]);
	assert_true(found.objects[1] > found.objects[0] * 60 / 100 &&
		    found.objects[1] < found.objects[0] * 90 / 100);
	assert_int_equal(hunt.meter->operations->start(hunt.meter, NULL, NULL, &all, 0, &error), 0);
	end_hunt(&hunt);
}

static int note_root(void *context, uint32_t function)
{
	struct found *found = context;

	return find_one(found, function, 0);
}

static void main_is_a_root(void **state)
{
	struct hunt hunt;
	struct found found = { .count = 0 };
	struct lode_focus all = focus_on(LODE_NONE);

	(void)state;
	begin_hunt(&hunt, "prey", "shares");
	begin_meter(&hunt, 0);
	assert_int_equal(hunt.meter->operations->roots(hunt.meter, &all, note_root, &found), 0);
	assert_true(found.count >= 1);
	assert_string_equal(lode_program_function(hunt.meter->program, found.numbers[0])->name, "prey!main");
	end_hunt(&hunt);
}

static void the_end_of_the_program_is_reported(void **state)
{
	struct hunt hunt;
	struct lode_focus all = focus_on(LODE_NONE);
	struct lode_error error;
	int code = 0;

	(void)state;
	begin_hunt(&hunt, "prey", "shares");
	begin_meter(&hunt, 0);
	start_one(&hunt, 1, LODE_CPU_BOUND, &all);
	kill(hunt.pid, SIGKILL);
	assert_int_equal(waitpid(hunt.pid, NULL, 0), hunt.pid);
	for (int i = 0; i < 100 && code == 0; i++)
		code = hunt.meter->operations->wait(hunt.meter, hunt.meter->operations->now(hunt.meter) + 100 * MS,
						    &error);
	assert_int_equal(code, 1);
	assert_int_equal(read_one(&hunt, 1).state, LODE_READING_GONE);
	hunt.meter->operations->destroy(hunt.meter);
	unlink(hunt.page_path);
	munmap(hunt.page, sizeof(*hunt.page));
}

/* ---- failures ---- */

/* A hunt from creation to end, in which anything may fail. */
static int hunt_once(const struct hunt *hunt, struct lode_error *error)
{
	const uint32_t numbers[2] = { 1, 2 };
	const enum lode_hypothesis hypotheses[2] = { LODE_CPU_BOUND, LODE_SYNC_WAITING };
	uint32_t pid = (uint32_t)hunt->pid;
	struct lode_live_meter_options options = { .pids = &pid, .pid_count = 1 };
	struct lode_focus foci[2] = { focus_on(LODE_NONE), focus_on(LODE_NONE) };
	struct lode_reading reading;
	struct hunt own = *hunt;
	int code = lode_live_meter_create(&own.meter, &options, error);

	if (code)
		return code;
	foci[1].function = function_at(&own, own.page->truths[0].address);
	code = own.meter->operations->start(own.meter, numbers, hypotheses, foci, 2, error);
	if (!code)
		code = own.meter->operations->wait(own.meter, own.meter->operations->now(own.meter) + 10 * MS,
						   error);
	if (!code)
		code = own.meter->operations->read(own.meter, 2, &reading, error);
	if (!code)
		code = own.meter->operations->stop(own.meter, numbers, 2, error);
	own.meter->operations->destroy(own.meter);
	return code;
}

static int count_descriptors(void)
{
	DIR *list = opendir("/proc/self/fd");
	int count = 0;

	assert_non_null(list);
	while (readdir(list))
		count++;
	closedir(list);
	return count;
}

static void memory_that_runs_out_is_reported(void **state)
{
	struct hunt hunt;
	struct lode_error error;
	uint64_t asked;
	int failed = 0, descriptors;

	(void)state;
	begin_hunt(&hunt, "prey", "shares");
	lode_memory_fail_at(0, 0);
	assert_int_equal(hunt_once(&hunt, &error), 0);
	asked = lode_memory_asked();
	descriptors = count_descriptors();
	/* A hunt takes a while: the first allocations one by one, and then further and further apart. */
	for (uint64_t nth = 1; nth < asked; nth += 1 + nth / 2) {
		int code;

		error.text[0] = '\0';
		lode_memory_fail_at(nth, 1);
		code = hunt_once(&hunt, &error);
		lode_memory_fail_at(0, 0);
		if (code && code != LODE_SYSTEM)
			fail_msg("%d at %llu: %s", code, (unsigned long long)nth, error.text);
		if (code)
			assert_true(error.text[0] != '\0');
		failed += code != 0;
		if (count_descriptors() != descriptors)
			fail_msg("allocation %llu: descriptors stay open", (unsigned long long)nth);
	}
	assert_true(failed > 3);
	end_hunt(&hunt);
}

static void without_privileges_it_says_what_to_do(void **state)
{
	struct hunt hunt;
	pid_t child;
	int status;

	(void)state;
	begin_hunt(&hunt, "prey", "shares");
	child = fork();
	if (!child) {
		struct lode_error error = { "" };
		int code = setresuid(65534, 65534, 65534) < 0 ? 0 : hunt_once(&hunt, &error);

		print_message("  %s\n", error.text);
		_exit(code == LODE_SYSTEM && strstr(error.text, "root") ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	end_hunt(&hunt);
}

/* ---- a hunter that is killed ---- */

/* The bytes of the program at an address, as it runs. */
static uint32_t code_word(const struct hunt *hunt, uint64_t address)
{
	char path[64];
	uint32_t word = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)hunt->pid);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &word, sizeof(word), (off_t)address), sizeof(word));
	close(fd);
	return word;
}

static void hunt_until_killed(struct hunt *hunt)
{
	struct lode_focus focus;

	begin_meter(hunt, 0);
	for (uint32_t i = 1;; i++) {
		focus = focus_on(function_at(hunt, hunt->page->truths[i % 3].address));
		start_one(hunt, i, LODE_CPU_BOUND, &focus);
		hunt->page->truths[7].calls = i;
	}
}

/* Has another hunt the same program, and kills it somewhere in its work. */
static void hunt_and_kill(struct hunt *hunt, uint64_t after)
{
	pid_t hunter;

	hunt->page->truths[7].calls = 0;
	hunter = fork();
	if (!hunter)
		hunt_until_killed(hunt);
	for (int i = 0; i < 5000 && hunt->page->truths[7].calls < 5; i++)
		nap(2 * MS);
	assert_true(hunt->page->truths[7].calls >= 5);
	nap(after);
	kill(hunter, SIGKILL);
	assert_int_equal(waitpid(hunter, NULL, 0), hunter);
	check_unharmed(hunt);
}

/* The code of a function becomes what it was before there were probes. */
static void check_code(const struct hunt *hunt, int truth, uint32_t word)
{
	for (int i = 0; i < 5000 && code_word(hunt, hunt->page->truths[truth].address) != word; i++)
		nap(2 * MS);
	assert_int_equal(code_word(hunt, hunt->page->truths[truth].address), word);
}

static void a_hunter_that_is_killed_leaves_nothing_behind(void **state)
{
	struct hunt hunt;
	uint32_t word;

	(void)state;
	begin_hunt(&hunt, "prey", "shares");
	word = code_word(&hunt, hunt.page->truths[0].address);
	for (uint64_t round = 0; round < 3; round++) {
		hunt_and_kill(&hunt, round * 1700000);
		check_code(&hunt, 0, word);
	}
	end_hunt(&hunt);
}

/* How far off a hunter is that goes on while others of the same functions are killed. */
static double measure_among_killed(struct hunt *hunt, uint32_t number)
{
	struct moment first = take_moment(hunt, number, 0), second;

	for (uint64_t round = 0; round < 2; round++)
		hunt_and_kill(hunt, (2 * round + 1) * 1150000);
	second = take_moment(hunt, number, 0);
	assert_int_equal(second.reading.state, LODE_READING_ON);
	assert_true(second.reading.calls > first.reading.calls);
	return compare(&first, &second, LODE_CPU_BOUND);
}

static void hunters_that_are_killed_do_not_disturb_another(void **state)
{
	struct hunt hunt;
	struct lode_focus focus;
	double off = 100;
	uint32_t word, other;

	(void)state;
	begin_hunt(&hunt, "prey", "shares");
	word = code_word(&hunt, hunt.page->truths[0].address);
	other = code_word(&hunt, hunt.page->truths[1].address);
	begin_meter(&hunt, 0);
	focus = focus_on(function_at(&hunt, hunt.page->truths[0].address));
	start_one(&hunt, 1, LODE_CPU_BOUND, &focus);
	for (int try = 0; try < TRIES && off > 2; try++) {
		off = measure_among_killed(&hunt, 1);
		print_message("  %.2f off\n", off);
	}
	assert_true(off <= 2);
	assert_int_not_equal(code_word(&hunt, hunt.page->truths[0].address), word); /* its own probe */
	check_code(&hunt, 1, other);
	hunt.meter->operations->destroy(hunt.meter);
	hunt.meter = NULL;
	check_code(&hunt, 0, word);
	end_hunt(&hunt);
}

/* ---- main ---- */

/* Why it cannot be done here, or 0. */
static int cannot_hunt(void)
{
	struct lode_live_meter_options options = { 0 };
	struct lode_meter *meter;
	struct lode_error error;
	uint32_t pid = (uint32_t)fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	options.pids = &pid;
	options.pid_count = 1;
	if (lode_live_meter_create(&meter, &options, &error) == 0) {
		meter->operations->destroy(meter);
		error.text[0] = '\0';
	}
	kill((pid_t)pid, SIGKILL);
	waitpid((pid_t)pid, NULL, 0);
	if (error.text[0])
		printf("skipped: %s\n", error.text);
	return error.text[0] != '\0';
}

int main(int count, char **words)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_of_cpu_time_are_the_programs_own),
		cmocka_unit_test(a_function_in_progress_from_before_is_measured_at_once),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(a_function_ends_with_its_tail_call),
		cmocka_unit_test(functions_left_by_longjmp_are_over),
		cmocka_unit_test(exceptions_pass_through_functions_with_probes),
		cmocka_unit_test(a_stripped_program_is_measured),
		cmocka_unit_test(a_plugin_that_comes_late_is_measured),
		cmocka_unit_test(a_program_whose_file_was_replaced_is_measured),
		cmocka_unit_test(waiting_for_a_lock_is_sync_waiting),
		cmocka_unit_test(waiting_for_a_pipe_is_io_blocking),
		cmocka_unit_test(waiting_by_spinning_is_sync_waiting_and_no_cpu_time),
		cmocka_unit_test(messages_are_known_by_communicator_and_tag),
		cmocka_unit_test(the_lock_that_is_waited_for_is_found),
		cmocka_unit_test(operations_and_their_bytes_are_counted),
		cmocka_unit_test(a_function_that_is_called_too_often_is_let_go),
		cmocka_unit_test(the_cost_of_probes_depends_on_the_kind_of_instruction),
		cmocka_unit_test(children_are_followed),
		cmocka_unit_test(what_a_launcher_starts_slowly_is_measured),
		cmocka_unit_test(threads_that_have_ended_still_count),
		cmocka_unit_test(samples_show_where_the_time_goes),
		cmocka_unit_test(main_is_a_root),
		cmocka_unit_test(the_end_of_the_program_is_reported),
		cmocka_unit_test(memory_that_runs_out_is_reported),
		cmocka_unit_test(without_privileges_it_says_what_to_do),
		cmocka_unit_test(a_hunter_that_is_killed_leaves_nothing_behind),
		cmocka_unit_test(hunters_that_are_killed_do_not_disturb_another),
	};

	if (count < 2)
		return 2;
	folder = words[1];
	if (count > 2)
		cmocka_set_test_filter(words[2]);
	if (cannot_hunt())
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
