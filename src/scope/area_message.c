/*
 * An area as a message: see area_message.h.
 *
 *	the dictionary (trace/dictionary_message.h)
 *	sums by node: number, array
 *	rows, five sets: number of rows and of spreads, sums; both arrays
 *	chains: links, rows
 *	streams: number, array; attributes of all: number, array
 *	streams that were left out: number, bytes of all texts; a code each; id, name and reason of each
 *	other sums
 *
 * Numbers have 8 bytes, and arrays are filled up to a multiple of 8.
 */
#include "scope/area_message.h"

#include "base/job_gather.h"
#include "base/message.h"
#include "trace/dictionary_message.h"

#include <string.h>

#define ROW_SETS (2 * LODE_AREA_KINDS + 1)

/* Who adds a field sends it, too. */
_Static_assert(sizeof(struct lode_area_merge) == sizeof(struct lode_area) + 6 * 8,
	       "all numbers of a merge are sent");
_Static_assert(sizeof(struct lode_area) == sizeof(struct lode_dictionary) + sizeof(struct lode_arena) + 6 * 4 +
						   ROW_SETS * sizeof(struct lode_area_rows) +
						   sizeof(struct lode_chains) + 3 * 8 + 3 * 8 * LODE_AREA_KINDS +
						   sizeof(struct lode_unread_streams),
	       "all of an area is sent");

static struct lode_area_rows *rows_of(struct lode_area *area, int i)
{
	if (i < LODE_AREA_KINDS)
		return &area->rows[i];
	return i < 2 * LODE_AREA_KINDS ? &area->idle[i - LODE_AREA_KINDS] : &area->work;
}

/* ---- writing ---- */

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

void lode_area_message_write(const struct lode_area_merge *merge, struct lode_buffer *message)
{
	const struct lode_area *area = &merge->area;

	lode_dictionary_message_write(&area->dictionary, message);
	lode_message_add_array(message, area->occurrences, merge->node_count, sizeof(*area->occurrences));
	for (int i = 0; i < ROW_SETS; i++)
		write_rows(message, rows_of((struct lode_area *)(uintptr_t)area, i));
	lode_message_add_array(message, area->chains.links, area->chains.link_count, sizeof(*area->chains.links));
	lode_message_add_array(message, area->chains.rows, area->chains.row_count, sizeof(*area->chains.rows));
	write_streams(message, area);
	lode_unread_streams_write(&area->unread, message);
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
	code = lode_dictionary_message_read(cursor, &area->dictionary);
	area->occurrences = lode_message_array(cursor, &merge->node_count, sizeof(*area->occurrences));
	lode_message_expect(cursor, merge->node_count <= area->dictionary.tree.count);
	for (int i = 0; i < ROW_SETS; i++)
		read_rows(cursor, rows_of(area, i));
	area->chains.links = lode_message_array(cursor, &area->chains.link_count, sizeof(*area->chains.links));
	area->chains.rows = lode_message_array(cursor, &area->chains.row_count, sizeof(*area->chains.rows));
	if (!code)
		code = read_streams(cursor, area);
	if (!code)
		code = lode_unread_streams_read(cursor, &area->unread);
	read_sums(cursor, merge);
	for (int i = 0; i < ROW_SETS; i++)
		check_rows(cursor, area, rows_of(area, i));
	lode_message_expect(cursor, lode_chains_are_valid(&area->chains, &area->dictionary, area->stream_count));
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

static void write_part(void *context, struct lode_buffer *message)
{
	lode_area_message_write(context, message);
}

static int join_part(void *context, struct lode_cursor message)
{
	struct lode_area_message received = { 0 };
	int code = lode_area_message_read(&received, message);

	if (!code)
		code = lode_area_merge_join(context, &received.merge);
	lode_area_message_release(&received);
	return code;
}

int lode_area_merge_gather(struct lode_area_merge *merge, const struct lode_job_rank *rank, int code,
			   struct lode_error *error)
{
	return lode_job_gather(rank, &(struct lode_job_gathering){ write_part, join_part, merge }, code, error);
}
