/*
 * Runs and gaps of the streams of GPUs: see gpu_facts.h.
 *
 * What ends a gap is the latest of all that the next activity needed: its launch, and the activities of other streams that
 * it was told to wait for. Traces that do not say which event a stream waits for
 * only have the call (cudaStreamWaitEvent): then it is the activity of another stream that ended last before the start, if
 * the launching thread has made such a call since the previous launch into this stream. Nodes of one graph depend on one
 * another without calls: those of other streams with the same launch are looked at in the same way.
 *
 * A gap that begins while the thread that launches next waits for the GPU is due to that: the thread had let the stream run dry
 * (`.item()` in each step). Its stack is that of the synchronisation, and its object names what the program called.
 */
#include "gpu/gpu_build.h"

#include "base/bisect.h"
#include "trace/objects.h"
#include "trace/script_modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Calls before a launch that are looked at. */
#define MAX_AWAITS 256

/* Calls that make streams wait, by thread, then by time. */
struct awaits {
	LODE_ARRAY(uint32_t);
};

/* What ended a gap, and when. */
struct cause {
	uint64_t t;
	uint32_t thread;
	uint32_t stack;
	const struct lode_gpu_lane *lane; /* of an awaited activity; NULL: the launch */
};

static int compare_awaits(const void *a, const void *b, void *context)
{
	const struct lode_gpu_call *calls = context, *x = &calls[*(const uint32_t *)a],
				   *y = &calls[*(const uint32_t *)b];

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->t0 < y->t0 ? -1 : x->t0 > y->t0;
}

static int find_awaits(const struct lode_gpu_build *build, struct awaits *awaits)
{
	const struct lode_gpu_call *calls = build->facts->calls.items;

	for (size_t i = 0; i < build->facts->calls.count; i++)
		if (calls[i].kind == LODE_GPU_WAIT_EVENT && LODE_PUSH(awaits, (uint32_t)i) < 0)
			return LODE_SYSTEM;
	if (awaits->count)
		qsort_r(awaits->items, awaits->count, sizeof(*awaits->items), compare_awaits,
			(void *)(uintptr_t)calls);
	return 0;
}

/* The last activity of `lane` that ended by `t`; NULL: none did. */
static const struct lode_gpu_placed *ended_by(const struct lode_gpu_build *build, const struct lode_gpu_lane *lane,
					      uint64_t t)
{
	const struct lode_gpu_placed *placed = build->placed.items;
	size_t after = LODE_BISECT(i, lane->first, lane->end, placed[i].end <= t);

	return after > lane->first ? &placed[after - 1] : NULL;
}

static void take_later(struct cause *cause, const struct lode_gpu_placed *placed, const struct lode_gpu_lane *lane,
		       uint64_t start)
{
	if (placed && placed->end > cause->t && placed->end <= start)
		*cause = (struct cause){ placed->end, lane->thread, placed->stack, lane };
}

/* ---- what is awaited ---- */

/* A call that names its streams: what was launched into the awaited one before the event was recorded. */
static void await_known(const struct lode_gpu_build *build, const struct lode_gpu_call *call,
			const struct lode_gpu_placed *next, struct cause *cause)
{
	const struct lode_gpu_placed *placed = build->placed.items;
	uint64_t recorded = call->recorded ? call->recorded : call->t0;

	for (size_t i = 0; i < build->lanes.count; i++) {
		const struct lode_gpu_lane *lane = &build->lanes.items[i];
		size_t after;

		if (lane->process != call->process || lane->stream != call->awaited ||
		    (call->device != LODE_NONE && lane->device != call->device))
			continue;
		after = LODE_BISECT(k, lane->first, lane->end, placed[k].launched <= recorded);
		if (after > lane->first)
			take_later(cause, &placed[after - 1], lane, next->start);
	}
}

/* Any other stream of the process; with `call` set only activities that came with the same launch. */
static void await_any(const struct lode_gpu_build *build, const struct lode_gpu_lane *own,
		      const struct lode_gpu_placed *next, uint32_t call, struct cause *cause)
{
	for (size_t i = 0; i < build->lanes.count; i++) {
		const struct lode_gpu_lane *lane = &build->lanes.items[i];
		const struct lode_gpu_placed *last;

		if (lane == own || lane->process != own->process || lane->device != own->device)
			continue;
		last = ended_by(build, lane, next->start);
		if (last && (call == LODE_NONE || last->call == call))
			take_later(cause, last, lane, next->start);
	}
}

/* Calls of the launching thread since `since`, up to the launch. */
static void await_events(const struct lode_gpu_build *build, const struct awaits *awaits,
			 const struct lode_gpu_lane *lane, const struct lode_gpu_placed *next, uint64_t since,
			 struct cause *cause)
{
	const struct lode_gpu_call *calls = build->facts->calls.items, *launch = &calls[next->call];
	size_t after = LODE_BISECT(i, 0, awaits->count,
				   calls[awaits->items[i]].thread < launch->thread ||
					   (calls[awaits->items[i]].thread == launch->thread &&
					    calls[awaits->items[i]].t0 <= launch->t0));

	for (size_t i = after; i > 0 && after - i < MAX_AWAITS; i--) {
		const struct lode_gpu_call *call = &calls[awaits->items[i - 1]];

		if (call->thread != launch->thread || call->t0 < since)
			break;
		if (call->stream != LODE_NONE && call->stream != lane->stream)
			continue;
		if (call->awaited != LODE_NONE)
			await_known(build, call, next, cause);
		else
			await_any(build, lane, next, LODE_NONE, cause);
	}
}

/* ---- events ---- */

/* What the program's script called that ends in the call of CUDA; without a script, that call. */
static uint32_t called_function(const struct lode_dictionary *dictionary, uint32_t stack)
{
	const struct lode_stack_node *nodes = dictionary->tree.nodes;
	uint32_t frame = nodes[stack].frame;

	for (uint32_t node = stack; node; node = nodes[node].parent) {
		const char *module = lode_frames_module_name(&dictionary->frames, nodes[node].frame);

		if (lode_module_is_script(module))
			return frame;
		/* Not the interpreter, which stands between, nor what has no name. */
		if (!lode_module_runs_scripts(module) &&
		    strncmp(lode_frames_function(&dictionary->frames, nodes[node].frame), "0x", 2) != 0)
			frame = nodes[node].frame;
	}
	return nodes[stack].frame;
}

/* `drained`: the wait that had let the stream run dry; NULL: none had. */
static uint32_t launch_object(const struct lode_gpu_build *build, const struct lode_gpu_lane *lane,
			      const struct lode_gpu_blocked *drained)
{
	struct lode_dictionary *dictionary = build->stream->dictionary;
	struct lode_buffer name = { 0 };
	uint32_t object;

	lode_buffer_print(&name, LODE_GPU_LAUNCH_OBJECT "gpu%u stream %u", lane->device, lane->stream);
	if (drained)
		lode_buffer_print(&name, "%s%s", LODE_LAUNCH_AFTER,
				  lode_frames_function(&dictionary->frames,
						       called_function(dictionary, drained->stack)));
	object = name.failed ? LODE_NONE : lode_strings_add(&dictionary->frames.strings, name.bytes, name.size);
	lode_buffer_release(&name);
	return object;
}

static uint32_t launch_stack(const struct lode_gpu_build *build, const struct lode_gpu_placed *placed)
{
	return build->stream->dictionary->tree.nodes[placed->stack].parent;
}

/* The stack of a gap, and what the stream waits for. */
static uint32_t gap_stack(const struct lode_gpu_build *build, uint32_t stack, const char *leaf)
{
	struct lode_dictionary *dictionary = build->stream->dictionary;
	uint32_t frame = lode_gpu_frame(&dictionary->frames, leaf, strlen(leaf));

	return lode_stack_tree_child(&dictionary->tree, stack, frame);
}

/* The wait for the GPU, of the thread that launches next, in which a stream ran dry at `t`; NULL: it did not wait then. */
static const struct lode_gpu_blocked *drained_in(const struct lode_gpu_build *build,
						 const struct lode_gpu_placed *next, uint64_t t)
{
	const struct lode_gpu_blocked *items = build->blocked.items, *last;
	uint32_t thread = build->facts->calls.items[next->call].thread;
	size_t after = LODE_BISECT(i, 0, build->blocked.count,
				   items[i].thread < thread || (items[i].thread == thread && items[i].t0 <= t));

	if (!after)
		return NULL;
	last = &items[after - 1];
	return last->is_gpu && last->stack && last->thread == thread && last->t1 >= t && last->t1 <= next->launched
		       ? last
		       : NULL;
}

/* The launch was earlier, and nothing is known to be awaited: the device was busy, or slow to begin. */
static int add_ready(const struct lode_gpu_build *build, const struct lode_gpu_lane *lane,
		     const struct lode_gpu_placed *next, uint64_t from)
{
	struct lode_event event = { .t = from,
				    .delay = next->start - from,
				    .thread = lane->thread,
				    .stack = next->stack,
				    .waker = LODE_NONE,
				    .cpu = LODE_NO_CPU };

	event.name = lode_strings_add(&build->stream->dictionary->frames.strings, LODE_PREEMPTION,
				      strlen(LODE_PREEMPTION));
	return lode_stream_add_event(build->stream, LODE_CALL, &event);
}

static int add_gap_wait(const struct lode_gpu_build *build, const struct lode_gpu_lane *lane,
			const struct lode_gpu_placed *next, uint64_t from, const struct cause *cause)
{
	struct lode_event event = { .t = from,
				    .cost = cause->t - from,
				    .delay = next->start - cause->t,
				    .thread = lane->thread,
				    .waker = cause->thread,
				    .waker_stack = cause->stack,
				    .cpu = LODE_NO_CPU,
				    .holder = LODE_NONE };
	const struct lode_gpu_blocked *drained =
		cause->lane || next->call == LODE_NONE ? NULL : drained_in(build, next, from);

	event.object = cause->lane ? lode_gpu_object(build, cause->lane) : launch_object(build, lane, drained);
	event.stack = gap_stack(build, drained ? drained->stack : launch_stack(build, next),
				cause->lane ? LODE_GPU_AWAITS_EVENT : LODE_GPU_AWAITS_LAUNCH);
	return event.object == LODE_NONE || event.stack == LODE_NONE
		       ? LODE_SYSTEM
		       : lode_stream_add_event(build->stream, LODE_WAIT, &event);
}

static int add_gap(const struct lode_gpu_build *build, const struct awaits *awaits,
		   const struct lode_gpu_lane *lane, const struct lode_gpu_placed *last,
		   const struct lode_gpu_placed *next)
{
	const struct lode_gpu_call *calls = build->facts->calls.items;
	struct cause cause = { .t = next->start, .thread = LODE_NONE };

	if (next->call != LODE_NONE) {
		const struct lode_gpu_call *launch = &calls[next->call];

		cause = (struct cause){ next->launched, launch->thread, launch_stack(build, next), NULL };
		cause.t = cause.t > last->end ? cause.t : last->end;
		await_events(build, awaits, lane, next, last->call == LODE_NONE ? 0 : calls[last->call].t0, &cause);
		if (last->call == next->call)
			await_any(build, lane, next, next->call, &cause);
	}
	return cause.t > last->end ? add_gap_wait(build, lane, next, last->end, &cause)
				   : add_ready(build, lane, next, last->end);
}

static int add_run(const struct lode_gpu_build *build, const struct lode_gpu_lane *lane,
		   const struct lode_gpu_placed *placed)
{
	struct lode_event event = { .t = placed->start,
				    .cost = placed->end - placed->start,
				    .thread = lane->thread,
				    .stack = placed->stack,
				    .waker = LODE_NONE,
				    .cpu = LODE_NO_CPU };

	return lode_stream_add_event(build->stream, LODE_RUN, &event);
}

static int add_lane_events(const struct lode_gpu_build *build, const struct awaits *awaits,
			   const struct lode_gpu_lane *lane)
{
	const struct lode_gpu_placed *placed = build->placed.items;
	int code = 0;

	for (size_t i = lane->first; code == 0 && i < lane->end; i++) {
		if (i > lane->first && placed[i].start > placed[i - 1].end)
			code = add_gap(build, awaits, lane, &placed[i - 1], &placed[i]);
		if (code == 0)
			code = add_run(build, lane, &placed[i]);
	}
	return code;
}

static int add_lanes(const struct lode_gpu_build *build)
{
	struct awaits awaits = { 0 };
	int code = find_awaits(build, &awaits);

	for (size_t i = 0; code == 0 && i < build->lanes.count; i++)
		code = add_lane_events(build, &awaits, &build->lanes.items[i]);
	lode_free(awaits.items);
	return code;
}

/* ---- symptoms ---- */

static uint64_t busy_time(const struct lode_gpu_build *build, const struct lode_gpu_lane *lane)
{
	uint64_t sum = 0;

	for (size_t i = lane->first; i < lane->end; i++)
		sum = lode_add_saturating(sum, build->placed.items[i].end - build->placed.items[i].start);
	return sum;
}

static int add_symptom(const struct lode_gpu_build *build, uint32_t device)
{
	const struct lode_gpu_lane *busiest = NULL;
	struct lode_symptom symptom = { 0 };
	uint64_t most = 0, busy;

	for (size_t i = 0; i < build->lanes.count; i++) {
		const struct lode_gpu_lane *lane = &build->lanes.items[i];

		if (lane->device != device || lane->first == lane->end || (busy = busy_time(build, lane)) <= most)
			continue;
		most = busy;
		busiest = lane;
	}
	if (!busiest)
		return 0;
	symptom.thread = busiest->thread;
	symptom.t0 = build->placed.items[busiest->first].start;
	symptom.t1 = build->placed.items[busiest->end - 1].end;
	symptom.name = lode_strings_add(&build->stream->dictionary->frames.strings, LODE_GPU_SYMPTOM,
					strlen(LODE_GPU_SYMPTOM));
	return lode_stream_add_symptom(build->stream, &symptom);
}

static int add_symptoms(const struct lode_gpu_build *build)
{
	int code = 0;

	if (build->stream->symptom_count)
		return 0;
	for (size_t i = 0; code == 0 && i < build->lanes.count; i++) {
		size_t first = 0;

		while (build->lanes.items[first].device != build->lanes.items[i].device)
			first++;
		if (first == i)
			code = add_symptom(build, build->lanes.items[i].device);
	}
	return code;
}

/* ---- the whole ---- */

static int index_by_thread(const struct lode_stream *stream, enum lode_event_type type,
			   struct lode_gpu_by_thread *by_thread)
{
	struct lode_events *events = (struct lode_events *)(uintptr_t)&stream->events[type];
	size_t *next;

	by_thread->order = lode_calloc(events->count + 1, sizeof(*by_thread->order));
	by_thread->starts = lode_calloc(stream->thread_count + 2, sizeof(*by_thread->starts));
	if (!by_thread->order || !by_thread->starts || events->count >= LODE_NONE || lode_events_sort(events) < 0)
		return LODE_SYSTEM;
	next = by_thread->starts + 1; /* becomes the end of each, which is the start of the next */
	for (size_t i = 0; i < events->count; i++)
		next[events->thread[i]]++;
	for (size_t i = 1; i <= stream->thread_count; i++)
		by_thread->starts[i] += by_thread->starts[i - 1];
	for (size_t i = events->count; i-- > 0;)
		by_thread->order[--by_thread->starts[events->thread[i] + 1]] = (uint32_t)i;
	memmove(by_thread->starts, by_thread->starts + 1, stream->thread_count * sizeof(*by_thread->starts));
	by_thread->starts[stream->thread_count] = events->count;
	return 0;
}

static void add_notes(const struct lode_gpu_build *build, struct lode_notes *notes)
{
	lode_notes_add(notes, build->overlapping,
		       "kernels and copies that began before the one before them in their stream had ended, "
		       "counted from there",
		       NULL);
	lode_notes_add(notes, build->left_out, "kernels and copies of more than a thousand streams, left out",
		       NULL);
	lode_notes_add(
		notes, build->unlaunched,
		"kernels and copies whose launch is not in the trace: who kept their stream waiting is unknown",
		NULL);
	lode_notes_add(notes, build->synchronisations,
		       "calls that waited for a GPU are waits until it was done, although the driver may have "
		       "kept a processor busy",
		       NULL);
	lode_notes_add(notes, build->samples, "samples inside of waits for a GPU are part of these", NULL);
}

int lode_gpu_add_events(struct lode_gpu_facts *facts, struct lode_stream *stream, struct lode_notes *notes)
{
	struct lode_gpu_build build = { .facts = facts, .stream = stream };
	int code = 0;

	if (!facts->activities.count && !facts->waits.count)
		return facts->activities.failed || facts->waits.failed ? LODE_SYSTEM : 0;
	if (index_by_thread(stream, LODE_RUN, &build.runs) < 0 ||
	    index_by_thread(stream, LODE_WAIT, &build.waits) < 0 || lode_gpu_place(&build) < 0 ||
	    lode_gpu_find_blocked(&build) < 0 || lode_gpu_add_blocked(&build) < 0 || add_lanes(&build) < 0 ||
	    add_symptoms(&build) < 0)
		code = LODE_SYSTEM;
	else
		add_notes(&build, notes);
	lode_free(build.runs.order);
	lode_free(build.runs.starts);
	lode_free(build.waits.order);
	lode_free(build.waits.starts);
	lode_free(build.placed.items);
	lode_free(build.lanes.items);
	lode_free(build.blocked.items);
	lode_index_release(&build.correlations);
	return code;
}
