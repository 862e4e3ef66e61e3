/*
 * Waiting for work: see work_waits.h for the definition.
 *
 * Whether a stack is one of a receive wait, and its place, follow from its parent's,
 * so one pass over the tree, parents before children, knows all of them. Waits are
 * then counted by (thread, place), of which there are few, and each thread's outer
 * loop is found by sorting these.
 */
#include "scope/work_waits.h"

#include "base/hash_index.h"
#include "scope/scope_index.h"
#include "trace/objects.h"

#include <stdlib.h>
#include <string.h>

/* How often a thread waited at a place. */
struct visit {
	uint32_t group; /* of the thread's tid */
	uint32_t place; /* node */
	uint32_t root;  /* its first frame */
	uint32_t depth;
	uint64_t count;
};

struct lode_work_waits {
	const struct lode_stream *stream;
	const struct lode_idle_stacks *idle;
	uint32_t *places;  /* by node; 0: not of a receive wait */
	uint8_t *receives; /* by node: enum lode_idle_receive of its ways of waiting */
	uint32_t *depths;  /* by node */
	uint32_t *roots;   /* by node: its first frame */
	int possible;
	uint32_t *groups; /* by thread */
	size_t group_count;
	uint32_t *processes;   /* by thread: number of its pid */
	uint8_t *recorded;     /* by process: one of its threads has events; */
	uint8_t *recorded_tid; /* by group: the thread itself, whose pid may be unknown */
	uint8_t *woke;         /* by thread: ended a receive wait */
	struct visit *visits;
	size_t visit_count;
	size_t visit_capacity;
	struct lode_index index; /* of visits */
	uint32_t *outer;         /* by group: the place of its outer loop, 0: none */
};

/* ---- places ---- */

/* What a frame says of its stack, beside enum lode_idle_receive. */
#define RECEIVES       (LODE_RECEIVES | LODE_RECEIVES_INTERRUPT)
#define WAY_OF_WAITING 0x40u
#define IS_BUSY        0x80u

/* By frame; the caller frees it. NULL when memory has run out. */
static uint8_t *judge_frames(const struct lode_idle_stacks *idle, const struct lode_frames *frames)
{
	uint8_t *says = lode_calloc(frames->count + 1, sizeof(*says));

	for (uint32_t i = 0; says && i < frames->count; i++) {
		if (lode_idle_is_way_of_waiting(idle, i) || !strcmp(lode_frames_module_name(frames, i), "kernel"))
			says[i] = (uint8_t)(WAY_OF_WAITING | lode_idle_receives(idle, i));
		says[i] |= (uint8_t)(lode_idle_is_busy(idle, i) ? IS_BUSY : 0);
	}
	return says;
}

/* By node: the place its stack leads to, without its ways of waiting, and what its ways of waiting receive. */
static int find_places(const struct lode_idle_stacks *idle, const struct lode_dictionary *dictionary,
		       uint32_t **places, uint8_t **receives)
{
	const struct lode_stack_tree *tree = &dictionary->tree;
	uint8_t *says = judge_frames(idle, &dictionary->frames);

	*places = lode_calloc(tree->count + 1, sizeof(**places));
	*receives = lode_calloc(tree->count + 1, sizeof(**receives));
	for (size_t node = 1; says && *places && *receives && node < tree->count; node++) {
		uint32_t parent = tree->nodes[node].parent, is = says[tree->nodes[node].frame];

		(*places)[node] = is & WAY_OF_WAITING ? (*places)[parent] : (uint32_t)node;
		if (is & WAY_OF_WAITING)
			(*receives)[node] = (uint8_t)((*receives)[parent] | (is & RECEIVES));
	}
	for (size_t node = 1; says && *places && *receives && node < tree->count; node++)
		if (!(*receives)[node] || ((*places)[node] && says[tree->nodes[(*places)[node]].frame] & IS_BUSY))
			(*places)[node] = 0;
	lode_free(says);
	return says && *places && *receives ? 0 : LODE_SYSTEM;
}

uint32_t *lode_work_places(const struct lode_idle_stacks *idle, const struct lode_dictionary *dictionary)
{
	uint32_t *places = NULL;
	uint8_t *receives = NULL;
	int code = find_places(idle, dictionary, &places, &receives);

	lode_free(receives);
	if (!code)
		return places;
	lode_free(places);
	return NULL;
}

/* ---- making ---- */

/* Numbers the pids. NULL when memory has run out. */
static uint32_t *number_processes(const struct lode_stream *stream)
{
	size_t count = stream->thread_count, distinct;
	uint32_t *processes = lode_calloc(count + 1, sizeof(*processes));

	if (!processes)
		return NULL;
	for (size_t i = 0; i < count; i++)
		processes[i] = stream->threads[i].pid;
	if (!lode_number_keys(processes, count, &distinct))
		return processes;
	lode_free(processes);
	return NULL;
}

static void measure_nodes(struct lode_work_waits *work)
{
	const struct lode_stack_tree *tree = &work->stream->dictionary->tree;

	for (size_t node = 1; node < tree->count; node++) {
		uint32_t parent = tree->nodes[node].parent;

		work->depths[node] = work->depths[parent] + 1;
		work->roots[node] = parent ? work->roots[parent] : tree->nodes[node].frame;
		work->possible |= !!work->places[node];
	}
}

int lode_work_waits_make(struct lode_work_waits **result, const struct lode_stream *stream,
			 const struct lode_idle_stacks *idle, struct lode_error *error)
{
	struct lode_work_waits *work = lode_calloc(1, sizeof(*work));
	size_t threads = stream->thread_count + 1, nodes = stream->dictionary->tree.count;

	*result = NULL;
	if (!work)
		return lode_fail_memory(error);
	work->stream = stream;
	work->idle = idle;
	work->groups = lode_threads_by_tid(stream, &work->group_count);
	work->processes = number_processes(stream);
	work->recorded = lode_calloc(threads, 1);
	work->recorded_tid = lode_calloc(threads, 1);
	work->woke = lode_calloc(threads, 1);
	work->depths = lode_calloc(nodes, sizeof(*work->depths));
	work->roots = lode_calloc(nodes, sizeof(*work->roots));
	work->outer = lode_calloc(threads, sizeof(*work->outer));
	if (find_places(idle, stream->dictionary, &work->places, &work->receives) < 0 || !work->groups ||
	    !work->processes || !work->recorded || !work->recorded_tid || !work->woke || !work->depths ||
	    !work->roots || !work->outer) {
		lode_work_waits_free(work);
		return lode_fail_memory(error);
	}
	measure_nodes(work);
	*result = work;
	return 0;
}

void lode_work_waits_free(struct lode_work_waits *work)
{
	if (!work)
		return;
	lode_free(work->places);
	lode_free(work->receives);
	lode_free(work->depths);
	lode_free(work->roots);
	lode_free(work->groups);
	lode_free(work->processes);
	lode_free(work->recorded);
	lode_free(work->recorded_tid);
	lode_free(work->woke);
	lode_free(work->visits);
	lode_index_release(&work->index);
	lode_free(work->outer);
	lode_free(work);
}

int lode_work_waits_possible(const struct lode_work_waits *work)
{
	return work->possible;
}

/* ---- counting ---- */

static struct visit *visit_of(struct lode_work_waits *work, uint32_t group, uint32_t place)
{
	uint64_t hash = lode_hash_pair(group, place);
	uint32_t id = LODE_INDEX_FIND(i, &work->index, hash,
				      work->visits[i].group == group && work->visits[i].place == place);

	if (id != LODE_NONE)
		return &work->visits[id];
	if (LODE_INDEX_APPEND(&work->index, hash, work->visits, work->visit_count, work->visit_capacity,
			      (struct visit){
				      .group = group,
				      .place = place,
				      .root = work->roots[place],
				      .depth = work->depths[place],
			      }) < 0)
		return NULL;
	return &work->visits[work->visit_count - 1];
}

static int is_interrupt(const struct lode_work_waits *work, const struct lode_events *waits, size_t i)
{
	return lode_idle_interrupt(work->idle, waits->waker_stack[i]);
}

/* Whether a wait was for something that nobody brings: a lock, or a file. Its stack may look as if it received work. */
static int is_for_no_work(const struct lode_work_waits *work, const struct lode_events *waits, size_t i)
{
	uint32_t object = lode_events_object(waits, i);

	if (!object)
		return 0;
	switch (lode_object_kind_of(lode_strings_get(&work->stream->dictionary->frames.strings, object))) {
	case LODE_OBJECT_LOCK:
	case LODE_OBJECT_GIL:
	case LODE_OBJECT_FILE:
	case LODE_OBJECT_DISK:
	case LODE_OBJECT_PAGE:
		return 1;
	default:
		return 0;
	}
}

uint32_t lode_work_wait_place(const struct lode_work_waits *work, const struct lode_events *waits, size_t i)
{
	uint32_t stack = waits->stack[i];

	if (is_for_no_work(work, waits, i))
		return 0;
	if (work->receives[stack] & LODE_RECEIVES ||
	    (work->receives[stack] & LODE_RECEIVES_INTERRUPT && is_interrupt(work, waits, i)))
		return work->places[stack];
	return 0;
}

static void mark_recorded(struct lode_work_waits *work, uint32_t thread)
{
	work->recorded_tid[work->groups[thread]] = 1;
	if (work->stream->threads[thread].pid != LODE_NO_PID)
		work->recorded[work->processes[thread]] = 1;
}

static int is_recorded(const struct lode_work_waits *work, uint32_t thread)
{
	return work->recorded[work->processes[thread]] || work->recorded_tid[work->groups[thread]];
}

int lode_work_waits_count(struct lode_work_waits *work, const struct lode_events *waits)
{
	for (size_t i = 0; i < waits->count; i++) {
		uint32_t place = lode_work_wait_place(work, waits, i);
		struct visit *visit;

		mark_recorded(work, waits->thread[i]);
		if (!place)
			continue;
		visit = visit_of(work, work->groups[waits->thread[i]], place);
		if (!visit)
			return LODE_SYSTEM;
		visit->count++;
		if (waits->waker[i] != LODE_NONE)
			work->woke[waits->waker[i]] = 1;
	}
	return 0;
}

int lode_work_waits_needs_runs(const struct lode_work_waits *work)
{
	for (size_t i = 0; i < work->stream->thread_count; i++)
		if (work->woke[i] && !is_recorded(work, (uint32_t)i))
			return 1;
	return 0;
}

void lode_work_waits_see_runs(struct lode_work_waits *work, const struct lode_events *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		mark_recorded(work, runs->thread[i]);
}

/* ---- outer loops ---- */

static int compare_visits(const void *a, const void *b)
{
	const struct visit *left = a, *right = b;

	if (left->group != right->group)
		return left->group < right->group ? -1 : 1;
	if (left->root != right->root)
		return left->root < right->root ? -1 : 1;
	return left->depth < right->depth ? -1 : left->depth > right->depth;
}

/* By node: waits of all threads at this place. NULL when memory has run out. */
static uint64_t *count_places(const struct lode_work_waits *work)
{
	uint64_t *counts = lode_calloc(work->stream->dictionary->tree.count + 1, sizeof(*counts));

	for (size_t i = 0; counts && i < work->visit_count; i++)
		counts[work->visits[i].place] += work->visits[i].count;
	return counts;
}

/* Of the visits of one thread with one root, sorted by depth: the outer loop, NULL: none. */
static const struct visit *find_outer(const struct visit *visits, size_t count, const uint64_t *everywhere)
{
	const struct visit *outer = NULL;
	int again = 0;

	for (size_t i = 0; i < count; i++)
		again |= visits[i].count >= 2;
	for (size_t i = 0; i < count; i++) {
		if ((again ? visits[i].count : everywhere[visits[i].place]) < 2)
			continue;
		if (outer)
			return visits[i].depth > outer->depth ? outer : NULL;
		outer = &visits[i];
	}
	return outer;
}

/* Finds the outer loop of the thread whose visits are these. */
static void settle_thread(struct lode_work_waits *work, const struct visit *visits, size_t count,
			  const uint64_t *everywhere)
{
	uint64_t all = 0;

	for (size_t i = 0; i < count; i++)
		all += visits[i].count;
	for (size_t first = 0, next; first < count; first = next) {
		const struct visit *outer;
		uint64_t same = 0;

		for (next = first; next < count && visits[next].root == visits[first].root; next++)
			same += visits[next].count;
		if (same <= all - same)
			continue;
		outer = find_outer(visits + first, next - first, everywhere);
		if (outer)
			work->outer[outer->group] = outer->place;
	}
}

int lode_work_waits_settle(struct lode_work_waits *work)
{
	uint64_t *everywhere = count_places(work);

	if (!everywhere)
		return LODE_SYSTEM;
	if (work->visit_count)
		qsort(work->visits, work->visit_count, sizeof(*work->visits), compare_visits);
	for (size_t first = 0, next; first < work->visit_count; first = next) {
		for (next = first;
		     next < work->visit_count && work->visits[next].group == work->visits[first].group;)
			next++;
		settle_thread(work, work->visits + first, next - first, everywhere);
	}
	lode_free(everywhere);
	return 0;
}

/* ---- asking ---- */

uint32_t lode_work_stack_place(const struct lode_work_waits *work, uint32_t stack)
{
	return work->places[stack];
}

uint32_t lode_work_outer_place(const struct lode_work_waits *work, size_t group)
{
	return work->outer[group];
}

static int ended_from_outside(const struct lode_work_waits *work, const struct lode_events *waits, size_t i)
{
	uint32_t waker = waits->waker[i];

	return waker == LODE_NONE || is_interrupt(work, waits, i) ||
	       lode_thread_is_idle_task(work->stream, &work->stream->threads[waker]) || !is_recorded(work, waker);
}

enum lode_work_place lode_work_wait(const struct lode_work_waits *work, const struct lode_events *waits, size_t i)
{
	uint32_t place = lode_work_wait_place(work, waits, i), group;

	if (!place)
		return LODE_WORK_NEITHER;
	group = work->groups[waits->thread[i]];
	if (place == work->outer[group])
		return ended_from_outside(work, waits, i) ? LODE_WORK_OUTSIDE : LODE_WORK_NEITHER;
	if (!work->outer[group] || work->depths[place] <= work->depths[work->outer[group]] ||
	    work->roots[place] != work->roots[work->outer[group]])
		return LODE_WORK_NEITHER;
	return ended_from_outside(work, waits, i) ? LODE_WORK_NEITHER : LODE_WORK_INSIDE;
}
