/*
 * Long work of a command: its progress bar, its notes, and a wish to stop, from
 * beginning to end.
 */
#ifndef LODE_CMD_WORK_H
#define LODE_CMD_WORK_H

#include "base/notes.h"
#include "cmd/command.h"
#include "cmd/progress.h"

struct lode_work {
	struct lode_notes notes;
	struct lode_bar bar;
};

/*
 * Begins; `work` must not move afterwards. With `hold` Ctrl-C is noted and reaches
 * the work through its progress, so that it can end in good order.
 */
void lode_work_begin(struct lode_work *work, const struct lode_call *call, int hold);
/* Ends: the bar goes, notes are said. Returns `code`, or what a signal that asked to stop makes of it. */
int lode_work_end(struct lode_work *work, const struct lode_call *call, int code);

#endif
