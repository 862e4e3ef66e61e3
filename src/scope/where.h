/*
 * Which streams are meant: `--where key=value`.
 */
#ifndef LODE_SCOPE_WHERE_H
#define LODE_SCOPE_WHERE_H

#include "trace/stream.h"

/* Whether each of `where` (NULL-terminated, or NULL) reads `key=value`; LODE_USAGE with a sentence if not. */
int lode_where_check(const char *const *where, struct lode_error *error);
/*
 * Whether the stream has, for each of them, an attribute of this key (`host` and
 * `name` are attributes too) whose value fits the glob behind the `=`.
 */
int lode_where_fits(const struct lode_stream *stream, const char *const *where);

#endif
