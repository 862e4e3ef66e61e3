/*
 * Go execution traces (runtime/trace, `go test -trace`), of Go 1.11 and later. Goroutines are threads; from blocking to
 * unblocking is a wait, with the goroutine that unblocked as its waker, and the time until it runs again is its delay.
 *
 * Up to Go 1.21 a trace is one row of events. A byte has the type (6 bits) and how many numbers follow (2 bits; 3: a length
 * in bytes is first). A batch says of which processor the events behind it are and when it begins; the
 * first number of an event is the time since the one before. Stacks and strings are events, too, mostly at the end,
 * so the file is read twice.
 *
 * From Go 1.22 on it is a sequence of generations, each of batches: generation, thread, time, size. A batch holds strings,
 * stacks, CPU samples, the frequency of the clock, or events of a thread, each a byte and a number of numbers
 * that its type says. Numbers of strings and stacks hold for their generation.
 *
 * Which goroutine runs is followed for each processor or thread by itself, where the order of events is exact;
 * across them it is the order of time.
 */
#include "base/array.h"
#include "base/memory.h"
#include "import/runtime/go_goroutines.h"
#include "import/runtime/go_trace_events.h"
#include "import/import_common.h"

#include <stdlib.h>
#include <string.h>

/* Without it times mean nothing; old traces have it near their end. */
#define NO_CLOCK "the frequency of its clock is missing; the trace is cut off or damaged"

/* The goroutine that runs on a processor (old traces) or thread. */
struct place {
	uint64_t id;
	uint32_t thread;
};

struct batch {
	uint64_t m;
	uint64_t t;
	uint32_t order;
	struct lode_cursor events;
};

struct reader {
	struct lode_input *input;
	const struct lode_import_options *options;
	struct lode_error *error;
	struct lode_goroutines goroutines;
	const unsigned char *bytes;
	LODE_ARRAY(struct place) places;
	struct lode_index place_index;
	LODE_ARRAY(struct batch) batches; /* of the generation */
	uint64_t damaged;                 /* batches */
};

static int fail(struct reader *reader, const unsigned char *at, const char *what)
{
	return lode_fail(reader->error, LODE_BAD_INPUT, "%s: byte %llu: %s", lode_input_name(reader->input),
			 (unsigned long long)(at - reader->bytes), what);
}

/* Where the goroutine that runs at a place is kept; NULL: memory. */
static uint32_t *running_at(struct reader *reader, uint64_t id)
{
	uint32_t number =
		LODE_INDEX_FIND(i, &reader->place_index, lode_hash_u64(id), reader->places.items[i].id == id);

	if (number != LODE_NONE)
		return &reader->places.items[number].thread;
	if (LODE_INDEX_PUSH(&reader->place_index, lode_hash_u64(id), &reader->places,
			    (struct place){ id, LODE_NONE }) < 0)
		return NULL;
	return &reader->places.items[reader->places.count - 1].thread;
}

/* An event of either form: what it does, and to whom. */
struct action {
	uint64_t t;
	uint64_t goroutine; /* that is started, created, unblocked or sampled */
	uint64_t stack;
	uint64_t new_stack; /* of a created one */
};

static int start(struct reader *reader, uint32_t *running, const struct action *action)
{
	if (lode_go_thread(&reader->goroutines, action->goroutine, running) < 0)
		return LODE_SYSTEM;
	return lode_go_step(&reader->goroutines, LODE_GO_STARTS, action->t, *running, LODE_NONE, 0);
}

/* What runs leaves: it blocks, yields or ends. */
static int leave(struct reader *reader, uint32_t *running, enum lode_go_step_kind kind, const struct action *action)
{
	uint32_t thread = *running;

	*running = LODE_NONE;
	return lode_go_step(&reader->goroutines, kind, action->t, thread, LODE_NONE, action->stack);
}

static int unblock(struct reader *reader, const uint32_t *running, const struct action *action)
{
	uint32_t target;

	if (lode_go_thread(&reader->goroutines, action->goroutine, &target) < 0)
		return LODE_SYSTEM;
	return lode_go_step(&reader->goroutines, LODE_GO_IS_UNBLOCKED, action->t, target, *running, action->stack);
}

static int create(struct reader *reader, const struct action *action)
{
	uint32_t created;

	if (lode_go_thread(&reader->goroutines, action->goroutine, &created) < 0)
		return LODE_SYSTEM;
	return lode_go_name(&reader->goroutines, created, action->new_stack);
}

static int sample(struct reader *reader, const struct action *action)
{
	uint32_t thread;

	if (lode_go_thread(&reader->goroutines, action->goroutine, &thread) < 0)
		return LODE_SYSTEM;
	return lode_go_step(&reader->goroutines, LODE_GO_IS_SAMPLED, action->t, thread, LODE_NONE, action->stack);
}

/* ---- up to Go 1.21 ---- */

/* An event in place. */
struct old_event {
	unsigned type;
	uint64_t count;
	uint64_t numbers[6];
	struct lode_cursor rest; /* all numbers */
};

/* A string: number, length, text. */
static int read_old_string(struct reader *reader, struct lode_cursor *cursor, int keep)
{
	uint64_t id = lode_cursor_varint(cursor), size = lode_cursor_varint(cursor);
	struct lode_cursor at = *cursor;

	if (!lode_cursor_bytes(cursor, size) || !keep)
		return 0;
	return lode_go_table_add(&reader->goroutines.strings, id, at, size);
}

/* The next event. Returns whether it is whole. */
static int next_old(struct lode_cursor *cursor, struct old_event *event)
{
	uint8_t head = lode_cursor_u8(cursor);

	event->type = head & 0x3f;
	event->count = (uint64_t)(head >> 6) + 1;
	event->rest = *cursor;
	memset(event->numbers, 0, sizeof(event->numbers));
	if (event->type == GO_OLD_STRING)
		return !cursor->failed;
	if (event->count == 4) {
		uint64_t size = lode_cursor_varint(cursor);

		event->rest = *cursor;
		if (!lode_cursor_bytes(cursor, size))
			return 0;
		event->rest.end = cursor->next;
	} else {
		for (uint64_t i = 0; i < event->count; i++)
			lode_cursor_varint(cursor);
		event->rest.end = cursor->next;
	}
	head = 0;
	for (struct lode_cursor at = event->rest; head < 6 && lode_cursor_left(&at); head++)
		event->numbers[head] = lode_cursor_varint(&at);
	if (event->type == GO_OLD_USER_LOG)
		lode_cursor_bytes(cursor, lode_cursor_varint(cursor));
	return !cursor->failed && event->type && event->type < GO_OLD_EVENTS;
}

/* The first pass: strings, stacks, frequency. */
static int read_old_tables(struct reader *reader, struct lode_cursor cursor)
{
	struct old_event event;

	while (lode_cursor_left(&cursor)) {
		if (!next_old(&cursor, &event))
			return 0; /* the second pass reports it */
		if (event.type == GO_OLD_STRING) {
			if (read_old_string(reader, &cursor, 1) < 0)
				return LODE_SYSTEM;
		} else if (event.type == GO_OLD_FREQUENCY) {
			reader->goroutines.frequency = event.numbers[0];
		} else if (event.type == GO_OLD_STACK) {
			lode_cursor_varint(&event.rest);
			lode_cursor_varint(&event.rest);
			if (lode_go_table_add(&reader->goroutines.stacks, event.numbers[0], event.rest,
					      event.numbers[1]) < 0)
				return LODE_SYSTEM;
		}
	}
	return 0;
}

static int end_old_syscall(struct reader *reader, const struct old_event *event, uint64_t t, uint64_t real)
{
	uint32_t thread;

	if (lode_go_thread(&reader->goroutines, event->numbers[1], &thread) < 0)
		return LODE_SYSTEM;
	return lode_go_step(&reader->goroutines, LODE_GO_LEAVES_BLOCKED, real ? real : t, thread, LODE_NONE, 0);
}

static int handle_old(struct reader *reader, const struct old_event *event, uint64_t t, uint32_t *running)
{
	const uint64_t *n = event->numbers;
	struct action action = { .t = t, .goroutine = n[1], .stack = n[1] };

	switch (event->type) {
	case GO_OLD_CREATE:
		action.new_stack = n[2];
		return create(reader, &action);
	case GO_OLD_START:
	case GO_OLD_START_LOCAL:
	case GO_OLD_START_LABEL:
		return start(reader, running, &action);
	case GO_OLD_END:
		action.stack = 0;
		return leave(reader, running, LODE_GO_ENDS, &action);
	case GO_OLD_SCHED:
	case GO_OLD_PREEMPT:
		return leave(reader, running, LODE_GO_YIELDS, &action);
	case GO_OLD_UNBLOCK:
	case GO_OLD_UNBLOCK_LOCAL:
		action.stack = event->type == GO_OLD_UNBLOCK ? n[3] : n[2];
		return unblock(reader, running, &action);
	case GO_OLD_SYSCALL:
		return lode_go_step(&reader->goroutines, LODE_GO_ENTERS_SYSCALL, t, *running, LODE_NONE, n[1]);
	case GO_OLD_SYSCALL_BLOCK:
		*running = LODE_NONE;
		return 0;
	case GO_OLD_SYSCALL_EXIT:
		return end_old_syscall(reader, event, t, n[3]);
	case GO_OLD_SYSCALL_EXIT_LOCAL:
		return end_old_syscall(reader, event, t, n[2]);
	case GO_OLD_CPU_SAMPLE:
		action = (struct action){ .t = n[1], .goroutine = n[3], .stack = n[4] };
		return sample(reader, &action);
	default:
		break;
	}
	if ((event->type >= GO_OLD_STOP && event->type <= GO_OLD_BLOCK_NET) || event->type == GO_OLD_BLOCK_GC)
		return leave(reader, running, LODE_GO_BLOCKS, &action);
	return 0;
}

static int read_old(struct reader *reader, struct lode_cursor cursor)
{
	uint64_t t = 0, place = 0;
	struct old_event event;

	if (read_old_tables(reader, cursor) < 0)
		return lode_fail_memory(reader->error);
	if (!reader->goroutines.frequency)
		return fail(reader, cursor.end, NO_CLOCK);
	while (lode_cursor_left(&cursor)) {
		const unsigned char *at = cursor.next;
		uint32_t *running;

		if (!next_old(&cursor, &event))
			return fail(reader, at, "no event, or one that is cut off; the trace is damaged");
		if (event.type == GO_OLD_STRING) {
			read_old_string(reader, &cursor, 0);
			reader->damaged += (uint64_t)cursor.failed;
			continue;
		}
		if (event.type == GO_OLD_BATCH) {
			place = event.numbers[0];
			t = event.numbers[1];
		}
		if (event.type <= GO_OLD_STACK)
			continue;
		t += event.numbers[0];
		running = running_at(reader, place);
		if (!running || handle_old(reader, &event, t, running) < 0)
			return lode_fail_memory(reader->error);
	}
	return 0;
}

/* ---- from Go 1.22 on ---- */

static int read_strings(struct reader *reader, struct lode_cursor *batch)
{
	while (lode_cursor_u8(batch) == GO_STRING) {
		if (read_old_string(reader, batch, 1) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

static int read_stacks(struct reader *reader, struct lode_cursor *batch)
{
	while (lode_cursor_u8(batch) == GO_STACK) {
		uint64_t id = lode_cursor_varint(batch), count = lode_cursor_varint(batch);
		struct lode_cursor at = *batch;

		if (count > lode_cursor_left(batch)) {
			batch->failed = 1;
			return 0;
		}
		for (uint64_t i = 0; i < 4 * count; i++)
			lode_cursor_varint(batch);
		if (lode_go_table_add(&reader->goroutines.stacks, id, at, count) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

static int read_samples(struct reader *reader, struct lode_cursor *batch)
{
	while (lode_cursor_u8(batch) == GO_CPU_SAMPLE) {
		struct action action = { .t = lode_cursor_varint(batch) };

		lode_cursor_varint(batch);
		lode_cursor_varint(batch);
		action.goroutine = lode_cursor_varint(batch);
		action.stack = lode_cursor_varint(batch);
		if (!batch->failed && sample(reader, &action) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

static void read_sync(struct reader *reader, struct lode_cursor *batch, uint8_t first)
{
	if (first == GO_SYNC)
		first = lode_cursor_u8(batch);
	if (first == GO_FREQUENCY)
		reader->goroutines.frequency = lode_cursor_varint(batch);
}

/* What a thread does. `n` are the numbers of the event, `t` its time. */
static int handle_event(struct reader *reader, uint8_t type, const uint64_t *n, uint64_t t, uint32_t *running)
{
	struct action action = { .t = t, .goroutine = n[1], .stack = n[2] };
	uint32_t thread = *running;

	switch (type) {
	case GO_CREATE:
	case GO_CREATE_BLOCKED:
		action.new_stack = n[2];
		return create(reader, &action);
	case GO_START:
		return start(reader, running, &action);
	case GO_STATUS:
	case GO_STATUS_STACK:
		/* Running or in a system call, on this thread. */
		return n[3] == 2 || n[3] == 3 ? lode_go_thread(&reader->goroutines, n[1], running) : 0;
	case GO_CREATE_SYSCALL:
		return lode_go_thread(&reader->goroutines, n[1], running);
	case GO_DESTROY:
	case GO_DESTROY_SYSCALL:
		action.stack = 0;
		return leave(reader, running, LODE_GO_ENDS, &action);
	case GO_STOP:
		return leave(reader, running, LODE_GO_YIELDS, &action);
	case GO_BLOCK:
		return leave(reader, running, LODE_GO_BLOCKS, &action);
	case GO_UNBLOCK:
		action.stack = n[3];
		return unblock(reader, running, &action);
	case GO_SYSCALL_BEGIN:
		return lode_go_step(&reader->goroutines, LODE_GO_ENTERS_SYSCALL, t, *running, LODE_NONE, n[2]);
	case GO_SYSCALL_END:
		return lode_go_step(&reader->goroutines, LODE_GO_LEAVES_SYSCALL, t, *running, LODE_NONE, 0);
	case GO_SYSCALL_END_BLOCKED:
		*running = LODE_NONE;
		return lode_go_step(&reader->goroutines, LODE_GO_LEAVES_BLOCKED, t, thread, LODE_NONE, 0);
	case GO_SWITCH:
	case GO_SWITCH_DESTROY:
		action.stack = 0;
		if (unblock(reader, running, &action) < 0 ||
		    leave(reader, running, type == GO_SWITCH ? LODE_GO_BLOCKS : LODE_GO_ENDS, &action) < 0)
			return LODE_SYSTEM;
		return start(reader, running, &action);
	default:
		return 0;
	}
}

static int read_events(struct reader *reader, const struct batch *batch)
{
	struct lode_cursor cursor = batch->events;
	uint32_t *running = running_at(reader, batch->m);
	uint64_t t = batch->t;

	if (!running)
		return LODE_SYSTEM;
	while (lode_cursor_left(&cursor)) {
		uint8_t type = lode_cursor_u8(&cursor);
		unsigned count = lode_go_arguments[type];
		uint64_t numbers[LODE_GO_ARGUMENTS] = { 0 };

		for (unsigned i = 0; i < count; i++)
			numbers[i] = lode_cursor_varint(&cursor);
		if (!count || cursor.failed) {
			reader->damaged++;
			return 0;
		}
		t += numbers[0];
		if (handle_event(reader, type, numbers, t, running) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

static int compare_batches(const void *left, const void *right)
{
	const struct batch *a = left, *b = right;

	if (a->t != b->t)
		return a->t < b->t ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/* Tables first, then what refers to them. */
static int read_tables(struct reader *reader)
{
	static const uint8_t order[] = { GO_SYNC, GO_FREQUENCY, GO_STRINGS, GO_STACKS, GO_CPU_SAMPLES };

	for (size_t i = 0; i < sizeof(order); i++) {
		for (size_t j = 0; j < reader->batches.count; j++) {
			struct lode_cursor batch = reader->batches.items[j].events;
			uint8_t type = lode_cursor_u8(&batch);
			int code = 0;

			if (type != order[i])
				continue;
			if (type == GO_STRINGS)
				code = read_strings(reader, &batch);
			else if (type == GO_STACKS)
				code = read_stacks(reader, &batch);
			else if (type == GO_CPU_SAMPLES)
				code = read_samples(reader, &batch);
			else
				read_sync(reader, &batch, type);
			if (code < 0)
				return code;
		}
	}
	return 0;
}

/* Whether the batch is of a thread's events. */
static int is_timed(const struct batch *batch)
{
	struct lode_cursor cursor = batch->events;

	return lode_go_arguments[lode_cursor_u8(&cursor)] != 0;
}

static int end_generation(struct reader *reader)
{
	int code;

	lode_go_table_clear(&reader->goroutines.strings);
	lode_go_table_clear(&reader->goroutines.stacks);
	code = read_tables(reader);
	if (code == 0 && reader->batches.count && !reader->goroutines.frequency)
		return fail(reader, reader->batches.items[0].events.next, NO_CLOCK);
	if (code == 0 && reader->batches.count)
		qsort(reader->batches.items, reader->batches.count, sizeof(*reader->batches.items),
		      compare_batches);
	for (size_t i = 0; i < reader->batches.count && code == 0; i++)
		if (is_timed(&reader->batches.items[i]))
			code = read_events(reader, &reader->batches.items[i]);
	reader->batches.count = 0;
	return code < 0 ? lode_fail_memory(reader->error) : 0;
}

/* Reads the head of a batch. Returns whether it is whole. */
static int next_batch(struct lode_cursor *cursor, struct batch *batch, uint64_t *generation, int *experimental)
{
	uint8_t type = lode_cursor_u8(cursor);
	uint64_t size;

	*experimental = type == GO_EXPERIMENTAL_BATCH;
	if (*experimental)
		lode_cursor_varint(cursor);
	*generation = lode_cursor_varint(cursor);
	batch->m = lode_cursor_varint(cursor);
	batch->t = lode_cursor_varint(cursor);
	size = lode_cursor_varint(cursor);
	batch->events = *cursor;
	lode_cursor_bytes(cursor, size);
	batch->events.end = cursor->next;
	return !cursor->failed && (type == GO_BATCH || *experimental);
}

static int read_new(struct reader *reader, struct lode_cursor cursor)
{
	uint64_t generation, current = 0;
	int code = 0;

	while (code == 0 && lode_cursor_left(&cursor)) {
		struct batch batch = { .order = (uint32_t)reader->batches.count };
		const unsigned char *at = cursor.next;
		int experimental;

		/* Since Go 1.26 a generation has its own end. */
		if (*at == GO_CLOCK_SNAPSHOT + 1) {
			lode_cursor_u8(&cursor);
			continue;
		}
		if (!next_batch(&cursor, &batch, &generation, &experimental)) {
			if (!reader->goroutines.steps.count && !reader->batches.count)
				return fail(reader, at, "no batch of events; the trace is damaged");
			reader->damaged++;
			break;
		}
		if (experimental)
			continue;
		if (generation != current)
			code = end_generation(reader);
		current = generation;
		if (code == 0 && LODE_PUSH(&reader->batches, batch) < 0)
			code = lode_fail_memory(reader->error);
	}
	return code < 0 ? code : end_generation(reader);
}

/* ---- the importer ---- */

/* The minor version of `go 1.N trace`; -1 for what is no such header. */
static int read_version(const unsigned char *bytes, size_t size)
{
	int minor = 0;
	size_t at = 5;

	if (size < 16 || memcmp(bytes, "go 1.", 5) != 0)
		return -1;
	for (; at < 8 && bytes[at] >= '0' && bytes[at] <= '9'; at++)
		minor = minor * 10 + (bytes[at] - '0');
	return at > 5 && memcmp(bytes + at, " trace", 6) == 0 ? minor : -1;
}

static int read_trace(struct reader *reader, size_t size, const struct lode_import_sink *sink)
{
	int version = read_version(reader->bytes, size), code;
	struct lode_goroutines *goroutines = &reader->goroutines;
	struct lode_notes *notes = reader->options->notes;

	if (version < 0)
		return fail(reader, reader->bytes, "no header of a Go execution trace (`go 1.N trace`)");
	if (version < 11)
		return fail(reader, reader->bytes,
			    "traces of Go before 1.11 are not read; trace it with a newer Go");
	code = version < 22 ? read_old(reader, lode_cursor(reader->bytes + 16, size - 16))
			    : read_new(reader, lode_cursor(reader->bytes + 16, size - 16));
	if (code == 0 && lode_goroutines_finish(goroutines) < 0)
		code = lode_fail_memory(reader->error);
	if (code < 0)
		return code;
	if (!lode_stream_event_count(&goroutines->stream))
		return lode_fail(reader->error, LODE_BAD_INPUT, "%s: has no events of goroutines",
				 lode_input_name(reader->input));
	lode_notes_add(notes, goroutines->samples, "CPU samples, taken as 10 ms each", NULL);
	lode_notes_add(notes, reader->damaged, "batches that are damaged or cut off",
		       lode_input_name(reader->input));
	lode_notes_add(notes, goroutines->cut, "stacks deeper than 1000 frames, cut at the root", NULL);
	return lode_import_deliver(reader->input, reader->options, sink, &goroutines->stream, 0, reader->error);
}

static int read_go_trace(struct lode_input *input, const struct lode_import_options *options,
			 const struct lode_import_sink *sink, struct lode_error *error)
{
	struct reader reader = { .input = input, .options = options, .error = error };
	size_t size;
	int code = lode_input_whole(input, &reader.bytes, &size, error);

	if (code < 0)
		return code;
	if (lode_goroutines_init(&reader.goroutines, options) < 0)
		code = lode_fail_memory(error);
	else
		code = read_trace(&reader, size, sink);
	lode_goroutines_release(&reader.goroutines);
	lode_free(reader.places.items);
	lode_index_release(&reader.place_index);
	lode_free(reader.batches.items);
	return code;
}

static int sniff(const unsigned char *bytes, size_t size, const char *name)
{
	(void)name;
	return read_version(bytes, size) >= 0 ? 100 : 0;
}

const struct lode_importer lode_importer_go_trace = {
	.name = "go-trace",
	.description = "Go execution traces (runtime/trace)",
	.sniff = sniff,
	.read = read_go_trace,
};
