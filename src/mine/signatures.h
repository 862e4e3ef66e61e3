/*
 * Signatures: patterns that a person has named, with a bug link and a state.
 *
 * They are stored twice. CORPUS/signatures.txt, a pattern file, is what people
 * read, edit and put under version control, and it is authoritative. The
 * catalogue holds a copy, with the streams that each signature matches. Every
 * command that uses signatures compares the digest of the text with that of the
 * last sync, and syncs a changed text in one transaction. A missing text file is
 * rebuilt from the catalogue; an empty one means that there are no signatures.
 *
 * Commands that change signatures edit the text line by line, so that comments
 * and order are preserved, and rename it into place under the catalogue's write
 * lock: two commands at the same time cannot lose each other's changes, and after
 * a crash the text is either the old or the new one, complete.
 */
#ifndef LODE_MINE_SIGNATURES_H
#define LODE_MINE_SIGNATURES_H

#include "base/progress.h"
#include "mine/pattern_file.h"
#include "store/catalogue_signatures.h"

enum lode_signature_state {
	LODE_SIGNATURE_OPEN,
	LODE_SIGNATURE_FIXED,
	LODE_SIGNATURE_IGNORED,
	LODE_SIGNATURE_STATES,
};

/* "open", "fixed", "ignored". */
const char *lode_signature_state_name(enum lode_signature_state state);

struct lode_signature {
	int64_t id; /* in the catalogue; 0: it is not there, because it cannot be written to */
	const char *name;
	const char *bug;   /* "" none */
	const char *since; /* when it came into its state */
	const char *made;
	const char **notes; /* what people wrote about it, the newest last */
	size_t note_count;
	enum lode_signature_state state;
	unsigned kinds; /* 1 << LODE_RUN | 1 << LODE_WAIT: events it can match */
	size_t first;   /* of its patterns in `patterns` */
	size_t count;

	/* Where it matches, over all events of all streams, as far as known: see lode_signatures_refresh. */
	uint64_t streams;
	uint64_t newer; /* streams added after `since` */
	uint64_t events;
	uint64_t cost[2]; /* by LODE_RUN, LODE_WAIT; saturating */
};

/* What its events cost, of either kind. */
static inline uint64_t lode_signature_cost(const struct lode_signature *signature)
{
	return lode_add_saturating(signature->cost[0], signature->cost[1]);
}

/* It was fixed, and it is there again. */
static inline int lode_signature_is_back(const struct lode_signature *signature)
{
	return signature->state == LODE_SIGNATURE_FIXED && signature->newer;
}

/* The kind of events it can match: "run", "wait", "any". */
const char *lode_signature_kind(const struct lode_signature *signature);

struct lode_signatures {
	struct lode_signature *items; /* as they are in the file */
	size_t count;
	struct lode_patterns patterns; /* over `frames` */
	struct lode_frames frames;
	struct lode_arena arena;
	int64_t newest;  /* id given last in the catalogue */
	char digest[33]; /* of the text */
	int kept;        /* the catalogue holds just these */
};

/*
 * The signatures of a corpus; takes the text file over where it has changed and
 * the catalogue can be written to. A text that is no pattern file is
 * LODE_BAD_INPUT and a sentence with its line. The caller releases them, even
 * on failure.
 */
int lode_signatures_load(struct lode_corpus *corpus, struct lode_signatures *signatures, struct lode_error *error);
void lode_signatures_release(struct lode_signatures *signatures);
/* Whether the text file of the corpus in `folder`, if there is one, can be read; takes nothing over. */
int lode_signatures_check(const char *folder, struct lode_error *error);

/* ---- changing ---- */

enum lode_signature_verb {
	LODE_SIGNATURE_MAKE,   /* a new one; there must be none of this name */
	LODE_SIGNATURE_CHANGE, /* what is said of one; the patterns, if any, are added to its own */
	LODE_SIGNATURE_REMOVE,
};

struct lode_signature_change {
	enum lode_signature_verb verb;
	const char *name;
	const char *bug;                      /* NULL: as it was; "": none */
	const char *state;                    /* NULL: as it was; new ones are open */
	const char *kind;                     /* NULL: as it was; "run", "wait", "any" */
	const char *note;                     /* NULL: none; added with today's date; "": all are removed */
	const struct lode_patterns *patterns; /* over `frames`; NULL: none */
	const struct lode_frames *frames;
};

/* Makes one change, in the text file and in the catalogue; the corpus must be open for writing. */
int lode_signatures_change(struct lode_corpus *corpus, const struct lode_signature_change *change,
			   struct lode_error *error);

/* ---- matching ---- */

/*
 * The patterns of all signatures in the frames of another dictionary, appended to
 * `patterns` (zeroed): those of signature i are (*starts)[i] to (*starts)[i + 1] - 1.
 * A pattern with a frame that is not there matches nothing and is left out. The
 * caller frees both, even on failure. Returns 0 or LODE_SYSTEM.
 */
int lode_signatures_translate(const struct lode_signatures *signatures, const struct lode_frames *frames,
			      struct lode_patterns *patterns, size_t **starts);
/*
 * Sets `marks` (by node of the dictionary's tree) to 1 where a signature, regardless of
 * its state, matches events of this kind with this stack; other marks stay.
 * Returns 0 or LODE_SYSTEM.
 */
int lode_signatures_mark(const struct lode_signatures *signatures, const struct lode_dictionary *dictionary,
			 enum lode_event_type kind, uint8_t *marks);

struct lode_signature_matches {
	struct lode_signature_match *items; /* those that match, in the order of the signatures */
	size_t count;
	size_t capacity;
};

/*
 * What each signature matches in a stream: all its run and wait events. `matches`
 * (zeroed before first use) is set.
 */
int lode_signatures_match(const struct lode_signatures *signatures, const struct lode_stream *stream,
			  struct lode_signature_matches *matches, struct lode_error *error);
void lode_signature_matches_release(struct lode_signature_matches *matches);

/*
 * Matches the streams that were not matched with these signatures yet, `jobs` at a
 * time (0: one per processor), keeps the result in the catalogue where it can be
 * written to, and brings the sums of the signatures up to date.
 */
int lode_signatures_refresh(struct lode_corpus *corpus, struct lode_signatures *signatures, unsigned jobs,
			    const struct lode_progress *progress, struct lode_error *error);

#endif
