/* Recordings: written while they go on, saved when they end early, and given their names later. */
#include "record_fixture.h"

/* ---- recordings ---- */

/* Records `count` waits in the order of their ends; every tenth one is as long as all before it. */
static int send_waits(struct fixture *fixture, uint64_t count, uint64_t *sum)
{
	for (uint64_t i = 0; i < count; i++) {
		struct lode_record record = { .type = LODE_RECORD_WAIT, .pid = PID, .tid = PID, .kernel = BLOCKED };

		record.t = i % 10 ? 1000 + i * 10 : 1000 + i;
		record.cost = 1010 + i * 10 - record.t;
		record.user = i % 3 ? USER : USER_DEEP;
		if (sum)
			*sum += record.t * 31 + record.cost;
		if (send_record(fixture, record) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

static int load_only_stream(struct lode_corpus *corpus, struct lode_stream *stream, struct lode_error *error)
{
	struct lode_corpus_list list;
	int code = lode_corpus_streams(corpus, &list, error);

	if (code)
		return code;
	assert_int_equal(list.count, 1);
	code = lode_store_load(list.items[0].path, stream, error);
	assert_int_equal(list.items[0].events[LODE_WAIT], stream->events[LODE_WAIT].count);
	lode_corpus_list_release(&list);
	return code;
}

/* Each block by itself, for who reads a stream block by block. */
static void assert_blocks_in_order(struct lode_corpus *corpus)
{
	struct lode_events events = { 0 };
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_corpus_list list;
	struct lode_store *store;

	assert_int_equal(lode_corpus_streams(corpus, &list, NULL), 0);
	assert_int_equal(list.count, 1);
	assert_int_equal(lode_dictionary_init(&dictionary), 0);
	lode_stream_init(&stream, &dictionary);
	assert_int_equal(lode_store_open(&store, list.items[0].path, NULL), 0);
	assert_int_equal(lode_store_head(store, &stream, NULL), 0);
	assert_true(lode_store_blocks(store) > 0);
	for (size_t block = 0; block < lode_store_blocks(store); block++) {
		assert_int_equal(lode_store_events(store, block, LODE_T, &events, NULL), 0);
		for (size_t i = 1; i < events.count; i++)
			assert_true(events.t[i] >= events.t[i - 1]);
	}
	lode_store_close(store);
	lode_events_release(&events);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
	lode_corpus_list_release(&list);
}

static void a_recording_becomes_a_stream_in_order_of_time(void **state)
{
	struct fixture fixture;
	struct lode_recording *recording;
	struct lode_corpus *corpus;
	struct lode_corpus_entry entry;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_record_symbolize_options options = { .jobs = 1 };
	struct lode_error error = { "" };
	uint64_t expected = 0, sum = 0, blocks = 0;
	const uint64_t count = 400000;
	char path[96];

	(void)state;
	set_up(&fixture);
	options.symbolizer = fixture.symbolizer;
	snprintf(path, sizeof(path), "%s/corpus", fixture.folder);
	assert_int_equal(lode_corpus_open(&corpus, path, LODE_CORPUS_CREATE, &error), 0);
	assert_int_equal(lode_recording_create(&recording, corpus, &fixture.builder, &error), 0);
	assert_int_equal(send_process(&fixture), 0);
	for (uint64_t i = 0; i < 8; i++) {
		uint64_t before = lode_recording_size(recording);

		assert_int_equal(send_waits(&fixture, count / 8, &expected), 0);
		assert_int_equal(lode_recording_flow(recording, (i + 1) * 2000000000u, &error), 0);
		blocks += lode_recording_size(recording) > before;
	}
	assert_true(blocks >= 7); /* it is written while it comes */
	assert_int_equal(lode_recording_finish(recording, "a test", &options, &entry, &error), 0);
	assert_int_equal(entry.events[LODE_WAIT], count);
	lode_recording_abandon(recording, NULL);

	assert_int_equal(lode_dictionary_init(&dictionary), 0);
	lode_stream_init(&stream, &dictionary);
	assert_int_equal(load_only_stream(corpus, &stream, &error), 0);
	assert_int_equal(stream.events[LODE_WAIT].count, count);
	assert_blocks_in_order(corpus);
	for (size_t i = 0; i < count; i++) {
		sum += stream.events[LODE_WAIT].t[i] * 31 + stream.events[LODE_WAIT].cost[i];
		assert_true(!i || stream.events[LODE_WAIT].t[i] >= stream.events[LODE_WAIT].t[i - 1]);
	}
	assert_int_equal(sum, expected);
	assert_stack(&stream, stream.events[LODE_WAIT].stack[count - 1],
		     "app!0x1020 app!0x1010 kernel!el0t_64_sync kernel!ksys_read kernel!schedule "
		     "kernel!__schedule");
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
	lode_corpus_close(corpus);
	tear_down(&fixture);
}

/* In a child: writes 5000 events and takes 77 more. */
static struct lode_recording *record_some(struct fixture *fixture, const char *path)
{
	struct lode_recording *recording;
	struct lode_corpus *corpus;

	if (lode_corpus_open(&corpus, path, LODE_CORPUS_CREATE, NULL) < 0 ||
	    lode_recording_create(&recording, corpus, &fixture->builder, NULL) < 0 || send_process(fixture) < 0 ||
	    send_waits(fixture, 5000, NULL) < 0 || lode_recording_flow(recording, 1, NULL) < 0 ||
	    lode_recording_flow(recording, 2000000000u, NULL) < 0 || send_waits(fixture, 77, NULL) < 0)
		_exit(3);
	return recording;
}

/* The waits of the only stream of a corpus. */
static size_t count_waits(const char *path)
{
	struct lode_dictionary dictionary;
	struct lode_error error = { "" };
	struct lode_corpus *corpus;
	struct lode_stream stream;
	size_t count;

	assert_int_equal(lode_corpus_open(&corpus, path, LODE_CORPUS_READ, &error), 0);
	assert_int_equal(lode_dictionary_init(&dictionary), 0);
	lode_stream_init(&stream, &dictionary);
	assert_int_equal(load_only_stream(corpus, &stream, &error), 0);
	assert_blocks_in_order(corpus);
	count = stream.events[LODE_WAIT].count;
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
	lode_corpus_close(corpus);
	return count;
}

/* The same in a process that is killed before the end. */
static void record_and_die(struct fixture *fixture, const char *path)
{
	record_some(fixture, path);
	kill(getpid(), SIGKILL);
}

static void what_was_written_of_a_recording_that_died_is_saved(void **state)
{
	struct fixture fixture;
	struct lode_corpus_check_result result;
	struct lode_error error = { "" };
	char path[96];
	pid_t child;
	int status;

	(void)state;
	set_up(&fixture);
	snprintf(path, sizeof(path), "%s/corpus", fixture.folder);
	child = fork();
	if (!child)
		record_and_die(&fixture, path);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_int_equal(lode_corpus_check(path, 0, &result, NULL, NULL, &error), 0);
	assert_int_equal(result.recordings, 1);
	assert_int_equal(lode_corpus_check(path, 1, &result, NULL, NULL, &error), 0);
	assert_int_equal(result.recordings, 1);
	assert_int_equal(result.streams_bad, 0);
	assert_int_equal(lode_corpus_check(path, 0, &result, NULL, NULL, &error), 0);
	assert_int_equal(result.recordings, 0);
	assert_int_equal(result.streams_good, 1);
	assert_int_equal(count_waits(path), 5000);
	tear_down(&fixture);
}

/*
 * The same in a process whose files fail for good from the `nth` operation on,
 * once 5000 events are written. Exits with 1 when the recording failed; 2: when that is not reported.
 */
static void record_until_files_fail(struct fixture *fixture, const char *path, uint64_t nth)
{
	struct lode_record_symbolize_options options = { .symbolizer = fixture->symbolizer, .jobs = 1 };
	struct lode_recording *recording = record_some(fixture, path);
	struct lode_corpus_entry entry;
	struct lode_error error = { "" };
	int code;

	lode_file_fail_at(nth, 1, ENOSPC);
	code = lode_recording_flow(recording, 4000000000u, &error);
	if (!code)
		code = lode_recording_finish(recording, "a test", &options, &entry, &error);
	lode_file_fail_at(0, 0, 0);
	lode_recording_abandon(recording, &error);
	if (code && !strstr(error.text, "lode fsck --repair"))
		_exit(2);
	_exit(code ? 1 : 0);
}

/* Returns whether the recording failed; all that was written is a stream after a repair at the latest. */
static int assert_kept(uint64_t nth)
{
	struct fixture fixture;
	struct lode_corpus_check_result result;
	struct lode_error error = { "" };
	char path[96];
	pid_t child;
	int status;
	size_t count;

	set_up(&fixture);
	snprintf(path, sizeof(path), "%s/corpus", fixture.folder);
	child = fork();
	if (!child)
		record_until_files_fail(&fixture, path, nth);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
	assert_int_equal(lode_corpus_check(path, 1, &result, NULL, NULL, &error), 0);
	assert_int_equal(result.streams_bad, 0);
	count = count_waits(path);
	assert_true(count == 5077 || (WEXITSTATUS(status) && count == 5000));
	tear_down(&fixture);
	return WEXITSTATUS(status);
}

static void what_was_recorded_stays_when_writing_fails(void **state)
{
	uint64_t nth = 1;

	(void)state;
	while (assert_kept(nth))
		nth++;
	assert_true(nth > 5);
}

/* ---- names ---- */

/* Maps this very program into the process, as it is mapped here. */
static int send_own_map(struct fixture *fixture)
{
	uintptr_t wanted = (uintptr_t)send_own_map;
	struct lode_change change = { .type = LODE_CHANGE_MAP, .pid = PID, .tid = PID };
	unsigned long long start, end, offset;
	char line[512], path[256] = "";
	FILE *maps = fopen("/proc/self/maps", "r");
	int found = 0;

	assert_non_null(maps);
	while (!found && fgets(line, sizeof(line), maps))
		found = sscanf(line, "%llx-%llx %*s %llx %*s %*s %255s", &start, &end, &offset, path) == 4 &&
			wanted >= start && wanted < end;
	fclose(maps);
	assert_true(found);
	change.start = start;
	change.end = end;
	change.offset = offset;
	change.text = path;
	return fixture->sink.change(fixture->sink.context, &change);
}

/* Waits with stacks in this program, and something in the link register, before and behind where it is saved. */
static int send_own_waits(struct fixture *fixture)
{
	uint64_t functions[] = { (uintptr_t)send_map, (uintptr_t)send_name, (uintptr_t)send_task };
	int code = send_name(fixture, PID, PID, "app");

	if (!code)
		code = send_own_map(fixture);
	for (uint64_t i = 0; !code && i < 12; i++) {
		struct lode_record record = { .type = LODE_RECORD_WAIT,
					      .pid = PID,
					      .tid = PID,
					      .user = 500 + i,
					      .t = 1000 + i * 10,
					      .cost = 5 };
		struct lode_record_stack stack = { .id = 500 + i, .user = 1, .has_link = 1, .count = 4 };

		stack.addresses[0] = functions[i % 3] + i / 3 * 16;
		stack.addresses[1] = functions[i % 2] + 8;
		stack.addresses[2] = functions[2] + 16;
		stack.addresses[3] = START - 0x10; /* where nothing is mapped */
		code = fixture->sink.stack(fixture->sink.context, &stack);
		if (!code)
			code = send_record(fixture, record);
	}
	return code;
}

/* Records them into the corpus `name` and loads what is stored. */
static void record_own_waits(struct fixture *fixture, const char *name, int symbols, struct lode_stream *stream)
{
	struct lode_record_symbolize_options options = { .symbolizer = symbols ? fixture->symbolizer : NULL,
							 .jobs = 1 };
	struct lode_recording *recording;
	struct lode_corpus_entry entry;
	struct lode_corpus *corpus;
	char path[96];

	snprintf(path, sizeof(path), "%s/%s", fixture->folder, name);
	assert_int_equal(begin(fixture), 0);
	assert_int_equal(lode_corpus_open(&corpus, path, LODE_CORPUS_CREATE, NULL), 0);
	assert_int_equal(lode_recording_create(&recording, corpus, &fixture->builder, NULL), 0);
	assert_int_equal(send_own_waits(fixture), 0);
	assert_int_equal(lode_recording_finish(recording, "a test", &options, &entry, NULL), 0);
	lode_recording_abandon(recording, NULL);
	lode_builder_release(&fixture->builder);
	assert_int_equal(load_only_stream(corpus, stream, NULL), 0);
	lode_corpus_close(corpus);
}

static void stack_text(const struct lode_stream *stream, uint32_t node, struct lode_buffer *text)
{
	uint32_t frames[64], depth = lode_stack_tree_depth(&stream->dictionary->tree, node);

	assert_true(depth <= 64);
	lode_stack_tree_frames(&stream->dictionary->tree, node, frames, depth);
	lode_buffer_clear(text);
	for (uint32_t i = 0; i < depth; i++) {
		lode_frames_text(&stream->dictionary->frames, frames[i], text);
		lode_buffer_byte(text, ' ');
	}
	lode_buffer_byte(text, '\0');
}

static void names_given_later_are_those_of_a_recording_with_symbols(void **state)
{
	struct fixture fixture;
	struct lode_dictionary dictionaries[3];
	struct lode_stream streams[3]; /* with symbols, without, and named later */
	struct lode_buffer one = { 0 }, other = { 0 };
	struct lode_naming naming;

	(void)state;
	open_symbols(&fixture);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(lode_dictionary_init(&dictionaries[i]), 0);
		lode_stream_init(&streams[i], &dictionaries[i]);
	}
	record_own_waits(&fixture, "with", 1, &streams[0]);
	record_own_waits(&fixture, "without", 0, &streams[1]);
	assert_int_equal(lode_naming_apply(&streams[1], fixture.symbolizer, &streams[2], &naming), 0);
	assert_true(naming.named >= 3);
	assert_int_equal(streams[2].events[LODE_WAIT].count, 12);
	assert_int_equal(streams[2].attribute_count, streams[0].attribute_count);
	for (size_t i = 0; i < 12; i++) {
		stack_text(&streams[0], streams[0].events[LODE_WAIT].stack[i], &one);
		stack_text(&streams[2], streams[2].events[LODE_WAIT].stack[i], &other);
		assert_string_equal(one.bytes, other.bytes);
		assert_non_null(strstr(one.bytes, "!send_"));
	}
	lode_buffer_release(&one);
	lode_buffer_release(&other);
	for (int i = 0; i < 3; i++) {
		lode_stream_release(&streams[i]);
		lode_dictionary_release(&dictionaries[i]);
	}
	close_symbols(&fixture);
}

static void memory_that_runs_out_while_naming_is_reported(void **state)
{
	struct fixture fixture;
	struct lode_dictionary dictionary, named_dictionary;
	struct lode_stream stream, named;
	struct lode_naming naming;
	uint64_t failures = 0;
	int code = LODE_SYSTEM;

	(void)state;
	open_symbols(&fixture);
	assert_int_equal(lode_dictionary_init(&dictionary), 0);
	lode_stream_init(&stream, &dictionary);
	record_own_waits(&fixture, "without", 0, &stream);
	/* A file for whose symbols there was no memory is as one that is not there: first they are loaded. */
	assert_int_equal(lode_naming_count(&stream, fixture.symbolizer, &naming), 0);
	for (uint64_t at = 1; code < 0; at++) {
		assert_int_equal(lode_dictionary_init(&named_dictionary), 0);
		lode_stream_init(&named, &named_dictionary);
		lode_memory_fail_at(at, 0);
		code = lode_naming_apply(&stream, fixture.symbolizer, &named, &naming);
		lode_memory_fail_at(0, 0);
		failures += code < 0;
		lode_stream_release(&named);
		lode_dictionary_release(&named_dictionary);
	}
	assert_true(failures > 5);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
	close_symbols(&fixture);
}

static int record_all(struct fixture *fixture, struct lode_corpus *corpus, struct lode_corpus_entry *entry)
{
	struct lode_record_symbolize_options options = { .symbolizer = fixture->symbolizer, .jobs = 1 };
	struct lode_recording *recording = NULL;
	struct lode_record_times times = { .ended = 900, .command = PID, .command_ended = 800 };
	struct lode_record_rule rule;
	int code = begin(fixture);

	if (!code)
		code = lode_recording_create(&recording, corpus, &fixture->builder, NULL);
	if (!code)
		code = send_process(fixture);
	if (!code)
		code = send_task(fixture, LODE_CHANGE_FORK, 50, PID + 1, PID + 1);
	if (!code)
		code = send_waits(fixture, 30, NULL);
	if (!code)
		code = lode_record_rule_parse(&rule, "run > 1ns", NULL);
	if (!code)
		code = lode_record_rule_apply(&rule, &fixture->builder, &times);
	if (code >= 0)
		code = lode_recording_finish(recording, "a test", &options, entry, NULL);
	lode_recording_abandon(recording, NULL);
	lode_builder_release(&fixture->builder);
	return code;
}

static void memory_that_runs_out_anywhere_is_reported(void **state)
{
	struct fixture fixture;
	struct lode_corpus_entry entry;
	struct lode_corpus *corpus;
	uint64_t asked, failures = 0;
	char path[96];

	(void)state;
	open_symbols(&fixture);
	snprintf(path, sizeof(path), "%s/corpus", fixture.folder);
	assert_int_equal(lode_corpus_open(&corpus, path, LODE_CORPUS_CREATE, NULL), 0);
	/* What the symbolizer keeps is there from then on. */
	assert_int_equal(record_all(&fixture, corpus, &entry), 0);
	lode_memory_fail_at(UINT64_MAX, 0);
	assert_int_equal(record_all(&fixture, corpus, &entry), 0);
	asked = lode_memory_asked();
	for (uint64_t nth = 1; nth <= asked; nth++) {
		int code;

		lode_memory_fail_at(nth, 0);
		code = record_all(&fixture, corpus, &entry);
		lode_memory_fail_at(0, 0);
		assert_true(code == 0 || code == LODE_SYSTEM);
		failures += code != 0;
	}
	assert_true(failures > 100);
	lode_corpus_close(corpus);
	close_symbols(&fixture);
}

/* The id of a stack of one frame is its address, so that ids differ in few of their bits. */
static void many_stacks_of_one_frame_are_taken_in_linear_time(void **state)
{
	const uint64_t count = 300000, base = 0xffff80000000u;
	struct fixture fixture;
	clock_t began;

	(void)state;
	set_up(&fixture);
	began = clock();
	for (uint64_t i = 0; i < count; i++) {
		uint64_t address = base + i * 4;

		assert_int_equal(send_stack(&fixture, address, 1, &address, 1), 0);
	}
	/* Some 50 ms; with one chain for all of them it took minutes. */
	assert_true(clock() - began < 5 * CLOCKS_PER_SEC);
	assert_int_equal(fixture.builder.stacks.young.count, count);
	tear_down(&fixture);
}

enum { IDS = 400, FIRST_ID = 100000 };

/* Stacks with an odd number are the kernel's. */
static int is_known(struct fixture *fixture, uint64_t id)
{
	struct lode_record_stacks *stacks = &fixture->builder.stacks;
	uint64_t missing = stacks->missing;
	int user = id % 2 == 0;

	/* Nodes that are remembered would hide what is forgotten. */
	stacks->node_count = 0;
	lode_index_release(&stacks->node_index);
	assert_true(lode_record_stacks_node(stacks, PID, user ? id : 0, user ? 0 : id, 0) != LODE_NONE);
	return stacks->missing == missing;
}

/* Stacks are sent, named and forgotten at random: those of this epoch and of the last one are known, and those that were held at each renewal since. */
static void stacks_are_forgotten_unless_they_are_sent_or_held(void **state)
{
	int epoch_of[IDS] = { 0 }, epoch = 2, forgotten = 0; /* 0: never sent */
	struct fixture fixture;

	(void)state;
	srand(5);
	set_up(&fixture);
	assert_int_equal(send_process(&fixture), 0);
	for (int step = 0; step < 20000; step++) {
		uint64_t id = FIRST_ID + (uint64_t)(rand() % IDS), addresses[8], held[IDS];
		size_t count = 0;

		if (rand() % 3) {
			for (uint64_t i = 0; i < 8; i++)
				addresses[i] = 0x400000 + id * 64 + i * 8;
			assert_int_equal(send_stack(&fixture, id, id % 2 == 0, addresses, 1 + id % 8), 0);
			epoch_of[id - FIRST_ID] = epoch;
		}
		if (rand() % 500 == 0) {
			for (uint64_t i = 0; i < IDS; i++) {
				int is_held = rand() % 4 == 0;

				if (is_held)
					held[count++] = i + FIRST_ID;
				if (is_held && epoch_of[i] == epoch - 1)
					epoch_of[i] = epoch;
			}
			assert_int_equal(lode_record_stacks_renew(&fixture.builder.stacks, held, count), 0);
			epoch++;
		}
		id = FIRST_ID + (uint64_t)(rand() % IDS);
		assert_int_equal(is_known(&fixture, id), epoch_of[id - FIRST_ID] >= epoch - 1);
		forgotten += epoch_of[id - FIRST_ID] && epoch_of[id - FIRST_ID] < epoch - 1;
	}
	assert_true(epoch > 20 && forgotten > 100);
	tear_down(&fixture);
}

/* Each process has its own addresses: what is kept stays the same however many there were; and grows where all are seen all the time. */
static void stacks_of_processes_that_end_do_not_add_up(void **state)
{
	struct lode_record_stacks *stacks;
	struct fixture fixture;
	size_t most = 0, limit;

	(void)state;
	set_up(&fixture);
	stacks = &fixture.builder.stacks;
	limit = stacks->limit;
	for (uint64_t i = 0; i < 400000; i++) {
		uint64_t addresses[8] = { i * 4096, i * 4096 + 8, i * 4096 + 16, i * 4096 + 24 };

		assert_int_equal(send_stack(&fixture, i + 2, 1, addresses, 8), 0);
		if (lode_record_stacks_is_full(stacks))
			assert_int_equal(lode_record_stacks_renew(stacks, NULL, 0), 0);
		if (stacks->young.bytes + stacks->old.bytes > most)
			most = stacks->young.bytes + stacks->old.bytes;
	}
	assert_true(most < 2 * limit + 1024 && stacks->limit == limit);
	for (uint64_t i = 0; i < 400000; i++) {
		uint64_t address = (uint64_t)(rand() % 50000);

		assert_int_equal(send_stack(&fixture, address + 2, 1, &address, 1), 0);
		if (lode_record_stacks_is_full(stacks))
			assert_int_equal(lode_record_stacks_renew(stacks, NULL, 0), 0);
	}
	assert_true(stacks->limit > limit && stacks->limit < 8 * limit);
	tear_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_stacks_of_one_frame_are_taken_in_linear_time),
		cmocka_unit_test(stacks_are_forgotten_unless_they_are_sent_or_held),
		cmocka_unit_test(stacks_of_processes_that_end_do_not_add_up),
		cmocka_unit_test(a_recording_becomes_a_stream_in_order_of_time),
		cmocka_unit_test(what_was_written_of_a_recording_that_died_is_saved),
		cmocka_unit_test(what_was_recorded_stays_when_writing_fails),
		cmocka_unit_test(names_given_later_are_those_of_a_recording_with_symbols),
		cmocka_unit_test(memory_that_runs_out_while_naming_is_reported),
		cmocka_unit_test(memory_that_runs_out_anywhere_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
