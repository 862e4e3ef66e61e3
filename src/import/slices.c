/*
 * Slices: see slices.h.
 *
 * Beginnings and ends are joined first, so that there are only whole slices; these are sorted by
 * where they begin, and each thread keeps a stack of those that are open. A step forward in time
 * on a thread closes what has ended meanwhile, and each stretch between two changes is an event.
 * All of it is in the order of the trace, so one pass serves all threads.
 */
#include "import/slices.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/sort_order.h"
#include "import/import_common.h"
#include "import/symptom_markers.h"

#include <stdlib.h>
#include <string.h>

/* How many open slices an end looks at for its name. Real traces nest some hundred deep. */
#define SEARCH_DEPTH 1024

enum {
	BEGIN,
	END,
	INSTANT,
};

static int add_mark(struct lode_slices *slices, struct lode_slice_mark **marks, size_t *count, size_t *capacity,
		    struct lode_slice_mark mark)
{
	mark.order = slices->next_order++;
	if (*count >= LODE_NONE || LODE_APPEND(*marks, *count, *capacity, mark) < 0)
		return LODE_SYSTEM;
	if (mark.t > slices->last)
		slices->last = mark.t;
	return 0;
}

static int add_slice(struct lode_slices *slices, const struct lode_slice *slice)
{
	if (slices->count >= LODE_NONE || LODE_PUSH(slices, *slice) < 0)
		return LODE_SYSTEM;
	if (slice->t1 > slices->last)
		slices->last = slice->t1;
	return 0;
}

int lode_slices_add(struct lode_slices *slices, uint32_t thread, uint64_t t0, uint64_t t1, uint32_t frame)
{
	struct lode_slice slice = { t0, t1, thread, frame, slices->next_order++ };

	return add_slice(slices, &slice);
}

int lode_slices_begin(struct lode_slices *slices, uint32_t thread, uint64_t t, uint32_t frame)
{
	return add_mark(slices, &slices->marks.items, &slices->marks.count, &slices->marks.capacity,
			(struct lode_slice_mark){ .t = t, .thread = thread, .frame = frame, .kind = BEGIN });
}

int lode_slices_end(struct lode_slices *slices, uint32_t thread, uint64_t t, uint32_t frame)
{
	return add_mark(slices, &slices->marks.items, &slices->marks.count, &slices->marks.capacity,
			(struct lode_slice_mark){ .t = t, .thread = thread, .frame = frame, .kind = END });
}

int lode_slices_instant(struct lode_slices *slices, uint32_t thread, uint64_t t, uint32_t name)
{
	return add_mark(slices, &slices->instants.items, &slices->instants.count, &slices->instants.capacity,
			(struct lode_slice_mark){ .t = t, .thread = thread, .frame = name, .kind = INSTANT });
}

void lode_slices_release(struct lode_slices *slices)
{
	lode_free(slices->items);
	lode_free(slices->marks.items);
	lode_free(slices->instants.items);
	*slices = (struct lode_slices){ 0 };
}

/* ---- order ---- */

static int compare_marks(const void *a, const void *b)
{
	const struct lode_slice_mark *x = a, *y = b;

	if (x->t != y->t)
		return x->t < y->t ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int compare_slices(const void *a, const void *b)
{
	const struct lode_slice *x = a, *y = b;

	if (x->t0 != y->t0)
		return x->t0 < y->t0 ? -1 : 1;
	if (x->t1 != y->t1)
		return x->t1 > y->t1 ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Sorts, unless it is sorted already, as most traces are. */
static void sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	const char *item = items;

	for (size_t i = 1; i < count; i++, item += size)
		if (compare(item, item + size) > 0) {
			qsort(items, count, size, compare);
			return;
		}
}

/* Slices that begin together: the array ascends but for these. */
static void sort_ties(struct lode_slice *items, size_t count)
{
	size_t first = 0;

	for (size_t i = 1; i <= count; i++) {
		if (i < count && items[i].t0 == items[first].t0)
			continue;
		sort(items + first, i - first, sizeof(*items), compare_slices);
		first = i;
	}
}

static int is_sorted(const struct lode_slices *slices)
{
	for (size_t i = 1; i < slices->count; i++)
		if (compare_slices(&slices->items[i - 1], &slices->items[i]) > 0)
			return 0;
	return 1;
}

/* Traces are of a few ascending parts, one behind another, so what they have in common with the order is used. */
static int sort_slices(struct lode_slices *slices)
{
	size_t count = slices->count;
	uint64_t *keys = NULL;
	uint32_t *order = NULL;
	struct lode_slice *sorted = NULL;
	int code = LODE_SYSTEM;

	if (is_sorted(slices))
		return 0;
	if (!(keys = lode_realloc(NULL, count, sizeof(*keys))) ||
	    !(order = lode_realloc(NULL, count, sizeof(*order))) ||
	    !(sorted = lode_realloc(NULL, count, sizeof(*sorted))))
		goto out;
	for (size_t i = 0; i < count; i++)
		keys[i] = slices->items[i].t0;
	code = lode_sort_order(keys, count, order);
	if (code < 0)
		goto out;
	for (size_t i = 0; i < count; i++)
		sorted[i] = slices->items[order[i]];
	sort_ties(sorted, count);
	lode_free(slices->items);
	slices->items = sorted;
	slices->capacity = count;
	sorted = NULL;
out:
	lode_free(keys);
	lode_free(order);
	lode_free(sorted);
	return code;
}

/* ---- what is open on a thread ---- */

struct open_slice {
	struct lode_slice slice;
	uint32_t stack;
	uint32_t below; /* the one around it, or LODE_NONE */
};

struct lane {
	uint32_t top; /* innermost open slice, or LODE_NONE */
	uint32_t depth;
	uint64_t t; /* up to here its time is in events */
};

/* Whose stack is requested: that of a wait, or of its waker. */
struct question {
	uint64_t t;
	uint32_t thread;
	uint32_t wait;
	int is_waker;
};

/* All threads together: their open slices are chains through one array, whose unused items are a chain too. */
struct nesting {
	struct lode_stream *stream;
	const struct lode_import_options *options;
	const uint8_t *measured;
	struct lane *lanes;
	LODE_ARRAY(struct open_slice) open;
	uint32_t unused;
	struct question *questions; /* by time */
	size_t question_count;
	uint8_t *is_marker; /* by frame: 0: not looked at yet, 1: no, 2: a symptom */
	uint64_t unmatched;
	uint64_t unclosed;
	uint64_t overlapping;
	uint64_t empty;
	uint64_t cut;
	uint64_t measured_slices;
};

static int push(struct nesting *nesting, struct lane *lane, const struct lode_slice *slice, uint32_t stack)
{
	uint32_t at = nesting->unused;

	if (at == LODE_NONE) {
		if (LODE_RESERVE(&nesting->open, 1) < 0)
			return LODE_SYSTEM;
		at = (uint32_t)nesting->open.count++;
	} else {
		nesting->unused = nesting->open.items[at].below;
	}
	nesting->open.items[at] = (struct open_slice){ *slice, stack, lane->top };
	lane->top = at;
	lane->depth++;
	return 0;
}

static void pop(struct nesting *nesting, struct lane *lane)
{
	uint32_t at = lane->top;

	lane->top = nesting->open.items[at].below;
	lane->depth--;
	nesting->open.items[at].below = nesting->unused;
	nesting->unused = at;
}

/* ---- beginnings and ends ---- */

/* The innermost open slice that an end closes, or LODE_NONE. */
static uint32_t find_open(const struct nesting *nesting, const struct lane *lane, uint32_t frame)
{
	uint32_t at = lane->top;

	if (frame == LODE_NONE)
		return at;
	for (unsigned i = 0; at != LODE_NONE && i < SEARCH_DEPTH; i++, at = nesting->open.items[at].below)
		if (nesting->open.items[at].slice.frame == frame)
			return at;
	return LODE_NONE;
}

/* Ends all open slices of the thread from the innermost to `last`, which LODE_NONE means all. */
static int close_until(struct nesting *nesting, struct lode_slices *slices, struct lane *lane, uint32_t last,
		       uint64_t t)
{
	int done = 0;

	while (!done && lane->top != LODE_NONE) {
		struct lode_slice slice = nesting->open.items[lane->top].slice;

		done = lane->top == last;
		nesting->unclosed += !done;
		slice.t1 = t > slice.t0 ? t : slice.t0;
		pop(nesting, lane);
		if (add_slice(slices, &slice) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

static int join_mark(struct nesting *nesting, struct lode_slices *slices, const struct lode_slice_mark *mark)
{
	struct lane *lane = &nesting->lanes[mark->thread];
	struct lode_slice slice = { mark->t, mark->t, mark->thread, mark->frame, mark->order };
	uint32_t last;

	if (mark->kind == BEGIN)
		return push(nesting, lane, &slice, 0);
	last = find_open(nesting, lane, mark->frame);
	if (last == LODE_NONE) {
		nesting->unmatched++;
		return 0;
	}
	return close_until(nesting, slices, lane, last, mark->t);
}

static int join_marks(struct nesting *nesting, struct lode_slices *slices)
{
	sort(slices->marks.items, slices->marks.count, sizeof(*slices->marks.items), compare_marks);
	for (size_t i = 0; i < slices->marks.count; i++)
		if (join_mark(nesting, slices, &slices->marks.items[i]) < 0)
			return LODE_SYSTEM;
	for (size_t i = 0; i < nesting->stream->thread_count; i++)
		if (close_until(nesting, slices, &nesting->lanes[i], LODE_NONE, slices->last) < 0)
			return LODE_SYSTEM;
	return 0;
}

/* ---- from slices to events ---- */

/* The stack of the thread's innermost open slice goes on until `t`. */
static int add_run(struct nesting *nesting, uint32_t thread, uint64_t t)
{
	struct lane *lane = &nesting->lanes[thread];
	struct lode_event event = { .t = lane->t, .thread = thread, .waker = LODE_NONE, .cpu = LODE_NO_CPU };

	if (t <= lane->t)
		return 0;
	lane->t = t;
	if (lane->top == LODE_NONE || (nesting->measured && nesting->measured[thread]))
		return 0;
	event.cost = t - event.t;
	event.stack = nesting->open.items[lane->top].stack;
	return lode_stream_add_event(nesting->stream, LODE_RUN, &event);
}

/* Brings a thread forward to `t`: what has ended by then is closed. */
static int advance(struct nesting *nesting, uint32_t thread, uint64_t t)
{
	struct lane *lane = &nesting->lanes[thread];

	while (lane->top != LODE_NONE && nesting->open.items[lane->top].slice.t1 <= t) {
		if (add_run(nesting, thread, nesting->open.items[lane->top].slice.t1) < 0)
			return LODE_SYSTEM;
		pop(nesting, lane);
	}
	return add_run(nesting, thread, t);
}

static int add_symptom(struct nesting *nesting, const struct lode_slice *slice)
{
	const struct lode_frames *frames = &nesting->stream->dictionary->frames;
	struct lode_symptom symptom = { slice->thread, frames->items[slice->frame].function, slice->t0, slice->t1 };
	uint8_t *is = &nesting->is_marker[slice->frame];

	if (!*is)
		*is = lode_symptom_marker(nesting->options, lode_frames_function(frames, slice->frame)) ? 2 : 1;
	return *is == 2 ? lode_stream_add_symptom(nesting->stream, &symptom) : 0;
}

static int nest(struct nesting *nesting, const struct lode_slice *slice)
{
	struct lane *lane = &nesting->lanes[slice->thread];
	struct lode_slice inner = *slice;
	uint32_t stack = 0;

	if (add_symptom(nesting, slice) < 0)
		return LODE_SYSTEM;
	nesting->measured_slices += nesting->measured && nesting->measured[slice->thread];
	if (slice->t1 == slice->t0) {
		nesting->empty++;
		return 0;
	}
	if (advance(nesting, slice->thread, slice->t0) < 0)
		return LODE_SYSTEM;
	if (lane->top != LODE_NONE) {
		const struct open_slice *outer = &nesting->open.items[lane->top];

		stack = outer->stack;
		nesting->overlapping += inner.t1 > outer->slice.t1;
		inner.t1 = inner.t1 > outer->slice.t1 ? outer->slice.t1 : inner.t1;
	}
	if (lane->depth >= LODE_STACK_DEPTH_LIMIT)
		nesting->cut++;
	else
		stack = lode_stack_tree_child(&nesting->stream->dictionary->tree, stack, slice->frame);
	return stack == LODE_NONE ? LODE_SYSTEM : push(nesting, lane, &inner, stack);
}

static int add_call(struct nesting *nesting, const struct lode_slice_mark *instant)
{
	const struct lane *lane = &nesting->lanes[instant->thread];
	struct lode_event event = { .t = instant->t,
				    .thread = instant->thread,
				    .name = instant->frame,
				    .waker = LODE_NONE,
				    .cpu = LODE_NO_CPU };

	if (advance(nesting, instant->thread, instant->t) < 0)
		return LODE_SYSTEM;
	if (lane->top != LODE_NONE)
		event.stack = nesting->open.items[lane->top].stack;
	return lode_stream_add_event(nesting->stream, LODE_CALL, &event);
}

static int compare_questions(const void *a, const void *b)
{
	const struct question *x = a, *y = b;

	return (x->t > y->t) - (x->t < y->t);
}

/* Waits without a stack, and their wakers. */
static int ask_for_stacks(struct nesting *nesting)
{
	const struct lode_events *waits = &nesting->stream->events[LODE_WAIT];

	nesting->questions = lode_calloc(2 * waits->count + 1, sizeof(*nesting->questions));
	if (!nesting->questions)
		return LODE_SYSTEM;
	for (size_t i = 0; i < waits->count; i++) {
		struct question question = { waits->t[i], waits->thread[i], (uint32_t)i, 0 };

		if (!waits->stack[i])
			nesting->questions[nesting->question_count++] = question;
		question = (struct question){ lode_add_saturating(waits->t[i], waits->cost[i]), waits->waker[i],
					      (uint32_t)i, 1 };
		if (waits->waker[i] != LODE_NONE && !waits->waker_stack[i])
			nesting->questions[nesting->question_count++] = question;
	}
	sort(nesting->questions, nesting->question_count, sizeof(*nesting->questions), compare_questions);
	return 0;
}

static int answer(struct nesting *nesting, const struct question *question)
{
	struct lode_events *waits = &nesting->stream->events[LODE_WAIT];
	const struct lane *lane = &nesting->lanes[question->thread];

	if (advance(nesting, question->thread, question->t) < 0)
		return LODE_SYSTEM;
	if (lane->top != LODE_NONE)
		(question->is_waker ? waits->waker_stack : waits->stack)[question->wait] =
			nesting->open.items[lane->top].stack;
	return 0;
}

/* Answers what is requested before `t`; a slice that begins right there is not open yet. */
static int answer_until(struct nesting *nesting, size_t *next, uint64_t t)
{
	for (; *next < nesting->question_count && nesting->questions[*next].t < t; ++*next)
		if (answer(nesting, &nesting->questions[*next]) < 0)
			return LODE_SYSTEM;
	return 0;
}

/* Slices and instants by time; an instant at the very beginning of a slice is inside. */
static int nest_all(struct nesting *nesting, struct lode_slices *slices)
{
	size_t next = 0, question = 0;

	if (sort_slices(slices) < 0)
		return LODE_SYSTEM;
	sort(slices->instants.items, slices->instants.count, sizeof(*slices->instants.items), compare_marks);
	for (size_t i = 0; i < slices->count; i++) {
		for (; next < slices->instants.count && slices->instants.items[next].t < slices->items[i].t0;
		     next++)
			if (answer_until(nesting, &question, slices->instants.items[next].t) < 0 ||
			    add_call(nesting, &slices->instants.items[next]) < 0)
				return LODE_SYSTEM;
		if (answer_until(nesting, &question, slices->items[i].t0) < 0)
			return LODE_SYSTEM;
		if (nest(nesting, &slices->items[i]) < 0)
			return LODE_SYSTEM;
	}
	for (; next < slices->instants.count; next++)
		if (answer_until(nesting, &question, slices->instants.items[next].t) < 0 ||
		    add_call(nesting, &slices->instants.items[next]) < 0)
			return LODE_SYSTEM;
	for (; question < nesting->question_count; question++)
		if (answer(nesting, &nesting->questions[question]) < 0)
			return LODE_SYSTEM;
	for (uint32_t i = 0; i < nesting->stream->thread_count; i++)
		if (advance(nesting, i, UINT64_MAX) < 0)
			return LODE_SYSTEM;
	return 0;
}

/* A slice has two runs at most: when it begins, the one around it pauses. Room that stays empty takes no memory. */
static int reserve_runs(struct lode_events *runs, size_t slices)
{
	return lode_events_reserve(runs, runs->count + 2 * slices + 1,
				   lode_events_columns(runs) | (LODE_ALL_COLUMNS & ~LODE_RARE_COLUMNS));
}

/* ---- the whole ---- */

static void add_notes(const struct nesting *nesting)
{
	struct lode_notes *notes = nesting->options->notes;

	lode_notes_add(notes, nesting->unmatched, "slices that end without having begun, ignored", NULL);
	lode_notes_add(notes, nesting->unclosed,
		       "slices whose end is missing: they end with the one around them, or with the trace", NULL);
	lode_notes_add(notes, nesting->overlapping, "slices that end after the one they began in, cut there", NULL);
	lode_notes_add(notes, nesting->empty, "slices without a duration, left out", NULL);
	lode_notes_add(notes, nesting->cut, LODE_CUT_AT_LEAF, NULL);
	lode_symptom_markers_note(nesting->options, nesting->measured_slices,
				  "slices of threads whose time is known from samples or switches");
}

int lode_slices_finish(struct lode_slices *slices, struct lode_stream *stream, const uint8_t *measured,
		       const struct lode_import_options *options)
{
	struct nesting nesting = { .stream = stream, .options = options, .measured = measured, .unused = LODE_NONE };
	int code = LODE_SYSTEM;

	nesting.lanes = lode_calloc(stream->thread_count + 1, sizeof(*nesting.lanes));
	nesting.is_marker = lode_calloc(stream->dictionary->frames.count + 1, 1);
	if (nesting.lanes && nesting.is_marker) {
		for (size_t i = 0; i < stream->thread_count; i++)
			nesting.lanes[i].top = LODE_NONE;
		code = join_marks(&nesting, slices);
		if (code == 0 && slices->count)
			code = ask_for_stacks(&nesting);
		if (code == 0)
			code = reserve_runs(&stream->events[LODE_RUN], slices->count);
		if (code == 0)
			code = nest_all(&nesting, slices);
	}
	add_notes(&nesting);
	lode_free(nesting.lanes);
	lode_free(nesting.open.items);
	lode_free(nesting.questions);
	lode_free(nesting.is_marker);
	return code;
}
