/*
 * Latencies as a message: see latency_message.h.
 *
 *	the dictionary (trace/dictionary_message.h)
 *	streams, rows, own latencies by node: number, array
 *	streams that were left out (store/unread_streams.h)
 *	seven counts
 *	classes of nodes by node, sums of classes, steps of their sketches, what is unsure by node: number, array
 *	counts and steps of all sketches: number of words, array; of each sketch its counts, 4 bytes each, then its steps, 2 bytes each,
 *	filled up to a multiple of 4
 *
 * Numbers have 8 bytes, and arrays are filled up to a multiple of 8.
 */
#include "latency/latency_message.h"

#include "base/job_gather.h"
#include "base/message.h"
#include "trace/dictionary_message.h"

#include <string.h>

/* Who adds a field sends it, too. */
_Static_assert(sizeof(struct lode_latency) == sizeof(struct lode_dictionary) + 7 * 8 + sizeof(struct lode_sketch) +
						      sizeof(struct lode_instances_input) + 3 * 8 +
						      sizeof(struct lode_unread_streams),
	       "all of the latencies is sent");
_Static_assert(sizeof(struct lode_instances_input) == 4 * 8, "all counts are sent");

/* A class of merged sums, without what only counts while others are added. */
struct class_sums {
	struct lode_latency_node sums;
	uint64_t variance_low;
	uint64_t variance_high;
};

/* How many 4-byte words the counts and steps take. */
static size_t row_words(uint32_t count)
{
	return count + ((size_t)count + 1) / 2;
}

/* ---- writing ---- */

static void write_rows(struct lode_buffer *message, const struct lode_merged_sums *sums)
{
	size_t words = 0;

	lode_buffer_u64(message, sums->class_count);
	for (size_t i = 0; i < sums->class_count; i++) {
		lode_buffer_u32(message, sums->sketch.rows[i].count);
		words += row_words(sums->sketch.rows[i].count);
	}
	lode_message_fill_up(message, sums->class_count * sizeof(uint32_t));
	lode_buffer_u64(message, words);
	for (size_t i = 0; i < sums->class_count; i++) {
		const struct lode_sketch_row *row = &sums->sketch.rows[i];

		if (!row->count)
			continue;
		lode_buffer_add(message, row->counts, row->count * sizeof(*row->counts));
		lode_buffer_add(message, row->counts + row->capacity, row->count * sizeof(uint16_t));
		if (row->count % 2)
			lode_buffer_add(message, "\0", sizeof(uint16_t));
	}
	lode_message_fill_up(message, words * sizeof(uint32_t));
}

static void write_sums(struct lode_buffer *message, const struct lode_merged_sums *sums)
{
	lode_message_add_array(message, sums->class_of, sums->node_count, sizeof(*sums->class_of));
	lode_buffer_u64(message, sums->class_count);
	for (size_t i = 0; i < sums->class_count; i++) {
		const struct lode_sums_class *cls = &sums->classes[i];
		const struct class_sums item = { cls->sums, (uint64_t)cls->variance,
						 (uint64_t)(cls->variance >> 64) };

		lode_buffer_add(message, &item, sizeof(item));
	}
	write_rows(message, sums);
	lode_message_add_array(message, sums->unsure, sums->unsure_count, sizeof(*sums->unsure));
}

void lode_latency_message_write(const struct lode_latency_merge *merge, struct lode_buffer *message)
{
	const struct lode_latency *latency = &merge->latency;
	const uint64_t counts[] = { latency->input.events,  latency->input.no_stack, latency->input.idle,
				    latency->input.threads, latency->instances,      latency->placed,
				    latency->unplaced };

	lode_dictionary_message_write(&latency->dictionary, message);
	lode_message_add_array(message, latency->streams, latency->stream_count, sizeof(*latency->streams));
	lode_message_add_array(message, latency->rows, latency->row_count, sizeof(*latency->rows));
	lode_message_add_array(message, latency->own, latency->node_count, sizeof(*latency->own));
	lode_unread_streams_write(&latency->unread, message);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		lode_buffer_u64(message, counts[i]);
	write_sums(message, &merge->sums);
}

/* ---- reading ---- */

/* Steps are in order, and none is beyond what a number can have. */
static int are_steps(const uint16_t *steps, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (steps[i] <= steps[i - 1])
			return 0;
	return !count || steps[count - 1] <= lode_sketch_step(UINT64_MAX);
}

static int read_rows(struct lode_cursor *cursor, struct lode_merged_sums *sums)
{
	size_t count, words;
	const uint32_t *counts = lode_message_array(cursor, &count, sizeof(*counts));
	uint32_t *next = lode_message_array(cursor, &words, sizeof(*next));

	lode_message_expect(cursor, count == sums->class_count);
	if (cursor->failed)
		return 0;
	sums->sketch.rows = lode_calloc(count + 1, sizeof(*sums->sketch.rows));
	if (!sums->sketch.rows)
		return LODE_SYSTEM;
	for (size_t i = 0; i < count && !cursor->failed; i++) {
		size_t own = row_words(counts[i]);

		lode_message_expect(cursor, own <= words);
		if (cursor->failed || !counts[i])
			continue;
		lode_message_expect(cursor, are_steps((const uint16_t *)(next + counts[i]), counts[i]));
		sums->sketch.rows[i] = (struct lode_sketch_row){ next, counts[i], counts[i] };
		next += own;
		words -= own;
	}
	sums->sketch.count = count;
	lode_message_expect(cursor, !words);
	return 0;
}

static int read_classes(struct lode_cursor *cursor, struct lode_merged_sums *sums)
{
	size_t count;
	const struct class_sums *items = lode_message_array(cursor, &count, sizeof(*items));

	if (cursor->failed || !count)
		return 0;
	sums->classes = lode_calloc(count, sizeof(*sums->classes));
	if (!sums->classes)
		return LODE_SYSTEM;
	sums->class_count = count;
	for (size_t i = 0; i < count; i++) {
		sums->classes[i].sums = items[i].sums;
		sums->classes[i].variance = (lode_variance)items[i].variance_high << 64 | items[i].variance_low;
	}
	return 0;
}

/* `nodes`: how many the tree has. */
static int read_sums(struct lode_cursor *cursor, struct lode_merged_sums *sums, size_t nodes)
{
	int code;

	sums->class_of = lode_message_array(cursor, &sums->node_count, sizeof(*sums->class_of));
	lode_message_expect(cursor, sums->node_count <= nodes);
	code = read_classes(cursor, sums);
	for (size_t i = 0; i < sums->node_count && !cursor->failed; i++)
		lode_message_expect(cursor, sums->class_of[i] < sums->class_count || !sums->class_of[i]);
	if (!code)
		code = read_rows(cursor, sums);
	sums->unsure = lode_message_array(cursor, &sums->unsure_count, sizeof(*sums->unsure));
	lode_message_expect(cursor, sums->unsure_count <= nodes);
	return code;
}

static void read_lists(struct lode_cursor *cursor, struct lode_latency *latency)
{
	size_t strings = latency->dictionary.frames.strings.count, nodes = latency->dictionary.tree.count;

	latency->streams = lode_message_array(cursor, &latency->stream_count, sizeof(*latency->streams));
	latency->rows = lode_message_array(cursor, &latency->row_count, sizeof(*latency->rows));
	latency->own = lode_message_array(cursor, &latency->node_count, sizeof(*latency->own));
	lode_message_expect(cursor, latency->node_count <= nodes);
	for (size_t i = 0; i < latency->stream_count && !cursor->failed; i++)
		lode_message_expect(cursor, latency->streams[i].name < strings &&
						    !latency->streams[i].id[sizeof(latency->streams[i].id) - 1]);
	for (size_t i = 0; i < latency->row_count && !cursor->failed; i++)
		lode_message_expect(cursor, latency->rows[i].node < nodes &&
						    latency->rows[i].stream < latency->stream_count);
}

int lode_latency_message_read(struct lode_latency_message *received, struct lode_cursor message)
{
	struct lode_latency *latency = &received->merge.latency;
	uint64_t *const counts[] = { &latency->input.events,  &latency->input.no_stack, &latency->input.idle,
				     &latency->input.threads, &latency->instances,      &latency->placed,
				     &latency->unplaced };
	struct lode_cursor *cursor = &message;
	int code;

	memset(received, 0, sizeof(*received));
	code = lode_dictionary_message_read(cursor, &latency->dictionary);
	read_lists(cursor, latency);
	if (!code)
		code = lode_unread_streams_read(cursor, &latency->unread);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		*counts[i] = lode_cursor_u64(cursor);
	if (!code)
		code = read_sums(cursor, &received->merge.sums, latency->dictionary.tree.count);
	lode_message_expect(cursor, !lode_cursor_left(cursor));
	return code ? code : cursor->failed ? LODE_BAD_INPUT : 0;
}

void lode_latency_message_release(struct lode_latency_message *received)
{
	lode_free(received->merge.latency.dictionary.frames.strings.items);
	lode_unread_streams_release(&received->merge.latency.unread);
	lode_free(received->merge.sums.classes);
	lode_free(received->merge.sums.sketch.rows);
	memset(received, 0, sizeof(*received));
}

/* ---- up the tree ---- */

static void write_part(void *context, struct lode_buffer *message)
{
	lode_latency_message_write(context, message);
}

static int join_part(void *context, struct lode_cursor message)
{
	struct lode_latency_message received = { 0 };
	int code = lode_latency_message_read(&received, message);

	if (!code)
		code = lode_latency_merge_join(context, &received.merge);
	lode_latency_message_release(&received);
	return code;
}

int lode_latency_merge_gather(struct lode_latency_merge *merge, const struct lode_job_rank *rank, int code,
			      struct lode_error *error)
{
	return lode_job_gather(rank, &(struct lode_job_gathering){ write_part, join_part, merge }, code, error);
}
