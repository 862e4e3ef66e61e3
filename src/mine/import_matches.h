/*
 * Signatures at import: new streams are matched while they are in memory, and the
 * result is stored in the catalogue in one transaction at the end. A stream that
 * is not matched, for any reason, is matched later, when signatures are requested;
 * so a failure here is a warning.
 */
#ifndef LODE_MINE_IMPORT_MATCHES_H
#define LODE_MINE_IMPORT_MATCHES_H

#include "mine/signatures.h"

struct lode_import_match; /* one stream */

struct lode_import_matching {
	int begun;
	struct lode_signatures signatures;
	struct lode_import_match *items;
	size_t count;
	size_t capacity;
	struct lode_error error; /* why nothing more is matched; "" fine */
};

/* Loads the signatures of a corpus, the first time it is called. Costs next to nothing when there are none. */
void lode_import_match_begin(struct lode_import_matching *matching, struct lode_corpus *corpus);
/* Matches a stream that was just added under `id`. */
void lode_import_match_stream(struct lode_import_matching *matching, struct lode_corpus *corpus, const char *id,
			      const struct lode_stream *stream);
/* Keeps what was found. */
void lode_import_match_end(struct lode_import_matching *matching, struct lode_corpus *corpus);
void lode_import_match_release(struct lode_import_matching *matching);

#endif
