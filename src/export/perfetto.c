/*
 * Exporter `perfetto`: the protobuf trace of Perfetto, for https://ui.perfetto.dev and
 * trace_processor. A trace is a sequence of packets:
 *
 *	threads	a track each, below their process
 *	run	a sample with its call stack (PerfSample)
 *	wait	a slice of its thread, named by its innermost function, with its stack; the time on
 *		the run queue after it is another. Where the waker is known, an arrow (flow) leads
 *		from its thread, at that moment, to the woken one
 *	call	an instant of its thread
 *	symptom	a slice on a separate track below its thread
 *
 * Functions, mappings and call stacks are interned: each is written once, in front of its first
 * use, and named by a number. Process and thread numbers are the recording's own for one stream;
 * of several, whose hosts may use the same numbers, each stream has its own range. All times are
 * as recorded.
 *
 * What the format cannot express is stored where other readers ignore it, for importing the trace
 * again: the facts of the stream (stream_facts.h) as text of a test event, the rest of a wait as
 * annotations. A sample's counter is the run time of its thread so far.
 */
#include "export/export.h"
#include "export/merge.h"
#include "export/process_leaders.h"
#include "export/stream_facts.h"

#include "base/protobuf_out.h"

#include <inttypes.h>

/* Numbers of fields and values of Perfetto's messages. */
enum {
	TRACE_PACKET = 1,

	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_TRACK = 60,
	PACKET_PERF_SAMPLE = 66,
	PACKET_TEST = 900,

	FLAG_CLEARED = 1, /* what was interned before is gone */
	FLAG_NEEDED = 2,  /* it uses what was interned */

	INTERNED_FUNCTION_NAME = 5,
	INTERNED_FRAME = 6,
	INTERNED_CALLSTACK = 7,
	INTERNED_MAPPING_PATH = 17,
	INTERNED_MAPPING = 19,
	INTERNED_ANNOTATION_TEXT = 29,

	STRING_ID = 1,
	STRING_TEXT = 2,
	MAPPING_ID = 1,
	MAPPING_PATH = 7,
	FRAME_ID = 1,
	FRAME_FUNCTION = 2,
	FRAME_MAPPING = 3,
	FRAME_RELATIVE_PC = 4,
	CALLSTACK_ID = 1,
	CALLSTACK_FRAME = 2,

	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	PROCESS_PID = 1,
	PROCESS_NAME = 6,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,

	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_TRACK = 11,
	EVENT_CATEGORY = 22,
	EVENT_NAME = 23,
	EVENT_FLOW = 47,
	EVENT_FLOW_END = 48,
	EVENT_CALLSTACK = 56,
	ANNOTATION_NAME = 10,
	ANNOTATION_NUMBER = 3,
	ANNOTATION_TEXT = 6,
	ANNOTATION_TEXT_ID = 17,

	TEST_TEXT = 1,

	TYPE_BEGIN = 1,
	TYPE_END = 2,
	TYPE_INSTANT = 3,

	SAMPLE_CPU = 1,
	SAMPLE_PID = 2,
	SAMPLE_TID = 3,
	SAMPLE_CALLSTACK = 4,
	SAMPLE_MODE = 5,
	SAMPLE_COUNTER = 6,
	MODE_KERNEL = 1,
	MODE_USER = 2,
};

/* Numbers that a stream's processes and threads have, where there are several streams. */
#define STREAM_BITS 22
#define MAX_STREAMS ((1u << (31 - STREAM_BITS)) - 1)

struct writer {
	struct lode_export *export;
	const struct lode_stream *stream; /* the one being written */
	size_t number;                    /* its place among the streams */
	uint64_t first_track;             /* thread i has track first_track + 2 * i, a process the one behind it */
	uint64_t next_track;
	uint64_t next_flow;
	uint64_t weighted;   /* events that represent several */
	uint64_t *run_times; /* by thread: the sum of its samples so far */
	struct lode_buffer packet;
	struct lode_buffer data;  /* what the packet is about */
	struct lode_buffer inner; /* a message in that */
	struct lode_buffer interned;
	struct lode_buffer text;
	uint8_t *frames_done; /* interned already, by frame, module, node */
	uint8_t *modules_done;
	uint8_t *stacks_done;
	size_t frame_capacity;
	size_t module_capacity;
	size_t stack_capacity;
	size_t frame_count;
	size_t module_count;
	size_t stack_count;
	uint32_t *path; /* frames of a stack */
	size_t path_capacity;
	int started;
};

static const char *text_of(const struct writer *writer, uint32_t string)
{
	return lode_strings_get(&writer->export->dictionary.frames.strings, string);
}

/* ---- packets ---- */

/* Writes `data` as field `field` of a packet, with what was interned for it. */
static int end_packet(struct writer *writer, unsigned field, const uint64_t *t, struct lode_error *error)
{
	struct lode_buffer *packet = &writer->packet;

	if (t)
		lode_protobuf_put_number(packet, PACKET_TIMESTAMP, *t);
	lode_protobuf_put_number(packet, PACKET_SEQUENCE, 1);
	lode_protobuf_put_number(packet, PACKET_FLAGS, writer->started ? FLAG_NEEDED : FLAG_CLEARED);
	writer->started = 1;
	if (writer->interned.size || writer->interned.failed)
		lode_protobuf_put_message(packet, PACKET_INTERNED, &writer->interned);
	lode_protobuf_put_message(packet, field, &writer->data);
	if (writer->inner.failed || writer->text.failed)
		packet->failed = 1;
	lode_protobuf_put_message(&writer->export->output->buffer, TRACE_PACKET, packet);
	return lode_output_flow(writer->export->output, error);
}

/* ---- what is interned ---- */

static int grow_table(uint8_t **table, size_t *count, size_t *capacity, size_t wanted)
{
	if (lode_grow(table, capacity, wanted, 1) < 0)
		return LODE_SYSTEM;
	if (wanted > *count) {
		memset(*table + *count, 0, wanted - *count);
		*count = wanted;
	}
	return 0;
}

/* Room for what the dictionary has come to hold. */
static int grow_tables(struct writer *writer, struct lode_error *error)
{
	const struct lode_dictionary *dictionary = &writer->export->dictionary;

	if (grow_table(&writer->frames_done, &writer->frame_count, &writer->frame_capacity,
		       dictionary->frames.count) < 0 ||
	    grow_table(&writer->modules_done, &writer->module_count, &writer->module_capacity,
		       dictionary->frames.module_count) < 0 ||
	    grow_table(&writer->stacks_done, &writer->stack_count, &writer->stack_capacity,
		       dictionary->tree.count) < 0)
		return lode_fail_memory(error);
	return 0;
}

static void intern_text(struct writer *writer, unsigned field, uint64_t id, const char *text, size_t size)
{
	lode_protobuf_put_number(&writer->inner, STRING_ID, id);
	lode_protobuf_put_bytes(&writer->inner, STRING_TEXT, text, size);
	lode_protobuf_put_message(&writer->interned, field, &writer->inner);
}

/* Numbers begin at 1. Module 0 is none. */
static void intern_module(struct writer *writer, uint32_t module)
{
	const struct lode_module *item = &writer->export->dictionary.frames.modules[module];
	const char *path = text_of(writer, item->path ? item->path : item->name);

	if (!module || writer->modules_done[module])
		return;
	writer->modules_done[module] = 1;
	intern_text(writer, INTERNED_MAPPING_PATH, module, path, strlen(path));
	lode_protobuf_put_number(&writer->inner, MAPPING_ID, module);
	lode_protobuf_put_number(&writer->inner, MAPPING_PATH, module);
	lode_protobuf_put_message(&writer->interned, INTERNED_MAPPING, &writer->inner);
}

/* Frames have no addresses here; their numbers keep them apart. */
static void intern_frame(struct writer *writer, uint32_t frame)
{
	const struct lode_frames *frames = &writer->export->dictionary.frames;
	const char *function = lode_frames_function(frames, frame);
	uint32_t module = frames->items[frame].module;

	if (writer->frames_done[frame])
		return;
	writer->frames_done[frame] = 1;
	intern_module(writer, module);
	intern_text(writer, INTERNED_FUNCTION_NAME, (uint64_t)frame + 1, function, strlen(function));
	lode_protobuf_put_number(&writer->inner, FRAME_ID, (uint64_t)frame + 1);
	lode_protobuf_put_number(&writer->inner, FRAME_FUNCTION, (uint64_t)frame + 1);
	if (module)
		lode_protobuf_put_number(&writer->inner, FRAME_MAPPING, module);
	lode_protobuf_put_number(&writer->inner, FRAME_RELATIVE_PC, frame);
	lode_protobuf_put_message(&writer->interned, INTERNED_FRAME, &writer->inner);
}

/* The stack's call stack and its text, both under the number of its node. Stack 0 is none. */
static int intern_stack(struct writer *writer, uint32_t node, struct lode_error *error)
{
	const struct lode_stack_tree *tree = &writer->export->dictionary.tree;
	uint32_t depth = lode_stack_tree_depth(tree, node);

	if (!node || writer->stacks_done[node])
		return 0;
	if (lode_grow(&writer->path, &writer->path_capacity, depth, sizeof(*writer->path)) < 0)
		return lode_fail_memory(error);
	writer->stacks_done[node] = 1;
	lode_stack_tree_frames(tree, node, writer->path, depth);
	lode_buffer_clear(&writer->text);
	for (uint32_t i = 0; i < depth; i++) {
		intern_frame(writer, writer->path[i]);
		lode_buffer_text(&writer->text, i ? ";" : "");
		lode_frames_text(&writer->export->dictionary.frames, writer->path[i], &writer->text);
	}
	intern_text(writer, INTERNED_ANNOTATION_TEXT, node, writer->text.bytes, writer->text.size);
	writer->interned.failed |= writer->text.failed;
	lode_protobuf_put_number(&writer->inner, CALLSTACK_ID, node);
	for (uint32_t i = 0; i < depth; i++)
		lode_protobuf_put_number(&writer->inner, CALLSTACK_FRAME, (uint64_t)writer->path[i] + 1);
	lode_protobuf_put_message(&writer->interned, INTERNED_CALLSTACK, &writer->inner);
	return 0;
}

/* ---- processes and threads ---- */

/* A number of the stream's range. A thread whose process is unknown is one of its own. */
static uint32_t outer_id(const struct writer *writer, uint32_t id)
{
	if (writer->export->count == 1)
		return id & INT32_MAX;
	return (uint32_t)(writer->number + 1) << STREAM_BITS | (id & ((1u << STREAM_BITS) - 1));
}

static uint32_t pid_of(const struct writer *writer, uint32_t thread)
{
	const struct lode_thread *item = &writer->stream->threads[thread];

	return outer_id(writer, item->pid == LODE_NO_PID ? item->tid : item->pid);
}

static uint64_t track_of(const struct writer *writer, uint32_t thread)
{
	return writer->first_track + 2ull * thread;
}

/* The process whose first thread is `thread`, named by `leader`. */
static int write_process(struct writer *writer, uint32_t thread, uint32_t leader, struct lode_error *error)
{
	const struct lode_thread *item = &writer->stream->threads[leader];

	lode_buffer_clear(&writer->text);
	if (writer->export->count > 1)
		lode_buffer_print(&writer->text, "%s: ", text_of(writer, writer->stream->name));
	if (item->pid == item->tid && item->name)
		lode_buffer_text(&writer->text, text_of(writer, item->name));
	else
		lode_buffer_print(&writer->text, "process %" PRIu32, item->pid);
	lode_protobuf_put_number(&writer->inner, PROCESS_PID, pid_of(writer, thread));
	lode_protobuf_put_bytes(&writer->inner, PROCESS_NAME, writer->text.bytes, writer->text.size);
	lode_protobuf_put_number(&writer->data, TRACK_UUID, track_of(writer, thread) + 1);
	lode_protobuf_put_message(&writer->data, TRACK_PROCESS, &writer->inner);
	return end_packet(writer, PACKET_TRACK, NULL, error);
}

static int write_thread(struct writer *writer, uint32_t thread, struct lode_error *error)
{
	const struct lode_thread *item = &writer->stream->threads[thread];

	lode_protobuf_put_number(&writer->inner, THREAD_PID, pid_of(writer, thread));
	lode_protobuf_put_number(&writer->inner, THREAD_TID, outer_id(writer, item->tid));
	if (item->name)
		lode_protobuf_put_text(&writer->inner, THREAD_NAME, text_of(writer, item->name));
	lode_protobuf_put_number(&writer->data, TRACK_UUID, track_of(writer, thread));
	lode_protobuf_put_message(&writer->data, TRACK_THREAD, &writer->inner);
	return end_packet(writer, PACKET_TRACK, NULL, error);
}

/* A process has one track, which trace processors know it by; one that is unknown has none. */
static int write_threads(struct writer *writer, struct lode_error *error)
{
	const struct lode_stream *stream = writer->stream;
	uint32_t *first = lode_calloc(stream->thread_count, sizeof(*first));
	uint32_t *leaders = lode_calloc(stream->thread_count, sizeof(*leaders));
	int code = first && leaders ? lode_process_leaders(stream, first, leaders) : LODE_SYSTEM;

	if (code < 0)
		lode_fail_memory(error);
	for (uint32_t i = 0; i < stream->thread_count && code == 0; i++) {
		if (leaders[i] != LODE_NONE && stream->threads[i].pid != LODE_NO_PID)
			code = write_process(writer, i, leaders[i], error);
		if (code == 0)
			code = write_thread(writer, i, error);
	}
	lode_free(first);
	lode_free(leaders);
	return code;
}

/* ---- events ---- */

static int write_run(struct writer *writer, const struct lode_event *event, struct lode_error *error)
{
	const struct lode_frames *frames = &writer->export->dictionary.frames;
	int code = intern_stack(writer, event->stack, error), is_kernel = 0;

	if (code < 0)
		return code;
	if (event->stack) {
		uint32_t leaf = writer->export->dictionary.tree.nodes[event->stack].frame;

		is_kernel = frames->modules[frames->items[leaf].module].kind == LODE_KIND_KERNEL;
	}
	if (event->cpu != LODE_NO_CPU)
		lode_protobuf_put_number(&writer->data, SAMPLE_CPU, event->cpu);
	lode_protobuf_put_number(&writer->data, SAMPLE_PID, pid_of(writer, event->thread));
	lode_protobuf_put_number(&writer->data, SAMPLE_TID,
				 outer_id(writer, writer->stream->threads[event->thread].tid));
	if (event->stack)
		lode_protobuf_put_number(&writer->data, SAMPLE_CALLSTACK, event->stack);
	lode_protobuf_put_number(&writer->data, SAMPLE_MODE, is_kernel ? MODE_KERNEL : MODE_USER);
	writer->run_times[event->thread] =
		lode_add_saturating(writer->run_times[event->thread],
				    lode_weighted(event->cost, event->weight ? event->weight : 1));
	lode_protobuf_put_number(&writer->data, SAMPLE_COUNTER, writer->run_times[event->thread]);
	return end_packet(writer, PACKET_PERF_SAMPLE, &event->t, error);
}

/* A mark on a track: the beginning, the end or all of a slice. */
struct mark {
	unsigned type;
	uint64_t track;
	uint64_t t;
	const char *category;
	const char *name;
	uint32_t stack;
	uint64_t flow; /* 0: none */
	int flow_ends;
	const struct lode_event *event; /* all of which goes into annotations, or NULL */
};

static void put_annotation(struct writer *writer, const char *name, uint64_t number)
{
	lode_protobuf_put_text(&writer->inner, ANNOTATION_NAME, name);
	lode_protobuf_put_number(&writer->inner, ANNOTATION_NUMBER, number);
	lode_protobuf_put_message(&writer->data, EVENT_ANNOTATION, &writer->inner);
}

static void put_text_annotation(struct writer *writer, const char *name, uint32_t string)
{
	lode_protobuf_put_text(&writer->inner, ANNOTATION_NAME, name);
	lode_protobuf_put_text(&writer->inner, ANNOTATION_TEXT, text_of(writer, string));
	lode_protobuf_put_message(&writer->data, EVENT_ANNOTATION, &writer->inner);
}

/* The waker's and holder's numbers are those of the trace. */
static void put_event_facts(struct writer *writer, const struct lode_event *event)
{
	if (event->waker != LODE_NONE)
		put_annotation(writer, "waker", outer_id(writer, writer->stream->threads[event->waker].tid));
	if (event->waker_stack)
		put_annotation(writer, "waker_stack", event->waker_stack);
	if (event->delay)
		put_annotation(writer, "delay_ns", event->delay);
	if (event->cpu != LODE_NO_CPU)
		put_annotation(writer, "cpu", event->cpu);
	if (event->weight > 1)
		put_annotation(writer, "weight", event->weight);
	if (event->context)
		put_text_annotation(writer, "context", event->context);
	if (!event->object)
		return;
	put_text_annotation(writer, "object", event->object);
	if (event->holder != LODE_NONE)
		put_annotation(writer, "holder", outer_id(writer, writer->stream->threads[event->holder].tid));
}

static void put_annotations(struct writer *writer, const struct mark *mark)
{
	if (mark->stack) {
		lode_protobuf_put_text(&writer->inner, ANNOTATION_NAME, "stack");
		lode_protobuf_put_number(&writer->inner, ANNOTATION_TEXT_ID, mark->stack);
		lode_protobuf_put_message(&writer->data, EVENT_ANNOTATION, &writer->inner);
		lode_protobuf_put_number(&writer->data, EVENT_CALLSTACK, mark->stack);
	}
	if (mark->event)
		put_event_facts(writer, mark->event);
}

static int write_mark(struct writer *writer, const struct mark *mark, struct lode_error *error)
{
	struct lode_buffer *data = &writer->data;
	int code = intern_stack(writer, mark->stack, error);

	if (code == 0 && mark->event)
		code = intern_stack(writer, mark->event->waker_stack, error);
	if (code < 0)
		return code;
	lode_protobuf_put_number(data, EVENT_TYPE, mark->type);
	lode_protobuf_put_number(data, EVENT_TRACK, mark->track);
	if (mark->name) {
		lode_protobuf_put_text(data, EVENT_CATEGORY, mark->category);
		lode_protobuf_put_text(data, EVENT_NAME, mark->name);
	}
	put_annotations(writer, mark);
	if (mark->flow)
		lode_protobuf_put_fixed64(data, mark->flow_ends ? EVENT_FLOW_END : EVENT_FLOW, mark->flow);
	return end_packet(writer, PACKET_TRACK_EVENT, &mark->t, error);
}

static int write_end(struct writer *writer, uint64_t track, uint64_t t, struct lode_error *error)
{
	struct mark end = { .type = TYPE_END, .track = track, .t = t };

	return write_mark(writer, &end, error);
}

static const char *name_of(const struct writer *writer, const struct lode_event *event, const char *otherwise)
{
	if (event->name)
		return text_of(writer, event->name);
	return event->stack ? lode_frames_function(&writer->export->dictionary.frames,
						   writer->export->dictionary.tree.nodes[event->stack].frame)
			    : otherwise;
}

/* The end of a wait: the waker's mark, and the time on the run queue or another mark. */
static int write_waking(struct writer *writer, const struct lode_event *event, uint64_t t, struct lode_error *error)
{
	int is_known = event->waker != LODE_NONE;
	struct mark wakes = { .type = TYPE_INSTANT,
			      .t = t,
			      .category = "waking",
			      .name = "wakes",
			      .stack = event->waker_stack };
	struct mark woken = { .type = event->delay ? TYPE_BEGIN : TYPE_INSTANT,
			      .track = track_of(writer, event->thread),
			      .t = t,
			      .category = "delay",
			      .name = event->delay ? "on the run queue" : "woken",
			      .flow_ends = 1 };
	int code = 0;

	if (is_known) {
		wakes.track = track_of(writer, event->waker);
		wakes.flow = woken.flow = writer->next_flow++;
		code = write_mark(writer, &wakes, error);
	}
	if (code == 0 && (is_known || event->delay))
		code = write_mark(writer, &woken, error);
	if (code == 0 && event->delay)
		code = write_end(writer, woken.track, lode_add_saturating(t, event->delay), error);
	return code;
}

static int write_wait(struct writer *writer, const struct lode_event *event, struct lode_error *error)
{
	uint64_t end = lode_add_saturating(event->t, event->cost);
	struct mark mark = { .type = TYPE_BEGIN,
			     .track = track_of(writer, event->thread),
			     .t = event->t,
			     .category = "wait",
			     .name = name_of(writer, event, "wait"),
			     .stack = event->stack,
			     .event = event };
	int code = write_mark(writer, &mark, error);

	if (code == 0)
		code = write_end(writer, mark.track, end, error);
	return code < 0 ? code : write_waking(writer, event, end, error);
}

/* A call that represents time in the run queue (a preemption) is a slice. */
static int write_call(struct writer *writer, const struct lode_event *event, struct lode_error *error)
{
	struct mark mark = { .type = event->delay ? TYPE_BEGIN : TYPE_INSTANT,
			     .track = track_of(writer, event->thread),
			     .t = event->t,
			     .category = "call",
			     .name = name_of(writer, event, "call"),
			     .stack = event->stack,
			     .event = event };
	int code = write_mark(writer, &mark, error);

	if (code < 0 || !event->delay)
		return code;
	return write_end(writer, mark.track, lode_add_saturating(event->t, event->delay), error);
}

static int write_symptom(struct writer *writer, const struct lode_symptom *symptom, struct lode_error *error)
{
	const char *name = symptom->name ? text_of(writer, symptom->name) : "symptom";
	struct mark mark = { .type = TYPE_BEGIN,
			     .track = writer->next_track++,
			     .t = symptom->t0,
			     .category = "symptom",
			     .name = name };
	int code;

	lode_protobuf_put_number(&writer->data, TRACK_UUID, mark.track);
	lode_protobuf_put_number(&writer->data, TRACK_PARENT, track_of(writer, symptom->thread));
	lode_protobuf_put_text(&writer->data, TRACK_NAME, "symptoms");
	code = end_packet(writer, PACKET_TRACK, NULL, error);
	if (code == 0)
		code = write_mark(writer, &mark, error);
	return code < 0 ? code : write_end(writer, mark.track, symptom->t1, error);
}

/* ---- the whole ---- */

static int write_events(struct writer *writer, struct lode_export_stream *source, struct lode_error *error)
{
	int (*const writers[])(struct writer *, const struct lode_event *, struct lode_error *) = {
		write_run,
		write_wait,
		write_call,
	};
	struct lode_merge merge;
	enum lode_event_type type;
	struct lode_event event;
	int got = 0, code = lode_merge_init(&merge, writer->export, source, error);

	while (code == 0 && (got = lode_merge_next(&merge, &type, &event, error)) > 0) {
		code = writers[type](writer, &event, error);
		writer->weighted += event.weight > 1;
	}
	lode_merge_release(&merge);
	return code < 0 ? code : got;
}

static int write_facts(struct writer *writer, struct lode_error *error)
{
	lode_buffer_clear(&writer->text);
	if (writer->export->count == 1)
		lode_stream_facts_put(&writer->text, writer->stream, 0);
	else
		lode_stream_facts_put_several(&writer->text, writer->export->count);
	lode_protobuf_put_bytes(&writer->data, TEST_TEXT, writer->text.bytes, writer->text.size);
	return end_packet(writer, PACKET_TEST, NULL, error);
}

static int write_stream(void *context, struct lode_export_stream *source, struct lode_error *error)
{
	struct writer *writer = context;
	int code = grow_tables(writer, error);

	writer->stream = &source->stream;
	writer->number = source->number;
	writer->first_track = writer->next_track;
	writer->next_track += 2 * source->stream.thread_count;
	writer->run_times = lode_calloc(source->stream.thread_count, sizeof(*writer->run_times));
	if (code == 0 && !writer->run_times)
		code = lode_fail_memory(error);
	if (code == 0 && (writer->export->count == 1 || !writer->number))
		code = write_facts(writer, error);
	if (code == 0)
		code = write_threads(writer, error);
	if (code == 0)
		code = write_events(writer, source, error);
	for (size_t i = 0; i < source->stream.symptom_count && code == 0; i++)
		code = write_symptom(writer, &source->stream.symptoms[i], error);
	lode_free(writer->run_times);
	return code;
}

static void release(struct writer *writer)
{
	lode_buffer_release(&writer->packet);
	lode_buffer_release(&writer->data);
	lode_buffer_release(&writer->inner);
	lode_buffer_release(&writer->interned);
	lode_buffer_release(&writer->text);
	lode_free(writer->frames_done);
	lode_free(writer->modules_done);
	lode_free(writer->stacks_done);
	lode_free(writer->path);
}

static int write_all(struct lode_export *export, struct lode_error *error)
{
	struct writer writer = { .export = export, .next_track = 1, .next_flow = 1 };
	int code;

	if (export->count > MAX_STREAMS)
		return lode_fail(error, LODE_USAGE,
				 "perfetto: a trace has room for %u streams; choose some with --stream",
				 MAX_STREAMS);
	code = lode_export_streams(export, write_stream, &writer, error);
	lode_notes_add(export->options->notes, writer.weighted,
		       "events that represent several in a thinned recording, shown once", NULL);
	release(&writer);
	return code;
}

const struct lode_exporter lode_exporter_perfetto = {
	.name = "perfetto",
	.description = "protobuf trace for ui.perfetto.dev: samples, waits, wakers and symptoms of threads",
	.extension = ".perfetto-trace",
	.binary = 1,
	.passes = 1,
	.write = write_all,
};
