/* The live meter when memory runs out, without privileges, and when a hunter is killed. */
#include "meter_fixture.h"

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

int main(int count, char **words)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_that_runs_out_is_reported),
		cmocka_unit_test(without_privileges_it_says_what_to_do),
		cmocka_unit_test(a_hunter_that_is_killed_leaves_nothing_behind),
		cmocka_unit_test(hunters_that_are_killed_do_not_disturb_another),
	};
	int status = cannot_begin(count, words);

	return status ? status : cmocka_run_group_tests(tests, NULL, NULL);
}
