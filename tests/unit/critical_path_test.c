/*
 * Critical paths: by hand, and against a slow walk that asks for each moment by
 * itself what a thread did.
 */
#include "small_stream.h"

#include "scope/scope.h"
#include "trace/objects.h"

struct path {
	struct lode_parts parts;
	struct lode_parts stepped;
	uint64_t unknown;
};

static void path_release(struct path *path)
{
	lode_parts_release(&path->parts);
	lode_parts_release(&path->stepped);
}

static struct path path_of(struct lode_scope_index *index, const struct lode_symptom *symptom)
{
	struct path path = { .unknown = 0 };

	assert_int_equal(lode_critical_path(index, symptom, &path.parts, &path.stepped, &path.unknown, NULL), 0);
	return path;
}

static struct path path_in(struct small_stream *small, uint32_t tid, uint64_t t0, uint64_t t1)
{
	struct lode_symptom symptom = { .thread = lode_stream_tid(&small->stream, tid), .t0 = t0, .t1 = t1 };
	struct lode_scope_index *index;
	struct path path;

	assert_int_equal(lode_scope_index_make(&index, &small->stream, NULL), 0);
	path = path_of(index, &symptom);
	lode_scope_index_free(index);
	return path;
}

static void require_part(const struct lode_parts *parts, size_t i, enum lode_event_type type, uint32_t event,
			 uint64_t t, uint64_t cost)
{
	assert_true(i < parts->count);
	assert_int_equal(parts->items[i].type, type);
	assert_int_equal(parts->items[i].event, event);
	assert_int_equal(parts->items[i].t, t);
	assert_int_equal(parts->items[i].cost, cost);
}

/* ---- by hand ---- */

static void figure_one_goes_through_the_thread_that_held_the_lock(void **state)
{
	struct small_stream small;
	struct path path;

	(void)state;
	small_begin(&small);
	small_run(&small, 1, 0, 1);
	small_wait(&small, 1, 1, 5, 2);
	for (uint64_t t = 2; t < 6; t++)
		small_run(&small, 2, t, 1);
	small_run(&small, 1, 6, 1);
	path = path_in(&small, 1, 0, 8);
	assert_int_equal(path.parts.count, 7);
	require_part(&path.parts, 0, LODE_RUN, 0, 0, 1);
	require_part(&path.parts, 1, LODE_WAIT, 0, 1, 1); /* until T2 was seen running */
	for (uint32_t i = 1; i <= 4; i++)
		require_part(&path.parts, i + 1, LODE_RUN, i, i + 1, 1);
	require_part(&path.parts, 6, LODE_RUN, 5, 6, 1);
	assert_int_equal(path.unknown, 1);
	assert_int_equal(path.stepped.count, 1);
	require_part(&path.stepped, 0, LODE_WAIT, 0, 1, 5);
	path_release(&path);
	small_end(&small);
}

static void a_chain_of_waits_is_followed_to_its_end(void **state)
{
	struct small_stream small;
	struct path path;

	(void)state;
	small_begin(&small);
	small_wait(&small, 2, 5, 75, 3); /* began before the wait that it is a part of: */
	small_wait(&small, 1, 10, 90, 2);
	small_run(&small, 3, 0, 80);
	small_run(&small, 2, 80, 20);
	path = path_in(&small, 1, 0, 100);
	assert_int_equal(path.parts.count, 2);
	require_part(&path.parts, 0, LODE_RUN, 0, 10, 70);
	require_part(&path.parts, 1, LODE_RUN, 1, 80, 20);
	assert_int_equal(path.unknown, 10);
	assert_int_equal(path.stepped.count, 2);
	require_part(&path.stepped, 0, LODE_WAIT, 1, 10, 90);
	require_part(&path.stepped, 1, LODE_WAIT, 0, 10, 70);
	path_release(&path);
	small_end(&small);
}

static void a_wait_counts_itself_where_no_waker_explains_it(void **state)
{
	struct small_stream small;
	struct path path;

	(void)state;
	small_begin(&small);
	small_wait(&small, 1, 0, 10, LODE_NONE);
	small_wait(&small, 1, 10, 10, 7); /* of which nothing is known */
	small_wait(&small, 1, 20, 10, 1); /* woke itself */
	path = path_in(&small, 1, 0, 30);
	assert_int_equal(path.parts.count, 3);
	for (uint32_t i = 0; i < 3; i++)
		require_part(&path.parts, i, LODE_WAIT, i, i * 10, 10);
	assert_int_equal(path.unknown, 0);
	assert_int_equal(path.stepped.count, 1);
	path_release(&path);
	small_end(&small);
}

static void time_on_the_run_queue_is_the_waits_own(void **state)
{
	struct small_stream small;
	struct path path;

	(void)state;
	small_begin(&small);
	small_event(&small, LODE_WAIT, 1, 0, 10, 5, 2, "");
	small_run(&small, 2, 0, 10);
	small_event(&small, LODE_WAIT, 1, 15, 10, 5, LODE_NONE, "");
	path = path_in(&small, 1, 0, 30);
	assert_int_equal(path.parts.count, 4);
	require_part(&path.parts, 0, LODE_RUN, 0, 0, 10);
	require_part(&path.parts, 1, LODE_WAIT, 0, 10, 5);
	require_part(&path.parts, 2, LODE_WAIT, 1, 15, 10); /* blocked and queued stay apart */
	require_part(&path.parts, 3, LODE_WAIT, 1, 25, 5);
	path_release(&path);
	small_end(&small);
}

/* The holder of the lock had no processor for most of the wait. */
static void a_thread_that_was_preempted_is_ready(void **state)
{
	struct lode_event preempted = { .t = 2, .delay = 6, .waker = LODE_NONE, .cpu = LODE_NO_CPU };
	struct lode_event call = { .t = 9, .delay = 6, .waker = LODE_NONE, .cpu = LODE_NO_CPU };
	struct small_stream small;
	struct path path;

	(void)state;
	small_begin(&small);
	small_wait(&small, 1, 0, 10, 2);
	small_run(&small, 2, 0, 5);
	small_run(&small, 2, 8, 2);
	preempted.name = lode_strings_add(&small.dictionary.frames.strings, "preempt", 7);
	preempted.thread = call.thread = lode_stream_tid(&small.stream, 2);
	assert_int_equal(lode_stream_add_event(&small.stream, LODE_CALL, &preempted), 0);
	assert_int_equal(lode_stream_add_event(&small.stream, LODE_CALL, &call), 0); /* of another name */
	path = path_in(&small, 1, 0, 10);
	assert_int_equal(path.parts.count, 3);
	require_part(&path.parts, 0, LODE_RUN, 0, 0, 2);
	require_part(&path.parts, 1, LODE_CALL, 0, 2, 6);
	require_part(&path.parts, 2, LODE_RUN, 1, 8, 2);
	assert_false(lode_part_is_ready(&small.stream, &path.parts.items[0]));
	assert_true(lode_part_is_ready(&small.stream, &path.parts.items[1]));
	path_release(&path);
	small_end(&small);
}

/* A thread that runs all the time, and loses its processor after 4 of every 8 moments; it is sampled every 3 that it runs. */
static void a_preempted_thread_runs_as_long_as_the_kernel_counted(void **state)
{
	struct lode_event preempted = { .delay = 4, .waker = LODE_NONE, .cpu = LODE_NO_CPU };
	uint64_t ran = 0, ready = 0;
	struct small_stream small;
	struct path path;

	(void)state;
	small_begin(&small);
	preempted.name = lode_strings_add(&small.dictionary.frames.strings, "preempt", 7);
	preempted.thread = lode_stream_tid(&small.stream, 1);
	for (uint64_t moment = 0; moment < 4000; moment += 3)
		small_run(&small, 1, moment / 4 * 8 + moment % 4, 3);
	for (preempted.t = 4; preempted.t < 8000; preempted.t += 8)
		assert_int_equal(lode_stream_add_event(&small.stream, LODE_CALL, &preempted), 0);
	small.stream.threads[0].totals = (struct lode_thread_totals){ .run_ns = 4000, .queued_ns = 4000 };
	path = path_in(&small, 1, 0, 8000);
	for (size_t i = 0; i < path.parts.count; i++)
		*(path.parts.items[i].type == LODE_RUN ? &ran : &ready) += path.parts.items[i].cost;
	assert_int_equal(ran, 4000);
	assert_int_equal(ready, 4000);
	assert_int_equal(path.unknown, 0);
	path_release(&path);
	small_end(&small);
}

static void a_sample_ends_where_a_wait_begins(void **state)
{
	struct small_stream small;
	struct path path;

	(void)state;
	small_begin(&small);
	small_run(&small, 1, 0, 10);
	small_wait(&small, 1, 4, 2, LODE_NONE);
	path = path_in(&small, 1, 0, 10);
	assert_int_equal(path.parts.count, 3);
	require_part(&path.parts, 0, LODE_RUN, 0, 0, 4);
	require_part(&path.parts, 1, LODE_WAIT, 0, 4, 2);
	require_part(&path.parts, 2, LODE_RUN, 0, 6, 4);
	path_release(&path);
	small_end(&small);
}

static void threads_that_wait_for_one_another_end_the_chain(void **state)
{
	struct small_stream small;
	struct path path;

	(void)state;
	small_begin(&small);
	small_wait(&small, 1, 0, 10, 2);
	small_wait(&small, 2, 0, 10, 3);
	small_wait(&small, 3, 0, 10, 1);
	path = path_in(&small, 1, 0, 10);
	assert_int_equal(path.parts.count, 1);
	require_part(&path.parts, 0, LODE_WAIT, 2, 0, 10);
	path_release(&path);
	small_end(&small);
}

static void a_waker_that_was_blocked_itself_is_not_followed_further(void **state)
{
	struct small_stream small;
	struct path path;

	(void)state;
	small_begin(&small);
	small_wait(&small, 1, 0, 10, 2);
	small_wait(&small, 2, 0, 20, 3);
	small_run(&small, 3, 0, 20);
	path = path_in(&small, 1, 0, 15);
	assert_int_equal(path.parts.count, 1);
	require_part(&path.parts, 0, LODE_WAIT, 1, 0, 10);
	assert_int_equal(path.unknown, 5);
	path_release(&path);
	/* But where the symptom ends first nobody was woken yet, and all of it leads on. */
	path = path_in(&small, 1, 0, 8);
	assert_int_equal(path.parts.count, 1);
	require_part(&path.parts, 0, LODE_RUN, 0, 0, 8);
	assert_int_equal(path.stepped.count, 2);
	require_part(&path.stepped, 1, LODE_WAIT, 1, 0, 8);
	path_release(&path);
	small_end(&small);
}

static void the_idle_task_wakes_for_no_thread(void **state)
{
	struct small_stream small;
	struct path path;

	(void)state;
	small_begin(&small);
	small_wait(&small, 1, 0, 10, 0);
	small_run(&small, 0, 0, 10);
	small.stream.threads[lode_stream_tid(&small.stream, 0)].name =
		lode_strings_add(&small.dictionary.frames.strings, "swapper/3", 9);
	path = path_in(&small, 1, 0, 10);
	assert_int_equal(path.parts.count, 1);
	require_part(&path.parts, 0, LODE_WAIT, 0, 0, 10);
	assert_int_equal(path.stepped.count, 0);
	path_release(&path);
	small_end(&small);
}

static void an_interrupt_ends_the_chain(void **state)
{
	struct lode_symptom symptom = { .thread = 0, .t0 = 0, .t1 = 10 };
	struct lode_scope_index *index;
	struct small_stream small;
	uint8_t interrupts[2] = { 0, 1 };
	struct lode_scope_result result;
	struct path path;

	(void)state;
	small_begin(&small);
	small_wait(&small, 1, 0, 10, 2);
	small.stream.events[LODE_WAIT].waker_stack[0] = small_stack(&small, "kernel!handle_irq");
	small_run(&small, 2, 0, 10);
	assert_int_equal(lode_scope_index_make(&index, &small.stream, NULL), 0);
	assert_false(lode_wake_ends_chain(index, 0));
	path = path_of(index, &symptom);
	require_part(&path.parts, 0, LODE_RUN, 0, 0, 10);
	path_release(&path);
	lode_scope_index_interrupts(index, interrupts);
	assert_true(lode_wake_ends_chain(index, 0));
	path = path_of(index, &symptom);
	require_part(&path.parts, 0, LODE_WAIT, 0, 0, 10);
	path_release(&path);
	assert_int_equal(lode_scope_symptom(index, &symptom, LODE_SCOPE_GRAPH, &path.parts, &result, NULL), 0);
	assert_int_equal(path.parts.count, 1);
	assert_int_equal(result.edges, 0);
	path_release(&path);
	lode_scope_index_free(index);
	small_end(&small);
}

/* A wait for `object`, of a thread of process 7. */
static void wait_for(struct small_stream *small, const char *object, uint32_t tid, uint64_t t, uint64_t cost,
		     uint32_t waker)
{
	struct lode_event event = {
		.t = t,
		.cost = cost,
		.thread = lode_stream_thread(&small->stream, 7, tid),
		.waker = waker == LODE_NONE ? LODE_NONE : lode_stream_thread(&small->stream, 7, waker),
		.cpu = LODE_NO_CPU,
		.object = lode_strings_add(&small->dictionary.frames.strings, object, strlen(object)),
		.holder = LODE_NONE,
	};

	assert_int_equal(lode_stream_add_event(&small->stream, LODE_WAIT, &event), 0);
}

/* The path of T1 walks thread `tid` at moment `t` of a wait. */
static void require_walked(struct small_stream *small, uint32_t wait, uint64_t t, uint32_t tid)
{
	struct lode_symptom symptom = { .thread = lode_stream_tid(&small->stream, 1), .t0 = 0, .t1 = 100 };
	struct lode_scope_index *index;
	struct path path;

	assert_int_equal(lode_scope_index_make(&index, &small->stream, NULL), 0);
	path = path_of(index, &symptom);
	assert_int_equal(small->stream.threads[lode_walked_thread(index, wait, t)].tid, tid);
	path_release(&path);
	lode_scope_index_free(index);
}

/* T2 read from a socket before it waited for the lock that T3 had. That T1 waits for the lock, too, is not T2's doing then. */
static void what_a_holder_did_before_it_got_the_lock_is_not_on_the_path(void **state)
{
	struct small_stream small;
	struct path path;

	(void)state;
	small_begin(&small);
	wait_for(&small, "tcp:peer", 2, 0, 50, 4);
	small_run(&small, 3, 0, 80);
	wait_for(&small, "lock:l", 1, 10, 90, 2);
	wait_for(&small, "lock:l", 2, 50, 30, 3);
	small_run(&small, 2, 80, 20);
	path = path_in(&small, 1, 10, 100);
	assert_int_equal(path.parts.count, 2);
	require_part(&path.parts, 0, LODE_RUN, 0, 10, 70);
	require_part(&path.parts, 1, LODE_RUN, 1, 80, 20);
	assert_int_equal(path.stepped.count, 1);
	require_part(&path.stepped, 0, LODE_WAIT, 1, 10, 90);
	path_release(&path);
	require_walked(&small, 1, 10, 3);
	require_walked(&small, 1, 79, 3);
	require_walked(&small, 1, 80, 2); /* from the moment of the release */
	require_walked(&small, 1, 99, 2);
	small_end(&small);
}

/* T2 found the lock free after T3 had released it and woken T5, which came too late. */
static void a_lock_that_others_were_woken_for_was_not_held_before(void **state)
{
	struct small_stream small;
	struct path path;

	(void)state;
	small_begin(&small);
	wait_for(&small, "tcp:peer", 2, 0, 70, 4);
	small_run(&small, 3, 0, 60);
	wait_for(&small, "lock:l", 5, 0, 60, 3);
	wait_for(&small, "lock:l", 1, 10, 90, 2);
	small_run(&small, 2, 70, 30);
	path = path_in(&small, 1, 10, 100);
	assert_int_equal(path.parts.count, 3);
	require_part(&path.parts, 0, LODE_RUN, 0, 10, 50);
	require_part(&path.parts, 1, LODE_WAIT, 0, 60, 10); /* until it came for the lock: not known when */
	require_part(&path.parts, 2, LODE_RUN, 1, 70, 30);
	path_release(&path);
	small_end(&small);
}

/* T2 tried to get the lock itself, until its timer ended that. */
static void a_thread_that_waits_for_a_lock_does_not_have_it(void **state)
{
	struct small_stream small;
	struct path path;

	(void)state;
	small_begin(&small);
	wait_for(&small, "lock:l", 1, 10, 90, 2);
	wait_for(&small, "lock:l", 2, 20, 40, LODE_NONE);
	small_run(&small, 2, 60, 40);
	path = path_in(&small, 1, 10, 100);
	assert_int_equal(path.parts.count, 2);
	require_part(&path.parts, 0, LODE_WAIT, 0, 10, 50);
	require_part(&path.parts, 1, LODE_RUN, 0, 60, 40);
	path_release(&path);
	small_end(&small);
}

static void a_thread_without_events_is_unknown_all_the_time(void **state)
{
	struct small_stream small;
	struct path path;

	(void)state;
	small_begin(&small);
	path = path_in(&small, 1, 7, 19);
	assert_int_equal(path.parts.count, 0);
	assert_int_equal(path.unknown, 12);
	path_release(&path);
	path = path_in(&small, 1, 0, UINT64_MAX);
	assert_int_equal(path.unknown, UINT64_MAX);
	path_release(&path);
	small_end(&small);
}

/* ---- large ---- */

/* A hundred thousand threads queue for one lock: each is woken by the one before it. */
static void a_long_queue_is_walked_without_recursion(void **state)
{
	const uint32_t count = 100000;
	struct small_stream small;
	struct path path;

	(void)state;
	small_begin(&small);
	for (uint32_t i = 1; i < count; i++)
		small_wait(&small, i, 0, (uint64_t)(count - i) * 10, i + 1);
	for (uint32_t i = count; i > 0; i--)
		small_run(&small, i, (uint64_t)(count - i) * 10, 10);
	path = path_in(&small, 1, 0, (uint64_t)count * 10);
	assert_int_equal(path.unknown, 0);
	assert_int_equal(path.stepped.count, count - 1);
	assert_int_equal(path.parts.count, count);
	for (uint32_t i = 0; i < count; i++)
		require_part(&path.parts, i, LODE_RUN, i, i * 10, 10);
	path_release(&path);
	small_end(&small);
}

/* A short wait after the other, each for a thread that heads a chain of long waits: a chain is walked once
 * only. */
static void chains_made_to_be_walked_again_and_again_are_not(void **state)
{
	const uint32_t count = 50000;
	struct small_stream small;
	struct path path;

	(void)state;
	small_begin(&small);
	for (uint32_t i = 0; i < count; i++)
		small_wait(&small, 1, i, 1, 2);
	for (uint32_t i = 2; i < count; i++)
		small_wait(&small, i, 0, count, i + 1);
	assert_int_equal(lode_stream_sort(&small.stream), 0);
	path = path_in(&small, 1, 0, count);
	assert_int_equal(path.unknown, 0);
	path_release(&path);
	small_end(&small);
}

/* ---- the slow walk ---- */

#define LIMIT   60
#define MOMENTS (2 * LIMIT + 1)

/* What counts for the time from moment `i` to `i` + 1. */
struct reason {
	int type; /* -1: unknown */
	uint32_t event;
};

struct slow {
	const struct lode_stream *stream;
	const uint8_t *interrupts;
	uint64_t t1;
	struct reason reasons[MOMENTS];
	unsigned steps;
};

static uint64_t over(const struct lode_event *event, int type)
{
	return event->t + event->cost + (type == LODE_RUN ? 0 : event->delay);
}

/* Calls say what a thread did only if it was preempted. */
static int tells(const struct slow *slow, int type, const struct lode_event *event)
{
	return type != LODE_CALL ||
	       !strcmp(lode_strings_get(&slow->stream->dictionary->frames.strings, event->name), "preempt");
}

/* The event of the thread with this tid from moment x to x + 1. */
static struct reason event_at(const struct slow *slow, uint32_t tid, uint64_t x)
{
	static const int types[] = { LODE_WAIT, LODE_CALL, LODE_RUN };

	for (int rank = 0; rank < 3; rank++) {
		int type = types[rank];
		const struct lode_events *events = &slow->stream->events[type];

		for (size_t i = events->count; i--;) {
			struct lode_event event = lode_events_get(events, i);

			if (tells(slow, type, &event) && slow->stream->threads[event.thread].tid == tid &&
			    event.t <= x && over(&event, type) > x)
				return (struct reason){ type, (uint32_t)i };
		}
	}
	return (struct reason){ -1, 0 };
}

/* Whether the kernel counted what a thread with this tid did. */
static int is_followed(const struct slow *slow, uint32_t tid)
{
	for (size_t i = 0; i < slow->stream->thread_count; i++)
		if (slow->stream->threads[i].tid == tid && lode_thread_has_totals(&slow->stream->threads[i]))
			return 1;
	return 0;
}

/* Ten times what a sample represents on average. */
static uint64_t longest_gap(const struct slow *slow)
{
	const struct lode_events *runs = &slow->stream->events[LODE_RUN];
	uint64_t all = 0;

	for (size_t i = 0; i < runs->count; i++)
		all += runs->cost[i];
	return runs->count ? all / runs->count * 10 : UINT64_MAX;
}

/* What the thread did from moment x to x + 1, of which no event tells: the sample before, or else the first one. */
static struct reason did_between(const struct slow *slow, uint32_t tid, uint64_t x)
{
	const struct reason nothing = { -1, 0 };
	uint64_t before = x, after = x;
	struct reason reason;

	while (before && event_at(slow, tid, before - 1).type < 0)
		before--;
	while (after < MOMENTS && event_at(slow, tid, after).type < 0)
		after++;
	if (!before || after == MOMENTS || after - before > longest_gap(slow))
		return nothing;
	for (; before; before--) {
		reason = event_at(slow, tid, before - 1);
		if (reason.type == LODE_RUN)
			return reason;
	}
	for (; after < MOMENTS; after++) {
		reason = event_at(slow, tid, after);
		if (reason.type == LODE_RUN)
			return reason;
	}
	return nothing;
}

/* What the thread with this tid did from moment x to x + 1. */
static struct reason did(const struct slow *slow, uint32_t tid, uint64_t x)
{
	struct reason reason = event_at(slow, tid, x);

	return reason.type < 0 && is_followed(slow, tid) ? did_between(slow, tid, x) : reason;
}

static int same(struct reason a, struct reason b)
{
	return a.type == b.type && a.event == b.event;
}

static int is_lock(const struct slow *slow, const struct lode_event *wait)
{
	return !strncmp(lode_strings_get(&slow->stream->dictionary->frames.strings, wait->object), "lock:", 5);
}

static int is_vague(const struct slow *slow, const struct lode_event *wait)
{
	return strstr(lode_strings_get(&slow->stream->dictionary->frames.strings, wait->object),
		      LODE_LOCK_ENTERED_IN) != NULL;
}

/* The last wait for the lock of `wait` that ended between `low` and `high`, neither included; -1: none did. */
static int release_before(const struct slow *slow, const struct lode_event *wait, uint32_t tid, uint64_t low,
			  uint64_t high)
{
	const struct lode_thread *threads = slow->stream->threads;
	int vague = is_vague(slow, wait);
	uint64_t last = low;
	int found = -1;

	for (size_t i = 0; is_lock(slow, wait) && i < slow->stream->events[LODE_WAIT].count; i++) {
		struct lode_event other = lode_events_get(&slow->stream->events[LODE_WAIT], i);
		uint64_t end = other.t + other.cost;

		if (other.object != wait->object || threads[other.thread].pid != threads[wait->thread].pid ||
		    threads[other.waker].tid == threads[other.thread].tid || end >= high || end <= low ||
		    (vague && threads[other.thread].tid != tid) || end < last)
			continue;
		last = end;
		found = (int)i;
	}
	return found;
}

/* Whether a wait is for the lock that the wait `outer`, which was stepped into, is for. */
static int waits_for_same(const struct slow *slow, struct reason outer, const struct lode_event *wait)
{
	const struct lode_thread *threads = slow->stream->threads;
	struct lode_event other;

	if (outer.type != LODE_WAIT || !is_lock(slow, wait) || is_vague(slow, wait))
		return 0;
	other = lode_events_get(&slow->stream->events[LODE_WAIT], outer.event);
	return other.object == wait->object && threads[other.thread].pid == threads[wait->thread].pid;
}

static void slow_walk(struct slow *slow, uint32_t tid, uint64_t low, uint64_t high, struct reason fallback,
		      unsigned walked);

/* Explains the part (low, high] of a wait, which thread `tid` ended: by whoever had the lock, if it was for one. */
static void slow_holders(struct slow *slow, uint32_t tid, uint64_t low, uint64_t high, struct reason reason,
			 unsigned walked)
{
	struct lode_event wait = lode_events_get(&slow->stream->events[LODE_WAIT], reason.event);

	for (;;) {
		int number = release_before(slow, &wait, tid, low, high);
		struct lode_event release;

		if (number < 0) {
			slow_walk(slow, tid, low, high, reason, walked | 1u << tid);
			return;
		}
		release = lode_events_get(&slow->stream->events[LODE_WAIT], (size_t)number);
		slow_walk(slow, tid, release.t + release.cost, high, reason, walked | 1u << tid);
		high = release.t + release.cost;
		if (slow->stream->threads[release.waker].tid != tid &&
		    walked & 1u << slow->stream->threads[release.waker].tid)
			break;
		tid = slow->stream->threads[release.waker].tid;
	}
	while (high > low)
		slow->reasons[--high] = reason;
}

/* Explains (low, high] of the thread; `fallback` is what counts where nothing is known of it. */
static void slow_walk(struct slow *slow, uint32_t tid, uint64_t low, uint64_t high, struct reason fallback,
		      unsigned walked)
{
	while (high > low) {
		struct reason reason = did(slow, tid, high - 1);
		struct lode_event wait;
		uint64_t from = high - 1, woken;
		uint32_t waker;

		if (reason.type != LODE_WAIT) {
			slow->reasons[--high] = reason.type < 0 ? fallback : reason;
			continue;
		}
		wait = lode_events_get(&slow->stream->events[LODE_WAIT], reason.event);
		woken = wait.t + wait.cost;
		if (high <= woken && waits_for_same(slow, fallback, &wait)) {
			slow->reasons[--high] = fallback;
			continue;
		}
		waker = wait.waker == LODE_NONE ? LODE_NONE : slow->stream->threads[wait.waker].tid;
		if (high > woken || waker == LODE_NONE || slow->interrupts[wait.waker_stack] ||
		    (walked & 1u << waker) || (high != woken && high != slow->t1)) {
			slow->reasons[--high] = reason;
			continue;
		}
		while (from > low && same(did(slow, tid, from - 1), reason))
			from--;
		slow->steps++;
		slow_holders(slow, waker, from, high, reason, walked);
		high = from;
	}
}

static void require_reasons(const struct slow *slow, const struct path *path, uint64_t t0, uint64_t t1)
{
	struct reason reasons[MOMENTS];
	uint64_t before = t0;

	for (uint64_t t = t0; t < t1; t++)
		reasons[t] = (struct reason){ -1, 0 };
	for (size_t i = 0; i < path->parts.count; i++) {
		const struct lode_part *part = &path->parts.items[i];

		assert_true(part->t >= before && part->cost > 0);
		before = part->t + part->cost;
		assert_true(before <= t1);
		for (uint64_t t = part->t; t < before; t++)
			reasons[t] = (struct reason){ part->type, part->event };
	}
	for (uint64_t t = t0; t < t1; t++) {
		assert_int_equal(reasons[t].type, slow->reasons[t].type);
		if (reasons[t].type >= 0)
			assert_int_equal(reasons[t].event, slow->reasons[t].event);
	}
}

static uint64_t length_of(const struct path *path)
{
	uint64_t length = path->unknown;

	for (size_t i = 0; i < path->parts.count; i++)
		length += path->parts.items[i].cost;
	return length;
}

/* No part is cut by the start or the end of a wait that was stepped into. */
static void require_inside_or_outside(const struct lode_part *part, const struct lode_parts *stepped)
{
	for (size_t i = 0; i < stepped->count; i++) {
		uint64_t start = stepped->items[i].t, end = start + stepped->items[i].cost;

		assert_true(part->t >= end || part->t + part->cost <= start ||
			    (part->t >= start && part->t + part->cost <= end));
	}
}

/* By start, outer before inner, each inside the one around it. */
static void require_brackets(const struct lode_parts *stepped, uint64_t t0, uint64_t t1)
{
	for (size_t i = 0; i < stepped->count; i++) {
		const struct lode_part *inner = &stepped->items[i];

		assert_true(inner->cost > 0 && inner->t >= t0 && inner->t + inner->cost <= t1);
		for (size_t j = 0; j < i; j++) {
			const struct lode_part *outer = &stepped->items[j];

			assert_true(outer->t <= inner->t);
			assert_true(outer->t + outer->cost <= inner->t ||
				    outer->t + outer->cost >= inner->t + inner->cost);
		}
	}
}

static void compare(struct small_stream *small, struct lode_scope_index *index, const uint8_t *interrupts,
		    const struct lode_symptom *symptom)
{
	struct slow slow = { .stream = &small->stream, .interrupts = interrupts, .t1 = symptom->t1 };
	uint32_t tid = small->stream.threads[symptom->thread].tid;
	struct path path = path_of(index, symptom);

	slow_walk(&slow, tid, symptom->t0, symptom->t1, (struct reason){ -1, 0 }, 1u << tid);
	require_reasons(&slow, &path, symptom->t0, symptom->t1);
	assert_int_equal(length_of(&path), symptom->t1 - symptom->t0);
	assert_int_equal(path.stepped.count, slow.steps);
	require_brackets(&path.stepped, symptom->t0, symptom->t1);
	for (size_t i = 0; i < path.parts.count; i++)
		require_inside_or_outside(&path.parts.items[i], &path.stepped);
	path_release(&path);
}

static void the_path_is_that_of_the_slow_walk(void **state)
{
	uint64_t seed = 8;

	(void)state;
	for (int i = 0; i < 6000; i++) {
		uint8_t interrupts[5] = { 0, 0, 0, 0, random_below(&seed, 2) };
		struct lode_scope_index *index;
		struct small_stream small;

		small_begin(&small);
		small_random(&small, &seed, i % 2 ? 40 : 10, i % 3 ? LIMIT : 7);
		assert_int_equal(lode_scope_index_make(&index, &small.stream, NULL), 0);
		lode_scope_index_interrupts(index, interrupts);
		for (int symptoms = 0; symptoms < 4; symptoms++) {
			struct lode_symptom symptom = small_random_symptom(&small, &seed, LIMIT);

			compare(&small, index, interrupts, &symptom);
		}
		lode_scope_index_free(index);
		small_end(&small);
	}
}

/* The kernel counted what some threads did: between their events they ran. */
static void a_gap_between_events_is_the_sample_before(void **state)
{
	uint64_t seed = 28;

	(void)state;
	for (int i = 0; i < 1500; i++) {
		uint8_t interrupts[5] = { 0 };
		struct lode_scope_index *index;
		struct small_stream small;

		small_begin(&small);
		small_random(&small, &seed, i % 2 ? 40 : 15, i % 3 ? LIMIT : 12);
		for (size_t k = 0; k < small.stream.thread_count; k++)
			small.stream.threads[k].totals.run_ns = random_below(&seed, 2);
		/* Short samples, so that some gaps are too long. */
		for (size_t k = 0; i % 4 == 0 && k < small.stream.events[LODE_RUN].count; k++)
			small.stream.events[LODE_RUN].cost[k] = 1;
		assert_int_equal(lode_scope_index_make(&index, &small.stream, NULL), 0);
		for (int symptoms = 0; symptoms < 4; symptoms++) {
			struct lode_symptom symptom = small_random_symptom(&small, &seed, LIMIT);

			compare(&small, index, interrupts, &symptom);
		}
		lode_scope_index_free(index);
		small_end(&small);
	}
}

/* All waits that have an object are ended by a thread, so none is tried again (retried_waits.h). */
static void add_objects(struct small_stream *small, uint64_t *seed)
{
	static const char *const names[] = { "", "lock:a", "lock:b", "lock:monitor entered in f", "file:a" };
	struct lode_events *waits = &small->stream.events[LODE_WAIT];
	uint32_t thread = small_random_thread(small, seed);

	waits->object = lode_calloc(waits->capacity + 1, sizeof(*waits->object));
	assert_non_null(waits->object);
	for (size_t i = 0; i < waits->count; i++) {
		const char *name = names[random_below(seed, 5)];

		waits->object[i] = lode_strings_add(&small->dictionary.frames.strings, name, strlen(name));
		if (*name && waits->waker[i] == LODE_NONE)
			waits->waker[i] = thread;
	}
}

static void locks_belong_to_who_releases_them_next(void **state)
{
	uint64_t seed = 18;

	(void)state;
	for (int i = 0; i < 6000; i++) {
		uint8_t interrupts[5] = { 0 };
		struct lode_scope_index *index;
		struct small_stream small;

		small_begin(&small);
		small_random(&small, &seed, i % 2 ? 40 : 15, i % 3 ? LIMIT : 12);
		add_objects(&small, &seed);
		assert_int_equal(lode_scope_index_make(&index, &small.stream, NULL), 0);
		for (int symptoms = 0; symptoms < 4; symptoms++) {
			struct lode_symptom symptom = small_random_symptom(&small, &seed, LIMIT);

			compare(&small, index, interrupts, &symptom);
		}
		lode_scope_index_free(index);
		small_end(&small);
	}
}

/* Times, costs and delays of any size: what is too late to be said stops at the largest time. */
static void parts_tile_the_symptom_whatever_the_events_are(void **state)
{
	uint64_t seed = 9;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		struct lode_scope_index *index;
		struct small_stream small;

		small_begin(&small);
		assert_int_equal(random_stream(&small.stream, &seed, 60), 0);
		assert_int_equal(lode_scope_index_make(&index, &small.stream, NULL), 0);
		for (size_t thread = 0; thread < small.stream.thread_count; thread++) {
			struct lode_symptom symptom = { .thread = (uint32_t)thread, .t0 = random_number(&seed) };
			uint64_t before;
			struct path path;

			symptom.t1 = random_below(&seed, 2) ? UINT64_MAX
							    : lode_add_saturating(symptom.t0, random_number(&seed));
			path = path_of(index, &symptom);
			assert_int_equal(length_of(&path), symptom.t1 - symptom.t0);
			before = symptom.t0;
			for (size_t part = 0; part < path.parts.count; part++) {
				assert_true(path.parts.items[part].t >= before);
				before = path.parts.items[part].t + path.parts.items[part].cost;
			}
			assert_true(before <= symptom.t1);
			path_release(&path);
		}
		lode_scope_index_free(index);
		small_end(&small);
	}
}

/* ---- memory ---- */

static int try_path(struct small_stream *small, const struct lode_symptom *symptom, struct lode_error *error)
{
	static const uint8_t interrupts[5] = { 0 };
	struct lode_parts parts = { 0 }, stepped = { 0 };
	struct lode_scope_index *index;
	uint64_t unknown;
	int code = lode_scope_index_make(&index, &small->stream, error);

	if (code < 0)
		return code;
	code = lode_critical_path(index, symptom, &parts, &stepped, &unknown, error);
	if (code < 0) { /* the index is good still */
		lode_memory_fail_at(0, 0);
		assert_int_equal(parts.count, 0);
		assert_int_equal(stepped.count, 0);
		compare(small, index, interrupts, symptom);
	}
	lode_scope_index_free(index);
	lode_parts_release(&parts);
	lode_parts_release(&stepped);
	return code;
}

static void memory_that_runs_out_is_a_clean_error(void **state)
{
	uint64_t seed = 11;
	struct small_stream small;
	struct lode_symptom symptom;
	int failures = 0, code = 1;

	(void)state;
	small_begin(&small);
	small_random(&small, &seed, 40, LIMIT);
	symptom = small_random_symptom(&small, &seed, 1);
	symptom.t1 = LIMIT;
	for (uint64_t nth = 1; code; nth++) {
		struct lode_error error = { "" };

		lode_memory_fail_at(nth, 0);
		code = try_path(&small, &symptom, &error);
		lode_memory_fail_at(0, 0);
		assert_true(code == 0 || (code == LODE_SYSTEM && error.text[0]));
		failures += code < 0;
	}
	assert_true(failures > 10);
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figure_one_goes_through_the_thread_that_held_the_lock),
		cmocka_unit_test(a_chain_of_waits_is_followed_to_its_end),
		cmocka_unit_test(a_wait_counts_itself_where_no_waker_explains_it),
		cmocka_unit_test(time_on_the_run_queue_is_the_waits_own),
		cmocka_unit_test(a_thread_that_was_preempted_is_ready),
		cmocka_unit_test(a_preempted_thread_runs_as_long_as_the_kernel_counted),
		cmocka_unit_test(a_sample_ends_where_a_wait_begins),
		cmocka_unit_test(threads_that_wait_for_one_another_end_the_chain),
		cmocka_unit_test(a_waker_that_was_blocked_itself_is_not_followed_further),
		cmocka_unit_test(the_idle_task_wakes_for_no_thread),
		cmocka_unit_test(an_interrupt_ends_the_chain),
		cmocka_unit_test(a_thread_without_events_is_unknown_all_the_time),
		cmocka_unit_test(a_long_queue_is_walked_without_recursion),
		cmocka_unit_test(chains_made_to_be_walked_again_and_again_are_not),
		cmocka_unit_test(what_a_holder_did_before_it_got_the_lock_is_not_on_the_path),
		cmocka_unit_test(a_lock_that_others_were_woken_for_was_not_held_before),
		cmocka_unit_test(a_thread_that_waits_for_a_lock_does_not_have_it),
		cmocka_unit_test(the_path_is_that_of_the_slow_walk),
		cmocka_unit_test(a_gap_between_events_is_the_sample_before),
		cmocka_unit_test(locks_belong_to_who_releases_them_next),
		cmocka_unit_test(parts_tile_the_symptom_whatever_the_events_are),
		cmocka_unit_test(memory_that_runs_out_is_a_clean_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
