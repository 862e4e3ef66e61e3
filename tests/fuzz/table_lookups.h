/* What the targets of the symbol tables share: looking things up in whatever table came out. */
#ifndef LODE_TESTS_TABLE_LOOKUPS_H
#define LODE_TESTS_TABLE_LOOKUPS_H

#include "fuzz.h"

#include "symbols/symbol_table.h"

#include <string.h>

static inline void look_up(const struct lode_table *table, uint64_t address)
{
	uint32_t record = lode_table_find(table, address);
	const char *name;

	if (record == LODE_NONE)
		return;
	fuzz_require(record < table->count, "a record that was found is there");
	name = lode_table_text(table, table->records[record].name);
	fuzz_require(!name || strlen(name) < table->string_size, "a name ends inside its strings");
	lode_table_text(table, table->records[record].link);
}

/* Asks around the bounds of every segment, and at the ends of the address space. */
static inline void look_up_all(const struct lode_table *table)
{
	look_up(table, 0);
	look_up(table, UINT64_MAX);
	for (size_t i = 0; i < table->segments && i < 5000; i++) {
		look_up(table, table->starts[i] - 1);
		look_up(table, table->starts[i]);
		look_up(table, table->starts[i] + 1);
	}
}

#endif
