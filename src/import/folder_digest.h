/*
 * The digest of a recording that is a folder (LTTng, uftrace, perf record --threads): of the files in it, not of those in
 * folders inside. The file that is opened first may be the same in two recordings.
 */
#ifndef LODE_IMPORT_FOLDER_DIGEST_H
#define LODE_IMPORT_FOLDER_DIGEST_H

#include "base/error.h"

#include <stdint.h>

/* Of the folder that `file` is in: 32 hexadecimal digits and a NUL; `*bytes` becomes the sum of the sizes. */
int lode_folder_digest(const char *file, char digest[33], uint64_t *bytes, struct lode_error *error);

#endif
