/*
 * ETW, the tracing of Windows (.etl): events of the kernel's providers.
 *
 *	SampledProfile		a run of the sampling interval
 *	CSwitch, ReadyThread	joined into waits by import/sched.h
 *	StackWalk		the stack of one of these (etl_stacks.h)
 *	Process, Thread, Image	whose a thread is, and which code is where (etl_threads.h, etl_code.h)
 *	.NET: MethodLoad, -DCEnd	names of compiled methods
 *
 * Buffers of several processors are not in order of time, stacks come behind their events, images and methods at the
 * very end: so one pass collects events, which are then sorted and replayed. The stack of a switch is that of the
 * thread that comes in: where it waited. Who runs on a processor when it makes another thread ready is known from
 * the switch before.
 */
#include "base/array.h"
#include "base/memory.h"
#include "base/sort_order.h"
#include "import/windows/etl_file.h"
#include "import/windows/etl_stacks.h"
#include "import/windows/etl_threads.h"
#include "import/import_common.h"
#include "import/sched.h"

#include <string.h>

/* Events of the kernel: group << 8 | type. */
enum {
	PROCESS_START = 0x301,
	PROCESS_END = 0x302,
	PROCESS_AT_START = 0x303,
	PROCESS_AT_END = 0x304,
	IMAGE_LOAD = 0x30a,
	PROCESS_DEFUNCT = 0x327,
	THREAD_START = 0x501,
	THREAD_AT_END = 0x504,
	SWITCH = 0x524,
	READY = 0x532,
	THREAD_NAME = 0x548,
	SAMPLE = 0xf2e,
	COUNTER_SAMPLE = 0xf2f,
	INTERVAL = 0xf48, /* changed; the two behind it: at the beginning and at the end */
	IMAGE_UNLOAD = 0x1402,
	IMAGE_AT_END = 0x1404,
	STACK_GROUP = 0x18,
};

/* Events of .NET, the same for its rundown. */
enum { METHOD_LOAD = 143, METHOD_END = 144 };

static const unsigned char runtime[16] = { 0x23, 0x0d, 0x3c, 0xe1, 0xbc, 0xcc, 0x12, 0x4e,
					   0x93, 0x1b, 0xd9, 0xcc, 0x2e, 0xee, 0x27, 0xe4 };
static const unsigned char rundown[16] = { 0x1c, 0x02, 0x69, 0xa6, 0x50, 0xc4, 0x09, 0x46,
					   0xa0, 0x35, 0x5a, 0xf5, 0x9a, 0xf4, 0xdf, 0x18 };

/* The default interval of Windows, for traces that have none, and its unit. */
#define DEFAULT_INTERVAL 10000
#define INTERVAL_NS      100

/* A thread that was made ready by an interrupt. */
#define READY_IN_DPC 1

/* A sample, a switch or a wakeup, until all of them can be replayed in order. */
struct record {
	uint64_t t;
	uint64_t value; /* of a sample its address, of a switch the thread that goes */
	uint32_t tid;   /* that runs, comes, or is made ready */
	uint16_t cpu;
	uint16_t hook;
	uint8_t state; /* of a thread that goes; of a waking its flags */
};

struct reader {
	struct lode_input *input;
	const struct lode_import_options *options;
	struct lode_error *error;
	struct lode_etl_file file;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_etl_code code;
	struct lode_etl_threads threads;
	struct lode_etl_stacks *stacks;
	struct lode_sched *sched;
	LODE_ARRAY(struct record) records;
	LODE_ARRAY(uint32_t) running; /* tids by processor, LODE_NONE: unknown */
	uint64_t interval;            /* of 100 ns; 0: unknown */
	uint64_t events;
	uint64_t idle;     /* samples of the idle thread */
	uint64_t bare;     /* samples without a stack */
	uint64_t counters; /* samples of counters */
	uint64_t others;   /* events that are of no use here */
	int switches;
	uint64_t last;
};

/* ---- collecting ---- */

static uint64_t read_pointer(const struct reader *reader, struct lode_cursor *data)
{
	return reader->file.pointer_size == 8 ? lode_cursor_u64(data) : lode_cursor_u32(data);
}

static int add_record(struct reader *reader, const struct lode_etl_event *event, struct record record)
{
	record.t = event->t;
	record.cpu = event->cpu;
	record.hook = event->hook;
	return LODE_PUSH(&reader->records, record);
}

static int handle_sample(struct reader *reader, const struct lode_etl_event *event)
{
	struct lode_cursor data = event->data;
	struct record record = { .value = read_pointer(reader, &data) };

	record.tid = lode_cursor_u32(&data);
	return data.failed ? 0 : add_record(reader, event, record);
}

static int handle_switch(struct reader *reader, const struct lode_etl_event *event)
{
	struct lode_cursor data = event->data;
	struct record record = { .tid = lode_cursor_u32(&data) };

	record.value = lode_cursor_u32(&data);
	lode_cursor_bytes(&data, 6);
	record.state = lode_cursor_u8(&data);
	return data.failed ? 0 : add_record(reader, event, record);
}

static int handle_ready(struct reader *reader, const struct lode_etl_event *event)
{
	struct lode_cursor data = event->data;
	struct record record = { .tid = lode_cursor_u32(&data) };

	lode_cursor_bytes(&data, 2);
	record.state = lode_cursor_u8(&data);
	return data.failed ? 0 : add_record(reader, event, record);
}

static void handle_interval(struct reader *reader, struct lode_cursor data)
{
	uint32_t source = lode_cursor_u32(&data), interval = lode_cursor_u32(&data);

	if (!data.failed && source == 0 && interval)
		reader->interval = interval;
}

static uint32_t add_text(struct reader *reader, struct lode_cursor text)
{
	struct lode_buffer *buffer = &reader->code.text;

	buffer->size = 0;
	lode_etl_utf8(buffer, &text);
	return buffer->failed ? LODE_NONE
			      : lode_strings_add(&reader->dictionary.frames.strings, buffer->bytes, buffer->size);
}

static int handle_thread_name(struct reader *reader, struct lode_cursor data)
{
	uint32_t pid = lode_cursor_u32(&data), tid = lode_cursor_u32(&data), name;

	if (data.failed || !lode_cursor_left(&data))
		return 0;
	name = add_text(reader, data);
	if (name == LODE_NONE)
		return LODE_SYSTEM;
	return name ? lode_etl_threads_name(&reader->threads, pid, tid, name) : 0;
}

static int handle_thread(struct reader *reader, const struct lode_etl_event *event)
{
	struct lode_cursor data = event->data;
	uint32_t pid = lode_cursor_u32(&data), tid = lode_cursor_u32(&data);

	if (data.failed)
		return 0;
	return event->version ? lode_etl_threads_own(&reader->threads, event->t, tid, pid)
			      : lode_etl_threads_own(&reader->threads, event->t, pid, tid);
}

/* The numbers of a process are followed by its user, if it has one, and the name of its program. */
static int handle_process(struct reader *reader, const struct lode_etl_event *event)
{
	struct lode_cursor data = event->data, user;
	unsigned size = reader->file.pointer_size;
	uint32_t pid, name;
	const char *text;

	lode_cursor_bytes(&data, event->version ? size : 0);
	pid = lode_cursor_u32(&data);
	lode_cursor_bytes(&data, event->version ? 12 : 4);
	lode_cursor_bytes(&data, event->version >= 3 ? size : 0);
	lode_cursor_bytes(&data, event->version >= 4 ? 4 : 0);
	user = data;
	if (lode_cursor_u32(&user) == 0) {
		data = user;
	} else {
		lode_cursor_bytes(&data, 2 * (uint64_t)size + 1);
		lode_cursor_bytes(&data, 6 + 4 * (uint64_t)lode_cursor_u8(&data));
	}
	if (data.failed || !lode_cursor_left(&data))
		return 0;
	text = (const char *)data.next;
	name = lode_strings_add(&reader->dictionary.frames.strings, text, strnlen(text, lode_cursor_left(&data)));
	if (name == LODE_NONE)
		return LODE_SYSTEM;
	return name ? lode_etl_threads_name(&reader->threads, pid, LODE_NO_PID, name) : 0;
}

static int handle_image(struct reader *reader, const struct lode_etl_event *event)
{
	struct lode_cursor data = event->data;
	uint64_t base = read_pointer(reader, &data), size;
	uint32_t pid = 0;

	size = event->version ? read_pointer(reader, &data) : lode_cursor_u32(&data);
	if (event->version)
		pid = lode_cursor_u32(&data);
	if (event->version >= 2)
		lode_cursor_bytes(&data, 12 + (uint64_t)reader->file.pointer_size + 16);
	return data.failed ? 0 : lode_etl_code_add_image(&reader->code, pid, base, size, data);
}

static int handle_method(struct reader *reader, const struct lode_etl_event *event)
{
	struct lode_cursor data = event->data;
	uint64_t base, size;

	lode_cursor_bytes(&data, 16); /* numbers of the method and of its module */
	base = lode_cursor_u64(&data);
	size = lode_cursor_u32(&data);
	lode_cursor_bytes(&data, 8); /* token and flags */
	return data.failed ? 0 : lode_etl_code_add_method(&reader->code, event->pid, base, size, data);
}

static int handle_stack(struct reader *reader, const struct lode_etl_event *event)
{
	struct lode_cursor data = event->data;
	unsigned type = event->hook & 0xff;

	if (type == 32 || type == 37 || type == 38) {
		uint64_t t = lode_cursor_u64(&data);
		uint32_t pid = lode_cursor_u32(&data), tid = lode_cursor_u32(&data);

		if (!data.failed && lode_etl_threads_own(&reader->threads, t, tid, pid) < 0)
			return LODE_SYSTEM;
	}
	return lode_etl_stacks_take(reader->stacks, type, event->t, event->data);
}

static int handle_kernel(struct reader *reader, const struct lode_etl_event *event)
{
	switch (event->hook) {
	case SAMPLE:
		return handle_sample(reader, event);
	case SWITCH:
		return handle_switch(reader, event);
	case READY:
		return handle_ready(reader, event);
	case INTERVAL:
	case INTERVAL + 1:
	case INTERVAL + 2:
		handle_interval(reader, event->data);
		return 0;
	case COUNTER_SAMPLE:
		reader->counters++;
		return 0;
	case THREAD_NAME:
		return handle_thread_name(reader, event->data);
	case IMAGE_LOAD:
		return handle_image(reader, event);
	default:
		break;
	}
	if (event->hook >> 8 == STACK_GROUP)
		return handle_stack(reader, event);
	if (event->hook >= THREAD_START && event->hook <= THREAD_AT_END)
		return handle_thread(reader, event);
	if ((event->hook >= PROCESS_START && event->hook <= PROCESS_AT_END) || event->hook == PROCESS_DEFUNCT)
		return handle_process(reader, event);
	if (event->hook >= IMAGE_UNLOAD && event->hook <= IMAGE_AT_END)
		return handle_image(reader, event);
	reader->others++;
	return 0;
}

static int is_method(const struct lode_etl_event *event)
{
	return (event->hook == METHOD_LOAD || event->hook == METHOD_END) &&
	       (memcmp(event->provider, runtime, 16) == 0 || memcmp(event->provider, rundown, 16) == 0);
}

static int handle_event(void *context, const struct lode_etl_event *event)
{
	struct reader *reader = context;
	int code = 0;

	reader->events++;
	if (event->head == LODE_ETL_KERNEL)
		code = handle_kernel(reader, event);
	else if (event->head == LODE_ETL_MANIFEST && is_method(event))
		code = handle_method(reader, event);
	else
		reader->others++;
	return code < 0 ? lode_fail_memory(reader->error) : 0;
}

static int report_progress(void *context, size_t done)
{
	struct reader *reader = context;

	return lode_import_progress_at(reader->input, reader->options, done, reader->file.size, reader->error);
}

/* ---- replay, in order of time ---- */

/* A thread of the stream; LODE_NONE for the idle thread. */
static uint32_t find_thread(struct reader *reader, uint64_t t, uint32_t tid, uint32_t *pid)
{
	*pid = tid ? lode_etl_threads_pid(&reader->threads, t, tid) : LODE_NO_PID;
	if (!tid)
		return LODE_NONE;
	return *pid == LODE_NO_PID ? lode_stream_tid(&reader->stream, tid)
				   : lode_stream_thread(&reader->stream, *pid, tid);
}

static void replay_sample(struct reader *reader, const struct record *record, uint64_t t)
{
	uint64_t interval = reader->interval ? reader->interval : DEFAULT_INTERVAL;
	struct lode_event run = { .t = t, .cost = interval * INTERVAL_NS, .waker = LODE_NONE, .cpu = record->cpu };
	uint32_t pid;

	if (!record->tid) {
		reader->idle++;
		return;
	}
	run.thread = find_thread(reader, record->t, record->tid, &pid);
	run.stack = lode_etl_stacks_find(reader->stacks, record->t, record->tid, pid);
	if (!run.stack) {
		reader->bare++;
		run.stack = lode_etl_stacks_single(reader->stacks, record->value, pid);
	}
	lode_sched_running(reader->sched, t, run.thread);
	lode_stream_add_event(&reader->stream, LODE_RUN, &run);
}

/* What the state of a thread that goes means: 5 it waits, 4 it has ended, others that it could run. */
static enum lode_switch_state state_of(unsigned state)
{
	if (state == 5)
		return LODE_SWITCH_BLOCKED;
	return state == 4 ? LODE_SWITCH_DEAD : LODE_SWITCH_PREEMPTED;
}

static void replay_switch(struct reader *reader, const struct record *record, uint64_t t, uint32_t *running)
{
	uint32_t pid, previous = find_thread(reader, record->t, (uint32_t)record->value, &pid);
	uint32_t next = find_thread(reader, record->t, record->tid, &pid), stack;

	*running = record->tid;
	reader->switches = 1;
	stack = next == LODE_NONE ? 0 : lode_etl_stacks_find(reader->stacks, record->t, record->tid, pid);
	if (stack)
		lode_sched_set_stack(reader->sched, next, stack);
	lode_sched_switch(reader->sched, t, record->cpu, previous, state_of(record->state), 0, next);
}

static void replay_wakeup(struct reader *reader, const struct record *record, uint64_t t, uint32_t running)
{
	uint32_t pid, target = find_thread(reader, record->t, record->tid, &pid), waker = LODE_NONE, stack = 0;

	if (running != LODE_NONE && !(record->state & READY_IN_DPC)) {
		waker = find_thread(reader, record->t, running, &pid);
		stack = lode_etl_stacks_find(reader->stacks, record->t, running, pid);
	}
	lode_sched_waking(reader->sched, t, waker, stack, target);
}

static int replay_record(struct reader *reader, const struct record *record)
{
	uint64_t t = lode_etl_time(&reader->file, record->t);
	uint32_t *running = LODE_PLACE(&reader->running, record->cpu, LODE_NONE);

	reader->last = t;
	if (record->hook == SAMPLE)
		replay_sample(reader, record, t);
	else if (running && record->hook == SWITCH)
		replay_switch(reader, record, t, running);
	else if (running)
		replay_wakeup(reader, record, t, *running);
	return !running || reader->stream.failed ? LODE_SYSTEM : 0;
}

static int replay_records(struct reader *reader)
{
	size_t count = reader->records.count;
	uint64_t *times = lode_calloc(count, sizeof(*times));
	uint32_t *order = lode_calloc(count, sizeof(*order));
	int code = times && order && count < LODE_NONE ? 0 : LODE_SYSTEM;

	for (size_t i = 0; i < count && code == 0; i++)
		times[i] = reader->records.items[i].t;
	if (code == 0)
		code = lode_sort_order(times, count, order);
	for (size_t i = 0; i < count && code == 0; i++)
		code = replay_record(reader, &reader->records.items[order[i]]);
	if (code == 0 && reader->switches)
		code = lode_sched_finish(reader->sched, reader->last);
	lode_free(times);
	lode_free(order);
	return code < 0 ? lode_fail_memory(reader->error) : 0;
}

/* ---- the importer ---- */

static void report_notes(const struct reader *reader)
{
	struct lode_notes *notes = reader->options->notes;
	const char *name = lode_input_name(reader->input);

	lode_notes_add(notes, reader->file.events_lost, "events that Windows lost", name);
	lode_notes_add(notes, reader->file.buffers_lost, "buffers that Windows lost", name);
	lode_notes_add(notes, reader->file.damaged, "buffers that are damaged, read as far as they are whole",
		       name);
	lode_notes_add(notes, (uint64_t)reader->file.is_cut, "a trace that is cut off", name);
	lode_notes_add(notes, reader->idle, "samples of idle processors, left out", NULL);
	lode_notes_add(notes, reader->bare, "samples without a stack: only the address that ran is known", NULL);
	lode_notes_add(notes, reader->counters, "samples of hardware counters, left out: they are not CPU time",
		       NULL);
	lode_notes_add(notes, reader->others, "events of other kinds, left out", NULL);
	lode_notes_add(notes,
		       !reader->interval && lode_stream_event_count(&reader->stream) &&
			       reader->stream.events[LODE_RUN].count,
		       "a trace without its sampling interval: 1 ms is assumed", name);
	lode_etl_stacks_report(reader->stacks);
	lode_etl_code_report(&reader->code);
}

static int read_trace(struct reader *reader, const struct lode_import_sink *sink)
{
	struct lode_error why = { "" };
	int code;

	reader->stacks = lode_etl_stacks_create(&reader->code, reader->file.pointer_size);
	reader->sched = lode_sched_create(&reader->stream, reader->options->notes);
	if (!reader->stacks || !reader->sched)
		return lode_fail_memory(reader->error);
	code = lode_etl_read(&reader->file, handle_event, report_progress, reader, &why);
	if (code < 0 && why.text[0])
		return lode_fail(reader->error, code, "%s: %s", lode_input_name(reader->input), why.text);
	if (code < 0)
		return code;
	lode_etl_threads_finish(&reader->threads);
	lode_etl_stacks_finish(reader->stacks);
	if (reader->records.count && (code = replay_records(reader)) < 0)
		return code;
	if (!lode_stream_event_count(&reader->stream))
		return lode_fail(
			reader->error, LODE_BAD_INPUT,
			"%s: none of its %llu events is a CPU sample or a context switch; record with "
			"`wpr -start CPU` or `xperf -on PROC_THREAD+LOADER+PROFILE+CSWITCH+DISPATCHER -stackwalk "
			"Profile+CSwitch+ReadyThread`",
			lode_input_name(reader->input), (unsigned long long)reader->events);
	lode_etl_threads_apply(&reader->threads, &reader->stream);
	report_notes(reader);
	return lode_import_deliver(reader->input, reader->options, sink, &reader->stream, 0, reader->error);
}

static void release(struct reader *reader)
{
	lode_sched_destroy(reader->sched);
	lode_etl_stacks_destroy(reader->stacks);
	lode_etl_threads_release(&reader->threads);
	lode_etl_code_release(&reader->code);
	lode_free(reader->records.items);
	lode_free(reader->running.items);
	lode_import_end(&reader->stream);
}

static int read_etl(struct lode_input *input, const struct lode_import_options *options,
		    const struct lode_import_sink *sink, struct lode_error *error)
{
	struct reader reader = { .input = input, .options = options, .error = error };
	struct lode_error why = { "" };
	const unsigned char *bytes;
	size_t size;
	int code = lode_import_begin(input, &bytes, &size, &reader.stream, &reader.dictionary, error);

	if (code < 0)
		return code;
	reader.code.options = options;
	reader.code.dictionary = &reader.dictionary;
	code = lode_etl_open(&reader.file, bytes, size, &why);
	if (code < 0)
		lode_fail(error, code, "%s: %s", lode_input_name(input), why.text);
	else
		code = read_trace(&reader, sink);
	release(&reader);
	return code;
}

static int sniff(const unsigned char *bytes, size_t size, const char *name)
{
	(void)name;
	return lode_etl_is(bytes, size) ? 90 : 0;
}

const struct lode_importer lode_importer_etl = {
	.name = "etl",
	.description = "Windows traces (ETW), recorded by wpr, xperf or PerfView",
	.sniff = sniff,
	.read = read_etl,
};
