/*
 * Java Flight Recorder files (`.jfr`), of the JDK and of async-profiler.
 *
 *	jdk.ExecutionSample		run of the sampling period; a wait where the state says so
 *	jdk.CPUTimeSample		run of the period that is in the event
 *	jdk.NativeMethodSample		the same; a wait where the method is one that blocks
 *	profiler.WallClockSample	run or wait by its state, of as many intervals as it represents
 *	jdk.JavaMonitorEnter		wait; the waker is the previous owner of the monitor
 *	jdk.JavaMonitorWait		wait; the waker is the thread that notified
 *	jdk.ThreadPark, ThreadSleep,	wait
 *	jdk.Socket…, jdk.File…
 *
 * Periods are settings of the recording, which are events themselves and may come behind
 * the samples: each chunk is read twice, the first time for the settings alone.
 *
 * A method is the frame `package.Class.method`. Frames of native code that async-profiler
 * adds have their library in place of the class.
 */
#include "base/memory.h"
#include "import/runtime/jfr_chunk.h"
#include "import/runtime/jfr_frames.h"
#include "import/import_common.h"

#include <string.h>

/* The kinds of events, kept in the `use` of their classes. */
enum use {
	UNUSED,
	SAMPLE,
	CPU_TIME,
	NATIVE,
	WALL,
	BLOCKED, /* a wait with a duration */
	SETTING,
	PROCESS,
	OTHER, /* the recorder's own: metadata, checkpoints */
};

static const struct {
	const char *name;
	enum use use;
} uses[] = {
	{ "jdk.ExecutionSample", SAMPLE },    { "jdk.CPUTimeSample", CPU_TIME },
	{ "jdk.NativeMethodSample", NATIVE }, { "profiler.WallClockSample", WALL },
	{ "jdk.JavaMonitorEnter", BLOCKED },  { "jdk.JavaMonitorWait", BLOCKED },
	{ "jdk.ThreadPark", BLOCKED },        { "jdk.ThreadSleep", BLOCKED },
	{ "jdk.SocketRead", BLOCKED },        { "jdk.SocketWrite", BLOCKED },
	{ "jdk.SocketConnect", BLOCKED },     { "jdk.SocketAccept", BLOCKED },
	{ "jdk.FileRead", BLOCKED },          { "jdk.FileWrite", BLOCKED },
	{ "jdk.FileForce", BLOCKED },         { "jdk.ActiveSetting", SETTING },
	{ "jdk.JVMInformation", PROCESS },
};

/* What a sample represents unless the recording says: the defaults of the JDK and async-profiler. */
#define JDK_PERIOD   20000000u
#define ASYNC_PERIOD 10000000u
#define WALL_PERIOD  50000000u

struct reader {
	struct lode_input *input;
	const struct lode_import_options *options;
	struct lode_error *error;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_jfr_frames frames;
	struct lode_jfr_chunk chunk;
	const unsigned char *described;            /* the metadata whose classes have their uses */
	const struct lode_jfr_class *fields_class; /* what the fields below are of; NULL: none */
	struct lode_jfr_value fields[LODE_JFR_SLOTS];
	struct lode_buffer text;
	struct lode_buffer name;
	uint32_t pid;
	uint64_t periods[OTHER]; /* of kinds of samples, in nanoseconds; 0: unknown */
	int is_async;
	struct java_thread *threads; /* those with a number of Java's, by that */
	size_t thread_count;
	size_t thread_capacity;
	struct lode_index thread_index;
	uint64_t chunks;
	uint64_t events;
	uint64_t assumed;    /* samples whose period is unknown */
	uint64_t native;     /* samples in native methods */
	uint64_t threadless; /* events without a thread */
	uint64_t truncated;  /* events whose stack the recorder has cut */
	uint64_t unfinished;
	uint64_t left_out;
	uint64_t used; /* events that became runs or waits */
};

struct java_thread {
	uint64_t id;
	uint32_t thread;
};

static int fail(struct reader *reader, uint64_t at, const char *what)
{
	return lode_fail(reader->error, LODE_BAD_INPUT, "%s: byte %llu: %s", lode_input_name(reader->input),
			 (unsigned long long)at, what);
}

/* ---- threads ---- */

static uint32_t find_java_thread(const struct reader *reader, uint64_t id)
{
	uint32_t number = LODE_INDEX_FIND(i, &reader->thread_index, lode_hash_u64(id), reader->threads[i].id == id);

	return number == LODE_NONE ? LODE_NONE : reader->threads[number].thread;
}

static int keep_java_thread(struct reader *reader, uint64_t id, uint32_t thread)
{
	if (!id)
		return 0;
	return LODE_INDEX_APPEND(&reader->thread_index, lode_hash_u64(id), reader->threads, reader->thread_count,
				 reader->thread_capacity, (struct java_thread){ id, thread });
}

/* A thread without a number of the system (a virtual one, or one that has ended) has Java's own. */
static int add_thread(struct reader *reader, const struct lode_jfr_value *fields, uint32_t *thread)
{
	uint64_t java = fields[LODE_JFR_JAVA_THREAD_ID].number, os = fields[LODE_JFR_OS_THREAD_ID].number;
	uint32_t name;

	*thread = find_java_thread(reader, java);
	if (*thread != LODE_NONE)
		return 0;
	*thread = lode_stream_thread(&reader->stream, reader->pid, (uint32_t)(os ? os : java));
	if (*thread == LODE_NONE || keep_java_thread(reader, java, *thread) < 0)
		return LODE_SYSTEM;
	lode_buffer_clear(&reader->text);
	lode_jfr_text(&reader->chunk, &fields[LODE_JFR_JAVA_NAME], &reader->text);
	if (!reader->text.size)
		lode_jfr_text(&reader->chunk, &fields[LODE_JFR_OS_NAME], &reader->text);
	if (reader->text.failed)
		return LODE_SYSTEM;
	name = lode_strings_add(&reader->dictionary.frames.strings, reader->text.size ? reader->text.bytes : "",
				reader->text.size);
	if (name == LODE_NONE)
		return LODE_SYSTEM;
	reader->stream.threads[*thread].name = name;
	return 0;
}

/* The thread that a value names; LODE_NONE: none. */
static int find_thread(struct reader *reader, const struct lode_jfr_value *value, uint32_t *thread)
{
	struct lode_jfr_constant *constant = lode_jfr_constant_of(&reader->chunk, value, LODE_JFR_THREADS);
	struct lode_jfr_value fields[LODE_JFR_SLOTS];

	*thread = LODE_NONE;
	if (!constant)
		return 0;
	if (constant->memo == LODE_NONE) {
		if (!lode_jfr_value_read(&reader->chunk, value, fields))
			return 0;
		if (add_thread(reader, fields, &constant->memo) < 0)
			return lode_fail_memory(reader->error);
	}
	*thread = constant->memo;
	return 0;
}

/* ---- settings ---- */

/* `20 ms`, `1 s`, or a bare number of nanoseconds; 0 for anything else. */
static uint64_t read_period(const char *text)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "", 1 }, { " ns", 1 }, { " us", 1000 }, { " ms", 1000000 }, { " s", 1000000000 } };
	uint64_t number = 0;

	for (; *text >= '0' && *text <= '9' && number < 1000000000000; text++)
		number = number * 10 + (uint64_t)(*text - '0');
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strcmp(text, units[i].name) == 0 && number <= UINT64_MAX / units[i].ns)
			return number * units[i].ns;
	return 0;
}

static const char *text_of(struct reader *reader, const struct lode_jfr_value *value, struct lode_buffer *buffer)
{
	lode_buffer_clear(buffer);
	lode_jfr_text(&reader->chunk, value, buffer);
	lode_buffer_byte(buffer, '\0');
	return buffer->failed ? "" : buffer->bytes;
}

/* The JDK says `period`, async-profiler `interval` of the CPU samples, regardless of its clock. */
static void read_setting(struct reader *reader, const struct lode_jfr_value *fields)
{
	const struct lode_jfr_class *class_ = lode_jfr_class_find(&reader->chunk, fields[LODE_JFR_ID].number);
	const char *name = text_of(reader, &fields[LODE_JFR_NAME], &reader->name);
	const char *value = text_of(reader, &fields[LODE_JFR_VALUE], &reader->text);

	if (!strcmp(name, "engine") || !strcmp(name, "jstackdepth"))
		reader->is_async = 1;
	if (!class_ || class_->use <= UNUSED || class_->use >= BLOCKED)
		return;
	if (!strcmp(name, "period") || !strcmp(name, "interval"))
		reader->periods[class_->use] = read_period(value);
}

static uint64_t period_of(struct reader *reader, enum use use)
{
	uint64_t period = reader->periods[use];

	if (!period && use != SAMPLE)
		period = reader->periods[SAMPLE];
	if (period)
		return period;
	reader->assumed++;
	if (reader->options->unit_ns > 1)
		return (uint64_t)reader->options->unit_ns;
	return use == WALL ? WALL_PERIOD : reader->is_async ? ASYNC_PERIOD : JDK_PERIOD;
}

/* ---- events ---- */

/* A thread that is neither running nor ready to. */
static int is_waiting(struct reader *reader, const struct lode_jfr_value *state)
{
	struct lode_jfr_value fields[LODE_JFR_SLOTS];
	struct lode_jfr_constant *constant = lode_jfr_constant_of(&reader->chunk, state, LODE_JFR_THREAD_STATES);
	const char *name;

	if (!constant)
		return 0;
	if (constant->memo == LODE_NONE) {
		lode_jfr_value_read(&reader->chunk, state, fields);
		name = text_of(reader, &fields[LODE_JFR_NAME], &reader->text);
		constant->memo = strstr(name, "SLEEPING") || strstr(name, "WAIT") || strstr(name, "PARKED") ||
				 strstr(name, "BLOCKED");
	}
	return constant->memo == 1;
}

static int add_event(struct reader *reader, enum use use, const struct lode_jfr_value *fields,
		     struct lode_event *event)
{
	enum lode_event_type type = use == BLOCKED || is_waiting(reader, &fields[LODE_JFR_STATE]) ? LODE_WAIT
												  : LODE_RUN;
	int truncated = 0, waits;

	if (lode_jfr_frames_stack(&reader->frames, &reader->chunk, &fields[LODE_JFR_STACK_TRACE], &event->stack,
				  &truncated) < 0)
		return lode_fail_memory(reader->error);
	reader->truncated += (uint64_t)truncated;
	if (use == NATIVE) {
		reader->native++;
		waits = lode_jfr_frames_waits(&reader->frames, event->stack);
		if (waits < 0)
			return lode_fail_memory(reader->error);
		if (waits)
			type = LODE_WAIT;
	}
	if (lode_stream_add_event(&reader->stream, type, event) < 0)
		return lode_fail_memory(reader->error);
	reader->used++;
	return 0;
}

/* The time that an event represents. */
static uint64_t cost_of(struct reader *reader, enum use use, const struct lode_jfr_value *fields)
{
	uint64_t samples = fields[LODE_JFR_SAMPLES].number, cost;

	if (use == BLOCKED)
		return lode_jfr_duration(&reader->chunk, fields[LODE_JFR_DURATION].number);
	if (use == CPU_TIME && fields[LODE_JFR_SAMPLING_PERIOD].number)
		return lode_jfr_duration(&reader->chunk, fields[LODE_JFR_SAMPLING_PERIOD].number);
	cost = period_of(reader, use);
	return use == WALL && samples ? lode_weighted(cost, samples) : cost;
}

static int read_event(struct reader *reader, enum use use, const struct lode_jfr_value *fields)
{
	struct lode_event event = { .cpu = LODE_NO_CPU };
	const struct lode_jfr_value *waker = &fields[LODE_JFR_PREVIOUS_OWNER];
	const struct lode_jfr_value *thread =
		&fields[use == BLOCKED ? LODE_JFR_EVENT_THREAD : LODE_JFR_SAMPLED_THREAD];

	if (!thread->number)
		thread = &fields[LODE_JFR_EVENT_THREAD];
	if (find_thread(reader, thread, &event.thread) < 0 ||
	    find_thread(reader, waker->number ? waker : &fields[LODE_JFR_NOTIFIER], &event.waker) < 0)
		return LODE_SYSTEM;
	if (event.thread == LODE_NONE) {
		reader->threadless++;
		return 0;
	}
	event.t = lode_jfr_time(&reader->chunk, fields[LODE_JFR_START_TIME].number);
	event.cost = cost_of(reader, use, fields);
	if (event.waker == event.thread)
		event.waker = LODE_NONE;
	return add_event(reader, use, fields, &event);
}

/* ---- chunks ---- */

static void find_uses(struct lode_jfr_chunk *chunk)
{
	for (size_t i = 0; i < chunk->class_count; i++)
		for (size_t j = 0; j < sizeof(uses) / sizeof(*uses); j++)
			if (!strcmp(chunk->classes[i].name, uses[j].name))
				chunk->classes[i].use = uses[j].use;
}

static int handle_event(struct reader *reader, const struct lode_jfr_class *class_, struct lode_cursor *event,
			int settings)
{
	enum use use = (enum use)class_->use;
	int wanted = settings ? use == SETTING || use == PROCESS : use != UNUSED && use < SETTING;
	struct lode_jfr_value *fields = reader->fields;

	reader->left_out += !settings && use == UNUSED;
	if (!wanted)
		return 0;
	if (reader->fields_class != class_)
		memset(fields, 0, sizeof(reader->fields));
	reader->fields_class = class_;
	if (!lode_jfr_object_again(&reader->chunk, class_, event, fields))
		return fail(reader, (uint64_t)(event->next - reader->chunk.bytes),
			    "an event is shorter than its fields");
	if (use == SETTING)
		read_setting(reader, fields);
	else if (use == PROCESS)
		reader->pid = fields[LODE_JFR_PID].number ? (uint32_t)fields[LODE_JFR_PID].number : reader->pid;
	else
		return read_event(reader, use, fields);
	return 0;
}

static int read_events(struct reader *reader, uint64_t start, int settings)
{
	struct lode_jfr_chunk *chunk = &reader->chunk;
	uint64_t at = LODE_JFR_HEADER, class_id = 0, last_id = 0;
	const struct lode_jfr_class *class_ = NULL;
	struct lode_cursor event;
	int got, code = 0;

	reader->fields_class = NULL;
	while (code == 0 && (got = lode_jfr_event_next(chunk, &at, &class_id, &event)) != 0) {
		if (got < 0)
			return fail(reader, start + at, "an event is longer than the chunk, or has no length");
		if (class_id != last_id) /* most events are like the one before */
			class_ = class_id > 1 ? lode_jfr_class_find(chunk, class_id) : NULL;
		last_id = class_id;
		if (class_)
			code = handle_event(reader, class_, &event, settings);
		if (code == 0 && !settings && (++reader->events & 0xffff) == 0)
			code = lode_import_progress_at(reader->input, reader->options, start + at,
						       start + chunk->size, reader->error);
	}
	return code;
}

static int read_chunk(struct reader *reader, uint64_t start)
{
	struct lode_error why = { "" };
	int code = lode_jfr_chunk_open(&reader->chunk, &why);

	if (code == LODE_BAD_INPUT)
		return fail(reader, start, why.text);
	if (code < 0)
		return lode_fail_memory(reader->error);
	if (reader->described != reader->chunk.described)
		find_uses(&reader->chunk);
	reader->described = reader->chunk.described;
	code = read_events(reader, start, 1);
	if (code == 0)
		code = read_events(reader, start, 0);
	reader->chunks++;
	return code;
}

/* The last chunk of a recording that is still going on, or that was cut off, has no size, or more than is there. */
static int read_chunks(struct reader *reader, const unsigned char *bytes, size_t size)
{
	uint64_t at = 0;
	int code = 0;

	while (code == 0 && at < size) {
		struct lode_error why = { "" };

		if (lode_jfr_chunk_header(&reader->chunk, bytes + at, size - at, &why) < 0) {
			code = fail(reader, at, why.text);
			break;
		}
		if (reader->chunk.size < LODE_JFR_HEADER || reader->chunk.size > size - at) {
			reader->unfinished++;
			break;
		}
		at += reader->chunk.size;
		code = read_chunk(reader, at - reader->chunk.size);
	}
	lode_jfr_chunk_release(&reader->chunk);
	return code;
}

/* ---- the importer ---- */

static void report_notes(const struct reader *reader)
{
	struct lode_notes *notes = reader->options->notes;
	const char *name = lode_input_name(reader->input);

	lode_notes_add(notes, reader->assumed,
		       reader->options->unit_ns > 1
			       ? "samples whose period is not recorded, taken as --unit says"
			       : "samples whose period is not recorded, taken as 20 ms for the JDK, 10 ms (wall "
				 "clock: 50 ms) for async-profiler; set it with --unit samples=PERIOD",
		       name);
	lode_notes_add(
		notes, reader->native,
		"samples in native methods, taken as waits where the method is known to block, else as runs", NULL);
	lode_notes_add(notes, reader->truncated,
		       "events whose stack the recorder has cut at the root (stackdepth)", NULL);
	lode_notes_add(notes, reader->frames.cut, LODE_CUT_AT_ROOT, NULL);
	lode_notes_add(notes, reader->threadless, "samples and waits without a thread, left out", NULL);
	lode_notes_add(notes, reader->unfinished, "a last chunk that is not finished, left out", name);
	lode_notes_add(notes, reader->left_out, "events that are neither samples nor waits, left out", NULL);
}

static int finish(struct reader *reader, const struct lode_import_sink *sink)
{
	if (!reader->chunks)
		return lode_fail(
			reader->error,
			LODE_BAD_INPUT, "%s: no chunk of it is finished; end the recording, or take a copy with `jcmd PID JFR.dump`",
			lode_input_name(reader->input));
	if (!reader->used)
		return lode_fail(reader->error, LODE_BAD_INPUT,
				 "%s: it has no CPU samples and no waits (jdk.ExecutionSample, "
				 "jdk.JavaMonitorEnter and the "
				 "like); record with settings=profile",
				 lode_input_name(reader->input));
	report_notes(reader);
	return lode_import_deliver(reader->input, reader->options, sink, &reader->stream, 0, reader->error);
}

static int read_jfr(struct lode_input *input, const struct lode_import_options *options,
		    const struct lode_import_sink *sink, struct lode_error *error)
{
	struct reader reader = { .input = input, .options = options, .error = error, .pid = LODE_NO_PID };
	const unsigned char *bytes;
	size_t size;
	int code = lode_import_begin(input, &bytes, &size, &reader.stream, &reader.dictionary, error);

	if (code < 0)
		return code;
	reader.frames.dictionary = &reader.dictionary;
	code = read_chunks(&reader, bytes, size);
	if (code == 0)
		code = finish(&reader, sink);
	lode_jfr_frames_release(&reader.frames);
	lode_buffer_release(&reader.text);
	lode_buffer_release(&reader.name);
	lode_free(reader.threads);
	lode_index_release(&reader.thread_index);
	lode_import_end(&reader.stream);
	return code;
}

static int sniff(const unsigned char *bytes, size_t size, const char *name)
{
	(void)name;
	return size >= 4 && memcmp(bytes, "FLR", 4) == 0 ? 100 : 0;
}

const struct lode_importer lode_importer_jfr = {
	.name = "jfr",
	.description = "Java Flight Recorder files, of the JDK and of async-profiler",
	.sniff = sniff,
	.read = read_jfr,
};
