/*
 * What the live meter measures is what the hunted program says of itself (prey.h),
 * and the program goes on unharmed.
 *
 *	meter_test FOLDER [TEST...]
 *
 * FOLDER holds the programs to hunt. Both measure the same time: the program's own
 * sums are read just before and just after each reading, so that the meter's
 * must be between, whatever else the machine is doing. Only time that the
 * hypervisor takes is seen by one of them alone; therefore a comparison that
 * fails is made again, up to three times in all.
 *
 * Exits with 77, and says why, where the kernel does not permit it.
 */
#include "meter_fixture.h"

/* ---- tests ---- */

static void shares_of_cpu_time_are_the_programs_own(void **state)
{
	(void)state;
	hunt_shares("prey", "shares", 2, LODE_CPU_BOUND);
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
	/* The same waits, except those that began before, and what is between two readings. */
	assert_true(object.time[LODE_SYNC_WAITING] + 30 * MS > all.time[LODE_SYNC_WAITING]);
	assert_true(object.time[LODE_SYNC_WAITING] < all.time[LODE_SYNC_WAITING] + 30 * MS);
	assert_true(in_function.time[LODE_SYNC_WAITING] + 60 * MS > all.time[LODE_SYNC_WAITING]);
	end_hunt(&hunt);
}

/* ---- idle threads ---- */

/* Percent of its own time that a thread waits for others. */
static double share_of_thread(struct hunt *hunt, uint32_t number)
{
	struct lode_reading reading = read_one(hunt, number);

	assert_true(reading.usable > 0);
	return 100.0 * (double)reading.time[LODE_SYNC_WAITING] / (double)reading.usable;
}

/* That a thread is idle shows after some of its waits: on a busy machine, later. */
#define IDLE_WINDOWS 8

/* Whether each thread's share, and the whole program's, are what they should be: experiments `first` and so on. */
static int shares_are_right(struct hunt *hunt, uint32_t first, const struct found *threads)
{
	int right = 1;

	for (uint32_t i = 0; i < threads->count; i++) {
		const char *name =
			hunt->meter->operations->name(hunt->meter, LODE_AXIS_THREAD, threads->numbers[i]);
		double share = share_of_thread(hunt, first + 1 + i);

		print_message("  %s: %.1f of 100\n", name, share);
		assert_true(share <= 100);
		right &= strstr(name, " asker") ? share > 50 : share < 20;
	}
	return right && share_of_thread(hunt, first) < 120;
}

/* Measures the threads anew, in experiments `first` and so on. */
static int watch_threads(struct hunt *hunt, uint32_t first, struct lode_focus focus, const struct found *threads)
{
	uint32_t experiments[1 + 6];
	struct lode_error error;
	int right;

	assert_true(threads->count < sizeof(experiments) / sizeof(*experiments));
	for (uint32_t i = 0; i <= threads->count; i++) {
		focus.thread = i ? threads->numbers[i - 1] : LODE_NONE;
		experiments[i] = first + i;
		start_one(hunt, first + i, LODE_SYNC_WAITING, &focus);
	}
	wait_for(hunt, 1500 * MS);
	right = shares_are_right(hunt, first, threads);
	assert_int_equal(hunt->meter->operations->stop(hunt->meter, experiments, threads->count + 1, &error), 0);
	return right;
}

static void waits_of_idle_threads_count_for_nothing(void **state)
{
	struct hunt hunt;
	struct found threads = { .count = 0 };
	struct lode_focus focus = focus_on(LODE_NONE);
	uint32_t window = 0;

	(void)state;
	begin_hunt(&hunt, "idlers", "all");
	begin_meter(&hunt, 0);
	wait_for(&hunt, 1500 * MS);
	focus.process = (uint32_t)hunt.pid;
	assert_int_equal(hunt.meter->operations->below(hunt.meter, &focus, LODE_AXIS_THREAD, find_one, &threads),
			 0);
	assert_int_equal(threads.count, 6);
	while (!watch_threads(&hunt, window * 10, focus, &threads))
		assert_true(++window < IDLE_WINDOWS);
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

/* What experiment `i` measured against the truths, one a bit, that it is made of. */
static void compare_blocked(struct hunt *hunt, size_t i, unsigned truths, const uint64_t before[4],
			    const uint64_t after[4])
{
	uint64_t time = read_one(hunt, (uint32_t)i + 1).time[LODE_SYNC_WAITING], truth = 0, longest = 20 * MS;

	/* A call that is not over at either end, which a busy machine makes long. */
	for (int t = 0; t < 4; t++) {
		truth += truths >> t & 1 ? after[t] - before[t] : 0;
		longest += truths >> t & 1 ? hunt->page->truths[t].cpu : 0;
	}
	print_message("  %zu: %.1f ms, in truth %.1f ms\n", i, (double)time / 1e6, (double)truth / 1e6);
	assert_true(time + longest + truth / 10 > truth && time < truth + longest + truth / 10);
}

/* Waiting for messages is reported by communicator, and in each by tag, as the program itself counts it. */
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
	for (size_t i = 0; i <= count; i++)
		compare_blocked(&hunt, i, i < count ? expected[i].truths : 3, before, after);
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
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failing test leaves no process behind */
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

int main(int count, char **words)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_of_cpu_time_are_the_programs_own),
		cmocka_unit_test(waiting_for_a_lock_is_sync_waiting),
		cmocka_unit_test(waiting_for_a_pipe_is_io_blocking),
		cmocka_unit_test(waiting_by_spinning_is_sync_waiting_and_no_cpu_time),
		cmocka_unit_test(waits_of_idle_threads_count_for_nothing),
		cmocka_unit_test(messages_are_known_by_communicator_and_tag),
		cmocka_unit_test(the_lock_that_is_waited_for_is_found),
		cmocka_unit_test(operations_and_their_bytes_are_counted),
		cmocka_unit_test(children_are_followed),
		cmocka_unit_test(what_a_launcher_starts_slowly_is_measured),
		cmocka_unit_test(threads_that_have_ended_still_count),
		cmocka_unit_test(samples_show_where_the_time_goes),
		cmocka_unit_test(the_end_of_the_program_is_reported),
	};
	int status = cannot_begin(count, words);

	return status ? status : cmocka_run_group_tests(tests, NULL, NULL);
}
