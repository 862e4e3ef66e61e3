/*
 * wprof's JSON (`wprof -J`): an object per line. The first describes the recording, then come the
 * stacks, then the events in order of time; times are seconds since the start.
 *
 *	switch		who leaves a CPU and who gets it; the stack in which the latter waited, and who woke
 *			it, are reported here too
 *	waking		who wakes whom, with the waker's stack; wakeup_new is the first of a thread
 *	timer		a CPU sample, one a period of the timer
 *	pmu_event	a sample of a counter: of a clock it is run time too
 *	req_event	the end of a request is a symptom where --symptom-markers names it
 *
 *	cuda_...	activities of GPUs and the calls that launch them (wprof_gpu.h)
 *
 * Others (interrupts, work queues, Python's calls, life of threads) are counted in a note.
 * Switches and wakings are joined into waits (sched.h).
 */
#include "base/array.h"
#include "import/frame_memo.h"
#include "import/json/wprof_gpu.h"
#include "import/import_common.h"
#include "import/sched.h"
#include "import/symptom_markers.h"

#include "base/memory.h"

/* A stack of the file. */
struct stack {
	uint64_t id;
	uint32_t node;
};

struct reading {
	struct lode_json_import import;
	struct lode_sched *sched;
	LODE_ARRAY(struct stack) stacks;
	struct lode_index index; /* of stacks, by id */
	struct lode_frame_memo frames;
	struct lode_gpu_facts gpu;
	uint64_t line;
	uint64_t last;    /* time */
	double period_ns; /* of the timer */
	uint64_t events, others, requests, counters, timeless, missing, cut;
};

/* Members of an event. */
enum {
	TYPE,
	TIME,
	CPU,
	TASK,
	PREV,
	NEXT,
	PREV_STATE,
	WAKER,
	WAKEE,
	WAKING_TIME,
	STACK_ID,
	OFF_CPU_STACK_ID,
	WAKER_STACK_ID,
	PMU,
	SAMPLE_PERIOD,
	EVENT,
	LATENCY,
	REQUEST_NAME,
	ID,
	FRAMES,
	MEMBERS,
};

static const char *const keys[MEMBERS] = {
	"t",
	"ts",
	"cpu",
	"task",
	"prev",
	"next",
	"prev_state",
	"waker",
	"wakee",
	"waking_ts",
	"stack_id",
	"offcpu_stack_id",
	"waker_stack_id",
	"pmu",
	"sample_period",
	"event",
	"latency",
	"req_name",
	"id",
	"frames",
};

static int fail(struct reading *reading, const char *what)
{
	return lode_fail(reading->import.error, LODE_BAD_INPUT, "%s:%llu: %s",
			 lode_input_name(reading->import.input), (unsigned long long)reading->line, what);
}

/* ---- stacks ---- */

/* `[U] function+0x1a`, `[K] …`, `[Py] …`, `… (inlined)`: the function, and whether it is the kernel's. */
static const char *function_of(const char *text, size_t *length, int *is_kernel)
{
	static const char inlined[] = " (inlined)";
	const char *end, *plus;

	*is_kernel = *length > 4 && memcmp(text, "[K] ", 4) == 0;
	if (*length && text[0] == '[') {
		const char *close = memchr(text, ']', *length);

		if (close && (size_t)(close + 2 - text) < *length && close[1] == ' ') {
			*length -= (size_t)(close + 2 - text);
			text = close + 2;
		}
	}
	if (*length > sizeof(inlined) - 1 &&
	    memcmp(text + *length - (sizeof(inlined) - 1), inlined, sizeof(inlined) - 1) == 0)
		*length -= sizeof(inlined) - 1;
	end = text + *length;
	plus = memrchr(text, '+', *length);
	if (plus && plus > text && end - plus > 3 && plus[1] == '0' && plus[2] == 'x')
		*length = (size_t)(plus - text);
	return text;
}

/* The frame of a text; LODE_NONE when memory has run out. */
static uint32_t find_frame(struct reading *reading, struct lode_json_value value)
{
	struct lode_frames *frames = &reading->import.dictionary.frames;
	const char *text = lode_json_string(value, &reading->import.text), *function;
	size_t length = text ? strlen(text) : 0, whole = length;
	uint64_t hash;
	uint32_t frame, module;
	int is_kernel;

	if (!text)
		return LODE_NONE;
	hash = lode_hash_bytes(text, length);
	frame = lode_frame_memo_find(&reading->frames, text, length, hash);
	if (frame != LODE_NONE)
		return frame;
	function = function_of(text, &length, &is_kernel);
	module = is_kernel ? lode_frames_module(frames, "kernel", 6) : 0;
	frame = lode_frames_add(frames, module, function, length);
	if (frame == LODE_NONE || lode_frame_memo_add(&reading->frames, text, whole, hash, frame) < 0)
		return LODE_NONE;
	return frame;
}

static int add_stack(struct reading *reading, const struct lode_json_value *values)
{
	struct stack stack = { .id = lode_json_u64_or(values[ID], UINT64_MAX) };
	struct lode_json_walk walk = lode_json_walk(values[FRAMES]);
	struct lode_json_value text;
	uint32_t depth = 0;

	if (stack.id == UINT64_MAX || lode_json_kind(values[FRAMES]) != LODE_JSON_ARRAY)
		return fail(reading, "neither an event (`t`) nor a stack (`id`, `frames`)");
	while (lode_json_item(&walk, &text)) {
		uint32_t frame = find_frame(reading, text);

		if (depth++ == LODE_STACK_DEPTH_LIMIT) {
			reading->cut++;
			break;
		}
		stack.node = lode_stack_tree_child(&reading->import.dictionary.tree, stack.node, frame);
	}
	if (stack.node == LODE_NONE ||
	    LODE_INDEX_PUSH(&reading->index, lode_hash_u64(stack.id), &reading->stacks, stack) < 0)
		return lode_fail_memory(reading->import.error);
	return 0;
}

static uint32_t find_stack(struct reading *reading, struct lode_json_value value)
{
	uint64_t id = lode_json_u64_or(value, UINT64_MAX);
	uint32_t at;

	if (!value.at)
		return 0;
	at = LODE_INDEX_FIND(i, &reading->index, lode_hash_u64(id), reading->stacks.items[i].id == id);
	if (at != LODE_NONE)
		return reading->stacks.items[at].node;
	reading->missing++;
	return 0;
}

/* ---- events ---- */

/* The thread of a task; LODE_NONE for an idle one, or one that is not there. */
static uint32_t find_thread(struct reading *reading, struct lode_json_value task)
{
	static const char *const parts[] = { "tid", "pid", "comm" };
	struct lode_stream *stream = &reading->import.stream;
	struct lode_json_value values[3];
	uint64_t tid, pid;
	const char *name;
	uint32_t thread;

	lode_json_get_all(task, parts, values, 3);
	tid = lode_json_u64_or(values[0], UINT64_MAX);
	pid = lode_json_u64_or(values[1], 0);
	if (tid >= LODE_NONE || !tid)
		return LODE_NONE;
	/* A task that wprof knows nothing of has process 0. */
	thread = lode_stream_thread(stream, pid && pid < LODE_NO_PID ? (uint32_t)pid : LODE_NO_PID, (uint32_t)tid);
	if (thread == LODE_NONE || stream->threads[thread].name)
		return thread;
	name = lode_json_string(values[2], &reading->import.text);
	if (name)
		lode_import_name_thread(stream, thread, name, strlen(name));
	else
		stream->failed = 1;
	return thread;
}

static enum lode_switch_state state_of(struct lode_json_value state)
{
	static const char *const ready[] = { "runnable", "preempted", "waking", "R", "R+" };
	static const char *const dead[] = { "exit_dead", "exit_zombie", "exit_trace", "task_dead", "X", "Z" };

	for (size_t i = 0; i < sizeof(ready) / sizeof(ready[0]); i++)
		if (lode_json_is_text(state, ready[i]))
			return LODE_SWITCH_PREEMPTED;
	for (size_t i = 0; i < sizeof(dead) / sizeof(dead[0]); i++)
		if (lode_json_is_text(state, dead[i]))
			return LODE_SWITCH_DEAD;
	return LODE_SWITCH_BLOCKED;
}

static uint16_t cpu_of(const struct lode_json_value *values)
{
	uint64_t cpu = lode_json_u64_or(values[CPU], LODE_NO_CPU);

	return cpu < LODE_NO_CPU ? (uint16_t)cpu : LODE_NO_CPU;
}

static void read_switch(struct reading *reading, const struct lode_json_value *values, uint64_t t)
{
	uint32_t prev = find_thread(reading, values[PREV]), next = find_thread(reading, values[NEXT]);
	uint32_t waker = find_thread(reading, values[WAKER]);
	uint64_t woken;

	/* Says nothing new where the waking itself was recorded. */
	if (next != LODE_NONE && values[WAKER].at && lode_json_ns(values[WAKING_TIME], 1e9, &woken) == 0)
		lode_sched_waking(reading->sched, woken, waker, 0, next);
	if (next != LODE_NONE && values[OFF_CPU_STACK_ID].at)
		lode_sched_set_stack(reading->sched, next, find_stack(reading, values[OFF_CPU_STACK_ID]));
	lode_sched_switch(reading->sched, t, cpu_of(values), prev, state_of(values[PREV_STATE]), 0, next);
}

static void read_waking(struct reading *reading, const struct lode_json_value *values, uint64_t t)
{
	uint32_t waker = find_thread(reading, values[WAKER]), wakee = find_thread(reading, values[WAKEE]);

	lode_sched_waking(reading->sched, t, waker, find_stack(reading, values[WAKER_STACK_ID]), wakee);
}

static void add_run(struct reading *reading, const struct lode_json_value *values, uint64_t t, double cost)
{
	struct lode_event event = { .t = t, .waker = LODE_NONE, .cpu = cpu_of(values) };

	event.thread = find_thread(reading, values[TASK]);
	if (event.thread == LODE_NONE)
		return;
	event.cost = cost >= 0 && cost < 0x1p62 ? (uint64_t)(cost + 0.5) : 0;
	event.stack = find_stack(reading, values[STACK_ID]);
	lode_sched_running(reading->sched, t, event.thread);
	lode_stream_add_event(&reading->import.stream, LODE_RUN, &event);
}

/* A sample of a clock's counter is as much run time as its period. */
static void read_counter(struct reading *reading, const struct lode_json_value *values, uint64_t t)
{
	if (lode_json_is_text(values[PMU], "cpu-clock") || lode_json_is_text(values[PMU], "task-clock"))
		add_run(reading, values, t, lode_json_double_or(values[SAMPLE_PERIOD], 0));
	else
		reading->counters++;
}

static void read_request(struct reading *reading, const struct lode_json_value *values, uint64_t t)
{
	struct lode_stream *stream = &reading->import.stream;
	struct lode_symptom symptom = { .t1 = t };
	uint64_t latency;
	const char *name;

	if (!lode_json_is_text(values[EVENT], "end") || lode_json_ns(values[LATENCY], 1e9, &latency) < 0)
		return;
	reading->requests++;
	name = lode_json_string(values[REQUEST_NAME], &reading->import.file);
	stream->failed |= !name;
	if (!name || !lode_symptom_marker(reading->import.options, name))
		return;
	symptom.thread = find_thread(reading, values[TASK]);
	if (symptom.thread == LODE_NONE)
		return;
	symptom.t0 = latency < t ? t - latency : 0;
	symptom.name = lode_strings_add(&stream->dictionary->frames.strings, name, strlen(name));
	lode_stream_add_symptom(stream, &symptom);
}

/* Whether it is about a GPU. */
static int read_gpu(struct reading *reading, struct lode_json_value root, const struct lode_json_value *values,
		    uint64_t t)
{
	struct lode_wprof_gpu_event event = { .object = root, .type = values[TYPE], .t = t };
	size_t length;
	const char *type = lode_json_plain_text(values[TYPE], &length);

	if (!type || length < 5 || memcmp(type, "cuda_", 5) != 0)
		return 0;
	event.thread = find_thread(reading, values[TASK]);
	event.stack = find_stack(reading, values[STACK_ID]);
	return lode_wprof_gpu_read(&reading->gpu, &reading->import, &event);
}

static int read_event(struct reading *reading, struct lode_json_value root, const struct lode_json_value *values)
{
	uint64_t t;

	if (lode_json_ns(values[TIME], 1e9, &t) < 0) {
		reading->timeless++;
		return 0;
	}
	reading->events++;
	reading->last = t > reading->last ? t : reading->last;
	if (lode_json_is_text(values[TYPE], "switch"))
		read_switch(reading, values, t);
	else if (lode_json_is_text(values[TYPE], "waking") || lode_json_is_text(values[TYPE], "wakeup_new"))
		read_waking(reading, values, t);
	else if (lode_json_is_text(values[TYPE], "timer"))
		add_run(reading, values, t, reading->period_ns);
	else if (lode_json_is_text(values[TYPE], "pmu_event"))
		read_counter(reading, values, t);
	else if (lode_json_is_text(values[TYPE], "req_event"))
		read_request(reading, values, t);
	else if (!read_gpu(reading, root, values, t))
		reading->others++;
	return reading->import.stream.failed ? lode_fail_memory(reading->import.error) : 0;
}

/* ---- lines ---- */

static int read_header(struct reading *reading, struct lode_json_value root)
{
	double frequency = lode_json_double_or(lode_json_get(root, "timer_freq_hz"), 0);

	if (lode_json_kind(lode_json_get(root, "version")) != LODE_JSON_TEXT)
		return fail(reading, "the first line is not a header of wprof (`version`, `timer_freq_hz`); is it "
				     "the output of wprof -J?");
	reading->period_ns = reading->import.options->unit_ns > 0 ? reading->import.options->unit_ns
			     : frequency > 0                      ? 1e9 / frequency
								  : 0;
	return 0;
}

static int read_line(struct reading *reading, const char *line, size_t length)
{
	struct lode_json_value root, values[MEMBERS];
	struct lode_error why;
	const char *colon;

	if (lode_json_check("", line, length, &root, &why) < 0) {
		colon = strstr(why.text, ": ");
		return fail(reading, colon ? colon + 2 : why.text);
	}
	if (reading->line == 1)
		return read_header(reading, root);
	lode_json_get_all(root, keys, values, MEMBERS);
	return values[TYPE].at ? read_event(reading, root, values) : add_stack(reading, values);
}

static int read_lines(struct reading *reading, const char *text, size_t size)
{
	const char *end = text + size;
	int code = 0;

	while (code == 0 && text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t length = newline ? (size_t)(newline - text) : (size_t)(end - text);

		reading->line++;
		if (length) {
			code = read_line(reading, text, length);
			if (code == LODE_BAD_INPUT && !newline && reading->line > 1) { /* it was being written */
				lode_notes_add(reading->import.options->notes, 1, LODE_LEFT_OUT_LINE, NULL);
				code = 0;
			}
		}
		text += length + 1;
	}
	return code;
}

static void add_notes(const struct reading *reading)
{
	const struct lode_import_options *options = reading->import.options;

	lode_notes_add(
		options->notes, reading->others,
		"events that are neither switches, wakings nor samples (interrupts, work queues, …), left out",
		NULL);
	lode_notes_add(options->notes, reading->counters, "samples of counters other than clocks, left out", NULL);
	lode_symptom_markers_note(options, reading->requests, "requests");
	lode_notes_add(options->notes, reading->timeless, "events without a time, left out", NULL);
	lode_notes_add(options->notes, reading->missing, "stacks that the file does not hold, left out", NULL);
	lode_notes_add(options->notes, reading->cut, LODE_CUT_AT_LEAF, NULL);
}

/* Runs are samples here. */
static int add_gpu_events(struct reading *reading)
{
	struct lode_stream *stream = &reading->import.stream;
	uint8_t *sampled = lode_calloc(stream->thread_count + 1, 1);
	int code = LODE_SYSTEM;

	if (sampled) {
		memset(sampled, 1, stream->thread_count);
		reading->gpu.sampled = sampled;
		code = lode_gpu_add_events(&reading->gpu, stream, reading->import.options->notes);
	}
	lode_free(sampled);
	return code < 0 ? lode_fail_memory(reading->import.error) : 0;
}

static int fill(void *context, const unsigned char *bytes, size_t size)
{
	struct reading *reading = context;
	int code;

	reading->sched = lode_sched_create(&reading->import.stream, reading->import.options->notes);
	if (!reading->sched)
		return lode_fail_memory(reading->import.error);
	code = read_lines(reading, (const char *)bytes, size);
	if (code == 0 && lode_sched_finish(reading->sched, reading->last) < 0)
		code = lode_fail_memory(reading->import.error);
	lode_sched_destroy(reading->sched);
	if (code == 0 && !reading->events)
		code = fail(reading, "it has no events");
	if (code == 0)
		code = add_gpu_events(reading);
	if (code == 0)
		add_notes(reading);
	return code;
}

static int read_input(struct lode_input *input, const struct lode_import_options *options,
		      const struct lode_import_sink *sink, struct lode_error *error)
{
	struct reading reading = { .import = { .input = input, .options = options, .error = error } };
	int code = lode_json_import_bytes(&reading.import, fill, &reading, sink);

	lode_index_release(&reading.index);
	lode_frame_memo_release(&reading.frames);
	lode_gpu_facts_release(&reading.gpu);
	lode_free(reading.stacks.items);
	return code;
}

static int sniff(const unsigned char *bytes, size_t size, const char *name)
{
	(void)name;
	return size && bytes[0] == '{' && lode_sniff_has(bytes, size, "\"timer_freq_hz\"") &&
			       lode_sniff_has(bytes, size, "\"stack_cnt\"")
		       ? 97
		       : 0;
}

const struct lode_importer lode_importer_wprof = {
	.name = "wprof",
	.description = "wprof JSON (-J): switches, wakers, samples with their stacks",
	.sniff = sniff,
	.read = read_input,
};
