/* Tracks of Perfetto's traces and the events on them: see perfetto_tracks.h. */
#include "import/protobuf/perfetto_tracks.h"

#include "base/memory.h"
#include "import/symptom_markers.h"

#include <stdlib.h>

/* Numbers of fields and values. */
enum {
	TRACK_UUID = 1,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	DESCRIPTOR_PID = 1,
	DESCRIPTOR_TID = 2,
	DESCRIPTOR_NAME = 5,
	EVENT_DELTA_US = 1,
	EVENT_ANNOTATION = 4,
	EVENT_LEGACY = 6,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK = 11,
	EVENT_ABSOLUTE_US = 16,
	EVENT_CATEGORY = 22,
	EVENT_NAME = 23,
	EVENT_CALLSTACK = 56,
	LEGACY_NAME_IID = 1,
	LEGACY_PHASE = 2,
	LEGACY_DURATION_US = 3,
	ANNOTATION_NUMBER = 3,
	ANNOTATION_TEXT = 6,
	ANNOTATION_NAME = 10,
	TYPE_BEGIN = 1,
	TYPE_END = 2,
	TYPE_INSTANT = 3,
};

/* Tracks above one another. */
#define TRACK_DEPTH 64

void lode_perfetto_tracks_release(struct lode_perfetto_tracks *tracks)
{
	lode_index_release(&tracks->index);
	lode_free(tracks->items);
	lode_free(tracks->marks.items);
	lode_free(tracks->events.items);
	lode_free(tracks->symptoms.items);
}

/* ---- tracks ---- */

static struct lode_perfetto_track *find_track(const struct lode_perfetto_tracks *tracks, uint64_t uuid)
{
	uint32_t id = LODE_INDEX_FIND(i, &tracks->index, lode_hash_u64(uuid), tracks->items[i].uuid == uuid);

	return id == LODE_NONE ? NULL : &tracks->items[id];
}

uint32_t lode_perfetto_thread_descriptor(struct lode_perfetto_threads *threads, struct lode_cursor message)
{
	struct lode_cursor name = lode_cursor("", 0);
	struct lode_protobuf_field field;
	uint32_t pid = LODE_NO_PID, tid = 0;

	while (lode_protobuf_next(&message, &field)) {
		if (field.number == DESCRIPTOR_PID && field.wire == LODE_WIRE_VARINT)
			pid = (uint32_t)field.value;
		else if (field.number == DESCRIPTOR_TID && field.wire == LODE_WIRE_VARINT)
			tid = (uint32_t)field.value;
		else if (field.number == DESCRIPTOR_NAME && field.wire == LODE_WIRE_BYTES)
			name = field.bytes;
	}
	return lode_perfetto_thread_named(threads, pid, tid, (const char *)name.next, lode_cursor_left(&name));
}

/* The main thread of a ProcessDescriptor. */
static uint32_t main_thread(struct lode_perfetto_threads *threads, struct lode_cursor message)
{
	uint64_t numbers[DESCRIPTOR_PID + 1] = { 0 };

	lode_protobuf_numbers(message, numbers, DESCRIPTOR_PID + 1);
	return lode_perfetto_thread_named(threads, (uint32_t)numbers[DESCRIPTOR_PID],
					  (uint32_t)numbers[DESCRIPTOR_PID], "", 0);
}

int lode_perfetto_track(struct lode_perfetto_tracks *tracks, struct lode_cursor message)
{
	struct lode_perfetto_track track = { .thread = LODE_NONE }, *old;
	struct lode_protobuf_field field;

	while (lode_protobuf_next(&message, &field)) {
		if (field.number == TRACK_UUID && field.wire != LODE_WIRE_BYTES)
			track.uuid = field.value;
		else if (field.number == TRACK_PARENT && field.wire != LODE_WIRE_BYTES)
			track.parent = field.value;
		else if (field.wire == LODE_WIRE_BYTES &&
			 (field.number == TRACK_THREAD || (field.number == TRACK_PROCESS && !tracks->is_lode))) {
			track.is_thread = field.number == TRACK_THREAD;
			track.thread = track.is_thread
					       ? lode_perfetto_thread_descriptor(tracks->threads, field.bytes)
					       : main_thread(tracks->threads, field.bytes);
			if (track.thread == LODE_NONE)
				return lode_fail_memory(tracks->import->error);
		}
	}
	old = find_track(tracks, track.uuid);
	if (old) {
		*old = track;
		return 0;
	}
	if (LODE_INDEX_PUSH(&tracks->index, lode_hash_u64(track.uuid), tracks, track) < 0)
		return lode_fail_memory(tracks->import->error);
	return 0;
}

/* The thread that a track belongs to, in the end, and whether it is the thread's own. */
static uint32_t thread_of_track(const struct lode_perfetto_tracks *tracks, uint64_t uuid, int *is_thread)
{
	const struct lode_perfetto_track *track = find_track(tracks, uuid);

	*is_thread = track && track->is_thread;
	for (int depth = 0; track && track->thread == LODE_NONE && depth < TRACK_DEPTH; depth++)
		track = track->parent ? find_track(tracks, track->parent) : NULL;
	return track ? track->thread : LODE_NONE;
}

/* ---- reading an event ---- */

struct event {
	unsigned type;
	uint64_t track;
	int has_track;
	uint64_t name_iid;
	struct lode_cursor name, category, legacy;
	uint64_t callstack;
	struct lode_cursor message; /* for its annotations */
};

static void read_event(struct lode_perfetto_context *context, struct lode_cursor message, struct event *event)
{
	struct lode_protobuf_field field;

	*event = (struct event){ .name = lode_cursor("", 0),
				 .category = lode_cursor("", 0),
				 .legacy = lode_cursor("", 0) };
	event->message = message;
	while (lode_protobuf_next(&message, &field)) {
		switch (field.number) {
		case EVENT_TYPE:
			event->type = (unsigned)field.value;
			break;
		case EVENT_TRACK:
			event->track = field.value;
			event->has_track = 1;
			break;
		case EVENT_NAME_IID:
			event->name_iid = field.value;
			break;
		case EVENT_NAME:
			event->name = field.bytes;
			break;
		case EVENT_CATEGORY:
			event->category = field.bytes;
			break;
		case EVENT_LEGACY:
			event->legacy = field.bytes;
			break;
		case EVENT_CALLSTACK:
			event->callstack = field.value;
			break;
		case EVENT_DELTA_US:
			context->t = *context->event_time += field.value * 1000;
			break;
		case EVENT_ABSOLUTE_US:
			context->t = field.value * 1000;
		}
	}
}

/* The frame of the event's name; LODE_NONE when it has none. Memory that runs out is in `failed`. */
static uint32_t name_of(struct lode_perfetto_tracks *tracks, const struct lode_perfetto_context *context,
			const struct event *event, int *failed)
{
	struct lode_cursor name = event->name_iid ? lode_perfetto_text(tracks->interned, context->scope,
								       LODE_PERFETTO_EVENT_NAME, event->name_iid)
						  : event->name;
	uint32_t frame;

	*failed = 0;
	if (!lode_cursor_left(&name))
		return LODE_NONE;
	frame = lode_frames_add(&tracks->import->dictionary.frames, 0, (const char *)name.next,
				lode_cursor_left(&name));
	*failed = frame == LODE_NONE;
	return frame;
}

static int add_mark(struct lode_perfetto_tracks *tracks, struct lode_perfetto_mark mark)
{
	mark.order = (uint32_t)tracks->marks.count;
	if (tracks->marks.count >= LODE_NONE - 1 || LODE_PUSH(&tracks->marks, mark) < 0)
		return lode_fail_memory(tracks->import->error);
	return 0;
}

/* Old traces say with a letter what newer ones say with a type; a whole slice is a beginning and an end. */
static int read_legacy(struct event *event, uint64_t *duration)
{
	struct lode_cursor message = event->legacy;
	struct lode_protobuf_field field;
	uint64_t phase = 0;

	*duration = 0;
	while (lode_protobuf_next(&message, &field)) {
		if (field.number == LEGACY_PHASE)
			phase = field.value;
		else if (field.number == LEGACY_DURATION_US)
			*duration = field.value * 1000;
		else if (field.number == LEGACY_NAME_IID)
			event->name_iid = field.value;
	}
	switch (phase) {
	case 'B':
	case 'X':
		event->type = TYPE_BEGIN;
		break;
	case 'E':
		event->type = TYPE_END;
		break;
	case 'I':
	case 'i':
	case 'R':
		event->type = TYPE_INSTANT;
	}
	return phase == 'X';
}

/* ---- our own export ---- */

static int add_own(struct lode_perfetto_tracks *tracks, enum lode_event_type type, const struct lode_event *event)
{
	if (LODE_PUSH(&tracks->events, (struct lode_perfetto_own_event){ *event, type }) < 0)
		return lode_fail_memory(tracks->import->error);
	return 0;
}

static int keep_thread(struct lode_perfetto_tracks *tracks, uint64_t number, uint32_t *thread)
{
	*thread = lode_perfetto_thread(tracks->threads, (uint32_t)number);
	return *thread == LODE_NONE ? lode_fail_memory(tracks->import->error) : 0;
}

/* Its holder, where it has one, comes behind it. */
static int keep_object(struct lode_perfetto_tracks *tracks, struct lode_cursor text, struct lode_event *event)
{
	event->object = lode_strings_add(&tracks->import->dictionary.frames.strings, (const char *)text.next,
					 lode_cursor_left(&text));
	event->holder = LODE_NONE;
	return event->object == LODE_NONE ? lode_fail_memory(tracks->import->error) : 0;
}

static int keep_context(struct lode_perfetto_tracks *tracks, struct lode_cursor text, struct lode_event *event)
{
	event->context = lode_strings_add(&tracks->import->dictionary.frames.strings, (const char *)text.next,
					  lode_cursor_left(&text));
	return event->context == LODE_NONE ? lode_fail_memory(tracks->import->error) : 0;
}

static int read_annotation(struct lode_perfetto_tracks *tracks, const struct lode_perfetto_context *context,
			   struct lode_cursor message, struct lode_event *event)
{
	struct lode_cursor name = lode_cursor("", 0), text = name;
	struct lode_protobuf_field field;
	uint64_t number = 0;

	while (lode_protobuf_next(&message, &field)) {
		if (field.number == ANNOTATION_NAME && field.wire == LODE_WIRE_BYTES)
			name = field.bytes;
		else if (field.number == ANNOTATION_TEXT && field.wire == LODE_WIRE_BYTES)
			text = field.bytes;
		else if (field.number == ANNOTATION_NUMBER)
			number = field.value;
	}
	if (lode_protobuf_is(name, "waker"))
		return keep_thread(tracks, number, &event->waker);
	if (lode_protobuf_is(name, "object"))
		return keep_object(tracks, text, event);
	if (lode_protobuf_is(name, "context"))
		return keep_context(tracks, text, event);
	if (lode_protobuf_is(name, "holder") && event->object)
		return keep_thread(tracks, number, &event->holder);
	if (lode_protobuf_is(name, "waker_stack"))
		return lode_perfetto_stack(tracks->interned, context->scope, number, &event->waker_stack);
	if (lode_protobuf_is(name, "delay_ns"))
		event->delay = number;
	else if (lode_protobuf_is(name, "cpu"))
		event->cpu = number < LODE_NO_CPU ? (uint16_t)number : LODE_NO_CPU;
	else if (lode_protobuf_is(name, "weight"))
		event->weight = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
	return 0;
}

/* Waits without a name are called by their innermost function; calls keep theirs in any case. */
static int name_own(struct lode_perfetto_tracks *tracks, const struct event *from, struct lode_perfetto_own *own)
{
	const struct lode_dictionary *dictionary = &tracks->import->dictionary;
	uint32_t leaf = own->event.stack ? dictionary->tree.nodes[own->event.stack].frame : LODE_NONE;

	if (lode_protobuf_is(from->name, own->is_symptom ? "symptom" : "wait") && own->type != LODE_CALL)
		return 0;
	own->name = lode_strings_add(&tracks->import->dictionary.frames.strings, (const char *)from->name.next,
				     lode_cursor_left(&from->name));
	if (own->name == LODE_NONE)
		return lode_fail_memory(tracks->import->error);
	if (own->type == LODE_CALL || leaf == LODE_NONE || dictionary->frames.items[leaf].function != own->name)
		own->event.name = own->name;
	return 0;
}

static int begin_own(struct lode_perfetto_tracks *tracks, const struct lode_perfetto_context *context,
		     const struct event *from)
{
	struct lode_perfetto_own *own = &tracks->own;
	struct lode_cursor message = from->message;
	struct lode_protobuf_field field;
	int code = 0, is_thread;

	*own = (struct lode_perfetto_own){ .is_open = 1, .uuid = from->track };
	own->is_symptom = lode_protobuf_is(from->category, "symptom");
	own->type = lode_protobuf_is(from->category, "wait")   ? LODE_WAIT
		    : lode_protobuf_is(from->category, "call") ? LODE_CALL
							       : LODE_EVENT_TYPES;
	own->event = (struct lode_event){ .t = context->t, .waker = LODE_NONE, .cpu = LODE_NO_CPU };
	own->event.thread = thread_of_track(tracks, from->track, &is_thread);
	if (own->event.thread == LODE_NONE || (own->type == LODE_EVENT_TYPES && !own->is_symptom)) {
		own->type = LODE_EVENT_TYPES;
		own->is_symptom = 0;
		return 0;
	}
	code = lode_perfetto_stack(tracks->interned, context->scope, from->callstack, &own->event.stack);
	while (code == 0 && lode_protobuf_next(&message, &field))
		if (field.number == EVENT_ANNOTATION && field.wire == LODE_WIRE_BYTES)
			code = read_annotation(tracks, context, field.bytes, &own->event);
	return code < 0 ? code : name_own(tracks, from, own);
}

static int end_own(struct lode_perfetto_tracks *tracks, uint64_t t)
{
	struct lode_perfetto_own *own = &tracks->own;
	struct lode_symptom symptom = { own->event.thread, own->name, own->event.t, t };

	own->is_open = 0;
	if (own->is_symptom) {
		if (LODE_PUSH(&tracks->symptoms, symptom) < 0)
			return lode_fail_memory(tracks->import->error);
		return 0;
	}
	if (own->type == LODE_EVENT_TYPES)
		return 0;
	if (own->type == LODE_WAIT)
		own->event.cost = t > own->event.t ? t - own->event.t : 0;
	return add_own(tracks, own->type, &own->event);
}

static int read_own(struct lode_perfetto_tracks *tracks, const struct lode_perfetto_context *context,
		    const struct event *event)
{
	int code;

	if (event->type == TYPE_END)
		return tracks->own.is_open && tracks->own.uuid == event->track ? end_own(tracks, context->t) : 0;
	code = begin_own(tracks, context, event);
	if (code == 0 && event->type == TYPE_INSTANT)
		code = end_own(tracks, context->t);
	return code;
}

/* ---- events ---- */

int lode_perfetto_track_event(struct lode_perfetto_tracks *tracks, struct lode_perfetto_context *context,
			      struct lode_cursor message)
{
	struct lode_perfetto_mark mark;
	struct event event;
	uint64_t duration;
	int failed, is_whole, code;

	read_event(context, message, &event);
	if (tracks->is_lode)
		return read_own(tracks, context, &event);
	is_whole = read_legacy(&event, &duration);
	if (event.type < TYPE_BEGIN || event.type > TYPE_INSTANT) {
		tracks->others++;
		return 0;
	}
	mark = (struct lode_perfetto_mark){ .t = context->t,
					    .uuid = event.has_track ? event.track : context->track,
					    .thread = event.has_track || context->track ? LODE_NONE
											: context->thread,
					    .frame = name_of(tracks, context, &event, &failed),
					    .type = (uint8_t)event.type };
	if (failed)
		return lode_fail_memory(tracks->import->error);
	code = add_mark(tracks, mark);
	if (code == 0 && is_whole) {
		mark.t += duration;
		mark.type = TYPE_END;
		code = add_mark(tracks, mark);
	}
	return code;
}

/* ---- at the end ---- */

static int find_stream_thread(struct lode_perfetto_tracks *tracks, uint32_t number, uint32_t *thread)
{
	*thread = number == LODE_NONE
			  ? LODE_NONE
			  : lode_perfetto_stream_thread(tracks->threads, &tracks->import->stream, number);
	return number != LODE_NONE && *thread == LODE_NONE ? lode_fail_memory(tracks->import->error) : 0;
}

static int finish_own(struct lode_perfetto_tracks *tracks)
{
	for (size_t i = 0; i < tracks->events.count; i++) {
		struct lode_event *event = &tracks->events.items[i].event;

		if (find_stream_thread(tracks, event->thread, &event->thread) < 0 ||
		    find_stream_thread(tracks, event->waker, &event->waker) < 0 ||
		    (event->object && find_stream_thread(tracks, event->holder, &event->holder) < 0))
			return LODE_SYSTEM;
		if (lode_stream_add_event(&tracks->import->stream, tracks->events.items[i].type, event) < 0)
			return lode_fail_memory(tracks->import->error);
	}
	for (size_t i = 0; i < tracks->symptoms.count; i++) {
		if (find_stream_thread(tracks, tracks->symptoms.items[i].thread,
				       &tracks->symptoms.items[i].thread) < 0)
			return LODE_SYSTEM;
		if (lode_stream_add_symptom(&tracks->import->stream, &tracks->symptoms.items[i]) < 0)
			return lode_fail_memory(tracks->import->error);
	}
	return 0;
}

static int compare_marks(const void *a, const void *b)
{
	const struct lode_perfetto_mark *x = a, *y = b;

	if (x->uuid != y->uuid)
		return x->uuid < y->uuid ? -1 : 1;
	if (x->t != y->t)
		return x->t < y->t ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/*
 * Slices of tracks that are no thread's own: an end closes the last beginning of its track. `marks`
 * are those of all such tracks; they serve as the stack of what is open as well.
 */
static int finish_async(struct lode_perfetto_tracks *tracks, struct lode_perfetto_mark *marks, size_t count)
{
	const struct lode_frames *frames = &tracks->import->dictionary.frames;
	size_t open = 0;

	if (count)
		qsort(marks, count, sizeof(*marks), compare_marks);
	for (size_t i = 0; i < count; i++) {
		struct lode_perfetto_mark mark = marks[i], begin;
		struct lode_symptom symptom;

		if (open && marks[open - 1].uuid != mark.uuid)
			open = 0;
		if (mark.type == TYPE_BEGIN) {
			tracks->async++;
			marks[open++] = mark;
		}
		if (mark.type != TYPE_END || !open)
			continue;
		begin = marks[--open];
		if (begin.frame == LODE_NONE ||
		    !lode_symptom_marker(tracks->import->options, lode_frames_function(frames, begin.frame)))
			continue;
		symptom = (struct lode_symptom){ 0, frames->items[begin.frame].function, begin.t, mark.t };
		if (find_stream_thread(tracks, begin.thread, &symptom.thread) < 0)
			return LODE_SYSTEM;
		if (lode_stream_add_symptom(&tracks->import->stream, &symptom) < 0)
			return lode_fail_memory(tracks->import->error);
	}
	return 0;
}

static int add_slice_mark(struct lode_perfetto_tracks *tracks, struct lode_slices *slices,
			  const struct lode_perfetto_mark *mark, uint32_t thread)
{
	const struct lode_frames *frames = &tracks->import->dictionary.frames;
	uint32_t frame = mark->frame;

	if (mark->type == TYPE_END)
		return lode_slices_end(slices, thread, mark->t, LODE_NONE);
	if (frame == LODE_NONE)
		frame = lode_frames_add(&tracks->import->dictionary.frames, 0, "(unnamed)", 9);
	if (frame == LODE_NONE)
		return LODE_SYSTEM;
	return mark->type == TYPE_BEGIN
		       ? lode_slices_begin(slices, thread, mark->t, frame)
		       : lode_slices_instant(slices, thread, mark->t, frames->items[frame].function);
}

/* Gives marks of threads to `slices`; the others stay, `*async` of them, at the front. */
static int sort_out(struct lode_perfetto_tracks *tracks, struct lode_slices *slices, size_t *async)
{
	*async = 0;
	for (size_t i = 0; i < tracks->marks.count; i++) {
		struct lode_perfetto_mark mark = tracks->marks.items[i];
		int is_thread = mark.thread != LODE_NONE;
		uint32_t thread;

		if (!is_thread)
			mark.thread = thread_of_track(tracks, mark.uuid, &is_thread);
		if (mark.thread == LODE_NONE) {
			tracks->placeless++;
			continue;
		}
		if (!is_thread) {
			tracks->marks.items[(*async)++] = mark;
			continue;
		}
		if (find_stream_thread(tracks, mark.thread, &thread) < 0)
			return LODE_SYSTEM;
		if (add_slice_mark(tracks, slices, &mark, thread) < 0)
			return lode_fail_memory(tracks->import->error);
	}
	return 0;
}

/* Which of the stream's threads have better knowledge of their time than slices. */
static uint8_t *measured_threads(const struct lode_perfetto_tracks *tracks)
{
	uint8_t *measured = lode_calloc(tracks->import->stream.thread_count + 1, 1);

	for (size_t i = 0; measured && i < tracks->threads->count; i++)
		if (tracks->threads->items[i].measured && tracks->threads->items[i].stream_thread != LODE_NONE)
			measured[tracks->threads->items[i].stream_thread] = 1;
	return measured;
}

int lode_perfetto_tracks_finish(struct lode_perfetto_tracks *tracks)
{
	const struct lode_import_options *options = tracks->import->options;
	struct lode_slices slices = { 0 };
	uint8_t *measured = NULL;
	size_t async;
	int code = finish_own(tracks);

	if (code == 0)
		code = sort_out(tracks, &slices, &async);
	if (code == 0 && (!(measured = measured_threads(tracks)) ||
			  lode_slices_finish(&slices, &tracks->import->stream, measured, options) < 0))
		code = lode_fail_memory(tracks->import->error);
	if (code == 0)
		code = finish_async(tracks, tracks->marks.items, async);
	lode_symptom_markers_note(options, tracks->async, "slices on tracks of their own");
	lode_notes_add(options->notes, tracks->placeless,
		       "events on tracks that belong to no thread or process, left out", NULL);
	lode_notes_add(options->notes, tracks->others, "counters on tracks, left out", NULL);
	lode_free(measured);
	lode_slices_release(&slices);
	return code;
}
