/* Notes as a field of results: see notes_fields.h. */
#include "result/notes_fields.h"

#include "result/field_rows.h"

#define TABLE_OF struct lode_note
static const struct lode_field note_rows[] = {
	FIELD_TEXT(what, "What happened, as a sentence in the singular."),
	FIELD_U64(count, "How often."),
	FIELD_TEXT(example, "Where it happened once.", FIELD_NULLABLE),
};
static const struct lode_fields note = FIELD_TABLE("Note", note_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_notes_part
static const struct lode_field part_rows[] = {
	FIELD_OBJECTS(notes, note, "What was lost or not understood on the way, counted."),
};
const struct lode_fields lode_notes_part_fields = FIELD_TABLE("NotesPart", part_rows);
#undef TABLE_OF

struct lode_notes_part lode_notes_part(const struct lode_notes *notes)
{
	return (struct lode_notes_part){ lode_list_of(notes->items, notes->count) };
}
