/* Why there is nothing to analyse. */
#ifndef LODE_TASKS_EMPTY_AREA_H
#define LODE_TASKS_EMPTY_AREA_H

#include "tasks/source.h"

/*
 * Fails where the area has no event at all, which looks like success and is a wrong word most often: LODE_BAD_INPUT for a
 * corpus without streams, LODE_USAGE with a sentence that says what was asked for that nothing fits, and the nearest name
 * that there is. Returns 0 where there are events, or nothing was asked for. `is_whole`: the area has chains, or rows of both
 * kinds; else events of the other kind may be left, and only names are looked at.
 */
int lode_empty_area_check(struct lode_source *source, const struct lode_area_settings *settings,
			  const struct lode_area *area, int is_whole, struct lode_error *error);

#endif
