/*
 * Keeps programs that do nothing or little (floor.bpf.c) at the recorder's places in the
 * kernel while a command runs:
 *
 *	floor FREQUENCY CHANCE COMMAND [ARGUMENT]...
 *
 * FREQUENCY: samples a second of each CPU; 0: none. CHANCE: 0, or one in how many waits is recorded by its stacks instead of
 * doing nothing. Exits as the command does.
 */
#include "floor_samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Woverlength-strings"
#include "floor.skel.h"
#pragma GCC diagnostic pop

#define MAX_CPUS 1024

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
	struct bpf_link *samples[MAX_CPUS];
	unsigned long frequency, chance;

	if (!programs) {
		fprintf(stderr, "usage: floor FREQUENCY CHANCE COMMAND [ARGUMENT]...\n");
		return 2;
	}
	frequency = strtoul(words[1], NULL, 10);
	chance = strtoul(words[2], NULL, 10);
	programs->rodata->one_in = chance ? (uint32_t)chance : 1;
	bpf_program__set_autoload(chance ? programs->progs.floor_switch : programs->progs.uniform_switch, false);
	bpf_program__set_autoload(programs->progs.floor_waking, !chance);
	bpf_program__set_autoload(programs->progs.floor_mapping, false);
	bpf_program__set_autoattach(programs->progs.floor_sample, false);
	if (floor__load(programs) || floor__attach(programs) ||
	    (frequency && attach_samples(programs->progs.floor_sample, frequency, samples, MAX_CPUS) < 0)) {
		fprintf(stderr, "floor: the kernel does not take the programs\n");
		return 4;
	}
	return run(words + 3);
}
