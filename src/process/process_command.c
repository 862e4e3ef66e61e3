/*
 * Commands: see process_command.h.
 *
 * The kernel names a process after the file that it executes: its first argument as a rule, the second where a script is run
 * by its interpreter. One whose name is neither has called itself so. A child that was forked and executes nothing may do so,
 * too: its name says which part of the program it is, and stays.
 */
#include "process/process_command.h"

#include "base/proc_files.h"
#include "trace/script_modules.h"

#include <stdio.h>
#include <string.h>

/* Bytes of arguments that are looked at. */
#define ARGUMENTS 1024

/* Bytes of a name that the kernel keeps. */
#define NAME_LENGTH 15

/* The file's name in an argument, up to where a server's title goes on: "nginx: worker process"; "-bash" is a shell's first. */
static size_t base_name(const char **argument, size_t length)
{
	const char *slash;

	length = strnlen(*argument, length);
	slash = memrchr(*argument, '/', strcspn(*argument, " :") < length ? strcspn(*argument, " :") : length);
	if (slash) {
		length -= (size_t)(slash + 1 - *argument);
		*argument = slash + 1;
	}
	if (length && **argument == '-') {
		++*argument;
		length--;
	}
	return strcspn(*argument, " :") < length ? strcspn(*argument, " :") : length;
}

static int is_name(const char *name, const char *base, size_t length)
{
	size_t kept = length < NAME_LENGTH ? length : NAME_LENGTH;

	return length && strlen(name) == kept && !memcmp(name, base, kept);
}

/* ---- scripts ---- */

/* Options that a word follows which is no script. */
static int has_value(const char *option)
{
	static const char *const options[] = { "-cp",           "-classpath", "--class-path", "-p",
					       "--module-path", "-W",         "-X",           "-r",
					       "--require",     "--import",   "-o",           "-O" };

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (!strcmp(option, options[i]))
			return 1;
	return 0;
}

/* Options whose value is the module or archive that is run; those with a program in the command line have no name. */
static int names_program(const char *option)
{
	return !strcmp(option, "-m") || !strcmp(option, "-jar") || !strcmp(option, "--module");
}

static int is_program(const char *option)
{
	return !strcmp(option, "-c") || !strcmp(option, "-e") || !strcmp(option, "--eval") || !strcmp(option, "-p");
}

/* The script among the arguments of what runs it, from `at` on; NULL: there is none. */
static const char *find_script(const char *arguments, size_t at, size_t size)
{
	while (at < size && arguments[at]) {
		const char *word = arguments + at;
		size_t length = strnlen(word, size - at);

		if (length == size - at) /* cut short */
			return NULL;
		at += length + 1;
		if (*word != '-')
			return word;
		if (names_program(word))
			return at < size && arguments[at] && memchr(arguments + at, '\0', size - at)
				       ? arguments + at
				       : NULL;
		if (is_program(word))
			return NULL;
		if (has_value(word) && at < size)
			at += strnlen(arguments + at, size - at) + 1;
	}
	return NULL;
}

/* Puts the script's name, or nothing. */
static void put_script(const char *arguments, size_t size, const char *program, size_t length, char *command,
		       size_t room)
{
	size_t end = strnlen(arguments, size);
	char name[NAME_LENGTH + 1];
	const char *script;

	snprintf(name, sizeof(name), "%.*s", (int)length, program);
	script = lode_program_runs_scripts(name) ? find_script(arguments, end + 1, size) : NULL;
	if (!script)
		return;
	length = base_name(&script, strlen(script));
	snprintf(command, room, "%.*s", (int)length, script);
}

void lode_command_of_arguments(const char *arguments, size_t size, const char *name, char *command, size_t room)
{
	const char *first = arguments, *second = NULL;
	size_t first_length, second_length = 0, end;

	command[0] = '\0';
	end = size ? strnlen(arguments, size) : 0;
	if (!end || end == size)
		return; /* a kernel thread, or cut short */
	first_length = base_name(&first, end);
	if (end + 1 < size) {
		second = arguments + end + 1;
		second_length = base_name(&second, size - end - 1);
	}
	if (!first_length || is_name(name, second, second_length))
		return;
	put_script(arguments, size, first, first_length, command, room);
	if (command[0] || is_name(name, first, first_length))
		return;
	snprintf(command, room, "%.*s", (int)(first_length < NAME_LENGTH ? first_length : NAME_LENGTH), first);
}

/* Whether the parent has the same arguments: then the process executed nothing, and its name is the part that it has. */
static int is_parents(uint32_t pid, const char *arguments)
{
	char status[2048], others[ARGUMENTS] = "";
	uint64_t parent;

	if (!*arguments || lode_proc_text(status, sizeof(status), "/proc/%u/status", pid) < 0)
		return 0;
	parent = lode_proc_field(status, "\nPPid:", 10, 0);
	lode_proc_text(others, sizeof(others), "/proc/%u/cmdline", (uint32_t)parent);
	return !memcmp(arguments, others, sizeof(others));
}

void lode_process_command(uint32_t pid, const char *name, char *command, size_t room)
{
	char arguments[ARGUMENTS] = "";

	command[0] = '\0';
	lode_proc_text(arguments, sizeof(arguments), "/proc/%u/cmdline", pid);
	/* That it is called as what runs scripts says nothing of its part. */
	if (!lode_program_runs_scripts(name) && is_parents(pid, arguments))
		return;
	lode_command_of_arguments(arguments, sizeof(arguments), name, command, room);
}

void lode_command_inherit(char *command, const char *parents_command, const char *parents_name, const char *name)
{
	if (parents_command[0])
		snprintf(command, LODE_COMMAND_NAME, "%s", parents_command);
	else if (strcmp(parents_name, name) != 0)
		snprintf(command, LODE_COMMAND_NAME, "%s", parents_name);
}
