/*
 * Writes plain events of what a demo program does while it does it; see truth.h.
 *
 * A thread keeps its stack as the text that goes into the events, so that entering
 * a function appends and leaving it cuts off. All events go into one stream in
 * memory, whose lock makes each line whole; the file is written at the end, because
 * its head says how long the run took.
 *
 * Run time is counted exactly: what is too short for its own event is added
 * to the next one of the thread, up to its next wait. So is what an interrupt
 * between the readings of the two clocks adds: no run is longer than the time
 * it took. What is neither run nor wait the thread was ready and had no
 * processor: a preemption, behind the run.
 */
#include "truth_log.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SAMPLE        1000000u /* ns: the longest run event, as with a sampler at 1000 Hz */
#define SHORTEST_RUN  2000u    /* ns; any function that does real work takes longer */
#define SHORTEST_WAIT 20000u   /* ns; of preemptions, too */

static FILE *events; /* NULL: no truth wanted */
static char *text;
static size_t text_size;

static __thread struct {
	pid_t tid;
	size_t length;
	char stack[TRUTH_STACK]; /* "module!function","module!function" */
	uint64_t since;          /* time and CPU time up to which all is written */
	uint64_t cpu;
} self;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* In pieces as long as samples are. */
static void write_pieces(uint64_t begin, uint64_t cost)
{
	uint64_t pieces = cost / SAMPLE + 1;

	for (uint64_t i = 0; i < pieces; i++)
		fprintf(events,
			"{\"type\":\"run\",\"t\":%llu,\"cost\":%llu,\"pid\":%d,\"tid\":%d,\"stack\":[%s]}\n",
			(unsigned long long)(begin + cost * i / pieces),
			(unsigned long long)(cost * (i + 1) / pieces - cost * i / pieces), getpid(), self.tid,
			self.stack);
}

static void write_preemption(uint64_t begin, uint64_t delay)
{
	if (delay >= SHORTEST_WAIT)
		fprintf(events,
			"{\"type\":\"call\",\"name\":\"preempt\",\"t\":%llu,\"delay\":%llu,\"pid\":%d,\"tid\":%d,"
			"\"stack\":[%s]}"
			"\n",
			(unsigned long long)begin, (unsigned long long)delay, getpid(), self.tid, self.stack);
}

/* The run since the last event, unless it is shorter than `least`. */
static void write_run(uint64_t least)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t cost = cpu - self.cpu;

	if (cost < least || !self.length)
		return;
	cost = cost < now - self.since ? cost : now - self.since;
	write_pieces(self.since, cost);
	write_preemption(self.since + cost, now - self.since - cost);
	self.since = now;
	self.cpu += cost;
}

static void append(const char *words, size_t length)
{
	if (self.length + length >= sizeof(self.stack)) {
		fprintf(stderr, "truth: a stack is longer than %d bytes\n", TRUTH_STACK);
		exit(4);
	}
	memcpy(self.stack + self.length, words, length);
	self.length += length;
	self.stack[self.length] = '\0';
}

static void append_text(const char *words)
{
	append(words, strlen(words));
}

static void cut(size_t length)
{
	self.length = length;
	self.stack[length] = '\0';
}

size_t truth_enter(const char *module, const char *function)
{
	size_t caller = self.length;

	if (!events)
		return 0;
	write_run(SHORTEST_RUN);
	append_text(caller ? ",\"" : "\"");
	append_text(module);
	append_text("!");
	append_text(function);
	append_text("\"");
	return caller;
}

/* A thread's last run is written however short it is: nothing comes after it. */
void truth_leave(size_t *caller)
{
	if (!events)
		return;
	write_run(*caller ? SHORTEST_RUN : 1);
	cut(*caller);
}

/* ---- waits ---- */

uint64_t truth_wait_begin(void)
{
	if (!events)
		return 0;
	write_run(1);
	return clock_ns(CLOCK_MONOTONIC);
}

static void append_leaf(const char *leaf)
{
	for (size_t length; *leaf; leaf += length + (leaf[length] == ';')) {
		length = strcspn(leaf, ";");
		append_text(",\"");
		append(leaf, length);
		append_text("\"");
	}
}

void truth_wait_end(uint64_t begin, const char *leaf, const struct truth_waker *waker)
{
	size_t caller = self.length;
	uint64_t now;

	if (!events)
		return;
	now = clock_ns(CLOCK_MONOTONIC);
	if (now - begin < SHORTEST_WAIT)
		return;
	append_leaf(leaf);
	flockfile(events);
	fprintf(events, "{\"type\":\"wait\",\"t\":%llu,\"cost\":%llu,\"pid\":%d,\"tid\":%d,\"stack\":[%s]",
		(unsigned long long)begin, (unsigned long long)(now - begin), getpid(), self.tid, self.stack);
	if (waker && waker->tid && waker->tid != self.tid)
		fprintf(events, ",\"waker\":%d,\"waker_stack\":[%s]", waker->tid, waker->stack);
	fputs("}\n", events);
	funlockfile(events);
	cut(caller);
	self.since = now;
	self.cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void truth_waker_set(struct truth_waker *waker)
{
	if (!events)
		return;
	waker->tid = self.tid;
	memcpy(waker->stack, self.stack, self.length + 1);
}

/* ---- the whole ---- */

void truth_open(int wanted)
{
	if (!wanted)
		return;
	events = open_memstream(&text, &text_size);
	if (!events) {
		perror("truth");
		exit(4);
	}
}

void truth_thread(const char *name)
{
	pthread_setname_np(pthread_self(), name);
	if (!events)
		return;
	self.tid = gettid();
	self.since = clock_ns(CLOCK_MONOTONIC);
	self.cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	fprintf(events, "{\"type\":\"thread\",\"pid\":%d,\"tid\":%d,\"name\":\"%s\"}\n", getpid(), self.tid, name);
}

void truth_write(FILE *file, uint64_t t0, uint64_t t1)
{
	if (fclose(events) != 0) {
		perror("truth");
		exit(4);
	}
	events = NULL;
	fprintf(file, "{\"type\":\"symptom\",\"pid\":%d,\"tid\":%d,\"t0\":%llu,\"t1\":%llu}\n", getpid(), self.tid,
		(unsigned long long)t0, (unsigned long long)t1);
	fwrite(text, 1, text_size, file);
	free(text);
}
