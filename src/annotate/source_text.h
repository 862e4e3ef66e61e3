/*
 * Source text: the file that a compiler or an interpreter knew by some path, looked for on this machine.
 *
 * Paths come from recordings, which may be a stranger's. So a file outside the folders that the user names is read only if it looks like
 * source: by the end of its name, or because it begins with `#!`.
 */
#ifndef LODE_ANNOTATE_SOURCE_TEXT_H
#define LODE_ANNOTATE_SOURCE_TEXT_H

#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"

struct lode_source_places {
	const char *const *folders; /* where sources are, NULL-terminated; NULL: none */
	int folders_only;           /* paths as they were recorded are not looked at */
};

struct lode_source_line {
	const char *text; /* `length` bytes, no NUL */
	size_t length;
};

struct lode_source_text {
	char *path; /* of the file that was found; NULL: none */
	struct lode_buffer bytes;
	LODE_ARRAY(struct lode_source_line) lines;
};

/* Whether a path ends as those of source files do. */
int lode_source_is_named(const char *path);
/*
 * The file that was `path` where it was compiled or run: in the folders the longest end of the path that is there, else the path itself.
 * Finding none is no error. Returns 0 or LODE_SYSTEM. Release it in either case.
 */
int lode_source_text_find(struct lode_source_text *text, const char *path, const struct lode_source_places *places,
			  struct lode_error *error);
void lode_source_text_release(struct lode_source_text *text);

#endif
