/* A token from a file that nobody but its owner may read. */
#ifndef LODE_BASE_TOKEN_FILE_H
#define LODE_BASE_TOKEN_FILE_H

#include "base/error.h"

#define LODE_MIN_TOKEN 22 /* characters: 128 bits in base64 */
#define LODE_MAX_TOKEN 128

/* Reads the first line. `token` has room for the longest. LODE_USAGE where others may read it, or it is no token. */
int lode_token_file_read(const char *path, char token[LODE_MAX_TOKEN + 1], struct lode_error *error);

#endif
