/* Attaches a program to samples of all CPUs; for floor.c and parts.c. */
#ifndef LODE_BENCH_FLOOR_SAMPLES_H
#define LODE_BENCH_FLOOR_SAMPLES_H

#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int open_event(struct perf_event_attr *attr, int cpu)
{
	return (int)syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Fills up to `most` links. Returns how many, or -1 with errno set. CPUs that are switched off are left out. */
static inline int attach_samples(struct bpf_program *program, unsigned long frequency, struct bpf_link **links,
				 int most)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.exclude_idle = 1,
		.sample_period = 1000000000 / frequency,
	};
	int count = 0;

	for (int cpu = 0; cpu < libbpf_num_possible_cpus() && count < most; cpu++) {
		int fd = open_event(&attr, cpu);

		if (fd < 0)
			continue;
		links[count] = bpf_program__attach_perf_event(program, fd);
		if (!links[count++])
			return -1;
	}
	return count;
}

#endif
