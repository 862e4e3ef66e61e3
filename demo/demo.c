/*
 * Options, time and threads of the demo programs; see demo.h.
 */
#include "demo.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_AT_MOST 64

void demo_fail(const char *what)
{
	perror(what);
	exit(4);
}

void *demo_room(size_t count, size_t size)
{
	void *room = calloc(count, size);

	if (!room)
		demo_fail("memory");
	return room;
}

/* ---- options ---- */

static void usage(const struct demo *demo, FILE *file)
{
	fprintf(file,
		"Usage: %s --good|--bad [OPTIONS]\n\n%s\n\n"
		"      --good           without the bug\n"
		"      --bad            with it\n"
		"      --size N         %u to %u (default: %u)\n"
		"      --threads N      1 to %d (default: %u)\n"
		"      --truth FILE     write what each thread really did as plain events\n"
		"      --help           show this help\n",
		demo->program, demo->about, demo->smallest, demo->largest, demo->size, THREADS_AT_MOST,
		demo->threads);
}

static unsigned number(const struct demo *demo, const char *option, const char *text, unsigned least, unsigned most)
{
	char *rest;
	unsigned long value = strtoul(text, &rest, 10);

	if (*text < '0' || *text > '9' || *rest || value < least || value > most) {
		fprintf(stderr, "%s: '--%s' wants a number from %u to %u, not '%s'\n", demo->program, option,
			least, most, text);
		exit(2);
	}
	return (unsigned)value;
}

void demo_options(struct demo *demo, int argc, char **argv)
{
	static const struct option options[] = {
		{ "good", no_argument, NULL, 'g' },
		{ "bad", no_argument, NULL, 'b' },
		{ "size", required_argument, NULL, 's' },
		{ "threads", required_argument, NULL, 't' },
		{ "truth", required_argument, NULL, 'w' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct demo given = *demo;
	int option, variant = -1;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'g':
		case 'b':
			variant = option == 'b';
			break;
		case 's':
			given.size = number(demo, "size", optarg, demo->smallest, demo->largest);
			break;
		case 't':
			given.threads = number(demo, "threads", optarg, 1, THREADS_AT_MOST);
			break;
		case 'w':
			given.truth = optarg;
			break;
		default:
			usage(demo, option == 'h' ? stdout : stderr);
			exit(option == 'h' ? 0 : 2);
		}
	}
	if (variant < 0 || optind < argc) {
		usage(demo, stderr);
		exit(2);
	}
	given.bad = variant;
	*demo = given;
}

/* ---- time ---- */

uint64_t demo_clock(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

void demo_start(struct demo *demo, const char *thread)
{
	truth_open(demo->truth != NULL);
	truth_thread(thread);
	demo->start = demo_clock(CLOCK_MONOTONIC);
	demo->cpu = demo_clock(CLOCK_PROCESS_CPUTIME_ID);
}

void demo_stop(struct demo *demo)
{
	demo->end = demo_clock(CLOCK_MONOTONIC);
	demo->cpu = demo_clock(CLOCK_PROCESS_CPUTIME_ID) - demo->cpu;
}

/* One stream: its head, what somebody waited for, and all events. */
static void write_truth(const struct demo *demo)
{
	FILE *file = fopen(demo->truth, "w");
	const char *variant = demo->bad ? "bad" : "good";

	if (!file)
		demo_fail(demo->truth);
	fprintf(file,
		"{\"stream\":\"%s-%s-%u\",\"host\":\"demo\",\"attrs\":{\"program\":\"%s\",\"variant\":\"%s\","
		"\"size\":%u,"
		"\"threads\":%u,\"time_ms\":%.3f}}\n",
		demo->program, variant, demo->size, demo->program, variant, demo->size, demo->threads,
		(double)(demo->end - demo->start) / 1e6);
	truth_write(file, demo->start, demo->end);
	if (fclose(file) != 0)
		demo_fail(demo->truth);
}

void demo_finish(struct demo *demo, const char *result)
{
	printf("%s: %s, size %u, threads %u: took %.3f s, %.3f s of CPU; %s\n", demo->program,
	       demo->bad ? "bad" : "good", demo->size, demo->threads, (double)(demo->end - demo->start) / 1e9,
	       (double)demo->cpu / 1e9, result);
	if (demo->truth)
		write_truth(demo);
}

/* ---- threads ---- */

static OWN_FRAME void *thread_begin(void *argument)
{
	struct demo_thread *thread = argument;

	truth_thread(thread->name);
	{
		IN_FRAME;
		thread->work(thread->argument);
		truth_waker_set(&thread->last);
	}
	return NULL;
}

void demo_thread_start(struct demo_thread *thread, const char *name, void (*work)(void *argument), void *argument)
{
	memset(thread, 0, sizeof(*thread));
	snprintf(thread->name, sizeof(thread->name), "%s", name);
	thread->work = work;
	thread->argument = argument;
	if (pthread_create(&thread->handle, NULL, thread_begin, thread) != 0)
		demo_fail("thread");
}
