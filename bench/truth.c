/*
 * The truth about a program's calls, and what a recorder sees of them.
 *
 * Linked into a program of one thread that is built with -finstrument-functions. Every call
 * and return moves in a tree of contexts and adds to the latency of the one that ends. On the
 * side the kernel writes into a ring what happens to the thread: ticks of a CPU clock, context
 * switches, system calls. The ring is emptied at each call and return, so that of each such
 * event the true stack at its time is known: it is what a recorder with perfect stacks has.
 * Timers that are only made up, with phases of their own, show what luck does to samples.
 *
 * LODE_TRUTH names the file to write; LODE_TRUTH_HZ the ticks a second (999);
 * LODE_TRUTH_TIMERS the number of timers, the real one included (1). Lines of the file:
 *
 *	node PARENT ADDRESS CALLS TOTAL_NS KINDS   contexts, from number 1 on; 0 is the root
 *	event KIND T COST NODE                     KIND: 0 switch, 1 system call, 2 on: timers
 *	instances NS COUNT BY_CALLS BY_CALLS_AND_SWITCHES BY_ALL   how many calls took about so
 *	                                           long, and how many of them events show
 *	lost COUNT                                 events that the ring had no room for
 *
 * KINDS is a mask: 1 a switch shows the context, 2 a system call, 4 a tick of the real timer.
 */
#define _GNU_SOURCE
#include "context_tree.h"

#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_EVENT  (1u << 25)
#define MAX_TIMER  64
#define RING_PAGES 1024u
#define STEPS      (64 * 16)

enum { SWITCH, CALL, TIMER };

struct call {
	uint64_t t;
	uint32_t node;
	uint32_t kinds; /* of events that showed it or what it called */
};

struct event {
	uint64_t t;
	uint64_t cost;
	uint32_t kind;
	uint32_t node;
};

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

static const char *path;
static struct call *calls;
static uint32_t depth;
static struct event *events;
static size_t event_count;
static uint64_t instances[STEPS][4];
static struct perf_event_mmap_page *ring;
static uint64_t ring_size, tail, timer_id, lost, off_since, first_t;
static double period, next_tick[MAX_TIMER], earliest = 1e300;
static int timers = 1;

/* ---- what is seen ---- */

static QUIET void see(uint32_t kind, uint64_t t, uint64_t cost)
{
	if (!depth || event_count >= MAX_EVENT)
		return;
	events[event_count++] = (struct event){ t, cost, kind, calls[depth].node };
	if (kind <= TIMER)
		calls[depth].kinds |= 1u << kind;
}

static QUIET void find_earliest(void)
{
	earliest = 1e300;
	for (int i = 1; i < timers; i++)
		earliest = next_tick[i] < earliest ? next_tick[i] : earliest;
}

static QUIET void tick_until(uint64_t t)
{
	if (off_since || earliest >= (double)t)
		return;
	for (int i = 1; i < timers; i++)
		for (; next_tick[i] < (double)t; next_tick[i] += period)
			see(TIMER + (uint32_t)i, (uint64_t)next_tick[i], (uint64_t)period);
	find_earliest();
}

/* Simulated timers stop while the thread does not run. */
static QUIET void take_switch(int out, uint64_t t)
{
	tick_until(t);
	if (out) {
		off_since = t;
	} else if (off_since) {
		see(SWITCH, off_since, t - off_since);
		for (int i = 1; i < timers; i++)
			next_tick[i] += (double)(t - off_since);
		find_earliest();
		off_since = 0;
	}
}

static QUIET void copy_out(void *to, uint64_t at, size_t size)
{
	const char *data = (const char *)ring + ring->data_offset;

	for (size_t i = 0; i < size; i++)
		((char *)to)[i] = data[(at + i) % ring_size];
}

/* Takes the next record if it is not later than `t`. */
static QUIET int take_record(uint64_t t)
{
	struct perf_event_header header;
	uint64_t words[2];

	copy_out(&header, tail, sizeof(header));
	if (header.type == PERF_RECORD_SAMPLE || header.type == PERF_RECORD_SWITCH) {
		int sample = header.type == PERF_RECORD_SAMPLE;

		copy_out(words, tail + header.size - sizeof(words), sizeof(words));
		if (words[sample] > t)
			return 0;
		tick_until(words[sample]);
		if (!sample)
			take_switch(!!(header.misc & PERF_RECORD_MISC_SWITCH_OUT), words[0]);
		else
			see(words[0] == timer_id ? TIMER : CALL, words[1],
			    words[0] == timer_id ? (uint64_t)period : 0);
	} else if (header.type == PERF_RECORD_LOST) {
		copy_out(words, tail + sizeof(header), sizeof(words));
		lost += words[1];
	}
	tail += header.size;
	return 1;
}

static QUIET void advance(uint64_t t)
{
	uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);

	if (head != tail) {
		while (tail < head && take_record(t))
			;
		__atomic_store_n(&ring->data_tail, tail, __ATOMIC_RELEASE);
	}
	tick_until(t);
}

/* ---- calls ---- */

QUIET void __cyg_profile_func_enter(void *function, void *site)
{
	uint64_t t;

	(void)site;
	if (!ring || depth + 1 >= MAX_DEPTH)
		return;
	t = now();
	advance(t);
	calls[depth + 1] = (struct call){ t, child_of(calls[depth].node, function), 0 };
	depth++;
}

/* 16 steps for each doubling. */
static QUIET unsigned step_of(uint64_t latency)
{
	unsigned high = latency ? 63u - (unsigned)__builtin_clzll(latency) : 0;

	return latency < 16 ? (unsigned)latency : (high - 3) * 16 + (unsigned)(latency >> (high - 4) & 15);
}

static QUIET void end_call(uint64_t t)
{
	const struct call *call = &calls[depth];
	uint64_t *row = instances[step_of(t - call->t)];

	nodes[call->node].calls++;
	nodes[call->node].total += t - call->t;
	nodes[call->node].kinds |= call->kinds;
	row[0]++;
	row[1] += !!(call->kinds & 1u << CALL);
	row[2] += !!(call->kinds & (1u << CALL | 1u << SWITCH));
	row[3] += !!call->kinds;
	depth--;
	calls[depth].kinds |= call->kinds;
}

/* A jump out of several calls ends them all. */
QUIET void __cyg_profile_func_exit(void *function, void *site)
{
	uint64_t t;
	uint32_t at = depth;

	(void)site;
	if (!ring)
		return;
	while (at && nodes[calls[at].node].function != function)
		at--;
	if (!at)
		return;
	t = now();
	advance(t);
	while (depth >= at)
		end_call(t);
}

/* ---- begin and end ---- */

static QUIET int watch(struct perf_event_attr *attr, int group)
{
	int file;

	attr->size = sizeof(*attr);
	attr->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME;
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->exclude_hv = 1;
	file = (int)syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (file >= 0 && group >= 0)
		ioctl(file, PERF_EVENT_IOC_SET_OUTPUT, group);
	return file;
}

static QUIET int system_call_event(void)
{
	FILE *file = fopen("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id", "r");
	int id = -1;

	if (file && fscanf(file, "%d", &id) != 1)
		id = -1;
	if (file)
		fclose(file);
	return id;
}

static QUIET void open_ring(double hz)
{
	struct perf_event_attr timer = { .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK };
	struct perf_event_attr call = { .type = PERF_TYPE_TRACEPOINT, .sample_period = 1 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int file, id = system_call_event();
	void *at;

	timer.sample_period = (uint64_t)(1e9 / hz);
	timer.context_switch = 1;
	file = watch(&timer, -1);
	if (file < 0 || ioctl(file, PERF_EVENT_IOC_ID, &timer_id) < 0) {
		perror("truth: perf_event_open");
		exit(77);
	}
	ring_size = RING_PAGES * page;
	at = mmap(NULL, ring_size + page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (at == MAP_FAILED) {
		perror("truth: mmap");
		exit(77);
	}
	call.config = (uint64_t)id;
	if (id >= 0)
		watch(&call, file);
	ring = at;
}

static QUIET __attribute__((constructor)) void begin(void)
{
	const char *hz = getenv("LODE_TRUTH_HZ"), *number = getenv("LODE_TRUTH_TIMERS");

	path = getenv("LODE_TRUTH");
	if (!path)
		return;
	tree_open();
	calls = room(MAX_DEPTH * sizeof(*calls));
	events = room(MAX_EVENT * sizeof(*events));
	period = 1e9 / (hz ? atof(hz) : 999);
	timers = number ? atoi(number) : 1;
	timers = timers < 1 ? 1 : timers > MAX_TIMER ? MAX_TIMER : timers;
	first_t = now();
	for (int i = 1; i < timers; i++)
		next_tick[i] = (double)first_t + period * i / timers;
	find_earliest();
	open_ring(hz ? atof(hz) : 999);
}

/* The smallest latency of a step. */
static QUIET unsigned long long step_floor(unsigned step)
{
	return step < 16 ? step : (unsigned long long)(16 + step % 16) << (step / 16 - 1);
}

static QUIET __attribute__((destructor)) void end(void)
{
	uint64_t t = now();
	FILE *file;

	if (!ring)
		return;
	advance(t);
	while (depth)
		end_call(t);
	ring = NULL;
	file = fopen(path, "w");
	if (!file) {
		perror(path);
		return;
	}
	for (uint32_t i = 1; i < node_count; i++)
		fprintf(file, "node %u %llx %llu %llu %u\n", nodes[i].parent,
			(unsigned long long)(uintptr_t)nodes[i].function, (unsigned long long)nodes[i].calls,
			(unsigned long long)nodes[i].total, nodes[i].kinds);
	for (size_t i = 0; i < event_count; i++)
		fprintf(file, "event %u %llu %llu %u\n", events[i].kind,
			(unsigned long long)(events[i].t - first_t), (unsigned long long)events[i].cost,
			events[i].node);
	for (unsigned i = 0; i < STEPS; i++)
		if (instances[i][0])
			fprintf(file, "instances %llu %llu %llu %llu %llu\n", step_floor(i),
				(unsigned long long)instances[i][0], (unsigned long long)instances[i][1],
				(unsigned long long)instances[i][2], (unsigned long long)instances[i][3]);
	fprintf(file, "lost %llu\n", (unsigned long long)lost);
	fclose(file);
}
