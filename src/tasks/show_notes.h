/* Notes, shown to people: what was lost or not understood (base/notes.h). */
#ifndef LODE_TASKS_SHOW_NOTES_H
#define LODE_TASKS_SHOW_NOTES_H

#include "base/notes.h"
#include "tasks/host.h"

/* Says each note: its count, what, and where it was seen first. */
void lode_notes_say(const struct lode_notes *notes, const struct lode_call *call);

#endif
