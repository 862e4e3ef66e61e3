/*
 * The connection of a budget with the recorder, against a recorder that keeps its own account: for how long programs were
 * attached, the kernel was not ready, slots left something out, and long waits were recorded. Clock and CPU time are those of
 * the test, which therefore is a program of its own.
 */
#include "cmocka_all.h"
#include "random_stream.h"

#include "record/budget/thinning.h"
#include "tasks/live/budget_control.h"

#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define MS      1000000ull
#define CALL_NS 100000ull /* to attach or detach programs, at most */

/* What happens a second on each CPU, and how slow the kernel is to attach programs. */
struct load {
	uint64_t waits;
	uint64_t wait_ns;
	uint64_t wakeups;
	uint64_t mappings;
	uint64_t refusals; /* the most times in a row that programs cannot be attached yet */
};

struct lode_recorder {
	struct load load;
	uint64_t seed;
	uint64_t rest; /* of divisions */
	uint64_t cpus; /* of the machine that the test runs on */
	int started;
	/* What it was told. */
	struct lode_slot slot;
	uint64_t scale;
	unsigned frequency;
	int wants_long_waits;
	int stays_attached;
	int tracks_mmaps;
	unsigned calls; /* of its functions */
	/* What it did. */
	struct lode_record_counts counts;
	uint64_t process_ns;
	uint64_t refusals_left;
	int is_attached;
	int tracks_long_waits;
	uint64_t asked_at; /* to attach programs, which are not yet; 0: they are, or need not be */
	/* Its account. */
	uint64_t attached_ns;
	uint64_t delay_ns;
	uint64_t attaches;
	uint64_t slots_ns;         /* with slots that leave something out, */
	uint64_t no_long_waits_ns; /* and without long waits meanwhile */
	uint64_t slot_changes;
	uint64_t thinned_ns; /* without slots, but with long waits left to chance */
};

static uint64_t clock_ns;
static struct lode_recorder *recorded; /* whose CPU time is that of the process */

/* ---- clocks ---- */

int clock_gettime(clockid_t clock, struct timespec *time)
{
	(void)clock;
	time->tv_sec = (time_t)(clock_ns / 1000000000);
	time->tv_nsec = (long)(clock_ns % 1000000000);
	return 0;
}

int getrusage(__rusage_who_t who, struct rusage *usage)
{
	(void)who;
	memset(usage, 0, sizeof(*usage));
	usage->ru_utime.tv_sec = (time_t)(recorded->process_ns / 1000000000);
	usage->ru_utime.tv_usec = (suseconds_t)(recorded->process_ns % 1000000000 / 1000);
	return 0;
}

/* The seed of slots. */
pid_t getpid(void)
{
	return 4711;
}

/* ---- the recorder ---- */

static uint64_t count_in(struct lode_recorder *recorder, uint64_t rate, uint64_t ns)
{
	uint64_t all = rate * recorder->cpus * (ns / 1000) + recorder->rest;

	recorder->rest = all % 1000000;
	return all / 1000000;
}

static void count_waits(struct lode_recorder *recorder, uint64_t ns)
{
	const struct load *load = &recorder->load;
	uint64_t waits = count_in(recorder, load->waits, ns),
		 recorded_waits = load->wait_ns >= recorder->scale ? waits
								   : waits * load->wait_ns / recorder->scale;

	recorder->counts.waits += waits;
	recorder->counts.recorded_waits += recorded_waits;
	recorder->counts.waited_ns += waits * (load->wait_ns < LODE_THIN_LONG ? load->wait_ns : LODE_THIN_LONG);
	recorder->counts.runs += 3 * waits;
	recorder->counts.stack_runs += 3 * recorded_waits;
	recorder->counts.stacks_ns += recorded_waits * 2000;
	recorder->counts.other_ns += 3 * (waits - recorded_waits) * 120;
	recorder->process_ns += recorded_waits * 2000;
}

static int has_slots(const struct lode_recorder *recorder)
{
	return recorder->slot.factor > LODE_SLOT_UNIT;
}

/* Lets time pass, in which the recorder does what it was told. */
static void pass(struct lode_recorder *recorder, uint64_t ns)
{
	uint64_t wakeups = count_in(recorder, recorder->load.wakeups, ns),
		 mappings = count_in(recorder, recorder->load.mappings, ns),
		 samples = count_in(recorder, recorder->frequency, ns);

	clock_ns += ns;
	recorder->counts.samples += samples;
	recorder->counts.samples_ns += samples * 3000;
	recorder->process_ns += ns / 2000 * recorder->cpus;
	if (recorder->tracks_mmaps) {
		recorder->counts.map_runs += mappings;
		recorder->counts.map_ns += mappings * 200;
	}
	if (recorder->tracks_long_waits) {
		recorder->counts.waking_runs += wakeups;
		recorder->counts.waking_ns += wakeups * 60;
	}
	if (recorder->is_attached) {
		recorder->attached_ns += ns;
		count_waits(recorder, ns);
	} else if (recorder->stays_attached) {
		recorder->counts.rests += count_in(recorder, recorder->load.waits, ns);
	}
	recorder->slots_ns += has_slots(recorder) ? ns : 0;
	recorder->no_long_waits_ns += has_slots(recorder) && !recorder->tracks_long_waits ? ns : 0;
	recorder->thinned_ns += !has_slots(recorder) && recorder->scale > LODE_THIN_ALL_LONG ? ns : 0;
}

/* Programs are attached by the start. Returns whether they are after a call that is made later. */
static int attach(struct lode_recorder *recorder, int was_attached)
{
	if (!recorder->asked_at) {
		recorder->asked_at = clock_ns;
		recorder->refusals_left = was_attached || recorder->stays_attached
						  ? 0
						  : random_below(&recorder->seed, recorder->load.refusals + 1);
	}
	pass(recorder, random_below(&recorder->seed, CALL_NS));
	if (recorder->refusals_left) {
		recorder->refusals_left--;
		return 0;
	}
	recorder->delay_ns += clock_ns - recorder->asked_at;
	recorder->attaches += !recorder->stays_attached;
	recorder->asked_at = 0;
	return 1;
}

int lode_recorder_set_slot(struct lode_recorder *recorder, const struct lode_slot *slot)
{
	int was_attached = recorder->is_attached;

	recorder->calls++;
	recorder->slot_changes += !recorder->asked_at; /* not the same one again, which waits for programs */
	recorder->is_attached = 0;                     /* nothing is recorded during the call */
	recorder->slot = *slot;
	if (recorder->wants_long_waits && has_slots(recorder) && slot->on)
		recorder->tracks_long_waits = 1;
	if (recorder->started && slot->on && !attach(recorder, was_attached))
		return 0;
	if (recorder->started && !slot->on)
		pass(recorder, random_below(&recorder->seed, CALL_NS));
	recorder->is_attached = slot->on != 0;
	return 1;
}

int lode_recorder_set_long_wait_tracking(struct lode_recorder *recorder, int on)
{
	recorder->calls++;
	recorder->wants_long_waits = on;
	recorder->tracks_long_waits = recorder->tracks_long_waits && on;
	return recorder->tracks_long_waits;
}

void lode_recorder_set_stay_attached(struct lode_recorder *recorder, int on)
{
	recorder->calls++;
	recorder->stays_attached = on;
}

void lode_recorder_set_mmap_tracking(struct lode_recorder *recorder, int on)
{
	recorder->calls++;
	recorder->tracks_mmaps = on;
}

int lode_recorder_set_map_reads(struct lode_recorder *recorder, int on)
{
	recorder->calls++;
	return on;
}

int lode_recorder_set_sweep_pace(struct lode_recorder *recorder, const struct lode_sweeper_pace *pace)
{
	recorder->calls++;
	assert_true(pace->share > 0 && pace->beside > 0);
	return 1;
}

struct lode_sweeper_counts lode_recorder_sweep_counts(const struct lode_recorder *recorder)
{
	(void)recorder;
	return (struct lode_sweeper_counts){ .longest_gap = 7 * MS };
}

void lode_recorder_set_scale(struct lode_recorder *recorder, uint64_t scale, uint32_t call_weight)
{
	recorder->calls++;
	assert_true(scale > 0 && call_weight > 0);
	recorder->scale = scale;
}

void lode_recorder_set_frequency(struct lode_recorder *recorder, unsigned frequency)
{
	recorder->calls++;
	assert_true(frequency > 0 && frequency <= 97);
	recorder->frequency = frequency;
}

uint64_t lode_recorder_exec_count(const struct lode_recorder *recorder)
{
	(void)recorder;
	return 0;
}

void lode_recorder_counts(struct lode_recorder *recorder, struct lode_record_counts *counts)
{
	recorder->calls++;
	*counts = recorder->counts;
}

/* ---- recordings ---- */

static void start(struct lode_recorder *recorder, struct lode_budget_control *control, const struct load *load,
		  const struct lode_budget_control_options *options, uint64_t seed)
{
	*recorder = (struct lode_recorder){ .load = *load,
					    .seed = seed * 77 + 1,
					    .frequency = options->frequency_hz,
					    .cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) };
	*control = (struct lode_budget_control){ 0 };
	recorded = recorder;
	clock_ns = 1000000000 * (1 + seed);
	if (options->share > 0)
		lode_budget_control_begin(control, recorder, options);
	recorder->started = 1;
}

/* As record_session.c does it. */
static void run(struct lode_recorder *recorder, struct lode_budget_control *control, uint64_t seconds)
{
	uint64_t end = clock_ns + seconds * 1000000000;
	struct lode_error error;

	while (clock_ns < end) {
		uint64_t ends = control->slots.ends_at;
		int milliseconds = lode_budget_control_sleep(control, 200);

		/* It is not slept over the end of a slot, and soon looked whether programs are attached at last. */
		assert_in_range(milliseconds, 0, control->clock.is_pending ? 10 : 200);
		if (ends && !control->clock.is_pending)
			assert_true(clock_ns + (uint64_t)milliseconds * MS <
				    (ends > clock_ns ? ends : clock_ns) + MS);
		pass(recorder, (uint64_t)milliseconds * MS + random_below(&recorder->seed, MS));
		assert_int_equal(lode_budget_control_change_slot(control, recorder, &error), 0);
		pass(recorder, random_below(&recorder->seed, MS));
		lode_budget_control_steer(control, recorder, clock_ns);
	}
	lode_budget_control_end(control, recorder);
}

static void assert_near(uint64_t counted, uint64_t truth, uint64_t tolerance)
{
	assert_true(counted <= truth + tolerance && truth <= counted + tolerance);
}

static const struct load loads[] = {
	/* Needs slots, */
	{ .waits = 150000, .wait_ns = 30000, .wakeups = 5000, .mappings = 50 },
	/* cannot have long waits in them, and programs are not attached at once; */
	{ .waits = 150000, .wait_ns = 30000, .wakeups = 450000, .mappings = 45000, .refusals = 20 },
	/* here they can stay attached with 5 %. */
	{ .waits = 60000, .wait_ns = 30000, .wakeups = 5000, .mappings = 50, .refusals = 20 },
	/* Fits. */
	{ .waits = 500, .wait_ns = 1000000, .wakeups = 500, .mappings = 5 },
	/* Fits 5 %, but not with all of these long waits. */
	{ .waits = 20000, .wait_ns = 50000000, .wakeups = 500, .mappings = 5 },
};

static void what_is_counted_is_what_the_recorder_did(void **state)
{
	uint64_t with_slots = 0, with_delays = 0, thinned = 0, with_long_waits = 0, stays_attached = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 80; seed++) {
		struct lode_budget_control_options options = {
			.share = seed % 3 ? 0.01 : 0.05,
			.frequency_hz = 97,
		};
		struct lode_recorder recorder;
		struct lode_budget_control control;
		struct lode_budget_report report;
		uint64_t calls;

		start(&recorder, &control, &loads[seed % 5], &options, seed);
		run(&recorder, &control, 20);
		report = lode_budget_control_report(&control);
		calls = recorder.slot_changes * 2 * CALL_NS; /* what passes in calls may be on either side */
		assert_int_equal(control.budget.last.attached_ns, recorder.attached_ns);
		assert_int_equal(report.unseen_ns,
				 recorder.delay_ns +
					 (recorder.asked_at ? control.clock.attached_since - recorder.asked_at : 0));
		assert_int_equal(control.clock.attaches, recorder.attaches);
		assert_near(control.coverage.slots_ns, recorder.slots_ns, calls);
		assert_near(control.coverage.no_long_waits_ns, recorder.no_long_waits_ns, calls);
		assert_true(fabs(report.attached - (double)recorder.attached_ns / (double)report.duration) < 1e-9);
		assert_int_equal(report.waits, recorder.counts.waits);
		/* Long waits that are left to chance are counted by whole steps. */
		if (!recorder.slots_ns) {
			assert_near(control.coverage.thinned_ns, recorder.thinned_ns, 300 * MS);
			thinned += recorder.thinned_ns;
		}
		with_slots += recorder.slots_ns;
		with_delays += recorder.delay_ns;
		with_long_waits += recorder.slots_ns - recorder.no_long_waits_ns;
		stays_attached += recorder.counts.rests;
	}
	/* All of it has happened. */
	assert_true(with_slots > 100000 * MS && with_delays > 1000 * MS && with_long_waits > 1000 * MS &&
		    thinned > 1000 * MS && stays_attached > 0);
}

static void without_a_budget_the_recorder_is_left_alone(void **state)
{
	struct lode_budget_control_options options = { .share = 0, .frequency_hz = 97 };
	struct lode_recorder recorder;
	struct lode_budget_control control;

	(void)state;
	start(&recorder, &control, &loads[0], &options, 1);
	assert_int_equal(lode_budget_control_sleep(&control, 123), 123);
	run(&recorder, &control, 5);
	assert_int_equal(recorder.calls, 0);
	assert_true(lode_budget_control_report(&control).share == 0);
}

/* Every wait over 10 ms, or the length requested; unless there was a time in which only sweeps could find them. */
static void it_is_told_which_waits_are_certain(void **state)
{
	struct lode_budget_control_options options = { .share = 0.01, .frequency_hz = 97 };
	struct lode_budget_control control;
	struct lode_recorder recorder;

	(void)state;
	options.long_waits_ns = 20 * MS;
	start(&recorder, &control, &loads[3], &options, 1);
	run(&recorder, &control, 10);
	assert_int_equal(lode_budget_control_report(&control).certain_ns, 20 * MS);
	options.min_wait_ns = 30 * MS;
	start(&recorder, &control, &loads[3], &options, 1);
	run(&recorder, &control, 10);
	assert_int_equal(lode_budget_control_report(&control).certain_ns, 30 * MS);
	/* 900,000 wakeups a second take too much: twice the longest time between two sweeps. */
	options.long_waits_ns = options.min_wait_ns = 0;
	start(&recorder, &control, &loads[1], &options, 1);
	run(&recorder, &control, 20);
	assert_int_equal(lode_budget_control_report(&control).certain_ns, 14 * MS);
	assert_true(lode_budget_control_report(&control).certain_share < 0.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_counted_is_what_the_recorder_did),
		cmocka_unit_test(without_a_budget_the_recorder_is_left_alone),
		cmocka_unit_test(it_is_told_which_waits_are_certain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
