/* Notes, shown to people: what was lost or not understood (base/notes.h). */
#ifndef LODE_CMD_NOTES_H
#define LODE_CMD_NOTES_H

#include "base/notes.h"
#include "cmd/terminal.h"

/* One line a note on standard error: its count, what, and where it was seen first. */
void lode_notes_say(const struct lode_notes *notes, const struct lode_terminal *err);

#endif
