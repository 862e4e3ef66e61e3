/* Work on hostile input in a separate process, with its time and memory measured. */
#ifndef LODE_TESTS_BOUNDED_H
#define LODE_TESTS_BOUNDED_H

#include "base/error.h"

/*
 * Calls `work` in a child and requires that it returns `code`, with a sentence
 * that holds `words` when the code is negative, within `seconds` of the clock and
 * `mebibytes` of memory.
 */
void require_bounded(int (*work)(const char *path, struct lode_error *error), const char *path, int code,
		     const char *words, unsigned seconds, long mebibytes);

/* Peak memory is not limited under sanitizers, which take a multiple. */
#if defined(__SANITIZE_ADDRESS__)
#define BOUNDED_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BOUNDED_SANITIZED 1
#endif
#endif
#ifndef BOUNDED_SANITIZED
#define BOUNDED_SANITIZED 0
#endif

#endif
