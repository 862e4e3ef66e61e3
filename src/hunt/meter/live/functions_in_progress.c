/*
 * Functions that are in progress when their probes go in (`main`, a long loop) are
 * searched for on the stacks, thread by thread, after the probes are in. The
 * stacks are samples too.
 */
#include "hunt/meter/live/live_internal.h"

#include "base/memory.h"
#include "hunt/meter/live/clock_updates.h"

/* The thread whose stack is being read. */
struct seeding {
	struct lode_live *live;
	uint32_t functions[LODE_STOP_FRAMES]; /* of the stack, leaf first */
	size_t count;
	struct lode_thread_clocks_frame frames[LODE_STOP_FRAMES];
};

/* The frames that have probes, outermost first. */
static int handle_frames(void *context, uint32_t place, const struct lode_stop_frame *stack, size_t count)
{
	struct seeding *seeding = context;
	struct lode_live *live = seeding->live;
	uint32_t pid = live->clocks.threads[place].pid;
	size_t found = 0;

	seeding->count = count;
	for (size_t i = count; i-- > 0;) {
		uint32_t function = lode_hunted_at(&live->target, pid, stack[i].address), slot;

		seeding->functions[i] = function;
		slot = function == LODE_NONE ? LODE_NONE : lode_probes_slot(live->probes, function);
		if (slot != LODE_NONE)
			seeding->frames[found++] = (struct lode_thread_clocks_frame){ slot, stack[i].sp };
	}
	lode_thread_clocks_seed(&live->clocks, place, seeding->frames, found);
	return 0;
}

static int add_sample(struct lode_live *live, const struct seeding *seeding, const struct lode_hunt_thread *thread)
{
	uint64_t now = lode_now(), since;
	int waits = thread->blocked && !lode_thread_is_woken(thread, now, &since);
	uint32_t clock = waits ? thread->clock : LODE_CLOCK_CPU;

	if (clock == LODE_CLOCK_OTHER)
		return 0;
	return lode_stack_samples_add(&live->samples, now, thread->pid, thread->tid, (enum lode_hypothesis)clock,
				      seeding->functions, seeding->count);
}

static int seed_thread(struct lode_live *live, struct seeding *seeding, uint32_t place, uint64_t *stopped)
{
	struct lode_hunt_thread thread;
	int code;

	lode_thread_clocks_thread(&live->clocks, place, &thread);
	if (!thread.tid || thread.died)
		return 0;
	live->target.defers_code = 1;
	code = lode_stops_look(live->stops, place, handle_frames, seeding, stopped);
	live->target.defers_code = 0;
	if (code)
		return code < 0 ? code : 0;
	return add_sample(live, seeding, &thread);
}

static int seed_process(struct lode_live *live, struct seeding *seeding, struct lode_hunted_process *process)
{
	uint64_t stopped = 0;
	int code = 0;

	for (uint32_t i = 0; !code && i < live->clocks.thread_count; i++)
		if (live->clocks.threads[i].tid && live->clocks.threads[i].pid == process->pid)
			code = seed_thread(live, seeding, i, &stopped);
	live->stopped += stopped;
	return code;
}

int lode_live_seed(struct lode_live *live, struct lode_error *error)
{
	struct seeding *seeding;
	int code = 0;

	if (live->never_stop)
		return 0;
	seeding = lode_calloc(1, sizeof(*seeding));
	if (!seeding)
		return lode_fail_memory(error);
	seeding->live = live;
	for (size_t i = 0; !code && i < live->target.count; i++) {
		uint32_t pid = live->target.items[i].pid;

		if (live->target.items[i].ended || live->target.items[i].launches)
			continue;
		code = lode_stops_prepare(live->stops, pid, lode_hunted_version(&live->target, pid), error);
		if (!code && seed_process(live, seeding, &live->target.items[i]) < 0)
			code = lode_fail_memory(error);
	}
	lode_free(seeding);
	return code;
}
