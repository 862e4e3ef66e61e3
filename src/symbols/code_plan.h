/*
 * Plan: which bytes of a binary are code of which function, before a single
 * instruction is looked at. Private to code.c and what it is made of.
 */
#ifndef LODE_SYMBOLS_CODE_PLAN_H
#define LODE_SYMBOLS_CODE_PLAN_H

#include "base/array.h"
#include "base/strings.h"
#include "symbols/code.h"
#include "symbols/elf.h"
#include "symbols/image.h"

#define LODE_PLAN_PAGE_BITS 8

/* A function as a symbol table has it. */
struct lode_linker_symbol {
	uint64_t address;
	const char *name; /* lives as long as the plan */
	uint32_t length;  /* of the name, without its version */
	uint32_t unit;    /* the file it was compiled from; LODE_NONE: known to all */
};

/* Where code and data begin in turns, by address. */
struct lode_code_mark {
	uint64_t address;
	int is_data;
};

struct lode_linker_symbols {
	LODE_ARRAY(struct lode_linker_symbol);
	size_t exported; /* the first ones are those that other binaries can import, best first */
	LODE_ARRAY(struct lode_code_mark) marks; /* aarch64 */
	uint64_t budget;                         /* bytes of names that may still be taken */
};

struct lode_plan_piece {
	uint64_t start; /* file offsets */
	uint64_t end;
	uint64_t address;  /* of the start */
	uint32_t record;   /* of the table */
	uint32_t function; /* or LODE_CODE_IMPORT | number; LODE_NONE: not known yet, or none */
	uint8_t entry;     /* callers enter here */
	uint8_t stub;      /* of the procedure linkage table: leads to the function, is no part of it */
	uint8_t cold;      /* without a name, and begins with a frame: a part of some function */
};

struct lode_code_slot {
	uint64_t address;
	uint32_t import;
};

struct lode_code_plan {
	struct lode_map map;
	struct lode_elf elf; /* the binary */
	struct lode_elf symbol_file;
	struct lode_elf packed_file; /* .gnu_debugdata */
	struct lode_buffer packed;
	struct lode_image image;
	struct lode_linker_symbols symbols;
	LODE_ARRAY(struct lode_plan_piece) pieces; /* by start; they do not overlap */
	uint32_t *pages; /* the first piece that ends behind the start of each page of the file */
	size_t page_count;
	struct lode_load *loads; /* code, by address */
	size_t load_count;
	LODE_ARRAY(uint32_t) functions;          /* the record of each */
	struct lode_strings imports;             /* number n is id n + 1 */
	LODE_ARRAY(struct lode_code_slot) slots; /* by address */
};

/* Opens the file and reads all but the instructions. The plan must be released also after a failure. */
int lode_code_plan_make(struct lode_code_plan *plan, const char *path, struct lode_error *error);
void lode_code_plan_release(struct lode_code_plan *plan);
/* The mapped part that holds an address; NULL without one. */
const struct lode_load *lode_code_plan_load(const struct lode_code_plan *plan, uint64_t address);
/* The piece that holds an address; NULL without one. */
struct lode_plan_piece *lode_code_plan_at(const struct lode_code_plan *plan, uint64_t address);
/* The bytes of the file from an address on, at most `size`, in `*left`; NULL without any. */
const unsigned char *lode_code_plan_bytes(const struct lode_code_plan *plan, uint64_t address, size_t *left);
/* Adds a function with the name of a record; LODE_NONE when memory ran out. */
uint32_t lode_code_plan_add(struct lode_code_plan *plan, uint32_t record);
/* LODE_CODE_IMPORT | the number of the import of `name@plt`; LODE_NONE when memory ran out. */
uint32_t lode_code_plan_import(struct lode_code_plan *plan, const char *name);
/* A name without what makes it a clone; the whole length when it is none. Sets `*cold` for a part that nothing
 * calls. */
size_t lode_code_base_length(const char *name, size_t length, int *cold);

/* All functions of the symbol tables (code_symbols.c). Returns 0, or LODE_SYSTEM when memory ran out. */
int lode_linker_symbols_read(struct lode_code_plan *plan);
/* Whose a record of the table is. */
struct lode_code_kin {
	uint32_t of; /* the record whose function it is a part of; itself where it is none */
	int cold;    /* and nothing calls it */
};

/* Fills one for each record, from the names of clones (code_clones.c). Returns 0 or LODE_SYSTEM. */
int lode_code_join_clones(const struct lode_code_plan *plan, struct lode_code_kin *kin);
/* Finds the pieces without a name that begin with a frame (code_cold.c). Returns 0 or LODE_SYSTEM. */
int lode_code_find_cold(struct lode_code_plan *plan);
/* The pointers to functions of other binaries (code_slots.c). Returns 0 or LODE_SYSTEM. */
int lode_code_read_slots(struct lode_code_plan *plan);
/* The import whose pointer is at an address; LODE_NONE: none. */
uint32_t lode_code_slot_import(const struct lode_code_plan *plan, uint64_t address);
/* Where `main` begins, from the first instructions of the program; 0: not known (code_start.c). */
uint64_t lode_code_start(const struct lode_code_plan *plan);

#endif
