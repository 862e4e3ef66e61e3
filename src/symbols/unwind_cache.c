/* Unwind tables in the cache on disk: see unwind_table.h and, for their bytes, unwind_file.h. */
#include "symbols/unwind_table.h"

#include "base/cursor.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "symbols/symbol_cache.h"
#include "symbols/unwind_file.h"
#include "symbols/vdso.h"

#include <string.h>
#include <sys/mman.h>

int lode_unwind_table_parse(struct lode_unwind_table *table, const void *bytes, size_t size)
{
	struct lode_cursor cursor = lode_cursor(bytes, size);
	const struct lode_unwind_file_header *header = lode_cursor_bytes(&cursor, sizeof(*header));

	memset(table, 0, sizeof(*table));
	if (!header || header->magic != LODE_UNWIND_MAGIC || header->version != LODE_UNWIND_VERSION ||
	    header->size != size || header->rows > LODE_UNWIND_ROWS_LIMIT || !header->rules ||
	    header->rules > LODE_UNWIND_RULES || header->loads > LODE_UNWIND_LOADS_LIMIT ||
	    header->checksum != lode_digest_bytes((const char *)bytes + LODE_UNWIND_CHECKED_FROM,
						  size - LODE_UNWIND_CHECKED_FROM))
		return LODE_BAD_INPUT;
	*table = (struct lode_unwind_table){ .base = header->base,
					     .count = header->rows,
					     .rule_count = header->rules,
					     .load_count = header->loads,
					     .machine = header->machine,
					     .dropped = (uint32_t)header->dropped };
	table->dictionary = lode_cursor_bytes(&cursor, header->rules * sizeof(*table->dictionary));
	table->loads = lode_cursor_bytes(&cursor, header->loads * sizeof(*table->loads));
	table->starts = lode_cursor_bytes(&cursor, header->rows * sizeof(*table->starts));
	table->rules = lode_cursor_bytes(&cursor, header->rows * sizeof(*table->rules));
	if (!cursor.failed && !lode_cursor_left(&cursor))
		return 0;
	memset(table, 0, sizeof(*table));
	return LODE_BAD_INPUT;
}

static int read_cached(struct lode_unwind_table *table, const char *path)
{
	struct lode_map map;
	int code = lode_cache_map(path, &map);

	if (code < 0)
		return code;
	code = lode_unwind_table_parse(table, map.bytes, map.size);
	if (code < 0)
		lode_map_close(&map);
	else
		table->map = map;
	return code;
}

/* The table as its file in the cache is. */
static void pack(const struct lode_unwind_table *table, struct lode_buffer *buffer)
{
	struct lode_unwind_file_header header = {
		LODE_UNWIND_MAGIC, LODE_UNWIND_VERSION, table->machine, 0, 0, table->base, table->count,
		table->rule_count, table->load_count,   table->dropped
	};

	lode_buffer_add(buffer, &header, sizeof(header));
	lode_buffer_add(buffer, table->dictionary, table->rule_count * sizeof(*table->dictionary));
	lode_buffer_add(buffer, table->loads, table->load_count * sizeof(*table->loads));
	lode_buffer_add(buffer, table->starts, table->count * sizeof(*table->starts));
	lode_buffer_add(buffer, table->rules, table->count * sizeof(*table->rules));
	if (buffer->failed)
		return;
	header.size = buffer->size;
	memcpy(buffer->bytes, &header, sizeof(header));
	header.checksum = lode_digest_bytes(buffer->bytes + LODE_UNWIND_CHECKED_FROM,
					    buffer->size - LODE_UNWIND_CHECKED_FROM);
	memcpy(buffer->bytes, &header, sizeof(header));
}

/* That it cannot be written is no matter: it is made again next time. */
void lode_unwind_unwritten_write(struct lode_unwind_unwritten *unwritten)
{
	if (unwritten->path && unwritten->bytes.size && !unwritten->bytes.failed)
		lode_cache_write_bytes(unwritten->path, &unwritten->bytes, NULL);
	lode_free(unwritten->path);
	lode_buffer_release(&unwritten->bytes);
	memset(unwritten, 0, sizeof(*unwritten));
}

static int make_from_files(struct lode_unwind_table *table, const char *path, const char *debug)
{
	struct lode_elf elf, debug_elf;
	int has_debug, code;

	if (lode_elf_open(&elf, path) < 0)
		return 0;
	has_debug = debug && lode_elf_open(&debug_elf, debug) == 0;
	code = lode_unwind_table_make(table, &elf, has_debug ? &debug_elf : NULL);
	if (has_debug)
		lode_elf_close(&debug_elf);
	lode_elf_close(&elf);
	return code;
}

int lode_unwind_table_open_unwritten(struct lode_unwind_table *table, const char *path, const char *debug,
				     const char *build_id, const char *folder,
				     struct lode_unwind_unwritten *unwritten)
{
	int code;

	memset(table, 0, sizeof(*table));
	memset(unwritten, 0, sizeof(*unwritten));
	if (*folder && *build_id) {
		/* With a debug file there may be more rows. */
		unwritten->path = lode_cache_path(folder, build_id, debug ? "with debug file" : "", "unwind");
		if (!unwritten->path)
			return LODE_SYSTEM;
		if (read_cached(table, unwritten->path) == 0)
			return 0;
	}
	code = make_from_files(table, path, debug);
	if (!code && unwritten->path && table->count)
		pack(table, &unwritten->bytes);
	return code;
}

void lode_unwind_table_drop_pages(const struct lode_unwind_table *table)
{
	if (table->map.bytes)
		madvise((void *)(uintptr_t)table->map.bytes, table->map.size, MADV_DONTNEED);
}

int lode_unwind_table_open(struct lode_unwind_table *table, const char *path, const char *debug,
			   const char *build_id, const char *folder)
{
	struct lode_unwind_unwritten unwritten;
	int code = lode_unwind_table_open_unwritten(table, path, debug, build_id, folder, &unwritten);

	lode_unwind_unwritten_write(&unwritten);
	return code;
}

int lode_unwind_table_vdso(struct lode_unwind_table *table, const char *build_id)
{
	char own[LODE_BUILD_ID_TEXT];
	struct lode_elf elf;
	size_t size;
	char *copy = lode_vdso_copy(&size);
	int code = size && !copy ? LODE_SYSTEM : 0;

	memset(table, 0, sizeof(*table));
	if (copy && lode_elf_memory(&elf, copy, size) == 0) {
		lode_elf_build_id(&elf, own);
		if (!*build_id || strcmp(build_id, own) == 0)
			code = lode_unwind_table_make(table, &elf, NULL);
		lode_elf_close(&elf);
	}
	lode_free(copy);
	return code;
}
