/*
 * Which streams are meant: `--where key=value`. Where streams have no such attributes, the keys `object` and `peer` are about
 * events instead: what waits were for (trace/objects.h); `context` about the requests that they belonged to; `process` and `thread` (`--process`, `--thread`) about
 * threads, by name or number; and `unit`, `container`, `pod` and `cgroup` about whose they are (trace/control_groups.h).
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
/* Refuses keys about objects of events: LODE_USAGE with a sentence. For what looks at streams and threads only. */
int lode_where_check_threads(const char *const *where, struct lode_error *error);
/* Whether one of them is about objects of events. */
int lode_where_has_objects(const char *const *where);
/* Whether one of them is about the contexts of events. */
int lode_where_has_contexts(const char *const *where);
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
/* The same for a context: `context=GLOB`. */
int lode_where_context_fits(const char *const *where, const char *context);

/*
 * By thread whether it fits all of those about threads; `*threads` is NULL where there are none, or the stream has attributes of
 * these names. The caller frees it. Returns 0 or LODE_SYSTEM.
 */
int lode_where_threads(const struct lode_stream *stream, const char *const *where, uint8_t **threads);
/*
 * Of `count` symptoms those of threads that fit, in place, if there are any. Returns how many are left: all, if none is
 * one of theirs, and then `*parts` is set: they count only with what such threads did. `threads` may be NULL: all fit.
 */
size_t lode_where_symptoms(const uint8_t *threads, struct lode_symptom *symptoms, size_t count, int *parts);
/* As lode_where_threads, and whether its control group fits all of those about groups. */
int lode_where_members(const struct lode_stream *stream, const char *const *where, uint8_t **threads);
/* Drops the events of threads that are no such members. Column thread. Returns 0 or LODE_SYSTEM. */
int lode_where_keep_threads(struct lode_stream *stream, const char *const *where);
/* Whether one of them is about threads. */
int lode_where_has_threads(const char *const *where);
/* Whether one of them is about threads or groups: then lode_where_members leaves some out. */
int lode_where_has_members(const char *const *where);

#endif
