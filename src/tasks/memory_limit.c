/* --memory: see memory_limit.h. */
#include "tasks/memory_limit.h"

#include "base/spill.h"
#include "base/units.h"

#include <stdio.h>

/* Limits outside of memory from which an analysis waits for its pages most of the time. */
#define MUCH_OUTSIDE 3

int lode_memory_limit_begin(const char *command, const char *text, struct lode_error *error)
{
	char least[LODE_UNITS_TEXT];
	uint64_t bytes = 0;
	int code = text ? lode_bytes_parse(text, &bytes, error) : 0;

	if (code || !text)
		return code;
	if (bytes < LODE_SPILL_MIN_LIMIT)
		return lode_fail(error, LODE_USAGE,
				 "%s: '--memory %s' is less than any analysis needs; give at least %s. "
				 "See 'lode help %s'.",
				 command, text, lode_bytes_text(LODE_SPILL_MIN_LIMIT, least), command);
	return lode_spill_limit(bytes, error);
}

void lode_memory_limit_end(const char *text, struct lode_notes *notes)
{
	struct lode_spill_counts counts = lode_spill_counts();
	char used[LODE_UNITS_TEXT], whole[LODE_UNITS_TEXT], example[2 * LODE_UNITS_TEXT + 64];

	if (!text)
		return;
	if (counts.resident) {
		snprintf(example, sizeof(example), "--memory %s would do",
			 lode_bytes_text(counts.resident + counts.resident / 8, used));
		lode_notes_add(notes, 1,
			       "time more memory was in use than --memory allows, in blocks too small to move",
			       example);
	}
	if (lode_spill_limit_for(counts.piece) > counts.limit || counts.most > MUCH_OUTSIDE * counts.limit) {
		snprintf(example, sizeof(example), "--memory %s has room for a stream, %s for everything",
			 lode_bytes_text(lode_spill_limit_for(counts.piece), used),
			 lode_bytes_text(lode_spill_limit_for(counts.whole), whole));
		lode_notes_add(notes, 1,
			       "analysis that needs much more memory than --memory allows, and is slow for that",
			       example);
	}
	lode_spill_limit(0, NULL);
}
