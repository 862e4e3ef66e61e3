/*
 * The ending of an output file decides its format: for all commands whose option
 * --output names a FILE, before they begin. A new CORPUS may not be called like a file.
 */
#ifndef LODE_TASKS_OUTPUT_ENDING_H
#define LODE_TASKS_OUTPUT_ENDING_H

#include "tasks/command.h"

/*
 * Whether `path` ends in `ending`, in small or large letters, and has more than that;
 * `path` may be NULL.
 */
int lode_ends_in(const char *path, const char *ending);

/* For lode_command.ending: the command can write a page. */
const char *lode_ending_of_page(const void *settings, size_t i);

/*
 * Looks at the file that --output names. Where its ending asks for JSON, --json is
 * set in `settings`. Fails with a sentence where the command cannot write what the
 * ending promises, or where --json or --format ask for something else.
 */
int lode_output_ending_check(const struct lode_command *command, void *settings, struct lode_error *error);

#endif
