/*
 * Unwind table: one unwind rule for each address of a binary's code, made once from
 * its .eh_frame (and .debug_frame) and cached on disk. Rows are a 32-bit address and
 * a 16-bit number of a rule; distinct rules are few.
 *
 * Tables of x86-64 and of aarch64 binaries can be made on either machine. A finished
 * table is read-only: any number of threads may search it.
 */
#ifndef LODE_SYMBOLS_UNWIND_TABLE_H
#define LODE_SYMBOLS_UNWIND_TABLE_H

#include "symbols/elf.h"
#include "base/buffer.h"
#include "symbols/unwind_rule.h"

struct lode_unwind_table {
	uint64_t base;          /* image address that rows count from */
	const uint32_t *starts; /* ascending; a row holds up to the next one */
	const uint16_t *rules;  /* number of each row's rule */
	size_t count;
	const struct lode_unwind_rule *dictionary; /* number 0 is the empty rule */
	size_t rule_count;
	const struct lode_load *loads; /* the executable parts of the file */
	size_t load_count;
	uint32_t machine;    /* EM_X86_64, EM_AARCH64 */
	uint32_t dropped;    /* distinct rules beyond LODE_UNWIND_RULES: their rows have none */
	void *owned;         /* where the arrays above were allocated */
	struct lode_map map; /* or the cache file that contains them */
};

/*
 * The table of a binary and, if it is not NULL, its separate debug file. A binary
 * without call frame information, or of another machine, has an empty one. Returns 0
 * or LODE_SYSTEM.
 */
int lode_unwind_table_make(struct lode_unwind_table *table, const struct lode_elf *binary,
			   const struct lode_elf *debug);
/*
 * The same for the file `path` and its debug file (NULL: none), through the cache in
 * `folder` ("": none) if the build-id (hexadecimal) is known. Never waits for a pipe or a
 * device. A file that cannot be read has an empty table. Returns 0 or LODE_SYSTEM.
 */
int lode_unwind_table_open(struct lode_unwind_table *table, const char *path, const char *debug,
			   const char *build_id, const char *folder);

/* A table as it goes to the cache; zeroed when there is nothing to write. */
struct lode_unwind_unwritten {
	char *path;
	struct lode_buffer bytes;
};

/*
 * As lode_unwind_table_open, for who needs the table before the disk has it: what the cache
 * lacks goes to `unwritten`, which must be written even on failure.
 */
int lode_unwind_table_open_unwritten(struct lode_unwind_table *table, const char *path, const char *debug,
				     const char *build_id, const char *folder,
				     struct lode_unwind_unwritten *unwritten);
/* Writes it, if there is something, and releases it. */
void lode_unwind_unwritten_write(struct lode_unwind_unwritten *unwritten);
/* The vDSO of this machine's kernel, if the build-id agrees or is "". */
int lode_unwind_table_vdso(struct lode_unwind_table *table, const char *build_id);
/* It is not needed soon: what its cache file takes of this process's memory is given back, and read again when needed. */
void lode_unwind_table_drop_pages(const struct lode_unwind_table *table);
/* A zeroed table is empty. */
void lode_unwind_table_release(struct lode_unwind_table *table);

/* A table from the bytes of a cache file, which must outlive it; LODE_BAD_INPUT when they are none. */
int lode_unwind_table_parse(struct lode_unwind_table *table, const void *bytes, size_t size);

/* The image address of an offset in the file; 0 when it is not code. */
uint64_t lode_unwind_table_address(const struct lode_unwind_table *table, uint64_t offset);
/*
 * What to add to offsets in the file to get image addresses, for code that is mapped from
 * `size` bytes at `offset`: 1, or 0 when none of it is code.
 */
int lode_unwind_table_shift(const struct lode_unwind_table *table, uint64_t offset, uint64_t size, uint64_t *shift);
/* The rule at an image address; the empty one when nothing is known. Never NULL. */
const struct lode_unwind_rule *lode_unwind_table_find(const struct lode_unwind_table *table, uint64_t address);

#endif
