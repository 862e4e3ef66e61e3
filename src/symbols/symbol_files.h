/*
 * Candidates: the files that may hold the symbols of a binary. Listing them costs
 * a stat each; what they hold is looked at by binary.c.
 */
#ifndef LODE_SYMBOLS_SYMBOL_FILES_H
#define LODE_SYMBOLS_SYMBOL_FILES_H

#include "base/array.h"
#include "symbols/image.h"

enum lode_candidate_role {
	LODE_CANDIDATE_DEBUG,     /* named by build-id or by the binary's path */
	LODE_CANDIDATE_DEBUGLINK, /* named by the binary's .gnu_debuglink: check what it says */
	LODE_CANDIDATE_BINARY,
};

struct lode_candidate {
	char *path;
	enum lode_candidate_role role;
	uint64_t size;
	uint64_t changed; /* nanoseconds */
};

struct lode_candidates {
	LODE_ARRAY(struct lode_candidate); /* best first within a role; only plain files that are there */
};

/* A zeroed struct is an empty list. */
void lode_candidates_release(struct lode_candidates *candidates);
/* Appends the places for the binary with this build-id ("": unknown) and its debug file, apart from debug
 * links. */
void lode_candidates_find(struct lode_candidates *candidates, const struct lode_image *image, const char *build_id);
/* Appends the places where a debug file called `link` may be. */
void lode_candidates_find_link(struct lode_candidates *candidates, const struct lode_image *image,
			       const char *link);
/*
 * All of them as one text, which changes when a file comes, goes or changes, and with the
 * machine that binaries must be of (0: any). NULL when memory ran out.
 */
char *lode_candidates_identity(const struct lode_candidates *candidates, uint32_t machine);
/* The identity of one file; "" when it is not there, NULL when memory ran out. */
char *lode_candidate_identity(const char *path);

#endif
