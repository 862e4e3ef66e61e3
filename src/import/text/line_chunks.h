/*
 * Text in chunks of whole lines: several threads each parse one chunk at a time
 * into a part of their own, and the parts are joined strictly in the order of the
 * file, so that the result does not depend on the number of threads.
 */
#ifndef LODE_IMPORT_LINE_CHUNKS_H
#define LODE_IMPORT_LINE_CHUNKS_H

#include "import/import.h"

struct lode_line_chunks {
	/* A part for one thread, reused from chunk to chunk; NULL when memory has run out. */
	void *(*make)(void *context);
	void (*free)(void *part);
	/*
	 * Parses whole lines, or the first LODE_LINE_LIMIT + 2 bytes of one that is
	 * longer. Several threads at a time; what fails is kept in the part for `join`.
	 */
	void (*parse)(void *context, void *part, const char *text, size_t size);
	/*
	 * Adds what was parsed to the whole; one thread at a time, in order. The text is
	 * still there. A negative code ends the reading.
	 */
	int (*join)(void *context, void *part, struct lode_error *error);
	/* Empties the part, whether it was joined or not. */
	void (*clear)(void *part);
	void *context;
};

/* Reads the whole input on `options->jobs` threads. Returns 0 or the first negative code, in order. */
int lode_line_chunks_read(struct lode_input *input, const struct lode_import_options *options,
			  const struct lode_line_chunks *chunks, struct lode_error *error);

#endif
