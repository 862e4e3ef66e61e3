/*
 * --memory: what an analysis may use at most, from its beginning to its end.
 */
#ifndef LODE_TASKS_MEMORY_LIMIT_H
#define LODE_TASKS_MEMORY_LIMIT_H

#include "base/error.h"
#include "base/notes.h"

/* `text`: the value of --memory of `command`; NULL: no limit. Returns 0 or a negative code. */
int lode_memory_limit_begin(const char *command, const char *text, struct lode_error *error);
/* Ends it, with the same text; where more was used than allowed, the notes say so. */
void lode_memory_limit_end(const char *text, struct lode_notes *notes);

#endif
