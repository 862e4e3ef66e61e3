/* The programs that tests of the live meter hunt, and the comparison of what it measures with what they say. */
#ifndef LODE_TESTS_METER_FIXTURE_H
#define LODE_TESTS_METER_FIXTURE_H

#include "base/memory.h"
#include "hunt/meter/live/live_meter.h"
#include "hunt/meter/wait_objects.h"
#include "prey.h"
#include "tasks/live/processor_times.h"
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

static inline void nap(uint64_t time)
{
	struct timespec left = { (time_t)(time / 1000000000u), (long)(time % 1000000000u) };

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

static inline void run_prey(const char *program, const char *act, const char *page)
{
	char path[4096], plugin[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, program);
	snprintf(plugin, sizeof(plugin), "%s/plugin.so", folder);
	setenv("PREY_PLUGIN", plugin, 1);
	execl(path, path, act, page, (char *)NULL);
	_exit(3);
}

static inline void map_page(struct hunt *hunt)
{
	int fd = mkstemp(hunt->page_path);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, sizeof(*hunt->page)), 0);
	hunt->page = mmap(NULL, sizeof(*hunt->page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(hunt->page != MAP_FAILED);
	close(fd);
}

static inline void begin_hunt(struct hunt *hunt, const char *program, const char *act)
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

/* A limit of costs that is not reached: a probe takes 1 to 10 us, by machine and instruction, and functions of tests are called often. */
#define ANY_COST 0.9

/* `cost`: of a thread's time, that probes may take; 0: as usual. */
static inline void begin_meter(struct hunt *hunt, double cost)
{
	uint32_t pid = (uint32_t)hunt->pid;
	struct lode_live_meter_options options = { .pids = &pid, .pid_count = 1, .cost = cost };
	struct lode_error error;

	if (lode_live_meter_create(&hunt->meter, &options, &error) < 0)
		fail_msg("%s", error.text);
}

/* Whether any thread of the program is stopped, or traced. */
static inline int is_held(pid_t pid)
{
	char command[256];

	snprintf(command, sizeof(command),
		 "cat /proc/%d/task/*/status | grep -E '^State:.*[Tt] |^TracerPid:\\s[1-9]' > /dev/null", (int)pid);
	return system(command) == 0;
}

/* The program is as it was before: it lives, is not stopped, and goes on. */
static inline void check_unharmed(struct hunt *hunt)
{
	uint64_t turns = hunt->page->turns;

	assert_int_equal(waitpid(hunt->pid, NULL, WNOHANG), 0);
	assert_false(is_held(hunt->pid));
	for (int i = 0; i < 5000 && hunt->page->turns < turns + 2; i++)
		nap(2 * MS);
	assert_true(hunt->page->turns >= turns + 2);
}

static inline void end_hunt(struct hunt *hunt)
{
	if (hunt->meter)
		hunt->meter->operations->destroy(hunt->meter);
	check_unharmed(hunt);
	kill(hunt->pid, SIGKILL);
	assert_int_equal(waitpid(hunt->pid, NULL, 0), hunt->pid);
	unlink(hunt->page_path);
	munmap(hunt->page, sizeof(*hunt->page));
}

/* The offset in its file of an address of the program, and the file's name. */
static inline uint64_t file_offset(const struct hunt *hunt, uint64_t address, char *module, size_t size)
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
static inline uint32_t function_at(const struct hunt *hunt, uint64_t address)
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

static inline struct lode_focus focus_on(uint32_t function)
{
	return (struct lode_focus){ function, LODE_NONE, LODE_NONE, LODE_NONE, 0 };
}

static inline void start_one(struct hunt *hunt, uint32_t number, enum lode_hypothesis hypothesis,
			     const struct lode_focus *focus)
{
	struct lode_error error;

	if (hunt->meter->operations->start(hunt->meter, &number, &hypothesis, focus, 1, &error) < 0)
		fail_msg("%s", error.text);
}

static inline void wait_for(struct hunt *hunt, uint64_t time)
{
	const struct lode_meter_operations *operations = hunt->meter->operations;
	uint64_t until = operations->now(hunt->meter) + time;
	struct lode_error error;
	int code = 0;

	while (code == 0 && operations->now(hunt->meter) < until)
		code = operations->wait(hunt->meter, until, &error);
	assert_true(code >= 0);
}

static inline struct lode_reading read_one(struct hunt *hunt, uint32_t number)
{
	struct lode_reading reading;
	struct lode_error error;

	assert_int_equal(hunt->meter->operations->read(hunt->meter, number, &reading, &error), 0);
	return reading;
}

/* A reading, and the program's own sum before and after it. */
struct moment {
	struct prey_truth before;
	struct lode_reading reading;
	struct prey_truth after;
	uint64_t stolen; /* ns that a hypervisor took from the processors */
};

static inline uint64_t ticks_ns(uint64_t ticks)
{
	return ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
}

static inline struct moment take_moment(struct hunt *hunt, uint32_t number, int truth)
{
	struct moment moment;

	memcpy(&moment.before, &hunt->page->truths[truth], sizeof(moment.before));
	moment.reading = read_one(hunt, number);
	memcpy(&moment.after, &hunt->page->truths[truth], sizeof(moment.after));
	moment.stolen = ticks_ns(lode_processor_times_now().stolen);
	return moment;
}

/* How far, in points of the wall time, a measured time is outside what the program says. */
static inline double distance(uint64_t measured, uint64_t least, uint64_t most, uint64_t wall)
{
	if (measured < least)
		return 100.0 * (double)(least - measured) / (double)wall;
	return measured > most ? 100.0 * (double)(measured - most) / (double)wall : 0;
}

/*
 * The program keeps its sums of CPU time up to date every few milliseconds, and what probes took is in them, as the
 * meter's are without; they are without what a hypervisor took, which the meter's have and the kernel counts in ticks.
 * A wait is reported when it is over, and the longest takes WAIT.
 */
static inline double compare(const struct moment *a, const struct moment *b, enum lode_hypothesis hypothesis)
{
	uint64_t wall = b->reading.usable - a->reading.usable, measured, least, most, slack;

	measured = b->reading.time[hypothesis] - a->reading.time[hypothesis];
	if (hypothesis == LODE_CPU_BOUND) {
		measured += b->reading.cost - a->reading.cost;
		least = b->before.cpu - a->after.cpu;
		most = b->after.cpu - a->before.cpu;
		most += b->stolen > a->stolen ? b->stolen - a->stolen + ticks_ns(1) : 0;
	} else {
		least = b->before.blocked - a->after.blocked;
		most = b->after.blocked - a->before.blocked;
	}
	slack = hypothesis == LODE_CPU_BOUND ? 3 * MS : WAIT;
	return distance(measured, least > slack ? least - slack : 0, most + slack, wall);
}

/* Measures a function that the program keeps a sum of, and compares. */
static inline void check_share(struct hunt *hunt, int truth, enum lode_hypothesis hypothesis, double points)
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
				      (double)(second.reading.usable - first.reading.usable),
			      off, (unsigned long long)second.reading.calls);
		if (off <= points)
			break;
	}
	assert_true(off <= points);
}

static inline void hunt_shares(const char *program, const char *act, int truths, enum lode_hypothesis hypothesis)
{
	struct hunt hunt;

	begin_hunt(&hunt, program, act);
	begin_meter(&hunt, ANY_COST);
	for (int i = 0; i < truths; i++)
		check_share(&hunt, i, hypothesis, 2);
	end_hunt(&hunt);
}

struct found {
	uint64_t objects[64];
	uint32_t numbers[64];
	size_t count;
};

static inline int find_one(void *context, uint32_t number, uint64_t object)
{
	struct found *found = context;

	if (found->count < 64) {
		found->objects[found->count] = object;
		found->numbers[found->count++] = number;
	}
	return 0;
}

/* Why it cannot be done here, or 0. */
static inline int cannot_hunt(void)
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

/* Takes the words of the command line, FOLDER [TEST]. Returns 0, or the status to exit with. */
static inline int cannot_begin(int count, char **words)
{
	if (count < 2)
		return 2;
	folder = words[1];
	if (count > 2)
		cmocka_set_test_filter(words[2]);
	return cannot_hunt() ? 77 : 0;
}

#endif
