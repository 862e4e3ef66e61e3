/*
 * Folded lines: `frame;frame;frame value`, the input of flame graphs, from one or two
 * columns of numbers beside the stack tree. Lines are sorted by the bytes of their stacks.
 *
 * A frame can contain any text, but a line cannot: `;` in a frame becomes `:`, line ends
 * become spaces, no name at all becomes `[unknown]`. Two stacks that then read the same
 * are one line; that is why the sums move to a second tree, over the written texts, as
 * soon as one frame had to be changed.
 */
#ifndef LODE_EXPORT_FOLDED_LINES_H
#define LODE_EXPORT_FOLDED_LINES_H

#include "base/notes.h"
#include "base/output.h"
#include "trace/dictionary.h"

#define LODE_FOLDED_COLUMNS 2
/* What the empty stack reads. */
#define LODE_FOLDED_NO_STACK "[no stack]"

/* All frames of a dictionary as they are written. A zeroed struct has none. */
struct lode_folded_texts {
	struct lode_buffer texts; /* one after the other */
	size_t *starts;           /* of frame i; one more than frames */
	size_t capacity;
	size_t count;
	uint64_t changed; /* could not be written as they are */
};

/* Takes the frames that were added since it was called last. */
int lode_folded_texts_add(struct lode_folded_texts *texts, const struct lode_frames *frames,
			  struct lode_error *error);
/* Notes how many frames could not be written as they are. `notes` may be NULL. */
void lode_folded_texts_report(const struct lode_folded_texts *texts, struct lode_notes *notes);
void lode_folded_texts_release(struct lode_folded_texts *texts);

/* What is to be written. */
struct lode_folded_table {
	const struct lode_dictionary *dictionary;
	const uint64_t *columns[LODE_FOLDED_COLUMNS]; /* by node */
	unsigned column_count;
	const uint8_t *wanted; /* by node: there is a line for it; never for node 0 */
	size_t node_count;     /* of these */
};

/* Writes all lines, after lode_folded_texts_add. Sums that are too large are reported in `notes`, which may be NULL. */
int lode_folded_write(const struct lode_folded_table *table, const struct lode_folded_texts *texts,
		      struct lode_output *output, struct lode_notes *notes, struct lode_error *error);

/* A single line. */
int lode_folded_line(const struct lode_folded_texts *texts, const struct lode_stack_tree *tree, uint32_t node,
		     const uint64_t *values, unsigned value_count, struct lode_output *output,
		     struct lode_error *error);

#endif
