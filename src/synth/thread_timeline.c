/* The timeline: see thread_timeline.h. */
#include "synth/thread_timeline.h"

#include <string.h>

/* Longest time on the run queue. */
#define QUEUE 20000

struct lode_synth_actor lode_synth_actor(struct lode_synth_timeline *timeline, const struct lode_synth_role *role,
					 uint32_t pid, uint32_t tid, const char *name, uint64_t now)
{
	struct lode_strings *strings = &timeline->stream->dictionary->frames.strings;
	struct lode_synth_actor actor = { lode_stream_thread(timeline->stream, pid, tid), now, role };
	uint32_t text = lode_strings_add(strings, name, strlen(name));

	if (actor.thread == LODE_NONE || text == LODE_NONE)
		timeline->failed = 1;
	else
		timeline->stream->threads[actor.thread].name = text;
	return actor;
}

const struct lode_synth_task *lode_synth_any_task(struct lode_synth_timeline *timeline,
						  const struct lode_synth_actor *actor)
{
	return &actor->role->tasks[lode_synth_random_skewed(&timeline->random, actor->role->count)];
}

/* One of the stacks, in the stream's numbers. */
static uint32_t any_stack(struct lode_synth_timeline *timeline, struct lode_synth_leaves leaves)
{
	uint32_t leaf = leaves.first + (uint32_t)lode_synth_random_skewed(&timeline->random, leaves.count);
	uint32_t stack = lode_synth_translate(&timeline->translator, timeline->model->leaves[leaf]);

	timeline->failed |= stack == LODE_NONE;
	return stack;
}

static void add(struct lode_synth_timeline *timeline, enum lode_event_type type, const struct lode_event *event)
{
	if (timeline->failed)
		return;
	timeline->failed = lode_stream_add_event(timeline->stream, type, event) < 0;
	timeline->waits += type == LODE_WAIT;
	timeline->runs += type == LODE_RUN;
}

void lode_synth_run(struct lode_synth_timeline *timeline, struct lode_synth_actor *actor,
		    struct lode_synth_leaves leaves, uint64_t samples)
{
	struct lode_event event = {
		.cost = LODE_SYNTH_SAMPLE,
		.thread = actor->thread,
		.waker = LODE_NONE,
		.cpu = LODE_NO_CPU,
	};

	for (; samples; samples--) {
		event.t = actor->now;
		event.stack = any_stack(timeline, leaves);
		add(timeline, LODE_RUN, &event);
		actor->now += LODE_SYNTH_SAMPLE;
	}
}

/* Waits until `end`; then it is a moment on the run queue. */
static void wait_until(struct lode_synth_timeline *timeline, struct lode_synth_actor *actor, uint64_t end,
		       struct lode_synth_leaves leaves, uint32_t waker, struct lode_synth_leaves waking)
{
	struct lode_event event = {
		.t = actor->now,
		.cost = end - actor->now,
		.thread = actor->thread,
		.waker = waker,
		.cpu = LODE_NO_CPU,
	};

	/* Not in the list above: there they might be drawn in any order. */
	event.delay = lode_synth_random_below(&timeline->random, QUEUE);
	event.stack = any_stack(timeline, leaves);
	event.waker_stack = any_stack(timeline, waking);
	add(timeline, LODE_WAIT, &event);
	actor->now = end + event.delay;
}

void lode_synth_wait(struct lode_synth_timeline *timeline, struct lode_synth_actor *actor,
		     struct lode_synth_leaves leaves, uint64_t cost, enum lode_synth_interrupt interrupt)
{
	wait_until(timeline, actor, actor->now + cost, leaves, timeline->idle_task,
		   timeline->model->interrupts[interrupt]);
}

void lode_synth_await(struct lode_synth_timeline *timeline, struct lode_synth_actor *actor,
		      struct lode_synth_leaves leaves, const struct lode_synth_actor *waker,
		      struct lode_synth_leaves waking)
{
	if (waker->now > actor->now)
		wait_until(timeline, actor, waker->now, leaves, waker->thread, waking);
}

void lode_synth_wake(struct lode_synth_timeline *timeline, struct lode_synth_actor *actor,
		     const struct lode_synth_actor *waker, struct lode_synth_leaves waking)
{
	lode_synth_await(timeline, actor, actor->role->idle, waker, waking);
}

void lode_synth_wake_at(struct lode_synth_timeline *timeline, struct lode_synth_actor *actor, uint64_t time,
			enum lode_synth_interrupt interrupt)
{
	if (time > actor->now)
		lode_synth_wait(timeline, actor, actor->role->idle, time - actor->now, interrupt);
}

/* `server` does a little work of the task: up to two runs, and one or two waits of the mean cost `mean`. */
static void serve(struct lode_synth_timeline *timeline, struct lode_synth_actor *server,
		  const struct lode_synth_task *task, uint64_t mean)
{
	struct lode_random *random = &timeline->random;
	uint64_t waits = lode_synth_random_between(random, 1, 2);

	lode_synth_run(timeline, server, task->leaves[LODE_SYNTH_RUN], lode_synth_random_below(random, 3));
	while (waits--) {
		int disk = lode_synth_random_percent(random, 75);

		lode_synth_wait(timeline, server, task->leaves[disk ? LODE_SYNTH_DISK : LODE_SYNTH_SOCKET],
				1000 + lode_synth_random_duration(random, mean),
				disk ? LODE_SYNTH_DISK_INTERRUPT : LODE_SYNTH_NET_INTERRUPT);
	}
}

void lode_synth_ask(struct lode_synth_timeline *timeline, struct lode_synth_actor *client,
		    const struct lode_synth_task *task, struct lode_synth_actor *server, uint64_t mean)
{
	const struct lode_synth_task *work = lode_synth_any_task(timeline, server);

	lode_synth_wake(timeline, server, client, task->leaves[LODE_SYNTH_WAKE]);
	serve(timeline, server, work, mean);
	lode_synth_await(timeline, client, task->leaves[LODE_SYNTH_CALL], server, work->leaves[LODE_SYNTH_WAKE]);
}

void lode_synth_contend(struct lode_synth_timeline *timeline, struct lode_synth_actor *client,
			const struct lode_synth_task *task, struct lode_synth_actor *holder, uint64_t mean)
{
	const struct lode_synth_task *work = lode_synth_any_task(timeline, holder);
	uint64_t before = lode_synth_random_below(&timeline->random, mean);

	lode_synth_wake_at(timeline, holder, client->now > before ? client->now - before : 0,
			   LODE_SYNTH_TIMER_INTERRUPT);
	serve(timeline, holder, work, mean);
	lode_synth_await(timeline, client, task->leaves[LODE_SYNTH_LOCK], holder, work->leaves[LODE_SYNTH_WAKE]);
}
