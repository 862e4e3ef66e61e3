/*
 * Table: named address ranges, made once, then looked up by binary search.
 *
 * Building: names go into one block of strings, ranges are appended as records;
 * lode_table_finish cuts the address space into segments, each owned by one
 * record or by none. Where ranges overlap, the record that was added later owns
 * the address. Everything in a finished table is an array without pointers, so
 * that the cache can write it as it is and map it back.
 *
 * A finished table is read-only: any number of threads may look things up.
 */
#ifndef LODE_SYMBOLS_SYMBOL_TABLE_H
#define LODE_SYMBOLS_SYMBOL_TABLE_H

#include "base/array.h"
#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"

/* Records a table may have; more means a corrupt file. */
#define LODE_TABLE_LIMIT (64u << 20)
/* Bytes of names a table may have: offsets are 32 bits wide. */
#define LODE_TABLE_STRING_LIMIT (UINT32_MAX - 1u)

struct lode_table_record {
	uint64_t start;
	uint64_t end;  /* first address behind it; equal to start: owns nothing */
	uint32_t name; /* offset in the strings; LODE_NONE: only the bounds are known */
	/*
	 * ELF: how many records behind this one are other names of the same
	 * function. Kernel: offset of the module's name, LODE_NONE for the kernel
	 * itself. Inlines: the record around this one (always a smaller number), or
	 * LODE_NONE.
	 */
	uint32_t link;
};

/* A part of the file that is mapped: what a loader would do with it. */
struct lode_load {
	uint64_t offset;
	uint64_t size;
	uint64_t address;
	uint64_t executable;
};

struct lode_table {
	const uint64_t *starts; /* of the segments, ascending */
	const uint32_t *owners; /* record of each segment, or LODE_NONE */
	size_t segments;
	const struct lode_table_record *records;
	size_t count;
	const char *strings; /* the last byte is a NUL */
	size_t string_size;
	const struct lode_load *loads;
	size_t load_count;
	void *owned[5];      /* where the arrays above were allocated */
	struct lode_map map; /* or the cache file that contains them */
};

struct lode_table_builder {
	struct lode_table_record *records;
	size_t count;
	size_t capacity;
	struct lode_buffer strings;
	LODE_ARRAY(struct lode_load) loads;
	int failed; /* memory ran out, or a limit was passed */
};

/* A zeroed builder is empty. A failed append marks it; lode_table_finish reports it. */
void lode_table_builder_release(struct lode_table_builder *builder);
/* Copies a name (up to a NUL inside) behind the others; its offset. */
uint32_t lode_table_name(struct lode_table_builder *builder, const char *text, size_t length);
void lode_table_add(struct lode_table_builder *builder, uint64_t start, uint64_t end, uint32_t name, uint32_t link);
void lode_table_add_load(struct lode_table_builder *builder, const struct lode_load *load);
/*
 * Makes the table out of the builder, which is empty afterwards. Returns 0 or
 * LODE_SYSTEM, then the table is empty too.
 */
int lode_table_finish(struct lode_table_builder *builder, struct lode_table *table);
/* A zeroed table is empty. */
void lode_table_release(struct lode_table *table);

/* The record that owns `address`, or LODE_NONE. */
uint32_t lode_table_find(const struct lode_table *table, uint64_t address);
/* The text at an offset; NULL when the offset is LODE_NONE or out of range. */
const char *lode_table_text(const struct lode_table *table, uint32_t offset);

#endif
