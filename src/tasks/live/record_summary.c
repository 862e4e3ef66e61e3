/* What a recording says, while it goes on and at its end: see record_session.h. */
#include "base/clock.h"
#include "base/units.h"
#include "tasks/live/record_session.h"
#include "tasks/live/budget_control.h"
#include "tasks/show_notes.h"
#include "text/budget_text.h"
#include "text/record_text.h"

#include <sys/wait.h>

static void put_status(void *context, struct lode_buffer *line)
{
	const struct lode_record_session *session = context;
	struct lode_record_counts counts;
	char events[LODE_UNITS_TEXT], lost[LODE_UNITS_TEXT], size[LODE_UNITS_TEXT], time[LODE_UNITS_TEXT];

	lode_recorder_counts(session->recorder, &counts);
	lode_buffer_print(line, "recording for %s: %s events, %s lost, %s",
			  lode_duration_text(lode_now() - session->times.began, time),
			  lode_count_text(session->builder.events, events), lode_count_text(counts.lost, lost),
			  lode_bytes_text(lode_recording_size(session->recording), size));
}

void lode_record_status(struct lode_record_session *session)
{
	struct lode_status status = { "recording", "events", session->builder.events, put_status, NULL, session };

	session->call->host->status(session->call->host, session->call, &status);
}

static struct lode_user_stacks count_user_stacks(const struct lode_record_session *session,
						 const struct lode_record_counts *counts)
{
	const uint64_t *ends = session->builder.ends;

	_Static_assert(LODE_STACK_ENDS == 8, "each end is counted here");
	return (struct lode_user_stacks){
		.unknown = ends[LODE_STACK_UNKNOWN],
		.whole = ends[LODE_STACK_WHOLE],
		.too_deep = ends[LODE_STACK_DEEP],
		.too_large = ends[LODE_STACK_SHORT],
		.broken = ends[LODE_STACK_BROKEN],
		.unmapped = ends[LODE_STACK_UNMAPPED],
		.pending = ends[LODE_STACK_PENDING],
		.compat = ends[LODE_STACK_COMPAT],
		.guessed = session->builder.guessed,
		.copied = counts->copies,
		.lost_copies = counts->lost_copies,
	};
}

static struct lode_record_report make_report(const struct lode_record_session *session)
{
	const struct lode_child *child = session->target.has_child ? &session->target.child : NULL;
	struct lode_unwind_totals totals = lode_recorder_unwind_totals(session->recorder);
	struct lode_record_counts counts;

	lode_recorder_counts(session->recorder, &counts);
	return (struct lode_record_report){
		.entry = &session->entry,
		.corpus = lode_corpus_path(session->corpus),
		.duration = session->times.ended - session->times.began,
		.preemptions = session->builder.preemptions,
		.system_calls = session->builder.system_calls,
		.lost = counts.lost,
		.has_symptom_rules = session->settings->symptoms.count > 0,
		.symptoms = session->symptoms,
		.user_stacks = count_user_stacks(session, &counts),
		.kernel_stacks = { counts.asked_stacks, counts.checked_walks, counts.wrong_walks },
		.unwind_tables = { totals.tables, totals.rows, totals.rules, totals.bytes },
		.pid = child ? (long)child->pid : 0,
		.exit_status = child && child->ended && WIFEXITED(child->status) ? WEXITSTATUS(child->status) : -1,
		.signal = child && WIFSIGNALED(child->status) ? WTERMSIG(child->status) : 0,
		.budget = lode_budget_control_report(&session->target.budget),
		.notes = &session->notes,
	};
}

static void say_report(const struct lode_call *call, const struct lode_record_report *report)
{
	struct lode_buffer line = { 0 }, budget = { 0 };

	lode_record_text(report, &line);
	lode_call_say_line(call, LODE_GREEN, &line);
	if (report->budget.share > 0) {
		lode_budget_text(&report->budget, &budget);
		lode_call_say_line(call, LODE_GREEN, &budget);
	}
	lode_notes_say(report->notes, call);
}

int lode_record_show(const struct lode_record_session *session, struct lode_error *error)
{
	struct lode_record_report report = make_report(session);
	struct lode_buffer buffer = { 0 };
	int code;

	if (!session->call->quiet) {
		if (session->target.has_child)
			lode_child_say(&session->target.child, session->call);
		say_report(session->call, &report);
	}
	if (!session->settings->json)
		return 0;
	lode_record_json(&report, &buffer);
	code = lode_call_show(session->call, &buffer, error);
	lode_buffer_release(&buffer);
	return code;
}
