/* Commands of processes: see record_commands.h. */
#include "record/stream/record_commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_COMMANDS 256

/* By process, the first thread of each first. */
static int compare_threads(const void *left, const void *right)
{
	const struct lode_thread *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if ((a->tid == a->pid) != (b->tid == b->pid))
		return a->tid == a->pid ? -1 : 1;
	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

/* What the process of `first`, the first of its threads in the stream, was started as; "" where that is clear. */
static int find_command(struct lode_processes *processes, const struct lode_stream *stream,
			const struct lode_thread *first, char command[LODE_COMMAND_NAME])
{
	const struct lode_thread_lifetime *life;
	const char *name;

	command[0] = '\0';
	/* Of one that was never seen, its number may be another's by now. */
	if (first->pid == LODE_NO_PID || !first->pid ||
	    !lode_processes_has_thread(processes, first->pid, first->pid))
		return 0;
	life = lode_processes_life(processes, first->pid, first->pid);
	if (!life)
		return LODE_SYSTEM;
	name = first->tid == first->pid ? lode_strings_get(&stream->dictionary->frames.strings, first->name) : "";
	snprintf(command, LODE_COMMAND_NAME, "%s", life->command[0] ? life->command : life->name);
	if (!strcmp(command, name))
		command[0] = '\0';
	return 0;
}

int lode_record_commands(struct lode_processes *processes, struct lode_stream *stream)
{
	struct lode_thread *threads = lode_calloc(stream->thread_count + 1, sizeof(*threads));
	size_t commands = 0;
	int code = threads ? 0 : LODE_SYSTEM;

	if (!code && stream->thread_count) {
		memcpy(threads, stream->threads, stream->thread_count * sizeof(*threads));
		qsort(threads, stream->thread_count, sizeof(*threads), compare_threads);
	}
	for (size_t i = 0; !code && i < stream->thread_count && commands < MAX_COMMANDS; i++) {
		char command[LODE_COMMAND_NAME], key[32];

		if (i && threads[i].pid == threads[i - 1].pid)
			continue;
		code = find_command(processes, stream, &threads[i], command);
		if (code || !command[0])
			continue;
		snprintf(key, sizeof(key), LODE_COMMAND "%u", threads[i].pid);
		code = lode_stream_set_attribute(stream, key, command, LODE_ATTRIBUTE_TEXT);
		commands++;
	}
	lode_free(threads);
	return code;
}
