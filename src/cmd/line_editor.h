/*
 * Asks for lines: on a terminal with editing, history and completion by libedit, if it is installed; otherwise
 * from standard input as it is.
 */
#ifndef LODE_CMD_LINE_EDITOR_H
#define LODE_CMD_LINE_EDITOR_H

#include "tasks/host.h"

struct lode_line_editor;

/* The next line, without its end, for the caller to free; NULL behind the last. The editor is made at the first call, and ends with the program. */
char *lode_line_editor_ask(struct lode_line_editor **editor, const struct lode_question *question);

#endif
