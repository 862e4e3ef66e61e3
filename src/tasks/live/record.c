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
	LODE_TEXT("context", 0, FIELD(context), "LIST",
		  "also record which request each event belonged to: marks (of lode_mark.h), otel (trace and span "
		  "of OpenTelemetry's thread context), postgres, mariadb (their queries)"),
	LODE_FLAG("kernel-locks", 0, FIELD(kernel_locks),
		  "also name the kernel's mutexes and semaphores that threads wait for"),
	LODE_RECORD_SYMBOL_OPTIONS(FIELD(symbols)),
	LODE_FLAG("json", 0, FIELD(json), "write what was recorded as JSON to standard output"),
	LODE_HIDDEN_FLAG("kernel-stacks-by-kernel", FIELD(no_own_walk), "do not walk kernel stacks; for tests"),
	LODE_NO_MORE_OPTIONS,
};

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
	.run = lode_record_run,
};
