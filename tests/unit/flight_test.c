/*
 * Flight memory against a plain oracle that keeps everything: what is kept is the
 * newest that fits, as it was handed over, with its stacks, and with processes as
 * they were at the time.
 */
#include "cmocka_all.h"

#include "base/random.h"
#include "watch/flight.h"
#include "watch/packed_records.h"
#include "watch/memory_pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers that no process of this machine has. */
#define PID(i) (5000000u + (i))

#define LAST    10000000000u
#define GAP     2000000u /* at most, between two deeds */
#define THREADS 12
#define STACKS  400

/* ---- packing ---- */

static uint64_t some_number(uint64_t *random)
{
	return lode_splitmix64(random) >> lode_splitmix64(random) % 64;
}

/* What a wait was for; words of the peer that mean nothing are zero. */
static struct lode_record_object some_object(uint64_t *random)
{
	struct lode_record_object object = { .kind = (uint8_t)(lode_splitmix64(random) % (LODE_WAITED_POLL + 1)) };
	int words = object.kind == LODE_WAITED_SOCKET ? 4 : object.kind == LODE_WAITED_FILE ? 2 : 1;

	object.argument = some_number(random);
	if (!object.kind && !object.argument)
		return object;
	object.detail = (uint32_t)some_number(random);
	object.port = (uint16_t)some_number(random);
	object.family = (uint8_t)some_number(random);
	if (object.kind == LODE_WAITED_NONE || object.kind >= LODE_WAITED_LISTENER)
		return object;
	for (int i = 0; i < words; i++)
		object.peer[i] = (uint32_t)some_number(random);
	return object;
}

static void what_is_packed_is_unpacked(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		unsigned char bytes[LODE_PACKED_RECORD];
		struct lode_record record = { .t = some_number(&random),
					      .cost = some_number(&random),
					      .delay = some_number(&random),
					      .value = (uint32_t)some_number(&random),
					      .cpu = (uint16_t)some_number(&random),
					      .type = (uint8_t)(1 + i % 5),
					      .flags = i & 3,
					      .context = i % 3 ? 0 : (uint32_t)some_number(&random),
					      .object = some_object(&random) },
				   back;
		struct lode_pack_references references = {
			(uint32_t)some_number(&random), (uint32_t)some_number(&random),
			(uint32_t)some_number(&random), (uint32_t)some_number(&random),
			(uint32_t)some_number(&random), (uint32_t)some_number(&random)
		};
		struct lode_pack_references references_back;
		uint64_t previous = some_number(&random);
		size_t size = lode_pack_record(bytes, &record, &references, previous);
		struct lode_cursor cursor = lode_cursor(bytes, size);

		assert_true(size <= LODE_PACKED_RECORD);
		lode_unpack_record(&cursor, &back, &references_back, previous);
		assert_int_equal(lode_cursor_left(&cursor), 0);
		assert_false(cursor.failed);
		assert_memory_equal(&record, &back, sizeof(record));
		assert_memory_equal(&references, &references_back, sizeof(references));
	}
}

static void stacks_and_changes_are_unpacked(void **state)
{
	unsigned char bytes[LODE_PACKED_CHANGE], stack_bytes[LODE_PACKED_STACK];
	char text[LODE_PACKED_TEXT + 1], long_text[LODE_PACKED_TEXT + 100];
	struct lode_record_stack stack = { .id = UINT64_MAX,
					   .count = LODE_RECORD_FRAMES,
					   .user = 1,
					   .end = LODE_STACK_DEEP,
					   .guessed = 1 };
	struct lode_record_stack stack_back;
	struct lode_change change = { .type = LODE_CHANGE_MAP,
				      .t = UINT64_MAX,
				      .pid = 1,
				      .tid = UINT32_MAX,
				      .start = UINT64_MAX - 9,
				      .end = UINT64_MAX,
				      .offset = 7,
				      .build_id_size = 20,
				      .build_id = "01234567890123456789",
				      .text = long_text };
	struct lode_change back;
	struct lode_cursor cursor;
	uint64_t position, random = 3;

	(void)state;
	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	cursor = lode_cursor(bytes, lode_pack_change(bytes, &change, UINT64_MAX - 1));
	assert_true(lode_cursor_left(&cursor) <= sizeof(bytes));
	lode_unpack_change(&cursor, &back, text, &position);
	assert_int_equal(lode_cursor_left(&cursor), 0);
	assert_int_equal(position, UINT64_MAX - 1);
	assert_int_equal(strlen(back.text), LODE_PACKED_TEXT);
	back.text = change.text;
	assert_memory_equal(&back, &change, sizeof(change));
	for (uint32_t i = 0; i < stack.count; i++)
		stack.addresses[i] = some_number(&random);
	cursor = lode_cursor(stack_bytes, lode_pack_stack(stack_bytes, &stack));
	assert_true(lode_cursor_left(&cursor) <= sizeof(stack_bytes));
	memset(&stack_back, 0xff, sizeof(stack_back));
	lode_unpack_stack(&cursor, &stack_back);
	assert_int_equal(lode_cursor_left(&cursor), 0);
	assert_memory_equal(&stack, &stack_back, offsetof(struct lode_record_stack, addresses));
	assert_memory_equal(stack.addresses, stack_back.addresses, stack.count * sizeof(uint64_t));
}

static void hostile_bytes_do_no_harm(void **state)
{
	uint64_t random = 5;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		unsigned char bytes[200];
		char text[LODE_PACKED_TEXT + 1];
		struct lode_pack_references references;
		struct lode_record_stack stack;
		struct lode_record record;
		struct lode_change change;
		struct lode_cursor cursor;
		uint64_t position;

		for (size_t j = 0; j < sizeof(bytes); j++)
			bytes[j] = (unsigned char)lode_splitmix64(&random);
		cursor = lode_cursor(bytes, i % sizeof(bytes));
		lode_unpack_record(&cursor, &record, &references, 0);
		cursor = lode_cursor(bytes, i % sizeof(bytes));
		lode_unpack_stack(&cursor, &stack);
		assert_true(stack.count <= LODE_RECORD_FRAMES + 1);
		cursor = lode_cursor(bytes, i % sizeof(bytes));
		lode_unpack_change(&cursor, &change, text, &position);
		assert_true(strlen(text) <= LODE_PACKED_TEXT);
	}
}

/* ---- a recorder that is not there ---- */

struct reported {
	struct lode_record record;
	char name[16];   /* of its thread when it was reported */
	uint32_t mapped; /* number of the file that its process had mapped then */
};

struct blocked {
	int is;
	uint64_t t;
	uint64_t ids[4];
};

struct world {
	uint64_t random;
	uint64_t now;
	uint64_t hold;
	struct lode_flight *flight;
	struct lode_recorder_sink sink;
	unsigned char sent[STACKS + 1]; /* in this epoch */
	struct blocked blocked[THREADS];
	char names[THREADS][16];
	uint32_t mapped[THREADS];
	struct reported *reported;
	size_t count;
	size_t capacity;
	size_t dropped; /* of those, from the start */
	uint64_t early;
	uint32_t contexts; /* that were sent, and the number of the last one; 0: none ever is */
	int failed;        /* memory ran out */
};

static uint64_t chance(struct world *world, uint64_t of)
{
	return lode_splitmix64(&world->random) % of;
}

/* The content of a stack follows from its id. */
static void fill_stack(uint64_t id, struct lode_record_stack *stack)
{
	memset(stack, 0, sizeof(*stack));
	stack->id = id;
	stack->user = id & 1;
	stack->count = (uint32_t)(id * 7 % 30 + 1);
	for (uint32_t i = 0; i < stack->count; i++)
		stack->addresses[i] = id * 0x9e3779b97f4a7c15u * (i + 1) >> 16;
}

static uint64_t id_of(uint64_t number)
{
	return number * 0x9e3779b97f4a7c15u;
}

/* A stack as the recorder names one: it is sent first, if it was not in this epoch. */
static uint64_t some_stack(struct world *world)
{
	uint64_t number = chance(world, 4) ? chance(world, 40) : chance(world, STACKS + 1);
	struct lode_record_stack stack;

	if (number && !world->sent[number]) {
		fill_stack(id_of(number), &stack);
		if (world->sink.stack(world->sink.context, &stack) < 0)
			world->failed = 1;
		world->sent[number] = 1;
	}
	return id_of(number);
}

static void report_record(struct world *world, const struct lode_record *record, size_t thread)
{
	struct reported reported = { .record = *record, .mapped = world->mapped[thread] };

	memcpy(reported.name, world->names[thread], sizeof(reported.name));
	if (world->failed)
		return;
	if (world->sink.record(world->sink.context, record) < 0) {
		world->failed = 1;
		return;
	}
	if (world->count == world->capacity) {
		world->capacity = world->capacity * 2 + 64;
		world->reported = realloc(world->reported, world->capacity * sizeof(reported));
		assert_non_null(world->reported);
	}
	world->reported[world->count++] = reported;
}

/* The text of a context follows from its number: every fifth is the same. Many are sent and never used. */
static void fill_context(uint32_t number, struct lode_record_context *context)
{
	*context = (struct lode_record_context){ .number = number, .mark = LODE_RECORD_CONTEXT_MARK };
	context->kind = LODE_CONTEXT_TEXT;
	context->size = (uint32_t)snprintf((char *)context->bytes, sizeof(context->bytes), "select %u from t",
					   number % 5 ? number : 0);
}

/* A context as the recorder names one: a new one, which is sent first, or an old one; or none. */
static uint32_t some_context(struct world *world)
{
	struct lode_record_context context;

	if (!chance(world, 3) || !world->contexts)
		return 0;
	if (chance(world, 2))
		return world->contexts - (uint32_t)chance(world, world->contexts < 100 ? world->contexts : 100);
	fill_context(++world->contexts, &context);
	if (world->sink.named_context(world->sink.context, &context) < 0)
		world->failed = 1;
	return context.number;
}

static void report_event(struct world *world)
{
	size_t thread = chance(world, THREADS);
	struct lode_record record = { .t = world->now,
				      .type = LODE_RECORD_RUN,
				      .cpu = (uint16_t)chance(world, 4),
				      .pid = PID(thread),
				      .tid = PID(thread) };

	if (world->blocked[thread].is)
		return;
	record.user = some_stack(world);
	record.kernel = some_stack(world);
	record.context = some_context(world);
	report_record(world, &record, thread);
}

static void block(struct world *world)
{
	struct blocked *blocked = &world->blocked[chance(world, THREADS)];

	if (blocked->is)
		return;
	*blocked = (struct blocked){ .is = 1, .t = world->now };
	for (int i = 0; i < 4; i++)
		blocked->ids[i] = some_stack(world);
}

static void wake(struct world *world)
{
	size_t thread = chance(world, THREADS);
	struct blocked *blocked = &world->blocked[thread];
	struct lode_record record = { .t = blocked->t,
				      .cost = world->now - blocked->t,
				      .user = blocked->ids[0],
				      .kernel = blocked->ids[1],
				      .waker_user = blocked->ids[2],
				      .waker_kernel = blocked->ids[3],
				      .pid = PID(thread),
				      .tid = PID(thread),
				      .waker_pid = PID(1),
				      .waker_tid = PID(1),
				      .type = LODE_RECORD_WAIT,
				      .flags = LODE_RECORD_WOKEN };

	if (!blocked->is)
		return;
	blocked->is = 0;
	report_record(world, &record, thread);
}

static void report_change(struct world *world)
{
	size_t thread = chance(world, THREADS);
	uint32_t file = (uint32_t)chance(world, 1000) + 1;
	char text[32];
	struct lode_change change = { .type = chance(world, 2) ? LODE_CHANGE_NAME : LODE_CHANGE_MAP,
				      .t = world->now,
				      .pid = PID(thread),
				      .tid = PID(thread),
				      .start = 0x1000,
				      .end = 0x2000,
				      .text = text };

	if (change.type == LODE_CHANGE_NAME)
		snprintf(text, sizeof(text), "name%u", file);
	else
		snprintf(text, sizeof(text), "/no/such/%u", file);
	if (world->sink.change(world->sink.context, &change) < 0)
		world->failed = 1;
	else if (change.type == LODE_CHANGE_NAME)
		memcpy(world->names[thread], text, 16);
	else
		world->mapped[thread] = file;
}

/* Processes that come and go, without any event. */
static void report_short_life(struct world *world)
{
	uint32_t pid = PID(100 + (uint32_t)chance(world, 50000)), parent = PID(chance(world, THREADS));
	struct lode_change change = { .type = LODE_CHANGE_FORK,
				      .t = world->now,
				      .pid = pid,
				      .tid = pid,
				      .parent_pid = parent,
				      .parent_tid = parent };

	if (world->sink.change(world->sink.context, &change) < 0)
		world->failed = 1;
	change.type = LODE_CHANGE_EXIT;
	if (world->sink.change(world->sink.context, &change) < 0)
		world->failed = 1;
}

/* ---- what is kept ---- */

struct check {
	struct world *world;
	size_t at; /* the next that is expected */
	unsigned char known[STACKS + 1];
	struct lode_processes *processes; /* to look at, too; NULL: not */
	uint32_t *contexts;               /* numbers that were handed over */
	size_t context_count;
};

static size_t number_of(uint64_t id)
{
	for (size_t i = 0; i <= STACKS; i++)
		if (id_of(i) == id)
			return i;
	fail_msg("no such stack");
	return 0;
}

static int check_stack(void *context, const struct lode_record_stack *stack)
{
	struct lode_record_stack expected;
	struct check *check = context;

	check->known[number_of(stack->id)] = 1;
	fill_stack(stack->id, &expected);
	assert_int_equal(stack->count, expected.count);
	assert_memory_equal(stack->addresses, expected.addresses, stack->count * sizeof(uint64_t));
	return 0;
}

static int check_context(void *context, const struct lode_record_context *named)
{
	struct lode_record_context expected;
	struct check *check = context;

	fill_context(named->number, &expected);
	assert_memory_equal(named, &expected, sizeof(expected));
	for (size_t i = 0; i < check->context_count; i++)
		assert_int_not_equal(check->contexts[i], named->number);
	check->contexts = realloc(check->contexts, (check->context_count + 1) * sizeof(*check->contexts));
	assert_non_null(check->contexts);
	check->contexts[check->context_count++] = named->number;
	return 0;
}

static int knows_context(const struct check *check, uint32_t number)
{
	for (size_t i = check->context_count; i > 0; i--)
		if (check->contexts[i - 1] == number)
			return 1;
	return 0;
}

static int check_change(void *context, const struct lode_change *change)
{
	struct check *check = context;

	return check->processes ? lode_processes_apply(check->processes, change) : 0;
}

static void check_process(struct lode_processes *processes, const struct reported *reported)
{
	struct lode_thread_lifetime *life =
		lode_processes_life(processes, reported->record.pid, reported->record.tid);
	struct lode_process *process = lode_processes_get(processes, reported->record.pid);
	const struct lode_mapping *mapping;
	char path[32];

	assert_non_null(life);
	assert_string_equal(life->name, reported->name);
	mapping = lode_space_find(&processes->spaces, &process->space, 0x1800);
	if (!reported->mapped) {
		assert_null(mapping);
		return;
	}
	snprintf(path, sizeof(path), "/no/such/%u", reported->mapped);
	assert_non_null(mapping);
	assert_string_equal(processes->images->items[mapping->image].path, path);
}

static int check_record(void *context, const struct lode_record *record)
{
	struct check *check = context;
	const struct reported *reported = &check->world->reported[check->at++];

	assert_true(check->at <= check->world->count);
	assert_memory_equal(record, &reported->record, sizeof(*record));
	assert_true(!record->context || knows_context(check, record->context));
	assert_true(!record->user || check->known[number_of(record->user)]);
	assert_true(!record->kernel || check->known[number_of(record->kernel)]);
	assert_true(!record->waker_user || check->known[number_of(record->waker_user)]);
	assert_true(!record->waker_kernel || check->known[number_of(record->waker_kernel)]);
	if (check->processes)
		check_process(check->processes, reported);
	return 0;
}

/* All that is kept is the newest, as it was reported. */
static void check_all(struct world *world, int with_processes)
{
	struct check check = { .world = world, .at = world->dropped };
	struct lode_recorder_sink sink = { &check, check_stack, check_change, check_record, check_context };

	check.processes = with_processes ? lode_flight_processes(world->flight) : NULL;
	assert_int_equal(lode_flight_replay(world->flight, 0, UINT64_MAX, &sink), 0);
	assert_int_equal(check.at, world->count);
	free(check.contexts);
}

static void add_held(struct world *world, struct lode_recorder_held *held)
{
	for (size_t i = 0; i < THREADS; i++)
		for (size_t j = 0; world->blocked[i].is && j < 4; j++)
			if (world->blocked[i].ids[j])
				held->ids[held->count++] = world->blocked[i].ids[j];
}

/* Between `held` being reported and the trimming things happen, as they do between two reads. */
static void read_once(struct world *world, int events, size_t memory)
{
	uint64_t ids[THREADS * 4];
	struct lode_recorder_held held = { .ids = ids };
	struct lode_flight_counts before, counts;
	int wants = lode_flight_wants_held(world->flight, world->now), renew;
	uint64_t early = 0;

	if (wants)
		add_held(world, &held);
	for (int i = 0; i < events && !world->failed; i++) {
		static void (*const deeds[])(struct world *) = {
			report_event, report_event, report_event, block, wake, report_change, report_short_life
		};

		world->now += chance(world, GAP);
		deeds[chance(world, sizeof(deeds) / sizeof(*deeds))](world);
	}
	if (world->failed)
		return;
	lode_flight_counts(world->flight, &before);
	renew = lode_flight_trim(world->flight, world->now, wants ? &held : NULL);
	if (renew < 0) {
		world->failed = 1;
		return;
	}
	if (renew)
		memset(world->sent, 0, sizeof(world->sent));
	lode_flight_counts(world->flight, &counts);
	assert_int_equal(counts.records, world->count);
	assert_int_equal(counts.missing, 0);
	for (; world->dropped < world->count - counts.kept; world->dropped++)
		early += lode_record_end(&world->reported[world->dropped].record) + LAST >= world->now ||
			 lode_record_end(&world->reported[world->dropped].record) >= world->hold;
	world->early += early;
	assert_int_equal(counts.early, world->early);
	if (wants) {
		/* What a read brought is trimmed with the next one. */
		assert_true(counts.bytes <= memory || events);
		/* Nothing stays that is older than a generation more than was requested. */
		if (counts.kept && world->hold == UINT64_MAX)
			assert_true(counts.oldest + LAST + LAST / 8 + 800ull * GAP > world->now);
	}
	/* No more is dropped before its time than must be: the last one was needed for room. */
	if (early)
		assert_true(counts.bytes > memory / 2);
}

static void begin(struct world *world, uint64_t seed, size_t memory)
{
	struct lode_flight_options options = { .last = LAST, .memory = memory };

	memset(world, 0, sizeof(*world));
	world->random = seed * 77 + 1;
	world->now = 1000000000;
	world->hold = UINT64_MAX;
	if (lode_flight_create(&world->flight, &options) < 0)
		world->failed = 1;
	else
		world->sink = lode_flight_sink(world->flight);
}

static void end(struct world *world)
{
	lode_flight_destroy(world->flight);
	free(world->reported);
}

static void what_is_kept_is_the_newest_that_fits(void **state)
{
	static const size_t memories[] = { 1 << 20, 2 << 20, 4 << 20 };
	uint64_t early = 0, rolled = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 12; seed++) {
		size_t memory = memories[seed % 3];
		struct world world;

		begin(&world, seed, memory);
		assert_false(world.failed);
		if (seed == 3) {
			struct lode_record_context first;

			fill_context(++world.contexts, &first);
			assert_int_equal(world.sink.named_context(world.sink.context, &first), 0);
		}
		for (int i = 0; i < 300; i++) {
			read_once(&world, (int)chance(&world, 400) + 1, memory);
			read_once(&world, 0, memory);
			assert_false(world.failed);
			if (i % 10 == 0)
				check_all(&world, 0);
		}
		check_all(&world, 1);
		early += world.early;
		rolled += world.dropped;
		end(&world);
	}
	assert_true(early > 0);
	assert_true(rolled > early);
}

static void read_much(struct world *world, uint64_t time, size_t memory)
{
	for (uint64_t end = world->now + time; world->now < end;) {
		read_once(world, 50, memory);
		read_once(world, 0, memory);
		assert_false(world->failed);
	}
}

static void what_is_held_gets_old_and_stays(void **state)
{
	struct lode_flight_counts counts;
	struct world world;
	uint64_t from;

	(void)state;
	begin(&world, 7, 64 << 20);
	read_much(&world, 2ull * LAST, 64 << 20);
	lode_flight_counts(world.flight, &counts);
	from = counts.oldest;
	world.hold = from;
	lode_flight_hold(world.flight, from);
	read_much(&world, 2ull * LAST, 64 << 20);
	lode_flight_counts(world.flight, &counts);
	assert_int_equal(counts.oldest, from);
	assert_int_equal(counts.early, 0);
	check_all(&world, 1);
	world.hold = UINT64_MAX;
	lode_flight_hold(world.flight, UINT64_MAX);
	read_much(&world, LAST / 2, 64 << 20);
	lode_flight_counts(world.flight, &counts);
	assert_true(counts.oldest > from + LAST);
	end(&world);
}

static void only_what_was_written_between_two_times_is_replayed(void **state)
{
	struct world world;
	struct check check = { .world = &world };
	struct lode_recorder_sink sink = { &check, check_stack, check_change, check_record, NULL };

	(void)state;
	begin(&world, 5, 1 << 20);
	for (uint64_t i = 0; i < 100; i++) {
		world.now = 1000 + i;
		report_record(&world,
			      &(struct lode_record){ .t = 1000, .cost = i, .type = LODE_RECORD_WAIT, .pid = PID(0) },
			      0);
	}
	check.at = 20;
	assert_int_equal(lode_flight_replay(world.flight, 1020, 1059, &sink), 0);
	assert_int_equal(check.at, 60);
	end(&world);
}

static void a_stack_that_nobody_sent_is_counted(void **state)
{
	struct lode_record record = { .type = LODE_RECORD_RUN, .t = 5, .user = 77, .pid = PID(0), .tid = PID(0) };
	struct lode_flight_counts counts;
	struct world world;

	(void)state;
	begin(&world, 0, 1 << 20);
	report_record(&world, &record, 0);
	report_record(&world, &record, 0);
	lode_flight_counts(world.flight, &counts);
	assert_int_equal(counts.missing, 1);
	assert_int_equal(counts.kept, 2);
	end(&world);
}

static void memory_that_runs_out_is_reported(void **state)
{
	uint64_t asked;
	struct world world;

	(void)state;
	lode_memory_fail_at(0, 0);
	begin(&world, 9, 300 << 10);
	for (int i = 0; i < 12; i++)
		read_once(&world, 300, 300 << 10);
	asked = lode_memory_asked();
	end(&world);
	assert_true(asked > 20);
	for (uint64_t nth = 1; nth <= asked; nth += nth < 60 ? 1 : 7) {
		lode_memory_fail_at(nth, nth % 2 != 0);
		begin(&world, 9, 300 << 10);
		for (int i = 0; i < 12 && !world.failed; i++)
			read_once(&world, 300, 300 << 10);
		lode_memory_fail_at(0, 0);
		end(&world);
	}
}

static void pages_are_used_again(void **state)
{
	struct lode_pages pages = { 0 };
	struct lode_chain chain = { 0 };

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 100; i++) {
			assert_non_null(lode_chain_room(&pages, &chain, 1000));
			lode_chain_fill(&chain, 1000);
		}
		assert_int_equal(pages.used_count, 13);
		lode_chain_release(&pages, &chain);
		assert_int_equal(pages.used_count, 0);
		assert_int_equal(pages.spare_count, 13);
	}
	lode_pages_spare(&pages, 3);
	assert_int_equal(pages.spare_count, 3);
	assert_null(lode_chain_room(&pages, &chain, LODE_PAGE));
	lode_pages_release(&pages);
}

/* ---- processes ---- */

#define LONG_LIVES    400
#define LIBRARIES     50
#define SHORT_LIVES   30000
#define BETWEEN_LIVES 10000000u

static void apply(const struct lode_recorder_sink *sink, struct lode_change change)
{
	assert_int_equal(sink->change(sink->context, &change), 0);
}

/* A process begins, with some libraries that others have, too. */
static void begin_process(const struct lode_recorder_sink *sink, uint64_t t, uint32_t pid, unsigned libraries)
{
	char text[32] = "short";

	apply(sink, (struct lode_change){ .type = LODE_CHANGE_FORK,
					  .t = t,
					  .pid = pid,
					  .tid = pid,
					  .parent_pid = PID(0),
					  .parent_tid = PID(0) });
	apply(sink, (struct lode_change){ .type = LODE_CHANGE_NAME,
					  .t = t,
					  .pid = pid,
					  .tid = pid,
					  .executed = 1,
					  .text = text });
	for (unsigned i = 0; i < libraries; i++) {
		snprintf(text, sizeof(text), "/no/such/%u", i);
		apply(sink, (struct lode_change){ .type = LODE_CHANGE_MAP,
						  .t = t,
						  .pid = pid,
						  .tid = pid,
						  .start = 0x10000 * (i + 1),
						  .end = 0x10000 * (i + 1) + 0x8000,
						  .text = text });
	}
}

/* Many at a time are allowed, but not more and more. */
static void processes_that_ended_do_not_add_up(void **state)
{
	struct lode_flight_options options = { .last = 1000000000u, .memory = 64u << 20 };
	const struct lode_processes *processes;
	struct lode_recorder_held held = { 0 };
	struct lode_recorder_sink sink;
	struct lode_flight *flight;
	size_t warm = 0, most = 0;
	uint64_t now = 1000000000u;

	(void)state;
	assert_int_equal(lode_flight_create(&flight, &options), 0);
	sink = lode_flight_sink(flight);
	processes = lode_flight_processes(flight);
	for (uint32_t i = 0; i < LONG_LIVES; i++)
		begin_process(&sink, now, PID(i), LIBRARIES);
	for (uint32_t i = 0; i < SHORT_LIVES; i++) {
		uint32_t pid = PID(LONG_LIVES + i);

		now += BETWEEN_LIVES;
		begin_process(&sink, now, pid, 3);
		apply(&sink,
		      (struct lode_change){ .type = LODE_CHANGE_EXIT, .t = now + 1, .pid = pid, .tid = pid });
		if (i % 20)
			continue;
		assert_true(lode_flight_trim(flight, now, &held) >= 0);
		/* Of those that ended 700 are remembered, for 5 seconds more than what is kept. */
		assert_true(processes->life_count < 2 * (LONG_LIVES + 700) + 1024 + 200);
		assert_true(processes->count < 2 * (LONG_LIVES + 700) + 1024 + 200);
		if (i < SHORT_LIVES / 3)
			warm = lode_flight_bytes(flight) > warm ? lode_flight_bytes(flight) : warm;
		else
			most = lode_flight_bytes(flight) > most ? lode_flight_bytes(flight) : most;
	}
	assert_true(most <= warm);
	lode_flight_destroy(flight);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_packed_is_unpacked),
		cmocka_unit_test(stacks_and_changes_are_unpacked),
		cmocka_unit_test(hostile_bytes_do_no_harm),
		cmocka_unit_test(pages_are_used_again),
		cmocka_unit_test(what_is_kept_is_the_newest_that_fits),
		cmocka_unit_test(what_is_held_gets_old_and_stays),
		cmocka_unit_test(only_what_was_written_between_two_times_is_replayed),
		cmocka_unit_test(a_stack_that_nobody_sent_is_counted),
		cmocka_unit_test(processes_that_ended_do_not_add_up),
		cmocka_unit_test(memory_that_runs_out_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
