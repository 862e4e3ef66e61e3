/*
 * Attaches what a recorder consists of, part by part, empty (floor.bpf.c), as lines of standard input say; for bench/calls:
 *
 *	on PART[,PART]...     off
 *
 * Parts: switch, waking, mapping (programs at these tracepoints), samples:FREQUENCY, reports (the kernel's reports of mappings of
 * code, which nothing reads). Answers each line with "done", or ends.
 */
#include "floor_samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Woverlength-strings"
#include "floor.skel.h"
#pragma GCC diagnostic pop

#define MOST       1024
#define RING_PAGES 128

static struct bpf_link *links[MOST];
static size_t link_count;
static int events[MOST];
static void *rings[MOST];
static size_t event_count;

static int fail(const char *what)
{
	fprintf(stderr, "parts: %s: %s\n", what, strerror(errno));
	return -1;
}

static int attach(struct bpf_program *program)
{
	struct bpf_link *link = link_count < MOST ? bpf_program__attach(program) : NULL;

	if (!link)
		return fail(bpf_program__name(program));
	links[link_count++] = link;
	return 0;
}

static int sample(struct bpf_program *program, const char *frequency)
{
	unsigned long each = strtoul(frequency, NULL, 10);
	int count = each ? attach_samples(program, each, links + link_count, (int)(MOST - link_count)) : -1;

	if (count < 0)
		return fail("samples");
	link_count += (size_t)count;
	return 0;
}

static size_t ring_bytes(void)
{
	return (RING_PAGES + 1) * (size_t)sysconf(_SC_PAGESIZE);
}

static int report(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.mmap = 1,
		.mmap2 = 1,
	};

	for (int cpu = 0; cpu < libbpf_num_possible_cpus() && event_count < MOST; cpu++) {
		int fd = open_event(&attr, cpu);
		void *ring = fd >= 0 ? mmap(NULL, ring_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
				     : MAP_FAILED;

		if (ring == MAP_FAILED)
			return fail("reports");
		rings[event_count] = ring;
		events[event_count++] = fd;
	}
	return 0;
}

static int turn_on(struct floor *programs, char *names)
{
	int code = 0;

	for (char *name = strtok(names, ",\n"); !code && name; name = strtok(NULL, ",\n")) {
		if (!strcmp(name, "switch"))
			code = attach(programs->progs.floor_switch);
		else if (!strcmp(name, "waking"))
			code = attach(programs->progs.floor_waking);
		else if (!strcmp(name, "mapping"))
			code = attach(programs->progs.floor_mapping);
		else if (!strcmp(name, "reports"))
			code = report();
		else if (!strncmp(name, "samples:", 8))
			code = sample(programs->progs.floor_sample, name + 8);
		else if (strcmp(name, "nothing")) {
			errno = EINVAL;
			code = fail(name);
		}
	}
	return code;
}

/* A ring that stays mapped keeps its event. */
static void turn_off(void)
{
	while (link_count)
		bpf_link__destroy(links[--link_count]);
	while (event_count) {
		munmap(rings[--event_count], ring_bytes());
		close(events[event_count]);
	}
}

int main(void)
{
	struct floor *programs = floor__open();
	char line[256];

	if (!programs || bpf_program__set_autoload(programs->progs.uniform_switch, false) || floor__load(programs)) {
		fprintf(stderr, "parts: the kernel does not take the programs\n");
		return 4;
	}
	while (fgets(line, sizeof(line), stdin)) {
		if (!strncmp(line, "on ", 3) && turn_on(programs, line + 3) < 0)
			return 1;
		if (!strcmp(line, "off\n"))
			turn_off();
		printf("done\n");
		fflush(stdout);
	}
	return 0;
}
