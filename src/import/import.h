/*
 * Importers: from the formats of other tools to streams.
 *
 * One file per format; each defines one `const struct lode_importer` and is named
 * once, in the list of src/import/meson.build, from which the registry is made.
 * The sniffer shows the first bytes of the (unpacked) input to each importer and
 * takes the one that is most certain.
 */
#ifndef LODE_IMPORT_IMPORT_H
#define LODE_IMPORT_IMPORT_H

#include "base/input.h"
#include "base/notes.h"
#include "base/progress.h"
#include "trace/stream.h"

/* Bytes that an importer's sniff function gets to see, if the input has them. */
#define LODE_SNIFF_BYTES 4096
/* Longest line a text format may have. */
#define LODE_LINE_LIMIT (64u << 20)

struct lode_symbol_maps;

struct lode_import_options {
	const char *format; /* importer's name, or NULL to sniff */
	int kind_is_wait;   /* folded stacks: waits instead of runs */
	double unit_ns;     /* nanoseconds of one value (folded stacks) or count (pprof); 0: not given */
	unsigned jobs;      /* threads; 0: one per processor */
	size_t chunk_bytes; /* of text that a thread reads at a time; 0: 4 MiB */
	int inlines;        /* inlined functions as frames of their own */
	int debuginfod;     /* symbols may be fetched */
	int no_symbols;     /* leave addresses as they are */
	const char *const *symbol_paths; /* folders to look for debug files in, NULL-terminated; or NULL */
	const struct lode_symbol_maps *symbol_maps; /* names that the user gives (symbol_maps.h), or NULL */
	const char *cache;                          /* symbol cache folder; NULL: the default; "": none */
	const char *stream_name;                    /* NULL: from the recording or the file */
	const char *const *symptom_markers; /* patterns of names of slices and markers that are symptoms, NULL-terminated; or NULL */
	const char *file_name; /* of a stream that has no other name; NULL: made from the input's name */
	const struct lode_progress *progress;
	struct lode_notes *notes;
};

/*
 * Where finished streams go. `take` gets a complete, sorted stream and its
 * ordinal in the input; the stream stays the importer's, which releases it
 * afterwards. A negative code ends the import.
 */
struct lode_import_sink {
	int (*take)(void *context, struct lode_stream *stream, unsigned ordinal, struct lode_error *error);
	void *context;
};

struct lode_importer {
	const char *name;        /* "perf.data", as in --format */
	const char *description; /* one line, for help */
	int is_folder;           /* the file is one of several of a folder that make up the recording */
	/*
	 * How sure it is that bytes starting like this are of its format: 0 (no), up to 59 (it may be),
	 * from 60 (it has a mark of this format) to 100 (a magic number); the surest importer is taken.
	 * `bytes` is the start of the input; of text that begins with `#` what follows these lines, so
	 * a first line that begins with `#` cannot be a mark. `size` is all there is or
	 * LODE_SNIFF_BYTES, `name` the file's name.
	 */
	int (*sniff)(const unsigned char *bytes, size_t size, const char *name);
	int (*read)(struct lode_input *input, const struct lode_import_options *options,
		    const struct lode_import_sink *sink, struct lode_error *error);
};

/* All importers, NULL-terminated. */
extern const struct lode_importer *const lode_importers[];

/* The importer for `input`: the one options name, or the sniffer's; NULL with a sentence when there is none. */
const struct lode_importer *lode_import_choose(struct lode_input *input, const struct lode_import_options *options,
					       struct lode_error *error);
/*
 * The file to open for `path`: itself, or of a folder that perf record, LTTng or uftrace has written the file
 * `data`, `metadata` or `info`, from which the others are found. For the caller to free; NULL: no memory.
 */
char *lode_import_file(const char *path);

#endif
