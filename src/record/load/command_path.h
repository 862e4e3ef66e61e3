/* The file that a command runs. */
#ifndef LODE_RECORD_LOAD_COMMAND_PATH_H
#define LODE_RECORD_LOAD_COMMAND_PATH_H

#include <stddef.h>

/*
 * For a word of `length` bytes: itself if it is a path, or else the first file of this name in the folders of PATH; for the
 * caller to free, NULL when there is none.
 */
char *lode_command_path(const char *name, size_t length);

#endif
