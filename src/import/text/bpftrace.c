/*
 * Stacks with counts, as bpftrace and DTrace print the maps and aggregations of a program when it ends.
 *
 *	@[                                      libc.so.1`read+0xa
 *	    schedule+20                         app`main+0x14
 *	    do_nanosleep+80                       12
 *	,
 *	    clock_nanosleep+40
 *	, sleep]: 12
 *
 * Frames are leaf first; of two stacks in a key the kernel's is that of the leaf, in whichever order they are. What else is in the key becomes the thread: a word its name, a
 * number its tid. The text does not say what a count represents: `--unit` and `--kind` do, as for folded stacks.
 * Entries are put one after another.
 */
#include "base/array.h"
#include "base/memory.h"
#include "base/starts_with.h"
#include "import/frame_memo.h"
#include "import/module_name.h"
#include "import/import_common.h"
#include "import/text_span.h"

#include <string.h>

struct reader {
	struct lode_input *input;
	const struct lode_import_options *options;
	struct lode_error *error;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_frame_memo memo;
	uint32_t *frames; /* of the entry, leaf first */
	size_t frame_count;
	int stack_is_cut;
	size_t frame_capacity;
	size_t second;           /* where the frames of a second stack begin; 0: there is none */
	struct lode_buffer name; /* of its thread */
	uint32_t tid;
	LODE_ARRAY(uint32_t) named; /* threads without a number, by the string that is their name */
	int in_map;                 /* between `@[` and `]:` */
	uint64_t t;
	uint64_t entries;
	struct lode_tally stackless, histograms, cut_stacks, cut_lines, unknown;
};

static struct lode_span trim(struct lode_span span)
{
	while (span.length && strchr(" \t\r", span.text[0]))
		span.text++, span.length--;
	while (span.length && strchr(" \t\r", span.text[span.length - 1]))
		span.length--;
	return span;
}

static struct lode_span behind(struct lode_span span, size_t skip)
{
	return (struct lode_span){ span.text + skip, span.length - skip };
}

/* Digits alone; -1 for anything else, or what is too large. */
static int read_number(struct lode_span span, uint64_t *number)
{
	*number = 0;
	for (size_t i = 0; i < span.length; i++) {
		if (span.text[i] < '0' || span.text[i] > '9' || *number > UINT64_MAX / 10 - 9)
			return -1;
		*number = *number * 10 + (uint64_t)(span.text[i] - '0');
	}
	return span.length ? 0 : -1;
}

/* ---- frames ---- */

static int is_offset(struct lode_span span)
{
	size_t i = span.length > 2 && span.text[0] == '0' && span.text[1] == 'x' ? 2 : 0;

	if (i == span.length)
		return 0;
	for (; i < span.length; i++)
		if (!strchr("0123456789abcdef", span.text[i]) || !span.text[i])
			return 0;
	return 1;
}

/* Cuts `+OFFSET` off the end. */
static struct lode_span drop_offset(struct lode_span span)
{
	const char *plus = memrchr(span.text, '+', span.length);
	size_t at = plus ? (size_t)(plus - span.text) : 0;

	return at && is_offset(behind(span, at + 1)) ? (struct lode_span){ span.text, at } : span;
}

/* `function+off`, `address function+off (file)`, or DTrace's `module`function+off`. */
static uint32_t make_frame(struct reader *reader, struct lode_span text)
{
	struct lode_frames *frames = &reader->dictionary.frames;
	const char *space = memchr(text.text, ' ', text.length), *open, *tick;
	struct lode_span file = { "", 0 };
	uint32_t module;

	if (space && text.length > 8 && is_offset((struct lode_span){ text.text, (size_t)(space - text.text) }))
		text = trim(behind(text, (size_t)(space - text.text)));
	open = text.text && text.length && text.text[text.length - 1] == ')' ? memrchr(text.text, '(', text.length)
									     : NULL;
	if (open > text.text && open[-1] == ' ') {
		file = (struct lode_span){ open + 1, (size_t)(text.text + text.length - open - 2) };
		text = trim((struct lode_span){ text.text, (size_t)(open - text.text) });
	}
	tick = memchr(text.text, '`', text.length);
	if (tick) {
		file = (struct lode_span){ text.text, (size_t)(tick - text.text) };
		text = behind(text, file.length + 1);
	}
	text = drop_offset(text);
	module = lode_module_from_file(frames, file.text, file.length);
	return lode_frames_add(frames, module, text.length ? text.text : "[unknown]",
			       text.length ? text.length : 9);
}

static int add_frame(struct reader *reader, struct lode_span text)
{
	uint64_t hash = lode_hash_bytes(text.text, text.length);
	uint32_t frame = lode_frame_memo_find(&reader->memo, text.text, text.length, hash);

	if (frame == LODE_NONE) {
		frame = make_frame(reader, text);
		if (frame == LODE_NONE ||
		    lode_frame_memo_add(&reader->memo, text.text, text.length, hash, frame) < 0)
			return lode_fail_memory(reader->error);
	}
	if (reader->frame_count >= LODE_STACK_DEPTH_LIMIT) {
		reader->stack_is_cut = 1;
		return 0;
	}
	if (LODE_APPEND(reader->frames, reader->frame_count, reader->frame_capacity, frame) < 0)
		return lode_fail_memory(reader->error);
	return 0;
}

/* ---- keys ---- */

/* Words and numbers of a key, between commas. */
static int add_keys(struct reader *reader, struct lode_span keys)
{
	while (keys.length) {
		const char *comma = memchr(keys.text, ',', keys.length);
		size_t length = comma ? (size_t)(comma - keys.text) : keys.length;
		struct lode_span key = trim((struct lode_span){ keys.text, length });
		uint64_t number;

		keys = behind(keys, comma ? length + 1 : length);
		if (!key.length)
			continue;
		if (read_number(key, &number) == 0 && number < UINT32_MAX) {
			reader->tid = (uint32_t)number;
			continue;
		}
		if (reader->name.size)
			lode_buffer_text(&reader->name, ", ");
		lode_buffer_add(&reader->name, key.text, key.length);
	}
	return reader->name.failed ? lode_fail_memory(reader->error) : 0;
}

/* The thread that has a name and no number; such threads are numbered as they come. */
static uint32_t find_named(struct reader *reader, uint32_t name)
{
	uint32_t *thread = LODE_PLACE(&reader->named, name, LODE_NONE);

	if (!thread)
		return LODE_NONE;
	if (*thread == LODE_NONE)
		*thread = lode_stream_tid(&reader->stream, (uint32_t)reader->stream.thread_count + 1);
	return *thread;
}

static uint32_t find_thread(struct reader *reader)
{
	uint32_t name = 0, thread;

	if (reader->name.size) {
		name = lode_strings_add(&reader->dictionary.frames.strings, reader->name.bytes, reader->name.size);
		if (name == LODE_NONE)
			return LODE_NONE;
	}
	thread = reader->tid || !name ? lode_stream_tid(&reader->stream, reader->tid) : find_named(reader, name);
	if (thread != LODE_NONE && name)
		reader->stream.threads[thread].name = name;
	return thread;
}

/* ---- entries ---- */

static void clear(struct reader *reader)
{
	reader->frame_count = reader->second = 0;
	lode_buffer_clear(&reader->name);
	reader->tid = 0;
	reader->in_map = 0;
	reader->stack_is_cut = 0;
}

/* Whether a stack of frames ends where the kernel begins: a system call, an interrupt, a thread of its own. */
static int ends_in_kernel(const struct reader *reader, size_t end)
{
	static const char *const roots[] = { "entry_",
					     "do_syscall_64",
					     "x64_sys_call",
					     "el0",
					     "invoke_syscall",
					     "ret_from_fork",
					     "kthread",
					     "asm_",
					     "secondary_startup",
					     "cpu_startup_entry",
					     "do_el0_svc",
					     "ret_from_syscall",
					     "system_call",
					     "ret_fast_syscall" };
	const char *function = lode_frames_function(&reader->dictionary.frames, reader->frames[end - 1]);

	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++)
		if (lode_starts_with(function, roots[i]))
			return 1;
	return 0;
}

static void reverse(uint32_t *frames, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		uint32_t frame = frames[i];

		frames[i] = frames[count - 1 - i];
		frames[count - 1 - i] = frame;
	}
}

/* `@[ustack, kstack]` has the user's frames first: exchanges the two. */
static void order_stacks(struct reader *reader)
{
	if (!reader->second || reader->second == reader->frame_count ||
	    !ends_in_kernel(reader, reader->frame_count) || ends_in_kernel(reader, reader->second))
		return;
	reverse(reader->frames, reader->second);
	reverse(reader->frames + reader->second, reader->frame_count - reader->second);
	reverse(reader->frames, reader->frame_count);
}

static int add_entry(struct reader *reader, uint64_t value)
{
	struct lode_event event = { .t = reader->t, .waker = LODE_NONE, .cpu = LODE_NO_CPU };
	double unit = reader->options->unit_ns > 0 ? reader->options->unit_ns : 1;

	if ((double)value * unit >= 0x1p63)
		return lode_import_fail(reader->input, reader->error, "a count is too large");
	event.cost = unit == 1 ? value : (uint64_t)((double)value * unit + 0.5);
	event.thread = find_thread(reader);
	if (reader->stack_is_cut)
		lode_tally_add(&reader->cut_stacks, reader->input, NULL, 0);
	order_stacks(reader);
	for (size_t i = reader->frame_count; i-- && event.stack != LODE_NONE;)
		event.stack = lode_stack_tree_child(&reader->dictionary.tree, event.stack, reader->frames[i]);
	if (lode_stream_add_event(&reader->stream, reader->options->kind_is_wait ? LODE_WAIT : LODE_RUN, &event) < 0)
		return lode_fail_memory(reader->error);
	reader->t = lode_add_saturating(reader->t, event.cost);
	reader->entries++;
	return 0;
}

/* The value behind `]:`; anything but a number is a histogram or the like. */
static int end_entry(struct reader *reader, struct lode_span value)
{
	uint64_t number;
	int code = 0;

	if (!reader->frame_count)
		lode_tally_add(&reader->stackless, reader->input, NULL, 0);
	else if (read_number(trim(value), &number) < 0)
		lode_tally_add(&reader->histograms, reader->input, value.text, value.length);
	else
		code = add_entry(reader, number);
	clear(reader);
	return code;
}

/* Where `]:` is, or NULL. */
static const char *find_end(struct lode_span line)
{
	return memmem(line.text, line.length, "]:", 2);
}

/* A line within `@[ … ]:`: frames are indented, the rest are keys. */
static int read_map_line(struct reader *reader, struct lode_span line)
{
	const char *end = find_end(line);
	struct lode_span text = trim(line);
	int code;

	if (line.length && strchr(" \t", line.text[0]))
		return text.length ? add_frame(reader, text) : 0;
	if (!reader->second)
		reader->second = reader->frame_count;
	if (!end)
		return add_keys(reader, text);
	code = add_keys(reader, (struct lode_span){ line.text, (size_t)(end - line.text) });
	return code < 0 ? code : end_entry(reader, behind(line, (size_t)(end + 2 - line.text)));
}

/* `@name[key, …`; an entry that ends in the same line has no stack. */
static int begin_map(struct reader *reader, struct lode_span line)
{
	const char *open = memchr(line.text, '[', line.length);

	clear(reader);
	if (!open || find_end(line)) {
		lode_tally_add(&reader->stackless, reader->input, NULL, 0);
		return 0;
	}
	reader->in_map = 1;
	return add_keys(reader, behind(line, (size_t)(open + 1 - line.text)));
}

/* A line of DTrace: a frame, a number that ends the entry, or a key in front of the stack. */
static int read_dtrace_line(struct reader *reader, struct lode_span line)
{
	struct lode_span text = trim(line);
	uint64_t number;
	int code;

	if (!text.length) {
		if (!reader->frame_count)
			clear(reader);
		return 0;
	}
	if (memchr(text.text, '`', text.length) || (text.length > 2 && !memcmp(text.text, "0x", 2)))
		return add_frame(reader, text);
	if (!reader->frame_count) {
		if (strchr(" \t", line.text[0]))
			return add_keys(reader, text);
		lode_tally_add(&reader->unknown, reader->input, text.text, text.length);
		return 0;
	}
	if (read_number(text, &number) < 0)
		return add_keys(reader, text);
	code = add_entry(reader, number);
	clear(reader);
	return code;
}

/* bpftrace says how many probes it attached, and draws histograms in lines that begin with a bracket. */
static int is_aside(struct lode_span line)
{
	return line.length && (line.text[0] == '[' || line.text[0] == '#' ||
			       (line.length > 10 && !memcmp(line.text, "Attaching ", 10)) ||
			       (line.length > 9 && !memcmp(line.text, "Attached ", 9)));
}

static int read_line(struct reader *reader, struct lode_span line)
{
	if (line.length && line.text[0] == '@')
		return begin_map(reader, line);
	if (reader->in_map)
		return read_map_line(reader, line);
	return is_aside(line) ? 0 : read_dtrace_line(reader, line);
}

static int handle_line(void *context, const char *line, size_t length, int is_whole)
{
	struct reader *reader = context;

	if (is_whole)
		return read_line(reader, (struct lode_span){ line, length });
	/* A number at its end may be cut off. */
	lode_tally_add(&reader->cut_lines, reader->input, line, length);
	return 0;
}

/* ---- the importer ---- */

static void report_notes(const struct reader *reader)
{
	const struct lode_import_options *options = reader->options;

	lode_tally_report(&reader->stackless, options, "entries without a stack, left out");
	lode_tally_report(&reader->histograms, options,
			  "entries whose value is not a number (histograms), left out");
	lode_tally_report(&reader->cut_stacks, options, LODE_CUT_AT_ROOT);
	lode_tally_report(&reader->unknown, options, "lines that are not understood");
	lode_tally_report(&reader->cut_lines, options, LODE_LEFT_OUT_LINE);
	if (!(options->unit_ns > 0))
		lode_notes_add(options->notes, reader->entries,
			       "counts without a unit: one counts as a nanosecond; set it with --unit, such as "
			       "samples=10ms",
			       lode_input_name(reader->input));
}

static int read_bpftrace(struct lode_input *input, const struct lode_import_options *options,
			 const struct lode_import_sink *sink, struct lode_error *error)
{
	struct reader reader = { .input = input, .options = options, .error = error };
	int code;

	if (lode_dictionary_init(&reader.dictionary) < 0)
		return lode_fail_memory(error);
	lode_stream_init(&reader.stream, &reader.dictionary);
	code = lode_import_lines(input, options, handle_line, &reader, error);
	if (code == 0 && !reader.entries)
		code = lode_fail(error, LODE_BAD_INPUT,
				 "%s: no stack with a count was found in it; print one with `@[kstack, ustack, "
				 "comm] = count()`",
				 lode_input_name(input));
	report_notes(&reader);
	if (code == 0)
		code = lode_import_deliver(input, options, sink, &reader.stream, 0, error);
	lode_frame_memo_release(&reader.memo);
	lode_free(reader.frames);
	lode_free(reader.named.items);
	lode_buffer_release(&reader.name);
	lode_import_end(&reader.stream);
	return code;
}

/* ---- the sniffer ---- */

/* A map of bpftrace whose key goes on in the next line, or a frame of DTrace (indented, with a backtick). */
static int judge(struct lode_span line)
{
	struct lode_span text = trim(line);
	const char *tick = memchr(text.text, '`', text.length);

	if (line.length && line.text[0] == '@')
		return memchr(line.text, '[', line.length) && !find_end(line) ? 90 : 0;
	return line.length && strchr(" \t", line.text[0]) && tick && tick > text.text &&
			       !memchr(text.text, ' ', text.length)
		       ? 75
		       : 0;
}

static int sniff(const unsigned char *bytes, size_t size, const char *name)
{
	const char *at = (const char *)bytes, *end = at + size;
	int sure = 0;

	(void)name;
	for (size_t i = 0; i < size; i++)
		if (bytes[i] < '\t' || (bytes[i] > '\r' && bytes[i] < 0x1b)) /* no text */
			return 0;
	while (at < end && !sure) {
		const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;

		sure = newline ? judge((struct lode_span){ at, (size_t)(stop - at) }) : 0;
		at = stop + 1;
	}
	return sure;
}

const struct lode_importer lode_importer_bpftrace = {
	.name = "bpftrace",
	.description = "stacks with counts, as printed by bpftrace and DTrace",
	.sniff = sniff,
	.read = read_bpftrace,
};
