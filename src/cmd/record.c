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
#include "cmd/attributes.h"
#include "cmd/child.h"
#include "cmd/command.h"
#include "cmd/notes.h"
#include "cmd/progress.h"
#include "cmd/signals.h"

#ifdef LODE_HAVE_RECORDER
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
#define DEFAULT_FREQUENCY 999
#define DEFAULT_UNWIND    8192

struct settings {
	struct lode_option_list pids;
	int all;
	const char *comm;
	const char *cgroup;
	uint64_t frequency;
	int no_samples;
	int calls;
	uint64_t min_wait;
	uint64_t duration;
	const char *output;
	const char *name;
	struct lode_option_list attributes;
	struct lode_option_list symptoms;
	int no_symbols;
	int debuginfod;
	struct lode_option_list symbol_paths;
	const char *symbol_cache;
	int no_own_walk;
	const char *unwind;
	uint64_t unwind_size;
	int json;
};

static const char *unwind_choice(size_t i)
{
	static const char *const choices[] = { "frame-pointer", "dwarf" };

	return i < 2 ? choices[i] : NULL;
}

#define FIELD(field) offsetof(struct settings, field)

static const struct lode_option options[] = {
	LODE_LIST("pid", 'p', FIELD(pids), "PID",
		  "record this process and its later children; may be given many times"),
	LODE_FLAG("all", 'a', FIELD(all), "record all processes"),
	LODE_TEXT("comm", 0, FIELD(comm), "NAME", "record only threads of this name"),
	LODE_TEXT("cgroup", 0, FIELD(cgroup), "DIR", "record only threads in this control group or below it"),
	LODE_NUMBER("frequency", 'F', FIELD(frequency), "HZ",
		    "CPU samples a second and processor (default: 999)", 1, 100000),
	LODE_FLAG("no-samples", 0, FIELD(no_samples), "take no CPU samples"),
	LODE_FLAG("calls", 0, FIELD(calls), "record system calls, too"),
	LODE_CHOICE("unwind", 0, FIELD(unwind), "METHOD",
		    "how user stacks are found (default: frame-pointer)", unwind_choice),
	LODE_NUMBER("unwind-size", 0, FIELD(unwind_size), "BYTES",
		    "with --unwind dwarf: copied of each user stack (default: 8192)", 512, 16384),
	LODE_DURATION("min-wait", 0, FIELD(min_wait), "TIME", "leave out shorter waits"),
	LODE_DURATION("duration", 'd', FIELD(duration), "TIME", "stop after this time"),
	LODE_TEXT("output", 'o', FIELD(output), "CORPUS",
		  "the folder to record into (default: " DEFAULT_CORPUS ")"),
	LODE_TEXT("name", 'n', FIELD(name), "NAME", "name of the stream"),
	LODE_LIST("attr", 0, FIELD(attributes), "KEY=VALUE",
		  "an attribute of the stream; may be given many times"),
	LODE_LIST("symptom", 0, FIELD(symptoms), "RULE",
		  "what was too slow: 'thread NAME', 'run > 2s'; may be given many times"),
	LODE_FLAG("no-symbols", 0, FIELD(no_symbols),
		  "leave addresses in programs and libraries as they are"),
	LODE_FLAG("debuginfod", 0, FIELD(debuginfod),
		  "fetch debug files from the servers in $DEBUGINFOD_URLS"),
	LODE_LIST("symbol-path", 0, FIELD(symbol_paths), "DIR",
		  "look for binaries and debug files here too; may be given many times"),
	LODE_TEXT("symbol-cache", 0, FIELD(symbol_cache), "DIR|none", "where symbols are kept for next time"),
	LODE_FLAG("json", 0, FIELD(json), "write what was recorded as JSON to standard output"),
	LODE_HIDDEN_FLAG("kernel-stacks-by-kernel", FIELD(no_own_walk),
			 "do not walk kernel stacks; for tests"),
	LODE_NO_MORE_OPTIONS,
};

#ifdef LODE_HAVE_RECORDER

struct recording {
	const struct lode_call *call;
	const struct settings *settings;
	struct lode_record_rule *rules;
	struct lode_corpus *corpus;
	struct lode_symbolizer *symbolizer;
	struct lode_recorder *recorder;
	struct lode_builder builder;
	struct lode_recording *recording;
	struct lode_recorder_sink sink;
	struct lode_notes notes;
	struct lode_child child;
	int has_child;
	struct pollfd *watched; /* the processes of -p */
	size_t watched_count;
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

/* Opens a descriptor for each process that -p names; it becomes readable when the process has ended. */
static int watch_pids(struct recording *recording, struct lode_error *error)
{
	const struct lode_option_list *pids = &recording->settings->pids;

	recording->watched = lode_calloc(pids->count + 1, sizeof(*recording->watched));
	if (!recording->watched)
		return lode_fail_memory(error);
	for (size_t i = 0; i < pids->count; i++) {
		char *end;
		long pid = strtol(pids->items[i], &end, 10);

		if (*end || pid <= 0 || pid > INT32_MAX)
			return lode_fail(error, LODE_USAGE,
					 "record: '-p' wants the number of a process, not '%s'",
					 pids->items[i]);
		recording->watched[i].events = POLLIN;
		recording->watched[i].fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
		if (recording->watched[i].fd < 0 && errno == ESRCH)
			return lode_fail(error, LODE_USAGE, "record: there is no process %ld", pid);
		if (recording->watched[i].fd < 0)
			return lode_fail(error, LODE_USAGE, "record: process %ld cannot be watched: %s", pid,
					 strerror(errno));
		recording->watched_count++;
	}
	return 0;
}

static int check_settings(const struct recording *recording, struct lode_error *error)
{
	const struct settings *settings = recording->settings;
	int chosen = settings->pids.count || settings->all || settings->comm || settings->cgroup;

	if (!chosen && !recording->call->operand_count)
		return wrong(error, "what? Give a command behind '--', '-p PID', or '-a' for all processes");
	if (settings->pids.count && recording->call->operand_count)
		return wrong(error, "a command or '-p PID', not both");
	if (settings->comm && strlen(settings->comm) >= LODE_RECORD_NAME)
		return wrong(error, "names of threads have at most 15 characters");
	return lode_attributes_check("record", &settings->attributes, error);
}

static int read_rules(struct recording *recording, struct lode_error *error)
{
	const struct lode_option_list *symptoms = &recording->settings->symptoms;

	recording->rules = lode_calloc(symptoms->count + 1, sizeof(*recording->rules));
	if (!recording->rules)
		return lode_fail_memory(error);
	for (size_t i = 0; i < symptoms->count; i++) {
		int code = lode_record_rule_parse(&recording->rules[i], symptoms->items[i], error);

		if (code < 0)
			return code;
		if (recording->rules[i].type == LODE_RULE_RUN && !recording->call->operand_count)
			return wrong(error,
				     "the symptom 'run > TIME' is about a command; give one behind '--'");
	}
	return 0;
}

/* Of each user stack, for unwinding; 0: it is walked. */
static unsigned copied_bytes(const struct settings *settings)
{
	if (!settings->unwind || strcmp(settings->unwind, "dwarf") != 0)
		return 0;
	return settings->unwind_size ? (unsigned)settings->unwind_size : DEFAULT_UNWIND;
}

static struct lode_recorder_options recorder_options(const struct recording *recording)
{
	const struct settings *settings = recording->settings;

	return (struct lode_recorder_options){
		.only_pids = settings->pids.count || (recording->call->operand_count && !settings->all),
		.comm = settings->comm,
		.cgroup = settings->cgroup,
		.frequency = settings->no_samples  ? 0
			     : settings->frequency ? (unsigned)settings->frequency
						   : DEFAULT_FREQUENCY,
		.calls = settings->calls,
		.copy_bytes = copied_bytes(settings),
		.min_wait = settings->min_wait,
		.no_own_walk = settings->no_own_walk,
	};
}

/* ---- the stream's head ---- */

static int set_text(struct lode_stream *stream, const char *key, const char *value)
{
	return lode_stream_set_attribute(stream, key, value, LODE_ATTRIBUTE_TEXT);
}

static int set_number(struct lode_stream *stream, const char *key, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	return lode_stream_set_attribute(stream, key, text, LODE_ATTRIBUTE_NUMBER);
}

/* The words of the command, or what else was recorded; for the caller to free. */
static char *describe_source(const struct recording *recording)
{
	struct lode_buffer text = { 0 };
	char *copy;

	for (size_t i = 0; i < recording->call->operand_count; i++)
		lode_buffer_print(&text, "%s%s", i ? " " : "", recording->call->operands[i]);
	for (size_t i = 0; i < recording->settings->pids.count; i++)
		lode_buffer_print(&text, "%s%s", i ? ", " : "process ", recording->settings->pids.items[i]);
	if (!text.size)
		lode_buffer_text(&text, "all processes");
	copy = text.failed ? NULL : lode_strndup(text.bytes, text.size);
	lode_buffer_release(&text);
	return copy;
}

static const char *default_name(const struct recording *recording, const struct utsname *system, char *name,
				size_t size)
{
	const char *word = recording->call->operand_count ? recording->call->operands[0] : NULL;
	const char *slash = word ? strrchr(word, '/') : NULL;

	if (word)
		return slash ? slash + 1 : word;
	if (!recording->settings->pids.count)
		return system->nodename;
	snprintf(name, size, "process %s", recording->settings->pids.items[0]);
	return name;
}

static int describe_stream(struct recording *recording, const char *source, struct lode_error *error)
{
	struct lode_stream *stream = &recording->builder.stream;
	struct lode_strings *strings = &recording->builder.dictionary.frames.strings;
	const char *name = recording->settings->name;
	struct utsname system;
	char text[64];

	if (uname(&system) < 0)
		return lode_fail(error, LODE_SYSTEM, "record: uname: %s", strerror(errno));
	if (!name)
		name = default_name(recording, &system, text, sizeof(text));
	stream->name = lode_strings_add(strings, name, strlen(name));
	stream->host = lode_strings_add(strings, system.nodename, strlen(system.nodename));
	if (stream->name == LODE_NONE || stream->host == LODE_NONE ||
	    set_text(stream, "kernel", system.release) < 0 || set_text(stream, "arch", system.machine) < 0 ||
	    set_text(stream, "command", source) < 0 ||
	    set_number(stream, "cpus", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN)) < 0 ||
	    lode_attributes_apply(&recording->settings->attributes, stream) < 0)
		return lode_fail_memory(error);
	return 0;
}

/* ---- recording ---- */

static int open_all(struct recording *recording, const char *source, struct lode_error *error)
{
	const struct settings *settings = recording->settings;
	struct lode_recorder_options recorder = recorder_options(recording);
	struct lode_symbols_options symbols = {
		.paths = settings->symbol_paths.items,
		.cache = settings->symbol_cache && !strcmp(settings->symbol_cache, "none")
				 ? ""
				 : settings->symbol_cache,
		.debuginfod = settings->debuginfod,
		.notes = &recording->notes,
	};
	int code = lode_recorder_create(&recording->recorder, &recorder, error);

	if (!code)
		code = lode_symbolizer_create(&recording->symbolizer, &symbols, error);
	if (!code && lode_builder_init(&recording->builder, recording->symbolizer, NULL,
				       lode_recorder_period(&recorder)) < 0)
		code = lode_fail_memory(error);
	if (!code)
		code = describe_stream(recording, source, error);
	if (!code)
		code = lode_corpus_open(&recording->corpus,
					settings->output ? settings->output : DEFAULT_CORPUS,
					LODE_CORPUS_CREATE, error);
	if (!code)
		code = lode_recording_create(&recording->recording, recording->corpus, &recording->builder,
					     error);
	if (!code && lode_processes_snapshot(&recording->builder.processes) < 0)
		code = lode_fail_memory(error);
	recording->sink = lode_builder_sink(&recording->builder);
	return code;
}

/*
 * On a busy machine the reader must get its turn before the rings are full. The
 * command is forked by now and keeps the priority that it was started with.
 */
static void take_precedence(void)
{
	setpriority(PRIO_PROCESS, 0, -15); /* where that is not permitted, what is lost for it is counted */
}

static int start(struct recording *recording, struct lode_error *error)
{
	const struct settings *settings = recording->settings;
	int code = 0;

	take_precedence();
	for (size_t i = 0; !code && i < settings->pids.count; i++)
		code = lode_recorder_add_pid(recording->recorder,
					     (uint32_t)strtoul(settings->pids.items[i], NULL, 10), error);
	if (!code && recording->has_child && !settings->all)
		code = lode_recorder_add_pid(recording->recorder, (uint32_t)recording->child.pid, error);
	if (!code)
		code = lode_recorder_start(recording->recorder, error);
	recording->times.began = lode_now();
	if (code || !recording->has_child)
		return code;
	recording->times.command = (uint32_t)recording->child.pid;
	recording->times.command_began = recording->times.began;
	return lode_child_release(&recording->child, recording->call->operands, error);
}

/* Whether all processes that -p names have ended, though their parents may not have noticed yet. */
static int processes_are_gone(const struct recording *recording)
{
	size_t count = recording->settings->pids.count;

	return count && poll(recording->watched, count, 0) == (int)count;
}

static int is_over(struct recording *recording)
{
	uint64_t now = lode_now();

	if (recording->has_child && lode_child_has_ended(&recording->child)) {
		recording->times.command_ended = now;
		return 1;
	}
	if (lode_signals_stop() || processes_are_gone(recording))
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

	if (!err->is_terminal || recording->call->quiet || now - recording->drawn_at < 500000000u)
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
		lode_recorder_wait(recording->recorder, sleep_time(recording),
				   recording->has_child ? recording->child.exit_fd : -1);
		over = is_over(recording);
		if (lode_recorder_read(recording->recorder, &recording->sink) < 0)
			return lode_fail_memory(error);
		code = lode_recording_flow(recording->recording, lode_now(), error);
		draw_progress(recording);
	}
	recording->times.ended = lode_now();
	if (!code && lode_recorder_stop(recording->recorder, &recording->sink) < 0)
		code = lode_fail_memory(error);
	if (recording->has_child)
		lode_child_finish(&recording->child);
	if (!recording->times.command_ended)
		recording->times.command_ended = recording->times.ended;
	wipe_progress(recording);
	return code;
}

/* ---- the end ---- */

static int add_symptoms(struct recording *recording, struct lode_error *error)
{
	for (size_t i = 0; i < recording->settings->symptoms.count; i++) {
		int found =
			lode_record_rule_apply(&recording->rules[i], &recording->builder, &recording->times);

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
	if (counts.lost && set_number(&recording->builder.stream, "lost_records", counts.lost) < 0)
		return lode_fail_memory(error);
	return 0;
}

static int finish(struct recording *recording, const char *source, struct lode_error *error)
{
	struct lode_translate_options translate = {
		.symbolizer = recording->settings->no_symbols ? NULL : recording->symbolizer,
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
	return code;
}

/* ---- telling ---- */

static void tell_status(const struct recording *recording)
{
	const struct lode_terminal *err = &recording->call->err;
	const char *word = recording->has_child ? recording->call->operands[0] : "";
	int status = recording->child.status;

	if (!recording->has_child)
		return;
	if (WIFSIGNALED(status))
		lode_say(err, LODE_YELLOW, "%s: ended by signal %d", word, WTERMSIG(status));
	else if (WEXITSTATUS(status))
		lode_say(err, LODE_YELLOW, "%s: ended with exit status %d", word, WEXITSTATUS(status));
}

static void tell(const struct recording *recording)
{
	const struct lode_corpus_entry *entry = &recording->entry;
	struct lode_buffer line = { 0 };
	char text[LODE_UNITS_TEXT];

	tell_status(recording);
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
	lode_notes_say(&recording->notes, &recording->call->err);
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
	lode_json_key(&json, "pid");
	if (recording->has_child)
		lode_json_u64(&json, (uint64_t)recording->child.pid);
	else
		lode_json_null(&json);
	lode_json_key(&json, "exit_status");
	if (recording->has_child && WIFEXITED(recording->child.status))
		lode_json_u64(&json, (uint64_t)WEXITSTATUS(recording->child.status));
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

static void release(struct recording *recording)
{
	lode_recording_abandon(recording->recording);
	lode_corpus_close(recording->corpus);
	lode_builder_release(&recording->builder);
	lode_symbolizer_destroy(recording->symbolizer);
	lode_recorder_destroy(recording->recorder);
	lode_notes_release(&recording->notes);
	for (size_t i = 0; i < recording->watched_count; i++)
		close(recording->watched[i].fd);
	lode_free(recording->watched);
	lode_free(recording->rules);
}

static int run_recording(struct recording *recording, struct lode_error *error)
{
	char *source = describe_source(recording);
	int code;

	lode_signals_hold();
	code = source ? open_all(recording, source, error) : lode_fail_memory(error);
	if (!code && recording->call->operand_count) {
		code = lode_child_prepare(&recording->child, recording->call->operands, error);
		recording->has_child = !code;
	}
	if (!code)
		code = start(recording, error);
	if (!code)
		code = record(recording, error);
	else if (recording->has_child)
		lode_child_finish(&recording->child);
	if (!code)
		code = finish(recording, source, error);
	lode_signals_release();
	if (!code && !recording->call->quiet)
		tell(recording);
	if (!code && recording->settings->json)
		code = show_json(recording, error);
	lode_free(source);
	return code;
}

static int run(struct lode_call *call, struct lode_error *error)
{
	struct recording recording = { .call = call, .settings = call->settings };
	int code = check_settings(&recording, error);

	if (code < 0)
		return code;
	lode_notes_init(&recording.notes);
	code = read_rules(&recording, error);
	if (!code)
		code = watch_pids(&recording, error);
	if (!code)
		code = run_recording(&recording, error);
	release(&recording);
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
		 "stacks. Ends when the command or the processes do, after --duration, or on Ctrl-C. Needs "
		 "root,\n"
		 "or the capabilities CAP_BPF and CAP_PERFMON.",
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
