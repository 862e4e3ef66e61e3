/* Block headers, checksums and the table of columns: see store_format.h and store_tables.h. */
#include "store/store_format.h"

#include "base/cursor.h"
#include "store/store_tables.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static const struct lode_table_column tables[LODE_BLOCK_KINDS][LODE_TABLE_COLUMNS] = {
	[LODE_BLOCK_STRINGS] = { [LODE_STRINGS_LENGTH] = { 4, 0 }, [LODE_STRINGS_BYTES] = { 1, 0 } },
	[LODE_BLOCK_MODULES] = { [LODE_MODULES_NAME] = { 4, 0 },
				 [LODE_MODULES_PATH] = { 4, 0 },
				 [LODE_MODULES_BUILD_ID] = { 4, 0 },
				 [LODE_MODULES_KIND] = { 1, 0 },
				 [LODE_MODULES_LANGUAGE] = { 1, 0 } },
	[LODE_BLOCK_FRAMES] = { [LODE_FRAMES_MODULE] = { 4, 0 }, [LODE_FRAMES_FUNCTION] = { 4, 0 } },
	[LODE_BLOCK_NODES] = { [LODE_NODES_PARENT] = { 4, 0 }, [LODE_NODES_FRAME] = { 4, 0 } },
	[LODE_BLOCK_THREADS] = { [LODE_THREADS_PID] = { 4, 1 },
				 [LODE_THREADS_TID] = { 4, 0 },
				 [LODE_THREADS_NAME] = { 4, 0 },
				 [LODE_THREADS_WAITS] = { 8, 0 },
				 [LODE_THREADS_PREEMPTIONS] = { 8, 0 },
				 [LODE_THREADS_WAITED] = { 8, 0 },
				 [LODE_THREADS_RUN] = { 8, 0 },
				 [LODE_THREADS_QUEUED] = { 8, 0 } },
	[LODE_BLOCK_HEAD] = { [LODE_HEAD_NAME] = { 4, 0 }, [LODE_HEAD_HOST] = { 4, 0 } },
	[LODE_BLOCK_ATTRIBUTES] = { [LODE_ATTRIBUTES_KEY] = { 4, 0 },
				    [LODE_ATTRIBUTES_VALUE] = { 4, 0 },
				    [LODE_ATTRIBUTES_TYPE] = { 1, 0 } },
	[LODE_BLOCK_SYMPTOMS] = { [LODE_SYMPTOMS_THREAD] = { 4, 0 },
				  [LODE_SYMPTOMS_NAME] = { 4, 0 },
				  [LODE_SYMPTOMS_T0] = { 8, 0 },
				  [LODE_SYMPTOMS_T1] = { 8, 0 } },
	[LODE_BLOCK_EVENTS_OF_A_TYPE] = { [LODE_EVENTS_T] = { 8, 0 },
					  [LODE_EVENTS_COST] = { 8, 0 },
					  [LODE_EVENTS_DELAY] = { 8, 0 },
					  [LODE_EVENTS_THREAD] = { 4, 0 },
					  [LODE_EVENTS_STACK] = { 4, 0 },
					  [LODE_EVENTS_WAKER] = { 4, 1 },
					  [LODE_EVENTS_WAKER_STACK] = { 4, 0 },
					  [LODE_EVENTS_NAME] = { 4, 0 },
					  [LODE_EVENTS_CPU] = { 2, 1 },
					  [LODE_EVENTS_WEIGHT] = { 4, 0 },
					  [LODE_EVENTS_OBJECT] = { 4, 0 },
					  [LODE_EVENTS_HOLDER] = { 4, 1 },
					  [LODE_EVENTS_CONTEXT] = { 4, 0 } },
	[LODE_BLOCK_FOOTER] = { [LODE_FOOTER_OFFSET] = { 8, 0 },
				[LODE_FOOTER_KIND] = { 1, 0 },
				[LODE_FOOTER_TYPE] = { 1, 0 },
				[LODE_FOOTER_ROWS] = { 4, 0 },
				[LODE_FOOTER_FIRST] = { 8, 0 },
				[LODE_FOOTER_LAST] = { 8, 0 } },
};

const struct lode_table_column *lode_table_columns(enum lode_block_kind kind)
{
	return tables[kind];
}

unsigned lode_table_column_count(enum lode_block_kind kind)
{
	unsigned count = 0;

	while (count < LODE_TABLE_COLUMNS && tables[kind][count].width)
		count++;
	return count;
}

unsigned lode_table_optional(enum lode_block_kind kind)
{
	if (kind == LODE_BLOCK_MODULES)
		return 1u << LODE_MODULES_LANGUAGE;
	if (kind == LODE_BLOCK_THREADS)
		return (1u << LODE_THREADS_WAITS) | (1u << LODE_THREADS_PREEMPTIONS) |
		       (1u << LODE_THREADS_WAITED) | (1u << LODE_THREADS_RUN) | (1u << LODE_THREADS_QUEUED);
	if (kind == LODE_BLOCK_EVENTS_OF_A_TYPE)
		return (1u << LODE_EVENTS_WEIGHT) | (1u << LODE_EVENTS_OBJECT) | (1u << LODE_EVENTS_HOLDER) |
		       (1u << LODE_EVENTS_CONTEXT);
	return 0;
}

uint64_t lode_checksum(const void *bytes, size_t size, uint64_t seed)
{
	return XXH3_64bits_withSeed(bytes, size, seed);
}

static void put_little_endian(unsigned char *bytes, uint64_t number, unsigned width)
{
	for (unsigned i = 0; i < width; i++)
		bytes[i] = (unsigned char)(number >> (8 * i));
}

void lode_block_header_write(const struct lode_block_header *header, const void *payload, unsigned char bytes[40])
{
	memcpy(bytes, LODE_BLOCK_MAGIC, 4);
	bytes[4] = header->kind;
	bytes[5] = header->type;
	put_little_endian(bytes + 6, header->columns, 2);
	put_little_endian(bytes + 8, header->rows, 4);
	put_little_endian(bytes + 12, header->size, 4);
	put_little_endian(bytes + 16, header->first, 8);
	put_little_endian(bytes + 24, header->last, 8);
	put_little_endian(bytes + 32, lode_checksum(payload, header->size, lode_checksum(bytes, 32, 0)), 8);
}

const char *lode_block_header_read(struct lode_block_header *header, const unsigned char *bytes, uint64_t left)
{
	struct lode_cursor cursor = lode_cursor(bytes, left);
	const void *magic = lode_cursor_bytes(&cursor, 4);

	header->kind = lode_cursor_u8(&cursor);
	header->type = lode_cursor_u8(&cursor);
	header->columns = lode_cursor_u16(&cursor);
	header->rows = lode_cursor_u32(&cursor);
	header->size = lode_cursor_u32(&cursor);
	header->first = lode_cursor_u64(&cursor);
	header->last = lode_cursor_u64(&cursor);
	header->checksum = lode_cursor_u64(&cursor);
	if (cursor.failed)
		return "the file ends inside a block header";
	if (memcmp(magic, LODE_BLOCK_MAGIC, 4) != 0)
		return "no block begins here";
	if (header->size > lode_cursor_left(&cursor))
		return "the file ends inside a block";
	if (lode_checksum(bytes + LODE_BLOCK_HEADER_SIZE, header->size, lode_checksum(bytes, 32, 0)) !=
	    header->checksum)
		return "the checksum of a block is wrong";
	if (header->kind == 0 || header->kind >= LODE_BLOCK_KINDS || header->type >= LODE_EVENT_TYPES ||
	    (header->rows > LODE_BLOCK_ROWS && header->kind != LODE_BLOCK_FOOTER))
		return "a block of a kind this version does not know";
	return NULL;
}
