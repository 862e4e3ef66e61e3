/*
 * Reading the stream file: see store.h.
 *
 * Opening maps the file and reads the footer. The head (dictionary, threads,
 * attributes, symptoms) is read in file order; the file's ids are translated
 * into those of the caller's dictionary through one map a kind. Events are read
 * one block and only the wanted columns at a time, straight from the map.
 *
 * Nothing in the file is trusted: a block is used only when its checksum holds,
 * every id is checked against what was read before, and the number of dictionary
 * rows is bounded by the size of the file, because rows that cost no bytes could
 * otherwise claim any amount of memory.
 */
#include "trace/store_read.h"

#include "base/cursor.h"
#include "trace/store_codec.h"
#include "trace/store_tables.h"

#include <string.h>

/* Dictionary rows a file may hold: a few, and more in proportion to its size. */
#define ROWS_A_BYTE 16
#define ROWS_ALWAYS (1u << 20)
/* Bytes of text a file may hold in all, for each of its own, beyond what one block may hold. */
#define TEXT_A_BYTE 256

static int fail_damaged(const struct lode_store *store, uint64_t offset, const char *what, struct lode_error *error)
{
	return lode_fail(error, LODE_BAD_INPUT,
			 "%s:%#llx: %s; 'lode fsck --repair' saves what is whole", store->path,
			 (unsigned long long)offset, what);
}

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
		return fail_damaged(store, 0, "the file header is damaged", error);
	cursor = lode_cursor(bytes + 8, 4);
	version = lode_cursor_u32(&cursor);
	if (version != LODE_STORE_VERSION)
		return lode_fail(error, LODE_BAD_INPUT,
				 "%s: is of format version %u, this Lode knows version %d; use a newer Lode",
				 store->path, version, LODE_STORE_VERSION);
	return 0;
}

int lode_store_map(struct lode_store **result, const char *path, int salvage, struct lode_error *error)
{
	struct lode_store *store = lode_calloc(1, sizeof(*store));
	int code;

	*result = NULL;
	if (!store || !(store->path = lode_strdup(path)) || !(store->spare = lode_calloc(1, sizeof(*store->spare)))) {
		lode_store_close(store);
		return lode_fail_memory(error);
	}
	store->salvage = salvage;
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

void lode_store_close(struct lode_store *store)
{
	if (!store)
		return;
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
	if (lode_grow(&store->blocks, &store->block_capacity, store->block_count + 1, sizeof(*store->blocks)) < 0)
		return LODE_SYSTEM;
	store->blocks[store->block_count++] = (struct lode_block){ offset, *header };
	return 0;
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
		store->events[store->event_count++] = (struct lode_store_block){
			.type = header->type, .count = header->rows, .first_t = header->first, .last_t = header->last
		};
	}
	return 0;
}

/* ---- columns of a block ---- */

static struct lode_codec *take_codec(const struct lode_store *store)
{
	struct lode_codec *codec = atomic_exchange(&store->spare->codec, NULL);

	return codec ? codec : lode_codec_create();
}

static void give_codec(const struct lode_store *store, struct lode_codec *codec)
{
	lode_codec_destroy(atomic_exchange(&store->spare->codec, codec));
}

/* One block, checked, its columns found and ready to be unpacked. */
struct table {
	struct lode_block_header header;
	uint64_t offset;
	struct lode_packed columns[LODE_TABLE_COLUMNS];
	unsigned found; /* bit mask */
};

/* Finds all columns of the kind; each must be there once. Returns what is wrong, or NULL. */
static const char *find_columns(const struct lode_store *store, struct table *table)
{
	const unsigned char *bytes = store->map.bytes + table->offset + LODE_BLOCK_HEADER_SIZE;
	struct lode_cursor payload = lode_cursor(bytes, table->header.size);
	unsigned count = lode_table_column_count(table->header.kind);

	for (unsigned i = 0; i < table->header.columns; i++) {
		struct lode_packed packed;

		if (lode_codec_next(&payload, &packed) < 0)
			return "a column is damaged";
		if (packed.number >= count)
			continue; /* of a later version */
		if (table->found & 1u << packed.number)
			return "a column is there twice";
		table->columns[packed.number] = packed;
		table->found |= 1u << packed.number;
	}
	if (table->found != (1u << count) - 1)
		return "a column is missing";
	return lode_cursor_left(&payload) ? "bytes are left behind the columns" : NULL;
}

/* Checks the block at `offset` and finds its columns. */
static const char *open_table(const struct lode_store *store, uint64_t offset, struct table *table)
{
	const char *wrong;

	memset(table, 0, sizeof(*table));
	table->offset = offset;
	wrong = lode_block_header_read(&table->header, store->map.bytes + offset, store->map.size - offset);
	return wrong ? wrong : find_columns(store, table);
}

static int unpack(struct lode_codec *codec, const struct table *table, unsigned number, void *values, size_t count)
{
	const struct lode_table_column *column = &lode_table_columns(table->header.kind)[number];

	return lode_codec_unpack(codec, &table->columns[number], values, count, column->width, column->plus_one);
}

/* ---- the footer ---- */

struct footer {
	uint64_t *offsets, *firsts, *lasts;
	uint32_t *rows;
	uint8_t *kinds, *types;
};

static int unpack_footer(struct lode_codec *codec, const struct table *table, struct footer *footer)
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
	code = unpack(codec, table, LODE_FOOTER_OFFSET, footer->offsets, count);
	if (!code)
		code = unpack(codec, table, LODE_FOOTER_KIND, footer->kinds, count);
	if (!code)
		code = unpack(codec, table, LODE_FOOTER_TYPE, footer->types, count);
	if (!code)
		code = unpack(codec, table, LODE_FOOTER_ROWS, footer->rows, count);
	if (!code)
		code = unpack(codec, table, LODE_FOOTER_FIRST, footer->firsts, count);
	if (!code)
		code = unpack(codec, table, LODE_FOOTER_LAST, footer->lasts, count);
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
static int list_blocks(struct lode_store *store, const struct table *table, const struct footer *footer)
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

int lode_store_read_footer(struct lode_store *store, struct lode_error *error)
{
	const unsigned char *tail = store->map.bytes + store->map.size - LODE_TAIL_SIZE;
	struct lode_cursor cursor;
	struct lode_codec *codec;
	struct footer footer = { 0 };
	struct table table;
	const char *wrong;
	uint64_t offset;
	int code;

	if (store->map.size < LODE_FILE_HEADER_SIZE + LODE_BLOCK_HEADER_SIZE + LODE_TAIL_SIZE ||
	    memcmp(tail + 8, LODE_TAIL_MAGIC, 8) != 0)
		return fail_damaged(store, store->map.size, "the file was cut off", error);
	cursor = lode_cursor(tail, LODE_TAIL_SIZE);
	offset = lode_cursor_u64(&cursor);
	lode_cursor_u64(&cursor);
	if (lode_cursor_u64(&cursor) != lode_checksum(tail, 16, 0) || offset < LODE_FILE_HEADER_SIZE ||
	    offset > store->map.size - LODE_TAIL_SIZE - LODE_BLOCK_HEADER_SIZE)
		return fail_damaged(store, store->map.size - LODE_TAIL_SIZE, "the tail is damaged", error);
	wrong = open_table(store, offset, &table);
	if (wrong || table.header.kind != LODE_BLOCK_FOOTER ||
	    table.header.rows > store->map.size / LODE_BLOCK_HEADER_SIZE)
		return fail_damaged(store, offset, wrong ? wrong : "the footer is damaged", error);
	codec = lode_codec_create();
	code = codec ? unpack_footer(codec, &table, &footer) : LODE_SYSTEM;
	if (!code)
		code = list_blocks(store, &table, &footer);
	lode_codec_destroy(codec);
	release_footer(&footer);
	if (code == LODE_SYSTEM)
		return lode_fail_memory(error);
	return code ? fail_damaged(store, offset, "the footer is damaged", error) : 0;
}

int lode_store_open(struct lode_store **result, const char *path, struct lode_error *error)
{
	struct lode_store *store;
	int code = lode_store_map(&store, path, 0, error);

	*result = NULL;
	if (code)
		return code;
	code = lode_store_read_footer(store, error);
	if (!code && lode_store_list_events(store) < 0)
		code = lode_fail_memory(error);
	if (code) {
		lode_store_close(store);
		return code;
	}
	*result = store;
	return 0;
}

size_t lode_store_blocks(const struct lode_store *store)
{
	return store->event_count;
}

const struct lode_store_block *lode_store_block(const struct lode_store *store, size_t i)
{
	return &store->events[i];
}

/* ---- the head: dictionary, threads, attributes, symptoms ---- */

/* What reading the head carries from block to block. */
struct head {
	struct lode_store *store;
	struct lode_stream *stream;
	struct lode_codec *codec;
	struct table table;
	uint32_t *columns[4];   /* as many numbers as the largest block has rows */
	uint64_t *wide[2];      /* the same for times */
	uint8_t *bytes;         /* the text of a block of strings, and small columns */
	size_t bytes_capacity;
	uint64_t text;          /* bytes of all strings so far */
	const char *wrong;      /* what a damaged file did */
};

/* One sentence for both: the caller asks `wrong` first. */
static int damaged(struct head *head, const char *what)
{
	head->wrong = what;
	return LODE_BAD_INPUT;
}

/* Makes the map reach to `end`; ids that no block gave a meaning are LODE_NONE. */
static int extend_map(struct head *head, struct lode_id_map *map, uint64_t first, uint64_t end)
{
	uint64_t limit = ROWS_ALWAYS + (uint64_t)head->store->map.size * ROWS_A_BYTE;

	if (first > map->count && !head->store->salvage)
		return damaged(head, "a block of the dictionary is missing");
	if (end > limit || end >= LODE_NONE)
		return damaged(head, "the dictionary claims more than the file can hold");
	if (lode_grow(&map->ids, &map->capacity, end, sizeof(*map->ids)) < 0)
		return LODE_SYSTEM;
	if (first > map->count)
		map->identity = 0;
	while (map->count < end)
		map->ids[map->count++] = LODE_NONE;
	return 0;
}

static void set_id(struct lode_id_map *map, uint64_t id, uint32_t meaning)
{
	map->ids[id] = meaning;
	if (meaning != id)
		map->identity = 0;
}

/* The meaning of a file's id: `lost` where its block is lost, LODE_NONE where it never had one. */
static uint32_t meaning(const struct lode_id_map *map, uint32_t id, uint32_t lost)
{
	uint32_t result = id < map->count ? map->ids[id] : LODE_NONE;

	return result == LODE_NONE ? lost : result;
}

static uint32_t string_of(const struct head *head, uint32_t id)
{
	return meaning(&head->store->strings, id, head->store->lost_string);
}

static int unpack_rows(struct head *head, unsigned number, void *values)
{
	int code = unpack(head->codec, &head->table, number, values, head->table.header.rows);

	return code == LODE_BAD_INPUT ? damaged(head, "a column is damaged") : code;
}

static int read_strings(struct head *head)
{
	struct lode_strings *strings = &head->stream->dictionary->frames.strings;
	uint32_t *lengths = head->columns[0];
	uint64_t first = head->table.header.first, rows = head->table.header.rows, total = 0, at = 0;
	int code = unpack_rows(head, LODE_STRINGS_LENGTH, lengths);

	for (size_t i = 0; !code && i < rows; i++)
		total += lengths[i];
	head->text += total;
	if (!code && (total > LODE_BLOCK_TEXT_LIMIT ||
		      head->text > LODE_BLOCK_TEXT_LIMIT + (uint64_t)head->store->map.size * TEXT_A_BYTE))
		return damaged(head, "strings are too long");
	if (!code && lode_grow(&head->bytes, &head->bytes_capacity, total, 1) < 0)
		return LODE_SYSTEM;
	if (!code)
		code = unpack(head->codec, &head->table, LODE_STRINGS_BYTES, head->bytes, total);
	if (code == LODE_BAD_INPUT)
		return damaged(head, "strings are damaged");
	if (!code)
		code = extend_map(head, &head->store->strings, first, first + rows);
	for (size_t i = 0; !code && i < rows; i++) {
		uint32_t id = lode_strings_add(strings, (char *)head->bytes + at, lengths[i]);

		if (id == LODE_NONE)
			return LODE_SYSTEM;
		set_id(&head->store->strings, first + i, id);
		at += lengths[i];
	}
	return code;
}

static int read_module(struct head *head, uint64_t row, const uint32_t fields[3], uint8_t kind)
{
	struct lode_frames *frames = &head->stream->dictionary->frames;
	uint32_t name = string_of(head, fields[0]);
	uint32_t path = string_of(head, fields[1]);
	uint32_t build_id = string_of(head, fields[2]);
	const struct lode_string *text;
	size_t known = frames->module_count;
	uint32_t id;

	if (name == LODE_NONE || path == LODE_NONE || build_id == LODE_NONE || kind >= LODE_KINDS)
		return damaged(head, "a module is damaged");
	text = &frames->strings.items[name];
	id = lode_frames_module(frames, text->text, text->length);
	if (id == LODE_NONE)
		return LODE_SYSTEM;
	/* A dictionary that is shared by many streams keeps what the first of them said. */
	if (id >= known)
		frames->modules[id].kind = kind;
	if (!frames->modules[id].path)
		frames->modules[id].path = path;
	if (!frames->modules[id].build_id)
		frames->modules[id].build_id = build_id;
	set_id(&head->store->modules, row, id);
	return 0;
}

static int read_modules(struct head *head)
{
	uint64_t first = head->table.header.first, rows = head->table.header.rows;
	int code = 0;

	if (lode_grow(&head->bytes, &head->bytes_capacity, rows, 1) < 0)
		return LODE_SYSTEM;
	for (unsigned i = 0; !code && i < 3; i++)
		code = unpack_rows(head, i, head->columns[i]);
	if (!code)
		code = unpack_rows(head, LODE_MODULES_KIND, head->bytes);
	if (!code)
		code = extend_map(head, &head->store->modules, first, first + rows);
	for (size_t i = 0; !code && i < rows; i++) {
		uint32_t fields[3] = { head->columns[0][i], head->columns[1][i], head->columns[2][i] };

		code = read_module(head, first + i, fields, head->bytes[i]);
	}
	return code;
}

static int read_frames(struct head *head)
{
	struct lode_store *store = head->store;
	uint64_t first = head->table.header.first, rows = head->table.header.rows;
	int code = unpack_rows(head, LODE_FRAMES_MODULE, head->columns[0]);

	if (!code)
		code = unpack_rows(head, LODE_FRAMES_FUNCTION, head->columns[1]);
	if (!code)
		code = extend_map(head, &store->frames, first, first + rows);
	for (size_t i = 0; !code && i < rows; i++) {
		uint32_t module = meaning(&store->modules, head->columns[0][i], store->salvage ? 0 : LODE_NONE);
		uint32_t function = string_of(head, head->columns[1][i]);
		uint32_t id;

		if (module == LODE_NONE || function == LODE_NONE)
			return damaged(head, "a frame is damaged");
		id = lode_frames_pair(&head->stream->dictionary->frames, module, function);
		if (id == LODE_NONE)
			return LODE_SYSTEM;
		set_id(&store->frames, first + i, id);
	}
	return code;
}

static int read_node(struct head *head, uint64_t row, uint32_t parent, uint32_t frame)
{
	struct lode_store *store = head->store;
	uint32_t above = parent < row ? meaning(&store->nodes, parent, store->lost_node) : LODE_NONE;
	uint32_t called = meaning(&store->frames, frame, store->lost_frame);
	uint32_t id;

	if (above == LODE_NONE || called == LODE_NONE || store->depths[parent] >= LODE_STACK_DEPTH_LIMIT)
		return damaged(head, "a stack is damaged");
	id = lode_stack_tree_child(&head->stream->dictionary->tree, above, called);
	if (id == LODE_NONE)
		return LODE_SYSTEM;
	store->depths[row] = (uint16_t)(store->depths[parent] + 1);
	set_id(&store->nodes, row, id);
	return 0;
}

static int read_nodes(struct head *head)
{
	struct lode_store *store = head->store;
	uint64_t first = head->table.header.first, rows = head->table.header.rows;
	size_t known = store->nodes.count;
	int code = unpack_rows(head, LODE_NODES_PARENT, head->columns[0]);

	if (!code)
		code = unpack_rows(head, LODE_NODES_FRAME, head->columns[1]);
	if (!code)
		code = extend_map(head, &store->nodes, first, first + rows);
	if (!code && lode_grow(&store->depths, &store->depth_capacity, store->nodes.count, sizeof(*store->depths)) < 0)
		return LODE_SYSTEM;
	for (size_t i = known; !code && i < store->nodes.count; i++)
		store->depths[i] = 1; /* where the block is lost: a child of the empty stack */
	for (size_t i = 0; !code && i < rows; i++)
		code = read_node(head, first + i, head->columns[0][i], head->columns[1][i]);
	return code;
}

static int read_threads(struct head *head)
{
	uint64_t first = head->table.header.first, rows = head->table.header.rows;
	int code = 0;

	for (unsigned i = 0; !code && i < 3; i++)
		code = unpack_rows(head, i, head->columns[i]);
	if (!code)
		code = extend_map(head, &head->store->threads, first, first + rows);
	for (size_t i = 0; !code && i < rows; i++) {
		uint32_t name = string_of(head, head->columns[LODE_THREADS_NAME][i]);
		uint32_t id;

		if (name == LODE_NONE)
			return damaged(head, "a thread's name is damaged");
		id = lode_stream_thread(head->stream, head->columns[LODE_THREADS_PID][i],
					head->columns[LODE_THREADS_TID][i]);
		if (id == LODE_NONE)
			return LODE_SYSTEM;
		head->stream->threads[id].name = name;
		set_id(&head->store->threads, first + i, id);
	}
	return code;
}

static int read_stream_head(struct head *head)
{
	int code = unpack_rows(head, LODE_HEAD_NAME, head->columns[0]);

	if (!code)
		code = unpack_rows(head, LODE_HEAD_HOST, head->columns[1]);
	if (code || !head->table.header.rows)
		return code;
	head->stream->name = string_of(head, head->columns[0][0]);
	head->stream->host = string_of(head, head->columns[1][0]);
	if (head->stream->name == LODE_NONE || head->stream->host == LODE_NONE)
		return damaged(head, "the stream's name is damaged");
	return 0;
}

static int read_attributes(struct head *head)
{
	const struct lode_strings *strings = &head->stream->dictionary->frames.strings;
	uint64_t rows = head->table.header.rows;
	int code = unpack_rows(head, LODE_ATTRIBUTES_KEY, head->columns[0]);

	if (lode_grow(&head->bytes, &head->bytes_capacity, rows, 1) < 0)
		return LODE_SYSTEM;
	if (!code)
		code = unpack_rows(head, LODE_ATTRIBUTES_VALUE, head->columns[1]);
	if (!code)
		code = unpack_rows(head, LODE_ATTRIBUTES_TYPE, head->bytes);
	for (size_t i = 0; !code && i < rows; i++) {
		uint32_t key = string_of(head, head->columns[0][i]);
		uint32_t value = string_of(head, head->columns[1][i]);

		if (key == LODE_NONE || value == LODE_NONE || head->bytes[i] > LODE_ATTRIBUTE_BOOL)
			return damaged(head, "an attribute is damaged");
		code = lode_stream_set_attribute(head->stream, lode_strings_get(strings, key),
						 lode_strings_get(strings, value), head->bytes[i]);
	}
	return code;
}

static int read_symptoms(struct head *head)
{
	int code = unpack_rows(head, LODE_SYMPTOMS_THREAD, head->columns[0]);

	if (!code)
		code = unpack_rows(head, LODE_SYMPTOMS_NAME, head->columns[1]);
	if (!code)
		code = unpack_rows(head, LODE_SYMPTOMS_T0, head->wide[0]);
	if (!code)
		code = unpack_rows(head, LODE_SYMPTOMS_T1, head->wide[1]);
	for (size_t i = 0; !code && i < head->table.header.rows; i++) {
		struct lode_symptom symptom = { .thread = meaning(&head->store->threads, head->columns[0][i],
								  head->store->lost_thread),
						.name = string_of(head, head->columns[1][i]),
						.t0 = head->wide[0][i],
						.t1 = head->wide[1][i] };

		if (symptom.thread == LODE_NONE || symptom.name == LODE_NONE || symptom.t0 > symptom.t1)
			return damaged(head, "a symptom is damaged");
		if (head->table.header.first + i < head->stream->symptom_count)
			head->stream->symptoms[head->table.header.first + i] = symptom;
		else
			code = lode_stream_add_symptom(head->stream, &symptom);
	}
	return code;
}

static int read_head_block(struct head *head, const struct lode_block *block)
{
	const char *wrong = open_table(head->store, block->offset, &head->table);

	if (!wrong && (head->table.header.kind != block->header.kind || head->table.header.rows != block->header.rows ||
		       head->table.header.first > UINT32_MAX))
		wrong = "the footer and a block do not agree";
	if (wrong)
		return damaged(head, wrong);
	switch (block->header.kind) {
	case LODE_BLOCK_STRINGS:
		return read_strings(head);
	case LODE_BLOCK_MODULES:
		return read_modules(head);
	case LODE_BLOCK_FRAMES:
		return read_frames(head);
	case LODE_BLOCK_NODES:
		return read_nodes(head);
	case LODE_BLOCK_THREADS:
		return read_threads(head);
	case LODE_BLOCK_HEAD:
		return read_stream_head(head);
	case LODE_BLOCK_ATTRIBUTES:
		return read_attributes(head);
	default:
		return read_symptoms(head);
	}
}

/* Where a block is lost its ids read as `[lost]`; in a whole file no such id may be used. */
static int prepare_lost(struct lode_store *store, struct lode_stream *stream)
{
	struct lode_dictionary *dictionary = stream->dictionary;

	store->lost_string = store->lost_frame = store->lost_node = store->lost_thread = LODE_NONE;
	if (!store->salvage)
		return 0;
	store->lost_string = lode_strings_add(&dictionary->frames.strings, "[lost]", 6);
	store->lost_frame = lode_frames_add(&dictionary->frames, 0, "[lost]", 6);
	store->lost_node = lode_stack_tree_child(&dictionary->tree, 0, store->lost_frame);
	store->lost_thread = lode_stream_thread(stream, LODE_NO_PID, 0);
	if (store->lost_string == LODE_NONE || store->lost_node == LODE_NONE || store->lost_thread == LODE_NONE)
		return LODE_SYSTEM;
	stream->threads[store->lost_thread].name = store->lost_string;
	return 0;
}

/* Rows of the largest block that is no block of events; what lists blocks has bounded it. */
static size_t most_rows(const struct lode_store *store)
{
	size_t most = 0;

	for (size_t i = 0; i < store->block_count; i++)
		if (store->blocks[i].header.kind != LODE_BLOCK_EVENTS_OF_A_TYPE && store->blocks[i].header.rows > most)
			most = store->blocks[i].header.rows;
	return most;
}

/* Room for the stack nodes that the file claims, as far as its size makes the claim likely. */
static int reserve_nodes(const struct head *head)
{
	struct lode_stack_tree *tree = &head->stream->dictionary->tree;
	size_t claimed = 0;

	for (size_t i = 0; i < head->store->block_count; i++)
		if (head->store->blocks[i].header.kind == LODE_BLOCK_NODES)
			claimed += head->store->blocks[i].header.rows;
	if (claimed > head->store->map.size / 2)
		claimed = head->store->map.size / 2;
	return lode_stack_tree_reserve(tree, tree->count + claimed);
}

static int prepare_head(struct head *head)
{
	size_t rows = most_rows(head->store);
	struct lode_store *store = head->store;
	struct lode_id_map *maps[] = { &store->strings, &store->modules, &store->frames, &store->nodes,
				       &store->threads };

	head->codec = lode_codec_create();
	for (size_t i = 0; i < 4; i++)
		head->columns[i] = lode_calloc(rows, sizeof(uint32_t));
	for (size_t i = 0; i < 2; i++)
		head->wide[i] = lode_calloc(rows, sizeof(uint64_t));
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		maps[i]->count = 0;
		maps[i]->identity = 1;
	}
	if (!head->codec || !head->columns[0] || !head->columns[1] || !head->columns[2] || !head->columns[3] ||
	    !head->wide[0] || !head->wide[1] || prepare_lost(store, head->stream) < 0 ||
	    reserve_nodes(head) < 0 || extend_map(head, &store->nodes, 0, 1) < 0 ||
	    lode_grow(&store->depths, &store->depth_capacity, 1, sizeof(*store->depths)) < 0)
		return LODE_SYSTEM;
	set_id(&store->nodes, 0, 0);
	store->depths[0] = 0;
	return 0;
}

static void release_head(struct head *head)
{
	lode_codec_destroy(head->codec);
	for (size_t i = 0; i < 4; i++)
		lode_free(head->columns[i]);
	for (size_t i = 0; i < 2; i++)
		lode_free(head->wide[i]);
	lode_free(head->bytes);
}

int lode_store_head(struct lode_store *store, struct lode_stream *stream, struct lode_error *error)
{
	struct head head = { .store = store, .stream = stream };
	uint64_t offset = 0;
	int code = prepare_head(&head);

	for (size_t i = 0; !code && i < store->block_count; i++) {
		offset = store->blocks[i].offset;
		if (store->blocks[i].header.kind != LODE_BLOCK_EVENTS_OF_A_TYPE)
			code = read_head_block(&head, &store->blocks[i]);
	}
	release_head(&head);
	if (code == LODE_BAD_INPUT)
		return fail_damaged(store, offset, head.wrong, error);
	return code ? lode_fail_memory(error) : 0;
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
		ids[i] = meaning(map, ids[i], lost);
		if (ids[i] == LODE_NONE)
			return -1;
	}
	return 0;
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
	    (columns & LODE_NAME && translate(events->name, count, &store->strings, store->lost_string, 0)))
		return -1;
	return 0;
}

/* Returns 0, LODE_SYSTEM, or LODE_BAD_INPUT with what is wrong. */
static int unpack_events(const struct lode_store *store, const struct table *table, unsigned columns,
			 struct lode_events *events, const char **wrong)
{
	struct lode_codec *codec = take_codec(store);
	void *const values[] = { events->t,     events->cost,        events->delay, events->thread, events->stack,
				 events->waker, events->waker_stack, events->name,  events->cpu };
	int code = codec ? 0 : LODE_SYSTEM;

	for (unsigned i = 0; !code && i < LODE_TABLE_COLUMNS; i++)
		if (columns & 1u << i)
			code = unpack(codec, table, i, values[i], table->header.rows);
	*wrong = "a column of events is damaged";
	give_codec(store, codec);
	events->count = table->header.rows;
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
	struct table table;
	const char *wrong = open_table(store, block->offset, &table);
	int code;

	if (!wrong && (table.header.kind != LODE_BLOCK_EVENTS_OF_A_TYPE || table.header.rows != block->header.rows ||
		       table.header.type != block->header.type))
		wrong = "the footer and a block do not agree";
	if (wrong)
		return fail_damaged(store, block->offset, wrong, error);
	if (lode_events_reserve(events, table.header.rows ? table.header.rows : 1, columns) < 0)
		return lode_fail_memory(error);
	code = unpack_events(store, &table, columns, events, &wrong);
	if (code == LODE_BAD_INPUT)
		return fail_damaged(store, block->offset, wrong, error);
	return code ? lode_fail_memory(error) : 0;
}

/* Reads block `i` behind what the stream has already. */
static int load_block(const struct lode_store *store, size_t i, struct lode_stream *stream, struct lode_error *error)
{
	const struct lode_store_block *block = lode_store_block(store, i);
	struct lode_events *all = &stream->events[block->type];
	struct lode_events rest;
	int code;

	if (lode_events_reserve(all, all->count + block->count, LODE_ALL_COLUMNS) < 0)
		return lode_fail_memory(error);
	rest = (struct lode_events){
		.capacity = all->capacity - all->count,
		.t = all->t + all->count,
		.cost = all->cost + all->count,
		.delay = all->delay + all->count,
		.thread = all->thread + all->count,
		.stack = all->stack + all->count,
		.waker = all->waker + all->count,
		.waker_stack = all->waker_stack + all->count,
		.name = all->name + all->count,
		.cpu = all->cpu + all->count,
	};
	if (!block->count)
		return 0;
	code = lode_store_events(store, i, LODE_ALL_COLUMNS, &rest, error);
	if (!code)
		all->count += rest.count;
	return code;
}

int lode_store_load(const char *path, struct lode_stream *stream, struct lode_error *error)
{
	size_t counts[LODE_EVENT_TYPES] = { 0 };
	struct lode_store *store;
	int code = lode_store_open(&store, path, error);

	if (code)
		return code;
	code = lode_store_head(store, stream, error);
	for (size_t i = 0; i < lode_store_blocks(store); i++)
		counts[lode_store_block(store, i)->type] += lode_store_block(store, i)->count;
	for (int type = 0; !code && type < LODE_EVENT_TYPES; type++)
		if (counts[type] &&
		    lode_events_reserve(&stream->events[type], counts[type], LODE_ALL_COLUMNS) < 0)
			code = lode_fail_memory(error);
	for (size_t i = 0; !code && i < lode_store_blocks(store); i++)
		code = load_block(store, i, stream, error);
	lode_store_close(store);
	if (!code && lode_stream_sort(stream) < 0)
		code = lode_fail_memory(error);
	return code;
}
