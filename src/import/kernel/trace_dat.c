/*
 * trace.dat, what trace-cmd writes: tracepoints of the kernel.
 *
 *	sched_switch and		joined into waits by import/sched.h
 *	sched_waking/_wakeup
 *	sys_enter_NAME			call NAME; raw_syscalls: syscall_NUMBER
 *	sys_exit…			counted only
 *	anything else			call, named by the event
 *
 * The events of all CPUs are merged by time. A kernel stack (`trace-cmd record -T`) is a separate record behind
 * its event; its functions are named by the list of symbols that the file carries.
 */
#include "base/array.h"
#include "base/memory.h"
#include "base/ordered_merge.h"
#include "base/starts_with.h"
#include "import/import_common.h"
#include "import/sched.h"
#include "import/kernel/trace_dat_cpu.h"
#include "symbols/kallsyms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum use { CALL, SWITCH, WAKING, SYSCALL, EXIT, TRACER };

/* What the events of a format are used for. */
struct format {
	const struct lode_perf_tracepoint *tracepoint;
	enum use use;
	uint32_t name; /* string */
};

struct address_frame {
	uint64_t address;
	uint32_t frame;
};

/* A CPU and its next event. */
struct source {
	struct lode_trace_dat_cpu cpu;
	struct lode_trace_dat_event event;
	uint16_t number;
};

struct reader {
	struct lode_input *input;
	const struct lode_import_options *options;
	struct lode_error *error;
	struct lode_trace_dat file;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_sched *sched;
	struct format *formats; /* by number of the tracepoint */
	struct lode_table symbols;
	struct lode_index frame_index; /* addresses to frames */
	LODE_ARRAY(struct address_frame) frames;
	struct source *sources;
	size_t source_count;
	struct lode_ordered_merge merge; /* of the sources */
	uint64_t last;
	uint64_t events;
	uint64_t exits;
	uint64_t tracer;  /* of the function tracers */
	uint64_t unknown; /* events without a format */
	uint64_t unnamed; /* addresses without a symbol */
	uint64_t cut;     /* stacks */
};

/* ---- formats ---- */

static enum use find_use(const struct lode_perf_tracepoint *tracepoint)
{
	const char *name = tracepoint->name;

	if (!strcmp(tracepoint->system, "ftrace") && strcmp(name, "print") && strcmp(name, "bprint"))
		return TRACER;
	if (lode_perf_is_switch(tracepoint))
		return SWITCH;
	if (lode_perf_is_waking(tracepoint))
		return WAKING;
	if (lode_starts_with(name, "sys_exit"))
		return EXIT;
	return !strcmp(name, "sys_enter") && lode_perf_has_field(tracepoint, FIELD_ID) ? SYSCALL : CALL;
}

static int find_uses(struct reader *reader)
{
	size_t count = reader->file.tracepoints.count;

	reader->formats = lode_calloc(count, sizeof(*reader->formats));
	if (!reader->formats)
		return lode_fail_memory(reader->error);
	for (size_t i = 0; i < count; i++) {
		const struct lode_perf_tracepoint *tracepoint = &reader->file.tracepoints.items[i];

		reader->formats[i].tracepoint = tracepoint;
		reader->formats[i].use = find_use(tracepoint);
	}
	return 0;
}

/* A name becomes a string when its first event comes. */
static uint32_t name_of(struct reader *reader, struct format *format)
{
	const char *name = format->tracepoint->name;

	if (!format->name) {
		name += lode_starts_with(name, "sys_enter_") ? 10 : 0;
		format->name = lode_strings_add(&reader->dictionary.frames.strings, name, strlen(name));
	}
	return format->name;
}

/* ---- fields ---- */

static uint64_t number_of(const struct lode_trace_dat_event *event, const struct lode_perf_tracepoint *tracepoint,
			  enum lode_perf_field_name name)
{
	struct lode_cursor data = event->data;

	lode_cursor_bytes(&data, tracepoint->fields[name].offset);
	switch (tracepoint->fields[name].size) {
	case 1:
		return lode_cursor_u8(&data);
	case 2:
		return lode_cursor_u16(&data);
	case 4:
		return lode_cursor_u32(&data);
	case 8:
		return lode_cursor_u64(&data);
	default:
		return 0;
	}
}

/* The thread with this tid, named by the event if it has no name yet; LODE_NONE for the idle thread. */
static uint32_t find_thread(struct reader *reader, uint64_t tid, const struct lode_trace_dat_event *event,
			    const struct lode_perf_field *comm)
{
	uint32_t thread = tid ? lode_stream_tid(&reader->stream, (uint32_t)tid) : LODE_NONE;
	struct lode_cursor data = event->data;
	const char *text;

	if (thread == LODE_NONE || reader->stream.threads[thread].name || !comm || !comm->size)
		return thread;
	lode_cursor_bytes(&data, comm->offset);
	text = lode_cursor_bytes(&data, comm->size);
	if (text)
		lode_import_name_thread(&reader->stream, thread, text, strnlen(text, comm->size));
	return thread;
}

/* ---- stacks ---- */

static uint32_t make_frame(struct reader *reader, uint64_t address)
{
	struct lode_frames *frames = &reader->dictionary.frames;
	uint32_t record = lode_table_find(&reader->symbols, address), module;
	const char *name = NULL, *module_name = NULL;
	char text[24];

	if (record != LODE_NONE) {
		name = lode_table_text(&reader->symbols, reader->symbols.records[record].name);
		module_name = lode_table_text(&reader->symbols, reader->symbols.records[record].link);
	}
	if (!module_name)
		module_name = "kernel";
	if (!name) {
		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
		name = text;
		reader->unnamed++;
	}
	module = lode_frames_kernel_module(frames, module_name, strlen(module_name));
	return lode_frames_add(frames, module, name, strlen(name));
}

static uint32_t frame_of(struct reader *reader, uint64_t address)
{
	uint64_t hash = lode_hash_u64(address);
	uint32_t id = LODE_INDEX_FIND(i, &reader->frame_index, hash, reader->frames.items[i].address == address),
		 frame;

	if (id != LODE_NONE)
		return reader->frames.items[id].frame;
	frame = make_frame(reader, address);
	if (frame == LODE_NONE || LODE_INDEX_PUSH(&reader->frame_index, hash, &reader->frames,
						  (struct address_frame){ address, frame }) < 0)
		return LODE_NONE;
	return frame;
}

/* The stack of an event; LODE_NONE when memory has run out. Addresses end with one that has all bits set. */
static uint32_t stack_of(struct reader *reader, const struct lode_trace_dat_event *event)
{
	unsigned size = reader->file.commit_size;
	struct lode_cursor at = event->stack;
	uint64_t end = size == 8 ? UINT64_MAX : UINT32_MAX;
	uint32_t count = 0, stack = 0;

	if (!at.next)
		return 0;
	while (lode_cursor_left(&at) >= size) {
		uint64_t address = size == 8 ? lode_cursor_u64(&at) : lode_cursor_u32(&at);

		if (address == end || !address)
			break;
		if (count == LODE_STACK_DEPTH_LIMIT) {
			reader->cut++;
			break;
		}
		count++;
	}
	while (count-- && stack != LODE_NONE) {
		uint64_t address;
		uint32_t frame;

		at = event->stack;
		lode_cursor_bytes(&at, (uint64_t)count * size);
		address = size == 8 ? lode_cursor_u64(&at) : lode_cursor_u32(&at);
		frame = frame_of(reader, address);
		stack = lode_stack_tree_child(&reader->dictionary.tree, stack, frame);
	}
	return stack;
}

static int read_symbols(struct reader *reader)
{
	struct lode_table_builder builder = { 0 };
	struct lode_kallsyms kallsyms = { 0 };
	int code = 0;

	if (reader->file.kallsyms_size && !reader->options->no_symbols)
		code = lode_image_parse_kallsyms(&builder, reader->file.kallsyms, reader->file.kallsyms_size,
						 &kallsyms);
	if (code == 0)
		code = lode_table_finish(&builder, &reader->symbols);
	lode_table_builder_release(&builder);
	return code < 0 ? lode_fail_memory(reader->error) : 0;
}

/* ---- events ---- */

static void add_call(struct reader *reader, struct format *format, const struct lode_trace_dat_event *event,
		     uint16_t cpu, uint32_t stack)
{
	struct lode_event call = { .t = event->t, .stack = stack, .waker = LODE_NONE, .cpu = cpu };
	char text[40];

	if (format->use == SYSCALL) {
		snprintf(text, sizeof(text), "syscall_%lld",
			 (long long)number_of(event, format->tracepoint, FIELD_ID));
		call.name = lode_strings_add(&reader->dictionary.frames.strings, text, strlen(text));
	} else {
		call.name = name_of(reader, format);
	}
	call.thread = lode_stream_tid(&reader->stream, event->tid);
	lode_stream_add_event(&reader->stream, LODE_CALL, &call);
}

static void add_switch(struct reader *reader, const struct lode_perf_tracepoint *format,
		       const struct lode_trace_dat_event *event, uint16_t cpu, uint32_t stack)
{
	enum lode_switch_state state = lode_switch_state(number_of(event, format, FIELD_PREV_STATE), format->dead);
	uint32_t previous = find_thread(reader, number_of(event, format, FIELD_PREV_PID), event,
					&format->fields[FIELD_PREV_COMM]);
	uint32_t next = find_thread(reader, number_of(event, format, FIELD_NEXT_PID), event,
				    &format->fields[FIELD_NEXT_COMM]);

	lode_sched_switch(reader->sched, event->t, cpu, previous, state, stack, next);
}

static void add_waking(struct reader *reader, const struct lode_perf_tracepoint *format,
		       const struct lode_trace_dat_event *event, uint32_t stack)
{
	uint32_t waker = find_thread(reader, event->tid, event, NULL);
	uint32_t target =
		find_thread(reader, number_of(event, format, FIELD_PID), event, &format->fields[FIELD_COMM]);

	lode_sched_waking(reader->sched, event->t, waker, stack, target);
}

static int handle_event(struct reader *reader, const struct lode_trace_dat_event *event, uint16_t cpu)
{
	const struct lode_perf_tracepoint *tracepoint =
		lode_perf_tracepoints_find(&reader->file.tracepoints, event->type);
	struct format *format = tracepoint ? &reader->formats[tracepoint - reader->file.tracepoints.items] : NULL;
	uint32_t stack;

	reader->last = event->t > reader->last ? event->t : reader->last;
	if (!format) {
		reader->unknown++;
		return 0;
	}
	reader->exits += format->use == EXIT;
	reader->tracer += format->use == TRACER;
	if (format->use >= EXIT)
		return 0;
	stack = stack_of(reader, event);
	if (format->use == SWITCH)
		add_switch(reader, tracepoint, event, cpu, stack);
	else if (format->use == WAKING)
		add_waking(reader, tracepoint, event, stack);
	else
		add_call(reader, format, event, cpu, stack);
	return reader->stream.failed ? LODE_SYSTEM : 0;
}

/* ---- the merge ---- */

static int open_sources(struct reader *reader)
{
	size_t count = reader->file.rows.count;

	reader->sources = lode_calloc(count, sizeof(*reader->sources));
	if (!reader->sources)
		return LODE_SYSTEM;
	for (size_t i = 0; i < count; i++) {
		struct source *source = &reader->sources[i];
		uint32_t cpu = reader->file.rows.items[i].cpu;
		int got;

		lode_trace_dat_cpu_init(&source->cpu, &reader->file, &reader->file.rows.items[i]);
		reader->source_count++;
		source->number = cpu < LODE_NO_CPU ? (uint16_t)cpu : LODE_NO_CPU;
		got = lode_trace_dat_cpu_next(&source->cpu, &source->event);
		if (got < 0)
			return got;
		if (got && lode_ordered_merge_add(&reader->merge, (uint32_t)i, source->event.t) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

static int report_progress(struct reader *reader)
{
	uint64_t left = 0, total = 0;

	for (size_t i = 0; i < reader->source_count; i++) {
		left += lode_cursor_left(&reader->sources[i].cpu.chunk) +
			lode_cursor_left(&reader->sources[i].cpu.rest);
		total += lode_cursor_left(&reader->file.rows.items[i].bytes);
	}
	return lode_import_progress_at(reader->input, reader->options, total > left ? total - left : 0, total,
				       reader->error);
}

static int merge(struct reader *reader)
{
	int code = open_sources(reader);

	if (code < 0)
		return lode_fail_memory(reader->error);
	while (reader->merge.count) {
		struct source *source = &reader->sources[reader->merge.sources[0].number];

		code = handle_event(reader, &source->event, source->number);
		if (code == 0)
			code = lode_trace_dat_cpu_next(&source->cpu, &source->event);
		if (code < 0)
			return lode_fail_memory(reader->error);
		if (code == 0)
			lode_ordered_merge_remove(&reader->merge);
		else
			lode_ordered_merge_advance(&reader->merge, source->event.t);
		if ((++reader->events & 0xfffff) == 0 && (code = report_progress(reader)) < 0)
			return code;
	}
	return 0;
}

/* ---- the importer ---- */

/* Names of threads that no event names: lines of `TID NAME`. */
static int name_threads(struct reader *reader)
{
	const char *at = reader->file.names, *end = at ? at + reader->file.names_size : NULL;

	while (at && at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
		uint64_t tid = 0;

		for (; at < stop && *at >= '0' && *at <= '9' && tid < UINT32_MAX; at++)
			tid = tid * 10 + (uint64_t)(*at - '0');
		if (at < stop && *at == ' ' && tid && tid < UINT32_MAX) {
			uint32_t thread = lode_stream_tid(&reader->stream, (uint32_t)tid);
			uint32_t name = lode_strings_add(&reader->dictionary.frames.strings, at + 1,
							 (size_t)(stop - at - 1));

			if (thread == LODE_NONE || name == LODE_NONE)
				return lode_fail_memory(reader->error);
			reader->stream.threads[thread].name = name;
		}
		at = stop + 1;
	}
	return 0;
}

static void report_notes(const struct reader *reader)
{
	struct lode_notes *notes = reader->options->notes;
	const char *name = lode_input_name(reader->input);
	uint64_t lost = 0, damaged = 0, user = 0;

	for (size_t i = 0; i < reader->source_count; i++) {
		lost += reader->sources[i].cpu.lost;
		damaged += (uint64_t)reader->sources[i].cpu.damaged;
		user += reader->sources[i].cpu.user_stacks;
	}
	lode_notes_add(notes, lost, "places where the kernel lost events, because its buffer was full", name);
	lode_notes_add(notes, damaged, "CPUs whose events are damaged or cut off", name);
	lode_notes_add(notes, user, "user stacks, left out: they are addresses without a memory map", NULL);
	lode_notes_add(notes, reader->cut, LODE_CUT_AT_ROOT, NULL);
	lode_notes_add(notes, reader->exits, "system call exits", NULL);
	lode_notes_add(notes, reader->tracer, "entries of the function tracers, left out", NULL);
	lode_notes_add(notes, reader->unknown, "events without a format", NULL);
	lode_notes_add(notes, reader->file.instances, "buffers of other instances, left out", name);
	lode_notes_add(notes, reader->unnamed, "addresses without a symbol", NULL);
	lode_notes_add(notes,
		       strstr(reader->file.clock, "[x86-tsc]") != NULL || !strcmp(reader->file.clock, "x86-tsc"),
		       "a recording by a clock that counts cycles (x86-tsc): each cycle counts as a nanosecond",
		       name);
}

static int read_events(struct reader *reader, const struct lode_import_sink *sink)
{
	int code = find_uses(reader);

	if (code == 0)
		code = read_symbols(reader);
	if (code < 0)
		return code;
	reader->sched = lode_sched_create(&reader->stream, reader->options->notes);
	if (!reader->sched || name_threads(reader) < 0)
		return lode_fail_memory(reader->error);
	code = merge(reader);
	if (code == 0 && lode_sched_finish(reader->sched, reader->last) < 0)
		return lode_fail_memory(reader->error);
	if (code < 0)
		return code;
	if (!lode_stream_event_count(&reader->stream))
		return lode_fail(reader->error, LODE_BAD_INPUT,
				 "%s: has no scheduler events; record with `trace-cmd record -e sched_switch -e "
				 "sched_waking -T`",
				 lode_input_name(reader->input));
	report_notes(reader);
	return lode_import_deliver(reader->input, reader->options, sink, &reader->stream, 0, reader->error);
}

static void release(struct reader *reader)
{
	for (size_t i = 0; i < reader->source_count; i++)
		lode_trace_dat_cpu_release(&reader->sources[i].cpu);
	lode_free(reader->sources);
	lode_ordered_merge_release(&reader->merge);
	lode_free(reader->formats);
	lode_free(reader->frames.items);
	lode_index_release(&reader->frame_index);
	lode_table_release(&reader->symbols);
	lode_sched_destroy(reader->sched);
	lode_import_end(&reader->stream);
	lode_trace_dat_release(&reader->file);
}

static int read_trace_dat(struct lode_input *input, const struct lode_import_options *options,
			  const struct lode_import_sink *sink, struct lode_error *error)
{
	struct reader reader = { .input = input, .options = options, .error = error };
	struct lode_error why = { "" };
	const unsigned char *bytes;
	size_t size;
	int code = lode_import_begin(input, &bytes, &size, &reader.stream, &reader.dictionary, error);

	if (code < 0)
		return code;
	code = lode_trace_dat_open(&reader.file, bytes, size, &why);
	if (code < 0)
		lode_fail(error, code, "%s: %s", lode_input_name(input), why.text);
	else
		code = read_events(&reader, sink);
	release(&reader);
	return code;
}

static int sniff(const unsigned char *bytes, size_t size, const char *name)
{
	(void)name;
	return size >= 10 && memcmp(bytes, "\x17\x08\x44tracing", 10) == 0 ? 100 : 0;
}

const struct lode_importer lode_importer_trace_dat = {
	.name = "trace.dat",
	.description = "files written by trace-cmd record",
	.sniff = sniff,
	.read = read_trace_dat,
};
