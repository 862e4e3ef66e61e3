/*
 * Reads an upload: unpacks it, finds out what it is, and makes streams of it, or an extract of symbols. Meant for a
 * sandbox (sandbox.h): it opens nothing and starts nothing.
 */
#ifndef LODE_COLLECT_UPLOAD_READER_H
#define LODE_COLLECT_UPLOAD_READER_H

#include "collect/upload.h"
#include "symbols/symbol_extract.h"

/* Gets each stream, sorted and within the limits. A negative code ends the reading. */
struct lode_upload_taker {
	/* `is_upload`: the upload, as it is, is the file of this stream. */
	int (*take)(void *context, const struct lode_stream *stream, const char id[33], int is_upload,
		    struct lode_upload_refusal *refusal);
	/* Gets the extract of an upload of symbols. */
	int (*take_symbols)(void *context, const struct lode_symbol_extract *symbols,
			    struct lode_upload_refusal *refusal);
	void *context;
};

/* Returns 0, or a negative code with a refusal: 4xx for what is the sender's fault, 500 for what is not. */
int lode_upload_read(struct lode_cursor upload, const struct lode_upload_options *options,
		     const struct lode_upload_limits *limits, const struct lode_upload_taker *taker,
		     struct lode_upload_refusal *refusal);

#endif
