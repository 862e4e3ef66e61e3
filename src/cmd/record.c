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
#include "base/json.h"
#include "base/units.h"
#include "tasks/attributes.h"
#include "cmd/commands.h"
#include "tasks/notes.h"
#include "cmd/progress.h"
#include "cmd/signals.h"
#include "tasks/symbol_options.h"
#include "cmd/recorded.h"
#include "result/notes_json.h"

#ifdef LODE_HAVE_RECORDER
#include "cmd/recorded_budget.h"
#include "record/rule_probes.h"
#include "record/recording.h"
#include "record/rules.h"
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

#define DEFAULT_CORPUS    "lode-corpus"

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
	LODE_TEXT("output", 'o', FIELD(output), "CORPUS",
		  "the folder to record into (default: " DEFAULT_CORPUS ")"),
	LODE_TEXT("name", 'n', FIELD(name), "NAME", "name of the stream"),
	LODE_LIST("attr", 0, FIELD(attributes), "KEY=VALUE",
		  "an attribute of the stream; may be given many times"),
	LODE_LIST("symptom", 0, FIELD(symptoms), "RULE",
		  "what was too slow: 'thread NAME', 'run > 2s', 'function BIN:FUNC > 200ms', 'mark NAME > "
		  "100ms'; may be given many times"),
	LODE_RECORDED_SYMBOL_OPTIONS(FIELD(symbols)),
	LODE_FLAG("json", 0, FIELD(json), "write what was recorded as JSON to standard output"),
	LODE_HIDDEN_FLAG("kernel-stacks-by-kernel", FIELD(no_own_walk),
			 "do not walk kernel stacks; for tests"),
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
			code = wrong(error,
				     "the symptom 'run > TIME' is about a command; give one behind '--'");
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
		code = lode_corpus_open(&recording->corpus,
					settings->output ? settings->output : DEFAULT_CORPUS,
					LODE_CORPUS_CREATE, error);
	if (!code)
		code = lode_recording_create(&recording->recording, recording->corpus, &recording->builder,
					     error);
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
		lode_recorder_wait(recording->recorder, lode_recorded_sleep(&recording->target, sleep_time(recording)),
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
		int found = lode_record_rule_apply(&recording->rules.rules[i], &recording->builder,
						   &recording->times);

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
		code = lode_recording_finish(recording->recording, source, &translate, &recording->entry,
					     error);
	lode_recorder_note(recording->recorder, &recording->notes);
	lode_builder_note(&recording->builder, &recording->notes);
	lode_rule_probes_note(recording->probes, &recording->notes);
	return code;
}

/* ---- telling ---- */

static void tell(const struct recording *recording)
{
	const struct lode_corpus_entry *entry = &recording->entry;
	struct lode_buffer line = { 0 };
	char text[LODE_UNITS_TEXT];

	if (recording->target.has_child)
		lode_child_say(&recording->target.child, recording->call->operands[0], &recording->call->err);
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		lode_buffer_print(&line, "%s%s %s", type ? ", " : "",
				  lode_count_text(entry->events[type], text),
				  lode_event_type_name((enum lode_event_type)type));
	lode_buffer_print(&line, "; %s stacks", lode_count_text(entry->stacks, text));
	lode_buffer_print(&line, "; %s",
			  lode_duration_text(recording->times.ended - recording->times.began, text));
	if (recording->settings->symptoms.count)
		lode_buffer_print(&line, "; %d symptom%s", recording->symptoms,
				  recording->symptoms == 1 ? "" : "s");
	lode_buffer_print(&line, "; %s in %s", lode_bytes_text(entry->file_size, text),
			  lode_corpus_path(recording->corpus));
	lode_buffer_byte(&line, '\0');
	if (!line.failed)
		lode_say(&recording->call->err, LODE_GREEN, "%s: %s", entry->name, line.bytes);
	lode_buffer_release(&line);
	lode_recorded_tell_budget(&recording->target, &recording->call->err);
	lode_notes_say(&recording->notes, recording->call);
}

/* How user stacks were found, and how they ended. */
static void show_unwinding(const struct recording *recording, const struct lode_record_counts *counts,
			   struct lode_json *json)
{
	static const char *const names[LODE_STACK_ENDS] = {
		[LODE_STACK_UNKNOWN] = "unknown",   [LODE_STACK_WHOLE] = "whole",       [LODE_STACK_DEEP] = "too_deep",
		[LODE_STACK_SHORT] = "too_large",   [LODE_STACK_BROKEN] = "broken",     [LODE_STACK_UNMAPPED] = "unmapped",
		[LODE_STACK_PENDING] = "pending",   [LODE_STACK_COMPAT] = "compat",
	};
	struct lode_unwind_totals totals = lode_recorder_unwind_totals(recording->recorder);

	lode_json_key(json, "user_stacks");
	lode_json_object(json);
	for (int i = 0; i < LODE_STACK_ENDS; i++)
		lode_json_key_u64(json, names[i], recording->builder.ends[i]);
	lode_json_key_u64(json, "guessed", recording->builder.guessed);
	lode_json_key_u64(json, "copied", counts->copies);
	lode_json_key_u64(json, "lost_copies", counts->lost_copies);
	lode_json_object_end(json);
	lode_json_key(json, "kernel_stacks");
	lode_json_object(json);
	lode_json_key_u64(json, "asked", counts->asked_stacks);
	lode_json_key_u64(json, "checked", counts->checked_walks);
	lode_json_key_u64(json, "wrong", counts->wrong_walks);
	lode_json_object_end(json);
	lode_json_key(json, "unwind_tables");
	lode_json_object(json);
	lode_json_key_u64(json, "binaries", totals.tables);
	lode_json_key_u64(json, "rows", totals.rows);
	lode_json_key_u64(json, "rules", totals.rules);
	lode_json_key_u64(json, "bytes", totals.bytes);
	lode_json_object_end(json);
}

static int show_json(struct recording *recording, struct lode_error *error)
{
	const struct lode_corpus_entry *entry = &recording->entry;
	struct lode_record_counts counts;
	struct lode_buffer buffer = { 0 };
	struct lode_json json;
	int code;

	lode_recorder_counts(recording->recorder, &counts);
	lode_json_init(&json, &buffer);
	lode_json_object(&json);
	lode_json_key_text(&json, "id", entry->id);
	lode_json_key_text(&json, "name", entry->name);
	lode_json_key_text(&json, "corpus", lode_corpus_path(recording->corpus));
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		lode_json_key_u64(&json, lode_event_type_name((enum lode_event_type)type),
				  entry->events[type]);
	lode_json_key_u64(&json, "stacks", entry->stacks);
	lode_json_key_u64(&json, "symptoms", entry->symptoms);
	lode_json_key_u64(&json, "duration_ns", recording->times.ended - recording->times.began);
	lode_json_key_u64(&json, "stored_bytes", entry->file_size);
	lode_json_key_u64(&json, "lost", counts.lost);
	show_unwinding(recording, &counts, &json);
	lode_recorded_show_budget(&recording->target, &json);
	lode_json_key(&json, "pid");
	if (recording->target.has_child)
		lode_json_u64(&json, (uint64_t)recording->target.child.pid);
	else
		lode_json_null(&json);
	lode_json_key(&json, "exit_status");
	if (recording->target.has_child && recording->target.child.ended &&
	    WIFEXITED(recording->target.child.status))
		lode_json_u64(&json, (uint64_t)WEXITSTATUS(recording->target.child.status));
	else
		lode_json_null(&json);
	lode_json_key(&json, "signal");
	if (recording->target.has_child && WIFSIGNALED(recording->target.child.status))
		lode_json_u64(&json, (uint64_t)WTERMSIG(recording->target.child.status));
	else
		lode_json_null(&json);
	lode_json_key(&json, "notes");
	lode_notes_json(&recording->notes, &json);
	lode_json_object_end(&json);
	lode_json_line(&json);
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
	if (!code && !recording->call->quiet)
		tell(recording);
	if (!code && recording->settings->json)
		code = show_json(recording, error);
	lode_free(source);
	return code ? code : lode_recorded_status(&recording->target);
}

static int run(struct lode_call *call, struct lode_error *error)
{
	struct recording recording = { .call = call, .settings = call->settings };
	int code = lode_recorded_init(&recording.target, &recording.settings->target, 0, "record",
				      call->operands, call->operand_count, error);

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
