/*
 * An area as a message: see area_message.h.
 *
 *	8  digest of the program
 *	8  0, or the code of a failure; then only its sentence follows
 *	   strings: number, bytes of all with their NULs; a length each, 4 bytes; the bytes
 *	   modules, frames, nodes, sums by node: number, array
 *	   rows, five sets: number of rows and of spreads, sums; both arrays
 *	   streams: number, array; attributes of all: number, array
 *	   streams that were left out: number, bytes of all texts; a code each; id, name and reason of each
 *	   other sums
 *
 * Numbers have 8 bytes, and arrays are filled up to a multiple of 8.
 */
#include "scope/area_message.h"

#include "base/hash.h"
#include "base/message.h"
#include "base/program_id.h"

#include <limits.h>
#include <string.h>

#define ROW_SETS (2 * LODE_AREA_KINDS + 1)

/* Who adds a field sends it, too. */
_Static_assert(sizeof(struct lode_area_merge) == sizeof(struct lode_area) + 6 * 8,
	       "all numbers of a merge are sent");
_Static_assert(sizeof(struct lode_area) == sizeof(struct lode_dictionary) + sizeof(struct lode_arena) + 2 * 4 +
						   ROW_SETS * sizeof(struct lode_area_rows) + 3 * 8 +
						   3 * 8 * LODE_AREA_KINDS + sizeof(struct lode_unread_streams),
	       "all of an area is sent");

static struct lode_area_rows *rows_of(struct lode_area *area, int i)
{
	if (i < LODE_AREA_KINDS)
		return &area->rows[i];
	return i < 2 * LODE_AREA_KINDS ? &area->idle[i - LODE_AREA_KINDS] : &area->work;
}

static uint64_t program_digest(void)
{
	struct lode_buffer id = { 0 };
	uint64_t digest;

	lode_program_id(&id);
	digest = lode_digest_bytes(id.bytes, id.size);
	lode_buffer_release(&id);
	return digest;
}

/* ---- writing ---- */

static void write_strings(struct lode_buffer *message, const struct lode_strings *strings)
{
	size_t bytes = 0;

	for (size_t i = 0; i < strings->count; i++)
		bytes += (size_t)strings->items[i].length + 1;
	lode_buffer_u64(message, strings->count);
	lode_buffer_u64(message, bytes);
	for (size_t i = 0; i < strings->count; i++)
		lode_buffer_u32(message, strings->items[i].length);
	lode_message_fill_up(message, strings->count * sizeof(uint32_t));
	for (size_t i = 0; i < strings->count; i++)
		lode_buffer_add(message, strings->items[i].text, (size_t)strings->items[i].length + 1);
	lode_message_fill_up(message, bytes);
}

static void write_dictionary(struct lode_buffer *message, const struct lode_dictionary *dictionary)
{
	const struct lode_frames *frames = &dictionary->frames;

	write_strings(message, &frames->strings);
	lode_message_add_array(message, frames->modules, frames->module_count, sizeof(*frames->modules));
	lode_message_add_array(message, frames->items, frames->count, sizeof(*frames->items));
	lode_message_add_array(message, dictionary->tree.nodes, dictionary->tree.count,
			       sizeof(*dictionary->tree.nodes));
}

static void write_rows(struct lode_buffer *message, const struct lode_area_rows *rows)
{
	lode_buffer_u64(message, rows->cost);
	lode_buffer_u64(message, rows->events);
	lode_message_add_array(message, rows->items, rows->count, sizeof(*rows->items));
	lode_message_add_array(message, rows->spreads, rows->spread_count, sizeof(*rows->spreads));
}

static void write_streams(struct lode_buffer *message, const struct lode_area *area)
{
	size_t attributes = 0;

	lode_buffer_u64(message, area->stream_count);
	for (size_t i = 0; i < area->stream_count; i++) {
		struct lode_area_stream head = area->streams[i];

		attributes += head.attribute_count;
		head.attributes = NULL;
		lode_buffer_add(message, &head, sizeof(head));
	}
	lode_message_fill_up(message, area->stream_count * sizeof(*area->streams));
	lode_buffer_u64(message, attributes);
	for (size_t i = 0; i < area->stream_count; i++)
		if (area->streams[i].attribute_count)
			lode_buffer_add(message, area->streams[i].attributes,
					area->streams[i].attribute_count * sizeof(struct lode_attribute));
	lode_message_fill_up(message, attributes * sizeof(struct lode_attribute));
}

static size_t unread_bytes(const struct lode_unread_stream *stream)
{
	return strlen(stream->id) + strlen(stream->name) + strlen(stream->reason) + 3;
}

static void write_unread(struct lode_buffer *message, const struct lode_unread_streams *unread)
{
	size_t bytes = 0;

	for (size_t i = 0; i < unread->count; i++)
		bytes += unread_bytes(&unread->items[i]);
	lode_buffer_u64(message, unread->count);
	lode_buffer_u64(message, bytes);
	for (size_t i = 0; i < unread->count; i++)
		lode_buffer_u64(message, (uint64_t)(int64_t)unread->items[i].code);
	for (size_t i = 0; i < unread->count; i++) {
		lode_buffer_add(message, unread->items[i].id, strlen(unread->items[i].id) + 1);
		lode_buffer_add(message, unread->items[i].name, strlen(unread->items[i].name) + 1);
		lode_buffer_add(message, unread->items[i].reason, strlen(unread->items[i].reason) + 1);
	}
	lode_message_fill_up(message, bytes);
}

void lode_area_message_write(const struct lode_area_merge *merge, struct lode_buffer *message)
{
	const struct lode_area *area = &merge->area;

	lode_buffer_u64(message, program_digest());
	lode_buffer_u64(message, 0);
	write_dictionary(message, &area->dictionary);
	lode_message_add_array(message, area->occurrences, merge->node_count, sizeof(*area->occurrences));
	for (int i = 0; i < ROW_SETS; i++)
		write_rows(message, rows_of((struct lode_area *)(uintptr_t)area, i));
	write_streams(message, area);
	write_unread(message, &area->unread);
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++) {
		lode_buffer_u64(message, area->input_events[kind]);
		lode_buffer_u64(message, area->input_cost[kind]);
		lode_buffer_u64(message, area->recorded_events[kind]);
	}
	lode_buffer_u64(message, merge->wanted);
	lode_buffer_u64(message, merge->without);
	lode_buffer_u64(message, merge->repeated);
}

/* ---- reading ---- */

static int read_strings(struct lode_cursor *cursor, struct lode_strings *strings)
{
	uint64_t count = lode_cursor_u64(cursor), bytes = lode_cursor_u64(cursor);
	const uint32_t *lengths = lode_message_items(cursor, count, sizeof(*lengths));
	const char *texts = lode_message_items(cursor, bytes, 1);

	lode_message_expect(cursor, count > 0 && count < LODE_NONE);
	if (cursor->failed)
		return 0;
	strings->items = lode_calloc(count, sizeof(*strings->items));
	if (!strings->items)
		return LODE_SYSTEM;
	for (size_t i = 0; i < count && !cursor->failed; i++) {
		lode_message_expect(cursor,
				    lengths[i] < bytes && !texts[lengths[i]] && strlen(texts) == lengths[i]);
		if (cursor->failed)
			break;
		strings->items[strings->count++] = (struct lode_string){ texts, lengths[i] };
		texts += lengths[i] + 1;
		bytes -= (uint64_t)lengths[i] + 1;
	}
	lode_message_expect(cursor, !bytes && !strings->items[0].length);
	return 0;
}

static void read_frames(struct lode_cursor *cursor, struct lode_frames *frames)
{
	size_t strings = frames->strings.count;

	frames->modules = lode_message_array(cursor, &frames->module_count, sizeof(*frames->modules));
	frames->items = lode_message_array(cursor, &frames->count, sizeof(*frames->items));
	lode_message_expect(cursor, frames->module_count > 0 && frames->count < LODE_NONE);
	for (size_t i = 0; i < frames->module_count && !cursor->failed; i++)
		lode_message_expect(cursor, frames->modules[i].name < strings && frames->modules[i].path < strings &&
						    frames->modules[i].build_id < strings &&
						    frames->modules[i].kind < LODE_KINDS);
	for (size_t i = 0; i < frames->count && !cursor->failed; i++)
		lode_message_expect(cursor, frames->items[i].module < frames->module_count &&
						    frames->items[i].function < strings);
}

static int read_dictionary(struct lode_cursor *cursor, struct lode_dictionary *dictionary)
{
	struct lode_stack_tree *tree = &dictionary->tree;
	int code = read_strings(cursor, &dictionary->frames.strings);

	read_frames(cursor, &dictionary->frames);
	tree->nodes = lode_message_array(cursor, &tree->count, sizeof(*tree->nodes));
	lode_message_expect(cursor, tree->count > 0 && tree->count < LODE_NONE);
	for (size_t i = 1; i < tree->count && !cursor->failed; i++)
		lode_message_expect(cursor,
				    tree->nodes[i].parent < i && tree->nodes[i].frame < dictionary->frames.count);
	return code;
}

static void read_rows(struct lode_cursor *cursor, struct lode_area_rows *rows)
{
	rows->cost = lode_cursor_u64(cursor);
	rows->events = lode_cursor_u64(cursor);
	rows->items = lode_message_array(cursor, &rows->count, sizeof(*rows->items));
	rows->spreads = lode_message_array(cursor, &rows->spread_count, sizeof(*rows->spreads));
}

/* When nodes and streams are known. */
static void check_rows(struct lode_cursor *cursor, const struct lode_area *area, const struct lode_area_rows *rows)
{
	for (size_t i = 0; i < rows->count && !cursor->failed; i++)
		lode_message_expect(cursor, rows->items[i].stack < area->dictionary.tree.count &&
						    rows->items[i].stream < area->stream_count &&
						    rows->items[i].spread <= rows->spread_count);
}

static void check_head(struct lode_cursor *cursor, const struct lode_area_stream *head, size_t strings)
{
	lode_message_expect(cursor, head->name < strings && head->host < strings && head->symptom.name < strings &&
					    !head->id[sizeof(head->id) - 1]);
	for (size_t i = 0; i < head->attribute_count && !cursor->failed; i++)
		lode_message_expect(cursor,
				    head->attributes[i].key < strings && head->attributes[i].value < strings);
}

static int read_streams(struct lode_cursor *cursor, struct lode_area *area)
{
	size_t attributes, count;
	const struct lode_area_stream *heads = lode_message_array(cursor, &count, sizeof(*heads));
	struct lode_attribute *next = lode_message_array(cursor, &attributes, sizeof(*next));

	if (cursor->failed || !count) {
		lode_message_expect(cursor, !attributes);
		return 0;
	}
	area->streams = lode_calloc(count, sizeof(*area->streams));
	if (!area->streams)
		return LODE_SYSTEM;
	memcpy(area->streams, heads, count * sizeof(*heads));
	area->stream_count = count;
	for (size_t i = 0; i < count && !cursor->failed; i++) {
		struct lode_area_stream *head = &area->streams[i];

		lode_message_expect(cursor, head->attribute_count <= attributes);
		if (cursor->failed)
			break;
		head->attributes = next;
		attributes -= head->attribute_count;
		next += head->attribute_count;
		check_head(cursor, head, area->dictionary.frames.strings.count);
	}
	lode_message_expect(cursor, !attributes);
	return 0;
}

/* The text that is next of `*bytes`; "", and the cursor marked, when it has no end. */
static const char *read_text(struct lode_cursor *cursor, const char **texts, size_t *bytes)
{
	const char *text = *texts;
	size_t length = *bytes ? strnlen(text, *bytes) : 0;

	lode_message_expect(cursor, length < *bytes);
	if (cursor->failed)
		return "";
	*texts += length + 1;
	*bytes -= length + 1;
	return text;
}

static int read_unread(struct lode_cursor *cursor, struct lode_unread_streams *unread)
{
	uint64_t count = lode_cursor_u64(cursor), left = lode_cursor_u64(cursor);
	const int64_t *codes = lode_message_items(cursor, count, sizeof(*codes));
	const char *texts = lode_message_items(cursor, left, 1);
	size_t bytes = left;
	int code = 0;

	for (size_t i = 0; i < count && !cursor->failed && !code; i++) {
		struct lode_unread_stream stream = { .code = (int)codes[i] };

		lode_message_expect(cursor, codes[i] < 0 && codes[i] > INT_MIN);
		stream.id = read_text(cursor, &texts, &bytes);
		stream.name = read_text(cursor, &texts, &bytes);
		stream.reason = read_text(cursor, &texts, &bytes);
		if (!cursor->failed)
			code = lode_unread_streams_add(unread, &stream);
	}
	lode_message_expect(cursor, !bytes);
	return code;
}

static void read_sums(struct lode_cursor *cursor, struct lode_area_merge *merge)
{
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++) {
		merge->area.input_events[kind] = lode_cursor_u64(cursor);
		merge->area.input_cost[kind] = lode_cursor_u64(cursor);
		merge->area.recorded_events[kind] = lode_cursor_u64(cursor);
	}
	merge->wanted = lode_cursor_u64(cursor);
	merge->without = lode_cursor_u64(cursor);
	merge->repeated = lode_cursor_u64(cursor);
}

int lode_area_message_read(struct lode_area_message *received, struct lode_cursor message)
{
	struct lode_area_merge *merge = &received->merge;
	struct lode_area *area = &merge->area;
	struct lode_cursor *cursor = &message;
	int code;

	memset(received, 0, sizeof(*received));
	lode_message_expect(cursor, lode_cursor_u64(cursor) == program_digest());
	lode_message_expect(cursor, !lode_cursor_u64(cursor));
	code = read_dictionary(cursor, &area->dictionary);
	area->occurrences = lode_message_array(cursor, &merge->node_count, sizeof(*area->occurrences));
	lode_message_expect(cursor, merge->node_count <= area->dictionary.tree.count);
	for (int i = 0; i < ROW_SETS; i++)
		read_rows(cursor, rows_of(area, i));
	if (!code)
		code = read_streams(cursor, area);
	if (!code)
		code = read_unread(cursor, &area->unread);
	read_sums(cursor, merge);
	for (int i = 0; i < ROW_SETS; i++)
		check_rows(cursor, area, rows_of(area, i));
	lode_message_expect(cursor, !lode_cursor_left(cursor));
	return code ? code : cursor->failed ? LODE_BAD_INPUT : 0;
}

void lode_area_message_release(struct lode_area_message *received)
{
	lode_free(received->merge.area.dictionary.frames.strings.items);
	lode_free(received->merge.area.streams);
	lode_unread_streams_release(&received->merge.area.unread);
	memset(received, 0, sizeof(*received));
}

/* ---- up the tree ---- */

static void write_failure(struct lode_buffer *message, int code, const struct lode_error *error)
{
	lode_buffer_u64(message, program_digest());
	lode_message_add_failure(message, code, error);
}

/* The failure that a message tells of; 0 when it does not. */
static int read_failure(struct lode_cursor message, struct lode_error *error)
{
	if (lode_cursor_u64(&message) != program_digest())
		return lode_fail(
			error, LODE_SYSTEM,
			"another process of the job is another build of lode; install the same everywhere");
	return lode_message_failure(&message, error);
}

static int join_message(struct lode_area_merge *merge, struct lode_cursor message, struct lode_error *error)
{
	struct lode_area_message received = { 0 };
	int code = read_failure(message, error);

	if (code)
		return code;
	code = lode_area_message_read(&received, message);
	if (code == LODE_BAD_INPUT)
		code = lode_fail(error, LODE_SYSTEM, "another process of the job sent a damaged message");
	else if (code || lode_area_merge_join(merge, &received.merge) < 0)
		code = lode_fail_memory(error);
	lode_area_message_release(&received);
	return code;
}

/* The parent knows what failed; there is nothing more to say. */
static int send_up(const struct lode_area_merge *merge, const struct lode_job_rank *rank, int code,
		   struct lode_error *error)
{
	struct lode_buffer message = { 0 };
	int sent;

	if (!code)
		lode_area_message_write(merge, &message);
	if (message.failed) {
		lode_buffer_release(&message);
		code = lode_fail_memory(error);
	}
	if (code)
		write_failure(&message, code, error);
	sent = rank->send(rank->context, lode_job_parent(rank), message.bytes, message.size, error);
	lode_buffer_release(&message);
	return code ? code : sent;
}

int lode_area_merge_gather(struct lode_area_merge *merge, const struct lode_job_rank *rank, int code,
			   struct lode_error *error)
{
	struct lode_buffer message = { 0 };

	for (unsigned i = 0, child; (child = lode_job_child(rank, i)) != UINT_MAX; i++) {
		struct lode_error own = { "" };
		int received = rank->receive(rank->context, child, &message, &own);

		if (!received && !code)
			received = join_message(merge, lode_cursor(message.bytes, message.size), &own);
		if (received && !code)
			code = lode_fail(error, received, "%s", own.text);
		lode_buffer_release(&message);
	}
	return rank->number ? send_up(merge, rank, code, error) : code;
}
