/*
 * A task that runs another one: in the same process, its result collected, its progress that of the outer task. The
 * result is byte for byte what `lode NAME WORDS` writes to standard output.
 */
#ifndef LODE_TASKS_INNER_CALL_H
#define LODE_TASKS_INNER_CALL_H

#include "tasks/command.h"

/*
 * Runs `command` with `count` words, which are only read, and appends its result to `result`. What it would say is left
 * out: the outer task has the same notes on the same streams. It may add to a corpus's kept work, and nothing else.
 */
int lode_call_inner(const struct lode_call *outer, const struct lode_command *command, size_t count, char **words,
		    const struct lode_progress *progress, struct lode_buffer *result, struct lode_error *error);

#endif
