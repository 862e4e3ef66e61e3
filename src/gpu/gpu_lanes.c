/*
 * The streams of GPUs as threads: see gpu_facts.h. Activities are sorted by stream and time. Where two of a stream
 * overlap, as traces with several clocks or concurrent nodes of a graph have it, the later one counts from the end of the earlier one:
 * a thread does one thing at a time, and the sum is the time in which the stream was busy.
 */
#include "gpu/gpu_build.h"

#include "base/bisect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Streams of all devices: they are looked at one by one. Machines have some hundred at most. */
#define MAX_LANES 1000

static int compare_activities(const void *a, const void *b)
{
	const struct lode_gpu_activity *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	if (x->t0 != y->t0)
		return x->t0 < y->t0 ? -1 : 1;
	return x->t1 < y->t1 ? -1 : x->t1 > y->t1;
}

/* ---- calls ---- */

static uint64_t correlation_hash(uint32_t process, uint64_t correlation)
{
	return lode_hash_more(lode_hash_u64(process), correlation);
}

static int index_calls(struct lode_gpu_build *build)
{
	const struct lode_gpu_call *calls = build->facts->calls.items;

	if (lode_index_reserve(&build->correlations, build->facts->calls.count) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < build->facts->calls.count; i++)
		if (calls[i].correlation &&
		    lode_index_insert(&build->correlations,
				      correlation_hash(calls[i].process, calls[i].correlation), (uint32_t)i) < 0)
			return LODE_SYSTEM;
	return 0;
}

static uint32_t find_call(const struct lode_gpu_build *build, uint32_t process, uint64_t correlation)
{
	const struct lode_gpu_call *calls = build->facts->calls.items;

	if (!correlation)
		return LODE_NONE;
	return LODE_INDEX_FIND(i, &build->correlations, correlation_hash(process, correlation),
			       calls[i].correlation == correlation && calls[i].process == process);
}

uint32_t lode_gpu_launch_of(const struct lode_gpu_build *build, const struct lode_gpu_activity *activity)
{
	return find_call(build, activity->process, activity->correlation);
}

static void add_details(struct lode_gpu_build *build)
{
	struct lode_gpu_call *calls = build->facts->calls.items;

	for (size_t i = 0; i < build->facts->details.count; i++) {
		const struct lode_gpu_detail *detail = &build->facts->details.items[i];
		uint32_t call = find_call(build, detail->process, detail->correlation);
		uint32_t record = find_call(build, detail->process, detail->recorded);

		if (call == LODE_NONE)
			continue;
		calls[call].device = detail->device;
		calls[call].stream = detail->stream;
		calls[call].awaited = detail->awaited;
		calls[call].recorded = record == LODE_NONE ? 0 : calls[record].t0;
	}
}

int lode_gpu_call_blocks(const struct lode_gpu_call *call, const struct lode_gpu_activity *activity)
{
	return activity->t1 <= call->t1 &&
	       (call->kind == LODE_GPU_COPY || (call->kind == LODE_GPU_COPY_ASYNC && activity->is_pageable));
}

static uint64_t launched_at(const struct lode_gpu_call *call, const struct lode_gpu_activity *activity)
{
	uint64_t t = lode_gpu_call_blocks(call, activity) ? call->t0 : call->t1;

	return t < activity->t0 ? t : activity->t0;
}

uint32_t lode_gpu_run_at(const struct lode_gpu_build *build, uint32_t thread, uint64_t t, uint64_t until)
{
	const struct lode_events *runs = &build->stream->events[LODE_RUN];
	const uint32_t *order = build->runs.order;
	size_t first = build->runs.starts[thread], end = build->runs.starts[thread + 1];
	size_t after = LODE_BISECT(i, first, end, runs->t[order[i]] <= t);

	if (lode_gpu_runs_are_exact(build, thread) && after > first &&
	    lode_add_saturating(runs->t[order[after - 1]], runs->cost[order[after - 1]]) > t)
		return order[after - 1];
	return after < end && runs->t[order[after]] <= until ? order[after] : LODE_NONE;
}

uint32_t lode_gpu_call_stack(const struct lode_gpu_build *build, const struct lode_gpu_call *call)
{
	uint32_t run;

	if (call->stack != LODE_NONE)
		return call->stack;
	run = lode_gpu_run_at(build, call->thread, call->t0, call->t1);
	if (run != LODE_NONE && build->stream->events[LODE_RUN].stack[run])
		return build->stream->events[LODE_RUN].stack[run];
	return call->frame == LODE_NONE ? 0
					: lode_stack_tree_child(&build->stream->dictionary->tree, 0, call->frame);
}

/* ---- threads ---- */

static int name_device(struct lode_gpu_build *build, uint32_t device)
{
	char key[40], name[24];

	/* For symptoms that are found later. */
	if (lode_strings_add(&build->stream->dictionary->frames.strings, LODE_GPU_SYMPTOM,
			     strlen(LODE_GPU_SYMPTOM)) == LODE_NONE)
		return LODE_SYSTEM;
	snprintf(key, sizeof(key), LODE_COMMAND "%u", LODE_GPU_FIRST_ID + device);
	snprintf(name, sizeof(name), "gpu%u", device);
	return lode_stream_set_text(build->stream, key, name);
}

static int add_lane(struct lode_gpu_build *build, const struct lode_gpu_activity *activity)
{
	struct lode_stream *stream = build->stream;
	struct lode_gpu_lane lane = { .process = activity->process,
				      .device = activity->device,
				      .stream = activity->stream,
				      .first = build->placed.count,
				      .end = build->placed.count };
	char name[48];

	if (activity->device >= LODE_GPU_FIRST_ID)
		return LODE_SYSTEM;
	lane.thread = lode_stream_thread(stream, LODE_GPU_FIRST_ID + activity->device,
					 LODE_GPU_FIRST_ID + (uint32_t)build->lanes.count);
	if (lane.thread == LODE_NONE || name_device(build, activity->device) < 0)
		return LODE_SYSTEM;
	snprintf(name, sizeof(name), "gpu%u stream %u", activity->device, activity->stream);
	stream->threads[lane.thread].name =
		lode_strings_add(&stream->dictionary->frames.strings, name, strlen(name));
	if (stream->threads[lane.thread].name == LODE_NONE)
		return LODE_SYSTEM;
	return LODE_PUSH(&build->lanes, lane);
}

uint32_t lode_gpu_object(const struct lode_gpu_build *build, const struct lode_gpu_lane *lane)
{
	char name[48];

	snprintf(name, sizeof(name), "gpu:%u/stream%u", lane->device, lane->stream);
	return lode_strings_add(&build->stream->dictionary->frames.strings, name, strlen(name));
}

/* ---- activities ---- */

static int place(struct lode_gpu_build *build, uint32_t number)
{
	const struct lode_gpu_activity *activity = &build->facts->activities.items[number];
	struct lode_stack_tree *tree = &build->stream->dictionary->tree;
	struct lode_gpu_lane *lane = &build->lanes.items[build->lanes.count - 1];
	struct lode_gpu_placed placed = { .start = activity->t0,
					  .end = activity->t1,
					  .launched = activity->t0,
					  .activity = number,
					  .call = lode_gpu_launch_of(build, activity) };
	uint32_t stack = 0;

	if (lane->end > lane->first && placed.start < build->placed.items[lane->end - 1].end) {
		build->overlapping++;
		placed.start = build->placed.items[lane->end - 1].end;
	}
	if (placed.end <= placed.start)
		return 0;
	if (placed.call == LODE_NONE) {
		build->unlaunched++;
	} else {
		const struct lode_gpu_call *call = &build->facts->calls.items[placed.call];

		placed.launched = launched_at(call, activity);
		stack = lode_gpu_call_stack(build, call);
		if (stack == LODE_NONE)
			return LODE_SYSTEM;
	}
	if (lode_stack_tree_depth(tree, stack) >= LODE_STACK_DEPTH_LIMIT)
		stack = tree->nodes[stack].parent;
	placed.stack = lode_stack_tree_child(tree, stack, activity->frame);
	if (placed.stack == LODE_NONE || LODE_PUSH(&build->placed, placed) < 0)
		return LODE_SYSTEM;
	lane->end++;
	return 0;
}

static int is_of_lane(const struct lode_gpu_build *build, const struct lode_gpu_activity *activity)
{
	const struct lode_gpu_lane *lane = build->lanes.count ? &build->lanes.items[build->lanes.count - 1] : NULL;

	return lane && lane->process == activity->process && lane->device == activity->device &&
	       lane->stream == activity->stream;
}

int lode_gpu_place(struct lode_gpu_build *build)
{
	struct lode_gpu_facts *facts = build->facts;

	if (facts->activities.failed || facts->calls.failed || facts->waits.failed || facts->details.failed ||
	    facts->activities.count >= LODE_NONE || facts->calls.count >= LODE_NONE || index_calls(build) < 0)
		return LODE_SYSTEM;
	add_details(build);
	if (facts->activities.count)
		qsort(facts->activities.items, facts->activities.count, sizeof(*facts->activities.items),
		      compare_activities);
	for (size_t i = 0; i < facts->activities.count; i++) {
		if (!is_of_lane(build, &facts->activities.items[i])) {
			if (build->lanes.count == MAX_LANES) {
				build->left_out = facts->activities.count - i;
				break;
			}
			if (add_lane(build, &facts->activities.items[i]) < 0)
				return LODE_SYSTEM;
		}
		if (place(build, (uint32_t)i) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}
