/*
 * The text that `perf script` prints: a header line per sample, then its frames,
 * leaf first, then an empty line.
 *
 *	cpu-clock, task-clock	run; the period is the cost in nanoseconds
 *	cycles			run; the period is taken as time at the rate of the
 *				counter; without periods, see perf_script_costs.h
 *	offcpu-time		wait; the period is its cost (perf record --off-cpu)
 *	sched_switch and	joined into waits (perf_script_sched.h)
 *	sched_waking/_wakeup
 *	sys_enter_NAME		call NAME; raw_syscalls: syscall_NUMBER
 *	sys_exit…		counted only
 *	anything else		call, named by the event
 *
 * By default the text has tids and no pids.
 */
#include "base/array.h"
#include "import/frame_memo.h"
#include "import/import_common.h"
#include "import/module_name.h"
#include "import/kernel/perf_script_costs.h"
#include "import/kernel/perf_script_line.h"
#include "import/kernel/perf_script_sched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Times from here on are none: perf gives them to sums. In nanoseconds. */
#define NO_TIME ((uint64_t)UINT32_MAX << 32)

enum what {
	NOTHING,
	SAMPLE,    /* a run whose cost is the period */
	COUNTED,   /* a run whose period counts something: cycles */
	ESTIMATED, /* a run whose cost must be estimated */
	OFF_CPU,   /* a wait that is over, whose cost is the period */
	CALL,
	SWITCH,
	WAKING,
};

struct reader {
	struct lode_input *input;
	const struct lode_import_options *options;
	struct lode_error *error;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_frame_memo memo;

	/* The sample under way. */
	enum what what;
	int in_sample; /* frames that follow belong to a header, wanted or not */
	struct lode_event event;
	struct lode_script_sched_event record;
	LODE_ARRAY(uint32_t) frames; /* leaf first */
	size_t inlined;              /* frames at the end whose module is in the next line */
	int cut;

	struct lode_script_sched sched;
	struct lode_script_costs costs;
	uint64_t samples;
	uint64_t unseparated; /* samples that another followed without an empty line */
	uint64_t last_t;
	uint64_t summed; /* off-CPU samples that add up many waits */
	uint64_t untold; /* of these, runs without a cost */
	int timeless;    /* the samples have no times: they follow one another in their order */

	struct lode_tally exits;
	struct lode_tally side_records;
	struct lode_tally unknown_lines;
	struct lode_tally source_lines; /* `  FILE:LINE` below a frame, of -F +srcline */
	struct lode_tally unknown_sched;
	struct lode_tally cut_stacks;
	struct lode_tally cut_samples;
	struct lode_tally cut_lines;
};

/* ---- frames ---- */

static uint32_t new_frame(struct reader *reader, const struct lode_script_frame *frame)
{
	struct lode_frames *frames = &reader->dictionary.frames;
	uint32_t module = 0;
	char address[20];

	if (!frame->inlined)
		module = lode_module_from_file(frames, frame->dso.text, frame->dso.length);
	if (frame->symbol.length)
		return lode_frames_add(frames, module, frame->symbol.text, frame->symbol.length);
	snprintf(address, sizeof(address), "0x%.*s", (int)frame->address.length, frame->address.text);
	return lode_frames_add(frames, module, address, strlen(address));
}

static uint32_t frame_of(struct reader *reader, const struct lode_script_frame *frame)
{
	uint64_t hash = lode_hash_bytes(frame->key.text, frame->key.length);
	uint32_t id = lode_frame_memo_find(&reader->memo, frame->key.text, frame->key.length, hash);

	if (id != LODE_NONE)
		return id;
	id = new_frame(reader, frame);
	if (id == LODE_NONE || lode_frame_memo_add(&reader->memo, frame->key.text, frame->key.length, hash, id) < 0)
		return LODE_NONE;
	return id;
}

/* perf says `(inlined)` in place of the module; that of the function it was inlined into follows. */
static int settle_inlined(struct reader *reader, uint32_t module)
{
	struct lode_frames *frames = &reader->dictionary.frames;

	for (size_t i = reader->frames.count - reader->inlined; i < reader->frames.count; i++) {
		uint32_t id = lode_frames_pair(frames, module, frames->items[reader->frames.items[i]].function);

		if (id == LODE_NONE)
			return lode_fail_memory(reader->error);
		reader->frames.items[i] = id;
	}
	reader->inlined = 0;
	return 0;
}

static int add_frame(struct reader *reader, const struct lode_script_frame *frame)
{
	uint32_t id;

	if (reader->frames.count == LODE_STACK_DEPTH_LIMIT) {
		reader->cut = 1;
		return 0;
	}
	id = frame_of(reader, frame);
	if (id == LODE_NONE)
		return lode_fail_memory(reader->error);
	if (!frame->inlined && reader->inlined &&
	    settle_inlined(reader, reader->dictionary.frames.items[id].module) < 0)
		return LODE_SYSTEM;
	if (LODE_PUSH(&reader->frames, id) < 0)
		return lode_fail_memory(reader->error);
	reader->inlined += (size_t)frame->inlined;
	return 0;
}

/* ---- samples ---- */

/* The event without its modifiers (`:u`) and parameters (`/freq=999/`). */
static struct lode_span base_of(struct lode_span event)
{
	size_t length = 0;

	while (length < event.length && event.text[length] != ':' && event.text[length] != '/')
		length++;
	return (struct lode_span){ event.text, length };
}

static int is_tracepoint(struct lode_span event)
{
	const char *colon = memchr(event.text, ':', event.length);

	if (!colon)
		return 0;
	for (const char *at = colon + 1; at < event.text + event.length; at++)
		if (!strchr("ukhGHpPSDIeWb", *at))
			return 1;
	return 0;
}

static int contains(struct lode_span span, const char *text)
{
	return span.length >= strlen(text) && memmem(span.text, span.length, text, strlen(text)) != NULL;
}

static int counts_cycles(struct lode_span event)
{
	struct lode_span base = base_of(event);

	return lode_span_is(base, "cycles") || lode_span_is(base, "cpu-cycles") || contains(event, "/cycles") ||
	       contains(event, "/cpu-cycles");
}

static enum what classify(const struct lode_script_header *header)
{
	struct lode_span event = header->event, base = base_of(event);

	if (lode_span_is(event, "sched:sched_switch"))
		return SWITCH;
	if (lode_span_is(event, "sched:sched_waking") || lode_span_is(event, "sched:sched_wakeup") ||
	    lode_span_is(event, "sched:sched_wakeup_new"))
		return WAKING;
	if (lode_span_is(base, "cpu-clock") || lode_span_is(base, "task-clock"))
		return header->has_period ? SAMPLE : ESTIMATED;
	if (!event.length)
		return ESTIMATED;
	if (lode_span_is(base, "offcpu-time") && header->has_period)
		return OFF_CPU;
	if (!is_tracepoint(event) && counts_cycles(event))
		return header->has_period ? COUNTED : ESTIMATED;
	return CALL;
}

/* What a call event is called; LODE_NONE when memory has run out. */
static uint32_t call_name(struct reader *reader, const struct lode_script_header *header)
{
	struct lode_strings *strings = &reader->dictionary.frames.strings;
	struct lode_span name = header->event, number;
	char text[32];

	if (lode_span_starts(name, "syscalls:sys_enter_"))
		return lode_strings_add(strings, name.text + 19, name.length - 19);
	if (!lode_span_is(name, "raw_syscalls:sys_enter") || !lode_span_starts(header->trace, "NR "))
		return lode_strings_add(strings, name.text, name.length);
	number = (struct lode_span){ header->trace.text + 3, 0 };
	while (number.length < 20 && number.length < header->trace.length - 3 &&
	       number.text[number.length] >= '0' && number.text[number.length] <= '9')
		number.length++;
	snprintf(text, sizeof(text), "syscall_%.*s", (int)number.length, number.text);
	return lode_strings_add(strings, text, strlen(text));
}

/* perf calls a thread whose name it does not know `:TID`. */
static int is_no_name(const struct lode_script_header *header)
{
	uint64_t number;

	return !header->comm.length ||
	       (header->comm.text[0] == ':' &&
		lode_span_number((struct lode_span){ header->comm.text + 1, header->comm.length - 1 }, UINT64_MAX,
				 &number));
}

static uint32_t thread_of(struct reader *reader, const struct lode_script_header *header)
{
	uint32_t thread = lode_stream_thread(&reader->stream, header->pid, header->tid);
	uint32_t name;

	if (thread == LODE_NONE || is_no_name(header))
		return thread;
	name = lode_strings_add(&reader->dictionary.frames.strings, header->comm.text, header->comm.length);
	if (name == LODE_NONE)
		return LODE_NONE;
	reader->stream.threads[thread].name = name;
	return thread;
}

static int begin_sched(struct reader *reader, const struct lode_script_header *header)
{
	struct lode_script_sched_event record = {
		.t = header->t,
		.is_waking = reader->what == WAKING,
		.cpu = header->cpu,
		.thread = header->tid ? reader->event.thread : LODE_NONE,
	};
	struct lode_span comm = { "", 0 };
	struct lode_script_switch change;
	int understood;

	if (reader->what == SWITCH) {
		understood = lode_script_switch_read(header->trace, &change);
		if (understood) {
			record.previous = change.previous;
			record.next = change.next;
			record.state = lode_script_state(change.state);
			comm = change.next_comm;
		}
	} else {
		understood = lode_script_waking_read(header->trace, &record.next, &comm);
	}
	if (!understood) {
		lode_tally_add(&reader->unknown_sched, reader->input, header->trace.text, header->trace.length);
		reader->what = NOTHING;
		return 0;
	}
	record.comm = lode_strings_add(&reader->dictionary.frames.strings, comm.text, comm.length);
	reader->record = record;
	return record.comm == LODE_NONE ? lode_fail_memory(reader->error) : 0;
}

/* The sample is taken when the wait is over; what perf has only added up has a time that is none, and comes
 * last. */
static void place_off_cpu(struct reader *reader)
{
	struct lode_event *wait = &reader->event;

	if (wait->t >= NO_TIME) {
		wait->t = reader->last_t;
		reader->summed++;
	}
	wait->t = wait->t > wait->cost ? wait->t - wait->cost : 0;
}

/* Without call chains the one address is in the header, after the event. */
static int begin_plain(struct reader *reader, const struct lode_script_header *header)
{
	struct lode_script_frame frame;

	reader->event.cost = reader->what == CALL || reader->what == ESTIMATED ? 0 : header->period;
	if (reader->what == OFF_CPU)
		place_off_cpu(reader);
	if (reader->what == CALL)
		reader->event.name = call_name(reader, header);
	if (header->trace.length && !is_tracepoint(header->event) &&
	    lode_script_frame_read(header->trace.text, header->trace.length, &frame))
		return add_frame(reader, &frame);
	return 0;
}

static int begin_sample(struct reader *reader, const struct lode_script_header *header)
{
	reader->in_sample = 1;
	reader->what = NOTHING;
	reader->frames.count = reader->inlined = 0;
	reader->cut = 0;
	if (lode_span_starts(header->event, "PERF_RECORD_") || lode_span_starts(header->trace, "PERF_RECORD_")) {
		lode_tally_add(&reader->side_records, reader->input, NULL, 0);
		return 0;
	}
	reader->samples++;
	if (header->t < NO_TIME && header->t > reader->last_t)
		reader->last_t = header->t;
	if (lode_span_starts(header->event, "syscalls:sys_exit_") ||
	    lode_span_is(header->event, "raw_syscalls:sys_exit")) {
		lode_tally_add(&reader->exits, reader->input, NULL, 0);
		return 0;
	}
	reader->what = classify(header);
	if (reader->timeless && (reader->what == SWITCH || reader->what == WAKING))
		reader->what = CALL; /* the length of the wait is unknown */
	reader->event = (struct lode_event){
		.t = header->t,
		.thread = thread_of(reader, header),
		.waker = LODE_NONE,
		.cpu = header->cpu,
	};
	if (reader->event.thread == LODE_NONE)
		return lode_fail_memory(reader->error);
	if (reader->what == SWITCH || reader->what == WAKING)
		return begin_sched(reader, header);
	return begin_plain(reader, header);
}

/* The frames came leaf first. */
static uint32_t stack_of(struct reader *reader)
{
	uint32_t node = 0;

	for (size_t i = reader->frames.count; i-- > 0;)
		node = lode_stack_tree_child(&reader->dictionary.tree, node, reader->frames.items[i]);
	return node;
}

/* What a sample without a time takes of the line of time, on which they follow one another. */
static uint64_t place_timeless(struct reader *reader)
{
	reader->untold += reader->what == ESTIMATED;
	if (reader->what == ESTIMATED)
		reader->event.cost = reader->options->unit_ns >= 1 ? (uint64_t)reader->options->unit_ns : 1;
	return reader->event.cost ? reader->event.cost : 1;
}

static int keep_event(struct reader *reader, uint32_t stack)
{
	enum lode_event_type type = reader->what == CALL      ? LODE_CALL
				    : reader->what == OFF_CPU ? LODE_WAIT
							      : LODE_RUN;
	size_t run = reader->stream.events[LODE_RUN].count;

	if (reader->what == ESTIMATED && !reader->timeless && lode_script_runs_add(&reader->costs.bare, run) < 0)
		return lode_fail_memory(reader->error);
	if (reader->what == COUNTED && lode_script_runs_add(&reader->costs.counted, run) < 0)
		return lode_fail_memory(reader->error);
	reader->event.stack = stack;
	if (reader->timeless)
		reader->last_t += place_timeless(reader);
	return lode_stream_add_event(&reader->stream, type, &reader->event) < 0 ? lode_fail_memory(reader->error)
										: 0;
}

static int end_sample(struct reader *reader)
{
	uint32_t stack;
	int code;

	reader->in_sample = 0;
	if (reader->what == NOTHING)
		return 0;
	stack = stack_of(reader);
	if (stack == LODE_NONE)
		return lode_fail_memory(reader->error);
	if (reader->cut)
		lode_tally_add(&reader->cut_stacks, reader->input, NULL, 0);
	reader->record.stack = stack;
	if (reader->what != SWITCH && reader->what != WAKING)
		code = keep_event(reader, stack);
	else if ((code = lode_script_sched_add(&reader->sched, &reader->record)) < 0)
		lode_fail_memory(reader->error);
	reader->what = NOTHING;
	return code;
}

/* ---- lines ---- */

static int is_empty(const char *line, size_t length)
{
	while (length && (line[length - 1] == ' ' || line[length - 1] == '\t'))
		length--;
	return !length;
}

/* The first header decides whether all have times: without one, too many lines could be headers. */
static int read_header(struct reader *reader, const char *line, size_t length, struct lode_script_header *header)
{
	if (!reader->timeless && lode_script_header_read(line, length, header))
		return 1;
	if ((reader->samples && !reader->timeless) || !lode_script_header_read_timeless(line, length, header))
		return 0;
	reader->timeless = 1;
	header->t = reader->last_t;
	return 1;
}

/* Frames begin with a tab; where tabs became blanks, they are what is no header. */
static int read_line(struct reader *reader, const char *line, size_t length)
{
	struct lode_script_header header;
	struct lode_script_frame frame;
	int code;

	if (is_empty(line, length))
		return end_sample(reader);
	if (line[0] == '#') {
		lode_script_costs_comment(&reader->costs, line, length);
		return 0;
	}
	if (!(reader->in_sample && line[0] == '\t') && read_header(reader, line, length, &header)) {
		reader->unseparated += (uint64_t)reader->in_sample;
		code = end_sample(reader);
		return code < 0 ? code : begin_sample(reader, &header);
	}
	if (reader->in_sample && lode_script_frame_read(line, length, &frame))
		return reader->what == NOTHING ? 0 : add_frame(reader, &frame);
	lode_tally_add(reader->in_sample && length > 2 && line[0] == ' ' && line[1] == ' ' && line[2] != ' '
			       ? &reader->source_lines
			       : &reader->unknown_lines,
		       reader->input, line, length);
	return 0;
}

/*
 * perf prints an empty line behind each sample that has frames. Where one is
 * missing at the end, the outermost calls may be missing too; where samples come
 * without empty lines, each is a header that is whole with its line.
 */
static int is_cut(const struct reader *reader)
{
	return reader->in_sample && !reader->unseparated && (reader->frames.count || reader->samples > 1);
}

static void drop_sample(struct reader *reader)
{
	lode_tally_add(&reader->cut_samples, reader->input, NULL, 0);
	reader->samples--;
	reader->in_sample = 0;
	reader->what = NOTHING;
}

/* A last line without its line end says nothing for sure, but a header that the sample before it is over. */
static int end_cut_line(struct reader *reader, const char *line, size_t length)
{
	struct lode_script_header header;

	if (is_empty(line, length) || line[0] == '#')
		return end_sample(reader);
	lode_tally_add(&reader->cut_lines, reader->input, line, length);
	if (line[0] != '\t' && read_header(reader, line, length, &header))
		return end_sample(reader);
	if (reader->in_sample)
		drop_sample(reader);
	return 0;
}

static int end_lines(struct reader *reader)
{
	if (is_cut(reader))
		drop_sample(reader);
	return end_sample(reader);
}

static int handle_line(void *context, const char *line, size_t length, int is_whole)
{
	return is_whole ? read_line(context, line, length) : end_cut_line(context, line, length);
}

static int read_lines(struct reader *reader)
{
	int code = lode_import_lines(reader->input, reader->options, handle_line, reader, reader->error);

	return code < 0 ? code : end_lines(reader);
}

/* ---- the importer ---- */

static void report_notes(const struct reader *reader)
{
	const struct lode_import_options *options = reader->options;

	lode_notes_add(options->notes, reader->summed,
		       "off-CPU samples that add up many waits, put at the end of the recording",
		       lode_input_name(reader->input));
	lode_tally_report(&reader->exits, options, "system call exits");
	lode_tally_report(&reader->side_records, options, "records other than samples");
	lode_tally_report(&reader->source_lines, options, "source lines of frames (-F +srcline), left out");
	lode_tally_report(&reader->unknown_lines, options, "lines that are not understood");
	lode_tally_report(&reader->unknown_sched, options, "scheduler events that are not understood");
	lode_tally_report(&reader->cut_stacks, options, LODE_CUT_AT_ROOT);
	lode_tally_report(&reader->cut_lines, options, LODE_LEFT_OUT_LINE);
	lode_tally_report(&reader->cut_samples, options,
			  "a last sample without an empty line after it, left out: it may be cut off");
}

static void tell_timeless(const struct reader *reader)
{
	lode_notes_add(reader->options->notes, reader->samples,
		       "samples without a time, put one after another; print them with `perf script -F +time`",
		       lode_input_name(reader->input));
	if (!(reader->options->unit_ns > 0))
		lode_notes_add(reader->options->notes, reader->untold,
			       "samples with neither a time nor a cost, taken as 1 ns each; say what one "
			       "represents with --unit samples=10ms",
			       lode_input_name(reader->input));
}

static int finish(struct reader *reader, const struct lode_import_sink *sink)
{
	int code;

	if (!reader->samples && reader->cut_samples.count)
		return lode_fail(reader->error, LODE_BAD_INPUT,
				 "%s: its only sample may be cut off, no empty line follows it; if it is "
				 "whole, add one",
				 lode_input_name(reader->input));
	if (!reader->samples)
		return lode_fail(reader->error, LODE_BAD_INPUT,
				 "%s: no sample was found in it; print it with `perf script`, with times",
				 lode_input_name(reader->input));
	if (reader->timeless)
		tell_timeless(reader);
	code = lode_script_costs_settle(&reader->costs, &reader->stream, reader->timeless,
					lode_input_name(reader->input), reader->options);
	if (code == 0)
		code = lode_script_sched_join(&reader->sched, &reader->stream, reader->options->notes,
					      reader->last_t);
	if (code < 0)
		return lode_fail_memory(reader->error);
	return lode_import_deliver(reader->input, reader->options, sink, &reader->stream, 0, reader->error);
}

static int read_perf_script(struct lode_input *input, const struct lode_import_options *options,
			    const struct lode_import_sink *sink, struct lode_error *error)
{
	struct reader reader = { .input = input, .options = options, .error = error };
	int code;

	if (lode_dictionary_init(&reader.dictionary) < 0)
		return lode_fail_memory(error);
	lode_stream_init(&reader.stream, &reader.dictionary);
	code = read_lines(&reader);
	if (code == 0)
		code = finish(&reader, sink);
	report_notes(&reader);
	lode_free(reader.frames.items);
	lode_script_sched_release(&reader.sched);
	lode_script_costs_release(&reader.costs);
	lode_frame_memo_release(&reader.memo);
	lode_import_end(&reader.stream);
	return code;
}

/* ---- the sniffer ---- */

static int judge_header(const struct lode_script_header *header, const char *next, size_t length)
{
	struct lode_script_frame frame;

	if (length && next[0] == '\t' && lode_script_frame_read(next, length, &frame))
		return 90;
	if (lode_span_starts(header->event, "PERF_RECORD_") || lode_span_starts(header->trace, "PERF_RECORD_"))
		return 80;
	return header->event.length ? 75 : 25;
}

/* The first line that is no comment must be a header; a frame behind it makes it sure. */
static int sniff_perf_script(const unsigned char *bytes, size_t size, const char *name)
{
	const char *at = (const char *)bytes, *end = at + size;

	(void)name;
	if (memchr(bytes, '\0', size))
		return 0;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *next = newline ? newline + 1 : end, *next_end;
		struct lode_script_header header;

		newline = newline ? newline : end;
		if (*at == '#' || is_empty(at, (size_t)(newline - at))) {
			at = next;
			continue;
		}
		next_end = next < end ? memchr(next, '\n', (size_t)(end - next)) : NULL;
		next_end = next_end ? next_end : end;
		if (lode_script_header_read(at, (size_t)(newline - at), &header))
			return judge_header(&header, next, (size_t)(next_end - next));
		/* Without a time only a frame behind it shows that it is a header. */
		if (lode_script_header_read_timeless(at, (size_t)(newline - at), &header))
			return judge_header(&header, next, (size_t)(next_end - next)) == 90 ? 85 : 0;
		return 0;
	}
	return 0;
}

const struct lode_importer lode_importer_perf_script = {
	.name = "perf-script",
	.description = "text output of perf script",
	.sniff = sniff_perf_script,
	.read = read_perf_script,
};
