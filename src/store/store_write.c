/*
 * Writing the stream file: see store.h and store_format.h.
 *
 * The data is first divided into *pieces* (a kind of block and a range of rows).
 * Pieces are packed in parallel, a batch at a time, and written in order, so the
 * bytes do not depend on the number of threads. Every block is remembered for the
 * footer.
 *
 * Strings, frames and nodes only grow: each append writes the new ones. Threads,
 * modules, attributes, symptoms and the head may change; a table is written again
 * when its bytes differ from the last time, and a later row replaces an earlier one.
 */
#include "store/store_codec.h"
#include "store/store_format.h"
#include "store/store_tables.h"

#include "base/parallel.h"
#include "trace/script_modules.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define BATCH 32 /* pieces packed before they are written */

struct piece {
	enum lode_block_kind kind;
	enum lode_event_type type;
	size_t first; /* row */
	size_t count;
};

struct lode_store_writer {
	int fd;
	char *path;
	unsigned jobs;
	int fast;                           /* compresses quickly, and less well */
	int kept;                           /* the file stays when writing fails */
	uint64_t offset;                    /* where the next block goes */
	size_t strings, frames, nodes;      /* rows written so far */
	uint64_t written[LODE_BLOCK_KINDS]; /* checksum of changeable tables as last written */
	struct piece *pieces;               /* waiting to be packed */
	size_t piece_count;
	size_t piece_capacity;
	struct lode_buffer packed[BATCH]; /* the blocks of a batch */
	struct lode_block_header headers[BATCH];
	const struct lode_stream *stream; /* of the append in progress */
	/* the footer's columns */
	uint64_t *offsets, *firsts, *lasts;
	uint32_t *rows;
	uint8_t *kinds, *types;
	size_t blocks;
	size_t offset_capacity, first_capacity, last_capacity, row_capacity, kind_capacity, type_capacity;
};

/* ---- packing one piece ---- */

/* Of a block: from here on the time to unpack them is noticed whenever the stream is opened. */
#define MANY_NODES 16384

struct packer {
	struct lode_codec *codec;
	int fast;
	struct lode_buffer *buffer;
	struct lode_block_header header;
};

static void pack_column(struct packer *packer, unsigned number, const void *values, size_t count)
{
	const struct lode_table_column *column = &lode_table_columns(packer->header.kind)[number];
	struct lode_column_view view = {
		.values = values,
		.count = count,
		.width = column->width,
		.plus_one = column->plus_one,
		.first_row = packer->header.first,
		.fast = packer->fast != 0,
		.hot = packer->header.kind == LODE_BLOCK_EVENTS_OF_A_TYPE ||
		       (packer->header.kind == LODE_BLOCK_NODES && count >= MANY_NODES),
	};

	lode_codec_pack(packer->codec, packer->buffer, (uint8_t)number, &view);
	packer->header.columns++;
}

/* Copies one field of an array of structs into a column of its own. */
#define GATHER(type, items, field)                                                                                \
	do {                                                                                                      \
		type *column = scratch;                                                                           \
		for (size_t row = 0; row < piece->count; row++)                                                   \
			column[row] = (items)[piece->first + row].field;                                          \
	} while (0)

#define PACK_FIELD(number, type, items, field)                                                                    \
	do {                                                                                                      \
		GATHER(type, items, field);                                                                       \
		pack_column(packer, number, scratch, piece->count);                                               \
	} while (0)

static void pack_strings(struct packer *packer, const struct piece *piece, const struct lode_strings *strings,
			 void *scratch)
{
	struct lode_buffer bytes = { 0 };

	PACK_FIELD(LODE_STRINGS_LENGTH, uint32_t, strings->items, length);
	for (size_t row = 0; row < piece->count; row++)
		lode_buffer_add(&bytes, strings->items[piece->first + row].text,
				strings->items[piece->first + row].length);
	pack_column(packer, LODE_STRINGS_BYTES, bytes.bytes, bytes.size);
	if (bytes.failed)
		packer->buffer->failed = 1;
	lode_buffer_release(&bytes);
}

static int has_weights(const struct lode_events *events, size_t first, size_t count)
{
	for (size_t row = first; events->weight && row < first + count; row++)
		if (events->weight[row] > 1)
			return 1;
	return 0;
}

/* Of objects or contexts, NULL where there are none. */
static int has_strings(const uint32_t *strings, size_t first, size_t count)
{
	for (size_t row = first; strings && row < first + count; row++)
		if (strings[row])
			return 1;
	return 0;
}

static int has_holders(const struct lode_events *events, size_t first, size_t count)
{
	for (size_t row = first; events->holder && row < first + count; row++)
		if (events->holder[row] != LODE_NONE)
			return 1;
	return 0;
}

static int has_totals(const struct lode_thread *threads, size_t first, size_t count)
{
	for (size_t row = first; row < first + count; row++)
		if (lode_thread_has_totals(&threads[row]))
			return 1;
	return 0;
}

/* Whether one is not what the name of its module suggests. */
static int has_languages(const struct lode_frames *frames, size_t first, size_t count)
{
	for (size_t row = first; row < first + count; row++) {
		const struct lode_string *name = &frames->strings.items[frames->modules[row].name];

		if (frames->modules[row].language != lode_code_language_guess(name->text, name->length))
			return 1;
	}
	return 0;
}

static void pack_events(struct packer *packer, const struct piece *piece, const struct lode_events *events)
{
	size_t first = piece->first, count = piece->count;

	packer->header.first = 0;
	pack_column(packer, LODE_EVENTS_T, events->t + first, count);
	pack_column(packer, LODE_EVENTS_COST, events->cost + first, count);
	pack_column(packer, LODE_EVENTS_DELAY, events->delay + first, count);
	pack_column(packer, LODE_EVENTS_THREAD, events->thread + first, count);
	pack_column(packer, LODE_EVENTS_STACK, events->stack + first, count);
	pack_column(packer, LODE_EVENTS_WAKER, events->waker + first, count);
	pack_column(packer, LODE_EVENTS_WAKER_STACK, events->waker_stack + first, count);
	pack_column(packer, LODE_EVENTS_NAME, events->name + first, count);
	pack_column(packer, LODE_EVENTS_CPU, events->cpu + first, count);
	if (has_weights(events, first, count))
		pack_column(packer, LODE_EVENTS_WEIGHT, events->weight + first, count);
	if (has_strings(events->object, first, count))
		pack_column(packer, LODE_EVENTS_OBJECT, events->object + first, count);
	if (has_holders(events, first, count))
		pack_column(packer, LODE_EVENTS_HOLDER, events->holder + first, count);
	if (has_strings(events->context, first, count))
		pack_column(packer, LODE_EVENTS_CONTEXT, events->context + first, count);
	packer->header.first = events->t[first];
	for (size_t row = first; row < first + count; row++) {
		uint64_t end = lode_add_saturating(lode_add_saturating(events->t[row], events->cost[row]),
						   events->delay[row]);

		packer->header.first = events->t[row] < packer->header.first ? events->t[row]
									     : packer->header.first;
		packer->header.last = end > packer->header.last ? end : packer->header.last;
	}
}

static void pack_rows(struct packer *packer, const struct piece *piece, const struct lode_stream *stream,
		      void *scratch)
{
	const struct lode_frames *frames = &stream->dictionary->frames;

	switch (piece->kind) {
	case LODE_BLOCK_STRINGS:
		pack_strings(packer, piece, &frames->strings, scratch);
		break;
	case LODE_BLOCK_MODULES:
		PACK_FIELD(LODE_MODULES_NAME, uint32_t, frames->modules, name);
		PACK_FIELD(LODE_MODULES_PATH, uint32_t, frames->modules, path);
		PACK_FIELD(LODE_MODULES_BUILD_ID, uint32_t, frames->modules, build_id);
		PACK_FIELD(LODE_MODULES_KIND, uint8_t, frames->modules, kind);
		if (has_languages(frames, piece->first, piece->count))
			PACK_FIELD(LODE_MODULES_LANGUAGE, uint8_t, frames->modules, language);
		break;
	case LODE_BLOCK_FRAMES:
		PACK_FIELD(LODE_FRAMES_MODULE, uint32_t, frames->items, module);
		PACK_FIELD(LODE_FRAMES_FUNCTION, uint32_t, frames->items, function);
		break;
	case LODE_BLOCK_NODES:
		PACK_FIELD(LODE_NODES_PARENT, uint32_t, stream->dictionary->tree.nodes, parent);
		PACK_FIELD(LODE_NODES_FRAME, uint32_t, stream->dictionary->tree.nodes, frame);
		break;
	case LODE_BLOCK_THREADS:
		PACK_FIELD(LODE_THREADS_PID, uint32_t, stream->threads, pid);
		PACK_FIELD(LODE_THREADS_TID, uint32_t, stream->threads, tid);
		PACK_FIELD(LODE_THREADS_NAME, uint32_t, stream->threads, name);
		if (!has_totals(stream->threads, piece->first, piece->count))
			break;
		PACK_FIELD(LODE_THREADS_WAITS, uint64_t, stream->threads, totals.waits);
		PACK_FIELD(LODE_THREADS_PREEMPTIONS, uint64_t, stream->threads, totals.preemptions);
		PACK_FIELD(LODE_THREADS_WAITED, uint64_t, stream->threads, totals.waited_ns);
		PACK_FIELD(LODE_THREADS_RUN, uint64_t, stream->threads, totals.run_ns);
		PACK_FIELD(LODE_THREADS_QUEUED, uint64_t, stream->threads, totals.queued_ns);
		break;
	case LODE_BLOCK_HEAD:
		PACK_FIELD(LODE_HEAD_NAME, uint32_t, stream, name);
		PACK_FIELD(LODE_HEAD_HOST, uint32_t, stream, host);
		break;
	case LODE_BLOCK_ATTRIBUTES:
		PACK_FIELD(LODE_ATTRIBUTES_KEY, uint32_t, stream->attributes, key);
		PACK_FIELD(LODE_ATTRIBUTES_VALUE, uint32_t, stream->attributes, value);
		PACK_FIELD(LODE_ATTRIBUTES_TYPE, uint8_t, stream->attributes, type);
		break;
	case LODE_BLOCK_SYMPTOMS:
		PACK_FIELD(LODE_SYMPTOMS_THREAD, uint32_t, stream->symptoms, thread);
		PACK_FIELD(LODE_SYMPTOMS_NAME, uint32_t, stream->symptoms, name);
		PACK_FIELD(LODE_SYMPTOMS_T0, uint64_t, stream->symptoms, t0);
		PACK_FIELD(LODE_SYMPTOMS_T1, uint64_t, stream->symptoms, t1);
		break;
	default:
		pack_events(packer, piece, &stream->events[piece->type]);
	}
}

/* Puts the header into the room that was left for it in front of the payload. */
static void finish_block(struct packer *packer)
{
	struct lode_buffer *buffer = packer->buffer;

	if (!buffer->failed && buffer->size - LODE_BLOCK_HEADER_SIZE > UINT32_MAX)
		buffer->failed = 1;
	if (buffer->failed)
		return;
	packer->header.size = (uint32_t)(buffer->size - LODE_BLOCK_HEADER_SIZE);
	lode_block_header_write(&packer->header, buffer->bytes + LODE_BLOCK_HEADER_SIZE,
				(unsigned char *)buffer->bytes);
}

static void pack_piece(void *context, size_t i)
{
	struct lode_store_writer *writer = context;
	const struct piece *piece = &writer->pieces[i];
	struct packer packer = {
		.codec = lode_codec_create(),
		.fast = writer->fast,
		.buffer = &writer->packed[i],
		.header = { .kind = piece->kind,
			    .type = piece->type,
			    .rows = (uint32_t)piece->count,
			    .first = piece->first },
	};
	void *scratch = lode_calloc(piece->count, sizeof(uint64_t));
	char *room;

	lode_buffer_clear(packer.buffer);
	room = lode_buffer_room(packer.buffer, LODE_BLOCK_HEADER_SIZE);
	if (!packer.codec || !scratch || !room) {
		packer.buffer->failed = 1;
	} else {
		packer.buffer->size = LODE_BLOCK_HEADER_SIZE;
		pack_rows(&packer, piece, writer->stream, scratch);
		finish_block(&packer);
		writer->headers[i] = packer.header;
	}
	lode_free(scratch);
	lode_codec_destroy(packer.codec);
}

/* ---- writing blocks ---- */

static int remember_block(struct lode_store_writer *writer, const struct lode_block_header *header)
{
	size_t n = writer->blocks + 1;

	if (LODE_GROW(writer->offsets, writer->offset_capacity, n) < 0 ||
	    LODE_GROW(writer->firsts, writer->first_capacity, n) < 0 ||
	    LODE_GROW(writer->lasts, writer->last_capacity, n) < 0 ||
	    LODE_GROW(writer->rows, writer->row_capacity, n) < 0 ||
	    LODE_GROW(writer->kinds, writer->kind_capacity, n) < 0 ||
	    LODE_GROW(writer->types, writer->type_capacity, n) < 0)
		return LODE_SYSTEM;
	writer->offsets[writer->blocks] = writer->offset;
	writer->firsts[writer->blocks] = header->first;
	writer->lasts[writer->blocks] = header->last;
	writer->rows[writer->blocks] = header->rows;
	writer->kinds[writer->blocks] = header->kind;
	writer->types[writer->blocks] = header->type;
	writer->blocks++;
	return 0;
}

static int write_block(struct lode_store_writer *writer, size_t i, struct lode_error *error)
{
	const struct lode_buffer *block = &writer->packed[i];
	int code;

	if (block->failed || remember_block(writer, &writer->headers[i]) < 0)
		return lode_fail_memory(error);
	code = lode_file_write(writer->fd, block->bytes, block->size, writer->path, error);
	writer->offset += block->size;
	return code;
}

static int write_pieces(struct lode_store_writer *writer, struct lode_error *error)
{
	int code = 0;

	lode_parallel(writer->jobs, writer->piece_count, pack_piece, writer);
	for (size_t i = 0; !code && i < writer->piece_count; i++)
		code = write_block(writer, i, error);
	writer->piece_count = 0;
	return code;
}

static int add_piece(struct lode_store_writer *writer, const struct piece *piece, struct lode_error *error)
{
	if (LODE_GROW(writer->pieces, writer->piece_capacity, BATCH) < 0)
		return lode_fail_memory(error);
	writer->pieces[writer->piece_count++] = *piece;
	return writer->piece_count == BATCH ? write_pieces(writer, error) : 0;
}

/* Cuts rows `first` to `end` into pieces. */
static int add_rows(struct lode_store_writer *writer, enum lode_block_kind kind, enum lode_event_type type,
		    size_t first, size_t end, struct lode_error *error)
{
	int code = 0;

	while (!code && first < end) {
		size_t count = end - first < LODE_BLOCK_ROWS ? end - first : LODE_BLOCK_ROWS;

		code = add_piece(writer, &(struct piece){ kind, type, first, count }, error);
		first += count;
	}
	return code;
}

/* Strings are cut by their bytes as well. */
static int add_strings(struct lode_store_writer *writer, const struct lode_strings *strings,
		       struct lode_error *error)
{
	size_t first = writer->strings;
	int code = 0;

	while (!code && first < strings->count) {
		size_t bytes = strings->items[first].length;
		size_t end = first + 1;

		while (end < strings->count && end - first < LODE_BLOCK_ROWS &&
		       bytes + strings->items[end].length <= LODE_BLOCK_TEXT)
			bytes += strings->items[end++].length;
		if (bytes > LODE_BLOCK_TEXT_LIMIT)
			return lode_fail(error, LODE_BAD_INPUT, "%s: a name of %zu bytes cannot be stored",
					 writer->path, bytes);
		code = add_piece(writer, &(struct piece){ LODE_BLOCK_STRINGS, 0, first, end - first }, error);
		first = end;
	}
	return code;
}

/* Adds the whole of a changeable table when its bytes are not those written last. */
static int add_table(struct lode_store_writer *writer, enum lode_block_kind kind, const void *items, size_t count,
		     size_t size, struct lode_error *error)
{
	uint64_t checksum = lode_checksum(items, count * size, count + 1);

	if (count == 0 || checksum == writer->written[kind])
		return 0;
	writer->written[kind] = checksum;
	return add_rows(writer, kind, 0, 0, count, error);
}

/* ---- the interface ---- */

static int write_file_header(struct lode_store_writer *writer, struct lode_error *error)
{
	struct lode_buffer header = { 0 };
	int code;

	lode_buffer_add(&header, LODE_FILE_MAGIC, 8);
	lode_buffer_u32(&header, LODE_STORE_VERSION);
	lode_buffer_u32(&header, LODE_FILE_HEADER_SIZE);
	lode_buffer_u64(&header, 0);
	if (!header.failed)
		lode_buffer_u64(&header, lode_checksum(header.bytes, 24, 0));
	code = header.failed ? lode_fail_memory(error)
			     : lode_file_write(writer->fd, header.bytes, header.size, writer->path, error);
	writer->offset = LODE_FILE_HEADER_SIZE;
	lode_buffer_release(&header);
	return code;
}

static void release(struct lode_store_writer *writer)
{
	for (size_t i = 0; i < BATCH; i++)
		lode_buffer_release(&writer->packed[i]);
	lode_free(writer->pieces);
	lode_free(writer->offsets);
	lode_free(writer->firsts);
	lode_free(writer->lasts);
	lode_free(writer->rows);
	lode_free(writer->kinds);
	lode_free(writer->types);
	lode_free(writer->path);
	lode_free(writer);
}

/* `fd` may be an error's code; it is the writer's, or closed. */
static int create_on(struct lode_store_writer **result, int fd, const char *path, unsigned jobs, int kept,
		     struct lode_error *error)
{
	struct lode_store_writer *writer = fd < 0 ? NULL : lode_calloc(1, sizeof(*writer));
	int code;

	*result = NULL;
	if (fd < 0)
		return fd;
	if (!writer || !(writer->path = lode_strdup(path))) {
		lode_free(writer);
		close(fd);
		if (!kept)
			unlink(path);
		return lode_fail_memory(error);
	}
	writer->jobs = jobs;
	writer->fd = fd;
	writer->kept = kept;
	code = write_file_header(writer, error);
	if (code < 0) {
		lode_store_abandon(writer);
		return code;
	}
	*result = writer;
	return 0;
}

int lode_store_create(struct lode_store_writer **result, const char *path, mode_t mode, unsigned jobs,
		      struct lode_error *error)
{
	return create_on(result, lode_file_open(path, O_WRONLY | O_CREAT, mode, error), path, jobs, 0, error);
}

int lode_store_create_on(struct lode_store_writer **result, int fd, const char *name, unsigned jobs,
			 struct lode_error *error)
{
	return create_on(result, fd, name, jobs, 1, error);
}

void lode_store_set_fast(struct lode_store_writer *writer)
{
	writer->fast = 1;
}

void lode_store_keep(struct lode_store_writer *writer)
{
	writer->kept = 1;
}

void lode_store_abandon(struct lode_store_writer *writer)
{
	close(writer->fd);
	if (!writer->kept)
		unlink(writer->path);
	release(writer);
}

/* The order matters to a reader of a file that was cut off: meanings before the numbers that use them. */
static int add_dictionary(struct lode_store_writer *writer, const struct lode_stream *stream,
			  struct lode_error *error)
{
	const struct lode_frames *frames = &stream->dictionary->frames;
	const struct lode_stack_tree *tree = &stream->dictionary->tree;
	int code = add_strings(writer, &frames->strings, error);

	if (!code)
		code = add_table(writer, LODE_BLOCK_MODULES, frames->modules, frames->module_count,
				 sizeof(*frames->modules), error);
	if (!code)
		code = add_rows(writer, LODE_BLOCK_FRAMES, 0, writer->frames, frames->count, error);
	if (!code) /* node 0, the empty stack, is not written */
		code = add_rows(writer, LODE_BLOCK_NODES, 0, writer->nodes ? writer->nodes : 1, tree->count, error);
	writer->strings = frames->strings.count;
	writer->frames = frames->count;
	writer->nodes = tree->count;
	return code;
}

static int add_head(struct lode_store_writer *writer, const struct lode_stream *stream, struct lode_error *error)
{
	uint32_t head[2] = { stream->name, stream->host };
	uint64_t checksum = lode_checksum(head, sizeof(head), 1);
	int code = 0;

	if (checksum != writer->written[LODE_BLOCK_HEAD])
		code = add_rows(writer, LODE_BLOCK_HEAD, 0, 0, 1, error);
	writer->written[LODE_BLOCK_HEAD] = checksum;
	if (!code)
		code = add_table(writer, LODE_BLOCK_ATTRIBUTES, stream->attributes, stream->attribute_count,
				 sizeof(*stream->attributes), error);
	if (!code)
		code = add_table(writer, LODE_BLOCK_THREADS, stream->threads, stream->thread_count,
				 sizeof(*stream->threads), error);
	if (!code)
		code = add_table(writer, LODE_BLOCK_SYMPTOMS, stream->symptoms, stream->symptom_count,
				 sizeof(*stream->symptoms), error);
	return code;
}

int lode_store_append(struct lode_store_writer *writer, const struct lode_stream *stream, struct lode_error *error)
{
	int code;

	writer->stream = stream;
	code = add_dictionary(writer, stream, error);
	if (!code)
		code = add_head(writer, stream, error);
	for (int type = 0; !code && type < LODE_EVENT_TYPES; type++)
		code = add_rows(writer, LODE_BLOCK_EVENTS_OF_A_TYPE, type, 0, stream->events[type].count, error);
	if (!code)
		code = write_pieces(writer, error);
	return code;
}

static int write_footer(struct lode_store_writer *writer, struct lode_error *error)
{
	struct lode_buffer *buffer = &writer->packed[0];
	struct packer packer = { .codec = lode_codec_create(),
				 .buffer = buffer,
				 .header = { .kind = LODE_BLOCK_FOOTER, .rows = (uint32_t)writer->blocks } };
	size_t count = writer->blocks;

	lode_buffer_clear(buffer);
	if (!packer.codec || !lode_buffer_room(buffer, LODE_BLOCK_HEADER_SIZE)) {
		lode_codec_destroy(packer.codec);
		return lode_fail_memory(error);
	}
	buffer->size = LODE_BLOCK_HEADER_SIZE;
	pack_column(&packer, LODE_FOOTER_OFFSET, writer->offsets, count);
	pack_column(&packer, LODE_FOOTER_KIND, writer->kinds, count);
	pack_column(&packer, LODE_FOOTER_TYPE, writer->types, count);
	pack_column(&packer, LODE_FOOTER_ROWS, writer->rows, count);
	pack_column(&packer, LODE_FOOTER_FIRST, writer->firsts, count);
	pack_column(&packer, LODE_FOOTER_LAST, writer->lasts, count);
	lode_codec_destroy(packer.codec);
	finish_block(&packer);
	lode_buffer_u64(buffer, writer->offset);
	lode_buffer_add(buffer, LODE_TAIL_MAGIC, 8);
	if (!buffer->failed)
		lode_buffer_u64(buffer, lode_checksum(buffer->bytes + buffer->size - 16, 16, 0));
	if (buffer->failed)
		return lode_fail_memory(error);
	return lode_file_write(writer->fd, buffer->bytes, buffer->size, writer->path, error);
}

int lode_store_finish(struct lode_store_writer *writer, struct lode_error *error)
{
	int code = write_footer(writer, error);

	if (!code)
		code = lode_file_sync(writer->fd, writer->path, error);
	if (code) {
		lode_store_abandon(writer);
		return code;
	}
	code = lode_file_close(writer->fd, writer->path, error);
	if (code && !writer->kept)
		unlink(writer->path);
	release(writer);
	return code;
}
