/*
 * A whole importer, to start a new one from: copy it to a folder of src/import/, and name it in the list
 * of src/import/meson.build.
 *
 * The format is made up. Its first line is `toy 1`; each other line is a CPU sample: when (microseconds), the thread's
 * number, and the frames, root first:
 *
 *	1000 42 app!main;app!load;libc.so.6!read
 *
 * tests/unit/example_importer_test.c runs it.
 */
#include "import/import_common.h"

#include <stdio.h>
#include <string.h>

#define PERIOD 1000000u /* nanoseconds that a sample represents; a real format says that */

struct reader {
	struct lode_input *input;
	struct lode_error *error;
	struct lode_dictionary dictionary;
	struct lode_stream stream; /* over the dictionary */
	struct lode_tally cut_lines;
	uint64_t cut_stacks;
};

/* The stack of frames `a;b;c`, root first, without the frames that are too deep; LODE_NONE: no memory. */
static uint32_t read_stack(struct reader *reader, const char *text, const char *end)
{
	uint32_t stack = 0;
	unsigned depth = 0;

	while (stack != LODE_NONE && text < end) {
		const char *semicolon = memchr(text, ';', (size_t)(end - text));
		size_t length = (size_t)((semicolon ? semicolon : end) - text);
		uint32_t frame;

		if (depth++ == LODE_STACK_DEPTH_LIMIT) {
			reader->cut_stacks++;
			break;
		}
		frame = lode_frames_parse(&reader->dictionary.frames, text, length);
		if (frame == LODE_NONE)
			return LODE_NONE;
		stack = lode_stack_tree_child(&reader->dictionary.tree, stack, frame);
		text += length + 1;
	}
	return stack;
}

/* Takes a line, which is not terminated; `is_whole`: it is not cut off. What is left out is counted and reported. */
static int handle_line(void *context, const char *line, size_t length, int is_whole)
{
	struct reader *reader = context;
	struct lode_event event = { .cost = PERIOD, .waker = LODE_NONE, .cpu = LODE_NO_CPU };
	char head[64];
	unsigned long long t;
	unsigned tid;
	int at = 0;

	if (!is_whole)
		lode_tally_add(&reader->cut_lines, reader->input, line, length);
	if (!is_whole || !length || (length == 5 && !memcmp(line, "toy 1", 5)))
		return 0;
	snprintf(head, sizeof(head), "%.*s", (int)(length < 63 ? length : 63), line);
	if (sscanf(head, "%19llu %9u %n", &t, &tid, &at) < 2 || !at || t > UINT64_MAX / 1000)
		return lode_import_fail(reader->input, reader->error,
					"a line is `MICROSECONDS TID FRAME;FRAME...`");
	event.t = t * 1000;
	event.thread = lode_stream_tid(&reader->stream, tid);
	event.stack = read_stack(reader, line + at, line + length);
	if (event.thread == LODE_NONE || event.stack == LODE_NONE ||
	    lode_stream_add_event(&reader->stream, LODE_RUN, &event) < 0)
		return lode_fail_memory(reader->error);
	return 0;
}

static int read_toy(struct lode_input *input, const struct lode_import_options *options,
		    const struct lode_import_sink *sink, struct lode_error *error)
{
	struct reader reader = { .input = input, .error = error };
	int code;

	if (lode_dictionary_init(&reader.dictionary) < 0)
		return lode_fail_memory(error);
	lode_stream_init(&reader.stream, &reader.dictionary);
	code = lode_import_lines(input, options, handle_line, &reader, error);
	lode_tally_report(&reader.cut_lines, options, LODE_LEFT_OUT_LINE);
	lode_notes_add(options->notes, reader.cut_stacks, LODE_CUT_AT_LEAF, NULL);
	if (!code)
		code = lode_import_deliver(input, options, sink, &reader.stream, 0, error);
	lode_stream_release(&reader.stream);
	lode_dictionary_release(&reader.dictionary);
	return code;
}

/* Lines that begin with `#` are not shown to it, so that no format can be known by them. */
static int sniff(const unsigned char *bytes, size_t size, const char *name)
{
	(void)name;
	return size > 5 && !memcmp(bytes, "toy 1\n", 6) ? 100 : 0;
}

extern const struct lode_importer lode_importer_toy;
const struct lode_importer lode_importer_toy = {
	.name = "toy",
	.description = "a made-up format",
	.sniff = sniff,
	.read = read_toy,
};
