/*
 * Scheduler events joined into waits: see sched.h.
 *
 * Each thread has a state and, while it does not run, the event that will be
 * stored when it runs again:
 *
 *	unknown ──switch out──▶ blocked ──waking──▶ woken ──switch in──▶ running
 *	                           └──────────switch in─────────────────────▲
 *	        ──preempted──▶ preempted ──switch in────────────────────────┘
 *
 * A blocking switch-out becomes exactly one wait, even if events in between are lost:
 * when the thread is next seen switched in, switched out again, or at the end.
 *
 * The kernel reports a wakeup before it looks whether the thread has left its
 * CPU. So a wakeup may come just before the switch-out that it ends; it is
 * remembered ("early") and serves when no other follows.
 */
#include "import/sched.h"

#include "base/array.h"

#include <string.h>

/* A waking so long before the switch-out, in nanoseconds, may still be the one that ends it. */
#define EARLY_LIMIT 1000000u

enum state {
	UNKNOWN, /* or ready for the first time */
	RUNNING,
	BLOCKED,
	WOKEN,
	PREEMPTED,
};

struct thread {
	enum state state;
	uint16_t cpu;
	uint32_t stack;
	uint32_t waker;
	uint32_t waker_stack;
	uint64_t out;   /* when it stopped running */
	uint64_t woken; /* when it was woken */
	uint64_t early; /* when it was woken while it still ran; 0: it was not */
	uint32_t early_waker;
	uint32_t early_stack;
};

struct lode_sched {
	struct lode_stream *stream;
	struct lode_notes *notes;
	LODE_ARRAY(struct thread) threads; /* by number in the stream */
	uint32_t preempt;                  /* string */
	uint64_t unexplained;              /* switch-ins without a waking */
	uint64_t unseen;                   /* switch-outs of threads whose switch-in was not recorded */
	uint64_t open;                     /* waits that the end of the recording cut off */
};

struct lode_sched *lode_sched_create(struct lode_stream *stream, struct lode_notes *notes)
{
	struct lode_sched *sched = lode_calloc(1, sizeof(*sched));

	if (!sched)
		return NULL;
	sched->stream = stream;
	sched->notes = notes;
	sched->preempt =
		lode_strings_add(&stream->dictionary->frames.strings, LODE_PREEMPTION, strlen(LODE_PREEMPTION));
	if (sched->preempt == LODE_NONE) {
		lode_free(sched);
		return NULL;
	}
	return sched;
}

void lode_sched_destroy(struct lode_sched *sched)
{
	if (!sched)
		return;
	lode_free(sched->threads.items);
	lode_free(sched);
}

static struct thread *thread_of(struct lode_sched *sched, uint32_t thread)
{
	struct thread *found = LODE_PLACE(&sched->threads, thread, (struct thread){ 0 });

	sched->stream->failed |= !found;
	return found;
}

/* Files may hold times that run backwards; a length is never negative. */
static uint64_t length(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

static struct lode_event event_of(const struct thread *thread, uint32_t number)
{
	return (struct lode_event){
		.t = thread->out,
		.thread = number,
		.stack = thread->stack,
		.waker = LODE_NONE,
		.cpu = thread->cpu,
	};
}

/* The wait of a thread that was woken and ran again at `in`; 0: that was not recorded. */
static void store_woken(struct lode_sched *sched, const struct thread *thread, uint32_t number, uint64_t in)
{
	struct lode_event event = event_of(thread, number);
	uint64_t woken = thread->woken > thread->out ? thread->woken : thread->out;

	event.cost = woken - thread->out;
	event.delay = length(woken, in);
	event.waker = thread->waker;
	event.waker_stack = thread->waker_stack;
	lode_stream_add_event(sched->stream, LODE_WAIT, &event);
}

/* The wait of a thread whose wakeup was not seen: it lasted until `end` at most. */
static void store_blocked(struct lode_sched *sched, const struct thread *thread, uint32_t number, uint64_t end)
{
	struct lode_event event = event_of(thread, number);

	event.cost = length(thread->out, end);
	lode_stream_add_event(sched->stream, LODE_WAIT, &event);
}

/* A preemption that ended at `in`; 0: that was not recorded. */
static void store_preempted(struct lode_sched *sched, const struct thread *thread, uint32_t number, uint64_t in)
{
	struct lode_event event = event_of(thread, number);

	event.delay = length(thread->out, in);
	event.name = sched->preempt;
	lode_stream_add_event(sched->stream, LODE_CALL, &event);
}

static void switch_in(struct lode_sched *sched, struct thread *thread, uint32_t number, uint64_t t)
{
	enum state state = thread->state;

	if (state == BLOCKED && thread->early && length(thread->early, thread->out) <= EARLY_LIMIT) {
		thread->woken = thread->out;
		thread->waker = thread->early_waker;
		thread->waker_stack = thread->early_stack;
		state = WOKEN;
	}
	thread->state = RUNNING;
	thread->early = 0;
	switch (state) {
	case BLOCKED:
		sched->unexplained++;
		store_blocked(sched, thread, number, t);
		break;
	case WOKEN:
		store_woken(sched, thread, number, t);
		break;
	case PREEMPTED:
		store_preempted(sched, thread, number, t);
		break;
	default:
		break;
	}
}

/*
 * Stores what the thread was doing off its CPU though its switch-in was not
 * recorded: some kernels do not report that the idle thread is switched out. It
 * ran again before `t`; how long it was in the run queue is not known.
 */
static void store_unfinished(struct lode_sched *sched, const struct thread *thread, uint32_t number, uint64_t t)
{
	if (thread->state == BLOCKED)
		store_blocked(sched, thread, number, t);
	else if (thread->state == WOKEN)
		store_woken(sched, thread, number, 0);
	else if (thread->state == PREEMPTED)
		store_preempted(sched, thread, number, 0);
}

/* The thread runs, or ran until now: if it was thought to be off its CPU its switch-in is missing. */
static void see_running(struct lode_sched *sched, struct thread *thread, uint32_t number, uint64_t t)
{
	if (thread->state < BLOCKED)
		return;
	sched->unseen++;
	store_unfinished(sched, thread, number, t);
	thread->state = RUNNING;
	thread->early = 0;
}

void lode_sched_running(struct lode_sched *sched, uint64_t t, uint32_t thread)
{
	if (thread < sched->threads.count)
		see_running(sched, &sched->threads.items[thread], thread, t);
}

void lode_sched_set_stack(struct lode_sched *sched, uint32_t thread, uint32_t stack)
{
	if (thread < sched->threads.count && sched->threads.items[thread].state >= BLOCKED)
		sched->threads.items[thread].stack = stack;
}

static void switch_out(struct lode_sched *sched, struct thread *thread, uint32_t number, uint64_t t, uint16_t cpu,
		       enum lode_switch_state state, uint32_t stack)
{
	see_running(sched, thread, number, t);
	thread->out = t;
	thread->cpu = cpu;
	thread->stack = stack;
	thread->state = state == LODE_SWITCH_BLOCKED     ? BLOCKED
			: state == LODE_SWITCH_PREEMPTED ? PREEMPTED
							 : UNKNOWN;
}

void lode_sched_switch(struct lode_sched *sched, uint64_t t, uint16_t cpu, uint32_t previous,
		       enum lode_switch_state state, uint32_t stack, uint32_t next)
{
	struct thread *thread = previous == LODE_NONE ? NULL : thread_of(sched, previous);

	if (thread)
		switch_out(sched, thread, previous, t, cpu, state, stack);
	thread = next == LODE_NONE ? NULL : thread_of(sched, next);
	if (thread)
		switch_in(sched, thread, next, t);
}

void lode_sched_waking(struct lode_sched *sched, uint64_t t, uint32_t waker, uint32_t waker_stack, uint32_t target)
{
	struct thread *thread = target == LODE_NONE ? NULL : thread_of(sched, target);

	if (!thread)
		return;
	if (thread->state == BLOCKED) {
		thread->state = WOKEN;
		thread->woken = t;
		thread->waker = waker;
		thread->waker_stack = waker_stack;
	} else if (thread->state <= RUNNING) {
		thread->early = t;
		thread->early_waker = waker;
		thread->early_stack = waker_stack;
	}
}

int lode_sched_finish(struct lode_sched *sched, uint64_t t)
{
	for (size_t i = 0; i < sched->threads.count; i++) {
		struct thread *thread = &sched->threads.items[i];

		sched->open += thread->state == BLOCKED;
		store_unfinished(sched, thread, (uint32_t)i, t);
		thread->state = UNKNOWN;
	}
	lode_notes_add(sched->notes, sched->unexplained, "waits whose waker was not recorded", NULL);
	lode_notes_add(sched->notes, sched->unseen, "switch-ins not recorded, whose run-queue time is not known",
		       NULL);
	lode_notes_add(sched->notes, sched->open, "waits that were not over when the recording ended", NULL);
	sched->unexplained = sched->unseen = sched->open = 0;
	return sched->stream->failed ? LODE_SYSTEM : 0;
}
