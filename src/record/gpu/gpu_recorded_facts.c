/*
 * From what liblode-gpu.so reported to facts about GPUs (gpu/gpu_facts.h): see gpu_recording.h.
 *
 * CUPTI's clock runs beside the recorder's. Its readings are bracketed by two of the recorder's, and the difference between both
 * clocks at any moment is interpolated from those around it. Readings with wide brackets, in which the process was interrupted,
 * are left out, and so are those that no two clocks can have: CUPTI's settles only when CUDA is set up.
 */
#include "record/gpu/gpu_recorded_facts.h"

#include "base/bisect.h"
#include "base/starts_with.h"
#include "gpu/gpu_facts.h"
#include "record/gpu/gpu_recording.h"
#include "symbols/demangle.h"

#include <stdlib.h>
#include <string.h>

/* Names that are kept of all processes together. */
#define MAX_NAMES 1000000

void lode_gpu_recorded_release(struct lode_gpu_recorded *recorded)
{
	lode_free(recorded->calls.items);
	lode_free(recorded->activities.items);
	lode_free(recorded->clocks.items);
	lode_free(recorded->names.items);
	lode_index_release(&recorded->name_index);
	lode_buffer_release(&recorded->texts);
	memset(recorded, 0, sizeof(*recorded));
}

/* ---- what comes ---- */

static uint32_t find_name(const struct lode_gpu_recorded *recorded, uint32_t pid, uint32_t id)
{
	return LODE_INDEX_FIND(i, &recorded->name_index, lode_hash_pair(pid, id),
			       recorded->names.items[i].pid == pid && recorded->names.items[i].id == id);
}

/* The parts of a name come one after another, but those of several threads in between: each is appended to a copy. */
static int take_name(struct lode_gpu_recorded *recorded, const struct lode_gpu_slot *slot)
{
	const struct lode_gpu_ring_name *part = &slot->name;
	uint32_t at = find_name(recorded, slot->pid, part->id);
	struct lode_gpu_recorded_name *name;

	if (part->length > LODE_GPU_NAME_BYTES || recorded->names.count >= MAX_NAMES)
		return 0;
	if (at == LODE_NONE) {
		struct lode_gpu_recorded_name added = { slot->pid, part->id, recorded->texts.size, 0 };

		at = (uint32_t)recorded->names.count;
		if (LODE_INDEX_PUSH(&recorded->name_index, lode_hash_pair(slot->pid, part->id), &recorded->names,
				    added) < 0)
			return LODE_SYSTEM;
	}
	name = &recorded->names.items[at];
	if (part->at != name->length)
		return 0;
	if (name->start + name->length != recorded->texts.size) { /* another came in between */
		size_t start = recorded->texts.size;

		for (size_t i = 0; i < name->length; i++)
			lode_buffer_byte(&recorded->texts, recorded->texts.bytes[name->start + i]);
		name->start = start;
	}
	lode_buffer_add(&recorded->texts, part->text, part->length);
	name->length += part->length;
	return recorded->texts.failed ? LODE_SYSTEM : 0;
}

int lode_gpu_recorded_take(struct lode_gpu_recorded *recorded, const struct lode_gpu_slot *slot)
{
	switch (slot->type) {
	case LODE_GPU_SLOT_CALL:
		return slot->call.t1 >= slot->call.t0 ? LODE_PUSH(&recorded->calls, *slot) : 0;
	case LODE_GPU_SLOT_ACTIVITY:
		return slot->activity.end >= slot->activity.start ? LODE_PUSH(&recorded->activities, *slot) : 0;
	case LODE_GPU_SLOT_CLOCK:
		return slot->clock.after >= slot->clock.before ? LODE_PUSH(&recorded->clocks, *slot) : 0;
	case LODE_GPU_SLOT_NAME:
		return take_name(recorded, slot);
	default:
		return 0;
	}
}

/* ---- clocks ---- */

/* CUPTI's time, and what must be added to it. */
struct reading {
	uint64_t cupti;
	int64_t difference;
};

struct clocks {
	LODE_ARRAY(struct reading);
};

static int compare_readings(const void *a, const void *b)
{
	const struct reading *x = a, *y = b;

	return x->cupti < y->cupti ? -1 : x->cupti > y->cupti;
}

/* Clocks that are adjusted do not run apart faster, in parts of a million. */
#define MAX_DRIFT 500
/* Nor do readings differ by more nanoseconds. */
#define MAX_ERROR 1000000

/* Keeps the readings that agree with the middle one. */
static void drop_outliers(struct clocks *clocks)
{
	struct reading middle;
	size_t kept = 0;

	if (clocks->count < 3)
		return;
	middle = clocks->items[clocks->count / 2];
	for (size_t i = 0; i < clocks->count; i++) {
		struct reading reading = clocks->items[i];
		double apart = reading.cupti > middle.cupti ? (double)(reading.cupti - middle.cupti)
							    : (double)(middle.cupti - reading.cupti);
		double differs = (double)reading.difference - (double)middle.difference;

		if ((differs < 0 ? -differs : differs) <= MAX_ERROR + apart * MAX_DRIFT / 1e6)
			clocks->items[kept++] = reading;
	}
	clocks->count = kept;
}

static int make_clocks(const struct lode_gpu_recorded *recorded, struct clocks *clocks)
{
	uint64_t narrowest = UINT64_MAX;

	for (size_t i = 0; i < recorded->clocks.count; i++) {
		const struct lode_gpu_ring_clock *clock = &recorded->clocks.items[i].clock;

		if (clock->after - clock->before < narrowest)
			narrowest = clock->after - clock->before;
	}
	for (size_t i = 0; i < recorded->clocks.count; i++) {
		const struct lode_gpu_ring_clock *clock = &recorded->clocks.items[i].clock;
		uint64_t middle = clock->before + (clock->after - clock->before) / 2;
		struct reading reading = { clock->cupti, (int64_t)(middle - clock->cupti) };

		if (clock->after - clock->before <= narrowest * 4 + 1000 && LODE_PUSH(clocks, reading) < 0)
			return LODE_SYSTEM;
	}
	if (clocks->count)
		qsort(clocks->items, clocks->count, sizeof(*clocks->items), compare_readings);
	drop_outliers(clocks);
	return 0;
}

/* The recorder's time of a moment of CUPTI's. */
static uint64_t recorder_time(const struct clocks *clocks, uint64_t t)
{
	const struct reading *items = clocks->items;
	size_t after = LODE_BISECT(i, 0, clocks->count, items[i].cupti <= t);
	double part;

	if (!clocks->count)
		return t;
	if (!after)
		return t + (uint64_t)items[0].difference;
	if (after == clocks->count)
		return t + (uint64_t)items[after - 1].difference;
	part = (double)(t - items[after - 1].cupti) / (double)(items[after].cupti - items[after - 1].cupti);
	return t + (uint64_t)(items[after - 1].difference +
			      (int64_t)(part * (double)(items[after].difference - items[after - 1].difference)));
}

/* ---- stacks of launches ---- */

/* A call `gpu launch` of the stream. */
struct stack {
	uint64_t t;
	uint32_t thread;
	uint32_t node;
};

struct adding {
	struct lode_gpu_recorded *recorded;
	struct lode_stream *stream;
	struct lode_gpu_facts facts;
	struct clocks clocks;
	LODE_ARRAY(struct stack) stacks; /* by thread, then by time */
	uint64_t without, borrowed;      /* calls without a stack, and those that have that of another */
};

static int compare_stacks(const void *a, const void *b)
{
	const struct stack *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->t < y->t ? -1 : x->t > y->t;
}

/* Without the functions between the call and the probe. */
static uint32_t outside_of_library(const struct lode_dictionary *dictionary, uint32_t node)
{
	while (node) {
		const char *module =
			lode_frames_module_name(&dictionary->frames, dictionary->tree.nodes[node].frame);

		if (!lode_starts_with(module, "liblode-gpu") && !lode_starts_with(module, "libcupti"))
			break;
		node = dictionary->tree.nodes[node].parent;
	}
	return node;
}

static int find_stacks(struct adding *adding)
{
	const struct lode_events *calls = &adding->stream->events[LODE_CALL];
	const struct lode_strings *strings = &adding->stream->dictionary->frames.strings;

	for (size_t i = 0; i < calls->count; i++) {
		struct stack stack = { calls->t[i], calls->thread[i], 0 };

		if (strcmp(lode_strings_get(strings, calls->name[i]), LODE_GPU_STACK_CALL) != 0)
			continue;
		stack.node = outside_of_library(adding->stream->dictionary, calls->stack[i]);
		if (LODE_PUSH(&adding->stacks, stack) < 0)
			return LODE_SYSTEM;
	}
	if (adding->stacks.count)
		qsort(adding->stacks.items, adding->stacks.count, sizeof(*adding->stacks.items), compare_stacks);
	return 0;
}

/* The stack that was taken in a call; 0: none was. */
static uint32_t stack_in(const struct adding *adding, const struct lode_gpu_call *call)
{
	const struct stack *stacks = adding->stacks.items, wanted = { call->t0, call->thread, 0 };
	size_t at = LODE_BISECT(i, 0, adding->stacks.count, compare_stacks(&stacks[i], &wanted) < 0);

	return at < adding->stacks.count && stacks[at].thread == call->thread && stacks[at].t <= call->t1
		       ? stacks[at].node
		       : 0;
}

/* ---- calls and activities ---- */

/* Without the version that CUPTI puts behind the names of functions: `cudaLaunchKernel_v7000`, `_ptsz`. */
static void drop_version(struct lode_buffer *text)
{
	for (size_t i = 1; i + 2 < text->size; i++)
		if (text->bytes[i] == '_' && text->bytes[i + 1] == 'v' && text->bytes[i + 2] >= '0' &&
		    text->bytes[i + 2] <= '9') {
			text->size = i;
			return;
		}
}

static uint32_t name_frame(struct adding *adding, uint32_t pid, uint32_t id, int is_kernel)
{
	struct lode_gpu_recorded *recorded = adding->recorded;
	struct lode_frames *frames = &adding->stream->dictionary->frames;
	uint32_t at = find_name(recorded, pid, id);
	struct lode_buffer plain = { 0 }, text = { 0 };
	uint32_t frame = LODE_NONE;

	if (at != LODE_NONE)
		lode_buffer_add(&plain, recorded->texts.bytes + recorded->names.items[at].start,
				recorded->names.items[at].length);
	else
		lode_buffer_text(&plain, is_kernel ? "kernel" : "call");
	lode_buffer_byte(&plain, '\0');
	if (!plain.failed)
		lode_demangle(plain.bytes, 1, &text);
	if (!is_kernel)
		drop_version(&text);
	if (!plain.failed && !text.failed)
		frame = is_kernel ? lode_gpu_frame(frames, text.bytes, text.size)
				  : lode_frames_add(frames, 0, text.bytes, text.size);
	lode_buffer_release(&plain);
	lode_buffer_release(&text);
	return frame;
}

/* Frames by the process and the number of the name, made once. */
struct frame_of_name {
	uint32_t pid, id, frame;
	int is_kernel;
};

static uint32_t frame_of(struct adding *adding, struct frame_of_name *last, uint32_t pid, uint32_t id,
			 int is_kernel)
{
	struct frame_of_name *place = &last[id & 1023];

	if (place->frame == LODE_NONE || place->pid != pid || place->id != id || place->is_kernel != is_kernel)
		*place = (struct frame_of_name){ pid, id, name_frame(adding, pid, id, is_kernel), is_kernel };
	return place->frame;
}

static int compare_calls(const void *a, const void *b)
{
	const struct lode_gpu_slot *x = a, *y = b;

	return x->call.t0 < y->call.t0 ? -1 : x->call.t0 > y->call.t0;
}

/* Which stream recorded an event last, and when: a wait for it is for that. */
struct event_record {
	uint64_t event;
	uint64_t t;
	uint32_t pid;
	uint32_t stream;
};

struct event_records {
	LODE_ARRAY(struct event_record);
	struct lode_index index;
};

static struct event_record *find_event(const struct event_records *events, uint32_t pid, uint64_t event)
{
	uint64_t hash = lode_hash_more(lode_hash_u64(event), pid);
	uint32_t at = LODE_INDEX_FIND(i, &events->index, hash,
				      events->items[i].event == event && events->items[i].pid == pid);

	return at == LODE_NONE ? NULL : &events->items[at];
}

static int follow_event(struct event_records *events, const struct lode_gpu_slot *slot, struct lode_gpu_call *call)
{
	struct event_record *found = find_event(events, slot->pid, slot->call.event);

	if (call->kind == LODE_GPU_RECORD_EVENT && !found) {
		struct event_record record = { slot->call.event, call->t0, slot->pid, call->stream };

		return LODE_INDEX_PUSH(&events->index, lode_hash_more(lode_hash_u64(slot->call.event), slot->pid),
				       events, record);
	}
	if (call->kind == LODE_GPU_RECORD_EVENT) {
		found->stream = call->stream;
		found->t = call->t0;
	} else if (call->kind == LODE_GPU_WAIT_EVENT && found) {
		call->awaited = found->stream;
		call->recorded = found->t;
	} else if (call->kind == LODE_GPU_SYNC_EVENT && found) {
		call->stream = found->stream;
	}
	return 0;
}

static int add_calls(struct adding *adding, struct frame_of_name *frames)
{
	struct lode_gpu_recorded *recorded = adding->recorded;
	struct event_records events = { 0 };
	int code = 0;

	if (recorded->calls.count)
		qsort(recorded->calls.items, recorded->calls.count, sizeof(*recorded->calls.items), compare_calls);
	for (size_t i = 0; code == 0 && i < recorded->calls.count; i++) {
		const struct lode_gpu_slot *slot = &recorded->calls.items[i];
		struct lode_gpu_call call = {
			.t0 = slot->call.t0,
			.t1 = slot->call.t1,
			.correlation = slot->correlation,
			.process = slot->pid,
			.thread = lode_stream_thread(adding->stream, slot->pid, slot->tid),
			.frame = frame_of(adding, frames, slot->pid, slot->call.name, 0),
			.device = LODE_NONE,
			.stream = slot->call.stream,
			.awaited = LODE_NONE,
			.kind = (uint8_t)slot->kind,
		};

		if (call.thread == LODE_NONE || call.frame == LODE_NONE)
			code = LODE_SYSTEM;
		call.stack = code ? 0 : stack_in(adding, &call);
		if (code == 0)
			code = follow_event(&events, slot, &call);
		if (code == 0)
			code = LODE_PUSH(&adding->facts.calls, call);
	}
	lode_free(events.items);
	lode_index_release(&events.index);
	return code;
}

/* The last stack of a thread in a function: what launches again without being asked for its stack is likely to have the same. */
struct last_stack {
	uint32_t thread, frame, stack;
};

/* Whether the innermost function of a stack is the call: a module may have it. */
static int ends_in(const struct lode_dictionary *dictionary, uint32_t stack, uint32_t frame)
{
	return dictionary->frames.items[dictionary->tree.nodes[stack].frame].function ==
	       dictionary->frames.items[frame].function;
}

static int lend_stacks(struct adding *adding)
{
	struct last_stack last[1024] = { { 0 } };
	struct lode_stack_tree *tree = &adding->stream->dictionary->tree;

	for (size_t i = 0; i < adding->facts.calls.count; i++) {
		struct lode_gpu_call *call = &adding->facts.calls.items[i];
		struct last_stack *place = &last[(call->thread * 31 + call->frame) & 1023];

		if (call->stack) {
			if (!ends_in(adding->stream->dictionary, call->stack, call->frame))
				call->stack = lode_stack_tree_child(tree, call->stack, call->frame);
			if (call->stack == LODE_NONE)
				return LODE_SYSTEM;
			*place = (struct last_stack){ call->thread, call->frame, call->stack };
		} else if (place->stack && place->thread == call->thread && place->frame == call->frame) {
			call->stack = place->stack;
			adding->borrowed++;
		} else {
			call->stack = LODE_NONE;
			adding->without++;
		}
	}
	return 0;
}

static int add_activities(struct adding *adding, struct frame_of_name *frames)
{
	const struct lode_gpu_recorded *recorded = adding->recorded;

	for (size_t i = 0; i < recorded->activities.count; i++) {
		const struct lode_gpu_slot *slot = &recorded->activities.items[i];
		struct lode_gpu_activity activity = {
			.t0 = recorder_time(&adding->clocks, slot->activity.start),
			.t1 = recorder_time(&adding->clocks, slot->activity.end),
			.correlation = slot->correlation,
			.process = slot->pid,
			.device = slot->activity.device,
			.stream = slot->activity.stream,
			.frame = frame_of(adding, frames, slot->pid, slot->activity.name, 1),
			.is_pageable = slot->activity.is_pageable != 0,
		};

		if (activity.device >= LODE_GPU_FIRST_ID || activity.t1 < activity.t0)
			continue;
		if (activity.frame == LODE_NONE || LODE_PUSH(&adding->facts.activities, activity) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

static int make_facts(struct adding *adding)
{
	struct frame_of_name *frames = lode_calloc(1024, sizeof(*frames));
	int code = frames ? 0 : LODE_SYSTEM;

	for (size_t i = 0; frames && i < 1024; i++)
		frames[i].frame = LODE_NONE;
	if (code == 0 &&
	    (make_clocks(adding->recorded, &adding->clocks) < 0 || find_stacks(adding) < 0 ||
	     add_calls(adding, frames) < 0 || lend_stacks(adding) < 0 || add_activities(adding, frames) < 0))
		code = LODE_SYSTEM;
	lode_free(frames);
	return code;
}

int lode_gpu_recorded_add(struct lode_gpu_recorded *recorded, struct lode_stream *stream, struct lode_notes *notes)
{
	struct adding adding = { .recorded = recorded, .stream = stream };
	uint8_t *sampled = NULL;
	int code;

	if (!recorded->activities.count)
		return 0;
	code = make_facts(&adding);
	if (code == 0) {
		sampled = lode_calloc(stream->thread_count + 1, 1);
		code = sampled ? 0 : LODE_SYSTEM;
	}
	if (code == 0) {
		memset(sampled, 1, stream->thread_count);
		adding.facts.sampled = sampled;
		code = lode_gpu_add_events(&adding.facts, stream, notes);
	}
	lode_notes_add(notes, adding.borrowed,
		       "calls of CUDA whose stack was not taken, to save time, have that of the thread's last one "
		       "of the function",
		       NULL);
	lode_free(sampled);
	lode_free(adding.clocks.items);
	lode_free(adding.stacks.items);
	lode_gpu_facts_release(&adding.facts);
	return code;
}
