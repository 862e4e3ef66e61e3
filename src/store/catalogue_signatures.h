/*
 * What the catalogue keeps of signatures: a copy of the corpus's text file of
 * signatures (src/mine/signatures.h says which of the two is authoritative), and
 * in which streams each of them matches.
 *
 * A signature's id is never reused: when its patterns or its kind change it gets
 * a new one, and the matches of the old one are deleted. So a stream is matched
 * with all signatures when it was matched with the newest id there is.
 *
 * Changes are made between lode_catalogue_begin and lode_catalogue_commit
 * (catalogue.h). All return 0 or a negative code with a sentence.
 */
#ifndef LODE_STORE_CATALOGUE_SIGNATURES_H
#define LODE_STORE_CATALOGUE_SIGNATURES_H

#include "store/corpus.h"

struct lode_signature_row {
	int64_t id; /* at least 1 */
	const char *name;
	const char *bug; /* "" none */
	const char *state;
	const char *since; /* when it came into its state: UTC, as 2026-01-31T12:00:00Z */
	const char *kind;  /* "" any */
	const char *made;
	const char *patterns; /* as pattern files have them */
	const char *notes;    /* the same; "" none */

	/* Sums over the streams it was found in. */
	uint64_t streams;
	uint64_t newer; /* streams that were added after `since` */
	uint64_t events;
	uint64_t cost[2]; /* by LODE_RUN, LODE_WAIT; saturating */
};

struct lode_signature_rows {
	struct lode_signature_row *items; /* as they are in the file */
	size_t count;
	size_t capacity;
	char digest[33]; /* of the text file that was taken over last; "" none */
	int64_t newest;  /* id given last */
	struct lode_arena arena;
};

/* Whether it can be written to, as far as can be known beforehand. */
int lode_catalogue_writable(struct lode_catalogue *catalogue);

/* All signatures; none in a catalogue of version 1. The caller releases them even on failure. */
int lode_catalogue_signatures(struct lode_catalogue *catalogue, struct lode_signature_rows *rows,
			      struct lode_error *error);
void lode_signature_rows_release(struct lode_signature_rows *rows);

/* Adds a signature as number `place` of the file, or writes over the one with this id. */
int lode_catalogue_put_signature(struct lode_catalogue *catalogue, const struct lode_signature_row *row,
				 size_t place, struct lode_error *error);
/* Takes away a signature and where it matched. */
int lode_catalogue_remove_signature(struct lode_catalogue *catalogue, int64_t id, struct lode_error *error);
/* Remembers which text was taken over, and the newest id. */
int lode_catalogue_put_signature_file(struct lode_catalogue *catalogue, const char *digest, int64_t newest,
				      struct lode_error *error);

/* What events of one stream that a signature matches come to. */
struct lode_signature_match {
	int64_t signature; /* id */
	size_t number;     /* in the list it was matched from; not kept */
	uint64_t events;
	uint64_t cost[2]; /* by LODE_RUN, LODE_WAIT; saturating */
};

/*
 * Writes the matches of a stream in place of older ones, and that it was matched
 * with all signatures up to the id `newest`. Nothing happens when the stream has
 * another `file` (a path or a name) by now; matches of signatures that are gone
 * are left out.
 */
int lode_catalogue_put_matches(struct lode_catalogue *catalogue, const char *stream, const char *file,
			       int64_t newest, const struct lode_signature_match *matches, size_t count,
			       struct lode_error *error);

/* A signature in the streams of one version (their attribute `version` or `service.version`). */
struct lode_signature_seen {
	const char *name;
	const char *state;
	const char *version; /* "" not known */
	uint64_t streams, hosts, events;
	uint64_t cost[2];               /* by LODE_RUN, LODE_WAIT; saturating */
	uint64_t first_seen, last_seen; /* s since 1970: when the first and the last of these streams were added */
};

/*
 * Adds what the signatures match in a stream to what is known of streams that are gone, by host and version: before the
 * stream is removed, in one transaction with that.
 */
int lode_catalogue_signatures_retire(struct lode_catalogue *catalogue, const char *stream,
				     struct lode_error *error);
/* Drops what is known of streams of this host that are gone. */
int lode_catalogue_signatures_forget(struct lode_catalogue *catalogue, const char *host, struct lode_error *error);

/* Tells of each signature and version, the costliest first, `limit` at most; none in a catalogue of version 1. */
int lode_catalogue_signatures_seen(struct lode_catalogue *catalogue, unsigned limit,
				   void (*tell)(void *context, const struct lode_signature_seen *seen),
				   void *context, struct lode_error *error);

#endif
