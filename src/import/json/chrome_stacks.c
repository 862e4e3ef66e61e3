/* Call stacks of Chrome's traces: see chrome_stacks.h. */
#include "import/json/chrome_stacks.h"

#include "import/import_common.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>

void lode_chrome_stacks_release(struct lode_chrome_stacks *stacks)
{
	lode_frame_memo_release(&stacks->ids);
	lode_free(stacks->frames);
	lode_free(stacks->chain);
	lode_free(stacks->samples.items);
}

/* ---- the table ---- */

/* An id as it is written, with or without quotes: both occur for the same one. */
static const char *id_text(struct lode_json_value id, size_t *length)
{
	const char *text = lode_json_plain_text(id, length);

	if (text)
		return text;
	*length = lode_json_length(id);
	return id.at;
}

int lode_chrome_stacks_load(struct lode_chrome_stacks *stacks, struct lode_json_value table)
{
	struct lode_json_walk walk = lode_json_walk(table);
	struct lode_json_value key, object;

	if (lode_json_kind(table) != LODE_JSON_OBJECT)
		return 0;
	while (lode_json_member(&walk, &key, &object)) {
		size_t count = stacks->ids.count, length;
		const char *text = id_text(key, &length);
		uint64_t hash = lode_hash_bytes(text, length);

		if (lode_frame_memo_find(&stacks->ids, text, length, hash) != LODE_NONE)
			return lode_json_reject(stacks->import, "two entries of `stackFrames` have the same id");
		if (lode_grow(&stacks->frames, &stacks->capacity, count + 1, sizeof(*stacks->frames)) < 0 ||
		    lode_frame_memo_add(&stacks->ids, text, length, hash, (uint32_t)count) < 0)
			return lode_fail_memory(stacks->import->error);
		stacks->frames[count] = (struct lode_chrome_frame){ .object = object, .stack = LODE_NONE };
	}
	return 0;
}

static uint32_t find_frame(const struct lode_chrome_stacks *stacks, struct lode_json_value id)
{
	size_t length;
	const char *text = id_text(id, &length);

	return text ? lode_frame_memo_find(&stacks->ids, text, length, lode_hash_bytes(text, length)) : LODE_NONE;
}

static uint32_t make_frame(struct lode_chrome_stacks *stacks, struct lode_json_value object)
{
	struct lode_json_import *import = stacks->import;
	struct lode_frames *frames = &import->dictionary.frames;
	const char *function = lode_json_string(lode_json_get(object, "name"), &import->text);
	const char *module = lode_json_string(lode_json_get(object, "category"), &import->file);
	uint32_t id;

	if (!function || !module)
		return LODE_NONE;
	if (!stacks->is_lode)
		return lode_json_frame(frames, function, module);
	id = module[0] ? lode_frames_module(frames, module, strlen(module)) : 0;
	return id == LODE_NONE ? id : lode_frames_add(frames, id, function, strlen(function));
}

static int make_stack(struct lode_chrome_stacks *stacks, struct lode_chrome_frame *frame, uint32_t caller)
{
	struct lode_json_import *import = stacks->import;
	const struct lode_chrome_frame *above = caller == LODE_NONE ? NULL : &stacks->frames[caller];
	uint32_t id;

	frame->is_open = 0;
	frame->depth = above ? above->depth + 1 : 1;
	if (frame->depth > LODE_STACK_DEPTH_LIMIT) {
		stacks->cut++;
		frame->stack = above->stack;
		return 0;
	}
	id = make_frame(stacks, frame->object);
	if (id != LODE_NONE)
		frame->stack = lode_stack_tree_child(&import->dictionary.tree, above ? above->stack : 0, id);
	return frame->stack == LODE_NONE ? lode_fail_memory(import->error) : 0;
}

/* Makes the stacks of a frame and of all its callers that have none yet. */
static int make_stacks(struct lode_chrome_stacks *stacks, uint32_t frame)
{
	size_t length = 0;
	int code = 0;

	while (frame != LODE_NONE && stacks->frames[frame].stack == LODE_NONE) {
		if (stacks->frames[frame].is_open)
			return lode_json_reject(stacks->import,
						"frames of `stackFrames` call each other in a circle");
		if (LODE_APPEND(stacks->chain, length, stacks->chain_capacity, frame) < 0)
			return lode_fail_memory(stacks->import->error);
		stacks->frames[frame].is_open = 1;
		frame = find_frame(stacks, lode_json_get(stacks->frames[frame].object, "parent"));
	}
	while (code == 0 && length) {
		uint32_t next = stacks->chain[--length];

		code = make_stack(stacks, &stacks->frames[next], frame);
		frame = next;
	}
	return code;
}

int lode_chrome_stacks_find(struct lode_chrome_stacks *stacks, struct lode_json_value sf, uint32_t *stack)
{
	uint32_t frame;
	int code;

	*stack = 0;
	if (!sf.at)
		return 0;
	frame = find_frame(stacks, sf);
	if (frame == LODE_NONE) {
		stacks->missing++;
		return 0;
	}
	code = make_stacks(stacks, frame);
	if (code == 0)
		*stack = stacks->frames[frame].stack;
	return code;
}

/* ---- samples ---- */

int lode_chrome_stacks_sample(struct lode_chrome_stacks *stacks, const struct lode_chrome_sample *sample)
{
	if (LODE_PUSH(&stacks->samples, *sample) < 0)
		return lode_fail_memory(stacks->import->error);
	return 0;
}

static int compare_samples(const void *a, const void *b)
{
	const struct lode_chrome_sample *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->t < y->t ? -1 : x->t > y->t;
}

/* The median time between two samples of a thread; 0 when no thread has two. */
static int usual_gap(struct lode_chrome_stacks *stacks, uint64_t *gap)
{
	const struct lode_chrome_sample *samples = stacks->samples.items;
	uint64_t *gaps = lode_calloc(stacks->samples.count + 1, sizeof(*gaps));
	size_t count = 0;

	if (!gaps)
		return lode_fail_memory(stacks->import->error);
	for (size_t i = 1; i < stacks->samples.count; i++)
		if (samples[i].thread == samples[i - 1].thread && samples[i].t > samples[i - 1].t)
			gaps[count++] = samples[i].t - samples[i - 1].t;
	*gap = lode_import_median(gaps, count);
	lode_free(gaps);
	return 0;
}

static void note_period(const struct lode_chrome_stacks *stacks, double period)
{
	char text[200];

	if (stacks->import->options->unit_ns > 0)
		return;
	snprintf(text, sizeof(text),
		 "samples without a duration, taken as %.6g ms each, the usual time between two of a thread; set "
		 "it with --unit samples=PERIOD",
		 period / 1e6);
	lode_notes_add(stacks->import->options->notes, stacks->samples.count, text, NULL);
}

int lode_chrome_stacks_finish(struct lode_chrome_stacks *stacks, uint8_t *measured)
{
	struct lode_notes *notes = stacks->import->options->notes;
	double period = stacks->import->options->unit_ns;
	uint64_t gap = 0;

	if (stacks->samples.count) {
		qsort(stacks->samples.items, stacks->samples.count, sizeof(*stacks->samples.items),
		      compare_samples);
		if (usual_gap(stacks, &gap) < 0)
			return LODE_SYSTEM;
		period = period > 0 ? period : (double)gap;
		note_period(stacks, period);
	}
	for (size_t i = 0; i < stacks->samples.count; i++) {
		const struct lode_chrome_sample *sample = &stacks->samples.items[i];
		double cost = sample->weight * period + 0.5;
		struct lode_event event = { .t = sample->t,
					    .thread = sample->thread,
					    .stack = sample->stack,
					    .waker = LODE_NONE,
					    .cpu = sample->cpu };

		event.cost = cost >= 0 && cost < 0x1p63 ? (uint64_t)cost : 0;
		measured[sample->thread] = 1;
		if (lode_stream_add_event(&stacks->import->stream, LODE_RUN, &event) < 0)
			return lode_fail_memory(stacks->import->error);
	}
	lode_notes_add(notes, stacks->cut, LODE_CUT_AT_LEAF, NULL);
	lode_notes_add(notes, stacks->missing, "stacks that are not in `stackFrames`, left out", NULL);
	return 0;
}
