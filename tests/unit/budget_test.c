/*
 * The controller of a budget on a simulated machine: waits of given lengths come at given rates, are recorded with the
 * chances of thinning.h, and records, other switches and samples cost what they cost on a real one.
 */
#include "cmocka_all.h"

#include "record/budget/budget.h"
#include "record/budget/thinning.h"

#include <math.h>

#define CPUS          4
#define STEP          250000000u
#define FREQUENCY     ((unsigned)lode_budget_parameters.samples.default_hz)
#define MIN_FREQUENCY ((unsigned)lode_budget_parameters.samples.min_hz)
#define RECORD_NS                                                                                                 \
	4090 /* 2000 that the kernel's programs see, 300 that they take by using caches, 2000 in the process, less three runs that take no stacks */
#define RUN_NS    116 /* of which the program sees 70 */
#define CALL_NS   70
#define WAKING_NS (CALL_NS + 69)  /* of which it sees 60 */
#define MAP_NS    (CALL_NS + 230) /* of which it sees 200, */
#define REPORT_NS 1300            /* beside what the kernel takes to report it */
#define SAMPLE_NS 9450            /* of which it sees 3000 */

struct load {
	double rate; /* waits a second */
	uint64_t length;
};

struct machine {
	struct lode_budget budget;
	struct lode_budget_counters usage;
	double wakings; /* a second; 0: long waits cannot be looked for */
	double maps;    /* mappings of processes a second */
	double execs;   /* programs that start, a second */
	double unseen;  /* of the time, for which the kernel takes its time to attach programs */
	double taken;   /* share of the last step, by the machine's own account */
};

static void start(struct machine *machine, double share)
{
	*machine = (struct machine){ .maps = 100 };
	lode_budget_init(&machine->budget,
			 &(struct lode_budget_goal){ .share = share, .cpus = CPUS, .frequency_hz = FREQUENCY },
			 &machine->usage, NULL);
}

/* On average over all that chance does to the scale. */
static double chance(uint64_t square, uint64_t scale)
{
	double sum = 0;

	for (uint32_t random = 0; random < 128; random++)
		sum += 1.0 / lode_thin_weight(square, lode_thin_dither(scale, random));
	return sum / 128;
}

static double long_chance(uint64_t length, uint64_t scale)
{
	double sum = 0;

	for (uint32_t random = 0; random < 128; random++)
		sum += 1.0 / lode_thin_long_weight(length, lode_thin_dither(scale, random));
	return sum / 128;
}

static double loads_rate(const struct load *loads, size_t count)
{
	double rate = 0;

	for (size_t i = 0; i < count; i++)
		rate += loads[i].rate;
	return rate;
}

static void run_until_step(struct machine *machine, uint64_t length, const struct load *loads, size_t count)
{
	struct lode_budget_counters *usage = &machine->usage;
	double on = (double)machine->budget.decision.slots.chosen / machine->budget.decision.slots.all,
	       seconds = (double)length / 1e9, spent = 0;
	double samples = machine->budget.decision.frequency_hz * CPUS * seconds;

	for (size_t i = 0; i < count; i++) {
		double waits = loads[i].rate * seconds * on, recorded; /* that are seen, on average over slots */
		uint64_t square = 0;

		lode_thin_learn(&square, loads[i].length);
		recorded = loads[i].length >= LODE_THIN_LONG
				   ? waits * long_chance(loads[i].length, machine->budget.decision.scale_ns)
				   : waits * chance(square, machine->budget.decision.scale_ns);
		usage->waits += (uint64_t)waits;
		usage->recorded_waits += (uint64_t)recorded;
		usage->wait_ns += (uint64_t)(waits * (double)(loads[i].length < LODE_THIN_LONG ? loads[i].length
											       : LODE_THIN_LONG));
		usage->runs += (uint64_t)(3 * waits);
		usage->stack_runs += (uint64_t)(3 * recorded);
		usage->plain_run_ns += (uint64_t)(3 * (waits - recorded) * 70);
		usage->stack_run_ns += (uint64_t)(recorded * 2000);
		usage->process_ns += (uint64_t)(recorded * 2000);
		spent += recorded * RECORD_NS + 3 * waits * RUN_NS;
	}
	if (machine->budget.decision.tracks_long_waits) {
		uint64_t runs = (uint64_t)(machine->wakings * seconds);

		usage->wakeup_runs += runs;
		usage->wakeup_run_ns += runs * 60;
		spent += (double)runs * WAKING_NS;
	}
	if (machine->budget.decision.stays_attached) {
		uint64_t runs = (uint64_t)((1 - on) * loads_rate(loads, count) * 3 * 0.55 * seconds);

		usage->idle_runs += runs;
		spent += (double)runs * CALL_NS;
	} else if (machine->budget.decision.slots.chosen < LODE_SLOTS_ALL) {
		usage->attach_delay_ns += (uint64_t)(machine->unseen * (double)length);
	}
	usage->mmap_runs += 3; /* of a moment, before it is detached */
	if (machine->budget.decision.tracks_mmaps) {
		usage->mmap_runs += (uint64_t)(machine->maps * seconds);
		usage->mmap_run_ns += (uint64_t)(machine->maps * seconds * 200);
		spent += machine->maps * seconds * MAP_NS;
	}
	usage->execs += (uint64_t)(machine->execs * seconds);
	spent += machine->budget.decision.reads_maps ? 0 : machine->maps * seconds * REPORT_NS;
	usage->samples += (uint64_t)samples;
	usage->sample_run_ns += (uint64_t)samples * 3000;
	spent += samples * SAMPLE_NS;
	usage->time_ns += length;
	usage->attached_ns += (uint64_t)((double)length * on);
	usage->planned_attached_ns += (uint64_t)((double)length * on);
	machine->taken = spent / (double)length / CPUS;
	lode_budget_step(&machine->budget, usage);
}

static void run_step(struct machine *machine, const struct load *loads, size_t count)
{
	run_until_step(machine, STEP, loads, count);
}

static void run_for(struct machine *machine, double seconds, const struct load *loads, size_t count)
{
	for (double t = 0; t < seconds; t += STEP / 1e9)
		run_step(machine, loads, count);
}

static const double shares[] = { 0.005, 0.01, 0.02, 0.05 };

static void a_load_is_held_at_its_budget_after_three_seconds(void **state)
{
	static const struct load loads[] = { { 20000, 30000 }, { 5000, 200000 }, { 500, 3000000 }, { 20, 50000000 } };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct machine machine;

		start(&machine, shares[i]);
		run_for(&machine, 3, loads, 4);
		for (int step = 0; step < 40; step++) {
			run_step(&machine, loads, 4);
			assert_true(machine.taken <= shares[i] * 1.1);
			/* and it is used, where there is something to use it for: all of it would take 2.6 % */
			assert_true(shares[i] > 0.02 || machine.taken >= shares[i] * 0.75);
		}
		assert_true(fabs(machine.budget.estimates.total - machine.taken) <= machine.taken / 10);
	}
}

static void all_is_recorded_where_the_budget_has_room(void **state)
{
	static const struct load loads[] = { { 500, 30000 }, { 100, 2000000 } };
	struct machine machine;
	uint64_t before;

	(void)state;
	start(&machine, 0.01);
	run_for(&machine, 5, loads, 2);
	before = machine.usage.recorded_waits;
	run_step(&machine, loads, 2);
	assert_int_equal(machine.usage.recorded_waits - before, 150);
	assert_int_equal(machine.budget.decision.frequency_hz, FREQUENCY);
	assert_int_equal(machine.budget.decision.call_weight, 1);
}

static void a_load_that_changes_tenfold_is_followed_within_two_seconds(void **state)
{
	static const struct load quiet[] = { { 3000, 50000 }, { 300, 1000000 } },
				 busy[] = { { 30000, 50000 }, { 3000, 1000000 } };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct machine machine;

		start(&machine, shares[i]);
		run_for(&machine, 5, quiet, 2);
		run_for(&machine, 2, busy, 2);
		run_step(&machine, busy, 2);
		assert_true(machine.taken <= shares[i] * 1.1);
		run_for(&machine, 5, quiet, 2);
		assert_true(machine.taken <= shares[i] * 1.1);
	}
}

static void what_cannot_be_helped_leaves_few_records_and_samples(void **state)
{
	static const struct load loads[] = { { 10000000, 3000 } };
	struct machine machine;

	(void)state;
	start(&machine, 0.01);
	run_for(&machine, 5, loads, 1);
	assert_true(machine.budget.estimates.fixed > 0.01);
	assert_int_equal(machine.budget.decision.slots.chosen, LODE_SLOTS_MIN_CHOSEN);
	assert_int_equal(machine.budget.decision.slots.all, LODE_SLOTS_MAX);
	assert_true(machine.budget.estimates.total <
		    machine.budget.estimates.fixed + 0.01 / 5); /* records get a tenth, samples a little */
	assert_int_equal(machine.budget.decision.frequency_hz, MIN_FREQUENCY);
	run_for(&machine, 5, NULL, 0);
	assert_int_equal(machine.budget.decision.frequency_hz, FREQUENCY);
}

static void a_server_with_very_many_switches_is_held_by_slots(void **state)
{
	static const struct load loads[] = { { 250000, 30000 },
					     { 40000, 200000 },
					     { 500, 3000000 },
					     { 20, 50000000 } };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct machine machine;

		start(&machine, shares[i]);
		run_for(&machine, 3, loads, 4);
		for (int step = 0; step < 40; step++) {
			run_step(&machine, loads, 4);
			assert_true(machine.taken <= shares[i] * 1.1);
			assert_true(machine.taken >= shares[i] * 0.6);
		}
		assert_true(shares[i] > 0.03 || machine.budget.decision.slots.chosen < LODE_SLOTS_ALL);
		assert_true(fabs(machine.budget.estimates.total - machine.taken) <= machine.taken / 10);
		/* Samples are not what is cut. */
		assert_true(shares[i] < 0.01 || machine.budget.decision.frequency_hz == FREQUENCY);
		run_for(&machine, 3, loads + 2, 2);
		assert_int_equal(machine.budget.decision.slots.chosen, LODE_SLOTS_ALL);
	}
}

/* Steps are short at first: until the first one all switches are seen; and what the process does at the start is not held against samples. */
static void the_first_second_takes_at_most_four_times_the_budget(void **state)
{
	static const struct load loads[] = { { 600000, 30000 }, { 500, 3000000 } };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct machine machine;
		double taken = 0;

		start(&machine, shares[i]);
		while (machine.usage.time_ns < 1000000000) {
			uint64_t length = lode_budget_due(&machine.budget) - machine.usage.time_ns;

			assert_true(length >= 25000000 && length <= STEP);
			machine.usage.process_ns += machine.usage.time_ns < 500000000 ? length / 10
										      : 0; /* tables are made */
			run_until_step(&machine, length, loads, 2);
			taken += machine.taken * (double)length / 1e9;
			assert_true(machine.usage.time_ns >= 1000000000 ||
				    machine.budget.decision.frequency_hz == FREQUENCY);
		}
		assert_true(taken <= 0.0025 + 4 * shares[i]); /* with all seen it would be over 5 % */
		run_for(&machine, 2, loads, 2);
		assert_true(machine.taken <= 1.1 * shares[i]);
		assert_true(lode_budget_due(&machine.budget) == machine.usage.time_ns + STEP);
	}
}

static void without_a_budget_no_step_is_due(void **state)
{
	struct machine machine;

	(void)state;
	start(&machine, 0);
	assert_true(lode_budget_due(&machine.budget) == UINT64_MAX);
}

/* Processes that start now and then, whose tables are made whatever the budget is. */
static void bursts_are_saved_again_afterwards(void **state)
{
	static const struct load loads[] = { { 20000, 30000 }, { 5000, 200000 }, { 500, 3000000 } };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct machine machine;
		double taken = 0;

		start(&machine, shares[i]);
		run_for(&machine, 3, loads, 3);
		for (int step = 0; step < 400; step++) {
			double burst = step % 8 ? 0 : 3 * shares[i];

			machine.usage.process_ns += (uint64_t)(burst * STEP * CPUS);
			run_step(&machine, loads, 3);
			taken += machine.taken + burst;
		}
		taken /= 400;
		assert_true(taken <= 1.05 * shares[i] && taken >= 0.8 * shares[i]);
	}
}

static void what_must_see_every_switch_stays_attached(void **state)
{
	static const struct load loads[] = { { 300000, 30000 } };
	struct machine machine;

	(void)state;
	start(&machine, 0.01);
	machine.budget.goal.needs_every_switch = 1;
	for (int step = 0; step < 40; step++) {
		run_step(&machine, loads, 1);
		assert_int_equal(machine.budget.decision.slots.chosen, LODE_SLOTS_ALL);
	}
	assert_true(machine.budget.estimates.fixed > 0.01);
}

/* An overloaded machine: thousands of threads wait for a processor, longer than what is always recorded otherwise. */
static void long_waits_are_thinned_where_there_are_too_many(void **state)
{
	static const struct load loads[] = { { 20000, 30000 }, { 8000, 12000000 }, { 20, 5000000000 } };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct machine machine;

		start(&machine, shares[i]);
		run_for(&machine, 3, loads, 3);
		for (int second = 0; second < 10; second++) {
			double taken = 0;

			for (int step = 0; step < 4; step++) {
				run_step(&machine, loads, 3);
				taken += machine.taken / 4;
			}
			assert_true(taken <= shares[i] * 1.1);
		}
	}
}

/* Where context switches are not seen at all times, and as long as that takes no more than `most` of the budget. */
static void try_long_waits(int are_first, double most)
{
	static const struct load busy[] = { { 250000, 30000 }, { 500, 3000000 } }, quiet[] = { { 500, 3000000 } };
	struct machine machine;

	for (size_t i = 0; i < 4; i++) {
		/* At 139 ns each: somewhat less than that, and somewhat more. */
		double fits = (most - 0.05) * shares[i] * CPUS / 139e-9,
		       too_many = (most + 0.05) * shares[i] * CPUS / 139e-9;
		unsigned steps = 0;

		start(&machine, shares[i]);
		machine.budget.goal.puts_long_waits_first = are_first;
		machine.wakings = fits;
		run_for(&machine, 3, busy, 2);
		for (int step = 0; step < 40; step++) {
			run_step(&machine, busy, 2);
			assert_true(machine.taken <= shares[i] * 1.1);
			assert_int_equal(machine.budget.decision.tracks_long_waits,
					 machine.budget.decision.slots.chosen < LODE_SLOTS_ALL);
		}
		if (!machine.budget.decision.tracks_long_waits)
			continue; /* all are seen anyway */
		machine.wakings = too_many;
		run_for(&machine, 3, busy, 2);
		assert_false(machine.budget.decision.tracks_long_waits);
		/* It is tried again, but rarely. */
		for (int step = 0; step < 400; step++) {
			run_step(&machine, busy, 2);
			steps += (unsigned)machine.budget.decision.tracks_long_waits;
		}
		assert_true(steps > 0 && steps < 40);
		machine.wakings = fits;
		run_for(&machine, 200, busy, 2);
		assert_true(machine.budget.decision.tracks_long_waits);
		run_for(&machine, 6, quiet, 1);
		assert_int_equal(machine.budget.decision.slots.chosen, LODE_SLOTS_ALL);
		assert_false(machine.budget.decision.tracks_long_waits);
	}
}

static void long_waits_are_certain_where_the_budget_has_room(void **state)
{
	(void)state;
	try_long_waits(0, 0.35);
}

/* Where symptoms are looked for that are long themselves, a wait of theirs explains more than many short ones. */
static void long_waits_may_take_most_of_the_budget(void **state)
{
	(void)state;
	try_long_waits(1, 0.75);
}

/* Where it did not fit and there is less to look at now, that is not left to the next try, which comes after minutes. */
static void long_waits_are_certain_soon_after_the_load_shrinks(void **state)
{
	static const struct load busy[] = { { 250000, 30000 }, { 500, 3000000 } },
				 less[] = { { 120000, 30000 }, { 250, 3000000 } };
	struct machine machine;
	unsigned steps = 0;

	(void)state;
	start(&machine, 0.01);
	machine.wakings = 0.5 * 0.01 * CPUS / 139e-9;
	run_for(&machine, 5, busy, 2);
	for (int step = 0; step < 200; step++) {
		run_step(&machine, busy, 2);
		steps += (unsigned)machine.budget.decision.tracks_long_waits;
	}
	assert_int_equal(steps, 0);
	machine.wakings /= 2;
	run_for(&machine, 3, less, 2);
	assert_true(machine.budget.decision.slots.chosen < LODE_SLOTS_ALL &&
		    machine.budget.decision.tracks_long_waits);
	run_for(&machine, 5, less, 2);
	assert_true(machine.budget.decision.tracks_long_waits);
}

/* On request they are, whatever it takes: then what is left goes to the rest. */
static void long_waits_are_certain_on_request(void **state)
{
	static const struct load busy[] = { { 250000, 30000 }, { 500, 3000000 } };
	struct machine machine;

	(void)state;
	for (int times = 1; times <= 4; times++) { /* half of the budget to twice of it */
		start(&machine, 0.01);
		machine.budget.goal.needs_every_long_wait = 1;
		machine.wakings = times * 0.5 * 0.01 * CPUS / 139e-9;
		for (int step = 0; step < 200; step++) {
			run_step(&machine, busy, 2);
			assert_true(machine.budget.decision.tracks_long_waits);
		}
		assert_true(machine.taken <= 0.01 * (times < 2 ? 1.1 : 0.5 * times + 0.35));
	}
}

/* Only where attaching them takes long, and it takes no more than a quarter of the budget. */
static void programs_stay_attached_where_the_kernel_takes_its_time(void **state)
{
	static const struct load loads[] = { { 400000, 30000 }, { 500, 3000000 } };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct machine machine;

		start(&machine, shares[i]);
		run_for(&machine, 5, loads, 2);
		assert_false(machine.budget.decision.stays_attached);
		machine.unseen = 0.1;
		run_for(&machine, 4, loads, 2);
		/* It would take 1.2 %. */
		assert_int_equal(machine.budget.decision.stays_attached,
				 shares[i] > 0.03 && machine.budget.decision.slots.chosen < LODE_SLOTS_ALL);
		for (int step = 0; step < 40; step++) {
			run_step(&machine, loads, 2);
			assert_true(machine.taken <= shares[i] * 1.1);
			assert_true(fabs(machine.budget.estimates.total - machine.taken) <= machine.taken / 10);
		}
	}
}

static void what_stays_attached_and_takes_too_much_is_detached(void **state)
{
	static const struct load loads[] = { { 400000, 30000 }, { 500, 3000000 } };
	struct machine machine;
	unsigned steps = 0;

	(void)state;
	start(&machine, 0.05);
	machine.unseen = 0.1;
	run_for(&machine, 6, loads, 2);
	assert_true(machine.budget.decision.stays_attached);
	for (int step = 0; step < 200; step++) {
		machine.usage.idle_runs +=
			machine.budget.decision.stays_attached ? 2000000 : 0; /* calls of the system, say */
		run_step(&machine, loads, 2);
		steps += (unsigned)machine.budget.decision.stays_attached;
	}
	assert_true(steps < 20);
}

/* New programs map as much as a server that sends files: what cannot be spared is counted where it is not seen any more. */
static void mappings_are_followed_where_the_budget_has_room(void **state)
{
	static const struct load loads[] = { { 20000, 30000 }, { 500, 3000000 } };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct lode_budget_parts parts;
		struct machine machine;
		unsigned steps = 0;

		start(&machine, shares[i]);
		machine.maps = 0.05 * shares[i] * CPUS / (MAP_NS * 1e-9);
		run_for(&machine, 20, loads, 2);
		assert_true(machine.budget.decision.tracks_mmaps);
		machine.maps *= 4;
		machine.execs = machine.maps / 25;
		run_for(&machine, 8, loads, 2);
		assert_false(machine.budget.decision.tracks_mmaps);
		for (int step = 0; step < 400; step++) {
			run_step(&machine, loads, 2);
			steps += (unsigned)machine.budget.decision.tracks_mmaps;
			assert_false(machine.budget.decision.reads_maps);
			assert_true(fabs(machine.budget.estimates.total - machine.taken) <= machine.taken / 10);
		}
		assert_true(steps > 0 && steps < 40);
		lode_budget_account_settled(&machine.budget.account, &parts);
		assert_true(parts.mmaps * CPUS * 1e9 > 0.6 * machine.maps * REPORT_NS);
		machine.maps /= 4;
		run_for(&machine, 70, loads, 2);
		assert_true(machine.budget.decision.tracks_mmaps);
	}
}

/* A server that maps a file for each request: even the kernel's reports of it are spared. */
static void mappings_are_read_where_reports_take_too_much(void **state)
{
	static const struct load loads[] = { { 20000, 30000 }, { 500, 3000000 } };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct machine machine;
		unsigned changes = 0;

		start(&machine, shares[i]);
		machine.maps = 0.5 * shares[i] * CPUS / (MAP_NS * 1e-9);
		machine.execs = machine.maps / 1000;
		run_for(&machine, 4, loads, 2);
		assert_true(machine.budget.decision.reads_maps);
		for (int step = 0; step < 400; step++) {
			int reads = machine.budget.decision.reads_maps;

			run_step(&machine, loads, 2);
			changes += machine.budget.decision.reads_maps != reads;
			assert_true(fabs(machine.budget.estimates.total - machine.taken) <= machine.taken / 10);
		}
		assert_int_equal(changes, 0);
		/* Now new programs do it. */
		machine.execs = machine.maps / 25;
		run_for(&machine, 8, loads, 2);
		assert_false(machine.budget.decision.reads_maps);
		machine.execs = machine.maps = 0;
		run_for(&machine, 70, loads, 2);
		assert_true(machine.budget.decision.tracks_mmaps && !machine.budget.decision.reads_maps);
	}
}

/* The cost `kind` between two readings. */
static double cost(const struct lode_cost_model *model, enum lode_cost kind,
		   const struct lode_budget_counters *now, const struct lode_budget_counters *before)
{
	return lode_cost_model_costs(model, now, before).ns[kind];
}

/* Runs that take stacks are measured apart from the others: what these take shows how cold caches are, however few they are. */
static void what_is_recorded_does_not_make_caches_seem_warm(void **state)
{
	const struct lode_budget_counters zero = { 0 };
	struct lode_budget_counters first = { .time_ns = 1000000000, .runs = 100000, .plain_run_ns = 16000000 },
				    second = first;
	struct lode_cost_model model;
	double switches;

	(void)state;
	lode_cost_model_init(&model, &lode_budget_parameters.cost, CPUS);
	lode_cost_model_learn(&model, &first, &zero);
	assert_true(fabs(model.coldest_run_ns - 160) < 1);
	switches = cost(&model, LODE_COST_SWITCHES, &first, &zero);
	assert_true(cost(&model, LODE_COST_STACKS, &first, &zero) <= 0);
	second.time_ns += 1000000000;
	second.runs += 100000;
	second.stack_runs += 90000;
	second.stack_run_ns += 90000 * 1000;
	second.plain_run_ns += 10000 * 160;
	lode_cost_model_learn(&model, &second, &first);
	assert_true(fabs(model.coldest_run_ns - 160) < 1);
	/* Being called takes the same. */
	assert_true(fabs(cost(&model, LODE_COST_SWITCHES, &second, &first) - switches) < switches / 100);
	assert_true(cost(&model, LODE_COST_STACKS, &second, &first) > 90000 * (1000 - 160));
}

/* The thread that makes sweeps runs for less than they take, and caches that are cold make the difference larger. */
static void sweeps_take_more_than_their_thread_runs(void **state)
{
	const struct lode_budget_counters zero = { 0 }, none = { .time_ns = 1000000000 },
					  some = { .time_ns = 1000000000, .process_ns = 4000000, .sweeps = 100 };
	struct lode_cost_model warm, cold;
	double least;

	(void)state;
	lode_cost_model_init(&warm, &lode_budget_parameters.cost, CPUS);
	cold = warm;
	warm.coldest_run_ns = 1;
	cold.coldest_run_ns = 300;
	least = cost(&warm, LODE_COST_PROCESS, &some, &zero) - cost(&warm, LODE_COST_PROCESS, &none, &zero);
	assert_true(fabs(least - (4000000 + 100 * lode_cost_model_beside_sweep(&warm))) < 1);
	assert_true(lode_cost_model_beside_sweep(&warm) > 10000);
	assert_true(lode_cost_model_beside_sweep(&cold) > 1.5 * lode_cost_model_beside_sweep(&warm));
}

/* The choice is for a second, and a slot is a hundredth of it. */
static void a_pause_in_a_slot_does_not_change_the_next_second(void **state)
{
	static const struct load loads[] = { { 250000, 30000 }, { 500, 3000000 } };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct machine machine;
		unsigned slots;

		start(&machine, shares[i]);
		run_for(&machine, 5, loads, 2);
		slots = machine.budget.decision.slots.chosen;
		assert_true(slots < LODE_SLOTS_ALL / 2);
		machine.usage.time_ns += STEP;
		machine.usage.attached_ns += 16000000;
		lode_budget_step(&machine.budget, &machine.usage);
		assert_true(machine.budget.decision.slots.chosen >= slots &&
			    machine.budget.decision.slots.chosen <= 2 * slots);
		/* One that lasts is followed within two seconds. */
		run_for(&machine, 2, loads + 1, 1);
		assert_int_equal(machine.budget.decision.slots.chosen, LODE_SLOTS_ALL);
	}
}

static void what_was_taken_after_the_start_is_told_by_its_parts(void **state)
{
	static const struct load loads[] = { { 250000, 30000 }, { 500, 3000000 } };
	struct lode_budget_parts parts;
	struct machine machine;
	double taken = 0;

	(void)state;
	start(&machine, 0.01);
	run_for(&machine, 3, loads, 2);
	assert_true(lode_budget_account_settled(&machine.budget.account, &parts) == 0);
	for (int step = 0; step < 40; step++) {
		run_step(&machine, loads, 2);
		taken += machine.taken / 40;
	}
	assert_true(fabs(lode_budget_account_settled(&machine.budget.account, &parts) - taken) <= taken / 20);
	assert_true(fabs(parts.samples + parts.process + parts.saving + parts.switches + parts.stacks +
			 parts.long_waits + parts.mmaps -
			 lode_budget_account_settled(&machine.budget.account, &parts)) <= 1e-9);
	assert_true(parts.samples > 0 && parts.process > 0 && parts.switches > 0 && parts.stacks > 0 &&
		    parts.mmaps > 0);
}

static void shares_are_read_with_their_percent(void **state)
{
	static const char *const wrong[] = { "",    "1",  "%",    "0%",   "-1%", "101%", "1 %",
					     "1%%", "x%", "nan%", "1e1%", ".%",  "+1%" };
	double share;

	(void)state;
	assert_int_equal(lode_budget_parse("1%", &share), 0);
	assert_true(share == 0.01);
	assert_int_equal(lode_budget_parse("0.5%", &share), 0);
	assert_true(share == 0.005);
	assert_int_equal(lode_budget_parse("100%", &share), 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(lode_budget_parse(wrong[i], &share), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_load_is_held_at_its_budget_after_three_seconds),
		cmocka_unit_test(all_is_recorded_where_the_budget_has_room),
		cmocka_unit_test(a_load_that_changes_tenfold_is_followed_within_two_seconds),
		cmocka_unit_test(what_cannot_be_helped_leaves_few_records_and_samples),
		cmocka_unit_test(a_server_with_very_many_switches_is_held_by_slots),
		cmocka_unit_test(the_first_second_takes_at_most_four_times_the_budget),
		cmocka_unit_test(without_a_budget_no_step_is_due),
		cmocka_unit_test(bursts_are_saved_again_afterwards),
		cmocka_unit_test(what_must_see_every_switch_stays_attached),
		cmocka_unit_test(long_waits_are_thinned_where_there_are_too_many),
		cmocka_unit_test(long_waits_are_certain_where_the_budget_has_room),
		cmocka_unit_test(long_waits_may_take_most_of_the_budget),
		cmocka_unit_test(long_waits_are_certain_soon_after_the_load_shrinks),
		cmocka_unit_test(long_waits_are_certain_on_request),
		cmocka_unit_test(programs_stay_attached_where_the_kernel_takes_its_time),
		cmocka_unit_test(what_stays_attached_and_takes_too_much_is_detached),
		cmocka_unit_test(mappings_are_followed_where_the_budget_has_room),
		cmocka_unit_test(mappings_are_read_where_reports_take_too_much),
		cmocka_unit_test(what_is_recorded_does_not_make_caches_seem_warm),
		cmocka_unit_test(sweeps_take_more_than_their_thread_runs),
		cmocka_unit_test(a_pause_in_a_slot_does_not_change_the_next_second),
		cmocka_unit_test(what_was_taken_after_the_start_is_told_by_its_parts),
		cmocka_unit_test(shares_are_read_with_their_percent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
