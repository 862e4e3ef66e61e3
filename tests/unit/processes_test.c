/*
 * Processes that are gone are forgotten, and nothing else: random processes start, change their name, map files and end, and
 * what is known of them with and without forgetting is compared. Their numbers come again.
 */
#include "cmocka_all.h"
#include "own_maps.h"

#include "base/random.h"
#include "process/processes.h"
#include "record/stream/record_commands.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Beyond all numbers that a machine gives to processes, so that nothing is read from /proc. */
#define FIRST_PID 100000000u
#define PIDS      3000u
#define SECOND    1000000000u
#define ADDRESS   0x400000u

struct known {
	struct lode_process_images images;
	struct lode_processes processes;
};

struct world {
	struct known all;   /* nothing of it is forgotten */
	struct known fresh; /* of this it is */
	uint8_t lives[PIDS];
	uint64_t died[PIDS]; /* when; 0: never */
	char names[PIDS][16];
	uint64_t t;
	uint64_t seed;
};

static uint32_t pick(struct world *world, uint32_t below)
{
	return (uint32_t)(lode_splitmix64(&world->seed) % below);
}

static void open_known(struct known *known)
{
	assert_int_equal(lode_process_images_init(&known->images), 0);
	assert_int_equal(lode_processes_init(&known->processes, &known->images), 0);
}

static void close_known(struct known *known)
{
	lode_processes_release(&known->processes);
	lode_process_images_release(&known->images);
}

static void apply(struct world *world, const struct lode_change *change)
{
	assert_int_equal(lode_processes_apply(&world->all.processes, change), 0);
	assert_int_equal(lode_processes_apply(&world->fresh.processes, change), 0);
}

static void start(struct world *world, uint32_t i)
{
	uint32_t pid = FIRST_PID + i, parent = FIRST_PID + pick(world, PIDS);
	struct lode_change change = { .type = LODE_CHANGE_FORK,
				      .t = world->t,
				      .pid = pid,
				      .tid = pid,
				      .parent_pid = parent,
				      .parent_tid = parent };
	char name[32], was_named[16];

	apply(world, &change);
	snprintf(name, sizeof(name), "p%u", pick(world, 1000));
	snprintf(was_named, sizeof(was_named), "%.15s", name);
	change.type = LODE_CHANGE_NAME;
	change.text = name;
	change.executed = pick(world, 2) != 0;
	change.mounts = 1;
	apply(world, &change);
	snprintf(name, sizeof(name), "/lib/%u.so", pick(world, 50));
	change = (struct lode_change){ .type = LODE_CHANGE_MAP,
				       .t = world->t,
				       .pid = pid,
				       .tid = pid,
				       .start = ADDRESS,
				       .end = ADDRESS + 4096,
				       .text = name };
	apply(world, &change);
	world->lives[i] = 1;
	snprintf(world->names[i], sizeof(world->names[i]), "%s", was_named);
}

static void end(struct world *world, uint32_t i)
{
	struct lode_change change = { .type = LODE_CHANGE_EXIT,
				      .t = world->t,
				      .pid = FIRST_PID + i,
				      .tid = FIRST_PID + i };

	apply(world, &change);
	world->lives[i] = 0;
	world->died[i] = world->t;
}

static const char *mapped(struct known *known, uint32_t pid)
{
	const struct lode_process *process = lode_processes_get(&known->processes, pid);
	const struct lode_mapping *mapping = lode_space_find(&known->processes.spaces, &process->space, ADDRESS);

	return mapping ? known->images.items[mapping->image].path : "";
}

/* What lives, or died less than five seconds ago, is known as if nothing were forgotten. */
static void compare(struct world *world, uint32_t i)
{
	uint32_t pid = FIRST_PID + i;
	const struct lode_thread_lifetime *expected, *found;

	if (!world->lives[i] && (!world->died[i] || world->died[i] + 5ull * SECOND < world->t))
		return;
	assert_non_null(lode_processes_find(&world->fresh.processes, pid));
	expected = lode_processes_life(&world->all.processes, pid, pid);
	found = lode_processes_life(&world->fresh.processes, pid, pid);
	assert_string_equal(found->name, world->names[i]);
	assert_string_equal(found->name, expected->name);
	assert_true(found->born == expected->born && found->died == expected->died);
	assert_string_equal(mapped(&world->fresh, pid), mapped(&world->all, pid));
}

static void only_what_is_gone_is_forgotten(void **state)
{
	struct world *world = test_calloc(1, sizeof(*world));

	(void)state;
	world->seed = 7;
	world->t = SECOND;
	open_known(&world->all);
	open_known(&world->fresh);
	for (uint32_t step = 0; step < 60000; step++) {
		uint32_t i = pick(world, PIDS);

		world->t += pick(world, SECOND / 250); /* half of them in a minute */
		if (world->lives[i])
			end(world, i);
		else if (i % 8) /* those that are not used are known to neither */
			start(world, i);
		if (!(step % 64))
			assert_int_equal(lode_processes_forget(&world->fresh.processes, world->t), 0);
		compare(world, pick(world, PIDS));
		compare(world, i);
	}
	/* Half of the numbers live, and some more died lately. */
	assert_true(world->all.processes.life_count > 25000);
	assert_true(world->fresh.processes.life_count < 2 * 3000 + 1024 + 64);
	assert_true(world->fresh.processes.count <= PIDS + 1024);
	/* Mappings that were shared by forks, too; at most one per process. */
	assert_true(world->fresh.processes.spaces.live < 2 * 3000 + 1024);
	assert_true(world->all.processes.spaces.live > 2 * world->fresh.processes.spaces.live);
	close_known(&world->all);
	close_known(&world->fresh);
	test_free(world);
}

/* Processes that live for a moment, fifty thousand of them: the memory for what is known is that of the last seconds. */
static void short_lives_do_not_add_up(void **state)
{
	struct world *world = test_calloc(1, sizeof(*world));
	size_t most = 0;

	(void)state;
	world->t = SECOND;
	open_known(&world->all);
	open_known(&world->fresh);
	for (uint32_t i = 0; i < 50000; i++) {
		uint32_t pid = FIRST_PID + i;
		struct lode_change change = { .type = LODE_CHANGE_FORK,
					      .t = world->t,
					      .pid = pid,
					      .tid = pid,
					      .parent_pid = FIRST_PID,
					      .parent_tid = FIRST_PID };

		world->t += SECOND / 1000;
		apply(world, &change);
		change.type = LODE_CHANGE_EXIT;
		apply(world, &change);
		assert_int_equal(lode_processes_forget(&world->fresh.processes, world->t), 0);
		if (lode_processes_bytes(&world->fresh.processes) > most)
			most = lode_processes_bytes(&world->fresh.processes);
	}
	assert_true(most < lode_processes_bytes(&world->all.processes) / 3);
	assert_true(world->fresh.processes.life_count <= 2 * 5002 + 1024);
	/* Nor do they stay when it is quiet. */
	world->t += 60ull * SECOND;
	assert_int_equal(lode_processes_forget(&world->fresh.processes, world->t), 0);
	assert_true(world->fresh.processes.life_count <= 1);
	close_known(&world->all);
	close_known(&world->fresh);
	test_free(world);
}

static struct lode_process *find(const struct lode_processes *processes, uint32_t pid)
{
	for (size_t i = 0; i < processes->count; i++)
		if (processes->items[i].pid == pid)
			return &processes->items[i];
	return NULL;
}

static void a_snapshot_has_what_this_program_has_mapped(void **state)
{
	uint64_t address = (uint64_t)(uintptr_t)&a_snapshot_has_what_this_program_has_mapped;
	const struct lode_mapping *mapping;
	struct lode_process *own;
	struct known known;

	(void)state;
	skip_unless_mapped(MAPPED_CODE);
	open_known(&known);
	assert_int_equal(lode_processes_snapshot(&known.processes, UINT64_MAX), 0);
	assert_int_equal(known.processes.unread, 0);
	own = find(&known.processes, (uint32_t)getpid());
	assert_non_null(own);
	assert_true(own->complete);
	mapping = lode_space_find(&known.processes.spaces, &own->space, address);
	assert_non_null(mapping);
	assert_non_null(strstr(known.images.items[mapping->image].path, "test"));
	close_known(&known);
}

static void a_snapshot_without_time_leaves_processes_to_be_asked_for(void **state)
{
	uint64_t address = (uint64_t)(uintptr_t)&a_snapshot_without_time_leaves_processes_to_be_asked_for;
	struct lode_process *own;
	struct known known;

	(void)state;
	skip_unless_mapped(MAPPED_CODE);
	open_known(&known);
	assert_int_equal(lode_processes_snapshot(&known.processes, 0), 0);
	assert_int_equal(known.processes.count, 0);
	assert_true(known.processes.unread >= 1);
	own = lode_processes_get(&known.processes, (uint32_t)getpid());
	assert_non_null(own);
	assert_non_null(lode_space_find(&known.processes.spaces, &own->space, address));
	close_known(&known);
}

static void rename_thread(struct lode_processes *processes, uint32_t pid, uint32_t tid, const char *name,
			  int executed)
{
	char text[32];
	struct lode_change change = { .type = LODE_CHANGE_NAME,
				      .t = 1,
				      .pid = pid,
				      .tid = tid,
				      .text = text,
				      .executed = executed };

	snprintf(text, sizeof(text), "%s", name);
	assert_int_equal(lode_processes_apply(processes, &change), 0);
}

static void fork_process(struct lode_processes *processes, uint32_t pid, uint32_t parent)
{
	struct lode_change change = { .type = LODE_CHANGE_FORK,
				      .t = 1,
				      .pid = pid,
				      .tid = pid,
				      .parent_pid = parent,
				      .parent_tid = parent };

	assert_int_equal(lode_processes_apply(processes, &change), 0);
}

/* What is kept of the process of a stream with this thread alone; NULL: nothing. */
static void require_command(struct lode_processes *processes, uint32_t tid, const char *name, const char *expected)
{
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	uint32_t thread;

	assert_int_equal(lode_dictionary_init(&dictionary), 0);
	lode_stream_init(&stream, &dictionary);
	thread = lode_stream_thread(&stream, FIRST_PID, tid);
	stream.threads[thread].name = lode_strings_add(&dictionary.frames.strings, name, strlen(name));
	assert_int_equal(lode_record_commands(processes, &stream), 0);
	assert_int_equal(stream.attribute_count, expected ? 1 : 0);
	if (expected) {
		assert_string_equal(lode_strings_get(&dictionary.frames.strings, stream.attributes[0].value),
				    expected);
		assert_string_equal(lode_strings_get(&dictionary.frames.strings, stream.attributes[0].key),
				    "command 100000000");
	}
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
}

static void a_process_is_known_by_what_it_executed(void **state)
{
	struct known known;

	(void)state;
	open_known(&known);
	require_command(&known.processes, FIRST_PID + 1, "pool", NULL); /* nothing is known */
	rename_thread(&known.processes, FIRST_PID, FIRST_PID, "node", 1);
	require_command(&known.processes, FIRST_PID, "node", NULL);
	require_command(&known.processes, FIRST_PID + 1, "pool", "node"); /* the first thread is not there */
	rename_thread(&known.processes, FIRST_PID, FIRST_PID + 1, "worker", 0);
	rename_thread(&known.processes, FIRST_PID, FIRST_PID, "MainThread", 0);
	rename_thread(&known.processes, FIRST_PID, FIRST_PID, "AgainOther", 0);
	require_command(&known.processes, FIRST_PID, "AgainOther", "node");
	require_command(&known.processes, FIRST_PID, "MainThread", "node");
	/* A child that executes nothing is called as it calls itself. */
	fork_process(&known.processes, FIRST_PID, FIRST_PID - 1);
	rename_thread(&known.processes, FIRST_PID, FIRST_PID, "client", 0);
	require_command(&known.processes, FIRST_PID, "client", NULL);
	rename_thread(&known.processes, FIRST_PID, FIRST_PID, "sh", 1);
	require_command(&known.processes, FIRST_PID, "sh", NULL);
	close_known(&known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_is_gone_is_forgotten),
		cmocka_unit_test(short_lives_do_not_add_up),
		cmocka_unit_test(a_snapshot_has_what_this_program_has_mapped),
		cmocka_unit_test(a_snapshot_without_time_leaves_processes_to_be_asked_for),
		cmocka_unit_test(a_process_is_known_by_what_it_executed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
