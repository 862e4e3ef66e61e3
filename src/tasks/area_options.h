/*
 * The options that say where to look: every command that works on an area of
 * interest has them. A command puts a struct lode_area_settings into its own
 * settings and LODE_AREA_OPTIONS(its offset) into its table.
 */
#ifndef LODE_TASKS_AREA_OPTIONS_H
#define LODE_TASKS_AREA_OPTIONS_H

#include "tasks/options.h"
#include "scope/area.h"

struct lode_area_settings {
	const char *scope;
	struct lode_option_list symptoms;
	const char *slow;
	struct lode_option_list match;
	struct lode_option_list exclude;
	struct lode_option_list where;
	const char *time;
	int include_idle;
	int include_work_waits;
	struct lode_option_list idle_rules;
	uint64_t jobs;
	int no_cache;
	const char *memory;
	int strict;
	int by_symptom; /* see area.h; no option, as those below */
	enum lode_area_by by;
	int chains;
	int ready;
};

const char *lode_scope_choice(size_t i);
/* The scope of a name that was chosen; `otherwise` where none was. */
enum lode_scope lode_scope_chosen(const char *name, enum lode_scope otherwise);

#define LODE_AREA_FIELD(base, field) ((base) + offsetof(struct lode_area_settings, field))
/* Rows that several tables have, each written once. */
#define LODE_JOBS_OPTION(offset)                                                                                  \
	LODE_NUMBER("jobs", 'j', offset, "N", "number of threads (default: one per processor)", 1, 1024)
#define LODE_MEMORY_OPTION(offset)                                                                                \
	LODE_TEXT("memory", 0, offset, "SIZE",                                                                    \
		  "use at most this much memory, such as 500MB; the rest goes to disk")
#define LODE_STRICT_OPTION(offset)                                                                                \
	LODE_FLAG("strict", 0, offset, "fail if a stream is damaged or missing, instead of skipping it")
#define LODE_STREAM_OPTION(offset)                                                                                \
	LODE_LIST("stream", 's', offset, "NAME", "only streams with this name or id; can be repeated")
#define LODE_WHERE_OPTION(base)                                                                                   \
	LODE_LIST("where", 0, LODE_AREA_FIELD(base, where), "KEY=VALUE",                                          \
		  "only streams with this attribute, host or name; VALUE may contain * and ?"),                   \
		LODE_PREFIXED_LIST("process", 0, LODE_AREA_FIELD(base, where), "NAME",                            \
				   "only threads of processes with this name or PID; NAME may contain * and ?",   \
				   "process="),                                                                   \
		LODE_PREFIXED_LIST("thread", 0, LODE_AREA_FIELD(base, where), "NAME",                             \
				   "only threads with this name or TID; NAME may contain * and ?", "thread=")
#define LODE_SYMPTOM_OPTION(base)                                                                                 \
	LODE_LIST("symptom", 0, LODE_AREA_FIELD(base, symptoms), "RULE",                                          \
		  "find symptoms: 'thread NAME', 'wait > 200ms in FRAME', 'between A and B > 1s', "               \
		  "'request of NAME > 10ms'"),                                                                    \
		LODE_TEXT("slow", 0, LODE_AREA_FIELD(base, slow), "TIME",                                         \
			  "requests that took longer are symptoms (default, if nothing else is: the slowest 1%)")
/* `things` are what has frames: stacks, contexts, paths. */
#define LODE_MATCH_OPTION(base, things)                                                                           \
	LODE_LIST("match", 0, LODE_AREA_FIELD(base, match), "GLOB",                                               \
		  "only " things " with a matching frame (module!function, * and ?)")
/* How events are read: which waits count, by how many threads, what is kept. */
#define LODE_READING_OPTIONS(base)                                                                                \
	LODE_FLAG("include-idle", 0, LODE_AREA_FIELD(base, include_idle),                                         \
		  "also count waits of threads that have nothing to do"),                                         \
		LODE_FLAG("include-work-waits", 0, LODE_AREA_FIELD(base, include_work_waits),                     \
			  "also count waits for work from outside; see lode-idle(5)"),                            \
		LODE_LIST("idle-rules", 0, LODE_AREA_FIELD(base, idle_rules), "FILE",                             \
			  "additional rules for what is idle; see lode-idle(5)"),                                 \
		LODE_JOBS_OPTION(LODE_AREA_FIELD(base, jobs)),                                                    \
		LODE_FLAG("no-cache", 0, LODE_AREA_FIELD(base, no_cache),                                         \
			  "read all events again, and cache nothing for the next run"),                           \
		LODE_MEMORY_OPTION(LODE_AREA_FIELD(base, memory)),                                                \
		LODE_STRICT_OPTION(LODE_AREA_FIELD(base, strict))

/* Which events count. `default_scope`: what `--scope` is by default. */
#define LODE_PLACE_OPTIONS(base, default_scope)                                                                   \
	LODE_SYMPTOM_OPTION(base),                                                                                \
		LODE_CHOICE("scope", 0, LODE_AREA_FIELD(base, scope), "SCOPE",                                    \
			    "which events count (default: " default_scope ")", lode_scope_choice),                \
		LODE_MATCH_OPTION(base, "stacks"),                                                                \
		LODE_LIST("exclude", 0, LODE_AREA_FIELD(base, exclude), "GLOB",                                   \
			  "only stacks without a matching frame"),                                                \
		LODE_WHERE_OPTION(base),                                                                          \
		LODE_TEXT("time", 0, LODE_AREA_FIELD(base, time),                                                 \
			  "A..B", "only events that begin in this time range; '+A..+B' counts from the start of each stream")
#define LODE_DEFAULT_SCOPE      "critical-path if there are symptoms, otherwise all"
#define LODE_AREA_OPTIONS(base) LODE_AREA_OPTIONS_FROM(base, LODE_DEFAULT_SCOPE)
/* For a command with another default, `default_scope`. */
#define LODE_AREA_OPTIONS_FROM(base, default_scope)                                                               \
	LODE_PLACE_OPTIONS(base, default_scope), LODE_READING_OPTIONS(base)

#endif
