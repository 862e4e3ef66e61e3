/*
 * Which streams are meant: `--where key=value`. The keys `object` and `peer` are about events instead: what waits were
 * for (trace/objects.h), where streams have no such attributes; so are `unit`, `container`, `pod` and `cgroup`: whose they are
 * (trace/control_groups.h).
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
/* Refuses keys about events: LODE_USAGE with a sentence. For what looks at whole streams only. */
int lode_where_check_streams(const char *const *where, struct lode_error *error);
/* Whether one of them is about objects of events. */
int lode_where_has_objects(const char *const *where);
/* Whether one of them is about the control groups of processes: `unit`, `container`, `pod`, `cgroup`. */
int lode_where_has_groups(const char *const *where);
/*
 * Whether the path of a group, NULL where it is not known, fits all of those about groups: `unit=GLOB` with its ending or without,
 * `container=GLOB` or the first digits of the id, `pod=GLOB` the uid, `cgroup=GLOB` the whole path.
 */
int lode_where_group_fits(const char *const *where, const char *path);
/*
 * Whether an object fits all of those about objects: `object=GLOB` the whole text, of a file also
 * without where that is stored, `peer=GLOB` what is behind the colon
 * of a socket's, with its port or without.
 */
int lode_where_object_fits(const char *const *where, const char *object);

#endif
