/*
 * The options that say what is recorded, of `lode record` and `lode watch`. A command puts a struct lode_record_target_settings into its own
 * settings and LODE_RECORD_TARGET_OPTIONS(its offset) into its table.
 */
#ifndef LODE_TASKS_LIVE_RECORD_TARGET_OPTIONS_H
#define LODE_TASKS_LIVE_RECORD_TARGET_OPTIONS_H

#include "tasks/options.h"

struct lode_record_target_settings {
	struct lode_option_list pids;
	int all;
	const char *comm;
	const char *cgroup;
	uint64_t frequency;
	int no_samples;
	const char *budget;
	int no_budget;
	int calls;
	uint64_t min_wait;
	uint64_t long_waits;
	const char *unwind;
	uint64_t unwind_size;
	const char *languages;
	int lines;
	int command_line;
};

/* The ways to find user stacks, for a choice of options; NULL behind the last. */
LODE_CHOICES(lode_unwind_choice, "auto", "frame-pointer", "dwarf")

#define LODE_LANGUAGES_HELP                                                                                       \
	"languages whose functions are in stacks beside native ones: python,javascript,java,php (the default), "  \
	"or "                                                                                                     \
	"none"
#define LODE_CONTEXT_HELP                                                                                         \
	"also record which request each event belonged to: marks (of lode_mark.h), otel (trace and span of "      \
	"OpenTelemetry's thread context), postgres, mariadb (their queries)"
#define LODE_COMMAND_LINE_HELP "also store the arguments of the command, which may be secret; else only its name"

#define LODE_RECORD_TARGET_FIELD(base, field) ((base) + offsetof(struct lode_record_target_settings, field))
#define LODE_RECORD_TARGET_OPTIONS(base)                                                                           \
	LODE_LIST("pid", 'p', LODE_RECORD_TARGET_FIELD(base, pids), "PID",                                         \
		  "record this process and its children; can be repeated"),                                        \
		LODE_FLAG("all", 'a', LODE_RECORD_TARGET_FIELD(base, all), "record all processes"),                \
		LODE_TEXT("comm", 0, LODE_RECORD_TARGET_FIELD(base, comm), "NAME",                                 \
			  "record only threads with this name"),                                                   \
		LODE_TEXT("cgroup", 0, LODE_RECORD_TARGET_FIELD(base, cgroup), "DIR",                              \
			  "record only threads in this control group or below it"),                                \
		LODE_NUMBER("frequency", 'F', LODE_RECORD_TARGET_FIELD(base, frequency), "HZ",                     \
			    "CPU samples per second on each processor (default: 999, or 97 with a budget)", 1,     \
			    100000),                                                                               \
		LODE_TEXT("budget", 0, LODE_RECORD_TARGET_FIELD(base, budget), "SHARE",                            \
			  "aim to use this share of the machine's CPU time, such as 1% (the default of watch): "   \
			  "short waits and calls are sampled, each with its weight, if needed only in random "     \
			  "time slots; the rate of CPU samples drops to as low as 19 a second; all waits over "    \
			  "10 ms are recorded if that takes no more than a third of the budget, or three "         \
			  "quarters with a symptom that is longer"),                                               \
		LODE_FLAG("no-budget", 0, LODE_RECORD_TARGET_FIELD(base, no_budget), "record everything"),         \
		LODE_FLAG("no-samples", 0, LODE_RECORD_TARGET_FIELD(base, no_samples), "take no CPU samples"),     \
		LODE_FLAG("calls", 0, LODE_RECORD_TARGET_FIELD(base, calls), "also record system calls"),          \
		LODE_DURATION("min-wait", 0, LODE_RECORD_TARGET_FIELD(base, min_wait), "TIME",                     \
			      "leave out shorter waits"),                                                          \
		LODE_SOME_DURATION("long-waits", 0, LODE_RECORD_TARGET_FIELD(base, long_waits), "TIME",            \
				   "with a budget: record every wait longer than this, regardless of the cost"),   \
		LODE_CHOICE("unwind", 0, LODE_RECORD_TARGET_FIELD(base, unwind), "METHOD",                         \
			    "how user stacks are unwound (default: auto)", lode_unwind_choice),                    \
		LODE_NUMBER("unwind-size", 0, LODE_RECORD_TARGET_FIELD(base, unwind_size), "BYTES",                \
			    "how much of a stack is copied if it is not unwound in the kernel (default: 16384)",   \
			    512, 16384),                                                                           \
		LODE_TEXT("languages", 0, LODE_RECORD_TARGET_FIELD(base, languages), "LIST", LODE_LANGUAGES_HELP), \
		LODE_FLAG("lines", 0, LODE_RECORD_TARGET_FIELD(base, lines),                                       \
			  "name functions with the line that they are at; see 'lode annotate'"),                   \
		LODE_FLAG("command-line", 0, LODE_RECORD_TARGET_FIELD(base, command_line), LODE_COMMAND_LINE_HELP)

#endif
