/*
 * Saving what a flight recorder holds: by a forked child, which has a snapshot
 * of all its memory, so that recording continues meanwhile.
 */
#ifndef LODE_TASKS_LIVE_WATCH_SAVE_H
#define LODE_TASKS_LIVE_WATCH_SAVE_H

#include "tasks/live/record_target.h"
#include "tasks/live/watch_socket.h"
#include "watch/flight.h"
#include "watch/retention.h"
#include "watch/rules.h"
#include "symbols/symbols.h"

/* A manual trigger. */
struct lode_watch_hand {
	char name[LODE_WATCH_NAME];
	uint32_t tid; /* 0: none was named */
	uint64_t t;
};

struct lode_watch_save {
	const struct lode_record_target *target;
	struct lode_flight *flight;
	const struct lode_record_rule *rules;
	size_t rule_count;
	const struct lode_watch_hand *hands;
	size_t hand_count;
	const struct lode_languages *languages; /* names of their frames; NULL: none */
	uint64_t period;                        /* of a CPU sample */
	uint64_t from;                          /* records that were written between two times */
	uint64_t to;
	uint64_t reported_until; /* limits that were exceeded until then are in an earlier stream */
	uint64_t t;              /* of the trigger, for the stream's name */
	const char *corpus;
	const char *watch; /* name of the watch */
	const char *trigger;
	const struct lode_option_list *attributes;
	uint32_t baseline; /* hours that this stream stands for; 0: it is not one of the baseline */
	struct lode_retention keep;
	uint64_t lost; /* counted so far, for the stream to tell */
	uint64_t early;
	struct lode_symbols_options symbols;
	int no_symbols;
	int inlines;
	int lines;
};

struct lode_watch_saved {
	char id[33];
	uint64_t events;
	uint64_t symptoms;
	uint64_t bytes;
	uint64_t span;    /* nanoseconds from the first event to the last */
	uint64_t removed; /* older streams, because of --keep */
};

struct lode_watch_writer {
	pid_t pid;         /* 0: none is at work */
	int result;        /* where it reports, readable when it is done */
	int events;        /* epoll descriptor that `result` is added to; not owned */
	uint64_t spent_ns; /* processor time of those that are done */
};

/* Processor time of all writers so far, in nanoseconds. */
uint64_t lode_watch_writer_spent(const struct lode_watch_writer *writer);
/* Starts one; none may be at work. */
int lode_watch_writer_start(struct lode_watch_writer *writer, const struct lode_watch_save *save,
			    struct lode_recorder *recorder, struct lode_error *error);
/*
 * Whether it is done: 1 and what it saved, 0 while it is at work (and with `wait`
 * after it is done), or a negative code when it failed.
 */
int lode_watch_writer_look(struct lode_watch_writer *writer, int wait, struct lode_recorder *recorder,
			   struct lode_watch_saved *saved, struct lode_error *error);

#endif
