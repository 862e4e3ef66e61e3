/* lode diff for people: private to the command. */
#ifndef LODE_CMD_DIFF_H
#define LODE_CMD_DIFF_H

#include "cmd/terminal.h"
#include "result/diff_report.h"

/*
 * Appends the root cause, the heat map and the paths. Of paths with the same hottest node
 * only the first is shown, and of deep stacks only what matters, unless `all_frames`.
 */
void lode_diff_text(const struct lode_diff_report *report, int all_frames,
		    const struct lode_terminal *terminal, struct lode_buffer *buffer);

#endif
