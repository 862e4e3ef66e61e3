/* Results on their way out: to the file that `-o` names, or to standard output. */
#ifndef LODE_CMD_RESULTS_H
#define LODE_CMD_RESULTS_H

#include "cmd/command.h"

/* Writes results to the file `path`, as a whole, or shows them where it is NULL or "-". */
int lode_results_write(const struct lode_call *call, const char *path, const struct lode_buffer *results,
		       struct lode_error *error);

#endif
