/* What is recorded, of `lode record` and `lode watch`: a command, some processes, or all. */
#ifndef LODE_TASKS_LIVE_RECORD_TARGET_H
#define LODE_TASKS_LIVE_RECORD_TARGET_H

#include "record/budget/budget.h"
#include "record/recorder.h"
#include "watch/rule_probes.h"
#include "watch/rules.h"
#include "tasks/live/child.h"
#include "tasks/live/record_target_options.h"
#include "trace/stream.h"

#include <poll.h>

/* Nanoseconds for which it is read what processes have mapped, of those that run already, before a recording starts. */
#define LODE_SNAPSHOT_NS 300000000u

struct lode_record_target {
	const struct lode_record_target_settings *settings;
	struct lode_host *host;
	const char *word;       /* "record" or "watch", for messages */
	char *const *command;   /* its words, NULL-terminated */
	size_t command_count;   /* 0: there is none */
	struct pollfd *watched; /* the processes of -p */
	size_t watched_count;
	struct lode_child child;
	int has_child;
	int priority; /* of this thread before it took precedence */
	int took_precedence;
	int by_itself;             /* the command ended without being asked to */
	struct lode_budget budget; /* share 0: there is none */
	int sees_all_waits;        /* limits on waits or run queues: context switches are seen at all times */
	struct lode_slots slots;   /* with a budget: in which of them programs are attached */
	uint64_t on_ns;            /* how long they were, until */
	uint64_t on_since;         /* then; since when they are, if they are */
	uint64_t planned_ns;       /* how long they were to be, on average over what is drawn, until */
	uint64_t planned_since;    /* then */
	int attaching;             /* the kernel takes its time to attach them */
	uint64_t attachings;       /* how often they were */
	uint64_t unseen_ns;        /* how long it took in total */
	int sweeps;                /* all threads are visited (lode_recorder_set_sweep_pace), */
	uint64_t sweeps_until;  /* often until then, unless long waits are recorded in another way; 0: never yet */
	uint64_t longest_gap;   /* between two visits that were needed */
	uint64_t some_since;    /* since when only some slots are chosen, as far as counted; 0: all are */
	uint64_t some_ns;       /* how long only some were in all, */
	uint64_t uncertain_ns;  /* and while not every long wait was recorded */
	int is_certain;         /* they are now */
	uint64_t thinned_ns;    /* while all slots were chosen: how long even long waits were left to chance; */
	uint64_t longest_scale; /* if they were not looked for */
	uint64_t maps_read_ns;  /* for how long the kernel did not report what processes map */
	uint64_t saving_ns;     /* processor time of processes that save for it (budget_control.h) */
};

/* Checks what is requested; release it in either case. `budget`: that without --budget, 0: none. */
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
/* Forks the command, which waits, with the priority that this program was started with. */
int lode_record_target_prepare(struct lode_record_target *target, struct lode_error *error);
/* Starts the recorder for it. */
int lode_record_target_start(struct lode_record_target *target, struct lode_recorder *recorder,
			     struct lode_error *error);
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
