/* Notes (base/notes.h) as a field of results. */
#ifndef LODE_RESULT_NOTES_FIELDS_H
#define LODE_RESULT_NOTES_FIELDS_H

#include "base/notes.h"
#include "result/fields.h"

/* Part of a result: a field `notes`. */
struct lode_notes_part {
	struct lode_list notes;
};

extern const struct lode_fields lode_notes_part_fields;

struct lode_notes_part lode_notes_part(const struct lode_notes *notes);

#endif
