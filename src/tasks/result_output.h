/* Results on their way out: to the file that `-o` names, or to standard output. */
#ifndef LODE_TASKS_RESULT_OUTPUT_H
#define LODE_TASKS_RESULT_OUTPUT_H

#include "tasks/command.h"

/* Writes results to the file `path`, as a whole, or shows them where it is NULL or "-". */
int lode_results_write(const struct lode_call *call, const char *path, const struct lode_buffer *results,
		       struct lode_error *error);

/*
 * Writes a page (page/page.h) that shows the result `json` of the command; `what` is
 * what it is about, such as the corpus. Fails when the program was built without pages.
 */
int lode_results_page(const struct lode_call *call, const char *path, const char *what,
		      const struct lode_buffer *json, struct lode_error *error);

#endif
