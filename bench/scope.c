/*
 * How fast scopes are: `scope [EVENTS [THREADS]]`
 *
 * Makes a stream of EVENTS run and wait events (600,000) in THREADS threads (50)
 * that run, wait and wake one another, and one symptom over all of it. Measures
 * making the index and finding each scope with a fresh index, on one core, as the
 * median of nine. One line of JSON a scope:
 *
 *	{"scope":"graph","events":600000,"parts":31363,"index_ns":…,"scope_ns":…,"events_per_s":…}
 *
 * events_per_s is over index and scope together.
 */
#include "scope/scope.h"

#include "figures.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define TIMES       9
#define MILLISECOND 1000000u

/* A thread runs for a few samples, then waits for another, or for something outside. */
static int add_turn(struct lode_stream *stream, uint32_t thread, uint64_t *at, size_t threads)
{
	struct lode_event wait = { .thread = thread, .waker = LODE_NONE, .cpu = LODE_NO_CPU };

	for (uint64_t samples = random_below(3); samples--;) {
		struct lode_event run = { .t = *at, .cost = MILLISECOND, .thread = thread, .waker = LODE_NONE };

		if (lode_stream_add_event(stream, LODE_RUN, &run) < 0)
			return LODE_SYSTEM;
		*at += MILLISECOND - random_below(MILLISECOND / 10);
	}
	wait.t = *at;
	wait.cost = random_below(5 * MILLISECOND);
	wait.delay = random_below(MILLISECOND / 20);
	if (random_below(10))
		wait.waker = (uint32_t)random_below(threads);
	*at += wait.cost + wait.delay;
	return lode_stream_add_event(stream, LODE_WAIT, &wait);
}

static int fill(struct lode_stream *stream, size_t events, size_t threads)
{
	uint64_t *at = lode_calloc(threads, sizeof(*at));
	int code = at ? 0 : LODE_SYSTEM;

	for (size_t i = 0; i < threads && !code; i++)
		if (lode_stream_thread(stream, 1, (uint32_t)i + 100) == LODE_NONE)
			code = LODE_SYSTEM;
	while (!code && lode_stream_event_count(stream) < events) {
		uint32_t thread = (uint32_t)random_below(threads);

		code = add_turn(stream, thread, &at[thread], threads);
	}
	lode_free(at);
	return code ? code : lode_stream_sort(stream);
}

static int measure(const struct lode_stream *stream, enum lode_scope scope)
{
	struct lode_symptom symptom = { .thread = 0 };
	uint64_t index_ns[TIMES], scope_ns[TIMES], sum;
	size_t events = lode_stream_event_count(stream), parts_count = 0;

	lode_stream_span(stream, &symptom.t0, &symptom.t1);
	for (int i = 0; i < TIMES; i++) {
		struct lode_parts parts = { 0 };
		struct lode_scope_result result;
		struct lode_scope_index *index;
		uint64_t start = cpu_ns(), middle;
		int code = lode_scope_index_make(&index, stream, NULL);

		middle = cpu_ns();
		if (!code)
			code = lode_scope_symptom(index, &symptom, scope, &parts, &result, NULL);
		scope_ns[i] = cpu_ns() - middle;
		index_ns[i] = middle - start;
		parts_count = parts.count;
		lode_parts_release(&parts);
		lode_scope_index_free(index);
		if (code)
			return code;
	}
	sum = median(index_ns, TIMES) + median(scope_ns, TIMES);
	printf("{\"scope\":\"%s\",\"events\":%zu,\"parts\":%zu,\"index_ns\":%" PRIu64 ",\"scope_ns\":%" PRIu64
	       ",\"events_per_s\":%.0f}\n",
	       lode_scope_name(scope), events, parts_count, median(index_ns, TIMES), median(scope_ns, TIMES),
	       (double)events * 1e9 / (double)sum);
	return 0;
}

int main(int argc, char **argv)
{
	size_t events = argc > 1 ? strtoul(argv[1], NULL, 10) : 600000;
	size_t threads = argc > 2 ? strtoul(argv[2], NULL, 10) : 50;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	int code;

	if (!threads || threads > 1000000 || lode_dictionary_init(&dictionary) < 0)
		return 2;
	lode_stream_init(&stream, &dictionary);
	code = fill(&stream, events, threads);
	for (int scope = LODE_SCOPE_THREAD; scope < LODE_SCOPES && !code; scope++)
		code = measure(&stream, (enum lode_scope)scope);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
	if (code)
		fprintf(stderr, "scope: memory has run out\n");
	return -code;
}
