/*
 * The text of ftrace: /sys/kernel/tracing/trace and trace_pipe, and what `trace-cmd report` prints.
 *
 *	          <idle>-0     [002] d..2.  2084.021659: sched_switch: prev_comm=…
 *	     kworker/2:1-2923  (   2923) [002] .....  2084.021765: sys_openat(dfd: …)
 *	     kworker/2:1-2923  [002]  2084.021766: kernel_stack:  <stack trace >
 *	=> schedule (ffffffff81a0)
 *
 * A stack is behind its event, so an event is kept until the next one. Switches and wakings are joined into waits
 * (import/sched.h), everything else becomes a call that is named by its event, as in trace.dat.
 */
#include "base/memory.h"
#include "import/frame_memo.h"
#include "import/kernel/perf_script_line.h"
#include "import/import_common.h"
#include "import/sched.h"

#include <string.h>

/* `comm-tid (tgid) [cpu] flags time: event: text` */
struct line {
	struct lode_span comm;
	uint32_t tid;
	uint32_t tgid; /* LODE_NO_PID: unknown */
	uint16_t cpu;
	uint64_t t;
	struct lode_span event;
	struct lode_span text;
};

enum stack_state { NO_STACK, KERNEL_STACK, USER_STACK };

struct reader {
	struct lode_input *input;
	const struct lode_import_options *options;
	struct lode_error *error;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_sched *sched;
	struct lode_frame_memo memo;
	struct lode_buffer kept; /* the line that waits for its stack */
	int has_kept;
	enum stack_state stack;
	uint32_t *frames; /* of the stack, leaf first */
	size_t frame_count;
	int stack_is_cut;
	size_t frame_capacity;
	uint64_t last;
	uint64_t events;
	uint64_t cut_stacks;
	struct lode_tally exits, unknown_lines, unknown_sched, user_stacks, lost, cut_lines, backwards;
};

/* ---- lines ---- */

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Digits that end at `end`; where they begin. */
static const char *digits_before(const char *start, const char *end)
{
	while (end > start && is_digit(end[-1]))
		end--;
	return end;
}

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

static const char *blanks_before(const char *start, const char *end)
{
	while (end > start && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	return end;
}

/* `comm-tid (tgid)`, read from its end. */
static int read_task(const char *start, const char *end, struct line *line)
{
	const char *at = end = blanks_before(start, end);
	uint64_t number;

	line->tgid = LODE_NO_PID;
	if (at > start && at[-1] == ')') {
		const char *digits = digits_before(start, at - 1);

		if (lode_span_number(lode_span(digits, at - 1), UINT32_MAX - 1, &number))
			line->tgid = (uint32_t)number;
		while (at > start && *at != '(')
			at--;
		end = blanks_before(start, at);
	}
	at = digits_before(start, end);
	if (at == start || at[-1] != '-' || !lode_span_number(lode_span(at, end), UINT32_MAX - 1, &number))
		return 0;
	line->tid = (uint32_t)number;
	start = skip_blanks(start, at);
	line->comm = lode_span(start, at - 1);
	return 1;
}

/* Seconds, a point, and a part of one. */
static int read_time(struct lode_span word, uint64_t *t)
{
	const char *point = memchr(word.text, '.', word.length);
	uint64_t seconds, fraction;
	size_t length;

	if (!point)
		return 0;
	length = (size_t)(word.text + word.length - point - 1);
	if (!length || length > 9 || !lode_span_number(lode_span(word.text, point), 1u << 30, &seconds) ||
	    !lode_span_number(lode_span(point + 1, word.text + word.length), UINT32_MAX, &fraction))
		return 0;
	for (; length < 9; length++)
		fraction *= 10;
	*t = seconds * 1000000000u + fraction;
	return 1;
}

/* `flags time: event: text`, where there may be no flags. A system call may be `sys_name(…)` or `sys_name -> 0x…`. */
static int read_rest(const char *at, const char *end, struct line *line)
{
	for (int words = 0; words < 2; words++) {
		const char *word = skip_blanks(at, end), *stop = word;

		while (stop < end && *stop != ' ' && *stop != '\t')
			stop++;
		at = stop;
		if (stop > word && stop[-1] == ':' && read_time(lode_span(word, stop - 1), &line->t)) {
			const char *event = skip_blanks(at, end);

			for (stop = event; stop < end && *stop != ':' && *stop != ' ' && *stop != '(';)
				stop++;
			line->event = lode_span(event, stop);
			at = skip_blanks(stop < end && *stop == ':' ? stop + 1 : stop, end);
			line->text = lode_span(at, end);
			return 1;
		}
	}
	return 0;
}

/* Whether the line is an event; then parses it. It is recognized by its CPU in brackets. */
static int read_event_line(const char *text, size_t length, struct line *line)
{
	const char *end = text + length, *at = text;

	while ((at = memchr(at, '[', (size_t)(end - at))) != NULL) {
		const char *digits = ++at;
		uint64_t cpu;

		while (at < end && is_digit(*at))
			at++;
		if (at < end && *at == ']' && lode_span_number(lode_span(digits, at), LODE_NO_CPU - 1, &cpu) &&
		    read_task(text, digits - 1, line) && read_rest(at + 1, end, line)) {
			line->cpu = (uint16_t)cpu;
			return 1;
		}
		if (at - text > 512)
			break;
	}
	return 0;
}

/* ---- stacks ---- */

/* `function+0x10/0x20 [module]` or `function (address)`. */
static uint32_t make_frame(struct reader *reader, struct lode_span text)
{
	const char *end = text.text + text.length, *stop = text.text, *module = "kernel";
	const char *open = memchr(text.text, '[', text.length),
		   *close = open ? memchr(open, ']', (size_t)(end - open)) : NULL;
	size_t module_length = 6;
	uint32_t id;

	while (stop < end && *stop != '+' && *stop != ' ' && *stop != '\t')
		stop++;
	if (open && close && open > text.text) {
		module = open + 1;
		module_length = (size_t)(close - module);
	}
	id = lode_frames_kernel_module(&reader->dictionary.frames, module, module_length);
	return lode_frames_add(&reader->dictionary.frames, id, text.text, (size_t)(stop - text.text));
}

static int add_frame(struct reader *reader, struct lode_span text)
{
	uint64_t hash = lode_hash_bytes(text.text, text.length);
	uint32_t frame = lode_frame_memo_find(&reader->memo, text.text, text.length, hash);

	if (frame == LODE_NONE) {
		frame = make_frame(reader, text);
		if (frame == LODE_NONE ||
		    lode_frame_memo_add(&reader->memo, text.text, text.length, hash, frame) < 0)
			return LODE_SYSTEM;
	}
	if (reader->frame_count >= LODE_STACK_DEPTH_LIMIT) {
		reader->stack_is_cut = 1;
		return 0;
	}
	return LODE_APPEND(reader->frames, reader->frame_count, reader->frame_capacity, frame);
}

static uint32_t make_stack(struct reader *reader)
{
	uint32_t stack = 0;

	for (size_t i = reader->frame_count; i-- && stack != LODE_NONE;)
		stack = lode_stack_tree_child(&reader->dictionary.tree, stack, reader->frames[i]);
	return stack;
}

/* ---- events ---- */

/* The thread with this tid, named if it has no name yet; LODE_NONE for the idle thread. */
static uint32_t find_thread(struct reader *reader, uint32_t tid, struct lode_span comm)
{
	uint32_t thread = tid ? lode_stream_tid(&reader->stream, tid) : LODE_NONE;

	if (!lode_span_is(comm, "<...>"))
		lode_import_name_thread(&reader->stream, thread, comm.text, comm.length);
	return thread;
}

static void add_switch(struct reader *reader, const struct line *line, uint32_t stack)
{
	struct lode_script_switch fields;
	uint32_t previous, next;

	if (!lode_script_switch_read(line->text, &fields)) {
		lode_tally_add(&reader->unknown_sched, reader->input, line->text.text, line->text.length);
		return;
	}
	previous = find_thread(reader, fields.previous, line->comm);
	next = find_thread(reader, fields.next, fields.next_comm);
	lode_sched_switch(reader->sched, line->t, line->cpu, previous, lode_script_state(fields.state), stack,
			  next);
}

static void add_waking(struct reader *reader, const struct line *line, uint32_t stack)
{
	struct lode_span comm;
	uint32_t tid, waker;

	if (!lode_script_waking_read(line->text, &tid, &comm)) {
		lode_tally_add(&reader->unknown_sched, reader->input, line->text.text, line->text.length);
		return;
	}
	waker = find_thread(reader, line->tid, line->comm);
	lode_sched_waking(reader->sched, line->t, waker, stack, find_thread(reader, tid, comm));
}

static void add_call(struct reader *reader, const struct line *line, uint32_t stack)
{
	struct lode_event call = { .t = line->t, .stack = stack, .waker = LODE_NONE, .cpu = line->cpu };
	struct lode_span name = line->event;

	if (lode_span_starts(name, "sys_enter_"))
		name = lode_span(name.text + 10, name.text + name.length);
	call.name = lode_strings_add(&reader->dictionary.frames.strings, name.text, name.length);
	call.thread = line->tgid != LODE_NO_PID ? lode_stream_thread(&reader->stream, line->tgid, line->tid)
						: lode_stream_tid(&reader->stream, line->tid);
	lode_stream_add_event(&reader->stream, LODE_CALL, &call);
}

static void handle_event(struct reader *reader, const struct line *line)
{
	uint32_t stack = make_stack(reader);

	reader->events++;
	if (line->t < reader->last)
		lode_tally_add(&reader->backwards, reader->input, NULL, 0);
	else
		reader->last = line->t;
	if (lode_span_is(line->event, "sched_switch"))
		add_switch(reader, line, stack);
	else if (lode_span_is(line->event, "sched_waking") || lode_span_is(line->event, "sched_wakeup") ||
		 lode_span_is(line->event, "sched_wakeup_new"))
		add_waking(reader, line, stack);
	else if (lode_span_starts(line->event, "sys_exit") || lode_span_starts(line->text, "-> "))
		lode_tally_add(&reader->exits, reader->input, NULL, 0);
	else
		add_call(reader, line, stack);
}

/* What was kept has its stack now. */
static int handle_kept(struct reader *reader)
{
	struct line line;

	if (reader->has_kept && read_event_line(reader->kept.bytes, reader->kept.size, &line))
		handle_event(reader, &line);
	reader->has_kept = 0;
	reader->frame_count = 0;
	reader->cut_stacks += (uint64_t)reader->stack_is_cut;
	reader->stack_is_cut = 0;
	reader->stack = NO_STACK;
	return reader->stream.failed ? lode_fail_memory(reader->error) : 0;
}

static int keep(struct reader *reader, const char *text, size_t length)
{
	int code = handle_kept(reader);

	lode_buffer_clear(&reader->kept);
	lode_buffer_add(&reader->kept, text, length);
	if (code == 0 && reader->kept.failed)
		return lode_fail_memory(reader->error);
	reader->has_kept = 1;
	return code;
}

/* A line of a stack: `=> function`. */
static int read_frame_line(struct reader *reader, const char *text, size_t length)
{
	const char *end = text + length, *at = skip_blanks(text, end);
	struct lode_span function;

	if (end - at < 2 || at[0] != '=' || at[1] != '>')
		return 0;
	at = skip_blanks(at + 2, end);
	function = lode_span(at, blanks_before(at, end));
	if (reader->stack == KERNEL_STACK && function.length && add_frame(reader, function) < 0)
		return lode_fail_memory(reader->error);
	return 1;
}

static int read_line(struct reader *reader, const char *text, size_t length)
{
	struct line line;
	int got;

	if (!text || !length || text[0] == '#' || lode_span_starts(lode_span(text, text + length), "cpus="))
		return 0;
	got = read_frame_line(reader, text, length);
	if (got)
		return got < 0 ? got : 0;
	if (!read_event_line(text, length, &line)) {
		struct lode_tally *tally = memmem(text, length, "LOST", 4) ||
							   memmem(text, length, "EVENTS DROPPED", 14)
						   ? &reader->lost
						   : &reader->unknown_lines;

		lode_tally_add(tally, reader->input, text, length);
		return 0;
	}
	if (lode_span_is(line.event, "kernel_stack") || lode_span_starts(line.event, "<stack")) {
		reader->stack = KERNEL_STACK;
		return 0;
	}
	if (lode_span_is(line.event, "user_stack") || lode_span_starts(line.event, "<user")) {
		reader->stack = USER_STACK;
		lode_tally_add(&reader->user_stacks, reader->input, NULL, 0);
		return 0;
	}
	return keep(reader, text, length);
}

static int handle_line(void *context, const char *line, size_t length, int is_whole)
{
	struct reader *reader = context;

	if (is_whole)
		return read_line(reader, line, length);
	lode_tally_add(&reader->cut_lines, reader->input, line, length);
	return 0;
}

static int read_lines(struct reader *reader)
{
	int code = lode_import_lines(reader->input, reader->options, handle_line, reader, reader->error);

	return code < 0 ? code : handle_kept(reader);
}

/* ---- the importer ---- */

static void report_notes(const struct reader *reader)
{
	const struct lode_import_options *options = reader->options;

	lode_tally_report(&reader->lost, options,
			  "places where the kernel lost events, because its buffer was full");
	lode_tally_report(&reader->backwards, options, "events before the one before them: times go backwards");
	lode_tally_report(&reader->user_stacks, options,
			  "user stacks, left out: they are addresses without a memory map");
	lode_tally_report(&reader->exits, options, "system call exits");
	lode_tally_report(&reader->unknown_sched, options, "scheduler events that are not understood");
	lode_tally_report(&reader->unknown_lines, options, "lines that are not understood");
	lode_tally_report(&reader->cut_lines, options, LODE_LEFT_OUT_LINE);
	lode_notes_add(options->notes, reader->cut_stacks, LODE_CUT_AT_ROOT, NULL);
}

static int read_events(struct reader *reader, const struct lode_import_sink *sink)
{
	int code = read_lines(reader);

	if (code < 0)
		return code;
	if (lode_sched_finish(reader->sched, reader->last) < 0)
		return lode_fail_memory(reader->error);
	if (!lode_stream_event_count(&reader->stream))
		return lode_fail(reader->error, LODE_BAD_INPUT,
				 "%s: no event was found in it; print it with `trace-cmd report`, or copy "
				 "/sys/kernel/tracing/trace",
				 lode_input_name(reader->input));
	return lode_import_deliver(reader->input, reader->options, sink, &reader->stream, 0, reader->error);
}

static int read_ftrace(struct lode_input *input, const struct lode_import_options *options,
		       const struct lode_import_sink *sink, struct lode_error *error)
{
	struct reader reader = { .input = input, .options = options, .error = error };
	int code = 0;

	if (lode_dictionary_init(&reader.dictionary) < 0)
		return lode_fail_memory(error);
	lode_stream_init(&reader.stream, &reader.dictionary);
	reader.sched = lode_sched_create(&reader.stream, options->notes);
	if (!reader.sched)
		code = lode_fail_memory(error);
	if (code == 0)
		code = read_events(&reader, sink);
	report_notes(&reader);
	lode_sched_destroy(reader.sched);
	lode_frame_memo_release(&reader.memo);
	lode_buffer_release(&reader.kept);
	lode_free(reader.frames);
	lode_import_end(&reader.stream);
	return code;
}

/* The first line that is no comment, nor what trace-cmd says of the CPUs, must be an event. */
static int sniff(const unsigned char *bytes, size_t size, const char *name)
{
	const char *at = (const char *)bytes, *end = at + size;

	(void)name;
	if (memchr(bytes, '\0', size))
		return 0;
	for (int lines = 0; at < end && lines < 20; lines++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
		struct line line;

		if (read_event_line(at, (size_t)(stop - at), &line))
			return line.event.length ? 92 : 0;
		if (stop > at && *at != '#' && !lode_span_starts(lode_span(at, stop), "cpus=") &&
		    !memmem(at, (size_t)(stop - at), "LOST", 4))
			return 0;
		at = stop + 1;
	}
	return 0;
}

const struct lode_importer lode_importer_ftrace = {
	.name = "ftrace",
	.description = "ftrace text: trace-cmd report, /sys/kernel/tracing/trace",
	.sniff = sniff,
	.read = read_ftrace,
};
