/*
 * Folded stacks: `frame;frame;frame value`, root first, one event per line.
 *
 * The format has no times and no threads: all events belong to one thread, tid 0
 * of an unknown process, unless a profiler of Python names another (python_frame.h), and follow one another in
 * time: the first begins at 0, each other where the one before it ends.
 *
 * Speed comes from three things. Text is read in chunks of whole lines
 * (line_chunks.h), each parsed by whichever thread is free. Neighbouring lines
 * share most of their frames, so a line begins where it first differs from the
 * one before it. And a frame's text is looked up as it is, and parsed
 * only when it is new to the part.
 *
 * All ids are given in order of first appearance, in a part as in the whole, so
 * the result does not depend on the number of threads or on where chunks end.
 */
#include "import/frame_memo.h"
#include "import/text/line_chunks.h"
#include "import/import_common.h"
#include "import/python_frame.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* How the exporter writes an event without a stack. */
#define NO_STACK "[no stack]"
/* What is wrong with a line that has no value. */
#define NO_VALUE                                                                                                  \
	"the line does not end in a number, as in `main;load;read 12`; "                                          \
	"if the file is of another format, name it with --format"

/* A frame of the line read last: where its text ends in the line, and its node. */
struct level {
	uint32_t end;
	uint32_t node;
};

/* Lines that want a note: how many, and the first of them. */
struct odd_lines {
	uint64_t count;
	uint64_t line;  /* number of the first, from 1 */
	char text[100]; /* what it says, as far as it fits */
};

/* What one thread makes of one chunk. */
struct part {
	const char *text; /* whole lines */
	size_t size;

	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_frame_memo memo;
	uint32_t nameless; /* the thread of lines that name none; LODE_NONE: there was none yet */
	struct level *levels;
	size_t level_count;
	size_t level_capacity;
	const char *last; /* the stack of the line before */
	size_t last_length;

	uint64_t lines;
	uint64_t costs;             /* their sum */
	uint64_t with_value;        /* lines that are events */
	uint64_t two_values;        /* of these, lines that end in two numbers */
	uint64_t cut;               /* stacks that were too deep */
	struct odd_lines rounded;   /* values with a fraction that nanoseconds do not hold */
	struct odd_lines unended;   /* the last line of the file has no line end */
	struct odd_lines left_out;  /* and no value either */
	struct odd_lines valueless; /* lines with a line end and no value */
	int code;
	char wrong[256];         /* what is wrong with line number `lines`, when the code is LODE_BAD_INPUT */
	struct lode_error error; /* what went wrong otherwise */
};

/* What the threads share. */
struct reading {
	struct lode_input *input;
	const struct lode_import_options *options;
	enum lode_event_type type;
	double unit;

	/* The whole, which parts are joined to in turn. */
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	uint64_t lines;
	uint64_t costs;
	uint64_t with_value;
	uint64_t two_values;
	uint64_t cut;
	struct odd_lines rounded;
	struct odd_lines unended;
	struct odd_lines left_out;
	struct odd_lines valueless;
};

/* ---- lines that want a note ---- */

static void add_odd(struct odd_lines *odd, uint64_t line, const char *text, size_t length)
{
	if (odd->count++)
		return;
	odd->line = line;
	snprintf(odd->text, sizeof(odd->text), "%.*s", (int)(length < 99 ? length : 99), text);
}

/* Adds those of a part, after `lines` lines. */
static void join_odd(struct odd_lines *all, const struct odd_lines *part, uint64_t lines)
{
	if (!all->count) {
		*all = *part;
		all->line += lines;
	} else {
		all->count += part->count;
	}
}

static void note_odd_lines(const struct reading *reading, const struct odd_lines *odd, const char *what)
{
	char example[400];

	snprintf(example, sizeof(example), "%.250s:%llu: %s", lode_input_name(reading->input),
		 (unsigned long long)odd->line, odd->text);
	lode_notes_add(reading->options->notes, odd->count, what, example);
}

/* ---- values ---- */

static int is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static int is_blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

/* Digits, and perhaps a point and more digits. */
static int is_value(const char *text, size_t length)
{
	size_t digits = 0, points = 0;

	for (size_t i = 0; i < length; i++) {
		if (is_digit(text[i]))
			digits++;
		else if (text[i] == '.' && !points)
			points++;
		else
			return 0;
	}
	return digits > 0;
}

/*
 * Digits behind the point times `unit`, rounded, a half up. From the last digit
 * to the first, as on paper: no digit is lost, and every machine rounds alike.
 * `unit` is at most 2^53, so no sum is too large. `*rounded` becomes 1 when the
 * product is no whole number.
 */
static uint64_t scale_fraction(const char *digits, size_t count, uint64_t unit, int *rounded)
{
	uint64_t sum = 0, below = 0;

	while (count--) {
		sum += unit * (uint64_t)(digits[count] - '0');
		below = sum % 10;
		sum /= 10;
		*rounded |= below != 0;
	}
	return sum + (below >= 5);
}

static int scale_value(uint64_t whole, const char *digits, size_t count, uint64_t unit, uint64_t *cost,
		       int *rounded)
{
	if (__builtin_mul_overflow(whole, unit, cost) ||
	    __builtin_add_overflow(*cost, scale_fraction(digits, count, unit, rounded), cost))
		return -1;
	return 0;
}

/*
 * value * unit, rounded; non-zero when it does not fit. `text` is a value.
 * `*rounded` says whether a part of its fraction was lost: a unit that is no
 * whole number of nanoseconds loses nothing that the value says.
 */
static int read_cost(const char *text, size_t length, double unit, uint64_t *cost, int *rounded)
{
	long double fraction = 0, scale = 1, product;
	uint64_t whole = 0;
	size_t i = 0;

	*rounded = 0;
	for (; i < length && text[i] != '.'; i++)
		if (__builtin_mul_overflow(whole, 10, &whole) ||
		    __builtin_add_overflow(whole, (uint64_t)(text[i] - '0'), &whole))
			return -1;
	if (i == length && unit == 1) {
		*cost = whole;
		return 0;
	}
	i += i < length;
	if (unit == floor(unit) && unit <= 0x1p53)
		return scale_value(whole, text + i, length - i, (uint64_t)unit, cost, rounded);
	for (; i < length && scale < 1e30L; i++) {
		scale *= 10;
		fraction += (text[i] - '0') / scale;
	}
	product = ((long double)whole + fraction) * (long double)unit;
	if (product >= 0x1p64L - 1)
		return -1;
	*cost = (uint64_t)(product + 0.5L);
	*rounded = fraction > 0 && product != floorl(product);
	return 0;
}

/* ---- stacks ---- */

static size_t common_prefix(const char *a, const char *b, size_t length)
{
	size_t i = 0;

	while (i + 8 <= length) {
		uint64_t left, right;

		memcpy(&left, a + i, 8);
		memcpy(&right, b + i, 8);
		if (left != right)
			break;
		i += 8;
	}
	while (i < length && a[i] == b[i])
		i++;
	return i;
}

static int has_suffix(const char *text, size_t length, const char *suffix)
{
	return length > 4 && memcmp(text + length - 4, suffix, 4) == 0;
}

/* The function of a module that only an annotation names, unless the text names one. */
static uint32_t annotated_frame(struct lode_frames *frames, const char *module, const char *text, size_t length)
{
	uint32_t frame;

	if (!memchr(text, '!', length))
		return lode_frames_add(frames, lode_frames_module(frames, module, strlen(module)), text, length);
	frame = lode_frames_parse(frames, text, length);
	if (frame == LODE_NONE || frames->items[frame].module)
		return frame;
	return lode_frames_pair(frames, lode_frames_module(frames, module, strlen(module)),
				frames->items[frame].function);
}

/* The stackcollapse scripts mark kernel, JIT and inlined functions at the end of their names. */
static uint32_t new_frame(struct lode_frames *frames, const char *text, size_t length)
{
	uint32_t frame;
	int is_python;

	if (has_suffix(text, length, "_[k]"))
		return annotated_frame(frames, "kernel", text, length - 4);
	if (has_suffix(text, length, "_[j]"))
		return annotated_frame(frames, "[jit]", text, length - 4);
	if (has_suffix(text, length, "_[i]"))
		length -= 4;
	frame = lode_python_frame(frames, text, length, &is_python);
	return is_python ? frame : lode_frames_parse(frames, text, length);
}

static uint32_t frame_of(struct part *part, const char *text, size_t length)
{
	uint64_t hash = lode_hash_bytes(text, length);
	uint32_t frame = lode_frame_memo_find(&part->memo, text, length, hash);

	if (frame != LODE_NONE)
		return frame;
	frame = new_frame(&part->dictionary.frames, text, length);
	if (frame == LODE_NONE || lode_frame_memo_add(&part->memo, text, length, hash, frame) < 0)
		return LODE_NONE;
	return frame;
}

static size_t frame_end(const char *text, size_t start, size_t length)
{
	const char *mark = memchr(text + start, ';', length - start);

	return mark ? (size_t)(mark - text) : length;
}

/* A stack deeper than the limit loses frames at its root. */
static uint32_t deep_stack(struct part *part, const char *text, size_t length)
{
	size_t depth = 1, start = 0, end;
	uint32_t node = 0;

	for (size_t i = 0; i < length; i++)
		depth += text[i] == ';';
	part->cut++;
	part->last_length = part->level_count = 0;
	for (;; start = end + 1, depth--) {
		end = frame_end(text, start, length);
		if (depth <= LODE_STACK_DEPTH_LIMIT) {
			node = lode_stack_tree_child(&part->dictionary.tree, node,
						     frame_of(part, text + start, end - start));
			if (node == LODE_NONE)
				return LODE_NONE;
		}
		if (end == length)
			return node;
	}
}

/* Drops the levels that this line does not share with the one before it. */
static void keep_common_levels(struct part *part, const char *text, size_t length)
{
	size_t least = length < part->last_length ? length : part->last_length;
	size_t common = common_prefix(text, part->last, least);

	while (part->level_count) {
		size_t end = part->levels[part->level_count - 1].end;

		if (end <= common && (end == length || text[end] == ';'))
			break;
		part->level_count--;
	}
}

/* The node of a stack; LODE_NONE when memory has run out. */
static uint32_t stack_of(struct part *part, const char *text, size_t length)
{
	uint32_t node = 0;
	size_t end;

	keep_common_levels(part, text, length);
	part->last = text;
	part->last_length = length;
	if (!length)
		return 0;
	if (part->level_count) {
		end = part->levels[part->level_count - 1].end;
		node = part->levels[part->level_count - 1].node;
	} else {
		end = (size_t)-1;
	}
	while (end != length) {
		size_t start = end + 1;

		if (part->level_count == LODE_STACK_DEPTH_LIMIT)
			return deep_stack(part, text, length);
		end = frame_end(text, start, length);
		node = lode_stack_tree_child(&part->dictionary.tree, node,
					     frame_of(part, text + start, end - start));
		if (node == LODE_NONE || LODE_APPEND(part->levels, part->level_count, part->level_capacity,
						     (struct level){ (uint32_t)end, node }) < 0)
			return LODE_NONE;
	}
	return node;
}

/* ---- lines ---- */

static void complain(struct part *part, const char *what)
{
	part->code = LODE_BAD_INPUT;
	snprintf(part->wrong, sizeof(part->wrong), "%s", what);
}

/* Where the last word of the text begins. */
static size_t last_word(const char *text, size_t length)
{
	while (length && !is_blank(text[length - 1]))
		length--;
	return length;
}

static size_t without_blanks(const char *text, size_t length)
{
	while (length && (is_blank(text[length - 1]) || text[length - 1] == '\r'))
		length--;
	return length;
}

static int has_second_value(const char *stack, size_t length)
{
	size_t word;

	if (!length || !is_digit(stack[length - 1]))
		return 0;
	word = last_word(stack, length);
	return word && is_value(stack + word, length - word);
}

/* The thread that a line names before its frames, of which `skipped` bytes are; else the one that stands for all. */
static uint32_t thread_of(struct part *part, const char *stack, size_t length, size_t *skipped)
{
	struct lode_profiled_thread named;
	uint32_t thread;

	*skipped = lode_profiled_thread(stack, length, &named);
	if (!*skipped && part->nameless == LODE_NONE)
		part->nameless = lode_stream_thread(&part->stream, LODE_NO_PID, 0);
	if (!*skipped)
		return part->nameless;
	thread = lode_stream_thread(&part->stream, named.pid, named.tid);
	if (thread != LODE_NONE && named.name_length && !part->stream.threads[thread].name) {
		uint32_t name = lode_strings_add(&part->dictionary.frames.strings, named.name, named.name_length);

		part->stream.threads[thread].name = name;
		return name == LODE_NONE ? LODE_NONE : thread;
	}
	return thread;
}

static void add_event(struct part *part, enum lode_event_type type, const char *stack, size_t length, uint64_t cost)
{
	struct lode_event event = {
		.t = part->costs,
		.cost = cost,
		.waker = LODE_NONE,
		.cpu = LODE_NO_CPU,
	};
	size_t skipped;

	event.thread = thread_of(part, stack, length, &skipped);
	event.stack = stack_of(part, stack + skipped, length - skipped);
	if (event.thread == LODE_NONE || event.stack == LODE_NONE ||
	    lode_stream_add_event(&part->stream, type, &event) < 0)
		part->code = lode_fail_memory(&part->error);
	else if (__builtin_add_overflow(part->costs, cost, &part->costs))
		complain(part, "the costs add up to more than 64 bits of nanoseconds; choose a smaller --unit");
}

/* A line that ends in no number is left out: a truncated file and a wrong line are distinguished.
 */
static void miss_value(struct part *part, const char *line, size_t length, int ended)
{
	add_odd(ended ? &part->valueless : &part->left_out, part->lines, line, length);
}

static void read_line(const struct reading *reading, struct part *part, const char *line, size_t length, int ended)
{
	size_t value, end = without_blanks(line, length);
	uint64_t cost;
	int rounded;

	part->lines++;
	if (!end || line[0] == '#')
		return;
	if (length > LODE_LINE_LIMIT) {
		complain(part, "the line is longer than 64 MiB; this is not a file of folded stacks");
		return;
	}
	value = last_word(line, end);
	if (!value || !is_value(line + value, end - value)) {
		miss_value(part, line, end, ended);
		return;
	}
	if (read_cost(line + value, end - value, reading->unit, &cost, &rounded) < 0) {
		complain(part, "the value is too large for 64 bits of nanoseconds; choose a smaller --unit");
		return;
	}
	part->with_value++;
	if (rounded)
		add_odd(&part->rounded, part->lines, line + value, end - value);
	if (!ended)
		add_odd(&part->unended, part->lines, line, end);
	end = without_blanks(line, value);
	part->two_values += has_second_value(line, end);
	if (end == strlen(NO_STACK) && memcmp(line, NO_STACK, end) == 0)
		end = 0;
	add_event(part, reading->type, line, end, cost);
}

static void read_lines(const struct reading *reading, struct part *part)
{
	const char *at = part->text, *end = part->size ? at + part->size : at;

	while (at != end && part->code == 0) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		read_line(reading, part, at, (size_t)((newline ? newline : end) - at), newline != NULL);
		at = newline ? newline + 1 : end;
	}
}

/* ---- parts ---- */

static int start_part(struct part *part)
{
	struct level *levels = part->levels;
	size_t level_capacity = part->level_capacity;

	memset(part, 0, sizeof(*part));
	part->levels = levels;
	part->level_capacity = level_capacity;
	part->last = "";
	if (lode_dictionary_init(&part->dictionary) < 0)
		return LODE_SYSTEM;
	lode_stream_init(&part->stream, &part->dictionary);
	part->nameless = LODE_NONE;
	return 0;
}

/* Leaves only what the next part reuses. */
static void end_part(void *item)
{
	struct part *part = item;

	lode_stream_release(&part->stream);
	lode_dictionary_release(&part->dictionary);
	lode_frame_memo_release(&part->memo);
}

static void *make_part(void *context)
{
	(void)context;
	return lode_calloc(1, sizeof(struct part));
}

static void free_part(void *context)
{
	struct part *part = context;

	if (!part)
		return;
	lode_free(part->levels);
	lode_free(part);
}

static void parse_part(void *context, void *item, const char *text, size_t size)
{
	struct part *part = item;

	if (start_part(part) < 0) {
		part->code = lode_fail_memory(&part->error);
		return;
	}
	part->text = text;
	part->size = size;
	read_lines(context, part);
}

/* ---- joining ---- */

static int fail_in_turn(const struct reading *reading, const struct part *part, struct lode_error *error)
{
	*error = part->error;
	if (part->code != LODE_BAD_INPUT || !part->wrong[0])
		return part->code;
	return lode_fail(error, LODE_BAD_INPUT, "%s:%llu: %s", lode_input_name(reading->input),
			 (unsigned long long)(reading->lines + part->lines), part->wrong);
}

/* Moves the part's line of time behind what is there, and adds it. */
static int join_part(void *context, void *item, struct lode_error *error)
{
	struct reading *reading = context;
	struct part *part = item;
	struct lode_events *events = &part->stream.events[reading->type];

	if (part->code < 0)
		return fail_in_turn(reading, part, error);
	for (size_t i = 0; i < events->count; i++)
		events->t[i] += reading->costs;
	join_odd(&reading->rounded, &part->rounded, reading->lines);
	join_odd(&reading->unended, &part->unended, reading->lines);
	join_odd(&reading->left_out, &part->left_out, reading->lines);
	join_odd(&reading->valueless, &part->valueless, reading->lines);
	reading->lines += part->lines;
	reading->with_value += part->with_value;
	reading->two_values += part->two_values;
	reading->cut += part->cut;
	if (__builtin_add_overflow(reading->costs, part->costs, &reading->costs))
		return lode_fail(error, LODE_BAD_INPUT,
				 "%s:%llu: up to here the costs add up to more than 64 bits of nanoseconds; "
				 "choose a smaller --unit",
				 lode_input_name(reading->input), (unsigned long long)reading->lines);
	if (lode_stream_merge(&reading->stream, &part->stream) < 0)
		return lode_fail_memory(error);
	return 0;
}

/* ---- the importer ---- */

/* Some wrong lines do not spoil a file; where most are wrong it is no file of folded stacks. */
static int check_values(const struct reading *reading, struct lode_error *error)
{
	const struct odd_lines *wrong = reading->valueless.count ? &reading->valueless : &reading->left_out;

	if (reading->valueless.count + reading->left_out.count <= reading->with_value)
		return 0;
	return lode_fail(error, LODE_BAD_INPUT, "%s:%llu: %s", lode_input_name(reading->input),
			 (unsigned long long)wrong->line, NO_VALUE);
}

/* What can be said only at the end. */
static int check_all(struct reading *reading, struct lode_error *error)
{
	const char *name = lode_input_name(reading->input);

	if (reading->two_values > 1 && reading->two_values == reading->with_value)
		return lode_fail(error, LODE_BAD_INPUT,
				 "%s: every line ends in two numbers, as in a comparison of two recordings; "
				 "keep only one of them",
				 name);
	if (check_values(reading, error) < 0)
		return LODE_BAD_INPUT;
	note_odd_lines(reading, &reading->rounded,
		       "values with a fraction of a nanosecond, rounded; if they count something longer, "
		       "say so with --unit");
	note_odd_lines(reading, &reading->unended, "a last line without a line end, which may be cut off");
	note_odd_lines(reading, &reading->left_out, LODE_LEFT_OUT_LINE);
	note_odd_lines(reading, &reading->valueless, "lines that do not end in a number, left out");
	lode_notes_add(reading->options->notes, reading->cut, LODE_CUT_AT_ROOT, name);
	return 0;
}

static int read_all(struct reading *reading, const struct lode_import_sink *sink, struct lode_error *error)
{
	struct lode_line_chunks chunks = { make_part, free_part, parse_part, join_part, end_part, reading };
	int code;

	code = lode_line_chunks_read(reading->input, reading->options, &chunks, error);
	if (code == 0 && !reading->stream.thread_count &&
	    lode_stream_thread(&reading->stream, LODE_NO_PID, 0) == LODE_NONE)
		return lode_fail_memory(error);
	if (code == 0)
		code = check_all(reading, error);
	if (code < 0)
		return code;
	return lode_import_deliver(reading->input, reading->options, sink, &reading->stream, 0, error);
}

static int read_folded(struct lode_input *input, const struct lode_import_options *options,
		       const struct lode_import_sink *sink, struct lode_error *error)
{
	struct reading reading = {
		.input = input,
		.options = options,
		.type = options->kind_is_wait ? LODE_WAIT : LODE_RUN,
		.unit = options->unit_ns > 0 ? options->unit_ns : 1,
	};
	int code;

	if (lode_dictionary_init(&reading.dictionary) < 0)
		return lode_fail_memory(error);
	lode_stream_init(&reading.stream, &reading.dictionary);
	code = read_all(&reading, sink, error);
	lode_import_end(&reading.stream);
	return code;
}

/* ---- the sniffer ---- */

/* Wrong lines that the first bytes of a file may have. */
#define WRONG_LINES 8

struct guess {
	unsigned lines;
	unsigned stacks; /* lines with more than one frame */
	unsigned wrong;  /* lines that do not end in a number */
};

static void guess_line(struct guess *guess, const char *line, size_t length)
{
	size_t end = without_blanks(line, length), value;

	if (!end || line[0] == '#')
		return;
	value = last_word(line, end);
	if (!value || !is_value(line + value, end - value)) {
		guess->wrong++;
		return;
	}
	guess->lines++;
	guess->stacks += memchr(line, ';', value) != NULL;
}

static int has_name(const char *name)
{
	return strstr(name, ".folded") || strstr(name, ".collapsed") || strstr(name, ".stacks");
}

/*
 * Whole lines must end in a number, except a few; a first line that cannot be seen whole
 * shows only by its marks, a last one without a line end may be cut off.
 */
static int sniff_folded(const unsigned char *bytes, size_t size, const char *name)
{
	const char *at = (const char *)bytes, *end = at + size;
	struct guess guess = { 0 };

	if (memchr(bytes, '\0', size))
		return 0;
	while (at < end && guess.wrong <= WRONG_LINES) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		if (!newline && (size >= LODE_SNIFF_BYTES || guess.lines))
			break;
		guess_line(&guess, at, (size_t)((newline ? newline : end) - at));
		at = newline ? newline + 1 : end;
	}
	if (guess.wrong > WRONG_LINES || (guess.wrong && guess.stacks < 4 * guess.wrong))
		return 0;
	if (!guess.lines)
		return at < end && *at != '{' && memchr(at, ';', (size_t)(end - at)) ? 20 + 40 * has_name(name)
										     : 5 * has_name(name);
	return (guess.stacks ? 70 : 30) - 20 * !!guess.wrong + 20 * has_name(name);
}

const struct lode_importer lode_importer_folded = {
	.name = "folded",
	.description = "folded stacks: frame;frame;frame value",
	.sniff = sniff_folded,
	.read = read_folded,
};
