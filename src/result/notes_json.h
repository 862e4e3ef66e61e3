/* Notes (base/notes.h) for programs. */
#ifndef LODE_RESULT_NOTES_JSON_H
#define LODE_RESULT_NOTES_JSON_H

#include "base/json.h"
#include "base/notes.h"

/* An array of {"what","count","example"}. */
void lode_notes_json(const struct lode_notes *notes, struct lode_json *json);

#endif
