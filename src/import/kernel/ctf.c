/*
 * CTF traces of LTTng, read by ctf.h.
 *
 *	sched_switch and		joined into waits by import/sched.h
 *	sched_waking/_wakeup
 *	syscall_entry_NAME		call NAME
 *	syscall_exit…, exit_syscall	counted only
 *	lttng_statedump_process_state	names of threads
 *	anything else			call, named by the event
 *
 * The input is the file `metadata` of a folder. Who runs on a CPU is what the last switch there said, unless the
 * events carry their thread as a context. Call stacks (contexts callstack-kernel and callstack-user) are
 * addresses without symbols.
 */
#include "import/kernel/ctf.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/starts_with.h"
#include "import/import_common.h"
#include "import/sched.h"

#include <stdio.h>
#include <string.h>

/* What events with one name are. */
enum meaning {
	NOT_KNOWN,
	CALL,
	SWITCH,
	WAKING,
	EXIT, /* of a system call */
	STATE_DUMP,
};

/* By kind of event (lode_ctf_event). */
struct event_kind {
	enum meaning meaning;
	uint32_t call_name; /* string; 0: not looked up yet */
};

/* Kinds that are remembered; a trace of LTTng has some hundreds. */
#define MAX_KINDS 65536

struct reader {
	struct lode_input *input;
	const struct lode_import_options *options;
	struct lode_error *error;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_sched *sched;
	LODE_ARRAY(uint32_t) running; /* by CPU: the thread, LODE_NONE for none or the idle one */
	LODE_ARRAY(struct event_kind) kinds;
	unsigned dead; /* bits of the last state of a thread */
	uint64_t last;
	uint64_t events;
	uint64_t exits;
	uint64_t discarded;
	uint64_t homeless; /* events of no known thread */
	uint64_t stacks;   /* with addresses */
};

/* ---- threads ---- */

static void name_thread(struct reader *reader, uint32_t thread, const char *name)
{
	if (name)
		lode_import_name_thread(&reader->stream, thread, name, strlen(name));
}

/* The thread with this tid; LODE_NONE for the idle thread. */
static uint32_t find_thread(struct reader *reader, uint64_t tid, const char *name)
{
	uint32_t thread = LODE_NONE;

	if (tid && tid < UINT32_MAX)
		thread = lode_stream_tid(&reader->stream, (uint32_t)tid);
	name_thread(reader, thread, name);
	return thread;
}

static void set_running(struct reader *reader, uint16_t cpu, uint32_t thread)
{
	uint32_t *running = cpu == LODE_NO_CPU ? NULL : LODE_PLACE(&reader->running, cpu, LODE_NONE);

	if (running)
		*running = thread;
}

/* The thread that an event is of; LODE_NONE where that is not known. */
static uint32_t thread_of(struct reader *reader, const struct lode_ctf_event *event)
{
	uint32_t thread;

	if (event->context_tid == UINT32_MAX)
		return event->cpu < reader->running.count ? reader->running.items[event->cpu] : LODE_NONE;
	if (!event->context_tid || event->context_pid == UINT32_MAX)
		return find_thread(reader, event->context_tid, event->context_name);
	thread = lode_stream_thread(&reader->stream, event->context_pid, event->context_tid);
	name_thread(reader, thread, event->context_name);
	return thread;
}

/* ---- stacks ---- */

/* Pushes addresses, leaf first, as frames of a module. */
static uint32_t push_addresses(struct reader *reader, uint32_t stack, const char *module_name,
			       const uint64_t *addresses, size_t count)
{
	struct lode_frames *frames = &reader->dictionary.frames;
	uint32_t module = *module_name ? lode_frames_module(frames, module_name, strlen(module_name)) : 0;
	char text[24];

	while (count-- && stack != LODE_NONE) {
		int length = snprintf(text, sizeof(text), "0x%llx", (unsigned long long)addresses[count]);
		uint32_t frame = lode_frames_add(frames, module, text, (size_t)length);

		stack = lode_stack_tree_child(&reader->dictionary.tree, stack, frame);
	}
	return stack;
}

static uint32_t stack_of(struct reader *reader, const struct lode_ctf_event *event)
{
	uint32_t stack = 0;

	if (!event->user_depth && !event->kernel_depth)
		return 0;
	reader->stacks++;
	stack = push_addresses(reader, stack, "", event->user_stack, event->user_depth);
	return push_addresses(reader, stack, "kernel", event->kernel_stack, event->kernel_depth);
}

/* ---- events ---- */

static void add_switch(struct reader *reader, const struct lode_ctf_event *event, uint32_t stack)
{
	uint32_t previous = find_thread(reader, event->number[LODE_CTF_PREV_TID], event->text[LODE_CTF_PREV_COMM]);
	uint32_t next = find_thread(reader, event->number[LODE_CTF_NEXT_TID], event->text[LODE_CTF_NEXT_COMM]);

	set_running(reader, event->cpu, next);
	lode_sched_switch(reader->sched, event->t, event->cpu, previous,
			  lode_switch_state(event->number[LODE_CTF_PREV_STATE], reader->dead), stack, next);
}

static void add_waking(struct reader *reader, const struct lode_ctf_event *event, uint32_t stack)
{
	uint32_t waker = thread_of(reader, event);

	lode_sched_waking(reader->sched, event->t, waker, stack,
			  find_thread(reader, event->number[LODE_CTF_TID], event->text[LODE_CTF_COMM]));
}

static uint32_t name_call(struct reader *reader, const char *name)
{
	name += lode_starts_with(name, "syscall_entry_") ? 14 : 0;
	return lode_strings_add(&reader->dictionary.frames.strings, name, strlen(name));
}

static void add_call(struct reader *reader, const struct lode_ctf_event *event, struct event_kind *kind,
		     uint32_t stack)
{
	struct lode_event call = { .t = event->t, .stack = stack, .waker = LODE_NONE, .cpu = event->cpu };

	call.thread = thread_of(reader, event);
	if (call.thread == LODE_NONE) {
		reader->homeless++;
		return;
	}
	if (!kind->call_name)
		kind->call_name = name_call(reader, event->name);
	call.name = kind->call_name;
	lode_stream_add_event(&reader->stream, LODE_CALL, &call);
}

/* Threads that run when the recording begins are reported as if by events. */
static void name_from_dump(struct reader *reader, const struct lode_ctf_event *event)
{
	const char *name = event->text[LODE_CTF_NAME];
	uint32_t thread;

	if (strcmp(event->name, "lttng_statedump_process_state") != 0 || !event->has[LODE_CTF_TID])
		return;
	thread = find_thread(reader, event->number[LODE_CTF_TID], NULL);
	if (thread != LODE_NONE && name && *name)
		reader->stream.threads[thread].name = 0; /* what it was called before is no more true */
	name_thread(reader, thread, name);
}

static enum meaning meaning_of(const char *name)
{
	if (lode_starts_with(name, "lttng_statedump_"))
		return STATE_DUMP;
	if (lode_starts_with(name, "syscall_exit") || !strcmp(name, "exit_syscall"))
		return EXIT;
	if (!strcmp(name, "sched_switch"))
		return SWITCH;
	if (!strcmp(name, "sched_waking") || !strcmp(name, "sched_wakeup") || !strcmp(name, "sched_wakeup_new"))
		return WAKING;
	return CALL;
}

/* What is remembered of the kind; in `unknown` where it has no number. NULL: no memory. */
static struct event_kind *kind_of(struct reader *reader, const struct lode_ctf_event *event,
				  struct event_kind *unknown)
{
	struct event_kind *kind = unknown;

	if (event->kind && event->kind < MAX_KINDS)
		kind = LODE_PLACE(&reader->kinds, event->kind, (struct event_kind){ 0 });
	if (kind && kind->meaning == NOT_KNOWN)
		kind->meaning = meaning_of(event->name);
	return kind;
}

static void sort_event(struct reader *reader, const struct lode_ctf_event *event, struct event_kind *kind)
{
	uint32_t stack;

	if (kind->meaning == STATE_DUMP) {
		name_from_dump(reader, event);
		return;
	}
	if (kind->meaning == EXIT) {
		reader->exits++;
		return;
	}
	stack = stack_of(reader, event);
	if (kind->meaning == SWITCH && event->has[LODE_CTF_PREV_TID] && event->has[LODE_CTF_NEXT_TID])
		add_switch(reader, event, stack);
	else if (kind->meaning == WAKING && event->has[LODE_CTF_TID])
		add_waking(reader, event, stack);
	else
		add_call(reader, event, kind, stack);
}

static int handle_event(void *context, const struct lode_ctf_event *event, struct lode_error *error)
{
	struct reader *reader = context;
	struct event_kind unknown = { 0 }, *kind = kind_of(reader, event, &unknown);

	reader->last = event->t > reader->last ? event->t : reader->last;
	if (kind)
		sort_event(reader, event, kind);
	if (!kind || reader->running.failed || reader->stream.failed)
		return lode_fail_memory(error);
	if ((++reader->events & 0xffff) == 0)
		return lode_import_progress_at(reader->input, reader->options, reader->events, 0, error);
	return 0;
}

static void handle_discarded(void *context, uint64_t count)
{
	struct reader *reader = context;

	reader->discarded += count;
}

static void handle_environment(void *context, const char *host, const char *kernel)
{
	struct reader *reader = context;
	unsigned major = 0, minor = 0;

	if (kernel && sscanf(kernel, "%u.%u", &major, &minor) == 2 && (major < 4 || (major == 4 && minor < 14)))
		reader->dead = LODE_SWITCH_DEAD_BITS_OLD;
	if (!host)
		return;
	reader->stream.host = lode_strings_add(&reader->dictionary.frames.strings, host, strlen(host));
	reader->stream.failed |= reader->stream.host == LODE_NONE;
}

/* ---- the importer ---- */

static void report_notes(const struct reader *reader)
{
	struct lode_notes *notes = reader->options->notes;

	lode_notes_add(notes, reader->discarded, "events that the tracer discarded, because its buffers were full",
		       lode_input_name(reader->input));
	lode_notes_add(notes, reader->exits, "system call exits", NULL);
	lode_notes_add(
		notes, reader->homeless,
		"events of no known thread, left out: before the first switch of their CPU, or of the idle thread",
		NULL);
	lode_notes_add(notes, reader->stacks, "stacks whose functions are addresses: a CTF trace has no symbols",
		       NULL);
}

static int read_trace(struct reader *reader, const struct lode_import_sink *sink)
{
	const struct lode_ctf_taker taker = { handle_event, handle_discarded, handle_environment, reader };
	const char *name = lode_input_name(reader->input), *slash = strrchr(name, '/');
	char *folder = slash ? lode_strndup(name, (size_t)(slash - name)) : lode_strdup(".");
	int code = folder ? lode_ctf_read(folder, &taker, reader->error) : lode_fail_memory(reader->error);

	lode_free(folder);
	if (code < 0)
		return code;
	if (lode_sched_finish(reader->sched, reader->last) < 0)
		return lode_fail_memory(reader->error);
	if (!lode_stream_event_count(&reader->stream))
		return lode_fail(reader->error, LODE_BAD_INPUT,
				 "%s: has no scheduler events; record with `lttng enable-event -k "
				 "sched_switch,sched_waking`, and "
				 "import the perf.data itself where perf has made the trace",
				 name);
	report_notes(reader);
	return lode_import_deliver(reader->input, reader->options, sink, &reader->stream, 0, reader->error);
}

static int read_ctf(struct lode_input *input, const struct lode_import_options *options,
		    const struct lode_import_sink *sink, struct lode_error *error)
{
	struct reader reader = { .input = input, .options = options, .error = error, .dead = LODE_SWITCH_DEAD_BITS };
	int code;

	if (lode_dictionary_init(&reader.dictionary) < 0)
		return lode_fail_memory(error);
	lode_stream_init(&reader.stream, &reader.dictionary);
	reader.sched = lode_sched_create(&reader.stream, options->notes);
	code = reader.sched ? read_trace(&reader, sink) : lode_fail_memory(error);
	lode_sched_destroy(reader.sched);
	lode_free(reader.running.items);
	lode_free(reader.kinds.items);
	lode_import_end(&reader.stream);
	return code;
}

/* `metadata` in packets, of either byte order, or as text. */
static int sniff(const unsigned char *bytes, size_t size, const char *name)
{
	(void)name;
	if (size >= 4 && (memcmp(bytes, "\x57\x1d\xd1\x75", 4) == 0 || memcmp(bytes, "\x75\xd1\x1d\x57", 4) == 0))
		return 100;
	return size >= 10 && memcmp(bytes, "/* CTF 1.8", 10) == 0 ? 100 : 0;
}

const struct lode_importer lode_importer_ctf = {
	.name = "ctf",
	.description = "CTF traces: LTTng",
	.is_folder = 1,
	.sniff = sniff,
	.read = read_ctf,
};
