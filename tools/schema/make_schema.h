/* Schemas of results and types of the page, from the tables of fields (src/result/fields.h). */
#ifndef LODE_MAKE_SCHEMA_H
#define LODE_MAKE_SCHEMA_H

#include "result/results.h"

/* The tables that results refer to, each once, in the order in which they are met. */
struct tables {
	const struct lode_fields *items[512];
	unsigned uses[512]; /* by fields */
	size_t count;
};

/* Adds the tables below `fields`, itself included. Parts are no tables of their own. Exits when there are too many. */
void tables_add(struct tables *tables, const struct lode_fields *fields);
unsigned tables_uses(const struct tables *tables, const struct lode_fields *fields);

/* Appends docs/schema/NAME.json. */
void write_schema(const struct lode_described_result *result, struct lode_buffer *buffer);
/* Appends web/src/results.ts. */
void write_page_types(struct lode_buffer *buffer);

#endif
