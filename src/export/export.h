/*
 * Exporters: from a corpus to the formats of other tools.
 *
 * One file per format; each defines one `const struct lode_exporter` and is named
 * once, in the list of src/export/meson.build, from which the registry is made.
 * Streams are read block by block with the columns a format needs, and results
 * leave through a lode_output, so memory is bounded by the dictionary (names,
 * frames, stacks) and one block of events, never by the number of events.
 */
#ifndef LODE_EXPORT_EXPORT_H
#define LODE_EXPORT_EXPORT_H

#include "base/notes.h"
#include "base/output.h"
#include "base/progress.h"
#include "store/corpus.h"

/* All zero: everything, as the format likes it best. */
struct lode_export_options {
	unsigned kinds;             /* 1 << LODE_RUN | ...: which events; 0: all, or the format's choice */
	int per_event;              /* folded: a line an event, instead of a line a stack */
	const char *const *streams; /* names or ids, NULL-terminated; NULL: all streams */
	const char *const *where;   /* `key=value`: streams must have all of these; NULL: all streams */
	int inferred;               /* instead of events the inferred calls (latency/instances.h) on a timeline */
	const char *const *match;   /* of inferred calls: those with a frame that fits one of these globs */
	struct lode_notes *notes;
	const struct lode_progress *progress;
};

/* One export: what exporters get. */
struct lode_export {
	const struct lode_exporter *exporter;
	const struct lode_export_options *options;
	struct lode_output *output;
	const char *corpus;                       /* its path, for messages and titles */
	const struct lode_corpus_entry **entries; /* the streams requested */
	size_t count;
	struct lode_dictionary dictionary; /* of the streams that were opened so far */
	uint64_t done;                     /* events read, for progress */
	uint64_t total;                    /* events in all, times `passes` */
};

struct lode_exporter {
	const char *name;        /* "speedscope", as in --format */
	const char *description; /* one line, for help */
	const char *extension;   /* usual end of a file's name, with the dot */
	int binary;              /* not fit for a terminal */
	int has_timeline;        /* it can show inferred calls (the option `inferred`) */
	int has_no_calls; /* it has no place for `call` events and symptoms; that they are left out is noted */
	int forgets;      /* streams need nothing of one another: each has a fresh dictionary */
	unsigned passes;  /* times it reads the events, for progress */
	int (*write)(struct lode_export *export, struct lode_error *error);
};

/* All exporters, NULL-terminated. */
extern const struct lode_exporter *const lode_exporters[];

/* The exporter called `name`; NULL with a sentence that names all when there is none. */
const struct lode_exporter *lode_exporter_find(const char *name, struct lode_error *error);

/*
 * Writes the streams of `corpus` that `options` ask for. The output stays the
 * caller's, who finishes or abandons it. Returns 0 or a negative code.
 */
int lode_export_corpus(struct lode_corpus *corpus, const struct lode_exporter *exporter,
		       const struct lode_export_options *options, struct lode_output *output,
		       struct lode_error *error);

/* ---- for exporters ---- */

/* A stream that is being read: all but its events in `stream`, and one block of events. */
struct lode_export_stream {
	size_t number; /* its place among the streams */
	const struct lode_corpus_entry *entry;
	struct lode_store *store;
	struct lode_stream stream; /* over the export's dictionary */
	struct lode_events events;
	uint8_t *threads; /* by thread: its events are wanted; NULL: all are */
};

/* Opens one stream after the other, gives it to `take` and closes it. */
int lode_export_streams(struct lode_export *export,
			int (*take)(void *context, struct lode_export_stream *source, struct lode_error *error),
			void *context, struct lode_error *error);
/* When the first event of all streams was; UINT64_MAX: there is none. */
uint64_t lode_export_start(const struct lode_export *export);

/* Adds texts of a format to the dictionary; `strings` become their numbers. Returns 0 or LODE_SYSTEM. */
int lode_export_add_strings(struct lode_export *export, const char *const texts[], size_t count,
			    uint32_t strings[]);

/* Whether the options ask for events of this type. */
int lode_export_wants(const struct lode_export *export, enum lode_event_type type);
/* Counts events as read; LODE_SYSTEM when the caller requested an end. */
int lode_export_progress(struct lode_export *export, uint64_t events, struct lode_error *error);

/*
 * Gives `take` each block of the wanted events of the types in `types`
 * (1 << LODE_RUN | ...), in the file's order, with the requested columns.
 */
int lode_export_blocks(struct lode_export *export, struct lode_export_stream *source, unsigned types,
		       unsigned columns,
		       int (*take)(void *context, enum lode_event_type type, const struct lode_events *events,
				   struct lode_error *error),
		       void *context, struct lode_error *error);

/* The events of a block that are wanted; `columns` as of lode_store_events. */
int lode_export_read_block(const struct lode_export_stream *source, size_t block, unsigned columns,
			   struct lode_events *events, struct lode_error *error);

/*
 * Appends what people call a thread: its name and number, with the stream in
 * front when there are several.
 */
void lode_export_thread_name(const struct lode_export *export, const struct lode_stream *stream, uint32_t thread,
			     struct lode_buffer *buffer);

#endif
