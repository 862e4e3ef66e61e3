/*
 * Experiments of the live meter: starting them, stopping them, reading them.
 *
 * The BPF side knows functions and threads, not experiments. What an
 * experiment has measured is the difference between two accounts, each the sum
 * over the threads in its focus: one taken when it was started, one now.
 */
#include "hunt/meter/live/live_internal.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

/* Share of the program's time that a function is taken to cost of which nothing is known: it has to be tried.
 */
#define UNKNOWN_COST 0.005

/* ---- cost ---- */

double lode_live_predict(struct lode_meter *meter, enum lode_hypothesis hypothesis, const struct lode_focus *focus)
{
	struct lode_live *live = lode_live_of(meter);
	double elapsed = (double)(lode_now() - live->began), rate;
	enum lode_probe_state state;
	struct lode_probe_wish wish;
	uint32_t slot;

	(void)hypothesis;
	if (focus->function == LODE_NONE)
		return 0;
	if (!live->probes || lode_live_make_probe(live, focus->function, &wish))
		return -1;
	slot = lode_probes_slot(live->probes, focus->function);
	if (slot == LODE_NONE)
		return UNKNOWN_COST;
	state = lode_probes_state(live->probes, slot);
	switch (state) {
	case LODE_PROBE_IN:
		return 0;
	case LODE_PROBE_IMPOSSIBLE:
		return -1;
	default:
		rate = lode_probes_cost_rate(live->probes, slot);
		if (rate < 0)
			return UNKNOWN_COST;
		/* As many seconds of program as there are in a second. */
		rate *= elapsed / (lode_live_program_time(live) + 1);
		/* What had to be taken out costs too much, even if it was in for too short a time to measure.
		 */
		return state == LODE_PROBE_COSTLY && rate <= live->cost_limit ? 2 * live->cost_limit : rate;
	}
}

/* ---- accounts ---- */

/* The time that the focus could use: of one thread its own, so that no part of it is more than all of it. */
static void settle_base(struct lode_live *live, enum lode_hypothesis hypothesis, const struct lode_focus *focus,
			uint64_t now, struct lode_live_account *account)
{
	/* Clocks are in the order of the hypotheses. */
	enum lode_hunt_clock clock = hypothesis < LODE_SMALL_IO ? (enum lode_hunt_clock)hypothesis : LODE_CLOCK_CPU;
	struct lode_thread_clocks_sum sum;

	if (focus->thread == LODE_NONE) {
		account->usable = lode_hunted_usable(&live->target, focus->process, clock);
		account->ready = lode_hunted_ready(&live->target, focus->process);
		return;
	}
	lode_hunted_sum(&live->target, focus->process, focus->thread, LODE_NONE, now, &sum);
	account->ready = (uint64_t)sum.ready;
	account->usable = 0;
	for (int i = 0; i < LODE_CLOCKS; i++)
		account->usable += (uint64_t)sum.time[i];
	account->usable -= account->ready + (uint64_t)sum.held;
}

static void settle_account(struct lode_live *live, const struct lode_live_experiment *experiment,
			   struct lode_live_account *account)
{
	const struct lode_focus *focus = &experiment->focus;
	uint64_t now = lode_hunted_settle(&live->target);
	struct lode_thread_clocks_sum sum;

	lode_hunted_sum(&live->target, focus->process, focus->thread, experiment->slot, now, &sum);
	settle_base(live, experiment->hypothesis, focus, now, account);
	for (int i = 0; i < LODE_SMALL_IO; i++)
		account->time[i] = sum.time[i];
	if (focus->object)
		account->time[LODE_SYNC_WAITING] = lode_live_object_time(live, focus, experiment->slot, now);
	account->operations = sum.operations;
	account->bytes = sum.bytes;
	account->calls = sum.calls;
	account->probes = experiment->slot == LODE_NONE ? 0 : live->clocks.slots[experiment->slot].took;
}

/* ---- experiments ---- */

static struct lode_live_experiment *find_experiment(struct lode_live *live, uint32_t number)
{
	uint32_t at =
		LODE_INDEX_FIND(i, &live->index, lode_hash_pair(0, number), live->experiments[i].number == number);

	return at == LODE_NONE ? NULL : &live->experiments[at];
}

/* The experiment of this number, new or once more. */
static struct lode_live_experiment *enter_experiment(struct lode_live *live, uint32_t number)
{
	struct lode_live_experiment *experiment = find_experiment(live, number);

	if (!experiment) {
		if (LODE_INDEX_APPEND(&live->index, lode_hash_pair(0, number), live->experiments, live->count,
				      live->capacity, (struct lode_live_experiment){ 0 }) < 0)
			return NULL;
		experiment = &live->experiments[live->count - 1];
	}
	if (experiment->running && experiment->slot != LODE_NONE)
		lode_probes_drop(live->probes, experiment->slot);
	*experiment = (struct lode_live_experiment){ .number = number, .slot = LODE_NONE };
	return experiment;
}

static int claim_probes(struct lode_live *live, struct lode_live_experiment *experiment, struct lode_error *error)
{
	struct lode_probe_wish wish;
	int code;

	if (lode_live_make_probe(live, experiment->focus.function, &wish)) {
		experiment->impossible = 1;
		return 0;
	}
	code = lode_probes_take(live->probes, &wish, error);
	if (code)
		return code;
	if (wish.fresh && wish.slot != LODE_NONE)
		lode_hunted_forget_slot(&live->target, wish.slot);
	experiment->slot = wish.slot;
	experiment->impossible = wish.slot == LODE_NONE;
	return 0;
}

static int prepare(struct lode_live *live, uint32_t number, enum lode_hypothesis hypothesis,
		   const struct lode_focus *focus, struct lode_error *error)
{
	struct lode_live_experiment *experiment = enter_experiment(live, number);

	if (!experiment)
		return lode_fail_memory(error);
	experiment->hypothesis = hypothesis;
	experiment->focus = *focus;
	experiment->running = 1;
	if (focus->object && focus->function != LODE_NONE &&
	    lode_thread_clocks_object(&live->clocks, focus->object) < 0)
		return lode_fail(error, LODE_SYSTEM, "hunt: too many locks are watched at a time");
	return focus->function == LODE_NONE ? 0 : claim_probes(live, experiment, error);
}

int lode_live_start(struct lode_meter *meter, const uint32_t *experiments, const enum lode_hypothesis *hypotheses,
		    const struct lode_focus *foci, size_t count, struct lode_error *error)
{
	struct lode_live *live = lode_live_of(meter);
	int code = lode_live_follow(live, error), probed = 0;

	for (size_t i = 0; !code && i < count; i++) {
		code = prepare(live, experiments[i], hypotheses[i], &foci[i], error);
		probed |= foci[i].function != LODE_NONE;
	}
	if (!code && probed)
		code = lode_probes_insert(live->probes, error);
	if (!code && probed)
		code = lode_live_seed(live, error);
	for (size_t i = 0; !code && i < count; i++) {
		struct lode_live_experiment *experiment = find_experiment(live, experiments[i]);

		settle_account(live, experiment, &experiment->start);
	}
	return code;
}

int lode_live_stop(struct lode_meter *meter, const uint32_t *experiments, size_t count, struct lode_error *error)
{
	struct lode_live *live = lode_live_of(meter);

	(void)error;
	for (size_t i = 0; i < count; i++) {
		struct lode_live_experiment *experiment = find_experiment(live, experiments[i]);

		if (!experiment || !experiment->running)
			continue;
		if (!experiment->closed)
			settle_account(live, experiment, &experiment->last);
		experiment->closed = 1;
		experiment->running = 0;
		if (experiment->slot != LODE_NONE && live->probes)
			lode_probes_drop(live->probes, experiment->slot);
	}
	if (live->probes)
		lode_probes_tidy(live->probes);
	return 0;
}

/* ---- reading ---- */

static int is_gone(struct lode_live *live, const struct lode_focus *focus)
{
	const struct lode_hunted_process *process;

	if (focus->process != LODE_NONE) {
		process = lode_hunted_find(&live->target, focus->process);
		if (!process || process->ended)
			return 1;
	}
	if (focus->thread == LODE_NONE)
		return !lode_hunted_alive(&live->target);
	for (uint32_t i = 0; i < live->clocks.thread_count; i++)
		if (live->clocks.threads[i].tid == focus->thread && !live->clocks.threads[i].died)
			return 0;
	return 1;
}

static void set_state(struct lode_live *live, struct lode_live_experiment *experiment, struct lode_reading *reading)
{
	enum lode_probe_state state = LODE_PROBE_IN;

	reading->state = LODE_READING_ON;
	if (experiment->slot != LODE_NONE && live->probes && !experiment->closed)
		state = lode_probes_state(live->probes, experiment->slot);
	if (experiment->impossible || state == LODE_PROBE_IMPOSSIBLE) {
		reading->state = LODE_READING_IMPOSSIBLE;
		reading->why = experiment->slot == LODE_NONE && experiment->impossible
				       ? "its code was not understood well enough to put probes into it"
				       : "the kernel cannot put probes on its instructions";
	} else if (experiment->costly || state == LODE_PROBE_COSTLY) {
		reading->state = LODE_READING_COSTLY;
		reading->why =
			"it is called so often that its probes cost more than --cost allows; they were removed";
	} else if (is_gone(live, &experiment->focus)) {
		reading->state = LODE_READING_GONE;
		reading->why = "its processes or threads have ended";
	}
}

static uint64_t at_least_zero(int64_t time)
{
	return time > 0 ? (uint64_t)time : 0;
}

int lode_live_read(struct lode_meter *meter, uint32_t number, struct lode_reading *reading,
		   struct lode_error *error)
{
	struct lode_live *live = lode_live_of(meter);
	struct lode_live_experiment *experiment = find_experiment(live, number);
	const struct lode_live_account *start, *last;

	memset(reading, 0, sizeof(*reading));
	if (!experiment)
		return lode_fail(error, LODE_SYSTEM, "hunt: experiment %u was never started", number);
	set_state(live, experiment, reading);
	if (!experiment->closed)
		settle_account(live, experiment, &experiment->last);
	/* It stays costly, though another experiment may put the probes in again. */
	if (reading->state == LODE_READING_COSTLY)
		experiment->costly = experiment->closed = 1;
	start = &experiment->start;
	last = &experiment->last;
	reading->usable = at_least_zero((int64_t)(last->usable - start->usable));
	reading->ready = at_least_zero((int64_t)(last->ready - start->ready));
	for (int i = 0; i < LODE_SMALL_IO; i++)
		reading->time[i] = at_least_zero(last->time[i] - start->time[i]);
	reading->operations = last->operations - start->operations;
	reading->bytes = last->bytes - start->bytes;
	reading->calls = last->calls - start->calls;
	reading->cost = last->probes - start->probes;
	return 0;
}
