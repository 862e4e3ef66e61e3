/*
 * Saving what a flight recorder holds: see watch_save.h.
 *
 * In the child the flight memory is replayed into a builder, as if it were
 * recorded now, and finished like any recording. The child never touches what it
 * shares with its parent: not the terminal, and not the kernel's programs. It closes
 * its descriptors of those, and the parent waits for that: while a child held a link,
 * the program would stay attached when the parent closes its own, and could not be
 * attached again (before Linux 6.10) or would record all twice (since).
 */
#include "tasks/live/watch_save.h"

#include "base/clock.h"
#include "base/starts_with.h"
#include "record/stream/recording.h"
#include "watch/baseline.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Records between two looks whether there is enough to write. */
#define BETWEEN_WRITES 4096

/* What the child reports; small enough for a pipe to take it at once. */
struct result {
	int code;
	struct lode_watch_saved saved;
	char text[1024];
};

struct saving {
	const struct lode_watch_save *save;
	struct lode_symbolizer *symbolizer;
	struct lode_builder builder;
	struct lode_recorder_sink sink; /* the builder's */
	struct lode_corpus *corpus;
	struct lode_recording *recording;
	struct lode_notes notes;
	uint64_t count;
	struct lode_error *error;
};

/* ---- in the child ---- */

static int handle_record(void *context, const struct lode_record *record)
{
	struct saving *saving = context;

	if (saving->sink.record(saving->sink.context, record) < 0)
		return lode_fail_memory(saving->error);
	if (++saving->count % BETWEEN_WRITES)
		return 0;
	return lode_recording_flow(saving->recording, lode_now(), saving->error);
}

static int handle_stack(void *context, const struct lode_record_stack *stack)
{
	struct saving *saving = context;
	int code = saving->sink.stack(saving->sink.context, stack);

	return code ? lode_fail_memory(saving->error) : 0;
}

static int handle_change(void *context, const struct lode_change *change)
{
	struct saving *saving = context;
	int code = saving->sink.change(saving->sink.context, change);

	return code ? lode_fail_memory(saving->error) : 0;
}

static int handle_context(void *context, const struct lode_record_context *named)
{
	struct saving *saving = context;
	int code = saving->sink.named_context(saving->sink.context, named);

	return code ? lode_fail_memory(saving->error) : 0;
}

static int add_hand_symptom(struct saving *saving, const struct lode_watch_hand *hand, uint32_t thread)
{
	struct lode_symptom symptom = { .thread = thread, .t0 = saving->save->from, .t1 = hand->t };
	const char *name = *hand->name ? hand->name : "by hand";

	symptom.name = lode_strings_add(&saving->builder.dictionary.frames.strings, name, strlen(name));
	if (thread == LODE_NONE || symptom.name == LODE_NONE ||
	    lode_stream_add_symptom(&saving->builder.stream, &symptom) < 0)
		return LODE_SYSTEM;
	return 0;
}

/* The thread that was named; else the main threads of what is watched, if that is not everything. */
static int add_hand(struct saving *saving, const struct lode_watch_hand *hand)
{
	const struct lode_record_target *target = saving->save->target;
	struct lode_stream *stream = &saving->builder.stream;
	int code = 0;

	if (hand->tid)
		return add_hand_symptom(saving, hand, lode_stream_tid(stream, hand->tid));
	if (target->has_child) {
		uint32_t pid = (uint32_t)target->child.pid;

		return add_hand_symptom(saving, hand, lode_stream_thread(stream, pid, pid));
	}
	for (size_t i = 0; !code && i < target->settings->pids.count; i++) {
		uint32_t pid = (uint32_t)strtoul(target->settings->pids.items[i], NULL, 10);

		code = add_hand_symptom(saving, hand, lode_stream_thread(stream, pid, pid));
	}
	return code;
}

static int add_symptoms(struct saving *saving)
{
	const struct lode_watch_save *save = saving->save;
	struct lode_record_times times = { .began = save->from, .ended = save->to };

	lode_builder_forget_fired(&saving->builder, save->reported_until);
	for (size_t i = 0; i < save->rule_count; i++)
		if (lode_record_rule_apply(&save->rules[i], &saving->builder, &times) < 0)
			return LODE_SYSTEM;
	for (size_t i = 0; i < save->hand_count; i++)
		if (add_hand(saving, &save->hands[i]) < 0)
			return LODE_SYSTEM;
	return 0;
}

/* The watch, and when the trigger fired, so that streams can be distinguished; for the caller to free. */
static char *stream_name(const struct lode_watch_save *save)
{
	uint64_t ago = lode_now() - save->t;
	struct timespec now;
	struct tm time;
	uint64_t at;
	char text[32];

	clock_gettime(CLOCK_REALTIME, &now);
	at = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec - ago;
	now.tv_sec = (time_t)(at / 1000000000u);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", gmtime_r(&now.tv_sec, &time));
	return lode_format("%s %s.%03uZ", save->watch, text, (unsigned)(at / 1000000u % 1000));
}

static int describe(struct saving *saving, const char *source)
{
	const struct lode_watch_save *save = saving->save;
	struct lode_stream *stream = &saving->builder.stream;
	char *name = stream_name(save);
	int code;

	if (!name)
		return lode_fail_memory(saving->error);
	code = lode_record_target_describe(save->target, name, source, save->attributes, stream, saving->error);
	lode_free(name);
	if (code)
		return code;
	if (lode_stream_set_text(stream, LODE_WATCH_ATTRIBUTE, save->watch) < 0 ||
	    lode_stream_set_text(stream, "trigger", save->trigger) < 0 ||
	    (save->baseline && lode_stream_set_number(stream, LODE_BASELINE_ATTRIBUTE, save->baseline) < 0) ||
	    (save->lost && lode_stream_set_number(stream, "lost_records", save->lost) < 0) ||
	    (save->early && lode_stream_set_number(stream, "dropped_records", save->early) < 0))
		return lode_fail_memory(saving->error);
	return 0;
}

static int open_all(struct saving *saving)
{
	const struct lode_watch_save *save = saving->save;
	struct lode_symbols_options symbols = save->symbols;
	int code;

	symbols.notes = &saving->notes;
	code = lode_symbolizer_create(&saving->symbolizer, &symbols, saving->error);
	if (!code && lode_builder_init(&saving->builder, saving->symbolizer, NULL, save->period) < 0)
		code = lode_fail_memory(saving->error);
	if (code)
		return code;
	lode_builder_adopt(&saving->builder, lode_flight_processes(save->flight));
	saving->builder.stacks.languages = save->languages;
	saving->sink = lode_builder_sink(&saving->builder);
	code = lode_corpus_open(&saving->corpus, save->corpus, LODE_CORPUS_RECORD, saving->error);
	if (!code)
		code = lode_recording_create(&saving->recording, saving->corpus, &saving->builder, saving->error);
	return code;
}

static int finish(struct saving *saving, const char *source, struct lode_watch_saved *saved)
{
	const struct lode_watch_save *save = saving->save;
	struct lode_record_symbolize_options translate = { .symbolizer = save->no_symbols ? NULL
											  : saving->symbolizer,
							   .inlines = save->inlines,
							   .lines = save->lines,
							   .stands_for = save->baseline,
							   .jobs = 1,
							   .notes = &saving->notes };
	struct lode_corpus_entry entry;
	int code = lode_recording_finish(saving->recording, source, &translate, &entry, saving->error);

	if (code)
		return code;
	memcpy(saved->id, entry.id, sizeof(saved->id));
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		saved->events += entry.events[type];
	saved->symptoms = entry.symptoms;
	saved->bytes = entry.file_size;
	saved->span = entry.last_t - entry.first_t;
	code = lode_retention_apply(&save->keep, saving->corpus, save->watch, entry.host, (uint64_t)time(NULL),
				    saving->error);
	saved->removed = code > 0 ? (uint64_t)code : 0;
	return code < 0 ? code : 0;
}

static int write_stream(const struct lode_watch_save *save, struct lode_watch_saved *saved,
			struct lode_error *error)
{
	struct saving saving = { .save = save, .error = error };
	struct lode_recorder_sink sink = { &saving, handle_stack, handle_change, handle_record, handle_context };
	char *source = lode_record_target_source(save->target);
	int code;

	lode_notes_init(&saving.notes);
	code = source ? open_all(&saving) : lode_fail_memory(error);
	if (!code)
		code = describe(&saving, source);
	if (!code)
		code = lode_flight_replay(save->flight, save->from, save->to, &sink);
	if (!code && add_symptoms(&saving) < 0)
		code = lode_fail_memory(error);
	if (!code)
		code = finish(&saving, source, saved);
	lode_recording_abandon(saving.recording, code ? error : NULL);
	lode_corpus_close(saving.corpus);
	return code; /* the rest goes with the process */
}

static int is_of_the_recorder(const char *opened)
{
	return lode_starts_with(opened, "anon_inode:bpf") || lode_starts_with(opened, "anon_inode:[perf_event]");
}

/* Closes descriptors of BPF programs, links and maps, and of perf events. Files are kept: symbols are read from some. */
static void close_recorder(void)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;
	char opened[32];

	while (folder && (entry = readdir(folder))) {
		ssize_t length = readlinkat(dirfd(folder), entry->d_name, opened, sizeof(opened) - 1);

		opened[length > 0 ? length : 0] = '\0';
		if (is_of_the_recorder(opened))
			close(atoi(entry->d_name));
	}
	if (folder)
		closedir(folder);
}

static void be_writer(const struct lode_watch_save *save, int gate, int result_fd)
{
	struct result result = { 0 };
	struct lode_error error = { "" };
	char byte = 0;

	/* Ctrl-C is for the recorder, which waits for this to end. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	close_recorder();
	prctl(PR_SET_NAME, "lode-save");
	if (write(result_fd, &byte, 1) != 1)
		_exit(4);
	setpriority(PRIO_PROCESS, 0, 5);
	/* Until the recorder leaves this process out. */
	if (read(gate, &byte, 1) < 0)
		_exit(4);
	result.code = write_stream(save, &result.saved, &error);
	memcpy(result.text, error.text, sizeof(result.text));
	_exit(write(result_fd, &result, sizeof(result)) == (ssize_t)sizeof(result) ? 0 : 4);
}

/* ---- in the recorder ---- */

/* Until the child has closed what belongs to the recorder, or ended, which is noticed when its result is read. */
static void wait_until_closed(int result)
{
	char byte;

	while (read(result, &byte, 1) < 0 && errno == EINTR)
		continue;
}

static void close_both(int ends[2])
{
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			close(ends[i]);
}

int lode_watch_writer_start(struct lode_watch_writer *writer, const struct lode_watch_save *save,
			    struct lode_recorder *recorder, struct lode_error *error)
{
	int gate[2] = { -1, -1 }, result[2] = { -1, -1 };
	struct epoll_event event = { .events = EPOLLIN };
	pid_t pid = -1;

	if (pipe2(gate, O_CLOEXEC) == 0 && pipe2(result, O_CLOEXEC) == 0)
		pid = fork();
	if (pid == 0) {
		close(gate[1]);
		be_writer(save, gate[0], result[1]);
	}
	if (pid < 0) {
		int number = errno;

		close_both(gate);
		close_both(result);
		return lode_fail(error, LODE_SYSTEM, "watch: cannot start the process that saves streams: %s",
				 strerror(number));
	}
	lode_recorder_leave_out(recorder, (uint32_t)pid);
	close(result[1]);
	wait_until_closed(result[0]);
	close_both(gate);
	writer->pid = pid;
	writer->result = event.data.fd = result[0];
	epoll_ctl(writer->events, EPOLL_CTL_ADD, writer->result, &event);
	return 0;
}

uint64_t lode_watch_writer_spent(const struct lode_watch_writer *writer)
{
	struct timespec time;
	clockid_t clock;

	if (!writer->pid || clock_getcpuclockid(writer->pid, &clock) || clock_gettime(clock, &time) < 0)
		return writer->spent_ns;
	return writer->spent_ns + (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static int is_done(const struct lode_watch_writer *writer, int wait)
{
	struct pollfd result = { writer->result, POLLIN, 0 };
	int ready;

	do {
		ready = poll(&result, 1, wait ? -1 : 0);
	} while (wait && ready < 0 && errno == EINTR);
	return ready > 0;
}

int lode_watch_writer_look(struct lode_watch_writer *writer, int wait, struct lode_recorder *recorder,
			   struct lode_watch_saved *saved, struct lode_error *error)
{
	struct rusage usage = { 0 };
	struct result result;
	ssize_t size;
	int status;

	if (!writer->pid || !is_done(writer, wait))
		return 0;
	size = read(writer->result, &result, sizeof(result));
	close(writer->result);
	while (wait4(writer->pid, &status, 0, &usage) < 0 && errno == EINTR)
		continue;
	writer->spent_ns += (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000u +
			    (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000u;
	writer->pid = 0;
	lode_recorder_leave_out(recorder, 0);
	if (size != (ssize_t)sizeof(result))
		return lode_fail(error, LODE_SYSTEM,
				 "watch: the process that saves was killed; is there too little memory?");
	*saved = result.saved;
	if (!result.code)
		return 1;
	result.text[sizeof(result.text) - 1] = '\0';
	return lode_fail(error, result.code, "%s", result.text);
}
