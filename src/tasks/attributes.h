/* Attributes of a stream as they are given on a command line: KEY=VALUE. */
#ifndef LODE_TASKS_ATTRIBUTES_H
#define LODE_TASKS_ATTRIBUTES_H

#include "tasks/options.h"
#include "trace/stream.h"

/* Returns 0, or LODE_USAGE with a sentence that begins with the command's name. */
int lode_attributes_check(const char *command, const struct lode_option_list *attributes, struct lode_error *error);
/* Sets them; what reads as a number or a truth value becomes one. Returns 0 or LODE_SYSTEM. */
int lode_attributes_apply(const struct lode_option_list *attributes, struct lode_stream *stream);

#endif
