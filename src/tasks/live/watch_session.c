/*
 * A flight recorder: see watch_session.h. Records all the time, keeps the last seconds in
 * bounded memory, and writes them down as a stream when a trigger fires.
 *
 * One loop: sleep until there is much to read, or a tenth of a second; read; drop
 * what is too old; look for triggers, which come with the records or through a
 * socket; start a writer when one is due; look whether a writer is done.
 */
#include "tasks/live/watch_session.h"

#include "base/clock.h"
#include "symbols/debuginfod_library.h"
#include "tasks/live/budget_control.h"

#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define DEFAULT_BUDGET 0.01

/* Of all memory for the rings that the kernel writes to; and what a read may add before anything is dropped. */
#define PART_FOR_RINGS 8
#define PART_FOR_READS 16
#define MIN_FLIGHT     4000000u
/* How often it is looked at what the others take, and what is too little to do anything about. */
#define SHARE_NS    1000000000u
#define SHARE_BYTES 1000000u

/* What is left when everything else has its part. */
static int open_flight(struct lode_watch_session *session, struct lode_error *error)
{
	struct lode_flight_options flight = { .last = session->burst.last };
	uint64_t others =
		lode_watch_resident() + lode_recorder_bytes(session->recorder) + session->memory / PART_FOR_READS;

	if (session->memory < others + MIN_FLIGHT)
		return lode_fail(error, LODE_USAGE,
				 "watch: too little memory to watch this machine; use at least --memory %lluMB",
				 (unsigned long long)((others + MIN_FLIGHT) * 4 / 3 / 1000000 + 1));
	session->others = others;
	flight.memory = session->flight_memory = session->memory - others;
	if (lode_flight_create(&session->flight, &flight) < 0)
		return lode_fail_memory(error);
	session->burst.flight = session->flight;
	session->flight_sink = lode_flight_sink(session->flight);
	return 0;
}

/* What the flight memory may take with the others as they are now. */
static uint64_t left_for_flight(const struct lode_watch_session *session)
{
	uint64_t resident = lode_watch_resident() + session->memory / PART_FOR_READS,
		 flight = lode_flight_bytes(session->flight);
	uint64_t others = resident > flight + session->others ? resident - flight : session->others;

	return session->memory > others + MIN_FLIGHT ? session->memory - others : MIN_FLIGHT;
}

/*
 * What is known of processes and their binaries grows and shrinks, and the flight memory gets what is left. What was freed
 * may still count, so before it gets less that is given back.
 */
static void fit_flight_memory(struct lode_watch_session *session, uint64_t now)
{
	uint64_t left;

	if (now < session->shared_at + SHARE_NS)
		return;
	session->shared_at = now;
	left = left_for_flight(session);
	if (left + SHARE_BYTES < session->flight_memory) {
		malloc_trim(0);
		left = left_for_flight(session);
	}
	if (left + SHARE_BYTES >= session->flight_memory && left <= session->flight_memory + SHARE_BYTES)
		return;
	session->flight_memory = left;
	lode_flight_set_memory(session->flight, left);
}

/* The sink that looks for sources of contexts, too, takes the place of `sink`. */
static int open_contexts(struct lode_watch_session *session, struct lode_recorder_sink *sink,
			 struct lode_error *error)
{
	const struct lode_record_target *target = &session->target;
	int code;

	if (!session->contexts)
		return 0;
	code = lode_context_sources_create(&session->context_sources, session->recorder, session->contexts,
					   lode_flight_processes(session->flight), sink, error);
	if (!code && (lode_context_sources_look(session->context_sources) < 0 ||
		      (target->command_count &&
		       lode_context_sources_command(session->context_sources, target->command[0]) < 0)))
		code = lode_fail_memory(error);
	if (!code)
		*sink = lode_context_sources_sink(session->context_sources);
	return code;
}

static int open_all(struct lode_watch_session *session, struct lode_error *error)
{
	struct lode_recorder_options recorder = lode_record_target_recorder_options(&session->target);
	struct lode_recorder_sink sink;
	struct lode_corpus *corpus;
	int code;

	recorder.ring_bytes = session->memory / PART_FOR_RINGS + 1; /* 0 would ask for much */
	recorder.has_writer = 1;
	recorder.cache = lode_symbol_options(&session->settings->symbols, NULL).cache;
	recorder.contexts = (session->contexts & LODE_CONTEXT_FROM_PROBES) != 0;
	recorder.traces = (session->contexts & LODE_CONTEXT_FROM_OTEL) != 0;
	recorder.limits = session->rules.limits;
	recorder.limit_count = session->rules.count;
	session->target.sees_all_waits = lode_recorder_sees_all_waits(&recorder);
	session->target.symptom_ns = lode_record_rules_longest(&session->rules);
	session->period = lode_recorder_period(&recorder);
	code = lode_record_target_check(&session->target, error);
	if (!code && session->settings->symbols.debuginfod)
		code = lode_debuginfod_check(error);
	if (!code)
		code = lode_recorder_create(&session->recorder, &recorder, error);
	/* What is wrong with the corpus is better reported now than when it is needed. */
	if (!code)
		code = lode_corpus_open(&corpus, lode_watch_corpus(session), LODE_CORPUS_RECORD, error);
	if (!code)
		lode_corpus_close(corpus);
	if (!code)
		code = open_flight(session, error);
	if (!code && (session->events = session->writer.events = epoll_create1(EPOLL_CLOEXEC)) < 0)
		code = lode_fail(error, LODE_SYSTEM, "watch: %s", strerror(errno));
	if (!code)
		code = lode_watch_socket_open(&session->socket, session->events, error);
	if (!code && (lode_processes_snapshot(lode_flight_processes(session->flight), LODE_SNAPSHOT_NS) < 0 ||
		      lode_processes_name_all(lode_flight_processes(session->flight)) < 0))
		code = lode_fail_memory(error);
	if (code)
		return code;
	sink = lode_watch_trigger_sink(session);
	code = open_contexts(session, &sink, error);
	if (code)
		return code;
	code = lode_record_target_probe(&session->target, &session->rules, session->recorder,
					lode_flight_processes(session->flight), &session->probes, error);
	if (!code)
		session->sink = lode_rule_probes_sink(session->probes, &sink);
	return code;
}

static int start(struct lode_watch_session *session, struct lode_error *error)
{
	struct epoll_event event = { .events = EPOLLIN };
	int code = lode_record_target_prepare(&session->target, error);

	if (!code)
		code = lode_record_target_start(&session->target, session->recorder, error);
	session->began = lode_now();
	if (!code)
		lode_record_target_say_relatives(&session->target, session->call);
	if (code || !session->target.has_child)
		return code;
	event.data.fd = session->target.child.exit_fd;
	if (event.data.fd >= 0)
		epoll_ctl(session->events, EPOLL_CTL_ADD, event.data.fd, &event);
	return lode_record_target_release_command(&session->target, error);
}

static int is_over(struct lode_watch_session *session)
{
	if (lode_record_target_has_ended(&session->target))
		return 1;
	if (session->call->host->stopped(session->call->host) || lode_record_target_is_gone(&session->target))
		return 1;
	return session->settings->duration && lode_now() - session->began >= session->settings->duration;
}

/* A record may stay in its ring for a read more, so what was held at the look before counts, too. */
static int look_at_held(struct lode_watch_session *session)
{
	struct lode_recorder_held *held = &session->held;
	size_t last = held->count - session->held_before;

	if (last)
		memmove(held->ids, held->ids + session->held_before, last * sizeof(*held->ids));
	held->count = session->held_before = last;
	return lode_recorder_held(session->recorder, held);
}

/* Reads, and drops what is too old. */
static int read_records(struct lode_watch_session *session)
{
	int wants_held = lode_flight_wants_held(session->flight, lode_now()), renew;

	if (wants_held && look_at_held(session) < 0)
		return LODE_SYSTEM;
	if (lode_recorder_read(session->recorder, &session->sink) < 0)
		return LODE_SYSTEM;
	lode_context_sources_retry(session->context_sources);
	fit_flight_memory(session, lode_now());
	renew = lode_flight_trim(session->flight, lode_now(), wants_held ? &session->held : NULL);
	if (renew > 0)
		lode_recorder_renew(session->recorder);
	return renew < 0 ? renew : 0;
}

/* Milliseconds to sleep: until something is due, a tenth of a second at most. */
static int sleep_time(const struct lode_watch_session *session)
{
	uint64_t now = lode_now(), wanted = now + 100000000u;

	if (session->burst.active && !session->writer.pid && session->burst.due < wanted)
		wanted = session->burst.due;
	if (session->settings->duration && session->began + session->settings->duration < wanted)
		wanted = session->began + session->settings->duration;
	return wanted > now ? (int)((wanted - now) / 1000000u) + 1 : 0;
}

/* A failure of the recorder is none of the command: it runs to its end, unrecorded. */
static void run_on(struct lode_watch_session *session, const struct lode_error *error)
{
	uint64_t duration = session->settings->duration;

	lode_rule_probes_destroy(session->probes);
	lode_context_sources_destroy(session->context_sources);
	lode_recorder_destroy(session->recorder);
	session->context_sources = NULL;
	session->probes = NULL;
	session->recorder = NULL;
	lode_record_target_run_on(&session->target, session->call, duration ? session->began + duration : 0, error);
}

static int watch(struct lode_watch_session *session, struct lode_error *error)
{
	int over = 0, code = 0, readable, failed;

	while (!code && !over) {
		readable =
			lode_recorder_wait(session->recorder,
					   lode_budget_control_sleep(&session->target.budget, sleep_time(session)),
					   session->events);
		code = lode_budget_control_change_slot(&session->target.budget, session->recorder, error);
		over = is_over(session);
		if (!code && read_records(session) < 0)
			code = lode_fail_memory(error);
		lode_watch_look_at_triggers(session, readable);
		session->target.budget.saving_ns = lode_watch_writer_spent(&session->writer);
		lode_budget_control_steer(&session->target.budget, session->recorder, lode_now());
		lode_watch_status(session);
	}
	failed = code != 0;
	if (!code)
		code = lode_record_target_stop(&session->target, session->recorder, &session->sink, error);
	if (code)
		lode_watch_burst_end(&session->burst);
	lode_watch_write_rest(session);
	if (failed)
		run_on(session, error);
	session->call->host->pause(session->call->host);
	return code;
}

/* ---- all of it ---- */

static void release(struct lode_watch_session *session)
{
	lode_watch_socket_close(&session->socket);
	lode_rule_probes_destroy(session->probes);
	lode_context_sources_destroy(session->context_sources);
	lode_recorder_destroy(session->recorder);
	lode_flight_destroy(session->flight);
	lode_record_target_release(&session->target);
	lode_rate_release(&session->burst.rate);
	lode_notes_release(&session->notes);
	if (session->events >= 0)
		close(session->events);
	lode_free(session->held.ids);
	lode_record_rules_release(&session->rules);
	lode_free(session->name);
}

static int run(struct lode_watch_session *session, struct lode_error *error)
{
	struct lode_host *host = session->call->host;
	int code;

	lode_record_target_take_precedence(&session->target);
	host->hold(host, LODE_STOP_SOON);
	code = open_all(session, error);
	if (!code && host->stopped(host))
		code = LODE_STOPPED(host->stopped(host));
	host->hold(host, LODE_STOP_WHEN_DONE);
	if (!code)
		code = start(session, error);
	if (!code)
		code = watch(session, error);
	host->hold(host, LODE_STOP_AT_ONCE);
	if (code)
		return code;
	lode_watch_say_end(session);
	return session->failed ? lode_fail(error, LODE_SYSTEM, "watch: some streams could not be saved; see above")
			       : lode_record_target_status(&session->target);
}

int lode_watch_run(struct lode_call *call, struct lode_error *error)
{
	struct lode_watch_session session = { .call = call, .settings = call->settings, .events = -1 };
	int code = lode_record_target_init(&session.target, &session.settings->target, DEFAULT_BUDGET, call, error);

	lode_notes_init(&session.notes);
	if (!code)
		code = lode_watch_read_settings(&session, error);
	if (!code)
		code = run(&session, error);
	release(&session);
	return code;
}
