/*
 * Chrome's trace events in JSON (`chrome://tracing`, the developer tools' performance
 * recordings, and the many programs that write this format for Perfetto): an array of events,
 * or an object that has it as `traceEvents`.
 *
 *	B E X		slices of a thread: nested ones are a stack, their time is run time (slices.h)
 *	P, `samples`	samples with a stack (chrome_stacks.h), V8's profiles (chrome_profiles.h)
 *	i I R		instants: calls, with the slices around them as their stack
 *	b e n, S T F	asynchronous slices: symptoms, if an option names them
 *	M		names of threads
 *	X s f		GPUs: activities of streams, and calls that launch them (chrome_gpu.h)
 *
 * Where a thread has samples, its slices would count the same time twice, so they are left out there.
 * Counters, flows, objects and memory dumps are no time of a thread. Text of ftrace in
 * `systemTraceEvents`, as systrace puts it there, is a separate stream.
 *
 * A trace that `lode export --format chrome` wrote says so in `otherData`: its slices are
 * the runs, waits and calls that they were.
 */
#include "base/array.h"
#include "import/json/chrome_gpu.h"
#include "import/json/chrome_lode.h"
#include "import/json/chrome_profiles.h"
#include "import/exported_facts.h"
#include "import/import_common.h"
#include "import/slices.h"
#include "import/symptom_markers.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

extern const struct lode_importer lode_importer_ftrace;

/* Both ends of an asynchronous slice have the same key. */
struct async_mark {
	uint64_t key;
	uint64_t t;
	uint64_t until; /* of a beginning whose end was found */
	uint32_t thread;
	uint32_t name; /* string */
	uint32_t order;
	int begins;
};

struct reading {
	struct lode_json_import import;
	struct lode_chrome_stacks stacks;
	struct lode_chrome_profiles profiles;
	struct lode_chrome_lode own;
	struct lode_chrome_gpu gpu;
	struct lode_chrome_gpu_slice slice; /* the event, if it is one */
	struct lode_slices slices;
	struct lode_frame_memo names; /* from a name as it is written to a frame */
	struct lode_frame_memo ids;   /* numbers of threads whose id is no number of 32 bits */
	LODE_ARRAY(struct async_mark) async;
	struct lode_exported_facts facts;
	struct lode_json_value system; /* text of ftrace */
	int is_repaired;
	struct lode_json_value last_pid, last_tid; /* of the event before, and its thread */
	uint32_t last_thread;
	uint64_t events;
	uint64_t timeless;
	uint64_t others;
	uint64_t async_slices;
	uint64_t async_open;
};

/* Members of an event. */
struct members {
	struct lode_json_value phase, name, category, ts, duration, cpu_duration, pid, tid, id, id2, sf, args,
		weight, cpu;
};

/* ---- members ---- */

static struct lode_json_value *member_of(struct members *members, const char *key, size_t length)
{
#define IS(text) (memcmp(key, text, sizeof(text) - 1) == 0)
	switch (length) {
	case 2:
		return IS("ph")   ? &members->phase
		       : IS("ts") ? &members->ts
		       : IS("id") ? &members->id
		       : IS("sf") ? &members->sf
				  : NULL;
	case 3:
		return IS("pid")   ? &members->pid
		       : IS("tid") ? &members->tid
		       : IS("cat") ? &members->category
		       : IS("dur") ? &members->duration
		       : IS("id2") ? &members->id2
		       : IS("cpu") ? &members->cpu
				   : NULL;
	case 4:
		return IS("name")   ? &members->name
		       : IS("args") ? &members->args
		       : IS("tdur") ? &members->cpu_duration
				    : NULL;
	case 6:
		return IS("weight") ? &members->weight : NULL;
	default:
		return NULL;
	}
#undef IS
}

/* Reads the event that `events` is at, and passes it. */
static void read_members(struct lode_json_walk *events, struct members *members)
{
	struct lode_json_value event, value, *member;
	struct lode_json_walk walk = { NULL, NULL };
	const char *key;
	size_t length;

	memset(members, 0, sizeof(*members));
	lode_json_peek(events, &event);
	if (lode_json_kind(event) == LODE_JSON_OBJECT)
		walk = lode_json_walk(event);
	while (lode_json_member_text(&walk, &key, &length, &value)) {
		member = key ? member_of(members, key, length) : NULL;
		if (member)
			*member = value;
	}
	lode_json_pass(events, &walk);
}

/* ---- threads and names ---- */

static int same_bytes(struct lode_json_value a, struct lode_json_value b)
{
	size_t length = lode_json_length(a);

	return length == lode_json_length(b) && (!length || memcmp(a.at, b.at, length) == 0);
}

/* A number of 32 bits as it is; other ids, texts too, are numbered from 1. LODE_NONE: no memory. */
static uint32_t number_id(struct reading *reading, struct lode_json_value value, int *is_text)
{
	uint64_t number = lode_json_u64_or(value, UINT64_MAX), hash;
	size_t length = lode_json_length(value);
	uint32_t id;

	*is_text = 0;
	if (number < LODE_NO_PID - 1)
		return (uint32_t)number;
	*is_text = 1;
	hash = lode_hash_bytes(value.at, length);
	id = lode_frame_memo_find(&reading->ids, value.at, length, hash);
	if (id != LODE_NONE)
		return id;
	id = (uint32_t)reading->ids.count + 1;
	return lode_frame_memo_add(&reading->ids, value.at, length, hash, id) < 0 ? LODE_NONE : id;
}

/* A thread with an id that is no number is called by it, until a name comes. */
static int name_by_id(struct reading *reading, uint32_t thread, struct lode_json_value tid)
{
	struct lode_stream *stream = &reading->import.stream;
	const char *text = lode_json_string(tid, &reading->import.text);

	if (stream->threads[thread].name)
		return 0;
	if (text && !text[0]) {
		lode_buffer_clear(&reading->import.text);
		lode_buffer_add(&reading->import.text, tid.at, lode_json_length(tid));
		lode_buffer_byte(&reading->import.text, '\0');
		text = reading->import.text.failed ? NULL : reading->import.text.bytes;
	}
	return text ? lode_import_name_thread(stream, thread, text, strlen(text)) : LODE_SYSTEM;
}

/* The thread of an event; LODE_NONE when memory has run out. */
static uint32_t find_thread(struct reading *reading, const struct members *members)
{
	uint32_t pid = LODE_NO_PID, tid = 0, thread;
	int pid_is_text, tid_is_text = 0;

	if (reading->last_tid.at && same_bytes(members->tid, reading->last_tid) &&
	    same_bytes(members->pid, reading->last_pid))
		return reading->last_thread;
	if (members->pid.at && (pid = number_id(reading, members->pid, &pid_is_text)) == LODE_NONE)
		return LODE_NONE;
	if (members->tid.at && (tid = number_id(reading, members->tid, &tid_is_text)) == LODE_NONE)
		return LODE_NONE;
	if (reading->facts.is_lode && pid == LODE_CHROME_NO_PROCESS)
		pid = LODE_NO_PID;
	thread = lode_stream_thread(&reading->import.stream, pid, tid);
	if (thread == LODE_NONE || (tid_is_text && name_by_id(reading, thread, members->tid) < 0))
		return LODE_NONE;
	reading->last_pid = members->pid;
	reading->last_tid = members->tid;
	reading->last_thread = thread;
	return thread;
}

/* The frame that a slice's name means; LODE_NONE when memory has run out. */
static uint32_t find_name(struct reading *reading, struct lode_json_value name, int is_python)
{
	size_t length;
	const char *text = lode_json_plain_text(name, &length);
	uint64_t hash;
	uint32_t frame;

	if (!text) {
		text = lode_json_string(name, &reading->import.text);
		length = text ? strlen(text) : 0;
	}
	if (!text)
		return LODE_NONE;
	if (!length) {
		text = "(unnamed)";
		length = strlen(text);
	}
	if (is_python)
		return lode_chrome_gpu_python(&reading->gpu, text, length);
	hash = lode_hash_bytes(text, length);
	frame = lode_frame_memo_find(&reading->names, text, length, hash);
	if (frame != LODE_NONE)
		return frame;
	frame = lode_frames_add(&reading->import.dictionary.frames, 0, text, length);
	if (frame == LODE_NONE || lode_frame_memo_add(&reading->names, text, length, hash, frame) < 0)
		return LODE_NONE;
	return frame;
}

static int read_metadata(struct reading *reading, const struct members *members)
{
	struct lode_chrome_gpu_slice slice = { .name = members->name,
					       .pid = members->pid,
					       .tid = members->tid,
					       .args = members->args };
	int code = lode_chrome_gpu_metadata(&reading->gpu, &slice);
	uint32_t string, thread;
	const char *name;

	if (code != 0 || !lode_json_is_text(members->name, "thread_name"))
		return code < 0 ? code : 0;
	thread = find_thread(reading, members);
	if (thread == LODE_NONE)
		return lode_fail_memory(reading->import.error);
	name = lode_json_string(lode_json_get(members->args, "name"), &reading->import.text);
	name = name ? lode_chrome_gpu_thread_name(&reading->gpu, reading->import.text.bytes) : NULL;
	string = name ? lode_strings_add(&reading->import.dictionary.frames.strings, name, strlen(name))
		      : LODE_NONE;
	if (string == LODE_NONE)
		return lode_fail_memory(reading->import.error);
	if (string)
		reading->import.stream.threads[thread].name = string;
	return 0;
}

/* ---- asynchronous slices ---- */

/* Both ends have the same category, id and name, and a local id the same process. */
static uint64_t async_key(const struct members *members, uint32_t pid)
{
	struct lode_json_value local = lode_json_get(members->id2, "local"),
			       global = lode_json_get(members->id2, "global");
	struct lode_json_value id = local.at ? local : global.at ? global : members->id;
	uint64_t key = lode_hash_u64(local.at ? pid : UINT64_MAX);

	key = lode_hash_u64(key ^ lode_hash_bytes(members->category.at, lode_json_length(members->category)));
	key = lode_hash_u64(key ^ lode_hash_bytes(id.at, lode_json_length(id)));
	return lode_hash_u64(key ^ lode_hash_bytes(members->name.at, lode_json_length(members->name)));
}

static int read_async(struct reading *reading, const struct members *members, uint32_t thread, uint64_t t,
		      int begins)
{
	const struct lode_frames *frames = &reading->import.dictionary.frames;
	uint32_t frame = find_name(reading, members->name, 0);
	struct async_mark mark = { .t = t,
				   .thread = thread,
				   .order = (uint32_t)reading->async.count,
				   .begins = begins };
	int is_own = reading->facts.is_lode && lode_json_is_text(members->category, "symptom");

	if (frame == LODE_NONE)
		return lode_fail_memory(reading->import.error);
	reading->async_slices += begins && !is_own;
	if (!is_own && !lode_symptom_marker(reading->import.options, lode_frames_function(frames, frame)))
		return 0;
	mark.key = async_key(members, reading->import.stream.threads[thread].pid);
	if (!is_own || !lode_json_is_text(members->name, "symptom"))
		mark.name = frames->items[frame].function;
	if (LODE_PUSH(&reading->async, mark) < 0)
		return lode_fail_memory(reading->import.error);
	return 0;
}

static int compare_async(const void *a, const void *b)
{
	const struct async_mark *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->t != y->t)
		return x->t < y->t ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int compare_order(const void *a, const void *b)
{
	const struct async_mark *x = a, *y = b;

	return x->order < y->order ? -1 : x->order > y->order;
}

/* An end belongs to the beginning just before it with the same key; `until` of that becomes its time. */
static void join_async(struct reading *reading)
{
	struct async_mark *marks = reading->async.items;

	qsort(marks, reading->async.count, sizeof(*marks), compare_async);
	for (size_t i = 0; i < reading->async.count; i++) {
		if (!marks[i].begins || i + 1 == reading->async.count || marks[i + 1].begins ||
		    marks[i + 1].key != marks[i].key) {
			reading->async_open++;
			marks[i].begins = 0;
			continue;
		}
		marks[i].until = marks[i + 1].t;
		i++;
	}
	qsort(marks, reading->async.count, sizeof(*marks), compare_order);
}

static int finish_async(struct reading *reading)
{
	if (reading->async.count)
		join_async(reading);
	for (size_t i = 0; i < reading->async.count; i++) {
		const struct async_mark *mark = &reading->async.items[i];
		struct lode_symptom symptom = { mark->thread, mark->name, mark->t, mark->until };

		if (mark->begins && lode_stream_add_symptom(&reading->import.stream, &symptom) < 0)
			return lode_fail_memory(reading->import.error);
	}
	return 0;
}

/* ---- events ---- */

/* The end of a slice whose duration makes no sense. */
#define NO_TIME UINT64_MAX

static struct lode_chrome_gpu_slice gpu_slice(const struct lode_chrome_gpu *gpu, const struct members *members,
					      uint64_t t)
{
	struct lode_json_value duration = members->duration.at ? members->duration : members->cpu_duration;
	struct lode_chrome_gpu_slice slice = { members->name,
					       members->pid,
					       members->tid,
					       members->args,
					       t,
					       NO_TIME,
					       lode_chrome_gpu_kind(gpu, members->category) };
	uint64_t ns = 0;

	if (!duration.at || lode_json_ns(duration, 1e3, &ns) == 0)
		slice.t1 = lode_add_saturating(t, ns);
	return slice;
}

static int read_slice(struct reading *reading, const struct members *members, char phase, uint32_t thread,
		      uint64_t t)
{
	const struct lode_chrome_gpu_slice *slice = &reading->slice;
	uint32_t frame = phase == 'E' && !members->name.at
				 ? LODE_NONE
				 : find_name(reading, members->name, slice->kind == LODE_KINETO_PYTHON);
	int code;

	if (frame == LODE_NONE && members->name.at)
		return lode_fail_memory(reading->import.error);
	if (phase == 'X' && slice->t1 == NO_TIME) {
		reading->timeless++;
		return 0;
	}
	if (phase == 'X' && (code = lode_chrome_gpu_call(&reading->gpu, slice, thread, frame)) < 0)
		return code;
	if (phase == 'X')
		code = lode_slices_add(&reading->slices, thread, t, slice->t1, frame);
	else if (phase == 'B')
		code = lode_slices_begin(&reading->slices, thread, t, frame);
	else
		code = lode_slices_end(&reading->slices, thread, t, frame);
	return code < 0 ? lode_fail_memory(reading->import.error) : 0;
}

static int read_sample(struct reading *reading, const struct members *members, uint32_t thread, uint64_t t)
{
	uint64_t cpu = lode_json_u64_or(members->cpu, LODE_NO_CPU);
	struct lode_chrome_sample sample = { .t = t,
					     .weight = lode_json_double_or(members->weight, 1),
					     .thread = thread,
					     .cpu = cpu < LODE_NO_CPU ? (uint16_t)cpu : LODE_NO_CPU };
	int code = lode_chrome_stacks_find(&reading->stacks, members->sf, &sample.stack);

	return code < 0 ? code : lode_chrome_stacks_sample(&reading->stacks, &sample);
}

static int is_profile(const struct members *members)
{
	return lode_json_is_text(members->name, "Profile") || lode_json_is_text(members->name, "ProfileChunk") ||
	       lode_json_is_text(members->name, "CpuProfile");
}

static int read_profile(struct reading *reading, const struct members *members, uint32_t thread, uint64_t t)
{
	struct lode_chrome_profile_event event = { members->id, members->args,
						   reading->import.stream.threads[thread].pid, thread, t };

	return lode_chrome_profiles_add(&reading->profiles, &event);
}

static int read_instant(struct reading *reading, const struct members *members, uint32_t thread, uint64_t t)
{
	uint32_t frame = find_name(reading, members->name, 0);

	if (frame == LODE_NONE || lode_slices_instant(&reading->slices, thread, t,
						      reading->import.dictionary.frames.items[frame].function) < 0)
		return lode_fail_memory(reading->import.error);
	return 0;
}

static int read_own(struct reading *reading, const struct members *members, char phase, uint32_t thread, uint64_t t)
{
	struct lode_chrome_own_event event = {
		.category = members->category,
		.name = members->name,
		.duration = members->duration,
		.sf = members->sf,
		.args = members->args,
		.thread = thread,
		.t = t,
		.is_instant = phase != 'X',
	};

	return lode_chrome_lode_read(&reading->own, &event);
}

static int read_phase(struct reading *reading, const struct members *members, char phase, uint32_t thread,
		      uint64_t t)
{
	int code;

	if (reading->facts.is_lode && (phase == 'X' || phase == 'i') &&
	    (code = read_own(reading, members, phase, thread, t)) != 0)
		return code < 0 ? code : 0;
	switch (phase) {
	case 'B':
	case 'E':
	case 'X':
		return read_slice(reading, members, phase, thread, t);
	case 'P':
		return is_profile(members) ? read_profile(reading, members, thread, t)
					   : read_sample(reading, members, thread, t);
	case 'i':
	case 'I':
	case 'R':
		return lode_json_is_text(members->name, "CpuProfile") ? read_profile(reading, members, thread, t)
								      : read_instant(reading, members, thread, t);
	case 'b':
	case 'S':
	case 'e':
	case 'F':
		return read_async(reading, members, thread, t, phase == 'b' || phase == 'S');
	default:
		reading->others++;
		return 0;
	}
}

static int read_event(struct reading *reading, struct lode_json_walk *events)
{
	struct members members;
	uint64_t t = 0;
	uint32_t thread;
	size_t length;
	const char *phase;
	int code;

	read_members(events, &members);
	phase = lode_json_plain_text(members.phase, &length);
	if (!phase || length != 1) {
		reading->others++;
		return 0;
	}
	if (*phase == 'M')
		return read_metadata(reading, &members);
	reading->events++;
	if (lode_json_ns(members.ts, 1e3, &t) < 0 || __builtin_add_overflow(t, reading->facts.start, &t)) {
		reading->timeless++;
		return 0;
	}
	if (strchr("stf", *phase)) { /* flows: launches are known by their numbers */
		reading->others += !lode_json_is_text(members.category, "ac2g");
		return 0;
	}
	if (strchr("BEX", *phase))
		reading->slice = gpu_slice(&reading->gpu, &members, t);
	if (*phase == 'X' && reading->slice.t1 != NO_TIME &&
	    (code = lode_chrome_gpu_activity(&reading->gpu, &reading->slice)) != 0)
		return code < 0 ? code : 0;
	thread = find_thread(reading, &members);
	if (thread == LODE_NONE)
		return lode_fail_memory(reading->import.error);
	return read_phase(reading, &members, *phase, thread, t);
}

/* ---- the whole ---- */

static int read_events(struct reading *reading, struct lode_json_value events)
{
	struct lode_json_walk walk = lode_json_walk(events);
	struct lode_json_value event;
	int code = 0;

	while (code == 0 && lode_json_peek(&walk, &event))
		code = read_event(reading, &walk);
	return code;
}

/* The array `samples` of the document: what `P` events are, without a phase. */
static int read_samples(struct reading *reading, struct lode_json_value samples)
{
	struct lode_json_walk walk = lode_json_walk(samples);
	struct lode_json_value object;
	struct members members;
	int code = 0;

	while (code == 0 && lode_json_peek(&walk, &object)) {
		uint32_t thread;
		uint64_t t;

		read_members(&walk, &members);
		thread = find_thread(reading, &members);
		if (thread == LODE_NONE)
			return lode_fail_memory(reading->import.error);
		if (lode_json_ns(members.ts, 1e3, &t) < 0) {
			reading->timeless++;
			continue;
		}
		reading->events++;
		code = read_sample(reading, &members, thread, t);
	}
	return code;
}

static void add_notes(const struct reading *reading)
{
	const struct lode_import_options *options = reading->import.options;

	lode_notes_add(options->notes, reading->timeless, "events without a plausible time, left out", NULL);
	lode_notes_add(options->notes, reading->others,
		       "events other than time of a thread (counters, flows, objects), left out", NULL);
	lode_symptom_markers_note(options, reading->async_slices, "asynchronous slices");
	lode_notes_add(options->notes, reading->async_open,
		       "asynchronous slices of which one end is missing, left out", NULL);
	if (reading->slices.count)
		lode_notes_add(options->notes,
			       1, "traces of slices, whose time is taken as run time, although threads may have waited",
			       lode_input_name(reading->import.input));
}

static int finish(struct reading *reading)
{
	struct lode_stream *stream = &reading->import.stream;
	uint8_t *measured = lode_calloc(stream->thread_count + 1, 1);
	int code;

	if (!measured)
		return lode_fail_memory(reading->import.error);
	code = lode_chrome_stacks_finish(&reading->stacks, measured);
	if (code == 0)
		code = lode_chrome_profiles_finish(&reading->profiles, measured);
	if (code == 0 && lode_slices_finish(&reading->slices, stream, measured, reading->import.options) < 0)
		code = lode_fail_memory(reading->import.error);
	if (code == 0)
		code = finish_async(reading);
	if (code == 0)
		code = lode_chrome_gpu_finish(&reading->gpu);
	lode_free(measured);
	add_notes(reading);
	return code;
}

enum {
	EVENTS,
	FRAMES,
	SAMPLES,
	FACTS,
	SYSTEM,
	DEVICES,
	PARTS,
};

/*
 * The members of the document. PyTorch's profiler writes none of these behind the events: where a trace begins as its traces do,
 * hundreds of megabytes of events are not passed once more to look there.
 */
static void find_parts(struct lode_json_value root, struct lode_json_value parts[PARTS])
{
	static const char *const keys[PARTS] = { "traceEvents", "stackFrames",       "samples",
						 "otherData",   "systemTraceEvents", "deviceProperties" };
	struct lode_json_walk walk = lode_json_walk(root), unknown = { NULL, NULL };
	struct lode_json_value key, value;

	while (lode_json_peek_member(&walk, &key, &value)) {
		for (size_t i = 0; i < PARTS; i++)
			if (!parts[i].at && lode_json_is_text(key, keys[i]))
				parts[i] = value;
		if (parts[EVENTS].at && parts[DEVICES].at)
			break;
		lode_json_pass_member(&walk, value, &unknown);
	}
}

static int read_document(void *context, struct lode_json_value root)
{
	struct reading *reading = context;
	struct lode_json_value parts[PARTS] = { { NULL } };
	int code;

	if (lode_json_kind(root) == LODE_JSON_ARRAY)
		parts[EVENTS] = root;
	else
		find_parts(root, parts);
	reading->system = parts[SYSTEM];
	reading->gpu.is_kineto = lode_json_kind(parts[DEVICES]) == LODE_JSON_ARRAY;
	reading->is_repaired = reading->import.repaired.size != 0; /* a copy, which does not outlive this */
	if (lode_json_kind(parts[EVENTS]) != LODE_JSON_ARRAY)
		return lode_json_reject(&reading->import,
					"there is no array `traceEvents`; is it a Chrome trace?");
	code = lode_exported_facts_read(&reading->import, parts[FACTS], &reading->facts);
	reading->stacks.is_lode = reading->facts.is_lode;
	if (code == 0)
		code = lode_chrome_stacks_load(&reading->stacks, parts[FRAMES]);
	if (code == 0)
		code = read_events(reading, parts[EVENTS]);
	if (code == 0)
		code = read_samples(reading, parts[SAMPLES]);
	if (code < 0)
		return code;
	if (!reading->events && !reading->facts.is_lode && lode_json_kind(reading->system) != LODE_JSON_TEXT)
		return lode_json_reject(&reading->import, "the trace has no events");
	return finish(reading);
}

/* The stream behind the one that was delivered. */
static int handle_second(void *context, struct lode_stream *stream, unsigned ordinal, struct lode_error *error)
{
	const struct lode_import_sink *sink = context;

	return sink->take(sink->context, stream, ordinal + 1, error);
}

/* What systrace recorded of the scheduler. The document is still there: it is the input's. */
static int read_system(struct reading *reading, const struct lode_import_sink *sink)
{
	struct lode_json_import *import = &reading->import;
	struct lode_import_sink second = { handle_second, (void *)(uintptr_t)sink };
	struct lode_buffer text = { 0 };
	struct lode_input *input = NULL;
	int code = 0;

	if (lode_json_kind(reading->system) != LODE_JSON_TEXT || reading->is_repaired)
		return 0;
	lode_json_text_to(reading->system, &text);
	if (text.failed)
		code = lode_fail_memory(reading->import.error);
	if (code == 0 && text.size)
		code = lode_input_memory(&input, lode_input_name(import->input), text.bytes, text.size,
					 import->error);
	if (code == 0 && input)
		code = lode_importer_ftrace.read(input, import->options, &second, import->error);
	lode_input_close(input);
	lode_buffer_release(&text);
	return code;
}

static int sniff(const unsigned char *bytes, size_t size, const char *name)
{
	(void)name;
	while (size && memchr(" \t\r\n\xef\xbb\xbf", *bytes, 7)) {
		bytes++;
		size--;
	}
	if (!size || (*bytes != '{' && *bytes != '['))
		return 0;
	if (*bytes == '{' && lode_sniff_has(bytes, size, "\"traceEvents\""))
		return 95;
	if (*bytes == '{' && lode_sniff_has(bytes, size, "\"deviceProperties\"") &&
	    lode_sniff_has(bytes, size, "\"schemaVersion\"")) /* of many GPUs, in front of the events */
		return 90;
	if (*bytes == '{') /* the developer tools put many lines of facts in front of the events */
		return lode_sniff_has(bytes, size, "\"metadata\"") && lode_sniff_has(bytes, size, "\"DevTools\"")
			       ? 80
			       : 0;
	return lode_sniff_has(bytes, size, "\"ph\"") &&
			       (lode_sniff_has(bytes, size, "\"ts\"") || lode_sniff_has(bytes, size, "\"pid\""))
		       ? 80
		       : 0;
}

static int read_input(struct lode_input *input, const struct lode_import_options *options,
		      const struct lode_import_sink *sink, struct lode_error *error)
{
	struct reading reading = {
		.import = { .input = input, .options = options, .error = error, .may_end_early = 1 }
	};
	int code;

	reading.stacks.import = reading.profiles.import = reading.own.import = reading.gpu.import = &reading.import;
	reading.own.stacks = &reading.stacks;
	code = lode_json_import_run(&reading.import, read_document, &reading, sink);
	if (code == 0)
		code = read_system(&reading, sink);
	lode_chrome_stacks_release(&reading.stacks);
	lode_chrome_profiles_release(&reading.profiles);
	lode_chrome_gpu_release(&reading.gpu);
	lode_slices_release(&reading.slices);
	lode_frame_memo_release(&reading.names);
	lode_frame_memo_release(&reading.ids);
	lode_free(reading.async.items);
	return code;
}

const struct lode_importer lode_importer_chrome = {
	.name = "chrome",
	.description = "Chrome trace events (JSON): slices, samples, V8 profiles",
	.sniff = sniff,
	.read = read_input,
};
