/*
 * States of threads: see states.h. One sweep a thread, linear in the events.
 *
 * First sums, then settling: the sums of a thread are taken from its timeline (segments.h), or in a thinned recording
 * from its events and their weights, and may be less or more than its interval. Settling makes them add up, in whole
 * numbers, and is all that knows of the kernel's counts.
 */
#include "scope/states.h"

#include "scope/segments.h"
#include "scope/wait_kinds.h"

#include <string.h>

struct accounting {
	const struct lode_stream *stream;
	const struct lode_wait_classes *classes;
	const struct lode_state_span *span; /* NULL: whole lives */
	struct lode_scope_index *index;
	struct lode_wait_kinds *kinds;
	struct lode_segment_sweep sweep;
	struct lode_segments line;
	uint64_t first, last; /* of the stream */
};

/* What is known of one thread. */
struct account {
	struct lode_thread_states *states;
	const struct lode_thread_totals *totals; /* NULL: not known, or not of this span */
	uint64_t gaps;                           /* ns that no event covers and that it may have run in */
	uint64_t end;                            /* of the interval */
	struct lode_running sampled;
};

/* ---- the state at a moment ---- */

static enum lode_state state_of_wait(const struct accounting *accounting, size_t wait)
{
	const struct lode_events *waits = &accounting->stream->events[LODE_WAIT];
	const struct lode_wait_classes *classes = accounting->classes;
	enum lode_state kind = lode_wait_kind(accounting->kinds, waits, wait);
	/* What kept a user waiting is called by what it was for, whatever else it may be. */
	int on_path = classes && classes->on_path && classes->on_path[wait];

	/* A shell waits for its child, though that is not its own time (idle_threads.h). */
	if (classes && !on_path && kind != LODE_STATE_CHILD)
		switch (lode_wait_class(classes, waits, wait)) {
		case LODE_WAIT_IDLE:
			return LODE_STATE_IDLE;
		case LODE_WAIT_FOR_WORK:
			return LODE_STATE_WORK;
		default:
			break;
		}
	return kind;
}

/* How much of [start, end) is in the interval. */
static uint64_t inside(const struct account *account, uint64_t start, uint64_t end)
{
	if (start < account->states->first)
		start = account->states->first;
	if (end > account->end)
		end = account->end;
	return end > start ? end - start : 0;
}

static void add_time(struct account *account, enum lode_state state, uint64_t time, uint64_t weight)
{
	uint64_t *sum = &account->states->ns[state];

	*sum = lode_add_saturating(*sum, lode_weighted(time, weight));
}

int lode_stack_is_in_kernel(const struct lode_dictionary *dictionary, uint32_t stack)
{
	uint32_t frame = dictionary->tree.nodes[stack].frame;

	return dictionary->frames.modules[dictionary->frames.items[frame].module].kind == LODE_KIND_KERNEL;
}

static void add_sample(const struct accounting *accounting, struct account *account, uint32_t event, uint64_t time)
{
	const struct lode_events *runs = &accounting->stream->events[LODE_RUN];
	const struct lode_dictionary *dictionary = accounting->stream->dictionary;
	uint64_t *sum = &account->sampled.user;

	if (!runs->stack || !runs->stack[event])
		return;
	if (lode_stack_is_in_kernel(dictionary, runs->stack[event]))
		sum = &account->sampled.kernel;
	*sum = lode_add_saturating(*sum, time);
}

/* An event from `start` to `end`: its own span, or the part of it that no other event covers. */
static void add_event(const struct accounting *accounting, struct account *account, int type, uint32_t event,
		      uint64_t start, uint64_t end, uint64_t weight)
{
	uint64_t woken;

	if (type == LODE_RUN) {
		add_time(account, LODE_STATE_RUNNING, inside(account, start, end), weight);
		add_sample(accounting, account, event, lode_weighted(inside(account, start, end), weight));
		return;
	}
	if (type == LODE_WAIT) {
		woken = lode_event_end(&accounting->stream->events[LODE_WAIT], event);
		woken = woken < start ? start : woken > end ? end : woken;
		add_time(account, state_of_wait(accounting, event), inside(account, start, woken), weight);
		start = woken;
	}
	add_time(account, LODE_STATE_READY, inside(account, start, end), weight);
}

/* ---- sums of a thread whose waits are all recorded ---- */

/* Whether the thread may have run from `end` of one segment to the start of the next. */
static int ran_between(const struct accounting *accounting, const struct account *account,
		       const struct lode_segment *before, const struct lode_segment *after)
{
	const struct lode_thread *thread = &accounting->stream->threads[account->states->thread];

	if (lode_thread_has_totals(thread))
		return 1;
	if (before->type == LODE_RUN || after->type == LODE_RUN)
		return 0;
	return after->start - before->end <= accounting->index->longest_gap;
}

static int sum_segments(struct accounting *accounting, struct account *account, size_t group)
{
	const struct lode_segments *line = &accounting->line;

	if (lode_segments_make(accounting->index, &accounting->sweep, group, &accounting->line) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < line->count; i++) {
		const struct lode_segment *segment = &line->items[i];

		add_event(accounting, account, (int)segment->type, segment->event, segment->start, segment->end, 1);
		if (i && ran_between(accounting, account, segment - 1, segment))
			account->gaps += inside(account, segment[-1].end, segment->start);
	}
	return 0;
}

/* ---- sums of a thread of which only some waits are recorded ---- */

static void sum_weights(const struct accounting *accounting, struct account *account, size_t group)
{
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		const struct lode_events *events = &accounting->stream->events[type];
		const struct lode_scope_list *list = &accounting->index->lists[type];

		for (size_t i = list->starts ? list->starts[group] : 0;
		     list->starts && i < list->starts[group + 1]; i++) {
			uint32_t event = list->events[i];

			add_event(accounting, account, type, event, events->t[event],
				  lode_event_over(events, type, event), lode_events_weight(events, event));
		}
	}
}

static int is_thinned(const struct accounting *accounting, size_t group)
{
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		const struct lode_events *events = &accounting->stream->events[type];
		const struct lode_scope_list *list = &accounting->index->lists[type];

		if (type == LODE_RUN || !events->weight || !list->starts)
			continue;
		for (size_t i = list->starts[group]; i < list->starts[group + 1]; i++)
			if (events->weight[list->events[i]] > 1)
				return 1;
	}
	return 0;
}

/* ---- making them add up ---- */

/* Takes at most `wanted` of what is left. */
static uint64_t grant(uint64_t *left, uint64_t wanted)
{
	uint64_t granted = wanted < *left ? wanted : *left;

	*left -= granted;
	return granted;
}

__extension__ typedef unsigned __int128 wide;

/* Makes the waits add up to `target`, in proportion; what rounding leaves goes to the largest. */
static void scale_waits(uint64_t ns[], uint64_t target)
{
	wide all = 0;
	uint64_t given = 0;
	int largest = LODE_STATE_OTHER_WAIT;

	for (int state = LODE_STATE_LOCK; state <= LODE_STATE_OTHER_WAIT; state++) {
		all += ns[state];
		largest = ns[state] > ns[largest] ? state : largest;
	}
	for (int state = LODE_STATE_LOCK; all && state <= LODE_STATE_OTHER_WAIT; state++) {
		ns[state] = (uint64_t)((wide)ns[state] * target / all);
		given += ns[state];
	}
	ns[largest] += target - given;
}

static uint64_t sum_of_waits(const uint64_t ns[])
{
	uint64_t all = 0;

	for (int state = LODE_STATE_LOCK; state <= LODE_STATE_OTHER_WAIT; state++)
		all = lode_add_saturating(all, ns[state]);
	return all;
}

/* What the kernel counted is exact; the events tell what the waits are for. */
static void settle_counted(const struct account *account)
{
	const struct lode_thread_totals *totals = account->totals;
	uint64_t *ns = account->states->ns, left = account->states->interval;
	uint64_t waited = sum_of_waits(ns);

	/* A wait that the recording begins with is not among the kernel's, and of a thinned one many are missing here. */
	if (totals->waited_ns > waited || (account->states->estimated && totals->waited_ns))
		waited = totals->waited_ns;
	ns[LODE_STATE_RUNNING] = grant(&left, totals->run_ns);
	ns[LODE_STATE_READY] = grant(&left, totals->queued_ns);
	scale_waits(ns, grant(&left, waited));
	ns[LODE_STATE_NOT_RECORDED] = left;
}

/* Weighted sums, as far as there is room. */
static void settle_estimate(const struct account *account)
{
	uint64_t *ns = account->states->ns, left = account->states->interval;

	ns[LODE_STATE_RUNNING] = grant(&left, ns[LODE_STATE_RUNNING]);
	ns[LODE_STATE_READY] = grant(&left, ns[LODE_STATE_READY]);
	scale_waits(ns, grant(&left, sum_of_waits(ns)));
	ns[LODE_STATE_NOT_RECORDED] = left;
}

/* Segments never overlap, so they fit into the interval. */
static void settle_exact(const struct account *account)
{
	uint64_t *ns = account->states->ns, left = account->states->interval;

	left -= sum_of_waits(ns) + ns[LODE_STATE_READY];
	ns[LODE_STATE_RUNNING] = grant(&left, ns[LODE_STATE_RUNNING] + account->gaps);
	ns[LODE_STATE_NOT_RECORDED] = left;
}

/* Samples tell which part of the running time is the kernel's. */
static void divide_running(const struct account *account)
{
	uint64_t running = account->states->ns[LODE_STATE_RUNNING];
	wide all = (wide)account->sampled.user + account->sampled.kernel;

	if (!all)
		return;
	account->states->running.kernel = (uint64_t)((wide)running * account->sampled.kernel / all);
	account->states->running.user = running - account->states->running.kernel;
}

/* ---- a thread ---- */

/* From the first event of the group to the end of the last. */
static int find_life(const struct accounting *accounting, size_t group, uint64_t *first, uint64_t *end)
{
	int found = 0;

	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		const struct lode_events *events = &accounting->stream->events[type];
		const struct lode_scope_list *list = &accounting->index->lists[type];

		for (size_t i = list->starts ? list->starts[group] : 0;
		     list->starts && i < list->starts[group + 1]; i++) {
			uint64_t over = lode_event_over(events, type, list->events[i]);

			*first = !found || events->t[list->events[i]] < *first ? events->t[list->events[i]]
									       : *first;
			*end = !found || over > *end ? over : *end;
			found = 1;
		}
	}
	return found;
}

/* The interval of a life is at least what the kernel counted, if the recording was that long. */
static void set_interval(const struct accounting *accounting, struct account *account)
{
	struct lode_thread_states *states = account->states;
	const struct lode_thread *thread = &accounting->stream->threads[states->thread];
	uint64_t counted, most = accounting->last - accounting->first;

	states->interval = account->end - states->first;
	if (accounting->span || !lode_thread_has_totals(thread))
		return;
	account->totals = &thread->totals;
	counted = lode_add_saturating(thread->totals.run_ns,
				      lode_add_saturating(thread->totals.queued_ns, thread->totals.waited_ns));
	counted = counted < most ? counted : most;
	if (counted > states->interval)
		states->interval = counted;
}

/* `first` and `end`: of its life. */
static int account_for(struct accounting *accounting, struct lode_thread_states *states, size_t group,
		       uint64_t first, uint64_t end)
{
	struct account account = { .states = states, .end = end };

	states->first = first;
	if (accounting->span) {
		states->first = accounting->span->t0;
		account.end = accounting->span->t1 > states->first ? accounting->span->t1 : states->first;
	}
	set_interval(accounting, &account);
	states->estimated = is_thinned(accounting, group);
	if (states->estimated)
		sum_weights(accounting, &account, group);
	else if (sum_segments(accounting, &account, group) < 0)
		return LODE_SYSTEM;
	if (account.totals)
		settle_counted(&account);
	else if (states->estimated)
		settle_estimate(&account);
	else
		settle_exact(&account);
	divide_running(&account);
	return 0;
}

/* ---- all threads ---- */

/* By group: the thread that represents it, one whose process is known if there is such. NULL: no memory. */
static uint32_t *choose_threads(const struct accounting *accounting)
{
	const struct lode_stream *stream = accounting->stream;
	uint32_t *chosen = lode_calloc(accounting->index->group_count + 1, sizeof(*chosen));

	for (size_t i = stream->thread_count; chosen && i--;) {
		uint32_t *thread = &chosen[accounting->index->groups[i]];

		/* Numbers plus one; 0: none yet. */
		if (!*thread || stream->threads[i].pid != LODE_NO_PID ||
		    stream->threads[*thread - 1].pid == LODE_NO_PID)
			*thread = (uint32_t)i + 1;
	}
	return chosen;
}

static int account_all(struct accounting *accounting, struct lode_stream_states *states)
{
	size_t groups = accounting->index->group_count;
	uint32_t *chosen = choose_threads(accounting);
	uint64_t first, end;
	int code = chosen ? 0 : LODE_SYSTEM;

	states->items = lode_calloc(groups + 1, sizeof(*states->items));
	if (!states->items)
		code = LODE_SYSTEM;
	for (size_t group = 0; !code && group < groups; group++) {
		if (!find_life(accounting, group, &first, &end))
			continue;
		states->items[states->count].thread = chosen[group] - 1;
		code = account_for(accounting, &states->items[states->count++], group, first, end);
	}
	lode_free(chosen);
	return code;
}

int lode_states_of_stream(struct lode_stream_states *states, const struct lode_stream *stream,
			  const struct lode_wait_classes *classes, const struct lode_state_span *span,
			  struct lode_error *error)
{
	struct accounting accounting = { .stream = stream, .classes = classes, .span = span };
	int code = lode_scope_index_make(&accounting.index, stream, error);

	memset(states, 0, sizeof(*states));
	if (code)
		return code;
	code = lode_wait_kinds_make(&accounting.kinds, stream, classes ? classes->idle : NULL, error);
	if (!code) {
		lode_wait_kinds_see(accounting.kinds, &stream->events[LODE_RUN]);
		lode_wait_kinds_see(accounting.kinds, &stream->events[LODE_WAIT]);
		lode_stream_span(stream, &accounting.first, &accounting.last);
		code = account_all(&accounting, states) < 0 ? lode_fail_memory(error) : 0;
	}
	lode_wait_kinds_free(accounting.kinds);
	lode_segments_release(&accounting.line);
	lode_segment_sweep_release(&accounting.sweep);
	lode_scope_index_free(accounting.index);
	return code;
}

void lode_stream_states_release(struct lode_stream_states *states)
{
	lode_free(states->items);
	memset(states, 0, sizeof(*states));
}
