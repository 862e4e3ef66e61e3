/* A simulated program: see hunt_simulation.h. */
#include "hunt_simulation.h"

#include "hunt/meter/wait_objects.h"

#include "base/memory.h"
#include "random_stream.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static struct simulation *of(struct lode_meter *meter)
{
	return (struct simulation *)meter;
}

/* ---- what the program does ---- */

static int is_alive(const struct simulated_thread *thread, uint64_t t)
{
	return !thread->ends || t < thread->ends;
}

static int holds(const struct simulated_stack *stack, uint32_t function)
{
	for (size_t i = 0; i < stack->depth; i++)
		if (stack->functions[i] == function)
			return 1;
	return function == LODE_NONE;
}

static int thread_is_in(const struct simulation *simulation, uint32_t number, const struct lode_focus *focus)
{
	const struct simulated_thread *thread = &simulation->threads[number];

	return (focus->host == LODE_NONE || focus->host == thread->host) &&
	       (focus->process == LODE_NONE || focus->process == thread->process) &&
	       (focus->thread == LODE_NONE || focus->thread == number);
}

static int stack_is_in(const struct simulation *simulation, const struct simulated_stack *stack,
		       const struct lode_focus *focus)
{
	return thread_is_in(simulation, stack->thread, focus) && holds(stack, focus->function) &&
	       (!focus->object || lode_object_is_in(stack->object, focus->object));
}

static int is_done_now(const struct simulation *simulation, const struct simulated_stack *stack)
{
	return is_alive(&simulation->threads[stack->thread], simulation->clock) &&
	       simulation->clock >= stack->from && (!stack->until || simulation->clock < stack->until);
}

/* Processes of a focus that live: each once, by its first thread. */
static size_t count_processes(const struct simulation *simulation, const struct lode_focus *focus)
{
	size_t count = 0;

	for (uint32_t i = 0; i < simulation->thread_count; i++) {
		int seen = 0;

		if (!thread_is_in(simulation, i, focus) || !is_alive(&simulation->threads[i], simulation->clock))
			continue;
		for (uint32_t k = 0; k < i; k++)
			seen |= simulation->threads[k].process == simulation->threads[i].process &&
				thread_is_in(simulation, k, focus);
		count += !seen;
	}
	return count;
}

/* ---- time ---- */

static double noisy(struct simulation *simulation, double value)
{
	double sum = -6;

	if (simulation->noise == 0)
		return value;
	for (int i = 0; i < 12; i++) /* nearly a normal distribution */
		sum += (double)random_below(&simulation->seed, 1000001) / 1e6;
	return fmax(0, value * (1 + simulation->noise * sum));
}

static double cost_of(const struct simulation *simulation, const double *costs, const struct lode_focus *focus)
{
	return focus->function == LODE_NONE || focus->function >= SIMULATION_MOST ? (void)simulation,
	       0                                                                  : costs[focus->function];
}

static void advance_run(struct simulation *simulation, struct simulated_run *run, double elapsed)
{
	struct lode_reading *reading = &run->reading;
	size_t processes = count_processes(simulation, &run->focus);

	if (reading->state != LODE_READING_ON)
		return;
	if (!processes) {
		reading->state = LODE_READING_GONE;
		reading->why = "its processes have ended";
		return;
	}
	run->ready += simulation->crowded * elapsed * (double)processes;
	elapsed *= 1 - simulation->crowded;
	run->usable += elapsed * (double)processes;
	run->cost += cost_of(simulation, simulation->real, &run->focus) * elapsed *
		     (double)count_processes(simulation,
					     &(struct lode_focus){ LODE_NONE, LODE_NONE, LODE_NONE, LODE_NONE, 0 });
	for (size_t i = 0; i < simulation->stack_count; i++) {
		const struct simulated_stack *stack = &simulation->stacks[i];

		if (run->blind || !stack_is_in(simulation, stack, &run->focus) || !is_done_now(simulation, stack))
			continue;
		run->time[stack->kind] += noisy(simulation, stack->share * elapsed);
		run->operations += stack->operations * elapsed / 1e9;
		run->bytes += stack->operations * elapsed / 1e9 * stack->bytes;
	}
	for (int i = 0; i < LODE_SMALL_IO; i++)
		reading->time[i] = (uint64_t)llround(run->time[i]);
	reading->usable = (uint64_t)llround(run->usable);
	reading->ready = (uint64_t)llround(run->ready);
	reading->cost = (uint64_t)llround(run->cost);
	reading->operations = (uint64_t)llround(run->operations);
	reading->bytes = (uint64_t)llround(run->bytes);
	reading->calls = run->blind ? 0 : reading->usable / 1000;
	if (simulation->allowed > 0 && cost_of(simulation, simulation->real, &run->focus) > simulation->allowed) {
		reading->state = LODE_READING_COSTLY;
		reading->why = "cost more than it was allowed";
	}
}

static uint64_t simulated_now(struct lode_meter *meter)
{
	return of(meter)->clock;
}

static void add_up_costs(struct simulation *simulation)
{
	double cost = 0, predicted = 0;

	for (size_t i = 0; i < simulation->run_count; i++) {
		if (simulation->runs[i].reading.state != LODE_READING_ON)
			continue;
		cost += cost_of(simulation, simulation->real, &simulation->runs[i].focus);
		predicted += cost_of(simulation, simulation->predicted, &simulation->runs[i].focus);
	}
	simulation->highest_cost = fmax(simulation->highest_cost, cost);
	simulation->highest_predicted = fmax(simulation->highest_predicted, predicted);
}

static int simulated_wait(struct lode_meter *meter, uint64_t until, struct lode_error *error)
{
	struct simulation *simulation = of(meter);

	(void)error;
	if (simulation->ends && until > simulation->ends)
		until = simulation->ends;
	if (simulation->real_time && until > simulation->clock)
		nanosleep(&(struct timespec){ .tv_nsec = (long)((until - simulation->clock) % 1000000000u) }, NULL);
	if (until > simulation->clock)
		for (size_t i = 0; i < simulation->run_count; i++)
			advance_run(simulation, &simulation->runs[i], (double)(until - simulation->clock));
	simulation->clock = until;
	return simulation->ends && simulation->clock >= simulation->ends;
}

/* ---- experiments ---- */

static double simulated_predict(struct lode_meter *meter, enum lode_hypothesis hypothesis,
				const struct lode_focus *focus)
{
	(void)hypothesis;
	return cost_of(of(meter), of(meter)->predicted, focus);
}

static int simulated_start(struct lode_meter *meter, const uint32_t *experiments,
			   const enum lode_hypothesis *hypotheses, const struct lode_focus *foci, size_t count,
			   struct lode_error *error)
{
	struct simulation *simulation = of(meter);

	if (lode_grow(&simulation->runs, &simulation->run_capacity, simulation->run_count + count,
		      sizeof(*simulation->runs)) < 0)
		return lode_fail_memory(error);
	for (size_t i = 0; i < count; i++) {
		simulation->runs[simulation->run_count++] = (struct simulated_run){
			.experiment = experiments[i],
			.hypothesis = hypotheses[i],
			.focus = foci[i],
			.started = simulation->clock,
			.blind = foci[i].function != LODE_NONE && simulation->blind[foci[i].function] > 0,
		};
		if (foci[i].function != LODE_NONE && simulation->blind[foci[i].function] > 0)
			simulation->blind[foci[i].function]--;
	}
	simulation->starts += count;
	add_up_costs(simulation);
	return 0;
}

static int simulated_stop(struct lode_meter *meter, const uint32_t *experiments, size_t count,
			  struct lode_error *error)
{
	struct simulation *simulation = of(meter);

	for (size_t i = 0; i < count; i++) {
		size_t k = 0;

		while (k < simulation->run_count && simulation->runs[k].experiment != experiments[i])
			k++;
		if (k == simulation->run_count)
			return lode_fail(error, LODE_SYSTEM, "experiment %u is stopped, but does not run",
					 experiments[i]);
		memmove(&simulation->runs[k], &simulation->runs[k + 1],
			(simulation->run_count - k - 1) * sizeof(*simulation->runs));
		simulation->run_count--;
	}
	return 0;
}

static int simulated_read(struct lode_meter *meter, uint32_t experiment, struct lode_reading *reading,
			  struct lode_error *error)
{
	struct simulation *simulation = of(meter);

	for (size_t i = 0; i < simulation->run_count; i++)
		if (simulation->runs[i].experiment == experiment) {
			*reading = simulation->runs[i].reading;
			return 0;
		}
	return lode_fail(error, LODE_SYSTEM, "experiment %u is read, but does not run", experiment);
}

/* ---- samples, and what there is ---- */

static int report_sample(struct simulation *simulation, const struct simulated_stack *stack, uint64_t weight,
			 int (*each)(void *context, const struct lode_meter_sample *sample), void *context)
{
	struct lode_meter_sample sample = {
		.t = simulation->period ? simulation->clock : simulation->clock - weight,
		.host = simulation->threads[stack->thread].host,
		.process = simulation->threads[stack->thread].process,
		.thread = stack->thread,
		.weight = weight,
		.counts = stack->kind,
		.functions = stack->functions + stack->cut,
		.depth = stack->depth - stack->cut,
		.drawn = simulation->period > 0,
		.cut = stack->cut > 0,
	};

	return each(context, &sample);
}

/* A stack as a clock sees it, that looks once in a period. */
static int draw_samples(struct simulation *simulation, const struct simulated_stack *stack, double elapsed,
			int (*each)(void *context, const struct lode_meter_sample *sample), void *context)
{
	double chance = stack->share * (1 - simulation->lost);
	int code = 0;

	for (double left = elapsed; !code && left > 0; left -= (double)simulation->period)
		if ((double)random_below(&simulation->seed, 1000000) < 1e6 * chance)
			code = report_sample(simulation, stack, simulation->period, each, context);
	return code;
}

/* One sample of each stack, with the weight it has had: sampling without chance; unless there is a period. */
static int simulated_samples(struct lode_meter *meter,
			     int (*each)(void *context, const struct lode_meter_sample *sample), void *context,
			     struct lode_error *error)
{
	struct simulation *simulation = of(meter);
	uint64_t before = simulation->sampled;
	double elapsed = (1 - simulation->crowded) * (double)(simulation->clock - before);

	(void)error;
	simulation->sampled = simulation->clock;
	for (size_t i = 0; i < simulation->stack_count && !simulation->no_samples; i++) {
		const struct simulated_stack *stack = &simulation->stacks[i];
		uint64_t weight = (uint64_t)llround(stack->share * elapsed);
		int code = 0;

		if (!is_done_now(simulation, stack))
			continue;
		if (stack->every) {
			weight = (uint64_t)llround(stack->share * (double)stack->every);
			if (simulation->clock / stack->every == before / stack->every)
				continue;
		}
		code = simulation->period ? draw_samples(simulation, stack, elapsed, each, context)
					  : report_sample(simulation, stack, weight, each, context);
		if (code < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

static uint64_t on_axis(const struct simulation *simulation, uint32_t thread, enum lode_focus_axis axis)
{
	return axis == LODE_AXIS_HOST      ? simulation->threads[thread].host
	       : axis == LODE_AXIS_PROCESS ? simulation->threads[thread].process
					   : thread;
}

/* What a stack waits for as seen from a focus: of all objects the whole, of a whole its part. */
static uint64_t object_below(const struct simulated_stack *stack, const struct lode_focus *focus)
{
	return focus->object ? (stack->object == focus->object ? 0 : stack->object)
			     : lode_object_whole(stack->object);
}

static int objects_below(struct simulation *simulation, const struct lode_focus *focus,
			 int (*each)(void *context, uint32_t number, uint64_t object), void *context)
{
	for (size_t i = 0; i < simulation->stack_count; i++) {
		const struct simulated_stack *stack = &simulation->stacks[i];
		uint64_t object = object_below(stack, focus);
		int seen = !object || stack->kind != LODE_SYNC_WAITING || !stack_is_in(simulation, stack, focus);

		for (size_t k = 0; k < i && !seen; k++)
			seen = object_below(&simulation->stacks[k], focus) == object &&
			       stack_is_in(simulation, &simulation->stacks[k], focus);
		if (!seen && each(context, LODE_NONE, object) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

static int simulated_below(struct lode_meter *meter, const struct lode_focus *focus, enum lode_focus_axis axis,
			   int (*each)(void *context, uint32_t number, uint64_t object), void *context)
{
	struct simulation *simulation = of(meter);

	if (axis == LODE_AXIS_OBJECT)
		return objects_below(simulation, focus, each, context);
	for (uint32_t i = 0; i < simulation->thread_count; i++) {
		uint64_t number = on_axis(simulation, i, axis);
		int seen = !thread_is_in(simulation, i, focus);

		for (uint32_t k = 0; k < i && !seen; k++)
			seen = thread_is_in(simulation, k, focus) && on_axis(simulation, k, axis) == number;
		if (!seen && each(context, (uint32_t)number, 0) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

static int simulated_roots(struct lode_meter *meter, const struct lode_focus *focus,
			   int (*each)(void *context, uint32_t function), void *context)
{
	struct simulation *simulation = of(meter);

	for (uint32_t i = 0; i < simulation->thread_count; i++) {
		int seen = !thread_is_in(simulation, i, focus);

		for (uint32_t k = 0; k < i && !seen; k++)
			seen = thread_is_in(simulation, k, focus) &&
			       simulation->threads[k].root == simulation->threads[i].root;
		if (!seen && each(context, simulation->threads[i].root) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

static const char *simulated_name(struct lode_meter *meter, enum lode_focus_axis axis, uint64_t number)
{
	static const char *const kinds[LODE_AXES] = { "code ", "host-", "process-", "thread-", "lock-" };

	snprintf(of(meter)->name, sizeof(of(meter)->name), "%s%llu", kinds[axis], (unsigned long long)number);
	return of(meter)->name;
}

static double simulated_cost(struct lode_meter *meter)
{
	return of(meter)->highest_cost;
}

static double simulated_own(struct lode_meter *meter)
{
	return of(meter)->own;
}

static void simulated_destroy(struct lode_meter *meter)
{
	simulation_release(of(meter));
}

/* ---- making one ---- */

int simulation_init(struct simulation *simulation)
{
	static const struct lode_meter_operations operations = {
		.now = simulated_now,
		.wait = simulated_wait,
		.predict = simulated_predict,
		.start = simulated_start,
		.stop = simulated_stop,
		.read = simulated_read,
		.samples = simulated_samples,
		.below = simulated_below,
		.roots = simulated_roots,
		.name = simulated_name,
		.cost = simulated_cost,
		.own = simulated_own,
		.destroy = simulated_destroy,
	};
	struct lode_error error;

	memset(simulation, 0, sizeof(*simulation));
	simulation->meter.operations = &operations;
	simulation->clock = simulation->sampled = 1000000000;
	simulation->seed = 1;
	return lode_program_create(&simulation->meter.program, &error);
}

void simulation_release(struct simulation *simulation)
{
	lode_program_destroy(simulation->meter.program);
	lode_free(simulation->runs);
	simulation->meter.program = NULL;
	simulation->runs = NULL;
}

uint32_t simulation_function(struct simulation *simulation, const char *name)
{
	char full[128];

	snprintf(full, sizeof(full), "%s%s", strchr(name, '!') ? "" : "app!", name);
	return lode_program_named(simulation->meter.program, full);
}

uint32_t simulation_thread(struct simulation *simulation, uint32_t host, uint32_t process, const char *root)
{
	simulation->threads[simulation->thread_count] =
		(struct simulated_thread){ host, process, simulation_function(simulation, root), 0 };
	return (uint32_t)simulation->thread_count++;
}

struct simulated_stack *simulation_stack(struct simulation *simulation, uint32_t thread, enum lode_hypothesis kind,
					 double share, const char *names)
{
	struct simulated_stack *stack = &simulation->stacks[simulation->stack_count++];
	char text[512], *rest = text, *name;

	*stack = (struct simulated_stack){ .thread = thread, .kind = kind, .share = share };
	stack->functions[stack->depth++] = simulation->threads[thread].root;
	snprintf(text, sizeof(text), "%s", names);
	while ((name = strsep(&rest, " ")))
		if (*name) {
			stack->functions[stack->depth] = simulation_function(simulation, name);
			lode_program_add_call(simulation->meter.program, stack->functions[stack->depth - 1],
					      stack->functions[stack->depth]);
			stack->depth++;
		}
	return stack;
}
