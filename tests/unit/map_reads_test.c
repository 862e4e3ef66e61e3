/*
 * Mappings that are read from /proc when stacks show that they changed: this program maps and unmaps code of its own, at
 * random, too, and what is known of it is compared with /proc/self/maps.
 */
#include "cmocka_all.h"
#include "own_maps.h"

#include "base/clock.h"
#include "base/proc_files.h"
#include "base/random.h"
#include "record/unwind/map_reads.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILES  3
#define PLACES 16
#define NOBODY 100000000u /* beyond all numbers that a machine gives to processes */
#define MAX_NS 10000000000u

struct world {
	struct lode_process_images images;
	struct lode_processes processes;
	struct lode_map_reads reads;
	size_t page;
	char *place; /* room for mappings, of FILES pages each */
	int files[FILES];
	char paths[FILES][64];
	uint64_t known; /* until then changes are known */
};

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	*state = world;
	if (!world || lode_process_images_init(&world->images) < 0 ||
	    lode_processes_init(&world->processes, &world->images) < 0)
		return -1;
	world->page = (size_t)sysconf(_SC_PAGESIZE);
	world->place = mmap(NULL, PLACES * FILES * world->page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < FILES; i++) {
		strcpy(world->paths[i], "/tmp/map_reads_test_XXXXXX");
		world->files[i] = mkstemp(world->paths[i]);
		if (world->files[i] < 0 || ftruncate(world->files[i], (off_t)(FILES * world->page)) < 0)
			return -1;
	}
	return world->place == MAP_FAILED || !lode_processes_get(&world->processes, (uint32_t)getpid()) ? -1 : 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	munmap(world->place, PLACES * FILES * world->page);
	for (int i = 0; i < FILES; i++) {
		close(world->files[i]);
		unlink(world->paths[i]);
	}
	lode_map_reads_release(&world->reads);
	lode_processes_release(&world->processes);
	lode_process_images_release(&world->images);
	free(world);
	return 0;
}

/* As the kernel counts it. */
static uint64_t code_bytes(void)
{
	char text[8192];

	assert_int_equal(lode_proc_text(text, sizeof(text), "/proc/self/status"), 0);
	return (lode_proc_field(text, "VmExe:", 10, 0) + lode_proc_field(text, "VmLib:", 10, 0)) * 1024;
}

static struct lode_process *self(const struct world *world)
{
	return lode_processes_find(&world->processes, (uint32_t)getpid());
}

/* A stack of this process was copied, or of another one. */
static void copy_of(struct world *world, uint32_t pid, int is_unmapped)
{
	static struct lode_record_copy copy;

	copy.pid = pid;
	copy.is_unmapped = (uint16_t)is_unmapped;
	copy.code_pages = (uint32_t)(code_bytes() / world->page);
	assert_int_equal(lode_map_reads_doubt(&world->reads, &copy), 0);
}

/* Returns how many changes there were, all of which are applied. */
static size_t read_all(struct world *world, const struct lode_change *changes, size_t count)
{
	size_t found, given = 0;

	assert_int_equal(lode_map_reads_read(&world->reads, &world->processes, changes, count, world->known), 0);
	found = world->reads.count;
	for (size_t i = 0; i < count; i++)
		assert_int_equal(lode_processes_apply(&world->processes, &changes[i]), 0);
	for (; given < found; given++)
		assert_int_equal(lode_processes_apply(&world->processes, &world->reads.changes[given]), 0);
	lode_map_reads_settle(&world->reads, &world->processes, UINT64_MAX);
	world->known = lode_now();
	return found;
}

static size_t copy_and_read(struct world *world, int is_unmapped)
{
	copy_of(world, (uint32_t)getpid(), is_unmapped);
	return read_all(world, NULL, 0);
}

/* As if the last reading was long ago, on a machine that was just started, too. */
static void wait_long(struct world *world)
{
	self(world)->read_at = 0;
}

static char *map(struct world *world, int place, int file, size_t pages)
{
	char *at = world->place + (size_t)place * FILES * world->page;
	void *mapped = mmap(at, pages * world->page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
			    world->files[file], 0);

	assert_ptr_equal(mapped, at);
	return at;
}

static void unmap(struct world *world, int place)
{
	char *at = world->place + (size_t)place * FILES * world->page;

	assert_ptr_not_equal(mmap(at, FILES * world->page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
				  0),
			     MAP_FAILED);
}

static const char *known_at(const struct world *world, const char *address)
{
	const struct lode_mapping *mapping =
		lode_space_find(&world->processes.spaces, &self(world)->space, (uintptr_t)address);

	return mapping ? world->images.items[mapping->image].path : "";
}

static void code_is_counted_as_the_kernel_does(void **state)
{
	struct world *world = *state;

	assert_int_equal(self(world)->code_bytes, code_bytes());
	map(world, 0, 0, 2);
	wait_long(world);
	copy_and_read(world, 0);
	assert_int_equal(self(world)->code_bytes, code_bytes());
}

static void what_is_new_is_found_once(void **state)
{
	struct world *world = *state;
	char *at;

	assert_int_equal(copy_and_read(world, 0), 0);
	at = map(world, 1, 1, 3);
	wait_long(world);
	assert_int_equal(copy_and_read(world, 0), 1);
	assert_string_equal(known_at(world, at), world->paths[1]);
	assert_string_equal(known_at(world, at + 3 * world->page - 1), world->paths[1]);
	wait_long(world);
	assert_int_equal(copy_and_read(world, 0), 0);
	assert_int_equal(self(world)->nothing_new, 0);
	/* A file that was deleted since is the same one. */
	unlink(world->paths[1]);
	wait_long(world);
	assert_int_equal(copy_and_read(world, 1), 0);
}

static void what_comes_in_the_place_of_another_is_found(void **state)
{
	struct world *world = *state;
	char *at = map(world, 2, 0, 2);

	wait_long(world);
	assert_int_equal(copy_and_read(world, 0), 1);
	map(world, 2, 1, 3);
	wait_long(world);
	assert_int_equal(copy_and_read(world, 0), 1);
	assert_string_equal(known_at(world, at), world->paths[1]);
	/* Of the same size only in the next round. */
	map(world, 2, 2, 3);
	wait_long(world);
	assert_int_equal(copy_and_read(world, 0), 0);
	self(world)->code_bytes = 0;
	wait_long(world);
	assert_int_equal(copy_and_read(world, 0), 1);
	assert_string_equal(known_at(world, at), world->paths[2]);
}

static void false_alarms_become_rare(void **state)
{
	struct world *world = *state;
	uint64_t quiet = 0, last = 0;
	unsigned reads = 0;

	for (unsigned i = 0; i < 20; i++) {
		self(world)->read_at = lode_now() + MAX_NS; /* too soon, however slow this machine is */
		assert_int_equal(copy_and_read(world, 1), 0);
		assert_int_equal(self(world)->nothing_new, i);
		wait_long(world);
		copy_and_read(world, 1);
		self(world)->read_ns = 0;
		quiet = lode_map_reads_quiet(self(world)) - self(world)->read_at;
		assert_true(quiet >= last && quiet <= MAX_NS);
		last = quiet;
	}
	assert_int_equal(quiet, MAX_NS);
	/* To make sure is no alarm. */
	self(world)->code_bytes = 0;
	wait_long(world);
	copy_and_read(world, 0);
	assert_int_equal(self(world)->nothing_new, 20);
	world->reads.spent = 0;
	for (uint64_t t = 0; t < 100; t++)
		reads += (unsigned)lode_map_reads_next_round(&world->reads, 2, t * 1000000000u);
	assert_true(reads > 30 && reads < 60);
	/* Where it takes 10 ms, each time. */
	reads = 0;
	for (uint64_t t = 100; t < 200; t++) {
		int next = lode_map_reads_next_round(&world->reads, 2, t * 1000000000u);

		reads += (unsigned)next;
		world->reads.spent += next ? 10000000 : 0;
	}
	assert_true(reads >= 4 && reads <= 6);
	/* And a second: it has to be made sure of some time. */
	world->reads.spent = 1000000000;
	assert_true(lode_map_reads_next_round(&world->reads, 2, world->reads.began + 60000000000u));
}

/* The process runs another program from now on. */
static struct lode_change program_of(uint32_t pid)
{
	static char name[] = "program";

	return (struct lode_change){ .type = LODE_CHANGE_NAME,
				     .t = 6,
				     .pid = pid,
				     .tid = pid,
				     .executed = 1,
				     .text = name };
}

/* A child that was forked has what its parent has, one that runs another program nothing of it. */
static void new_processes_are_read_when_they_run_another_program(void **state)
{
	struct world *world = *state;
	struct lode_change fork = { .type = LODE_CHANGE_FORK,
				    .t = 5,
				    .pid = NOBODY,
				    .tid = NOBODY,
				    .parent_pid = (uint32_t)getpid(),
				    .parent_tid = (uint32_t)getpid() };
	struct lode_change exec = program_of(NOBODY);

	copy_of(world, NOBODY, 0);
	assert_int_equal(read_all(world, &fork, 1), 0);
	assert_int_equal(world->reads.gone, 0);
	copy_of(world, NOBODY, 0);
	assert_int_equal(read_all(world, &exec, 1), 0);
	assert_int_equal(world->reads.gone, 1); /* there is no such process */
	exec.pid = exec.tid = (uint32_t)getpid();
	copy_of(world, exec.pid, 0);
	assert_int_equal(lode_map_reads_read(&world->reads, &world->processes, &exec, 1, 1), 0);
	assert_true(world->reads.count > 2); /* this program, the C library and others, all of them again */
	for (size_t i = 0; i < world->reads.count; i++)
		assert_int_equal(world->reads.changes[i].t, exec.t);
	lode_map_reads_settle(&world->reads, &world->processes, UINT64_MAX);
}

/* What a child shares with its parent stays shared: nothing of it is new. */
static void a_child_that_was_forked_has_what_its_parent_has(void **state)
{
	struct world *world = *state;
	struct lode_change born = { .type = LODE_CHANGE_FORK, .t = 5, .parent_pid = (uint32_t)getpid() };
	const struct lode_process *child;
	pid_t pid = fork();

	if (pid == 0) {
		pause();
		_exit(0);
	}
	assert_true(pid > 0);
	born.parent_tid = born.parent_pid;
	born.pid = born.tid = (uint32_t)pid;
	self(world)->code_bytes = 0; /* as by the next round */
	copy_of(world, born.pid, 0);
	assert_int_equal(read_all(world, &born, 1), 0);
	child = lode_processes_find(&world->processes, born.pid);
	assert_non_null(child);
	assert_int_equal(child->space.version, self(world)->space.version);
	assert_int_equal(child->code_bytes, code_bytes());
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void what_cannot_be_read_is_not_asked_for_again_and_again(void **state)
{
	struct world *world = *state;
	struct lode_change exec = program_of(NOBODY);
	const struct lode_process *process;

	copy_of(world, NOBODY, 0);
	assert_int_equal(read_all(world, &exec, 1), 0);
	process = lode_processes_find(&world->processes, NOBODY);
	assert_non_null(process);
	assert_int_equal(process->code_bytes, code_bytes()); /* as the kernel says */
	assert_int_equal(process->nothing_new, 1);
	assert_int_equal(world->reads.gone, 1);
	copy_of(world, NOBODY, 0);
	assert_int_equal(read_all(world, NULL, 0), 0);
	assert_int_equal(process->nothing_new, 1); /* not read */
}

/* Changes are known until some time, and stacks a little further. */
static void copies_of_later_are_looked_at_again(void **state)
{
	static struct lode_record_copy copy = { .pid = NOBODY, .t = 100 };
	struct world *world = *state;

	assert_int_equal(lode_map_reads_doubt(&world->reads, &copy), 0);
	assert_int_equal(lode_map_reads_read(&world->reads, &world->processes, NULL, 0, 50), 0);
	lode_map_reads_settle(&world->reads, &world->processes, 99);
	assert_int_equal(world->reads.doubt_count, 1);
	assert_int_equal(lode_map_reads_read(&world->reads, &world->processes, NULL, 0, 99), 0);
	lode_map_reads_settle(&world->reads, &world->processes, 100);
	assert_int_equal(world->reads.doubt_count, 0);
}

static void copy_file(const char *from, const char *to)
{
	char command[256];

	snprintf(command, sizeof(command), "cp %s %s.new && mv %s.new %s", from, to, to, to);
	assert_int_equal(system(command), 0);
}

/* A library that is built again and loaded in the place of the old one. */
static void a_new_version_at_the_old_path_is_found(void **state)
{
	struct world *world = *state;
	char *at;

	copy_file("/bin/true", world->paths[0]);
	close(world->files[0]);
	world->files[0] = open(world->paths[0], O_RDONLY | O_CLOEXEC);
	at = map(world, 3, 0, 2);
	wait_long(world);
	assert_int_equal(copy_and_read(world, 0), 1);
	self(world)->code_bytes = 0;
	wait_long(world);
	assert_int_equal(copy_and_read(world, 0), 0);
	copy_file("/bin/false", world->paths[0]);
	close(world->files[0]);
	world->files[0] = open(world->paths[0], O_RDONLY | O_CLOEXEC);
	map(world, 3, 0, 2);
	self(world)->code_bytes = 0;
	wait_long(world);
	assert_int_equal(copy_and_read(world, 0), 1);
	assert_string_equal(known_at(world, at), world->paths[0]);
}

/* All that can be run must be known as it is. */
static int check_line(void *context, const struct lode_proc_mapping *line)
{
	const struct world *world = context;
	const struct lode_mapping *mapping =
		line->rights[2] == 'x' ? lode_space_find(&world->processes.spaces, &self(world)->space, line->start)
				       : NULL;

	if (line->rights[2] != 'x' || line->path[0] != '/')
		return 0;
	assert_non_null(mapping);
	assert_int_equal(mapping->offset + line->start - mapping->start, line->offset);
	assert_string_equal(world->images.items[mapping->image].path, line->path);
	return 0;
}

static void random_mappings_are_known(void **state)
{
	struct world *world = *state;
	uint64_t seed = 17;

	for (int i = 0; i < 3000; i++) {
		int place = (int)(lode_splitmix64(&seed) % PLACES), file = (int)(lode_splitmix64(&seed) % FILES);
		uint64_t before = code_bytes();

		if (lode_splitmix64(&seed) % 3)
			map(world, place, file, 1 + lode_splitmix64(&seed) % FILES);
		else
			unmap(world, place);
		if (code_bytes() == before)
			self(world)->code_bytes = 0; /* as by the next round */
		wait_long(world);
		copy_and_read(world, 0);
		assert_int_equal(self(world)->code_bytes, code_bytes());
		assert_int_equal(lode_proc_mappings(0, check_line, world), 0);
	}
}

#define WITH_WORLD(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORLD(code_is_counted_as_the_kernel_does),
		WITH_WORLD(what_is_new_is_found_once),
		WITH_WORLD(what_comes_in_the_place_of_another_is_found),
		WITH_WORLD(false_alarms_become_rare),
		WITH_WORLD(new_processes_are_read_when_they_run_another_program),
		WITH_WORLD(a_child_that_was_forked_has_what_its_parent_has),
		WITH_WORLD(what_cannot_be_read_is_not_asked_for_again_and_again),
		WITH_WORLD(copies_of_later_are_looked_at_again),
		WITH_WORLD(a_new_version_at_the_old_path_is_found),
		WITH_WORLD(random_mappings_are_known),
	};

	return own_maps_lack(MAPPED_CODE) ? 77 : cmocka_run_group_tests(tests, NULL, NULL);
}
