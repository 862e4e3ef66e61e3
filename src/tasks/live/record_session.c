/*
 * A recording from its options to its stream: see record_session.h.
 *
 * The command, if there is one, is forked first and stopped, so that its process is known
 * before recording begins and nothing of it is missed. Then one loop: sleep until there
 * is much to read, or a tenth of a second; read; write now and then; look whether it is
 * over: the command ended, the time is up, the processes are gone, or a stop was
 * requested. In all these cases the stream is finished.
 */
#include "tasks/live/record_session.h"

#include "base/clock.h"
#include "base/quiet_thread.h"
#include "base/safe_text.h"
#include "record/load/uprobes.h"
#include "record/neighbours.h"
#include "tasks/attributes.h"
#include "tasks/live/budget_control.h"
#include "trace/throttled.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- what is requested ---- */

static int read_rules(struct lode_record_session *session, struct lode_error *error)
{
	const struct lode_option_list *symptoms = &session->settings->symptoms;
	struct lode_record_rules *rules = &session->rules;
	int code = lode_record_rules_parse(rules, symptoms->items, symptoms->count, 0, error);

	for (size_t i = 0; !code && i < rules->count; i++)
		if (rules->rules[i].type == LODE_RULE_RUN && !session->call->operand_count)
			code = lode_fail(
				error, LODE_USAGE,
				"record: the symptom 'run > TIME' is about a command; give one after '--'. "
				"See 'lode help record'.");
	return code;
}

/* ---- recording ---- */

static int open_recorder(struct lode_record_session *session, const struct lode_symbols_options *symbols,
			 uint64_t *period, struct lode_error *error)
{
	struct lode_recorder_options recorder = lode_record_target_recorder_options(&session->target);

	recorder.no_own_walk = session->settings->no_own_walk;
	recorder.totals = 1;
	recorder.cache = symbols->cache;
	recorder.kernel_locks = session->settings->kernel_locks;
	recorder.contexts = (session->contexts & LODE_CONTEXT_FROM_PROBES) != 0;
	recorder.launches = session->gpu != NULL;
	recorder.traces = (session->contexts & LODE_CONTEXT_FROM_OTEL) != 0;
	recorder.limits = session->rules.limits;
	recorder.limit_count = session->rules.count;
	session->target.sees_all_waits = lode_recorder_sees_all_waits(&recorder);
	session->target.symptom_ns = lode_record_rules_longest(&session->rules);
	*period = lode_recorder_period(&recorder);
	return lode_recorder_create(&session->recorder, &recorder, error);
}

static int open_stream(struct lode_record_session *session, const char *source, struct lode_error *error)
{
	const struct lode_record_settings *settings = session->settings;
	int code = lode_record_target_describe(&session->target, settings->name, source, &settings->attributes,
					       &session->builder.stream, error);

	if (!code)
		code = lode_corpus_open(&session->corpus, settings->output ? settings->output : LODE_DEFAULT_CORPUS,
					LODE_CORPUS_RECORD, error);
	if (!code)
		code = lode_recording_create(&session->recording, session->corpus, &session->builder, error);
	return code;
}

static void *load_kernel(void *kernel)
{
	lode_image_load(kernel);
	return NULL;
}

/* The first stack needs the kernel's symbols: they are read while the recorder's programs are loaded. */
static int open_symbolizer(struct lode_record_session *session, const struct lode_symbols_options *symbols,
			   struct lode_error *error)
{
	int code = lode_symbolizer_create(&session->symbolizer, symbols, error);
	struct lode_image *kernel = code ? NULL : lode_record_stacks_kernel(session->symbolizer, NULL);

	if (!code && !kernel)
		code = lode_fail_memory(error);
	if (!code)
		session->loads_kernel = lode_quiet_thread(&session->kernel_loader, load_kernel, kernel) == 0;
	return code;
}

/* After the builder and before the command: `sink` is the one that looks for sources of contexts, too. */
static int open_contexts(struct lode_record_session *session, struct lode_recorder_sink *sink,
			 struct lode_error *error)
{
	int code;

	if (!session->contexts)
		return 0;
	code = lode_context_sources_create(&session->context_sources, session->recorder, session->contexts,
					   &session->builder.processes, sink, error);
	if (!code && lode_context_sources_look(session->context_sources) < 0)
		code = lode_fail_memory(error);
	if (!code && session->target.command_count &&
	    lode_context_sources_command(session->context_sources, session->target.command[0]) < 0)
		code = lode_fail_memory(error);
	if (!code)
		*sink = lode_context_sources_sink(session->context_sources);
	return code;
}

/* Stacks of launches into GPUs: the library that asks for them has a place for that. */
static int probe_launches(struct lode_record_session *session, struct lode_error *error)
{
	struct lode_uprobe_place place = { 0 };
	int code = lode_gpu_recording_probe(session->gpu, &place.offset, error);

	if (code)
		return code;
	session->gpu_probe = lode_uprobes_attach(lode_recorder_launch_program(session->recorder),
						 lode_gpu_recording_library(session->gpu), &place, 1, 0, error);
	return session->gpu_probe < 0 ? session->gpu_probe : 0;
}

static int open_all(struct lode_record_session *session, const char *source, struct lode_error *error)
{
	struct lode_symbols_options symbols = lode_symbol_options(&session->settings->symbols, &session->notes);
	struct lode_recorder_sink sink;
	uint64_t period;
	int code = lode_record_target_check(&session->target, error);

	if (!code && session->settings->gpu)
		code = lode_gpu_recording_create(&session->gpu, error);
	if (!code)
		code = open_symbolizer(session, &symbols, error);
	if (!code)
		code = open_recorder(session, &symbols, &period, error);
	if (!code && session->gpu)
		code = probe_launches(session, error);
	if (!code && lode_builder_init(&session->builder, session->symbolizer, NULL, period) < 0)
		code = lode_fail_memory(error);
	session->builder.stacks.languages = code ? NULL : lode_recorder_languages(session->recorder);
	if (!code)
		code = open_stream(session, source, error);
	if (!code && lode_processes_snapshot(&session->builder.processes, LODE_SNAPSHOT_NS) < 0)
		code = lode_fail_memory(error);
	if (code)
		return code;
	sink = lode_builder_sink(&session->builder);
	code = open_contexts(session, &sink, error);
	if (code)
		return code;
	code = lode_record_target_probe(&session->target, &session->rules, session->recorder,
					&session->builder.processes, &session->probes, error);
	if (!code)
		session->sink = lode_rule_probes_sink(session->probes, &sink);
	return code;
}

/* Who may run into a limit: what is recorded, or, of a command, this process and what it starts. */
static int begin_limits(struct lode_record_session *session)
{
	const struct lode_record_target_settings *settings = session->target.settings;
	int code = 0;

	if (session->target.has_child)
		return lode_group_limits_add(&session->limits, (uint32_t)session->target.child.pid);
	for (size_t i = 0; !code && i < settings->pids.count; i++)
		code = lode_group_limits_add(&session->limits,
					     (uint32_t)strtoul(settings->pids.items[i], NULL, 10));
	return code || settings->pids.count ? code : lode_group_limits_add_all(&session->limits);
}

static int start(struct lode_record_session *session, struct lode_error *error)
{
	int code = lode_record_target_prepare(&session->target, error);

	if (!code && begin_limits(session) < 0)
		code = lode_fail_memory(error);
	if (!code)
		code = lode_record_target_start(&session->target, session->recorder, error);
	session->processors = lode_processor_times_now();
	session->times.began = lode_now();
	if (!code)
		lode_record_target_say_relatives(&session->target, session->call);
	if (code || !session->target.has_child)
		return code;
	session->times.command = (uint32_t)session->target.child.pid;
	session->times.command_began = session->times.began;
	return lode_record_target_release_command(&session->target, error);
}

static int is_over(struct lode_record_session *session)
{
	struct lode_host *host = session->call->host;
	uint64_t now = lode_now();

	if (lode_record_target_has_ended(&session->target)) {
		session->times.command_ended = now;
		return 1;
	}
	if (host->stopped(host) || lode_record_target_is_gone(&session->target))
		return 1;
	return session->settings->duration && now - session->times.began >= session->settings->duration;
}

/* Milliseconds to sleep: until the time is up, a tenth of a second at most. */
static int sleep_time(const struct lode_record_session *session)
{
	uint64_t passed = lode_now() - session->times.began, duration = session->settings->duration;

	if (!duration || duration > passed + 100000000u)
		return 100;
	return duration > passed ? (int)((duration - passed) / 1000000u) + 1 : 0;
}

/*
 * Reads, and forgets stacks of long ago when there are many. What may still be named is looked at before two reads in a row,
 * because a record may stay in its ring for a read more.
 */
static int read_records(struct lode_record_session *session)
{
	struct lode_record_stacks *stacks = &session->builder.stacks;
	struct lode_recorder_held *held = &session->held;

	if (lode_record_stacks_is_full(stacks)) {
		if (lode_recorder_held(session->recorder, held) < 0)
			return LODE_SYSTEM;
		session->held_looks++;
	}
	if (lode_recorder_read(session->recorder, &session->sink) < 0)
		return LODE_SYSTEM;
	lode_context_sources_retry(session->context_sources);
	if (session->gpu && lode_gpu_recording_read(session->gpu) < 0)
		return LODE_SYSTEM;
	if (session->held_looks < 2)
		return 0;
	if (lode_record_stacks_renew(stacks, held->ids, held->count) < 0)
		return LODE_SYSTEM;
	lode_recorder_renew(session->recorder);
	lode_memory_return_freed();
	held->count = session->held_looks = 0;
	return 0;
}

/* Sleeps, reads and writes. Returns 1 when it is over. */
static int step(struct lode_record_session *session, struct lode_error *error)
{
	struct lode_record_target *target = &session->target;
	int over, code;

	lode_recorder_wait(session->recorder, lode_budget_control_sleep(&target->budget, sleep_time(session)),
			   target->has_child ? target->child.exit_fd : -1);
	code = lode_budget_control_change_slot(&target->budget, session->recorder, error);
	if (code)
		return code;
	over = is_over(session);
	if (read_records(session) < 0)
		return lode_fail_memory(error);
	code = lode_recording_flow(session->recording, lode_now(), error);
	lode_budget_control_steer(&target->budget, session->recorder, lode_now());
	lode_record_status(session);
	return code ? code : over;
}

/* A failure of the recorder is none of the command: it runs to its end, unrecorded. */
static void run_on(struct lode_record_session *session, const struct lode_error *error)
{
	uint64_t duration = session->settings->duration;

	lode_rule_probes_destroy(session->probes);
	lode_context_sources_destroy(session->context_sources);
	lode_recorder_destroy(session->recorder);
	session->probes = NULL;
	session->context_sources = NULL;
	session->recorder = NULL;
	lode_record_target_run_on(&session->target, session->call, duration ? session->times.began + duration : 0,
				  error);
}

static int record(struct lode_record_session *session, struct lode_error *error)
{
	int code;

	do {
		code = step(session, error);
	} while (!code);
	session->times.ended = lode_now();
	if (code > 0)
		code = lode_record_target_stop(&session->target, session->recorder, &session->sink, error);
	else
		run_on(session, error);
	if (session->target.has_child)
		lode_child_finish(&session->target.child);
	if (!session->times.command_ended)
		session->times.command_ended = session->times.ended;
	session->call->host->pause(session->call->host);
	return code;
}

/* ---- the end ---- */

static int apply_rule(struct lode_record_session *session, const struct lode_record_rule *rule,
		      struct lode_error *error)
{
	int found = lode_record_rule_apply(rule, &session->builder, &session->times);

	if (found < 0)
		return lode_fail_memory(error);
	session->symptoms += found;
	return 0;
}

/*
 * Where nobody says what was slow, it is the command: its critical path shows what its user waited for. One that the
 * recording ended, such as a server, has no end to wait for.
 */
static int add_run_of_command(struct lode_record_session *session, struct lode_error *error)
{
	char program[64], text[80];
	struct lode_record_rule rule = { .type = LODE_RULE_RUN, .text = text };

	if (!session->target.by_itself)
		return 0;
	snprintf(text, sizeof(text), "run of %s", lode_record_target_name(&session->target, program));
	return apply_rule(session, &rule, error);
}

static int add_symptoms(struct lode_record_session *session, struct lode_error *error)
{
	int code = 0;

	for (size_t i = 0; !code && i < session->rules.count; i++)
		code = apply_rule(session, &session->rules.rules[i], error);
	if (code || session->rules.count)
		return code;
	/* What GPUs did becomes a symptom when it is added. */
	if (session->gpu && lode_gpu_recording_read(session->gpu) < 0)
		return lode_fail_memory(error);
	return session->gpu && lode_gpu_recording_is_used(session->gpu) ? 0 : add_run_of_command(session, error);
}

#define MAX_NEIGHBOURS 12

/* Names of threads are what their programs choose. */
static void put_name(struct lode_buffer *buffer, const char name[LODE_RECORD_NAME])
{
	char text[LODE_RECORD_NAME + 1];

	snprintf(text, sizeof(text), "%.*s", LODE_RECORD_NAME, name);
	lode_text_safe(buffer, text);
}

/* Whether this is the name of a recorded thread: others that a stream has are only wakers, and have no totals. */
static int is_recorded(const struct lode_stream *stream, const char *name)
{
	const struct lode_strings *strings = &stream->dictionary->frames.strings;

	for (size_t i = 0; i < stream->thread_count; i++)
		if (lode_thread_has_totals(&stream->threads[i]) &&
		    !strncmp(lode_strings_get(strings, stream->threads[i].name), name, LODE_RECORD_NAME))
			return 1;
	return 0;
}

/* Who had the processors that were waited for, as far as it is a good part. */
static int add_neighbours(struct lode_record_session *session)
{
	struct lode_neighbour items[MAX_NEIGHBOURS];
	size_t count = lode_recorder_neighbours(session->recorder, items, MAX_NEIGHBOURS);

	for (size_t i = 0; i < count && items[i].time >= items[0].time / 20; i++) {
		struct lode_buffer key = { 0 };
		int code = LODE_SYSTEM;

		lode_buffer_text(&key, is_recorded(&session->builder.stream, items[i].names.behind)
					       ? LODE_RECORDED_NEIGHBOUR
					       : LODE_NEIGHBOUR);
		put_name(&key, items[i].names.waits);
		lode_buffer_text(&key, LODE_NEIGHBOUR_BEHIND);
		put_name(&key, items[i].names.behind);
		lode_buffer_byte(&key, '\0');
		if (!key.failed)
			code = lode_stream_set_number(&session->builder.stream, key.bytes, items[i].time);
		lode_buffer_release(&key);
		if (code < 0)
			return code;
	}
	return 0;
}

/* Losses, limits that were reached, and what the hypervisor took are stored in the stream, for later analyses. */
static int add_counts(struct lode_record_session *session, struct lode_error *error)
{
	struct lode_processor_times processors;
	struct lode_record_counts counts;

	lode_recorder_counts(session->recorder, &counts);
	if (counts.lost && lode_stream_set_number(&session->builder.stream, "lost_records", counts.lost) < 0)
		return lode_fail_memory(error);
	if (session->target.budget_share > 0 &&
	    lode_stream_set_number(&session->builder.stream, "all_waits", counts.waits) < 0)
		return lode_fail_memory(error);
	processors = lode_processor_times_now();
	if (add_neighbours(session) < 0 || lode_group_limits_store(&session->limits, &session->builder.stream) < 0 ||
	    lode_processor_times_store(&session->processors, &processors, &session->builder.stream) < 0)
		return lode_fail_memory(error);
	return 0;
}

static int finish(struct lode_record_session *session, const char *source, struct lode_error *error)
{
	struct lode_record_symbolize_options translate = {
		.symbolizer = session->settings->symbols.none ? NULL : session->symbolizer,
		.inlines = session->settings->symbols.inlines,
		.lines = session->target.settings->lines,
		.calibrates = session->target.budget_share > 0 && !session->target.settings->min_wait,
		.notes = &session->notes,
	};
	int code = add_symptoms(session, error);

	if (!code)
		code = add_counts(session, error);
	if (!code && session->gpu)
		lode_recording_set_addition(session->recording, &(struct lode_recording_addition){
									lode_gpu_recording_add, session->gpu });
	if (!code)
		code = lode_recording_finish(session->recording, source, &translate, &session->entry, error);
	lode_recorder_note(session->recorder, &session->notes);
	lode_builder_note(&session->builder, &session->notes);
	lode_rule_probes_note(session->probes, &session->notes);
	lode_context_sources_note(session->context_sources, &session->notes);
	return code;
}

/* ---- all of it ---- */

static void release(struct lode_record_session *session, struct lode_error *error)
{
	if (session->loads_kernel)
		pthread_join(session->kernel_loader, NULL);
	lode_recording_abandon(session->recording, error);
	lode_corpus_close(session->corpus);
	lode_builder_release(&session->builder);
	lode_symbolizer_destroy(session->symbolizer);
	lode_rule_probes_destroy(session->probes);
	lode_context_sources_destroy(session->context_sources);
	if (session->gpu_probe > 0)
		close(session->gpu_probe);
	lode_recorder_destroy(session->recorder);
	lode_gpu_recording_destroy(session->gpu);
	lode_group_limits_release(&session->limits);
	lode_free(session->held.ids);
	lode_notes_release(&session->notes);
	lode_record_target_release(&session->target);
	lode_record_rules_release(&session->rules);
}

static int run(struct lode_record_session *session, struct lode_error *error)
{
	struct lode_host *host = session->call->host;
	char *source = lode_record_target_source(&session->target);
	int code;

	lode_record_target_take_precedence(&session->target);
	host->hold(host, LODE_STOP_SOON);
	code = source ? open_all(session, source, error) : lode_fail_memory(error);
	if (!code && host->stopped(host))
		code = LODE_STOPPED(host->stopped(host)); /* before there is anything to keep */
	host->hold(host, LODE_STOP_WHEN_DONE);
	if (!code)
		code = start(session, error);
	if (!code)
		code = record(session, error);
	if (!code)
		code = finish(session, source, error);
	host->hold(host, LODE_STOP_AT_ONCE);
	if (!code)
		code = lode_record_show(session, error);
	lode_free(source);
	return code || host->collects ? code : lode_record_target_status(&session->target);
}

int lode_record_run(struct lode_call *call, struct lode_error *error)
{
	struct lode_record_session session = { .call = call, .settings = call->settings };
	int code = lode_record_target_init(&session.target, &session.settings->target, 0, call, error);

	lode_notes_init(&session.notes);
	if (!code)
		code = lode_attributes_check("record", &session.settings->attributes, error);
	if (!code)
		code = read_rules(&session, error);
	if (!code && session.settings->gpu && !call->operand_count)
		code = lode_fail(error, LODE_USAGE,
				 "record: '--gpu' is for a command, which it must be started with; give one after "
				 "'--'. See 'lode help record'.");
	if (!code)
		code = lode_context_sources_parse(session.settings->context, &session.contexts, error);
	if (!code)
		code = run(&session, error);
	release(&session, code ? error : NULL);
	return code;
}
