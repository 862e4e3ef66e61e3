/*
 * Threads that wait for a GPU: see gpu_facts.h.
 *
 * A synchronisation waits for what was launched before it began. Of that, the activity that ended last while the call lasted is
 * what it waited for; where none did, it did not wait. Traces do not always say which stream a call is for: then
 * all streams of the process are looked at, and the one that was done last has ended the call.
 *
 * What the thread was said to do meanwhile is taken out: runs of exact length are cut, samples dropped, and a wait inside, in
 * which the driver slept instead of spinning, is replaced by the wait for the GPU and gives it its end.
 */
#include "gpu/gpu_build.h"

#include "base/bisect.h"

#include <stdlib.h>
#include <string.h>

/* ---- which calls wait, and until when ---- */

static int may_be_for(const struct lode_gpu_call *call, const struct lode_gpu_lane *lane)
{
	return lane->process == call->process &&
	       (call->stream == LODE_NONE || call->kind == LODE_GPU_SYNC_DEVICE || call->stream == lane->stream) &&
	       (call->device == LODE_NONE || call->device == lane->device);
}

/* Activities that are passed over because other threads launched them while the call lasted. */
#define MAX_LATER_LAUNCHES 4096

/* The activity of a stream that the call waited for; NULL: none. */
static const struct lode_gpu_placed *awaited_in(const struct lode_gpu_build *build,
						const struct lode_gpu_lane *lane, const struct lode_gpu_call *call)
{
	const struct lode_gpu_placed *placed = build->placed.items;
	size_t after = LODE_BISECT(i, lane->first, lane->end, placed[i].end <= call->t1);

	for (size_t last = after;
	     after > lane->first && last - after < MAX_LATER_LAUNCHES && placed[after - 1].end > call->t0; after--)
		if (placed[after - 1].launched <= call->t0)
			return &placed[after - 1];
	return NULL;
}

static int add_blocked(struct lode_gpu_build *build, const struct lode_gpu_call *call,
		       const struct lode_gpu_lane *lane, const struct lode_gpu_placed *placed)
{
	struct lode_gpu_blocked blocked = { .t0 = call->t0,
					    .t1 = placed->end,
					    .over = call->t1,
					    .thread = call->thread,
					    .stack = lode_gpu_call_stack(build, call),
					    .waker = lane->thread,
					    .waker_stack = placed->stack,
					    .object = lode_gpu_object(build, lane),
					    .is_gpu = 1 };

	return blocked.stack == LODE_NONE ? LODE_SYSTEM : LODE_PUSH(&build->blocked, blocked);
}

static int find_for_call(struct lode_gpu_build *build, const struct lode_gpu_call *call)
{
	const struct lode_gpu_placed *last = NULL;
	const struct lode_gpu_lane *of = NULL;

	for (size_t i = 0; i < build->lanes.count; i++) {
		const struct lode_gpu_lane *lane = &build->lanes.items[i];
		const struct lode_gpu_placed *placed = may_be_for(call, lane) ? awaited_in(build, lane, call)
									      : NULL;

		if (placed && (!last || placed->end > last->end)) {
			last = placed;
			of = lane;
		}
	}
	return last ? add_blocked(build, call, of, last) : 0;
}

/* Copies that block: the call and the copy know one another. */
static int find_for_copies(struct lode_gpu_build *build, const struct lode_gpu_lane *lane)
{
	for (size_t i = lane->first; i < lane->end; i++) {
		const struct lode_gpu_placed *placed = &build->placed.items[i];
		const struct lode_gpu_call *call =
			placed->call == LODE_NONE ? NULL : &build->facts->calls.items[placed->call];

		if (call && placed->end > call->t0 &&
		    lode_gpu_call_blocks(call, &build->facts->activities.items[placed->activity]) &&
		    add_blocked(build, call, lane, placed) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

static int add_other_wait(struct lode_gpu_build *build, const struct lode_gpu_wait *wait)
{
	struct lode_gpu_blocked blocked = { .t0 = wait->t0,
					    .t1 = wait->t1,
					    .over = wait->t1,
					    .thread = wait->thread,
					    .stack = wait->stack,
					    .waker = wait->waker,
					    .object = wait->object };

	return wait->t1 > wait->t0 ? LODE_PUSH(&build->blocked, blocked) : 0;
}

static int compare_blocked(const void *a, const void *b)
{
	const struct lode_gpu_blocked *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->t0 != y->t0)
		return x->t0 < y->t0 ? -1 : 1;
	return x->t1 > y->t1 ? -1 : x->t1 < y->t1;
}

/* One wait at a time: of a call of the driver inside one of the runtime the outer one counts. */
static void drop_nested(struct lode_gpu_build *build)
{
	struct lode_gpu_blocked *items = build->blocked.items;
	size_t kept = 0;

	if (!build->blocked.count)
		return;
	qsort(items, build->blocked.count, sizeof(*items), compare_blocked);
	for (size_t i = 0; i < build->blocked.count; i++)
		if (!kept || items[i].thread != items[kept - 1].thread || items[i].t0 >= items[kept - 1].over)
			items[kept++] = items[i];
	build->blocked.count = kept;
}

int lode_gpu_find_blocked(struct lode_gpu_build *build)
{
	const struct lode_gpu_facts *facts = build->facts;
	int code = 0;

	for (size_t i = 0; code == 0 && i < facts->calls.count; i++) {
		const struct lode_gpu_call *call = &facts->calls.items[i];

		if (call->kind == LODE_GPU_SYNC_STREAM || call->kind == LODE_GPU_SYNC_EVENT ||
		    call->kind == LODE_GPU_SYNC_DEVICE)
			code = find_for_call(build, call);
	}
	for (size_t i = 0; code == 0 && i < build->lanes.count; i++)
		code = find_for_copies(build, &build->lanes.items[i]);
	for (size_t i = 0; code == 0 && i < facts->waits.count; i++)
		code = add_other_wait(build, &facts->waits.items[i]);
	if (code == 0)
		drop_nested(build);
	return code;
}

/* ---- what the thread did meanwhile ---- */

/* A run of exact length, without the time of the wait. What lies before it becomes a run of its own. */
static int cut_run(struct lode_gpu_build *build, uint32_t run, const struct lode_gpu_blocked *blocked,
		   uint8_t *dropped)
{
	struct lode_events *runs = &build->stream->events[LODE_RUN];
	uint64_t t = runs->t[run], end = lode_add_saturating(t, runs->cost[run]);
	struct lode_event before = lode_events_get(runs, run);

	if (end <= blocked->t0 || t >= blocked->t1)
		return 0;
	if (end <= blocked->t1) {
		runs->cost[run] = t < blocked->t0 ? blocked->t0 - t : 0;
		dropped[run] = !runs->cost[run];
		return 0;
	}
	runs->t[run] = blocked->t1;
	runs->cost[run] = end - blocked->t1;
	before.cost = t < blocked->t0 ? blocked->t0 - t : 0;
	return before.cost ? lode_stream_add_event(build->stream, LODE_RUN, &before) : 0;
}

static int clear_runs(struct lode_gpu_build *build, const struct lode_gpu_blocked *blocked, uint8_t *dropped)
{
	const struct lode_events *runs = &build->stream->events[LODE_RUN];
	const uint32_t *order = build->runs.order;
	size_t first = build->runs.starts[blocked->thread], end = build->runs.starts[blocked->thread + 1];
	size_t i = LODE_BISECT(k, first, end, runs->t[order[k]] < blocked->t0);
	int is_exact = lode_gpu_runs_are_exact(build, blocked->thread);

	if (is_exact && i > first)
		i--;
	for (; i < end && runs->t[order[i]] < blocked->t1; i++) {
		if (is_exact) {
			if (cut_run(build, order[i], blocked, dropped) < 0)
				return LODE_SYSTEM;
		} else if (runs->t[order[i]] >= blocked->t0) {
			build->samples++;
			dropped[order[i]] = 1;
		}
	}
	return 0;
}

/* Waits that begin inside of the call: the thread slept in it, until the last of them ended. */
static void clear_waits(const struct lode_gpu_build *build, struct lode_gpu_blocked *blocked, uint8_t *dropped)
{
	const struct lode_events *waits = &build->stream->events[LODE_WAIT];
	const uint32_t *order = build->waits.order;
	size_t first = build->waits.starts[blocked->thread], end = build->waits.starts[blocked->thread + 1];

	for (size_t i = LODE_BISECT(k, first, end, waits->t[order[k]] < blocked->t0);
	     i < end && waits->t[order[i]] < blocked->t1; i++) {
		uint64_t woken = lode_add_saturating(waits->t[order[i]], waits->cost[order[i]]);

		dropped[order[i]] = 1;
		if (woken < blocked->t1)
			continue;
		blocked->t1 = woken < blocked->over ? woken : blocked->over;
		blocked->delay = waits->delay[order[i]];
	}
}

static int keep_others(struct lode_events *events, const uint8_t *dropped, size_t count)
{
	uint8_t *wanted = lode_calloc(events->count + 1, 1);
	struct lode_events kept = { 0 };
	int code = wanted ? 0 : LODE_SYSTEM;

	for (size_t i = 0; wanted && i < events->count; i++)
		wanted[i] = i >= count || !dropped[i];
	if (code == 0)
		code = lode_events_append(&kept, events, wanted);
	lode_free(wanted);
	if (code < 0) {
		lode_events_release(&kept);
		return code;
	}
	lode_events_release(events);
	*events = kept;
	return 0;
}

static int add_wait(struct lode_gpu_build *build, const struct lode_gpu_blocked *blocked)
{
	struct lode_event event = { .t = blocked->t0,
				    .cost = blocked->t1 - blocked->t0,
				    .delay = blocked->delay,
				    .thread = blocked->thread,
				    .stack = blocked->stack,
				    .waker = blocked->waker,
				    .waker_stack = blocked->waker_stack,
				    .cpu = LODE_NO_CPU,
				    .object = blocked->object,
				    .holder = LODE_NONE };

	build->synchronisations += (uint64_t)blocked->is_gpu;
	return lode_stream_add_event(build->stream, LODE_WAIT, &event);
}

static void find_stacks(struct lode_gpu_build *build)
{
	for (size_t i = 0; i < build->blocked.count; i++) {
		struct lode_gpu_blocked *blocked = &build->blocked.items[i];
		uint32_t run;

		if (blocked->stack != LODE_NONE)
			continue;
		run = lode_gpu_run_at(build, blocked->thread, blocked->t0, blocked->t1);
		blocked->stack = run == LODE_NONE ? 0 : build->stream->events[LODE_RUN].stack[run];
		if (blocked->waker == LODE_NONE)
			continue;
		run = lode_gpu_run_at(build, blocked->waker, blocked->t1 - 1, blocked->t1);
		blocked->waker_stack = run == LODE_NONE ? 0 : build->stream->events[LODE_RUN].stack[run];
	}
}

int lode_gpu_add_blocked(struct lode_gpu_build *build)
{
	struct lode_events *events = build->stream->events;
	size_t run_count = events[LODE_RUN].count, wait_count = events[LODE_WAIT].count;
	uint8_t *runs = lode_calloc(run_count + 1, 1), *waits = lode_calloc(wait_count + 1, 1);
	int code = runs && waits ? 0 : LODE_SYSTEM;

	if (code == 0)
		find_stacks(build);
	for (size_t i = 0; code == 0 && i < build->blocked.count; i++) {
		clear_waits(build, &build->blocked.items[i], waits);
		code = clear_runs(build, &build->blocked.items[i], runs);
	}
	if (code == 0 && build->blocked.count &&
	    (keep_others(&events[LODE_RUN], runs, run_count) < 0 ||
	     keep_others(&events[LODE_WAIT], waits, wait_count) < 0))
		code = LODE_SYSTEM;
	for (size_t i = 0; code == 0 && i < build->blocked.count; i++)
		code = add_wait(build, &build->blocked.items[i]);
	lode_free(runs);
	lode_free(waits);
	return code;
}
