/*
 * Reading uploads in processes of their own, one each, in a sandbox (sandbox.h): what a hostile file can do there is to
 * waste its limits of time and memory.
 *
 * They are forked from a small process that is started before there are threads, so that a fork takes a fraction of
 * a millisecond and nothing of this process is in them.
 */
#ifndef LODE_COLLECT_IMPORT_APART_H
#define LODE_COLLECT_IMPORT_APART_H

#include "base/array.h"
#include "collect/upload.h"

struct lode_import_apart;

/* What was found in an upload. */
struct lode_import_found {
	LODE_ARRAY(struct lode_upload_stream *) streams;
	struct lode_upload_symbols symbols; /* instead */
	uint64_t told;                      /* bytes of what was said of them, which goes into the catalogue */
};

void lode_import_found_release(struct lode_import_found *found);

/* To be called before other threads are started. `jobs`: uploads at a time; others wait. The caller ends it. */
int lode_import_apart_start(struct lode_import_apart **apart, const struct lode_upload_limits *limits,
			    unsigned jobs, struct lode_error *error);
void lode_import_apart_end(struct lode_import_apart *apart);

/*
 * Reads the file `upload` and writes stream files, one behind the other, or an extract of symbols into the empty file
 * `written`. Returns 0, or a negative code with a refusal; release `found` in either case. Any thread may call it.
 */
int lode_import_apart_read(struct lode_import_apart *apart, const struct lode_upload_options *options, int upload,
			   int written, struct lode_import_found *found, struct lode_upload_refusal *refusal);

#endif
