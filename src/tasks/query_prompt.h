/* The prompt of lode query: statements one after the other, from a terminal or a file. */
#ifndef LODE_TASKS_QUERY_PROMPT_H
#define LODE_TASKS_QUERY_PROMPT_H

#include "query/query_print.h"
#include "tasks/long_task.h"

/*
 * Asks for statements until there are no more, and shows their results in the form of `printing`, which `.mode` changes.
 * A statement that fails is told, and ends nothing. Returns 0, or the code of the first statement that failed
 * where nobody sits at a terminal.
 */
int lode_query_prompt(struct lode_query_printing *printing, struct lode_work *work, struct lode_error *error);

#endif
