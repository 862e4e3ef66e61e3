/*
 * The first process of a virtual machine of tools/kernel-check: mounts what Lode needs, runs the command lines of
 * /commands one after the other, prints how each ended, and turns the machine off.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_LINE  1000
#define MAX_WORDS 30

static void run(char *line)
{
	char *words[MAX_WORDS + 1] = { NULL };
	int count = 0, status;
	pid_t child;

	for (char *word = strtok(line, " "); word && count < MAX_WORDS; word = strtok(NULL, " "))
		words[count++] = word;
	if (!count)
		return;
	fflush(stdout);
	child = fork();
	if (!child) {
		execv(words[0], words);
		perror(words[0]);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		status = -1;
	printf("\nended %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

int main(void)
{
	static const char *const mounts[][2] = {
		{ "proc", "/proc" },    { "sysfs", "/sys" },
		{ "devtmpfs", "/dev" }, { "tracefs", "/sys/kernel/tracing" },
		{ "tmpfs", "/tmp" },
	};
	struct utsname kernel;
	char line[MAX_LINE];
	FILE *commands;

	for (size_t i = 0; i < sizeof(mounts) / sizeof(*mounts); i++)
		if (mount(mounts[i][0], mounts[i][1], mounts[i][0], 0, NULL))
			perror(mounts[i][1]);
	if (!uname(&kernel))
		printf("Linux version %s\n", kernel.release);
	setenv("HOME", "/tmp", 1);
	setenv("PATH", "/bin", 1);
	commands = fopen("/commands", "r");
	while (commands && fgets(line, sizeof(line), commands)) {
		line[strcspn(line, "\n")] = 0;
		run(line);
	}
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
	return 1;
}
