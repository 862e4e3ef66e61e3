/*
 * The replay: see what_if.h. The threads of a window go through their steps, each as far as it gets at a moment; what they wait
 * for then (a length of time, a processor, another thread) is over at a later moment, and the earliest of these comes next.
 *
 * Processors are shared as if each of n threads had its part of m processors all the time, which is what a fair scheduler comes
 * to. All of them then run at the same speed, so one clock of *work* for all of them, which is slower than time while n > m,
 * says in which order they are done: a heap of threads by the work at which their run is over. A run costs a logarithm.
 *
 * Every step is passed once, so this ends. Nothing in a recording can be in each other's way, since each wait ended after it
 * began; but events of a file from elsewhere can be at one moment in a circle. Then whichever wait ended first ends when it did.
 */
#include "scope/what_if.h"

#include "base/bisect.h"
#include "scope/replay_window.h"
#include "scope/segments.h"

#include <math.h>
#include <string.h>

#define NEVER (-1.0)
/* Moments that differ by less, in ns, are one: rounding tells them apart. */
#define MOMENT 1e-3

/* Moments at which threads go on, the earliest on top, then the thread with the smallest number. */
struct moment {
	double at;
	uint32_t thread;
	uint32_t turn; /* of the thread, when this was added: it has gone on since then if its turn is another */
};

struct moments {
	struct moment *items;
	size_t count;
};

struct thread {
	size_t next;   /* step */
	uint32_t turn; /* how often it has gone on */
	uint32_t blocks; /* the wait of the window that it is blocked in, or waits at for another, plus one; 0: none */
};

struct wait {
	double ended;    /* when, NEVER: not yet */
	uint32_t thread; /* that is blocked in it, plus one */
	uint32_t waker;  /* that waits for it to begin, plus one */
	int has_begun;
	int was_none; /* its thread did not have to wait, and was not on the run queue afterwards */
};

struct lode_replay {
	const struct lode_scope_index *index;
	struct lode_window_source source;
	struct lode_pieces *pieces;
	struct lode_replay_edges edges;
	uint32_t *parents;
	double processors; /* that threads share; 0: they do not */
	struct lode_window window;
	uint64_t length; /* of the symptom */
	struct thread *threads;
	struct wait *waits;
	struct moments times;
	struct moments runs; /* by work */
	uint32_t *ready;     /* threads that go on now */
	size_t capacities[5];
	size_t ready_count;
	int is_done; /* the symptom's thread is at t1 */
	double now;
	double work;
	const struct lode_replay_change *change;
	enum lode_replay_bound bound;
};

/* ---- heaps ---- */

static int is_before(const struct moment *a, const struct moment *b)
{
	return a->at < b->at || (!(b->at < a->at) && a->thread < b->thread);
}

static void push(struct moments *moments, struct moment moment)
{
	size_t at = moments->count++;

	for (; at && is_before(&moment, &moments->items[(at - 1) / 2]); at = (at - 1) / 2)
		moments->items[at] = moments->items[(at - 1) / 2];
	moments->items[at] = moment;
}

static struct moment pop(struct moments *moments)
{
	struct moment top = moments->items[0], last = moments->items[--moments->count];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < moments->count) {
		child += child + 1 < moments->count &&
			 is_before(&moments->items[child + 1], &moments->items[child]);
		if (!is_before(&moments->items[child], &last))
			break;
		moments->items[at] = moments->items[child];
		at = child;
	}
	moments->items[at] = last;
	return top;
}

/* ---- steps ---- */

static int is_changed(const struct lode_replay_change *change, const struct lode_replay_step *step)
{
	int type = step->kind == LODE_REPLAY_STEP_RUN || step->kind == LODE_REPLAY_STEP_PREEMPTED ? LODE_RUN
												  : LODE_WAIT;

	return change && change->stacks && step->stack && change->stacks[step->stack] && change->kinds & 1u << type;
}

static double length_of(const struct lode_replay *replay, const struct lode_replay_step *step)
{
	double length = (double)step->length;

	return is_changed(replay->change, step) ? length * (100 - replay->change->percent) / 100 : length;
}

/* The thread goes on at this moment, unless something else makes it go on before. */
static void go_on_at(struct lode_replay *replay, uint32_t thread, double at)
{
	push(&replay->times, (struct moment){ at, thread, replay->threads[thread].turn });
}

static void go_on(struct lode_replay *replay, uint32_t thread)
{
	struct thread *item = &replay->threads[thread];
	struct wait *wait = item->blocks ? &replay->waits[item->blocks - 1] : NULL;

	if (wait && wait->thread == thread + 1)
		wait->thread = 0;
	if (wait && wait->waker == thread + 1)
		wait->waker = 0;
	item->blocks = 0;
	item->turn++;
	replay->ready[replay->ready_count++] = thread;
}

static int was_none(const struct lode_replay *replay, uint32_t wait)
{
	uint32_t number = replay->window.wait_of[wait];

	return number && replay->waits[number - 1].was_none;
}

/* Returns whether the thread has to wait for it. */
static int spend(struct lode_replay *replay, uint32_t thread, const struct lode_replay_step *step)
{
	double length = length_of(replay, step);

	if (length <= 0 || (step->kind == LODE_REPLAY_STEP_WOKEN && was_none(replay, step->number)))
		return 0;
	if (step->kind == LODE_REPLAY_STEP_RUN && replay->processors > 0 && !replay->window.threads[thread].is_gpu)
		push(&replay->runs, (struct moment){ replay->work + length, thread, 0 });
	else
		go_on_at(replay, thread, replay->now + length);
	return 1;
}

/* When a wait that no thread ends is over. */
static double alone_until(const struct lode_replay *replay, const struct lode_window_wait *wait,
			  const struct lode_replay_step *step)
{
	double length = length_of(replay, step), end = (double)wait->end - (double)step->length + length;
	int comes = wait->flags & LODE_EDGE_UNSURE &&
		    (replay->bound == LODE_REPLAY_LOW ||
		     (replay->bound == LODE_REPLAY_LIKELY && wait->flags & LODE_EDGE_IDLE));

	return comes ? end : replay->now + length;
}

/* Waits that are looked at: some take no time, and are not in the window. */
#define MAX_EMPTY_WAITS 64

/* The last wait of a group that was over at a moment of the recording: its number in the window plus one; 0: it has none. */
static uint32_t last_wait_before(const struct lode_replay *replay, uint32_t group, uint64_t t)
{
	const struct lode_scope_list *list = &replay->index->lists[LODE_WAIT];
	const struct lode_events *waits = &replay->index->stream->events[LODE_WAIT];
	size_t first = list->starts[group];
	size_t after = LODE_BISECT(i, first, list->starts[group + 1], lode_event_end(waits, list->events[i]) <= t);
	uint32_t number = 0;

	for (size_t i = after; !number && i > first && after - i < MAX_EMPTY_WAITS; i--)
		number = replay->window.wait_of[list->events[i - 1]];
	return number;
}

/*
 * The last sleep of a lock's holder before this thread began to wait for the lock: number plus one, of the window. Its holder
 * woke, and took the lock then. 0: no such sleep is known.
 */
static uint32_t sleep_before_lock(const struct lode_replay *replay, const struct lode_window_wait *lock)
{
	return lock->flags & LODE_EDGE_LOCK
		       ? last_wait_before(replay, replay->edges.wakers[lock->wait],
					  replay->index->stream->events[LODE_WAIT].t[lock->wait])
		       : 0;
}

/*
 * Whether a lock is still free: its holder has yet to come to that sleep, or out of it. A thread that wakes now and then, and
 * takes a lock for a moment, would else hold up all that comes there earlier until it wakes again.
 */
static int is_free_yet(const struct lode_replay *replay, const struct lode_window_wait *lock, uint32_t slept)
{
	uint32_t holder = slept ? replay->window.thread_of[replay->edges.wakers[lock->wait]] : 0;

	return holder && replay->bound != LODE_REPLAY_LOW &&
	       (!replay->waits[slept - 1].has_begun || replay->threads[holder - 1].blocks == slept);
}

/*
 * How long a thread waits for a lock that is still free. At best it does not. More likely others hold it as often as before, so
 * that it meets one of them as it did, who needs as long with it as the holder would now.
 */
static double wait_for_free(const struct lode_replay *replay, const struct lode_window_wait *lock,
			    const struct lode_replay_step *step, uint32_t slept)
{
	const struct lode_replay_step *steps = replay->window.steps;
	double length = length_of(replay, step);

	if (replay->bound == LODE_REPLAY_HIGH)
		return 0;
	for (size_t i = replay->window.waits[slept - 1].own_step + 1; i < lock->wake_step; i++)
		length -= is_changed(replay->change, &steps[i])
				  ? (double)steps[i].length - length_of(replay, &steps[i])
				  : 0;
	return length > 0 ? length : 0;
}

/* Returns whether the thread is blocked. */
static int begin_wait(struct lode_replay *replay, uint32_t thread, const struct lode_replay_step *step)
{
	const struct lode_window_wait *of = &replay->window.waits[step->number];
	struct wait *wait = &replay->waits[step->number];
	uint32_t slept = of->is_ended && wait->ended < 0 ? sleep_before_lock(replay, of) : 0;
	int is_shorter = is_changed(replay->change, step), is_free = is_free_yet(replay, of, slept);
	double until = !of->is_ended ? alone_until(replay, of, step)
		       : is_free     ? replay->now + wait_for_free(replay, of, step, slept)
				     : replay->now + length_of(replay, step);

	wait->has_begun = 1;
	if (wait->waker)
		go_on(replay, wait->waker - 1);
	if ((is_shorter && replay->change->percent >= 100) || (of->is_ended && wait->ended >= 0) ||
	    ((!of->is_ended || is_free) && until <= replay->now)) {
		if (!of->is_ended || wait->ended < replay->now - MOMENT)
			wait->was_none = 1;
		return 0;
	}
	replay->threads[thread].blocks = step->number + 1;
	if (of->is_ended)
		wait->thread = thread + 1;
	if (!of->is_ended || is_shorter || is_free)
		go_on_at(replay, thread, until);
	return 1;
}

/* Whether the waker needs the thread that it wakes to have come. */
static int must_meet(const struct lode_replay *replay, const struct lode_window_wait *wait)
{
	if (wait->flags & LODE_EDGE_BARRIER || replay->bound == LODE_REPLAY_LOW)
		return 1;
	return replay->bound == LODE_REPLAY_LIKELY && wait->flags & LODE_EDGE_MEETS;
}

/* Returns whether the thread has to wait. */
static int meet(struct lode_replay *replay, uint32_t thread, const struct lode_replay_step *step)
{
	struct wait *wait = &replay->waits[step->number];

	if (wait->has_begun || !must_meet(replay, &replay->window.waits[step->number]))
		return 0;
	wait->waker = thread + 1;
	replay->threads[thread].blocks = step->number + 1;
	return 1;
}

static void wake(struct lode_replay *replay, const struct lode_replay_step *step)
{
	struct wait *wait = &replay->waits[step->number];

	wait->ended = replay->now;
	if (wait->thread)
		go_on(replay, wait->thread - 1);
}

/* As far as the thread gets now. */
static void run_thread(struct lode_replay *replay, uint32_t thread)
{
	struct thread *item = &replay->threads[thread];
	int stops = 0;

	while (!stops && item->next < replay->window.threads[thread].end) {
		const struct lode_replay_step *step = &replay->window.steps[item->next++];

		switch (step->kind) {
		case LODE_REPLAY_STEP_WAIT:
			stops = begin_wait(replay, thread, step);
			break;
		case LODE_REPLAY_STEP_MEET:
			stops = meet(replay, thread, step);
			break;
		case LODE_REPLAY_STEP_WAKE:
			wake(replay, step);
			break;
		case LODE_REPLAY_STEP_START:
			go_on(replay, step->number);
			break;
		default:
			stops = spend(replay, thread, step);
			break;
		}
	}
	if (!stops && !thread)
		replay->is_done = 1;
}

/* ---- time ---- */

/* How fast work is done: all threads together have the processors. */
static double speed(const struct lode_replay *replay)
{
	double threads = (double)replay->runs.count;

	return threads > replay->processors ? replay->processors / threads : 1;
}

/* The next moment at which a thread goes on. Returns whether there is one. */
static int step_time(struct lode_replay *replay)
{
	struct moments *times = &replay->times, *runs = &replay->runs;
	double done;

	while (times->count && times->items[0].turn != replay->threads[times->items[0].thread].turn)
		pop(times);
	if (!times->count && !runs->count)
		return 0;
	done = runs->count ? replay->now + (runs->items[0].at - replay->work) / speed(replay) : INFINITY;
	if (!times->count || done <= times->items[0].at) {
		replay->now = done > replay->now ? done : replay->now;
		replay->work = runs->items[0].at;
		go_on(replay, pop(runs).thread);
		return 1;
	}
	if (runs->count)
		replay->work += (times->items[0].at - replay->now) * speed(replay);
	replay->now = times->items[0].at > replay->now ? times->items[0].at : replay->now;
	go_on(replay, pop(times).thread);
	return 1;
}

/* Threads wait for each other in a circle: the wait that ended first ends when it did. Returns whether there was one. */
static int break_circle(struct lode_replay *replay)
{
	uint32_t found = LODE_NONE;
	uint64_t end = 0;

	for (uint32_t i = 0; i < replay->window.thread_count; i++) {
		uint32_t wait = replay->threads[i].blocks;

		if (wait && (found == LODE_NONE || replay->window.waits[wait - 1].end < end)) {
			found = i;
			end = replay->window.waits[wait - 1].end;
		}
	}
	if (found == LODE_NONE)
		return 0;
	go_on_at(replay, found, (double)end > replay->now ? (double)end : replay->now);
	return 1;
}

static void begin(struct lode_replay *replay)
{
	const struct lode_window *window = &replay->window;

	replay->is_done = 0;
	replay->now = replay->work = 0;
	replay->times.count = replay->runs.count = replay->ready_count = 0;
	for (size_t i = 0; i < window->wait_count; i++)
		replay->waits[i] = (struct wait){ .ended = NEVER };
	for (uint32_t i = 0; i < window->thread_count; i++) {
		replay->threads[i] = (struct thread){ .next = window->threads[i].first };
		if (!window->threads[i].is_started)
			go_on_at(replay, i, (double)window->threads[i].start);
	}
}

uint64_t lode_replay_run(struct lode_replay *replay, const struct lode_replay_change *change,
			 enum lode_replay_bound bound)
{
	if (!replay->length)
		return 0;
	replay->change = change;
	replay->bound = bound;
	begin(replay);
	for (;;) {
		while (replay->ready_count)
			run_thread(replay, replay->ready[--replay->ready_count]);
		if (replay->is_done)
			return (uint64_t)(replay->now + 0.5);
		if (!step_time(replay) && !break_circle(replay))
			return replay->length;
	}
}

int lode_replay_touches(const struct lode_replay *replay, const struct lode_replay_change *change)
{
	for (size_t i = 0; i < replay->window.step_count; i++)
		if (is_changed(change, &replay->window.steps[i]))
			return 1;
	return 0;
}

size_t lode_replay_steps(const struct lode_replay *replay)
{
	return replay->window.step_count;
}

int lode_replay_is_unsure(const struct lode_replay *replay, uint32_t wait)
{
	return (replay->edges.flags[wait] & LODE_EDGE_UNSURE) != 0;
}

int lode_replay_shares_processors(const struct lode_replay *replay)
{
	return replay->processors > 0;
}

/* ---- making one ---- */

static int prepare(struct lode_replay *replay, const struct lode_replay_options *options)
{
	const struct lode_scope_index *index = replay->index;
	uint32_t known = options->processors ? lode_processors_count(options->processors) : 0;
	struct lode_piece_source pieces = {
		.index = index,
		.processors = known ? options->processors : NULL,
	};

	if (options->cpus != LODE_CPUS_UNLIMITED)
		replay->processors = options->cpus == LODE_CPUS_RECORDED ? known : options->cpus;
	if (lode_replay_edges_find(&replay->edges, index) < 0)
		return LODE_SYSTEM;
	replay->pieces = lode_pieces_make(&pieces, replay->edges.from, replay->edges.to);
	if (!replay->pieces ||
	    lode_replay_edges_settle(&replay->edges, index, replay->pieces, options->idle, options->kinds) < 0)
		return LODE_SYSTEM;
	replay->parents = lode_thread_parents(index, replay->pieces);
	replay->source = (struct lode_window_source){
		.index = index,
		.pieces = replay->pieces,
		.edges = &replay->edges,
		.parents = replay->parents,
		.all_threads = replay->processors > 0,
	};
	return replay->parents ? lode_window_init(&replay->window, &replay->source) : LODE_SYSTEM;
}

int lode_replay_make(struct lode_replay **result, const struct lode_scope_index *index,
		     const struct lode_replay_options *options, struct lode_error *error)
{
	struct lode_replay *replay = lode_calloc(1, sizeof(*replay));

	*result = NULL;
	if (!replay)
		return lode_fail_memory(error);
	replay->index = index;
	if (prepare(replay, options) < 0) {
		lode_replay_free(replay);
		return lode_fail_memory(error);
	}
	*result = replay;
	return 0;
}

void lode_replay_free(struct lode_replay *replay)
{
	if (!replay)
		return;
	lode_window_release(&replay->window);
	lode_pieces_free(replay->pieces, replay->index->group_count);
	lode_replay_edges_release(&replay->edges);
	lode_free(replay->parents);
	lode_free(replay->threads);
	lode_free(replay->waits);
	lode_free(replay->times.items);
	lode_free(replay->runs.items);
	lode_free(replay->ready);
	lode_free(replay);
}

/* Room for all that a replay of the window may need at once. Threads may leave two moments behind with each wait. */
static int reserve(struct lode_replay *replay)
{
	size_t threads = replay->window.thread_count, waits = replay->window.wait_count;
	size_t *capacities = replay->capacities;

	return LODE_GROW(replay->threads, capacities[0], threads + 1) < 0 ||
			       LODE_GROW(replay->waits, capacities[1], waits + 1) < 0 ||
			       LODE_GROW(replay->times.items, capacities[2], threads + 2 * waits + 1) < 0 ||
			       LODE_GROW(replay->runs.items, capacities[3], threads + 1) < 0 ||
			       LODE_GROW(replay->ready, capacities[4], threads + 1) < 0
		       ? LODE_SYSTEM
		       : 0;
}

int lode_replay_set(struct lode_replay *replay, const struct lode_symptom *symptom, struct lode_error *error)
{
	if (symptom->thread >= replay->index->stream->thread_count)
		return lode_fail(error, LODE_BAD_INPUT, "a symptom names a thread that is not there");
	replay->length = symptom->t1 > symptom->t0 ? symptom->t1 - symptom->t0 : 0;
	if (lode_window_make(&replay->window, &replay->source, symptom) < 0 || reserve(replay) < 0)
		return lode_fail_memory(error);
	return 0;
}
