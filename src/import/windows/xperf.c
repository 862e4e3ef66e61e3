/*
 * xperf: the text that `xperf -i X.etl -symbols -a dumper` prints of a trace of Windows.
 *
 *	BeginHeader
 *	   SampledProfile,  TimeStamp,  Process Name ( PID),  ThreadID,  PrgrmCtr, CPU, …, Image!Function, …
 *	   CSwitch,  TimeStamp, New Process Name ( PID), New TID, …, Old Process Name ( PID), Old TID, …, OldState, …, CPU, …
 *	   Stack,  TimeStamp,   ThreadID, No.,  Address,  Image!Function
 *	EndHeader
 *	   SampledProfile,  36765,  svchost.exe (1100),  1668, 0x81c3617b,  0, …
 *	            Stack,  36765,  1668,   1, 0x81c3617b,  halmacpi.dll!0x81c3617b
 *
 * The header says in which column a field is; columns differ from version to version. Times are microseconds. A stack
 * names its event by time and thread, and may come much later: so events are collected, then replayed in order of time.
 */
#include "base/array.h"
#include "base/memory.h"
#include "base/sort_order.h"
#include "import/frame_memo.h"
#include "import/import_common.h"
#include "import/sched.h"
#include "import/text_span.h"

#include <string.h>

enum row { SAMPLE, SWITCH, READY, STACK, INTERVAL, ROWS };

/* What is taken from rows, by the names that columns have. */
enum field { TIME, TID, PROCESS, OTHER_TID, OTHER_PROCESS, PROCESSOR, STATE, FUNCTION, NEW_INTERVAL, FIELDS };

#define NO_COLUMN 255
#define COLUMNS   64
#define TICK_NS   1000u /* times are microseconds */

/* Where the fields of a row are. */
struct layout {
	uint8_t column[FIELDS];
	uint8_t count; /* of columns; 0: the header does not have the row */
};

struct record {
	uint64_t t;
	uint32_t tid; /* sampled, switched in, or woken */
	uint32_t pid;
	uint32_t other; /* the tid that is switched out, or wakes the other */
	uint32_t other_pid;
	uint32_t frame; /* of a sample */
	uint16_t cpu;
	uint8_t row;
	uint8_t state; /* enum lode_switch_state */
};

struct stack {
	uint64_t t;
	uint32_t tid;
	uint32_t node;
};

struct reader {
	struct lode_input *input;
	const struct lode_import_options *options;
	struct lode_error *error;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_sched *sched;
	struct lode_frame_memo memo;
	struct layout layouts[ROWS];
	int in_header;
	int has_header;
	LODE_ARRAY(struct record) records;
	LODE_ARRAY(struct stack) stacks;
	struct lode_index index; /* of stacks */
	/* the stack whose lines are being read, leaf first */
	uint64_t stack_t;
	uint32_t stack_tid;
	LODE_ARRAY(uint32_t) frames;
	uint64_t interval; /* of 100 ns; 0: unknown */
	uint64_t idle;
	uint64_t bare;
	uint64_t cut;
	int switches;
	struct lode_tally odd;
	struct lode_tally cut_lines;
};

/* ---- text ---- */

static struct lode_span trim(struct lode_span text)
{
	while (text.length && (*text.text == ' ' || *text.text == '\t')) {
		text.text++;
		text.length--;
	}
	while (text.length && strchr(" \t\r", text.text[text.length - 1]))
		text.length--;
	return text;
}

/* The fields of a line; the last takes the rest when there are more than `most`. */
static size_t split(const char *line, size_t length, struct lode_span *fields, size_t most)
{
	const char *end = line + length;
	size_t count = 0;

	while (line <= end && count < most) {
		const char *comma = count + 1 < most ? memchr(line, ',', (size_t)(end - line)) : NULL,
			   *stop = comma ? comma : end;

		fields[count++] = trim((struct lode_span){ line, (size_t)(stop - line) });
		line = stop + 1;
	}
	return count;
}

static int find_row(struct lode_span name)
{
	static const char *const names[ROWS] = { "SampledProfile", "CSwitch", "ReadyThread", "Stack", NULL };

	for (int row = 0; row < ROWS; row++)
		if (names[row] && lode_span_is(name, names[row]))
			return row;
	return name.length > 11 && memcmp(name.text, "ProfileFreq", 11) == 0 ? INTERVAL : -1;
}

/* ---- the header ---- */

static int find_field(int row, struct lode_span name)
{
	static const struct {
		const char *name;
		int row; /* -1: any */
		enum field field;
	} names[] = {
		{ "TimeStamp", -1, TIME },
		{ "ThreadID", READY, OTHER_TID },
		{ "Process Name ( PID)", READY, OTHER_PROCESS },
		{ "Rdy TID", READY, TID },
		{ "Rdy Process Name ( PID)", READY, PROCESS },
		{ "ThreadID", -1, TID },
		{ "Process Name ( PID)", -1, PROCESS },
		{ "New TID", -1, TID },
		{ "New Process Name ( PID)", -1, PROCESS },
		{ "Old TID", -1, OTHER_TID },
		{ "Old Process Name ( PID)", -1, OTHER_PROCESS },
		{ "OldState", -1, STATE },
		{ "CPU", -1, PROCESSOR },
		{ "Image!Function", -1, FUNCTION },
		{ "New Interval", -1, NEW_INTERVAL },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if ((names[i].row < 0 || names[i].row == row) && lode_span_is(name, names[i].name))
			return (int)names[i].field;
	return -1;
}

static void handle_header(struct reader *reader, const char *line, size_t length)
{
	struct lode_span fields[COLUMNS];
	size_t count = split(line, length, fields, COLUMNS);
	int row = find_row(fields[0]);
	struct layout *layout;

	if (row < 0)
		return;
	layout = &reader->layouts[row];
	memset(layout->column, NO_COLUMN, sizeof(layout->column));
	layout->count = (uint8_t)count;
	for (size_t i = 1; i < count; i++) {
		int field = find_field(row, fields[i]);

		if (field >= 0)
			layout->column[field] = (uint8_t)i;
	}
}

/* ---- lines ---- */

struct line {
	struct lode_span fields[COLUMNS];
	size_t count;
	const struct layout *layout;
};

static struct lode_span field_of(const struct line *line, enum field field)
{
	unsigned column = line->layout->column[field];

	return column < line->count ? line->fields[column] : (struct lode_span){ "", 0 };
}

/* `name.exe (1234)`: the number, LODE_NO_PID when there is none. */
static uint32_t read_pid(struct lode_span text, struct lode_span *name)
{
	size_t bracket = text.length;
	uint64_t pid;

	while (bracket && text.text[bracket - 1] != '(')
		bracket--;
	*name = trim((struct lode_span){ text.text, bracket ? bracket - 1 : 0 });
	if (!bracket || text.text[text.length - 1] != ')' ||
	    !lode_span_number(trim((struct lode_span){ text.text + bracket, text.length - bracket - 1 }),
			      LODE_NO_PID - 1, &pid))
		return LODE_NO_PID;
	return (uint32_t)pid;
}

static uint32_t frame_of(struct reader *reader, struct lode_span text)
{
	uint64_t hash = lode_hash_bytes(text.text, text.length);
	uint32_t frame = lode_frame_memo_find(&reader->memo, text.text, text.length, hash);
	struct lode_span known = lode_span_is(text, "?!?") || !text.length ? (struct lode_span){ "[unknown]", 9 }
									   : text;

	if (frame != LODE_NONE)
		return frame;
	frame = lode_frames_parse(&reader->dictionary.frames, known.text, known.length);
	if (frame == LODE_NONE || lode_frame_memo_add(&reader->memo, text.text, text.length, hash, frame) < 0)
		return LODE_NONE;
	return frame;
}

/* The stack whose lines were read until now. */
static int finish_stack(struct reader *reader)
{
	struct stack stack = { .t = reader->stack_t, .tid = reader->stack_tid };
	size_t count = reader->frames.count;

	if (!count)
		return 0;
	reader->frames.count = 0;
	if (count > LODE_STACK_DEPTH_LIMIT) {
		reader->cut++;
		count = LODE_STACK_DEPTH_LIMIT;
	}
	while (count-- && stack.node != LODE_NONE)
		stack.node =
			lode_stack_tree_child(&reader->dictionary.tree, stack.node, reader->frames.items[count]);
	if (stack.node == LODE_NONE ||
	    LODE_INDEX_PUSH(&reader->index, lode_hash_u64(stack.t ^ lode_hash_u64(stack.tid)), &reader->stacks,
			    stack) < 0)
		return LODE_SYSTEM;
	return 0;
}

/* The first line of a stack has the number 1; the function is the rest of the line, commas and all. */
static int handle_stack(struct reader *reader, const struct line *line, uint64_t t, uint64_t tid)
{
	uint32_t frame;

	if ((reader->stack_t != t || reader->stack_tid != tid ||
	     (line->count > 3 && lode_span_is(line->fields[3], "1"))) &&
	    finish_stack(reader) < 0)
		return LODE_SYSTEM;
	reader->stack_t = t;
	reader->stack_tid = (uint32_t)tid;
	frame = frame_of(reader, field_of(line, FUNCTION));
	if (frame == LODE_NONE || LODE_PUSH(&reader->frames, frame) < 0)
		return LODE_SYSTEM;
	return 0;
}

static enum lode_switch_state state_of(struct lode_span text)
{
	if (lode_span_is(text, "Waiting"))
		return LODE_SWITCH_BLOCKED;
	return lode_span_is(text, "Terminated") ? LODE_SWITCH_DEAD : LODE_SWITCH_PREEMPTED;
}

static int name_process(struct reader *reader, uint32_t pid, uint32_t tid, struct lode_span name)
{
	uint32_t thread = tid ? lode_stream_thread(&reader->stream, pid, tid) : LODE_NONE;

	lode_import_name_thread(&reader->stream, thread, name.text, name.length);
	return reader->stream.failed ? LODE_SYSTEM : 0;
}

static int handle_event(struct reader *reader, const struct line *line, int row, uint64_t t, uint64_t tid)
{
	struct record record = { .t = t, .tid = (uint32_t)tid, .row = (uint8_t)row, .cpu = LODE_NO_CPU };
	struct lode_span name, other_name;
	uint64_t number;

	record.pid = read_pid(field_of(line, PROCESS), &name);
	record.other_pid = read_pid(field_of(line, OTHER_PROCESS), &other_name);
	if (lode_span_number(field_of(line, OTHER_TID), UINT32_MAX - 1, &number))
		record.other = (uint32_t)number;
	if (lode_span_number(field_of(line, PROCESSOR), LODE_NO_CPU - 1, &number))
		record.cpu = (uint16_t)number;
	record.state = (uint8_t)state_of(field_of(line, STATE));
	record.frame = row == SAMPLE ? frame_of(reader, field_of(line, FUNCTION)) : 0;
	if (record.frame == LODE_NONE || name_process(reader, record.pid, record.tid, name) < 0 ||
	    name_process(reader, record.other_pid, record.other, other_name) < 0 ||
	    LODE_PUSH(&reader->records, record) < 0)
		return LODE_SYSTEM;
	return 0;
}

static int handle_row(struct reader *reader, const char *text, size_t length, int row)
{
	struct line line = { .layout = &reader->layouts[row] };
	uint64_t t, tid = 0, interval;

	line.count = split(text, length, line.fields, line.layout->count);
	if (!lode_span_number(field_of(&line, TIME), UINT64_MAX / TICK_NS, &t) ||
	    (row != INTERVAL && !lode_span_number(field_of(&line, TID), UINT32_MAX - 1, &tid))) {
		lode_tally_add(&reader->odd, reader->input, NULL, 0);
		return 0;
	}
	if (row == STACK)
		return handle_stack(reader, &line, t, tid);
	if (row == INTERVAL) {
		if (lode_span_number(field_of(&line, NEW_INTERVAL), UINT32_MAX - 1, &interval) && interval)
			reader->interval = interval;
		return 0;
	}
	return handle_event(reader, &line, row, t, tid);
}

static int handle_line(void *context, const char *line, size_t length, int is_whole)
{
	struct reader *reader = context;
	struct lode_span text = trim((struct lode_span){ line, length }), name;
	const char *comma;
	int row;

	if (!is_whole) {
		lode_tally_add(&reader->cut_lines, reader->input, line, length);
		return 0;
	}
	if (lode_span_is(text, "BeginHeader") ||
	    lode_span_is(text, "\xef\xbb\xbf"
			       "BeginHeader") ||
	    lode_span_is(text, "EndHeader")) {
		reader->in_header = !lode_span_is(text, "EndHeader");
		reader->has_header = 1;
		return 0;
	}
	comma = memchr(text.text, ',', text.length);
	name = trim((struct lode_span){ text.text, comma ? (size_t)(comma - text.text) : text.length });
	row = find_row(name);
	if (row < 0)
		return 0;
	if (reader->in_header) {
		handle_header(reader, text.text, text.length);
		return 0;
	}
	if (!reader->layouts[row].count)
		return 0;
	if (handle_row(reader, text.text, text.length, row) < 0)
		return lode_fail_memory(reader->error);
	return 0;
}

/* ---- replay, in order of time ---- */

static uint32_t find_stack(const struct reader *reader, uint64_t t, uint32_t tid)
{
	uint64_t hash = lode_hash_u64(t ^ lode_hash_u64(tid));
	uint32_t id = LODE_INDEX_FIND(i, &reader->index, hash,
				      reader->stacks.items[i].t == t && reader->stacks.items[i].tid == tid);

	return id == LODE_NONE ? 0 : reader->stacks.items[id].node;
}

/* A thread of the stream; the idle thread is none. */
static uint32_t find_thread(struct reader *reader, uint32_t pid, uint32_t tid)
{
	return tid ? lode_stream_thread(&reader->stream, pid, tid) : LODE_NONE;
}

static void replay_sample(struct reader *reader, const struct record *record, uint64_t t)
{
	struct lode_event run = { .t = t, .waker = LODE_NONE, .cpu = record->cpu };

	run.cost = (reader->interval ? reader->interval : 10000) * 100;
	if (!record->tid) {
		reader->idle++;
		return;
	}
	run.thread = find_thread(reader, record->pid, record->tid);
	run.stack = find_stack(reader, record->t, record->tid);
	if (!run.stack) {
		reader->bare++;
		run.stack = lode_stack_tree_child(&reader->dictionary.tree, 0, record->frame);
	}
	lode_sched_running(reader->sched, t, run.thread);
	lode_stream_add_event(&reader->stream, LODE_RUN, &run);
}

static void replay_event(struct reader *reader, const struct record *record, uint64_t t)
{
	uint32_t thread = find_thread(reader, record->pid, record->tid);
	uint32_t other = find_thread(reader, record->other_pid, record->other), stack;

	if (record->row == READY) {
		lode_sched_waking(reader->sched, t, other, find_stack(reader, record->t, record->other), thread);
		return;
	}
	reader->switches = 1;
	stack = find_stack(reader, record->t, record->tid);
	if (stack && thread != LODE_NONE)
		lode_sched_set_stack(reader->sched, thread, stack);
	lode_sched_switch(reader->sched, t, record->cpu, other, (enum lode_switch_state)record->state, 0, thread);
}

static int replay_record(struct reader *reader, const struct record *record)
{
	if (record->row == SAMPLE)
		replay_sample(reader, record, record->t * TICK_NS);
	else
		replay_event(reader, record, record->t * TICK_NS);
	return reader->stream.failed ? LODE_SYSTEM : 0;
}

static int replay_records(struct reader *reader)
{
	size_t count = reader->records.count;
	uint64_t *times = lode_calloc(count + 1, sizeof(*times));
	uint32_t *order = lode_calloc(count + 1, sizeof(*order));
	int code = times && order && count < LODE_NONE && finish_stack(reader) == 0 ? 0 : LODE_SYSTEM;

	for (size_t i = 0; i < count && code == 0; i++)
		times[i] = reader->records.items[i].t;
	if (code == 0)
		code = lode_sort_order(times, count, order);
	for (size_t i = 0; i < count && code == 0; i++)
		code = replay_record(reader, &reader->records.items[order[i]]);
	if (code == 0 && reader->switches)
		code = lode_sched_finish(reader->sched, reader->records.items[order[count - 1]].t * TICK_NS);
	lode_free(times);
	lode_free(order);
	return code < 0 ? lode_fail_memory(reader->error) : 0;
}

/* ---- the importer ---- */

static int read_text(struct reader *reader, const struct lode_import_sink *sink)
{
	struct lode_notes *notes = reader->options->notes;
	const char *name = lode_input_name(reader->input);
	int code = lode_import_lines(reader->input, reader->options, handle_line, reader, reader->error);

	if (code == 0 && !reader->has_header)
		code = lode_fail(reader->error, LODE_BAD_INPUT,
				 "%s: has no header (BeginHeader … EndHeader) that says what its columns are; "
				 "print it with `xperf -a dumper`",
				 name);
	if (code == 0)
		code = replay_records(reader);
	if (code < 0)
		return code;
	if (!lode_stream_event_count(&reader->stream))
		return lode_fail(reader->error, LODE_BAD_INPUT, "%s: has no CPU samples or context switches", name);
	lode_tally_report(&reader->odd, reader->options, "lines without a time or a thread, left out");
	lode_tally_report(&reader->cut_lines, reader->options, LODE_LEFT_OUT_LINE);
	lode_notes_add(notes, reader->idle, "samples of idle processors, left out", NULL);
	lode_notes_add(notes, reader->bare, "samples without a stack: only the function that ran is known", NULL);
	lode_notes_add(notes, reader->cut, LODE_CUT_AT_ROOT, NULL);
	lode_notes_add(notes, !reader->interval && reader->stream.events[LODE_RUN].count,
		       "a trace without its sampling interval: 1 ms is assumed", name);
	return lode_import_deliver(reader->input, reader->options, sink, &reader->stream, 0, reader->error);
}

static int read_xperf(struct lode_input *input, const struct lode_import_options *options,
		      const struct lode_import_sink *sink, struct lode_error *error)
{
	struct reader reader = { .input = input, .options = options, .error = error };
	int code;

	if (lode_dictionary_init(&reader.dictionary) < 0)
		return lode_fail_memory(error);
	lode_stream_init(&reader.stream, &reader.dictionary);
	reader.sched = lode_sched_create(&reader.stream, options->notes);
	code = reader.sched ? read_text(&reader, sink) : lode_fail_memory(error);
	lode_sched_destroy(reader.sched);
	lode_frame_memo_release(&reader.memo);
	lode_index_release(&reader.index);
	lode_free(reader.records.items);
	lode_free(reader.stacks.items);
	lode_free(reader.frames.items);
	lode_import_end(&reader.stream);
	return code;
}

static int sniff(const unsigned char *bytes, size_t size, const char *name)
{
	(void)name;
	if (size > 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
		bytes += 3;
		size -= 3;
	}
	return size > 11 && memcmp(bytes, "BeginHeader", 11) == 0 ? 90 : 0;
}

const struct lode_importer lode_importer_xperf = {
	.name = "xperf",
	.description = "text of Windows traces: xperf -a dumper",
	.sniff = sniff,
	.read = read_xperf,
};
