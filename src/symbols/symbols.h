/*
 * Symbols: from addresses to functions.
 *
 * A *symbolizer* owns one *image* for each distinct binary (build-id, or path
 * where there is none): an array of symbols sorted by address, made once from
 * ELF tables and cached on disk, looked up by binary search. Image addresses are
 * the ELF file's own virtual addresses; lode_image_address turns file offsets
 * of a mapping into them.
 */
#ifndef LODE_SYMBOLS_SYMBOLS_H
#define LODE_SYMBOLS_SYMBOLS_H

#include "base/error.h"
#include "base/notes.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct lode_symbols_options {
	const char *const *paths; /* more folders with debug files or binaries, NULL-terminated; or NULL */
	const char *kept;         /* a folder of symbols by build-id alone (store/corpus_symbols.h); or NULL */
	const char *cache;        /* cache folder; NULL: $XDG_CACHE_HOME/lode/symbols; "": none */
	const char *root;         /* prefix for file paths ("/proc/PID/root"); NULL: none */
	uint32_t machine;         /* binaries are of this one (EM_X86_64, …); 0: of any */
	int debuginfod;           /* may ask $DEBUGINFOD_URLS */
	int no_demangle;
	struct lode_notes *notes;
};

struct lode_symbolizer;
struct lode_image;
struct lode_unwind_table;

int lode_symbolizer_create(struct lode_symbolizer **symbolizer, const struct lode_symbols_options *options,
			   struct lode_error *error);
void lode_symbolizer_destroy(struct lode_symbolizer *symbolizer);

/*
 * Images. Each returns the image, which the symbolizer owns, never NULL but on
 * memory that ran out: where nothing was found it is an image without symbols.
 * Asking again for the same one is cheap. Loading is lazy and thread-safe:
 * lode_image_load does it, the first look-up does it otherwise.
 */
/* A binary: `build_id` in hexadecimal or "", `path` as the recording saw it. */
struct lode_image *lode_symbolizer_binary(struct lode_symbolizer *symbolizer, const char *path,
					  const char *build_id);
/*
 * The kernel. /proc/kallsyms (or `kallsyms` if not NULL) serves when it is the
 * kernel of this build-id or no build-id is known; else a vmlinux. Image addresses
 * are run-time addresses; `reference` is the run-time address of `reference_name`
 * (_text or _stext) in the recording, to undo address randomisation; 0: unknown.
 */
struct lode_image *lode_symbolizer_kernel(struct lode_symbolizer *symbolizer, const char *build_id,
					  const char *kallsyms, const char *reference_name, uint64_t reference);
/* The vDSO of this machine, if the build-id agrees or is "". */
struct lode_image *lode_symbolizer_vdso(struct lode_symbolizer *symbolizer, const char *build_id);
/*
 * A perf map (/tmp/perf-PID.map): image addresses are run-time addresses. `owner` is the user of the process, as for
 * lode_perf_map_open, or LODE_PERF_MAP_OPEN where `path` leads to a descriptor of that function.
 */
struct lode_image *lode_symbolizer_perf_map(struct lode_symbolizer *symbolizer, const char *path, uid_t owner);
#define LODE_PERF_MAP_OPEN ((uid_t)-1)
/* What is noted of perf maps that are there and cannot be read, or are not believed. */
#define LODE_NOTE_PERF_MAPS_NOT_READ "perf maps not read: code generated at run time has no names"
/*
 * Opens a perf map. Everybody can write to /tmp, so it must be a plain file, no link, and belong to `owner`, to root, to
 * this program's user or to the one who called sudo. Returns the descriptor, LODE_SYSTEM where there is none, or
 * LODE_BAD_INPUT.
 */
int lode_perf_map_open(const char *path, uid_t owner, struct lode_error *error);

void lode_image_load(struct lode_image *image);
/* Number of symbols; 0 where nothing was found. */
size_t lode_image_symbols(struct lode_image *image);
/* The image address of a file offset inside a segment that maps the file at `file_offset`; identity without program headers. */
uint64_t lode_image_address(struct lode_image *image, uint64_t file_offset);

struct lode_symbol {
	const char *name;   /* demangled; NULL when only the bounds are known (.eh_frame) or nothing */
	const char *module; /* kernel images: "kernel" or the kernel module's name; else NULL */
	uint64_t start;     /* address of the function's first byte; the address requested when unknown */
	uint64_t size;      /* 0: unknown */
};

/*
 * The function at an image address. Returns 1 when bounds or a name were found,
 * 0 otherwise. Names live as long as the symbolizer. Thread-safe.
 */
int lode_image_find(struct lode_image *image, uint64_t address, struct lode_symbol *symbol);

/*
 * The functions inlined at an image address, outermost first, without the
 * function that holds them (that is lode_image_find's). Writes at most `limit`
 * names and returns how many; 0 without DWARF. Thread-safe.
 */
size_t lode_image_inlines(struct lode_image *image, uint64_t address, const char **names, size_t limit);

/*
 * The lines of source at an image address: of the function that holds it and of those inlined there, outermost first, the line in
 * which each calls the next; the last one's is that of the address itself. 0: not known. Writes at most `limit`
 * and returns how many; 0 without line tables. Thread-safe.
 */
size_t lode_image_lines(struct lode_image *image, uint64_t address, uint32_t *lines, size_t limit);

/* A row of the line table: code from `address` on is of this line. */
struct lode_source_row {
	uint64_t address;
	const char *file;   /* its path as the compiler knew it; lives as long as the image */
	const char *folder; /* that a path without a / at its beginning is in; NULL: not known */
	uint32_t line;      /* 0: the code is of no line */
};

/*
 * Calls `visit` with the rows of the addresses from `start` to before `end`, in order, until it returns non-zero, which is returned;
 * else 0. Thread-safe; `visit` may not ask for anything of the image.
 */
int lode_image_source_rows(struct lode_image *image, uint64_t start, uint64_t end,
			   int (*visit)(void *context, const struct lode_source_row *row), void *context);

/* The function with this readable name; of several the largest. Returns 1, or 0 where there is none. Thread-safe. */
int lode_image_named(struct lode_image *image, const char *name, struct lode_symbol *symbol);
/* The file of the binary; NULL where it was not found. Thread-safe. */
const char *lode_image_file(struct lode_image *image);
/* Whether a file was found that says where code of the binary is: the binary, or its debug file. */
int lode_image_has_layout(struct lode_image *image);

/*
 * aarch64: whether at this address the return address still is in the link
 * register (a leaf that has saved nothing), from .eh_frame/.debug_frame. 1, 0;
 * -1 when there is no unwind information, or the binary is of another machine.
 * Thread-safe.
 */
int lode_image_link_register(struct lode_image *image, uint64_t address);

/*
 * The unwind table of a binary or vDSO, which the image owns; an empty one where there is
 * none. Never NULL. Thread-safe.
 */
const struct lode_unwind_table *lode_image_unwind(struct lode_image *image);
/* Whether the file itself was found; its symbols may come from its debug file alone. Thread-safe. */
int lode_image_is_found(struct lode_image *image);

#endif
