/*
 * Notes: what was lost, skipped or not understood on the way, counted by kind,
 * so that nothing disappears silently. The library collects, the command line
 * shows. Thread-safe.
 */
#ifndef LODE_BASE_NOTES_H
#define LODE_BASE_NOTES_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct lode_note {
	char *what;    /* "samples lost by the recorder", without the number */
	char *example; /* where the first one was seen, or NULL */
	uint64_t count;
};

struct lode_notes {
	struct lode_note *items; /* in order of first appearance */
	size_t count;
	size_t capacity;
	pthread_mutex_t lock;
};

void lode_notes_init(struct lode_notes *notes);
void lode_notes_release(struct lode_notes *notes);
/*
 * Adds `count` to the note `what`. `example`, copied when this is the first of
 * its kind, may be NULL. NULL notes and a count of 0 are fine and do nothing;
 * memory that runs out loses the note, never the work.
 */
void lode_notes_add(struct lode_notes *notes, uint64_t count, const char *what, const char *example);
/* For work that reads the same again: of a note that both have, the larger count. */
void lode_notes_merge_repeated(struct lode_notes *notes, const struct lode_notes *repeated);

#endif
