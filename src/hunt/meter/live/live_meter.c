/*
 * Live meter: see live_meter.h. This file creates and destroys it and waits; the others
 * are live_follow.c (processes), live_experiments.c, live_axes.c and live_cost.c.
 */
#include "hunt/meter/live/live_meter.h"

#include "base/memory.h"
#include "base/proc_files.h"
#include "hunt/meter/live/live_internal.h"
#include "process/descendants.h"
#include "record/load/program_time.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define DEFAULT_COST      0.10
#define DEFAULT_FREQUENCY 499

/* Of the recorder's rings, all CPUs together: they are read twenty times a second. */
#define RING_BYTES (16u << 20)

/* The recorder is read after this many nanoseconds even if no process has started or ended. */
#define READ_EVERY 50000000u
/* And where the program has no CPU for most of the time. */
#define MAX_READ_EVERY 200000000u

static uint64_t now(struct lode_meter *meter)
{
	(void)meter;
	return lode_now();
}

/* ---- waiting and samples ---- */

static int wait_until(struct lode_meter *meter, uint64_t until, struct lode_error *error)
{
	struct lode_live *live = lode_live_of(meter);
	struct pollfd waited = { live->event, POLLIN, 0 };

	for (;;) {
		uint64_t time, left;
		int code = lode_live_follow(live, error);

		if (code)
			return code;
		if (live->target.count && !lode_hunted_alive(&live->target))
			return 1;
		time = lode_now();
		if (time >= until)
			return 0;
		left = lode_live_usable_share(live) < 0.5 ? MAX_READ_EVERY : READ_EVERY;
		left = until - time < left ? until - time : left;
		if (poll(&waited, 1, (int)((left + 999999) / 1000000)) < 0 && errno == EINTR)
			return 0;
	}
}

static int handle_samples(struct lode_meter *meter,
			  int (*each)(void *context, const struct lode_meter_sample *sample), void *context,
			  struct lode_error *error)
{
	struct lode_live *live = lode_live_of(meter);
	int code = live->finished ? 0 : lode_live_read_recorder(live, error);

	return code ? code : lode_stack_samples_take(&live->samples, each, context);
}

/* ---- life ---- */

struct addition {
	struct lode_live *live;
	struct lode_error *error;
};

static int add_one(void *context, uint32_t pid)
{
	struct addition *addition = context;
	struct lode_live *live = addition->live;
	int code = lode_recorder_add_pid(live->recorder, pid, addition->error);

	if (!code)
		code = lode_live_add_process(live, pid, addition->error);
	if (!code && !live->never_stop)
		code = lode_stops_prepare(live->stops, pid, lode_hunted_version(&live->target, pid),
					  addition->error);
	return code;
}

/* As add_one; that a child is gone is no matter. */
static int add_child(void *context, uint32_t pid)
{
	int code = add_one(context, pid);

	return code < 0 ? code : 0;
}

int lode_live_meter_add(struct lode_meter *meter, uint32_t pid, struct lode_error *error)
{
	struct addition addition = { lode_live_of(meter), error };
	int code = add_one(&addition, pid);

	return code ? code : lode_process_descendants(pid, add_child, &addition);
}

static int add_all(struct lode_live *live, const struct lode_live_meter_options *options, struct lode_error *error)
{
	int code = 0;

	for (size_t i = 0; code >= 0 && i < options->pid_count; i++)
		code = lode_live_meter_add(&live->meter, options->pids[i], error);
	if (code < 0)
		return code;
	if (options->pid_count && !lode_hunted_alive(&live->target))
		return lode_fail(error, LODE_USAGE, "hunt: the processes do not exist, or have ended");
	return 0;
}

static int open_recorder(struct lode_live *live, const struct lode_live_meter_options *options,
			 struct lode_error *error)
{
	struct lode_recorder_options recorder = {
		.only_pids = 1,
		.frequency = options->frequency ? options->frequency : DEFAULT_FREQUENCY,
		.only_own = !options->tee,
		.ring_bytes = RING_BYTES,
		.unwind = options->unwind,
		.languages = options->languages,
	};
	int code;

	lode_stack_samples_init(&live->samples, &live->target, lode_recorder_period(&recorder), options->tee);
	code = lode_recorder_create(&live->recorder, &recorder, error);
	live->samples.languages = code ? NULL : lode_recorder_languages(live->recorder);
	return code;
}

/* Room for the threads that there are. */
static uint32_t expected_threads(const struct lode_live_meter_options *options)
{
	uint32_t threads = 0;

	for (size_t i = 0; i < options->pid_count; i++) {
		char text[4096];

		lode_proc_text(text, sizeof(text), "/proc/%u/status", options->pids[i]);
		threads += (uint32_t)lode_proc_field(text, "\nThreads:", 10, 1);
	}
	return threads;
}

static int build(struct lode_live *live, const struct lode_live_meter_options *options, struct lode_error *error)
{
	int code = lode_program_create(&live->meter.program, error);

	if (!code)
		code = lode_thread_clocks_open(&live->clocks, expected_threads(options), error);
	if (!code)
		code = lode_hunted_init(&live->target, &live->clocks, live->meter.program, error);
	if (!code)
		code = open_recorder(live, options, error);
	live->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	live->stops = lode_stops_create(&live->clocks);
	if (!code && (live->event < 0 || !live->stops))
		code = lode_fail_memory(error);
	if (!code)
		code = lode_probes_create(&live->probes, &live->clocks, live->cost_limit, live->event, error);
	if (code)
		return code;
	code = add_all(live, options, error);
	return code ? code : lode_recorder_start(live->recorder, error);
}

static void set_host(struct lode_live *live, const char *host)
{
	if (host)
		snprintf(live->host, sizeof(live->host), "%s", host);
	else if (gethostname(live->host, sizeof(live->host) - 1) < 0)
		snprintf(live->host, sizeof(live->host), "host");
}

int lode_live_meter_finish(struct lode_meter *meter, struct lode_error *error)
{
	struct lode_live *live = lode_live_of(meter);
	struct lode_recorder_sink sink = lode_stack_samples_sink(&live->samples);
	int code = 0;

	if (live->finished)
		return 0;
	lode_live_end_work(live);
	live->finished = 1;
	lode_probes_destroy(live->probes);
	live->probes = NULL;
	if (live->recorder && lode_recorder_stop(live->recorder, &sink) < 0)
		code = lode_fail_memory(error);
	return code;
}

static void destroy(struct lode_meter *meter)
{
	struct lode_live *live = lode_live_of(meter);

	lode_probes_destroy(live->probes);
	lode_stops_destroy(live->stops);
	lode_recorder_destroy(live->recorder);
	lode_stack_samples_release(&live->samples);
	lode_hunted_release(&live->target);
	lode_thread_clocks_close(&live->clocks);
	lode_program_destroy(live->meter.program);
	if (live->event >= 0)
		close(live->event);
	if (live->statistics >= 0)
		close(live->statistics);
	lode_index_release(&live->index);
	lode_free(live->experiments);
	lode_free(live);
}

static const struct lode_meter_operations operations = {
	.now = now,
	.wait = wait_until,
	.predict = lode_live_predict,
	.start = lode_live_start,
	.stop = lode_live_stop,
	.read = lode_live_read,
	.samples = handle_samples,
	.below = lode_live_below,
	.roots = lode_live_roots,
	.name = lode_live_name,
	.cost = lode_live_cost,
	.own = lode_live_own,
	.destroy = destroy,
};

int lode_live_meter_create(struct lode_meter **meter, const struct lode_live_meter_options *options,
			   struct lode_error *error)
{
	struct lode_live *live = lode_calloc(1, sizeof(*live));
	int code;

	*meter = NULL;
	if (!live)
		return lode_fail_memory(error);
	live->meter.operations = &operations;
	live->event = -1;
	live->never_stop = options->never_stop;
	live->cost_limit = options->cost > 0 ? options->cost : DEFAULT_COST;
	live->began = live->looked = lode_now();
	live->statistics = lode_program_time_begin();
	set_host(live, options->host);
	code = build(live, options, error);
	if (code) {
		destroy(&live->meter);
		return code;
	}
	*meter = &live->meter;
	return 0;
}

/* ---- the report at the end ---- */

/* Binaries that have no probes at all: what is said about their functions rests on samples. */
static void note_undecoded(const struct lode_live *live, struct lode_notes *notes)
{
	for (uint32_t i = 0; i < live->target.binary_count; i++) {
		const struct lode_code *code = lode_program_code(live->meter.program, i);

		if (code && code->undecoded)
			lode_notes_add(notes, 1, "binaries whose functions were sampled only, not probed",
				       code->undecoded);
	}
}

void lode_live_meter_note(struct lode_meter *meter, struct lode_notes *notes)
{
	struct lode_live *live = lode_live_of(meter);
	struct lode_hunt_counts counts;

	lode_thread_clocks_counts(&live->clocks, &counts);
	lode_notes_add(notes, counts.lost_threads, "threads not measured: there were too many at a time", NULL);
	lode_notes_add(notes, counts.lost_messages, "changes of processes noticed late", NULL);
	lode_notes_add(notes, live->target.unreadable, "binaries whose code could not be read", NULL);
	note_undecoded(live, notes);
	lode_notes_add(notes, live->samples.missing, "samples left out: their stacks were lost", NULL);
	lode_recorder_note(live->recorder, notes);
}

uint64_t lode_live_meter_hit_cost(const struct lode_meter *meter, enum lode_probed_kind kind)
{
	return ((const struct lode_live *)meter)->clocks.settings->hit_costs[kind];
}
