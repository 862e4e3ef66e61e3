/* The blocks of an opened stream file and their columns: see store_file.h. */
#include "store/store_file.h"

#include "base/cursor.h"

#include <string.h>

int lode_store_fail(const struct lode_store *store, uint64_t offset, const char *what, struct lode_error *error)
{
	return lode_fail(error, LODE_BAD_INPUT, "%s:%#llx: %s; 'lode fsck --repair' saves what is whole",
			 store->path, (unsigned long long)offset, what);
}

/* Finds all columns of the kind; each must be there once, except optional ones. Returns what is wrong, or NULL. */
static const char *find_columns(const struct lode_store *store, struct lode_store_table *table)
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
			return "a column occurs twice";
		table->columns[packed.number] = packed;
		table->found |= 1u << packed.number;
	}
	if ((table->found | lode_table_optional(table->header.kind)) != (1u << count) - 1)
		return "a column is missing";
	return lode_cursor_left(&payload) ? "bytes are left after the columns" : NULL;
}

const char *lode_table_open(const struct lode_store *store, uint64_t offset, struct lode_store_table *table)
{
	const char *wrong;

	memset(table, 0, sizeof(*table));
	table->offset = offset;
	wrong = lode_block_header_read(&table->header, store->map.bytes + offset, store->map.size - offset);
	return wrong ? wrong : find_columns(store, table);
}

int lode_table_unpack(struct lode_codec *codec, const struct lode_store_table *table, unsigned number,
		      void *values, size_t count)
{
	const struct lode_table_column *column = &lode_table_columns(table->header.kind)[number];

	return lode_codec_unpack(codec, &table->columns[number], values, count, column->width, column->plus_one);
}
