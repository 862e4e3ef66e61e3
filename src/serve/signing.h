/*
 * Signatures that are made in the page:
 *
 *	POST /api/sign?name=NAME[&bug=URL][&state=STATE][&kind=KIND]
 *
 * with patterns as the body (mine/pattern_file.h) makes a signature; without a body it changes what is said of one. The
 * corpus' own text file of signatures is the only file that it writes.
 */
#ifndef LODE_SERVE_SIGNING_H
#define LODE_SERVE_SIGNING_H

#include "serve/answers.h"

#define LODE_SIGNING_URL "/api/sign"

struct lode_signing;

/* NULL: there is no memory. The caller ends it. `corpus` is copied. */
struct lode_signing *lode_signing_begin(const struct lode_exchange *exchange, const char *corpus);
/* The next bytes of the body. */
void lode_signing_add(struct lode_signing *signing, const void *bytes, size_t size);
/* Makes the change when all bytes are there, and answers. */
enum MHD_Result lode_signing_answer(struct lode_signing *signing, const struct lode_exchange *exchange);
/* NULL is allowed. */
void lode_signing_end(struct lode_signing *signing);

#endif
