/*
 * lode watch: a flight recorder. Records all the time, keeps the last seconds in
 * bounded memory, and writes them down as a stream when a trigger fires.
 *
 * One loop: sleep until there is much to read, or a tenth of a second; read; drop
 * what is too old; look for triggers, which come with the records or through a
 * socket; start a writer when one is due; look whether a writer is done.
 *
 * What is slow once is slow often: a lock that is held too long stops all who want
 * it. Triggers therefore come in bursts, and a burst is one stream: it is written a
 * while after the first trigger (--after), and all that fire until then share it.
 * What the stream needs is held in memory meanwhile; where there is not room for
 * all, it is written early, before more than half of the time before the trigger is
 * gone. Triggers by hand do not wait: somebody does.
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
#include "cmd/watch_burst.h"
#include "cmd/watch_save.h"
#include "record/rule_probes.h"
#include "text/budget_text.h"
#include "text/watch_text.h"
#endif

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/utsname.h>
#include <unistd.h>

#define DEFAULT_CORPUS   "lode-corpus"
#define DEFAULT_BUDGET   0.01
#define DEFAULT_LAST     10000000000u
#define DEFAULT_MEMORY   64000000u
#define DEFAULT_PER_HOUR 12
#define MOST_AFTER       60000000000u /* unless told: a stream that is not written yet can be lost */

/* Of all memory for the rings that the kernel writes to; and what a read may add before anything is dropped.
 */
#define PART_FOR_RINGS 8
#define PART_FOR_READS 16
#define LEAST_FLIGHT   4000000u

struct settings {
	struct lode_recorded_settings target;
	uint64_t last;
	const char *after;
	const char *memory;
	uint64_t duration;
	const char *output;
	const char *name;
	struct lode_option_list attributes;
	struct lode_option_list triggers;
	uint64_t per_hour;
	struct lode_option_list keep;
	struct lode_symbol_settings symbols;
	int json;
};

#define FIELD(field) offsetof(struct settings, field)

static const struct lode_option options[] = {
	LODE_RECORDED_OPTIONS(FIELD(target)),
	LODE_LIST("trigger", 't', FIELD(triggers), "RULE",
		  "write when this is too slow: 'BIN:FUNC > 200ms', 'thread NAME wait > 50ms', 'thread NAME "
		  "queue > 10ms', 'wait > 2s', 'mark NAME > 100ms'; may be given many times"),
	LODE_SOME_DURATION("last", 'l', FIELD(last), "TIME", "keep this much of the past (default: 10s)"),
	LODE_TEXT("after", 0, FIELD(after), "TIME",
		  "go on for this long before writing; what is slow meanwhile joins the stream (default: as "
		  "long as --last, at most 1m)"),
	LODE_TEXT("memory", 'm', FIELD(memory), "SIZE", "use at most this much memory (default: 64MB)"),
	LODE_NUMBER("max-per-hour", 0, FIELD(per_hour), "N", "write at most so many streams an hour (default: 12)",
		    1, 100000),
	LODE_LIST("keep", 0, FIELD(keep), "N|SIZE|AGE",
		  "drop the oldest streams of this watch: beyond 20, 500MB, or 7d; may be given many times"),
	LODE_SOME_DURATION("duration", 'd', FIELD(duration), "TIME", "stop after this time"),
	LODE_TEXT("output", 'o', FIELD(output), "CORPUS",
		  "the folder to write streams into (default: " DEFAULT_CORPUS ")"),
	LODE_TEXT("name", 'n', FIELD(name), "NAME", "name of the watch, with which those of its streams begin"),
	LODE_LIST("attr", 0, FIELD(attributes), "KEY=VALUE", "an attribute of the streams; may be given many times"),
	LODE_RECORDED_SYMBOL_OPTIONS(FIELD(symbols)),
	LODE_FLAG("json", 0, FIELD(json), "write a line of JSON for each stream, and one at the end"),
	LODE_NO_MORE_OPTIONS,
};

#ifdef LODE_HAVE_RECORDER

struct watch {
	const struct lode_call *call;
	const struct settings *settings;
	struct lode_recorded target;
	struct lode_record_rules rules;
	struct lode_retention keep;
	char *name;
	uint64_t told; /* symptoms up to here have been written */
	uint64_t memory;
	uint64_t period;
	struct lode_recorder *recorder;
	struct lode_flight *flight;
	struct lode_recorder_sink flight_sink;
	struct lode_recorder_sink sink; /* looks for triggers, and hands on */
	struct lode_recorder_held held; /* of the last look, and from `held_before` on of this one */
	size_t held_before;
	struct lode_rule_probes *probes;
	struct lode_watch_socket socket;
	struct lode_watch_writer writer;
	int events; /* epoll: whatever else is to be looked at */
	struct lode_watch_burst burst;
	char writing[LODE_WATCH_NAME]; /* the trigger whose stream is being written */
	struct lode_notes notes;
	uint64_t began;
	uint64_t late;
	uint64_t saved;
	uint64_t removed;
	uint64_t failed;
	uint64_t drawn_at;
	uint64_t drawn_records;
	int drawn;
};

/* ---- what is asked for ---- */

static int read_rules(struct watch *watch, struct lode_error *error)
{
	const struct lode_option_list *triggers = &watch->settings->triggers;
	struct lode_record_rules *rules = &watch->rules;
	int code = lode_record_rules_parse(rules, triggers->items, triggers->count, error);

	for (size_t i = 0; !code && i < rules->count; i++)
		if (!lode_record_rule_is_limit(&rules->rules[i]))
			code = lode_fail(error, LODE_USAGE,
					 "watch: '%s' is known only at the end of a recording; write 'thread "
					 "NAME wait > 50ms' or what else takes too long",
					 triggers->items[i]);
	return code;
}

/* Streams belong to a watch by its name, so that one that is started again goes on with the old ones. */
static int choose_name(struct watch *watch, struct lode_error *error)
{
	char text[64];
	const char *of = lode_recorded_name(&watch->target, text);

	watch->name = watch->settings->name ? lode_strdup(watch->settings->name)
					    : lode_format("watch %s", of ? of : "all processes");
	return watch->name ? 0 : lode_fail_memory(error);
}

static int read_settings(struct watch *watch, struct lode_error *error)
{
	const struct settings *settings = watch->settings;
	int code = lode_attributes_check("watch", &settings->attributes, error);

	watch->burst.last = settings->last ? settings->last : DEFAULT_LAST;
	watch->burst.after = watch->burst.last < MOST_AFTER ? watch->burst.last : MOST_AFTER;
	if (!code && settings->after) {
		code = lode_duration_parse_in("--after", settings->after, &watch->burst.after, error);
		watch->burst.by_hand = watch->burst.after;
	}
	watch->memory = DEFAULT_MEMORY;
	if (!code && settings->memory)
		code = lode_bytes_parse(settings->memory, &watch->memory, error);
	for (size_t i = 0; !code && i < settings->keep.count; i++)
		code = lode_retention_parse(&watch->keep, settings->keep.items[i], error);
	if (!code)
		code = read_rules(watch, error);
	if (!code)
		code = choose_name(watch, error);
	if (!code && lode_rate_init(&watch->burst.rate,
				    settings->per_hour ? (size_t)settings->per_hour : DEFAULT_PER_HOUR) < 0)
		code = lode_fail_memory(error);
	return code;
}

/* ---- triggers ---- */

static int take_record(void *context, const struct lode_record *record)
{
	struct watch *watch = context;
	struct lode_fired fired;

	if (lode_record_fired(record, &fired)) {
		/* It was still in its ring when the last stream was begun, which does not have it. */
		if (fired.t1 <= watch->told)
			watch->told = fired.t1 - 1;
		for (size_t i = 0; i < watch->rules.count; i++)
			if (fired.limits >> i & 1)
				lode_watch_burst_fire(&watch->burst, fired.t1, watch->rules.rules[i].text, 0);
	}
	return watch->flight_sink.record(watch->flight_sink.context, record);
}

static int take_stack(void *context, const struct lode_record_stack *stack)
{
	struct watch *watch = context;

	return watch->flight_sink.stack(watch->flight_sink.context, stack);
}

static int take_change(void *context, const struct lode_change *change)
{
	struct watch *watch = context;

	return watch->flight_sink.change(watch->flight_sink.context, change);
}

/* ---- recording ---- */

static size_t resident(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (file && fscanf(file, "%*u %lu", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* What is left when everything else has its part. */
static int open_flight(struct watch *watch, struct lode_error *error)
{
	struct lode_flight_options flight = { .last = watch->burst.last };
	uint64_t others = resident() + lode_recorder_bytes(watch->recorder) + watch->memory / PART_FOR_READS;

	if (watch->memory < others + LEAST_FLIGHT)
		return lode_fail(error, LODE_USAGE,
				 "watch: this machine needs more memory to watch it; write --memory %lluMB",
				 (unsigned long long)((others + LEAST_FLIGHT) * 4 / 3 / 1000000 + 1));
	flight.memory = watch->memory - others;
	if (lode_flight_create(&watch->flight, &flight) < 0)
		return lode_fail_memory(error);
	watch->burst.flight = watch->flight;
	watch->flight_sink = lode_flight_sink(watch->flight);
	return 0;
}

static int open_probes(struct watch *watch, struct lode_error *error)
{
	struct lode_recorder_sink sink = { watch, take_stack, take_change, take_record };
	int code = lode_rule_probes_create(&watch->probes, watch->recorder, watch->rules.rules, watch->rules.count,
					   lode_flight_processes(watch->flight), error);

	if (!code && lode_rule_probes_look(watch->probes) < 0)
		code = lode_fail_memory(error);
	if (!code && watch->target.command_count &&
	    lode_rule_probes_command(watch->probes, watch->target.command[0]) < 0)
		code = lode_fail_memory(error);
	if (!code)
		watch->sink = lode_rule_probes_sink(watch->probes, &sink);
	return code;
}

static int open_all(struct watch *watch, struct lode_error *error)
{
	struct lode_recorder_options recorder = lode_recorded_recorder(&watch->target);
	struct lode_corpus *corpus;
	int code;

	recorder.ring_bytes = watch->memory / PART_FOR_RINGS + 1; /* 0 would ask for much */
	recorder.has_writer = 1;
	recorder.cache = lode_symbol_options(&watch->settings->symbols, NULL).cache;
	recorder.limits = watch->rules.limits;
	recorder.limit_count = watch->rules.count;
	watch->target.sees_all_waits = lode_recorder_sees_all_waits(&recorder);
	watch->period = lode_recorder_period(&recorder);
	code = lode_recorder_create(&watch->recorder, &recorder, error);
	/* What is wrong with the corpus is better told now than when it is needed. */
	if (!code)
		code = lode_corpus_open(&corpus, watch->settings->output ? watch->settings->output : DEFAULT_CORPUS,
					LODE_CORPUS_CREATE, error);
	if (!code)
		lode_corpus_close(corpus);
	if (!code)
		code = open_flight(watch, error);
	if (!code && (watch->events = watch->writer.events = epoll_create1(EPOLL_CLOEXEC)) < 0)
		code = lode_fail(error, LODE_SYSTEM, "watch: %s", strerror(errno));
	if (!code)
		code = lode_watch_socket_open(&watch->socket, watch->events, error);
	if (!code && (lode_processes_snapshot(lode_flight_processes(watch->flight)) < 0 ||
		      lode_processes_name_all(lode_flight_processes(watch->flight)) < 0))
		code = lode_fail_memory(error);
	return code ? code : open_probes(watch, error);
}

static int start(struct watch *watch, struct lode_error *error)
{
	struct epoll_event event = { .events = EPOLLIN };
	int code = lode_recorded_prepare(&watch->target, error);

	if (!code)
		code = lode_recorded_start(&watch->target, watch->recorder, error);
	watch->began = lode_now();
	if (code || !watch->target.has_child)
		return code;
	event.data.fd = watch->target.child.exit_fd;
	if (event.data.fd >= 0)
		epoll_ctl(watch->events, EPOLL_CTL_ADD, event.data.fd, &event);
	return lode_recorded_release_command(&watch->target, error);
}

static int is_over(struct watch *watch)
{
	if (lode_recorded_has_ended(&watch->target))
		return 1;
	if (lode_signals_stop() || lode_recorded_is_gone(&watch->target))
		return 1;
	return watch->settings->duration && lode_now() - watch->began >= watch->settings->duration;
}

/* A record may stay in its ring for a read more, so what was held at the look before counts, too. */
static int look_at_held(struct watch *watch)
{
	struct lode_recorder_held *held = &watch->held;
	size_t last = held->count - watch->held_before;

	if (last)
		memmove(held->ids, held->ids + watch->held_before, last * sizeof(*held->ids));
	held->count = watch->held_before = last;
	return lode_recorder_held(watch->recorder, held);
}

/* Reads, and drops what is too old. */
static int read_records(struct watch *watch)
{
	int wants_held = lode_flight_wants_held(watch->flight, lode_now()), renew;

	if (wants_held && look_at_held(watch) < 0)
		return LODE_SYSTEM;
	if (lode_recorder_read(watch->recorder, &watch->sink) < 0)
		return LODE_SYSTEM;
	renew = lode_flight_trim(watch->flight, lode_now(), wants_held ? &watch->held : NULL);
	if (renew > 0)
		lode_recorder_renew(watch->recorder);
	return renew < 0 ? renew : 0;
}

/* ---- what it says ---- */

static void wipe_progress(struct watch *watch)
{
	if (watch->drawn)
		dprintf(watch->call->err.fd, "\r\033[K");
	watch->drawn = 0;
}

static void draw_progress(struct watch *watch)
{
	const struct lode_terminal *err = &watch->call->err;
	struct lode_flight_counts counts;
	struct lode_record_counts kernel;
	char rate[LODE_UNITS_TEXT], size[LODE_UNITS_TEXT], time[LODE_UNITS_TEXT], dropped[LODE_UNITS_TEXT];
	uint64_t now = lode_now(), passed = now - watch->drawn_at;

	if (!err->look.is_terminal || watch->call->quiet || passed < 1000000000u)
		return;
	lode_flight_counts(watch->flight, &counts);
	lode_recorder_counts(watch->recorder, &kernel);
	dprintf(err->fd, "\rwatching: %s events/s, %s, the last %s, %llu triggered, %llu saved, %s dropped\033[K",
		lode_count_text((counts.records - watch->drawn_records) * 1000 / (passed / 1000000), rate),
		lode_bytes_text(resident(), size),
		lode_duration_text(counts.oldest && now > counts.oldest ? now - counts.oldest : 0, time),
		(unsigned long long)watch->burst.fired, (unsigned long long)watch->saved,
		lode_count_text(counts.early + kernel.lost, dropped));
	watch->drawn_at = now;
	watch->drawn_records = counts.records;
	watch->drawn = 1;
}

/* A line of JSON. */
static void write_json(struct watch *watch, struct lode_buffer *buffer)
{
	if (!buffer->failed && write(watch->call->out.fd, buffer->bytes, buffer->size) < 0)
		watch->failed++;
	lode_buffer_release(buffer);
}

static void say_saved(struct watch *watch, const struct lode_watch_saved *saved)
{
	struct lode_watch_stream stream = {
		.id = saved->id,
		.trigger = watch->writing,
		.events = saved->events,
		.symptoms = saved->symptoms,
		.span = saved->span,
		.bytes = saved->bytes,
		.removed = saved->removed,
	};
	struct lode_buffer line = { 0 }, json = { 0 };

	lode_watch_stream_text(&stream, &line);
	lode_buffer_byte(&line, '\0');
	lode_watch_socket_answer(&watch->socket, line.failed ? saved->id : line.bytes);
	if (!watch->call->quiet && !line.failed)
		lode_say(&watch->call->err, LODE_GREEN, "%s: %s", watch->writing, line.bytes);
	lode_buffer_release(&line);
	if (!watch->settings->json)
		return;
	lode_watch_stream_json(&stream, &json);
	write_json(watch, &json);
}

static void tell_failure(struct watch *watch, const struct lode_error *error)
{
	char line[LODE_WATCH_LINE];

	snprintf(line, sizeof(line), "!%s", error->text);
	lode_watch_socket_answer(&watch->socket, line);
	lode_say(&watch->call->err, LODE_RED, "%s: not saved: %s", watch->writing, error->text);
}

/* ---- saving ---- */

static void save(struct watch *watch, uint64_t now)
{
	const struct settings *settings = watch->settings;
	struct lode_watch_burst *burst = &watch->burst;
	struct lode_watch_save what = {
		.target = &watch->target,
		.flight = watch->flight,
		.rules = watch->rules.rules,
		.rule_count = watch->rules.count,
		.hands = burst->hands,
		.hand_count = burst->hand_count,
		.period = watch->period,
		.from = lode_watch_burst_from(burst),
		.to = now,
		.told = watch->told,
		.t = burst->t,
		.corpus = settings->output ? settings->output : DEFAULT_CORPUS,
		.watch = watch->name,
		.trigger = burst->trigger,
		.attributes = &settings->attributes,
		.keep = watch->keep,
		.symbols = lode_symbol_options(&settings->symbols, NULL),
		.no_symbols = settings->symbols.none,
		.inlines = settings->symbols.inlines,
	};
	struct lode_flight_counts flight;
	struct lode_record_counts kernel;
	struct lode_error error = { "" };

	lode_flight_counts(watch->flight, &flight);
	lode_recorder_counts(watch->recorder, &kernel);
	what.lost = kernel.lost;
	what.early = flight.early;
	snprintf(watch->writing, sizeof(watch->writing), "%s", burst->trigger);
	if (lode_watch_writer_start(&watch->writer, &what, watch->recorder, &error) < 0) {
		watch->failed++;
		tell_failure(watch, &error);
	}
	watch->told = now;
}

/* Writes the stream of the triggers that fired, if they are still known. */
static void finish_burst(struct watch *watch, uint64_t now)
{
	if (lode_watch_burst_is_too_late(&watch->burst))
		watch->late++;
	else
		save(watch, now);
	lode_watch_burst_end(&watch->burst);
}

static void look_at_writer(struct watch *watch, int wait)
{
	struct lode_watch_saved saved;
	struct lode_error error = { "" };
	int code = lode_watch_writer_look(&watch->writer, wait, watch->recorder, &saved, &error);

	if (!code)
		return;
	wipe_progress(watch);
	if (code < 0) {
		watch->failed++;
		tell_failure(watch, &error);
		return;
	}
	watch->saved++;
	watch->removed += saved.removed;
	say_saved(watch, &saved);
}

/*
 * Requests by hand are taken only when no writer is at work: all that are taken
 * are answered when the next one is done.
 */
static void look_at_triggers(struct watch *watch)
{
	uint64_t now = lode_now();

	look_at_writer(watch, 0);
	if (!watch->writer.pid)
		lode_watch_burst_take_requests(&watch->burst, &watch->socket);
	if (!watch->writer.pid && lode_watch_burst_is_due(&watch->burst, now))
		finish_burst(watch, now);
}

/* Milliseconds to sleep: until something is due, a tenth of a second at most. */
static int sleep_time(const struct watch *watch)
{
	uint64_t now = lode_now(), wanted = now + 100000000u;

	if (watch->burst.active && !watch->writer.pid && watch->burst.due < wanted)
		wanted = watch->burst.due;
	if (watch->settings->duration && watch->began + watch->settings->duration < wanted)
		wanted = watch->began + watch->settings->duration;
	return wanted > now ? (int)((wanted - now) / 1000000u) + 1 : 0;
}

static int watch_all(struct watch *watch, struct lode_error *error)
{
	int over = 0, code = 0;

	while (!code && !over) {
		lode_recorder_wait(watch->recorder, lode_recorded_sleep(&watch->target, sleep_time(watch)),
				   watch->events);
		code = lode_recorded_change_slot(&watch->target, watch->recorder, error);
		over = is_over(watch);
		if (!code && read_records(watch) < 0)
			code = lode_fail_memory(error);
		look_at_triggers(watch);
		watch->target.saving_ns = lode_watch_writer_spent(&watch->writer);
		lode_recorded_steer(&watch->target, watch->recorder, lode_now());
		draw_progress(watch);
	}
	lode_recorded_end_budget(&watch->target, watch->recorder);
	if (!code && lode_recorder_stop(watch->recorder, &watch->sink) < 0)
		code = lode_fail_memory(error);
	look_at_writer(watch, 1);
	if (watch->burst.active && !code) {
		finish_burst(watch, lode_now());
		look_at_writer(watch, 1);
	}
	wipe_progress(watch);
	return code;
}

/* ---- all of it ---- */

static void note_losses(struct watch *watch, const struct lode_flight_counts *counts)
{
	lode_recorder_note(watch->recorder, &watch->notes);
	lode_rule_probes_note(watch->probes, &watch->notes);
	lode_notes_add(&watch->notes, counts->early, "records dropped before their time: --memory was too little",
		       NULL);
	lode_notes_add(&watch->notes, counts->missing, "stacks that were lost", NULL);
	lode_notes_add(&watch->notes, watch->burst.refused, "triggers not followed because of --max-per-hour",
		       NULL);
	lode_notes_add(
		&watch->notes, watch->late,
		"streams not written: --memory was too little to hold them until the one before was written", NULL);
	lode_notes_add(&watch->notes, watch->removed, "older streams removed because of --keep", NULL);
}

static struct lode_watch_report make_report(struct watch *watch)
{
	struct lode_flight_counts counts;
	struct lode_record_counts kernel;

	lode_flight_counts(watch->flight, &counts);
	lode_recorder_counts(watch->recorder, &kernel);
	note_losses(watch, &counts);
	return (struct lode_watch_report){
		.duration = lode_now() - watch->began,
		.records = counts.records,
		.kept = counts.kept,
		.dropped = counts.early,
		.lost = kernel.lost,
		.missing_stacks = counts.missing,
		.memory_bytes = counts.bytes,
		.triggered = watch->burst.fired,
		.refused = watch->burst.refused,
		.saved = watch->saved,
		.failed = watch->failed,
		.removed = watch->removed,
		.budget = lode_recorded_budget(&watch->target),
		.notes = &watch->notes,
	};
}

static void say_end(struct watch *watch)
{
	struct lode_watch_report report = make_report(watch);
	struct lode_buffer line = { 0 }, budget = { 0 }, json = { 0 };

	if (!watch->call->quiet) {
		lode_watch_text(&report, &line);
		lode_say_line(&watch->call->err, LODE_PLAIN, &line);
		if (report.budget.share > 0) {
			lode_budget_text(&report.budget, &budget);
			lode_say_line(&watch->call->err, LODE_GREEN, &budget);
		}
		lode_notes_say(&watch->notes, watch->call);
	}
	if (!watch->settings->json)
		return;
	lode_watch_json(&report, &json);
	write_json(watch, &json);
}

static void release(struct watch *watch)
{
	lode_watch_socket_close(&watch->socket);
	lode_rule_probes_destroy(watch->probes);
	lode_recorder_destroy(watch->recorder);
	lode_flight_destroy(watch->flight);
	lode_recorded_release(&watch->target);
	lode_rate_release(&watch->burst.rate);
	lode_notes_release(&watch->notes);
	if (watch->events >= 0)
		close(watch->events);
	lode_free(watch->held.ids);
	lode_record_rules_release(&watch->rules);
	lode_free(watch->name);
}

/* Memory that is freed goes back, so that what is used is what is seen. */
static void set_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, 256 << 10);
	mallopt(M_TRIM_THRESHOLD, 256 << 10);
}

static int run_watch(struct watch *watch, struct lode_error *error)
{
	int code;

	signal(SIGHUP, SIG_IGN); /* a terminal that goes away is no reason to stop */
	lode_signals_hold();
	set_memory();
	code = open_all(watch, error);
	if (!code && lode_signals_stop())
		code = LODE_STOPPED(lode_signals_stop());
	lode_signals_hold_for_good();
	if (!code)
		code = start(watch, error);
	if (!code)
		code = watch_all(watch, error);
	lode_signals_release();
	if (code)
		return code;
	say_end(watch);
	return watch->failed ? lode_fail(error, LODE_SYSTEM, "watch: some streams could not be saved; see above")
			     : lode_recorded_status(&watch->target);
}

static int run(struct lode_call *call, struct lode_error *error)
{
	struct watch watch = { .call = call, .settings = call->settings, .events = -1 };
	int code = lode_recorded_init(&watch.target, &watch.settings->target, DEFAULT_BUDGET, "watch",
				      call->operands, call->operand_count, error);

	lode_notes_init(&watch.notes);
	if (!code)
		code = read_settings(&watch, error);
	if (!code)
		code = run_watch(&watch, error);
	release(&watch);
	return code;
}

#else

static int run(struct lode_call *call, struct lode_error *error)
{
	(void)call;
	return lode_fail(error, LODE_SYSTEM,
			 "watch: this program was built without its recorder; build it where clang, bpftool and "
			 "libbpf are");
}

#endif

const struct lode_command lode_command_watch = {
	.name = "watch",
	.summary = "keep the last seconds, and write them down when something was slow",
	.usage = "[OPTIONS] [-- COMMAND [ARG...]]",
	.about = "Records a command, processes (-p) or the whole machine (-a) into memory and forgets what "
		 "is\n"
		 "older than --last. When a trigger fires, what is there becomes a new stream of a corpus: "
		 "the\n"
		 "time before the symptom, and the symptom. 'lode trigger' fires by hand. Ends when the "
		 "command\n"
		 "or the processes do, after --duration, or on Ctrl-C. Needs root, or the capabilities "
		 "CAP_BPF\n"
		 "and CAP_PERFMON.",
	.examples = "  lode watch -a --trigger 'thread gui wait > 200ms' -o corpus\n"
		    "  lode watch -p 1234 --trigger '/usr/bin/app:answer > 200ms' --keep 20 -o corpus\n"
		    "  # and 'lode trigger' by hand\n"
		    "  lode watch -a --last 30s --memory 256MB -o corpus\n",
	.options = options,
	.settings_size = sizeof(struct settings),
	.most_operands = SIZE_MAX,
	.operand = "COMMAND",
	.run = run,
};
