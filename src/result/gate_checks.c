/* The checks of lode diff --gate: see checks.h. Subjects that are surely within their limits are told in one line a rule. */
#include "result/checks.h"

#include "base/memory.h"
#include "base/units.h"
#include "latency/diff.h"

#include <math.h>

/* Subjects of a rule that are told one by one. */
#define MAX_TOLD 20

struct writer {
	const struct lode_diff *diff;
	const struct lode_gate *gate;
	const struct lode_gate_result *result;
	struct lode_checks *checks;
};

static void put_interval(const struct lode_blocked_interval *interval, struct lode_buffer *buffer)
{
	lode_signed_duration(interval->more, buffer);
	if (!isfinite(interval->low) || !isfinite(interval->high))
		return;
	lode_buffer_text(buffer, " [");
	lode_signed_duration(interval->low, buffer);
	lode_buffer_text(buffer, ", ");
	lode_signed_duration(interval->high, buffer);
	lode_buffer_byte(buffer, ']');
}

static void put_shares(const struct lode_blocked_interval *interval, double run, struct lode_buffer *buffer)
{
	if (!(run > 0))
		return;
	lode_buffer_text(buffer, ", ");
	lode_signed_percent(interval->more / run, buffer);
	if (isfinite(interval->low) && isfinite(interval->high)) {
		lode_buffer_text(buffer, " [");
		lode_signed_percent(interval->low / run, buffer);
		lode_buffer_text(buffer, ", ");
		lode_signed_percent(interval->high / run, buffer);
		lode_buffer_byte(buffer, ']');
	}
	lode_buffer_text(buffer, " of a run");
}

static char *subject_text(struct writer *writer, uint32_t frame)
{
	struct lode_buffer buffer = { 0 };

	if (frame == LODE_GATE_NO_FRAME)
		lode_buffer_text(&buffer, "the whole run");
	else
		lode_frames_text(&writer->diff->dictionary->frames, frame, &buffer);
	return lode_checks_text(writer->checks, &buffer);
}

static char *module_text(struct writer *writer, uint32_t frame)
{
	struct lode_buffer buffer = { 0 };

	if (frame != LODE_GATE_NO_FRAME)
		lode_buffer_text(&buffer, lode_frames_module_name(&writer->diff->dictionary->frames, frame));
	return lode_checks_text(writer->checks, &buffer);
}

static void put_reason(const struct writer *writer, const struct lode_gate_subject *subject,
		       struct lode_buffer *buffer)
{
	double limit = writer->result->outcomes[subject->rule].limit;

	if (subject->verdict == LODE_GATE_WENT_AWAY) {
		lode_buffer_print(buffer, "the last %zu streams take ", writer->gate->persist);
		lode_signed_duration(subject->recent, buffer);
	} else if (subject->verdict == LODE_GATE_MOVED ||
		   (subject->verdict == LODE_GATE_UNSURE && subject->has_callers &&
		    subject->difference.low > limit)) {
		lode_buffer_text(buffer, "its callers, with all that they call, take ");
		put_interval(&subject->callers, buffer);
	} else if (subject->verdict == LODE_GATE_UNSURE && !writer->result->use.blocks) {
		lode_buffer_text(buffer,
				 "no host with its kernel has streams of both sides ('--block-by none' compares "
				 "them anyway)");
	} else if (subject->verdict == LODE_GATE_UNSURE && !writer->result->use.enough) {
		lode_buffer_text(buffer, "too few streams");
	}
}

/* `alike`: how many subjects of the rule this one stands for. */
static void tell_subject(struct writer *writer, const struct lode_gate_subject *subject, size_t alike)
{
	struct lode_check *check =
		lode_checks_add(writer->checks, writer->gate->rules[subject->rule].text, subject->verdict);
	struct lode_buffer measured = { 0 }, reason = { 0 };

	if (!check)
		return;
	check->subject = subject_text(writer, subject->frame);
	check->module = module_text(writer, subject->frame);
	if (writer->result->use.blocks) {
		put_interval(&subject->difference, &measured);
		put_shares(&subject->difference, writer->result->run, &measured);
	}
	check->measured = lode_checks_text(writer->checks, &measured);
	put_reason(writer, subject, &reason);
	if (alike > 1)
		lode_buffer_print(&reason, "%s%zu function%s less", reason.size ? "; " : "", alike - 1,
				  alike == 2 ? " takes" : "s take");
	check->reason = lode_checks_text(writer->checks, &reason);
}

/* A rule without subjects. */
static void tell_nothing(struct writer *writer, size_t rule)
{
	const struct lode_gate_rule *given = &writer->gate->rules[rule];
	struct lode_check *check =
		lode_checks_add(writer->checks, given->text, writer->result->outcomes[rule].verdict);
	struct lode_buffer subject = { 0 }, empty = { 0 }, none = { 0 }, reason = { 0 };

	if (!check)
		return;
	lode_buffer_text(&subject, given->frame ? given->frame : "every function");
	check->subject = lode_checks_text(writer->checks, &subject);
	check->module = lode_checks_text(writer->checks, &empty);
	check->measured = lode_checks_text(writer->checks, &none);
	lode_buffer_text(&reason, "no stream shows such a function");
	check->reason = lode_checks_text(writer->checks, &reason);
}

/* Subjects that are within their limits, of which the first takes most. */
static size_t tell_rule(struct writer *writer, size_t rule, size_t at)
{
	const struct lode_gate_result *result = writer->result;
	size_t within = result->outcomes[rule].counts[LODE_GATE_WITHIN], told = 0;

	if (at == result->subject_count || result->subjects[at].rule != rule)
		tell_nothing(writer, rule);
	for (; at < result->subject_count && result->subjects[at].rule == rule; at++) {
		const struct lode_gate_subject *subject = &result->subjects[at];

		if (subject->verdict == LODE_GATE_WITHIN) {
			tell_subject(writer, subject, within);
			return at + within;
		}
		if (told++ < MAX_TOLD)
			tell_subject(writer, subject, 0);
	}
	return at;
}

void lode_gate_checks(const struct lode_diff *diff, const struct lode_gate *gate, struct lode_checks *checks)
{
	const struct lode_gate_result *result = &diff->gate;
	struct writer writer = { diff, gate, result, checks };
	struct lode_buffer compared = { 0 };
	size_t at = 0;

	checks->command = "lode diff";
	checks->verdict = result->verdict;
	lode_buffer_print(&compared, "%zu base and %zu slow stream%s in %zu block%s were compared",
			  result->use.base, result->use.slow, lode_plural(result->use.slow), result->use.blocks,
			  lode_plural(result->use.blocks));
	lode_buffer_print(&compared, "; all intervals together are right in %.0f of 100 comparisons",
			  100 * (1 - LODE_DIFF_LEVEL));
	checks->compared = lode_checks_text(checks, &compared);
	for (size_t i = 0; i < gate->rule_count; i++)
		at = tell_rule(&writer, i, at);
}
