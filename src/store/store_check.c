/*
 * Checking and salvaging stream files: see store.h.
 *
 * The checker does not rely on the footer: it goes from block to block, and
 * after a damaged one searches for the next place that is a valid block. Every
 * byte belongs to the header, to a valid block, to the tail, or is counted as
 * bad. Salvaging reads the valid blocks the way the reader does, with `[lost]`
 * in place of names from lost dictionary blocks, and writes a new file.
 */
#include "base/file.h"
#include "store/store_file.h"

#include <stdio.h>
#include <string.h>

/*
 * Bytes that may be summed up in search of the next whole block, as a multiple of
 * the file's size: forged headers that each claim the rest of the file would
 * otherwise cost the square of it.
 */
#define SEARCH_EFFORT 16

/* Offset of the next whole block at or behind `offset`; the end of the file when there is none. */
static uint64_t next_block(const struct lode_store *store, uint64_t offset, struct lode_block_header *header,
			   uint64_t *effort)
{
	const unsigned char *bytes = store->map.bytes;
	uint64_t size = store->map.size;

	while (offset < size) {
		const unsigned char *found = memmem(bytes + offset, size - offset, LODE_BLOCK_MAGIC, 4);

		if (!found)
			break;
		offset = (uint64_t)(found - bytes);
		if (!lode_block_header_read(header, found, size - offset))
			return offset;
		if (header->size <= size - offset)
			*effort += header->size;
		if (*effort / SEARCH_EFFORT > size)
			break;
		offset++;
	}
	return size;
}

/* Whether the tail at `offset` is whole and points to the footer. */
static int good_tail(const struct lode_store *store, uint64_t offset, uint64_t footer)
{
	unsigned char wanted[LODE_TAIL_SIZE];
	uint64_t checksum;

	if (!footer || store->map.size - offset != LODE_TAIL_SIZE)
		return 0;
	for (unsigned i = 0; i < 8; i++)
		wanted[i] = (unsigned char)(footer >> (8 * i));
	memcpy(wanted + 8, LODE_TAIL_MAGIC, 8);
	checksum = lode_checksum(wanted, 16, 0);
	for (unsigned i = 0; i < 8; i++)
		wanted[16 + i] = (unsigned char)(checksum >> (8 * i));
	return memcmp(store->map.bytes + offset, wanted, LODE_TAIL_SIZE) == 0;
}

static void note_damage(struct lode_notes *notes, const struct lode_store *store, uint64_t offset, uint64_t size)
{
	char place[512];

	snprintf(place, sizeof(place), "%s:%#llx, %llu bytes", store->path, (unsigned long long)offset,
		 (unsigned long long)size);
	lode_notes_add(notes, 1, "damaged places", place);
}

/* Walks over the whole file and lists the good blocks in the store. Returns 0 or LODE_SYSTEM. */
static int scan(struct lode_store *store, struct lode_fsck_result *result, struct lode_notes *notes)
{
	uint64_t offset = LODE_FILE_HEADER_SIZE, footer = 0, effort = 0;
	struct lode_block_header header;

	while (offset < store->map.size) {
		uint64_t at;

		if (good_tail(store, offset, footer)) {
			result->footer_bad = 0;
			break;
		}
		at = next_block(store, offset, &header, &effort);
		if (at > offset) {
			result->bytes_bad += at - offset;
			result->blocks_bad++;
			note_damage(notes, store, offset, at - offset);
		}
		if (at == store->map.size)
			break;
		result->blocks_good++;
		if (header.kind == LODE_BLOCK_FOOTER)
			footer = at;
		else if (lode_store_add_block(store, at, &header) < 0)
			return LODE_SYSTEM;
		if (header.kind == LODE_BLOCK_EVENTS_OF_A_TYPE)
			result->events_good += header.rows;
		offset = at + LODE_BLOCK_HEADER_SIZE + header.size;
	}
	return 0;
}

/* The file as a list of its intact blocks, regardless of its header and footer. */
static int open_scanned(struct lode_store **result, const char *path, struct lode_fsck_result *check,
			struct lode_notes *notes, struct lode_error *error)
{
	struct lode_store *store;
	int code = lode_store_map(&store, path, 1, error);
	int header_code;

	memset(check, 0, sizeof(*check));
	check->footer_bad = 1;
	*result = NULL;
	if (code)
		return code;
	if (scan(store, check, notes) < 0 || lode_store_list_events(store) < 0) {
		lode_store_close(store);
		return lode_fail_memory(error);
	}
	header_code = lode_store_check_header(store, error);
	if (header_code && !check->blocks_good) {
		lode_store_close(store);
		return header_code;
	}
	if (header_code) {
		note_damage(notes, store, 0, LODE_FILE_HEADER_SIZE);
		check->bytes_bad += LODE_FILE_HEADER_SIZE;
		check->blocks_bad++;
	}
	*result = store;
	return 0;
}

/* A file whose checksums all hold must also read well: only a wrong writer or a forger makes one that does not. */
static int read_all(const char *path, struct lode_error *error)
{
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_events events = { 0 };
	struct lode_store *store;
	int code;

	if (lode_dictionary_init(&dictionary) < 0)
		return lode_fail_memory(error);
	lode_stream_init(&stream, &dictionary);
	code = lode_store_open(&store, path, error);
	if (!code)
		code = lode_store_head(store, &stream, error);
	for (size_t i = 0; !code && i < lode_store_blocks(store); i++)
		code = lode_store_events(store, i, LODE_ALL_COLUMNS, &events, error);
	lode_store_close(store);
	lode_events_release(&events);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
	return code;
}

int lode_store_check(const char *path, struct lode_fsck_result *result, struct lode_notes *notes,
		     struct lode_error *error)
{
	struct lode_store *store;
	int code = open_scanned(&store, path, result, notes, error);

	if (code)
		return code;
	lode_store_close(store);
	if (result->footer_bad)
		lode_notes_add(notes, 1, "files without a whole footer", path);
	if (result->footer_bad || result->blocks_bad)
		return 0;
	code = read_all(path, error);
	if (code == LODE_BAD_INPUT) {
		result->blocks_bad++;
		lode_notes_add(notes, 1, "files that contradict themselves", error ? error->text : path);
		return 0;
	}
	return code;
}

/*
 * Copies the events of block `i` to the new file, sorted, which those of a recording
 * that was cut off are not; a block that contradicts the rest is left out and counted.
 */
static int salvage_block(struct lode_store *store, size_t i, struct lode_stream *stream,
			 struct lode_store_writer *writer, struct lode_fsck_result *result,
			 struct lode_notes *notes, struct lode_error *error)
{
	const struct lode_store_block *block = lode_store_block(store, i);
	struct lode_events *events = &stream->events[block->type];
	int code = lode_store_events(store, i, LODE_ALL_COLUMNS, events, error);

	if (code == LODE_BAD_INPUT) {
		lode_notes_add(notes, block->count, "events left out", error ? error->text : NULL);
		result->events_good -= block->count;
		result->blocks_good--;
		result->blocks_bad++;
		events->count = 0;
		return 0;
	}
	if (!code && lode_events_sort(events) < 0)
		code = lode_fail_memory(error);
	if (!code)
		code = lode_store_append(writer, stream, error);
	events->count = 0;
	return code;
}

int lode_store_salvage(const char *path, const char *to, struct lode_fsck_result *result, struct lode_notes *notes,
		       struct lode_error *error)
{
	struct lode_store_writer *writer = NULL;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_store *store;
	int code = open_scanned(&store, path, result, NULL, error);

	if (code)
		return code;
	if (lode_dictionary_init(&dictionary) < 0) {
		lode_store_close(store);
		return lode_fail_memory(error);
	}
	lode_stream_init(&stream, &dictionary);
	code = lode_store_head(store, &stream, error);
	if (!code)
		code = lode_store_create(&writer, to, lode_file_mode(path), 1, error);
	if (!code)
		code = lode_store_append(writer, &stream, error);
	for (size_t i = 0; !code && i < lode_store_blocks(store); i++)
		code = salvage_block(store, i, &stream, writer, result, notes, error);
	if (writer && code)
		lode_store_abandon(writer);
	else if (writer)
		code = lode_store_finish(writer, error);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
	lode_store_close(store);
	return code;
}
