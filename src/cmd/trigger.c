/*
 * lode trigger: asks running flight recorders to save what they have in memory,
 * and prints the results.
 */
#include "base/memory.h"
#include "cmd/commands.h"
#include "tasks/live/watch_socket.h"

#include <stdio.h>
#include <string.h>

#define MAX_WATCHES 64

struct settings {
	uint64_t pid;
	uint64_t tid;
};

#define FIELD(field) offsetof(struct settings, field)

static const struct lode_option options[] = {
	LODE_NUMBER("pid", 'p', FIELD(pid), "PID", "ask only the lode watch with this process id", 1, INT32_MAX),
	LODE_NUMBER("thread", 't', FIELD(tid), "TID", "the thread that is too slow", 1, INT32_MAX),
	LODE_NO_MORE_OPTIONS,
};

static int ask(struct lode_call *call, pid_t pid, const char *name, struct lode_error *error)
{
	const struct settings *settings = call->settings;
	struct lode_buffer line = { 0 };
	char answer[LODE_WATCH_LINE];
	int code = lode_watch_ask(pid, (uint32_t)settings->tid, name, answer, error);

	if (code)
		return code;
	if (answer[0] == '!')
		return lode_fail(error, LODE_SYSTEM, "%s", answer + 1);
	lode_text_safe(&line, answer);
	lode_buffer_byte(&line, '\n');
	code = lode_show(&call->out, &line, error);
	lode_buffer_release(&line);
	return code;
}

static int run(struct lode_call *call, struct lode_error *error)
{
	const struct settings *settings = call->settings;
	const char *name = call->operand_count ? call->operands[0] : "";
	pid_t pids[MAX_WATCHES] = { (pid_t)settings->pid };
	size_t count = settings->pid ? 1 : lode_watch_list(pids, MAX_WATCHES);
	int code = 0;

	if (strlen(name) >= LODE_WATCH_NAME || strchr(name, '\n'))
		return lode_fail(error, LODE_USAGE, "trigger: a name has at most %d characters, in one line",
				 LODE_WATCH_NAME - 1);
	if (!count)
		return lode_fail(error, LODE_USAGE, "trigger: no 'lode watch' is running; start one first");
	if (count > MAX_WATCHES)
		return lode_fail(error, LODE_USAGE,
				 "trigger: %zu 'lode watch' processes are running; choose one with '-p PID'",
				 count);
	for (size_t i = 0; i < count; i++) {
		struct lode_error own = { "" };
		int answer = ask(call, pids[i], name, &own);

		if (answer && code)
			lode_say(&call->err, LODE_RED, "%s", error->text);
		if (answer) {
			*error = own;
			code = answer;
		}
	}
	return code;
}

const struct lode_command lode_command_trigger = {
	.name = "trigger",
	.summary = "make running flight recorders save what they have in memory",
	.usage = "[OPTIONS] [NAME]",
	.about = "Asks every 'lode watch' of this user to write a stream now, waits until it is written, and "
		 "prints its id. NAME says what is wrong, and becomes the name of the symptom in the stream.",
	.examples = "  lode trigger\n"
		    "  lode trigger 'the page hangs'\n"
		    "  lode trigger -t 4711 'no answer'\n",
	.options = options,
	.settings_size = sizeof(struct settings),
	.most_operands = 1,
	.operand = "NAME",
	.run = run,
};
