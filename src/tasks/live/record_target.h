/* What is recorded, of `lode record` and `lode watch`: a command, some processes, or all. */
#ifndef LODE_TASKS_LIVE_RECORD_TARGET_H
#define LODE_TASKS_LIVE_RECORD_TARGET_H

#include "record/recorder.h"
#include "watch/rule_probes.h"
#include "watch/rules.h"
#include "tasks/live/budget_control.h"
#include "tasks/live/child.h"
#include "tasks/live/record_target_options.h"
#include "trace/stream.h"

#include <poll.h>

/* Nanoseconds for which it is read what processes have mapped, of those that run already, before a recording starts. */
#define LODE_SNAPSHOT_NS 300000000u

struct lode_record_target {
	const struct lode_record_target_settings *settings;
	unsigned languages; /* whose functions stacks have (languages.h), bits */
	struct lode_host *host;
	const char *word;       /* "record" or "watch", for messages */
	char *const *command;   /* its words, NULL-terminated */
	size_t command_count;   /* 0: there is none */
	struct pollfd *watched; /* the processes of -p */
	size_t watched_count;
	size_t relatives; /* descendants of these that were there already, and are recorded too */
	struct lode_child child;
	int has_child;
	int priority; /* of this thread before it took precedence */
	int took_precedence;
	int by_itself;       /* the command ended without being asked to */
	double budget_share; /* of the machine's CPU time; 0: there is no budget */
	int sees_all_waits;  /* limits on waits or run queues: every context switch is seen, whatever it costs */
	uint64_t symptom_ns; /* the longest limit of a symptom; 0: none has any */
	struct lode_budget_control budget;
};

/* Checks what is requested; release it in either case. `budget`: the share without --budget, 0: none. */
int lode_record_target_init(struct lode_record_target *target, const struct lode_record_target_settings *settings,
			    double budget, const struct lode_call *call, struct lode_error *error);
/* Ends the command, if it is still there. */
void lode_record_target_release(struct lode_record_target *target);
/* The filters and what to record. */
struct lode_recorder_options lode_record_target_recorder_options(const struct lode_record_target *target);
/* The method of a choice of lode_unwind_choice; NULL: the default. */
enum lode_recorder_unwind lode_unwind_method(const char *name);
/* What is recorded, in words; for the caller to free. */
char *lode_record_target_source(const struct lode_record_target *target);
/* The name of a stream of it; `text` has room for 64 bytes. NULL: that of the host. */
const char *lode_record_target_name(const struct lode_record_target *target, char text[64]);
/* Sets name (NULL: the default), host, and what is known of the machine. */
int lode_record_target_describe(const struct lode_record_target *target, const char *name, const char *source,
				const struct lode_option_list *attributes, struct lode_stream *stream,
				struct lode_error *error);
/* Probes for the rules' functions and marks, in `processes` and the command. Destroy them in either case. */
int lode_record_target_probe(const struct lode_record_target *target, const struct lode_record_rules *rules,
			     struct lode_recorder *recorder, struct lode_processes *processes,
			     struct lode_rule_probes **probes, struct lode_error *error);
/*
 * Takes precedence over other threads until lode_record_target_stop: on a busy machine loading the programs would take a
 * second instead of a quarter, and then the reader must get its turn before the rings are full.
 */
void lode_record_target_take_precedence(struct lode_record_target *target);
/* Whether the command can be found, to be asked before anything is made for it; LODE_USAGE with a sentence if not. */
int lode_record_target_check(const struct lode_record_target *target, struct lode_error *error);
/* Forks the command, which waits, with the priority that this program was started with. */
int lode_record_target_prepare(struct lode_record_target *target, struct lode_error *error);
/* Starts the recorder for it. */
int lode_record_target_start(struct lode_record_target *target, struct lode_recorder *recorder,
			     struct lode_error *error);
/* Says how many descendants of the processes of -p were there already. */
void lode_record_target_say_relatives(const struct lode_record_target *target, const struct lode_call *call);
/* Lets the command go. */
int lode_record_target_release_command(struct lode_record_target *target, struct lode_error *error);
/*
 * After a failure of the recorder, which the caller has destroyed: says what went wrong and waits for the command, which
 * runs on, until it ends, the host is asked to stop, or it is `until` (lode_now; 0: no limit).
 */
void lode_record_target_run_on(struct lode_record_target *target, const struct lode_call *call, uint64_t until,
			       const struct lode_error *error);
/* Stops the recorder, which hands over what is left. The command goes on. */
int lode_record_target_stop(struct lode_record_target *target, struct lode_recorder *recorder,
			    const struct lode_recorder_sink *sink, struct lode_error *error);
/* Whether the command has ended; false where there is none. */
int lode_record_target_has_ended(struct lode_record_target *target);
/*
 * The code to return once all is done, for the exit status to be that of the command:
 * 128 + n where signal n ended it. 0 without one, and where Lode ended it or was
 * itself asked to stop.
 */
int lode_record_target_status(const struct lode_record_target *target);
/* Whether all processes of -p have ended, though their parents may not have noticed yet. */
int lode_record_target_is_gone(const struct lode_record_target *target);

#endif
