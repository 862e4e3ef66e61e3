/* Fills the gate of lode diff, and describes its fields: see gate_result.h. */
#include "result/gate_result.h"

#include "result/field_rows.h"
#include "result/written_frames.h"

#include <math.h>

struct lode_gate_interval_values {
	int64_t delta_ns;
	int known; /* streams are enough for an interval: */
	int64_t low_ns;
	int64_t high_ns;
};

struct lode_gate_subject_values {
	struct lode_written frame; /* none of the whole run */
	const char *verdict;
	uint64_t base_ns;
	struct lode_gate_interval_values difference;
	int has_callers;
	struct lode_gate_interval_values callers;
	int has_recent;
	int64_t recent_delta_ns;
};

struct lode_gate_rule_values {
	const char *rule;
	const char *metric;
	uint64_t limit_ns;
	const char *verdict;
	uint64_t left_out;
	struct lode_list subjects;
};

#define TABLE_OF struct lode_gate_interval_values
static const struct lode_field interval_rows[] = {
	FIELD_I64(delta_ns, "What the slow side takes more, per stream."),
	FIELD_I64(low_ns, "The least that it takes more; null: not known.", FIELD_NULLABLE_UNLESS(known)),
	FIELD_I64(high_ns, "The most that it takes more; null: not known.", FIELD_NULLABLE_UNLESS(known)),
};
static const struct lode_fields interval = FIELD_TABLE("GateInterval", interval_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_gate_subject_values
static const struct lode_field subject_rows[] = {
	FIELD_WRITTEN_TEXT(frame, "The function; absent: the whole run.", FIELD_OPTIONAL),
	FIELD_TEXT(verdict, "What is known of it.", FIELD_CHOICE(lode_gate_verdict_name)),
	FIELD_U64(base_ns, "What it takes on the base side."),
	FIELD_PART(difference, interval),
	FIELD_OBJECT(callers, interval, "Of own: the same of its callers with all that they call.",
		     FIELD_OPTIONAL_IF(has_callers)),
	FIELD_I64(recent_delta_ns, "Of what went away: what the last streams take more.",
		  FIELD_OPTIONAL_IF(has_recent)),
};
static const struct lode_fields subject = FIELD_TABLE("GateSubject", subject_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_gate_rule_values
static const struct lode_field rule_rows[] = {
	FIELD_TEXT(rule, "The rule, as it was given."),
	FIELD_TEXT(metric, "What it measures.", FIELD_CHOICE(lode_gate_metric_name)),
	FIELD_U64(limit_ns, "Its limit, per stream."),
	FIELD_TEXT(verdict, "The gravest of its subjects'.", FIELD_CHOICE(lode_gate_verdict_name)),
	FIELD_U64(left_out, "Functions that are not judged because there are too many."),
	FIELD_OBJECTS(subjects, subject, "What it judges, the gravest first."),
};
static const struct lode_fields rule = FIELD_TABLE("GateRule", rule_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_gate_values
static const struct lode_field gate_rows[] = {
	FIELD_TEXT(verdict, "Of all rules: within, unsure or beyond.", FIELD_CHOICE(lode_gate_verdict_name)),
	FIELD_DOUBLE(level, "All intervals together may be wrong so often."),
	FIELD_U64(blocks, "Hosts, with their kernels, that both sides have."),
	FIELD_U64(base_streams, "Good streams on these."),
	FIELD_U64(slow_streams, "Slow ones."),
	FIELD_U64(run_ns, "What a stream of the base takes on these."),
	FIELD_OBJECTS(rules, rule, "What each rule comes to."),
};
const struct lode_fields lode_gate_fields = FIELD_TABLE("DiffGate", gate_rows);
#undef TABLE_OF

static struct lode_gate_interval_values interval_of(const struct lode_blocked_interval *from)
{
	int known = isfinite(from->low) && isfinite(from->high);

	return (struct lode_gate_interval_values){
		.delta_ns = llround(from->more),
		.known = known,
		.low_ns = known ? llround(from->low) : 0,
		.high_ns = known ? llround(from->high) : 0,
	};
}

static int make_subject(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_gate_values *values = list->from;
	const struct lode_gate_subject *from = &values->result->subjects[list->first + i];
	struct lode_written frame = { 0 };

	if (from->frame != LODE_GATE_NO_FRAME)
		frame = lode_written_frame(&values->diff->dictionary->frames, from->frame);
	*(struct lode_gate_subject_values *)item = (struct lode_gate_subject_values){
		.frame = frame,
		.verdict = lode_gate_verdict_name(from->verdict),
		.base_ns = (uint64_t)fmax(from->difference.base + 0.5, 0),
		.difference = interval_of(&from->difference),
		.has_callers = from->has_callers,
		.callers = interval_of(&from->callers),
		.has_recent = from->has_recent,
		.recent_delta_ns = llround(from->recent),
	};
	return 1;
}

static int make_rule(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_gate_values *values = list->from;
	const struct lode_gate_outcome *outcome = &values->result->outcomes[i];
	size_t first = 0, count = 0;

	while (first < values->result->subject_count && values->result->subjects[first].rule < i)
		first++;
	while (first + count < values->result->subject_count && values->result->subjects[first + count].rule == i)
		count++;
	*(struct lode_gate_rule_values *)item = (struct lode_gate_rule_values){
		.rule = values->gate->rules[i].text,
		.metric = lode_gate_metric_name(values->gate->rules[i].metric),
		.limit_ns = (uint64_t)(outcome->limit + 0.5),
		.verdict = lode_gate_verdict_name(outcome->verdict),
		.left_out = outcome->left_out,
		.subjects = { count, values, first, make_subject },
	};
	return 1;
}

void lode_gate_values_fill(struct lode_gate_values *values, const struct lode_diff *diff,
			   const struct lode_gate *gate)
{
	const struct lode_gate_result *result = &diff->gate;

	*values = (struct lode_gate_values){
		.verdict = lode_gate_verdict_name(result->verdict),
		.level = LODE_DIFF_LEVEL,
		.blocks = result->use.blocks,
		.base_streams = result->use.base,
		.slow_streams = result->use.slow,
		.run_ns = (uint64_t)(result->run + 0.5),
		.rules = { gate->rule_count, values, 0, make_rule },
		.diff = diff,
		.gate = gate,
		.result = result,
	};
}
