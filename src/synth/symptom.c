/*
 * Symptoms: the UI thread takes too long, in part because of bugs.
 *
 * A symptom has a planned length; somewhat more than half of it is dealt out among
 * the bugs planted in this stream. Bugs and ordinary work take turns until both
 * are used up. Each step goes on at the UI thread's current time, and the
 * worker's and holder's stories never go beyond it, so everything within the
 * symptom is on its critical path. What is planted is counted as it is written.
 */
#include "synth/synth_host.h"

/* A bug that meets no symptom costs so much. */
#define HARMLESS (2 * LODE_SYNTH_MS)

static const struct lode_synth_variant *choose_variant(struct lode_synth_host *host,
						       const struct lode_synth_bug *bug)
{
	uint64_t usual = host->number;

	/* A host mostly comes to a bug by the same way. */
	if (lode_synth_random_percent(&host->timeline.random, 25))
		usual = lode_random_next(&host->timeline.random);
	return &bug->variant[usual % bug->variants];
}

/* An event of a bug was written. `on_path` is the time on the critical path, time on the run queue included.
 */
static void count(struct lode_synth_host *host, struct lode_synth_cost *costs, uint64_t cost, uint64_t on_path)
{
	costs->whole += cost;
	if (!host->in_symptom || !on_path)
		return;
	costs->cost += on_path;
	costs->events++;
}

/* ---- bugs ---- */

static void wait_directly(struct lode_synth_host *host, struct lode_synth_actor *actor,
			  const struct lode_synth_variant *variant, struct lode_synth_cost *costs, uint64_t cost,
			  enum lode_synth_interrupt interrupt)
{
	uint64_t start = actor->now;

	lode_synth_wait(&host->timeline, actor, variant->site, cost, interrupt);
	count(host, costs, cost, actor->now - start);
}

static void burn(struct lode_synth_host *host, struct lode_synth_actor *actor,
		 const struct lode_synth_variant *variant, struct lode_synth_cost *costs, uint64_t cost)
{
	uint64_t samples = (cost + LODE_SYNTH_SAMPLE - 1) / LODE_SYNTH_SAMPLE;

	lode_synth_run(&host->timeline, actor, variant->site, samples);
	while (samples--)
		count(host, costs, LODE_SYNTH_SAMPLE, LODE_SYNTH_SAMPLE);
}

/* The UI thread waits for the worker, which meets the bug. */
static void delegate(struct lode_synth_host *host, const struct lode_synth_bug *bug,
		     const struct lode_synth_variant *variant, struct lode_synth_cost *costs, uint64_t cost)
{
	const struct lode_synth_task *task = lode_synth_any_task(&host->timeline, &host->ui);
	const struct lode_synth_task *work = lode_synth_any_task(&host->timeline, &host->worker);

	lode_synth_wake(&host->timeline, &host->worker, &host->ui, task->leaves[LODE_SYNTH_WAKE]);
	lode_synth_run(&host->timeline, &host->worker, work->leaves[LODE_SYNTH_RUN], 1);
	if (bug->type == LODE_SYNTH_CPU)
		burn(host, &host->worker, variant, costs, cost);
	else
		wait_directly(host, &host->worker, variant, costs, cost, LODE_SYNTH_NET_INTERRUPT);
	lode_synth_await(&host->timeline, &host->ui, variant->blocked, &host->worker, variant->wake);
}

/* How much of the span from `start` to `end` is after `from`. */
static uint64_t behind(uint64_t start, uint64_t end, uint64_t from)
{
	return end <= from ? 0 : end - (start > from ? start : from);
}

/* The holder took the lock a moment ago and does slow I/O now; only the time after `from` delays a thread.
 */
static void hold_lock(struct lode_synth_host *host, const struct lode_synth_variant *variant,
		      struct lode_synth_cost *costs, uint64_t cost, uint64_t from)
{
	struct lode_random *random = &host->timeline.random;
	uint64_t early = cost / 2 < 2 * LODE_SYNTH_MS ? cost / 2 : 2 * LODE_SYNTH_MS;
	uint64_t parts = lode_synth_random_between(random, 1, 3);

	early = LODE_SYNTH_SAMPLE + lode_synth_random_below(random, early);
	lode_synth_wake_at(&host->timeline, &host->holder, from - early, LODE_SYNTH_TIMER_INTERRUPT);
	lode_synth_run(&host->timeline, &host->holder, variant->held, 1);
	for (; parts; parts--) {
		uint64_t part = cost / parts, start = host->holder.now;

		lode_synth_wait(&host->timeline, &host->holder, variant->site, part, LODE_SYNTH_DISK_INTERRUPT);
		count(host, costs, part, behind(start, host->holder.now, from));
		cost -= part;
	}
}

static void chain(struct lode_synth_host *host, const struct lode_synth_variant *variant,
		  struct lode_synth_cost *costs, uint64_t cost)
{
	const struct lode_synth_task *task = lode_synth_any_task(&host->timeline, &host->ui);
	const struct lode_synth_task *work = lode_synth_any_task(&host->timeline, &host->worker);

	lode_synth_wake(&host->timeline, &host->worker, &host->ui, task->leaves[LODE_SYNTH_WAKE]);
	lode_synth_run(&host->timeline, &host->worker, work->leaves[LODE_SYNTH_RUN], 1);
	hold_lock(host, variant, costs, cost, host->worker.now);
	lode_synth_await(&host->timeline, &host->worker, variant->lock, &host->holder, variant->wake);
	lode_synth_run(&host->timeline, &host->worker, work->leaves[LODE_SYNTH_RUN], 1);
	lode_synth_await(&host->timeline, &host->ui, variant->blocked, &host->worker,
			 work->leaves[LODE_SYNTH_WAKE]);
}

static void meet_bug(struct lode_synth_host *host, size_t number, uint64_t cost)
{
	const struct lode_synth_bug *bug = &host->timeline.model->bugs[number];
	const struct lode_synth_variant *variant = choose_variant(host, bug);
	struct lode_synth_cost *costs = &host->costs[number];

	if (bug->type == LODE_SYNTH_LOCK_CHAIN)
		chain(host, variant, costs, cost);
	else if (variant->blocked.count)
		delegate(host, bug, variant, costs, cost);
	else if (bug->type == LODE_SYNTH_CPU)
		burn(host, &host->ui, variant, costs, cost);
	else
		wait_directly(host, &host->ui, variant, costs, cost, LODE_SYNTH_DISK_INTERRUPT);
}

/* ---- ordinary work ---- */

static void work(struct lode_synth_host *host)
{
	struct lode_synth_timeline *timeline = &host->timeline;
	const struct lode_synth_task *task = lode_synth_any_task(timeline, &host->ui);
	uint64_t chance = lode_synth_random_below(&timeline->random, 100);

	if (chance < 40)
		lode_synth_run(timeline, &host->ui, task->leaves[LODE_SYNTH_RUN],
			       lode_synth_random_between(&timeline->random, 1, 6));
	else if (chance < 72)
		lode_synth_wait(timeline, &host->ui, task->leaves[chance < 65 ? LODE_SYNTH_DISK : LODE_SYNTH_FAULT],
				1000 + lode_synth_random_duration(&timeline->random, 5 * LODE_SYNTH_MS),
				LODE_SYNTH_DISK_INTERRUPT);
	else if (chance < 77)
		lode_synth_wait(timeline, &host->ui, task->leaves[LODE_SYNTH_SOCKET],
				1000 + lode_synth_random_duration(&timeline->random, 15 * LODE_SYNTH_MS),
				LODE_SYNTH_NET_INTERRUPT);
	else if (chance < 92)
		lode_synth_ask(timeline, &host->ui, task, &host->worker, 6 * LODE_SYNTH_MS);
	else
		lode_synth_contend(timeline, &host->ui, task, &host->holder, 4 * LODE_SYNTH_MS);
}

/* ---- symptoms ---- */

/* Deals out part of the symptom's length among the bugs of this stream; returns the sum. */
static uint64_t deal_out(struct lode_synth_host *host, uint64_t length)
{
	const struct lode_synth_model *model = host->timeline.model;
	struct lode_random *random = &host->timeline.random;
	uint64_t part = length / 100 * lode_synth_random_between(random, 55, 85), weights = 0, sum = 0;

	for (size_t i = 0; i < model->options.bugs; i++) {
		host->shares[i] = lode_synth_is_planted(model, i, host->number)
					  ? model->bugs[i].weight * lode_synth_random_between(random, 50, 150)
					  : 0;
		weights += host->shares[i];
	}
	for (size_t i = 0; i < model->options.bugs && weights; i++) {
		host->shares[i] = part / weights * host->shares[i];
		sum += host->shares[i];
	}
	return sum;
}

/* One of the bugs that have something left. */
static size_t choose_bug(struct lode_synth_host *host, uint64_t left)
{
	uint64_t at = lode_synth_random_below(&host->timeline.random, left);
	size_t i = 0;

	while (at >= host->shares[i])
		at -= host->shares[i++];
	return i;
}

static uint64_t bug_step(struct lode_synth_host *host, uint64_t left)
{
	size_t bug = choose_bug(host, left);
	uint64_t cost = LODE_SYNTH_MS +
			lode_synth_random_duration(&host->timeline.random, host->timeline.model->bugs[bug].grain);

	if (cost + LODE_SYNTH_MS > host->shares[bug])
		cost = host->shares[bug];
	host->shares[bug] -= cost;
	meet_bug(host, bug, cost);
	return left - cost;
}

static void note_symptom(struct lode_synth_host *host, uint64_t t0)
{
	static const char *const names[] = { "open folder", "start", "search", "save", "show properties" };
	const char *name = names[lode_synth_random_below(&host->timeline.random, 5)];
	struct lode_synth_timeline *timeline = &host->timeline;
	struct lode_symptom symptom = {
		.thread = host->ui.thread,
		.name = lode_strings_add(&timeline->stream->dictionary->frames.strings, name,
					 __builtin_strlen(name)),
		.t0 = t0,
		.t1 = host->ui.now,
	};
	uint64_t delay = symptom.t1 - symptom.t0;

	timeline->failed |= symptom.name == LODE_NONE || lode_stream_add_symptom(timeline->stream, &symptom) < 0;
	host->made->symptoms++;
	host->made->delay += delay;
	if (delay > host->made->longest)
		host->made->longest = delay;
}

static void add_symptom(struct lode_synth_host *host, uint64_t length)
{
	uint64_t t0 = host->ui.now, bugs = deal_out(host, length);

	host->in_symptom = 1;
	while (!host->timeline.failed) {
		uint64_t gone = host->ui.now - t0, left = gone < length ? length - gone : 0;

		if (bugs && lode_synth_random_below(&host->timeline.random, left) < bugs)
			bugs = bug_step(host, bugs);
		else if (left)
			work(host);
		else
			break;
	}
	host->in_symptom = 0;
	note_symptom(host, t0);
}

/* ---- between symptoms ---- */

/* A message that is handled soon enough; now and then a bug is met and does no harm. */
static void add_message(struct lode_synth_host *host)
{
	const struct lode_synth_model *model = host->timeline.model;
	struct lode_random *random = &host->timeline.random;
	uint64_t steps = lode_synth_random_between(random, 1, 5);
	size_t bug = lode_synth_random_below(random, model->options.bugs);

	while (steps--)
		work(host);
	if (model->options.bugs && lode_synth_is_planted(model, bug, host->number) &&
	    lode_synth_random_percent(random, 20))
		meet_bug(host, bug, HARMLESS);
}

void lode_synth_write_ui(struct lode_synth_host *host)
{
	uint64_t delays = 0, gap,
		 messages = 1 + host->timeline.model->options.events / 400 / (host->symptom_count + 1);

	for (size_t i = 0; i < host->symptom_count; i++)
		delays += host->delays[i];
	gap = (host->length > delays ? host->length - delays : 0) / (messages * (host->symptom_count + 1) + 1);
	for (size_t i = 0; i <= host->symptom_count && !host->timeline.failed; i++) {
		for (uint64_t message = 0; message < messages && !host->timeline.failed; message++) {
			lode_synth_wake_at(&host->timeline, &host->ui,
					   host->ui.now + 1 +
						   lode_synth_random_duration(&host->timeline.random, gap),
					   LODE_SYNTH_INPUT_INTERRUPT);
			add_message(host);
		}
		if (i == host->symptom_count)
			break;
		lode_synth_wake_at(&host->timeline, &host->ui, host->ui.now + LODE_SYNTH_MS,
				   LODE_SYNTH_INPUT_INTERRUPT);
		add_symptom(host, host->delays[i]);
	}
}
