/*
 * Long work of a task: its progress, its notes, and requests to stop, from
 * beginning to end.
 */
#ifndef LODE_TASKS_LONG_TASK_H
#define LODE_TASKS_LONG_TASK_H

#include "base/notes.h"
#include "tasks/command.h"

struct lode_work {
	const struct lode_call *call;
	const struct lode_progress *progress;
	struct lode_notes notes;
};

/*
 * Begins. With `hold` Ctrl-C is noted and reaches the work through its progress, so that
 * it can end cleanly.
 */
void lode_work_begin(struct lode_work *work, const struct lode_call *call, int hold);
/* Takes the progress bar away before something else is written. */
void lode_work_pause(struct lode_work *work);
/* Ends: the bar goes, notes are said. Returns `code`, or what a signal that asked to stop makes of it. */
int lode_work_end(struct lode_work *work, int code);

#endif
