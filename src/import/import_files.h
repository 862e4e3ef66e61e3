/*
 * From files to streams of a corpus: what `lode import` does with each file.
 *
 * Input that is not a plain file, such as a compressed one or standard input, is first spooled to a
 * temporary file, so that every input is in memory as a whole: its digest, and with it the id of
 * each stream (stream_id.h), is then known when the first stream comes out, and the same content is
 * the same stream, regardless of how it arrives. A stream is in the corpus completely or not at
 * all.
 */
#ifndef LODE_IMPORT_IMPORT_FILES_H
#define LODE_IMPORT_IMPORT_FILES_H

#include "import/import.h"
#include "import/import_names.h"
#include "import/trace_folders.h"

/* What became of one stream. */
struct lode_imported_stream {
	char id[33];
	char *name;
	uint64_t events[LODE_EVENT_TYPES];
	uint64_t cost[LODE_EVENT_TYPES];
	uint64_t stacks;
	uint64_t span;
	uint64_t stored; /* bytes of its file */
	int skipped;     /* was there already */
	int replaced;
	size_t file; /* index of the file it came from */
};

/* What became of one file. */
struct lode_imported_file {
	uint64_t bytes; /* unpacked */
	uint64_t took;  /* nanoseconds */
	int tried;      /* 0: the import ended before it */
	int code;
};

/* What to do on the way; each gets `context`. */
struct lode_import_hooks {
	/* Before a file is read: the corpus is open. */
	void (*reading)(void *context, struct lode_corpus *corpus);
	/* To a stream that was read, before it is stored: sets its host and attributes. A negative code ends the file. */
	int (*adjust)(void *context, struct lode_stream *stream, struct lode_error *error);
	/* After a stream was added. */
	void (*added)(void *context, struct lode_corpus *corpus, const char *id, const struct lode_stream *stream);
	void *context;
};

/* Set the first part; zero the rest. */
struct lode_import_files {
	const char *const *paths; /* of the command; a folder of traces becomes several */
	size_t path_count;
	const char *output;                 /* the corpus; made when there is something to put into it */
	struct lode_import_options options; /* with notes; `file_name` is set for each file */
	const char *name;                   /* of the streams, their host and attributes; NULL: not given */
	const char *host;
	const char *const *attributes;
	int gives_kind, gives_unit; /* they were requested, so that a format without them is noted */
	int replace;
	struct lode_import_hooks hooks;

	struct lode_corpus *corpus; /* NULL: nothing was read yet */
	struct lode_imported_stream *streams;
	size_t count, capacity;
	struct lode_recordings recordings; /* what the paths name */
	struct lode_imported_file *files;  /* one a recording */
	int store_failed;                  /* the corpus, not the file, is to blame for the last failure */
	struct lode_import_names names;
};

/* Returns 0 or LODE_SYSTEM; release it in either case. */
int lode_import_files_begin(struct lode_import_files *import, struct lode_error *error);
/* Imports one file. After a failure others can be tried, unless `store_failed`. */
int lode_import_files_read(struct lode_import_files *import, size_t file, struct lode_error *error);
void lode_import_files_release(struct lode_import_files *import);

#endif
