/*
 * Noise: everything on a host that has nothing to do with its symptoms.
 *
 * Threads work in pairs, a leader and a server. Each pair has to write so many waits
 * and runs, spread evenly over the recording: where the leader is ahead of that it
 * idles, and these idle waits dwarf all others. What is written is counted, so that
 * a stream has exactly the number of events that was requested.
 */
#include "synth/synth_host.h"

#include <stdio.h>

/* Besides the other programs: event loops of the program, workers of the program, workers of the kernel. */
#define LOOPS   2
#define WORKERS 2
#define KERNEL  2
#define PAIRS   (LOOPS + WORKERS + KERNEL + LODE_SYNTH_OTHERS)

/* More than a step of a pair writes. */
#define STEP_WAITS 4
#define STEP_RUNS  2

/* A leader that is as many events ahead of time takes a rest. */
#define BUSY_EVENTS 10

struct pair {
	struct lode_synth_actor leader;
	struct lode_synth_actor server;
	int alone; /* there is no server */
	uint64_t weight;
	uint64_t waits; /* still to be written */
	uint64_t runs;
	uint64_t all_waits; /* to be written in all */
	uint64_t all_runs;
	uint64_t mean;  /* of a wait, ns */
	uint64_t slack; /* how far the leader may be ahead, ns */
};

static void set_up_program(struct lode_synth_host *host, struct pair *pair, unsigned number)
{
	const struct lode_synth_model *model = host->timeline.model;
	const struct lode_synth_role *role = number < LOOPS ? &model->loop : &model->worker;
	uint32_t tid = host->pid + 3 + 2 * number;
	char name[32];

	snprintf(name, sizeof(name), number < LOOPS ? "folio-loop/%u" : "folio-worker/%u", number);
	pair->leader = lode_synth_actor(&host->timeline, role, host->pid, tid, name, host->begin);
	snprintf(name, sizeof(name), "folio-worker/%u", number + 4);
	pair->server = lode_synth_actor(&host->timeline, &model->worker, host->pid, tid + 1, name, host->begin);
}

static void set_up_kernel(struct lode_synth_host *host, struct pair *pair, unsigned number)
{
	char name[32];

	snprintf(name, sizeof(name), "kworker/%u:1", number);
	pair->leader = lode_synth_actor(&host->timeline, &host->timeline.model->kernel, 40 + number, 40 + number,
					name, host->begin);
	pair->alone = 1;
}

static void set_up_other(struct lode_synth_host *host, struct pair *pair, unsigned number)
{
	const struct lode_synth_model *model = host->timeline.model;
	const char *program = model->code.modules[LODE_SYNTH_OTHER + number].name;
	uint32_t pid = 300 + 37 * number;
	char name[32];

	pair->leader = lode_synth_actor(&host->timeline, &model->other[number], pid, pid, program, host->begin);
	snprintf(name, sizeof(name), "%s/serve", program);
	pair->server = lode_synth_actor(&host->timeline, &model->serving[number], pid, pid + 1, name, host->begin);
}

static void set_up(struct lode_synth_host *host, struct pair pairs[PAIRS])
{
	for (unsigned i = 0; i < PAIRS; i++) {
		struct pair *pair = &pairs[i];

		*pair = (struct pair){ .weight = lode_synth_random_between(&host->timeline.random, 4, 16) };
		if (i < LOOPS + WORKERS)
			set_up_program(host, pair, i);
		else if (i < LOOPS + WORKERS + KERNEL)
			set_up_kernel(host, pair, i - LOOPS - WORKERS);
		else
			set_up_other(host, pair, i - LOOPS - WORKERS - KERNEL);
	}
}

/* Deals out the events by weight; the last pair takes what rounding left. */
static void share_out(struct pair pairs[PAIRS], uint64_t waits, uint64_t runs)
{
	uint64_t weights = 0;

	for (size_t i = 0; i < PAIRS; i++)
		weights += pairs[i].weight;
	for (size_t i = 0; i < PAIRS; i++) {
		struct pair *pair = &pairs[i];

		pair->all_waits = pair->waits = i == PAIRS - 1 ? waits : waits * pair->weight / weights;
		pair->all_runs = pair->runs = i == PAIRS - 1 ? runs : runs * pair->weight / weights;
		waits -= pair->waits;
		runs -= pair->runs;
		weights -= pair->weight;
	}
}

/* When a pair that keeps pace would be where it is now. */
static uint64_t due(const struct lode_synth_host *host, const struct pair *pair)
{
	uint64_t all = pair->all_waits + pair->all_runs, done = all - pair->waits - pair->runs;

	return host->begin + host->length / all * done + host->length % all * done / all;
}

static int runs_are_behind(const struct pair *pair)
{
	return pair->runs && (!pair->waits || pair->runs * (pair->all_waits + 1) > pair->waits * pair->all_runs);
}

static void wait_step(struct lode_synth_host *host, struct pair *pair)
{
	struct lode_synth_timeline *timeline = &host->timeline;
	const struct lode_synth_task *task = lode_synth_any_task(timeline, &pair->leader);
	uint64_t chance = lode_synth_random_below(&timeline->random, 100);
	int together = !pair->alone && pair->waits > STEP_WAITS && pair->runs > STEP_RUNS;

	if (together && chance < 25)
		lode_synth_ask(timeline, &pair->leader, task, &pair->server, pair->mean);
	else if (together && chance < 35)
		lode_synth_contend(timeline, &pair->leader, task, &pair->server, pair->mean);
	else if (!pair->alone && chance < 55)
		lode_synth_wait(timeline, &pair->leader, task->leaves[LODE_SYNTH_SOCKET],
				1000 + lode_synth_random_duration(&timeline->random, pair->mean),
				LODE_SYNTH_NET_INTERRUPT);
	else
		lode_synth_wait(timeline, &pair->leader, task->leaves[LODE_SYNTH_DISK],
				1000 + lode_synth_random_duration(&timeline->random, pair->mean),
				LODE_SYNTH_DISK_INTERRUPT);
}

static void run_step(struct lode_synth_host *host, struct pair *pair)
{
	const struct lode_synth_task *task = lode_synth_any_task(&host->timeline, &pair->leader);
	uint64_t samples = lode_synth_random_between(&host->timeline.random, 1, 6);

	lode_synth_run(&host->timeline, &pair->leader, task->leaves[LODE_SYNTH_RUN],
		       samples < pair->runs ? samples : pair->runs);
}

static void add_noise_step(struct lode_synth_host *host, struct pair *pair)
{
	struct lode_synth_timeline *timeline = &host->timeline;
	uint64_t waits = timeline->waits, runs = timeline->runs, pace = due(host, pair);

	if (pair->waits && pair->leader.now + pair->slack < pace)
		lode_synth_wake_at(timeline, &pair->leader, pace, LODE_SYNTH_TIMER_INTERRUPT);
	else if (runs_are_behind(pair))
		run_step(host, pair);
	else
		wait_step(host, pair);
	pair->waits -= timeline->waits - waits;
	pair->runs -= timeline->runs - runs;
}

/* A recording is so long that no pair is busy for more than half of it. */
static void stretch(struct lode_synth_host *host, const struct pair pairs[PAIRS])
{
	for (size_t i = 0; i < PAIRS; i++)
		if (pairs[i].all_runs * LODE_SYNTH_SAMPLE * 2 > host->length)
			host->length = pairs[i].all_runs * LODE_SYNTH_SAMPLE * 2;
}

void lode_synth_add_noise(struct lode_synth_host *host, uint64_t waits, uint64_t runs)
{
	struct pair pairs[PAIRS];

	set_up(host, pairs);
	share_out(pairs, waits, runs);
	stretch(host, pairs);
	for (size_t i = 0; i < PAIRS; i++) {
		struct pair *pair = &pairs[i];

		pair->mean = host->length / (4 * pair->all_waits + 1);
		if (pair->mean > 8 * LODE_SYNTH_MS)
			pair->mean = 8 * LODE_SYNTH_MS;
		pair->slack = BUSY_EVENTS * (host->length / (pair->all_waits + pair->all_runs + 1));
		while ((pair->waits || pair->runs) && !host->timeline.failed)
			add_noise_step(host, pair);
	}
}
