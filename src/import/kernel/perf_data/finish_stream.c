/* The last steps of an import: see finish_stream.h. */
#include "import/kernel/perf_data/finish_stream.h"

#include "import/kernel/count_rate.h"

#include <stdio.h>

/* ---- costs ---- */

static int add_counts(const struct lode_events *runs, struct lode_count_rate *rates)
{
	for (size_t i = 0; i < runs->count; i++)
		if (runs->name[i] && lode_count_rate_add(&rates[runs->name[i] - 1], runs->t[i], runs->cpu[i],
							 runs->thread[i], runs->cost[i]) < 0)
			return LODE_SYSTEM;
	return 0;
}

/* Where no two samples show the rate: the largest period is what the frequency requested takes. */
static double assumed_rate(const struct lode_perf_event *event, const struct lode_count_rate *rate)
{
	return event->attr.freq && event->cost && rate->largest ? (double)event->cost / (double)rate->largest : 1;
}

static double rate_of(const struct lode_perf_event *event, const struct lode_count_rate *rate,
		      struct lode_notes *notes)
{
	double found = lode_count_rate_find(rate), nanoseconds = found > 0 ? found : assumed_rate(event, rate);
	char example[200];

	snprintf(example, sizeof(example), "%.100s: %.3g a nanosecond", event->name, 1 / nanoseconds);
	lode_notes_add(notes, rate->samples,
		       found > 0 ? "samples whose cost is their period, at the rate at which their counter ran"
				 : "samples whose cost is their period, at a rate that is assumed",
		       example);
	return nanoseconds;
}

/* Something that is no time is kept as it is: a nanosecond is one of it. */
static int keep_events(struct lode_perf_replay *replay, const struct lode_perf_event *event, uint64_t samples)
{
	lode_notes_add(replay->options->notes, samples,
		       "samples of an event other than CPU time: where times are shown, 1 ns is one count of it",
		       event->name);
	return lode_stream_set_attribute(replay->stream, "cost_unit", event->name, LODE_ATTRIBUTE_TEXT) < 0
		       ? LODE_SYSTEM
		       : 0;
}

static int settle_costs(struct lode_perf_replay *replay, struct lode_count_rate *rates, double *nanoseconds)
{
	const struct lode_perf_facts *facts = replay->facts;
	struct lode_events *runs = &replay->stream->events[LODE_RUN];

	for (size_t i = 0; i < facts->events.count; i++) {
		if (!rates[i].samples)
			continue;
		nanoseconds[i] = 1;
		if (facts->events.items[i].costing == LODE_PERF_COST_COUNT)
			nanoseconds[i] = rate_of(&facts->events.items[i], &rates[i], replay->options->notes);
		else if (keep_events(replay, &facts->events.items[i], rates[i].samples) < 0)
			return LODE_SYSTEM;
	}
	for (size_t i = 0; i < runs->count; i++) {
		if (!runs->name[i])
			continue;
		runs->cost[i] = lode_count_time(runs->cost[i], nanoseconds[runs->name[i] - 1]);
		runs->name[i] = 0;
	}
	return 0;
}

int lode_perf_finish_costs(struct lode_perf_replay *replay)
{
	size_t count = replay->facts->events.count;
	struct lode_count_rate *rates = lode_calloc(count, sizeof(*rates));
	double *nanoseconds = lode_calloc(count, sizeof(*nanoseconds));
	int code = rates && nanoseconds ? add_counts(&replay->stream->events[LODE_RUN], rates) : LODE_SYSTEM;

	if (code == 0)
		code = settle_costs(replay, rates, nanoseconds);
	for (size_t i = 0; rates && i < count; i++)
		lode_count_rate_release(&rates[i]);
	lode_free(rates);
	lode_free(nanoseconds);
	return code;
}

/* ---- threads and stacks ---- */

static int add_thread(struct lode_perf_replay *replay, const struct lode_perf_thread *thread, uint32_t *number)
{
	struct lode_stream *stream = replay->stream;
	struct lode_string name = replay->texts.items[thread->name];

	if (thread->pid == UINT32_MAX)
		*number = lode_stream_tid(stream, thread->tid);
	else
		*number = lode_stream_thread(stream, thread->pid, thread->tid);
	if (*number == LODE_NONE)
		return LODE_SYSTEM;
	if (!name.length && thread->pid == 0 && thread->tid == 0)
		name = (struct lode_string){ "swapper", 7 }; /* the kernel's idle task, which no record names */
	if (!name.length)
		return 0;
	stream->threads[*number].name =
		lode_strings_add(&stream->dictionary->frames.strings, name.text, name.length);
	return stream->threads[*number].name == LODE_NONE ? LODE_SYSTEM : 0;
}

/* The stream's numbers of threads, by the replay's; NULL when memory has run out. */
static uint32_t *add_threads(struct lode_perf_replay *replay)
{
	const struct lode_perf_threads *threads = &replay->threads;
	uint32_t *numbers = lode_calloc(threads->count, sizeof(*numbers));

	for (size_t i = 0; numbers && i < threads->count; i++) {
		numbers[i] = LODE_NONE;
		if (threads->items[i].used && add_thread(replay, &threads->items[i], &numbers[i]) < 0) {
			lode_free(numbers);
			return NULL;
		}
	}
	return numbers;
}

static void translate(struct lode_events *events, const uint32_t *threads, const uint32_t *stacks)
{
	for (size_t i = 0; i < events->count; i++) {
		events->thread[i] = threads[events->thread[i]];
		events->stack[i] = stacks[events->stack[i]];
		events->waker_stack[i] = stacks[events->waker_stack[i]];
		if (events->waker[i] != LODE_NONE)
			events->waker[i] = threads[events->waker[i]];
		if (lode_events_holder(events, i) != LODE_NONE)
			events->holder[i] = threads[events->holder[i]];
	}
}

int lode_perf_finish_events(struct lode_perf_replay *replay)
{
	uint32_t *threads = add_threads(replay);
	uint32_t *stacks = NULL;
	int code = threads ? lode_perf_stacks_translate(&replay->stacks, replay->stream->dictionary,
							replay->options, &stacks)
			   : LODE_SYSTEM;

	for (int type = 0; code == 0 && type < LODE_EVENT_TYPES; type++)
		translate(&replay->stream->events[type], threads, stacks);
	lode_free(threads);
	lode_free(stacks);
	return code;
}
