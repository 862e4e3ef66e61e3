/*
 * Reading the stream file: see store.h.
 *
 * Opening maps the file and reads the footer. The head is read by store_head.c;
 * events are read here, one block and only the wanted columns at a time, straight
 * from the map.
 *
 * Nothing in the file is trusted: a block is used only if its checksum is right,
 * and every id must refer to something that the head defines.
 */
#include "store/store_file.h"

#include "base/cursor.h"

#include <string.h>

/* ---- opening ---- */

int lode_store_check_header(const struct lode_store *store, struct lode_error *error)
{
	const unsigned char *bytes = store->map.bytes;
	struct lode_cursor cursor;
	uint32_t version;

	if (store->map.size < LODE_FILE_HEADER_SIZE || memcmp(bytes, LODE_FILE_MAGIC, 8) != 0)
		return lode_fail(error, LODE_BAD_INPUT, "%s: is not a Lode stream; 'lode import' makes them",
				 store->path);
	cursor = lode_cursor(bytes + 24, 8);
	if (lode_cursor_u64(&cursor) != lode_checksum(bytes, 24, 0))
		return lode_store_fail(store, 0, "the file header is damaged", error);
	cursor = lode_cursor(bytes + 8, 4);
	version = lode_cursor_u32(&cursor);
	if (version != LODE_STORE_VERSION)
		return lode_fail(error, LODE_BAD_INPUT,
				 "%s: is of format version %u, this Lode knows version %d; use a newer Lode",
				 store->path, version, LODE_STORE_VERSION);
	return 0;
}

/* Over `memory`, or where that is NULL over the file. */
static int map_store(struct lode_store **result, const char *path, const struct lode_map *memory, int salvage,
		     struct lode_error *error)
{
	struct lode_store *store = lode_calloc(1, sizeof(*store));
	int code = 0;

	*result = NULL;
	if (!store || !(store->path = lode_strdup(path)) ||
	    !(store->spare = lode_calloc(1, sizeof(*store->spare)))) {
		lode_store_close(store);
		return lode_fail_memory(error);
	}
	store->salvage = salvage;
	store->is_memory = memory != NULL;
	if (memory)
		store->map = *memory;
	else
		code = lode_map_open(&store->map, path, error);
	if (!code && !salvage)
		code = lode_store_check_header(store, error);
	if (code) {
		lode_store_close(store);
		return code;
	}
	*result = store;
	return 0;
}

int lode_store_map(struct lode_store **result, const char *path, int salvage, struct lode_error *error)
{
	return map_store(result, path, NULL, salvage, error);
}

void lode_store_close(struct lode_store *store)
{
	if (!store)
		return;
	if (!store->is_memory)
		lode_map_close(&store->map);
	if (store->spare)
		lode_codec_destroy(atomic_load(&store->spare->codec));
	lode_free(store->spare);
	lode_free(store->strings.ids);
	lode_free(store->modules.ids);
	lode_free(store->frames.ids);
	lode_free(store->nodes.ids);
	lode_free(store->threads.ids);
	lode_free(store->depths);
	lode_free(store->blocks);
	lode_free(store->events);
	lode_free(store->event_blocks);
	lode_free(store->path);
	lode_free(store);
}

int lode_store_add_block(struct lode_store *store, uint64_t offset, const struct lode_block_header *header)
{
	return LODE_APPEND(store->blocks, store->block_count, store->block_capacity,
			   (struct lode_block){ offset, *header });
}

int lode_store_list_events(struct lode_store *store)
{
	store->events = lode_calloc(store->block_count, sizeof(*store->events));
	store->event_blocks = lode_calloc(store->block_count, sizeof(*store->event_blocks));
	if (!store->events || !store->event_blocks)
		return LODE_SYSTEM;
	for (size_t i = 0; i < store->block_count; i++) {
		const struct lode_block_header *header = &store->blocks[i].header;

		if (header->kind != LODE_BLOCK_EVENTS_OF_A_TYPE)
			continue;
		store->event_blocks[store->event_count] = i;
		store->events[store->event_count++] = (struct lode_store_block){ .type = header->type,
										 .count = header->rows,
										 .first_t = header->first,
										 .last_t = header->last };
	}
	return 0;
}

/* ---- codecs ---- */

static struct lode_codec *acquire_codec(const struct lode_store *store)
{
	struct lode_codec *codec = atomic_exchange(&store->spare->codec, NULL);

	return codec ? codec : lode_codec_create();
}

static void give_codec(const struct lode_store *store, struct lode_codec *codec)
{
	lode_codec_destroy(atomic_exchange(&store->spare->codec, codec));
}

/* ---- the footer ---- */

struct footer {
	uint64_t *offsets, *firsts, *lasts;
	uint32_t *rows;
	uint8_t *kinds, *types;
};

static int unpack_footer(struct lode_codec *codec, const struct lode_store_table *table, struct footer *footer)
{
	size_t count = table->header.rows;
	int code;

	footer->offsets = lode_calloc(count, sizeof(*footer->offsets));
	footer->firsts = lode_calloc(count, sizeof(*footer->firsts));
	footer->lasts = lode_calloc(count, sizeof(*footer->lasts));
	footer->rows = lode_calloc(count, sizeof(*footer->rows));
	footer->kinds = lode_calloc(count, sizeof(*footer->kinds));
	footer->types = lode_calloc(count, sizeof(*footer->types));
	if (!footer->offsets || !footer->firsts || !footer->lasts || !footer->rows || !footer->kinds ||
	    !footer->types)
		return LODE_SYSTEM;
	code = lode_table_unpack(codec, table, LODE_FOOTER_OFFSET, footer->offsets, count);
	if (!code)
		code = lode_table_unpack(codec, table, LODE_FOOTER_KIND, footer->kinds, count);
	if (!code)
		code = lode_table_unpack(codec, table, LODE_FOOTER_TYPE, footer->types, count);
	if (!code)
		code = lode_table_unpack(codec, table, LODE_FOOTER_ROWS, footer->rows, count);
	if (!code)
		code = lode_table_unpack(codec, table, LODE_FOOTER_FIRST, footer->firsts, count);
	if (!code)
		code = lode_table_unpack(codec, table, LODE_FOOTER_LAST, footer->lasts, count);
	return code;
}

static void release_footer(struct footer *footer)
{
	lode_free(footer->offsets);
	lode_free(footer->firsts);
	lode_free(footer->lasts);
	lode_free(footer->rows);
	lode_free(footer->kinds);
	lode_free(footer->types);
}

/* Whether a block may begin at `offset`: behind the one before it and, with its header, before the footer. */
static int fits(uint64_t offset, uint64_t after, uint64_t footer)
{
	return offset >= after && offset <= footer && footer - offset >= LODE_BLOCK_HEADER_SIZE;
}

/* Takes over what the footer says; blocks must follow one another inside the file. */
static int list_blocks(struct lode_store *store, const struct lode_store_table *table, const struct footer *footer)
{
	uint64_t after = LODE_FILE_HEADER_SIZE;

	for (size_t i = 0; i < table->header.rows; i++) {
		struct lode_block_header header = { .kind = footer->kinds[i],
						    .type = footer->types[i],
						    .rows = footer->rows[i],
						    .first = footer->firsts[i],
						    .last = footer->lasts[i] };

		if (!fits(footer->offsets[i], after, table->offset) || header.kind == 0 ||
		    header.kind >= LODE_BLOCK_FOOTER || header.type >= LODE_EVENT_TYPES ||
		    header.rows > LODE_BLOCK_ROWS)
			return LODE_BAD_INPUT;
		if (lode_store_add_block(store, footer->offsets[i], &header) < 0)
			return LODE_SYSTEM;
		after = footer->offsets[i] + LODE_BLOCK_HEADER_SIZE;
	}
	return 0;
}

/* Reads the footer into the list of blocks. */
static int read_footer(struct lode_store *store, struct lode_error *error)
{
	const unsigned char *tail = store->map.bytes + store->map.size - LODE_TAIL_SIZE;
	struct lode_cursor cursor;
	struct lode_codec *codec;
	struct footer footer = { 0 };
	struct lode_store_table table;
	const char *wrong;
	uint64_t offset;
	int code;

	if (store->map.size < LODE_FILE_HEADER_SIZE + LODE_BLOCK_HEADER_SIZE + LODE_TAIL_SIZE ||
	    memcmp(tail + 8, LODE_TAIL_MAGIC, 8) != 0)
		return lode_store_fail(store, store->map.size, "the file was cut off", error);
	cursor = lode_cursor(tail, LODE_TAIL_SIZE);
	offset = lode_cursor_u64(&cursor);
	lode_cursor_u64(&cursor);
	if (lode_cursor_u64(&cursor) != lode_checksum(tail, 16, 0) || offset < LODE_FILE_HEADER_SIZE ||
	    offset > store->map.size - LODE_TAIL_SIZE - LODE_BLOCK_HEADER_SIZE)
		return lode_store_fail(store, store->map.size - LODE_TAIL_SIZE, "the tail is damaged", error);
	wrong = lode_table_open(store, offset, &table);
	if (wrong || table.header.kind != LODE_BLOCK_FOOTER ||
	    table.header.rows > store->map.size / LODE_BLOCK_HEADER_SIZE)
		return lode_store_fail(store, offset, wrong ? wrong : "the footer is damaged", error);
	codec = lode_codec_create();
	code = codec ? unpack_footer(codec, &table, &footer) : LODE_SYSTEM;
	if (!code)
		code = list_blocks(store, &table, &footer);
	lode_codec_destroy(codec);
	release_footer(&footer);
	if (code == LODE_SYSTEM)
		return lode_fail_memory(error);
	return code ? lode_store_fail(store, offset, "the footer is damaged", error) : 0;
}

static int open_store(struct lode_store **result, const char *path, const struct lode_map *memory,
		      struct lode_error *error)
{
	struct lode_store *store;
	int code = map_store(&store, path, memory, 0, error);

	*result = NULL;
	if (code)
		return code;
	code = read_footer(store, error);
	if (!code && lode_store_list_events(store) < 0)
		code = lode_fail_memory(error);
	if (code) {
		lode_store_close(store);
		return code;
	}
	*result = store;
	return 0;
}

int lode_store_open(struct lode_store **store, const char *path, struct lode_error *error)
{
	return open_store(store, path, NULL, error);
}

int lode_store_open_memory(struct lode_store **store, const char *name, const void *bytes, size_t size,
			   struct lode_error *error)
{
	const struct lode_map memory = { bytes, size };

	return open_store(store, name, &memory, error);
}

int lode_store_verify(const char *path, struct lode_error *error)
{
	struct lode_store *store;
	int code = lode_store_open(&store, path, error);

	if (code)
		return code;
	for (size_t i = 0; i < store->block_count && !code; i++) {
		struct lode_store_table table;
		const char *wrong = lode_table_open(store, store->blocks[i].offset, &table);

		if (wrong)
			code = lode_store_fail(store, store->blocks[i].offset, wrong, error);
	}
	lode_store_close(store);
	return code;
}

size_t lode_store_blocks(const struct lode_store *store)
{
	return store->event_count;
}

const struct lode_store_block *lode_store_block(const struct lode_store *store, size_t i)
{
	return &store->events[i];
}

void lode_store_digest(const struct lode_store *store, struct lode_buffer *buffer)
{
	uint64_t high = lode_checksum(store->map.bytes, LODE_FILE_HEADER_SIZE, store->map.size), low = 0;

	for (size_t i = 0; i < store->block_count; i++) {
		const unsigned char *header = store->map.bytes + store->blocks[i].offset;

		/* Two chains of different beginnings: 128 bits in all. */
		high = lode_checksum(header, LODE_BLOCK_HEADER_SIZE, high);
		low = lode_checksum(header, LODE_BLOCK_HEADER_SIZE, low);
	}
	lode_buffer_u64(buffer, high);
	lode_buffer_u64(buffer, low);
}

/* ---- events ---- */

/* Turns the file's ids into the dictionary's; non-zero when one has no meaning. */
static int translate(uint32_t *ids, size_t count, const struct lode_id_map *map, uint32_t lost, int none_allowed)
{
	uint32_t beyond = 0; /* one more than the highest id */
	uint32_t none = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t end = ids[i] + 1; /* wraps to 0 for "none" */

		beyond = end > beyond ? end : beyond;
		none |= end == 0;
	}
	if (none && !none_allowed)
		return -1;
	if (map->identity && beyond <= map->count)
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (ids[i] == LODE_NONE)
			continue;
		ids[i] = lode_id_meaning(map, ids[i], lost);
		if (ids[i] == LODE_NONE)
			return -1;
	}
	return 0;
}

int lode_store_keeps_stacks(const struct lode_store *store)
{
	return store->nodes.identity;
}

int lode_store_translate_stacks(const struct lode_store *store, uint32_t *ids, size_t count)
{
	return translate(ids, count, &store->nodes, store->lost_node, 0) ? LODE_BAD_INPUT : 0;
}

/* The columns of events that hold ids, and what they mean. */
static int translate_columns(const struct lode_store *store, unsigned columns, struct lode_events *events)
{
	size_t count = events->count;

	if ((columns & LODE_THREAD && translate(events->thread, count, &store->threads, store->lost_thread, 0)) ||
	    (columns & LODE_WAKER && translate(events->waker, count, &store->threads, store->lost_thread, 1)) ||
	    (columns & LODE_STACK && translate(events->stack, count, &store->nodes, store->lost_node, 0)) ||
	    (columns & LODE_WAKER_STACK &&
	     translate(events->waker_stack, count, &store->nodes, store->lost_node, 0)) ||
	    (columns & LODE_NAME && translate(events->name, count, &store->strings, store->lost_string, 0)) ||
	    (columns & LODE_OBJECT && translate(events->object, count, &store->strings, store->lost_string, 0)) ||
	    (columns & LODE_HOLDER && translate(events->holder, count, &store->threads, store->lost_thread, 1)) ||
	    (columns & LODE_CONTEXT && translate(events->context, count, &store->strings, store->lost_string, 0)))
		return -1;
	return 0;
}

/* Weights that are not there are 1; no event has the weight 0. */
static int settle_weights(const struct lode_store_table *table, uint32_t *weights)
{
	for (size_t i = 0; i < table->header.rows; i++) {
		if (!(table->found & 1u << LODE_EVENTS_WEIGHT))
			weights[i] = 1;
		else if (!weights[i])
			return -1;
	}
	return 0;
}

/* Objects, holders and contexts that are not there are unknown. */
static void settle_objects(const struct lode_store_table *table, unsigned columns, struct lode_events *events)
{
	if (columns & ~table->found & LODE_OBJECT)
		memset(events->object, 0, table->header.rows * sizeof(*events->object));
	if (columns & ~table->found & LODE_HOLDER)
		memset(events->holder, 0xff, table->header.rows * sizeof(*events->holder));
	if (columns & ~table->found & LODE_CONTEXT)
		memset(events->context, 0, table->header.rows * sizeof(*events->context));
}

/* Returns 0, LODE_SYSTEM, or LODE_BAD_INPUT with what is wrong. */
static int unpack_events(const struct lode_store *store, const struct lode_store_table *table, unsigned columns,
			 struct lode_events *events, const char **wrong)
{
	struct lode_codec *codec = acquire_codec(store);
	void *const values[] = { events->t,      events->cost,   events->delay,       events->thread,
				 events->stack,  events->waker,  events->waker_stack, events->name,
				 events->cpu,    events->weight, events->object,      events->holder,
				 events->context };
	int code = codec ? 0 : LODE_SYSTEM;

	for (unsigned i = 0; !code && i < LODE_TABLE_COLUMNS; i++)
		if (columns & table->found & 1u << i)
			code = lode_table_unpack(codec, table, i, values[i], table->header.rows);
	*wrong = "a column of events is damaged";
	give_codec(store, codec);
	events->count = table->header.rows;
	settle_objects(table, columns, events);
	if (!code && columns & LODE_WEIGHT && settle_weights(table, events->weight) < 0) {
		*wrong = "a weight is 0";
		code = LODE_BAD_INPUT;
	}
	if (!code && translate_columns(store, columns, events) < 0) {
		*wrong = "an event names something that is not there";
		code = LODE_BAD_INPUT;
	}
	return code;
}

int lode_store_events(const struct lode_store *store, size_t i, unsigned columns, struct lode_events *events,
		      struct lode_error *error)
{
	const struct lode_block *block = &store->blocks[store->event_blocks[i]];
	struct lode_store_table table;
	const char *wrong = lode_table_open(store, block->offset, &table);
	int code;

	if (!wrong && (table.header.kind != LODE_BLOCK_EVENTS_OF_A_TYPE ||
		       table.header.rows != block->header.rows || table.header.type != block->header.type))
		wrong = "the footer and a block do not agree";
	if (wrong)
		return lode_store_fail(store, block->offset, wrong, error);
	if (lode_events_reserve(events, table.header.rows ? table.header.rows : 1, columns) < 0)
		return lode_fail_memory(error);
	code = unpack_events(store, &table, columns, events, &wrong);
	if (code == LODE_BAD_INPUT)
		return lode_store_fail(store, block->offset, wrong, error);
	return code ? lode_fail_memory(error) : 0;
}

/* The free places behind the events of a set, as a separate set. */
static struct lode_events behind(const struct lode_events *all)
{
	size_t n = all->count;

	return (struct lode_events){
		.capacity = all->capacity - n,
		.t = all->t ? all->t + n : NULL,
		.cost = all->cost ? all->cost + n : NULL,
		.delay = all->delay ? all->delay + n : NULL,
		.thread = all->thread ? all->thread + n : NULL,
		.stack = all->stack ? all->stack + n : NULL,
		.waker = all->waker ? all->waker + n : NULL,
		.waker_stack = all->waker_stack ? all->waker_stack + n : NULL,
		.name = all->name ? all->name + n : NULL,
		.cpu = all->cpu ? all->cpu + n : NULL,
		.weight = all->weight ? all->weight + n : NULL,
		.object = all->object ? all->object + n : NULL,
		.holder = all->holder ? all->holder + n : NULL,
		.context = all->context ? all->context + n : NULL,
	};
}

/* Makes room for all events of the file, so that reading them moves nothing. */
static int make_room(const struct lode_store *store, struct lode_stream *stream,
		     const unsigned columns[LODE_EVENT_TYPES])
{
	size_t counts[LODE_EVENT_TYPES] = { 0 };

	for (size_t i = 0; i < lode_store_blocks(store); i++)
		counts[lode_store_block(store, i)->type] += lode_store_block(store, i)->count;
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		if (counts[type] && columns[type] &&
		    lode_events_reserve(&stream->events[type], counts[type], columns[type]) < 0)
			return LODE_SYSTEM;
	return 0;
}

int lode_store_load_events(const struct lode_store *store, struct lode_stream *stream,
			   const unsigned columns[LODE_EVENT_TYPES], struct lode_error *error)
{
	if (make_room(store, stream, columns) < 0)
		return lode_fail_memory(error);
	for (size_t i = 0; i < lode_store_blocks(store); i++) {
		const struct lode_store_block *block = lode_store_block(store, i);
		struct lode_events *all = &stream->events[block->type];
		struct lode_events rest = behind(all);
		int code;

		if (!block->count || !columns[block->type])
			continue;
		code = lode_store_events(store, i, columns[block->type], &rest, error);
		if (code)
			return code;
		all->count += rest.count;
	}
	return lode_stream_sort(stream) < 0 ? lode_fail_memory(error) : 0;
}

int lode_store_load(const char *path, struct lode_stream *stream, struct lode_error *error)
{
	static const unsigned all[LODE_EVENT_TYPES] = { LODE_ALL_COLUMNS, LODE_ALL_COLUMNS, LODE_ALL_COLUMNS };
	struct lode_store *store;
	int code = lode_store_open(&store, path, error);

	if (code)
		return code;
	code = lode_store_head(store, stream, error);
	if (!code)
		code = lode_store_load_events(store, stream, all, error);
	lode_store_close(store);
	return code;
}
