/*
 * Which code is where in a trace of Windows: images (programs, libraries, drivers) and methods that .NET compiled,
 * by process and address. From addresses to frames:
 *
 *	a method of .NET		`module!Namespace.Class.Method`, or `[jit]!…` where it is in no image
 *	an address in an image		`module!function` of a symbol map, else `module!0xOFFSET`
 *	anything else			`0xADDRESS`
 *
 * The kernel and its drivers are images of process 0 and belong to all.
 */
#ifndef LODE_IMPORT_ETL_CODE_H
#define LODE_IMPORT_ETL_CODE_H

#include "base/array.h"
#include "base/buffer.h"
#include "base/cursor.h"
#include "base/hash_index.h"
#include "import/import.h"

struct lode_etl_range;
struct lode_etl_place;

/* Images, or methods. */
struct lode_etl_ranges {
	LODE_ARRAY(struct lode_etl_range); /* by process and address once an address is requested */
	size_t sorted;                     /* of them */
};

struct lode_etl_code {
	const struct lode_import_options *options;
	struct lode_dictionary *dictionary;
	struct lode_etl_ranges images;
	struct lode_etl_ranges methods;
	LODE_ARRAY(struct lode_etl_place) places; /* addresses that were requested */
	struct lode_index index;                  /* of places */
	struct lode_buffer text;                  /* for names on their way */
	uint64_t unnamed;                         /* addresses in images without a name */
	uint64_t unmapped;                        /* addresses in no image */
};

void lode_etl_code_release(struct lode_etl_code *code);
/* The image `path` (UTF-16, up to a NUL or the end) at `base`. Returns 0 or LODE_SYSTEM. */
int lode_etl_code_add_image(struct lode_etl_code *code, uint32_t pid, uint64_t base, uint64_t size,
			    struct lode_cursor path);
/* A method that .NET compiled: two texts of UTF-16, the class and the method, one after the other. The same. */
int lode_etl_code_add_method(struct lode_etl_code *code, uint32_t pid, uint64_t base, uint64_t size,
			     struct lode_cursor names);
/* The frame of an address; of a caller it is the return address. LODE_NONE when memory has run out. */
uint32_t lode_etl_code_frame(struct lode_etl_code *code, uint32_t pid, uint64_t address, int is_caller);
/* Adds to the notes what has no name. */
void lode_etl_code_report(const struct lode_etl_code *code);
/* Appends UTF-16 up to a NUL or the end as UTF-8; half a pair becomes U+FFFD. */
void lode_etl_utf8(struct lode_buffer *buffer, struct lode_cursor *text);

#endif
