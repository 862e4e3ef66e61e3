/*
 * Measures two ways to find the mapping of an address from a program in the kernel (mapping_lookup.bpf.c), at context switches
 * and at samples of this program:
 *
 *	mapping_lookup [SECONDS]
 *
 * Two threads take turns, and a third computes; in the second half a fourth maps and unmaps memory all the time. Eight
 * addresses are looked up at each moment, as for a stack of eight frames in different libraries.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mapping_lookup.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Woverlength-strings"
#include "mapping_lookup.skel.h"
#pragma GCC diagnostic pop

#define FREQUENCY 4999
/* Executable mappings beside the program's own: as many as a large server has. */
#define MORE_MAPPINGS 60

static atomic_int ends;

/* ---- the load ---- */

static void *take_turns(void *argument)
{
	const int *ends_of_pipes = argument;
	char byte = 0;

	while (!ends && write(ends_of_pipes[1], &byte, 1) == 1 && read(ends_of_pipes[0], &byte, 1) == 1)
		;
	return NULL;
}

static void *compute(void *argument)
{
	volatile uint64_t sum = 0;

	(void)argument;
	while (!ends)
		for (int i = 0; i < 100000; i++)
			sum += sum * 31 + (uint64_t)i;
	return NULL;
}

static void *map_and_unmap(void *argument)
{
	(void)argument;
	while (!ends) {
		char *bytes = mmap(NULL, 64 << 10, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (bytes != MAP_FAILED) {
			bytes[0] = 1;
			munmap(bytes, 64 << 10);
		}
	}
	return NULL;
}

static void run(unsigned seconds, int maps)
{
	void *(*work[])(void *argument) = { take_turns, take_turns, compute, map_and_unmap };
	int there[2], back[2], one[2], other[2];
	pthread_t threads[4];
	int count = maps ? 4 : 3;

	if (pipe(there) < 0 || pipe(back) < 0)
		exit(4);
	one[0] = there[0], one[1] = back[1], other[0] = back[0], other[1] = there[1];
	ends = 0;
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, work[i], i ? other : one))
			exit(4);
	sleep(seconds);
	ends = 1;
	close(there[1]);
	close(back[1]);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	close(there[0]);
	close(back[0]);
}

/* ---- the programs ---- */

static size_t read_mappings(struct lookup_mapping *mappings)
{
	FILE *file = fopen("/proc/self/maps", "re");
	char line[4096], rights[8];
	size_t count = 0;

	while (file && count < LOOKUP_MAPPINGS && fgets(line, sizeof(line), file)) {
		struct lookup_mapping *mapping = &mappings[count];

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64, &mapping->start, &mapping->end, rights,
			   &mapping->offset) == 4)
			count += rights[2] == 'x';
	}
	if (file)
		fclose(file);
	return count;
}

static int map_more(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *room = mmap(NULL, 2 * MORE_MAPPINGS * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (room == MAP_FAILED)
		return -1;
	for (size_t i = 0; i < MORE_MAPPINGS; i++)
		if (mprotect(room + 2 * i * page, page, PROT_READ | PROT_EXEC) < 0)
			return -1;
	return 0;
}

static struct mapping_lookup *load(void)
{
	static struct lookup_mapping mappings[LOOKUP_MAPPINGS];
	struct mapping_lookup *programs = mapping_lookup__open();
	size_t count = map_more() < 0 ? 0 : read_mappings(mappings);

	if (!programs || !count)
		return NULL;
	printf("%zu executable mappings\n", count);
	programs->rodata->process = (uint32_t)getpid();
	programs->rodata->mapping_count = (uint32_t)count;
	for (size_t i = 0; i < LOOKUPS; i++)
		programs->rodata->addresses[i] = mappings[i * count / LOOKUPS].start + 8 * i;
	bpf_program__set_autoattach(programs->progs.lookup_sample, false);
	if (mapping_lookup__load(programs))
		return NULL;
	for (uint32_t i = 0; i < count; i++)
		if (bpf_map_update_elem(bpf_map__fd(programs->maps.mappings), &i, &mappings[i], BPF_ANY) < 0)
			return NULL;
	return programs;
}

static int sample(struct bpf_program *program)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000000 / FREQUENCY,
		.exclude_idle = 1,
	};

	for (int cpu = 0; cpu < libbpf_num_possible_cpus(); cpu++) {
		int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

		if (fd >= 0 && !bpf_program__attach_perf_event(program, fd))
			return -1;
	}
	return 0;
}

/* ---- the table ---- */

static void print(const struct lookup_figures *figures, const struct lookup_figures *clock, const char *place,
		  const char *way)
{
	double ns = 0, most = 0, all = 0, found = 0, busy = 0;

	printf("%-9s %-24s", place, way);
	for (int i = 0; i < LOOKUPS; i++) {
		uint64_t calls = figures->found[i] + figures->busy[i] + figures->failed[i];

		printf(" %5.1f", calls ? 100.0 * (double)figures->found[i] / (double)calls : 0);
		all += (double)calls;
		found += (double)figures->found[i];
		busy += (double)figures->busy[i];
		ns += (double)figures->ns[i] - (double)clock->ns[i];
		if (!i)
			most = calls ? ((double)figures->ns[0] - (double)clock->ns[0]) / (double)calls : 0;
	}
	printf("  %5.1f %5.1f  %6.0f %6.0f  %8.0f\n", all ? 100 * found / all : 0, all ? 100 * busy / all : 0,
	       most, all ? ns / all : 0, all);
}

static void measure(struct mapping_lookup *programs, unsigned seconds, int maps)
{
	static const char *const places[] = { "switch", "sample" };
	static const char *const ways[] = { "bpf_find_vma", "search of an array" };

	memset(programs->bss->figures, 0, sizeof(programs->bss->figures));
	run(seconds, maps);
	printf("%s\n", maps ? "while another thread maps and unmaps:" : "while nothing is mapped:");
	for (int place = 0; place < LOOKUP_PLACES; place++)
		for (int way = 0; way < LOOKUP_NOTHING; way++)
			print(&programs->bss->figures[place][way], &programs->bss->figures[place][LOOKUP_NOTHING],
			      places[place], ways[way]);
}

int main(int count, char *words[])
{
	unsigned seconds = count > 1 ? (unsigned)strtoul(words[1], NULL, 10) : 10;
	struct mapping_lookup *programs = load();

	if (!programs || mapping_lookup__attach(programs) || sample(programs->progs.lookup_sample) < 0) {
		fprintf(stderr,
			"mapping_lookup: the kernel does not take the programs; bpf_find_vma needs Linux 5.17\n");
		return 77;
	}
	printf("%-9s %-24s answered, %% of the 1st ... 8th look-up             all  busy  ns 1st    all  "
	       "look-ups\n",
	       "", "");
	measure(programs, seconds / 2, 0);
	measure(programs, seconds / 2, 1);
	mapping_lookup__destroy(programs);
	return 0;
}
