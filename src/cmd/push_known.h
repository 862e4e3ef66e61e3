/*
 * Which streams a collector was sent, or refused: a list of ids in a file beside the spool's entries, for the next call.
 */
#ifndef LODE_CMD_PUSH_KNOWN_H
#define LODE_CMD_PUSH_KNOWN_H

#include "base/array.h"
#include "push/push_spool.h"

#include <stdio.h>

struct lode_push_known {
	LODE_ARRAY(uint64_t) numbers; /* beginnings of ids, sorted */
	FILE *file;                   /* NULL: it cannot be written, and the list is of this call alone */
};

/* Reads the list `name` of a spool. Returns 0 or LODE_SYSTEM; the caller releases it in either case. */
int lode_push_known_load(struct lode_push_known *known, const struct lode_push_spool *spool, const char *name,
			 struct lode_error *error);
void lode_push_known_release(struct lode_push_known *known);
int lode_push_known_has(const struct lode_push_known *known, const char *id);
/* Adds an id that may be there. */
void lode_push_known_add(struct lode_push_known *known, const char *id);

#endif
