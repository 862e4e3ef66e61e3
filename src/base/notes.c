/* Notes: see notes.h. There are few kinds, so a linear search does. */
#include "base/notes.h"

#include "base/memory.h"

#include <string.h>

void lode_notes_init(struct lode_notes *notes)
{
	memset(notes, 0, sizeof(*notes));
	pthread_mutex_init(&notes->lock, NULL);
}

void lode_notes_release(struct lode_notes *notes)
{
	for (size_t i = 0; i < notes->count; i++) {
		lode_free(notes->items[i].what);
		lode_free(notes->items[i].example);
	}
	lode_free(notes->items);
	pthread_mutex_destroy(&notes->lock);
	memset(notes, 0, sizeof(*notes));
}

static struct lode_note *find_or_add(struct lode_notes *notes, const char *what, const char *example)
{
	struct lode_note note = { 0 };

	for (size_t i = 0; i < notes->count; i++)
		if (strcmp(notes->items[i].what, what) == 0)
			return &notes->items[i];
	if (LODE_GROW(notes->items, notes->capacity, notes->count + 1) < 0 || !(note.what = lode_strdup(what)))
		return NULL;
	note.example = example ? lode_strdup(example) : NULL;
	notes->items[notes->count] = note;
	return &notes->items[notes->count++];
}

void lode_notes_add(struct lode_notes *notes, uint64_t count, const char *what, const char *example)
{
	struct lode_note *note;

	if (!notes || !count)
		return;
	pthread_mutex_lock(&notes->lock);
	note = find_or_add(notes, what, example);
	if (note)
		note->count += count;
	pthread_mutex_unlock(&notes->lock);
}

void lode_notes_merge_repeated(struct lode_notes *notes, const struct lode_notes *repeated)
{
	pthread_mutex_lock(&notes->lock);
	for (size_t i = 0; i < repeated->count; i++) {
		const struct lode_note *other = &repeated->items[i];
		struct lode_note *note = find_or_add(notes, other->what, other->example);

		if (note && note->count < other->count)
			note->count = other->count;
	}
	pthread_mutex_unlock(&notes->lock);
}
