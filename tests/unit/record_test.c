/* From records to a stream: the builder, and rules. */
#include "record_fixture.h"

/* ---- what the kernel would send ---- */

/* Of a stack that is reported later than a record that names it, and of one that never comes. */
enum { LATE = 201, NEVER };

/* ---- looking ---- */

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
	assert_int_equal(send_process(&fixture), 0);
	assert_int_equal(send_record(&fixture, (struct lode_record){ .type = LODE_RECORD_WAIT,
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
	assert_int_equal(lode_builder_refresh(&fixture.builder, 0), 0);
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
	assert_int_equal(send_process(&fixture), 0);
	assert_int_equal(send_record(&fixture, (struct lode_record){ .type = LODE_RECORD_WAIT,
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

/* The wait of a thread that is woken by thread `waker_tid`, 0: by an interrupt, with this kernel stack. */
static struct lode_event woken_by(struct fixture *fixture, uint32_t waker_tid, const uint64_t *kernel,
				  uint32_t count)
{
	assert_int_equal(send_process(fixture), 0);
	assert_int_equal(send_stack(fixture, LATE, 0, kernel, count), 0);
	assert_int_equal(send_record(fixture, (struct lode_record){ .type = LODE_RECORD_WAIT,
								    .flags = LODE_RECORD_WOKEN,
								    .pid = PID,
								    .tid = PID,
								    .user = USER,
								    .kernel = BLOCKED,
								    .waker_pid = waker_tid ? PID : 0,
								    .waker_tid = waker_tid,
								    .waker_user = waker_tid ? USER_DEEP : 0,
								    .waker_kernel = count ? LATE : 0 }),
			 0);
	return the_event(&fixture->builder.stream, LODE_WAIT);
}

static void a_softirq_delivers_what_its_thread_sends(void **state)
{
	static const uint64_t loopback[] = { KERNEL(WAKE), KERNEL(BACKLOG), KERNEL(SOFTIRQS), KERNEL(SOFTIRQ),
					     KERNEL(SYNC) };
	struct fixture fixture;
	struct lode_event event;

	(void)state;
	set_up(&fixture);
	event = woken_by(&fixture, PID + 7, loopback, 5);
	assert_int_equal(fixture.builder.stream.threads[event.waker].tid, PID + 7);
	assert_stack(
		&fixture.builder.stream, event.waker_stack,
		"app!0x1010 app!0x1020 app!0x1030 kernel!el0t_64_sync kernel!do_softirq kernel!handle_softirqs "
		"kernel!process_backlog kernel!try_to_wake_up");
	tear_down(&fixture);
}

static void a_softirq_for_others_is_an_interrupt(void **state)
{
	static const struct {
		uint64_t kernel[6];
		const char *stack;
	} cases[] = {
		{ { KERNEL(WAKE), KERNEL(DEVICE), KERNEL(SOFTIRQS), KERNEL(SOFTIRQ), KERNEL(READ), KERNEL(SYNC) },
		  "kernel!handle_softirqs kernel!virtnet_poll kernel!try_to_wake_up" },
		{ { KERNEL(WAKE), KERNEL(BACKLOG), KERNEL(SOFTIRQS), KERNEL(IRQ), KERNEL(READ), KERNEL(SYNC) },
		  "kernel!el1h_64_irq kernel!handle_softirqs kernel!process_backlog kernel!try_to_wake_up" },
		{ { KERNEL(WAKE), KERNEL(BACKLOG), KERNEL(SOFTIRQS), KERNEL(KSOFTIRQD), KERNEL(SYNC), KERNEL(SYNC) },
		  "kernel!run_ksoftirqd kernel!handle_softirqs kernel!process_backlog kernel!try_to_wake_up" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fixture fixture;
		struct lode_event event;

		set_up(&fixture);
		event = woken_by(&fixture, PID + 7, cases[i].kernel, 6);
		assert_int_equal(event.waker, LODE_NONE);
		assert_stack(&fixture.builder.stream, event.waker_stack, cases[i].stack);
		assert_int_equal(fixture.builder.stream.thread_count, 1);
		tear_down(&fixture);
	}
}

/* What the kernel recognized, without names, or without a stack. */
static void an_interrupt_without_names_has_one_frame(void **state)
{
	static const uint64_t nameless[] = { 0xffff900000000010, 0xffff900000000020, 0xffff900000000030 };

	(void)state;
	for (uint32_t count = 0; count <= 3; count += 3) {
		struct fixture fixture;
		struct lode_event event;

		set_up(&fixture);
		event = woken_by(&fixture, 0, nameless, count);
		assert_int_equal(event.waker, LODE_NONE);
		assert_stack(&fixture.builder.stream, event.waker_stack, "kernel!(interrupt)");
		tear_down(&fixture);
	}
}

static void the_way_from_a_tracepoint_to_the_program_is_no_part_of_a_stack(void **state)
{
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	assert_int_equal(send_process(&fixture), 0);
	assert_int_equal(send_record(&fixture, (struct lode_record){ .type = LODE_RECORD_PREEMPT,
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
	assert_int_equal(send_process(&fixture), 0);
	record.type = LODE_RECORD_PREEMPT;
	assert_int_equal(send_record(&fixture, record), 0);
	record.type = LODE_RECORD_RUN;
	record.delay = 0;
	assert_int_equal(send_record(&fixture, record), 0);
	record.type = LODE_RECORD_CALL;
	record.value = 123456;
	assert_int_equal(send_record(&fixture, record), 0);
	record.value = 435;
	assert_int_equal(send_record(&fixture, record), 0);
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
	assert_int_equal(send_process(&fixture), 0);
	assert_int_equal(send_record(&fixture, (struct lode_record){ .type = LODE_RECORD_RUN,
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
	assert_int_equal(send_process(&fixture), 0);
	assert_int_equal(send_task(&fixture, LODE_CHANGE_FORK, 50, PID + 1, PID + 1), 0);
	record.pid = record.tid = PID + 1;
	assert_int_equal(send_record(&fixture, record), 0);
	assert_int_equal(send_map(&fixture, PID + 1, "/no/such/other"), 0);
	assert_int_equal(send_record(&fixture, record), 0);
	record.pid = record.tid = PID;
	assert_int_equal(send_record(&fixture, record), 0);
	assert_stack(stream, stream->events[LODE_RUN].stack[0], "app!0x1020 app!0x1010");
	assert_stack(stream, stream->events[LODE_RUN].stack[1], "other!0x1020 other!0x1010");
	assert_stack(stream, stream->events[LODE_RUN].stack[2], "app!0x1020 app!0x1010");
	assert_int_equal(lode_builder_refresh(&fixture.builder, 0), 0);
	assert_string_equal(lode_strings_get(&stream->dictionary->frames.strings, stream->threads[0].name), "app");
	tear_down(&fixture);
}

static void a_thread_keeps_its_name_when_its_number_comes_again(void **state)
{
	struct fixture fixture;
	struct lode_stream *stream = &fixture.builder.stream;
	struct lode_record record = { .type = LODE_RECORD_RUN, .pid = PID + 1, .tid = PID + 1, .user = USER };

	(void)state;
	set_up(&fixture);
	assert_int_equal(send_process(&fixture), 0);
	assert_int_equal(send_task(&fixture, LODE_CHANGE_FORK, 50, PID + 1, PID + 1), 0);
	assert_int_equal(send_name(&fixture, PID + 1, PID + 1, "sleep"), 0);
	assert_int_equal(send_record(&fixture, record), 0);
	assert_int_equal(send_task(&fixture, LODE_CHANGE_EXIT, 60, PID + 1, PID + 1), 0);
	assert_int_equal(send_task(&fixture, LODE_CHANGE_FORK, 70, PID + 1, PID + 1), 0);
	assert_int_equal(send_name(&fixture, PID + 1, PID + 1, "stranger"), 0);
	assert_int_equal(lode_builder_refresh(&fixture.builder, 0), 0);
	assert_string_equal(lode_strings_get(&stream->dictionary->frames.strings, stream->threads[0].name),
			    "sleep");
	tear_down(&fixture);
}

static void files_of_the_same_name_are_distinguished(void **state)
{
	struct fixture fixture;
	struct lode_stream *stream = &fixture.builder.stream;
	struct lode_record record = { .type = LODE_RECORD_RUN, .user = USER };

	(void)state;
	set_up(&fixture);
	assert_int_equal(send_process(&fixture), 0);
	assert_int_equal(send_name(&fixture, PID + 1, PID + 1, "app"), 0);
	assert_int_equal(send_map(&fixture, PID + 1, "/no/such/container/app"), 0);
	record.pid = record.tid = PID;
	assert_int_equal(send_record(&fixture, record), 0);
	record.pid = record.tid = PID + 1;
	assert_int_equal(send_record(&fixture, record), 0);
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
static void send_any_news(struct fixture *fixture, uint64_t which)
{
	const uint64_t late[] = { KERNEL(WAKE), KERNEL(IRQ), KERNEL(SYNC) };

	if (which == 0)
		assert_int_equal(send_map(fixture, PID, "/no/such/other"), 0);
	if (which == 1)
		assert_int_equal(send_map(fixture, PID, "/no/such/app"), 0);
	if (which == 2)
		assert_int_equal(send_task(fixture, LODE_CHANGE_FORK, 5, PID + 1, PID + 1), 0);
	if (which == 3)
		assert_int_equal(send_stack(fixture, LATE, 0, late, 3), 0);
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
		assert_int_equal(send_process(&fixture), 0);
		assert_int_equal(send_process(&forgetful), 0);
		for (int i = 0; i < 500; i++) {
			struct lode_record record = any_record(&numbers);
			uint64_t news = random_below(&numbers, 100);

			send_any_news(&fixture, news);
			send_any_news(&forgetful, news);
			memset(forgetful.builder.known, 0, LODE_BUILDER_KNOWN * sizeof(*forgetful.builder.known));
			assert_int_equal(send_record(&fixture, record), 0);
			assert_int_equal(send_record(&forgetful, record), 0);
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
	assert_int_equal(lode_record_rule_parse(&rule, "request of redis-server > 10ms", &error), 0);
	assert_int_equal(rule.type, LODE_RULE_REQUEST);
	assert_int_equal(rule.length, strlen("redis-server"));
	assert_memory_equal(rule.name, "redis-server", rule.length);
	assert_int_equal(lode_record_rule_limit(&rule).type, LODE_LIMIT_REQUEST);
	assert_int_equal(lode_record_rule_parse(&rule, "request > 10ms", &error), 0);
	assert_true(rule.type == LODE_RULE_REQUEST && !rule.name && lode_record_rule_limit(&rule).any);
	assert_int_equal(lode_record_rule_parse(&rule, "request of > 10ms", &error), LODE_USAGE);
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
	assert_int_equal(send_process(&fixture), 0);
	for (uint32_t i = 1; i <= 3; i++)
		assert_int_equal(send_task(&fixture, LODE_CHANGE_FORK, 50 + 100 * i, PID, PID + i), 0);
	assert_int_equal(send_name(&fixture, PID, PID + 1, "worker"), 0);
	assert_int_equal(send_name(&fixture, PID, PID + 2, "worker"), 0);
	assert_int_equal(send_task(&fixture, LODE_CHANGE_EXIT, 700, PID, PID + 1), 0);
	for (uint32_t i = 0; i <= 3; i++) {
		record.tid = PID + i;
		assert_int_equal(send_record(&fixture, record), 0);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_has_its_stack_and_its_waker),
		cmocka_unit_test(an_interrupt_is_no_threads_doing),
		cmocka_unit_test(a_softirq_delivers_what_its_thread_sends),
		cmocka_unit_test(a_softirq_for_others_is_an_interrupt),
		cmocka_unit_test(an_interrupt_without_names_has_one_frame),
		cmocka_unit_test(the_way_from_a_tracepoint_to_the_program_is_no_part_of_a_stack),
		cmocka_unit_test(kinds_of_records_become_kinds_of_events),
		cmocka_unit_test(a_stack_that_was_lost_is_counted),
		cmocka_unit_test(a_child_has_what_its_parent_mapped_and_both_go_on_alone),
		cmocka_unit_test(a_thread_keeps_its_name_when_its_number_comes_again),
		cmocka_unit_test(files_of_the_same_name_are_distinguished),
		cmocka_unit_test(what_is_remembered_is_what_would_be_found),
		cmocka_unit_test(rules_are_read_or_refused),
		cmocka_unit_test(a_thread_is_slow_for_as_long_as_it_lives),
		cmocka_unit_test(a_run_is_slow_only_beyond_its_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
