/*
 * Reading the head of a stream file: dictionary, threads, attributes, symptoms;
 * see store.h.
 *
 * Blocks are read in file order, and the file's ids are translated into those of
 * the caller's dictionary through one map per kind. Every id is checked against
 * what was read before, and the number of dictionary rows is bounded by the size
 * of the file, because rows that cost no bytes could otherwise claim any amount
 * of memory.
 */
#include "store/store_file.h"
#include "trace/script_modules.h"

#include <string.h>

/* Dictionary rows a file may hold: a few, and more in proportion to its size. */
#define ROWS_A_BYTE 16
#define ROWS_ALWAYS (1u << 20)
/* Bytes of text a file may hold in all, for each of its own, beyond what one block may hold. */
#define TEXT_A_BYTE 256

/* What reading the head carries from block to block. */
struct head {
	struct lode_store *store;
	struct lode_stream *stream;
	struct lode_codec *codec;
	struct lode_store_table table;
	uint32_t *columns[4]; /* as many numbers as the largest block has rows */
	uint64_t *wide[2];    /* the same for times */
	uint8_t *bytes;       /* the text of a block of strings, and small columns */
	size_t bytes_capacity;
	uint64_t text;     /* bytes of all strings so far */
	int alone;         /* nothing but this file is in the dictionary */
	int brief;         /* no modules, frames and stacks */
	const char *wrong; /* what a damaged file did */
};

/* One sentence for both: the caller asks `wrong` first. */
static int damaged(struct head *head, const char *what)
{
	head->wrong = what;
	return LODE_BAD_INPUT;
}

static int check_end(struct head *head, const struct lode_id_map *map, uint64_t first, uint64_t end)
{
	uint64_t limit = ROWS_ALWAYS + (uint64_t)head->store->map.size * ROWS_A_BYTE;

	if (first > map->count && !head->store->salvage)
		return damaged(head, "a block of the dictionary is missing");
	if (end > limit || end >= LODE_NONE)
		return damaged(head, "the dictionary claims more than the file can hold");
	return 0;
}

/* Makes the map reach to `end`; ids that no block gave a meaning are LODE_NONE. */
static int extend_map(struct head *head, struct lode_id_map *map, uint64_t first, uint64_t end)
{
	int code = check_end(head, map, first, end);

	if (code)
		return code;
	if (LODE_GROW(map->ids, map->capacity, end > map->count ? end : map->count) < 0)
		return LODE_SYSTEM;
	if (first > map->count)
		map->identity = 0;
	while (map->count < end)
		map->ids[map->count++] = LODE_NONE;
	return 0;
}

/* After extend_map. */
static void set_id(struct lode_id_map *map, uint64_t id, uint32_t meaning)
{
	/* A block that gives ids another meaning than one before it. */
	for (; id < map->implied; map->implied--)
		map->ids[map->implied - 1] = (uint32_t)(map->implied - 1);
	map->ids[id] = meaning;
	if (meaning != id)
		map->identity = 0;
}

static uint32_t string_of(const struct head *head, uint32_t id)
{
	return lode_id_meaning(&head->store->strings, id, head->store->lost_string);
}

static int unpack_rows(struct head *head, unsigned number, void *values)
{
	int code = lode_table_unpack(head->codec, &head->table, number, values, head->table.header.rows);

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
	if (!code && LODE_GROW(head->bytes, head->bytes_capacity, total) < 0)
		return LODE_SYSTEM;
	if (!code)
		code = lode_table_unpack(head->codec, &head->table, LODE_STRINGS_BYTES, head->bytes, total);
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

/* What a row says of a module besides its texts. */
struct module_nature {
	uint8_t kind;
	uint8_t language;
	int has_language; /* else it is what the name suggests */
};

static int read_module(struct head *head, uint64_t row, const uint32_t fields[3], struct module_nature nature)
{
	struct lode_frames *frames = &head->stream->dictionary->frames;
	uint32_t name = string_of(head, fields[0]);
	uint32_t path = string_of(head, fields[1]);
	uint32_t build_id = string_of(head, fields[2]);
	const struct lode_string *text;
	size_t known = frames->module_count;
	uint32_t id;

	if (name == LODE_NONE || path == LODE_NONE || build_id == LODE_NONE || nature.kind >= LODE_KINDS ||
	    nature.language >= LODE_CODE_LANGUAGES)
		return damaged(head, "a module is damaged");
	text = &frames->strings.items[name];
	id = lode_frames_module(frames, text->text, text->length);
	if (id == LODE_NONE)
		return LODE_SYSTEM;
	/* A dictionary that is shared by many streams keeps what the first of them said. */
	if (id >= known)
		frames->modules[id].kind = nature.kind;
	if (nature.has_language)
		lode_frames_set_language(frames, id, nature.language);
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
	int code = 0, has_language = !!(head->table.found & 1u << LODE_MODULES_LANGUAGE);

	if (LODE_GROW(head->bytes, head->bytes_capacity, 2 * rows) < 0)
		return LODE_SYSTEM;
	for (unsigned i = 0; !code && i < 3; i++)
		code = unpack_rows(head, i, head->columns[i]);
	if (!code)
		code = unpack_rows(head, LODE_MODULES_KIND, head->bytes);
	if (!code && has_language)
		code = unpack_rows(head, LODE_MODULES_LANGUAGE, head->bytes + rows);
	if (!code)
		code = extend_map(head, &head->store->modules, first, first + rows);
	for (size_t i = 0; !code && i < rows; i++) {
		uint32_t fields[3] = { head->columns[0][i], head->columns[1][i], head->columns[2][i] };

		code = read_module(head, first + i, fields,
				   (struct module_nature){ head->bytes[i], has_language ? head->bytes[rows + i] : 0,
							   has_language });
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
		uint32_t module =
			lode_id_meaning(&store->modules, head->columns[0][i], store->salvage ? 0 : LODE_NONE);
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
	uint32_t above = parent < row ? lode_id_meaning(&store->nodes, parent, store->lost_node) : LODE_NONE;
	uint32_t called = lode_id_meaning(&store->frames, frame, store->lost_frame);
	uint32_t id;

	if (above == LODE_NONE || called == LODE_NONE || store->depths[parent] >= LODE_STACK_DEPTH_LIMIT)
		return damaged(head, "a stack is damaged");
	/* Into an empty dictionary the file's stacks come as they are: a file has each of them once. */
	id = head->alone ? lode_stack_tree_append(&head->stream->dictionary->tree, above, called)
			 : lode_stack_tree_child(&head->stream->dictionary->tree, above, called);
	if (id == LODE_NONE)
		return LODE_SYSTEM;
	store->depths[row] = (uint16_t)(store->depths[parent] + 1);
	set_id(&store->nodes, row, id);
	return 0;
}

/*
 * The stacks of a whole file in a separate dictionary have the file's ids there, too,
 * so a block of them is checked and copied.
 */
static int append_nodes(struct head *head, size_t first, size_t rows)
{
	struct lode_store *store = head->store;
	struct lode_stack_tree *tree = &head->stream->dictionary->tree;
	const uint32_t *parents = head->columns[0], *frames = head->columns[1];
	uint16_t *depths = store->depths;

	if (lode_stack_tree_reserve(tree, first + rows) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < rows; i++) {
		size_t row = first + i;

		if (parents[i] >= row || frames[i] >= store->frames.count ||
		    depths[parents[i]] >= LODE_STACK_DEPTH_LIMIT)
			return damaged(head, "a stack is damaged");
		tree->nodes[row] = (struct lode_stack_node){ parents[i], frames[i] };
		depths[row] = (uint16_t)(depths[parents[i]] + 1);
	}
	tree->count += rows;
	store->nodes.count = store->nodes.implied = first + rows;
	return 0;
}

/* Whether what was read so far, and this block, have the file's ids in the dictionary. */
static int is_appended(const struct head *head)
{
	const struct lode_store *store = head->store;
	uint64_t first = head->table.header.first;

	return head->alone && store->nodes.identity && store->frames.identity && first == store->nodes.implied &&
	       first == store->nodes.count && first == head->stream->dictionary->tree.count;
}

static int read_nodes(struct head *head)
{
	struct lode_store *store = head->store;
	uint64_t first = head->table.header.first, rows = head->table.header.rows;
	size_t known = store->nodes.count;
	int code = unpack_rows(head, LODE_NODES_PARENT, head->columns[0]), is_next = is_appended(head);

	if (!code)
		code = unpack_rows(head, LODE_NODES_FRAME, head->columns[1]);
	if (!code)
		code = is_next ? check_end(head, &store->nodes, first, first + rows)
			       : extend_map(head, &store->nodes, first, first + rows);
	if (!code &&
	    LODE_GROW(store->depths, store->depth_capacity, first + rows > known ? first + rows : known) < 0)
		return LODE_SYSTEM;
	if (!code && is_next)
		return append_nodes(head, first, rows);
	for (size_t i = known; !code && i < store->nodes.count; i++)
		store->depths[i] = 1; /* where the block is lost: a child of the empty stack */
	for (size_t i = 0; !code && i < rows; i++)
		code = read_node(head, first + i, head->columns[0][i], head->columns[1][i]);
	return code;
}

/* The totals of the block's threads, by the ids that they have; those of a block without are not known. */
static int read_totals(struct head *head)
{
	static const size_t fields[] = {
		offsetof(struct lode_thread_totals, waits),     offsetof(struct lode_thread_totals, preemptions),
		offsetof(struct lode_thread_totals, waited_ns), offsetof(struct lode_thread_totals, run_ns),
		offsetof(struct lode_thread_totals, queued_ns),
	};
	uint64_t first = head->table.header.first, rows = head->table.header.rows;
	const uint32_t *ids = head->store->threads.ids;
	int code = 0;

	for (unsigned i = 0; !code && i < 5; i++) {
		if (!(head->table.found & 1u << (LODE_THREADS_WAITS + i)))
			memset(head->wide[0], 0, rows * sizeof(uint64_t));
		else
			code = unpack_rows(head, LODE_THREADS_WAITS + i, head->wide[0]);
		for (size_t row = 0; !code && row < rows; row++) {
			char *totals = (char *)&head->stream->threads[ids[first + row]].totals;

			memcpy(totals + fields[i], &head->wide[0][row], sizeof(uint64_t));
		}
	}
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
	return code ? code : read_totals(head);
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

	if (LODE_GROW(head->bytes, head->bytes_capacity, rows) < 0)
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
		struct lode_symptom symptom = { .thread = lode_id_meaning(&head->store->threads, head->columns[0][i],
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
	const char *wrong = lode_table_open(head->store, block->offset, &head->table);

	if (!wrong && (head->table.header.kind != block->header.kind ||
		       head->table.header.rows != block->header.rows || head->table.header.first > UINT32_MAX))
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
		if (store->blocks[i].header.kind != LODE_BLOCK_EVENTS_OF_A_TYPE &&
		    store->blocks[i].header.rows > most)
			most = store->blocks[i].header.rows;
	return most;
}

/* Room for the stack nodes that the file claims, as far as its size makes the claim likely. */
static int reserve_nodes(struct head *head)
{
	struct lode_stack_tree *tree = &head->stream->dictionary->tree;
	size_t claimed = 0;

	for (size_t i = 0; i < head->store->block_count; i++)
		if (head->store->blocks[i].header.kind == LODE_BLOCK_NODES)
			claimed += head->store->blocks[i].header.rows;
	if (claimed > head->store->map.size / 2)
		claimed = head->store->map.size / 2;
	if (LODE_GROW(head->store->depths, head->store->depth_capacity, claimed + 1) < 0)
		return LODE_SYSTEM;
	return lode_stack_tree_reserve(tree, tree->count + claimed);
}

static int prepare_head(struct head *head)
{
	size_t rows = most_rows(head->store);
	struct lode_store *store = head->store;
	struct lode_id_map *maps[] = { &store->strings, &store->modules, &store->frames, &store->nodes,
				       &store->threads };

	head->alone = !store->salvage && head->stream->dictionary->tree.count == 1;
	head->codec = lode_codec_create();
	for (size_t i = 0; i < 4; i++)
		head->columns[i] = lode_calloc(rows, sizeof(uint32_t));
	for (size_t i = 0; i < 2; i++)
		head->wide[i] = lode_calloc(rows, sizeof(uint64_t));
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		maps[i]->count = maps[i]->implied = 0;
		maps[i]->identity = 1;
	}
	if (!head->codec || !head->columns[0] || !head->columns[1] || !head->columns[2] || !head->columns[3] ||
	    !head->wide[0] || !head->wide[1] || prepare_lost(store, head->stream) < 0 ||
	    (!head->brief && reserve_nodes(head) < 0) || extend_map(head, &store->nodes, 0, 1) < 0 ||
	    LODE_GROW(store->depths, store->depth_capacity, 1) < 0)
		return LODE_SYSTEM;
	set_id(&store->nodes, 0, 0);
	store->nodes.implied = 1;
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

static int is_wanted(enum lode_block_kind kind, int brief)
{
	if (brief && (kind == LODE_BLOCK_MODULES || kind == LODE_BLOCK_FRAMES || kind == LODE_BLOCK_NODES))
		return 0;
	return kind != LODE_BLOCK_EVENTS_OF_A_TYPE;
}

static int read_blocks(struct lode_store *store, struct lode_stream *stream, int brief, struct lode_error *error)
{
	struct head head = { .store = store, .stream = stream, .brief = brief };
	uint64_t offset = 0;
	int code = prepare_head(&head);

	for (size_t i = 0; !code && i < store->block_count; i++) {
		offset = store->blocks[i].offset;
		if (is_wanted(store->blocks[i].header.kind, brief))
			code = read_head_block(&head, &store->blocks[i]);
	}
	release_head(&head);
	if (code == LODE_BAD_INPUT)
		return lode_store_fail(store, offset, head.wrong, error);
	return code ? lode_fail_memory(error) : 0;
}

int lode_store_head(struct lode_store *store, struct lode_stream *stream, struct lode_error *error)
{
	return read_blocks(store, stream, 0, error);
}

int lode_store_brief_head(struct lode_store *store, struct lode_stream *stream, struct lode_error *error)
{
	return read_blocks(store, stream, 1, error);
}
