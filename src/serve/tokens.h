/*
 * Who may do what on a server that others can reach: a file with a line for each token,
 *
 *	NAME sha256:DIGEST RIGHTS [EXPIRY]
 *
 * where RIGHTS are `upload`, `read` or `admin` (all), joined by commas, and EXPIRY is the first day, UTC, on
 * which it is not valid any more (2027-01-31). Only digests of tokens are in the file, so that who reads it can do nothing
 * with it. Empty lines and lines that begin with `#` mean nothing.
 *
 * A file that was changed is read again. Then a line that is wrong stands for no token, and a file that is gone, or that
 * others may write, for none at all: a token that was removed is never good because of another mistake.
 */
#ifndef LODE_SERVE_TOKENS_H
#define LODE_SERVE_TOKENS_H

#include "base/error.h"

#include <stdint.h>
#include <time.h>

struct lode_tokens;

enum lode_right {
	LODE_RIGHT_UPLOAD = 1,
	LODE_RIGHT_READ = 2,
	LODE_RIGHT_ADMIN = 4,
	LODE_RIGHT_ALL = 7,
};

#define LODE_TOKEN_NAME 64

/* What a token allows. */
struct lode_grant {
	char name[LODE_TOKEN_NAME]; /* whose it is; "" for the owner of the server */
	unsigned rights;
};

/* LODE_USAGE and FILE:LINE where the file is wrong, or others than its owner may write it. The caller frees it. */
int lode_tokens_read(struct lode_tokens **tokens, const char *path, struct lode_error *error);
void lode_tokens_free(struct lode_tokens *tokens);

/*
 * What a token allows at this time, by its digest (lode_sha256): 1 and the grant, or 0 when there is none, or it is not
 * valid any more. Any thread.
 */
int lode_tokens_find(struct lode_tokens *tokens, const char *digest, time_t now, struct lode_grant *grant);

struct lode_tokens_counts {
	uint64_t tokens;
	uint64_t wrong; /* lines; 1 for a file that could not be read */
};

/* Of the file as it is now. Any thread. */
void lode_tokens_count(struct lode_tokens *tokens, struct lode_tokens_counts *counts);

#endif
