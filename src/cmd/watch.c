/*
 * lode watch: a flight recorder. Records all the time, keeps the last seconds in
 * bounded memory, and writes them down as a stream when a trigger fires. Its options; tasks/live/watch_session.c does it.
 */
#include "cmd/push_process.h"
#include "tasks/live/record_settings.h"
#include "tasks/live/watch_settings.h"

#include <malloc.h>
#include <signal.h>

#define FIELD(field) offsetof(struct lode_watch_settings, field)

static const struct lode_option options[] = {
	LODE_RECORD_TARGET_OPTIONS(FIELD(target)),
	LODE_LIST(
		"trigger", 't', FIELD(triggers), "RULE",
		"write a stream when this is too slow: 'BIN:FUNC > 200ms', 'thread NAME wait > 50ms', 'thread "
		"NAME queue > 10ms', 'wait > 2s', 'request of NAME > 10ms', 'mark NAME > 100ms'; can be repeated"),
	LODE_SOME_DURATION("last", 'l', FIELD(last), "TIME", "keep this much of the past (default: 10s)"),
	LODE_TEXT(
		"after", 0, FIELD(after), "TIME",
		"continue for this long before writing; triggers that fire meanwhile join the stream (default: as "
		"long as --last, at most 1m)"),
	LODE_TEXT("memory", 'm', FIELD(memory), "SIZE", "use at most this much memory (default: 64MB)"),
	LODE_NUMBER("max-per-hour", 0, FIELD(per_hour), "N", "write at most N streams an hour (default: 12)", 1,
		    100000),
	LODE_LIST("keep", 0, FIELD(keep), "N|SIZE|AGE",
		  "remove the oldest streams of this watch beyond this: 20, 500MB, 7d; can be repeated"),
	LODE_SOME_DURATION("duration", 'd', FIELD(duration), "TIME", "stop after this time"),
	LODE_TEXT("output", 'o', FIELD(output), "CORPUS",
		  "the folder to write streams into (default: " LODE_DEFAULT_CORPUS ")"),
	LODE_TEXT("name", 'n', FIELD(name), "NAME", "name of the watch; the names of its streams begin with it"),
	LODE_LIST("attr", 0, FIELD(attributes), "KEY=VALUE", "an attribute of the streams; can be repeated"),
	LODE_TEXT("context", 0, FIELD(context), "LIST", LODE_CONTEXT_HELP),
	LODE_TEXT("push", 0, FIELD(push), "URL", "send the streams of CORPUS to a collector (lode push)"),
	LODE_TEXT("baseline", 0, FIELD(baseline), "SHARE",
		  "write a stream without a trigger in this share of all hours, drawn by host and hour, whose "
		  "events "
		  "count so many times more: 1%"),
	{ LODE_ROW("baseline-hour", 0, LODE_OPTION_DURATION, FIELD(baseline_hour), NULL, "for tests"), .hidden = 1 },
	LODE_RECORD_SYMBOL_OPTIONS(FIELD(symbols)),
	LODE_FLAG("json", 0, FIELD(json), "write a line of JSON for each stream, and one at the end"),
	LODE_NO_MORE_OPTIONS,
};

/* Memory that is freed goes back, so that what is used is what is seen. */
static void set_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, 256 << 10);
	mallopt(M_TRIM_THRESHOLD, 256 << 10);
}

/* Another process sends, from the corpus and its own spool: the recorder never waits for it. */
static int run_and_push(struct lode_call *call, struct lode_error *error)
{
	const struct lode_watch_settings *settings = call->settings;
	const char *corpus = settings->output ? settings->output : LODE_DEFAULT_CORPUS;
	struct lode_error reason;
	pid_t process;
	int code = lode_push_process_check(settings->push, error);

	process = code ? code : lode_push_process_follow(corpus, settings->push, error);
	if (process < 0)
		return process;
	code = lode_watch_run(call, error);
	lode_push_process_end(process);
	if (code != LODE_USAGE && lode_push_process_send(corpus, settings->push, &reason) < 0)
		lode_call_say(call, LODE_PLAIN, "%s", reason.text);
	return code;
}

static int run(struct lode_call *call, struct lode_error *error)
{
	const struct lode_watch_settings *settings = call->settings;

	signal(SIGHUP, SIG_IGN); /* a terminal that goes away is no reason to stop */
	set_memory();
	return settings->push ? run_and_push(call, error) : lode_watch_run(call, error);
}

const struct lode_command lode_command_watch = {
	.name = "watch",
	.summary = "keep the last seconds in memory, save them when something was slow",
	.usage = "[OPTIONS] [-- COMMAND [ARG...]]",
	.about = "Records a command, processes (-p) or the whole machine (-a) into memory and forgets what is "
		 "older than --last. When a trigger fires, what is in memory becomes a new stream of a corpus: "
		 "the symptom and the time before it. 'lode trigger' is the manual trigger. Ends when the command "
		 "or the processes do, after --duration, or on Ctrl-C. Needs root, or the capabilities CAP_BPF, "
		 "CAP_PERFMON and, for names of kernel functions, CAP_SYSLOG.",
	.examples = "  lode watch -a --trigger 'thread gui wait > 200ms' -o corpus\n"
		    "  lode watch -p 1234 --trigger '/usr/bin/app:answer > 200ms' --keep 20 -o corpus\n"
		    "  # saves when you run 'lode trigger'\n"
		    "  lode watch -a --last 30s --memory 256MB -o corpus\n",
	.options = options,
	.settings_size = sizeof(struct lode_watch_settings),
	.most_operands = SIZE_MAX,
	.operand = "COMMAND",
	.run = run,
};
