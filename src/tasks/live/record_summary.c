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
	struct lode_status status = { "recording", "events", session->builder.events, put_status, session };

	session->call->host->status(session->call->host, session->call, &status);
}

/* How user stacks were found, and how they ended. */
static void count_user_stacks(const struct lode_record_session *session, const struct lode_record_counts *counts,
			      struct lode_record_report *report)
{
	static const char *const names[LODE_STACK_ENDS] = {
		[LODE_STACK_UNKNOWN] = "unknown", [LODE_STACK_WHOLE] = "whole",
		[LODE_STACK_DEEP] = "too_deep",   [LODE_STACK_SHORT] = "too_large",
		[LODE_STACK_BROKEN] = "broken",   [LODE_STACK_UNMAPPED] = "unmapped",
		[LODE_STACK_PENDING] = "pending", [LODE_STACK_COMPAT] = "compat",
	};
	struct lode_named_count *to = report->user_stacks;

	_Static_assert(sizeof(report->user_stacks) / sizeof(*to) >= LODE_STACK_ENDS + 4,
		       "room for each, and an end");
	for (int i = 0; i < LODE_STACK_ENDS; i++)
		*to++ = (struct lode_named_count){ names[i], session->builder.ends[i] };
	*to++ = (struct lode_named_count){ "guessed", session->builder.guessed };
	*to++ = (struct lode_named_count){ "copied", counts->copies };
	*to = (struct lode_named_count){ "lost_copies", counts->lost_copies };
}

static struct lode_record_report make_report(const struct lode_record_session *session)
{
	const struct lode_child *child = session->target.has_child ? &session->target.child : NULL;
	struct lode_unwind_totals totals = lode_recorder_unwind_totals(session->recorder);
	struct lode_record_counts counts;
	struct lode_record_report report;

	lode_recorder_counts(session->recorder, &counts);
	report = (struct lode_record_report){
		.entry = &session->entry,
		.corpus = lode_corpus_path(session->corpus),
		.duration = session->times.ended - session->times.began,
		.preemptions = session->builder.preemptions,
		.system_calls = session->builder.system_calls,
		.lost = counts.lost,
		.has_symptom_rules = session->settings->symptoms.count > 0,
		.symptoms = session->symptoms,
		.kernel_stacks = { { "asked", counts.asked_stacks },
				   { "checked", counts.checked_walks },
				   { "wrong", counts.wrong_walks } },
		.unwind_tables = { { "binaries", totals.tables },
				   { "rows", totals.rows },
				   { "rules", totals.rules },
				   { "bytes", totals.bytes } },
		.pid = child ? (long)child->pid : 0,
		.exit_status = child && child->ended && WIFEXITED(child->status) ? WEXITSTATUS(child->status) : -1,
		.signal = child && WIFSIGNALED(child->status) ? WTERMSIG(child->status) : 0,
		.budget = lode_budget_control_report(&session->target.budget),
		.notes = &session->notes,
	};
	count_user_stacks(session, &counts, &report);
	return report;
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
