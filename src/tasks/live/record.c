/*
 * lode record: what the threads of this machine run, what they wait for, and who
 * wakes them, into a stream of a corpus. Its options; record_session.c does it.
 */
#include "tasks/live/record_settings.h"

#define FIELD(field) offsetof(struct lode_record_settings, field)

static const struct lode_option options[] = {
	LODE_RECORD_TARGET_OPTIONS(FIELD(target)),
	LODE_SOME_DURATION("duration", 'd', FIELD(duration), "TIME", "stop after this time"),
	LODE_TEXT("output", 'o', FIELD(output), "CORPUS",
		  "the folder to record into (default: " LODE_DEFAULT_CORPUS ")"),
	LODE_TEXT("name", 'n', FIELD(name), "NAME", "name of the stream"),
	LODE_LIST("attr", 0, FIELD(attributes), "KEY=VALUE", "an attribute of the stream; can be repeated"),
	LODE_LIST("symptom", 0, FIELD(symptoms), "RULE",
		  "what was too slow: 'thread NAME', 'run > 2s', 'function BIN:FUNC > 200ms', 'mark NAME > "
		  "100ms'; can be repeated"),
	LODE_TEXT("context", 0, FIELD(context), "LIST", LODE_CONTEXT_HELP),
	LODE_FLAG("kernel-locks", 0, FIELD(kernel_locks),
		  "also name the kernel's mutexes and semaphores that threads wait for"),
	LODE_TEXT("push", 0, FIELD(push), "URL", "send the streams of CORPUS to a collector afterwards (lode push)"),
	LODE_FLAG("gpu", 0, FIELD(gpu),
		  "also record what the command does with NVIDIA's GPUs: kernels, copies, launches, and who waits "
		  "for them"),
	LODE_RECORD_SYMBOL_OPTIONS(FIELD(symbols)),
	LODE_FLAG("json", 0, FIELD(json), "write what was recorded as JSON to standard output"),
	LODE_HIDDEN_FLAG("kernel-stacks-by-kernel", FIELD(no_own_walk), "do not walk kernel stacks; for tests"),
	LODE_NO_MORE_OPTIONS,
};

/* What was recorded is there, whether it can be sent or not. */
static int run(struct lode_call *call, struct lode_error *error)
{
	const struct lode_record_settings *settings = call->settings;
	const char *corpus = settings->output ? settings->output : LODE_DEFAULT_CORPUS;
	struct lode_error reason;
	int code = 0;

	if (settings->push && !call->host->pusher)
		return lode_fail(error, LODE_USAGE,
				 "--push is for the program 'lode'; send the corpus with it afterwards");
	if (settings->push)
		code = call->host->pusher->check(settings->push, error);
	if (code)
		return code;
	code = lode_record_run(call, error);
	if (settings->push && code != LODE_USAGE && call->host->pusher->send(corpus, settings->push, &reason) < 0)
		lode_call_say(call, LODE_PLAIN, "%s", reason.text);
	return code;
}

const struct lode_command lode_command_record = {
	.name = "record",
	.summary = "record what threads run, what they wait for, and who wakes them",
	.usage = "[OPTIONS] [-- COMMAND [ARG...]]",
	.about = "Records a command, processes (-p) or the whole machine (-a) into a new stream of a corpus: CPU "
		 "samples, waits with their wakers, preemptions and, if requested, system calls, all with their "
		 "stacks. Ends when the command or the processes do, after --duration, or on Ctrl-C. The exit "
		 "status is that of the command. Needs root, or the capabilities CAP_BPF, CAP_PERFMON and, for "
		 "names of kernel functions, CAP_SYSLOG.",
	.examples = "  lode record -- make -j4\n"
		    "  lode record -p 1234 --duration 10s -o corpus\n"
		    "  lode record -a --min-wait 1ms --duration 1m -o corpus\n"
		    "  lode record --attr version=4.2 --symptom 'run > 2s' -o corpus -- ./app big.xml\n",
	.options = options,
	.settings_size = sizeof(struct lode_record_settings),
	.most_operands = SIZE_MAX,
	.operand = "COMMAND",
	.run = run,
};
