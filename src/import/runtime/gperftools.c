/*
 * CPU profiles of gperftools (`CPUPROFILE=FILE`, libprofiler), also written by old
 * versions of Go: distinct stacks with how often each was hit, then the memory map
 * of the process as text. Numbers are words of the machine that wrote them, 4 or 8
 * bytes in its byte order:
 *
 *	0, words that follow in the header (3), version (0), period in us, 0
 *	for each stack: count, depth, addresses from the leaf to the root
 *	0, 1, 0: the end
 *	lines of /proc/PID/maps
 *
 * Times are not recorded: the stacks are put one after another, each of them a run
 * of its count times the period.
 *
 * The addresses of callers are return addresses, so one less is in the call. The leaf
 * is what the signal interrupted, and unwinding may bring the frames of the signal
 * handler behind it: an address that is second in nearly all stacks is dropped, twice
 * at most, as pprof does, and so is a leaf that comes twice.
 */
#include "base/cursor.h"
#include "base/memory.h"
#include "import/runtime/mapped_frames.h"
#include "import/import_common.h"

#include <string.h>

/* One stack in this many may have another second address than that of the signal handler. */
#define HANDLER_MARGIN 32
#define HANDLER_FRAMES 2
/* Longest header and period that are believed, in words and microseconds. */
#define HEADER_LIMIT 1024
#define PERIOD_LIMIT 1000000000u

struct reader {
	struct lode_input *input;
	const struct lode_import_options *options;
	struct lode_error *error;
	struct lode_cursor start; /* of the stacks */
	int wide;                 /* words of 8 bytes */
	uint64_t period_ns;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_mapped_frames mapped;
	uint64_t handlers[HANDLER_FRAMES]; /* addresses to drop behind the leaf; 0: none */
	uint64_t t;
	uint64_t stacks;
	uint64_t dropped; /* stacks without their handler frames */
	uint64_t cut;
	int ended; /* the end was seen */
};

/* One stack of the file. */
struct record {
	uint64_t count;
	uint64_t depth;
	struct lode_cursor addresses;
};

static uint64_t read_word(const struct reader *reader, struct lode_cursor *cursor)
{
	return reader->wide ? lode_cursor_u64(cursor) : lode_cursor_u32(cursor);
}

/* ---- the header ---- */

/* Whether a header of such words is there; then the cursor is behind it. Returns the period, or 0. */
static uint64_t try_header(struct reader *reader, struct lode_cursor *cursor)
{
	uint64_t first = read_word(reader, cursor), words = read_word(reader, cursor);
	uint64_t version = read_word(reader, cursor), period = read_word(reader, cursor);

	if (cursor->failed || first || words < 3 || words > HEADER_LIMIT || version || !period ||
	    period > PERIOD_LIMIT)
		return 0;
	lode_cursor_bytes(cursor, (words - 2) * (reader->wide ? 8 : 4));
	return cursor->failed ? 0 : period;
}

/* Finds out of what words the file is made. Returns whether it has a header. */
static int read_header(struct reader *reader, const unsigned char *bytes, size_t size)
{
	for (int form = 0; form < 4; form++) {
		struct lode_cursor cursor = lode_cursor(bytes, size);
		uint64_t period;

		cursor.swap = form & 1;
		reader->wide = form >> 1;
		period = try_header(reader, &cursor);
		if (period) {
			reader->start = cursor;
			reader->period_ns = period * 1000;
			return 1;
		}
	}
	return 0;
}

/* ---- stacks ---- */

/* The next stack. Returns 0 at the end, which sets `ended`, or where the file is cut off. */
static int next_record(struct reader *reader, struct lode_cursor *cursor, struct record *record)
{
	uint64_t word = reader->wide ? 8 : 4;

	record->count = read_word(reader, cursor);
	record->depth = read_word(reader, cursor);
	if (cursor->failed || record->depth > lode_cursor_left(cursor) / word)
		return 0;
	record->addresses = *cursor;
	lode_cursor_bytes(cursor, record->depth * word);
	if (record->count || record->depth != 1)
		return 1;
	reader->ended = read_word(reader, &record->addresses) == 0;
	return !reader->ended;
}

/* The address at `place`, counted from the leaf. */
static uint64_t address_at(const struct reader *reader, const struct record *record, uint64_t place)
{
	struct lode_cursor cursor = record->addresses;

	lode_cursor_bytes(&cursor, place * (reader->wide ? 8 : 4));
	return read_word(reader, &cursor);
}

/* How many addresses behind the leaf are of the signal handler. */
static uint64_t handler_depth(const struct reader *reader, const struct record *record)
{
	uint64_t depth = 0;

	while (depth < HANDLER_FRAMES && reader->handlers[depth] && depth + 1 < record->depth &&
	       address_at(reader, record, depth + 1) == reader->handlers[depth])
		depth++;
	return depth;
}

/*
 * The address that follows the leaf, and the handlers found so far, in nearly all stacks; 0: none.
 * Of all addresses the one that stays when different ones strike each other out is the only one that can
 * be; a second pass counts it.
 */
static uint64_t find_handler(struct reader *reader)
{
	struct lode_cursor cursor = reader->start;
	struct record record;
	uint64_t candidate = 0, votes = 0, hits = 0, stacks = 0;

	for (int counting = 0; counting < 2; counting++, cursor = reader->start) {
		while (next_record(reader, &cursor, &record)) {
			uint64_t place = handler_depth(reader, &record) + 1;
			uint64_t address = record.depth > place ? address_at(reader, &record, place) : 0;

			stacks += counting;
			hits += counting && address && address == candidate;
			if (counting || !address)
				continue;
			if (!votes)
				candidate = address;
			votes = candidate == address ? votes + 1 : votes - 1;
		}
	}
	return stacks > 1 && hits >= stacks - stacks / HANDLER_MARGIN ? candidate : 0;
}

static void find_handlers(struct reader *reader)
{
	for (size_t i = 0; i < HANDLER_FRAMES; i++) {
		reader->handlers[i] = find_handler(reader);
		if (!reader->handlers[i])
			break;
	}
}

/* The stack of a record; LODE_NONE when memory has run out. Of one that is too deep the root is cut off. */
static uint32_t make_stack(struct reader *reader, const struct record *record)
{
	uint64_t skip = handler_depth(reader, record), leaf = record->depth ? address_at(reader, record, 0) : 0;
	uint64_t last = record->depth;
	uint32_t stack = 0, depth = 0;

	reader->dropped += skip > 0;
	if (skip + 1 < record->depth && address_at(reader, record, skip + 1) == leaf)
		skip++;
	if (last > LODE_STACK_DEPTH_LIMIT) {
		last = LODE_STACK_DEPTH_LIMIT;
		reader->cut++;
	}
	for (uint64_t place = last; place-- > skip + 1 && stack != LODE_NONE;) {
		uint64_t address = address_at(reader, record, place);

		stack = lode_mapped_frames_push(&reader->mapped, stack, address ? address - 1 : 0, &depth);
	}
	return record->depth && stack != LODE_NONE ? lode_mapped_frames_push(&reader->mapped, stack, leaf, &depth)
						   : stack;
}

static int add_record(struct reader *reader, const struct record *record, uint32_t thread)
{
	struct lode_event event = { .t = reader->t, .thread = thread, .waker = LODE_NONE, .cpu = LODE_NO_CPU };

	if (__builtin_mul_overflow(record->count, reader->period_ns, &event.cost) || record->count >> 40)
		return lode_fail(reader->error, LODE_BAD_INPUT,
				 "%s: stack %llu was hit %llu times, which is impossible; the file is damaged",
				 lode_input_name(reader->input), (unsigned long long)reader->stacks + 1,
				 (unsigned long long)record->count);
	event.stack = make_stack(reader, record);
	if (event.stack == LODE_NONE || lode_stream_add_event(&reader->stream, LODE_RUN, &event) < 0)
		return lode_fail_memory(reader->error);
	reader->t = lode_add_saturating(reader->t, event.cost);
	reader->stacks++;
	return 0;
}

static int read_stacks(struct reader *reader)
{
	struct lode_cursor cursor = reader->start;
	uint32_t thread = lode_stream_thread(&reader->stream, LODE_NO_PID, 0);
	const unsigned char *reported = cursor.next;
	struct record record;
	int code = 0;

	if (thread == LODE_NONE)
		return lode_fail_memory(reader->error);
	while (code == 0 && next_record(reader, &cursor, &record)) {
		code = add_record(reader, &record, thread);
		if (code == 0 && cursor.next - reported >= 1 << 20) {
			reported = cursor.next;
			code = lode_import_progress_at(reader->input, reader->options,
						       (uint64_t)(reported - reader->start.next),
						       (uint64_t)(cursor.end - reader->start.next), reader->error);
		}
	}
	return code;
}

/* ---- the memory map ---- */

/* It is read before the stacks, since they need it. */
static int read_map(struct reader *reader)
{
	struct lode_cursor cursor = reader->start;
	struct record record;
	const char *at, *end;

	while (next_record(reader, &cursor, &record))
		continue;
	if (!reader->ended)
		return 0;
	for (at = (const char *)cursor.next, end = (const char *)cursor.end; at < end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((newline ? newline : end) - at);

		if (lode_mapped_frames_line(&reader->mapped, at, length) < 0)
			return lode_fail_memory(reader->error);
		at += length + 1;
	}
	return 0;
}

/* ---- the importer ---- */

static void report_notes(const struct reader *reader)
{
	struct lode_notes *notes = reader->options->notes;

	lode_notes_add(notes, !reader->ended, "a profile that is cut off: it has no end and no memory map",
		       lode_input_name(reader->input));
	lode_notes_add(notes, reader->dropped, "stacks whose frames of the signal handler are left out", NULL);
	lode_notes_add(notes, reader->cut, LODE_CUT_AT_ROOT, NULL);
	lode_mapped_frames_report(&reader->mapped);
}

static int read_profile(struct reader *reader, const struct lode_import_sink *sink)
{
	int code = lode_mapped_frames_init(&reader->mapped, reader->options, &reader->dictionary, reader->error);
	struct lode_import_addresses addresses = { 0 };

	if (code == 0)
		code = read_map(reader);
	if (code < 0)
		return code;
	find_handlers(reader);
	code = read_stacks(reader);
	if (code < 0)
		return code;
	if (!reader->stacks)
		return lode_fail(reader->error, LODE_BAD_INPUT, "%s: %s", lode_input_name(reader->input),
				 reader->ended ? "it has no samples; the program may have used no CPU time"
					       : "it is cut off before its first stack");
	report_notes(reader);
	lode_mapped_frames_count(&reader->mapped, &addresses);
	if (lode_import_note_addresses(&reader->stream, &addresses) < 0)
		return lode_fail_memory(reader->error);
	return lode_import_deliver(reader->input, reader->options, sink, &reader->stream, 0, reader->error);
}

static int read_gperftools(struct lode_input *input, const struct lode_import_options *options,
			   const struct lode_import_sink *sink, struct lode_error *error)
{
	struct reader reader = { .input = input, .options = options, .error = error };
	const unsigned char *bytes;
	size_t size;
	int code = lode_input_whole(input, &bytes, &size, error);

	if (code < 0)
		return code;
	if (!read_header(&reader, bytes, size))
		return lode_fail(error, LODE_BAD_INPUT, "%s: not a CPU profile of gperftools: its header is wrong",
				 lode_input_name(input));
	if (lode_dictionary_init(&reader.dictionary) < 0)
		return lode_fail_memory(error);
	lode_stream_init(&reader.stream, &reader.dictionary);
	code = read_profile(&reader, sink);
	lode_mapped_frames_release(&reader.mapped);
	lode_import_end(&reader.stream);
	return code;
}

static int sniff(const unsigned char *bytes, size_t size, const char *name)
{
	struct reader reader = { 0 };

	(void)name;
	return read_header(&reader, bytes, size) ? 90 : 0;
}

const struct lode_importer lode_importer_gperftools = {
	.name = "gperftools",
	.description = "gperftools CPU profiles (CPUPROFILE=FILE)",
	.sniff = sniff,
	.read = read_gperftools,
};
