/* Scheduler events of Perfetto's traces: see perfetto_sched.h. */
#include "import/protobuf/perfetto_sched.h"

#include "base/memory.h"
#include "import/sched.h"

#include <stdlib.h>

/* Numbers of fields. */
enum {
	BUNDLE_CPU = 1,
	BUNDLE_EVENT = 2,
	BUNDLE_LOST = 3,
	BUNDLE_COMPACT = 4,
	EVENT_TIME = 1,
	EVENT_PID = 2,
	EVENT_SWITCH = 4,
	EVENT_WAKEUP = 17,
	EVENT_WAKING = 20,
	EVENT_WAKEUP_NEW = 21,
	SWITCH_PREV_COMM = 1,
	SWITCH_PREV_PID = 2,
	SWITCH_PREV_STATE = 4,
	SWITCH_NEXT_COMM = 5,
	SWITCH_NEXT_PID = 6,
	SWITCH_FIELDS = 8,
	WAKING_COMM = 1,
	WAKING_PID = 2,
	COMPACT_SWITCH_TIME = 1,
	COMPACT_SWITCH_STATE = 2,
	COMPACT_SWITCH_NEXT = 3,
	COMPACT_COMMS = 5,
	COMPACT_SWITCH_COMM = 6,
	COMPACT_WAKING_TIME = 7,
	COMPACT_WAKING_PID = 8,
	COMPACT_WAKING_COMM = 11,
	COMPACT_FIELDS = 13,
};

/* Events that are not known to be of a thread are of the one that runs on their CPU. */
#define WHO_RUNS (LODE_NONE - 1)

struct lode_perfetto_switch {
	uint64_t t;
	uint32_t order;
	uint32_t from; /* who is switched out, or wakes; WHO_RUNS */
	uint32_t to;   /* who is switched in, or woken */
	uint16_t cpu;
	uint8_t state; /* enum lode_switch_state */
	uint8_t is_waking;
};

void lode_perfetto_sched_release(struct lode_perfetto_sched *sched)
{
	lode_free(sched->items);
	for (int i = 0; i < COMPACT_FIELDS; i++)
		lode_free(sched->columns[i]);
	lode_free(sched->comms.items);
}

static int add_record(struct lode_perfetto_sched *sched, struct lode_perfetto_switch record)
{
	if (record.from == LODE_NONE || record.to == LODE_NONE || sched->count >= LODE_NONE - 1)
		return LODE_SYSTEM;
	record.order = (uint32_t)sched->count;
	return LODE_PUSH(sched, record);
}

static uint32_t thread_of(struct lode_perfetto_sched *sched, uint64_t tid, struct lode_cursor comm)
{
	/* Idle threads share tid 0 and are called `swapper`: their name is not taken from a CPU's. */
	if (!(uint32_t)tid)
		comm = lode_cursor("swapper", 7);
	return lode_perfetto_thread_named(sched->threads, LODE_NO_PID, (uint32_t)tid, (const char *)comm.next,
					  lode_cursor_left(&comm));
}

/* ---- plain events ---- */

static int read_switch(struct lode_perfetto_sched *sched, struct lode_cursor message,
		       struct lode_perfetto_switch record)
{
	struct lode_cursor texts[SWITCH_FIELDS] = { { 0 } };
	uint64_t numbers[SWITCH_FIELDS] = { 0 };
	struct lode_protobuf_field field;

	texts[SWITCH_PREV_COMM] = texts[SWITCH_NEXT_COMM] = lode_cursor("", 0);
	while (lode_protobuf_next(&message, &field)) {
		if (field.number >= SWITCH_FIELDS)
			continue;
		if (field.wire == LODE_WIRE_BYTES)
			texts[field.number] = field.bytes;
		else
			numbers[field.number] = field.value;
	}
	record.from = thread_of(sched, numbers[SWITCH_PREV_PID], texts[SWITCH_PREV_COMM]);
	record.to = thread_of(sched, numbers[SWITCH_NEXT_PID], texts[SWITCH_NEXT_COMM]);
	record.state = (uint8_t)lode_switch_state(numbers[SWITCH_PREV_STATE], LODE_SWITCH_DEAD_BITS);
	return add_record(sched, record);
}

static int read_waking(struct lode_perfetto_sched *sched, struct lode_cursor message,
		       struct lode_perfetto_switch record, uint64_t waker)
{
	struct lode_cursor comm = lode_cursor("", 0);
	struct lode_protobuf_field field;
	uint64_t tid = 0;

	while (lode_protobuf_next(&message, &field)) {
		if (field.number == WAKING_COMM && field.wire == LODE_WIRE_BYTES)
			comm = field.bytes;
		else if (field.number == WAKING_PID && field.wire == LODE_WIRE_VARINT)
			tid = field.value;
	}
	record.is_waking = 1;
	record.from = thread_of(sched, waker, lode_cursor("", 0));
	record.to = thread_of(sched, tid, comm);
	return add_record(sched, record);
}

static int read_event(struct lode_perfetto_sched *sched, struct lode_cursor message, uint16_t cpu)
{
	struct lode_perfetto_switch record = { .cpu = cpu };
	struct lode_cursor rest = message;
	struct lode_protobuf_field field;
	uint64_t pid = 0;
	int known = 0;

	while (lode_protobuf_next(&message, &field)) {
		if (field.number == EVENT_TIME)
			record.t = field.value;
		else if (field.number == EVENT_PID)
			pid = field.value;
	}
	while (lode_protobuf_next(&rest, &field)) {
		if (field.wire != LODE_WIRE_BYTES)
			continue;
		if (field.number == EVENT_SWITCH && read_switch(sched, field.bytes, record) < 0)
			return LODE_SYSTEM;
		if ((field.number == EVENT_WAKING || field.number == EVENT_WAKEUP ||
		     field.number == EVENT_WAKEUP_NEW) &&
		    read_waking(sched, field.bytes, record, pid) < 0)
			return LODE_SYSTEM;
		known |= field.number == EVENT_SWITCH || field.number == EVENT_WAKING ||
			 field.number == EVENT_WAKEUP || field.number == EVENT_WAKEUP_NEW;
	}
	sched->others += !known;
	return 0;
}

/* ---- compact events ---- */

static int read_column(struct lode_perfetto_sched *sched, struct lode_protobuf_field *field)
{
	uint32_t n = field->number;
	uint64_t number;
	int more = 1;

	while (lode_protobuf_number(field, &more, &number))
		if (LODE_APPEND(sched->columns[n], sched->column_counts[n], sched->column_capacities[n], number) < 0)
			return LODE_SYSTEM;
	return 0;
}

static int read_columns(struct lode_perfetto_sched *sched, struct lode_cursor message)
{
	struct lode_protobuf_field field;

	memset(sched->column_counts, 0, sizeof(sched->column_counts));
	sched->comms.count = 0;
	while (lode_protobuf_next(&message, &field)) {
		if (field.number == COMPACT_COMMS && field.wire == LODE_WIRE_BYTES) {
			if (LODE_PUSH(&sched->comms, field.bytes) < 0)
				return LODE_SYSTEM;
		} else if (field.number < COMPACT_FIELDS && read_column(sched, &field) < 0) {
			return LODE_SYSTEM;
		}
	}
	return 0;
}

static uint64_t cell(const struct lode_perfetto_sched *sched, int column, size_t row)
{
	return row < sched->column_counts[column] ? sched->columns[column][row] : 0;
}

static struct lode_cursor comm_of(const struct lode_perfetto_sched *sched, int column, size_t row)
{
	uint64_t comm = cell(sched, column, row);

	return row < sched->column_counts[column] && comm < sched->comms.count ? sched->comms.items[comm]
									       : lode_cursor("", 0);
}

/* How many rows two columns have, or three; what only the first has is left out. */
static size_t whole_rows(struct lode_perfetto_sched *sched, int first, int second, int third)
{
	size_t all = sched->column_counts[first], whole = all;

	whole = sched->column_counts[second] < whole ? sched->column_counts[second] : whole;
	whole = sched->column_counts[third] < whole ? sched->column_counts[third] : whole;
	sched->uneven += all - whole;
	return whole;
}

/* Times are differences to the one before, of switches and of wakings. */
static int read_compact(struct lode_perfetto_sched *sched, struct lode_cursor message, uint16_t cpu)
{
	struct lode_perfetto_switch record = { .cpu = cpu, .from = WHO_RUNS };
	size_t rows;

	if (read_columns(sched, message) < 0)
		return LODE_SYSTEM;
	rows = whole_rows(sched, COMPACT_SWITCH_TIME, COMPACT_SWITCH_STATE, COMPACT_SWITCH_NEXT);
	for (size_t i = 0; i < rows; i++) {
		record.t += cell(sched, COMPACT_SWITCH_TIME, i);
		record.state =
			(uint8_t)lode_switch_state(cell(sched, COMPACT_SWITCH_STATE, i), LODE_SWITCH_DEAD_BITS);
		record.to = thread_of(sched, cell(sched, COMPACT_SWITCH_NEXT, i),
				      comm_of(sched, COMPACT_SWITCH_COMM, i));
		if (add_record(sched, record) < 0)
			return LODE_SYSTEM;
	}
	record.t = 0;
	record.is_waking = 1;
	rows = whole_rows(sched, COMPACT_WAKING_TIME, COMPACT_WAKING_PID, COMPACT_WAKING_PID);
	for (size_t i = 0; i < rows; i++) {
		record.t += cell(sched, COMPACT_WAKING_TIME, i);
		record.to = thread_of(sched, cell(sched, COMPACT_WAKING_PID, i),
				      comm_of(sched, COMPACT_WAKING_COMM, i));
		if (add_record(sched, record) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

int lode_perfetto_sched_bundle(struct lode_perfetto_sched *sched, struct lode_cursor bundle)
{
	struct lode_cursor rest = bundle;
	struct lode_protobuf_field field;
	uint64_t cpu = 0;
	int code = 0;

	while (lode_protobuf_next(&bundle, &field)) {
		if (field.number == BUNDLE_CPU)
			cpu = field.value;
		sched->lost += field.number == BUNDLE_LOST && field.value;
	}
	cpu = cpu < LODE_NO_CPU ? cpu : LODE_NO_CPU;
	while (code == 0 && lode_protobuf_next(&rest, &field)) {
		if (field.wire != LODE_WIRE_BYTES)
			continue;
		if (field.number == BUNDLE_EVENT)
			code = read_event(sched, field.bytes, (uint16_t)cpu);
		else if (field.number == BUNDLE_COMPACT)
			code = read_compact(sched, field.bytes, (uint16_t)cpu);
	}
	return code;
}

/* ---- in order of time ---- */

static int compare(const void *a, const void *b)
{
	const struct lode_perfetto_switch *x = a, *y = b;

	if (x->t != y->t)
		return x->t < y->t ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* The stream's thread, or LODE_NONE for an idle one and if there is none. */
static uint32_t find(struct lode_perfetto_sched *sched, struct lode_stream *stream, uint32_t thread)
{
	if (thread == LODE_NONE || !sched->threads->items[thread].tid)
		return LODE_NONE;
	sched->threads->items[thread].measured = 1;
	return lode_perfetto_stream_thread(sched->threads, stream, thread);
}

static int join_all(struct lode_perfetto_sched *sched, struct lode_stream *stream, struct lode_sched *joined,
		    uint32_t *running)
{
	for (size_t i = 0; !stream->failed && i < sched->count; i++) {
		const struct lode_perfetto_switch *record = &sched->items[i];
		uint32_t from = find(sched, stream, record->from == WHO_RUNS ? running[record->cpu] : record->from);
		uint32_t to = find(sched, stream, record->to);

		if (record->is_waking) {
			lode_sched_waking(joined, record->t, from, 0, to);
			continue;
		}
		lode_sched_switch(joined, record->t, record->cpu, from, (enum lode_switch_state)record->state, 0,
				  to);
		running[record->cpu] = record->to;
	}
	return lode_sched_finish(joined, sched->count ? sched->items[sched->count - 1].t : 0);
}

int lode_perfetto_sched_finish(struct lode_perfetto_sched *sched, struct lode_stream *stream,
			       const struct lode_import_options *options)
{
	struct lode_sched *joined = lode_sched_create(stream, options->notes);
	uint32_t *running = lode_calloc((size_t)LODE_NO_CPU + 1, sizeof(*running));
	int code = LODE_SYSTEM;

	if (joined && running) {
		memset(running, 0xff, ((size_t)LODE_NO_CPU + 1) * sizeof(*running));
		if (sched->count)
			qsort(sched->items, sched->count, sizeof(*sched->items), compare);
		code = join_all(sched, stream, joined, running);
	}
	lode_sched_destroy(joined);
	lode_free(running);
	lode_notes_add(options->notes, sched->lost, "ftrace buffers that overran: events are missing", NULL);
	lode_notes_add(options->notes, sched->uneven,
		       "scheduler events that only some columns of their bundle have, left out", NULL);
	lode_notes_add(options->notes, sched->others, "ftrace events other than switches and wakings, left out",
		       NULL);
	return code;
}
