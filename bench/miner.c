/*
 * How fast the miner is: `miner [OPTIONS] FILE.folded[.gz] SHARE...`
 *
 * Reads folded stacks (cost behind the last blank) into a stack tree and mines it
 * at each share (per cent) of the total cost, with each number of --jobs (1,2).
 * --unit: every distinct stack weighs 1, regardless of its cost. --fold: recursion is
 * folded. --print: shows the patterns, too. Only the mining is timed; of several
 * --times the median is reported. One line of JSON for each:
 *
 *	{"share":1,"threshold":12,"jobs":1,"patterns":300,"prefixes":4000,"wall_ns":1,"cpu_ns":1,"peak_kib":1}
 *
 * peak_kib is the most memory the process has had so far, the stacks included.
 */
#include "base/input.h"
#include "mine/miner.h"
#include "scope/area.h"
#include "trace/dictionary.h"

#include "figures.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define LINE_LIMIT    (64u << 20)
#define TIMES_AT_MOST 100

struct stacks {
	struct lode_dictionary dictionary;
	uint64_t *cost;
	size_t capacity;
	uint64_t total;
};

struct options {
	int unit;
	int fold;
	int print;
	const char *jobs;
	size_t times;
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* The stack that a line names, or LODE_NONE. */
static uint32_t add_stack(struct lode_dictionary *dictionary, const char *line, size_t length)
{
	uint32_t node = 0;

	while (length && node != LODE_NONE) {
		const char *end = memchr(line, ';', length);
		size_t size = end ? (size_t)(end - line) : length;
		uint32_t frame = lode_frames_parse(&dictionary->frames, line, size);

		node = lode_stack_tree_child(&dictionary->tree, node, frame);
		size += end ? 1 : 0;
		line += size;
		length -= size;
	}
	return node;
}

static int add_line(struct stacks *stacks, const struct options *options, const char *line, size_t length)
{
	const char *blank = memrchr(line, ' ', length);
	uint64_t cost = blank ? strtoull(blank + 1, NULL, 10) : 1;
	uint32_t node = add_stack(&stacks->dictionary, line, blank ? (size_t)(blank - line) : length);
	size_t before = stacks->capacity;

	if (node == LODE_NONE ||
	    lode_grow(&stacks->cost, &stacks->capacity, (size_t)node + 1, sizeof(*stacks->cost)) < 0)
		return LODE_SYSTEM;
	memset(stacks->cost + before, 0, (stacks->capacity - before) * sizeof(*stacks->cost));
	if (options->unit) {
		stacks->total += !stacks->cost[node];
		stacks->cost[node] = 1;
	} else {
		stacks->total += cost;
		stacks->cost[node] += cost;
	}
	return 0;
}

static int read_stacks(struct stacks *stacks, const struct options *options, const char *path,
		       struct lode_error *error)
{
	struct lode_input *input;
	const char *line;
	size_t length, before;
	int code;

	if (lode_dictionary_init(&stacks->dictionary) < 0)
		return lode_fail_memory(error);
	code = lode_input_open(&input, path, error);
	if (code)
		return code;
	while ((code = lode_input_line(input, LINE_LIMIT, &line, &length, error)) > 0)
		if (add_line(stacks, options, line, length) < 0) {
			code = lode_fail_memory(error);
			break;
		}
	lode_input_close(input);
	before = stacks->capacity;
	if (!code &&
	    lode_grow(&stacks->cost, &stacks->capacity, stacks->dictionary.tree.count, sizeof(*stacks->cost)) < 0)
		return lode_fail_memory(error);
	memset(stacks->cost + before, 0, (stacks->capacity - before) * sizeof(*stacks->cost));
	return code;
}

static void print_patterns(const struct stacks *stacks, const struct lode_patterns *patterns)
{
	struct lode_buffer buffer = { 0 };

	for (size_t i = 0; i < patterns->count; i++) {
		const uint32_t *frames = lode_pattern_frames(patterns, i);

		lode_buffer_clear(&buffer);
		for (uint32_t j = 0; j < patterns->items[i].length; j++) {
			lode_buffer_text(&buffer, j ? ";" : "");
			lode_frames_text(&stacks->dictionary.frames, frames[j], &buffer);
		}
		printf("%.*s %llu\n", (int)buffer.size, (const char *)buffer.bytes,
		       (unsigned long long)patterns->items[i].cost);
	}
	lode_buffer_release(&buffer);
}

/* Moves all costs to the folded stacks. */
static int fold(struct stacks *stacks)
{
	uint32_t *folded = lode_stacks_fold(&stacks->dictionary.tree);
	uint64_t *cost = lode_calloc(stacks->dictionary.tree.count, sizeof(*cost));

	for (size_t i = 0; folded && cost && i < stacks->capacity && i < stacks->dictionary.tree.count; i++)
		if (stacks->cost[i])
			cost[folded[i]] += stacks->cost[i];
	lode_free(stacks->cost);
	stacks->cost = cost;
	lode_free(folded);
	return folded && cost ? 0 : LODE_SYSTEM;
}

static int measure(const struct stacks *stacks, const struct options *options, double share, unsigned jobs,
		   struct lode_error *error)
{
	struct lode_miner_input input = {
		.tree = &stacks->dictionary.tree,
		.cost = stacks->cost,
		.threshold = (uint64_t)((double)stacks->total * share / 100 + 0.999999),
		.jobs = jobs,
	};
	uint64_t wall[TIMES_AT_MOST], cpu[TIMES_AT_MOST], count = 0, prefixes = 0;
	struct rusage usage;

	for (size_t i = 0; i < options->times; i++) {
		struct lode_patterns patterns = { 0 };
		uint64_t start = clock_ns(CLOCK_MONOTONIC), busy = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		int code = lode_mine_patterns(&input, &patterns, error);

		wall[i] = clock_ns(CLOCK_MONOTONIC) - start;
		cpu[i] = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - busy;
		count = patterns.count;
		prefixes = patterns.prefixes;
		if (!code && !i && options->print)
			print_patterns(stacks, &patterns);
		lode_patterns_release(&patterns);
		if (code)
			return code;
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("{\"share\":%g,\"threshold\":%llu,\"jobs\":%u,\"patterns\":%llu,\"prefixes\":%llu,"
	       "\"wall_ns\":%llu,\"cpu_ns\":%llu,\"peak_kib\":%ld}\n",
	       share, (unsigned long long)input.threshold, jobs, (unsigned long long)count,
	       (unsigned long long)prefixes, (unsigned long long)median(wall, options->times),
	       (unsigned long long)median(cpu, options->times), usage.ru_maxrss);
	fflush(stdout);
	return 0;
}

static int read_options(struct options *options, int argc, char **argv)
{
	static const struct option table[] = {
		{ "unit", no_argument, NULL, 'u' },        { "fold", no_argument, NULL, 'f' },
		{ "print", no_argument, NULL, 'p' },       { "jobs", required_argument, NULL, 'j' },
		{ "times", required_argument, NULL, 't' }, { NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", table, NULL)) != -1) {
		if (option == 'u')
			options->unit = 1;
		else if (option == 'f')
			options->fold = 1;
		else if (option == 'p')
			options->print = 1;
		else if (option == 'j')
			options->jobs = optarg;
		else if (option == 't')
			options->times = strtoul(optarg, NULL, 10);
		else
			return -1;
	}
	return options->times < 1 || options->times > TIMES_AT_MOST || argc - optind < 2 ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct options options = { .jobs = "1,2", .times = 1 };
	struct stacks stacks = { 0 };
	struct lode_error error = { "" };
	int code;

	if (read_options(&options, argc, argv) < 0) {
		fprintf(stderr, "usage: miner [--unit] [--fold] [--print] [--jobs N,N] [--times N] "
				"FILE SHARE...\n");
		return 2;
	}
	code = read_stacks(&stacks, &options, argv[optind], &error);
	if (!code && options.fold && fold(&stacks) < 0)
		code = lode_fail_memory(&error);
	for (int i = optind + 1; !code && i < argc; i++) {
		const char *jobs = options.jobs;

		while (!code && jobs) {
			code = measure(&stacks, &options, strtod(argv[i], NULL), (unsigned)strtoul(jobs, NULL, 10),
				       &error);
			jobs = strchr(jobs, ',');
			jobs = jobs ? jobs + 1 : NULL;
		}
	}
	if (code)
		fprintf(stderr, "miner: %s\n", error.text);
	lode_free(stacks.cost);
	lode_dictionary_release(&stacks.dictionary);
	return -code;
}
