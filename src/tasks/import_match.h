/*
 * Signatures at import: new streams are matched while they are in memory, and what
 * was found is kept in the catalogue in one go at the end. A stream that is not
 * matched, for whatever reason, is matched later by whoever asks for signatures;
 * so a failure here is told and harms nothing.
 */
#ifndef LODE_TASKS_IMPORT_MATCH_H
#define LODE_TASKS_IMPORT_MATCH_H

#include "mine/signatures.h"
#include "tasks/host.h"

struct lode_import_match; /* one stream */

struct lode_import_matching {
	struct lode_signatures signatures;
	struct lode_import_match *items;
	size_t count;
	size_t capacity;
	struct lode_error error; /* why nothing more is matched; "" fine */
};

/* Loads the signatures of a corpus that has just been opened. Costs next to nothing when there are none. */
void lode_import_match_begin(struct lode_import_matching *matching, struct lode_corpus *corpus);
/* Matches a stream that was just added under `id`. */
void lode_import_match_stream(struct lode_import_matching *matching, struct lode_corpus *corpus,
			      const char *id, const struct lode_stream *stream);
/* Keeps what was found. */
void lode_import_match_end(struct lode_import_matching *matching, struct lode_corpus *corpus);
/* Says for each signature, unless it is ignored, how many of the new streams it matches. */
void lode_import_match_say(const struct lode_import_matching *matching, const struct lode_call *call);
void lode_import_match_release(struct lode_import_matching *matching);

#endif
