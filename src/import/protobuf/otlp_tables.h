/*
 * The dictionary of OpenTelemetry's profiles: tables of mappings, locations, functions, strings,
 * attributes and stacks, which all profiles of a file share. Number 0 of each is "none".
 *
 * Loading notes where the entries are; a stack is parsed when a sample first names
 * it. Stacks and attributes are those of one stream: lode_otlp_tables_reset begins the next.
 */
#ifndef LODE_IMPORT_OTLP_TABLES_H
#define LODE_IMPORT_OTLP_TABLES_H

#include "base/array.h"
#include "import/import_common.h"
#include "import/json_profile.h"
#include "import/protobuf/protobuf.h"
#include "import/text_span.h"

/* Entries of one table, in place. */
struct lode_otlp_table {
	LODE_ARRAY(struct lode_cursor);
};

/* A value of an attribute: a text, or a number. */
struct lode_otlp_value {
	const char *text; /* not NUL-terminated; NULL: it is none */
	size_t length;
	int64_t number;
	double fraction;
	enum lode_attribute_type type;
	int is_fraction;
	int is_known; /* 0: a list, bytes, or nothing */
};

struct lode_otlp_tables {
	struct lode_json_import *import;
	struct lode_otlp_table mappings, locations, functions, strings, attributes, stacks;
	uint32_t *nodes;   /* by stack: the node it is; LODE_NONE: not made yet */
	uint32_t *modules; /* by mapping */
	uint32_t *lines;   /* by location: where its frames begin in `frames`, their number in front */
	LODE_ARRAY(uint32_t) frames;
	uint32_t *chain; /* locations of a stack, leaf first */
	size_t chain_capacity;
	uint64_t cut; /* stacks too deep */
	struct lode_import_addresses addresses;
	int from_zero; /* number 0 of functions and mappings is an entry, as in version 1.7 */
};

/* A struct with only `import` set is empty. */
void lode_otlp_tables_release(struct lode_otlp_tables *tables);
static inline int lode_otlp_fail_damaged(struct lode_otlp_tables *tables)
{
	return lode_json_reject(tables->import, "it is damaged or cut off");
}

/* Forgets all entries. */
void lode_otlp_tables_clear(struct lode_otlp_tables *tables);
/* Adds the entries of a dictionary. All of these return 0, or a negative code with a sentence. */
int lode_otlp_tables_load(struct lode_otlp_tables *tables, struct lode_cursor dictionary);
int lode_otlp_tables_reset(struct lode_otlp_tables *tables);
/* The node of a stack. */
int lode_otlp_stack(struct lode_otlp_tables *tables, uint64_t stack, uint32_t *node);
/* A string; its bytes stay in place. */
int lode_otlp_string(struct lode_otlp_tables *tables, uint64_t string, struct lode_span *text);
/* Key and value of an attribute. */
int lode_otlp_attribute(struct lode_otlp_tables *tables, uint64_t attribute, struct lode_cursor *key,
			struct lode_otlp_value *value);
/* Reads an AnyValue, whose text may be in the dictionary. */
int lode_otlp_value(struct lode_otlp_tables *tables, struct lode_cursor message, struct lode_otlp_value *value);

#endif
