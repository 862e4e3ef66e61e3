/*
 * How fast streams load: `load FILE.lode...`
 *
 * Opens each file, reads its head (strings, frames, stacks, threads) and then all
 * blocks of events, on one core, first the four columns that analyses use (t, cost,
 * thread, stack), then all columns. Repeats until a second has passed, at least
 * five times, and takes the median. One line of JSON a file and kind of reading:
 *
 *	{"file":"…","columns":"four","events":1000000,"nodes":500000,"head_ns":1000000,"events_ns":9000000}
 *
 * Every value read goes into a sum, so that no column is skipped.
 */
#include "trace/dictionary.h"
#include "store/store.h"

#include "figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FOUR_COLUMNS   (LODE_T | LODE_COST | LODE_THREAD | LODE_STACK)
#define TIMES_AT_LEAST 5
#define TIMES_AT_MOST  1000
#define LONG_ENOUGH    1000000000u

struct measure {
	uint64_t events;
	uint64_t nodes; /* of the stack tree */
	uint64_t head_ns[TIMES_AT_MOST];
	uint64_t events_ns[TIMES_AT_MOST];
	size_t times;
	uint64_t sum; /* over all values; not printed, but computed */
};

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t sum_columns(const struct lode_events *events)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < events->count; i++)
		sum += events->t[i] + events->cost[i] + events->thread[i] + events->stack[i];
	return sum;
}

static int read_blocks(const struct lode_store *store, unsigned columns, struct measure *measure,
		       struct lode_error *error)
{
	struct lode_events events = { 0 };
	int code = 0;

	measure->events = 0;
	for (size_t i = 0; !code && i < lode_store_blocks(store); i++) {
		code = lode_store_events(store, i, columns, &events, error);
		if (code)
			break;
		measure->sum += sum_columns(&events);
		measure->events += events.count;
	}
	lode_events_release(&events);
	return code;
}

/* Opens and reads the file once and notes how long it took. */
static int load_once(const char *path, unsigned columns, struct measure *measure, struct lode_error *error)
{
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_store *store = NULL;
	uint64_t start = now_ns(), middle;
	int code;

	if (lode_dictionary_init(&dictionary) < 0)
		return lode_fail_memory(error);
	lode_stream_init(&stream, &dictionary);
	code = lode_store_open(&store, path, error);
	if (!code)
		code = lode_store_head(store, &stream, error);
	middle = now_ns();
	measure->nodes = dictionary.tree.count;
	if (!code)
		code = read_blocks(store, columns, measure, error);
	measure->head_ns[measure->times] = middle - start;
	measure->events_ns[measure->times] = now_ns() - middle;
	measure->times++;
	if (store)
		lode_store_close(store);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
	return code;
}

static int measure_file(const char *path, const char *name, unsigned columns)
{
	static struct measure measure;
	struct lode_error error = { "" };
	uint64_t start = now_ns();
	int code = 0;

	measure.times = 0;
	while (!code && measure.times < TIMES_AT_MOST &&
	       (measure.times < TIMES_AT_LEAST || now_ns() - start < LONG_ENOUGH))
		code = load_once(path, columns, &measure, &error);
	if (code) {
		fprintf(stderr, "load: %s\n", error.text);
		return code;
	}
	printf("{\"file\":\"%s\",\"columns\":\"%s\",\"events\":%llu,\"nodes\":%llu,\"head_ns\":%llu,\"events_ns\":"
	       "%llu}\n",
	       path, name, (unsigned long long)measure.events, (unsigned long long)measure.nodes,
	       (unsigned long long)median(measure.head_ns, measure.times),
	       (unsigned long long)median(measure.events_ns, measure.times));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: load FILE.lode...\n");
		return 2;
	}
	lode_memory_keep_freed(); /* as analyses do */
	for (int i = 1; i < argc; i++)
		if (measure_file(argv[i], "four", FOUR_COLUMNS) || measure_file(argv[i], "all", LODE_ALL_COLUMNS))
			return 3;
	return 0;
}
