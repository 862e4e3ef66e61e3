/*
 * Keeps programs that do nothing or little (floor.bpf.c) at the recorder's places in the
 * kernel while a command runs:
 *
 *	floor FREQUENCY CHANCE COMMAND [ARGUMENT]...
 *
 * FREQUENCY: samples a second of each CPU; 0: none. CHANCE: 0, or one in how many waits is recorded by its stacks instead of
 * doing nothing. Exits as the command does.
 */
#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Woverlength-strings"
#include "floor.skel.h"
#pragma GCC diagnostic pop

static int sample(struct bpf_program *program, unsigned long frequency)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.exclude_idle = 1,
	};

	if (!frequency)
		return 0;
	attr.sample_period = 1000000000 / frequency;
	for (int cpu = 0; cpu < libbpf_num_possible_cpus(); cpu++) {
		int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

		if (fd >= 0 && !bpf_program__attach_perf_event(program, fd))
			return -1;
	}
	return 0;
}

static int run(char *const command[])
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		execvp(command[0], command);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status))
		return 1;
	return WEXITSTATUS(status);
}

int main(int count, char *words[])
{
	struct floor *programs = count > 3 ? floor__open() : NULL;
	unsigned long chance;

	if (!programs) {
		fprintf(stderr, "usage: floor FREQUENCY CHANCE COMMAND [ARGUMENT]...\n");
		return 2;
	}
	chance = strtoul(words[2], NULL, 10);
	programs->rodata->one_in = chance ? (uint32_t)chance : 1;
	bpf_program__set_autoload(chance ? programs->progs.floor_switch : programs->progs.uniform_switch, false);
	bpf_program__set_autoload(programs->progs.floor_waking, !chance);
	bpf_program__set_autoload(programs->progs.floor_mapping, false);
	bpf_program__set_autoattach(programs->progs.floor_sample, false);
	if (floor__load(programs) || floor__attach(programs) ||
	    sample(programs->progs.floor_sample, strtoul(words[1], NULL, 10))) {
		fprintf(stderr, "floor: the kernel does not take the programs\n");
		return 4;
	}
	return run(words + 3);
}
