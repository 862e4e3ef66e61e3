/*
 * What is recorded, of `lode record` and `lode watch`: a command, some
 * processes, or all. A command puts a struct lode_recorded_settings into its own
 * settings and LODE_RECORDED_OPTIONS(its offset) into its table.
 */
#ifndef LODE_CMD_RECORDED_H
#define LODE_CMD_RECORDED_H

#include "cmd/child.h"
#include "tasks/options.h"

struct lode_recorded_settings {
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
	const char *unwind;
	uint64_t unwind_size;
};

/* The ways to find user stacks, for a choice of options; NULL behind the last. */
static inline const char *lode_unwind_choice(size_t i)
{
	static const char *const choices[] = { "auto", "frame-pointer", "dwarf" };

	return i < 3 ? choices[i] : NULL;
}

#define LODE_RECORDED_FIELD(base, field) ((base) + offsetof(struct lode_recorded_settings, field))
#define LODE_RECORDED_OPTIONS(base)                                                                                \
	LODE_LIST("pid", 'p', LODE_RECORDED_FIELD(base, pids), "PID",                                              \
		  "record this process and its later children; may be given many times"),                          \
		LODE_FLAG("all", 'a', LODE_RECORDED_FIELD(base, all), "record all processes"),                     \
		LODE_TEXT("comm", 0, LODE_RECORDED_FIELD(base, comm), "NAME", "record only threads of this name"), \
		LODE_TEXT("cgroup", 0, LODE_RECORDED_FIELD(base, cgroup), "DIR",                                   \
			  "record only threads in this control group or below it"),                                \
		LODE_NUMBER("frequency", 'F', LODE_RECORDED_FIELD(base, frequency), "HZ",                          \
			    "CPU samples a second and processor (default: 999, with a budget 97)", 1, 100000),     \
		LODE_TEXT("budget", 0, LODE_RECORDED_FIELD(base, budget), "SHARE",                                 \
			  "aim at this share of the machine's processor time, such as 1%, the default of watch: "  \
			  "only some of the short waits and "                                                      \
			  "calls are recorded, each with its weight; where that is not enough, only those of "     \
			  "some slots of time; CPU "                                                               \
			  "samples go down to 19 a second"),                                                       \
		LODE_FLAG("no-budget", 0, LODE_RECORDED_FIELD(base, no_budget), "record everything"),              \
		LODE_FLAG("no-samples", 0, LODE_RECORDED_FIELD(base, no_samples), "take no CPU samples"),          \
		LODE_FLAG("calls", 0, LODE_RECORDED_FIELD(base, calls), "record system calls, too"),               \
		LODE_DURATION("min-wait", 0, LODE_RECORDED_FIELD(base, min_wait), "TIME",                          \
			      "leave out shorter waits"),                                                          \
		LODE_CHOICE("unwind", 0, LODE_RECORDED_FIELD(base, unwind), "METHOD",                              \
			    "how user stacks are found (default: auto)", lode_unwind_choice),                      \
		LODE_NUMBER("unwind-size", 0, LODE_RECORDED_FIELD(base, unwind_size), "BYTES",                     \
			    "copied of a stack that is not walked (default: 16384)", 512, 16384)

#ifdef LODE_HAVE_RECORDER

#include "record/budget.h"
#include "record/recorder.h"
#include "trace/stream.h"

#include <poll.h>

struct lode_recorded {
	const struct lode_recorded_settings *settings;
	const char *word;       /* "record" or "watch", for messages */
	char *const *command;   /* its words, NULL-terminated */
	size_t command_count;   /* 0: there is none */
	struct pollfd *watched; /* the processes of -p */
	size_t watched_count;
	struct lode_child child;
	int has_child;
	int by_itself;             /* the command ended without being asked to */
	struct lode_budget budget; /* share 0: there is none */
	int sees_all_waits;        /* limits on waits or run queues: context switches are seen at all times */
	struct lode_slots slots;   /* with a budget: in which of them programs are attached */
	uint64_t on_ns;            /* how long they were, until */
	uint64_t on_since;         /* then; since when they are, if they are */
	int attaching;             /* the kernel takes its time to attach them */
	uint64_t unseen_ns;        /* how long it took in all */
	uint64_t saving_ns;        /* processor time of processes that save for it (recorded_budget.h) */
};

/* Checks what is asked for; release it in either case. `budget`: that without --budget, 0: none. */
int lode_recorded_init(struct lode_recorded *target, const struct lode_recorded_settings *settings, double budget,
		       const char *word, char *const *command, size_t command_count, struct lode_error *error);
/* Ends the command, if it is still there. */
void lode_recorded_release(struct lode_recorded *target);
/* The filters and what to record. */
struct lode_recorder_options lode_recorded_recorder(const struct lode_recorded *target);
/* The method of a choice of lode_unwind_choice; NULL: the default. */
enum lode_recorder_unwind lode_unwind_method(const char *name);
/* What is recorded, in words; for the caller to free. */
char *lode_recorded_source(const struct lode_recorded *target);
/* The name of a stream of it; `text` has room for 64 bytes. NULL: that of the host. */
const char *lode_recorded_name(const struct lode_recorded *target, char text[64]);
/* Sets name (NULL: the default), host, and what is known of the machine. */
int lode_recorded_describe(const struct lode_recorded *target, const char *name, const char *source,
			   const struct lode_option_list *attributes, struct lode_stream *stream,
			   struct lode_error *error);
/* Forks the command, which waits. */
int lode_recorded_prepare(struct lode_recorded *target, struct lode_error *error);
/* Starts the recorder for it; and lets the command go, unless that is left to the caller. */
int lode_recorded_start(struct lode_recorded *target, struct lode_recorder *recorder, struct lode_error *error);
int lode_recorded_release_command(struct lode_recorded *target, struct lode_error *error);
/* Whether the command has ended; false where there is none. */
int lode_recorded_has_ended(struct lode_recorded *target);
/*
 * The code to return once all is done, for the exit status to be that of the command:
 * 128 + n where signal n ended it. 0 without one, and where Lode ended it or was
 * itself asked to stop.
 */
int lode_recorded_status(const struct lode_recorded *target);
/* Whether all processes of -p have ended, though their parents may not have noticed yet. */
int lode_recorded_is_gone(const struct lode_recorded *target);

int lode_stream_set_number(struct lode_stream *stream, const char *key, uint64_t number);

#endif
#endif
