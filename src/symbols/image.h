/*
 * Image: one binary, kernel, vDSO or perf map of a symbolizer. Private to
 * src/symbols/.
 *
 * What is made once by lode_image_load is read-only afterwards and needs no
 * lock; `loaded` is set, with release order, when it is complete. The lock keeps
 * loading to one thread and guards what grows later: the names.
 */
#ifndef LODE_SYMBOLS_IMAGE_H
#define LODE_SYMBOLS_IMAGE_H

#include "base/arena.h"
#include "base/array.h"
#include "symbols/kallsyms.h"
#include "symbols/symbols.h"
#include "symbols/symbol_table.h"
#include "symbols/unwind_table.h"

#include <pthread.h>
#include <stdatomic.h>

enum lode_image_kind {
	LODE_IMAGE_BINARY,
	LODE_IMAGE_KERNEL,
	LODE_IMAGE_VDSO,
	LODE_IMAGE_PERF_MAP,
};

/* Where the symbols of an image came from; kept in the cache beside them. */
struct lode_origin {
	char *identity;  /* every file that was looked at, with size and time of change */
	char *build_id;  /* of the binary that was found, "" */
	char *binary;    /* path of the binary itself, "" when it was not found */
	char *debug;     /* path of the file with the symbols or the DWARF, "" if it is the binary */
	char *debuglink; /* file name that the binary asks for, "" */
	char *fetched;   /* identity of a file that debuginfod fetched, "" */
};

/* Names of records as they were first requested. */
typedef _Atomic(const char *) lode_atomic_name;

struct lode_image {
	enum lode_image_kind kind;
	const struct lode_symbols_options *options; /* the symbolizer's */
	const char *cache;                          /* cache folder, "" for none */
	char *build_id;                             /* hexadecimal, "" */
	LODE_ARRAY(char *) paths;                   /* as recordings saw it; at least one */
	char *reference_name;                       /* kernel */
	uint64_t reference;
	uid_t owner; /* perf map: the user of its process, or LODE_PERF_MAP_OPEN */

	pthread_mutex_t lock;
	atomic_int loaded;
	struct lode_table table;
	lode_atomic_name *names; /* one for each record */
	struct lode_arena text;  /* of the names; under the lock */
	struct lode_origin origin;
	size_t symbols; /* records with a name, rivals included */
	int demangle;
	uint64_t shift;   /* kernel: run-time address minus the table's */
	int core_only;    /* kernel: modules are at other addresses by now */
	int from_vmlinux; /* kernel: the table is a binary's, without modules */

	atomic_int inlines_loaded;
	struct lode_table inlines;
	lode_atomic_name *inline_names;

	atomic_int call_lines_loaded;
	struct lode_table call_lines; /* the same calls, whose names are lines */
	atomic_int lines_loaded;
	struct lode_image_lines *lines; /* lines.c; NULL: there are none. Under the lock */

	atomic_int unwind_loaded;
	struct lode_unwind_table unwind;
};

/* Each fills image->table and what belongs to it, once, under the lock. Returns 0 or a negative code. */
int lode_image_load_binary(struct lode_image *image);
int lode_image_load_kernel(struct lode_image *image);
int lode_image_load_vdso(struct lode_image *image);
int lode_image_load_perf_map(struct lode_image *image);
/* Fills image->inlines; called once, under the lock. */
int lode_image_load_inlines(struct lode_image *image);
/* The same for image->call_lines and image->lines. */
int lode_image_load_call_lines(struct lode_image *image);
int lode_image_load_lines(struct lode_image *image);
void lode_image_lines_release(struct lode_image_lines *lines);
/* The file that has the image's DWARF, if any has; NULL or "" where no file was found. */
const char *lode_image_file_with_dwarf(const struct lode_image *image);
/* What the line table says of an address. Returns 1 or 0. Under the lock. */
int lode_image_lines_find(const struct lode_image_lines *lines, uint64_t address, struct lode_source_row *row);
/* The rows of addresses from `start` to before `end`, in order; see lode_image_source_rows. Under the lock. */
int lode_image_lines_each(const struct lode_image_lines *lines, uint64_t start, uint64_t end,
			  int (*visit)(void *context, const struct lode_source_row *row), void *context);

/* Appends the best of the readable forms of record `i`, which has a name, and of the `rivals` behind it. */
void lode_image_choose_name(const struct lode_table *table, uint32_t i, uint32_t rivals, int demangle,
			    struct lode_buffer *best);

void lode_origin_release(struct lode_origin *origin);
void lode_image_release(struct lode_image *image);

/*
 * The parsers of text, apart from their files so that a fuzzer can call them.
 * Wrong lines are skipped and counted in `skipped`; a last line without an end is
 * taken to be cut off and left out. Return 0, or LODE_SYSTEM when memory ran out.
 */
int lode_image_parse_perf_map(struct lode_table_builder *builder, const char *bytes, size_t size,
			      uint64_t *skipped);

/* The whole of a plain file or of one under /proc or /sys, at most `limit` bytes; 0 or a negative code. */
int lode_image_read_file(const char *path, size_t limit, struct lode_buffer *bytes, struct lode_error *error);
/* The same of one that is open as `fd`, which is closed; or `fd` is a negative code, which is returned. */
int lode_image_read_descriptor(int fd, const char *path, size_t limit, struct lode_buffer *bytes,
			       struct lode_error *error);

#endif
