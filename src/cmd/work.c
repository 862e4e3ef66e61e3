/*
 * Long work of a command: see work.h.
 */
#include "cmd/work.h"

#include "cmd/notes.h"
#include "cmd/signals.h"

void lode_work_begin(struct lode_work *work, const struct lode_call *call, int hold)
{
	lode_notes_init(&work->notes);
	lode_bar_init(&work->bar, &call->err, call->quiet);
	if (hold)
		lode_signals_hold();
}

int lode_work_end(struct lode_work *work, const struct lode_call *call, int code)
{
	lode_bar_wipe(&work->bar);
	if (lode_signals_stop())
		code = LODE_STOPPED(lode_signals_stop());
	if (!call->quiet)
		lode_notes_say(&work->notes, &call->err);
	lode_notes_release(&work->notes);
	return code;
}
