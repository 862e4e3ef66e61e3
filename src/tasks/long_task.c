/*
 * Long work of a task: see long_task.h.
 */
#include "tasks/long_task.h"

#include "tasks/show_notes.h"

void lode_work_begin(struct lode_work *work, const struct lode_call *call, int hold)
{
	work->call = call;
	lode_notes_init(&work->notes);
	work->progress = call->host->begin(call->host, call);
	if (hold)
		call->host->hold(call->host, LODE_STOP_SOON);
}

void lode_work_pause(struct lode_work *work)
{
	work->call->host->pause(work->call->host);
}

int lode_work_end(struct lode_work *work, int code)
{
	const struct lode_call *call = work->call;
	int stopped = call->host->stopped(call->host);

	lode_work_pause(work);
	if (stopped)
		code = LODE_STOPPED(stopped);
	if (!call->quiet)
		lode_notes_say(&work->notes, call);
	lode_notes_release(&work->notes);
	return code;
}
