/*
 * From triggers to streams: see watch_session.h.
 *
 * What is slow once is often slow again: a lock that is held too long stops all
 * threads that need it. Triggers therefore come in bursts, and a burst is one
 * stream: it is written a while after the first trigger (--after), and all that
 * fire until then share it. What the stream needs is held in memory meanwhile;
 * where there is not room for all, it is written early, before more than half of
 * the time before the trigger is gone. Manual triggers do not wait, because a
 * person does.
 */
#include "base/clock.h"
#include "tasks/live/watch_session.h"

#include <stdio.h>
#include <time.h>

/* ---- triggers ---- */

static int handle_record(void *context, const struct lode_record *record)
{
	struct lode_watch_session *session = context;
	struct lode_limit_exceeded fired;

	if (lode_record_fired(record, &fired)) {
		/* It was still in its ring when the last stream was begun, which does not have it. */
		if (fired.t1 <= session->reported_until)
			session->reported_until = fired.t1 - 1;
		for (size_t i = 0; i < session->rules.count; i++)
			if (fired.limits >> i & 1)
				lode_watch_burst_fire(&session->burst, fired.t1, session->rules.rules[i].text, 0);
	}
	return session->flight_sink.record(session->flight_sink.context, record);
}

static int handle_stack(void *context, const struct lode_record_stack *stack)
{
	struct lode_watch_session *session = context;

	return session->flight_sink.stack(session->flight_sink.context, stack);
}

static int handle_change(void *context, const struct lode_change *change)
{
	struct lode_watch_session *session = context;

	return session->flight_sink.change(session->flight_sink.context, change);
}

static int handle_context(void *context, const struct lode_record_context *named)
{
	struct lode_watch_session *session = context;

	return session->flight_sink.named_context(session->flight_sink.context, named);
}

struct lode_recorder_sink lode_watch_trigger_sink(struct lode_watch_session *session)
{
	return (struct lode_recorder_sink){ session, handle_stack, handle_change, handle_record, handle_context };
}

/* ---- saving ---- */

#define BASELINE_TRIGGER "baseline"

static void save(struct lode_watch_session *session, uint64_t now)
{
	const struct lode_watch_settings *settings = session->settings;
	struct lode_watch_burst *burst = &session->burst;
	struct lode_watch_save what = {
		.target = &session->target,
		.flight = session->flight,
		.languages = lode_recorder_languages(session->recorder),
		.rules = session->rules.rules,
		.rule_count = session->rules.count,
		.hands = burst->hands,
		.hand_count = burst->hand_count,
		.period = session->period,
		.from = lode_watch_burst_from(burst),
		.to = now,
		.reported_until = session->reported_until,
		.t = burst->t,
		.corpus = lode_watch_corpus(session),
		.watch = session->name,
		.trigger = burst->trigger,
		.attributes = &settings->attributes,
		.baseline = burst->is_baseline ? session->baseline.one_in : 0,
		.keep = session->keep,
		.symbols = lode_symbol_options(&settings->symbols, NULL),
		.no_symbols = settings->symbols.none,
		.inlines = settings->symbols.inlines,
		.lines = session->target.settings->lines,
	};
	struct lode_flight_counts flight;
	struct lode_record_counts kernel;
	struct lode_error error = { "" };

	lode_flight_counts(session->flight, &flight);
	lode_recorder_counts(session->recorder, &kernel);
	what.lost = kernel.lost;
	what.early = flight.early;
	snprintf(session->writing, sizeof(session->writing), "%s", burst->trigger);
	if (lode_watch_writer_start(&session->writer, &what, session->recorder, &error) < 0) {
		session->failed++;
		lode_watch_say_failure(session, &error);
	}
	session->reported_until = now;
}

/* Writes the stream of the triggers that fired, if they are still known. */
static void finish_burst(struct lode_watch_session *session, uint64_t now)
{
	if (lode_watch_burst_is_too_late(&session->burst))
		session->late++;
	else
		save(session, now);
	lode_watch_burst_end(&session->burst);
}

static void look_at_writer(struct lode_watch_session *session, int wait)
{
	struct lode_watch_saved saved;
	struct lode_error error = { "" };
	int code = lode_watch_writer_look(&session->writer, wait, session->recorder, &saved, &error);

	if (!code)
		return;
	if (code < 0) {
		session->failed++;
		lode_watch_say_failure(session, &error);
		return;
	}
	session->saved++;
	session->removed += saved.removed;
	lode_watch_say_saved(session, &saved);
}

/*
 * Requests by hand are taken only when no writer is at work: all that are taken
 * are answered when the next one is done.
 */
/* A stream of the baseline is one of its own: it waits until no trigger's stream is to be written. */
static void look_at_baseline(struct lode_watch_session *session, uint64_t now)
{
	struct lode_watch_burst *burst = &session->burst;

	session->baseline_is_due |= lode_baseline_is_due(&session->baseline, session->host, (uint64_t)time(NULL));
	if (!session->baseline_is_due || session->writer.pid || burst->active)
		return;
	session->baseline_is_due = 0;
	lode_watch_burst_begin_baseline(burst, now, BASELINE_TRIGGER);
	finish_burst(session, now);
}

void lode_watch_look_at_triggers(struct lode_watch_session *session, int may_be_requested)
{
	uint64_t now = lode_now();

	look_at_writer(session, 0);
	if (may_be_requested && !session->writer.pid)
		lode_watch_burst_take_requests(&session->burst, &session->socket);
	if (!session->writer.pid && lode_watch_burst_is_due(&session->burst, now))
		finish_burst(session, now);
	look_at_baseline(session, now);
}

void lode_watch_write_rest(struct lode_watch_session *session)
{
	look_at_writer(session, 1);
	if (!session->burst.active)
		return;
	finish_burst(session, lode_now());
	look_at_writer(session, 1);
}
