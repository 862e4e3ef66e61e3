/*
 * What lode fsck found, and its JSON.
 */
#ifndef LODE_RESULT_FSCK_REPORT_H
#define LODE_RESULT_FSCK_REPORT_H

#include "base/buffer.h"
#include "base/notes.h"
#include "result/fields.h"
#include "store/corpus_check.h"

/* What was found at one path. */
struct lode_fsck_finding {
	const char *path;
	int is_corpus;
	int signatures_bad; /* their text file cannot be read; it is a person's, so repair leaves it alone */
	struct lode_corpus_check_result result;
	struct lode_notes notes;
};

struct lode_fsck_report {
	struct lode_fsck_finding *items;
	size_t count;
	int repair; /* what can be was put right */
};

/*
 * Checks what is at `path`, which the finding keeps; with `repair`, puts right what can be. Damage is
 * no failure. Release the notes in either case.
 */
int lode_fsck_check(struct lode_fsck_finding *finding, const char *path, int repair,
		    const struct lode_progress *progress, struct lode_error *error);

/*
 * Whether something was wrong, right now or before it was repaired. Leftovers and
 * files that no row names are harmless: an intact catalogue lacks no row.
 */
int lode_fsck_was_wrong(const struct lode_fsck_finding *finding);
/* Whether it still is. */
int lode_fsck_is_wrong(const struct lode_fsck_finding *finding, int repair);
/* "damaged", "repaired" or "clean". */
const char *lode_fsck_state(const struct lode_fsck_finding *finding, int repair);

extern const struct lode_fields lode_fsck_fields;

void lode_fsck_json(const struct lode_fsck_report *report, struct lode_buffer *buffer);

#endif
