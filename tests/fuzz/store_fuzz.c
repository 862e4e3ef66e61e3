/*
 * The stream file: opened, read whole, checked and salvaged.
 *
 * Checksums would turn nearly every mutation away at the door, and a hostile
 * writer knows how to compute them. So each input is tried twice: as it is, and
 * with all checksums repaired.
 */
#include "fuzz.h"

#include "store/store.h"
#include "store/store_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Loading all events at once takes 54 bytes each; reading by blocks is bounded whatever a file claims. */
#define LOAD_EVENTS (1u << 20)

static void read_blocks(struct lode_store *store, struct lode_stream *stream)
{
	struct lode_events events = { 0 };
	struct lode_error error = { "" };
	int code = lode_store_head(store, stream, &error);

	fuzz_require_sentence(code, &error);
	if (code == 0)
		fuzz_check_stream(stream);
	for (size_t i = 0; code == 0 && i < lode_store_blocks(store); i++) {
		int got = lode_store_events(store, i, LODE_ALL_COLUMNS, &events, &error);

		fuzz_require_sentence(got, &error);
		if (got == 0)
			fuzz_require(events.count == lode_store_block(store, i)->count, "a block has its events");
	}
	lode_events_release(&events);
}

static uint64_t count_events(const struct lode_store *store)
{
	uint64_t events = 0;

	for (size_t i = 0; i < lode_store_blocks(store); i++)
		events += lode_store_block(store, i)->count;
	return events;
}

static void with_dictionary(struct lode_store *store, const char *path)
{
	struct lode_dictionary dictionary;
	struct lode_error error = { "" };
	struct lode_stream stream;
	int code;

	fuzz_require(lode_dictionary_init(&dictionary) == 0, "memory");
	lode_stream_init(&stream, &dictionary);
	if (store) {
		read_blocks(store, &stream);
	} else {
		code = lode_store_load(path, &stream, &error);
		fuzz_require_sentence(code, &error);
		if (code == 0)
			fuzz_check_stream(&stream);
	}
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
}

static void read_it(const char *path)
{
	struct lode_error error = { "" };
	struct lode_store *store;
	int code = lode_store_open(&store, path, &error);
	int load;

	fuzz_require_sentence(code, &error);
	if (code < 0)
		return;
	with_dictionary(store, path);
	load = count_events(store) <= LOAD_EVENTS;
	lode_store_close(store);
	if (load)
		with_dictionary(NULL, path);
}

/* What was salvaged must be without fault. */
static void check_it(const char *path)
{
	struct lode_fsck_result result, saved;
	struct lode_error error = { "" };
	char to[96];
	int code;

	snprintf(to, sizeof(to), "%s/saved.lode", fuzz_folder());
	unlink(to);
	fuzz_require_sentence(lode_store_check(path, &result, NULL, &error), &error);
	code = lode_store_salvage(path, to, &result, NULL, &error);
	fuzz_require_sentence(code, &error);
	if (code < 0)
		return;
	code = lode_store_check(to, &saved, NULL, &error);
	fuzz_require(code == 0 && !saved.blocks_bad && !saved.footer_bad, "what was salvaged is whole");
	fuzz_require(saved.events_good == result.events_good, "salvaging counts what it saves");
}

static void put_number(uint8_t *bytes, uint64_t number)
{
	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(number >> (8 * i));
}

/* Puts right checksums wherever something looks like a header, a block or a tail. */
static void repair(uint8_t *bytes, size_t size)
{
	if (size >= LODE_FILE_HEADER_SIZE)
		put_number(bytes + 24, lode_checksum(bytes, 24, 0));
	for (size_t at = LODE_FILE_HEADER_SIZE; at + LODE_BLOCK_HEADER_SIZE <= size; at++) {
		uint32_t length;

		if (memcmp(bytes + at, LODE_BLOCK_MAGIC, 4) != 0)
			continue;
		memcpy(&length, bytes + at + 12, 4);
		if (length > size - at - LODE_BLOCK_HEADER_SIZE)
			continue;
		put_number(bytes + at + 32, lode_checksum(bytes + at + LODE_BLOCK_HEADER_SIZE, length,
							  lode_checksum(bytes + at, 32, 0)));
		at += LODE_BLOCK_HEADER_SIZE + length - 1;
	}
	if (size >= LODE_TAIL_SIZE)
		put_number(bytes + size - 8, lode_checksum(bytes + size - LODE_TAIL_SIZE, 16, 0));
}

static void try_bytes(const uint8_t *bytes, size_t size)
{
	struct fuzz_file file;

	fuzz_file_make(&file, bytes, size);
	read_it(file.path);
	check_it(file.path);
	fuzz_file_remove(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint8_t *repaired = malloc(size + 1);

	fuzz_require(repaired != NULL, "memory");
	memcpy(repaired, bytes, size);
	repair(repaired, size);
	if (memcmp(repaired, bytes, size) != 0)
		try_bytes(bytes, size);
	try_bytes(repaired, size);
	free(repaired);
	return 0;
}
