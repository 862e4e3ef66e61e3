/* The last steps of an import: see finish.h. */
#include "import/perf_data/finish.h"

/* ---- costs ---- */

/*
 * The gaps between neighbours on one CPU. Runs without a CPU are taken as of
 * one. `last` has a place for each CPU, with the time plus one of its last run.
 */
static size_t collect_gaps(const struct lode_events *runs, uint64_t *last, uint64_t *gaps)
{
	size_t count = 0;

	for (size_t i = 0; i < runs->count; i++) {
		uint64_t *before = &last[runs->cpu[i]];

		if (*before && runs->t[i] + 1 > *before)
			gaps[count++] = runs->t[i] + 1 - *before;
		*before = runs->t[i] + 1;
	}
	return count;
}

/*
 * The number that stands in the middle of `count` numbers in order: its digits
 * of 16 bits one after the other, by counting how many numbers go on with each.
 */
static uint64_t median(const uint64_t *numbers, size_t count, size_t *counts)
{
	uint64_t prefix = 0, mask = 0;
	size_t rank = (count - 1) / 2;

	for (int shift = 48; shift >= 0; shift -= 16) {
		size_t digit = 0;

		memset(counts, 0, 65536 * sizeof(*counts));
		for (size_t i = 0; i < count; i++)
			if ((numbers[i] & mask) == prefix)
				counts[numbers[i] >> shift & 0xffff]++;
		while (rank >= counts[digit])
			rank -= counts[digit++];
		prefix |= (uint64_t)digit << shift;
		mask |= (uint64_t)0xffff << shift;
	}
	return prefix;
}

int lode_perf_finish_costs(struct lode_stream *stream, struct lode_notes *notes)
{
	struct lode_events *runs = &stream->events[LODE_RUN];
	uint64_t *last = lode_calloc(65536, sizeof(*last));
	size_t *counts = lode_calloc(65536, sizeof(*counts));
	uint64_t *gaps = lode_calloc(runs->count, sizeof(*gaps));
	uint64_t cost = 0, estimated = 0;
	size_t count;

	if (last && counts && gaps) {
		count = collect_gaps(runs, last, gaps);
		cost = count ? median(gaps, count, counts) : 0;
		for (size_t i = 0; i < runs->count; i++) {
			if (runs->cost[i] != LODE_PERF_COST_UNKNOWN)
				continue;
			runs->cost[i] = cost;
			estimated++;
		}
		lode_notes_add(notes, estimated,
			       "runs whose cost is estimated by the median gap between samples", NULL);
	}
	count = last && counts && gaps;
	lode_free(last);
	lode_free(counts);
	lode_free(gaps);
	return count ? 0 : LODE_SYSTEM;
}

/* ---- threads and stacks ---- */

static int add_thread(struct lode_perf_replay *replay, const struct lode_perf_thread *thread,
		      uint32_t *number)
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
