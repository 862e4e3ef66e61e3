/*
 * lode record: what the threads of this machine run, what they wait for, and who
 * wakes them, into a stream of a corpus.
 *
 * The command, if there is one, is forked first and held back, so that its
 * process is known before recording begins and nothing of it is missed. Then one
 * loop: sleep until there is much to read, or a tenth of a second; read; write
 * now and then; look whether it is over: the command ended, the time is up, the
 * processes are gone, a signal came. In all these cases the stream is finished.
 */
#include "base/units.h"
#include "tasks/attributes.h"
#include "cmd/commands.h"
#include "tasks/notes.h"
#include "cmd/progress.h"
#include "cmd/signals.h"
#include "tasks/symbol_options.h"
#include "cmd/recorded.h"

#ifdef LODE_HAVE_RECORDER
#include "cmd/recorded_budget.h"
#include "record/rule_probes.h"
#include "record/recording.h"
#include "record/rules.h"
#include "text/budget_text.h"
#include "text/record_text.h"
#endif

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEFAULT_CORPUS "lode-corpus"

struct settings {
	struct lode_recorded_settings target;
	uint64_t duration;
	const char *output;
	const char *name;
	struct lode_option_list attributes;
	struct lode_option_list symptoms;
	struct lode_symbol_settings symbols;
	int no_own_walk;
	int json;
};

#define FIELD(field) offsetof(struct settings, field)

static const struct lode_option options[] = {
	LODE_RECORDED_OPTIONS(FIELD(target)),
	LODE_SOME_DURATION("duration", 'd', FIELD(duration), "TIME", "stop after this time"),
	LODE_TEXT("output", 'o', FIELD(output), "CORPUS", "the folder to record into (default: " DEFAULT_CORPUS ")"),
	LODE_TEXT("name", 'n', FIELD(name), "NAME", "name of the stream"),
	LODE_LIST("attr", 0, FIELD(attributes), "KEY=VALUE", "an attribute of the stream; may be given many times"),
	LODE_LIST("symptom", 0, FIELD(symptoms), "RULE",
		  "what was too slow: 'thread NAME', 'run > 2s', 'function BIN:FUNC > 200ms', 'mark NAME > "
		  "100ms'; may be given many times"),
	LODE_RECORDED_SYMBOL_OPTIONS(FIELD(symbols)),
	LODE_FLAG("json", 0, FIELD(json), "write what was recorded as JSON to standard output"),
	LODE_HIDDEN_FLAG("kernel-stacks-by-kernel", FIELD(no_own_walk), "do not walk kernel stacks; for tests"),
	LODE_NO_MORE_OPTIONS,
};

#ifdef LODE_HAVE_RECORDER

struct recording {
	const struct lode_call *call;
	const struct settings *settings;
	struct lode_record_rules rules;
	struct lode_corpus *corpus;
	struct lode_symbolizer *symbolizer;
	struct lode_recorder *recorder;
	struct lode_builder builder;
	struct lode_recording *recording;
	struct lode_recorder_sink sink;
	struct lode_rule_probes *probes;
	struct lode_notes notes;
	struct lode_recorded target;
	struct lode_record_times times;
	struct lode_corpus_entry entry;
	uint64_t drawn_at;
	int drawn;
	int symptoms; /* found */
};

/* ---- what is asked for ---- */

static int wrong(struct lode_error *error, const char *sentence)
{
	return lode_fail(error, LODE_USAGE, "record: %s. See 'lode help record'.", sentence);
}

static int read_rules(struct recording *recording, struct lode_error *error)
{
	const struct lode_option_list *symptoms = &recording->settings->symptoms;
	struct lode_record_rules *rules = &recording->rules;
	int code = lode_record_rules_parse(rules, symptoms->items, symptoms->count, error);

	for (size_t i = 0; !code && i < rules->count; i++)
		if (rules->rules[i].type == LODE_RULE_RUN && !recording->call->operand_count)
			code = wrong(error, "the symptom 'run > TIME' is about a command; give one behind '--'");
	return code;
}

/* ---- recording ---- */

static int open_probes(struct recording *recording, struct lode_error *error)
{
	struct lode_recorder_sink sink = lode_builder_sink(&recording->builder);
	int code = lode_rule_probes_create(&recording->probes, recording->recorder, recording->rules.rules,
					   recording->rules.count, &recording->builder.processes, error);

	if (!code && lode_rule_probes_look(recording->probes) < 0)
		code = lode_fail_memory(error);
	if (!code && recording->target.command_count &&
	    lode_rule_probes_command(recording->probes, recording->target.command[0]) < 0)
		code = lode_fail_memory(error);
	if (!code)
		recording->sink = lode_rule_probes_sink(recording->probes, &sink);
	return code;
}

static int open_all(struct recording *recording, const char *source, struct lode_error *error)
{
	const struct settings *settings = recording->settings;
	struct lode_recorder_options recorder = lode_recorded_recorder(&recording->target);
	struct lode_symbols_options symbols = lode_symbol_options(&settings->symbols, &recording->notes);
	int code;

	recorder.no_own_walk = settings->no_own_walk;
	recorder.totals = 1;
	recorder.cache = symbols.cache;
	recorder.limits = recording->rules.limits;
	recorder.limit_count = recording->rules.count;
	recording->target.sees_all_waits = lode_recorder_sees_all_waits(&recorder);
	code = lode_recorder_create(&recording->recorder, &recorder, error);
	if (!code)
		code = lode_symbolizer_create(&recording->symbolizer, &symbols, error);
	if (!code && lode_builder_init(&recording->builder, recording->symbolizer, NULL,
				       lode_recorder_period(&recorder)) < 0)
		code = lode_fail_memory(error);
	if (!code)
		code = lode_recorded_describe(&recording->target, settings->name, source, &settings->attributes,
					      &recording->builder.stream, error);
	if (!code)
		code = lode_corpus_open(&recording->corpus, settings->output ? settings->output : DEFAULT_CORPUS,
					LODE_CORPUS_CREATE, error);
	if (!code)
		code = lode_recording_create(&recording->recording, recording->corpus, &recording->builder, error);
	if (!code && lode_processes_snapshot(&recording->builder.processes) < 0)
		code = lode_fail_memory(error);
	return code ? code : open_probes(recording, error);
}

static int start(struct recording *recording, struct lode_error *error)
{
	int code = lode_recorded_start(&recording->target, recording->recorder, error);

	recording->times.began = lode_now();
	if (code || !recording->target.has_child)
		return code;
	recording->times.command = (uint32_t)recording->target.child.pid;
	recording->times.command_began = recording->times.began;
	return lode_recorded_release_command(&recording->target, error);
}

static int is_over(struct recording *recording)
{
	uint64_t now = lode_now();

	if (lode_recorded_has_ended(&recording->target)) {
		recording->times.command_ended = now;
		return 1;
	}
	if (lode_signals_stop() || lode_recorded_is_gone(&recording->target))
		return 1;
	return recording->settings->duration && now - recording->times.began >= recording->settings->duration;
}

/* Milliseconds to sleep: until the time is up, a tenth of a second at most. */
static int sleep_time(const struct recording *recording)
{
	uint64_t passed = lode_now() - recording->times.began, duration = recording->settings->duration;

	if (!duration || duration > passed + 100000000u)
		return 100;
	return duration > passed ? (int)((duration - passed) / 1000000u) + 1 : 0;
}

static void draw_progress(struct recording *recording)
{
	const struct lode_terminal *err = &recording->call->err;
	struct lode_record_counts counts;
	char events[LODE_UNITS_TEXT], lost[LODE_UNITS_TEXT], size[LODE_UNITS_TEXT], time[LODE_UNITS_TEXT];
	uint64_t now = lode_now();

	if (!err->look.is_terminal || recording->call->quiet || now - recording->drawn_at < 500000000u)
		return;
	lode_recorder_counts(recording->recorder, &counts);
	dprintf(err->fd, "\rrecording for %s: %s events, %s lost, %s\033[K",
		lode_duration_text(now - recording->times.began, time),
		lode_count_text(recording->builder.events, events), lode_count_text(counts.lost, lost),
		lode_bytes_text(lode_recording_size(recording->recording), size));
	recording->drawn_at = now;
	recording->drawn = 1;
}

static void wipe_progress(struct recording *recording)
{
	if (recording->drawn)
		dprintf(recording->call->err.fd, "\r\033[K");
	recording->drawn = 0;
}

static int record(struct recording *recording, struct lode_error *error)
{
	int over = 0, code = 0;

	while (!code && !over) {
		lode_recorder_wait(recording->recorder,
				   lode_recorded_sleep(&recording->target, sleep_time(recording)),
				   recording->target.has_child ? recording->target.child.exit_fd : -1);
		code = lode_recorded_change_slot(&recording->target, recording->recorder, error);
		if (code)
			return code;
		over = is_over(recording);
		if (lode_recorder_read(recording->recorder, &recording->sink) < 0)
			return lode_fail_memory(error);
		code = lode_recording_flow(recording->recording, lode_now(), error);
		lode_recorded_steer(&recording->target, recording->recorder, lode_now());
		draw_progress(recording);
	}
	recording->times.ended = lode_now();
	lode_recorded_end_budget(&recording->target, recording->recorder);
	if (!code && lode_recorder_stop(recording->recorder, &recording->sink) < 0)
		code = lode_fail_memory(error);
	if (recording->target.has_child)
		lode_child_finish(&recording->target.child);
	if (!recording->times.command_ended)
		recording->times.command_ended = recording->times.ended;
	wipe_progress(recording);
	return code;
}

/* ---- the end ---- */

static int add_symptoms(struct recording *recording, struct lode_error *error)
{
	for (size_t i = 0; i < recording->rules.count; i++) {
		int found =
			lode_record_rule_apply(&recording->rules.rules[i], &recording->builder, &recording->times);

		if (found < 0)
			return lode_fail_memory(error);
		recording->symptoms += found;
	}
	return 0;
}

/* What was lost is told with the stream, for whoever analyses it later. */
static int add_losses(struct recording *recording, struct lode_error *error)
{
	struct lode_record_counts counts;

	lode_recorder_counts(recording->recorder, &counts);
	if (counts.lost && lode_stream_set_number(&recording->builder.stream, "lost_records", counts.lost) < 0)
		return lode_fail_memory(error);
	if (recording->target.budget.share > 0 &&
	    lode_stream_set_number(&recording->builder.stream, "all_waits", counts.waits) < 0)
		return lode_fail_memory(error);
	return 0;
}

static int finish(struct recording *recording, const char *source, struct lode_error *error)
{
	struct lode_translate_options translate = {
		.symbolizer = recording->settings->symbols.none ? NULL : recording->symbolizer,
		.inlines = recording->settings->symbols.inlines,
		.notes = &recording->notes,
	};
	int code = add_symptoms(recording, error);

	if (!code)
		code = add_losses(recording, error);
	if (!code)
		code = lode_recording_finish(recording->recording, source, &translate, &recording->entry, error);
	lode_recorder_note(recording->recorder, &recording->notes);
	lode_builder_note(&recording->builder, &recording->notes);
	lode_rule_probes_note(recording->probes, &recording->notes);
	return code;
}

/* ---- what was recorded ---- */

/* How user stacks were found, and how they ended. */
static void count_user_stacks(const struct recording *recording, const struct lode_record_counts *counts,
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
		*to++ = (struct lode_named_count){ names[i], recording->builder.ends[i] };
	*to++ = (struct lode_named_count){ "guessed", recording->builder.guessed };
	*to++ = (struct lode_named_count){ "copied", counts->copies };
	*to = (struct lode_named_count){ "lost_copies", counts->lost_copies };
}

static struct lode_record_report make_report(const struct recording *recording)
{
	const struct lode_child *child = recording->target.has_child ? &recording->target.child : NULL;
	struct lode_unwind_totals totals = lode_recorder_unwind_totals(recording->recorder);
	struct lode_record_counts counts;
	struct lode_record_report report;

	lode_recorder_counts(recording->recorder, &counts);
	report = (struct lode_record_report){
		.entry = &recording->entry,
		.corpus = lode_corpus_path(recording->corpus),
		.duration = recording->times.ended - recording->times.began,
		.lost = counts.lost,
		.has_symptom_rules = recording->settings->symptoms.count > 0,
		.symptoms = recording->symptoms,
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
		.budget = lode_recorded_budget(&recording->target),
		.notes = &recording->notes,
	};
	count_user_stacks(recording, &counts, &report);
	return report;
}

static void say_report(const struct recording *recording, const struct lode_record_report *report)
{
	const struct lode_terminal *err = &recording->call->err;
	struct lode_buffer line = { 0 }, budget = { 0 };

	if (recording->target.has_child)
		lode_child_say(&recording->target.child, recording->call->operands[0], err);
	lode_record_text(report, &line);
	lode_say_line(err, LODE_GREEN, &line);
	if (report->budget.share > 0) {
		lode_budget_text(&report->budget, &budget);
		lode_say_line(err, LODE_GREEN, &budget);
	}
	lode_notes_say(&recording->notes, recording->call);
}

static int show(const struct recording *recording, struct lode_error *error)
{
	struct lode_record_report report = make_report(recording);
	struct lode_buffer buffer = { 0 };
	int code;

	if (!recording->call->quiet)
		say_report(recording, &report);
	if (!recording->settings->json)
		return 0;
	lode_record_json(&report, &buffer);
	code = lode_show(&recording->call->out, &buffer, error);
	lode_buffer_release(&buffer);
	return code;
}

/* ---- all of it ---- */

static void release(struct recording *recording, struct lode_error *error)
{
	lode_recording_abandon(recording->recording, error);
	lode_corpus_close(recording->corpus);
	lode_builder_release(&recording->builder);
	lode_symbolizer_destroy(recording->symbolizer);
	lode_rule_probes_destroy(recording->probes);
	lode_recorder_destroy(recording->recorder);
	lode_notes_release(&recording->notes);
	lode_recorded_release(&recording->target);
	lode_record_rules_release(&recording->rules);
}

static int run_recording(struct recording *recording, struct lode_error *error)
{
	char *source = lode_recorded_source(&recording->target);
	int code;

	lode_signals_hold();
	code = source ? open_all(recording, source, error) : lode_fail_memory(error);
	if (!code && lode_signals_stop())
		code = LODE_STOPPED(lode_signals_stop()); /* before there is anything to keep */
	lode_signals_hold_for_good();
	if (!code)
		code = lode_recorded_prepare(&recording->target, error);
	if (!code)
		code = start(recording, error);
	if (!code)
		code = record(recording, error);
	if (!code)
		code = finish(recording, source, error);
	lode_signals_release();
	if (!code)
		code = show(recording, error);
	lode_free(source);
	return code ? code : lode_recorded_status(&recording->target);
}

static int run(struct lode_call *call, struct lode_error *error)
{
	struct recording recording = { .call = call, .settings = call->settings };
	int code = lode_recorded_init(&recording.target, &recording.settings->target, 0, "record", call->operands,
				      call->operand_count, error);

	lode_notes_init(&recording.notes);
	if (!code)
		code = lode_attributes_check("record", &recording.settings->attributes, error);
	if (!code)
		code = read_rules(&recording, error);
	if (!code)
		code = run_recording(&recording, error);
	release(&recording, code ? error : NULL);
	return code;
}

#else

static int run(struct lode_call *call, struct lode_error *error)
{
	(void)call;
	return lode_fail(error, LODE_SYSTEM,
			 "record: this program was built without its recorder; build it where clang, bpftool "
			 "and libbpf "
			 "are, or use 'perf record' and 'lode import'");
}

#endif

const struct lode_command lode_command_record = {
	.name = "record",
	.summary = "record what threads run, what they wait for, and who wakes them",
	.usage = "[OPTIONS] [-- COMMAND [ARG...]]",
	.about = "Records a command, processes (-p) or the whole machine (-a) into a new stream of a corpus: "
		 "CPU\n"
		 "samples, waits with their wakers, preemptions and, if asked for, system calls, all with "
		 "their\n"
		 "stacks. Ends when the command or the processes do, after --duration, or on Ctrl-C. The "
		 "exit\n"
		 "status is that of the command. Needs root, or the capabilities CAP_BPF and CAP_PERFMON.",
	.examples = "  lode record -- make -j4\n"
		    "  lode record -p 1234 --duration 10s -o corpus\n"
		    "  lode record -a --min-wait 1ms --duration 1m -o corpus\n"
		    "  lode record --attr version=4.2 --symptom 'run > 2s' -o corpus -- ./app big.xml\n",
	.options = options,
	.settings_size = sizeof(struct settings),
	.most_operands = SIZE_MAX,
	.operand = "COMMAND",
	.run = run,
};
