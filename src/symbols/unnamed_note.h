/*
 * What to do about functions that have no name: the note that importing and recording add.
 */
#ifndef LODE_SYMBOLS_UNNAMED_NOTE_H
#define LODE_SYMBOLS_UNNAMED_NOTE_H

#include "base/notes.h"
#include "trace/frames.h"

/*
 * Notes that `count` addresses have no symbol, with the binary that most of the unnamed frames are in, whose debug
 * symbols would name them. Does nothing for a count of 0.
 */
void lode_note_unnamed(struct lode_notes *notes, uint64_t count, const struct lode_frames *frames);

#endif
