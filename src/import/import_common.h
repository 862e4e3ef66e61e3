/*
 * What importers have in common: going through lines, reporting progress, the
 * sentence for a wrong line, handing a finished stream on.
 */
#ifndef LODE_IMPORT_IMPORT_COMMON_H
#define LODE_IMPORT_IMPORT_COMMON_H

#include "import/import.h"

/* Reports how much of the input is read. Returns LODE_SYSTEM when the work should stop. */
int lode_import_progress(const struct lode_input *input, const struct lode_import_options *options,
			 struct lode_error *error);

/* The same for importers that have the input as a whole: `done` bytes of `total`. */
int lode_import_progress_at(const struct lode_input *input, const struct lode_import_options *options,
			    uint64_t done, uint64_t total, struct lode_error *error);

/*
 * Gives each line of the input to `take` with the context; `is_whole`: it has its end, which a last line that is cut
 * off has not. Reports progress. Stops at the first error.
 */
int lode_import_lines(struct lode_input *input, const struct lode_import_options *options,
		      int (*take)(void *context, const char *line, size_t length, int is_whole), void *context,
		      struct lode_error *error);

/* The median, for periods that a file does not say; 0 when there are no values. Sorts them. */
uint64_t lode_import_median(uint64_t *values, size_t count);

/* `NAME:LINE: what`, the line being the one that lode_input_line gave last. Returns LODE_BAD_INPUT. */
int lode_import_fail(const struct lode_input *input, struct lode_error *error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * A note that is being counted: here while reading, because there may be one per line,
 * and reported once at the end. A zeroed struct counts nothing yet.
 */
struct lode_tally {
	uint64_t count;
	char first[400]; /* where, and what it was */
};

/* Counts one, in the line that lode_input_line gave last; `detail` (`length` bytes, or NULL) says what. */
void lode_tally_add(struct lode_tally *tally, const struct lode_input *input, const char *detail, size_t length);
/* What importers of text say of a last line that is not whole. */
#define LODE_LEFT_OUT_LINE "a last line that is cut off, left out"

/* What importers say of stacks deeper than LODE_STACK_DEPTH_LIMIT, by the end that is lost. */
#define LODE_CUT_AT_ROOT "stacks deeper than 16384 frames, cut at the root"
#define LODE_CUT_AT_LEAF "stacks deeper than 16384 frames, cut at the leaf"

/* Puts it into the notes as `what`. */
void lode_tally_report(const struct lode_tally *tally, const struct lode_import_options *options, const char *what);

/*
 * How an importer begins that has the input as a whole: `bytes` and `size` are all of it, `stream` is empty with `dictionary`
 * as its own. Returns 0, or a negative code with nothing to release; else end it with lode_import_end.
 */
int lode_import_begin(struct lode_input *input, const unsigned char **bytes, size_t *size,
		      struct lode_stream *stream, struct lode_dictionary *dictionary, struct lode_error *error);
/* Releases a stream and its dictionary. */
void lode_import_end(struct lode_stream *stream);

/* Names a thread that has no name yet; an empty text is no name. Returns 0 or LODE_SYSTEM. */
int lode_import_name_thread(struct lode_stream *stream, uint32_t thread, const char *text, size_t length);

/* Functions that are addresses in a module: offsets in its file, or as the file of the profile has them. */
struct lode_import_addresses {
	uint64_t offsets;
	uint64_t others;
};

/* Says that addresses are offsets (LODE_ADDRESSES), where all are: others are taken for the ELF file's own. Returns 0 or LODE_SYSTEM. */
int lode_import_note_addresses(struct lode_stream *stream, const struct lode_import_addresses *addresses);

/* Names the stream if it has no name yet, sorts it and gives it to the sink. */
int lode_import_deliver(const struct lode_input *input, const struct lode_import_options *options,
			const struct lode_import_sink *sink, struct lode_stream *stream, unsigned ordinal,
			struct lode_error *error);

#endif
