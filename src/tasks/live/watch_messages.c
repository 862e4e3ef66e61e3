/* What `lode watch` says: see watch_session.h. */
#include "base/clock.h"
#include "base/proc_files.h"
#include "base/units.h"
#include "tasks/live/budget_control.h"
#include "tasks/live/watch_session.h"
#include "tasks/show_notes.h"
#include "text/budget_text.h"
#include "text/watch_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- while it goes on ---- */

size_t lode_watch_resident(void)
{
	char text[128];
	const char *pages;

	lode_proc_text(text, sizeof(text), "/proc/self/statm");
	pages = strchr(text, ' '); /* behind all of its address space */
	return pages ? strtoul(pages, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

static void put_status(void *context, struct lode_buffer *line)
{
	struct lode_watch_session *session = context;
	struct lode_flight_counts counts;
	struct lode_record_counts kernel;
	char rate[LODE_UNITS_TEXT], size[LODE_UNITS_TEXT], time[LODE_UNITS_TEXT], dropped[LODE_UNITS_TEXT];
	uint64_t now = lode_now(), passed = now - session->shown_at;

	lode_flight_counts(session->flight, &counts);
	lode_recorder_counts(session->recorder, &kernel);
	lode_buffer_print(line, "watching: %s events/s, %s, the last %s, %llu triggered, %llu saved, %s dropped",
			  lode_count_text((counts.records - session->shown_records) * 1000 / (passed / 1000000 + 1),
					  rate),
			  lode_bytes_text(lode_watch_resident(), size),
			  lode_duration_text(counts.oldest && now > counts.oldest ? now - counts.oldest : 0, time),
			  (unsigned long long)session->burst.fired, (unsigned long long)session->saved,
			  lode_count_text(counts.early + kernel.lost, dropped));
	session->shown_at = now;
	session->shown_records = counts.records;
}

void lode_watch_status(struct lode_watch_session *session)
{
	struct lode_status status = { "watching", "streams", session->saved, put_status, NULL, session };

	session->call->host->status(session->call->host, session->call, &status);
}

/* ---- streams ---- */

/* A line of JSON. */
static void write_json(struct lode_watch_session *session, struct lode_buffer *buffer)
{
	if (!buffer->failed && write(session->call->out.fd, buffer->bytes, buffer->size) < 0)
		session->failed++;
	lode_buffer_release(buffer);
}

void lode_watch_say_saved(struct lode_watch_session *session, const struct lode_watch_saved *saved)
{
	struct lode_watch_stream stream = {
		.id = saved->id,
		.trigger = session->writing,
		.events = saved->events,
		.symptoms = saved->symptoms,
		.span = saved->span,
		.bytes = saved->bytes,
		.removed = saved->removed,
	};
	struct lode_buffer line = { 0 }, json = { 0 };

	session->call->host->pause(session->call->host);
	lode_watch_stream_text(&stream, &line);
	lode_buffer_byte(&line, '\0');
	lode_watch_socket_answer(&session->socket, line.failed ? saved->id : line.bytes);
	if (!session->call->quiet && !line.failed)
		lode_call_say(session->call, LODE_GREEN, "%s: %s", session->writing, line.bytes);
	lode_buffer_release(&line);
	if (!session->settings->json)
		return;
	lode_watch_stream_json(&stream, &json);
	write_json(session, &json);
}

void lode_watch_say_failure(struct lode_watch_session *session, const struct lode_error *error)
{
	char line[LODE_WATCH_LINE];

	session->call->host->pause(session->call->host);
	snprintf(line, sizeof(line), "!%s", error->text);
	lode_watch_socket_answer(&session->socket, line);
	lode_call_say(session->call, LODE_RED, "%s: not saved: %s", session->writing, error->text);
}

/* ---- the end ---- */

static void note_losses(struct lode_watch_session *session, const struct lode_flight_counts *counts)
{
	lode_recorder_note(session->recorder, &session->notes);
	lode_rule_probes_note(session->probes, &session->notes);
	if (session->context_sources)
		lode_context_sources_note(session->context_sources, &session->notes);
	lode_processes_note(lode_flight_processes(session->flight), &session->notes);
	lode_notes_add(&session->notes, counts->early,
		       "records dropped before their time: --memory was too little", NULL);
	lode_notes_add(&session->notes, counts->missing, "stacks that were lost", NULL);
	lode_notes_add(&session->notes, session->burst.refused, "triggers ignored because of --max-per-hour", NULL);
	lode_notes_add(
		&session->notes, session->late,
		"streams not written: --memory was too little to hold them until the one before was written", NULL);
	lode_notes_add(&session->notes, session->removed, "older streams removed because of --keep", NULL);
}

static struct lode_watch_report make_report(struct lode_watch_session *session)
{
	struct lode_flight_counts counts;
	struct lode_record_counts kernel;

	lode_flight_counts(session->flight, &counts);
	lode_recorder_counts(session->recorder, &kernel);
	note_losses(session, &counts);
	return (struct lode_watch_report){
		.duration = lode_now() - session->began,
		.records = counts.records,
		.kept = counts.kept,
		.dropped = counts.early,
		.lost = kernel.lost,
		.missing_stacks = counts.missing,
		.memory_bytes = counts.bytes,
		.triggered = session->burst.fired,
		.refused = session->burst.refused,
		.saved = session->saved,
		.failed = session->failed,
		.removed = session->removed,
		.budget = lode_budget_control_report(&session->target.budget),
		.notes = &session->notes,
	};
}

void lode_watch_say_end(struct lode_watch_session *session)
{
	struct lode_watch_report report = make_report(session);
	struct lode_buffer line = { 0 }, budget = { 0 }, json = { 0 };

	if (!session->call->quiet) {
		lode_watch_text(&report, &line);
		lode_call_say_line(session->call, LODE_PLAIN, &line);
		if (report.budget.share > 0) {
			lode_budget_text(&report.budget, &budget);
			lode_call_say_line(session->call, LODE_GREEN, &budget);
		}
		lode_notes_say(&session->notes, session->call);
	}
	if (!session->settings->json)
		return;
	lode_watch_json(&report, &json);
	write_json(session, &json);
}
