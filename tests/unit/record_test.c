/*
 * The recorder's half in the program, without the kernel: what a sink is handed
 * becomes a stream, a recording, a corpus.
 */
#include "cmocka_all.h"
#include "random_stream.h"
#include "temporary.h"

#include "base/file.h"
#include "record/recording.h"
#include "record/rules.h"
#include "symbols/name_frames.h"
#include "store/corpus_check.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

/* A kernel of some functions, each 0x100 bytes long. */
static const char kallsyms_text[] = "ffff800080000000 T _text\n"
				    "ffff800080000100 T __schedule\n"
				    "ffff800080000200 T schedule\n"
				    "ffff800080000300 T ksys_read\n"
				    "ffff800080000400 T el0t_64_sync\n"
				    "ffff800080000500 T try_to_wake_up\n"
				    "ffff800080000600 T hrtimer_interrupt\n"
				    "ffff800080000700 T el1h_64_irq_handler\n"
				    "ffff800080000800 T el1h_64_irq\n"
				    "ffff800080000900 T __traceiter_sched_switch\n"
				    "ffff800080000a00 T bpf_trace_run4\n"
				    "ffff800080000b00 T _etext\n";

#define KERNEL(n) (0xffff800080000000u + (n)*0x100u + 0x10)

enum { TEXT, SCHEDULE_, SCHEDULE, READ, SYNC, WAKE, TIMER, IRQ_HANDLER, IRQ, TRACE, BPF };

/* A process that maps a file which is not there, so that addresses stay what they are. */
#define PID   424242
#define START 0x400000u

struct fixture {
	char folder[64];
	char kallsyms[96];
	struct lode_symbolizer *symbolizer;
	struct lode_builder builder;
	struct lode_recorder_sink sink;
};

static void open_symbols(struct fixture *fixture)
{
	struct lode_symbols_options options = { .cache = "" };
	FILE *file;

	assert_int_equal(temporary_folder(fixture->folder, sizeof(fixture->folder)), 0);
	snprintf(fixture->kallsyms, sizeof(fixture->kallsyms), "%s/kallsyms", fixture->folder);
	file = fopen(fixture->kallsyms, "w");
	assert_non_null(file);
	fputs(kallsyms_text, file);
	fclose(file);
	assert_int_equal(lode_symbolizer_create(&fixture->symbolizer, &options, NULL), 0);
}

static void close_symbols(struct fixture *fixture)
{
	char command[128];

	lode_symbolizer_destroy(fixture->symbolizer);
	snprintf(command, sizeof(command), "rm -rf %s", fixture->folder);
	assert_int_equal(system(command), 0);
}

static int begin(struct fixture *fixture)
{
	int code = lode_builder_init(&fixture->builder, fixture->symbolizer, fixture->kallsyms, 1000);

	fixture->sink = lode_builder_sink(&fixture->builder);
	return code;
}

static void set_up(struct fixture *fixture)
{
	open_symbols(fixture);
	assert_int_equal(begin(fixture), 0);
}

static void tear_down(struct fixture *fixture)
{
	lode_builder_release(&fixture->builder);
	close_symbols(fixture);
}

/* ---- what the kernel would tell ---- */

static int tell_map(struct fixture *fixture, uint32_t pid, const char *path)
{
	char copy[64];
	struct lode_change change = { .type = LODE_CHANGE_MAP,
				      .pid = pid,
				      .tid = pid,
				      .start = START,
				      .end = START + 0x10000,
				      .offset = 0x1000,
				      .text = copy };

	snprintf(copy, sizeof(copy), "%s", path);
	return fixture->sink.change(fixture->sink.context, &change);
}

static int tell_name(struct fixture *fixture, uint32_t pid, uint32_t tid, const char *name)
{
	char copy[32];
	struct lode_change change = { .type = LODE_CHANGE_NAME,
				      .pid = pid,
				      .tid = tid,
				      .executed = pid == tid,
				      .text = copy };

	snprintf(copy, sizeof(copy), "%s", name);
	return fixture->sink.change(fixture->sink.context, &change);
}

static int tell_task(struct fixture *fixture, enum lode_change_type type, uint64_t t, uint32_t pid, uint32_t tid)
{
	struct lode_change change = { .type = type,
				      .t = t,
				      .pid = pid,
				      .tid = tid,
				      .parent_pid = PID,
				      .parent_tid = PID };

	return fixture->sink.change(fixture->sink.context, &change);
}

static int tell_stack(struct fixture *fixture, uint64_t id, int user, const uint64_t *addresses, uint32_t count)
{
	struct lode_record_stack stack = { .id = id, .user = (uint8_t)user, .count = count };

	memcpy(stack.addresses, addresses, count * sizeof(*addresses));
	return fixture->sink.stack(fixture->sink.context, &stack);
}

static int tell_record(struct fixture *fixture, struct lode_record record)
{
	return fixture->sink.record(fixture->sink.context, &record);
}

/* Ids of the stacks that tell_stacks tells. */
enum { USER = 101, USER_DEEP, BLOCKED, WAKING, INTERRUPT, TRACED };

/* Of a stack that is told later than a record that names it, and of one that never comes. */
enum { LATE = 201, NEVER };

static int tell_stacks(struct fixture *fixture)
{
	const uint64_t user[] = { START + 0x10, START + 0x21 };
	const uint64_t deep[] = { START + 0x30, START + 0x21, START + 0x11 };
	const uint64_t blocked[] = { KERNEL(SCHEDULE_), KERNEL(SCHEDULE), KERNEL(READ), KERNEL(SYNC) };
	const uint64_t waking[] = { KERNEL(WAKE), KERNEL(SYNC) };
	const uint64_t interrupt[] = { KERNEL(WAKE), KERNEL(TIMER), KERNEL(IRQ_HANDLER),
				       KERNEL(IRQ),  KERNEL(READ),  KERNEL(SYNC) };
	const uint64_t traced[] = { 0x1234567, KERNEL(BPF), KERNEL(TRACE), KERNEL(SCHEDULE_), KERNEL(SYNC) };

	if (tell_stack(fixture, USER, 1, user, 2) < 0 || tell_stack(fixture, USER_DEEP, 1, deep, 3) < 0 ||
	    tell_stack(fixture, BLOCKED, 0, blocked, 4) < 0 || tell_stack(fixture, WAKING, 0, waking, 2) < 0 ||
	    tell_stack(fixture, INTERRUPT, 0, interrupt, 6) < 0 || tell_stack(fixture, TRACED, 0, traced, 5) < 0)
		return LODE_SYSTEM;
	return 0;
}

static int tell_process(struct fixture *fixture)
{
	if (tell_name(fixture, PID, PID, "app") < 0 || tell_map(fixture, PID, "/no/such/app") < 0)
		return LODE_SYSTEM;
	return tell_stacks(fixture);
}

/* ---- looking ---- */

static void assert_stack(const struct lode_stream *stream, uint32_t node, const char *expected)
{
	const struct lode_dictionary *dictionary = stream->dictionary;
	struct lode_buffer text = { 0 };
	uint32_t frames[64], depth = lode_stack_tree_depth(&dictionary->tree, node);

	assert_true(depth <= 64);
	lode_stack_tree_frames(&dictionary->tree, node, frames, depth);
	for (uint32_t i = 0; i < depth; i++) {
		if (i)
			lode_buffer_byte(&text, ' ');
		lode_frames_text(&dictionary->frames, frames[i], &text);
	}
	lode_buffer_byte(&text, '\0');
	assert_string_equal(text.bytes, expected);
	lode_buffer_release(&text);
}

static struct lode_event the_event(const struct lode_stream *stream, enum lode_event_type type)
{
	assert_int_equal(stream->events[type].count, 1);
	return lode_events_get(&stream->events[type], 0);
}

/* ---- the builder ---- */

static void a_wait_has_its_stack_and_its_waker(void **state)
{
	struct fixture fixture;
	struct lode_stream *stream = &fixture.builder.stream;
	struct lode_event event;

	(void)state;
	set_up(&fixture);
	assert_int_equal(tell_process(&fixture), 0);
	assert_int_equal(tell_record(&fixture, (struct lode_record){ .type = LODE_RECORD_WAIT,
								     .flags = LODE_RECORD_WOKEN,
								     .t = 5000,
								     .cost = 300,
								     .delay = 20,
								     .pid = PID,
								     .tid = PID + 1,
								     .user = USER,
								     .kernel = BLOCKED,
								     .waker_pid = PID,
								     .waker_tid = PID,
								     .waker_user = USER_DEEP,
								     .waker_kernel = WAKING,
								     .cpu = 3 }),
			 0);
	event = the_event(stream, LODE_WAIT);
	assert_int_equal(event.t, 5000);
	assert_int_equal(event.cost, 300);
	assert_int_equal(event.delay, 20);
	assert_int_equal(event.cpu, 3);
	assert_int_equal(stream->threads[event.thread].tid, PID + 1);
	assert_int_equal(stream->threads[event.waker].tid, PID);
	/* Return addresses are looked up a byte before them, the leaf as it is. */
	assert_stack(stream, event.stack,
		     "app!0x1020 app!0x1010 kernel!el0t_64_sync kernel!ksys_read kernel!schedule "
		     "kernel!__schedule");
	assert_stack(stream, event.waker_stack,
		     "app!0x1010 app!0x1020 app!0x1030 kernel!el0t_64_sync kernel!try_to_wake_up");
	assert_int_equal(lode_builder_refresh(&fixture.builder), 0);
	assert_string_equal(lode_strings_get(&stream->dictionary->frames.strings, stream->threads[event.waker].name),
			    "app");
	tear_down(&fixture);
}

static void an_interrupt_is_no_threads_doing(void **state)
{
	struct fixture fixture;
	struct lode_event event;

	(void)state;
	set_up(&fixture);
	assert_int_equal(tell_process(&fixture), 0);
	assert_int_equal(tell_record(&fixture, (struct lode_record){ .type = LODE_RECORD_WAIT,
								     .flags = LODE_RECORD_WOKEN,
								     .pid = PID,
								     .tid = PID,
								     .user = USER,
								     .kernel = BLOCKED,
								     .waker_pid = PID,
								     .waker_tid = PID + 7,
								     .waker_user = USER_DEEP,
								     .waker_kernel = INTERRUPT }),
			 0);
	event = the_event(&fixture.builder.stream, LODE_WAIT);
	assert_int_equal(event.waker, LODE_NONE);
	assert_stack(&fixture.builder.stream, event.waker_stack,
		     "kernel!el1h_64_irq kernel!el1h_64_irq_handler kernel!hrtimer_interrupt "
		     "kernel!try_to_wake_up");
	assert_int_equal(fixture.builder.stream.thread_count, 1);
	tear_down(&fixture);
}

static void the_way_from_a_tracepoint_to_the_program_is_no_part_of_a_stack(void **state)
{
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	assert_int_equal(tell_process(&fixture), 0);
	assert_int_equal(tell_record(&fixture, (struct lode_record){ .type = LODE_RECORD_PREEMPT,
								     .t = 1,
								     .delay = 44,
								     .pid = PID,
								     .tid = PID,
								     .kernel = TRACED }),
			 0);
	assert_stack(&fixture.builder.stream, the_event(&fixture.builder.stream, LODE_CALL).stack,
		     "kernel!el0t_64_sync kernel!__schedule");
	tear_down(&fixture);
}

static void kinds_of_records_become_kinds_of_events(void **state)
{
	struct fixture fixture;
	struct lode_stream *stream = &fixture.builder.stream;
	const struct lode_strings *strings = &fixture.builder.dictionary.frames.strings;
	struct lode_record record = { .pid = PID, .tid = PID, .t = 10, .delay = 7 };

	(void)state;
	set_up(&fixture);
	assert_int_equal(tell_process(&fixture), 0);
	record.type = LODE_RECORD_PREEMPT;
	assert_int_equal(tell_record(&fixture, record), 0);
	record.type = LODE_RECORD_RUN;
	record.delay = 0;
	assert_int_equal(tell_record(&fixture, record), 0);
	record.type = LODE_RECORD_CALL;
	record.value = 123456;
	assert_int_equal(tell_record(&fixture, record), 0);
	record.value = 435;
	assert_int_equal(tell_record(&fixture, record), 0);
	assert_int_equal(stream->events[LODE_RUN].count, 1);
	assert_int_equal(stream->events[LODE_RUN].cost[0], 1000);
	assert_int_equal(stream->events[LODE_CALL].count, 3);
	assert_int_equal(stream->events[LODE_CALL].delay[0], 7);
	assert_string_equal(lode_strings_get(strings, stream->events[LODE_CALL].name[0]), "preempt");
	assert_string_equal(lode_strings_get(strings, stream->events[LODE_CALL].name[1]), "syscall_123456");
	assert_string_equal(lode_strings_get(strings, stream->events[LODE_CALL].name[2]), "clone3");
	tear_down(&fixture);
}

static void a_stack_that_was_lost_is_counted(void **state)
{
	struct fixture fixture;
	struct lode_notes notes;

	(void)state;
	set_up(&fixture);
	assert_int_equal(tell_process(&fixture), 0);
	assert_int_equal(tell_record(&fixture, (struct lode_record){ .type = LODE_RECORD_RUN,
								     .pid = PID,
								     .tid = PID,
								     .user = USER,
								     .kernel = 999 }),
			 0);
	assert_stack(&fixture.builder.stream, the_event(&fixture.builder.stream, LODE_RUN).stack,
		     "app!0x1020 app!0x1010");
	lode_notes_init(&notes);
	lode_builder_note(&fixture.builder, &notes);
	assert_int_equal(notes.count, 1);
	assert_string_equal(notes.items[0].what, "stacks that were lost");
	lode_notes_release(&notes);
	tear_down(&fixture);
}

static void a_child_has_what_its_parent_mapped_and_both_go_on_alone(void **state)
{
	struct fixture fixture;
	struct lode_stream *stream = &fixture.builder.stream;
	struct lode_record record = { .type = LODE_RECORD_RUN, .user = USER };

	(void)state;
	set_up(&fixture);
	assert_int_equal(tell_process(&fixture), 0);
	assert_int_equal(tell_task(&fixture, LODE_CHANGE_FORK, 50, PID + 1, PID + 1), 0);
	record.pid = record.tid = PID + 1;
	assert_int_equal(tell_record(&fixture, record), 0);
	assert_int_equal(tell_map(&fixture, PID + 1, "/no/such/other"), 0);
	assert_int_equal(tell_record(&fixture, record), 0);
	record.pid = record.tid = PID;
	assert_int_equal(tell_record(&fixture, record), 0);
	assert_stack(stream, stream->events[LODE_RUN].stack[0], "app!0x1020 app!0x1010");
	assert_stack(stream, stream->events[LODE_RUN].stack[1], "other!0x1020 other!0x1010");
	assert_stack(stream, stream->events[LODE_RUN].stack[2], "app!0x1020 app!0x1010");
	assert_int_equal(lode_builder_refresh(&fixture.builder), 0);
	assert_string_equal(lode_strings_get(&stream->dictionary->frames.strings, stream->threads[0].name), "app");
	tear_down(&fixture);
}

static void files_of_the_same_name_are_distinguished(void **state)
{
	struct fixture fixture;
	struct lode_stream *stream = &fixture.builder.stream;
	struct lode_record record = { .type = LODE_RECORD_RUN, .user = USER };

	(void)state;
	set_up(&fixture);
	assert_int_equal(tell_process(&fixture), 0);
	assert_int_equal(tell_name(&fixture, PID + 1, PID + 1, "app"), 0);
	assert_int_equal(tell_map(&fixture, PID + 1, "/no/such/container/app"), 0);
	record.pid = record.tid = PID;
	assert_int_equal(tell_record(&fixture, record), 0);
	record.pid = record.tid = PID + 1;
	assert_int_equal(tell_record(&fixture, record), 0);
	assert_int_not_equal(stream->events[LODE_RUN].stack[0], stream->events[LODE_RUN].stack[1]);
	tear_down(&fixture);
}

/* A record of some threads and stacks, of which some come late or never. */
static struct lode_record any_record(uint64_t *seed)
{
	static const uint64_t users[] = { 0, USER, USER_DEEP, NEVER };
	static const uint64_t kernels[] = { 0, BLOCKED, WAKING, INTERRUPT, LATE, NEVER };
	struct lode_record record = {
		.type = random_below(seed, 2) ? LODE_RECORD_WAIT : LODE_RECORD_CALL,
		.flags = random_below(seed, 4) ? LODE_RECORD_WOKEN : 0,
		.pid = PID + (uint32_t)random_below(seed, 2),
		.waker_pid = PID + (uint32_t)random_below(seed, 2),
		.waker_tid = (uint32_t)random_below(seed, 2) * (PID + 2),
		.user = users[random_below(seed, 4)],
		.kernel = kernels[random_below(seed, 6)],
		.waker_user = users[random_below(seed, 4)],
		.waker_kernel = kernels[random_below(seed, 6)],
	};

	record.tid = PID + (uint32_t)random_below(seed, 3);
	return record;
}

/* What may come between two records. */
static void tell_any_news(struct fixture *fixture, uint64_t which)
{
	const uint64_t late[] = { KERNEL(WAKE), KERNEL(IRQ), KERNEL(SYNC) };

	if (which == 0)
		assert_int_equal(tell_map(fixture, PID, "/no/such/other"), 0);
	if (which == 1)
		assert_int_equal(tell_map(fixture, PID, "/no/such/app"), 0);
	if (which == 2)
		assert_int_equal(tell_task(fixture, LODE_CHANGE_FORK, 5, PID + 1, PID + 1), 0);
	if (which == 3)
		assert_int_equal(tell_stack(fixture, LATE, 0, late, 3), 0);
}

/* The oracle is a builder that forgets all before each record. */
static void what_is_remembered_is_what_would_be_found(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct fixture fixture, forgetful;
		uint64_t numbers = seed;

		set_up(&fixture);
		set_up(&forgetful);
		assert_int_equal(tell_process(&fixture), 0);
		assert_int_equal(tell_process(&forgetful), 0);
		for (int i = 0; i < 500; i++) {
			struct lode_record record = any_record(&numbers);
			uint64_t news = random_below(&numbers, 100);

			tell_any_news(&fixture, news);
			tell_any_news(&forgetful, news);
			memset(forgetful.builder.known, 0, LODE_BUILDER_KNOWN * sizeof(*forgetful.builder.known));
			assert_int_equal(tell_record(&fixture, record), 0);
			assert_int_equal(tell_record(&forgetful, record), 0);
		}
		for (int type = 0; type < LODE_EVENT_TYPES; type++) {
			const struct lode_events *a = &fixture.builder.stream.events[type];
			const struct lode_events *b = &forgetful.builder.stream.events[type];

			assert_int_equal(a->count, b->count);
			for (size_t i = 0; i < a->count; i++) {
				assert_int_equal(a->thread[i], b->thread[i]);
				assert_int_equal(a->stack[i], b->stack[i]);
				assert_int_equal(a->waker[i], b->waker[i]);
				assert_int_equal(a->waker_stack[i], b->waker_stack[i]);
			}
		}
		tear_down(&forgetful);
		tear_down(&fixture);
	}
}

/* ---- rules ---- */

static void rules_are_read_or_refused(void **state)
{
	static const char *const wrong[] = { "",    "thread",  "thread ",  "threads x",
					     "run", "run > x", "run < 2s", "function ab > 2s" };
	struct lode_record_rule rule;
	struct lode_error error;

	(void)state;
	assert_int_equal(lode_record_rule_parse(&rule, "thread GC worker", &error), 0);
	assert_int_equal(rule.type, LODE_RULE_THREAD);
	assert_string_equal(rule.name, "GC worker");
	assert_int_equal(lode_record_rule_parse(&rule, " run>1.5s", &error), 0);
	assert_int_equal(rule.type, LODE_RULE_RUN);
	assert_int_equal(rule.limit, 1500000000u);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(lode_record_rule_parse(&rule, wrong[i], &error), LODE_USAGE);
}

static void a_thread_is_slow_for_as_long_as_it_lives(void **state)
{
	struct fixture fixture;
	struct lode_stream *stream = &fixture.builder.stream;
	struct lode_record_times times = { .began = 100, .ended = 900 };
	struct lode_record_rule rule;
	struct lode_record record = { .type = LODE_RECORD_RUN, .pid = PID };

	(void)state;
	set_up(&fixture);
	assert_int_equal(tell_process(&fixture), 0);
	for (uint32_t i = 1; i <= 3; i++)
		assert_int_equal(tell_task(&fixture, LODE_CHANGE_FORK, 50 + 100 * i, PID, PID + i), 0);
	assert_int_equal(tell_name(&fixture, PID, PID + 1, "worker"), 0);
	assert_int_equal(tell_name(&fixture, PID, PID + 2, "worker"), 0);
	assert_int_equal(tell_task(&fixture, LODE_CHANGE_EXIT, 700, PID, PID + 1), 0);
	for (uint32_t i = 0; i <= 3; i++) {
		record.tid = PID + i;
		assert_int_equal(tell_record(&fixture, record), 0);
	}
	assert_int_equal(lode_record_rule_parse(&rule, "thread worker", NULL), 0);
	assert_int_equal(lode_record_rule_apply(&rule, &fixture.builder, &times), 2);
	assert_int_equal(stream->symptom_count, 2);
	assert_int_equal(stream->threads[stream->symptoms[0].thread].tid, PID + 1);
	assert_int_equal(stream->symptoms[0].t0, 150);
	assert_int_equal(stream->symptoms[0].t1, 700);
	assert_int_equal(stream->symptoms[1].t0, 250);
	assert_int_equal(stream->symptoms[1].t1, 900);
	tear_down(&fixture);
}

static void a_run_is_slow_only_beyond_its_limit(void **state)
{
	struct fixture fixture;
	struct lode_record_times times = { .began = 100,
					   .ended = 900,
					   .command = PID,
					   .command_began = 110,
					   .command_ended = 610 };
	struct lode_record_rule rule;

	(void)state;
	set_up(&fixture);
	assert_int_equal(lode_record_rule_parse(&rule, "run > 500ns", NULL), 0);
	assert_int_equal(lode_record_rule_apply(&rule, &fixture.builder, &times), 0);
	assert_int_equal(lode_record_rule_parse(&rule, "run > 499ns", NULL), 0);
	assert_int_equal(lode_record_rule_apply(&rule, &fixture.builder, &times), 1);
	assert_int_equal(fixture.builder.stream.symptoms[0].t0, 110);
	assert_int_equal(fixture.builder.stream.symptoms[0].t1, 610);
	times.command = 0;
	assert_int_equal(lode_record_rule_apply(&rule, &fixture.builder, &times), 0);
	tear_down(&fixture);
}

/* ---- recordings ---- */

/* Records `count` waits in the order of their ends; every tenth one is as long as all before it. */
static int tell_waits(struct fixture *fixture, uint64_t count, uint64_t *sum)
{
	for (uint64_t i = 0; i < count; i++) {
		struct lode_record record = { .type = LODE_RECORD_WAIT, .pid = PID, .tid = PID, .kernel = BLOCKED };

		record.t = i % 10 ? 1000 + i * 10 : 1000 + i;
		record.cost = 1010 + i * 10 - record.t;
		record.user = i % 3 ? USER : USER_DEEP;
		if (sum)
			*sum += record.t * 31 + record.cost;
		if (tell_record(fixture, record) < 0)
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
	assert_int_equal(tell_process(&fixture), 0);
	for (uint64_t i = 0; i < 8; i++) {
		uint64_t before = lode_recording_size(recording);

		assert_int_equal(tell_waits(&fixture, count / 8, &expected), 0);
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

/* The same in a process that is killed before the end. */
static void record_and_die(struct fixture *fixture, const char *path)
{
	struct lode_recording *recording;
	struct lode_corpus *corpus;

	if (lode_corpus_open(&corpus, path, LODE_CORPUS_CREATE, NULL) < 0 ||
	    lode_recording_create(&recording, corpus, &fixture->builder, NULL) < 0 || tell_process(fixture) < 0 ||
	    tell_waits(fixture, 5000, NULL) < 0 || lode_recording_flow(recording, 1, NULL) < 0 ||
	    lode_recording_flow(recording, 2000000000u, NULL) < 0 || tell_waits(fixture, 77, NULL) < 0)
		_exit(1);
	kill(getpid(), SIGKILL);
}

static void what_was_written_of_a_recording_that_died_is_saved(void **state)
{
	struct fixture fixture;
	struct lode_corpus_check_result result;
	struct lode_corpus *corpus;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
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

	assert_int_equal(lode_corpus_open(&corpus, path, LODE_CORPUS_READ, &error), 0);
	assert_int_equal(lode_dictionary_init(&dictionary), 0);
	lode_stream_init(&stream, &dictionary);
	assert_int_equal(load_only_stream(corpus, &stream, &error), 0);
	assert_int_equal(stream.events[LODE_WAIT].count, 5000);
	assert_blocks_in_order(corpus);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
	lode_corpus_close(corpus);
	tear_down(&fixture);
}

/*
 * The same in a process whose files fail for good from the `nth` operation on,
 * once 5000 events are written. Exits with 1 when the recording failed; 2: when that is not told.
 */
static void record_until_files_fail(struct fixture *fixture, const char *path, uint64_t nth)
{
	struct lode_record_symbolize_options options = { .symbolizer = fixture->symbolizer, .jobs = 1 };
	struct lode_recording *recording;
	struct lode_corpus_entry entry;
	struct lode_corpus *corpus;
	struct lode_error error = { "" };
	int code;

	if (lode_corpus_open(&corpus, path, LODE_CORPUS_CREATE, NULL) < 0 ||
	    lode_recording_create(&recording, corpus, &fixture->builder, NULL) < 0 || tell_process(fixture) < 0 ||
	    tell_waits(fixture, 5000, NULL) < 0 || lode_recording_flow(recording, 1, NULL) < 0 ||
	    lode_recording_flow(recording, 2000000000u, NULL) < 0 || tell_waits(fixture, 77, NULL) < 0)
		_exit(3);
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
	struct lode_corpus *corpus;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_error error = { "" };
	char path[96];
	pid_t child;
	int status;

	set_up(&fixture);
	snprintf(path, sizeof(path), "%s/corpus", fixture.folder);
	child = fork();
	if (!child)
		record_until_files_fail(&fixture, path, nth);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
	assert_int_equal(lode_corpus_check(path, 1, &result, NULL, NULL, &error), 0);
	assert_int_equal(result.streams_bad, 0);
	assert_int_equal(lode_corpus_open(&corpus, path, LODE_CORPUS_READ, &error), 0);
	assert_int_equal(lode_dictionary_init(&dictionary), 0);
	lode_stream_init(&stream, &dictionary);
	assert_int_equal(load_only_stream(corpus, &stream, &error), 0);
	assert_true(stream.events[LODE_WAIT].count == 5077 ||
		    (WEXITSTATUS(status) && stream.events[LODE_WAIT].count == 5000));
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
	lode_corpus_close(corpus);
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
static int tell_own_map(struct fixture *fixture)
{
	uintptr_t wanted = (uintptr_t)tell_own_map;
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
static int tell_own_waits(struct fixture *fixture)
{
	uint64_t functions[] = { (uintptr_t)tell_map, (uintptr_t)tell_name, (uintptr_t)tell_task };
	int code = tell_name(fixture, PID, PID, "app");

	if (!code)
		code = tell_own_map(fixture);
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
			code = tell_record(fixture, record);
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
	assert_int_equal(tell_own_waits(fixture), 0);
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
		assert_non_null(strstr(one.bytes, "!tell_"));
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
	assert_true(failures > 10);
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
		code = tell_process(fixture);
	if (!code)
		code = tell_task(fixture, LODE_CHANGE_FORK, 50, PID + 1, PID + 1);
	if (!code)
		code = tell_waits(fixture, 30, NULL);
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

		assert_int_equal(tell_stack(&fixture, address, 1, &address, 1), 0);
	}
	/* Some 50 ms; with one chain for all of them it took minutes. */
	assert_true(clock() - began < 5 * CLOCKS_PER_SEC);
	assert_int_equal(fixture.builder.stacks.count, count);
	tear_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_stacks_of_one_frame_are_taken_in_linear_time),
		cmocka_unit_test(a_wait_has_its_stack_and_its_waker),
		cmocka_unit_test(an_interrupt_is_no_threads_doing),
		cmocka_unit_test(the_way_from_a_tracepoint_to_the_program_is_no_part_of_a_stack),
		cmocka_unit_test(kinds_of_records_become_kinds_of_events),
		cmocka_unit_test(a_stack_that_was_lost_is_counted),
		cmocka_unit_test(a_child_has_what_its_parent_mapped_and_both_go_on_alone),
		cmocka_unit_test(files_of_the_same_name_are_distinguished),
		cmocka_unit_test(what_is_remembered_is_what_would_be_found),
		cmocka_unit_test(rules_are_read_or_refused),
		cmocka_unit_test(a_thread_is_slow_for_as_long_as_it_lives),
		cmocka_unit_test(a_run_is_slow_only_beyond_its_limit),
		cmocka_unit_test(a_recording_becomes_a_stream_in_order_of_time),
		cmocka_unit_test(what_was_written_of_a_recording_that_died_is_saved),
		cmocka_unit_test(what_was_recorded_stays_when_writing_fails),
		cmocka_unit_test(names_given_later_are_those_of_a_recording_with_symbols),
		cmocka_unit_test(memory_that_runs_out_while_naming_is_reported),
		cmocka_unit_test(memory_that_runs_out_anywhere_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
