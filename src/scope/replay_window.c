/*
 * Windows of a replay: see replay_window.h. First the threads are found, from the symptom's own on, then the steps of each are
 * made: its pieces, cut where it wakes or starts another.
 *
 * At t0 each thread is where it was: in the middle of a wait or a run, of which the rest is replayed. A wait that goes on beyond
 * t1 is the end of its thread; only the symptom's own waits on, for whatever its waker is doing at t1.
 */
#include "scope/replay_window.h"

#include "base/bisect.h"
#include "base/sort_order.h"

#include <stdlib.h>
#include <string.h>

/* A thread of the window that another one starts in it. */
struct child {
	uint32_t parent; /* group */
	uint32_t thread;
	uint64_t start;
};

struct builder {
	struct lode_window *window;
	const struct lode_window_source *source;
	const struct lode_events *waits;
	uint64_t t0;
	uint64_t t1;
	uint32_t cut;           /* the wait of the symptom's thread that t1 cuts; LODE_NONE: none */
	uint32_t cut_waker;     /* the group that runs then and ends it later; LODE_NONE: none */
	struct child *children; /* by parent, then by start */
	size_t child_count;
	size_t child_capacity;
};

int lode_window_init(struct lode_window *window, const struct lode_window_source *source)
{
	window->thread_of = lode_calloc(source->index->group_count + 1, sizeof(*window->thread_of));
	window->wait_of = lode_calloc(source->index->stream->events[LODE_WAIT].count + 1, sizeof(*window->wait_of));
	return window->thread_of && window->wait_of ? 0 : LODE_SYSTEM;
}

void lode_window_release(struct lode_window *window)
{
	lode_free(window->steps);
	lode_free(window->waits);
	lode_free(window->threads);
	lode_free(window->thread_of);
	lode_free(window->wait_of);
	memset(window, 0, sizeof(*window));
}

static void clear(struct lode_window *window)
{
	for (size_t i = 0; i < window->thread_count; i++)
		window->thread_of[window->threads[i].group] = 0;
	for (size_t i = 0; i < window->wait_count; i++)
		window->wait_of[window->waits[i].wait] = 0;
	window->step_count = window->wait_count = window->thread_count = 0;
}

/* ---- threads ---- */

static int add_thread(struct builder *builder, uint32_t group)
{
	struct lode_window *window = builder->window;

	if (group == LODE_NONE || window->thread_of[group])
		return 0;
	if (LODE_APPEND(window->threads, window->thread_count, window->thread_capacity,
			(struct lode_window_thread){ .group = group }) < 0)
		return LODE_SYSTEM;
	window->thread_of[group] = (uint32_t)window->thread_count;
	return 0;
}

/* Pieces of a group that reach into the window begin here. */
static size_t first_piece(const struct builder *builder, uint32_t group)
{
	const struct lode_pieces *pieces = &builder->source->pieces[group];

	return LODE_BISECT(i, 0, pieces->count, pieces->items[i].end <= builder->t0);
}

/* Waits that a group ends in the window begin here, in the list of those that it ends. */
static size_t first_woken(const struct builder *builder, uint32_t group)
{
	const struct lode_replay_edges *edges = builder->source->edges;

	return LODE_BISECT(i, edges->starts[group], edges->starts[group + 1],
			   lode_event_end(builder->waits, edges->woken[i]) <= builder->t0);
}

static int add_wakers(struct builder *builder, uint32_t group)
{
	const struct lode_pieces *pieces = &builder->source->pieces[group];
	const struct lode_replay_edges *edges = builder->source->edges;

	for (size_t i = first_piece(builder, group); i < pieces->count && pieces->items[i].start < builder->t1; i++)
		if (pieces->items[i].kind == LODE_PIECE_BLOCKED &&
		    add_thread(builder, edges->wakers[pieces->items[i].event]) < 0)
			return LODE_SYSTEM;
	return 0;
}

/* Those that it may need to have come. */
static int add_woken(struct builder *builder, uint32_t group)
{
	const struct lode_replay_edges *edges = builder->source->edges;

	for (size_t i = first_woken(builder, group); i < edges->starts[group + 1]; i++) {
		uint32_t wait = edges->woken[i];

		if (lode_event_end(builder->waits, wait) > builder->t1)
			break;
		if (!(edges->flags[wait] & LODE_EDGE_FREE) &&
		    add_thread(builder, builder->source->index->groups[builder->waits->thread[wait]]) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

static int begins_inside(const struct builder *builder, uint32_t group)
{
	const struct lode_pieces *pieces = &builder->source->pieces[group];

	return pieces->count && pieces->items[0].start > builder->t0 && pieces->items[0].start < builder->t1;
}

static int add_all_threads(struct builder *builder)
{
	for (uint32_t group = 0; group < builder->source->index->group_count; group++) {
		const struct lode_pieces *pieces = &builder->source->pieces[group];
		size_t first = first_piece(builder, group);

		if (first < pieces->count && pieces->items[first].start < builder->t1 &&
		    add_thread(builder, group) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

/* The list of threads is also what is still to be looked at. */
static int find_threads(struct builder *builder, uint32_t own)
{
	struct lode_window *window = builder->window;

	if (add_thread(builder, own) < 0 || (builder->source->all_threads && add_all_threads(builder) < 0))
		return LODE_SYSTEM;
	for (size_t i = 0; i < window->thread_count; i++) {
		uint32_t group = window->threads[i].group;

		if (add_wakers(builder, group) < 0 || add_woken(builder, group) < 0)
			return LODE_SYSTEM;
		if (begins_inside(builder, group) && add_thread(builder, builder->source->parents[group]) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

/* ---- waits ---- */

/* Whether a thread of the group runs at `t`, as far as its pieces tell. */
static int runs_at(const struct lode_pieces *pieces, uint64_t t)
{
	size_t at = lode_piece_at(pieces, t);

	if (at == pieces->count)
		return pieces->count != 0;
	return pieces->items[at].start < t &&
	       (pieces->items[at].kind == LODE_PIECE_RUN || pieces->items[at].kind == LODE_PIECE_PLAIN);
}

static int add_wait(struct builder *builder, uint32_t wait)
{
	const struct lode_replay_edges *edges = builder->source->edges;
	struct lode_window *window = builder->window;
	uint64_t end = lode_event_end(builder->waits, wait);
	struct lode_window_wait item = {
		.end = (end < builder->t1 ? end : builder->t1) - builder->t0,
		.wait = wait,
		.is_ended = edges->wakers[wait] != LODE_NONE,
		.flags = edges->flags[wait],
	};

	if (wait == builder->cut && builder->cut_waker == LODE_NONE) {
		item.is_ended = 0;
		item.flags = item.flags & LODE_EDGE_IDLE ? item.flags : LODE_EDGE_UNSURE;
	}
	if (LODE_APPEND(window->waits, window->wait_count, window->wait_capacity, item) < 0)
		return LODE_SYSTEM;
	window->wait_of[wait] = (uint32_t)window->wait_count;
	return 0;
}

/* The one that t1 cuts counts only in the symptom's own thread. */
static int is_cut(const struct builder *builder, const struct lode_piece *piece)
{
	return piece->end > builder->t1 && piece->kind == LODE_PIECE_BLOCKED;
}

static void find_cut(struct builder *builder, uint32_t own)
{
	const struct lode_pieces *pieces = &builder->source->pieces[own];
	size_t at = lode_piece_at(pieces, builder->t1);
	uint32_t waker;

	builder->cut = builder->cut_waker = LODE_NONE;
	if (at == pieces->count || pieces->items[at].start >= builder->t1 || !is_cut(builder, &pieces->items[at]))
		return;
	builder->cut = pieces->items[at].event;
	waker = builder->source->edges->wakers[builder->cut];
	if (waker != LODE_NONE && runs_at(&builder->source->pieces[waker], builder->t1))
		builder->cut_waker = waker;
}

static int find_waits(struct builder *builder)
{
	for (size_t i = 0; i < builder->window->thread_count; i++) {
		uint32_t group = builder->window->threads[i].group;
		const struct lode_pieces *pieces = &builder->source->pieces[group];

		for (size_t k = first_piece(builder, group);
		     k < pieces->count && pieces->items[k].start < builder->t1; k++)
			if (pieces->items[k].kind == LODE_PIECE_BLOCKED &&
			    (!is_cut(builder, &pieces->items[k]) || pieces->items[k].event == builder->cut) &&
			    add_wait(builder, pieces->items[k].event) < 0)
				return LODE_SYSTEM;
	}
	return 0;
}

/* ---- steps ---- */

/* A thread whose steps are being made. */
struct stepping {
	uint32_t group;
	size_t woken;     /* the next wait that it ends, */
	size_t woken_end; /* of these */
	size_t met;       /* up to here they were seen to at a barrier */
	size_t child;     /* the next thread that it starts, */
	size_t child_end; /* of these */
};

static int add_step(struct builder *builder, enum lode_replay_step_kind kind, uint64_t length, uint32_t number,
		    uint32_t stack)
{
	struct lode_window *window = builder->window;

	return LODE_APPEND(window->steps, window->step_count, window->step_capacity,
			   (struct lode_replay_step){ .length = length,
						      .number = number,
						      .stack = stack,
						      .kind = (uint32_t)kind });
}

/* A barrier opens for all that are there: `first` and those that are woken in the same run, and had come before. */
static int meet_at_barrier(struct builder *builder, struct stepping *stepping, uint64_t until)
{
	const struct lode_replay_edges *edges = builder->source->edges;
	uint64_t opens = lode_event_end(builder->waits, edges->woken[stepping->woken]);

	for (stepping->met = stepping->woken; stepping->met < stepping->woken_end; stepping->met++) {
		uint32_t wait = edges->woken[stepping->met];
		uint32_t number = builder->window->wait_of[wait];

		if (!(edges->flags[wait] & LODE_EDGE_BARRIER) || builder->waits->t[wait] > opens ||
		    lode_event_end(builder->waits, wait) > until)
			return 0;
		if (number && add_step(builder, LODE_REPLAY_STEP_MEET, 0, number - 1, 0) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

/* It ends the next wait; the run that it is in goes on until `until`. */
static int add_wake(struct builder *builder, struct stepping *stepping, uint64_t until)
{
	const struct lode_replay_edges *edges = builder->source->edges;
	uint32_t wait = edges->woken[stepping->woken];
	uint32_t number = builder->window->wait_of[wait];

	if (edges->flags[wait] & LODE_EDGE_BARRIER && stepping->woken >= stepping->met &&
	    meet_at_barrier(builder, stepping, until) < 0)
		return LODE_SYSTEM;
	stepping->woken++;
	if (!number)
		return 0;
	if (!(edges->flags[wait] & (LODE_EDGE_BARRIER | LODE_EDGE_FREE)) &&
	    add_step(builder, LODE_REPLAY_STEP_MEET, 0, number - 1, 0) < 0)
		return LODE_SYSTEM;
	return add_step(builder, LODE_REPLAY_STEP_WAKE, 0, number - 1, 0);
}

static int add_piece(struct builder *builder, const struct lode_piece *piece, uint64_t from, uint64_t to)
{
	const struct lode_events *events = builder->source->index->stream->events;
	uint32_t event = piece->event;

	if (to <= from)
		return 0;
	switch (piece->kind) {
	case LODE_PIECE_RUN:
		return add_step(builder, LODE_REPLAY_STEP_RUN, to - from, 0,
				event == LODE_NONE ? 0 : events[LODE_RUN].stack[event]);
	case LODE_PIECE_WOKEN:
		return add_step(builder, LODE_REPLAY_STEP_WOKEN, to - from, event, events[LODE_WAIT].stack[event]);
	case LODE_PIECE_PREEMPTED:
		return add_step(builder, LODE_REPLAY_STEP_PREEMPTED, to - from, 0,
				events[LODE_CALL].stack ? events[LODE_CALL].stack[event] : 0);
	case LODE_PIECE_QUEUED: /* comes from the replay itself */
		return 0;
	default:
		return add_step(builder, LODE_REPLAY_STEP_PLAIN, to - from, 0, 0);
	}
}

static uint64_t next_wake(const struct builder *builder, const struct stepping *stepping)
{
	return stepping->woken < stepping->woken_end
		       ? lode_event_end(builder->waits, builder->source->edges->woken[stepping->woken])
		       : UINT64_MAX;
}

static uint64_t next_child(const struct builder *builder, const struct stepping *stepping)
{
	return stepping->child < stepping->child_end ? builder->children[stepping->child].start : UINT64_MAX;
}

/* One that is not blocked, with what the thread does to others meanwhile. */
static int add_run(struct builder *builder, struct stepping *stepping, const struct lode_piece *piece)
{
	uint64_t now = piece->start > builder->t0 ? piece->start : builder->t0;
	uint64_t to = piece->end < builder->t1 ? piece->end : builder->t1;

	for (;;) {
		uint64_t wake = next_wake(builder, stepping), child = next_child(builder, stepping);
		uint64_t next = wake < child ? wake : child;

		if (next > to)
			return add_piece(builder, piece, now, to);
		if (add_piece(builder, piece, now, next) < 0)
			return LODE_SYSTEM;
		now = next > now ? next : now;
		if (wake < child ? add_wake(builder, stepping, to) < 0
				 : add_step(builder, LODE_REPLAY_STEP_START, 0,
					    builder->children[stepping->child++].thread, 0) < 0)
			return LODE_SYSTEM;
	}
}

/* Between two waits there may be a moment in which it wakes another. */
static int add_moment(struct builder *builder, struct stepping *stepping, uint64_t t)
{
	const struct lode_piece moment = { t, t, LODE_NONE, LODE_PIECE_PLAIN };

	return add_run(builder, stepping, &moment);
}

static int add_blocked(struct builder *builder, const struct lode_piece *piece)
{
	uint64_t from = piece->start > builder->t0 ? piece->start : builder->t0;
	uint64_t to = piece->end < builder->t1 ? piece->end : builder->t1;
	uint32_t number = builder->window->wait_of[piece->event];

	return add_step(builder, LODE_REPLAY_STEP_WAIT, to - from, number - 1, builder->waits->stack[piece->event]);
}

/* What is not known of a thread before its first piece and behind its last. */
static int add_rest(struct builder *builder, struct stepping *stepping, uint64_t from, uint64_t to)
{
	struct lode_piece rest = { .start = from, .end = to, .event = LODE_NONE, .kind = LODE_PIECE_PLAIN };

	return to > from ? add_run(builder, stepping, &rest) : 0;
}

static int add_pieces(struct builder *builder, struct stepping *stepping, int is_own)
{
	const struct lode_pieces *pieces = &builder->source->pieces[stepping->group];
	size_t i = first_piece(builder, stepping->group);
	uint64_t now = builder->t0;

	if (i < pieces->count && is_own &&
	    add_rest(builder, stepping, now,
		     pieces->items[i].start < builder->t1 ? pieces->items[i].start : builder->t1) < 0)
		return LODE_SYSTEM;
	for (; i < pieces->count && pieces->items[i].start < builder->t1; i++) {
		const struct lode_piece *piece = &pieces->items[i];

		if (piece->kind == LODE_PIECE_BLOCKED && add_moment(builder, stepping, piece->start) < 0)
			return LODE_SYSTEM;
		if (is_cut(builder, piece) && piece->event != builder->cut)
			return 0;
		if (piece->kind == LODE_PIECE_BLOCKED ? add_blocked(builder, piece) < 0
						      : add_run(builder, stepping, piece) < 0)
			return LODE_SYSTEM;
		now = piece->end;
	}
	if ((is_own || builder->cut_waker == stepping->group) && i == pieces->count &&
	    add_rest(builder, stepping, now, builder->t1) < 0)
		return LODE_SYSTEM;
	return add_moment(builder, stepping, builder->t1);
}

static int make_steps(struct builder *builder, size_t thread)
{
	struct lode_window *window = builder->window;
	struct lode_window_thread *item = &window->threads[thread];
	const struct lode_pieces *pieces = &builder->source->pieces[item->group];
	const struct lode_replay_edges *edges = builder->source->edges;
	struct stepping stepping = {
		.group = item->group,
		.woken = first_woken(builder, item->group),
		.woken_end = edges->starts[item->group + 1],
	};

	stepping.child = LODE_BISECT(i, 0, builder->child_count, builder->children[i].parent < item->group);
	stepping.child_end = LODE_BISECT(i, 0, builder->child_count, builder->children[i].parent <= item->group);
	item->first = window->step_count;
	item->is_gpu = edges->is_gpu[item->group];
	item->start = thread && pieces->count && pieces->items[0].start > builder->t0
			      ? pieces->items[0].start - builder->t0
			      : 0;
	if (add_pieces(builder, &stepping, !thread) < 0)
		return LODE_SYSTEM;
	if (item->group == builder->cut_waker &&
	    add_step(builder, LODE_REPLAY_STEP_WAKE, 0, window->wait_of[builder->cut] - 1, 0) < 0)
		return LODE_SYSTEM;
	item->end = window->step_count;
	return 0;
}

/* ---- threads that begin in the window ---- */

static int compare_children(const void *left, const void *right)
{
	const struct child *a = left, *b = right;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

static int find_children(struct builder *builder)
{
	struct lode_window *window = builder->window;

	for (size_t i = 1; i < window->thread_count; i++) {
		uint32_t group = window->threads[i].group, parent = builder->source->parents[group];

		if (parent == LODE_NONE || !begins_inside(builder, group) || !window->thread_of[parent])
			continue;
		window->threads[i].is_started = 1;
		if (LODE_APPEND(builder->children, builder->child_count, builder->child_capacity,
				(struct child){ parent, (uint32_t)i,
						builder->source->pieces[group].items[0].start }) < 0)
			return LODE_SYSTEM;
	}
	if (builder->child_count)
		qsort(builder->children, builder->child_count, sizeof(*builder->children), compare_children);
	return 0;
}

/* Tells waits where their steps are. */
static void note_steps(struct lode_window *window)
{
	for (size_t i = 0; i < window->step_count; i++) {
		const struct lode_replay_step *step = &window->steps[i];

		if (step->kind == LODE_REPLAY_STEP_WAIT)
			window->waits[step->number].own_step = i;
		else if (step->kind == LODE_REPLAY_STEP_WAKE)
			window->waits[step->number].wake_step = i;
	}
}

int lode_window_make(struct lode_window *window, const struct lode_window_source *source,
		     const struct lode_symptom *symptom)
{
	struct builder builder = {
		.window = window,
		.source = source,
		.waits = &source->index->stream->events[LODE_WAIT],
		.t0 = symptom->t0,
		.t1 = symptom->t1 > symptom->t0 ? symptom->t1 : symptom->t0,
	};
	uint32_t own = source->index->groups[symptom->thread];
	int code;

	clear(window);
	find_cut(&builder, own);
	code = find_threads(&builder, own);
	if (!code)
		code = find_waits(&builder);
	if (!code)
		code = find_children(&builder);
	for (size_t i = 0; !code && i < window->thread_count; i++)
		code = make_steps(&builder, i);
	if (!code)
		note_steps(window);
	lode_free(builder.children);
	return code;
}

/* ---- who started whom ---- */

/* Threads of a process that are looked at in search of the one that started another. */
#define MAX_CANDIDATES 64

/* By group: the process of its threads, LODE_NO_PID: unknown. */
static void find_processes(const struct lode_scope_index *index, uint32_t *processes)
{
	for (size_t i = 0; i < index->group_count; i++)
		processes[i] = LODE_NO_PID;
	for (size_t i = 0; i < index->stream->thread_count; i++)
		if (processes[index->groups[i]] == LODE_NO_PID)
			processes[index->groups[i]] = index->stream->threads[i].pid;
}

static int may_start(const struct lode_pieces *parent, const struct lode_pieces *child)
{
	uint64_t t = child->items[0].start;

	return parent->count && parent->items[0].start < t && lode_piece_at(parent, t) < parent->count &&
	       runs_at(parent, t);
}

/* Groups are in the order of their tids, so the first thread of a process is its main thread, nearly always. */
uint32_t *lode_thread_parents(const struct lode_scope_index *index, const struct lode_pieces *pieces)
{
	size_t count = index->group_count;
	uint32_t *parents = lode_calloc(count + 1, sizeof(*parents));
	uint32_t *processes = lode_calloc(count + 1, sizeof(*processes));
	uint32_t *order = lode_calloc(count + 1, sizeof(*order));
	uint64_t *keys = lode_calloc(count + 1, sizeof(*keys));
	int code = parents && processes && order && keys ? 0 : LODE_SYSTEM;

	if (!code)
		find_processes(index, processes);
	for (size_t i = 0; !code && i < count; i++) {
		parents[i] = LODE_NONE;
		keys[i] = processes[i];
	}
	if (!code)
		code = lode_sort_order(keys, count, order);
	for (size_t i = 0, first = 0; !code && i < count; i++) {
		first = processes[order[i]] == processes[order[first]] ? first : i;
		for (size_t k = first; processes[order[i]] != LODE_NO_PID && pieces[order[i]].count && k < count &&
				       processes[order[k]] == processes[order[i]] && k < first + MAX_CANDIDATES;
		     k++)
			if (k != i && may_start(&pieces[order[k]], &pieces[order[i]])) {
				parents[order[i]] = order[k];
				break;
			}
	}
	lode_free(processes);
	lode_free(order);
	lode_free(keys);
	if (!code)
		return parents;
	lode_free(parents);
	return NULL;
}
