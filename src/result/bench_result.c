/* The result of lode bench: its fields, words and checks; see bench_result.h. */
#include "result/bench_result.h"

#include "base/memory.h"
#include "base/units.h"
#include "result/field_rows.h"

#include <math.h>
#include <string.h>

#define RULE "time > limit"

const char *lode_bench_verdict_name(unsigned verdict)
{
	static const char *const names[] = { "same", "faster", "unsure", "slower" };

	return verdict < LODE_BENCH_VERDICTS ? names[verdict] : NULL;
}

#define TABLE_OF struct lode_bench_input
static const struct lode_field input_rows[] = {
	FIELD_TEXT(input, "The input; absent: there is only one.", FIELD_OPTIONAL),
	FIELD_TEXT_AS("verdict", verdict_name, "What is known of B against A.",
		      FIELD_CHOICE(lode_bench_verdict_name)),
	FIELD_U64(pairs, "Pairs of runs."),
	FIELD_U64(a_ns, "Median time of a run of A."),
	FIELD_U64(b_ns, "Of B."),
	FIELD_U64(a_cpu_ns, "Median CPU time of a run of A."),
	FIELD_U64(b_cpu_ns, "Of B."),
	FIELD_DOUBLE(change, "How much longer B takes, as a part of A's time."),
	FIELD_DOUBLE(low, "The least that it may be; null: not known.", FIELD_NULLABLE_UNLESS(known)),
	FIELD_DOUBLE(high, "The most that it may be; null: not known.", FIELD_NULLABLE_UNLESS(known)),
	FIELD_NUMBERS(a_times_ns, "The time of each run of A, in the order of pairs."),
	FIELD_NUMBERS(b_times_ns, "Of B."),
	FIELD_NUMBERS(a_cpu_times_ns, "The CPU time of each run of A."),
	FIELD_NUMBERS(b_cpu_times_ns, "Of B."),
};
static const struct lode_fields input_table = FIELD_TABLE("BenchInput", input_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_bench_cause
static const struct lode_field cause_rows[] = {
	FIELD_TEXT(frame, "The function."),
	FIELD_TEXT(layer, "Whose code it is."),
	FIELD_TEXT(caller, "The function that calls it.", FIELD_OPTIONAL),
	FIELD_BOOL(new, "Only the slower side calls it."),
	FIELD_I64(delta_ns, "How much longer it takes, per run."),
	FIELD_TEXT(state, "What threads do longer for it: run, wait for what.", FIELD_OPTIONAL),
	FIELD_I64(state_delta_ns, "How much longer, per run and all threads."),
};
static const struct lode_fields cause_table = FIELD_TABLE("BenchCause", cause_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_bench_result
static const struct lode_field bench_rows[] = {
	FIELD_TEXT(a, "The old command."),
	FIELD_TEXT(b, "The new one."),
	FIELD_DOUBLE(level, "All intervals together, at all looks, may be wrong so often."),
	FIELD_DOUBLE(limit, "Smaller differences do not matter, as a part of A's time."),
	FIELD_TEXT(measure, "What is compared: time, from start to end, or cpu."),
	FIELD_TEXT_AS("verdict", verdict_name, "Of all inputs.", FIELD_CHOICE(lode_bench_verdict_name)),
	FIELD_TEXT(ended, "Why no more runs were made: decided, max-time or pairs."),
	FIELD_TEXT(cpus, "Processors to which runs were pinned; absent: none.", FIELD_OPTIONAL),
	FIELD_U64(seed, "The order of runs follows from it."),
	FIELD_U64(runs, "Timed runs, of both."),
	FIELD_U64(took_ns, "How long it all took."),
	FIELD_OBJECTS(inputs, input_table, "Each input."),
	FIELD_U64(recorded, "Recorded runs of each command."),
	FIELD_TEXT(corpus, "Where they are; absent: they are not kept.", FIELD_OPTIONAL),
	FIELD_OBJECT(cause, cause_table, "The function that the difference comes from; null: none is known.",
		     FIELD_NULLABLE_UNLESS(has_cause)),
	FIELD_TEXT(no_cause, "Why there is no cause.", FIELD_OPTIONAL),
};
const struct lode_fields lode_bench_fields = FIELD_TABLE("BenchResult", bench_rows);
#undef TABLE_OF

void lode_bench_json(const struct lode_bench_result *result, struct lode_buffer *buffer)
{
	lode_fields_line(&lode_bench_fields, result, buffer);
}

/* ---- words ---- */

static void put_percent(double share, struct lode_buffer *buffer)
{
	double percent = fabs(100 * share);

	lode_buffer_print(buffer, "%.*f%%", percent < 0.995 ? 2 : percent < 9.95 ? 1 : 0, percent);
}

static void put_ends(double low, double high, struct lode_buffer *buffer)
{
	lode_buffer_text(buffer, " [");
	put_percent(low, buffer);
	lode_buffer_text(buffer, ", ");
	put_percent(high, buffer);
	lode_buffer_byte(buffer, ']');
}

void lode_bench_words(const struct lode_bench_result *result, const struct lode_bench_input *input,
		      struct lode_buffer *buffer)
{
	switch (input->verdict) {
	case LODE_BENCH_SLOWER:
		lode_buffer_text(buffer, "slower by ");
		put_percent(input->change, buffer);
		put_ends(input->low, input->high, buffer);
		break;
	case LODE_BENCH_FASTER:
		lode_buffer_text(buffer, "faster by ");
		put_percent(input->change, buffer);
		put_ends(input->high, input->low, buffer);
		break;
	case LODE_BENCH_SAME:
		lode_buffer_text(buffer, "no difference larger than ");
		put_percent(fmax(fabs(input->low), fabs(input->high)), buffer);
		lode_buffer_print(buffer, " (%.0f%%)", 100 * (1 - result->level));
		break;
	default:
		if (!input->pairs) {
			lode_buffer_text(buffer, "not known: there was no time for a pair of runs");
			break;
		}
		lode_buffer_text(buffer, "not surely slower or faster: ");
		lode_signed_percent(input->change, buffer);
		if (!input->known) {
			lode_buffer_text(buffer, ", pairs are too few for an interval");
			break;
		}
		lode_buffer_text(buffer, " [");
		lode_signed_percent(input->low, buffer);
		lode_buffer_text(buffer, ", ");
		lode_signed_percent(input->high, buffer);
		lode_buffer_byte(buffer, ']');
	}
}

/* ---- checks ---- */

static int of_cpu(const struct lode_bench_result *result)
{
	return !strcmp(result->measure, "cpu");
}

static enum lode_gate_verdict judge(const struct lode_bench_result *result, const struct lode_bench_input *input)
{
	if (!input->known)
		return LODE_GATE_UNSURE;
	return input->low > result->limit     ? LODE_GATE_BEYOND
	       : input->high <= result->limit ? LODE_GATE_WITHIN
					      : LODE_GATE_UNSURE;
}

/* Returns the length of the function's name, which comes first. */
static size_t put_cause(const struct lode_bench_cause *cause, struct lode_buffer *buffer)
{
	lode_buffer_text(buffer, cause->frame);
	lode_buffer_text(buffer, " takes ");
	lode_signed_duration((double)cause->delta_ns, buffer);
	lode_buffer_text(buffer, " per run");
	return strlen(cause->frame);
}

void lode_bench_checks(const struct lode_bench_result *result, struct lode_checks *checks)
{
	struct lode_buffer compared = { 0 };

	checks->command = "lode bench";
	checks->verdict = LODE_GATE_WITHIN;
	for (size_t i = 0; i < result->count; i++) {
		const struct lode_bench_input *input = &result->items[i];
		enum lode_gate_verdict verdict = judge(result, input);
		struct lode_check *check = lode_checks_add(checks, RULE, verdict);
		struct lode_buffer subject = { 0 }, module = { 0 }, measured = { 0 }, reason = { 0 };

		if (!check)
			return;
		lode_buffer_text(&subject, input->input ? input->input : "the whole run");
		lode_bench_words(result, input, &measured);
		if (result->has_cause && result->cause_of == i)
			check->named = put_cause(&result->cause, &reason);
		check->subject = lode_checks_text(checks, &subject);
		check->module = lode_checks_text(checks, &module);
		check->measured = lode_checks_text(checks, &measured);
		check->reason = lode_checks_text(checks, &reason);
		checks->verdict = verdict > checks->verdict ? verdict : checks->verdict;
	}
	lode_buffer_text(&compared, "limit ");
	put_percent(result->limit, &compared);
	lode_buffer_text(&compared, of_cpu(result) ? " of CPU time" : "");
	lode_buffer_print(&compared, "; %llu runs; all intervals together are right in %.0f of 100 experiments",
			  (unsigned long long)result->runs, 100 * (1 - result->level));
	checks->compared = lode_checks_text(checks, &compared);
}
