/*
 * Every decision of the budget's controller in thousands of random recordings, as one number.
 *
 * Renaming, moving or simplifying code must not change this number; a change of a rule or of a parameter does, and whoever
 * makes one replaces the number below by the one that the test prints. With LODE_BUDGET_DECISIONS=FILE in the environment,
 * all decisions are written to FILE as text, so that those of two builds can be compared line by line.
 *
 * Loads are random and change at random, counters follow from what was decided, and now and then a counter jumps or goes
 * backwards, or no time passes. The simulation uses whole numbers only; the controller adds, multiplies and divides doubles
 * without contraction (-ffp-contract=off), so the number is the same on every machine.
 */
#include "cmocka_all.h"
#include "random_stream.h"

#include "record/budget/budget.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sanitizers are slow: with them, only the first recordings are made. */
#define FIRST_RECORDINGS 400
#define RECORDINGS       3000
#define EXPECTED_FIRST   0x6a467ff21f1a121bull
#define HASH_START       0xcbf29ce484222325ull /* of FNV-1a */
#define EXPECTED         0xad59a45c435eefbfull

/* Per second and for all processors, unless it says otherwise. */
struct load {
	uint64_t waits;
	uint64_t wait_ns;       /* length of each */
	uint64_t runs_per_wait; /* of programs */
	uint64_t run_ns;        /* of a program that records nothing, as it measures itself */
	uint64_t record_ns;     /* in the kernel, and as much in the recorder's process */
	uint64_t wakeups;
	uint64_t wakeup_ns;
	uint64_t mappings;
	uint64_t execs;
	uint64_t calls;
	uint64_t sweeps;
	uint64_t process_permille; /* of one processor, beside records */
	uint64_t saving_permille;
	uint64_t late_ms;   /* slots end so much too late, at most */
	uint64_t attach_ms; /* and the kernel takes so long to attach programs, at most */
};

struct simulation {
	const struct lode_budget_parameters *parameters; /* NULL: those of Lode */
	struct lode_budget budget;
	struct lode_budget_counters counters;
	struct lode_slots slots;
	struct load load;
	uint64_t seed;
	uint64_t attaches_at; /* 0: programs are attached, or the slot is off */
	uint64_t ends_at;     /* the slot, with how late that is; UINT64_MAX: never */
	uint64_t rest;        /* of divisions, so that rare events happen */
	int reads_maps;       /* the machine lets mappings be read */
	uint64_t hash;
	uint64_t steps;
	FILE *dump;
};

/* ---- random loads ---- */

/* Small and large numbers alike: each power of two below 2^bits is as likely. */
static uint64_t any_magnitude(uint64_t *seed, unsigned bits)
{
	uint64_t top = 1ull << random_below(seed, bits);

	return top + random_below(seed, top);
}

static int one_in(uint64_t *seed, uint64_t count)
{
	return random_below(seed, count) == 0;
}

/* A statement each: compilers may evaluate arguments and initializers in any order. */
static struct load random_load(uint64_t *seed)
{
	struct load load;

	load.waits = any_magnitude(seed, 20);
	load.wait_ns = any_magnitude(seed, 26);
	load.runs_per_wait = 1 + random_below(seed, 4);
	load.run_ns = one_in(seed, 2) ? 40 + random_below(seed, 60) : 40 + random_below(seed, 300);
	load.record_ns = 500 + random_below(seed, 5000);
	load.wakeups = any_magnitude(seed, 20);
	load.wakeup_ns = 30 + random_below(seed, 200);
	load.mappings = any_magnitude(seed, 18);
	load.execs = one_in(seed, 2) ? 0 : any_magnitude(seed, 12);
	load.calls = one_in(seed, 2) ? 0 : any_magnitude(seed, 10);
	load.sweeps = one_in(seed, 2) ? 0 : any_magnitude(seed, 8);
	load.process_permille = one_in(seed, 4) ? random_below(seed, 300) : random_below(seed, 10);
	load.saving_permille = one_in(seed, 8) ? random_below(seed, 100) : 0;
	load.late_ms = one_in(seed, 4) ? random_below(seed, 60) : random_below(seed, 4);
	load.attach_ms = one_in(seed, 2) ? random_below(seed, 10) : random_below(seed, 400);
	return load;
}

/* ---- what happens ---- */

/* How many of `rate` a second come in `ns`. */
static uint64_t count_in(struct simulation *simulation, uint64_t rate, uint64_t ns)
{
	uint64_t all = rate * (ns / 1000) + simulation->rest;

	simulation->rest = all % 1000000;
	return all / 1000000;
}

/* What programs see of context switches while they are attached. */
static void see_switches(struct simulation *simulation, uint64_t ns)
{
	const struct load *load = &simulation->load;
	struct lode_budget_counters *counters = &simulation->counters;
	uint64_t waits = count_in(simulation, load->waits, ns), scale = simulation->budget.decision.scale_ns;
	uint64_t recorded = load->wait_ns >= scale ? waits : waits * load->wait_ns / scale;
	uint64_t calls = count_in(simulation, load->calls, ns) / simulation->budget.decision.call_weight;

	counters->waits += waits;
	counters->recorded_waits += recorded;
	counters->wait_ns += waits * (load->wait_ns < 10000000 ? load->wait_ns : 10000000);
	counters->recorded_calls += calls;
	counters->runs += waits * load->runs_per_wait;
	counters->stack_runs += recorded * load->runs_per_wait;
	counters->stack_run_ns += recorded * load->record_ns;
	counters->plain_run_ns += (waits - recorded) * load->runs_per_wait * load->run_ns;
	counters->process_ns += (recorded + calls) * load->record_ns;
	counters->attached_ns += ns;
}

/* What goes on whether they are attached or not. */
static void go_on(struct simulation *simulation, uint64_t ns)
{
	const struct load *load = &simulation->load;
	struct lode_budget_counters *counters = &simulation->counters;
	uint64_t samples =
		count_in(simulation,
			 (uint64_t)simulation->budget.decision.frequency_hz * simulation->budget.goal.cpus, ns);
	uint64_t mappings = count_in(simulation, load->mappings, ns),
		 wakeups = count_in(simulation, load->wakeups, ns);

	counters->samples += samples;
	counters->sample_run_ns += samples * 3000;
	counters->execs += count_in(simulation, load->execs, ns);
	counters->sweeps += count_in(simulation, load->sweeps, ns);
	counters->process_ns += ns / 1000 * load->process_permille;
	counters->saving_ns += ns / 1000 * load->saving_permille;
	if (simulation->budget.decision.tracks_mmaps) {
		counters->mmap_runs += mappings;
		counters->mmap_run_ns += mappings * 200;
	}
	if (simulation->budget.decision.tracks_long_waits) {
		counters->wakeup_runs += wakeups;
		counters->wakeup_run_ns += wakeups * load->wakeup_ns;
		counters->long_wait_ns += wakeups / 1000 * load->record_ns;
	}
	if (simulation->budget.decision.stays_attached && !simulation->slots.now.on)
		counters->idle_runs += count_in(simulation, load->waits * load->runs_per_wait / 2, ns);
	counters->time_ns += ns;
}

static uint64_t at_most(struct simulation *simulation, uint64_t milliseconds)
{
	return random_below(&simulation->seed, milliseconds + 1) * 1000000;
}

static void pass(struct simulation *simulation, uint64_t ns)
{
	if (simulation->slots.now.on && !simulation->attaches_at)
		see_switches(simulation, ns);
	if (!simulation->attaches_at)
		simulation->counters.planned_attached_ns +=
			(uint64_t)(lode_slots_fraction(&simulation->slots) * (double)ns);
	go_on(simulation, ns);
}

/* ---- slots ---- */

static void add_to_hash(struct simulation *simulation, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		simulation->hash = (simulation->hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3ull;
}

static void plan_end(struct simulation *simulation)
{
	simulation->ends_at = simulation->slots.ends_at
				      ? simulation->slots.ends_at + at_most(simulation, simulation->load.late_ms)
				      : UINT64_MAX;
}

static void change_slot(struct simulation *simulation)
{
	const struct lode_slot *now = &simulation->slots.now;
	uint64_t t = simulation->counters.time_ns;

	if (simulation->attaches_at) {
		simulation->counters.attach_delay_ns += t - now->began;
		lode_slots_begin_late(&simulation->slots, t);
		simulation->attaches_at = 0;
	} else if (lode_slots_advance(&simulation->slots, simulation->budget.decision.slots, t)) {
		uint64_t slot[] = { now->began, now->on, now->factor, now->all, now->is_odd };

		add_to_hash(simulation, slot, sizeof(slot));
		if (now->on && !simulation->budget.decision.stays_attached) {
			simulation->counters.attaches++;
			simulation->attaches_at = one_in(&simulation->seed, 2)
							  ? t + at_most(simulation, simulation->load.attach_ms)
							  : 0;
		}
	}
	plan_end(simulation);
}

/* ---- steps ---- */

/* What no load does. */
static void disturb(struct simulation *simulation)
{
	struct lode_budget_counters *counters = &simulation->counters;
	uint64_t *jumping[] = { &counters->process_ns,      &counters->stack_run_ns, &counters->runs,
				&counters->plain_run_ns,    &counters->samples,      &counters->waits,
				&counters->attach_delay_ns, &counters->execs };
	uint64_t *counter = jumping[random_below(&simulation->seed, sizeof(jumping) / sizeof(*jumping))];
	uint64_t by = any_magnitude(&simulation->seed, 28);

	if (one_in(&simulation->seed, 3))
		*counter -= *counter < by ? *counter : by;
	else
		*counter += by;
	if (one_in(&simulation->seed, 4))
		lode_budget_step(&simulation->budget, counters); /* and the next one has no time to it */
}

static void keep_decision(struct simulation *simulation)
{
	const struct lode_budget *budget = &simulation->budget;
	uint64_t numbers[] = {
		simulation->counters.time_ns,
		budget->decision.scale_ns,
		budget->decision.call_weight,
		budget->decision.frequency_hz,
		budget->decision.slots.chosen,
		budget->decision.slots.all,
		(uint64_t)budget->decision.tracks_long_waits,
		(uint64_t)budget->decision.stays_attached,
		(uint64_t)budget->decision.tracks_mmaps,
		(uint64_t)budget->decision.reads_maps,
		(uint64_t)budget->decision.ends_cycle,
	};
	double shares[] = { budget->estimates.total, budget->estimates.expected, budget->estimates.fixed };

	add_to_hash(simulation, numbers, sizeof(numbers));
	add_to_hash(simulation, shares, sizeof(shares));
	simulation->steps++;
	if (!simulation->dump)
		return;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		fprintf(simulation->dump, "%llu ", (unsigned long long)numbers[i]);
	fprintf(simulation->dump, "%a %a %a\n", shares[0], shares[1], shares[2]);
}

static void step(struct simulation *simulation)
{
	if (one_in(&simulation->seed, 60))
		simulation->load = random_load(&simulation->seed);
	if (one_in(&simulation->seed, 200))
		disturb(simulation);
	lode_budget_step(&simulation->budget, &simulation->counters);
	simulation->budget.decision.reads_maps = simulation->budget.decision.reads_maps && simulation->reads_maps;
	keep_decision(simulation);
	if (!simulation->budget.decision.ends_cycle)
		return;
	lode_slots_end_cycle(&simulation->slots, simulation->counters.time_ns);
	plan_end(simulation);
}

/* What it says at the end. */
static void keep_account(struct simulation *simulation)
{
	const struct lode_budget *budget = &simulation->budget;
	struct lode_budget_parts parts;
	double settled = lode_budget_account_settled(&budget->account, &parts);
	double shares[] = { lode_budget_account_total(&budget->account),
			    settled,
			    parts.samples,
			    parts.process,
			    parts.saving,
			    parts.switches,
			    parts.stacks,
			    parts.long_waits,
			    parts.mmaps,
			    budget->account.worst_second };
	uint64_t seconds[] = { budget->account.seconds, budget->account.seconds_over };

	add_to_hash(simulation, shares, sizeof(shares));
	add_to_hash(simulation, seconds, sizeof(seconds));
	if (simulation->dump)
		fprintf(simulation->dump, "end %a %a %llu %llu\n", shares[0], shares[1],
			(unsigned long long)seconds[0], (unsigned long long)seconds[1]);
}

static void start(struct simulation *simulation, uint64_t seed)
{
	static const unsigned frequencies[] = { 97, 97, 97, 997, 50, 10, 0 };
	struct lode_budget_goal goal;

	simulation->seed = seed * 0x9e3779b97f4a7c15ull;
	simulation->counters =
		(struct lode_budget_counters){ .time_ns = 1 + random_below(&simulation->seed, 1ull << 50) };
	simulation->load = random_load(&simulation->seed);
	goal.share = (double)any_magnitude(&simulation->seed, 11) / 10000;
	goal.cpus = 1u << random_below(&simulation->seed, 7);
	goal.frequency_hz = frequencies[random_below(&simulation->seed, 7)];
	goal.needs_every_switch = one_in(&simulation->seed, 10);
	goal.needs_every_long_wait = one_in(&simulation->seed, 10);
	goal.puts_long_waits_first = one_in(&simulation->seed, 4);
	lode_budget_init(&simulation->budget, &goal, &simulation->counters, simulation->parameters);
	simulation->reads_maps = !one_in(&simulation->seed, 4);
	lode_slots_init(&simulation->slots, seed);
	simulation->attaches_at = 0;
	simulation->ends_at = UINT64_MAX;
	simulation->rest = 0;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* One recording: of some seconds, in one of sixteen of minutes, so that what is tried again after minutes is. */
static void record(struct simulation *simulation, uint64_t seed)
{
	uint64_t end, due;

	start(simulation, seed);
	end = simulation->counters.time_ns +
	      (seed % 16 ? 2 + random_below(&simulation->seed, 20) : 500) * 1000000000ull;
	due = lode_budget_due(&simulation->budget);
	while (simulation->counters.time_ns < end) {
		uint64_t now = simulation->counters.time_ns;
		uint64_t next =
			earlier(due, simulation->attaches_at ? simulation->attaches_at : simulation->ends_at);

		if (next > now)
			pass(simulation, next - now);
		if (simulation->counters.time_ns >= due) {
			step(simulation);
			due = lode_budget_due(&simulation->budget) + at_most(simulation, simulation->load.late_ms);
		}
		if (simulation->attaches_at
			    ? simulation->counters.time_ns >= simulation->attaches_at
			    : !simulation->slots.ends_at || simulation->counters.time_ns >= simulation->ends_at)
			change_slot(simulation);
	}
	pass(simulation, 1000000);
	lode_budget_end(&simulation->budget, &simulation->counters);
	keep_account(simulation);
}

static void record_all(struct simulation *simulation, uint64_t from, uint64_t to)
{
	for (uint64_t seed = from; seed <= to; seed++)
		record(simulation, seed);
}

static void decisions_are_those_of_before(void **state)
{
	const char *path = getenv("LODE_BUDGET_DECISIONS");
	struct simulation simulation = { .hash = HASH_START };
	uint64_t first;

	(void)state;
	simulation.dump = path ? fopen(path, "w") : NULL;
	record_all(&simulation, 1, FIRST_RECORDINGS);
	first = simulation.hash;
	record_all(&simulation, FIRST_RECORDINGS + 1, TEST_SANITIZED ? 0 : RECORDINGS);
	if (simulation.dump)
		fclose(simulation.dump);
	print_message("%llu decisions: 0x%016llx, of the first recordings 0x%016llx\n",
		      (unsigned long long)simulation.steps, (unsigned long long)simulation.hash,
		      (unsigned long long)first);
	assert_true(first == EXPECTED_FIRST);
	assert_true(TEST_SANITIZED || simulation.hash == EXPECTED);
}

#define PARAMETERS (sizeof(struct lode_budget_parameters) / sizeof(double))

/* Those that others use: how often CPUs are sampled unless requested otherwise, and sweeps. */
static int is_of_others(size_t parameter)
{
	size_t at = parameter * sizeof(double), sweeps = offsetof(struct lode_budget_parameters, sweeps);

	return at == offsetof(struct lode_budget_parameters, samples.default_hz) ||
	       (at >= sweeps && at < sweeps + sizeof(struct lode_budget_sweep_rule));
}

/* Without that, the number would say nothing about the rule that uses a parameter. */
static void each_parameter_has_an_influence_on_decisions(void **state)
{
	uint64_t hashes[FIRST_RECORDINGS];
	struct simulation usual = { .hash = HASH_START };

	(void)state;
	for (uint64_t seed = 1; seed <= FIRST_RECORDINGS; seed++) {
		record(&usual, seed);
		hashes[seed - 1] = usual.hash;
	}
	for (size_t i = 0; i < PARAMETERS; i++) {
		struct lode_budget_parameters parameters = lode_budget_parameters;
		struct simulation changed = { .hash = HASH_START, .parameters = &parameters };
		double *parameter = (double *)&parameters + i;
		uint64_t seed = 0;

		*parameter *= 1.25;
		do {
			seed++;
			record(&changed, seed);
		} while (changed.hash == hashes[seed - 1] && seed < FIRST_RECORDINGS);
		if ((changed.hash == hashes[seed - 1]) != is_of_others(i))
			print_message("parameter %zu: from recording %llu on\n", i, (unsigned long long)seed);
		assert_int_equal(changed.hash == hashes[seed - 1], is_of_others(i));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decisions_are_those_of_before),
		cmocka_unit_test(each_parameter_has_an_influence_on_decisions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
