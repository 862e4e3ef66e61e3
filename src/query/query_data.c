/*
 * The streams of a query: see query_data.h.
 *
 * A stream is opened when the first table needs it and stays open. Names and threads are read
 * without the stacks where that is enough, because stacks take most of the time.
 */
#include "query/query_data.h"

#include "base/clock.h"
#include "base/folded_frame.h"
#include "store/catalogue_attributes.h"

#include <stdlib.h>
#include <string.h>

int lode_query_no_memory(struct lode_query_data *data)
{
	if (!data->code)
		data->code = lode_fail_memory(&data->error);
	return data->code;
}

/* ---- opening ---- */

int lode_query_data_open(struct lode_query_data *data, struct lode_corpus *corpus,
			 const struct lode_corpus_list *list, const struct lode_query_options *options,
			 struct lode_error *error)
{
	memset(data, 0, sizeof(*data));
	data->corpus = corpus;
	data->options = *options;
	if (!data->options.memory)
		data->options.memory = LODE_QUERY_MEMORY;
	data->streams = lode_calloc(list->count + 1, sizeof(*data->streams));
	if (!data->streams || lode_dictionary_init(&data->dictionary) < 0)
		return lode_fail_memory(error);
	for (size_t i = 0; i < list->count; i++) {
		data->streams[i].entry = &list->items[i];
		data->streams[i].first_thread = data->thread_count;
		/* Numbers of threads are 32 bits in a stream; more are no threads. */
		data->thread_count += list->items[i].threads < LODE_NONE ? (int64_t)list->items[i].threads : 0;
		lode_stream_init(&data->streams[i].head, &data->dictionary);
	}
	data->stream_count = list->count;
	return 0;
}

void lode_query_data_close(struct lode_query_data *data)
{
	for (size_t i = 0; i < data->stream_count; i++) {
		lode_stream_release(&data->streams[i].head);
		lode_store_close(data->streams[i].store);
		lode_free(data->streams[i].processes);
	}
	lode_free(data->streams);
	lode_dictionary_release(&data->dictionary);
	lode_arena_release(&data->arena);
	lode_free(data->frame_texts.items);
	lode_free(data->attributes.items);
	lode_free(data->attribute_keys.items);
	lode_free(data->symptoms.items);
	lode_stack_globs_release(&data->globs);
	lode_unread_streams_release(&data->unread);
	memset(data, 0, sizeof(*data));
}

/* ---- loading ---- */

static int read_stream(struct lode_query_data *data, struct lode_query_stream *stream, enum lode_query_level level,
		       struct lode_error *error)
{
	int code = 0;

	if (!stream->store)
		code = lode_store_open(&stream->store, stream->entry->path, error);
	if (!code)
		stream->level = LODE_QUERY_OPENED;
	if (code || level == LODE_QUERY_OPENED)
		return code;
	lode_stream_release(&stream->head);
	lode_stream_init(&stream->head, &data->dictionary);
	code = level == LODE_QUERY_STACKS ? lode_store_head(stream->store, &stream->head, error)
					  : lode_store_brief_head(stream->store, &stream->head, error);
	if (!code && stream->head.thread_count > stream->entry->threads)
		code = lode_fail(error, LODE_BAD_INPUT,
				 "%s: has more threads than the catalogue says; 'lode fsck --repair' mends it",
				 stream->entry->path);
	if (!code)
		stream->level = level;
	return code;
}

int lode_query_leave_out(struct lode_query_data *data, size_t number, int code, const struct lode_error *error)
{
	struct lode_query_stream *stream = &data->streams[number];

	if (data->options.strict || !lode_stream_is_unreadable(stream->entry, code)) {
		data->code = code;
		data->error = *error;
		return code;
	}
	stream->unread = 1;
	return lode_unread_streams_add(&data->unread, &(struct lode_unread_stream){ .id = stream->entry->id,
										    .name = stream->entry->name,
										    .reason = error->text,
										    .code = code }) < 0
		       ? lode_query_no_memory(data)
		       : 0;
}

int lode_query_load(struct lode_query_data *data, size_t number, enum lode_query_level level)
{
	struct lode_query_stream *stream = &data->streams[number];
	struct lode_error error = { "" };
	int code;

	if (stream->unread || stream->level >= level)
		return 0;
	code = read_stream(data, stream, level, &error);
	return code ? lode_query_leave_out(data, number, code, &error) : 0;
}

int lode_query_load_all(struct lode_query_data *data, enum lode_query_level level)
{
	int code = 0;

	for (size_t i = 0; !code && i < data->stream_count; i++)
		code = lode_query_must_stop(data) ? LODE_USAGE : lode_query_load(data, i, level);
	return code;
}

size_t lode_query_stream_of(const struct lode_query_data *data, int64_t thread)
{
	size_t low = 0, high = data->stream_count;

	if (thread < 0 || thread >= data->thread_count)
		return data->stream_count;
	/* The last stream whose threads begin at or before this one; streams without threads are passed. */
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (data->streams[middle].first_thread <= thread)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* ---- attributes ---- */

struct collecting {
	struct lode_query_data *data;
	uint32_t corpus;
	size_t *order; /* streams by id */
};

static int compare_ids(const void *a, const void *b, void *context)
{
	const struct lode_query_stream *streams = context;

	return strcmp(streams[*(const size_t *)a].entry->id, streams[*(const size_t *)b].entry->id);
}

/* The stream with this id, if it is of the corpus that is read; LODE_NONE otherwise. */
static uint32_t find_stream(const struct collecting *collecting, const char *id)
{
	const struct lode_query_data *data = collecting->data;
	size_t low = 0, high = data->stream_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct lode_corpus_entry *entry = data->streams[collecting->order[middle]].entry;
		int order = strcmp(entry->id, id);

		if (!order)
			return entry->corpus == collecting->corpus ? (uint32_t)collecting->order[middle]
								   : LODE_NONE;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return LODE_NONE;
}

static int take_attribute(void *context, const char *id, const char *key, unsigned type, const char *value)
{
	struct collecting *collecting = context;
	struct lode_query_data *data = collecting->data;
	uint32_t stream = find_stream(collecting, id);
	struct lode_query_attribute attribute = { .stream = stream, .type = (uint8_t)type };

	if (stream == LODE_NONE)
		return 0;
	attribute.key = lode_arena_text(&data->arena, key, strlen(key));
	attribute.value = lode_arena_text(&data->arena, value, strlen(value));
	if (!attribute.key || !attribute.value)
		return LODE_SYSTEM;
	return LODE_PUSH(&data->attributes, attribute);
}

static int compare_attributes(const void *a, const void *b)
{
	const struct lode_query_attribute *x = a, *y = b;

	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	return strcmp(x->key, y->key);
}

int lode_query_load_attributes(struct lode_query_data *data)
{
	struct collecting collecting = { .data = data };
	struct lode_error error = { "" };
	int code = 0;

	if (data->has_attributes)
		return 0;
	collecting.order = lode_calloc(data->stream_count + 1, sizeof(*collecting.order));
	if (!collecting.order)
		return lode_query_no_memory(data);
	for (size_t i = 0; i < data->stream_count; i++)
		collecting.order[i] = i;
	qsort_r(collecting.order, data->stream_count, sizeof(*collecting.order), compare_ids, data->streams);
	for (; !code && collecting.corpus < lode_corpus_count(data->corpus); collecting.corpus++)
		code = lode_catalogue_attributes(lode_corpus_catalogue(
							 lode_corpus_member(data->corpus, collecting.corpus)),
						 take_attribute, &collecting, &error);
	lode_free(collecting.order);
	if (code && !error.text[0])
		return lode_query_no_memory(data);
	if (code) {
		data->error = error;
		return data->code = code;
	}
	if (data->attributes.count)
		qsort(data->attributes.items, data->attributes.count, sizeof(*data->attributes.items),
		      compare_attributes);
	data->has_attributes = 1;
	return 0;
}

/* ---- limits ---- */

int lode_query_report(struct lode_query_data *data, const char *phase, const char *unit, uint64_t done,
		      uint64_t total)
{
	if (data->stop || data->code)
		return 1;
	if (data->deadline && lode_now() > data->deadline)
		data->stop = LODE_QUERY_OUT_OF_TIME;
	else if (lode_progress_report(data->options.progress, phase, unit, done, total))
		data->stop = LODE_QUERY_STOPPED;
	return data->stop != LODE_QUERY_GOES_ON;
}

int lode_query_must_stop(struct lode_query_data *data)
{
	return lode_query_report(data, "query", "rows", 0, 0);
}

/* ---- texts ---- */

const char *lode_query_frame_text(struct lode_query_data *data, uint32_t frame)
{
	struct lode_buffer text = { 0 };
	const char **place = LODE_PLACE(&data->frame_texts, frame, NULL);

	if (!place || *place)
		return place ? *place : NULL;
	lode_frames_text(&data->dictionary.frames, frame, &text);
	if (!text.failed)
		*place = lode_arena_text(&data->arena, text.size ? text.bytes : "", text.size);
	lode_buffer_release(&text);
	return *place;
}

static void put_frame(struct lode_query_data *data, uint32_t frame, int folded, struct lode_buffer *buffer)
{
	const char *text = lode_query_frame_text(data, frame);
	size_t start = buffer->size;

	buffer->failed |= !text;
	lode_buffer_text(buffer, !text ? "" : folded && !*text ? LODE_FOLDED_NO_NAME : text);
	if (folded && !buffer->failed)
		lode_folded_clean(buffer->bytes + start, buffer->size - start);
}

static void put_frames(struct lode_query_data *data, uint32_t stack, int folded, struct lode_buffer *buffer)
{
	const struct lode_stack_tree *tree = &data->dictionary.tree;
	uint32_t frames[LODE_STACK_DEPTH_LIMIT];
	uint32_t depth = lode_stack_tree_depth(tree, stack);

	if (depth > LODE_STACK_DEPTH_LIMIT) { /* no stream file has such a stack */
		buffer->failed = 1;
		return;
	}
	lode_stack_tree_frames(tree, stack, frames, depth);
	for (uint32_t i = 0; i < depth; i++) {
		if (i)
			lode_buffer_byte(buffer, ';');
		put_frame(data, frames[i], folded, buffer);
	}
}

void lode_query_text_of(struct lode_query_data *data, uint32_t stack, struct lode_buffer *buffer)
{
	put_frames(data, stack, 0, buffer);
}

void lode_query_folded_of(struct lode_query_data *data, uint32_t stack, struct lode_buffer *buffer)
{
	put_frames(data, stack, 1, buffer);
}

uint32_t lode_query_stack_of(const struct lode_query_data *data, sqlite3_value *value)
{
	int64_t number;

	if (sqlite3_value_numeric_type(value) != SQLITE_INTEGER)
		return LODE_NONE;
	number = sqlite3_value_int64(value);
	return number >= 0 && (uint64_t)number < data->dictionary.tree.count ? (uint32_t)number : LODE_NONE;
}
