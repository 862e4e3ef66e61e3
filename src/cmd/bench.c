/*
 * lode bench: is the new command slower than the old one, by how much, and why?
 *
 * Runs come in pairs, one of each command in random order, so that whatever changes on the machine meanwhile hits both.
 * The logarithm of the ratio of a pair is one value of a confidence sequence (latency/confidence_sequence.h), which may
 * be looked at after every pair: it ends when the difference is known well enough. Several inputs share the chance of
 * error equally. Timed runs are not recorded, since recording costs time; afterwards some more runs are, for the cause.
 */
#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/sort_numbers.h"
#include "cmd/bench_cause.h"
#include "cmd/commands.h"
#include "cmd/signals.h"
#include "export/checks_forms.h"
#include "latency/confidence_sequence.h"
#include "tasks/analysis.h"
#include "tasks/gate_options.h"
#include "text/bench_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL          0.05
#define DEFAULT_LIMIT  0.02
#define DEFAULT_TIME   300000000000u
#define DEFAULT_SEED   1
#define DEFAULT_RECORD 10

struct settings {
	const char *a;
	const char *b;
	struct lode_option_list inputs;
	const char *setup;
	const char *pairs;
	const char *limit;
	uint64_t max_time;
	const char *cpus;
	const char *measure;
	uint64_t seed;
	uint64_t record;
	int no_record;
	const char *corpus;
	int exit_code;
	const char *unsure;
	struct lode_option_list reports;
	struct lode_result_settings result;
};

static const char *form_choice(size_t i);

LODE_CHOICES(measure_choice, "time", "cpu")

#define FIELD(field) offsetof(struct settings, field)

static const struct lode_option options[] = {
	LODE_TEXT("old", 'A', FIELD(a), "COMMAND", "the command to compare with, with its arguments"),
	LODE_TEXT("new", 'B', FIELD(b), "COMMAND", "the command that may be slower"),
	LODE_LIST("input", 'i', FIELD(inputs), "TEXT",
		  "run both with this text in place of {}, or as last argument; can be repeated"),
	LODE_TEXT("setup", 0, FIELD(setup), "COMMAND", "run this before each run, untimed"),
	LODE_TEXT("pairs", 'n', FIELD(pairs), "N|auto",
		  "make so many pairs of runs; auto, the default: until the difference is known well enough"),
	LODE_TEXT("limit", 0, FIELD(limit), "SHARE",
		  "differences up to this part of a run do not matter (default: 2%)"),
	LODE_SOME_DURATION("max-time", 0, FIELD(max_time), "TIME",
			   "make no more timed runs after this time; what is recorded comes on top (default: 5m)"),
	LODE_TEXT(
		"cpus", 0, FIELD(cpus), "LIST|auto|all",
		"pin runs to these processors; auto, the default: to one, if both commands have a single thread"),
	LODE_CHOICE(
		"measure", 0, FIELD(measure), "WHAT",
		"what is compared: the time from start to end, or the CPU time, which other load on the machine "
		"changes less (default: time)",
		measure_choice),
	LODE_NUMBER("seed", 0, FIELD(seed), "N", "the random order of runs follows from this number (default: 1)",
		    1, 0),
	LODE_NUMBER("record", 0, FIELD(record), "N",
		    "record so many runs of each for the cause, if they differ (default: 10)", 4, 1000),
	LODE_FLAG("no-record", 0, FIELD(no_record), "record nothing: no cause is named"),
	LODE_TEXT("corpus", 0, FIELD(corpus), "CORPUS", "keep the recorded runs in this folder"),
	LODE_FLAG("exit-code", 0, FIELD(exit_code),
		  "exit with 1 when B is surely slower by more than the limit, with 5 when that is unsure"),
	LODE_CHOICE("unsure", 0, FIELD(unsure), "HOW",
		    "--exit-code: take what is unsure for passed or failed, instead of exit code 5",
		    lode_unsure_choice),
	LODE_LIST("report", 0, FIELD(reports), "FILE",
		  "also write the result to FILE, in the format of its ending; can be repeated"),
	LODE_CHOICE("format", 'f', FIELD(result.format), "NAME",
		    "output format (default: from the extension of FILE)", form_choice),
	LODE_FLAG("json", 0, FIELD(result.json), "write everything as JSON"),
	LODE_TEXT("output", 'o', FIELD(result.output), "FILE", "write to FILE instead of standard output"),
	LODE_NO_MORE_OPTIONS,
};

/* ---- forms ---- */

/* What the forms show. */
struct report {
	const struct lode_bench_result *result;
	const struct lode_checks *checks;
};

static int write_text(struct lode_analysis *analysis, void *result, struct lode_output *output,
		      struct lode_error *error)
{
	(void)error;
	lode_bench_text(((const struct report *)result)->result, &analysis->look, &output->buffer);
	return 0;
}

#define FORM(name, put, what)                                                                                     \
	static int name(struct lode_analysis *analysis, void *result, struct lode_output *output,                 \
			struct lode_error *error)                                                                 \
	{                                                                                                         \
		(void)analysis, (void)error;                                                                      \
		put(((const struct report *)result)->what, &output->buffer);                                      \
		return 0;                                                                                         \
	}

FORM(write_json, lode_bench_json, result)
FORM(write_markdown, lode_checks_markdown, checks)
FORM(write_junit, lode_checks_junit, checks)
FORM(write_sarif, lode_checks_sarif, checks)

static const struct lode_form forms[] = {
	{ .name = "text", .kind = LODE_FORM_TEXT, .write = write_text },
	{ .name = "json", .kind = LODE_FORM_JSON, .write = write_json },
	{ .name = "markdown", .extension = ".md", .kind = LODE_FORM_OTHER, .write = write_markdown },
	{ .name = "junit", .extension = ".xml", .kind = LODE_FORM_OTHER, .write = write_junit },
	{ .name = "sarif", .extension = ".sarif", .kind = LODE_FORM_OTHER, .write = write_sarif },
	{ .name = NULL },
};

static const char *form_choice(size_t i)
{
	return lode_form_name(forms, i);
}

/* ---- what is requested ---- */

/* One input of both commands, and what its runs took. */
struct trial {
	const char *input;
	struct lode_bench_program programs[2];
	struct lode_confidence_sequence ratios; /* logarithms of B by A */
	struct lode_confidence_interval interval;
	uint64_t *times[2];
	uint64_t *cpu[2];
	size_t capacity[4];
	size_t next_look; /* pairs that there must be */
	int decided;
};

struct bench {
	struct lode_analysis *analysis;
	const struct settings *settings;
	double limit;
	uint64_t pairs; /* 0: as many as it takes */
	struct lode_bench_program setup;
	struct trial *trials;
	size_t count;
	cpu_set_t cpus;
	int pinned;
	char cpu_text[32];
	struct lode_random random;
	uint64_t began;
	uint64_t runs;
	const char *ended;
};

static int read_numbers(struct bench *bench, struct lode_error *error)
{
	const struct settings *settings = bench->settings;
	char *end;

	bench->limit = DEFAULT_LIMIT;
	if (settings->limit) {
		bench->limit = strtod(settings->limit, &end) / 100;
		if (strcmp(end, "%") || !(bench->limit > 0) || bench->limit > 10)
			return lode_fail(error, LODE_USAGE,
					 "bench: '--limit %s' is no share of a run; write a number such as '2%%'",
					 settings->limit);
	}
	if (settings->pairs && strcmp(settings->pairs, "auto")) {
		bench->pairs = strtoull(settings->pairs, &end, 10);
		if (*end || !bench->pairs || *settings->pairs == '-' || bench->pairs > 1000000)
			return lode_fail(error, LODE_USAGE,
					 "bench: '--pairs %s' is neither a number of pairs nor 'auto'",
					 settings->pairs);
	}
	if (!settings->a || !settings->b)
		return lode_fail(
			error, LODE_USAGE,
			"bench: give two commands: -A './old args' -B './new args'. See 'lode help bench'.");
	if (settings->unsure && !settings->exit_code)
		return lode_fail(error, LODE_USAGE,
				 "bench: '--unsure' is about '--exit-code'; give both. See 'lode help bench'.");
	return 0;
}

/* Before hours are spent. */
static int check_reports(struct bench *bench, struct lode_error *error)
{
	const struct lode_option_list *reports = &bench->settings->reports;
	int code = 0;

	for (size_t i = 0; !code && i < reports->count; i++) {
		struct lode_analysis_target target;

		code = lode_analysis_turn(bench->analysis, reports->items[i], &target, error);
		lode_analysis_turn(bench->analysis, NULL, &target, NULL);
	}
	return code;
}

static int prepare(struct bench *bench, struct lode_error *error)
{
	const struct settings *settings = bench->settings;
	int code = read_numbers(bench, error);

	if (!code)
		code = check_reports(bench, error);
	bench->random = lode_random_piece(settings->seed ? settings->seed : DEFAULT_SEED, 0);
	bench->count = settings->inputs.count ? settings->inputs.count : 1;
	bench->trials = lode_calloc(bench->count, sizeof(*bench->trials));
	if (!code && !bench->trials)
		code = lode_fail_memory(error);
	for (size_t i = 0; !code && i < bench->count; i++) {
		struct trial *trial = &bench->trials[i];

		trial->input = settings->inputs.count ? settings->inputs.items[i] : NULL;
		code = lode_bench_program_make(&trial->programs[0], "A", settings->a, trial->input, error);
		if (!code)
			code = lode_bench_program_make(&trial->programs[1], "B", settings->b, trial->input, error);
	}
	if (!code && settings->setup)
		code = lode_bench_program_make(&bench->setup, "--setup", settings->setup, NULL, error);
	if (!code && settings->cpus && strcmp(settings->cpus, "auto") && strcmp(settings->cpus, "all")) {
		code = lode_bench_cpus(settings->cpus, &bench->cpus, error);
		bench->pinned = 1;
		snprintf(bench->cpu_text, sizeof(bench->cpu_text), "%.31s", settings->cpus);
	}
	return code;
}

static void release(struct bench *bench)
{
	for (size_t i = 0; bench->trials && i < bench->count; i++) {
		struct trial *trial = &bench->trials[i];

		lode_confidence_sequence_release(&trial->ratios);
		for (int side = 0; side < 2; side++) {
			lode_bench_program_release(&trial->programs[side]);
			lode_free(trial->times[side]);
			lode_free(trial->cpu[side]);
		}
	}
	lode_bench_program_release(&bench->setup);
	lode_free(bench->trials);
}

/* ---- runs ---- */

static int run_one(struct bench *bench, struct trial *trial, int side, int looks, struct lode_bench_run *run,
		   struct lode_error *error)
{
	struct lode_bench_run ignored;
	int code = bench->setup.words ? lode_bench_run(&bench->setup, NULL, 0, &ignored, error) : 0;

	if (!code)
		code = lode_bench_run(&trial->programs[side], bench->pinned ? &bench->cpus : NULL, looks, run,
				      error);
	return code;
}

/* The last processor: the first ones are busier with interrupts. */
static void pin_to_last(struct bench *bench)
{
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return;
	for (int i = CPU_SETSIZE - 1; i >= 0 && !bench->pinned; i--)
		if (CPU_ISSET(i, &allowed)) {
			CPU_ZERO(&bench->cpus);
			CPU_SET(i, &bench->cpus);
			bench->pinned = 1;
			snprintf(bench->cpu_text, sizeof(bench->cpu_text), "%d", i);
		}
}

/* One run of each that does not count: caches become warm, and it is seen whether they can be pinned. */
static int warm_up(struct bench *bench, struct lode_error *error)
{
	int alone = 1, code = 0;

	for (size_t i = 0; !code && i < bench->count; i++)
		for (int side = 0; !code && side < 2; side++) {
			struct lode_bench_run run = { 0 };

			code = run_one(bench, &bench->trials[i], side, 1, &run, error);
			alone = alone && run.alone;
		}
	if (!code && alone && (!bench->settings->cpus || !strcmp(bench->settings->cpus, "auto")))
		pin_to_last(bench);
	return code;
}

static int measures_cpu(const struct bench *bench)
{
	return bench->settings->measure && !strcmp(bench->settings->measure, "cpu");
}

static int run_pair(struct bench *bench, struct trial *trial, struct lode_error *error)
{
	int first = (int)lode_random_below(&bench->random, 2), code = 0;
	size_t at = trial->ratios.count;
	struct lode_bench_run runs[2];
	double values[2];

	for (int i = 0; !code && i < 2; i++)
		code = run_one(bench, trial, first ^ i, 0, &runs[first ^ i], error);
	if (code)
		return code;
	for (int side = 0; side < 2; side++) {
		if (lode_grow(&trial->times[side], &trial->capacity[side], at + 1, sizeof(uint64_t)) < 0 ||
		    lode_grow(&trial->cpu[side], &trial->capacity[2 + side], at + 1, sizeof(uint64_t)) < 0)
			return lode_fail_memory(error);
		trial->times[side][at] = runs[side].time;
		trial->cpu[side][at] = runs[side].cpu;
	}
	bench->runs += 2;
	for (int side = 0; side < 2; side++)
		values[side] = (double)(measures_cpu(bench) ? runs[side].cpu : runs[side].time) + 1;
	return lode_confidence_sequence_add(&trial->ratios, log(values[1] / values[0])) < 0
		       ? lode_fail_memory(error)
		       : 0;
}

/* Known well enough: within the limit, beyond it, or as narrow as the limit. */
static int is_decided(const struct bench *bench, const struct lode_confidence_interval *interval)
{
	double limit = log1p(bench->limit);

	return interval->low > limit || interval->high < -limit ||
	       (interval->low >= -limit && interval->high <= limit) || interval->high - interval->low <= limit;
}

/* A look takes longer the more pairs there are. So looks become rarer, at the price of 3 % more pairs. */
static int decide(const struct bench *bench, struct trial *trial, struct lode_error *error)
{
	struct lode_confidence_interval interval;
	size_t pairs = trial->ratios.count;

	if (pairs < trial->next_look)
		return 0;
	trial->next_look = pairs + pairs / 32 + 1;
	if (lode_confidence_sequence_ends(&trial->ratios, LEVEL / (double)bench->count, &interval) < 0)
		return lode_fail_memory(error);
	trial->decided = is_decided(bench, &interval);
	return 0;
}

static int is_late(const struct bench *bench)
{
	uint64_t most = bench->settings->max_time ? bench->settings->max_time : DEFAULT_TIME;

	return lode_now() - bench->began >= most;
}

/* Whether another round is to be made; sets why not. */
static int goes_on(struct bench *bench)
{
	const struct trial *last = &bench->trials[bench->count - 1]; /* others have no fewer pairs in a round */
	size_t decided = 0;

	for (size_t i = 0; i < bench->count; i++)
		decided += (size_t)bench->trials[i].decided;
	bench->ended = bench->pairs && last->ratios.count >= bench->pairs ? "pairs"
		       : !bench->pairs && decided == bench->count         ? "decided"
		       : is_late(bench)                                   ? "max-time"
									  : NULL;
	return !bench->ended;
}

/* A pair for each input, unless time is up. How many there will be may be known: then nobody looks before the end. */
static int make_round(struct bench *bench, struct lode_error *error)
{
	int code = 0;

	for (size_t i = 0; !code && i < bench->count && !is_late(bench); i++) {
		struct trial *trial = &bench->trials[i];

		if (!bench->pairs && trial->decided)
			continue;
		code = run_pair(bench, trial, error);
		if (!code && !bench->pairs)
			code = decide(bench, trial, error);
	}
	return code;
}

static int look_at_all(struct bench *bench, struct lode_error *error)
{
	double level = LEVEL / (double)bench->count;
	int code = 0;

	for (size_t i = 0; !code && i < bench->count; i++)
		code = lode_confidence_sequence_look(&bench->trials[i].ratios, level, &bench->trials[i].interval);
	return code ? lode_fail_memory(error) : 0;
}

static int make_runs(struct bench *bench, struct lode_error *error)
{
	const struct lode_progress *progress = bench->analysis->work.progress;
	int code;

	bench->began = lode_now();
	code = warm_up(bench, error);
	while (!code && goes_on(bench)) {
		code = make_round(bench, error);
		if (!code && lode_progress_report(progress, "comparing", "runs", bench->runs,
						  2 * bench->pairs * bench->count))
			code = lode_fail(error, LODE_SYSTEM, "stopped before the difference was known");
	}
	return code ? code : look_at_all(bench, error);
}

/* ---- the result ---- */

/* 0 where memory has run out. */
static uint64_t median_of(const uint64_t *values, size_t count)
{
	uint64_t *sorted = lode_calloc(count + 1, sizeof(*sorted)), median = 0;

	if (sorted && count) {
		memcpy(sorted, values, count * sizeof(*sorted));
		lode_sort_u64(sorted, count);
		median = sorted[count / 2];
	}
	lode_free(sorted);
	return median;
}

static enum lode_bench_verdict judge(const struct bench *bench, const struct lode_confidence_interval *interval)
{
	double limit = log1p(bench->limit);

	if (interval->low > 0)
		return LODE_BENCH_SLOWER;
	if (interval->high < 0)
		return LODE_BENCH_FASTER;
	return interval->low >= -limit && interval->high <= limit ? LODE_BENCH_SAME : LODE_BENCH_UNSURE;
}

static struct lode_bench_input input_of(const struct bench *bench, const struct trial *trial)
{
	const struct lode_confidence_interval *interval = &trial->interval;
	enum lode_bench_verdict verdict = judge(bench, interval);
	size_t pairs = trial->ratios.count;

	return (struct lode_bench_input){
		.input = trial->input,
		.verdict = verdict,
		.verdict_name = lode_bench_verdict_name(verdict),
		.pairs = pairs,
		.a_ns = median_of(trial->times[0], pairs),
		.b_ns = median_of(trial->times[1], pairs),
		.a_cpu_ns = median_of(trial->cpu[0], pairs),
		.b_cpu_ns = median_of(trial->cpu[1], pairs),
		.change = expm1(interval->estimate),
		.known = isfinite(interval->low) && isfinite(interval->high),
		.low = expm1(interval->low),
		.high = expm1(interval->high),
		.a_times_ns = lode_list_of(trial->times[0], pairs),
		.b_times_ns = lode_list_of(trial->times[1], pairs),
		.a_cpu_times_ns = lode_list_of(trial->cpu[0], pairs),
		.b_cpu_times_ns = lode_list_of(trial->cpu[1], pairs),
	};
}

static void fill_result(struct bench *bench, struct lode_bench_result *result)
{
	const struct settings *settings = bench->settings;

	for (size_t i = 0; i < bench->count; i++) {
		result->items[i] = input_of(bench, &bench->trials[i]);
		if (!i || result->items[i].verdict > result->verdict)
			result->verdict = result->items[i].verdict;
	}
	result->a = settings->a;
	result->b = settings->b;
	result->level = LEVEL;
	result->limit = bench->limit;
	result->measure = measures_cpu(bench) ? "cpu" : "time";
	result->verdict_name = lode_bench_verdict_name(result->verdict);
	result->ended = bench->ended;
	result->cpus = bench->pinned ? bench->cpu_text : NULL;
	result->seed = settings->seed ? settings->seed : DEFAULT_SEED;
	result->runs = bench->runs;
	result->runs_ns = lode_now() - bench->began;
	result->count = bench->count;
	result->inputs = lode_list_of(result->items, result->count);
	result->corpus = settings->corpus;
}

/* Of the input that differs most, if one surely does. That nothing can be recorded is said, and no failure. */
static int find_cause(struct bench *bench, struct lode_bench_result *result, char *reason, size_t size,
		      struct lode_error *error)
{
	struct lode_error own = { "" };
	const struct trial *trial = NULL;
	int code;

	for (size_t i = 0; i < bench->count; i++)
		if ((result->items[i].verdict == LODE_BENCH_SLOWER ||
		     result->items[i].verdict == LODE_BENCH_FASTER) &&
		    (!trial || fabs(bench->trials[i].interval.estimate) > fabs(trial->interval.estimate)))
			trial = &bench->trials[i];
	if (!trial || bench->settings->no_record)
		return 0;
	result->cause_of = (size_t)(trial - bench->trials);
	code = lode_bench_find_cause(bench->analysis->call, bench->analysis->work.progress,
				     &(struct lode_bench_recording){
					     .programs = trial->programs,
					     .setup = bench->setup.words ? &bench->setup : NULL,
					     .corpus = bench->settings->corpus,
					     .runs = bench->settings->record ? bench->settings->record
									     : DEFAULT_RECORD,
					     .seed = result->seed,
					     .faster = trial->interval.estimate < 0,
				     },
				     result, &own);
	if (lode_signals_stop() || !code)
		return code;
	(void)error;
	snprintf(reason, size, "%s", own.text);
	result->no_cause = reason;
	return 0;
}

static int show(struct bench *bench, struct report *report, struct lode_error *error)
{
	const struct lode_option_list *reports = &bench->settings->reports;
	int code = lode_analysis_write(bench->analysis, report, error);

	for (size_t i = 0; !code && i < reports->count; i++) {
		struct lode_analysis_target target;

		code = lode_analysis_turn(bench->analysis, reports->items[i], &target, error);
		if (!code)
			code = lode_analysis_write(bench->analysis, report, error);
		lode_analysis_turn(bench->analysis, NULL, &target, NULL);
	}
	return code;
}

static int conclude(struct bench *bench, struct lode_error *error)
{
	const struct settings *settings = bench->settings;
	struct lode_bench_result result = { .items = lode_calloc(bench->count, sizeof(*result.items)) };
	struct lode_checks checks = { 0 };
	struct report report = { &result, &checks };
	char reason[1024];
	int code = result.items ? 0 : lode_fail_memory(error);

	if (!code) {
		fill_result(bench, &result);
		code = find_cause(bench, &result, reason, sizeof(reason), error);
	}
	if (!code) {
		result.took_ns = lode_now() - bench->began;
		lode_gate_set_unsure(&(struct lode_gate_settings){ .unsure = settings->unsure }, &checks);
		lode_bench_checks(&result, &checks);
		code = checks.failed ? lode_fail_memory(error) : show(bench, &report, error);
	}
	if (!code && settings->exit_code)
		code = lode_checks_code(&checks);
	lode_bench_cause_release(&result.cause);
	lode_checks_release(&checks);
	lode_free(result.items);
	return code;
}

static int make(struct lode_analysis *analysis, struct lode_error *error)
{
	struct bench bench = { .analysis = analysis, .settings = analysis->call->settings };
	int code = prepare(&bench, error);

	if (!code)
		code = make_runs(&bench, error);
	if (!code)
		code = conclude(&bench, error);
	release(&bench);
	return code;
}

static const struct lode_analysis_command analysis = {
	.result = FIELD(result),
	.hold = LODE_HOLD_ALWAYS,
	.forms = forms,
	.make = make,
};

const struct lode_command lode_command_bench = {
	.name = "bench",
	.summary = "time two commands until their difference is known",
	.usage = "[OPTIONS] -A COMMAND -B COMMAND",
	.about = "Runs two commands in pairs, in random order, until it is known well enough how much longer B "
		 "takes "
		 "than A: 'no difference larger than 1.8% (95%)', or 'slower by 5.2% [3.1%, 7.4%]'. The interval "
		 "may "
		 "be looked at after every pair without being wrong more often. If they differ, some more runs of "
		 "both "
		 "are recorded, and the function that the difference comes from is named.",
	.examples = "  lode bench -A './app-1.0 big.xml' -B './app-1.1 big.xml'\n"
		    "  lode bench -A ./old -B ./new --input small.xml --input big.xml --limit 1%\n"
		    "  # in a job: fails when B is surely slower by more than 3%\n"
		    "  lode bench -A ./old -B ./new --limit 3% --exit-code --report bench.md\n",
	.options = options,
	.settings_size = sizeof(struct settings),
	.analysis = &analysis,
	.run = lode_analysis_run,
};
