/*
 * A flight recorder from its options to its end: watch_session.c records, watch_settings.c checks what is requested,
 * watch_streams.c follows triggers and writes streams, watch_messages.c says what happened.
 */
#ifndef LODE_TASKS_LIVE_WATCH_SESSION_H
#define LODE_TASKS_LIVE_WATCH_SESSION_H

#include "base/notes.h"
#include "record/contexts/context_sources.h"
#include "tasks/live/watch_burst.h"
#include "tasks/live/watch_save.h"
#include "tasks/live/watch_settings.h"
#include "watch/baseline.h"

/* While it runs. */
struct lode_watch_session {
	const struct lode_call *call;
	const struct lode_watch_settings *settings;
	struct lode_record_target target;
	struct lode_record_rules rules;
	struct lode_retention keep;
	struct lode_baseline baseline;
	char host[256];
	int baseline_is_due;
	char *name;
	uint64_t reported_until; /* symptoms up to here have been written */
	uint64_t memory;
	uint64_t others;        /* of the memory: for all but the flight memory, at least; */
	uint64_t flight_memory; /* what that gets, */
	uint64_t shared_at;     /* and when it was last decided */
	uint64_t period;
	struct lode_recorder *recorder;
	struct lode_flight *flight;
	struct lode_recorder_sink flight_sink;
	struct lode_recorder_sink sink; /* looks for triggers, and hands on */
	struct lode_recorder_held held; /* of the last look, and from `held_before` on of this one */
	size_t held_before;
	struct lode_rule_probes *probes;
	unsigned contexts; /* of --context */
	struct lode_context_sources *context_sources;
	struct lode_watch_socket socket;
	struct lode_watch_writer writer;
	int events; /* epoll, for everything else that can become ready */
	struct lode_watch_burst burst;
	char writing[LODE_WATCH_NAME]; /* the trigger whose stream is being written */
	struct lode_notes notes;
	uint64_t began;
	uint64_t late;
	uint64_t saved;
	uint64_t removed;
	uint64_t failed;
	uint64_t shown_at; /* the last status, and records by then */
	uint64_t shown_records;
};

/* Reads the settings. The session can be released in either case. */
int lode_watch_read_settings(struct lode_watch_session *session, struct lode_error *error);
/* The folder that streams are written to. */
const char *lode_watch_corpus(const struct lode_watch_session *session);

/* A sink that looks for triggers, and hands on to the flight memory. */
struct lode_recorder_sink lode_watch_trigger_sink(struct lode_watch_session *session);
/* Looks whether a writer is done; takes manual requests, if there may be one; starts a writer when one is due. */
void lode_watch_look_at_triggers(struct lode_watch_session *session, int may_be_requested);
/* At the end: writes the stream that is due later, and waits until all are written. */
void lode_watch_write_rest(struct lode_watch_session *session);

/* Bytes of this process in memory. */
size_t lode_watch_resident(void);
/* Reports progress to the host. */
void lode_watch_status(struct lode_watch_session *session);
/* A stream was written, or was not: reports it to the user, to programs (--json) and to those who requested it. */
void lode_watch_say_saved(struct lode_watch_session *session, const struct lode_watch_saved *saved);
void lode_watch_say_failure(struct lode_watch_session *session, const struct lode_error *error);
/* It is over. */
void lode_watch_say_end(struct lode_watch_session *session);

#endif
