/*
 * Judges the rules of a gate: see gate.h.
 *
 * All subjects of all rules, their callers and the whole run are columns of one table, so that their intervals hold
 * together. Which functions are subjects does not depend on which side their time is on: a choice that did would spoil
 * the intervals.
 */
#include "latency/gate.h"

#include "latency/diff.h"
#include "latency/diff_rows.h"
#include "scope/frame_filter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Functions that take less than this part of all time are not judged by a rule for every function. */
#define NEGLIGIBLE 1000

/* Functions that a rule judges; of more, those that take most. */
#define MAX_SUBJECTS 500

#define NO_COLUMN SIZE_MAX

/* The columns of a subject. */
struct place {
	size_t own;
	size_t callers;
};

struct work {
	const struct lode_diff *diff;
	const struct lode_diff_rows *rows;
	const struct lode_gate *gate;
	struct lode_gate_result *result;
	unsigned jobs;
	const struct lode_stack_node *nodes;
	size_t node_count;
	size_t streams;
	struct place *places; /* by subject */
	double *values;       /* by column: of all streams; the first column is the whole run */
	size_t columns;
	struct lode_blocked_interval *intervals;
	uint8_t *in_base; /* by frame: the base shows it somewhere */
	uint8_t *is_who;  /* by frame: time counts for it (lode_stack_who) */
	uint8_t *frames;  /* by frame: room for a set */
	uint8_t *inside;  /* by node: room for one */
	double *sums;     /* by frame: ns of both sides, with callees or without */
	uint32_t *last;   /* by frame: the node that was counted last */
};

static int work_prepare(struct work *work)
{
	size_t frames = work->diff->dictionary->frames.count + 1;

	work->in_base = lode_calloc(frames, 1);
	work->is_who = lode_calloc(frames, 1);
	work->frames = lode_calloc(frames, 1);
	work->inside = lode_calloc(work->node_count, 1);
	work->sums = lode_calloc(frames, sizeof(*work->sums));
	work->last = lode_calloc(frames, sizeof(*work->last));
	if (!work->in_base || !work->is_who || !work->frames || !work->inside || !work->sums || !work->last)
		return LODE_SYSTEM;
	for (uint32_t i = 1; i < work->node_count; i++) {
		work->is_who[work->diff->function_of[i]] = 1;
		if (work->diff->known[i])
			work->in_base[work->nodes[i].frame] = 1;
	}
	return 0;
}

static void work_release(struct work *work)
{
	lode_free(work->places);
	lode_free(work->values);
	lode_free(work->intervals);
	lode_free(work->in_base);
	lode_free(work->is_who);
	lode_free(work->frames);
	lode_free(work->inside);
	lode_free(work->sums);
	lode_free(work->last);
}

/* ---- subjects ---- */

/* The function that a node's own time counts for; one of the kernel or the C library by itself only where a rule names it. */
static int is_own_node(const struct work *work, uint32_t frame, uint32_t node)
{
	return work->is_who[frame] ? work->diff->function_of[node] == frame : work->nodes[node].frame == frame;
}

/* By frame: what it takes on both sides, by the metric. Returns what all take. */
static double sum_frames(struct work *work, enum lode_gate_metric metric)
{
	size_t frames = work->diff->dictionary->frames.count;
	double all = 0;

	memset(work->sums, 0, frames * sizeof(*work->sums));
	memset(work->last, 0, frames * sizeof(*work->last));
	for (uint32_t i = 1; i < work->node_count; i++) {
		double own = (double)lode_diff_rows_own(work->rows, 0, i) +
			     (double)lode_diff_rows_own(work->rows, 1, i);

		all += own;
		if (metric == LODE_GATE_OWN) {
			work->sums[work->diff->function_of[i]] += own;
			if (!work->is_who[work->nodes[i].frame])
				work->sums[work->nodes[i].frame] += own;
			continue;
		}
		for (uint32_t node = i; own > 0 && node; node = work->nodes[node].parent)
			if (work->last[work->nodes[node].frame] != i) {
				work->last[work->nodes[node].frame] = i;
				work->sums[work->nodes[node].frame] += own;
			}
	}
	return all;
}

static int add_subject(struct work *work, size_t rule, uint32_t frame)
{
	struct lode_gate_result *result = work->result;

	if (LODE_GROW(result->subjects, result->subject_capacity, result->subject_count + 1) < 0)
		return LODE_SYSTEM;
	result->subjects[result->subject_count++] = (struct lode_gate_subject){ .rule = rule, .frame = frame };
	return 0;
}

static int takes_more(const void *a, const void *b, void *sums)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	double x = ((const double *)sums)[left], y = ((const double *)sums)[right];

	return x != y ? (x > y ? -1 : 1) : (left > right) - (left < right);
}

static int is_subject(const struct work *work, const struct lode_gate_rule *rule, uint32_t frame, double all)
{
	if (!(work->sums[frame] > 0))
		return 0;
	if (rule->frame)
		return lode_frame_matches(&work->diff->dictionary->frames, frame, rule->frame);
	return work->sums[frame] >= all / NEGLIGIBLE && (rule->metric == LODE_GATE_ALL || work->is_who[frame]);
}

static int find_subjects(struct work *work, size_t at)
{
	const struct lode_gate_rule *rule = &work->gate->rules[at];
	size_t frames = work->diff->dictionary->frames.count, count = 0;
	uint32_t *chosen;
	double all;
	int code = 0;

	if (rule->metric == LODE_GATE_TOTAL)
		return add_subject(work, at, LODE_GATE_NO_FRAME);
	chosen = lode_calloc(frames + 1, sizeof(*chosen));
	if (!chosen)
		return LODE_SYSTEM;
	all = sum_frames(work, rule->metric);
	for (uint32_t i = 0; i < frames; i++)
		if (is_subject(work, rule, i, all))
			chosen[count++] = i;
	if (count)
		qsort_r(chosen, count, sizeof(*chosen), takes_more, work->sums);
	for (size_t i = 0; !code && i < count && i < MAX_SUBJECTS; i++)
		code = add_subject(work, at, chosen[i]);
	work->result->outcomes[at].left_out = count > MAX_SUBJECTS ? count - MAX_SUBJECTS : 0;
	lode_free(chosen);
	return code;
}

/* ---- columns ---- */

static double *next_column(struct work *work, size_t *place)
{
	*place = work->columns;
	return work->values + work->columns++ * work->streams;
}

static void add_own(struct work *work, uint32_t frame, double *values)
{
	for (uint32_t i = 1; i < work->node_count; i++)
		if (is_own_node(work, frame, i))
			lode_diff_rows_add(work->rows, i, values);
}

/* All nodes in or below a function of the set `frames`. */
static void add_inclusive(struct work *work, double *values)
{
	for (uint32_t i = 1; i < work->node_count; i++) {
		work->inside[i] = work->frames[work->nodes[i].frame] || work->inside[work->nodes[i].parent];
		if (work->inside[i])
			lode_diff_rows_add(work->rows, i, values);
	}
}

/*
 * Makes `frames` the set of the nearest callers that the base shows, in all contexts of a function, without those that
 * only work for others. Returns 0 when a context has none: its thread begins there, and nobody encloses it.
 */
static int find_callers(struct work *work, uint32_t frame)
{
	int found = 0;

	memset(work->frames, 0, work->diff->dictionary->frames.count + 1);
	for (uint32_t i = 1; i < work->node_count; i++) {
		uint32_t caller = work->nodes[i].parent;

		if (work->nodes[i].frame != frame)
			continue;
		while (caller && (work->nodes[caller].frame == frame || !work->in_base[work->nodes[caller].frame]))
			caller = work->nodes[caller].parent;
		if (!caller)
			return 0;
		work->frames[work->nodes[caller].frame] = 1;
		found = 1;
	}
	return found;
}

static void fill_columns(struct work *work)
{
	size_t total;
	double *values = next_column(work, &total);

	for (uint32_t i = 1; i < work->node_count; i++)
		lode_diff_rows_add(work->rows, i, values);
	for (size_t i = 0; i < work->result->subject_count; i++) {
		struct lode_gate_subject *subject = &work->result->subjects[i];
		enum lode_gate_metric metric = work->gate->rules[subject->rule].metric;
		struct place *place = &work->places[i];

		*place = (struct place){ total, NO_COLUMN };
		if (metric == LODE_GATE_TOTAL)
			continue;
		values = next_column(work, &place->own);
		if (metric == LODE_GATE_ALL) {
			memset(work->frames, 0, work->diff->dictionary->frames.count + 1);
			work->frames[subject->frame] = 1;
			add_inclusive(work, values);
			continue;
		}
		add_own(work, subject->frame, values);
		subject->has_callers = find_callers(work, subject->frame);
		if (subject->has_callers)
			add_inclusive(work, next_column(work, &place->callers));
	}
}

/* ns of a rule's limit, given what a run of the base takes. */
static double limit_of(const struct lode_gate_rule *rule, double run)
{
	return rule->share >= 0 ? rule->share * run : rule->limit;
}

/*
 * Deviations far below the limits do not matter, nor does what varies not at all; beside these, columns with hardly any
 * time would hide those that matter.
 */
static void set_floors(const struct work *work, double *floors)
{
	size_t base = work->rows->sides[0]->stream_count;
	double run = 0;

	for (size_t i = 0; i < base; i++)
		run += work->values[i] / (double)base;
	floors[0] = run / NEGLIGIBLE;
	for (size_t i = 0; i < work->result->subject_count; i++) {
		double limit = limit_of(&work->gate->rules[work->result->subjects[i].rule], run);
		double floor = limit > 0 ? fmin(run / NEGLIGIBLE, limit / 4) : run / NEGLIGIBLE;
		const struct place *place = &work->places[i];

		floors[place->own] = place->own ? floor : fmin(floors[0], floor);
		if (place->callers != NO_COLUMN)
			floors[place->callers] = floor;
	}
}

static int measure(struct work *work)
{
	double *floors = lode_calloc(work->columns, sizeof(*floors));
	struct lode_blocked_input input = {
		.values = work->values,
		.floors = floors,
		.blocks = work->gate->blocks,
		.columns = work->columns,
		.base = work->rows->sides[0]->stream_count,
		.slow = work->rows->sides[1]->stream_count,
		.level = LODE_DIFF_LEVEL,
		.jobs = work->jobs,
	};
	int code = LODE_SYSTEM;

	work->intervals = lode_calloc(work->columns, sizeof(*work->intervals));
	if (floors && work->intervals) {
		set_floors(work, floors);
		code = lode_blocked_intervals(&input, work->intervals, &work->result->use);
	}
	lode_free(floors);
	return code;
}

/* ---- what went away ---- */

/* A comparison of some streams of one column with others. */
struct selection {
	double *values;
	uint32_t *blocks;
	size_t count;
};

static void select_stream(struct selection *selection, const struct work *work, size_t column, size_t stream)
{
	selection->values[selection->count] = work->values[column * work->streams + stream];
	selection->blocks[selection->count++] = work->gate->blocks ? work->gate->blocks[stream] : 0;
}

/*
 * Blocks of a selection must be numbered below their number; those of all streams may not be. Each gets the place of its
 * first stream, from the last stream on: those before it still have their old numbers.
 */
static void renumber_blocks(const struct selection *selection)
{
	for (size_t i = selection->count; i-- > 0;) {
		uint32_t first = 0;

		while (selection->blocks[first] != selection->blocks[i])
			first++;
		selection->blocks[i] = first;
	}
}

static int compare_selection(const struct selection *selection, size_t base,
			     struct lode_blocked_interval *interval, struct lode_blocked_use *use)
{
	double floor = 0;
	struct lode_blocked_input input = {
		.values = selection->values,
		.floors = &floor,
		.blocks = selection->blocks,
		.columns = 1,
		.base = base,
		.slow = selection->count - base,
		.level = LODE_DIFF_LEVEL,
		.jobs = 1,
	};

	renumber_blocks(selection);
	return lode_blocked_intervals(&input, interval, use);
}

static int by_time(const void *a, const void *b, void *times)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	uint64_t x = ((const uint64_t *)times)[left], y = ((const uint64_t *)times)[right];

	return x != y ? (x < y ? -1 : 1) : (left > right) - (left < right);
}

/* Room for the streams of a comparison, and the slow ones in the order of time. */
struct history {
	struct selection selection;
	uint32_t *slow;
	size_t slow_count;
	size_t base_count;
};

static int judge_history(const struct work *work, struct history *history, struct lode_gate_subject *subject,
			 size_t column, double limit)
{
	struct selection *selection = &history->selection;
	struct lode_blocked_interval before, base;
	struct lode_blocked_use use;
	size_t earlier = history->slow_count - work->gate->persist;

	selection->count = 0;
	for (size_t i = 0; i < history->slow_count; i++)
		select_stream(selection, work, column, history->base_count + history->slow[i]);
	if (compare_selection(selection, earlier, &before, &use) < 0)
		return LODE_SYSTEM;
	if (!use.blocks || before.high >= 0)
		return 0;
	selection->count = 0;
	for (size_t i = 0; i < history->base_count; i++)
		select_stream(selection, work, column, i);
	for (size_t i = earlier; i < history->slow_count; i++)
		select_stream(selection, work, column, history->base_count + history->slow[i]);
	if (compare_selection(selection, history->base_count, &base, &use) < 0)
		return LODE_SYSTEM;
	if (!use.blocks || base.more > limit)
		return 0;
	subject->verdict = LODE_GATE_WENT_AWAY;
	subject->has_recent = 1;
	subject->recent = base.more;
	return 0;
}

/* Streams that were added at once have no order. */
static int is_ordered(const struct work *work, const struct history *history)
{
	const uint64_t *times = work->gate->times;
	uint32_t last = history->slow[history->slow_count - 1];
	uint32_t before = history->slow[history->slow_count - work->gate->persist - 1];

	return times[before] < times[last];
}

/* Subjects that are beyond their limits, but were not in the last streams. */
static int find_gone(struct work *work)
{
	struct history history = {
		.base_count = work->rows->sides[0]->stream_count,
		.slow_count = work->rows->sides[1]->stream_count,
		.selection = { .values = lode_calloc(work->streams + 1, sizeof(double)),
			       .blocks = lode_calloc(work->streams + 1, sizeof(uint32_t)) },
		.slow = lode_calloc(work->streams + 1, sizeof(uint32_t)),
	};
	int code = history.selection.values && history.selection.blocks && history.slow ? 0 : LODE_SYSTEM;

	if (!code && work->gate->times && work->gate->persist && work->gate->persist < history.slow_count) {
		for (size_t i = 0; i < history.slow_count; i++)
			history.slow[i] = (uint32_t)i;
		qsort_r(history.slow, history.slow_count, sizeof(*history.slow), by_time, work->gate->times);
		for (size_t i = 0; !code && i < work->result->subject_count; i++) {
			struct lode_gate_subject *subject = &work->result->subjects[i];

			if (subject->verdict == LODE_GATE_BEYOND && is_ordered(work, &history))
				code = judge_history(work, &history, subject, work->places[i].own,
						     work->result->outcomes[subject->rule].limit);
		}
	}
	lode_free(history.selection.values);
	lode_free(history.selection.blocks);
	lode_free(history.slow);
	return code;
}

/* ---- verdicts ---- */

static enum lode_gate_verdict judge_interval(const struct lode_blocked_interval *interval, double limit)
{
	return interval->low > limit     ? LODE_GATE_BEYOND
	       : interval->high <= limit ? LODE_GATE_WITHIN
					 : LODE_GATE_UNSURE;
}

static enum lode_gate_verdict judge_subject(const struct lode_gate_subject *subject, double limit)
{
	enum lode_gate_verdict own = judge_interval(&subject->difference, limit), callers;

	if (!subject->has_callers)
		return own;
	callers = judge_interval(&subject->callers, limit);
	if (callers == LODE_GATE_WITHIN)
		return own == LODE_GATE_BEYOND ? LODE_GATE_MOVED : LODE_GATE_WITHIN;
	return callers == LODE_GATE_UNSURE && own == LODE_GATE_BEYOND ? LODE_GATE_UNSURE : own;
}

static void judge_subjects(struct work *work)
{
	struct lode_gate_result *result = work->result;

	result->run = work->intervals[0].base;
	for (size_t i = 0; i < work->gate->rule_count; i++)
		result->outcomes[i].limit = limit_of(&work->gate->rules[i], result->run);
	for (size_t i = 0; i < result->subject_count; i++) {
		struct lode_gate_subject *subject = &result->subjects[i];

		subject->difference = work->intervals[work->places[i].own];
		if (subject->has_callers)
			subject->callers = work->intervals[work->places[i].callers];
		subject->verdict = judge_subject(subject, result->outcomes[subject->rule].limit);
	}
}

/* A rule that no function fits proves nothing: its name may be misspelt. */
static void conclude(struct work *work)
{
	struct lode_gate_result *result = work->result;

	for (size_t i = 0; i < result->subject_count; i++) {
		const struct lode_gate_subject *subject = &result->subjects[i];
		struct lode_gate_outcome *outcome = &result->outcomes[subject->rule];

		outcome->counts[subject->verdict]++;
		if (subject->verdict > outcome->verdict)
			outcome->verdict = subject->verdict;
	}
	for (size_t i = 0; i < work->gate->rule_count; i++) {
		struct lode_gate_outcome *outcome = &result->outcomes[i];
		size_t all = 0;

		for (int verdict = 0; verdict < LODE_GATE_VERDICTS; verdict++)
			all += outcome->counts[verdict];
		if (!all && work->gate->rules[i].frame)
			outcome->verdict = LODE_GATE_UNSURE;
		if (outcome->verdict >= LODE_GATE_UNSURE && outcome->verdict > result->verdict)
			result->verdict = outcome->verdict;
	}
}

static int graver(const void *a, const void *b)
{
	const struct lode_gate_subject *left = a, *right = b;

	if (left->rule != right->rule)
		return left->rule < right->rule ? -1 : 1;
	if (left->verdict != right->verdict)
		return (int)right->verdict - (int)left->verdict;
	if (left->difference.more != right->difference.more)
		return left->difference.more > right->difference.more ? -1 : 1;
	return (left->frame > right->frame) - (left->frame < right->frame);
}

/* ---- the whole ---- */

static int judge(struct work *work)
{
	struct lode_gate_result *result = work->result;
	int code = 0;

	for (size_t i = 0; !code && i < work->gate->rule_count; i++)
		code = find_subjects(work, i);
	if (code)
		return code;
	work->places = lode_calloc(result->subject_count + 1, sizeof(*work->places));
	work->values = lode_calloc(2 * result->subject_count + 1, (work->streams + 1) * sizeof(*work->values));
	if (!work->places || !work->values)
		return LODE_SYSTEM;
	fill_columns(work);
	if (measure(work) < 0)
		return LODE_SYSTEM;
	judge_subjects(work);
	if (find_gone(work) < 0)
		return LODE_SYSTEM;
	conclude(work);
	if (result->subject_count)
		qsort(result->subjects, result->subject_count, sizeof(*result->subjects), graver);
	return 0;
}

int lode_gate_judge(const struct lode_diff *diff, const struct lode_diff_rows *rows, const struct lode_gate *gate,
		    unsigned jobs, struct lode_gate_result *result)
{
	struct work work = {
		.diff = diff,
		.rows = rows,
		.gate = gate,
		.result = result,
		.jobs = jobs,
		.nodes = rows->tree->nodes,
		.node_count = rows->tree->count,
		.streams = lode_diff_rows_streams(rows),
	};
	int code;

	memset(result, 0, sizeof(*result));
	result->outcomes = lode_calloc(gate->rule_count + 1, sizeof(*result->outcomes));
	code = result->outcomes ? work_prepare(&work) : LODE_SYSTEM;
	if (!code)
		code = judge(&work);
	work_release(&work);
	return code;
}

void lode_gate_result_release(struct lode_gate_result *result)
{
	lode_free(result->outcomes);
	lode_free(result->subjects);
	memset(result, 0, sizeof(*result));
}
